//! Everything a run has shown so far, and what follows from it.

use crate::counter::{PortCounters, PortTotals};
use crate::gauge::Gauge;
use crate::ledger::{DirectionReport, HostEvidence, host_drops};
use crate::link::LinkReading;
use crate::record::Classes;
use crate::tally::Tally;
use crate::units::{BitRate, Direction, Instant, Side, nanos};
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
}

/// Most findings kept; the strongest of each kind is among them.
const FINDINGS: usize = 32;

/// Faster than any port this runs on, for counters of a link whose speed is not known.
const FASTEST: BitRate = BitRate::from_mbps(400_000);

/// Most findings of one kind.
const OF_A_KIND: usize = 6;

/// One port's counters from the baseline on.
#[derive(Clone, Debug, Default)]
struct Port {
    totals: PortTotals,
    baseline: PortCounters,
    read_at: Option<Instant>,
    changes: Option<u64>,
    changes_baseline: Option<u64>,
    went_down: bool,
}

/// One direction's tally and rates.
#[derive(Clone, Debug)]
struct Way {
    tally: Tally,
    gauge: Gauge,
    /// Damaged frames that no test socket took, but the listening socket heard.
    damaged: u64,
    /// Frames missing at the last reading, not yet confirmed by a second one.
    suspected: u64,
    /// Frames lost so far, confirmed.
    lost: u64,
    stalled: Duration,
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
    sending: bool,
    started: bool,
}

impl Evidence {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let way = || Way {
            tally: Tally::default(),
            gauge: Gauge::new(BitRate::default(), limits.tolerance_ppm),
            damaged: 0,
            suspected: 0,
            lost: 0,
            stalled: Duration::ZERO,
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
            sending: false,
            started: false,
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

