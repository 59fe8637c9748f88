//! The page while frames flow.

use super::figure;
use super::sheet::{Sheet, inset};
use super::text::Style;
use core::time::Duration;
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::Rectangle;
use measure::record::{Classes, text};
use measure::units::{BitRate, Direction};

/// How the run stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not judged for rate yet.
    Settling,
    /// Nothing against the cable so far.
    Running,
    /// The cable has failed.
    Failed,
}

impl State {
    /// A failure outdoes everything.
    pub const fn of(failed: bool, settling: bool) -> Self {
        match (failed, settling) {
            (true, _) => Self::Failed,
            (false, true) => Self::Settling,
            (false, false) => Self::Running,
        }
    }
}

/// What the page shows.
pub struct Running<'a> {
    /// Received rates, A→B and B→A.
    pub rates: &'a [Option<BitRate>; 2],
    /// Done so far, in thousandths.
    pub progress: u16,
    /// Errors so far.
    pub errors: &'a Classes,
    /// Time left.
    pub left: Option<Duration>,
    /// How the run stands.
    pub state: State,
}

/// Draws the page.
pub fn draw<D>(sheet: &mut Sheet<D>, page: &Running) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    for ((direction, rate), top) in Direction::BOTH.into_iter().zip(page.rates).zip([0, 17]) {
        flow(sheet, top, direction, *rate)?;
    }
    state(sheet, page.state, page.progress.min(1000))?;
    bar(sheet, sheet.area(0, 35, 80, 9), page.progress.min(1000))?;
    let left = figure::time(page.left);
    let words = if page.left.is_some() {
        text(format_args!("{left} left"))
    } else {
        text(format_args!("time {left}"))
    };
    sheet.write(sheet.area(82, 35, 46, 9), &words, Style::RIGHT.room_for(9))?;
    classes(sheet, page.errors)
}

/// One direction's rate, its unit under its name.
fn flow<D>(
    sheet: &mut Sheet<D>,
    top: u32,
    direction: Direction,
    rate: Option<BitRate>,
) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    sheet.write(sheet.area(0, top, 18, 7), &text(direction), Style::LEFT)?;
    sheet.write(sheet.area(0, top + 9, 20, 6), "Gb/s", Style::LEFT)?;
    sheet.write(sheet.area(21, top, 60, 15), &figure::rate(rate), Style::RIGHT.room_for(figure::RATE_CHARS))
}

/// How the run stands: a framed word, or the solid block of a failure.
fn state<D>(sheet: &mut Sheet<D>, state: State, progress: u16) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let area = sheet.area(84, 0, 44, 32);
    let word = match state {
        State::Failed => {
            sheet.fill(area, BinaryColor::On)?;
            return sheet.letter(sheet.area(88, 4, 36, 24), "FAIL", BinaryColor::Off);
        }
        State::Settling => "settling",
        State::Running => "running",
    };
    sheet.frame(area, sheet.hairline())?;
    sheet.write(sheet.area(86, 4, 40, 8), word, Style::CENTER.room_for(8))?;
    let percent = text(format_args!("{}%", progress / 10));
    sheet.write(sheet.area(86, 15, 40, 13), &percent, Style::CENTER.room_for(4))
}

/// The progress bar.
fn bar<D>(sheet: &mut Sheet<D>, area: Rectangle, progress: u16) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let line = sheet.hairline();
    sheet.frame(area, line)?;
    let inside = inset(area, 2 * line);
    let done = inside.size.width * u32::from(progress) / 1000;
    sheet.fill(Rectangle::new(inside.top_left, Size::new(done, inside.size.height)), BinaryColor::On)
}

/// The four error classes along the bottom; one that is not zero stands in a solid box.
pub fn classes<D>(sheet: &mut Sheet<D>, errors: &Classes) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    let columns = [
        ("lost", errors.lost),
        ("corrupt", errors.corrupt),
        ("link", errors.link),
        ("internal", errors.internal),
    ];
    for ((name, count), left) in columns.into_iter().zip([0, 32, 64, 96]) {
        sheet.write(sheet.area(left, 46, 32, 6), name, Style::CENTER.room_for(8).room_below())?;
        let cell = sheet.area(left, 53, 31, 11);
        if count > 0 {
            sheet.fill(cell, BinaryColor::On)?;
        }
        let ink = if count > 0 { BinaryColor::Off } else { BinaryColor::On };
        let style = Style::CENTER.ink(ink).room_for(figure::COUNT_CHARS);
        sheet.write(sheet.area(left + 1, 54, 29, 9), &figure::count(count), style)?;
    }
    Ok(())
}
