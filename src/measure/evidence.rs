//! Everything a run has shown so far, and what follows from it.

use crate::counter::{PortCounters, PortTotals};
use crate::gauge::Gauge;
use crate::ledger::{DirectionReport, HostEvidence, host_drops};
use crate::link::LinkReading;
use crate::record::Classes;
use crate::tally::Tally;
use crate::units::{BitRate, Direction, Instant, MAX_STREAMS, Side, nanos};
use crate::verdict::{Case, Judgement, Reason, judge, pass_rate};
use core::time::Duration;

/// What a run is judged against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// How far above line rate a reading may be, ppm.
    pub tolerance_ppm: u64,
    /// The MAC discards and counts frames with a wrong FCS (a property of the driver).
    pub mac_checks_fcs: bool,
    /// Checked bits a direction that an asked bound needs.
    pub needed_bits: Option<u64>,
    /// A worker that stands still for longer than this is reported.
    pub stall: Duration,
    /// How old a port's counters may be: one full refresh period of the driver.
    pub refresh: Duration,
}

/// Once sending is over and nothing has arrived for so long, nothing is on its way any more.
pub const QUIET: Duration = Duration::from_millis(200);

/// A frame that has not arrived after so long while frames flow is missing, whatever comes after it.
const OVERDUE: Duration = Duration::from_millis(250);

/// Most findings kept; the strongest of each kind is among them.
const FINDINGS: usize = 32;

/// Faster than any port this runs on, for counters of a link whose speed is not known.
const FASTEST: BitRate = BitRate::from_mbps(400_000);

/// Most findings of one kind.
const OF_A_KIND: usize = 6;

/// Most reasons that the counters and links of both ports can give.
const PORT_REASONS: usize = 10;

/// One port's counters from the baseline on.
#[derive(Clone, Debug, Default)]
struct Port {
    totals: PortTotals,
    baseline: PortCounters,
    /// Resets before the baseline: no matter of the run's.
    resets_before: u32,
    read_at: Option<Instant>,
    /// The last attempt to read the counters failed: what is here is old.
    stale: bool,
    changes: Option<u64>,
    changes_baseline: Option<u64>,
    speed: Option<BitRate>,
    went_down: bool,
}

/// One direction's tally and rates.
#[derive(Clone, Debug)]
struct Way {
    tally: Tally,
    gauge: Gauge,
    /// Damaged frames that no test socket took, but the listening socket heard.
    damaged: u64,
    due: Due,
    gap: Gap,
    /// Frames lost so far, confirmed.
    lost: u64,
    stalled: Duration,
    /// When the worker last found that something had arrived.
    arrived_at: Instant,
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

impl Due {
    /// The worker's own stamps count: while it stands still, nothing becomes overdue.
    fn note(&mut self, tally: &Tally) {
        if tally.received_at.since(self.noted_at) >= OVERDUE {
            self.frames = self.sent;
            self.sent = tally.streams.map(|stream| stream.sent);
            self.noted_at = tally.received_at;
        }
    }
}

/// What has been seen, from the settings on.
#[derive(Clone, Debug)]
pub struct Evidence {
    limits: Limits,
    basis: Option<BitRate>,
    /// The most that can pass: a counter that moves faster has jumped.
    fastest: Option<BitRate>,
    findings: heapless::Vec<Reason, FINDINGS>,
    told: heapless::Vec<Reason, FINDINGS>,
    settings_held: bool,
    ports: [Port; 2],
    ways: [Way; 2],
    /// When sending began, and when it ended.
    began_at: Option<Instant>,
    stopped_at: Option<Instant>,
}

impl Evidence {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let way = || Way {
            tally: Tally::default(),
            gauge: Gauge::new(BitRate::default(), limits.tolerance_ppm),
            damaged: 0,
            due: Due::default(),
            gap: Gap::default(),
            lost: 0,
            stalled: Duration::ZERO,
            arrived_at: Instant::ZERO,
        };
        Self {
            limits,
            basis: None,
            fastest: None,
            findings: heapless::Vec::new(),
            told: heapless::Vec::new(),
            settings_held: true,
            ports: [Port::default(), Port::default()],
            ways: [way(), way()],
            began_at: None,
            stopped_at: None,
        }
    }

