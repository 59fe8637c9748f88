//! The small display, the GPIO button and the lamps: what a technician sees, touches and hears.
//!
//! The display is read out of its own memory, and compared pixel by pixel with the page that the log's figures make.

use super::emulator::{Emulator, Shown};
use super::life::NO_ERRORS;
use super::panel::{assert_shows, verdict};
use measure::record::text;
use measure::screen::Screen;
use measure::units::Direction;
use measure::verdict::{Reason, Verdict};

/// What the log says of a display that is not there any more: on this bus nothing tells that it has gone.
const STUCK: &str = "note \"display lost: it does not answer; nothing else waits for it\"";

/// A box with a display of this chip, a GPIO button, lamps and a beeper.
fn with_oled(chip: &str) -> Option<Emulator> {
    Some(Emulator::new()?.peripherals(chip))
}

impl Emulator {
    /// Keeps the small display a second after the end of a run, and switches the box off.
    fn look_and_switch_off(self) -> Shown {
        let words = ["--type", "end$", ""];
        self.words(words).oled_picture("+1", "oled.png").words(["--type", "+0.1", "off\r"]).until_it_is_off()
    }
}

impl Shown {
    /// These lines have come, one behind the other.
    fn assert_in_order(&self, parts: &[&str]) {
        let mut lines = self.lines.iter();
        for part in parts {
            assert!(
                lines.any(|line| line.contains(part)),
                "no {part:?} in this place:\n{}",
                self.lines.join("\n")
            );
        }
    }

    /// A run of no errors and no trouble, whatever the display did.
    fn assert_undisturbed_pass(&self) {
        assert_eq!(self.verdict(), ("PASS", ""));
        assert!(self.line(" verdict PASS, run 1").ends_with("at 0.020 Gb/s, of 1.000 Gb/s"));
        for direction in ["total A>B", "total B>A"] {
            assert!(self.number(direction, "sent") > 0);
            assert_eq!(self.number(direction, "sent"), self.number(direction, "good"));
        }
        self.assert_in_order(&["-- lamp-busy on", "-- lamp-pass on", "-- lamp-pass off"]);
        assert_eq!(self.find("-- lamp-fail on"), None);
    }
}

/// The cable is put in only once a run has begun, so it is the button that has begun it.
fn a_press_is_a_run_and_its_pass_is_seen(chip: &str) {
    let Some(emulator) = with_oled(chip) else { return };
    let shown =
        emulator.words(["--unplug", "", "--key", "phase wait", "--plug", "phase link"]).look_and_switch_off();
    shown.assert_in_order(&[" phase wait", "-- key", " start run 1", "-- plug", " phase run"]);
    shown.assert_undisturbed_pass();
    assert_shows(&shown.file("oled.png"), &verdict(Verdict::Pass, NO_ERRORS, 1));
    assert_eq!((shown.count("-- beeper on"), shown.count("-- beeper off")), (1, 1), "a short beep");
    assert_eq!(shown.find("-- oled wrong"), None, "a command that the chip does not have");
    assert_eq!(shown.count("note \"display up\""), 1);
    assert_eq!(shown.find("display lost"), None);
}

#[test]
fn a_press_is_a_run_and_its_pass_is_seen_on_an_ssd1306() {
    a_press_is_a_run_and_its_pass_is_seen("ssd1306");
}

#[test]
fn a_press_is_a_run_and_its_pass_is_seen_on_an_sh1106() {
    a_press_is_a_run_and_its_pass_is_seen("sh1106");
}

#[test]
fn a_dead_direction_lights_the_fail_lamp_and_never_the_pass_lamp() {
    let Some(emulator) = with_oled("ssd1306") else { return };
    let shown = emulator.cable("a>b dead at 3s").look_and_switch_off();
    let sent = shown.number("total A>B", "sent");
    let lost = shown.number("total A>B", "lost");
    assert!(lost > 0 && lost < sent, "{lost} of {sent}");
    assert_eq!(shown.verdict(), ("FAIL", format!("A>B lost {lost} of {sent}").as_str()));
    shown.assert_in_order(&["-- lamp-busy on", "-- lamp-fail on", "-- lamp-busy off", "-- lamp-fail off"]);
    assert_eq!(shown.find("-- lamp-pass on"), None);
    assert_eq!(shown.count("-- beeper on"), 3);
    let reason = Reason::Lost { direction: Direction::AToB, at_least: lost, at_most: lost, sent };
    assert_shows(&shown.file("oled.png"), &verdict(Verdict::Fail, &reason.brief(), 1));
}

