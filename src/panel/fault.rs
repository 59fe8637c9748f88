//! The page of a box that cannot work.

use super::paragraph::Layout;
use super::sheet::Sheet;
use super::text::Style;
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;

/// Draws the page: a warning sign, the word, and why.
pub fn draw<D>(sheet: &mut Sheet<D>, why: &str) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let sign = sheet.area(0, 0, 31, 27);
    sheet.stroke(sign, 2 * sheet.hairline(), &[(50, 0), (100, 100), (0, 100), (50, 0)], BinaryColor::On)?;
    sheet.write(sheet.area(8, 9, 15, 14), "!", Style::CENTER)?;
    sheet.letter(sheet.area(36, 2, 92, 24), "FAULT", BinaryColor::On)?;
    sheet.paragraph(sheet.area(0, 32, 128, 32), why, Layout::Centered(3))
}
