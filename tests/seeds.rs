//! The lessons of the seeds that are about measuring, each as a test that is named after it.
//!
//! What can be shown without a session is shown beside the code; here are whole sessions, and the rules that no
//! single part can keep. Lessons that were superseded (hardware stamps) or are about a device that is not
//! modelled (flow rules) have none.

mod common;

use common::{Run, reasons};
use linegauge::port::worker;
use linegauge::rig::trouble::Mishap;
use linegauge::session::TICK;
use measure::bucket::Meter;
use measure::counter::{Forward, Step, Width};
use measure::gauge::Gauge;
use measure::mix::SizeMix;
use measure::plan::{End, SETTLE};
use measure::record::{Event, Phase};
use measure::screen::Screen;
use measure::smear;
use measure::tally::Tally;
use measure::units::{BitRate, Direction, Instant, Side};
use measure::verdict::{LONGEST_STALL, Reason, Verdict};
use std::time::Duration;

const PACE: BitRate = BitRate::from_mbps(20);

#[test]
fn stamp_at_read_time_never_at_ticker_fire_time() {
    // A worker that stands still for 300 ms while the sampler ticks on: a rate with the tick as its label would
    // fall to nothing and then read 20 times the pace.
    let stall = Mishap::Stall(Direction::AToB, Duration::from_millis(300));
    let run = Run::with(&[]).mishap(Duration::from_millis(1300), stall).go();
    let most = run.report.highest.map(|highest| highest.unwrap());
    assert!(most.iter().all(|&rate| rate <= PACE.plus_ppm(100)), "{most:?}");
    assert_eq!(run.report.verdict(), Verdict::Pass, "{:?}", reasons(&run));
}

#[test]
fn never_share_one_stamp_across_directions() {
    // Two gauges of one sampler, each stamped by its own worker: one is 12 ms behind the other.
    let mut gauges = [Gauge::new(PACE, 100), Gauge::new(PACE, 100)];
    for tick in 0..200u32 {
        for (gauge, late) in gauges.iter_mut().zip([0, if tick % 2 == 0 { 0 } else { 12 }]) {
            let at = Instant::from_millis(20) + TICK * tick - Duration::from_millis(late);
            let octets = PACE.l1_octets_in(at.since(Instant::ZERO));
            gauge.read(&Tally { received_l1_octets: octets, received_at: at, ..Tally::default() });
        }
    }
    for gauge in gauges {
        let highest = gauge.highest().unwrap();
        assert!(highest <= PACE.plus_ppm(100), "{highest}");
    }
}

#[test]
fn nic_counters_are_not_monotonic_a_step_back_never_underflows() {
    let mut counter = Forward::new(Width::Unknown);
    assert_eq!(counter.observe(5_000, 1_000), Step::First);
    assert_eq!(counter.observe(12, 1_000), Step::Reset);
    assert_eq!(counter.observe(20, 1_000), Step::Forward(8));
    assert_eq!(counter.total(), 8);
    let run = Run::with(&[]).mishap(Duration::from_millis(1500), Mishap::CountersReset(Side::A)).go();
    assert_eq!(run.report.verdict(), Verdict::Invalid, "{:?}", reasons(&run));
}

#[test]
fn all_baselines_are_taken_in_one_place_before_traffic_starts() {
    let run = Run::with(&["a>b drop 3"]).trouble(|host| host.missed = [2, 0]).go();
    let began = run.entered(Phase::Settle).unwrap();
    let (first, _) = run.flood.unwrap();
    assert!(first >= began, "the first frame left {:?} before the baseline", began.since(first));
    // The probes that were sent and received before are in no account.
    assert!(run.report.probes.iter().all(|&probes| probes > 0));
    for (account, direction) in run.report.directions.iter().zip(Direction::BOTH) {
        assert_eq!(account.sent, run.truth.direction(direction).test().carried);
    }
}

#[test]
fn only_zero_baseline_loss_counts_one_frame_in_a_run_is_no_pass() {
    for fault in ["a>b drop 1", "b>a drop 1", "a>b flip 1", "b>a truncate 1"] {
        for at in ["0s", "500ms", "1999ms"] {
            let run = Run::with(&[&format!("{fault} at {at}")]).go();
            let flows = Direction::BOTH.map(|direction| *run.truth.direction(direction).test());
            let done: u64 = flows.iter().map(|flow| flow.missing() + flow.damage.corrupt()).sum();
            let verdict = if done > 0 { Verdict::Fail } else { Verdict::Pass };
            assert_eq!(run.report.verdict(), verdict, "{fault} at {at}: {:?}", reasons(&run));
        }
    }
}

#[test]
fn loss_during_the_settle_is_accounted_like_any_other() {
    let run = Run::with(&["a>b drop 4 at 10ms"]).go();
    assert_eq!(run.report.verdict(), Verdict::Fail);
    assert_eq!(run.report.directions[0].lost.at_least, 4);
    assert!(run.latched().unwrap() < run.entered(Phase::Run).unwrap(), "shown while it settles");
}

