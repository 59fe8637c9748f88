//! Whole sessions in which the box itself goes wrong: never a verdict on the cable, and always a name for it.

mod common;

use common::{Outcome, Run, reasons};
use linegauge::rig::trouble::Mishap;
use measure::plan::End;
use measure::record::{Event, Held, Phase, SettingReading, Slipped, text, words};
use measure::units::{Direction, Instant, Side};
use measure::verdict::{Reason, Setting, Verdict};
use std::time::Duration;

const FORTH: Direction = Direction::AToB;
const MIDDLE: Duration = Duration::from_millis(1500);

/// The verdict is INVALID and `reason` is the one shown.
fn assert_invalid(run: &Outcome, reason: impl Fn(&Reason) -> bool) {
    assert_eq!(run.report.verdict(), Verdict::Invalid, "{:?}", reasons(run));
    assert!(run.report.judgement.first().is_some_and(reason), "{:?}", reasons(run));
}

fn assert_never_failed_on_the_display(run: &Outcome) {
    assert_eq!(run.latched(), None, "FAIL was shown at {:?}", run.latched());
}

#[test]
fn what_the_port_misses_is_not_the_cables() {
    let run = Run::with(&[]).trouble(|box_| box_.missed = [40, 0]).go();
    assert_invalid(&run, |reason| matches!(reason, Reason::HostDrops { direction: FORTH, frames: 40 }));
    assert_never_failed_on_the_display(&run);
}

#[test]
fn what_both_lose_is_told_apart() {
    let run = Run::with(&["a>b drop 3"]).trouble(|box_| box_.missed = [5, 0]).host_drops([7, 0]).go();
    assert_eq!(run.report.verdict(), Verdict::Fail, "{:?}", reasons(&run));
    let forth = &run.report.directions[0];
    assert_eq!((forth.host, forth.lost.at_least, forth.lost.at_most), (12, 3, 3));
}

#[test]
fn a_host_that_drops_all_the_time_never_shows_a_failed_cable() {
    let run = Run::with(&[]).trouble(|box_| box_.overload = Some(5)).go();
    assert_invalid(&run, |reason| matches!(reason, Reason::HostDrops { .. }));
    assert_never_failed_on_the_display(&run);
}

#[test]
fn counters_are_waited_for_until_they_are_fresh() {
    // A driver that refreshes every 2 s: what it tells when the last frame has arrived is old.
    let refresh = Duration::from_secs(2);
    let run = Run::with(&[]).trouble(|box_| (box_.missed, box_.refresh) = ([0, 9], refresh)).go();
    assert_invalid(&run, |reason| matches!(reason, Reason::HostDrops { frames: 9, .. }));
    assert_never_failed_on_the_display(&run);
    let drained = run.entered(Phase::Done).unwrap().since(run.entered(Phase::Drain).unwrap());
    assert!(drained >= refresh, "read after {drained:?}");
}

#[test]
fn without_drop_counters_nobody_is_blamed_for_what_is_missing() {
    let run = Run::with(&["a>b drop 3"]).trouble(|box_| box_.no_drop_counters = true).go();
    assert_invalid(&run, |reason| *reason == Reason::UnknownOrigin { direction: FORTH, frames: 3 });
    assert_never_failed_on_the_display(&run);
}

#[test]
fn without_drop_counters_a_wrong_fcs_still_says_that_the_cable_loses_frames() {
    let run = Run::with(&["a>b fcs 3"]).trouble(|box_| box_.no_drop_counters = true).go();
    assert_eq!(run.report.verdict(), Verdict::Fail, "{:?}", reasons(&run));
    assert_eq!(run.report.directions[0].lost.at_least, 3);
}

#[test]
fn without_drop_counters_a_clean_cable_passes() {
    let run = Run::with(&[]).trouble(|box_| box_.no_drop_counters = true).go();
    assert_eq!(run.report.verdict(), Verdict::Pass, "{:?}", reasons(&run));
}

#[test]
fn counters_that_cannot_be_read_any_more_blame_nobody() {
    let unreadable = Mishap::CountersUnreadable(Side::B);
    let run = Run::with(&["a>b drop 3 at 1600ms"]).mishap(MIDDLE, unreadable).go();
    assert_invalid(&run, |reason| *reason == Reason::UnknownOrigin { direction: FORTH, frames: 3 });
    assert_never_failed_on_the_display(&run);
}

