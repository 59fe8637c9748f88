//! What the panel is drawn on, and how that is wired.

use super::error::Conflict;
use super::layer::Layer;
use super::wiring::{COLOURS, GpioLine, SMALLEST, TFT_SIDES, hex};
use super::words::any_of;
use serde::Deserialize;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Keys of a display besides `display` itself.
const KEYS: usize = 13;

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
        let seconds = |seconds: u32| (seconds > 0).then(|| Duration::from_secs(seconds.into()));
        let settings = Self {
            bus: layer.display_bus.as_ref().map(|bus| bus.0.clone()),
            address: layer.display_address.map_or(defaults.address, |address| address.0),
            column_offset: layer.display_column_offset.map_or(defaults.column_offset, |offset| offset.0),
            dc: layer.display_dc.as_ref().map(|line| line.0.clone()),
            reset: layer.display_reset.as_ref().map(|line| line.0.clone()),
            spi_khz: layer.display_spi_khz.map_or(defaults.spi_khz, |khz| khz.0),
            size: layer.display_size.map_or(defaults.size, |size| size.0),
            upside_down: layer.display_upside_down.unwrap_or(defaults.upside_down),
            mirrored: layer.display_mirrored.unwrap_or(defaults.mirrored),
            inverted: layer.display_inverted.unwrap_or(defaults.inverted),
            contrast: layer.display_contrast.map_or(defaults.contrast, |contrast| contrast.0),
            colours: layer.display_colours.map_or(defaults.colours, |colours| colours.0),
            dim_after: layer.display_dim_after_s.map_or(defaults.dim_after, |after| seconds(after.0)),
        };
        settings.refuse_strangers(kind, layer)?;
        settings.check_bus(kind)?;
        Ok(settings)
    }

    /// Refuses a key that means nothing to this display.
    fn refuse_strangers(&self, kind: DisplayKind, layer: &Layer) -> Result<(), Conflict> {
        let given = given(layer);
        let stranger = self
            .values()
            .into_iter()
            .find(|(key, _)| given.contains(&(*key, true)) && !means_something(key, kind));
        let Some((key, value)) = stranger else { return Ok(()) };
        let right = format!("it is for display = {}; this one is {kind}", meant_for(key));
        Err(Conflict { key, value: value.unwrap_or_default(), right })
    }

    /// Refuses a display that cannot be reached.
    fn check_bus(&self, kind: DisplayKind) -> Result<(), Conflict> {
        let needs = |key| {
            let right = format!("it needs {key}, which is {}", super::keys::right(key).unwrap_or_default());
            Err(Conflict { key: "display", value: kind.to_string(), right })
        };
        match (kind.bus(), &self.bus, &self.dc) {
            (Some(_), None, _) => needs("display-bus"),
            (Some(BusKind::Spi), Some(bus), _) if !bus.starts_with('/') => {
                let right = format!("{kind} is on SPI, of which the bus is a path like \"/dev/spidev0.0\"");
                Err(Conflict { key: "display-bus", value: super::show::basic_string(bus), right })
            }
            (Some(BusKind::Spi), Some(_), None) => needs("display-dc"),
            _ => Ok(()),
        }
    }

    /// The keys that mean something to a display of `kind`, with their values as a board file has them.
    pub(super) fn shown(&self, kind: DisplayKind) -> impl Iterator<Item = (&'static str, Option<String>)> {
        self.values().into_iter().filter(move |(key, _)| means_something(key, kind))
    }

    /// All keys and their values as a board file has them.
    fn values(&self) -> [(&'static str, Option<String>); KEYS] {
        let quoted = |text: &dyn fmt::Display| super::show::basic_string(&text.to_string());
        let line = |line: &Option<GpioLine>| line.as_ref().map(|line| quoted(line));
        let dim_after = self.dim_after.map_or(0, |after| after.as_secs());
        [
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
        ]
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

/// The keys of [`DisplaySettings`], each with whether `layer` has it.
const fn given(layer: &Layer) -> [(&'static str, bool); KEYS] {
    [
        ("display-bus", layer.display_bus.is_some()),
        ("display-address", layer.display_address.is_some()),
        ("display-column-offset", layer.display_column_offset.is_some()),
        ("display-dc", layer.display_dc.is_some()),
        ("display-reset", layer.display_reset.is_some()),
        ("display-spi-khz", layer.display_spi_khz.is_some()),
        ("display-size", layer.display_size.is_some()),
        ("display-upside-down", layer.display_upside_down.is_some()),
        ("display-mirrored", layer.display_mirrored.is_some()),
        ("display-inverted", layer.display_inverted.is_some()),
        ("display-contrast", layer.display_contrast.is_some()),
        ("display-colours", layer.display_colours.is_some()),
        ("display-dim-after-s", layer.display_dim_after_s.is_some()),
    ]
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
}
