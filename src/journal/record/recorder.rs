//! From the events of a box's life to frames.

use super::Record;
use super::body::{BoxName, Dropped, Fault, Hello, Link, Origin, Passage, Second, Seen, Start, Summary};
use super::codes::Coded;
use super::frame::{Frame, seal};
use super::reason::CodedReason;
use super::summary::{Gathered, hold};
use core::time::Duration;
use measure::record::{Classes, Event, Stamped, Text};
use measure::units::{BitRate, Instant, Side};

/// Bits of a second's rate in kb/s: 5 octets on the wire, 34 Tb/s.
const KILOBITS: u32 = 35;

/// Bits of lost and of corrupt frames: 7 octets.
const FRAMES: u32 = 49;

/// Bits of link and internal errors, and of the milliseconds of the clock, which is 139 years: 6 octets.
const REST: u32 = 42;

/// Bits of the seconds left, which is 8 years: 4 octets.
const LEFT: u32 = 28;

/// Makes the records of a box: it is given every event once, in order, and gives a frame where the event makes
/// one. Events that a slow reader cost are simply not given: the mailbox counts them, and its count makes a
/// record.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    box_id: BoxName,
    origin: Origin,
    /// UTC at the origin of the monotonic clock, in milliseconds since 1970.
    epoch_ms: Option<u64>,
    sequence: u8,
    start: Option<Start>,
    gathered: Gathered,
    /// The run's summary was made. The log may tell it again, on request; there is one record of it.
    is_summarised: bool,
}

impl Recorder {
    /// Records of the box `box_id`, built from `commit`, neither longer than the wire has room for (20 and 16
    /// octets; what is longer is cut).
    #[must_use]
    pub fn new(box_id: &str, commit: Option<&str>) -> Self {
        let origin = Origin { commit: commit.map(cut), ..Origin::default() };
        Self { box_id: cut(box_id), origin, ..Self::default() }
    }

    /// The clock chip is set: at the monotonic moment `at` it was `unix` since 1970-01-01 UTC. To be told again
    /// whenever either clock is set anew; a moment that cannot have been leaves wall time unknown.
    pub fn set_wall_clock(&mut self, at: Instant, unix: Duration) {
        self.epoch_ms = u64::try_from(unix.as_millis()).ok().and_then(|unix| unix.checked_sub(millis(at)));
    }

    /// The frame that `stamped` makes, where it makes one.
    pub fn take(&mut self, stamped: &Stamped) -> Option<Frame> {
        let at_ms = millis(stamped.at);
        self.learn(stamped.at, &stamped.event);
        if stamped.event == Event::End {
            return self.summarise(at_ms);
        }
        let frame = seal(self.sequence, &self.record(at_ms, &stamped.event)?)?;
        self.sequence = self.sequence.wrapping_add(1);
        Some(frame)
    }

    /// Takes in what later records repeat.
    fn learn(&mut self, at: Instant, event: &Event) {
        match event {
            Event::Boot { version, board } => self.originate(version, board),
            Event::Box { id, commit } => {
                (self.box_id, self.origin.commit) = (cut(id), commit.map(cut));
            }
            Event::WallClock { unix } => self.set_wall_clock(at, *unix),
            Event::Start { run, version, board, label, cable, nonce } => {
                self.originate(version, board);
                self.start = Some(Start { run: *run, label: cut(label), cable: cut(cable), nonce: *nonce });
                self.gathered = Gathered::default();
                self.is_summarised = false;
            }
            event => self.gathered.note(event),
        }
    }

    fn originate(&mut self, version: &str, board: &Text) {
        self.origin.version = cut(version);
        self.origin.board = cut(board);
    }

    fn record(&self, at_ms: u64, event: &Event) -> Option<Record> {
        let run = self.start.as_ref().map_or(0, |start| start.run);
        Some(match event {
            // Before that is known, whose record it is would have to be guessed.
            Event::Boot { .. } if self.box_id.is_empty() => return None,
            Event::Boot { .. } | Event::Box { .. } => Record::Hello(self.hello(at_ms, None)),
            Event::Start { .. } => Record::Hello(self.hello(at_ms, self.start.clone())),
            Event::Rate { rates, errors, left } => Record::Second(second(at_ms, run, rates, errors, *left)),
            Event::Phase(phase) => Record::Passage(Passage { at_ms, run, phase: phase.code() }),
            Event::Evidence(reason) => Record::Seen(Seen { at_ms, run, reason: CodedReason::of(reason) }),
            Event::Link { port, up, speed } => Record::Link(link(at_ms, run, *port, *up, *speed)),
            Event::Fault(why) => Record::Fault(Fault { at_ms, why: cut(why) }),
            Event::LogDropped { lines } => Record::Dropped(Dropped { at_ms, events: *lines }),
            _ => return None,
        })
    }

    fn hello(&self, at_ms: u64, start: Option<Start>) -> Hello {
        let (box_id, origin) = (self.box_id.clone(), self.origin.clone());
        Hello { at_ms, unix_ms: self.unix_ms(at_ms), box_id, origin, start }
    }

    fn unix_ms(&self, at_ms: u64) -> Option<u64> {
        Some(self.epoch_ms?.saturating_add(at_ms))
    }

    fn summarise(&mut self, at_ms: u64) -> Option<Frame> {
        let gathered = std::mem::take(&mut self.gathered);
        if std::mem::replace(&mut self.is_summarised, true) {
            return None;
        }
        let start = self.start.as_ref()?;
        let frame = gathered.seal(self.sequence, |summary| {
            *summary = Summary {
                at_ms,
                unix_ms: self.unix_ms(at_ms),
                box_id: self.box_id.clone(),
                origin: Some(self.origin.clone()),
                run: start.run,
                label: start.label.clone(),
                ..summary.clone()
            };
        })?;
        self.sequence = self.sequence.wrapping_add(1);
        Some(frame)
    }
}

fn second(
    at_ms: u64,
    run: u32,
    rates: &[Option<BitRate>; 2],
    errors: &Classes,
    left: Option<Duration>,
) -> Second {
    let kbps = |rate: BitRate| hold(rate.bits_per_second().saturating_add(500) / 1000, KILOBITS);
    let whole = |left: Duration| u64::try_from(left.as_millis().div_ceil(1000)).unwrap_or(u64::MAX);
    let seconds = |left| u32::try_from(hold(whole(left), LEFT)).unwrap_or(u32::MAX);
    Second {
        at_ms,
        run,
        rates_kbps: rates.map(|rate| rate.map(kbps)),
        lost: hold(errors.lost, FRAMES),
        corrupt: hold(errors.corrupt, FRAMES),
        link: hold(errors.link, REST),
        internal: hold(errors.internal, REST),
        left_s: left.map(seconds),
    }
}

fn link(at_ms: u64, run: u32, port: Side, up: Option<bool>, speed: Option<BitRate>) -> Link {
    Link { at_ms, run, port: port.code(), up, speed_bps: speed.map(BitRate::bits_per_second) }
}

fn millis(at: Instant) -> u64 {
    hold(at.as_nanos() / 1_000_000, REST)
}

/// As much of a text as there is room for.
fn cut<const N: usize>(text: &str) -> heapless::String<N> {
    let fits = text.get(..text.floor_char_boundary(N)).unwrap_or_default();
    heapless::String::try_from(fits).unwrap_or_default()
}
