//! Words in bitmap fonts: the largest that fits a box, enlarged by whole pixels where there is room.
//!
//! Fonts are ASCII; other characters are replaced by what looks like them, or by `?`.

use core::cmp::Reverse;
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle, ascii};
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::Rectangle;
use embedded_graphics::text::{Baseline, Text};

/// Most characters of one text that are looked at: more than anybody reads on a panel.
const MAX_CHARS: usize = 128;

/// What stands at the end of a text that was cut.
const CUT: &str = "..";

/// A text as the fonts can show it: ASCII, no control characters.
pub type Plain = heapless::String<MAX_CHARS>;

/// A font and the rows of its cell that are inked.
struct Face {
    font: &'static MonoFont<'static>,
    /// First inked row.
    top: u32,
    /// Row under capitals and digits.
    base: u32,
    /// Row under the letters that go below the line.
    low: u32,
    /// Whether it may be enlarged: the smallest are for where there is no room, and look poor enlarged.
    scales: bool,
}

/// The fonts used, from small to large. Rows as drawn in embedded-graphics' own fonts (a test counts them).
static FACES: [Face; 6] = [
    Face { font: &ascii::FONT_4X6, top: 0, base: 5, low: 6, scales: false },
    Face { font: &ascii::FONT_5X7, top: 0, base: 6, low: 7, scales: false },
    Face { font: &ascii::FONT_6X12, top: 3, base: 10, low: 12, scales: true },
    Face { font: &ascii::FONT_8X13_BOLD, top: 1, base: 11, low: 13, scales: true },
    Face { font: &ascii::FONT_9X18_BOLD, top: 4, base: 14, low: 17, scales: true },
    Face { font: &ascii::FONT_10X20, top: 3, base: 16, low: 20, scales: true },
];

/// Where in its box a line stands.
#[derive(Clone, Copy)]
pub enum Align {
    /// At the left edge.
    Left,
    /// In the middle.
    Center,
    /// At the right edge.
    Right,
}

/// How a line is written.
#[derive(Clone, Copy)]
pub struct Style {
    align: Align,
    ink: BinaryColor,
    room: usize,
    below: bool,
}

impl Style {
    /// Lit, at the left edge.
    pub const LEFT: Self = Self::new(Align::Left);
    /// Lit, in the middle.
    pub const CENTER: Self = Self::new(Align::Center);
    /// Lit, at the right edge.
    pub const RIGHT: Self = Self::new(Align::Right);

    const fn new(align: Align) -> Self {
        Self { align, ink: BinaryColor::On, room: 0, below: false }
    }

    /// In this colour.
    pub const fn ink(self, ink: BinaryColor) -> Self {
        Self { ink, ..self }
    }

    /// As small as `chars` characters would be: a figure that gains a digit must not change its size.
    pub const fn room_for(self, chars: usize) -> Self {
        Self { room: chars, ..self }
    }

    /// With room under the line even if no letter goes there: words side by side must stand on one line.
    pub const fn room_below(self) -> Self {
        Self { below: true, ..self }
    }
}

/// A face at a whole enlargement.
#[derive(Clone, Copy)]
pub struct Lettering {
    face: &'static Face,
    zoom: u32,
    /// Row of the cell under the last one used.
    bottom: u32,
}

impl Lettering {
    /// Pixels from the top of capitals to the lowest row used.
    pub fn height(self) -> u32 {
        (self.bottom - self.face.top) * self.zoom
    }

    /// Pixels from one character to the next.
    fn pitch(self) -> u32 {
        self.face.font.character_size.width * self.zoom
    }

    /// Pixels that `chars` characters take, without the last one's blank column.
    fn width_of(self, chars: usize) -> u32 {
        u32::try_from(chars).unwrap_or(u32::MAX).saturating_mul(self.pitch()).saturating_sub(self.zoom)
    }

    /// Characters that fit `width` pixels.
    pub fn chars_in(self, width: u32) -> usize {
        usize::try_from((width + self.zoom) / self.pitch()).unwrap_or(usize::MAX)
    }

