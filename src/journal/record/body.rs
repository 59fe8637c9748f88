//! What the records hold: the wire's own types, and nothing of the measuring core's.
//!
//! Postcard writes the fields of a struct one after the other, without names and without lengths. So these
//! structs never change; what a later minor version adds follows the struct as a record's last octets, where an
//! older reader stops reading and a newer one finds nothing in an older record. Names are numbers (`codes`).
//! A figure that cannot be had is `None` and never 0.

use super::reason::CodedReason;
use postcard::{take_from_bytes, to_slice};
use serde::{Deserialize, Serialize};

/// Version and commit.
pub type Short = heapless::String<16>;

/// A box's own name.
pub type BoxName = heapless::String<20>;

/// Names that people gave.
pub type Name = heapless::String<32>;

/// A line of words.
pub type Words = heapless::String<120>;

/// Most reasons that a summary has: all that there are, and room for those of newer versions.
pub const MOST_REASONS: usize = 64;

/// Makes an enum of the kinds of record with the number of each; a number is given once.
macro_rules! kinds {
    ($($(#[$doc:meta])+ $code:literal => $kind:ident,)+) => {
        /// A record.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(clippy::large_enum_variant, reason = "a record is handed on by value, without allocation")]
        pub enum Record {
            $($(#[$doc])+ $kind($kind),)+
        }

        impl Record {
            /// The number of its kind.
            pub(super) const fn kind(&self) -> u8 {
                match self {
                    $(Self::$kind(_) => $code,)+
                }
            }

            /// Writes it to the beginning of `octets`; tells how many it takes.
            pub(super) fn put(&self, octets: &mut [u8]) -> postcard::Result<usize> {
                let put = match self {
                    $(Self::$kind(body) => to_slice(body, octets)?,)+
                };
                Ok(put.len())
            }

            /// Reads a record of kind `kind`; none where this version knows no such kind. Octets that are left
            /// over are a newer version's.
            pub(super) fn take(kind: u8, octets: &[u8]) -> Option<postcard::Result<Self>> {
                Some(match kind {
                    $($code => take_from_bytes(octets).map(|(body, _)| Self::$kind(body)),)+
                    _ => return None,
                })
            }

            /// When it was made, in milliseconds of the box's monotonic clock.
            #[must_use]
            pub const fn at_ms(&self) -> u64 {
                match self {
                    $(Self::$kind(body) => body.at_ms,)+
                }
            }
        }
    };
}

kinds! {
    /// Whose records these are.
    1 => Hello,
    /// One second of traffic.
    2 => Second,
    /// The run has come to another link of the chain.
    3 => Passage,
    /// Evidence, when it was first seen.
    4 => Seen,
    /// A port's link.
    5 => Link,
    /// The box itself cannot work.
    6 => Fault,
    /// Records that a slow reader made the box drop.
    7 => Dropped,
    /// A whole run.
    8 => Summary,
}

/// Firmware and box.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Firmware version.
    pub version: Short,
    /// The commit that it was built from.
    pub commit: Option<Short>,
    /// Board name.
    pub board: Name,
}

/// When the box has started, and at the beginning of each run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Monotonic time.
    pub at_ms: u64,
    /// The same moment since 1970-01-01 UTC, where the clock chip is set.
    pub unix_ms: Option<u64>,
    /// The box.
    pub box_id: BoxName,
    /// Firmware.
    pub origin: Origin,
    /// The run that begins; none where the box has only started.
    pub start: Option<Start>,
}

/// The run that begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Its number on this box.
    pub run: u32,
    /// Cable label, empty for none.
    pub label: Name,
    /// Kind of cable.
    pub cable: Short,
    /// The run's nonce.
    pub nonce: u32,
}

/// One second of traffic. Its figures are held to so many octets that it is never over 64 on the wire: rates to
/// 2^35 − 1 kb/s, lost and corrupt frames to 2^49 − 1 (more than a year of the smallest frames at 10 Gb/s), the
/// other classes to 2^42 − 1; one that stands there is that or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Second {
    /// Monotonic time.
    pub at_ms: u64,
    /// Run number.
    pub run: u32,
    /// Received L1 rate of A→B and B→A.
    pub rates_kbps: [Option<u64>; 2],
    /// Errors so far: frames lost on the cable.
    pub lost: u64,
    /// Frames received damaged.
    pub corrupt: u64,
    /// Carrier changes, CRC, symbol and fault counts.
    pub link: u64,
    /// Host drops, resets, stalls.
    pub internal: u64,
    /// Time left, rounded up; none where the run ends by bits.
    pub left_s: Option<u32>,
}

/// The run has come to another link of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// Monotonic time.
    pub at_ms: u64,
    /// Run number; 0 before the first.
    pub run: u32,
    /// Number of the phase.
    pub phase: u8,
}

