//! Everything a run has shown so far, and what follows from it.

mod way;

use crate::counter::{PortCounters, PortTotals};
use crate::gauge::Gauge;
use crate::ledger::{DirectionReport, HostEvidence, host_drops, unread, unsent};
use crate::link::LinkReading;
use crate::record::Classes;
use crate::tally::Tally;
use crate::units::{BitRate, Direction, Instant, Side, nanos};
use crate::verdict::{Case, Judgement, Reason, judge, pass_rate};
use core::time::Duration;
use way::Way;

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
        Self {
            limits,
            basis: None,
            fastest: None,
            findings: heapless::Vec::new(),
            told: heapless::Vec::new(),
            settings_held: true,
            ports: [Port::default(), Port::default()],
            ways: [Way::new(limits.tolerance_ppm), Way::new(limits.tolerance_ppm)],
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

    /// A finding of this kind is there.
    #[must_use]
    pub fn has_found(&self, is_it: impl Fn(&Reason) -> bool) -> bool {
        self.findings.iter().any(is_it)
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

    /// Traffic has begun.
    #[must_use]
    pub fn started(&self) -> bool {
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
            way.begin();
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
        let tally = &self.ways[direction.index()].since_baseline(tally);
        let trouble = self.link_trouble(direction.to()) > 0;
        // Where nobody counts what the host drops, only the link can say that it was the cable.
        let host = self.host_drops(direction, tally).or(trouble.then_some(0));
        let sending = self.started() && self.stopped_at.is_none();
        let refresh = self.limits.refresh;
        let on_the_wire = self.since_baseline(direction.from()).tx_frames;
        let Some(way) = self.ways.get_mut(direction.index()) else { return };
        way.take(tally, on_the_wire, now);
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

    /// Sending is over, every frame has left the host, and both workers have looked for [`QUIET`] without finding
    /// anything new.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let Some(stopped_at) = self.stopped_at else { return false };
        let still = |way: &Way| way.tally.received_at.since(way.arrived_at.max(stopped_at)) >= QUIET;
        self.has_sent_all() && self.ways.iter().all(still)
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

    /// Frames of `direction` that the MACs' own counts place in the host. While the sending end still has some,
    /// nothing that is missing can be told from what is on its way behind them.
    fn left_in_host(&self, direction: Direction, tally: &Tally) -> u64 {
        match unsent(tally, &self.since_baseline(direction.from())) {
            0 => unread(tally, &self.since_baseline(direction.to())),
            _ => u64::MAX,
        }
    }

    /// Every frame that was accepted for sending has left.
    fn has_sent_all(&self) -> bool {
        Direction::BOTH.into_iter().all(|direction| {
            let way = &self.ways[direction.index()];
            unsent(&way.tally, &self.since_baseline(direction.from())) == 0
        })
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
            classes.lost += way.lost.saturating_sub(self.discarded(direction));
            classes.corrupt += way.corrupt();
            let host = self.host_drops(direction, &way.tally).unwrap_or(way.tally.socket_drops);
            // A host may drop what is not ours: only what is missing counts.
            classes.internal += host.min(way.missing());
        }
        classes.link =
            Side::BOTH.map(|side| self.link_trouble(side)).into_iter().fold(0, u64::saturating_add);
        classes
    }

    /// Frames of `direction` that the receiving MAC discarded for their FCS: the link class has them, and each
    /// event counts in one class.
    fn discarded(&self, direction: Direction) -> u64 {
        self.since_baseline(direction.to()).crc_errors.unwrap_or(0)
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
        let lost =
            |report: &DirectionReport| report.lost.at_least.saturating_sub(self.discarded(report.direction));
        classes.lost = reports.iter().map(lost).fold(0, u64::saturating_add);
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
            let drops = self.host_drops(direction, &tally).filter(|_| self.has_drained(direction));
            let host = HostEvidence {
                drops: drops.map(|drops| drops.max(self.left_in_host(direction, &tally))),
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

/// Same kind of reason, in the same direction or at the same port.
fn same_kind(one: &Reason, other: &Reason) -> bool {
    one.order() == other.order() && one.direction() == other.direction() && one.port() == other.port()
}

#[cfg(test)]
mod tests;
