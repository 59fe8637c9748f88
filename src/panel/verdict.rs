//! The verdict's page.

use super::emblem;
use super::paragraph::Layout;
use super::sheet::Sheet;
use super::text::Style;
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;
use measure::record::text;
use measure::verdict::Verdict;

/// Draws the page.
pub fn draw<D>(
    sheet: &mut Sheet<D>,
    verdict: Verdict,
    reason: &str,
    run: u32,
    unsaved: bool,
) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    emblem::large(sheet, sheet.area(0, 0, 128, 46), verdict)?;
    let run = text(format_args!("{}#{run}", if unsaved { "NOT SAVED " } else { "" }));
    // Six columns for each character, and for one to keep apart.
    let columns = (6 * u32::try_from(run.len() + 1).unwrap_or(0)).min(128);
    let corner = sheet.area(128 - columns, 55, columns, 9);
    sheet.paragraph(sheet.area(0, 48, 128, 16), reason, Layout::Beside(corner.size.width))?;
    sheet.write(corner, &run, Style::RIGHT.room_for(run.len() + 1))
}
