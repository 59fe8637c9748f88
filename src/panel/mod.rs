//! The panel: a [`Screen`] turned into pixels, and where the pixels go.
//!
//! Pages are drawn by embedded-graphics on any target of two colours, so that a 128 × 64 OLED, a
//! framebuffer and the terminal show the very same page. A target in colour takes them through
//! embedded-graphics' own `color_converted()`. The parts, bottom up:
//!
//! - where things go and how they are drawn: `sheet`, `text`, `paragraph`, `stroke`, `lettering`, `figure`;
//! - what the pages share: `emblem` (the shape of a verdict), `cable`;
//! - the pages: `plug`, `checking`, `running`, `verdict`, `figures`, `qr`, `fault`;
//! - pixels in memory and ways out of it: [`canvas`], [`braille`], [`terminal`], [`png`], [`framebuffer`].

pub mod adapter;
pub mod backend;
pub mod braille;
mod cable;
pub mod canvas;
mod checking;
mod dirty;
mod emblem;
mod fault;
mod figure;
mod figures;
pub mod framebuffer;
pub mod keeper;
mod lettering;
pub mod oled;
mod open;
mod paragraph;
mod plug;
pub mod png;
mod qr;
pub mod rest;
mod running;
mod sheet;
mod stroke;
pub mod terminal;
mod text;
pub mod tft;
pub mod thread;
mod verdict;

use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;
use measure::screen::Screen;
use sheet::Sheet;

pub use open::open;

/// Draws `screen` over all of `target`, laid out for the target's own size.
///
/// Pages are designed at 128 × 64, the smallest display, and stretch with larger ones. Nothing is
/// drawn outside the target's bounding box; on a smaller target what does not fit is left out.
///
/// # Errors
/// The target's own.
pub fn draw<D>(target: &mut D, screen: &Screen) -> Result<(), D::Error>
where
    D: DrawTarget<Color = BinaryColor>,
{
    target.clear(BinaryColor::Off)?;
    let mut sheet = Sheet::new(target);
    match screen {
        Screen::PlugCable { last, hint } => plug::draw(&mut sheet, *last, hint),
        Screen::Checking { what } => checking::draw(&mut sheet, what),
        Screen::Running { rates, progress, errors, left, failed, settling } => {
            let state = running::State::of(*failed, *settling);
            running::draw(
                &mut sheet,
                &running::Running { rates, progress: *progress, errors, left: *left, state },
            )
        }
        Screen::Verdict { verdict, reason, run, unsaved } => {
            verdict::draw(&mut sheet, *verdict, reason, *run, *unsaved)
        }
        Screen::Figures { verdict, run, rates, errors, bounds } => figures::draw(
            &mut sheet,
            &figures::Figures { verdict: *verdict, run: *run, rates, errors, bounds },
        ),
        Screen::Fault { text } => fault::draw(&mut sheet, text),
        Screen::Qr { verdict, run, ticket } => qr::draw(&mut sheet, *verdict, *run, ticket),
    }
}

/// The picture of `screen` on the smallest display.
#[must_use]
pub fn picture(screen: &Screen) -> canvas::Canvas {
    let mut canvas = canvas::Canvas::default();
    let Ok(()) = draw(&mut canvas, screen);
    canvas
}
