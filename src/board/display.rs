//! What the panel is drawn on, and how that is wired.

use super::error::Conflict;
use super::layer::Layer;
use super::words::any_of;
use serde::Deserialize;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What a bus can be, for refusals.
pub(super) const BUS_RIGHT: &str = "the path of a device like \"/dev/i2c-1\" or \"/dev/spidev0.0\", or the name of an I2C adapter, at most 80 characters";

/// What a GPIO line can be, for refusals.
pub(super) const LINE_RIGHT: &str = "a GPIO chip and a line of it, like \"gpiochip0:25\"";

/// What a size can be, for refusals.
pub(super) const SIZE_RIGHT: &str =
    "width x height in pixels like \"320x240\", from 128x64 to 240x320 or 320x240";

/// What colours can be, for refusals.
pub(super) const COLOURS_RIGHT: &str = "a list of 4 colours like \"20FF40\", red, green and blue";

/// White, green, amber and red: as the panel has them by itself.
const COLOURS: [[u8; 3]; 4] = [[255, 255, 255], [32, 255, 64], [255, 184, 0], [255, 56, 64]];

/// Longest name of a bus, in characters.
const LONGEST_NAME: usize = 80;

/// Pixels along the short and the long side of the largest TFT: the memory of an ST7789 and an ILI9341.
const TFT_SIDES: (u16, u16) = (240, 320);

/// Pixels across and down of the smallest display.
const SMALLEST: (u16, u16) = (128, 64);

/// What the panel is drawn on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DisplayKind {
    /// Nothing of the box's own.
    #[default]
    None,
    /// The first framebuffer, `/dev/fb0`.
    Framebuffer,
    /// OLED of 128 × 64 on I2C.
    Ssd1306,
    /// OLED of 128 × 64 on I2C, with memory for 132 columns.
    Sh1106,
    /// OLED of 128 × 64 on SPI.
    Ssd1306Spi,
    /// OLED of 128 × 64 on SPI, without a charge pump.
    Ssd1309Spi,
    /// OLED of 128 × 64 on SPI, with memory for 132 columns.
    Sh1106Spi,
    /// TFT in colour on SPI.
    St7789,
    /// TFT in colour on SPI.
    Ili9341,
}

/// How a display is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusKind {
    /// I2C, or SMBus where the adapter can do no more.
    I2c,
    /// SPI with a data/command line.
    Spi,
}

impl DisplayKind {
    const ALL: [Self; 9] = [
        Self::None,
        Self::Framebuffer,
        Self::Ssd1306,
        Self::Sh1106,
        Self::Ssd1306Spi,
        Self::Ssd1309Spi,
        Self::Sh1106Spi,
        Self::St7789,
        Self::Ili9341,
    ];

    /// Its name in a board file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Framebuffer => "framebuffer",
            Self::Ssd1306 => "ssd1306",
            Self::Sh1106 => "sh1106",
            Self::Ssd1306Spi => "ssd1306-spi",
            Self::Ssd1309Spi => "ssd1309-spi",
            Self::Sh1106Spi => "sh1106-spi",
            Self::St7789 => "st7789",
            Self::Ili9341 => "ili9341",
        }
    }

    /// The bus that it is on; none where it is on none.
    #[must_use]
    pub const fn bus(self) -> Option<BusKind> {
        match self {
            Self::None | Self::Framebuffer => None,
            Self::Ssd1306 | Self::Sh1106 => Some(BusKind::I2c),
            Self::Ssd1306Spi | Self::Ssd1309Spi | Self::Sh1106Spi | Self::St7789 | Self::Ili9341 => {
                Some(BusKind::Spi)
            }
        }
    }

    /// Whether it has colours, and a size of its own.
    #[must_use]
    pub const fn is_tft(self) -> bool {
        matches!(self, Self::St7789 | Self::Ili9341)
    }

    /// Whether it is a small OLED.
    #[must_use]
    pub const fn is_oled(self) -> bool {
        self.bus().is_some() && !self.is_tft()
    }

    /// Whether its memory is wider than what it shows.
    const fn has_spare_columns(self) -> bool {
        matches!(self, Self::Sh1106 | Self::Sh1106Spi)
    }
}

impl fmt::Display for DisplayKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DisplayKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let kind = Self::ALL.into_iter().find(|kind| kind.name() == text);
        kind.ok_or_else(|| any_of(Self::ALL.map(Self::name)))
    }
}

/// A line of a GPIO chip.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GpioLine {
    /// Name of the chip's device in `/dev`.
    pub chip: String,
    /// Number of the line.
    pub line: u32,
}

