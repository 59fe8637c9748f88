//! The reader of fault scripts; the grammar is in [`crate::cable::fault`].

use crate::cable::fault::{Action, Fault, FaultError, FrameFault, Line, Region};
use measure::units::{Direction, Side};
use std::iter::Peekable;
use std::ops::RangeInclusive;
use std::str::{FromStr, SplitWhitespace};
use std::time::Duration;

/// Units of time in nanoseconds, the largest first.
pub(super) const UNITS: [(u64, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us"), (1, "ns")];

/// More would only be slow to prepare.
pub(super) const COUNTS: RangeInclusive<u32> = 1..=1_000_000;
/// The smallest frame has 18 octets of payload: 64 − 4 of FCS − 42 of headers.
pub(super) const BITS: RangeInclusive<u16> = 1..=144;
/// Well under the 200 ms of silence that end a drain.
pub(super) const DELAYS: RangeInclusive<Duration> = Duration::from_micros(1)..=Duration::from_millis(100);
/// Shorter ones no carrier reading can see.
pub(super) const FLAPS: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(60);
/// A day.
pub(super) const MOMENTS: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(86_400);

const A_START: &str = "a>b, b>a, both, a, b, flap, switch or network";
const A_LINE_FAULT: &str =
    "drop, flip, truncate, duplicate, reorder, delay, fcs, foreign or dead after a direction";
const A_PORT_FAULT: &str = "open or network after a port";
const A_COUNT: &str = "a whole number from 1 to 1000000";
const SOME_BITS: &str = "a whole number from 1 to 144";
const A_REGION: &str = "payload, header or any";
const A_DELAY: &str = "a whole number with its unit (ns, us, ms or s), from 1us to 100ms";
const A_FLAP: &str = "a whole number with its unit (ns, us, ms or s), from 1ms to 60s";
const A_MOMENT: &str = "a whole number with its unit (ns, us, ms or s), from 0s to 86400s";

/// Reads one fault.
pub(super) fn fault(text: &str) -> Result<Fault, FaultError> {
    let text = text.to_ascii_lowercase();
    let mut words = Words::of(&text);
    if words.rest.peek().is_none() {
        return Err(FaultError::Empty);
    }
    match words.word(A_START)? {
        "a>b" => line_fault(&mut words, Line::One(Direction::AToB)),
        "b>a" => line_fault(&mut words, Line::One(Direction::BToA)),
        "both" => line_fault(&mut words, Line::Both),
        "a" => port_fault(&mut words, Side::A),
        "b" => port_fault(&mut words, Side::B),
        "flap" => flap(&mut words),
        "switch" => words.end(Fault::Switch),
        "network" => words.end(Fault::Network { port: None }),
        _ => Err(words.unfit(A_START)),
    }
}

fn line_fault(words: &mut Words, line: Line) -> Result<Fault, FaultError> {
    match words.word(A_LINE_FAULT)? {
        "drop" => frames(words, line, FRAME_OPTIONS, |_| Ok(Action::Drop)),
        "flip" => frames(words, line, FLIP_OPTIONS, |options| {
            let bits = options.bits.unwrap_or(*BITS.start());
            Ok(Action::Flip { bits, region: options.region.unwrap_or_default() })
        }),
        "truncate" => frames(words, line, TRUNCATE_OPTIONS, |options| {
            Ok(Action::Truncate { region: options.region.unwrap_or_default() })
        }),
        "duplicate" => frames(words, line, FRAME_OPTIONS, |_| Ok(Action::Duplicate)),
        "reorder" => frames(words, line, FRAME_OPTIONS, |_| Ok(Action::Reorder)),
        "delay" => frames(words, line, DELAY_OPTIONS, |options| {
            let by = options.by.ok_or(FaultError::Needs { fault: "delay", word: "by", want: A_DELAY })?;
            Ok(Action::Delay { by })
        }),
        "fcs" => frames(words, line, FRAME_OPTIONS, |_| Ok(Action::Fcs)),
        "foreign" => {
            let count = words.count()?;
            let at = words.options(MOMENT_OPTIONS)?.at;
            Ok(Fault::Foreign { line, count, at })
        }
        "dead" => Ok(Fault::Dead { line, at: words.options(MOMENT_OPTIONS)?.at }),
        _ => Err(words.unfit(A_LINE_FAULT)),
    }
}

fn frames(
    words: &mut Words,
    line: Line,
    allowed: Allowed,
    action: impl FnOnce(&Options) -> Result<Action, FaultError>,
) -> Result<Fault, FaultError> {
    let count = words.count()?;
    let options = words.options(allowed)?;
    let action = action(&options)?;
    Ok(Fault::Frames(FrameFault { line, action, count, probe: options.probe.is_some(), at: options.at }))
}

fn port_fault(words: &mut Words, port: Side) -> Result<Fault, FaultError> {
    match words.word(A_PORT_FAULT)? {
        "open" => Ok(Fault::Open { port, at: words.options(MOMENT_OPTIONS)?.at }),
        "network" => words.end(Fault::Network { port: Some(port) }),
        _ => Err(words.unfit(A_PORT_FAULT)),
    }
}

fn flap(words: &mut Words) -> Result<Fault, FaultError> {
    let count = words.count()?;
    let options = words.options(FLAP_OPTIONS)?;
    let length = options.length.ok_or(FaultError::Needs { fault: "flap", word: "for", want: A_FLAP })?;
    Ok(Fault::Flap { count, length, at: options.at })
}

/// The options a fault takes, and the same as text for the error.
type Allowed = (&'static [&'static str], &'static str);

const FRAME_OPTIONS: Allowed = (&["probe", "at"], "probe, at or the end");
const FLIP_OPTIONS: Allowed = (&["bits", "region", "probe", "at"], "bits, region, probe, at or the end");
const TRUNCATE_OPTIONS: Allowed = (&["region", "probe", "at"], "region, probe, at or the end");
const DELAY_OPTIONS: Allowed = (&["by", "probe", "at"], "by, probe, at or the end");
const FLAP_OPTIONS: Allowed = (&["for", "at"], "for, at or the end");
const MOMENT_OPTIONS: Allowed = (&["at"], "at or the end");
const NO_OPTIONS: Allowed = (&[], "the end");

/// The options of one fault, as far as they were given.
#[derive(Default)]
struct Options {
    bits: Option<u16>,
    region: Option<Region>,
    by: Option<Duration>,
    length: Option<Duration>,
    at: Option<Duration>,
    probe: Option<()>,
}

/// The words of a text that were not read yet, and the two that were read last.
struct Words<'a> {
    rest: Peekable<SplitWhitespace<'a>>,
    before: &'a str,
    last: &'a str,
}

impl<'a> Words<'a> {
    fn of(text: &'a str) -> Self {
        Self { rest: text.split_whitespace().peekable(), before: "", last: "" }
    }

    /// The next word, which must be there.
    fn word(&mut self, want: &'static str) -> Result<&'a str, FaultError> {
        let word = self.rest.next().ok_or_else(|| FaultError::Missing { after: quote(self.last), want })?;
        self.before = std::mem::replace(&mut self.last, word);
        Ok(word)
    }

    /// The error that the last word does not belong there.
    fn unfit(&self, want: &'static str) -> FaultError {
        FaultError::Word { after: quote(self.before), word: quote(self.last), want }
    }

    /// The value of the word read last.
    fn value<T>(
        &mut self,
        want: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, FaultError> {
        let value = self.word(want)?;
        read(value).ok_or_else(|| FaultError::Value { word: quote(self.before), value: quote(value), want })
    }

    fn count(&mut self) -> Result<u32, FaultError> {
        self.value(A_COUNT, |value| number(value, &COUNTS))
    }

    /// The options up to the end of the text.
    fn options(&mut self, (allowed, want): Allowed) -> Result<Options, FaultError> {
        let mut options = Options::default();
        while self.rest.peek().is_some() {
            let word = self.word(want)?;
            if !allowed.contains(&word) {
                return Err(self.unfit(want));
            }
            self.option(word, &mut options)?;
        }
        Ok(options)
    }

    fn option(&mut self, word: &str, options: &mut Options) -> Result<(), FaultError> {
        let new = match word {
            "bits" => set(&mut options.bits, self.value(SOME_BITS, |value| number(value, &BITS))?),
            "region" => set(&mut options.region, self.value(A_REGION, region)?),
            "by" => set(&mut options.by, self.value(A_DELAY, |value| time(value, &DELAYS))?),
            "for" => set(&mut options.length, self.value(A_FLAP, |value| time(value, &FLAPS))?),
            "at" => set(&mut options.at, self.value(A_MOMENT, |value| time(value, &MOMENTS))?),
            _ => set(&mut options.probe, ()),
        };
        if new { Ok(()) } else { Err(FaultError::Twice { word: quote(word) }) }
    }

    /// `fault`, if the text is at its end.
    fn end(&mut self, fault: Fault) -> Result<Fault, FaultError> {
        self.options(NO_OPTIONS).map(|_| fault)
    }
}

/// Fills an option; false if it was filled before.
fn set<T>(option: &mut Option<T>, value: T) -> bool {
    option.replace(value).is_none()
}

/// A whole number in decimal digits, within `range`.
fn number<T: FromStr + PartialOrd>(text: &str, range: &RangeInclusive<T>) -> Option<T> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|value| range.contains(value))
}

fn region(text: &str) -> Option<Region> {
    [Region::Payload, Region::Header, Region::Any].into_iter().find(|region| region.to_string() == text)
}

/// A whole number with its unit, within `range`.
fn time(text: &str, range: &RangeInclusive<Duration>) -> Option<Duration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (value, unit) = text.split_at_checked(digits)?;
    let (nanos, _) = UNITS.into_iter().find(|&(_, name)| name == unit)?;
    let time = Duration::from_nanos(value.parse::<u64>().ok()?.checked_mul(nanos)?);
    Some(time).filter(|time| range.contains(time))
}

