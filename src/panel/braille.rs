//! A canvas as lines of Braille cells: 2 × 4 pixels a character, so that a terminal can show it.

use super::canvas::Canvas;

/// Pixels across one cell.
pub const CELL_WIDTH: u16 = 2;
/// Pixels down one cell.
pub const CELL_HEIGHT: u16 = 4;

/// The empty cell; dots are the bits above it (Unicode, block "Braille Patterns").
const EMPTY: u32 = 0x2800;

/// Bit of each dot, by row and column: dots 1, 2, 3, 7 on the left, 4, 5, 6, 8 on the right.
const DOTS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// Lines that a canvas takes.
#[must_use]
pub fn line_count(canvas: &Canvas) -> u16 {
    canvas.height().div_ceil(CELL_HEIGHT)
}

/// Characters that each line takes.
#[must_use]
pub fn columns(canvas: &Canvas) -> u16 {
    canvas.width().div_ceil(CELL_WIDTH)
}

/// The canvas as lines, from the top: 16 of 64 characters for 128 × 64 pixels.
pub fn lines(canvas: &Canvas) -> impl Iterator<Item = String> + '_ {
    (0..line_count(canvas)).map(|line| {
        let mut text = String::with_capacity(usize::from(columns(canvas)) * 3);
        text.extend((0..columns(canvas)).map(|column| cell(canvas, column, line)));
        text
    })
}

/// The cell at `column` and `line`; pixels beyond the canvas are dark.
fn cell(canvas: &Canvas, column: u16, line: u16) -> char {
    let mut code = EMPTY;
    for (row, dots) in (0..).zip(DOTS) {
        for (side, dot) in (0..).zip(dots) {
            if canvas.lit(column * CELL_WIDTH + side, line * CELL_HEIGHT + row) {
                code |= dot;
            }
        }
    }
    char::from_u32(code).unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_cell(lit: &[(u16, u16)]) -> String {
        let mut canvas = Canvas::new(2, 4);
        lit.iter().for_each(|&(x, y)| canvas.set(x, y, true));
        lines(&canvas).collect()
    }

    #[test]
    fn each_pixel_is_its_own_dot() {
        let dots = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];
        for (bit, pixel) in dots.iter().enumerate() {
            let code = 0x2800 + (1u32 << bit);
            assert_eq!(one_cell(&[*pixel]), char::from_u32(code).unwrap().to_string());
        }
        assert_eq!(one_cell(&[]), "\u{2800}");
        assert_eq!(one_cell(&dots), "\u{28ff}");
    }

    #[test]
    fn the_smallest_display_is_64_by_16_characters() {
        let lines: Vec<_> = lines(&Canvas::default()).collect();
        assert_eq!(lines.len(), 16);
        assert!(lines.iter().all(|line| line.chars().count() == 64));
    }

    #[test]
    fn a_canvas_that_fills_no_whole_cell_is_shown_to_its_last_pixel() {
        let mut canvas = Canvas::new(3, 5);
        canvas.set(2, 4, true);
        assert_eq!(lines(&canvas).collect::<Vec<_>>(), ["\u{2800}\u{2800}", "\u{2800}\u{2801}"]);
    }

    #[test]
    fn the_largest_canvas_does_not_overflow() {
        assert_eq!(cell(&Canvas::new(u16::MAX, 1), u16::MAX / 2, 0), '\u{2800}');
    }
}