    /// Traffic begins: the one baseline. Rates are judged against the pace where there is one, else against
    /// the link's speed; where neither is known there is nothing to judge against.
    pub fn begin(&mut self, pace: Option<BitRate>, link: Option<BitRate>) {
        self.basis = pace.or(link);
        self.fastest = pace.max(link);
        let basis = self.basis;
        self.sending = true;
        self.started = true;
        for port in &mut self.ports {
            port.baseline = port.totals.totals();
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
        let resets = port.totals.resets();
        port.totals.observe(raw, elapsed, line);
        if port.totals.resets() > resets && self.started {
            self.find(Reason::CountersReset { port: side });
        }
    }

    /// A port's link.
    pub fn read_link(&mut self, side: Side, link: &LinkReading) {
        let sending = self.sending;
        let Some(port) = self.ports.get_mut(side.index()) else { return };
        port.changes = link.changes.or(port.changes);
        port.went_down |= sending && link.carrier == Some(false);
    }

    /// What the worker of `direction` published, read at `now`.
    pub fn read_tally(&mut self, direction: Direction, tally: &Tally, now: Instant) {
        let host = self.host_drops(direction, tally).unwrap_or(tally.socket_drops);
        let Some(way) = self.ways.get_mut(direction.index()) else { return };
        way.tally = *tally;
        way.gauge.read(tally);
        let gone =
            tally.sum(|stream| stream.expected.saturating_sub(stream.good.saturating_add(stream.corrupt)));
        let unexplained = gone.saturating_sub(host).saturating_sub(tally.unidentified + way.damaged);
        // A drop counter may be read a moment after the gap it explains was seen: twice in a row counts.
        way.lost = way.lost.max(way.suspected.min(unexplained));
        way.suspected = unexplained;
        if self.sending {
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
    pub fn stop(&mut self) {
        self.sending = false;
        for way in &mut self.ways {
            way.gauge.stop();
        }
    }

    /// Frames dropped by the host in `direction` since the baseline; none where a counter is missing.
    fn host_drops(&self, direction: Direction, tally: &Tally) -> Option<u64> {
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
        if !self.started {
            return Classes::default();
        }
        let mut classes = Classes::default();
        for direction in Direction::BOTH {
            let way = &self.ways[direction.index()];
            classes.lost += way.lost;
            classes.corrupt += way.corrupt();
            classes.internal += self.host_drops(direction, &way.tally).unwrap_or(way.tally.socket_drops);
        }
        classes.link =
            Side::BOTH.map(|side| self.link_trouble(side)).into_iter().fold(0, u64::saturating_add);
        classes.internal += u64::from(self.ports.iter().map(|port| port.totals.resets()).sum::<u32>());
        classes
    }

    /// Errors by class as the finished account has them.
    #[must_use]
    pub fn final_classes(&self) -> Classes {
        let mut classes = self.classes();
        let reports = self.reports();
        classes.lost = reports.iter().fold(0, |sum, report| sum.saturating_add(report.lost.at_least));
        classes.corrupt = reports.iter().fold(0, |sum, report| sum.saturating_add(report.corrupt));
        classes
    }

    /// How long the worker of `direction` has given no sign of life.
    #[must_use]
    pub fn silent(&self, direction: Direction, now: Instant) -> Duration {
        now.since(self.ways[direction.index()].tally.alive_at)
    }

    /// There is evidence against the cable: FAIL is latched on the display.
    #[must_use]
    pub fn failed(&self) -> bool {
        let Classes { lost, corrupt, link, .. } = self.classes();
        lost > 0 || corrupt > 0 || link > 0
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
        if !self.started {
            return seen;
        }
        for direction in Direction::BOTH {
            let way = &self.ways[direction.index()];
            let _ = seen.extend_from_slice(&way.seen(direction, self.limits.stall));
        }
        let _ = seen.extend_from_slice(&self.port_reasons());
        seen
    }

    /// What the ports' counters say.
    fn port_reasons(&self) -> heapless::Vec<Reason, 10> {
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

    /// Payload bits received and compared, by direction.
    #[must_use]
    pub fn checked_bits(&self) -> [u64; 2] {
        self.ways.each_ref().map(|way| way.tally.sum(|stream| stream.checked_bits))
    }

    /// Frames of ours that have arrived, both directions.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.ways.iter().fold(0, |sum, way| sum.saturating_add(way.tally.received))
    }

    /// Test frames sent, by direction.
    #[must_use]
    pub fn sent(&self) -> [u64; 2] {
        self.ways.each_ref().map(|way| way.tally.sum(|stream| stream.sent))
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
            tally.longest_stall = tally.longest_stall.max(nanos(way.stalled));
            let host = HostEvidence {
                drops: self.host_drops(direction, &tally),
                cable_evidence: self.link_trouble(direction.to()) > 0,
            };
            DirectionReport::new(direction, &tally, host, way.gauge.steady())
        })
    }

    /// The verdict on all of it.
    #[must_use]
    pub fn judge(&self) -> Judgement {
        let reports = self.reports();
        let mut findings = self.findings.clone();
        if self.started {
            // Full: what is there already outranks nothing less than itself, and decides alike.
            let _ = findings.extend_from_slice(&self.port_reasons());
        }
        let [forth, back] = &reports;
        judge(&Case {
            directions: [forth, back],
            findings: &findings,
            pass_rate: pass_rate(self.basis.unwrap_or(BitRate::from_bits_per_second(u64::MAX))),
            mac_checks_fcs: self.limits.mac_checks_fcs,
            needed_bits: self.limits.needed_bits,
            settings_held: self.settings_held,
            traffic_started: self.started,
        })
    }
}

impl Way {
    /// Damaged frames so far, wherever they were heard.
    fn corrupt(&self) -> u64 {
        self.tally.sum(|stream| stream.corrupt) + self.tally.unidentified + self.damaged
    }

    fn seen(&self, direction: Direction, stall: Duration) -> heapless::Vec<Reason, 3> {
        let tally = &self.tally;
        let longest = self.stalled.max(Duration::from_nanos(tally.longest_stall));
        let sent = tally.sum(|stream| stream.sent);
        let lost = Reason::Lost { direction, at_least: self.lost, at_most: self.lost, sent };
        let bit_errors = tally.sum(|stream| stream.bit_errors);
        let found = [
            (self.lost > 0).then_some(lost),
            (self.corrupt() > 0).then_some(Reason::Corrupt { direction, frames: self.corrupt(), bit_errors }),
            (longest > stall).then_some(Reason::Stalled { direction, time: longest }),
        ];
        found.into_iter().flatten().collect()
    }
}

/// Same kind of reason, in the same direction.
fn same_kind(one: &Reason, other: &Reason) -> bool {
    one.order() == other.order() && one.direction() == other.direction()
}
