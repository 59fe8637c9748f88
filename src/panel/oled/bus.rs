//! Buses to an SSD1306, SSD1309 or SH1106 that count and fail; the controller itself is that of the emulated box.

use super::super::canvas::Canvas;
use super::wire::BlockWrite;
use super::{Chip, HEIGHT, WIDTH};
use embedded_hal::delay::DelayNs;
use embedded_hal::digital::{self, OutputPin};
use embedded_hal::i2c::{self, I2c, NoAcknowledgeSource, Operation};
use embedded_hal::spi::{self, SpiDevice};
use linegauge_peripherals::controller::{self, Controller};
use linegauge_peripherals::display::Display;
use std::cell::RefCell;
use std::fmt;
use std::io;
use std::rc::Rc;

/// The model of a chip.
const fn modelled(chip: Chip) -> controller::Chip {
    match chip {
        Chip::Ssd1306 => controller::Chip::Ssd1306,
        Chip::Ssd1309 => controller::Chip::Ssd1309,
        Chip::Sh1106 => controller::Chip::Sh1106,
    }
}

/// The display on its bus: what was sent, and when it stops answering. What no data sheet has is a failed test, but
/// in the first transfer behind one that was cut short: that may be the end of a command.
pub struct Device {
    display: Display,
    /// Octets on the bus, the display's address counted where the bus has one.
    pub octets: usize,
    /// Transfers, each with its start and stop.
    pub transfers: usize,
    /// Octets that are still taken before the next is not acknowledged; none for all.
    pub patience: Option<usize>,
    /// The last transfer was not taken to its end.
    cut: bool,
    /// Level of the data/command line.
    data_line: bool,
    resets: usize,
}

impl Device {
    pub fn shared(chip: Chip) -> Shared {
        let display = Display::new(Controller::new(modelled(chip)));
        Shared(Rc::new(RefCell::new(Self {
            display,
            octets: 0,
            transfers: 0,
            patience: None,
            cut: false,
            data_line: false,
            resets: 0,
        })))
    }

    /// Its power goes and comes: it has forgotten everything.
    pub fn power_cut(&mut self) {
        self.display = Display::new(Controller::new(self.controller().chip()));
    }

    /// The controller.
    pub const fn controller(&self) -> &Controller {
        &self.display.controller
    }

    /// What a person sees; none where the display is off.
    pub fn picture(&self) -> Option<Canvas> {
        let picture = self.controller().picture()?;
        let mut canvas = Canvas::new(WIDTH, HEIGHT);
        for y in 0..HEIGHT {
            (0..WIDTH).for_each(|x| canvas.set(x, y, picture.lit(x.into(), y.into())));
        }
        Some(canvas)
    }

    /// Time on a bus of 400 kHz in µs: nine bits an octet, and about two for start and stop.
    pub fn bus_micros(&self) -> usize {
        (self.octets * 9 + self.transfers * 2) * 10 / 4
    }

    pub fn forget_costs(&mut self) {
        (self.octets, self.transfers) = (0, 0);
    }

    /// These octets of a transfer, each handed to `to`.
    fn octets(&mut self, octets: &[u8], to: fn(&mut Display, u8)) -> Result<(), Nak> {
        for octet in octets {
            self.take(|display| to(display, *octet))?;
            let wrongs = self.display.controller.take_wrongs();
            assert!(self.cut || wrongs.is_empty(), "{wrongs:?}");
        }
        self.cut = false;
        Ok(())
    }

    /// Takes one octet, or does not acknowledge it.
    fn take(&mut self, to: impl FnOnce(&mut Display)) -> Result<(), Nak> {
        self.octets += 1;
        match &mut self.patience {
            Some(0) => {
                self.cut = true;
                return Err(Nak);
            }
            Some(patience) => *patience -= 1,
            None => {}
        }
        to(&mut self.display);
        Ok(())
    }

    /// A message of I2C behind the address: control octet, then commands or data.
    fn message(&mut self, message: &[u8]) -> Result<(), Nak> {
        self.transfers += 1;
        self.take(Display::start)?;
        self.octets(message, Display::octet)?;
        assert_eq!(self.display.wrong_controls(), 0);
        Ok(())
    }

    pub const fn resets(&self) -> usize {
        self.resets
    }
}

/// No acknowledge.
#[derive(Clone, Copy, Debug)]
pub struct Nak;

impl fmt::Display for Nak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no acknowledge")
    }
}

impl i2c::Error for Nak {
    fn kind(&self) -> i2c::ErrorKind {
        i2c::ErrorKind::NoAcknowledge(NoAcknowledgeSource::Unknown)
    }
}

impl spi::Error for Nak {
    fn kind(&self) -> spi::ErrorKind {
        spi::ErrorKind::Other
    }
}

impl digital::Error for Nak {
    fn kind(&self) -> digital::ErrorKind {
        digital::ErrorKind::Other
    }
}

/// Any end of the bus.
#[derive(Clone)]
pub struct Shared(pub Rc<RefCell<Device>>);

/// The address at which the model answers.
pub const ADDRESS: u8 = 0x3C;

impl i2c::ErrorType for Shared {
    type Error = Nak;
}

impl I2c for Shared {
    fn transaction(&mut self, address: u8, operations: &mut [Operation<'_>]) -> Result<(), Nak> {
        assert_eq!(address, ADDRESS);
        operations.iter().try_for_each(|operation| match operation {
            Operation::Write(message) => self.0.borrow_mut().message(message),
            Operation::Read(_) => panic!("nothing is read from a display"),
        })
    }
}

impl BlockWrite for Shared {
    fn write_block(&mut self, command: u8, octets: &[u8]) -> io::Result<()> {
        assert!((1..=32).contains(&octets.len()), "a block of {} octets", octets.len());
        let message: Vec<u8> = std::iter::once(command).chain(octets.iter().copied()).collect();
        self.0.borrow_mut().message(&message).map_err(|_| io::Error::from_raw_os_error(libc::ENXIO))
    }
}

impl spi::ErrorType for Shared {
    type Error = Nak;
}

impl SpiDevice for Shared {
    fn transaction(&mut self, operations: &mut [spi::Operation<'_, u8>]) -> Result<(), Nak> {
        let mut device = self.0.borrow_mut();
        device.transfers += 1;
        let to: fn(&mut Display, u8) = if device.data_line {
            |display, octet| display.controller.data(octet)
        } else {
            |display, octet| display.controller.command(octet)
        };
        operations.iter().try_for_each(|operation| match operation {
            spi::Operation::Write(octets) => device.octets(octets, to),
            _ => panic!("nothing is read from a display"),
        })
    }
}

/// A line to the display.
#[derive(Clone)]
pub enum Line {
    Data(Shared),
    Reset(Shared),
}

impl digital::ErrorType for Line {
    type Error = Nak;
}

impl OutputPin for Line {
    fn set_low(&mut self) -> Result<(), Nak> {
        match self {
            Self::Data(device) => device.0.borrow_mut().data_line = false,
            Self::Reset(device) => {
                let mut device = device.0.borrow_mut();
                device.power_cut();
                device.resets += 1;
            }
        }
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Nak> {
        if let Self::Data(device) = self {
            device.0.borrow_mut().data_line = true;
        }
        Ok(())
    }
}

/// Waits for nothing.
pub struct NoDelay;

impl DelayNs for NoDelay {
    fn delay_ns(&mut self, _nanos: u32) {}
}
