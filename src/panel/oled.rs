//! Small OLEDs of 128 × 64 pixels with an SSD1306, SSD1309 or SH1106, on I2C or SPI.
//!
//! Commands are those of the `ssd1306` crate. Its buffered mode sends one box around all that has changed,
//! from the SSD1306's horizontal addressing, which an SH1106 does not have; so the drawing is done here, page by
//! page (8 rows), in the page addressing that all three have: only columns that differ from what was sent last.

pub mod wire;

#[cfg(test)]
pub(super) mod bus;

use super::backend::{Backend, Look};
use super::canvas::Canvas;
use super::dirty::next_run;
use display_interface::{DataFormat, DisplayError, WriteOnlyDataCommand};
use heapless::Vec as Octets;
use ssd1306::command::{AddrMode, Command};
use std::io;
use wire::Wire;

/// Pixels across.
pub const WIDTH: u16 = 128;
/// Pixels down.
pub const HEIGHT: u16 = 64;

/// Octets across and pages down: an octet is a column of eight pixels, the uppermost in the lowest bit.
const COLUMNS: usize = WIDTH as usize;
const PAGES: usize = HEIGHT as usize / 8;

/// Unchanged columns that are sent again rather than addressed over: what a new address costs in octets on I2C,
/// twice the display's address and a control octet, and three commands.
const WORTH_AN_ADDRESS: usize = 7;

/// SH1106, "Set DC-DC OFF/ON": its own pump, on as after a power-up. The display has to be off.
const SH1106_PUMP_ON: [u8; 2] = [0xAD, 0x8B];

/// Sent first: if the last transfer was cut short a command may still wait for its argument, and takes this for it.
const CUT_SHORT: Command = Command::Noop;

/// "Set VCOM Deselect Level".
const DESELECT_LEVEL: u8 = 0xDB;

/// The controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chip {
    /// Its own charge pump, 128 columns of memory.
    Ssd1306,
    /// Without a charge pump.
    Ssd1309,
    /// 132 columns of memory, of which most displays show the middle: column offset 2.
    Sh1106,
}

impl Chip {
    /// Column of its memory that is the leftmost pixel on most displays.
    #[must_use]
    pub const fn usual_offset(self) -> u8 {
        match self {
            Self::Ssd1306 | Self::Ssd1309 => 0,
            Self::Sh1106 => 2,
        }
    }

    /// Level between two rows that it has after a power-up: 0.77 of the supply, or 0.78.
    const fn deselect_level(self) -> u8 {
        match self {
            Self::Ssd1306 => 0x20,
            Self::Ssd1309 => 0x34,
            Self::Sh1106 => 0x35,
        }
    }
}

/// How a display is wired and set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The controller.
    pub chip: Chip,
    /// Column of its memory that is the leftmost pixel.
    pub column_offset: u8,
    /// Contrast, 0 to 255.
    pub contrast: u8,
    /// Mounted upside down.
    pub upside_down: bool,
    /// Lit pixels dark and dark ones lit.
    pub inverted: bool,
}

/// The picture as the controller keeps it.
type Pages = [[u8; COLUMNS]; PAGES];

/// A display.
pub struct Oled<W> {
    wire: W,
    settings: Settings,
    dim: bool,
    /// The controller has been reset.
    awake: bool,
    /// What is on it; none where nobody knows.
    shown: Option<Pages>,
}

impl<W: Wire> Oled<W> {
    /// A display at the other end of `wire`; nothing is sent yet.
    pub const fn new(wire: W, settings: Settings) -> Self {
        Self { wire, settings, dim: false, awake: false, shown: None }
    }

    /// Resets the controller, and switches on the voltage of one that has to be dark for it.
    fn wake(&mut self) -> io::Result<()> {
        self.wire.reset()?;
        if self.settings.chip == Chip::Sh1106 {
            let mut batch = Batch::default();
            batch.add(CUT_SHORT);
            batch.add(Command::DisplayOn(false));
            batch.add_raw(&SH1106_PUMP_ON);
            batch.send(&mut self.wire)?;
        }
        self.awake = true;
        Ok(())
    }

    /// Sets up the controller, whatever it was doing. One that is awake is not switched off: what it shows is drawn
    /// over, and after a power-up it is off until [`Self::fill`] has ended.
    fn set_up(&mut self) -> io::Result<()> {
        if !self.awake {
            self.wake()?;
        }
        let Settings { chip, upside_down, inverted, .. } = self.settings;
        let mut batch = Batch::default();
        batch.add(CUT_SHORT);
        batch.add(Command::DisplayClockDiv(8, 0));
        batch.add(Command::Multiplex(63));
        batch.add(Command::DisplayOffset(0));
        batch.add(Command::StartLine(0));
        if chip == Chip::Ssd1306 {
            batch.add(Command::ChargePump(true));
        }
        if chip != Chip::Sh1106 {
            batch.add(Command::AddressMode(AddrMode::Page));
            batch.add(Command::EnableScroll(false));
        }
        batch.add(Command::ComPinConfig(true, false));
        batch.add(Command::SegmentRemap(!upside_down));
        batch.add(Command::ReverseComDir(!upside_down));
        batch.add(Command::AllOn(false));
        batch.add(Command::Invert(inverted));
        batch.send(&mut self.wire)?;
        self.send_brightness()
    }

