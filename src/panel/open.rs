//! From what a board says of its display to a back end on the real devices.

use super::adapter;
use super::backend::{Backend, Palette};
use super::framebuffer::{self, FramebufferPanel};
use super::oled::wire::{I2cWire, SmbusWire, SpiWire, Wire, other};
use super::oled::{self, Chip, Oled};
use super::tft::{self, Dcs, Tft};
use crate::board::{DisplayKind, DisplaySettings, GpioLine};
use crate::sys::i2c;
use embedded_graphics::pixelcolor::Rgb565;
use linux_embedded_hal::gpio_cdev::{self, LineRequestFlags};
use linux_embedded_hal::i2cdev::linux::LinuxI2CDevice;
use linux_embedded_hal::spidev::{SpiModeFlags, SpidevOptions};
use linux_embedded_hal::{CdevPin, Delay, I2cdev, SpidevDevice};
use mipidsi::models::{ILI9341Rgb565, Model, ST7789};
use std::io;
use std::path::Path;

/// What the kernel tells of a GPIO line's user.
const CONSUMER: &str = "linegauge";

/// Opens the display that a board has, on the real devices; nothing is drawn yet.
///
/// # Errors
/// One line that names the device, where it cannot be opened or the board has no display.
pub fn open(kind: DisplayKind, settings: &DisplaySettings) -> io::Result<Box<dyn Backend>> {
    match kind {
        DisplayKind::None => Err(io::Error::new(io::ErrorKind::NotFound, "the board has no display")),
        DisplayKind::Framebuffer => framebuffer(settings),
        DisplayKind::Ssd1306 => on_i2c(Chip::Ssd1306, settings),
        DisplayKind::Sh1106 => on_i2c(Chip::Sh1106, settings),
        DisplayKind::Ssd1306Spi => on_spi(Chip::Ssd1306, settings),
        DisplayKind::Ssd1309Spi => on_spi(Chip::Ssd1309, settings),
        DisplayKind::Sh1106Spi => on_spi(Chip::Sh1106, settings),
        DisplayKind::St7789 => tft(ST7789, false, settings),
        DisplayKind::Ili9341 => tft(ILI9341Rgb565, true, settings),
    }
}

fn framebuffer(settings: &DisplaySettings) -> io::Result<Box<dyn Backend>> {
    let panel = FramebufferPanel::open_for_pages(Path::new(framebuffer::DEVICE)).map_err(io::Error::other)?;
    Ok(Box::new(panel.with_palette(Palette(settings.colours))))
}

/// What the OLED's driver needs to know.
const fn oled_settings(chip: Chip, settings: &DisplaySettings) -> oled::Settings {
    oled::Settings {
        chip,
        column_offset: settings.column_offset,
        contrast: settings.contrast,
        upside_down: settings.upside_down,
        inverted: settings.inverted,
    }
}

fn on_i2c(chip: Chip, settings: &DisplaySettings) -> io::Result<Box<dyn Backend>> {
    let bus = settings.bus.as_deref().unwrap_or_default();
    let path = adapter::device(bus, Path::new(adapter::CLASS))?;
    let named = |error: io::Error| at(&path, &error);
    let device = LinuxI2CDevice::new(&path, settings.address.into()).map_err(|error| named(error.into()))?;
    let functions = i2c::functions(&device).map_err(named)?;
    let settings_of = oled_settings(chip, settings);
    if functions & i2c::PLAIN != 0 {
        let bus = I2cdev::new(&path).map_err(|error| named(error.into()))?;
        return Ok(boxed(I2cWire::new(bus, settings.address), settings_of));
    }
    if functions & i2c::BLOCK_WRITE != 0 {
        return Ok(boxed(SmbusWire(device), settings_of));
    }
    Err(named(io::Error::other("the adapter can do neither I2C messages nor SMBus I2C block writes")))
}

fn on_spi(chip: Chip, settings: &DisplaySettings) -> io::Result<Box<dyn Backend>> {
    let (spi, data_line, reset_line) = spi(settings)?;
    Ok(boxed(SpiWire::new(spi, data_line, reset_line, Delay), oled_settings(chip, settings)))
}

fn boxed(wire: impl Wire + 'static, settings: oled::Settings) -> Box<dyn Backend> {
    let wire: Box<dyn Wire> = Box::new(wire);
    Box::new(Oled::new(wire, settings))
}

