//! A run led by the hand, reading by reading.

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
        let counters = PortCounters { tx_dropped: Some(7), rx_dropped: Some(9), ..PortCounters::default() };
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

#[test]
fn drops_from_before_the_baseline_explain_no_loss() {
    let mut lead = Lead {
        evidence: Evidence::new(limits()),
        now: Instant::from_millis(10_000),
        counters: PortCounters { tx_dropped: Some(0), rx_dropped: Some(0), ..PortCounters::default() },
        tally: Tally { socket_drops: 40, ..Tally::default() },
    };
    lead.tick();
    lead.evidence.begin(lead.now, None, Some(LINE));
    lead.arrived(100, 97);
    lead.tick();
    lead.drain();
    let [forth, _] = lead.evidence.reports();
    assert_eq!((forth.host, forth.lost.at_most), (0, 3));
}

#[test]
fn frames_that_no_mac_has_sent_are_the_hosts() {
    let mut lead = Lead::with(limits());
    lead.counters.tx_frames = Some(1_000);
    lead.counters.rx_frames = Some(1_000);
    lead.tick();
    lead.evidence.begin(lead.now, None, Some(LINE));
    lead.arrived(100, 74);
    // Of 100 accepted frames 80 left the sending MAC, and of those that came in 6 were never read.
    lead.counters.tx_frames = Some(1_080);
    lead.counters.rx_frames = Some(1_080);
    lead.tick();
    lead.drain();
    let [forth, _] = lead.evidence.reports();
    assert_eq!((forth.missing, forth.host, forth.lost.at_most), (26, 26, 0));
    assert!(lead.evidence.judge().verdict != Verdict::Fail);
}