#[test]
fn a_display_that_vanishes_in_mid_run_takes_nothing_with_it() {
    for (chip, phase) in [("ssd1306", "phase run"), ("sh1106", "phase settle")] {
        let Some(emulator) = with_oled(chip) else { return };
        let shown = emulator.words(["--oled-vanish", phase]).look_and_switch_off();
        shown.assert_undisturbed_pass();
        shown.assert_in_order(&[phase, "-- oled-vanish", STUCK, " verdict PASS, run 1", "switching off"]);
        assert_eq!(shown.count("display lost"), 1);
    }
}

#[test]
fn a_display_that_wedges_its_bus_in_mid_run_takes_nothing_with_it_and_shows_the_verdict_once_it_is_back() {
    let Some(emulator) = with_oled("sh1106") else { return };
    let shown = emulator.words(["--oled-wedge", "phase run", "--oled-return", "end$"]).look_after_return();
    shown.assert_undisturbed_pass();
    let back = ["-- oled-wedge", STUCK, " verdict PASS, run 1", "-- oled-return", "note \"display up\""];
    shown.assert_in_order(&back);
    assert_eq!((shown.count("display lost"), shown.count("display up")), (1, 2));
    assert_shows(&shown.file("oled.png"), &verdict(Verdict::Pass, NO_ERRORS, 1));
}

#[test]
fn a_display_that_is_wedged_from_power_on_keeps_nobody_waiting() {
    let Some(emulator) = with_oled("ssd1306") else { return };
    let shown = emulator.words(["--oled-wedge", ""]).until("end$");
    assert_eq!(shown.verdict(), ("PASS", ""));
    assert_eq!((shown.count(STUCK), shown.count("note \"display")), (1, 1));
    shown.assert_in_order(&["-- oled-wedge", " boot version", STUCK, " verdict PASS, run 1"]);
}

#[test]
fn after_a_program_error_the_display_says_so_and_a_press_starts_the_box_again() {
    let Some(emulator) = Emulator::with_test_build() else { return };
    let broken = "linegauge.board=emulated-ssd1306 linegauge.debug=panic";
    let emulator = emulator.peripherals("ssd1306").words(["--append", broken, "--type", " fault ", ""]);
    let shown = emulator.oled_picture("+1", "oled.png").words(["--key", "+0.1"]).until(" fault ");
    shown.assert_in_order(&[" boot version", " fault ", "-- key", " boot version", " fault "]);
    assert_shows(&shown.file("oled.png"), &Screen::Fault { text: text("program error, see the log") });
    assert!(shown.count("-- lamp-busy on") > 2, "it blinks fast");
    assert_eq!(shown.find("-- lamp-pass on"), None);
    assert_eq!(shown.find("-- oled wrong"), None);
}

#[test]
fn a_box_with_neither_display_nor_gpio_chip_runs_all_the_same() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator.words(["--append", "linegauge.board=emulated-sh1106"]).until("end$");
    assert_eq!(shown.verdict(), ("PASS", ""));
    assert!(shown.line("display lost").contains("0 I2C adapters are named i2c_virtio"));
    for line in ["button", "PASS lamp", "FAIL lamp", "busy lamp", "beeper"] {
        assert_eq!(shown.count(&format!("note \"{line} on gpiochip0:")), 1, "{line}");
    }
}

impl Emulator {
    /// The same as [`Self::look_and_switch_off`] where a step has already waited for the end of the run.
    fn look_after_return(self) -> Shown {
        self.oled_picture("+1", "oled.png").words(["--type", "+0.1", "off\r"]).until_it_is_off()
    }
}
