//! What outlives a run: records for programs, and the history.

use super::error::Conflict;
use super::layer::Layer;
use super::{SerialSettings, desk};
use serde::Deserialize;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where records can go, for refusals.
pub(super) const RECORDS_RIGHT: &str = "\"none\", \"serial\" or the path of a device like \"/dev/ttyS1\"";

/// Where a history can be, for refusals.
pub(super) const HISTORY_RIGHT: &str =
    "\"none\", \"stick\" or the path of a device or file like \"/dev/sda3\"";

/// Where the records go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RecordsTo {
    /// Nowhere.
    #[default]
    None,
    /// To the serial port of the text log, between its lines.
    Log,
    /// To a serial port of their own.
    Port(SerialSettings),
}

/// Where the history is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HistoryIn {
    /// Nowhere: results are not kept.
    #[default]
    None,
    /// On the partition that `image/build` makes for it, on whatever disk of the box it is.
    Stick,
    /// On this device or in this file.
    Path(PathBuf),
}

/// The key of the records.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) enum RecordsKey {
    None,
    Log,
    Port(PathBuf),
}

impl TryFrom<String> for RecordsKey {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_str() {
            "none" => Ok(Self::None),
            "serial" => Ok(Self::Log),
            path => desk::absolute_path(path).map(Self::Port).ok_or(RECORDS_RIGHT),
        }
    }
}

/// The key of the history.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct HistoryKey(pub HistoryIn);

impl TryFrom<String> for HistoryKey {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl FromStr for HistoryIn {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "none" => Ok(Self::None),
            "stick" => Ok(Self::Stick),
            path => desk::absolute_path(path).map(Self::Path).ok_or(HISTORY_RIGHT),
        }
    }
}

impl fmt::Display for HistoryIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Stick => f.write_str("stick"),
            Self::Path(path) => path.display().fmt(f),
        }
    }
}

impl fmt::Display for RecordsTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Log => f.write_str("serial"),
            Self::Port(port) => port.path.display().fmt(f),
        }
    }
}

impl RecordsTo {
    /// Where the records of a board go whose text log goes to `serial`.
    pub(super) fn of(layer: &Layer, serial: Option<&SerialSettings>) -> Result<Self, Conflict> {
        let refuse = |value: &str, right: &str| {
            Err(Conflict { key: "records", value: value.to_owned(), right: right.to_owned() })
        };
        match (&layer.records, serial) {
            (None | Some(RecordsKey::None), _) => Ok(Self::None),
            (Some(RecordsKey::Log), None) => {
                refuse("\"serial\"", "there is no serial port with serial = \"none\"")
            }
            (Some(RecordsKey::Log), Some(_)) => Ok(Self::Log),
            (Some(RecordsKey::Port(path)), Some(serial)) if *path == serial.path => {
                refuse(&path.to_string_lossy(), "the port of the text log; \"serial\" puts both on it")
            }
            (Some(RecordsKey::Port(path)), _) => {
                let baud = layer.records_baud.map_or(desk::DEFAULT_BAUD, |baud| baud.0);
                Ok(Self::Port(SerialSettings { path: path.clone(), baud, flow: false }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_and_history_go_to_a_word_or_a_whole_path() {
        assert_eq!("none".to_owned().try_into(), Ok(RecordsKey::None));
        assert_eq!("serial".to_owned().try_into(), Ok(RecordsKey::Log));
        assert_eq!("/dev/ttyS1".to_owned().try_into(), Ok(RecordsKey::Port("/dev/ttyS1".into())));
        for text in ["none", "stick", "/dev/sda3"] {
            assert_eq!(text.parse::<HistoryIn>().map(|place| place.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "/", "ttyS1", "Serial", "/dev/\n"] {
            assert_eq!(RecordsKey::try_from(text.to_owned()), Err(RECORDS_RIGHT), "{text:?}");
            assert_eq!(text.parse::<HistoryIn>(), Err(HISTORY_RIGHT), "{text:?}");
        }
    }

    #[test]
    fn the_log_s_own_port_takes_records_only_between_its_lines() {
        let serial = SerialSettings { path: "/dev/ttyS0".into(), baud: 9600, flow: true };
        let of = |text: &str, serial| {
            let records = Some(RecordsKey::try_from(text.to_owned()).expect("a place for records"));
            RecordsTo::of(&Layer { records, ..Layer::default() }, serial)
        };
        assert_eq!(of("serial", Some(&serial)), Ok(RecordsTo::Log));
        let port = SerialSettings { path: "/dev/ttyS1".into(), baud: 115_200, flow: false };
        assert_eq!(of("/dev/ttyS1", Some(&serial)), Ok(RecordsTo::Port(port.clone())));
        assert_eq!(of("/dev/ttyS1", None), Ok(RecordsTo::Port(port)));
        assert!(of("/dev/ttyS0", Some(&serial)).is_err_and(|conflict| conflict.value == "/dev/ttyS0"));
        assert!(of("serial", None).is_err_and(|conflict| conflict.right.contains("serial = \"none\"")));
    }
}