impl FromStr for GpioLine {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (chip, line) = text.rsplit_once(':').ok_or(LINE_RIGHT)?;
        let named = chip.strip_prefix("/dev/").unwrap_or(chip);
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
        let right = named.strip_prefix("gpiochip").is_some_and(digits) && digits(line);
        let line = line.parse().ok().filter(|_| right && named.len() <= LONGEST_NAME);
        line.map(|line| Self { chip: named.to_owned(), line }).ok_or(LINE_RIGHT)
    }
}

impl fmt::Display for GpioLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.chip, self.line)
    }
}

/// How a display is wired and set. A key that means nothing to the display has its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplaySettings {
    /// Path of the bus's device, or name of an I2C adapter; there exactly where the display is on a bus.
    pub bus: Option<String>,
    /// Address on I2C, 7 bits.
    pub address: u8,
    /// Column of an SH1106's memory that is the leftmost pixel.
    pub column_offset: u8,
    /// Line that tells data from commands; there exactly where the display is on SPI.
    pub dc: Option<GpioLine>,
    /// Line that is low for a reset; none where the display resets itself.
    pub reset: Option<GpioLine>,
    /// Clock on SPI in kHz.
    pub spi_khz: u32,
    /// Pixels across and down of a TFT.
    pub size: (u16, u16),
    /// Mounted upside down.
    pub upside_down: bool,
    /// A TFT that counts its columns from the other side.
    pub mirrored: bool,
    /// Lit pixels dark and dark ones lit, as many an ST7789's panel needs it.
    pub inverted: bool,
    /// Contrast of an OLED, 0 to 255.
    pub contrast: u8,
    /// Colours of what is lit, red, green and blue: while nothing is judged, of PASS, of MARGINAL and INVALID, of FAIL.
    pub colours: [[u8; 3]; 4],
    /// Time without an event after which the display is spared; none for never.
    pub dim_after: Option<Duration>,
}

impl DisplaySettings {
    /// What a display of `kind` has where the board says nothing.
    pub(crate) fn defaults(kind: DisplayKind) -> Self {
        Self {
            bus: None,
            address: 0x3C,
            column_offset: if kind.has_spare_columns() { 2 } else { 0 },
            dc: None,
            reset: None,
            spi_khz: if kind.is_tft() { 32_000 } else { 8_000 },
            size: if kind.is_tft() { (TFT_SIDES.1, TFT_SIDES.0) } else { SMALLEST },
            upside_down: false,
            mirrored: kind == DisplayKind::Ili9341,
            inverted: kind == DisplayKind::St7789,
            contrast: 207,
            colours: COLOURS,
            dim_after: Some(Duration::from_secs(600)),
        }
    }

    /// The settings that `layer` has for its display. Those of an inherited display are dropped with it.
    pub(super) fn of(kind: DisplayKind, layer: &Layer) -> Result<Self, Conflict> {
        let defaults = Self::defaults(kind);
        if kind == DisplayKind::None {
            return Ok(defaults);
        }
        refuse_strangers(kind, layer)?;
        let seconds = |seconds: u32| (seconds > 0).then(|| Duration::from_secs(seconds.into()));
        Ok(Self {
            bus: needed(kind, kind.bus().is_some(), "display-bus", layer.display_bus.as_ref())?
                .map(|bus| bus.0.clone()),
            address: layer.display_address.map_or(defaults.address, |address| address.0),
            column_offset: layer.display_column_offset.map_or(defaults.column_offset, |offset| offset.0),
            dc: needed(kind, kind.bus() == Some(BusKind::Spi), "display-dc", layer.display_dc.as_ref())?
                .map(|line| line.0.clone()),
            reset: layer.display_reset.as_ref().map(|line| line.0.clone()),
            spi_khz: layer.display_spi_khz.map_or(defaults.spi_khz, |khz| khz.0),
            size: layer.display_size.map_or(defaults.size, |size| size.0),
            upside_down: layer.display_upside_down.unwrap_or(defaults.upside_down),
            mirrored: layer.display_mirrored.unwrap_or(defaults.mirrored),
            inverted: layer.display_inverted.unwrap_or(defaults.inverted),
            contrast: layer.display_contrast.map_or(defaults.contrast, |contrast| contrast.0),
            colours: layer.display_colours.map_or(defaults.colours, |colours| colours.0),
            dim_after: layer.display_dim_after_s.map_or(defaults.dim_after, |after| seconds(after.0)),
        })
    }

