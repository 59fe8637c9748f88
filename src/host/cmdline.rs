//! What the kernel's command line says to the firmware.
//!
//! ```text
//! linegauge.board=NAME     the board, where it is not known by the hardware
//! linegauge.box=NAME       what tells this box from others, 1 to 20 characters; else the end of port A's address
//! linegauge.debug=TEXT     switches of a test build
//! ```
//! Words are split as the kernel does it: at white space, except between double quotes, which are taken
//! away. Where a key is given twice the last one counts, as boot loaders append. Other words are the
//! kernel's and are left alone.

use crate::board::words::{any_of, nearest, one_line, quoted};

/// What all of ours begin with.
const PREFIX: &str = "linegauge.";

/// The keys there are, after the prefix.
const KEYS: [&str; 3] = ["board", "box", "debug"];

/// Longest name of a box, in characters: what a record has room for.
pub const LONGEST_BOX: usize = 20;

/// What was said; none for each that was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The board's name.
    pub board: Option<String>,
    /// The box's own name.
    pub box_id: Option<String>,
    /// Switches of a test build.
    pub debug: Option<String>,
}

/// A word of ours that is none. Each is one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no such key.
    #[error("kernel command line: unknown {word}; {hint}")]
    Unknown {
        /// The word.
        word: String,
        /// What was perhaps meant.
        hint: String,
    },
    /// It has no value.
    #[error("kernel command line: {word} has no value; it is written {word}=VALUE")]
    NoValue {
        /// The word.
        word: String,
    },
    /// No box can be called that.
    #[error("kernel command line: {PREFIX}box={value} is not 1 to {LONGEST_BOX} printable ASCII characters")]
    BadBox {
        /// The name.
        value: String,
    },
}

impl CommandLine {
    /// Reads the text of `/proc/cmdline`.
    ///
    /// # Errors
    /// The first word of ours that is none; see [`Refused`].
    pub fn parse(text: &str) -> Result<Self, Refused> {
        let mut found = Self::default();
        for word in words(text) {
            if let Some(ours) = word.strip_prefix(PREFIX) {
                found.take(ours)?;
            }
        }
        Ok(found)
    }

    fn take(&mut self, word: &str) -> Result<(), Refused> {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let place = match key {
            "board" => &mut self.board,
            "box" => &mut self.box_id,
            "debug" => &mut self.debug,
            _ => return Err(unknown(key)),
        };
        if value.is_empty() {
            return Err(Refused::NoValue { word: format!("{PREFIX}{key}") });
        }
        if key == "box" && !is_box(value) {
            return Err(Refused::BadBox { value: quoted(value) });
        }
        *place = Some(value.to_owned());
        Ok(())
    }
}

fn is_box(name: &str) -> bool {
    name.len() <= LONGEST_BOX && name.bytes().all(|octet| octet == b' ' || octet.is_ascii_graphic())
}

fn unknown(key: &str) -> Refused {
    let hint = match nearest(key, KEYS) {
        Some(name) => format!("did you mean {PREFIX}{name}?"),
        None => {
            let names = KEYS.map(|name| format!("{PREFIX}{name}"));
            format!("there is {}", any_of(names.iter().map(String::as_str)))
        }
    };
    Refused::Unknown { word: one_line(&format!("{PREFIX}{key}")), hint }
}

/// The words of a command line, without the double quotes that held them together.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut inside = false;
    let split = text.split(move |c: char| {
        inside ^= c == '"';
        !inside && c.is_whitespace()
    });
    split.map(|word| word.replace('"', "")).filter(|word| !word.is_empty())
}