#[test]
fn counters_that_are_reset_in_mid_run_void_it() {
    for port in Side::BOTH {
        let run = Run::with(&["a>b drop 3"]).mishap(MIDDLE, Mishap::CountersReset(port)).go();
        assert_invalid(&run, |reason| *reason == Reason::CountersReset { port });
    }
}

#[test]
fn frames_of_an_unknown_protocol_are_no_error_while_every_test_frame_arrives() {
    // Field case 25: rx_dropped +40 while all test frames arrived.
    let run = Run::with(&[]).trouble(|box_| box_.unknown_protocol = 40).go();
    assert_eq!(run.report.verdict(), Verdict::Pass, "{:?}", reasons(&run));
    assert_eq!(run.report.classes, measure::record::Classes::default());
}

#[test]
fn a_port_that_vanishes_is_named_and_ends_the_traffic() {
    for port in Side::BOTH {
        let run = Run::with(&[]).mishap(MIDDLE, Mishap::PortGone(port)).go();
        assert_invalid(&run, |reason| *reason == Reason::DeviceGone { port });
        let (_, last) = run.flood.unwrap();
        assert!(last.since(run.after(MIDDLE)) <= linegauge::session::TICK);
    }
}

#[test]
fn a_worker_that_ends_is_named_and_its_frames_are_not_the_cables() {
    let faults = ["a>b delay 1 by 100ms at 1450ms"];
    let run = Run::with(&faults).mishap(MIDDLE, Mishap::WorkerEnds(FORTH)).go();
    assert_eq!(run.report.verdict(), Verdict::Invalid, "{:?}", reasons(&run));
    assert!(run.report.judgement.reasons.contains(&Reason::WorkerDied { direction: FORTH }));
    assert_never_failed_on_the_display(&run);
}

/// A run of 26 s in which something is on its way when the worker stops looking, 50 ms before the senders stop.
fn stalled_at_the_end(stall: Duration) -> Outcome {
    Run::with(&["a>b delay 1 by 100ms at 25900ms"])
        .configure(|config| config.plan.end = End::After(Duration::from_secs(25)))
        .mishap(Duration::from_millis(25_950), Mishap::Stall(FORTH, stall))
        .go()
}

#[test]
fn a_worker_that_stands_still_when_the_traffic_ends_is_waited_for() {
    let run = stalled_at_the_end(Duration::from_secs(1));
    assert_eq!(run.report.verdict(), Verdict::Pass, "{:?}", reasons(&run));
}

#[test]
fn a_worker_that_never_looks_again_leaves_no_loss_of_the_cables_behind() {
    let run = stalled_at_the_end(Duration::from_secs(60));
    let forth = &run.report.directions[0];
    assert!(forth.missing > 0, "{forth:?}");
    assert_invalid(&run, |reason| {
        *reason == Reason::UnknownOrigin { direction: FORTH, frames: forth.missing }
    });
    assert!(run.report.judgement.reasons.contains(&Reason::WorkerDied { direction: FORTH }));
}

#[test]
fn a_worker_that_stands_still_in_mid_run_is_seen_and_named() {
    let stalled = Mishap::Stall(FORTH, Duration::from_millis(700));
    let run = Run::with(&[]).mishap(Duration::from_millis(1200), stalled).go();
    assert_invalid(&run, |reason| {
        matches!(reason, Reason::Stalled { direction: FORTH, .. } | Reason::HostBound { .. })
    });
    let told = run.at(|event| matches!(event, Event::Evidence(Reason::Stalled { direction: FORTH, .. })));
    assert!(told.is_some_and(|at| at < run.entered(Phase::Drain).unwrap()), "told while it lasts");
}

