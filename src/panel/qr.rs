//! The page with the result as a QR code.

use super::emblem;
use super::paragraph::Layout;
use super::sheet::Sheet;
use super::text::Style;
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::Rectangle;
use measure::record::text;
use measure::ticket::Ticket;
use measure::verdict::Verdict;
use qrcodegen_no_heap::{QrCode, QrCodeEcc, Version};

/// The version of the code: 29 × 29 modules, and 77 characters at error correction level L.
const VERSION: Version = Version::new(3);

/// Modules across.
const MODULES: u32 = 29;

/// Modules across with the quiet zone of 4 on each side that the standard asks for (ISO/IEC 18004, 6.3.8).
const WITH_QUIET_ZONE: u32 = MODULES + 2 * 4;

/// The same with the narrowest that readers still take, one and a half, where a module would else be one pixel.
const WITH_NARROW_ZONE: u32 = MODULES + 3;

/// Draws the page: the code on a light field, and what it is about.
pub fn draw<D>(sheet: &mut Sheet<D>, verdict: Verdict, run: u32, ticket: &Ticket) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let all = sheet.area(0, 0, 128, 64);
    let Size { width, height } = all.size;
    // About a square, and at most two thirds of the page.
    let field = Size::new((height + height / 32).min(width * 2 / 3), height);
    code(sheet, Rectangle::new(all.top_left, field), ticket)?;
    let gap = 2 * sheet.hairline();
    let beside = Size::new(width.saturating_sub(field.width + gap), height);
    let corner = all.top_left + Size::new(field.width + gap, 0);
    let row = |top: u32, rows: u32| {
        let [top, bottom] = [top, top + rows].map(|row| row * height / 64);
        Rectangle::new(corner + Size::new(0, top), Size::new(beside.width, bottom - top))
    };
    emblem::small(sheet, row(0, 14), verdict)?;
    sheet.write(row(19, 10), &text(format_args!("run {run}")), Style::CENTER.room_for(8))?;
    sheet.paragraph(row(36, 28), "scan for the result", Layout::Centered(3))
}

/// Draws the code dark on a light field, in the middle of it and as large as fits.
fn code<D>(sheet: &mut Sheet<D>, field: Rectangle, ticket: &Ticket) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    const LENGTH: usize = VERSION.buffer_len();
    let (mut work, mut modules) = ([0; LENGTH], [0; LENGTH]);
    let text = ticket.as_str();
    let code =
        QrCode::encode_text(text, &mut work, &mut modules, QrCodeEcc::Low, VERSION, VERSION, None, true)
            .expect("a ticket is no longer than this version holds");
    sheet.fill(field, BinaryColor::On)?;
    let Some(module) = module(field.size.width.min(field.size.height)) else { return Ok(()) };
    let margin = (field.size - Size::new_equal(MODULES * module)) / 2;
    for (x, y) in (0..MODULES).flat_map(|y| (0..MODULES).map(move |x| (x, y))) {
        let [column, row] = [x, y].map(|at| i32::try_from(at).unwrap_or(-1));
        if code.get_module(column, row) {
            let at = field.top_left + margin + Size::new(x, y) * module;
            sheet.fill(Rectangle::new(at, Size::new_equal(module)), BinaryColor::Off)?;
        }
    }
    Ok(())
}

/// Pixels across a module in a field with `side` pixels; none where there is no room for a code.
fn module(side: u32) -> Option<u32> {
    let module = (side / WITH_QUIET_ZONE).max((side / WITH_NARROW_ZONE).min(2));
    (module > 0).then_some(module)
}
