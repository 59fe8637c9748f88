//! Whole sessions in virtual time: the real loop, the real workers, an emulated cable that knows the truth.

mod common;

use common::{Outcome, Run, reasons};
use linegauge::session;
use measure::plan::End;
use measure::record::{Event, Phase};
use measure::screen::Screen;
use measure::units::{BitRate, Direction};
use measure::verdict::{Reason, SwitchSign, Verdict};
use std::time::Duration;

#[test]
fn a_clean_cable_passes() {
    let run = Run::with(&[]).go();
    assert_eq!(run.report.verdict(), Verdict::Pass, "{:?}", reasons(&run));
    for account in &run.report.directions {
        assert!(account.sent > 1000, "{account:?}");
        assert_eq!(account.sent, account.good);
    }
}

#[test]
fn seventeen_dropped_frames_and_five_flipped_bits_are_seventeen_and_five() {
    let run = Run::with(&["a>b drop 17", "b>a flip 5"]).go();
    assert_eq!(run.report.verdict(), Verdict::Fail);
    let [forth, back] = &run.report.directions;
    assert_eq!((forth.lost.at_least, forth.lost.at_most, forth.corrupt), (17, 17, 0));
    assert_eq!((back.lost.at_most, back.corrupt, back.bit_errors), (0, 5, 5));
    assert!(matches!(
        run.report.judgement.first(),
        Some(Reason::Lost { direction: Direction::AToB, at_least: 17, .. })
    ));
}

#[test]
fn a_dead_direction_is_found_before_the_flood() {
    let run = Run::with(&["b>a dead"]).go();
    assert_eq!(run.report.verdict(), Verdict::Fail);
    assert_eq!(run.report.judgement.first(), Some(&Reason::DeadDirection { direction: Direction::BToA }));
    assert_eq!(run.test_frames_left(), 0, "only probes may leave");
}

#[test]
fn a_switch_in_the_path_gets_no_flood() {
    let run = Run::with(&["switch"]).go();
    assert_eq!(run.report.verdict(), Verdict::Invalid);
    assert_eq!(run.report.judgement.first(), Some(&Reason::Switch(SwitchSign::LinkStayedUp)));
    assert_eq!(run.test_frames_left(), 0);
}

#[test]
fn a_switch_is_found_by_the_filtered_address_where_links_are_left_alone() {
    let run = Run::with(&["switch"]).without_link_restart().go();
    assert_eq!(run.report.judgement.first(), Some(&Reason::Switch(SwitchSign::FilteredAddress)));
    assert_eq!(run.test_frames_left(), 0);
}

#[test]
fn a_live_network_at_the_far_end_gets_no_flood() {
    let run = Run::with(&["network"]).without_link_restart().go();
    assert_eq!(run.report.verdict(), Verdict::Invalid);
    assert!(
        matches!(run.report.judgement.first(), Some(Reason::ForeignTraffic { .. })),
        "{:?}",
        reasons(&run)
    );
    assert_eq!(run.test_frames_left(), 0);
}

#[test]
fn a_foreign_frame_in_mid_run_stops_the_traffic_within_one_bucket() {
    let run = Run::with(&["a>b foreign 1 at 1500ms"]).go();
    assert_eq!(run.report.verdict(), Verdict::Invalid);
    assert!(matches!(run.report.judgement.first(), Some(Reason::ForeignTraffic { .. })));
    let (first, last) = run.flood.expect("there was traffic before the foreign frame");
    let foreign = first + Duration::from_millis(1500);
    assert!(last.since(foreign) <= session::TICK, "the flood went on for {:?}", last.since(foreign));
}

#[test]
fn one_end_open_is_not_a_verdict_on_the_cable() {
    let run = Run::with(&["b open"]).go();
    assert_eq!(run.report.verdict(), Verdict::Invalid, "{:?}", reasons(&run));
    assert!(matches!(run.report.judgement.first(), Some(Reason::OneEndOpen { .. })));
    assert_eq!(run.test_frames_left(), 0);
}