#[test]
fn a_worker_that_gives_no_sign_of_life_is_taken_for_dead_in_five_seconds() {
    let hidden = Mishap::TallyUnreadable(FORTH);
    let run = Run::with(&[])
        .configure(|config| config.plan.end = End::After(Duration::from_secs(20)))
        .mishap(MIDDLE, hidden)
        .go();
    assert_eq!(run.report.verdict(), Verdict::Invalid, "{:?}", reasons(&run));
    assert!(run.report.judgement.reasons.contains(&Reason::WorkerDied { direction: FORTH }));
    let (_, last) = run.flood.unwrap();
    assert!(last.since(run.after(MIDDLE)) < Duration::from_secs(6));
    assert_eq!(run.report.directions[0].lost.at_most, 0, "{:?}", reasons(&run));
}

#[test]
fn a_tally_that_could_never_be_read_is_no_cable_fault() {
    let run = Run::with(&[]).mishap(Duration::ZERO, Mishap::TallyUnreadable(FORTH)).go();
    assert_eq!(run.report.verdict(), Verdict::Invalid, "{:?}", reasons(&run));
}

#[test]
fn another_link_speed_in_mid_run_is_a_link_that_was_away() {
    // Field case 12: up and down within 0.5 ms; polling the carrier misses it.
    let run =
        Run::with(&[]).trouble(|box_| box_.no_carrier_counter = true).mishap(MIDDLE, Mishap::OtherSpeed).go();
    assert_eq!(run.report.verdict(), Verdict::Fail, "{:?}", reasons(&run));
    assert!(matches!(run.report.judgement.first(), Some(Reason::LinkDown { .. })));
}

/// Blinks of the carrier, 100 ms long.
fn blinks(starts: [u64; 3]) -> [Option<(Instant, Duration)>; 3] {
    starts.map(|at| Some((Instant::from_millis(at), Duration::from_millis(100))))
}

#[test]
fn a_carrier_that_goes_away_during_the_loop_check_must_hold_again_before_the_flood() {
    let run =
        Run::with(&[]).trouble(|box_| box_.blinks[0] = blinks([2500; 3])[0]).without_link_restart().go();
    let (first, _) = run.flood.expect("one drop in the loop check is no verdict yet");
    let back = Instant::from_millis(2600);
    assert!(first.since(back) >= measure::link::HOLD, "the flood began {:?} after", first.since(back));
    assert_eq!(run.report.verdict(), Verdict::Pass, "{:?}", reasons(&run));
}

#[test]
fn three_drops_in_half_a_minute_are_flapping_in_whatever_stage_they_come() {
    let run =
        Run::with(&[]).trouble(|box_| box_.blinks = blinks([2500, 5000, 7500])).without_link_restart().go();
    assert_eq!(run.report.judgement.first(), Some(&Reason::Flapping { drops: 3 }), "{:?}", reasons(&run));
    assert_eq!(run.report.verdict(), Verdict::Fail);
    assert_eq!(run.test_frames_left(), 0);
}

#[test]
fn faults_at_the_port_that_is_up_make_one_open_end_the_cables() {
    let run = Run::with(&["b open"]).trouble(|box_| box_.link_faults = [3, 0]).go();
    assert_eq!(run.report.verdict(), Verdict::Fail, "{:?}", reasons(&run));
    assert_eq!(run.report.judgement.first(), Some(&Reason::LinkFaults { port: Side::A, faults: 3 }));
}

#[test]
fn a_run_stopped_in_any_phase_is_stopped_early_and_leaves_no_port_down() {
    for phase in [Phase::Settings, Phase::Link, Phase::LoopCheck, Phase::Settle, Phase::Run] {
        let run = Run::with(&[]).stop_at(Event::Phase(phase)).go();
        assert_eq!(run.report.verdict(), Verdict::Invalid, "{phase:?}: {:?}", reasons(&run));
        assert_eq!(run.report.judgement.first(), Some(&Reason::StoppedEarly), "{phase:?}");
        let flowed = matches!(phase, Phase::Settle | Phase::Run);
        assert_eq!(run.flood.is_some(), flowed, "{phase:?}");
    }
}

#[test]
fn a_run_stopped_while_port_a_is_down_takes_it_up_again() {
    let down = Event::Note(measure::record::words("port A goes down: port B must lose its carrier"));
    let run = Run::with(&[]).stop_at(down).go();
    assert_eq!(run.report.judgement.first(), Some(&Reason::StoppedEarly));
    assert!(run.carriers[Side::B.index()], "port B has its carrier back");
}

