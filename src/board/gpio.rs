//! Lines of GPIO chips that a box has for button, lamps and beeper.

use super::Conflict;
use std::fmt;
use std::str::FromStr;

/// What a wire can be, for refusals.
pub(super) const WIRE_RIGHT: &str =
    "\"none\" or a GPIO chip and a line of it, like \"gpiochip0:17\", with ! before it where low is active";

/// Longest name, label or path of a chip, in characters.
const LONGEST_NAME: usize = 80;

/// A line of a GPIO chip, and which of its levels means yes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GpioWire {
    /// The chip: name of its device in `/dev`, its label, or its device's path.
    pub chip: String,
    /// Number of the line on that chip, from 0.
    pub line: u32,
    /// Whether the low level is the active one: a key to ground, a lamp to the supply.
    pub active_low: bool,
}

impl FromStr for GpioWire {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = text.strip_prefix('!');
        let (chip, line) = plain.unwrap_or(text).rsplit_once(':').ok_or(WIRE_RIGHT)?;
        let digits = line.bytes().all(|octet| octet.is_ascii_digit());
        let line = line.parse().ok().filter(|_| digits && is_chip(chip)).ok_or(WIRE_RIGHT)?;
        Ok(Self { chip: chip.to_owned(), line, active_low: plain.is_some() })
    }
}

/// Whether a text can be a chip's name, label or path.
fn is_chip(text: &str) -> bool {
    let bare = text.trim() == text && !text.starts_with('!') && !text.is_empty() && text != "/";
    bare && text.chars().count() <= LONGEST_NAME && !text.chars().any(char::is_control)
}

impl fmt::Display for GpioWire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.active_low { "!" } else { "" };
        write!(f, "{mark}{}:{}", self.chip, self.line)
    }
}

/// The wires of a box, each none where it has no such thing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wires {
    /// A button.
    pub button: Option<GpioWire>,
    /// The lamp of a PASS.
    pub pass: Option<GpioWire>,
    /// The lamp of a FAIL.
    pub fail: Option<GpioWire>,
    /// The lamp of a box at work.
    pub busy: Option<GpioWire>,
    /// A beeper.
    pub beeper: Option<GpioWire>,
}

impl Wires {
    /// Each with its key.
    pub(super) const fn keys(&self) -> [(&'static str, Option<&GpioWire>); 5] {
        [
            ("button-gpio", self.button.as_ref()),
            ("lamp-pass", self.pass.as_ref()),
            ("lamp-fail", self.fail.as_ref()),
            ("lamp-busy", self.busy.as_ref()),
            ("beeper", self.beeper.as_ref()),
        ]
    }

    /// Whether each has a line of its own.
    pub(super) fn check(&self) -> Result<(), Conflict> {
        let keys = self.keys();
        for (at, (key, wire)) in keys.iter().enumerate() {
            let Some(wire) = wire else { continue };
            let same = |other: &GpioWire| other.chip == wire.chip && other.line == wire.line;
            let before = keys.iter().take(at).find(|(_, other)| other.is_some_and(same));
            if let Some((other, _)) = before {
                let right = format!("the same line as {other}; each needs one of its own");
                return Err(Conflict { key, value: wire.to_string(), right });
            }
        }
        Ok(())
    }
}

/// A wire as a board file has it; none where it says so.
pub(super) fn wire(text: &str) -> Result<Option<GpioWire>, &'static str> {
    if text == "none" { Ok(None) } else { text.parse().map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(chip: &str, line: u32, active_low: bool) -> GpioWire {
        GpioWire { chip: chip.to_owned(), line, active_low }
    }

    #[test]
    fn a_wire_is_a_chip_and_a_line_and_its_active_level() {
        for (text, wire) in [
            ("gpiochip0:17", at("gpiochip0", 17, false)),
            ("!gpiochip0:17", at("gpiochip0", 17, true)),
            ("pinctrl-bcm2835:0", at("pinctrl-bcm2835", 0, false)),
            ("/dev/gpiochip12:511", at("/dev/gpiochip12", 511, false)),
            ("!INT33FC:00:4", at("INT33FC:00", 4, true)),
        ] {
            assert_eq!(text.parse(), Ok(wire.clone()));
            assert_eq!(wire.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_wire_is_refused() {
        let long = format!("{}:1", "x".repeat(81));
        for text in [
            "",
            "17",
            ":17",
            "!:17",
            "gpiochip0",
            "gpiochip0:",
            "gpiochip0:-1",
            "gpiochip0:+1",
            "gpiochip0:4294967296",
            "gpiochip0:0x11",
            "!!gpiochip0:1",
            " gpiochip0:1",
            "gpio\nchip:1",
            "/:1",
            &long,
        ] {
            assert_eq!(wire(text), Err(WIRE_RIGHT), "{text:?}");
        }
    }

    #[test]
    fn none_is_no_wire_and_no_refusal() {
        assert_eq!(wire("none"), Ok(None));
        assert_eq!(wire("none:1"), Ok(Some(at("none", 1, false))));
    }

    #[test]
    fn one_line_is_not_two_things_whatever_its_active_level() {
        let wires =
            Wires { pass: Some(at("a", 1, false)), beeper: Some(at("a", 1, true)), ..Wires::default() };
        let line = wires.check().unwrap_err().to_string();
        assert_eq!(line, "beeper = !a:1: the same line as lamp-pass; each needs one of its own");
        let wires = Wires { beeper: Some(at("a", 2, false)), ..wires };
        assert_eq!(wires.check(), Ok(()));
    }

    proptest! {
        #[test]
        fn any_text_is_a_wire_that_reads_back_or_a_refusal(text in "[!:a-z/0-9 \n]{0,20}") {
            if let Ok(Some(found)) = wire(&text) {
                prop_assert_eq!(wire(&found.to_string()), Ok(Some(found)));
            }
        }
    }
}
