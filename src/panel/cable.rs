//! A drawing of the two ports and the cable between them.

use super::sheet::Sheet;
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;

/// Rows of the grid that the drawing takes.
const ROWS: u32 = 19;

/// Whether the plugs are in the ports.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Plugs {
    /// In front of them.
    Out,
    /// In them.
    In,
}

/// Draws ports and cable over the full width at the top of the sheet.
pub fn draw<D>(sheet: &mut Sheet<D>, plugs: Plugs) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let away = if plugs == Plugs::Out { 10 } else { 0 };
    port(sheet, 0, "A")?;
    port(sheet, 110, "B")?;
    plug(sheet, 18 + away, 18 + away + 14)?;
    plug(sheet, 110 - 16 - away, 110 - 20 - away)?;
    let cord = sheet.area(36 + away, 7, 56 - 2 * away, 12);
    let thickness = 2 * sheet.hairline();
    let corners = [(0, 18), (22, 18), (34, 100), (66, 100), (78, 18), (100, 18)];
    sheet.stroke(cord, thickness, &corners, BinaryColor::On)
}

/// A solid port with its name cut out.
fn port<D>(sheet: &mut Sheet<D>, left: u32, name: &str) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    sheet.fill(sheet.area(left, 0, 18, ROWS), BinaryColor::On)?;
    sheet.letter(sheet.area(left + 3, 3, 12, ROWS - 6), name, BinaryColor::Off)
}

/// A plug's body at column `body`, and the cuff where the cord enters at column `cuff`.
fn plug<D>(sheet: &mut Sheet<D>, body: u32, cuff: u32) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let thickness = sheet.hairline();
    sheet.frame(sheet.area(body, 3, 16, 13), thickness)?;
    for row in [5, 7, 9, 11, 13] {
        sheet.fill(sheet.area(body + 3, row, 10, 1), BinaryColor::On)?;
    }
    sheet.fill(sheet.area(cuff, 7, 4, 5), BinaryColor::On)
}