#[test]
fn small_frames_measure_the_host_and_are_never_a_fail() {
    // 64 turns of a batch in 4 ms are what this host can do: 64-octet frames do not fill 10 Gb/s.
    let run = Run::with(&[])
        .configure(|config| {
            config.mix = SizeMix::named("small").unwrap();
            config.pace = Some(BitRate::from_mbps(10_000));
            (config.plan.settle, config.plan.end) =
                (Duration::from_millis(200), End::After(Duration::from_millis(200)));
        })
        .go();
    assert_eq!(run.report.verdict(), Verdict::Invalid, "{:?}", reasons(&run));
    assert!(matches!(run.report.judgement.first(), Some(Reason::HostBound { .. })), "{:?}", reasons(&run));
    assert_eq!(run.latched(), None);
    assert_eq!(run.report.classes.lost, 0);
}

#[test]
fn judge_from_the_steady_state_and_not_from_the_settle() {
    // A worker that comes up late: 300 ms of nothing in a settle of a second, and line rate after it.
    let late = Mishap::Stall(Direction::BToA, Duration::from_millis(300));
    let run = Run::with(&[]).mishap(Duration::from_millis(100), late).go();
    assert_eq!(run.report.verdict(), Verdict::Pass, "{:?}", reasons(&run));
    let steady = run.report.directions[1].steady.unwrap();
    assert!(steady >= measure::verdict::pass_rate(PACE), "{steady}");
    assert_eq!(SETTLE, Duration::from_secs(5), "and on a box the settle is five seconds");
}

#[test]
fn a_sliding_smear_settles_each_bucket_once() {
    // Bursts after stalls, all within the window: nothing that was ever shown is above the pace, and the mean
    // of a run is what was carried.
    // Small frames, so that one more or less in a bucket is within the 100 ppm of the window.
    let pace = BitRate::from_mbps(40);
    let run = Run::with(&["both delay 1 by 100ms at 700ms", "both delay 1 by 90ms at 1300ms"])
        .configure(|config| (config.mix, config.pace) = (SizeMix::named("small").unwrap(), Some(pace)))
        .go();
    let shown = run.screens.iter().filter_map(|(_, screen)| match screen {
        Screen::Running { rates, .. } => Some(*rates),
        _ => None,
    });
    let mut seen = 0;
    for rate in shown.flatten().flatten() {
        assert!(rate <= pace.plus_ppm(100), "{rate}");
        seen += 1;
    }
    assert!(seen > 100, "{seen} readings");
    for stamped in &run.events {
        if let Event::Readings { above_line, .. } = stamped.event {
            assert_eq!(above_line, 0);
        }
    }
}

#[test]
fn a_residual_above_line_rate_is_the_honest_sign_of_a_stall_that_outlived_the_window() {
    let mut gauge = Gauge::new(PACE, 100);
    let mut tally = Tally::default();
    let window = u32::try_from(smear::WINDOW).unwrap();
    let mut read = |n: u32, carried_at: u32| {
        tally.received_at = Instant::from_millis(16) + TICK * n;
        tally.received_l1_octets = PACE.l1_octets_in(TICK * carried_at);
        gauge.read(&tally);
    };
    (0..50).for_each(|n| read(n, n));
    (50..60 + window).for_each(|n| read(n, 49));
    (60 + window..200 + window).for_each(|n| read(n, n));
    assert!(gauge.highest().unwrap() > PACE.plus_ppm(100));
    assert_eq!(gauge.outlived(), 1);
}

#[test]
fn the_first_bucket_is_partial_and_no_rate() {
    let mut meter = Meter::default();
    assert_eq!(meter.read(0, Instant::ZERO), None);
    assert_eq!(meter.read(12, Instant::ZERO + TICK), None);
    assert!(meter.read(24, Instant::ZERO + TICK * 2).is_some());
}

#[test]
fn dead_end_batch_sizes_above_64() {
    assert_eq!(worker::BATCH, 64);
    assert_eq!(linegauge::port::packet::BATCH, 64);
}

#[test]
fn dead_end_splitting_senders_from_receivers_one_worker_a_direction_does_both() {
    // The world turns one worker a direction: were it not for that one, nothing would be sent or received.
    let ended = Mishap::WorkerEnds(Direction::AToB);
    let run = Run::with(&[]).mishap(Duration::from_millis(500), ended).go();
    let [forth, back] = &run.report.directions;
    assert!(forth.sent < back.sent);
    assert_eq!((forth.missing, back.missing), (0, 0));
}

#[test]
fn the_windows_are_16_ms_one_second_and_the_whole_run() {
    assert_eq!(TICK, Duration::from_millis(16));
    assert_eq!(worker::CATCH_UP, TICK * u32::try_from(smear::WINDOW).unwrap());
    assert_eq!(worker::CATCH_UP, LONGEST_STALL);
    let run = Run::with(&[]).configure(|config| config.plan.end = End::After(Duration::from_secs(5))).go();
    let rates: Vec<Instant> = run
        .events
        .iter()
        .filter(|stamped| matches!(stamped.event, Event::Rate { .. }))
        .map(|stamped| stamped.at)
        .collect();
    assert_eq!(rates.len(), 6, "one line a second, settle and run: {rates:?}");
    for pair in rates.windows(2) {
        let apart = pair[1].since(pair[0]);
        assert!(apart.abs_diff(Duration::from_secs(1)) <= TICK, "{apart:?}");
    }
}

#[test]
fn unknown_is_not_zero() {
    let run = Run::with(&[]).trouble(|host| host.no_drop_counters = true).go();
    for port in Side::BOTH {
        let missing = |what| run.at(|event| *event == Event::NotAvailable { what, port: Some(port) });
        assert!(missing("receive drops").is_some());
        assert!(missing("symbol errors").is_some());
        assert!(missing("CRC errors").is_none());
    }
}