#[test]
fn a_flap_in_mid_run_fails_the_cable() {
    let run = Run::with(&["flap 1 for 800ms at 1500ms"]).go();
    assert_eq!(run.report.verdict(), Verdict::Fail);
    assert!(matches!(run.report.judgement.first(), Some(Reason::LinkDown { .. })), "{:?}", reasons(&run));
}

#[test]
fn duplicates_and_reordering_are_no_cable_of_ours() {
    for script in ["a>b duplicate 3", "b>a reorder 2"] {
        let run = Run::with(&[script]).go();
        assert_eq!(run.report.verdict(), Verdict::Invalid, "{script}: {:?}", reasons(&run));
    }
}

#[test]
fn what_the_host_drops_is_not_the_cables() {
    let run = Run::with(&[]).host_drops([40, 0]).go();
    assert_eq!(run.report.verdict(), Verdict::Invalid, "{:?}", reasons(&run));
    let forth = &run.report.directions[0];
    assert_eq!((forth.host, forth.lost.at_most), (40, 0));
}

/// The evidence that the display latches FAIL for, `after` the first test frame.
fn assert_latched_within(run: &Outcome, after: Duration, most: Duration) {
    let latched = run.latched().expect("FAIL is latched on the display");
    let took = latched.since(run.after(after));
    assert!(latched >= run.after(after) && took <= most, "{took:?} after the evidence");
}

#[test]
fn the_first_evidence_latches_fail_on_the_display_within_100_ms() {
    let at = Duration::from_millis(1500);
    for fault in ["a>b drop 1", "a>b flip 1", "b>a flip 1 region header", "a>b fcs 1", "flap 1 for 50ms"] {
        let run = Run::with(&[&format!("{fault} at 1500ms")]).go();
        assert_eq!(run.report.verdict(), Verdict::Fail, "{fault}: {:?}", reasons(&run));
        assert_latched_within(&run, at, Duration::from_millis(100));
    }
}

#[test]
fn fail_once_latched_stays() {
    let run = Run::with(&["a>b flip 1 at 200ms"]).go();
    let shown = run.screens.iter().filter_map(|(_, screen)| match screen {
        Screen::Running { failed, .. } => Some(*failed),
        _ => None,
    });
    assert!(shown.skip_while(|failed| !failed).all(|failed| failed));
}

#[test]
fn a_direction_that_dies_in_mid_run_is_seen_before_the_run_is_over() {
    let run = Run::with(&["b>a dead at 1200ms"]).go();
    assert_eq!(run.report.verdict(), Verdict::Fail, "{:?}", reasons(&run));
    // Nothing comes that would show a gap: only when it is overdue is it lost.
    assert_latched_within(&run, Duration::from_millis(1200), Duration::from_millis(600));
    let truth = run.truth.direction(Direction::BToA).test().missing();
    assert_eq!(
        (run.report.directions[1].lost.at_least, run.report.directions[1].lost.at_most),
        (truth, truth)
    );
    let host_bound = |reason: &Reason| matches!(reason, Reason::HostBound { .. });
    assert!(!run.report.judgement.reasons.iter().any(host_bound), "{:?}", reasons(&run));
}

#[test]
fn an_outage_of_thousands_of_frames_is_lost_to_the_frame() {
    // Far more in one gap than the 1024 numbers that are remembered.
    let run = Run::with(&["a>b drop 5000 at 1100ms"])
        .configure(|config| {
            config.pace = Some(BitRate::from_mbps(60));
            config.plan.end = End::After(Duration::from_secs(3));
        })
        .go();
    assert_eq!(run.report.verdict(), Verdict::Fail, "{:?}", reasons(&run));
    let forth = &run.report.directions[0];
    assert_eq!((forth.lost.at_least, forth.lost.at_most, forth.missing), (5000, 5000, 5000));
    assert_eq!((forth.misplaced, forth.duplicates, forth.reordered), (0, 0, 0));
}