/// Refuses a board's name that is none of `known`.
///
/// # Errors
/// One line with the names there are.
pub(super) fn check_board<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Result<&'a str, String> {
    let known: Vec<_> = known.into_iter().collect();
    let found = known.iter().find(|board| **board == name).copied();
    // What is right first: a long name may be cut off the line.
    found.ok_or_else(|| format!("{PREFIX}board must be {}, not {}", any_of(known), quoted(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> (Option<String>, Option<String>) {
        let CommandLine { board, debug, .. } = CommandLine::parse(text).unwrap();
        (board, debug)
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn ours_are_picked_out_of_the_kernels() {
        let text = "BOOT_IMAGE=/vmlinuz panic=5 linegauge.board=x520 quiet -- linegauge.debug=wedge\n";
        assert_eq!(parsed(text), (some("x520"), some("wedge")));
        assert_eq!(parsed("root=/dev/sda1 notlinegauge.board=x linegauge board=x\n"), (None, None));
        assert_eq!(parsed(""), (None, None));
    }

    #[test]
    fn quotes_hold_white_space_wherever_they_stand() {
        for text in ["linegauge.debug=\"a b\"", "\"linegauge.debug=a b\"", "linegauge.debug=a\" \"b"] {
            assert_eq!(parsed(text), (None, some("a b")), "{text}");
        }
        assert_eq!(parsed("x=\"linegauge.bord=1 2\" linegauge.board=a=b"), (some("a=b"), None));
        assert_eq!(parsed("linegauge.debug=\"never closed x"), (None, some("never closed x")));
    }

    #[test]
    fn the_last_of_two_counts() {
        assert_eq!(parsed("linegauge.board=a linegauge.board=b"), (some("b"), None));
    }

    #[test]
    fn a_slip_is_refused_in_one_line() {
        for (text, line) in [
            ("linegauge.bord=x520", "unknown linegauge.bord; did you mean linegauge.board?"),
            (
                "linegauge.xyzzy",
                "unknown linegauge.xyzzy; there is linegauge.board, linegauge.box or linegauge.debug",
            ),
            ("linegauge.=", "unknown linegauge.; there is linegauge.board, linegauge.box or linegauge.debug"),
            ("linegauge.board", "linegauge.board has no value; it is written linegauge.board=VALUE"),
            ("linegauge.board=\"\"", "linegauge.board has no value; it is written linegauge.board=VALUE"),
        ] {
            let refused = CommandLine::parse(text).unwrap_err().to_string();
            assert_eq!(refused, format!("kernel command line: {line}"));
        }
    }

    #[test]
    fn a_box_has_a_name_that_a_record_has_room_for() {
        let name =
            |value: &str| CommandLine::parse(&format!("\"linegauge.box={value}\"")).map(|line| line.box_id);
        for value in ["rack-4 left", "7", &"x".repeat(20)] {
            assert_eq!(name(value), Ok(some(value)));
        }
        for value in ["\u{e4}", &"x".repeat(21), "a\tb"] {
            let refused = name(value).unwrap_err().to_string();
            let right = "is not 1 to 20 printable ASCII characters";
            assert!(
                refused.starts_with("kernel command line: linegauge.box=") && refused.ends_with(right),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_board_that_is_none_is_refused_with_those_there_are() {
        assert_eq!(check_board("b", ["a", "b"]), Ok("b"));
        let line = "linegauge.board must be a or b, not \"c\\n\"";
        assert_eq!(check_board("c\n", ["a", "b"]), Err(line.to_owned()));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_in_one_line(
            text in "(linegauge\\.|board|debug|=|\"| |\n|\\PC){0,40}",
        ) {
            if let Err(refused) = CommandLine::parse(&text) {
                prop_assert!(!refused.to_string().chars().any(char::is_control));
            }
        }

        #[test]
        fn a_quoted_value_is_read_as_it_is(value in "[^\"\\p{Cc}]{1,60}", before in "[a-z=. ]{0,20}") {
            let text = format!("{before} linegauge.debug=\"{value}\" quiet");
            prop_assume!(!before.contains("linegauge."));
            prop_assert_eq!(CommandLine::parse(&text).unwrap().debug, Some(value));
        }

        #[test]
        fn words_without_our_prefix_change_nothing(words in prop::collection::vec("[a-z0-9_=,.:/-]{1,12}", 0..9)) {
            prop_assume!(words.iter().all(|word| !word.starts_with(PREFIX)));
            prop_assert_eq!(CommandLine::parse(&words.join(" ")), Ok(CommandLine::default()));
        }
    }
}
