//! What is typed on the serial line.
//!
//! # The keys
//! | typed at the start of a line | does |
//! |---|---|
//! | space, or Enter alone | what a press of the button does |
//! | `s` | writes the last summary again |
//! | `h` | writes the results that are kept in the history, one a line |
//! | `?` | tells these keys |
//! | `l TEXT` Enter | labels the cable: at most 32 printable ASCII characters; none take the label away |
//! | `off` Enter | switches the box off |
//!
//! Enter is a carriage return, a line feed, or both in this order. Backspace and delete take back one
//! character. Nothing is echoed.
//!
//! A line with anything else in it than printable ASCII, or with more than 80 characters, is line noise: it
//! does nothing up to and including its Enter, but that the first of several such lines is told. So noise cannot switch the box off: that takes a line that is
//! the whole word and nothing else.

use measure::record::{Words, words};
use std::mem;

/// Longest label in characters.
pub const LONGEST_LABEL: usize = 32;

/// Longest line that somebody can have meant, in characters.
const LONGEST_LINE: usize = 80;

/// The keys for a person, one line each.
pub const HELP: [&str; 6] = [
    "space or Enter: the button",
    "s: the last summary again",
    "h: the results kept in the history",
    "l TEXT Enter: label the cable, at most 32 characters",
    "off Enter: switch the box off",
    "?: this help",
];

/// What is said to a line with noise in it.
const NOISE: &str = "a line with noise in it was not read; ? at the start of a line tells the commands";

/// What somebody at the serial line wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SerialCommand {
    /// A press of the button.
    Button,
    /// The last run's summary again.
    LastSummary,
    /// The results that are kept.
    History,
    /// A label for the cable: at most 32 printable ASCII characters, empty for none.
    Label(String),
    /// Switch the box off.
    PowerOff,
    /// Tell the keys; [`HELP`] has them.
    Help,
    /// No command: one line for the log that says what would be one.
    Refused(Words),
}

/// Makes commands of octets, one at a time.
#[derive(Clone, Debug, Default)]
pub struct Typed {
    line: String,
    /// The line has something in it that nobody types.
    noise: bool,
    /// The line before had, and that was told.
    told: bool,
    /// The last octet was a carriage return: a line feed belongs to it.
    returned: bool,
}

impl Typed {
    /// Takes one octet; a command where it completes one.
    pub fn take(&mut self, octet: u8) -> Option<SerialCommand> {
        let returned = mem::replace(&mut self.returned, octet == b'\r');
        let first = self.line.is_empty() && !self.noise;
        match octet {
            b'\n' if returned => None,
            b'\r' | b'\n' => self.enter(),
            b' ' if first => Some(SerialCommand::Button),
            b's' if first => Some(SerialCommand::LastSummary),
            b'h' if first => Some(SerialCommand::History),
            b'?' if first => Some(SerialCommand::Help),
            0x08 | 0x7F => {
                self.line.pop();
                None
            }
            _ => {
                self.keep(octet);
                None
            }
        }
    }

    fn keep(&mut self, octet: u8) {
        let printable = octet == b' ' || octet.is_ascii_graphic();
        if printable && self.line.len() < LONGEST_LINE {
            self.line.push(char::from(octet));
        } else {
            self.noise = true;
        }
    }

    fn enter(&mut self) -> Option<SerialCommand> {
        let line = mem::take(&mut self.line);
        let noise = mem::take(&mut self.noise);
        let told = mem::replace(&mut self.told, noise);
        match (noise, told) {
            (false, _) => Some(command(&line)),
            (true, false) => Some(SerialCommand::Refused(words(NOISE))),
            (true, true) => None,
        }
    }
}

/// The command that a whole line is.
fn command(line: &str) -> SerialCommand {
    match line.split_once(' ').unwrap_or((line, "")) {
        ("", "") => SerialCommand::Button,
        ("off", "") if line == "off" => SerialCommand::PowerOff,
        ("l", text) => label(text.trim()),
        _ => SerialCommand::Refused(words(format_args!("{line:?} is no command; ? tells which there are"))),
    }
}