#[test]
fn every_frame_of_a_direction_corrupt_is_every_frame_counted() {
    let run = Run::with(&["a>b flip 20000 at 0s"]).go();
    assert_eq!(run.report.verdict(), Verdict::Fail, "{:?}", reasons(&run));
    let forth = &run.report.directions[0];
    assert_eq!((forth.good, forth.corrupt, forth.bit_errors), (0, forth.sent, forth.sent));
    assert_eq!((forth.missing, forth.unidentified), (0, 0));
}

#[test]
fn every_header_of_a_direction_hit_is_corrupt_and_never_more_than_was_sent() {
    // Faster than the listening socket's 64 frames a tick.
    let run = Run::with(&["a>b flip 1000000 region header at 0s"])
        .configure(|config| config.pace = Some(BitRate::from_mbps(200)))
        .go();
    assert_eq!(run.report.verdict(), Verdict::Fail, "{:?}", reasons(&run));
    let forth = &run.report.directions[0];
    let truth = run.truth.direction(Direction::AToB).test().damage.corrupt();
    assert_eq!(forth.corrupt, truth);
    assert_eq!(forth.lost.at_least, 0, "each of them has arrived");
}

#[test]
fn a_foreign_frame_among_thousands_of_damaged_ones_is_still_heard() {
    let run = Run::with(&["a>b flip 1000000 region header at 0s", "a>b foreign 1 at 1500ms"])
        .configure(|config| config.pace = Some(BitRate::from_mbps(200)))
        .go();
    assert_eq!(run.report.verdict(), Verdict::Invalid, "{:?}", reasons(&run));
    assert!(matches!(run.report.judgement.first(), Some(Reason::ForeignTraffic { .. })));
}

#[test]
fn a_foreign_frame_in_the_drain_voids_the_run() {
    let run = Run::with(&["a>b foreign 1 at 2100ms"]).go();
    assert_eq!(run.report.verdict(), Verdict::Invalid, "{:?}", reasons(&run));
    assert!(matches!(run.report.judgement.first(), Some(Reason::ForeignTraffic { .. })));
}

#[test]
fn frames_that_arrive_in_the_drain_are_no_loss() {
    // So long that 100 ms of it are not missed in the rate.
    let run = Run::with(&["both delay 1 by 100ms at 25950ms"])
        .configure(|config| config.plan.end = End::After(Duration::from_secs(25)))
        .go();
    assert_eq!(run.report.verdict(), Verdict::Pass, "{:?}", reasons(&run));
}

#[test]
fn damage_that_arrives_in_the_drain_counts() {
    let run = Run::with(&["a>b delay 1 by 100ms at 1950ms", "a>b flip 1 at 1970ms"]).go();
    assert_eq!(run.report.verdict(), Verdict::Fail, "{:?}", reasons(&run));
    assert_eq!(run.report.directions[0].corrupt, 1);
}

#[test]
fn a_flap_fails_the_cable_from_the_first_moment_of_traffic_to_the_drain() {
    for at in ["0s", "5ms", "995ms", "1984ms", "1999ms", "2050ms"] {
        let run = Run::with(&[&format!("flap 1 for 5ms at {at}")]).go();
        assert_eq!(run.report.verdict(), Verdict::Fail, "{at}: {:?}", reasons(&run));
        assert!(matches!(run.report.judgement.first(), Some(Reason::LinkDown { .. })), "{at}");
    }
}

#[test]
fn a_link_away_for_more_than_two_seconds_ends_the_run() {
    let run = Run::with(&["flap 1 for 20s at 500ms"])
        .configure(|config| config.plan.end = End::After(Duration::from_secs(30)))
        .go();
    assert_eq!(run.report.verdict(), Verdict::Fail, "{:?}", reasons(&run));
    let drained = run.entered(Phase::Drain).unwrap().since(run.after(Duration::from_millis(500)));
    assert!((Duration::from_secs(2)..Duration::from_millis(2200)).contains(&drained), "{drained:?}");
}