    /// Adds a finding; true where it is news.
    pub fn find(&mut self, reason: Reason) -> bool {
        if matches!(reason, Reason::SettingNotHeld { .. }) {
            self.settings_held = false;
        }
        let kind = core::mem::discriminant(&reason);
        let same = self.findings.iter().filter(|known| core::mem::discriminant(*known) == kind).count();
        if same >= OF_A_KIND || self.findings.contains(&reason) {
            return false;
        }
        self.findings.push(reason).is_ok()
    }

    /// No setting that the run needs was refused.
    #[must_use]
    pub fn settings_held(&self) -> bool {
        self.settings_held
    }

    /// A damaged frame of ours was heard that no test socket took.
    pub fn damaged(&mut self, direction: Direction) {
        if let Some(way) = self.ways.get_mut(direction.index()) {
            way.damaged = way.damaged.saturating_add(1);
        }
    }

    fn started(&self) -> bool {
        self.began_at.is_some()
    }

    /// Traffic begins `now`: the one baseline. Rates are judged against the pace where there is one, else against
    /// the link's speed; where neither is known there is nothing to judge against.
    pub fn begin(&mut self, now: Instant, pace: Option<BitRate>, link: Option<BitRate>) {
        self.basis = pace.or(link);
        self.fastest = pace.max(link);
        let basis = self.basis;
        self.began_at = Some(now);
        for port in &mut self.ports {
            port.baseline = port.totals.totals();
            port.resets_before = port.totals.resets();
            port.changes_baseline = port.changes;
        }
        for way in &mut self.ways {
            way.damaged = 0;
            let line = basis.unwrap_or(BitRate::from_bits_per_second(u64::MAX));
            way.gauge = Gauge::new(line, self.limits.tolerance_ppm);
            way.gauge.read(&way.tally);
            // The first second begins here.
            let _ = way.gauge.second();
        }
    }

    /// A port's counters, as read at `at`.
    pub fn read_port(&mut self, side: Side, raw: &PortCounters, at: Instant) {
        let line = self.fastest.unwrap_or(FASTEST);
        let Some(port) = self.ports.get_mut(side.index()) else { return };
        let elapsed = port.read_at.map_or(Duration::ZERO, |last| at.since(last));
        port.read_at = Some(at);
        port.stale = false;
        let resets = port.totals.resets();
        port.totals.observe(raw, elapsed, line);
        if port.totals.resets() > resets && self.started() {
            self.find(Reason::CountersReset { port: side });
        }
    }

    /// A port's counters could not be read: until they can, nobody knows what the host drops there.
    pub fn miss_port(&mut self, side: Side) {
        if let Some(port) = self.ports.get_mut(side.index()) {
            port.stale = true;
        }
    }

    /// Local and remote faults of a port since it was first read; none where they are not counted.
    #[must_use]
    pub fn link_faults(&self, side: Side) -> Option<u64> {
        self.ports[side.index()].totals.totals().link_faults
    }

    /// A port's link. Another speed says that the link was away, even where nobody saw it go.
    pub fn read_link(&mut self, side: Side, link: &LinkReading) {
        let started = self.started();
        let Some(port) = self.ports.get_mut(side.index()) else { return };
        port.changes = link.changes.or(port.changes);
        let other_speed = port.speed.zip(link.speed).is_some_and(|(then, now)| then != now);
        port.speed = link.speed.or(port.speed);
        port.went_down |= started && (link.carrier == Some(false) || other_speed);
    }

    /// What the worker of `direction` published, read at `now`.
    pub fn read_tally(&mut self, direction: Direction, tally: &Tally, now: Instant) {
        let trouble = self.link_trouble(direction.to()) > 0;
        // Where nobody counts what the host drops, only the link can say that it was the cable.
        let host = self.host_drops(direction, tally).or(trouble.then_some(0));
        let sending = self.started() && self.stopped_at.is_none();
        let refresh = self.limits.refresh;
        let Some(way) = self.ways.get_mut(direction.index()) else { return };
        way.take(tally);
        way.confirm(host, now, refresh);
        if sending {
            way.stalled = way.stalled.max(now.since(tally.alive_at));
        }
    }

