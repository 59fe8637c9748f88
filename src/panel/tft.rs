//! Displays in colour on SPI, with an ST7789 or ILI9341 and whatever else `mipidsi` knows.
//!
//! The picture is the canvas of two colours: black, and an ink that tells the verdict. Only boxes around what has
//! changed are sent.

use super::backend::{Backend, Look, Palette};
use super::canvas::Canvas;
use super::dirty::next_run;
use super::oled::wire::{other, pulse};
use core::fmt;
use embedded_graphics::pixelcolor::{Rgb565, Rgb888};
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::Rectangle;
use embedded_hal::delay::DelayNs;
use embedded_hal::digital::OutputPin;
use embedded_hal::spi::SpiDevice;
use mipidsi::interface::{Interface, InterfaceKind};
use mipidsi::models::Model;
use mipidsi::options::{ColorInversion, ColorOrder, Orientation, Rotation};
use mipidsi::{Builder, Display, InitError, NoResetPin};
use std::io;

/// Rows that are sent in boxes of their own.
const BAND: u16 = 8;

/// Unchanged columns that are sent again rather than addressed over: an address costs 11 octets and six changes of
/// the data/command line, each a system call.
const WORTH_AN_ADDRESS: usize = 16;

/// Most octets in one transfer: what spidev takes where its `bufsiz` is left alone.
const MOST_OCTETS: usize = 4096;

/// How a display is mounted and wired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Pixels across and down as it is mounted; wider than high is on its side.
    pub size: (u16, u16),
    /// Mounted upside down.
    pub upside_down: bool,
    /// The panel counts its columns from the other side.
    pub mirrored: bool,
    /// Light is dark and dark is light.
    pub inverted: bool,
    /// Blue is first.
    pub blue_first: bool,
    /// What the inks look like.
    pub palette: Palette,
}

impl Settings {
    fn is_on_its_side(self) -> bool {
        self.size.0 > self.size.1
    }

    /// Pixels along the controller's own rows and columns.
    fn native_size(self) -> (u16, u16) {
        let (width, height) = self.size;
        if self.is_on_its_side() { (height, width) } else { (width, height) }
    }

    fn orientation(self) -> Orientation {
        let upright = if self.mirrored { Orientation::new().flip_horizontal() } else { Orientation::new() };
        upright.rotate(match (self.is_on_its_side(), self.upside_down) {
            (false, false) => Rotation::Deg0,
            (true, false) => Rotation::Deg90,
            (false, true) => Rotation::Deg180,
            (true, true) => Rotation::Deg270,
        })
    }
}

/// Four-wire SPI as `mipidsi` wants it, with a buffer of its own.
pub struct Dcs<S, P> {
    spi: S,
    data_line: P,
    buffer: Vec<u8>,
}