    /// Lines that fit `height` pixels, an enlarged pixel apart.
    pub fn rows_in(self, height: u32) -> u32 {
        (height + self.zoom) / (self.height() + self.zoom)
    }

    /// Larger is better; at the same size, the finer drawn.
    pub fn rank(self) -> (u32, u32, Reverse<u32>) {
        (self.height(), self.pitch(), Reverse(self.zoom))
    }
}

/// Writes one line into `area`, as large as it fits; cut where even the smallest font does not.
pub fn line<D>(target: &mut D, area: Rectangle, text: &str, style: Style) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let text = plain(text);
    let descends = style.below || text.chars().any(|c| !stands_on_line(c));
    let wanted = text.len().max(style.room);
    let fitting =
        letterings(area.size.height, descends).filter(|each| each.chars_in(area.size.width) >= wanted);
    let smaller = letterings(area.size.height, descends).min_by_key(|each| each.rank());
    let Some(lettering) = fitting.max_by_key(|each| each.rank()).or(smaller) else { return Ok(()) };
    let fits = lettering.chars_in(area.size.width);
    write(target, area, &cut(&text, fits), lettering, style)
}

/// Every lettering no higher than `height`; `descends` says that letters below the line count.
pub fn letterings(height: u32, descends: bool) -> impl Iterator<Item = Lettering> {
    FACES.iter().flat_map(move |face| {
        let bottom = if descends { face.low } else { face.base };
        let largest = if face.scales { u32::MAX } else { 1 };
        (1..=(height / (bottom - face.top)).min(largest)).map(move |zoom| Lettering { face, zoom, bottom })
    })
}

/// Whether a character stays between the top of capitals and the line they stand on.
fn stands_on_line(c: char) -> bool {
    c.is_ascii_alphanumeric() && !"Qgjpqy".contains(c) || " .:+-<>%/#!?".contains(c)
}

/// Writes `text` into `area` in this lettering, clipped there.
pub fn write<D>(
    target: &mut D,
    area: Rectangle,
    text: &str,
    lettering: Lettering,
    style: Style,
) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let spare = Size::new(
        area.size.width.saturating_sub(lettering.width_of(text.len())),
        area.size.height.saturating_sub(lettering.height()),
    );
    let left = match style.align {
        Align::Left => 0,
        Align::Center => spare.width / 2,
        Align::Right => spare.width,
    };
    let origin =
        area.top_left + Size::new(left, spare.height / 2) - Size::new(0, lettering.face.top * lettering.zoom);
    let mut zoomed = Zoomed { target: &mut target.clipped(&area), origin, zoom: lettering.zoom };
    let style = MonoTextStyle::new(lettering.face.font, style.ink);
    Text::with_baseline(text, Point::zero(), style, Baseline::Top).draw(&mut zoomed)?;
    Ok(())
}

/// A target whose pixels are squares of another's.
struct Zoomed<'a, D> {
    target: &'a mut D,
    origin: Point,
    zoom: u32,
}

impl<D: DrawTarget> Dimensions for Zoomed<'_, D> {
    fn bounding_box(&self) -> Rectangle {
        let size = self.target.bounding_box().size;
        Rectangle::new(Point::zero(), size / self.zoom)
    }
}

impl<D: DrawTarget> DrawTarget for Zoomed<'_, D> {
    type Color = D::Color;
    type Error = D::Error;

    fn draw_iter<I>(&mut self, pixels: I) -> Result<(), D::Error>
    where
        I: IntoIterator<Item = Pixel<D::Color>>,
    {
        let square = Size::new_equal(self.zoom);
        for Pixel(at, color) in pixels {
            let corner = self.origin + at.component_mul(Point::zero() + square);
            self.target.fill_solid(&Rectangle::new(corner, square), color)?;
        }
        Ok(())
    }
}

/// The text in the fonts' own characters.
pub fn plain(text: &str) -> Plain {
    text.chars().map(nearest).take(MAX_CHARS).collect()
}