#[test]
fn where_the_mac_checks_the_fcs_damage_behind_a_good_one_is_the_boxs_own() {
    let run = Run::with(&["a>b flip 5 at 200ms"]).configure(|config| config.mac_checks_fcs = true).go();
    assert_eq!(run.report.verdict(), Verdict::Invalid, "{:?}", reasons(&run));
    let inside = Reason::DamagedInside { direction: Direction::AToB, frames: 5 };
    assert_eq!(run.report.judgement.first(), Some(&inside));
    assert_eq!(run.latched(), None, "the display never says FAIL");
    let told = |event: &Event| matches!(event, Event::Evidence(Reason::Corrupt { .. }));
    assert_eq!(run.at(told), None, "nor does the log");
}

#[test]
fn a_wrong_fcs_is_one_event_in_the_bit_error_ratio() {
    let run = Run::with(&["a>b fcs 4"]).configure(|config| config.mac_checks_fcs = true).go();
    assert_eq!(run.report.verdict(), Verdict::Fail, "{:?}", reasons(&run));
    assert_eq!((run.report.ber[0].errors, run.report.ber[0].equivalent), (4, true));
}

#[test]
fn no_link_within_the_time_given_fails_the_cable() {
    let run = Run::with(&["a open", "b open"]).go();
    assert_eq!(run.report.verdict(), Verdict::Fail, "{:?}", reasons(&run));
    assert!(matches!(run.report.judgement.first(), Some(Reason::NoLink { .. })));
    assert_eq!(run.test_frames_left(), 0);
}

#[test]
fn a_switch_below_the_boards_speed_is_still_called_a_switch() {
    let run = Run::with(&["switch"])
        .without_link_restart()
        .configure(|config| config.speed = Some(BitRate::from_mbps(25_000)))
        .go();
    assert_eq!(run.report.judgement.first(), Some(&Reason::Switch(SwitchSign::FilteredAddress)));
    let setup = |reason: &Reason| matches!(reason, Reason::SpeedSetup { .. });
    assert!(run.report.judgement.reasons.iter().any(setup), "{:?}", reasons(&run));
}

#[test]
fn a_paced_verdict_says_of_what() {
    let run = Run::with(&[]).go();
    let verdict = |event: &Event| match event {
        Event::Verdict { basis, of, .. } => Some((*basis, *of)),
        _ => None,
    };
    let said = run.events.iter().find_map(|stamped| verdict(&stamped.event));
    assert_eq!(said, Some((Some(BitRate::from_mbps(20)), Some(BitRate::from_mbps(10_000)))));
}

#[test]
fn a_frame_with_a_wrong_fcs_is_one_event_in_one_class() {
    let run = Run::with(&["a>b fcs 4"]).go();
    assert_eq!(run.report.verdict(), Verdict::Fail);
    assert_eq!((run.report.classes.link, run.report.classes.lost), (4, 0));
    assert_eq!(run.report.directions[0].lost.at_most, 4, "the account still has them among the lost");
}

#[test]
fn a_run_that_nobody_asked_for_is_none_where_its_cable_is_taken_out_before_anything_was_sent() {
    let events = Run::with(&["a open", "b open"]).configure(|config| config.give_up = None).go_in_vain();
    let note = |event: &Event| matches!(event, Event::Note(note) if note.contains("no run"));
    let told = events.iter().find(|stamped| note(&stamped.event)).expect("the log says so");
    assert!(told.at.since(measure::units::Instant::ZERO) < Duration::from_millis(2200), "{:?}", told.at);
    assert!(!events.iter().any(|stamped| matches!(stamped.event, Event::Verdict { .. })));
}
