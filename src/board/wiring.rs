//! How a display is wired, as a board file has it: its bus, GPIO lines, size and colours.

use serde::Deserialize;
use std::fmt;
use std::str::FromStr;

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
pub(super) const COLOURS: [[u8; 3]; 4] = [[255, 255, 255], [32, 255, 64], [255, 184, 0], [255, 56, 64]];

/// Longest name of a bus, in characters.
const LONGEST_NAME: usize = 80;

/// Pixels along the short and the long side of the largest TFT: the memory of an ST7789 and an ILI9341.
pub(super) const TFT_SIDES: (u16, u16) = (240, 320);

/// Pixels across and down of the smallest display.
pub(super) const SMALLEST: (u16, u16) = (128, 64);

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

/// A bus.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Bus(pub String);

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
pub(super) fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("\"{red:02X}{green:02X}{blue:02X}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

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
