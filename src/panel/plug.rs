//! The page that asks for a cable.

use super::cable::{self, Plugs};
use super::emblem;
use super::paragraph::Layout;
use super::sheet::Sheet;
use super::text::Style;
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;
use measure::record::text;
use measure::verdict::Verdict;

/// Draws the page.
pub fn draw<D>(sheet: &mut Sheet<D>, last: Option<(Verdict, u32)>, hint: &str) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    cable::draw(sheet, Plugs::Out)?;
    sheet.write(sheet.area(0, 21, 128, 9), "Plug in the cable", Style::CENTER)?;
    let Some((verdict, run)) = last else {
        return sheet.paragraph(sheet.area(0, 38, 128, 20), hint, Layout::Centered(2));
    };
    sheet.paragraph(sheet.area(0, 32, 128, 16), hint, Layout::Centered(2))?;
    emblem::small(sheet, sheet.area(0, 50, 70, 14), verdict)?;
    sheet.write(sheet.area(72, 52, 56, 10), &text(format_args!("run {run}")), Style::RIGHT.room_for(8))
}