#[test]
fn a_run_stopped_in_the_drain_was_a_whole_run() {
    let run = Run::with(&[]).stop_at(Event::Phase(Phase::Drain)).go();
    assert_eq!(run.report.verdict(), Verdict::Pass, "{:?}", reasons(&run));
}

#[test]
fn a_run_that_is_stopped_keeps_what_speaks_against_the_cable() {
    let run = Run::with(&["a>b drop 2 at 100ms"]).stop_at(Event::Phase(Phase::Run)).go();
    assert_eq!(run.report.verdict(), Verdict::Fail, "{:?}", reasons(&run));
    assert!(run.report.judgement.reasons.contains(&Reason::StoppedEarly));
    assert_eq!(run.report.directions[0].lost.at_least, 2);
}

#[test]
fn a_port_that_somebody_takes_is_no_verdict_on_the_cable() {
    for port in Side::BOTH {
        let run = Run::with(&["b>a drop 3"]).mishap(MIDDLE, Mishap::PortTaken(port)).go();
        assert_eq!(run.report.judgement.first(), Some(&Reason::PortTaken { port }), "{:?}", reasons(&run));
        assert_eq!(run.report.verdict(), Verdict::Invalid);
    }
}

#[test]
fn a_setting_that_is_lost_in_mid_run_is_no_pass() {
    for port in Side::BOTH {
        let run = Run::with(&[]).mishap(MIDDLE, Mishap::OtherMtu(port)).go();
        let lost = Reason::SettingNotHeld { setting: Setting::Mtu, port: Some(port) };
        assert_eq!(run.report.judgement.first(), Some(&lost), "{:?}", reasons(&run));
        assert_eq!(run.report.verdict(), Verdict::Invalid);
    }
}

/// A setting of the machine's own: required or not, held or not.
fn machine_setting(setting: Setting, held: Held, required: bool) -> SettingReading {
    SettingReading {
        setting,
        port: None,
        wanted: text("2000000 kHz"),
        got: text("2000000 kHz"),
        held,
        required,
    }
}

fn clock_slips(required: bool) -> Outcome {
    let clock = machine_setting(Setting::Clock, Held::Yes, required);
    let slipped = Slipped { setting: Setting::Clock, what: words("limited to 1600000 kHz"), required };
    Run::with(&[]).host_settings(vec![clock]).slip_at(Event::Phase(Phase::Run), slipped).go()
}

#[test]
fn a_clock_that_drops_in_mid_run_makes_it_invalid_and_the_summary_says_what_it_became() {
    let run = clock_slips(true);
    assert_invalid(&run, |reason| *reason == Reason::ClockNotHeld);
    assert_never_failed_on_the_display(&run);
    let last = run.events.iter().rev().find_map(|stamped| match &stamped.event {
        Event::Setting(reading) if reading.setting == Setting::Clock => Some(reading),
        _ => None,
    });
    let last = last.expect("the summary repeats the settings");
    assert_eq!((last.held, last.got.as_str()), (Held::No, "limited to 1600000 kHz"));
}

#[test]
fn a_clock_that_no_run_needs_may_drop() {
    let run = clock_slips(false);
    assert_eq!(run.report.verdict(), Verdict::Pass, "{:?}", reasons(&run));
    let told =
        |event: &Event| matches!(event, Event::Note(note) if note.contains("clock no longer holds: limited"));
    assert!(run.at(told).is_some(), "the log says so all the same");
}

#[test]
fn a_machine_that_does_not_hold_what_a_run_needs_sends_nothing() {
    for held in [Held::No, Held::NotAvailable] {
        let run = Run::with(&[]).host_settings(vec![machine_setting(Setting::Clock, held, true)]).go();
        assert_invalid(&run, |reason| {
            matches!(reason, Reason::SettingNotHeld { setting: Setting::Clock, port: None })
        });
        assert_eq!(run.test_frames_left(), 0);
    }
    let optional = machine_setting(Setting::Clock, Held::NotAvailable, false);
    let run = Run::with(&[]).host_settings(vec![optional]).go();
    assert_eq!(run.report.verdict(), Verdict::Pass, "{:?}", reasons(&run));
}