/// Evidence, when it was first seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Monotonic time.
    pub at_ms: u64,
    /// Run number.
    pub run: u32,
    /// What was seen.
    pub reason: CodedReason,
}

/// A port's link as it is from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Monotonic time.
    pub at_ms: u64,
    /// Run number; 0 before the first.
    pub run: u32,
    /// Number of the port.
    pub port: u8,
    /// Carrier.
    pub up: Option<bool>,
    /// Speed.
    pub speed_bps: Option<u64>,
}

/// The box itself cannot work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Monotonic time.
    pub at_ms: u64,
    /// Why.
    pub why: Words,
}

/// Events that never became records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// Monotonic time.
    pub at_ms: u64,
    /// How many.
    pub events: u64,
}

/// A whole run, so that it needs no other record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Monotonic time of its end.
    pub at_ms: u64,
    /// The same moment since 1970-01-01 UTC, where the clock chip is set.
    pub unix_ms: Option<u64>,
    /// The box.
    pub box_id: BoxName,
    /// Firmware; left out where the summary would be too long: the hello has it.
    pub origin: Option<Origin>,
    /// Run number.
    pub run: u32,
    /// Cable label, empty for none.
    pub label: Name,
    /// Number of the verdict.
    pub verdict: u8,
    /// Rate judged against.
    pub basis_bps: Option<u64>,
    /// Link speed, where the rate judged against is a pace.
    pub paced_of_bps: Option<u64>,
    /// A→B and B→A.
    pub accounts: [Option<Account>; 2],
    /// Confidence of the bounds in millionths.
    pub confidence_ppm: Option<u32>,
    /// Errors in the bounds are frames that the MAC discarded, not bits.
    pub equivalent: bool,
    /// Settings that were not held when they were last read back.
    pub not_held: Marks,
    /// Settings that the host or the driver does not have.
    pub without_setting: Marks,
    /// Figures that could not be had.
    pub without_figure: Marks,
    /// Why, strongest first.
    pub reasons: heapless::Vec<CodedReason, MOST_REASONS>,
    /// Weakest reasons left out where the summary would be too long.
    pub reasons_left_out: u8,
}

/// One direction of a run. Figures are held to so many octets that a summary is always under 400 on the wire:
/// frames that a sound run has, and bit errors, to 2^49 − 1, all others to 2^35 − 1; one that stands there is
/// that or more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Frames accepted for sending.
    pub sent: u64,
    /// Frames of ours that arrived, in whatever state.
    pub received: u64,
    /// Different frames received undamaged.
    pub good: u64,
    /// Frames lost on the cable, at least.
    pub lost_at_least: u64,
    /// At most.
    pub lost_at_most: u64,
    /// Frames received damaged.
    pub corrupt: u64,
    /// Those of them that cannot say which frame they are.
    pub unidentified: u64,
    /// Wrong bits in the others.
    pub bit_errors: u64,
    /// Frames sent and not received.
    pub missing: u64,
    /// Those of them that the host dropped.
    pub host: u64,
    /// Those of them that nothing explains.
    pub unknown: u64,
    /// Frames that came twice.
    pub duplicates: u64,
    /// Frames that came out of order.
    pub reordered: u64,
    /// Frames that could not be placed.
    pub misplaced: u64,
    /// Received L1 rate over the judged part, at most 2^42 − 1 bit/s.
    pub steady_bps: Option<u64>,
    /// Highest 16 ms reading, at most 2^42 − 1 bit/s.
    pub highest_bps: Option<u64>,
    /// Readings above line rate.
    pub above_line: u64,
    /// Longest time the worker stood still.
    pub longest_stall_us: u64,
    /// Probes that left before traffic.
    pub probes: u64,
    /// Payload bits received and compared.
    pub checked_bits: u64,
    /// Errors among them, as the bound counts them.
    pub ber_errors: u64,
    /// One-sided upper bound of the bit error ratio.
    pub ber_bound: Option<f64>,
}

/// A set of numbered things of the host, of port A and of port B: bit n is the thing with the number n.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks([u32; 3]);

impl Marks {
    /// Puts a thing in, or takes it out. `place` is 0 for the host, 1 for port A, 2 for port B.
    pub(super) fn set(&mut self, place: u8, code: u8, on: bool) {
        let Some(bit) = 1_u32.checked_shl(code.into()) else { return };
        if let Some(bits) = self.0.get_mut(usize::from(place)) {
            *bits = if on { *bits | bit } else { *bits & !bit };
        }
    }

    /// Place and number of each thing in it.
    pub(in crate::journal) fn iter(self) -> impl Iterator<Item = (u8, u8)> {
        let places = (0..).zip(self.0);
        places.flat_map(|(place, bits)| {
            (0..32).filter(move |code| bits & (1 << code) != 0).map(move |code| (place, code))
        })
    }
}
