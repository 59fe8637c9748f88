//! A refusal: one line.

use crate::board::words::{one_line, quoted};
use crate::board::{BoardError, Conflict};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error as _;
use std::fmt;

/// Why the arguments are no request: one line for stderr, without the program's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(String);

impl Refused {
    /// The exit code: the request itself is wrong.
    pub const EXIT_CODE: u8 = 2;

    pub(super) fn new(line: String) -> Self {
        Self(line)
    }

    /// `option` cannot have `value`; `right` says what it can have.
    pub(super) fn value(option: &str, value: &str, right: impl fmt::Display) -> Self {
        Self(format!("{option} {}: {right}", word(value)))
    }

    /// What records are to be read from cannot be `name`; `right` says what it can be.
    pub(super) fn source(name: &str, right: &str) -> Self {
        Self::value("source", name, right)
    }

    /// An option made the board's values contradict each other; each option has the board key it replaces.
    pub(super) fn conflict(conflict: &Conflict) -> Self {
        let option = match conflict.key {
            "pace-mbps" => "--rate",
            "mix" => "--mix",
            "streams" => "--streams",
            key => return Self(format!("board key {key} = {}: {}", conflict.value, conflict.right)),
        };
        Self(format!("{option} {}: {}", conflict.value, conflict.right))
    }

    /// Clap's refusal on one line.
    pub(super) fn usage(error: &clap::Error) -> Self {
        let context = |kind| match error.get(kind) {
            Some(ContextValue::String(text)) => Some(text.as_str()),
            _ => None,
        };
        let option = context(ContextKind::InvalidArg).unwrap_or_default();
        match (error.kind(), error.source()) {
            (ErrorKind::ValueValidation, Some(right)) => {
                let name = option.split(' ').next().unwrap_or_default();
                Self::value(name, context(ContextKind::InvalidValue).unwrap_or_default(), right)
            }
            (ErrorKind::UnknownArgument, _) => unknown("option", option, context(ContextKind::SuggestedArg)),
            (ErrorKind::InvalidSubcommand, _) => {
                unknown("command", context(ContextKind::InvalidSubcommand).unwrap_or_default(), None)
            }
            _ => Self(format!("{} (see --help)", first_paragraph(&error.to_string()))),
        }
    }
}

fn unknown(what: &str, word: &str, suggestion: Option<&str>) -> Refused {
    let hint = suggestion.map(|name| format!("; did you mean {name}?")).unwrap_or_default();
    Refused(format!("unknown {what} {}{hint} (see --help)", self::word(word)))
}

/// Quoted where it would not be seen as one word.
fn word(text: &str) -> String {
    let plain = !text.is_empty() && !text.contains(char::is_whitespace);
    if plain { one_line(text) } else { quoted(text) }
}

fn first_paragraph(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let lines: Vec<_> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    lines.join(" ")
}

impl From<BoardError> for Refused {
    fn from(error: BoardError) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}
