//! Bad cables: the report is the cable's own account, number by number.

use super::emulator::{Emulator, Shown};
use super::panel::{assert_shows, verdict};
use measure::units::Direction;
use measure::verdict::{Reason, Verdict};

fn run(fault: &str) -> Option<Shown> {
    Some(Emulator::new()?.cable(fault).screenshot().until("end$"))
}

#[test]
fn seventeen_dropped_frames_are_seventeen() {
    let Some(shown) = run("a>b drop 17") else { return };
    let sent = shown.number("total A>B", "sent");
    assert_eq!(shown.verdict(), ("FAIL", format!("A>B lost 17 of {sent}").as_str()));
    assert_eq!(shown.number("truth A>B carried", "carried"), sent);
    assert_eq!(shown.number("truth A>B carried", "dropped"), 17);
    assert_eq!(shown.number("total B>A", "missing"), 0);
    // The panel, from the log's own figures.
    let reason = Reason::Lost { direction: Direction::AToB, at_least: 17, at_most: 17, sent };
    assert_shows(&shown.file("end.png"), &verdict(Verdict::Fail, &reason.brief(), 1));
}

#[test]
fn turned_bits_are_damaged_frames_and_their_bits() {
    let Some(shown) = run("b>a flip 5 bits 2") else { return };
    assert_eq!(shown.verdict(), ("FAIL", "B>A: 5 frames damaged, 10 bits wrong"));
    assert_eq!(shown.number("truth B>A carried", "bits"), 10);
    assert_eq!(shown.number("total B>A", "corrupt"), 5);
    assert_eq!(shown.number("total B>A", "missing"), 0);
}

/// The emulated MAC has no FCS to count: what the cable discards for it is missing.
#[test]
fn frames_with_a_wrong_fcs_are_lost() {
    let Some(shown) = run("a>b fcs 4") else { return };
    let sent = shown.number("total A>B", "sent");
    assert_eq!(shown.verdict(), ("FAIL", format!("A>B lost 4 of {sent}").as_str()));
    assert_eq!(shown.number("truth A>B carried", "fcs"), 4);
}

#[test]
fn a_cable_that_is_pulled_out_in_mid_run_fails_for_its_link() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator.words(["--unplug", "phase run"]).until("end$");
    assert_eq!(shown.verdict(), ("FAIL", "port A: 1 link change during the run"));
    let away = shown.at(" phase drain") - shown.at("seen \"port A: 1 link change");
    assert!(away >= 2.0, "it is given two seconds to come back, and was given {away}");
}

#[test]
fn a_flapping_cable_never_passes() {
    let Some(shown) = run("flap 3 for 300ms") else { return };
    let (word, reason) = shown.verdict();
    assert!(word == "FAIL" && reason.contains("link change"), "{word}: {reason}");
    shown.assert_never("PASS");
}

#[test]
fn half_a_link_is_an_open_end_and_gets_no_frame() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator.cable("b open").words(["--press", "phase wait"]).until("end$");
    assert_eq!(shown.verdict(), ("INVALID", "port B has no link: one end open?"));
    assert_eq!(shown.number("truth A sent", "probes") + shown.number("truth A sent", "test frames"), 0);
}

#[test]
fn a_switch_in_the_path_gets_no_flood() {
    let Some(shown) = run("switch") else { return };
    assert_eq!(shown.verdict(), ("INVALID", "a switch is in the path: it filters by address"));
    for side in ["truth A sent", "truth B sent"] {
        assert_eq!((shown.number(side, "probes"), shown.number(side, "test frames")), (64, 0));
    }
}

#[test]
fn a_live_network_at_the_far_end_gets_nothing_at_all() {
    let Some(shown) = run("b network") else { return };
    let (word, reason) = shown.verdict();
    assert!(word == "INVALID" && reason.starts_with("live network on port B"), "{word}: {reason}");
    for side in ["truth A sent", "truth B sent"] {
        assert_eq!(shown.number(side, "test frames"), 0);
    }
}
