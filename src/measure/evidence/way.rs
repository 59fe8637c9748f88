//! One direction of a run: what its worker published, and what of it is missing for good.

use super::Limits;
use crate::gauge::Gauge;
use crate::tally::Tally;
use crate::units::{BitRate, Direction, Instant, MAX_STREAMS};
use crate::verdict::Reason;
use core::time::Duration;

/// A frame that has not arrived after so long while frames flow is missing, whatever comes after it.
const OVERDUE: Duration = Duration::from_millis(250);

/// One direction's tally and rates.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) tally: Tally,
    pub(super) gauge: Gauge,
    /// Damaged frames that no test socket took, but the listening socket heard.
    pub(super) damaged: u64,
    due: Due,
    gap: Gap,
    /// Frames lost so far, confirmed.
    pub(super) lost: u64,
    pub(super) stalled: Duration,
    left: Left,
    /// Socket drops from before the baseline: whatever those frames were, the run did not send them.
    drops_before: u64,
    /// When the worker last found that something had arrived.
    pub(super) arrived_at: Instant,
}

/// Frames missing at one reading. They are lost if counters that are younger do not explain them: a drop
/// may be counted a moment after the gap that it makes was seen.
#[derive(Clone, Copy, Debug, Default)]
struct Gap {
    frames: u64,
    seen_at: Instant,
}

/// What must have arrived by now, whether or not anything came after it: without it a stream that falls
/// silent would show no gap.
#[derive(Clone, Copy, Debug, Default)]
struct Due {
    /// Frames of each stream that are due.
    frames: [u64; MAX_STREAMS],
    /// Frames of each stream that had been sent at `noted_at`, and will be due.
    sent: [u64; MAX_STREAMS],
    noted_at: Instant,
}

/// Frames that the sending MAC had sent long enough before the worker last looked for them.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    /// None where the MAC does not count.
    frames: Option<u64>,
    /// The reading that comes next, once the worker has looked.
    noted: Option<(Instant, u64)>,
}

/// A frame has crossed cable and kernel after so long: three buckets.
const CROSSING: Duration = Duration::from_millis(48);

impl Left {
    fn note(&mut self, on_the_wire: Option<u64>, now: Instant, looked_at: Instant) {
        if let Some((at, frames)) = self.noted
            && looked_at.since(at) >= CROSSING
        {
            self.frames = Some(frames);
            self.noted = None;
        }
        self.frames = on_the_wire.and(self.frames.or(Some(0)));
        self.noted = self.noted.or(on_the_wire.map(|frames| (now, frames)));
    }
}

impl Due {
    fn total(&self) -> u64 {
        self.frames.iter().copied().fold(0, u64::saturating_add)
    }

    /// The worker's own stamps count: while it stands still, nothing becomes overdue.
    fn note(&mut self, tally: &Tally) {
        if tally.received_at.since(self.noted_at) >= OVERDUE {
            self.frames = self.sent;
            self.sent = tally.streams.map(|stream| stream.sent);
            self.noted_at = tally.received_at;
        }
    }
}

impl Way {
    /// A direction with nothing seen yet.
    pub(super) fn new(tolerance_ppm: u64) -> Self {
        Self {
            tally: Tally::default(),
            gauge: Gauge::new(BitRate::default(), tolerance_ppm),
            damaged: 0,
            due: Due::default(),
            gap: Gap::default(),
            lost: 0,
            stalled: Duration::ZERO,
            left: Left::default(),
            drops_before: 0,
            arrived_at: Instant::ZERO,
        }
    }

    /// Traffic begins: what the sockets have dropped before is not the run's.
    pub(super) fn begin(&mut self) {
        self.drops_before = self.drops_before.saturating_add(self.tally.socket_drops);
        self.tally.socket_drops = 0;
    }

    /// What the worker published, without what was dropped before the baseline.
    pub(super) fn since_baseline(&self, tally: &Tally) -> Tally {
        Tally { socket_drops: tally.socket_drops.saturating_sub(self.drops_before), ..*tally }
    }

    /// Damaged frames so far, wherever they were heard.
    pub(super) fn corrupt(&self) -> u64 {
        self.tally.sum(|stream| stream.corrupt) + self.tally.unidentified + self.damaged
    }

    pub(super) fn longest_stall(&self) -> Duration {
        self.stalled.max(Duration::from_nanos(self.tally.longest_stall))
    }

    /// Takes over what was published; `on_the_wire` is what the sending MAC has sent by `now`, where it counts.
    pub(super) fn take(&mut self, tally: &Tally, on_the_wire: Option<u64>, now: Instant) {
        if tally.received != self.tally.received {
            self.arrived_at = tally.received_at;
        }
        self.tally = *tally;
        self.left.note(on_the_wire, now, tally.received_at);
        self.gauge.read(tally);
        self.due.note(tally);
    }

    /// Frames missing so far: passed over by a later one, or overdue.
    ///
    /// A frame that the sending MAC still has is neither.
    pub(super) fn missing(&self) -> u64 {
        let unsent = self.left.frames.map_or(0, |frames| self.due.total().saturating_sub(frames));
        self.gone().saturating_sub(unsent)
    }

    fn gone(&self) -> u64 {
        let streams = self.tally.streams.iter().zip(self.due.frames);
        let missing = streams.map(|(stream, due)| {
            stream.expected.max(due).saturating_sub(stream.good.saturating_add(stream.corrupt))
        });
        missing.fold(0, u64::saturating_add)
    }

    /// Calls lost what was missing a refresh of the counters ago, still is, and is neither among the `host`'s
    /// drops nor among the frames that came without saying which they are; none of it where nobody counts
    /// the host's drops.
    pub(super) fn confirm(&mut self, host: Option<u64>, now: Instant, refresh: Duration) {
        if now.since(self.gap.seen_at) < refresh {
            return;
        }
        let missing = self.missing();
        let nameless = [self.tally.unidentified, self.damaged, self.tally.sum(|stream| stream.misplaced)];
        let explained = nameless.into_iter().chain(host).fold(0, u64::saturating_add);
        if host.is_some() {
            self.lost = self.lost.max(self.gap.frames.min(missing).saturating_sub(explained));
        }
        self.gap = Gap { frames: missing, seen_at: now };
    }

    /// What the running figures say of this direction.
    pub(super) fn seen(&self, direction: Direction, limits: &Limits) -> heapless::Vec<Reason, 3> {
        let tally = &self.tally;
        let longest = self.longest_stall();
        let sent = tally.sum(|stream| stream.sent);
        let lost = Reason::Lost { direction, at_least: self.lost, at_most: self.lost, sent };
        let bit_errors = tally.sum(|stream| stream.bit_errors);
        let frames = self.corrupt();
        let corrupt = Reason::Corrupt { direction, frames, bit_errors }.behind_fcs(limits.mac_checks_fcs);
        let found = [
            (self.lost > 0).then_some(lost),
            (frames > 0).then_some(corrupt),
            (longest > limits.stall).then_some(Reason::Stalled { direction, time: longest }),
        ];
        found.into_iter().flatten().collect()
    }
}
