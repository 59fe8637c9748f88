//! The fault script: what an emulated cable does wrong, one fault a string.
//!
//! # Grammar
//! Words are separated by blanks; capitals do not matter. What [`Display`](fmt::Display) prints is read back
//! as the same fault.
//! ```text
//! fault    = line "drop"      count {probe | at}
//!          | line "flip"      count {"bits" bits | "region" region | probe | at}
//!          | line "truncate"  count {"region" region | probe | at}
//!          | line "duplicate" count {probe | at}
//!          | line "reorder"   count {probe | at}
//!          | line "delay"     count {"by" time | probe | at}      by: 1us to 100ms, needed
//!          | line "fcs"       count {probe | at}
//!          | line "foreign"   count {at}
//!          | line "dead" {at}
//!          | "flap" count {"for" time | at}                       for: 1ms to 60s, needed
//!          | port "open" {at}
//!          | port "network" | "network"
//!          | "switch"
//! line     = "a>b" | "b>a" | "both"       both: the count applies to each direction
//! port     = "a" | "b"
//! count    = 1 to 1000000
//! bits     = 1 to 144                     all of the payload of the smallest frame
//! region   = "payload" | "header" | "any"
//! probe    = "probe"
//! at       = "at" time                    0s to 86400s
//! time     = whole number with its unit: "ns", "us", "ms" or "s"
//! ```
//!
//! # Meaning
//! - `drop` loses a frame; `flip` turns `bits` different bits (default 1) in each of `count` different frames;
//!   `truncate` cuts octets off the end; `duplicate` delivers a frame a second time; `reorder` delivers a frame
//!   after a later one of its stream; `delay` holds the whole direction back, in order, for a time; `fcs`
//!   damages a frame so that the receiving MAC discards and counts it; `foreign` makes somebody else's frame
//!   arrive at the receiving port.
//! - No frame is hit by two faults, and while one waits to be overtaken (50 ms at most, then another is tried)
//!   no other of its direction is hit: what is due then hits a later one. The same goes for a fault that a flap
//!   undid before the frame arrived.
//! - `region payload` (default) is what follows the 42 octets of Ethernet and test header, `header` those
//!   42 octets, `any` the whole frame. A truncated frame ends in its region.
//! - `dead` carries nothing in its direction; `flap` takes the carrier of both ends away; `open` takes the
//!   carrier of one end away for good; `switch` is a bridge in the path; `network` plugs a port (or both) into
//!   a live network: nothing sent into it comes back, its broadcasts and spanning tree hellos arrive, and the
//!   other port, if it is not in the network too, has a link and hears nothing.
//! - Counted faults act on test frames, or on probes where `probe` is asked. `at` counts from the first frame
//!   of the kind acted on (from the first test frame for faults that act on no frame). Without `at`, faults on
//!   test frames, foreign frames and flaps are spread at random over the traffic, faults on probes begin with
//!   the first probe, and `dead` and `open` hold from the beginning.

use crate::cable::parse;
use measure::units::{Direction, Side};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Which directions a fault acts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// One of them.
    One(Direction),
    /// Both, each with the whole count.
    Both,
}

impl Line {
    /// Whether the fault acts in `direction`.
    #[must_use]
    pub fn covers(self, direction: Direction) -> bool {
        self == Self::Both || self == Self::One(direction)
    }
}

/// Which part of a frame damage falls in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Region {
    /// What follows the test header.
    #[default]
    Payload,
    /// Ethernet and test header: the first 42 octets.
    Header,
    /// The whole frame.
    Any,
}

/// What happens to one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is lost.
    Drop,
    /// Some of its bits arrive turned.
    Flip {
        /// How many different bits, 1 to 144.
        bits: u16,
        /// Where.
        region: Region,
    },
    /// It arrives without its end.
    Truncate {
        /// Where the cut is.
        region: Region,
    },
    /// It arrives twice.
    Duplicate,
    /// It arrives after a later frame of its stream.
    Reorder,
    /// It and everything behind it arrive later, in order.
    Delay {
        /// By how much, 1 µs to 100 ms.
        by: Duration,
    },
    /// The receiving MAC finds the FCS wrong, discards the frame and counts it.
    Fcs,
}

/// A fault that acts on a number of frames, each frame hit by one fault only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameFault {
    /// In which directions.
    pub line: Line,
    /// What happens to a frame.
    pub action: Action,
    /// To how many frames (of each direction), 1 to 1 000 000.
    pub count: u32,
    /// It happens to probes instead of test frames.
    pub probe: bool,
    /// When it begins, after the first frame of its kind; none spreads it over the traffic.
    pub at: Option<Duration>,
}

/// One thing that an emulated cable does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Something happens to a number of frames.
    Frames(FrameFault),
    /// Somebody else's frames arrive.
    Foreign {
        /// In which directions they travel.
        line: Line,
        /// How many, 1 to 1 000 000.
        count: u32,
        /// When, after the first test frame; none spreads them.
        at: Option<Duration>,
    },
    /// Both ends lose their carrier for a while.
    Flap {
        /// How often, 1 to 1 000 000.
        count: u32,
        /// For how long each time, 1 ms to 60 s.
        length: Duration,
        /// When the first is, after the first test frame; none spreads them.
        at: Option<Duration>,
    },
    /// A direction carries nothing.
    Dead {
        /// Which.
        line: Line,
        /// From when, after the first test frame; none is from the beginning.
        at: Option<Duration>,
    },
    /// One end is not plugged in: its port has no carrier.
    Open {
        /// That port.
        port: Side,
        /// From when, after the first test frame; none is from the beginning.
        at: Option<Duration>,
    },
    /// A bridge is in the path: it keeps its own addresses to itself and the link at its other side up.
    Switch,
    /// A port is plugged into a live network; none is both.
    Network {
        /// Which port.
        port: Option<Side>,
    },
}

