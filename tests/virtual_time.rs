//! Whole sessions in virtual time: the real loop, the real workers, an emulated cable that knows the truth.

mod common;

use common::{Run, reasons};
use linegauge::session;
use measure::units::Direction;
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