/// A word as an error shows it: cut, so that the error stays a line.
fn quote(word: &str) -> String {
    word.chars().take(32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn durations(range: &RangeInclusive<Duration>) -> impl Strategy<Value = Duration> + use<> {
        let nanos = |time: &Duration| u64::try_from(time.as_nanos()).unwrap();
        (nanos(range.start())..=nanos(range.end())).prop_map(Duration::from_nanos)
    }

    fn moments() -> impl Strategy<Value = Option<Duration>> {
        proptest::option::of(durations(&MOMENTS))
    }

    fn lines() -> impl Strategy<Value = Line> {
        prop_oneof![Just(Line::Both), Just(Line::One(Direction::AToB)), Just(Line::One(Direction::BToA))]
    }

    fn regions() -> impl Strategy<Value = Region> {
        prop_oneof![Just(Region::Payload), Just(Region::Header), Just(Region::Any)]
    }

    fn ports() -> impl Strategy<Value = Side> {
        prop_oneof![Just(Side::A), Just(Side::B)]
    }

    fn actions() -> impl Strategy<Value = Action> {
        prop_oneof![
            Just(Action::Drop),
            (BITS, regions()).prop_map(|(bits, region)| Action::Flip { bits, region }),
            regions().prop_map(|region| Action::Truncate { region }),
            Just(Action::Duplicate),
            Just(Action::Reorder),
            durations(&DELAYS).prop_map(|by| Action::Delay { by }),
            Just(Action::Fcs),
        ]
    }

    fn faults() -> impl Strategy<Value = Fault> {
        let frames = (lines(), actions(), COUNTS, any::<bool>(), moments()).prop_map(
            |(line, action, count, probe, at)| Fault::Frames(FrameFault { line, action, count, probe, at }),
        );
        prop_oneof![
            4 => frames,
            1 => (lines(), COUNTS, moments()).prop_map(|(line, count, at)| Fault::Foreign { line, count, at }),
            1 => (COUNTS, durations(&FLAPS), moments())
                .prop_map(|(count, length, at)| Fault::Flap { count, length, at }),
            1 => (lines(), moments()).prop_map(|(line, at)| Fault::Dead { line, at }),
            1 => (ports(), moments()).prop_map(|(port, at)| Fault::Open { port, at }),
            1 => Just(Fault::Switch),
            1 => proptest::option::of(ports()).prop_map(|port| Fault::Network { port }),
        ]
    }

    /// Words of the grammar in any order: far more often nearly right than arbitrary text is.
    fn near_misses() -> impl Strategy<Value = String> {
        let words = [
            "a>b",
            "b>a",
            "both",
            "a",
            "b",
            "flap",
            "switch",
            "network",
            "drop",
            "flip",
            "truncate",
            "delay",
            "foreign",
            "dead",
            "open",
            "bits",
            "region",
            "by",
            "for",
            "at",
            "probe",
            "any",
            "0",
            "1",
            "17",
            "5ms",
            "99999999999999999999s",
            "-1",
            "1.5s",
            "\u{7f}",
            "é",
        ];
        proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..8)
            .prop_map(|words| words.join(" "))
    }

    proptest! {
        #[test]
        fn what_a_fault_prints_is_read_back_as_the_same_fault(fault in faults()) {
            prop_assert_eq!(fault.to_string().parse::<Fault>(), Ok(fault));
        }

        #[test]
        fn any_text_is_a_fault_or_one_line_of_error(text in prop_oneof![any::<String>(), near_misses()]) {
            match text.parse::<Fault>() {
                Ok(fault) => prop_assert_eq!(fault.to_string().parse::<Fault>(), Ok(fault)),
                Err(error) => {
                    let line = error.to_string();
                    prop_assert!(!line.chars().any(char::is_control), "{line:?}");
                    prop_assert!(line.contains("expected"), "{line}");
                }
            }
        }
    }

    #[test]
    fn a_fault_prints_in_its_shortest_form() {
        for (text, printed) in [
            (" A>B   Drop 17 ", "a>b drop 17"),
            ("b>a flip 5 bits 1 region payload", "b>a flip 5"),
            ("a>b flip 5 region any bits 3", "a>b flip 5 bits 3 region any"),
            ("both truncate 2 region header", "both truncate 2 region header"),
            ("a>b delay 4 at 7000ms by 5000us", "a>b delay 4 by 5ms at 7s"),
            ("a>b duplicate 3 probe", "a>b duplicate 3 probe"),
            ("a>b foreign 1 at 7s", "a>b foreign 1 at 7s"),
            ("flap 1 for 800ms", "flap 1 for 800ms"),
            ("b>a dead", "b>a dead"),
            ("b open at 0s", "b open at 0s"),
            ("switch", "switch"),
            ("a network", "a network"),
            ("network", "network"),
        ] {
            assert_eq!(text.parse::<Fault>().map(|fault| fault.to_string()).as_deref(), Ok(printed));
        }
    }

    #[test]
    fn an_error_names_the_word_the_value_and_what_would_be_right() {
        for (text, error) in [
            ("  ", "fault: empty text: expected one such as \"a>b drop 17\""),
            (
                "a-b drop 1",
                "fault: \"a-b\" does not fit after \"\": expected a>b, b>a, both, a, b, flap, switch or network",
            ),
            ("a>b drop 0", "fault: \"drop\" cannot be \"0\": expected a whole number from 1 to 1000000"),
            ("a>b drop", "fault: nothing follows \"drop\": expected a whole number from 1 to 1000000"),
            (
                "a>b flip 5 bits 145",
                "fault: \"bits\" cannot be \"145\": expected a whole number from 1 to 144",
            ),
            ("a>b drop 5 bits 3", "fault: \"bits\" does not fit after \"5\": expected probe, at or the end"),
            ("switch 1", "fault: \"1\" does not fit after \"switch\": expected the end"),
            ("a>b fcs 1 at 1s at 2s", "fault: \"at\" is given twice: expected it once"),
            (
                "flap 1",
                "fault: \"flap\" is without \"for\": expected a whole number with its unit (ns, us, ms or s), \
                 from 1ms to 60s",
            ),
            (
                "a>b delay 1 by 5m",
                "fault: \"by\" cannot be \"5m\": expected a whole number with its unit (ns, us, ms or s), \
                 from 1us to 100ms",
            ),
            ("a drop 3", "fault: \"drop\" does not fit after \"a\": expected open or network after a port"),
        ] {
            assert_eq!(text.parse::<Fault>().map_err(|error| error.to_string()), Err(error.to_owned()));
        }
    }
}
