//! The shape of a verdict, so that nobody needs to read or see colour: PASS is framed and ticked, FAIL a solid
//! block with a cross, MARGINAL in a broken frame, INVALID between hazard stripes.

use super::sheet::{Sheet, inset};
use super::text::Style;
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::Rectangle;
use measure::verdict::Verdict;

/// Height in pixels from which drawn letters look better than enlarged bitmap ones.
const LARGEST_FONT: u32 = 16;

/// Where and in which colour the word goes.
struct Inside {
    area: Rectangle,
    ink: BinaryColor,
}

/// Draws a verdict over all of `area`, the word in large letters.
pub fn large<D>(sheet: &mut Sheet<D>, area: Rectangle, verdict: Verdict) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let thickness = 2 * sheet.hairline();
    let inside = surround(sheet, area, verdict, thickness)?;
    sheet.letter(inside.area, word(verdict), inside.ink)
}

/// Draws a verdict small, to be read beside other things.
pub fn small<D>(sheet: &mut Sheet<D>, area: Rectangle, verdict: Verdict) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let thickness = sheet.hairline();
    let inside = surround(sheet, area, verdict, thickness)?;
    if inside.area.size.height > LARGEST_FONT {
        return sheet.letter(inside.area, word(verdict), inside.ink);
    }
    sheet.write(inside.area, word(verdict), Style::CENTER.ink(inside.ink))
}

/// The word itself.
const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "PASS",
        Verdict::Fail => "FAIL",
        Verdict::Marginal => "MARGINAL",
        Verdict::Invalid => "INVALID",
    }
}

/// Draws what is around the word, with lines of `thickness` pixels.
fn surround<D>(
    sheet: &mut Sheet<D>,
    area: Rectangle,
    verdict: Verdict,
    thickness: u32,
) -> Result<Inside, D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let inner = inset(area, thickness + thickness.div_ceil(2));
    match verdict {
        Verdict::Pass => {
            sheet.frame(area, thickness)?;
            beside_mark(sheet, inner, &[&[(0, 60), (35, 100), (100, 0)]], BinaryColor::On)
        }
        Verdict::Fail => {
            sheet.fill(area, BinaryColor::On)?;
            beside_mark(sheet, inner, &[&[(0, 0), (100, 100)], &[(100, 0), (0, 100)]], BinaryColor::Off)
        }
        Verdict::Marginal => {
            broken_frame(sheet, area, thickness)?;
            Ok(Inside { area: inner, ink: BinaryColor::On })
        }
        Verdict::Invalid => between_stripes(sheet, area, inner, thickness),
    }
}

/// Draws a mark at the right end of `inner` and gives what is left of it.
fn beside_mark<D>(
    sheet: &mut Sheet<D>,
    inner: Rectangle,
    strokes: &[&[(u32, u32)]],
    ink: BinaryColor,
) -> Result<Inside, D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let Size { width, height } = inner.size;
    let side = (height * 5 / 8).min(width / 4);
    let gap = side / 4;
    let place = inner.top_left + Size::new(width - side - gap / 2, (height - side) / 2);
    for corners in strokes {
        sheet.stroke(Rectangle::new(place, Size::new_equal(side)), (side / 5).max(1), corners, ink)?;
    }
    let word = Size::new((width - side).saturating_sub(gap + gap / 2), height);
    Ok(Inside { area: Rectangle::new(inner.top_left + Size::new(gap / 2, 0), word), ink })
}

/// A frame of dashes.
fn broken_frame<D>(sheet: &mut Sheet<D>, area: Rectangle, thickness: u32) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let Size { width, height } = area.size;
    let dashed = |from_corner: u32| from_corner % (6 * thickness) < 4 * thickness;
    sheet.pattern(area, |x, y| {
        let (x, y) = (x.min(width - 1 - x), y.min(height - 1 - y));
        y < thickness && dashed(x) || x < thickness && dashed(y)
    })
}

/// Hazard stripes at both ends.
fn between_stripes<D>(
    sheet: &mut Sheet<D>,
    area: Rectangle,
    inner: Rectangle,
    thickness: u32,
) -> Result<Inside, D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let width = area.size.width;
    let (band, period) = (5 * thickness, 4 * thickness);
    sheet.pattern(area, |x, y| {
        let end = x < band || x + band >= width;
        end && (x + y) % period < period / 2
    })?;
    let gap = band + 2 * thickness;
    let at = Point::new(area.top_left.x, inner.top_left.y) + Size::new(gap, 0);
    let size = Size::new(width.saturating_sub(2 * gap), inner.size.height);
    Ok(Inside { area: Rectangle::new(at, size), ink: BinaryColor::On })
}