    /// The settle is over.
    pub fn settled(&mut self) {
        for way in &mut self.ways {
            way.gauge.settled();
        }
    }

    /// Sending ends.
    pub fn stop(&mut self, now: Instant) {
        self.stopped_at = Some(now);
        for way in &mut self.ways {
            way.gauge.stop();
        }
    }

    /// Sending is over, and both workers have looked for [`QUIET`] without finding anything new.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let Some(stopped_at) = self.stopped_at else { return false };
        self.ways.iter().all(|way| way.tally.received_at.since(way.arrived_at.max(stopped_at)) >= QUIET)
    }

    /// The worker of `direction` has looked for what was on its way when sending ended. Where it has not,
    /// nobody knows whether what is missing has arrived.
    #[must_use]
    pub fn has_drained(&self, direction: Direction) -> bool {
        let looked_at = self.ways[direction.index()].tally.received_at;
        self.stopped_at.is_some_and(|at| looked_at.since(at) >= QUIET)
    }

    /// Frames dropped by the host in `direction` since the baseline; none where a counter is missing or old.
    fn host_drops(&self, direction: Direction, tally: &Tally) -> Option<u64> {
        if self.ports.iter().any(|port| port.stale) {
            return None;
        }
        host_drops(tally, &self.since_baseline(direction.from()), &self.since_baseline(direction.to()))
    }

    /// A port's counters since the baseline.
    #[must_use]
    pub fn since_baseline(&self, side: Side) -> PortCounters {
        let port = &self.ports[side.index()];
        port.totals.totals().since(&port.baseline)
    }

    /// Carrier changes of a port since the baseline.
    #[must_use]
    pub fn carrier_changes(&self, side: Side) -> u64 {
        let port = &self.ports[side.index()];
        let counted =
            port.changes.zip(port.changes_baseline).map_or(0, |(now, then)| now.saturating_sub(then));
        counted.max(u64::from(port.went_down))
    }

    /// Evidence that the cable's link layer saw trouble at a port.
    fn link_trouble(&self, side: Side) -> u64 {
        let counters = self.since_baseline(side);
        [counters.crc_errors, counters.symbol_errors, counters.link_faults]
            .into_iter()
            .flatten()
            .fold(self.carrier_changes(side), u64::saturating_add)
    }

    /// Errors so far, by class.
    #[must_use]
    pub fn classes(&self) -> Classes {
        if !self.started() {
            return Classes::default();
        }
        let mut classes = Classes { internal: self.box_troubles(), ..Classes::default() };
        for direction in Direction::BOTH {
            let way = &self.ways[direction.index()];
            classes.lost += way.lost;
            classes.corrupt += way.corrupt();
            let host = self.host_drops(direction, &way.tally).unwrap_or(way.tally.socket_drops);
            // A host may drop what is not ours: only what is missing counts.
            classes.internal += host.min(way.missing());
        }
        classes.link =
            Side::BOTH.map(|side| self.link_trouble(side)).into_iter().fold(0, u64::saturating_add);
        classes
    }

    /// Counter resets and workers that stood still for too long.
    fn box_troubles(&self) -> u64 {
        let resets = self.ports.iter().map(|port| port.totals.resets().saturating_sub(port.resets_before));
        let stalls = self.ways.iter().map(|way| u64::from(way.longest_stall() > self.limits.stall));
        resets.map(u64::from).chain(stalls).fold(0, u64::saturating_add)
    }

    /// Errors by class as the finished account has them.
    #[must_use]
    pub fn final_classes(&self) -> Classes {
        let mut classes = self.classes();
        let reports = self.reports();
        classes.lost = reports.iter().fold(0, |sum, report| sum.saturating_add(report.lost.at_least));
        classes.corrupt = reports.iter().fold(0, |sum, report| sum.saturating_add(report.corrupt));
        classes.internal =
            reports.iter().fold(self.box_troubles(), |sum, report| sum.saturating_add(report.host));
        classes
    }

    /// How long the worker of `direction` has given no sign of life.
    #[must_use]
    pub fn silent(&self, direction: Direction, now: Instant) -> Duration {
        let alive_at = self.ways[direction.index()].tally.alive_at;
        now.since(self.began_at.map_or(alive_at, |began| began.max(alive_at)))
    }

    /// There is evidence against the cable: FAIL is latched on the display.
    #[must_use]
    pub fn failed(&self) -> bool {
        let Classes { lost, corrupt, link, .. } = self.classes();
        lost > 0 || link > 0 || corrupt > 0 && !self.limits.mac_checks_fcs
    }

    /// A reason of a kind and place that has not been told yet: for the log, as it is seen.
    pub fn news(&mut self) -> Option<Reason> {
        let news =
            self.seen().into_iter().find(|seen| !self.told.iter().any(|told| same_kind(told, seen)))?;
        // Full: the reader has been told of 32 kinds of trouble already.
        self.told.push(news).ok()?;
        Some(news)
    }

    /// What the running figures say.
    fn seen(&self) -> heapless::Vec<Reason, FINDINGS> {
        let mut seen = heapless::Vec::new();
        if !self.started() {
            return seen;
        }
        for direction in Direction::BOTH {
            let way = &self.ways[direction.index()];
            seen.extend(way.seen(direction, &self.limits));
        }
        let _ = seen.extend_from_slice(&self.port_reasons());
        seen
    }

    /// What the ports' counters say.
    fn port_reasons(&self) -> heapless::Vec<Reason, PORT_REASONS> {
        let mut reasons = heapless::Vec::new();
        for port in Side::BOTH {
            let counters = self.since_baseline(port);
            let changes = self.carrier_changes(port);
            let of = |count: Option<u64>| count.filter(|&count| count > 0);
            let found = [
                of(Some(changes)).map(|changes| Reason::LinkDown { port, changes }),
                of(counters.crc_errors).map(|frames| Reason::CrcErrors { port, frames }),
                of(counters.symbol_errors).map(|errors| Reason::SymbolErrors { port, errors }),
                of(counters.link_faults).map(|faults| Reason::LinkFaults { port, faults }),
                of(counters.pause_frames).map(|frames| Reason::PauseFrames { port, frames }),
            ];
            reasons.extend(found.into_iter().flatten());
        }
        reasons
    }

    /// Received rates to show.
    #[must_use]
    pub fn rates(&self) -> [Option<BitRate>; 2] {
        self.ways.each_ref().map(|way| way.gauge.shown())
    }

    /// Received rates since this was last asked.
    pub fn second_rates(&mut self) -> [Option<BitRate>; 2] {
        self.ways.each_mut().map(|way| way.gauge.second())
    }

    /// Highest bucket shown and buckets above line rate, by direction.
    #[must_use]
    pub fn readings(&self) -> [(Option<BitRate>, u64); 2] {
        self.ways.each_ref().map(|way| (way.gauge.highest(), way.gauge.outlived()))
    }

    /// Errors of the sockets of each direction other than lack of room, and the last one's errno.
    #[must_use]
    pub fn socket_errors(&self) -> [(u64, u64); 2] {
        self.ways.each_ref().map(|way| (way.tally.socket_errors, way.tally.last_errno))
    }

    /// Payload bits received and compared, by direction.
    #[must_use]
    pub fn checked_bits(&self) -> [u64; 2] {
        self.ways.each_ref().map(|way| way.tally.sum(|stream| stream.checked_bits))
    }

    /// Rate that the run is judged against.
    #[must_use]
    pub fn basis(&self) -> Option<BitRate> {
        self.basis
    }

    /// The account of each direction.
    #[must_use]
    pub fn reports(&self) -> [DirectionReport; 2] {
        Direction::BOTH.map(|direction| {
            let way = &self.ways[direction.index()];
            let mut tally = way.tally;
            tally.unidentified = tally.unidentified.saturating_add(way.damaged);
            tally.received = tally.received.saturating_add(way.damaged);
            tally.longest_stall = nanos(way.longest_stall());
            let host = HostEvidence {
                drops: self.host_drops(direction, &tally).filter(|_| self.has_drained(direction)),
                cable_evidence: self.link_trouble(direction.to()) > 0,
            };
            DirectionReport::new(direction, &tally, host, way.gauge.steady())
        })
    }

    /// The verdict on all of it.
    #[must_use]
    pub fn judge(&self) -> Judgement {
        let reports = self.reports();
        let mut findings = heapless::Vec::<Reason, { FINDINGS + PORT_REASONS }>::new();
        findings.extend(self.findings.iter().copied());
        if self.started() {
            findings.extend(self.port_reasons());
        }
        let [forth, back] = &reports;
        judge(&Case {
            directions: [forth, back],
            findings: &findings,
            pass_rate: pass_rate(self.basis.unwrap_or(BitRate::from_bits_per_second(u64::MAX))),
            mac_checks_fcs: self.limits.mac_checks_fcs,
            needed_bits: self.limits.needed_bits,
            settings_held: self.settings_held,
            traffic_started: self.started(),
            offered: self.ways.each_ref().map(|way| way.gauge.offered()),
        })
    }
}

