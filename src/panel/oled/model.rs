//! An SSD1306, SSD1309 or SH1106 down to the last command, and buses to it that count and fail.

use super::super::canvas::Canvas;
use super::wire::BlockWrite;
use super::{Chip, HEIGHT, WIDTH};
use embedded_hal::delay::DelayNs;
use embedded_hal::digital::{self, OutputPin};
use embedded_hal::i2c::{self, I2c, NoAcknowledgeSource, Operation};
use embedded_hal::spi::{self, SpiDevice};
use std::cell::RefCell;
use std::fmt;
use std::io;
use std::rc::Rc;

/// The controller's registers and memory.
pub struct Model {
    chip: Chip,
    /// Its memory, of which nobody knows after a power-up what is in it.
    pub ram: [[u8; 132]; 8],
    page: usize,
    column: usize,
    page_mode: bool,
    pub on: bool,
    pub contrast: u8,
    pub charge: u8,
    pub inverted: bool,
    pub mirrored: bool,
    pump: bool,
    multiplex: u8,
    /// Commands of which arguments are still to come, with those that came.
    pending: Vec<u8>,
}

impl Model {
    pub fn new(chip: Chip) -> Self {
        Self {
            chip,
            ram: [[0xA5; 132]; 8],
            page: 0,
            column: 0,
            page_mode: true,
            on: false,
            contrast: 0x7F,
            charge: 0x22,
            inverted: false,
            mirrored: false,
            pump: chip == Chip::Ssd1309,
            multiplex: 63,
            pending: Vec::new(),
        }
    }

    /// One octet of a command.
    pub fn command(&mut self, octet: u8) {
        self.pending.push(octet);
        let pending = std::mem::take(&mut self.pending);
        match *pending.as_slice() {
            [octet @ 0x00..=0x0F] => self.column = self.column & 0xF0 | usize::from(octet),
            [octet @ 0x10..=0x1F] => self.column = self.column & 0x0F | usize::from(octet & 0x0F) << 4,
            [0x40..=0x7F | 0xA4 | 0xC0 | 0xC8 | 0xE3] => {}
            [octet @ (0xA0 | 0xA1)] => self.mirrored = octet == 0xA0,
            [octet @ (0xA6 | 0xA7)] => self.inverted = octet == 0xA7,
            [octet @ (0xAE | 0xAF)] => self.on = octet == 0xAF,
            [octet @ 0xB0..=0xB7] => self.page = usize::from(octet & 7),
            [0x81, contrast] => self.contrast = contrast,
            [0xA8, multiplex] => self.multiplex = multiplex,
            [0xD9, charge] => self.charge = charge,
            [0xD3 | 0xD5 | 0xDA | 0xDB, _] => {}
            [0x81 | 0xA8 | 0xD3 | 0xD5 | 0xD9 | 0xDA | 0xDB] => self.pending = pending,
            _ => self.own_command(pending),
        }
    }

    /// What only some of them have.
    fn own_command(&mut self, pending: Vec<u8>) {
        match (self.chip, pending.as_slice()) {
            (Chip::Ssd1306 | Chip::Ssd1309, [0x20]) | (Chip::Ssd1306, [0x8D]) | (Chip::Sh1106, [0xAD]) => {
                self.pending = pending;
            }
            (Chip::Ssd1306 | Chip::Ssd1309, [0x20, mode]) => self.page_mode = *mode == 2,
            (Chip::Ssd1306 | Chip::Ssd1309, [0x2E]) => {}
            (Chip::Ssd1306, [0x8D, pump]) => self.pump = pump & 0x04 != 0,
            (Chip::Sh1106, [0xAD, pump]) => self.pump = *pump == 0x8B,
            (chip, unknown) => panic!("{chip:?} has no command {unknown:02x?}"),
        }
    }

    /// One octet of data: a column of eight pixels, and on to the next.
    pub fn data(&mut self, octet: u8) {
        assert!(self.pending.is_empty(), "data inside a command: {:02x?}", self.pending);
        let columns = if self.chip == Chip::Sh1106 { 132 } else { 128 };
        assert!(self.column < columns, "{:?} has no column {}", self.chip, self.column);
        self.ram[self.page][self.column] = octet;
        // An SSD1306 goes back to column 0; nothing that is drawn may count on it.
        self.column += 1;
    }

    /// What a person sees; none where the display is off or not set up.
    pub fn picture(&self, offset: u8) -> Option<Canvas> {
        let set_up = self.on && self.pump && self.page_mode && self.multiplex == 63;
        set_up.then(|| {
            let mut canvas = Canvas::new(WIDTH, HEIGHT);
            for y in 0..HEIGHT {
                for x in 0..WIDTH {
                    let octet = self.ram[usize::from(y / 8)][usize::from(x) + usize::from(offset)];
                    canvas.set(x, y, octet >> (y % 8) & 1 != 0);
                }
            }
            canvas
        })
    }
}

/// The display on its bus: what was sent, and when it stops answering.
pub struct Device {
    pub model: Model,
    /// Octets on the bus, the display's address counted where the bus has one.
    pub octets: usize,
    /// Transfers, each with its start and stop.
    pub transfers: usize,
    /// Octets that are still taken before the next is not acknowledged; none for all.
    pub patience: Option<usize>,
    /// Level of the data/command line.
    data_line: bool,
    resets: usize,
}

impl Device {
    pub fn shared(chip: Chip) -> Shared {
        let model = Model::new(chip);
        let device = Self { model, octets: 0, transfers: 0, patience: None, data_line: false, resets: 0 };
        Shared(Rc::new(RefCell::new(device)))
    }

    /// Time on a bus of 400 kHz in µs: nine bits an octet, and about two for start and stop.
    pub fn bus_micros(&self) -> usize {
        (self.octets * 9 + self.transfers * 2) * 10 / 4
    }

    pub fn forget_costs(&mut self) {
        (self.octets, self.transfers) = (0, 0);
    }

    /// Takes one octet, or does not acknowledge it.
    fn take(&mut self, octet: u8, to: impl FnOnce(&mut Model, u8)) -> Result<(), Nak> {
        self.octets += 1;
        match &mut self.patience {
            Some(0) => return Err(Nak),
            Some(patience) => *patience -= 1,
            None => {}
        }
        to(&mut self.model, octet);
        Ok(())
    }

    /// A message of I2C behind the address: control octet, then commands or data.
    fn message(&mut self, message: &[u8]) -> Result<(), Nak> {
        self.transfers += 1;
        self.model.pending.clear();
        self.take(0, |_, _| {})?;
        let (control, octets) = message.split_first().expect("a control octet");
        self.take(*control, |_, _| {})?;
        octets.iter().try_for_each(|octet| match *control {
            0x00 => self.take(*octet, Model::command),
            0x40 => self.take(*octet, Model::data),
            control => panic!("control octet {control:#04x}"),
        })
    }

    pub fn resets(&self) -> usize {
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
        let to = if device.data_line { Model::data } else { Model::command };
        operations.iter().try_for_each(|operation| match operation {
            spi::Operation::Write(octets) => octets.iter().try_for_each(|octet| device.take(*octet, to)),
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
                device.model = Model::new(device.model.chip);
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
