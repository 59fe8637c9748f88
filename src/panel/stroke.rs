//! Thick lines with round ends, for lettering and drawings of any size.

use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::Rectangle;

/// A place in pixels, from the top left corner of the drawing's box.
pub type Place = (f64, f64);

/// Draws lines `thickness` pixels thick through the corners of each of `paths`; `area` clips them.
pub fn draw<D>(
    target: &mut D,
    area: Rectangle,
    thickness: f64,
    paths: &[Vec<Place>],
    ink: BinaryColor,
) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let inked = area.points().filter(|at| {
        let from_corner = *at - area.top_left;
        let center = (f64::from(from_corner.x) + 0.5, f64::from(from_corner.y) + 0.5);
        paths.iter().flat_map(|path| path.windows(2)).any(|line| is_near(center, line, thickness / 2.0))
    });
    target.draw_iter(inked.map(|at| Pixel(at, ink)))
}

/// Whether `place` is within `reach` of the line between the two places of `line`.
fn is_near(place: Place, line: &[Place], reach: f64) -> bool {
    let [from, to] = line else { return false };
    let along = (to.0 - from.0, to.1 - from.1);
    let offset = (place.0 - from.0, place.1 - from.1);
    let length_squared = along.0 * along.0 + along.1 * along.1;
    let part =
        if length_squared > 0.0 { (offset.0 * along.0 + offset.1 * along.1) / length_squared } else { 0.0 };
    let part = part.clamp(0.0, 1.0);
    let (x, y) = (offset.0 - part * along.0, offset.1 - part * along.1);
    x * x + y * y <= reach * reach
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Canvas;
    use super::*;

    #[test]
    fn an_upright_line_is_as_wide_as_it_is_thick() {
        let mut canvas = Canvas::new(10, 10);
        let area = canvas.bounding_box();
        draw(&mut canvas, area, 4.0, &[vec![(4.0, -5.0), (4.0, 15.0)]], BinaryColor::On).unwrap();
        assert_eq!(canvas.lit_count(), 4 * 10);
        assert!(canvas.lit(2, 0) && canvas.lit(5, 9));
    }

    #[test]
    fn a_line_of_no_length_is_a_dot() {
        assert!(is_near((1.0, 1.0), &[(1.0, 2.0), (1.0, 2.0)], 1.0));
        assert!(!is_near((1.0, 1.0), &[(1.0, 2.1), (1.0, 2.1)], 1.0));
    }

    #[test]
    fn the_box_clips() {
        let mut canvas = Canvas::new(10, 10);
        let area = Rectangle::new(Point::new(2, 2), Size::new(3, 3));
        draw(&mut canvas, area, 50.0, &[vec![(0.0, 0.0), (9.0, 9.0)]], BinaryColor::On).unwrap();
        assert_eq!(canvas.lit_count(), 9);
    }
}