fn tft<M>(model: M, blue_first: bool, settings: &DisplaySettings) -> io::Result<Box<dyn Backend>>
where
    M: Model<ColorFormat = Rgb565> + 'static,
{
    let DisplaySettings { size, upside_down, mirrored, inverted, .. } = *settings;
    let (spi, data_line, reset_line) = spi(settings)?;
    let palette = Palette(settings.colours);
    let mounted = tft::Settings { size, upside_down, mirrored, inverted, blue_first, palette };
    Ok(Box::new(Tft::start(model, mounted, Dcs::new(spi, data_line), reset_line, &mut Delay)?))
}

/// The SPI device, its data/command line and its reset line.
fn spi(settings: &DisplaySettings) -> io::Result<(SpidevDevice, CdevPin, Option<CdevPin>)> {
    let path = Path::new(settings.bus.as_deref().unwrap_or_default());
    let named = |error: io::Error| at(path, &error);
    let mut spi = SpidevDevice::open(path).map_err(other).map_err(named)?;
    let hertz = settings.spi_khz.saturating_mul(1000);
    let options =
        SpidevOptions::new().bits_per_word(8).max_speed_hz(hertz).mode(SpiModeFlags::SPI_MODE_0).build();
    spi.configure(&options).map_err(named)?;
    let data = settings.dc.as_ref().map(|place| line(place, 0)).transpose()?;
    let data = data.ok_or_else(|| named(io::Error::other("no data/command line is given")))?;
    let reset = settings.reset.as_ref().map(|place| line(place, 1)).transpose()?;
    Ok((spi, data, reset))
}

/// A GPIO line as an output, `level` at first.
fn line(place: &GpioLine, level: u8) -> io::Result<CdevPin> {
    let path = Path::new("/dev").join(&place.chip);
    let request = || -> Result<CdevPin, gpio_cdev::Error> {
        let line = gpio_cdev::Chip::new(&path)?.get_line(place.line)?;
        CdevPin::new(line.request(LineRequestFlags::OUTPUT, level, CONSUMER)?)
    };
    request().map_err(|error| io::Error::other(format!("{} line {}: {error}", path.display(), place.line)))
}

/// An error with the device it is about.
fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(kind: DisplayKind, settings: &DisplaySettings) -> String {
        open(kind, settings).err().unwrap().to_string()
    }

    fn settings(bus: &str) -> DisplaySettings {
        let dc = Some(GpioLine { chip: "gpiochip-none".to_owned(), line: 3 });
        DisplaySettings { bus: Some(bus.to_owned()), dc, ..DisplaySettings::defaults(DisplayKind::None) }
    }

    #[test]
    fn a_device_that_is_missing_or_another_is_refused_by_its_path() {
        let missing = "/dev/no-such-bus: No such file or directory (os error 2)";
        for kind in [DisplayKind::Ssd1306, DisplayKind::Sh1106] {
            assert_eq!(refusal(kind, &settings("/dev/no-such-bus")), missing);
            let other = refusal(kind, &settings("/dev/null"));
            assert!(other.starts_with("/dev/null: "), "{other}");
        }
        for kind in [
            DisplayKind::Ssd1306Spi,
            DisplayKind::Ssd1309Spi,
            DisplayKind::Sh1106Spi,
            DisplayKind::St7789,
            DisplayKind::Ili9341,
        ] {
            assert_eq!(refusal(kind, &settings("/dev/no-such-bus")), missing);
            let other = refusal(kind, &settings("/dev/null"));
            assert!(other.starts_with("/dev/null: "), "{other}");
        }
        assert_eq!(refusal(DisplayKind::None, &settings("")), "the board has no display");
    }

    #[test]
    fn an_adapter_that_is_not_there_is_refused_by_its_name() {
        let line = refusal(DisplayKind::Sh1106, &settings("no such adapter"));
        assert!(line.starts_with("0 I2C adapters are named no such adapter, and it has to be one"), "{line}");
    }

    #[test]
    fn a_gpio_line_that_is_not_there_is_refused_by_its_place() {
        let place = GpioLine { chip: "gpiochip-none".to_owned(), line: 3 };
        let refused = line(&place, 0).err().unwrap().to_string();
        assert!(refused.starts_with("/dev/gpiochip-none line 3: "), "{refused}");
    }
}