    /// Contrast alone hardly dims these displays: the charge before each row does, too.
    fn send_brightness(&mut self) -> io::Result<()> {
        let (contrast, charge) = if self.dim { (0, 2) } else { (self.settings.contrast, 15) };
        let mut batch = Batch::default();
        batch.add(Command::Contrast(contrast));
        batch.add(Command::PreChargePeriod(1, charge));
        batch.add_raw(&[DESELECT_LEVEL, self.settings.chip.deselect_level()]);
        batch.send(&mut self.wire)
    }

    /// Sets up the controller and sends the whole picture.
    fn fill(&mut self, pages: &Pages) -> io::Result<()> {
        self.set_up()?;
        for (page, octets) in (0..).zip(pages) {
            self.send_run(page, 0, octets)?;
        }
        let mut batch = Batch::default();
        batch.add(Command::DisplayOn(true));
        batch.send(&mut self.wire)
    }

    /// Sends what differs.
    fn update(&mut self, shown: &Pages, pages: &Pages) -> io::Result<()> {
        for (page, (old, new)) in (0..).zip(shown.iter().zip(pages)) {
            let mut from = 0;
            let differs = |at: usize| old.get(at) != new.get(at);
            while let Some((start, end)) = next_run(from, COLUMNS, WORTH_AN_ADDRESS, differs) {
                self.send_run(page, start, new.get(start..end).unwrap_or_default())?;
                from = end;
            }
        }
        Ok(())
    }

    /// Sends neighbouring columns of a page, the first of them at `column`.
    fn send_run(&mut self, page: u8, column: usize, octets: &[u8]) -> io::Result<()> {
        let column = u8::try_from(column).unwrap_or(u8::MAX).saturating_add(self.settings.column_offset);
        let mut batch = Batch::default();
        // The crate counts pages in rows of pixels here.
        batch.add(Command::PageStart((page * 8).into()));
        batch.add(Command::ColStart(column));
        batch.send(&mut self.wire)?;
        octets.chunks(wire::MOST_DATA).try_for_each(|chunk| self.wire.data(chunk))
    }
}

impl<W: Wire> Backend for Oled<W> {
    fn size(&self) -> (u16, u16) {
        (WIDTH, HEIGHT)
    }

    fn show(&mut self, canvas: &Canvas) -> io::Result<()> {
        let pages = pages(canvas);
        match self.shown.take() {
            Some(shown) => self.update(&shown, &pages)?,
            None => self.fill(&pages)?,
        }
        self.shown = Some(pages);
        Ok(())
    }

    fn set_look(&mut self, look: Look) -> io::Result<()> {
        if look.dim == self.dim {
            return Ok(());
        }
        self.dim = look.dim;
        if self.shown.is_some() { self.send_brightness() } else { Ok(()) }
    }

    fn probe(&mut self) -> io::Result<()> {
        let mut batch = Batch::default();
        batch.add(Command::Noop);
        batch.send(&mut self.wire)
    }

    fn forget(&mut self) {
        self.shown = None;
    }
}

/// The canvas as the controller keeps it; pixels that it does not have are dark.
fn pages(canvas: &Canvas) -> Pages {
    let mut pages = [[0; COLUMNS]; PAGES];
    for (page, top) in pages.iter_mut().zip((0..).step_by(8)) {
        for (octet, x) in page.iter_mut().zip(0..) {
            *octet = (0..8).fold(0, |octet, row| octet | u8::from(canvas.lit(x, top + row)) << row);
        }
    }
    pages
}

/// Commands that go in one transfer.
#[derive(Default)]
struct Batch(Octets<u8, { wire::MOST_DATA }>);

impl Batch {
    fn add(&mut self, command: Command) {
        command.send(self).expect("a batch is no longer than a transfer holds");
    }

    fn add_raw(&mut self, octets: &[u8]) {
        self.0.extend_from_slice(octets).expect("a batch is no longer than a transfer holds");
    }

    fn send(&self, wire: &mut impl Wire) -> io::Result<()> {
        wire.commands(&self.0)
    }
}

/// Takes the octets of the crate's commands.
impl WriteOnlyDataCommand for Batch {
    fn send_commands(&mut self, octets: DataFormat<'_>) -> Result<(), DisplayError> {
        let DataFormat::U8(octets) = octets else { return Err(DisplayError::DataFormatNotImplemented) };
        self.0.extend_from_slice(octets).map_err(|_| DisplayError::OutOfBoundsError)
    }

    fn send_data(&mut self, _octets: DataFormat<'_>) -> Result<(), DisplayError> {
        Err(DisplayError::DataFormatNotImplemented)
    }
}

#[cfg(test)]
mod tests;
