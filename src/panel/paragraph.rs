//! Text over several lines, as large as it fits and broken between words.

use super::text::{self, Lettering, Plain, Style};
use core::cmp::Reverse;
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::Rectangle;

/// Where in its box a paragraph stands.
#[derive(Clone, Copy)]
pub enum Layout {
    /// From the top left; the last line leaves this many pixels free at its right end.
    Beside(u32),
    /// In the middle, in letters so small that there would be room for this many lines.
    Centered(u32),
}

/// Writes `text` over the lines that `area` holds; cut where even the smallest font does not fit.
/// Letters are less than `legible` pixels high only where they must be.
pub fn draw<D>(
    target: &mut D,
    area: Rectangle,
    text: &str,
    layout: Layout,
    legible: u32,
) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let Some(broken) = Broken::best(&text::plain(text), area.size, layout, legible) else { return Ok(()) };
    let style = if matches!(layout, Layout::Beside(_)) { Style::LEFT } else { Style::CENTER };
    for (line, slot) in broken.lines.iter().zip(broken.slots(area, layout)) {
        text::write(target, slot, line, broken.lettering, style)?;
    }
    Ok(())
}

/// A text broken into lines.
struct Broken {
    lettering: Lettering,
    lines: Vec<Plain>,
    /// Lines that there is room for.
    rows: u32,
    /// Nothing was cut, and no word broken.
    whole: bool,
}

impl Broken {
    /// In the best lettering that takes the text whole, else in the smallest; none where no line fits.
    fn best(text: &str, size: Size, layout: Layout, legible: u32) -> Option<Self> {
        let (reserved, least_rows) = match layout {
            Layout::Beside(reserved) => (reserved, 1),
            Layout::Centered(rows) => (0, rows.max(1)),
        };
        let letterings = || text::letterings(size.height / least_rows, true);
        let all = letterings().map(|lettering| Self::new(text, size, lettering, reserved));
        let smallest = letterings().min_by_key(|lettering| lettering.rank());
        let cut = || smallest.map(|lettering| Self::new(text, size, lettering, reserved));
        all.filter(|broken| broken.whole).max_by_key(|broken| broken.merit(legible)).or_else(cut)
    }

    /// Legible before all; then larger letters are better, but twice the lines must be worth twice the size.
    fn merit(&self, legible: u32) -> (u32, u32, Reverse<u32>) {
        let lines = u32::try_from(self.lines.len()).unwrap_or(u32::MAX).max(1);
        let (height, _, zoom) = self.lettering.rank();
        (height.min(legible), height.saturating_mul(100) / lines, zoom)
    }

    fn new(text: &str, size: Size, lettering: Lettering, reserved: u32) -> Self {
        let rows = lettering.rows_in(size.height);
        let (mut lines, mut rest, mut unbroken) = (Vec::new(), text, true);
        for row in 1..=rows {
            if rest.is_empty() {
                break;
            }
            let last = row == rows;
            let width = lettering.chars_in(size.width.saturating_sub(if last { reserved } else { 0 }));
            let line = next_line(rest, width);
            lines.push(text::cut(if last { rest } else { line.text }, width));
            unbroken &= line.between_words;
            rest = line.rest;
        }
        Self { lettering, lines, rows, whole: unbroken && rest.is_empty() }
    }

    /// The boxes of the lines, top down.
    fn slots(&self, area: Rectangle, layout: Layout) -> impl Iterator<Item = Rectangle> {
        let (rows, Size { width, height }) = (self.rows.max(1), area.size);
        let used = u32::try_from(self.lines.len()).unwrap_or(rows).min(rows);
        let above =
            if matches!(layout, Layout::Centered(_)) { (height - height * used / rows) / 2 } else { 0 };
        (0..used).map(move |row| {
            let [top, bottom] = [row, row + 1].map(|row| height * row / rows);
            Rectangle::new(area.top_left + Size::new(0, above + top), Size::new(width, bottom - top))
        })
    }
}

/// What fits a line, and what follows.
#[derive(Debug, PartialEq, Eq)]
struct Line<'a> {
    text: &'a str,
    rest: &'a str,
    between_words: bool,
}

/// The words of `text` that fit `width` characters; a longer word is broken.
fn next_line(text: &str, width: usize) -> Line<'_> {
    if text.len() <= width {
        return Line { text, rest: "", between_words: true };
    }
    let space = text.get(..=width).and_then(|head| head.rfind(' ')).filter(|at| *at > 0);
    let (line, rest) = text.split_at_checked(space.unwrap_or(width)).unwrap_or((text, ""));
    Line { text: line, rest: rest.trim_start(), between_words: space.is_some() }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Canvas;
    use super::*;
    use proptest::prelude::*;

    fn line<'a>(text: &'a str, rest: &'a str, between_words: bool) -> Line<'a> {
        Line { text, rest, between_words }
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(next_line("port B has no link", 10), line("port B has", "no link", true));
        assert_eq!(next_line("port B", 6), line("port B", "", true));
    }

    #[test]
    fn a_word_longer_than_the_line_is_broken() {
        assert_eq!(next_line("unbreakable", 4), line("unbr", "eakable", false));
        assert_eq!(next_line("unbreakable", 0), line("", "unbreakable", false));
    }

    #[test]
    fn the_last_line_leaves_room_and_says_that_it_was_cut() {
        let size = Size::new(60, 13);
        let broken = Broken::best("port A has no link since noon", size, Layout::Beside(30), 7).unwrap();
        assert_eq!(broken.lines, ["port A has no", "link .."]);
        assert!(!broken.whole);
    }

    #[test]
    fn a_short_text_is_written_large() {
        let height =
            |text| Broken::best(text, Size::new(128, 16), Layout::Beside(20), 7).unwrap().lettering.height();
        assert_eq!((height("no link"), height("port A pair C SNR margin 0.4 dB")), (13, 7));
    }

    #[test]
    fn no_word_stands_alone_for_letters_a_little_larger() {
        let broken = Broken::best("no errors in 96 s", Size::new(320, 60), Layout::Beside(55), 14).unwrap();
        assert_eq!(broken.lines, ["no errors in 96 s"]);
    }

    proptest! {
        #[test]
        fn no_paragraph_leaves_its_box(
            text in "\\PC{0,60}", width in 0..90u32, height in 0..40u32, room in 0..20u32, centered: bool,
        ) {
            let mut canvas = Canvas::new(100, 50);
            let area = Rectangle::new(Point::new(5, 5), Size::new(width, height));
            let layout = if centered { Layout::Centered(room) } else { Layout::Beside(room) };
            draw(&mut canvas, area, &text, layout, 7).unwrap();
            for at in canvas.bounding_box().points().filter(|at| !area.contains(*at)) {
                prop_assert!(!canvas.lit(at.x.try_into().unwrap(), at.y.try_into().unwrap()));
            }
        }
    }
}
