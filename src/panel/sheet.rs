//! A target with the design's grid laid over it.
//!
//! Pages are designed on 128 × 64, where a grid square is a pixel; on larger displays the boxes
//! stretch, and each text takes the largest font that fits its box.

use super::paragraph::{self, Layout};
use super::stroke::{self, Place};
use super::text::{self, Style};
use super::{canvas::Canvas, lettering};
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::Rectangle;

/// Largest width or height used, in pixels: no display is larger, and all arithmetic stays small.
const MAX_SIDE: u32 = 8192;

/// Squares of the grid across.
const COLUMNS: u32 = Canvas::WIDTH as u32;
/// Squares of the grid down.
const ROWS: u32 = Canvas::HEIGHT as u32;

/// Squares that letters are high, from the top to the lowest row, to be read at arm's length.
const LEGIBLE: u32 = 7;

/// What pages draw on.
pub struct Sheet<'a, D> {
    target: &'a mut D,
    bounds: Rectangle,
}

impl<'a, D: DrawTarget<Color = BinaryColor>> Sheet<'a, D> {
    /// A sheet over all of `target`.
    pub fn new(target: &'a mut D) -> Self {
        let bounds = target.bounding_box();
        let size = bounds.size.component_min(Size::new_equal(MAX_SIDE));
        Self { target, bounds: Rectangle::new(bounds.top_left, size) }
    }

    /// The box at column `x` and row `y` of the grid; boxes that meet on the grid meet on the target.
    pub fn area(&self, x: u32, y: u32, width: u32, height: u32) -> Rectangle {
        let Size { width: across, height: down } = self.bounds.size;
        let [left, right] = [x, x + width].map(|x| x * across / COLUMNS);
        let [top, bottom] = [y, y + height].map(|y| y * down / ROWS);
        Rectangle::new(self.bounds.top_left + Size::new(left, top), Size::new(right - left, bottom - top))
    }

    /// Thickness in pixels of a line that is one thick on the grid.
    pub fn hairline(&self) -> u32 {
        (self.bounds.size.width / COLUMNS).min(self.bounds.size.height / ROWS).max(1)
    }

    /// Writes one line, as large as it fits.
    pub fn write(&mut self, area: Rectangle, text: &str, style: Style) -> Result<(), D::Error> {
        text::line(self.target, area, text, style)
    }

    /// Writes over several lines.
    pub fn paragraph(&mut self, area: Rectangle, text: &str, layout: Layout) -> Result<(), D::Error> {
        paragraph::draw(self.target, area, text, layout, LEGIBLE * self.hairline())
    }

    /// Writes a word in letters that fill the box.
    pub fn letter(&mut self, area: Rectangle, word: &str, ink: BinaryColor) -> Result<(), D::Error> {
        lettering::draw(self.target, area, word, ink)
    }

    /// Draws a thick line through `corners`, given in hundredths of the box.
    pub fn stroke(
        &mut self,
        area: Rectangle,
        thickness: u32,
        corners: &[(u32, u32)],
        ink: BinaryColor,
    ) -> Result<(), D::Error> {
        let half = f64::from(thickness) / 2.0;
        let along = |hundredths: u32, side: u32| {
            half + f64::from(hundredths) * f64::from(side.saturating_sub(thickness)) / 100.0
        };
        let place =
            |&(x, y): &(u32, u32)| -> Place { (along(x, area.size.width), along(y, area.size.height)) };
        stroke::draw(self.target, area, thickness.into(), &[corners.iter().map(place).collect()], ink)
    }

    /// Fills a box.
    pub fn fill(&mut self, area: Rectangle, ink: BinaryColor) -> Result<(), D::Error> {
        self.target.fill_solid(&area, ink)
    }

    /// Lights the pixels of `area` for which `lit`, given the place from the box's corner, is true.
    pub fn pattern(&mut self, area: Rectangle, lit: impl Fn(u32, u32) -> bool) -> Result<(), D::Error> {
        let (columns, rows) = (area.size.width, area.size.height);
        let places = (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y)));
        let pixels = places.filter(|(x, y)| lit(*x, *y)).map(|(x, y)| area.top_left + Size::new(x, y));
        self.target.draw_iter(pixels.map(|at| Pixel(at, BinaryColor::On)))
    }

    /// Draws a frame of `thickness` pixels just inside a box.
    pub fn frame(&mut self, area: Rectangle, thickness: u32) -> Result<(), D::Error> {
        let hole = inset(area, thickness);
        let offset = hole.top_left - area.top_left;
        self.pattern(area, |x, y| !contains(offset, hole.size, x, y))
    }
}

/// The box without `margin` pixels on each side.
pub fn inset(area: Rectangle, margin: u32) -> Rectangle {
    let margins = Size::new_equal(margin.saturating_mul(2));
    Rectangle::new(area.top_left + Size::new_equal(margin), area.size.saturating_sub(margins))
}

/// Whether a place is in the hole of `size` at `offset`.
fn contains(offset: Point, size: Size, x: u32, y: u32) -> bool {
    Rectangle::new(offset, size).contains(Point::zero() + Size::new(x, y))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_sheet<T>(width: u16, height: u16, look: impl FnOnce(&mut Sheet<Canvas>) -> T) -> T {
        look(&mut Sheet::new(&mut Canvas::new(width, height)))
    }

    #[test]
    fn on_the_smallest_display_a_square_is_a_pixel() {
        let area = with_sheet(128, 64, |sheet| sheet.area(3, 5, 20, 10));
        assert_eq!(area, Rectangle::new(Point::new(3, 5), Size::new(20, 10)));
    }

    #[test]
    fn boxes_that_meet_on_the_grid_meet_on_any_target() {
        for (width, height) in [(128, 64), (320, 240), (129, 65), (1, 1)] {
            with_sheet(width, height, |sheet| {
                let (left, right) = (sheet.area(0, 0, 51, 64), sheet.area(51, 0, 77, 64));
                assert_eq!(left.size.width + right.size.width, u32::from(width));
                assert_eq!(right.top_left.x, i32::try_from(left.size.width).unwrap());
            });
        }
    }

    #[test]
    fn lines_thicken_with_the_smaller_side() {
        assert_eq!(with_sheet(128, 64, |sheet| sheet.hairline()), 1);
        assert_eq!(with_sheet(320, 240, |sheet| sheet.hairline()), 2);
        assert_eq!(with_sheet(8, 8, |sheet| sheet.hairline()), 1);
    }

    #[test]
    fn a_frame_leaves_its_hole_dark() {
        let mut canvas = Canvas::new(10, 8);
        let area = canvas.bounding_box();
        Sheet::new(&mut canvas).frame(area, 2).unwrap();
        assert_eq!(canvas.lit_count(), 10 * 8 - 6 * 4);
    }
}
