//! Fault scripts between real TAP devices: the report is the cable's own account, number by number.

use super::gauge::{Ended, Gauge, has_tap, side_by_side};
use super::truth::{compare, number, sent_by, test_frames};
use serde_json::Value;

/// Runs each script; the runs go side by side.
fn run<const N: usize>(scripts: [&[&str]; N]) -> Option<[Ended; N]> {
    let gauges = scripts.map(|faults| Gauge::on_emulated(faults).with(&["--json", "--truth"]));
    has_tap().then(|| side_by_side(gauges))
}

/// The strongest reason.
fn reason(ended: &Ended) -> String {
    ended.json()["reason"].as_str().unwrap().to_owned()
}

/// Names and values of one direction of the report.
fn figures<'a, const N: usize>(direction: &Value, names: [&'a str; N]) -> [(&'a str, u64); N] {
    names.map(|name| (name, number(direction, name)))
}

#[test]
fn seventeen_dropped_and_five_flipped_are_exactly_seventeen_lost_and_five_bit_errors() {
    let Some([ended]) = run([&["a>b drop 17", "b>a flip 5"]]) else { return };
    ended.assert_verdict("FAIL", 1);
    compare(&ended);
    let report = ended.json();
    let [forth, back] = ["a_to_b", "b_to_a"].map(|direction| &report[direction]);
    assert_eq!(
        figures(forth, ["lost", "lost_at_most", "corrupt", "bit_errors"]),
        [("lost", 17), ("lost_at_most", 17), ("corrupt", 0), ("bit_errors", 0)]
    );
    assert_eq!(
        figures(back, ["lost", "lost_at_most", "corrupt", "bit_errors"]),
        [("lost", 0), ("lost_at_most", 0), ("corrupt", 5), ("bit_errors", 5)]
    );
    assert_eq!(reason(&ended), format!("A>B lost 17 of {}", number(forth, "sent")));
}

#[test]
fn what_damages_frames_fails_the_cable_with_its_own_numbers() {
    let scripts: [&[&str]; 3] =
        [&["a>b fcs 6"], &["b>a truncate 7", "a>b flip 4 bits 9"], &["a>b flip 8 bits 3 region header"]];
    let Some(runs) = run(scripts) else { return };
    for ended in &runs {
        ended.assert_verdict("FAIL", 1);
        compare(ended);
    }
    let [fcs, payload, header] = runs.each_ref().map(Ended::json);
    assert_eq!(reason(&runs[0]), "port B: 6 frames with a wrong FCS");
    assert_eq!(number(&fcs["a_to_b"], "lost"), 6, "discarded by the MAC, and counted once");
    assert_eq!(number(&payload["b_to_a"], "corrupt"), 7);
    assert_eq!(number(&payload["a_to_b"], "bit_errors"), 36);
    let header = &header["a_to_b"];
    assert_eq!(number(header, "corrupt"), 8);
    assert_eq!(number(header, "lost"), 0, "no frame is surely lost");
    assert_eq!(number(header, "lost_at_most"), number(header, "unidentified"), "each may hide a loss");
}

#[test]
fn what_no_cable_does_is_invalid_and_what_any_cable_may_do_passes() {
    let Some(runs) = run([&["a>b duplicate 4"], &["b>a reorder 3"]]) else { return };
    for ended in &runs {
        ended.assert_verdict("INVALID", 3);
        compare(ended);
        assert!(reason(ended).starts_with("not a plain cable"), "{}", reason(ended));
    }
    let late = Gauge::on_emulated(&["a>b delay 3 by 20ms"]).unhurried().with(&["--json", "--truth"]).go();
    late.assert_verdict("PASS", 0);
    compare(&late);
    assert_eq!(test_frames(&late, "A>B").get("delayed"), 3);
}

#[test]
fn before_the_loop_check_has_passed_only_probes_leave() {
    let Some(runs) = run([&["b>a dead"], &["switch"], &["network"], &["b open"]]) else { return };
    let [dead, switch, network, open] = &runs;
    dead.assert_verdict("FAIL", 1);
    [switch, network, open].iter().for_each(|ended| ended.assert_verdict("INVALID", 3));
    for (ended, words) in
        [(dead, "B>A is dead"), (switch, "a switch is in the path"), (network, "live network on port ")]
    {
        assert!(reason(ended).starts_with(words), "{}", reason(ended));
    }
    assert!(reason(open).contains("one end open"), "{}", reason(open));
    for (ended, port) in runs.iter().flat_map(|ended| [(ended, "A"), (ended, "B")]) {
        let sent = sent_by(ended, port);
        assert_eq!((sent.get("test frames"), sent.get("others")), (0, 0), "{}", ended.out);
    }
    assert_eq!(sent_by(dead, "A").get("probes"), 64);
}

#[test]
fn a_foreign_frame_in_mid_run_stops_it_and_a_flap_fails_the_cable() {
    let foreign = "a>b foreign 1 at 400ms";
    let Some([foreign, flap]) = run([&[foreign], &["flap 1 for 200ms at 400ms"]]) else { return };
    foreign.assert_verdict("INVALID", 3);
    compare(&foreign);
    assert!(reason(&foreign).starts_with("live network on port B: a frame from "), "{}", reason(&foreign));
    // 1 s of traffic would be all of them.
    let (sent, whole) = (number(&foreign.json()["a_to_b"], "sent"), 20_000_000 / (1642 * 8));
    assert!((1..whole * 9 / 10).contains(&sent), "{sent} of {whole} frames left");
    flap.assert_verdict("FAIL", 1);
    compare(&flap);
    assert!(reason(&flap).contains("link change"), "{}", reason(&flap));
    assert!(flap.out.lines().any(|line| line == "truth flaps 1 of 1 asked"), "{}", flap.out);
}
