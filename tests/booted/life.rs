//! From power-on to power-off: waiting, verdict, button, next cable.

use super::capture::{Left, left};
use super::emulator::Emulator;
use super::panel::{assert_shows, verdict};
use measure::verdict::Verdict;

/// What stands under a PASS of the emulated box.
pub const NO_ERRORS: &str = "no errors at 0.02 of 1.0 Gb/s";

#[test]
fn a_good_cable_passes_on_log_and_display_and_the_button_runs_it_again() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator.press_after_the_first_run().capture().screenshot().until("end$");
    assert_eq!(shown.verdict(), ("PASS", ""));
    assert!(shown.line(" verdict PASS, run 2").ends_with("at 0.020 Gb/s, of 1.000 Gb/s"));
    shown.assert_never("FAIL");
    shown.assert_never("INVALID");
    assert_shows(&shown.file("end.png"), &verdict(Verdict::Pass, NO_ERRORS, 2));
    only_what_the_log_says_has_left(&shown);
    // Times since power-on, in the order of the box's life.
    let moments =
        [" boot ", " phase wait", " start run 1", " phase link", " phase run", " verdict PASS, run 1"];
    let moments = moments.map(|part| shown.at(part));
    assert!(moments.is_sorted() && moments[0] > 0.0, "{moments:?}");
}

/// Nothing leaves the ports but probes and test frames, from power-on over two runs: as many as the log says.
fn only_what_the_log_says_has_left(shown: &super::emulator::Shown) {
    for (side, direction) in [("a", "A>B"), ("b", "B>A")] {
        let Left { test, unicast, filtered } = left(&shown.file(&format!("{side}.pcap")));
        assert_eq!((unicast, filtered), (64, 64), "32 of each kind in each run");
        let told = |line: &&String| line.contains(&format!(" left {direction}"));
        let frames = |line: &String| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
        assert_eq!(test, shown.lines.iter().filter(told).map(frames).sum::<u64>(), "{direction}");
    }
}

#[test]
fn the_next_cable_runs_by_itself_under_its_own_label() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator
        .words(["--type", "phase wait", "l blue 3m\r", "--unplug", "end$", "--plug", "phase wait"])
        .until("end$");
    assert!(shown.find(" verdict PASS, run 2").is_some());
    assert_eq!(shown.count("board \"emulated-box\", cable ports, label \"blue 3m\""), 2);
    // The cable has to be out for two seconds before another one counts.
    let out = shown.lines.iter().position(|line| line.starts_with("-- unplug")).unwrap();
    let second = |line: &str| line.split_whitespace().next().unwrap().parse::<f64>().unwrap();
    let [down, wait] = [" link B down", " phase wait"]
        .map(|part| second(shown.lines[out..].iter().find(|line| line.contains(part)).unwrap()));
    assert!(wait - down >= 2.0, "{down} to {wait}");
}

#[test]
fn a_cable_that_is_out_again_before_anything_was_sent_is_no_run() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator.words(["--unplug", "phase link", "--plug", "no run"]).until("end$");
    assert!(shown.find(" verdict PASS, run 1").is_some());
    assert_eq!(shown.count(" verdict "), 1);
}

#[test]
fn what_is_typed_is_answered_and_switches_the_box_off() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator
        .words([
            "--type",
            "end$",
            "s",
            "--type",
            "end$",
            "?",
            "--type",
            "help",
            "flash\r",
            "--type",
            "no command",
            "off\r",
        ])
        .until_it_is_off();
    // Behind it only the kernel has a word.
    assert!(shown.lines.iter().rev().take(2).any(|line| line.ends_with("note \"switching off\"")));
    assert_eq!(shown.count(" verdict PASS, run 1"), 2, "told, and told again");
    assert!(shown.find("off Enter: switch the box off").is_some());
    assert!(shown.line("no command").contains("flash"));
}

impl Emulator {
    fn press_after_the_first_run(self) -> Self {
        self.words(["--press", "end$"])
    }
}