impl Way {
    /// Damaged frames so far, wherever they were heard.
    fn corrupt(&self) -> u64 {
        self.tally.sum(|stream| stream.corrupt) + self.tally.unidentified + self.damaged
    }

    fn longest_stall(&self) -> Duration {
        self.stalled.max(Duration::from_nanos(self.tally.longest_stall))
    }

    fn take(&mut self, tally: &Tally) {
        if tally.received != self.tally.received {
            self.arrived_at = tally.received_at;
        }
        self.tally = *tally;
        self.gauge.read(tally);
        self.due.note(tally);
    }

    /// Frames missing so far: passed over by a later one, or overdue.
    fn missing(&self) -> u64 {
        let streams = self.tally.streams.iter().zip(self.due.frames);
        let missing = streams.map(|(stream, due)| {
            stream.expected.max(due).saturating_sub(stream.good.saturating_add(stream.corrupt))
        });
        missing.fold(0, u64::saturating_add)
    }

    /// Calls lost what was missing a refresh of the counters ago, still is, and is neither among the `host`'s
    /// drops nor among the frames that came without saying which they are; none of it where nobody counts
    /// the host's drops.
    fn confirm(&mut self, host: Option<u64>, now: Instant, refresh: Duration) {
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
    fn seen(&self, direction: Direction, limits: &Limits) -> heapless::Vec<Reason, 3> {
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

/// Same kind of reason, in the same direction or at the same port.
fn same_kind(one: &Reason, other: &Reason) -> bool {
    one.order() == other.order() && one.direction() == other.direction() && one.port() == other.port()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::StreamTally;
    use crate::verdict::Verdict;

    const FORTH: Direction = Direction::AToB;
    const TICK: Duration = Duration::from_millis(16);
    const LINE: BitRate = BitRate::from_mbps(10_000);

    fn limits() -> Limits {
        Limits {
            tolerance_ppm: 100,
            mac_checks_fcs: false,
            needed_bits: None,
            stall: Duration::from_millis(512),
            refresh: Duration::ZERO,
        }
    }

    /// A run that a test leads by the hand.
    struct Lead {
        evidence: Evidence,
        now: Instant,
        counters: PortCounters,
        /// What A→B's worker publishes; B→A carries nothing.
        tally: Tally,
    }

    impl Lead {
        fn with(limits: Limits) -> Self {
            let counters =
                PortCounters { tx_dropped: Some(7), rx_dropped: Some(9), ..PortCounters::default() };
            let (evidence, now) = (Evidence::new(limits), Instant::from_millis(10_000));
            let mut lead = Self { evidence, now, counters, tally: Tally::default() };
            lead.tick();
            lead.evidence.begin(lead.now, None, Some(LINE));
            lead
        }

        /// One sampling period with workers that are alive.
        fn tick(&mut self) {
            self.now = self.now + TICK;
            (self.tally.received_at, self.tally.alive_at) = (self.now, self.now);
            self.read();
        }

        fn read(&mut self) {
            for side in Side::BOTH {
                self.evidence.read_port(side, &self.counters, self.now);
            }
            self.evidence.read_tally(FORTH, &self.tally, self.now);
            let idle = Tally { received_at: self.now, alive_at: self.now, ..Tally::default() };
            self.evidence.read_tally(FORTH.reverse(), &idle, self.now);
        }

        /// Of `sent` frames, `good` have arrived, and the last of them was the last one sent.
        fn arrived(&mut self, sent: u64, good: u64) {
            self.tally.streams[0] = StreamTally { sent, good, expected: sent, ..StreamTally::default() };
            self.tally.received = good;
        }

        fn drain(&mut self) {
            self.evidence.stop(self.now);
            for _ in 0..=QUIET.as_millis() / TICK.as_millis() {
                self.tick();
            }
        }

        fn lost(&self) -> u64 {
            self.evidence.classes().lost
        }
    }

    #[test]
    fn a_gap_is_lost_when_it_is_seen_twice() {
        let mut lead = Lead::with(limits());
        lead.arrived(100, 97);
        lead.tick();
        assert_eq!((lead.lost(), lead.evidence.failed()), (0, false));
        lead.tick();
        assert_eq!((lead.lost(), lead.evidence.failed()), (3, true));
    }

    #[test]
    fn a_drop_that_is_counted_after_its_gap_was_seen_is_the_hosts() {
        let mut lead = Lead::with(limits());
        // Each time the counter is one reading behind.
        for tick in 1..50 {
            lead.arrived(100 * tick, 97 * tick);
            lead.tally.socket_drops = 3 * (tick - 1);
            lead.tick();
        }
        assert_eq!((lead.lost(), lead.evidence.failed()), (0, false));
    }

    #[test]
    fn a_gap_waits_for_counters_that_are_younger() {
        let mut lead = Lead::with(Limits { refresh: Duration::from_secs(2), ..limits() });
        lead.arrived(100, 97);
        let seen = lead.now;
        while !lead.evidence.failed() {
            lead.tick();
        }
        assert!(lead.now.since(seen) >= Duration::from_secs(2));
        assert_eq!(lead.lost(), 3);
    }

    #[test]
    fn a_late_frame_is_no_loss() {
        let mut lead = Lead::with(limits());
        lead.arrived(100, 97);
        lead.tick();
        lead.arrived(100, 100);
        lead.tick();
        lead.tick();
        assert_eq!(lead.lost(), 0);
    }

    #[test]
    fn a_stream_that_falls_silent_is_missed_before_the_end() {
        let mut lead = Lead::with(limits());
        lead.tally.streams[1] = StreamTally { sent: 40, ..StreamTally::default() };
        let since = lead.now;
        while !lead.evidence.failed() {
            assert!(lead.now.since(since) < Duration::from_millis(600));
            lead.tick();
        }
        assert_eq!(lead.lost(), 40);
    }

    #[test]
    fn while_a_worker_stands_still_nothing_is_overdue() {
        let mut lead = Lead::with(limits());
        lead.tally.streams[1] = StreamTally { sent: 40, ..StreamTally::default() };
        lead.tick();
        for _ in 0..100 {
            lead.now = lead.now + TICK;
            lead.read();
        }
        assert_eq!(lead.lost(), 0);
        let stalled = lead.evidence.news();
        assert!(matches!(stalled, Some(Reason::Stalled { direction: FORTH, .. })), "{stalled:?}");
    }

    #[test]
    fn what_stood_in_the_counters_before_the_baseline_is_no_matter_of_the_runs() {
        let mut lead = Lead::with(limits());
        lead.arrived(100, 97);
        lead.tick();
        lead.tick();
        assert_eq!(lead.lost(), 3, "9 drops before the first frame explain none of them");
        assert_eq!(lead.evidence.since_baseline(Side::B).rx_dropped, Some(0));
    }

    #[test]
    fn counters_that_cannot_be_read_leave_the_missing_unexplained() {
        let mut lead = Lead::with(limits());
        lead.arrived(100, 97);
        lead.drain();
        let [read, _] = lead.evidence.reports();
        assert_eq!((read.lost.at_least, read.unknown), (3, 0));
        lead.evidence.miss_port(Side::B);
        let [unread, _] = lead.evidence.reports();
        assert_eq!((unread.lost.at_most, unread.unknown), (0, 3));
    }

    #[test]
    fn a_worker_that_has_not_drained_leaves_the_missing_unexplained() {
        let mut lead = Lead::with(limits());
        lead.arrived(100, 97);
        lead.tick();
        lead.evidence.stop(lead.now);
        assert!(!lead.evidence.has_drained(FORTH));
        assert_eq!(lead.evidence.reports()[0].unknown, 3);
        lead.drain();
        assert!(lead.evidence.has_drained(FORTH));
        assert_eq!(lead.evidence.reports()[0].unknown, 0);
    }

    #[test]
    fn quiet_is_what_the_workers_found_and_not_what_the_sampler_saw() {
        let mut lead = Lead::with(limits());
        lead.evidence.stop(lead.now);
        for _ in 0..100 {
            // A worker that stands still publishes nothing new, which is not the same as silence.
            lead.now = lead.now + TICK;
            lead.read();
        }
        assert!(!lead.evidence.is_quiet());
        lead.drain();
        assert!(lead.evidence.is_quiet());
        lead.tally.received += 1;
        lead.tick();
        assert!(!lead.evidence.is_quiet(), "something came");
    }

    #[test]
    fn damage_behind_a_checked_fcs_is_not_latched() {
        for (mac_checks_fcs, failed) in [(false, true), (true, false)] {
            let mut lead = Lead::with(Limits { mac_checks_fcs, ..limits() });
            lead.tally.unidentified = 2;
            lead.tick();
            assert_eq!((lead.evidence.classes().corrupt, lead.evidence.failed()), (2, failed));
        }
    }

    #[test]
    fn another_speed_or_a_lost_carrier_is_a_link_that_was_away() {
        let up = LinkReading { carrier: Some(true), speed: Some(LINE), ..LinkReading::default() };
        let slower = LinkReading { speed: Some(BitRate::from_mbps(1_000)), ..up };
        let down = LinkReading { carrier: Some(false), speed: None, ..up };
        for (between, changes) in [(up, 0), (slower, 1), (down, 1)] {
            let mut lead = Lead::with(limits());
            for reading in [up, between, up] {
                lead.evidence.read_link(Side::A, &reading);
            }
            assert_eq!(lead.evidence.carrier_changes(Side::A), changes, "{between:?}");
        }
    }

    #[test]
    fn carrier_changes_count_from_the_baseline_to_the_end_of_the_drain() {
        let counted = |changes| LinkReading { changes: Some(changes), ..LinkReading::default() };
        let mut evidence = Evidence::new(limits());
        evidence.read_link(Side::B, &counted(40));
        evidence.begin(Instant::ZERO, None, Some(LINE));
        evidence.read_link(Side::B, &counted(40));
        assert_eq!(evidence.carrier_changes(Side::B), 0);
        evidence.stop(Instant::ZERO);
        evidence.read_link(Side::B, &counted(42));
        assert_eq!(evidence.carrier_changes(Side::B), 2);
    }

    #[test]
    fn each_port_and_direction_is_told_once() {
        let mut lead = Lead::with(limits());
        lead.counters.crc_errors = Some(0);
        lead.tick();
        lead.evidence.begin(lead.now, None, Some(LINE));
        for errors in [1, 2] {
            lead.counters.crc_errors = Some(errors);
            lead.tick();
            let told: std::vec::Vec<_> = core::iter::from_fn(|| lead.evidence.news()).collect();
            let news = Side::BOTH.map(|port| Reason::CrcErrors { port, frames: 1 });
            assert_eq!(told, if errors == 1 { news.to_vec() } else { std::vec![] });
        }
    }

    #[test]
    fn six_of_a_kind_are_kept_and_another_kind_still_fits() {
        let mut evidence = Evidence::new(limits());
        let gauge = |nonce| Reason::AnotherGauge { on: Side::A, nonce };
        assert!((0..6).all(|nonce| evidence.find(gauge(nonce))));
        assert!(!evidence.find(gauge(6)));
        assert!(!evidence.find(gauge(0)), "no news");
        assert!(evidence.find(Reason::StoppedEarly));
    }

    #[test]
    fn a_run_without_traffic_has_no_errors_and_is_never_a_pass() {
        let evidence = Evidence::new(limits());
        assert_eq!(evidence.classes(), Classes::default());
        assert_eq!(evidence.judge().verdict, Verdict::Invalid);
    }
}
