//! Words in letters of any size: the verdict is read from across the room, and no bitmap font is that large.

use super::stroke;
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::Rectangle;

/// Height of the grid that letters are designed on.
const GRID_HEIGHT: u32 = 24;
/// About the thickness of a stroke on that grid.
const STROKE: u32 = 4;
/// Space between letters on that grid.
const GAP: u32 = 3;

/// A letter: width of its grid, and the paths of the pen's middle over it.
struct Letter {
    width: u32,
    paths: &'static [&'static [(u32, u32)]],
}

/// The letters of PASS, FAIL, MARGINAL, INVALID and FAULT, and the names of the ports; none for any other.
const fn letter(c: char) -> Option<Letter> {
    let (width, paths): (u32, &'static [&'static [(u32, u32)]]) = match c {
        'A' => (12, &[&[(0, 24), (4, 0), (8, 0), (12, 24)], &[(2, 16), (10, 16)]]),
        'B' => (
            12,
            &[
                &[(0, 0), (0, 24), (8, 24), (12, 21), (12, 15), (8, 12), (12, 9), (12, 3), (8, 0), (0, 0)],
                &[(0, 12), (8, 12)],
            ],
        ),
        'D' => (12, &[&[(0, 0), (0, 24), (8, 24), (12, 20), (12, 4), (8, 0), (0, 0)]]),
        'F' => (10, &[&[(0, 24), (0, 0), (10, 0)], &[(0, 11), (8, 11)]]),
        'G' => (
            12,
            &[&[(12, 4), (8, 0), (4, 0), (0, 4), (0, 20), (4, 24), (8, 24), (12, 20), (12, 13), (7, 13)]],
        ),
        'I' => (0, &[&[(0, 0), (0, 24)]]),
        'L' => (10, &[&[(0, 0), (0, 24), (10, 24)]]),
        'M' => (16, &[&[(0, 24), (0, 0), (8, 12), (16, 0), (16, 24)]]),
        'N' => (12, &[&[(0, 24), (0, 0), (12, 24), (12, 0)]]),
        'P' => (12, &[&[(0, 24), (0, 0), (8, 0), (12, 3), (12, 10), (8, 13), (0, 13)]]),
        'R' => (12, &[&[(0, 24), (0, 0), (8, 0), (12, 3), (12, 9), (8, 12), (0, 12)], &[(6, 12), (12, 24)]]),
        'S' => (
            12,
            &[&[
                (12, 4),
                (8, 0),
                (4, 0),
                (0, 3),
                (0, 8),
                (4, 11),
                (8, 13),
                (12, 16),
                (12, 21),
                (8, 24),
                (4, 24),
                (0, 20),
            ]],
        ),
        'T' => (12, &[&[(0, 0), (12, 0)], &[(6, 0), (6, 24)]]),
        'U' => (12, &[&[(0, 0), (0, 20), (4, 24), (8, 24), (12, 20), (12, 0)]]),
        'V' => (12, &[&[(0, 0), (6, 24), (12, 0)]]),
        _ => return None,
    };
    Some(Letter { width, paths })
}

/// Measures of a word in pixels.
#[derive(Clone, Copy)]
struct Measures {
    /// Thickness of a stroke.
    stroke: u32,
    /// Between letters.
    gap: u32,
    /// For all letters' grids together.
    grids: u32,
    /// Columns of all letters' grids together.
    columns: u32,
}

impl Measures {
    /// Those of `word` in a box of `size`; none where it does not fit.
    fn of(word: &str, size: Size) -> Option<Self> {
        let letters =
            u32::try_from(word.chars().filter_map(letter).count()).ok().filter(|count| *count > 0)?;
        let columns: u32 = word.chars().filter_map(letter).map(|letter| letter.width).sum();
        let total = columns + letters * STROKE + (letters - 1) * GAP;
        // On a wide box the grid stays square: a short word does not become a banner.
        let width = size.width.min(total.saturating_mul(size.height) / GRID_HEIGHT);
        let part = |grid: u32| (grid * width + total / 2) / total;
        // Strokes thicken with both sides of a letter, and leave its holes open.
        let stroke = (2 * width / letters * 50 + 9 * size.height + 225) / 450;
        let stroke = stroke.min(size.height / 6);
        let gap = part(GAP).max(1);
        let grids = width.checked_sub(letters * stroke + (letters - 1) * gap)?;
        (stroke > 0).then_some(Self { stroke, gap, grids, columns })
    }

