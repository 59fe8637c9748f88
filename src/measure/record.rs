//! What happened, as values: one event for each line of the log.
//!
//! Sentences are made of these by the writers; nothing here is text but names that people gave.
//! The enums are append-only: a later version adds at the end.

use crate::ledger::{DirectionReport, StreamReport};
use crate::units::{BitRate, Direction, Instant, MacAddress, Side};
use crate::verdict::{Reason, Setting, Verdict};
use core::time::Duration;

/// A short text that people gave: a name, a label, a value as read back.
pub type Text = heapless::String<48>;

/// A line of words.
pub type Words = heapless::String<120>;

/// A line of words that may be longer.
pub type LongWords = heapless::String<200>;

/// [`Text`] of whatever `value` displays, cut at what it holds.
pub fn text(value: impl core::fmt::Display) -> Text {
    cut(value)
}

/// [`Words`] of whatever `value` displays, cut at what they hold.
pub fn words(value: impl core::fmt::Display) -> Words {
    cut(value)
}

/// [`LongWords`] of whatever `value` displays, cut at what they hold.
pub fn long_words(value: impl core::fmt::Display) -> LongWords {
    cut(value)
}

fn cut<const N: usize>(value: impl core::fmt::Display) -> heapless::String<N> {
    let mut text = heapless::String::new();
    let mut cut = Cut(&mut text);
    // The writer below never fails: it drops what does not fit.
    let _ = core::fmt::Write::write_fmt(&mut cut, format_args!("{value}"));
    text
}

/// A writer that keeps what fits.
struct Cut<'a, const N: usize>(&'a mut heapless::String<N>);

impl<const N: usize> core::fmt::Write for Cut<'_, N> {
    fn write_str(&mut self, s: &str) -> core::fmt::Result {
        for c in s.chars() {
            if self.0.push(c).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// An event and the moment it happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamped {
    /// Monotonic time.
    pub at: Instant,
    /// What happened.
    pub event: Event,
}

/// How a setting stands after it was read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// As wanted.
    Yes,
    /// Not as wanted.
    No,
    /// The host or the driver does not have it.
    NotAvailable,
}

/// A setting as read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingReading {
    /// Which setting.
    pub setting: Setting,
    /// At which port; none for the host's own.
    pub port: Option<Side>,
    /// What was asked for.
    pub wanted: Text,
    /// What was read back, empty where nothing could be.
    pub got: Text,
    /// How it stands.
    pub held: Held,
    /// Without it there is no run.
    pub required: bool,
}

/// A setting that was held and is not any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slipped {
    /// Which.
    pub setting: Setting,
    /// What happened.
    pub what: Words,
    /// Without it the run means nothing.
    pub required: bool,
}

/// Errors so far, by class (the four classes of the display).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Frames lost on the cable, but for those that a MAC discarded for their FCS: these are in `link`.
    pub lost: u64,
    /// Frames received damaged.
    pub corrupt: u64,
    /// Carrier changes, CRC, symbol and fault counts.
    pub link: u64,
    /// Host drops, resets, stalls.
    pub internal: u64,
}

/// Where in the chain the session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Settings are being made and read back.
    Settings,
    /// Waiting for both ports to have link at the same speed.
    Link,
    /// Listening, then slow probes: is this a loop?
    LoopCheck,
    /// Traffic that is accounted but not judged for rate yet.
    Settle,
    /// The judged part.
    Run,
    /// Senders have stopped; what is on its way may arrive.
    Drain,
    /// The verdict stands.
    Done,
    /// The box waits for a cable or for its button.
    Wait,
}