/// The character of the fonts that is most like `c`.
fn nearest(c: char) -> char {
    match c {
        ' '..='~' => c,
        '→' => '>',
        '←' => '<',
        'µ' | 'μ' => 'u',
        '–' | '—' | '−' => '-',
        '’' | '‘' => '\'',
        '×' => 'x',
        c if c.is_control() || c.is_whitespace() => ' ',
        _ => '?',
    }
}

/// The first `width` characters, marked where there were more.
pub fn cut(text: &str, width: usize) -> Plain {
    let shown = if text.len() <= width { text.len() } else { width.saturating_sub(CUT.len()) };
    let mark = if shown < text.len() { CUT } else { "" };
    text.chars().take(shown).chain(mark.chars()).take(width).collect()
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Canvas;
    use super::*;
    use proptest::prelude::*;

    /// First and last inked row of each character in `chars`.
    fn inked(font: &MonoFont, chars: impl Iterator<Item = char>) -> (u16, u16) {
        let mut canvas = Canvas::new(16, 32);
        for c in chars {
            let style = MonoTextStyle::new(font, BinaryColor::On);
            Text::with_baseline(c.encode_utf8(&mut [0; 4]), Point::zero(), style, Baseline::Top)
                .draw(&mut canvas)
                .unwrap();
        }
        let lit = |y: &u16| (0..16).any(|x| canvas.lit(x, *y));
        ((0..32).find(lit).unwrap(), (0..32).rev().find(lit).unwrap())
    }

    #[test]
    fn faces_name_the_rows_that_their_fonts_ink() {
        for face in &FACES {
            let rows = |top: u32, end: u32| (u16::try_from(top).unwrap(), u16::try_from(end - 1).unwrap());
            assert_eq!(inked(face.font, ('0'..='9').chain('A'..='P')), rows(face.top, face.base));
            assert_eq!(inked(face.font, "Xgjpqy".chars()), rows(face.top, face.low));
        }
    }

    #[test]
    fn what_stands_on_the_line_is_not_inked_under_it() {
        for face in &FACES {
            let (_, last) = inked(face.font, (' '..='~').filter(|c| stands_on_line(*c)));
            assert!(u32::from(last) < face.base, "{:?}", face.font.character_size);
        }
    }

    #[test]
    fn a_text_that_does_not_fit_says_so() {
        assert_eq!(cut("settings", 8), "settings");
        assert_eq!(cut("settings", 7), "setti..");
        assert_eq!(cut("settings", 1), ".");
        assert_eq!(cut("settings", 0), "");
    }

    #[test]
    fn characters_that_the_fonts_lack_become_what_looks_like_them() {
        assert_eq!(plain("A→B 3 µs\n\u{7}é"), "A>B 3 us  ?");
    }

    #[test]
    fn a_figure_that_gains_a_digit_keeps_its_size() {
        let height = |text, style| {
            let mut canvas = Canvas::new(64, 20);
            let area = canvas.bounding_box();
            line(&mut canvas, area, text, style).unwrap();
            (0..20).filter(|y| (0..64).any(|x| canvas.lit(x, *y))).count()
        };
        assert!(height("8", Style::LEFT) > height("88888888", Style::LEFT));
        assert_eq!(height("8", Style::LEFT.room_for(8)), height("88888888", Style::LEFT));
    }

    proptest! {
        #[test]
        fn no_line_leaves_its_box(text in "\\PC{0,60}", width in 0..90u32, height in 0..40u32, room in 0..20usize) {
            let mut canvas = Canvas::new(100, 50);
            let area = Rectangle::new(Point::new(5, 5), Size::new(width, height));
            line(&mut canvas, area, &text, Style::CENTER.room_for(room)).unwrap();
            for at in canvas.bounding_box().points().filter(|at| !area.contains(*at)) {
                prop_assert!(!canvas.lit(at.x.try_into().unwrap(), at.y.try_into().unwrap()));
            }
        }
    }
}