    /// Pixels for a letter's grid.
    fn grid(self, letter: &Letter) -> u32 {
        (letter.width * self.grids).checked_div(self.columns).unwrap_or(0)
    }

    /// Pixels that a letter takes.
    fn width(self, letter: &Letter) -> u32 {
        self.grid(letter) + self.stroke
    }
}

/// Draws `word` as high as `area` and in its middle, in letters as wide as fit; nothing where none do.
pub fn draw<D>(target: &mut D, area: Rectangle, word: &str, ink: BinaryColor) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let Some(measures) = Measures::of(word, area.size) else { return Ok(()) };
    let letters = || word.chars().filter_map(letter);
    let width = letters().map(|letter| measures.width(&letter) + measures.gap).sum::<u32>() - measures.gap;
    let mut at = area.top_left + Size::new(area.size.width.saturating_sub(width) / 2, 0);
    for letter in letters() {
        let cell = Rectangle::new(at, Size::new(measures.width(&letter), area.size.height));
        stroke::draw(target, cell, measures.stroke.into(), &paths(&letter, measures, area.size.height), ink)?;
        at += Size::new(cell.size.width + measures.gap, 0);
    }
    Ok(())
}

/// A letter's paths in pixels, half a stroke inside its cell.
fn paths(letter: &Letter, measures: Measures, height: u32) -> Vec<Vec<stroke::Place>> {
    let half = f64::from(measures.stroke) / 2.0;
    let across = f64::from(measures.grid(letter)) / f64::from(letter.width.max(1));
    let down = f64::from(height - measures.stroke) / f64::from(GRID_HEIGHT);
    let place = |&(x, y): &(u32, u32)| (half + f64::from(x) * across, half + f64::from(y) * down);
    letter.paths.iter().map(|path| path.iter().map(place).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Canvas;
    use super::*;

    /// Lit columns and rows of a word drawn into a box of `width` × `height`, first and last.
    fn extent(word: &str, width: u16, height: u16) -> Option<(u16, u16, u16, u16)> {
        let mut canvas = Canvas::new(width + 20, height + 20);
        let area = Rectangle::new(Point::new(10, 10), Size::new(width.into(), height.into()));
        draw(&mut canvas, area, word, BinaryColor::On).unwrap();
        let column = |x: &u16| (0..height + 20).any(|y| canvas.lit(*x, y));
        let row = |y: &u16| (0..width + 20).any(|x| canvas.lit(x, *y));
        let (columns, rows) = (0..width + 20, 0..height + 20);
        Some((
            columns.clone().find(column)?,
            columns.rev().find(column)?,
            rows.clone().find(row)?,
            rows.rev().find(row)?,
        ))
    }

    #[test]
    fn every_word_fills_the_height_and_stays_in_the_width() {
        for word in ["PASS", "FAIL", "MARGINAL", "INVALID", "FAULT"] {
            for (width, height) in [(118, 40), (90, 40), (300, 150), (60, 20)] {
                let (left, right, top, bottom) = extent(word, width, height).unwrap();
                assert!(left >= 10 && right < 10 + width, "{word} in {width}");
                assert_eq!((top, bottom), (10, 9 + height), "{word} in {height}");
            }
        }
    }

    #[test]
    fn letters_of_a_word_do_not_touch() {
        for word in ["PASS", "FAIL", "MARGINAL", "INVALID", "FAULT"] {
            let mut canvas = Canvas::new(118, 40);
            let area = canvas.bounding_box();
            draw(&mut canvas, area, word, BinaryColor::On).unwrap();
            let lit = |x: u16| (0..40).any(|y| canvas.lit(x, y));
            let starts = (0..118).filter(|&x| lit(x) && (x == 0 || !lit(x - 1))).count();
            assert_eq!(starts, word.len(), "{word}");
        }
    }

    #[test]
    fn a_box_too_small_for_the_word_stays_empty() {
        for (width, height) in [(0, 0), (3, 40), (118, 2)] {
            assert_eq!(extent("MARGINAL", width, height), None);
        }
        assert_eq!(extent("", 50, 50), None);
    }
}
