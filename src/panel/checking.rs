//! The page of the checks before frames flow.

use super::cable::{self, Plugs};
use super::sheet::Sheet;
use super::text::Style;
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;

/// Draws the page.
pub fn draw<D>(sheet: &mut Sheet<D>, what: &str) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    cable::draw(sheet, Plugs::In)?;
    sheet.write(sheet.area(0, 27, 128, 9), "checking", Style::CENTER)?;
    sheet.write(sheet.area(0, 42, 128, 20), what, Style::CENTER.room_for(9))
}
