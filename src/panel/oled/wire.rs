//! How octets get to a controller: I2C, SMBus block writes, or SPI with a data/command line.

use embedded_hal::delay::DelayNs;
use embedded_hal::digital::OutputPin;
use embedded_hal::i2c::I2c;
use embedded_hal::spi::SpiDevice;
use heapless::Vec;
use linux_embedded_hal::i2cdev::core::I2CDevice;
use linux_embedded_hal::i2cdev::linux::LinuxI2CDevice;
use std::fmt::Display;
use std::io;

/// Most octets behind a control octet: what an SMBus block holds (`I2C_SMBUS_BLOCK_MAX`, linux/i2c.h). Plain I2C
/// keeps to it as well: it costs a twentieth more, and USB adapters with small buffers take it.
pub const MOST_DATA: usize = 32;

/// Control octet before commands (SSD1306, 8.1.5.2: Co = 0, D/C# = 0).
pub const COMMANDS: u8 = 0x00;
/// Control octet before data (Co = 0, D/C# = 1).
pub const DATA: u8 = 0x40;

/// Time that the reset line is held low, and that the controller takes to wake up after it, in µs. SSD1306 needs
/// 3 µs, SH1106 10 µs (reset low pulse width); boards have capacitors on the line.
const RESET_US: u32 = 10_000;

/// A way to a controller.
pub trait Wire {
    /// Sends commands, at most [`MOST_DATA`] octets.
    ///
    /// # Errors
    /// Those of the bus.
    fn commands(&mut self, octets: &[u8]) -> io::Result<()>;

    /// Sends data, at most [`MOST_DATA`] octets.
    ///
    /// # Errors
    /// Those of the bus.
    fn data(&mut self, octets: &[u8]) -> io::Result<()>;

    /// Resets the controller where there is a line for it.
    ///
    /// # Errors
    /// Those of the line.
    fn reset(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whatever the bus, one driver: it is needed once in the program, and not once for each bus.
impl<W: Wire + ?Sized> Wire for Box<W> {
    fn commands(&mut self, octets: &[u8]) -> io::Result<()> {
        (**self).commands(octets)
    }

    fn data(&mut self, octets: &[u8]) -> io::Result<()> {
        (**self).data(octets)
    }

    fn reset(&mut self) -> io::Result<()> {
        (**self).reset()
    }
}

/// Plain I2C writes.
pub struct I2cWire<I> {
    bus: I,
    address: u8,
}

impl<I> I2cWire<I> {
    /// To the display at `address` (7 bits).
    pub const fn new(bus: I, address: u8) -> Self {
        Self { bus, address }
    }
}

impl<I: I2c<Error: Display>> I2cWire<I> {
    fn send(&mut self, control: u8, octets: &[u8]) -> io::Result<()> {
        let mut message = Vec::<u8, { MOST_DATA + 1 }>::new();
        let whole = message.push(control).is_ok() && message.extend_from_slice(octets).is_ok();
        if !whole {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.bus.write(self.address, &message).map_err(other)
    }
}

impl<I: I2c<Error: Display>> Wire for I2cWire<I> {
    fn commands(&mut self, octets: &[u8]) -> io::Result<()> {
        self.send(COMMANDS, octets)
    }

    fn data(&mut self, octets: &[u8]) -> io::Result<()> {
        self.send(DATA, octets)
    }
}

/// An adapter that can do SMBus transfers only, as the i801 of many PCs, already set to the display's address.
pub trait BlockWrite {
    /// "I2C block write": a command octet and at most 32 of data, without a count between them.
    ///
    /// # Errors
    /// Those of the bus.
    fn write_block(&mut self, command: u8, octets: &[u8]) -> io::Result<()>;
}

impl BlockWrite for LinuxI2CDevice {
    fn write_block(&mut self, command: u8, octets: &[u8]) -> io::Result<()> {
        self.smbus_write_i2c_block_data(command, octets).map_err(io::Error::from)
    }
}

/// SMBus block writes: the control octet is what SMBus calls a command.
pub struct SmbusWire<B>(pub B);

impl<B: BlockWrite> Wire for SmbusWire<B> {
    fn commands(&mut self, octets: &[u8]) -> io::Result<()> {
        self.0.write_block(COMMANDS, octets)
    }

    fn data(&mut self, octets: &[u8]) -> io::Result<()> {
        self.0.write_block(DATA, octets)
    }
}

/// SPI of four wires: a line tells data from commands.
pub struct SpiWire<S, P, T> {
    spi: S,
    data_line: P,
    reset_line: Option<P>,
    delay: T,
}

impl<S, P, T> SpiWire<S, P, T> {
    /// `data_line` is high for data; `reset_line` is low for a reset.
    pub const fn new(spi: S, data_line: P, reset_line: Option<P>, delay: T) -> Self {
        Self { spi, data_line, reset_line, delay }
    }
}

impl<S, P, T> Wire for SpiWire<S, P, T>
where
    S: SpiDevice<Error: Display>,
    P: OutputPin<Error: Display>,
    T: DelayNs,
{
    fn commands(&mut self, octets: &[u8]) -> io::Result<()> {
        self.data_line.set_low().map_err(other)?;
        self.spi.write(octets).map_err(other)
    }

    fn data(&mut self, octets: &[u8]) -> io::Result<()> {
        self.data_line.set_high().map_err(other)?;
        self.spi.write(octets).map_err(other)
    }

    fn reset(&mut self) -> io::Result<()> {
        self.reset_line.as_mut().map_or(Ok(()), |line| pulse(line, &mut self.delay))
    }
}

/// Resets a controller by its line.
pub(in crate::panel) fn pulse(
    line: &mut impl OutputPin<Error: Display>,
    delay: &mut impl DelayNs,
) -> io::Result<()> {
    line.set_low().map_err(other)?;
    delay.delay_us(RESET_US);
    line.set_high().map_err(other)?;
    delay.delay_us(RESET_US);
    Ok(())
}

/// A bus's own error, with its words.
pub(in crate::panel) fn other(error: impl Display) -> io::Error {
    io::Error::other(error.to_string())
}