impl<S, P> Dcs<S, P>
where
    S: SpiDevice<Error: fmt::Display>,
    P: OutputPin<Error: fmt::Display>,
{
    /// `data_line` is high for data.
    pub fn new(spi: S, data_line: P) -> Self {
        Self { spi, data_line, buffer: Vec::with_capacity(MOST_OCTETS) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let sent = if self.buffer.is_empty() { Ok(()) } else { self.spi.write(&self.buffer).map_err(other) };
        self.buffer.clear();
        sent
    }
}

impl<S, P> Interface for Dcs<S, P>
where
    S: SpiDevice<Error: fmt::Display>,
    P: OutputPin<Error: fmt::Display>,
{
    type Word = u8;
    type Error = io::Error;

    const KIND: InterfaceKind = InterfaceKind::Serial4Line;

    fn send_command(&mut self, command: u8, args: &[u8]) -> io::Result<()> {
        self.data_line.set_low().map_err(other)?;
        self.spi.write(&[command]).map_err(other)?;
        self.data_line.set_high().map_err(other)?;
        if args.is_empty() { Ok(()) } else { self.spi.write(args).map_err(other) }
    }

    fn send_pixels<const N: usize>(&mut self, pixels: impl IntoIterator<Item = [u8; N]>) -> io::Result<()> {
        for pixel in pixels {
            if self.buffer.len() + N > MOST_OCTETS {
                self.flush()?;
            }
            self.buffer.extend_from_slice(&pixel);
        }
        self.flush()
    }

    fn send_repeated_pixel<const N: usize>(&mut self, pixel: [u8; N], count: u32) -> io::Result<()> {
        self.send_pixels((0..count).map(|_| pixel))
    }
}

/// A display in colour.
pub struct Tft<T> {
    target: T,
    size: (u16, u16),
    palette: Palette,
    ink: Rgb565,
    /// What is on it, and in which ink; none where nobody knows.
    shown: Option<(Canvas, Rgb565)>,
}

impl<M, S, P> Tft<Display<Dcs<S, P>, M, NoResetPin>>
where
    M: Model<ColorFormat = Rgb565>,
    S: SpiDevice<Error: fmt::Display>,
    P: OutputPin<Error: fmt::Display>,
{
    /// Resets and sets up the controller, which takes it a third of a second.
    ///
    /// # Errors
    /// Those of the bus and its lines.
    pub fn start(
        model: M,
        settings: Settings,
        bus: Dcs<S, P>,
        reset_line: Option<P>,
        delay: &mut impl DelayNs,
    ) -> io::Result<Self> {
        reset_line.map_or(Ok(()), |mut line| pulse(&mut line, delay))?;
        let (width, height) = settings.native_size();
        let inversion = if settings.inverted { ColorInversion::Inverted } else { ColorInversion::Normal };
        let order = if settings.blue_first { ColorOrder::Bgr } else { ColorOrder::Rgb };
        let display = Builder::new(model, bus)
            .display_size(width, height)
            .orientation(settings.orientation())
            .invert_colors(inversion)
            .color_order(order)
            .init(delay);
        match display {
            Ok(target) => Ok(Self::new(target, settings)),
            Err(InitError::Interface(error)) => Err(error),
            Err(refused) => Err(io::Error::other(format!("{refused:?}"))),
        }
    }
}

impl<T> Tft<T> {
    /// A display that is set up.
    const fn new(target: T, settings: Settings) -> Self {
        let Settings { size, palette, .. } = settings;
        Self { target, size, palette, ink: Rgb565::WHITE, shown: None }
    }
}

impl<T: DrawTarget<Color = Rgb565, Error = io::Error>> Tft<T> {
    /// Sends the columns `columns` of the rows from `top` on, below `bottom`.
    fn send(&mut self, canvas: &Canvas, columns: (u16, u16), rows: (u16, u16)) -> io::Result<()> {
        let ((left, right), (top, bottom)) = (columns, rows);
        let corner = Point::new(left.into(), top.into());
        let area = Rectangle::new(corner, Size::new((right - left).into(), (bottom - top).into()));
        let ink = self.ink;
        let pixels = (top..bottom).flat_map(|y| (left..right).map(move |x| (x, y)));
        let colours = pixels.map(|(x, y)| if canvas.lit(x, y) { ink } else { Rgb565::BLACK });
        self.target.fill_contiguous(&area, colours)
    }

    fn send_band(&mut self, shown: Option<&Canvas>, canvas: &Canvas, rows: (u16, u16)) -> io::Result<()> {
        let changed =
            |x: u16| shown.is_none_or(|shown| (rows.0..rows.1).any(|y| shown.lit(x, y) != canvas.lit(x, y)));
        let column = |x: usize| u16::try_from(x).unwrap_or(u16::MAX);
        let (mut from, width) = (0, self.size.0.into());
        while let Some((left, right)) = next_run(from, width, WORTH_AN_ADDRESS, |x| changed(column(x))) {
            self.send(canvas, (column(left), column(right)), rows)?;
            from = right;
        }
        Ok(())
    }
}

impl<T: DrawTarget<Color = Rgb565, Error = io::Error>> Backend for Tft<T> {
    fn size(&self) -> (u16, u16) {
        self.size
    }

    fn show(&mut self, canvas: &Canvas) -> io::Result<()> {
        let shown = self.shown.take().filter(|(_, ink)| *ink == self.ink).map(|(canvas, _)| canvas);
        for top in (0..self.size.1).step_by(BAND.into()) {
            let bottom = top.saturating_add(BAND).min(self.size.1);
            self.send_band(shown.as_ref(), canvas, (top, bottom))?;
        }
        self.shown = Some((canvas.clone(), self.ink));
        Ok(())
    }

    fn set_look(&mut self, look: Look) -> io::Result<()> {
        let [red, green, blue] = self.palette.colour(look);
        self.ink = Rgb888::new(red, green, blue).into();
        Ok(())
    }

    fn forget(&mut self) {
        self.shown = None;
    }
}

#[cfg(test)]
mod tests;