fn label(text: &str) -> SerialCommand {
    if text.len() <= LONGEST_LABEL {
        return SerialCommand::Label(text.to_owned());
    }
    let long = text.len();
    SerialCommand::Refused(words(format_args!(
        "label of {long} characters; it can have at most {LONGEST_LABEL}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use SerialCommand::{Button, Help, Label, LastSummary, PowerOff};
    use proptest::prelude::*;

    fn typed(octets: &[u8]) -> Vec<SerialCommand> {
        let mut typed = Typed::default();
        octets.iter().filter_map(|&octet| typed.take(octet)).collect()
    }

    #[test]
    fn single_keys_act_at_once() {
        assert_eq!(typed(b" s?"), [Button, LastSummary, Help]);
    }

    #[test]
    fn enter_alone_is_the_button_however_a_terminal_sends_it() {
        assert_eq!(typed(b"\r"), [Button]);
        assert_eq!(typed(b"\n"), [Button]);
        assert_eq!(typed(b"\r\n"), [Button]);
        assert_eq!(typed(b"\r\n\r\n\r\r"), [Button, Button, Button, Button]);
    }

    #[test]
    fn a_label_is_everything_after_the_l() {
        assert_eq!(typed(b"l rack 7 / blue\r\n"), [Label("rack 7 / blue".to_owned())]);
        assert_eq!(typed(b"l\n"), [Label(String::new())]);
        assert_eq!(typed(b"l  s? \n"), [Label("s?".to_owned())]);
        let longest = "x".repeat(LONGEST_LABEL);
        assert_eq!(typed(format!("l {longest}\n").as_bytes()), [Label(longest)]);
    }

    #[test]
    fn what_is_no_command_is_refused_with_what_would_be() {
        let line = "\"lab\" is no command; ? tells which there are";
        assert_eq!(typed(b"lab\n"), [SerialCommand::Refused(words(line))]);
        let line = "label of 33 characters; it can have at most 32";
        let long = format!("l {}\n", "x".repeat(33));
        assert_eq!(typed(long.as_bytes()), [SerialCommand::Refused(words(line))]);
    }

    #[test]
    fn switching_off_takes_the_whole_word_and_enter() {
        assert_eq!(typed(b"off\r"), [PowerOff]);
        assert_eq!(typed(b"ofx\x7Ff\n"), [PowerOff], "a slip is taken back");
        assert_eq!(typed(b"off"), []);
        for line in ["of\n", "offf\n", "off \n", "off x\n", "xoff\n", "OFF\n", "o ff\n"] {
            assert!(!typed(line.as_bytes()).contains(&PowerOff), "{line:?}");
        }
    }

    #[test]
    fn a_line_with_noise_in_it_does_nothing_and_the_first_of_several_is_told() {
        let told = SerialCommand::Refused(words(NOISE));
        for noise in [&b"\x00"[..], b"\xFF", b"\x13", b"o\x80", b"\x1B"] {
            for line in [&b"off\n"[..], b"\n", b" s?\n", b"l x\n"] {
                assert_eq!(typed(&[noise, line].concat()), std::slice::from_ref(&told), "{noise:?} {line:?}");
                assert_eq!(typed(&[noise, line, noise, line].concat()), std::slice::from_ref(&told));
                assert_eq!(
                    typed(&[noise, line, b"off\n"].concat()),
                    [told.clone(), PowerOff],
                    "the next line counts"
                );
            }
        }
        assert_eq!(typed(&[&[b'x'; 200][..], b"off\n"].concat()), [told]);
    }

    #[test]
    fn the_help_tells_every_key() {
        let help = HELP.join("\n");
        for key in ["space", "Enter", "s:", "h:", "l TEXT", "off", "?"] {
            assert!(help.contains(key), "{key}");
        }
    }

    /// Octets, many of them such as commands are made of.
    fn octets() -> impl Strategy<Value = Vec<u8>> {
        let likely = prop::sample::select(b"off\r\nl s?".to_vec());
        prop::collection::vec(prop_oneof![likely, any::<u8>()], 0..200)
    }

    proptest! {
        #[test]
        fn no_octets_are_taken_for_off_that_are_not_that_line(octets in octets()) {
            let mut typed = Typed::default();
            for (at, &octet) in octets.iter().enumerate() {
                if typed.take(octet) != Some(PowerOff) {
                    continue;
                }
                let before = &octets[..at];
                prop_assert!(octet == b'\r' || octet == b'\n');
                if before.iter().any(|octet| matches!(octet, 0x08 | 0x7F)) {
                    continue;
                }
                prop_assert!(before.ends_with(b"off"));
                let preceding = before.iter().rev().nth(3);
                prop_assert!(matches!(preceding, None | Some(b'\r' | b'\n' | b' ' | b's' | b'?')));
            }
        }

        #[test]
        fn a_label_is_always_one_that_can_be_kept(octets in octets()) {
            for command in typed(&octets) {
                if let Label(label) = command {
                    prop_assert!(label.len() <= LONGEST_LABEL);
                    prop_assert!(label.bytes().all(|octet| octet == b' ' || octet.is_ascii_graphic()));
                }
            }
        }

        #[test]
        fn after_an_enter_everything_is_as_at_the_start(noise in octets()) {
            let mut typed = Typed::default();
            noise.iter().for_each(|&octet| drop(typed.take(octet)));
            typed.take(b'\r');
            let commands: Vec<_> = b"off\r".iter().filter_map(|&octet| typed.take(octet)).collect();
            prop_assert_eq!(commands, [PowerOff]);
        }
    }
}
