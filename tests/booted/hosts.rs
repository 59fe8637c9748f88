//! Other hosts: clocks, processors, ports, firmware.

use super::emulator::Emulator;
use super::panel::{assert_shows, verdict};
use measure::units::Side;
use measure::verdict::{Reason, Setting, Verdict};

#[test]
fn the_clock_is_pinned_and_read_back_and_the_latency_held() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator.until("start run 1");
    assert!(shown.line("set clock").ends_with("wanted \"2000000 kHz\", got \"2000000 kHz, cpu 0-1\", held"));
    assert!(shown.line("kHz measured").ends_with("got N/A, not available"));
    assert!(shown.line("set latency").ends_with("wanted \"10 us\", got \"10 us\", held"));
    assert!(shown.line("note \"clock: driver").contains("acpi-cpufreq"));
}

#[test]
fn a_box_without_a_clock_to_pin_is_invalid_before_any_frame() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator.words(["--cpu", "qemu64"]).capture().screenshot().until("end$");
    assert_eq!(shown.verdict(), ("INVALID", "setting clock could not be held"));
    let reason = Reason::SettingNotHeld { setting: Setting::Clock, port: None };
    assert_shows(&shown.file("end.png"), &verdict(Verdict::Invalid, &reason.brief(), 1));
    for side in ["a.pcap", "b.pcap"] {
        assert_eq!(super::capture::left(&shown.file(side)), super::capture::Left::default());
    }
}

#[test]
fn a_processor_that_is_offline_is_left_out_and_named() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator.words(["--append", "maxcpus=1"]).until("end$");
    assert!(shown.find("clock: offline and left out: cpu 1").is_some());
    assert!(shown.line("set clock").ends_with("got \"2000000 kHz, cpu 0\", held"));
    assert_eq!(shown.verdict(), ("PASS", ""));
}

#[test]
fn a_missing_port_is_named() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator.words(["--nics", "1"]).screenshot().until("end$");
    assert_eq!(shown.verdict(), ("INVALID", "port B: setting ports could not be held"));
    assert!(
        shown.line("set ports B").contains("wanted \"0000:00:11.0\", got \"no PCI device there\", NOT HELD")
    );
    let reason = Reason::SettingNotHeld { setting: Setting::Ports, port: Some(Side::B) };
    assert_shows(&shown.file("end.png"), &verdict(Verdict::Invalid, &reason.brief(), 1));
}

/// The card with the address that ends in 0a is in port B's slot, and the other way round: ports go by their slots.
#[test]
fn port_a_is_what_is_in_its_slot() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator.words(["--swap-nics"]).until("end$");
    assert!(shown.line(" port A, name").ends_with("mac 52:54:00:00:00:0b"));
    assert!(shown.line(" port B, name").ends_with("mac 52:54:00:00:00:0a"));
    assert_eq!(shown.verdict(), ("PASS", ""));
}

#[test]
fn the_stick_boots_by_uefi() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator.words(["--uefi"]).screenshot().until("end$");
    assert_eq!(shown.verdict(), ("PASS", ""));
    assert_shows(&shown.file("end.png"), &verdict(Verdict::Pass, "no errors at 0.02 of 1.0 Gb/s", 1));
}
