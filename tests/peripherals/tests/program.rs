//! The program from outside, without an emulator: what it answers and what it refuses.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs it with these words and these lines on standard input.
fn run(words: &[&str], lines: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linegauge-peripherals"));
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    // One that has refused its words reads nothing.
    let _ = process.stdin.take().unwrap().write_all(lines.as_bytes());
    process.wait_with_output().unwrap()
}

/// What it answers to each line, on both devices.
fn answers(folder: &Path, lines: &str) -> Vec<String> {
    let [oled, gpio] = ["oled", "gpio"].map(|name| folder.join(name).to_str().unwrap().to_owned());
    let output = run(&["--oled", "sh1106", &oled, "--gpio", &gpio], lines);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let mut answers = text.lines().map(str::to_owned);
    assert_eq!(answers.next().as_deref(), Some("ready"));
    answers.collect()
}

#[test]
fn each_command_is_answered_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("picture.png");
    let lines =
        format!("button down\nbutton up\noled picture {}\noled wedge\noled return\n", picture.display());
    assert_eq!(answers(folder.path(), &lines), ["ok"; 5]);
    let reader =
        png::Decoder::new(std::io::BufReader::new(std::fs::File::open(picture).unwrap())).read_info();
    assert_eq!(reader.unwrap().info().size(), (128, 64));
}

#[test]
fn what_it_cannot_do_is_refused_with_what_would_be_right() {
    let folder = tempfile::tempdir().unwrap();
    for (line, why) in [
        ("oled vanish", "no emulator is joined to it"),
        ("oled picture", "must be picture FILE, wedge, return or vanish"),
        ("oled picture /no/such/folder/a.png", "No such file or directory (os error 2)"),
        ("oled break", "must be picture FILE, wedge, return or vanish"),
        ("button", "must be down or up"),
        ("lamp on", "must begin with oled or button"),
        ("", "must begin with oled or button"),
    ] {
        assert_eq!(answers(folder.path(), &format!("{line}\n")), [format!("refused: {line}: {why}")]);
    }
    let output = run(&[], "oled wedge\nbutton up\n");
    let right =
        "ready\nrefused: oled wedge: there is no display\nrefused: button up: there is no GPIO chip\n";
    assert_eq!(String::from_utf8(output.stdout).unwrap(), right);
}

#[test]
fn wrong_words_are_refused_in_one_line() {
    for (words, why) in [
        (&["--oled", "ssd1307", "x"][..], "--oled ssd1307: must be ssd1306, ssd1309 or sh1106"),
        (&["--oled", "sh1106"], "--oled needs a chip and a socket"),
        (&["--gpio"], "--gpio needs a socket"),
        (&["--i2c"], "--i2c: must be --oled, --gpio or --help"),
    ] {
        let output = run(words, "");
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(String::from_utf8(output.stderr).unwrap(), format!("linegauge-peripherals: {why}\n"));
    }
    let output = run(&["--gpio", "/no/such/folder/socket"], "");
    let line = String::from_utf8(output.stderr).unwrap();
    assert!(
        line.starts_with("linegauge-peripherals: /no/such/folder/socket: ") && line.lines().count() == 1,
        "{line}"
    );
}
