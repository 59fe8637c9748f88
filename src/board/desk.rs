//! What a person hears of and presses: serial port, button; and what a box does that cannot work.

use super::words::any_of;
use serde::Deserialize;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What a button can be, for refusals.
pub(super) const BUTTON_RIGHT: &str =
    "\"none\", \"power\" or the name of an input device, at most 80 characters";

/// What a serial port can be, for refusals.
pub(super) const SERIAL_RIGHT: &str = "\"none\" or the path of a device like \"/dev/ttyS0\"";

/// Bit rate of a serial port where the board says none.
pub(super) const DEFAULT_BAUD: u32 = 115_200;

/// Longest name of an input device, in characters.
const LONGEST_NAME: usize = 80;

/// What a box does that cannot work, once it has said so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFault {
    /// It waits for the button, and then starts again.
    #[default]
    Wait,
    /// It starts again by itself after ten seconds.
    Reboot,
}

impl OnFault {
    const ALL: [Self; 2] = [Self::Wait, Self::Reboot];

    /// Its name in a board file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Reboot => "reboot",
        }
    }
}

impl fmt::Display for OnFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for OnFault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let act = Self::ALL.into_iter().find(|act| act.name() == text);
        act.ok_or_else(|| any_of(Self::ALL.map(Self::name)))
    }
}

/// The serial port of the text log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SerialSettings {
    /// The device.
    pub path: PathBuf,
    /// Bits per second.
    pub baud: u32,
    /// Whether RTS and CTS stop and start the flow. A cable without these wires then stops it for good.
    pub flow: bool,
}

/// What is pressed to start and stop a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum ButtonKind {
    /// Nothing.
    #[default]
    None,
    /// The power key of any input device that has one.
    Power,
    /// Any key of the input devices with this name.
    Named(String),
}

impl FromStr for ButtonKind {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let printable = !text.is_empty() && !text.chars().any(char::is_control);
        match text {
            "none" => Ok(Self::None),
            "power" => Ok(Self::Power),
            _ if printable && text.chars().count() <= LONGEST_NAME => Ok(Self::Named(text.to_owned())),
            _ => Err(BUTTON_RIGHT),
        }
    }
}

impl fmt::Display for ButtonKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Power => f.write_str("power"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// A serial port's path as a board file has it; none where it says so.
pub(super) fn serial_path(text: &str) -> Result<Option<PathBuf>, &'static str> {
    if text == "none" {
        return Ok(None);
    }
    absolute_path(text).map(Some).ok_or(SERIAL_RIGHT)
}

/// A path from the root, of printable characters.
pub(super) fn absolute_path(text: &str) -> Option<PathBuf> {
    let right = text.starts_with('/') && text.len() > 1 && !text.chars().any(char::is_control);
    right.then(|| PathBuf::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_what_is_done_at_a_fault_are_read_back() {
        for act in OnFault::ALL {
            assert_eq!(act.name().parse(), Ok(act));
        }
        assert_eq!("halt".parse::<OnFault>(), Err("wait or reboot".to_owned()));
    }

    #[test]
    fn a_button_is_a_word_or_the_name_of_a_device() {
        assert_eq!("none".parse(), Ok(ButtonKind::None));
        assert_eq!("power".parse(), Ok(ButtonKind::Power));
        assert_eq!("Foot Switch".parse(), Ok(ButtonKind::Named("Foot Switch".to_owned())));
        for text in ["", "a\nb", &"x".repeat(81)] {
            assert_eq!(text.parse::<ButtonKind>(), Err(BUTTON_RIGHT), "{text:?}");
        }
    }

    #[test]
    fn a_serial_port_is_a_whole_path_or_none() {
        assert_eq!(serial_path("none"), Ok(None));
        assert_eq!(serial_path("/dev/ttyS1"), Ok(Some(PathBuf::from("/dev/ttyS1"))));
        for text in ["", "/", "ttyS0", "/dev/tty\nS0"] {
            assert_eq!(serial_path(text), Err(SERIAL_RIGHT), "{text:?}");
        }
    }
}