    /// The keys that mean something to a display of `kind`, with their values as a board file has them.
    pub(super) fn shown(&self, kind: DisplayKind) -> Vec<(&'static str, Option<String>)> {
        let quoted = |text: &dyn fmt::Display| super::show::basic_string(&text.to_string());
        let line = |line: &Option<GpioLine>| line.as_ref().map(|line| quoted(line));
        let dim_after = self.dim_after.map_or(0, |after| after.as_secs());
        let all = [
            ("display-bus", self.bus.as_ref().map(|bus| quoted(bus))),
            ("display-address", Some(format!("0x{:02X}", self.address))),
            ("display-column-offset", Some(self.column_offset.to_string())),
            ("display-dc", line(&self.dc)),
            ("display-reset", line(&self.reset)),
            ("display-spi-khz", Some(self.spi_khz.to_string())),
            ("display-size", Some(format!("\"{}x{}\"", self.size.0, self.size.1))),
            ("display-upside-down", Some(self.upside_down.to_string())),
            ("display-mirrored", Some(self.mirrored.to_string())),
            ("display-inverted", Some(self.inverted.to_string())),
            ("display-contrast", Some(self.contrast.to_string())),
            ("display-colours", Some(format!("[{}]", self.colours.map(hex).join(", ")))),
            ("display-dim-after-s", Some(dim_after.to_string())),
        ];
        all.into_iter().filter(|(key, _)| means_something(key, kind)).collect()
    }
}

/// Whether `key` means something to a display of `kind`.
fn means_something(key: &str, kind: DisplayKind) -> bool {
    match key {
        "display-bus" | "display-upside-down" | "display-inverted" => kind.bus().is_some(),
        "display-address" => kind.bus() == Some(BusKind::I2c),
        "display-dc" | "display-reset" | "display-spi-khz" => kind.bus() == Some(BusKind::Spi),
        "display-column-offset" => kind.has_spare_columns(),
        "display-size" | "display-mirrored" => kind.is_tft(),
        "display-colours" => kind == DisplayKind::Framebuffer || kind.is_tft(),
        "display-contrast" => kind.is_oled(),
        _ => kind != DisplayKind::None,
    }
}

/// The displays to which `key` means something, in words.
fn meant_for(key: &str) -> String {
    any_of(DisplayKind::ALL.into_iter().filter(|kind| means_something(key, *kind)).map(DisplayKind::name))
}

/// Refuses a key that means nothing to this display.
fn refuse_strangers(kind: DisplayKind, layer: &Layer) -> Result<(), Conflict> {
    let given = [
        ("display-bus", layer.display_bus.as_ref().map(|bus| bus.0.clone())),
        ("display-address", layer.display_address.map(|address| format!("0x{:02X}", address.0))),
        ("display-column-offset", layer.display_column_offset.map(|offset| offset.0.to_string())),
        ("display-dc", layer.display_dc.as_ref().map(|line| line.0.to_string())),
        ("display-reset", layer.display_reset.as_ref().map(|line| line.0.to_string())),
        ("display-spi-khz", layer.display_spi_khz.map(|khz| khz.0.to_string())),
        ("display-size", layer.display_size.map(|size| format!("{}x{}", size.0.0, size.0.1))),
        ("display-upside-down", layer.display_upside_down.map(|yes| yes.to_string())),
        ("display-mirrored", layer.display_mirrored.map(|yes| yes.to_string())),
        ("display-inverted", layer.display_inverted.map(|yes| yes.to_string())),
        ("display-colours", layer.display_colours.map(|colours| colours.0.map(hex).join(", "))),
        ("display-contrast", layer.display_contrast.map(|contrast| contrast.0.to_string())),
    ];
    for (key, value) in given {
        if let Some(value) = value.filter(|_| !means_something(key, kind)) {
            let right = format!("it is for display = {}; this one is {kind}", meant_for(key));
            return Err(Conflict { key, value, right });
        }
    }
    let Some(bus) =
        layer.display_bus.as_ref().filter(|bus| kind.bus() == Some(BusKind::Spi) && !bus.is_path())
    else {
        return Ok(());
    };
    let right = format!("{kind} is on SPI, of which the bus is a path like \"/dev/spidev0.0\"");
    Err(Conflict { key: "display-bus", value: bus.0.clone(), right })
}

/// A key without which a display of `kind` cannot be reached, if it is `needed`.
fn needed<'a, T>(
    kind: DisplayKind,
    needed: bool,
    key: &'static str,
    value: Option<&'a T>,
) -> Result<Option<&'a T>, Conflict> {
    if value.is_some() || !needed {
        return Ok(value);
    }
    let right = format!("it needs {key}, which is {}", super::keys::right(key).unwrap_or_default());
    Err(Conflict { key: "display", value: kind.to_string(), right })
}

