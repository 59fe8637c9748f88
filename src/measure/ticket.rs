//! The result as one short line for a QR code: what a box label or a test report has room for.
//!
//! At most 77 characters of the QR code's alphanumeric set, so that version 3-L holds it (ISO/IEC 18004, table 7).
//! Fields with `:` between them:
//!
//! | field | example | meaning |
//! |---|---|---|
//! | 1 | `LG1P` | format 1 of linegauge, and the verdict: `P` PASS, `F` FAIL, `M` MARGINAL, `I` INVALID |
//! | 2 | `12` | run number |
//! | 3 | `BENCH-2` | box id, at most 8 characters |
//! | 4 | `CABLE 0042` | label of the cable, as much as there is room for; `+` at the end of one that was cut |
//! | 5, 6 | `9999` | received L1 rates A→B and B→A in Mb/s, rounded; 999999 for that and more |
//! | 7 to 10 | `17` | lost, corrupt, link and internal errors: exact to 9999, then `12E6` for 12 000 000 to 12 999 999; `99E9` for that and more |
//! | 11, 12 | `30E-14` | upper bounds of the bit error ratio A→B and B→A, rounded up: 30 × 10⁻¹⁴ |
//! | 13 | `380E` | CRC-16/IBM-3740 of all before it, the last `:` included |
//!
//! What is not known is `-`. In names, small letters become capitals, and a character that the set lacks becomes `.`.

use crate::record::Classes;
use crate::units::BitRate;
use crate::verdict::Verdict;
use core::fmt::{self, Write};
use crc::{CRC_16_IBM_3740, Crc};
use heapless::String;

/// Characters that version 3-L of a QR code holds in alphanumeric mode (ISO/IEC 18004, table 7).
pub const MOST: usize = 77;

/// Characters of a box id that are kept.
const MOST_OF_BOX_ID: usize = 8;

/// Characters of the checksum, with the `:` before it.
const CHECKSUM: usize = 5;

const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_IBM_3740);

/// What a ticket tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome<'a> {
    /// The word.
    pub verdict: Verdict,
    /// Run number.
    pub run: u32,
    /// The box; empty where it has no name.
    pub box_id: &'a str,
    /// The cable; empty where nobody gave it a name.
    pub label: &'a str,
    /// Received rates, A→B and B→A.
    pub rates: [Option<BitRate>; 2],
    /// Errors by class.
    pub errors: Classes,
    /// Upper bounds of the bit error ratio, A→B and B→A.
    pub bounds: [Option<f64>; 2],
}

/// The line: of the alphanumeric set, at most [`MOST`] characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket(String<MOST>);

impl Ticket {
    /// The ticket of a run.
    #[must_use]
    pub fn new(outcome: &Outcome) -> Self {
        let mut figures = String::<MOST>::new();
        let mut line = String::<MOST>::new();
        let written = outcome.write_figures(&mut figures).and_then(|()| {
            write!(line, "LG1{}:{}:", letter(outcome.verdict), outcome.run)?;
            let room = MOST.saturating_sub(line.len() + figures.len() + CHECKSUM);
            // A `:` and one character of the label are kept free.
            write_name(&mut line, outcome.box_id, room.saturating_sub(2).min(MOST_OF_BOX_ID))?;
            line.write_char(':')?;
            let room = MOST.saturating_sub(line.len() + figures.len() + CHECKSUM);
            write_name(&mut line, outcome.label, room)?;
            write!(line, "{figures}:")?;
            let checksum = CRC.checksum(line.as_bytes());
            write!(line, "{checksum:04X}")
        });
        written.expect("the longest figures leave room for names");
        Self(line)
    }

    /// The line itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Outcome<'_> {
    /// Rates, errors and bounds, each with a `:` before it: at most 48 characters.
    fn write_figures(&self, line: &mut String<MOST>) -> fmt::Result {
        for rate in self.rates {
            write_rate(line, rate)?;
        }
        let Classes { lost, corrupt, link, internal } = self.errors;
        for count in [lost, corrupt, link, internal] {
            write_count(line, count)?;
        }
        self.bounds.into_iter().try_for_each(|bound| write_bound(line, bound))
    }
}

const fn letter(verdict: Verdict) -> char {
    match verdict {
        Verdict::Pass => 'P',
        Verdict::Fail => 'F',
        Verdict::Marginal => 'M',
        Verdict::Invalid => 'I',
    }
}

/// A name in the QR code's own characters, at most `room` of them.
fn write_name(line: &mut String<MOST>, name: &str, room: usize) -> fmt::Result {
    let name = name.trim();
    if name.is_empty() {
        return line.write_char('-');
    }
    let cut = name.chars().count() > room;
    let kept = if cut { room.saturating_sub(1) } else { room };
    name.chars().take(kept).try_for_each(|c| line.write_char(nearest(c)))?;
    if cut && room > 0 { line.write_char('+') } else { Ok(()) }
}

const fn nearest(c: char) -> char {
    match c.to_ascii_uppercase() {
        c @ ('0'..='9' | 'A'..='Z' | ' ' | '$' | '%' | '*' | '+' | '-' | '.' | '/') => c,
        '_' => '-',
        _ => '.',
    }
}

fn write_rate(line: &mut String<MOST>, rate: Option<BitRate>) -> fmt::Result {
    let Some(rate) = rate else { return line.write_str(":-") };
    let mega = rate.bits_per_second().saturating_add(500_000) / 1_000_000;
    write!(line, ":{}", mega.min(999_999))
}

fn write_count(line: &mut String<MOST>, count: u64) -> fmt::Result {
    if count <= 9999 {
        return write!(line, ":{count}");
    }
    let (mut digits, mut power) = (count, 0);
    while digits > 99 {
        (digits, power) = (digits / 10, power + 1);
    }
    if power > 9 { line.write_str(":99E9") } else { write!(line, ":{digits}E{power}") }
}

