//! The page of the figures behind the verdict.

use super::sheet::Sheet;
use super::text::Style;
use super::{emblem, figure, running};
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;
use measure::record::{Classes, text};
use measure::units::{BitRate, Direction};
use measure::verdict::Verdict;

/// What the page shows.
pub struct Figures<'a> {
    /// The word.
    pub verdict: Verdict,
    /// Run number.
    pub run: u32,
    /// Steady rates, A→B and B→A.
    pub rates: &'a [Option<BitRate>; 2],
    /// Errors by class.
    pub errors: &'a Classes,
    /// Upper bounds of the bit error ratio, A→B and B→A.
    pub bounds: &'a [Option<f64>; 2],
}

/// Draws the page.
pub fn draw<D>(sheet: &mut Sheet<D>, page: &Figures) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    emblem::small(sheet, sheet.area(0, 0, 70, 14), page.verdict)?;
    sheet.write(
        sheet.area(72, 2, 56, 10),
        &text(format_args!("run {}", page.run)),
        Style::RIGHT.room_for(8),
    )?;
    sheet.write(sheet.area(0, 25, 24, 8), "Gb/s", Style::LEFT.room_for(5))?;
    sheet.write(sheet.area(0, 35, 24, 8), "BER <", Style::LEFT)?;
    for (direction, left) in Direction::BOTH.into_iter().zip([26, 78]) {
        let (rate, bound) = (page.rates[direction.index()], page.bounds[direction.index()]);
        sheet.write(sheet.area(left, 17, 50, 6), &text(direction), Style::RIGHT.room_for(8))?;
        sheet.write(sheet.area(left, 25, 50, 8), &figure::rate(rate), Style::RIGHT.room_for(8))?;
        sheet.write(
            sheet.area(left, 35, 50, 8),
            &figure::bound(bound),
            Style::RIGHT.room_for(figure::BOUND_CHARS),
        )?;
    }
    running::classes(sheet, page.errors)
}