/// A bus.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Bus(pub String);

impl Bus {
    fn is_path(&self) -> bool {
        self.0.starts_with('/')
    }
}

impl TryFrom<String> for Bus {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let printable = !text.trim().is_empty() && !text.chars().any(char::is_control);
        if printable && text.chars().count() <= LONGEST_NAME { Ok(Self(text)) } else { Err(BUS_RIGHT) }
    }
}

/// A GPIO line.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Line(pub GpioLine);

impl TryFrom<String> for Line {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

/// A TFT's size.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Pixels(pub (u16, u16));

impl TryFrom<String> for Pixels {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let (width, height) = text.split_once('x').ok_or(SIZE_RIGHT)?;
        let (Ok(width), Ok(height)) = (width.parse::<u16>(), height.parse::<u16>()) else {
            return Err(SIZE_RIGHT);
        };
        let large = width >= SMALLEST.0 && height >= SMALLEST.1;
        let small = width.min(height) <= TFT_SIDES.0 && width.max(height) <= TFT_SIDES.1;
        if large && small { Ok(Self((width, height))) } else { Err(SIZE_RIGHT) }
    }
}

/// Colours of what is lit.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub(super) struct Colours(pub [[u8; 3]; 4]);

impl TryFrom<Vec<String>> for Colours {
    type Error = &'static str;

    fn try_from(list: Vec<String>) -> Result<Self, Self::Error> {
        let colours: Vec<_> = list.iter().map_while(|text| colour(text)).collect();
        if colours.len() != list.len() {
            return Err(COLOURS_RIGHT);
        }
        colours.try_into().map(Self).map_err(|_| COLOURS_RIGHT)
    }
}

/// A colour of six hexadecimal digits.
fn colour(text: &str) -> Option<[u8; 3]> {
    let digits = text.len() == 6 && text.bytes().all(|octet| octet.is_ascii_hexdigit());
    let [_, red, green, blue] = u32::from_str_radix(text, 16).ok().filter(|_| digits)?.to_be_bytes();
    Some([red, green, blue])
}

/// A colour as a board file has it.
fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("\"{red:02X}{green:02X}{blue:02X}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_displays_are_read_back() {
        for kind in DisplayKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        let right =
            "none, framebuffer, ssd1306, sh1106, ssd1306-spi, ssd1309-spi, sh1106-spi, st7789 or ili9341";
        assert_eq!("hdmi".parse::<DisplayKind>(), Err(right.to_owned()));
    }

    #[test]
    fn a_line_is_a_chip_and_a_number() {
        let line = GpioLine { chip: "gpiochip0".to_owned(), line: 25 };
        assert_eq!("gpiochip0:25".parse(), Ok(line.clone()));
        assert_eq!("/dev/gpiochip0:25".parse(), Ok(line));
        for text in [
            "",
            "25",
            "gpiochip0",
            "gpiochip0:",
            "gpiochip:1",
            "gpio0:1",
            "gpiochip0:-1",
            "gpiochip0:9999999999",
        ] {
            assert_eq!(text.parse::<GpioLine>(), Err(LINE_RIGHT), "{text:?}");
        }
    }

    #[test]
    fn colours_are_four_of_six_digits() {
        let colours = |list: &[&str]| {
            Colours::try_from(list.iter().map(ToString::to_string).collect::<Vec<_>>())
                .map(|colours| colours.0)
        };
        assert_eq!(colours(&["FFFFFF", "20ff40", "FFB800", "FF3840"]), Ok(COLOURS));
        for list in
            [&["FFFFFF"; 3][..], &["FFFFFF"; 5], &["FFFFFF", "0", "0", "0"], &["+FFFFF"; 4], &["é0000"; 4]]
        {
            assert_eq!(colours(list), Err(COLOURS_RIGHT), "{list:?}");
        }
    }

    #[test]
    fn the_colours_of_a_board_that_names_none_are_the_panels_own() {
        assert_eq!(crate::panel::backend::Palette::default().0, COLOURS);
    }

    #[test]
    fn a_size_is_one_that_the_controllers_have() {
        let size = |text: &str| Pixels::try_from(text.to_owned()).map(|size| size.0);
        assert_eq!(size("320x240"), Ok((320, 240)));
        assert_eq!(size("240x320"), Ok((240, 320)));
        assert_eq!(size("128x64"), Ok((128, 64)));
        for text in ["", "320", "320 x 240", "320x241", "64x128", "127x64", "99999x64"] {
            assert_eq!(size(text), Err(SIZE_RIGHT), "{text:?}");
        }
    }
}
