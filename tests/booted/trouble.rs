//! When the box itself, or who reads it, fails.

use super::emulator::Emulator;
use super::panel::assert_shows;
use measure::record::text;
use measure::screen::Screen;

/// Nobody reads the serial port from the loop check to after the verdict, and more lines come than can wait there.
#[test]
fn a_reader_that_stops_for_a_whole_run_disturbs_nothing_and_is_told_what_it_missed() {
    let Some(emulator) = Emulator::new() else { return };
    let questions = "?".repeat(15);
    let ask = ["--type", "+0.5", &questions];
    let deaf = emulator.words(["--deaf", "phase loop check", "13"]);
    let shown = (0..12).fold(deaf, |emulator, _| emulator.words(ask)).until("end$");
    assert_eq!(shown.verdict(), ("PASS", ""));
    let dropped = shown.number(" dropped ", "dropped");
    // The help has five lines.
    let told = shown.count(" note \"") as u64;
    assert!(dropped > 0 && told < 12 * 15 * 5, "{dropped} dropped, {told} told");
    shown.assert_never("INVALID");
}

#[test]
fn a_run_loop_that_stands_still_is_reset_and_the_next_start_says_so() {
    let Some(emulator) = Emulator::with_test_build() else { return };
    let shown = emulator
        .words(["--append", "linegauge.debug=wedge", "--unplug", "phase run"])
        .words(["--type", "phase wait", ""])
        .picture("+0.6")
        .words(["--type", "+0.2", "?"])
        .until("this help");
    assert_eq!(shown.count(" boot version"), 2);
    assert!(shown.find("THE WATCHDOG RESET THIS BOX").is_some());
    assert_shows(
        &shown.file("step.png"),
        &Screen::PlugCable { last: None, hint: text("restarted by its watchdog") },
    );
}

#[test]
fn a_gauge_that_sees_no_errors_judges_no_cable() {
    let Some(emulator) = Emulator::with_test_build() else { return };
    let shown = emulator
        .words(["--append", "linegauge.debug=blind", "--press", " fault "])
        .picture("+0.4")
        .until(" fault ");
    assert!(shown.line(" fault ").contains("self-proof: one lost frame: B>A lost is 0, and must be 1"));
    assert_eq!(shown.find(" verdict "), None);
    assert_shows(&shown.file("step.png"), &Screen::Fault { text: text("the gauge does not see errors") });
}

#[test]
fn a_program_error_is_told_on_log_and_display() {
    let Some(emulator) = Emulator::with_test_build() else { return };
    let shown = emulator.words(["--append", "linegauge.debug=panic"]).screenshot().until(" fault ");
    assert!(shown.line(" fault ").contains("asked for on the kernel's command line"));
    assert_shows(&shown.file("end.png"), &Screen::Fault { text: text("program error, see the log") });
}

#[test]
fn what_is_wrong_on_the_kernels_command_line_is_told_and_the_button_starts_again() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator
        .words(["--append", "linegauge.bord=x520", "--type", " fault ", "", "--press", "+1"])
        .until(" fault ");
    assert!(shown.line(" fault ").contains("unknown linegauge.bord; did you mean linegauge.board?"));
    assert_eq!(shown.count(" boot version"), 2);
    assert_eq!(shown.find(" verdict "), None);
}

#[test]
fn a_technicians_build_has_no_switches_to_break_it() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator.words(["--append", "linegauge.debug=wedge"]).until(" fault ");
    assert!(shown.line(" fault ").contains("linegauge.debug=wedge: only a test build has switches"));
}

#[test]
fn a_board_without_ports_of_its_own_is_no_box() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator.words(["--append", "linegauge.board=virtual"]).until(" fault ");
    assert!(shown.line(" fault ").contains("board virtual has no port-a and port-b"));
}