fn write_bound(line: &mut String<MOST>, bound: Option<f64>) -> fmt::Result {
    let Some(bound) = bound.filter(|bound| *bound >= 0.0) else { return line.write_str(":-") };
    let Some(power) = (-99..=-1).find(|power| digits(bound, *power) <= 99.0) else {
        // A ratio is never above 1.
        return line.write_str(":10E-1");
    };
    // No bound is shown as smaller than it is, nor with fewer digits than the others.
    write!(line, ":{:.0}E{power}", digits(bound, power).max(10.0))
}

/// `bound` in units of ten to `power`, rounded up but for what a binary fraction adds.
fn digits(bound: f64, power: i32) -> f64 {
    libm::ceil(bound * libm::pow(10.0, f64::from(-power)) * (1.0 - 1e-12))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::{String as Text, ToString};
    use std::vec::Vec;

    fn outcome() -> Outcome<'static> {
        Outcome {
            verdict: Verdict::Pass,
            run: 12,
            box_id: "bench-2",
            label: "Cable 0042",
            rates: [9_999_400_000, 10_000_000_000].map(|bits| Some(BitRate::from_bits_per_second(bits))),
            errors: Classes::default(),
            bounds: [Some(2.996e-13), Some(3.0e-13)],
        }
    }

    fn fields(ticket: &Ticket) -> Vec<Text> {
        ticket.as_str().split(':').map(ToString::to_string).collect()
    }

    #[test]
    fn a_ticket_is_read_field_by_field() {
        let line = "LG1P:12:BENCH-2:CABLE 0042:9999:10000:0:0:0:0:30E-14:30E-14:380E";
        assert_eq!(Ticket::new(&outcome()).as_str(), line);
    }

    #[test]
    fn what_is_unknown_is_not_zero() {
        let bounds = [None, Some(f64::NAN)];
        let unknown = Outcome { rates: [None; 2], bounds, box_id: "", label: " ", ..outcome() };
        let fields = fields(&Ticket::new(&unknown));
        assert_eq!(fields[2..6], ["-", "-", "-", "-"]);
        assert_eq!(fields[10..12], ["-", "-"]);
    }

    #[test]
    fn counts_are_cut_and_bounds_rounded_up() {
        let count = |count| {
            let mut line = String::new();
            write_count(&mut line, count).unwrap();
            line
        };
        assert_eq!([0, 9999, 10_000, 12_999_999].map(count), [":0", ":9999", ":10E3", ":12E6"]);
        assert_eq!([99_999_999_999, 100_000_000_000, u64::MAX].map(count), [":99E9"; 3]);
        let bound = |bound| {
            let mut line = String::new();
            write_bound(&mut line, Some(bound)).unwrap();
            line
        };
        assert_eq!([3e-13, 3.01e-13, 9.95e-13].map(bound), [":30E-14", ":31E-14", ":10E-13"]);
        assert_eq!([0.5, 1.0, f64::INFINITY].map(bound), [":50E-2", ":10E-1", ":10E-1"]);
        assert_eq!([0.0, 5e-324].map(bound), [":10E-99"; 2]);
    }

    #[test]
    fn a_name_that_is_too_long_says_so_and_costs_no_figure() {
        let long =
            Outcome { label: "a cable with a very long name indeed", box_id: "box_number_7", ..outcome() };
        let fields = fields(&Ticket::new(&long));
        assert_eq!(fields[2..4], ["BOX-NUM+", "A CABLE WITH A VERY L+"]);
        let huge = Outcome {
            run: u32::MAX,
            rates: [Some(BitRate::from_bits_per_second(u64::MAX)); 2],
            errors: Classes { lost: 99_999, corrupt: u64::MAX, link: 9999, internal: 5678 },
            ..long
        };
        assert_eq!(Ticket::new(&huge).as_str().len(), MOST);
    }

    fn any_bound() -> impl Strategy<Value = Option<f64>> {
        prop::option::of(prop_oneof![any::<f64>(), 1e-20..1.0_f64])
    }

    proptest! {
        #[test]
        fn every_ticket_fits_is_alphanumeric_and_checks(
            run: u32,
            names in ["\\PC{0,50}", "\\PC{0,50}"],
            rates in prop::array::uniform2(prop::option::of(any::<u64>())),
            counts: [u64; 4],
            bounds in [any_bound(), any_bound()],
        ) {
            let [lost, corrupt, link, internal] = counts;
            let ticket = Ticket::new(&Outcome {
                verdict: Verdict::Invalid,
                run,
                box_id: &names[0],
                label: &names[1],
                rates: rates.map(|bits| bits.map(BitRate::from_bits_per_second)),
                errors: Classes { lost, corrupt, link, internal },
                bounds,
            });
            let line = ticket.as_str();
            prop_assert!(line.len() <= MOST);
            prop_assert!(line.chars().all(|c| c == ':' || nearest(c) == c));
            let (checked, checksum) = line.rsplit_once(':').unwrap();
            let expected = CRC.checksum(&line.as_bytes()[..=checked.len()]);
            prop_assert_eq!(u16::from_str_radix(checksum, 16), Ok(expected));
            prop_assert_eq!(line.split(':').count(), 13);
        }

        #[test]
        fn no_bound_is_shown_smaller_than_it_is(bound in 1e-98..1.0_f64) {
            let mut line = String::new();
            write_bound(&mut line, Some(bound)).unwrap();
            let shown: f64 = line.trim_start_matches(':').parse().unwrap();
            prop_assert!(shown >= bound * (1.0 - 1e-11) && shown <= bound * 1.11, "{bound} as {line}");
        }
    }
}