/// One event.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "an event is handed on by value, without allocation")]
pub enum Event {
    /// A run begins.
    Start {
        /// Its number on this box.
        run: u32,
        /// Firmware version.
        version: &'static str,
        /// Board name.
        board: Text,
        /// Cable label, empty for none.
        label: Text,
        /// Kind of cable.
        cable: &'static str,
        /// The run's nonce.
        nonce: u32,
    },
    /// What is going to be done.
    Plan {
        /// Streams a direction.
        streams: u8,
        /// Size mix by name or list.
        mix: Text,
        /// Rate offered, none for as fast as the line takes it.
        pace: Option<BitRate>,
        /// Settle time.
        settle: Duration,
        /// Judged time; none where the run ends by bits.
        run: Option<Duration>,
        /// Checked bits a direction that end the run; none where it ends by time.
        bits: Option<u64>,
    },
    /// A port as found.
    Port {
        /// Which.
        port: Side,
        /// Interface name.
        name: Text,
        /// Driver.
        driver: Text,
        /// Its address.
        mac: MacAddress,
    },
    /// A setting was read back.
    Setting(SettingReading),
    /// The session enters a phase.
    Phase(Phase),
    /// A port's link changed or was first read.
    Link {
        /// Which port.
        port: Side,
        /// Carrier, none where it cannot be read.
        up: Option<bool>,
        /// Speed, none where unknown.
        speed: Option<BitRate>,
    },
    /// Probes heard in one direction.
    Probes {
        /// Which direction.
        direction: Direction,
        /// Probes sent of each kind.
        sent: u64,
        /// Heard of those to the peer's own address.
        unicast: u64,
        /// Heard of those to the address that bridges filter.
        filtered: u64,
    },
    /// The second's figures while frames flow.
    Rate {
        /// Received rates, A→B and B→A; none where no reading is due.
        rates: [Option<BitRate>; 2],
        /// Errors so far.
        errors: Classes,
        /// Time left; none where the run ends by bits.
        left: Option<Duration>,
    },
    /// The first evidence of its kind, when it was seen.
    Evidence(Reason),
    /// Something the reader of the log should know that is no reason by itself.
    Note(Words),
    /// The verdict.
    Verdict {
        /// The word.
        verdict: Verdict,
        /// Run number.
        run: u32,
        /// Rate judged against; none where no speed is known.
        basis: Option<BitRate>,
        /// Link speed, where the rate judged against is a pace.
        of: Option<BitRate>,
    },
    /// A reason for the verdict, strongest first.
    Reason(Reason),
    /// One direction's account.
    Direction(DirectionReport),
    /// One stream's account.
    Stream {
        /// Its direction.
        direction: Direction,
        /// Its number, from 0.
        stream: u8,
        /// Its ethertype.
        ethertype: u16,
        /// Its figures.
        report: StreamReport,
    },
    /// Bit error ratio of one direction.
    Ber {
        /// Which direction.
        direction: Direction,
        /// Payload bits received and compared.
        checked_bits: u64,
        /// Errors among them (frames, where `equivalent`).
        errors: u64,
        /// One-sided upper bound; none where no bit was checked.
        bound: Option<f64>,
        /// Confidence of the bound, 0 to 1.
        confidence: f64,
        /// Errors are frames that the MAC discarded, not bits.
        equivalent: bool,
    },
    /// A figure that could not be had.
    NotAvailable {
        /// Which figure.
        what: &'static str,
        /// At which port, where it is a port's.
        port: Option<Side>,
    },
    /// Lines that a slow reader made the log drop.
    LogDropped {
        /// How many.
        lines: u64,
    },
    /// Frames that left the box by kind, for the record of what a run sent.
    Left {
        /// Which direction.
        direction: Direction,
        /// Probes.
        probes: u64,
        /// Test frames.
        test_frames: u64,
    },
    /// The 16 ms readings of one direction.
    Readings {
        /// Which direction.
        direction: Direction,
        /// The highest that was shown; none where there was none.
        highest: Option<BitRate>,
        /// Readings above line rate, because a stall outlived the smear window.
        above_line: u64,
    },
    /// Whose result this is: the summary repeats it, so that it can be cut out of a log.
    Identity {
        /// Firmware version.
        version: &'static str,
        /// Board name.
        board: Text,
        /// Cable label, empty for none.
        label: Text,
    },
    /// The run is over.
    End,
    /// The box has started.
    Boot {
        /// Firmware version.
        version: &'static str,
        /// Board name.
        board: Text,
    },
    /// The box itself cannot work: no cable is judged.
    Fault(Words),
    /// Which box this is.
    Box {
        /// What tells it from others.
        id: Text,
        /// The commit that its firmware was built from; none where that is not known.
        commit: Option<&'static str>,
    },
    /// The clock chip is set: what it says now.
    WallClock {
        /// Since 1970-01-01 UTC.
        unix: Duration,
    },
    /// The run's record is durable.
    Saved {
        /// Run number.
        run: u32,
    },
    /// The run's record was not durable when its verdict was shown.
    NotSaved {
        /// Run number.
        run: u32,
        /// Why.
        why: Words,
    },
    /// An earlier result out of the history, in one line.
    Kept(LongWords),
}