/// All that an emulated cable does wrong; nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script(Vec<Fault>);

impl Script {
    /// A script of `faults`.
    #[must_use]
    pub fn new(faults: Vec<Fault>) -> Self {
        Self(faults)
    }

    /// Reads one fault from each of `texts`.
    ///
    /// # Errors
    /// The first text that is no fault: see [`FaultError`].
    pub fn parse<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Self, FaultError> {
        texts.into_iter().map(|text| text.as_ref().parse()).collect::<Result<_, _>>().map(Self)
    }

    /// Its faults, as given.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.0
    }
}

/// Why a text is no fault: one line with the word, its value, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// There is no word in it.
    #[error("fault: empty text: expected one such as \"a>b drop 17\"")]
    Empty,
    /// A word that does not belong there.
    #[error("fault: {word:?} does not fit after {after:?}: expected {want}")]
    Word {
        /// The word before it; empty at the beginning.
        after: String,
        /// The word itself.
        word: String,
        /// What would be right.
        want: &'static str,
    },
    /// The text ends where something must follow.
    #[error("fault: nothing follows {after:?}: expected {want}")]
    Missing {
        /// The last word.
        after: String,
        /// What would be right.
        want: &'static str,
    },
    /// A value that is none, or out of range.
    #[error("fault: {word:?} cannot be {value:?}: expected {want}")]
    Value {
        /// What the value is for.
        word: String,
        /// The value as given.
        value: String,
        /// What would be right.
        want: &'static str,
    },
    /// An option that was already given.
    #[error("fault: {word:?} is given twice: expected it once")]
    Twice {
        /// The option.
        word: String,
    },
    /// An option that this fault needs.
    #[error("fault: {fault:?} is without {word:?}: expected {want}")]
    Needs {
        /// The fault's name.
        fault: &'static str,
        /// The option's name.
        word: &'static str,
        /// What would be right.
        want: &'static str,
    },
}

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        parse::fault(text)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::One(Direction::AToB) => "a>b",
            Self::One(Direction::BToA) => "b>a",
            Self::Both => "both",
        })
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Payload => "payload",
            Self::Header => "header",
            Self::Any => "any",
        })
    }
}

impl Action {
    /// Its word in a script.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Flip { .. } => "flip",
            Self::Truncate { .. } => "truncate",
            Self::Duplicate => "duplicate",
            Self::Reorder => "reorder",
            Self::Delay { .. } => "delay",
            Self::Fcs => "fcs",
        }
    }
}

impl fmt::Display for FrameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.line, self.action.name(), self.count)?;
        match self.action {
            Action::Flip { bits, region } => write!(f, "{}{}", Bits(bits), In(region))?,
            Action::Truncate { region } => write!(f, "{}", In(region))?,
            Action::Delay { by } => write!(f, " by {}", Time(by))?,
            Action::Drop | Action::Duplicate | Action::Reorder | Action::Fcs => (),
        }
        write!(f, "{}{}", if self.probe { " probe" } else { "" }, At(self.at))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Frames(fault) => write!(f, "{fault}"),
            Self::Foreign { line, count, at } => write!(f, "{line} foreign {count}{}", At(at)),
            Self::Flap { count, length, at } => write!(f, "flap {count} for {}{}", Time(length), At(at)),
            Self::Dead { line, at } => write!(f, "{line} dead{}", At(at)),
            Self::Open { port, at } => write!(f, "{} open{}", port_name(port), At(at)),
            Self::Switch => f.write_str("switch"),
            Self::Network { port: Some(port) } => write!(f, "{} network", port_name(port)),
            Self::Network { port: None } => f.write_str("network"),
        }
    }
}

/// One fault a line.
impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|fault| writeln!(f, "{fault}"))
    }
}

fn port_name(port: Side) -> &'static str {
    match port {
        Side::A => "a",
        Side::B => "b",
    }
}

/// " bits 3", or nothing for the default.
struct Bits(u16);

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 1 { Ok(()) } else { write!(f, " bits {}", self.0) }
    }
}

/// " region header", or nothing for the default.
struct In(Region);

impl fmt::Display for In {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == Region::default() { Ok(()) } else { write!(f, " region {}", self.0) }
    }
}

/// " at 7s", or nothing.
struct At(Option<Duration>);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |at| write!(f, " at {}", Time(at)))
    }
}

/// A time in the largest unit that keeps it whole.
pub(super) struct Time(pub Duration);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let (unit, name) = parse::UNITS
            .into_iter()
            .find(|&(unit, _)| nanos.is_multiple_of(u128::from(unit)))
            .unwrap_or((1, "ns"));
        write!(f, "{}{name}", nanos / u128::from(unit))
    }
}
