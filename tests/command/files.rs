//! What a run writes: the log on standard output and in a file, and the picture of the last panel.

use super::gauge::{Ended, Gauge, PROGRAM, has_namespaces, has_tap};
use super::grammar::{self, Parsed};
use linegauge::panel::{picture, png};
use measure::record::text;
use measure::screen::Screen;
use measure::verdict::Verdict;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Pixels of the picture for each pixel of the panel.
const SCALE: u32 = 4;

/// A run that writes everything, with its log file and its picture.
fn everything(gauge: Gauge) -> (Ended, String, Vec<u8>) {
    let (log, picture) = (gauge.file("log"), gauge.file("picture.png"));
    let gauge = gauge.with_log(&log).with(&["--screenshot", picture.to_str().unwrap(), "--json"]);
    let ended = gauge.go();
    (ended, fs::read_to_string(log).unwrap(), fs::read(picture).unwrap())
}

/// Width, height, and whether there are both dark and lit pixels.
fn look_at(file: &[u8]) -> (u32, u32, bool) {
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, pixels.iter().any(|&pixel| pixel != pixels[0]))
}

fn verdict_page(verdict: Verdict, reason: &str) -> Vec<u8> {
    png::encode(&picture(&Screen::Verdict { verdict, reason: text(reason), run: 1, unsaved: false }), SCALE)
}

/// The fields of the lines with `tag`.
fn tagged<'a>(lines: &'a [Parsed], tag: &'a str) -> impl Iterator<Item = String> + 'a {
    lines.iter().filter(move |line| line.tag == tag).map(|line| line.fields.join(", "))
}

#[test]
fn records_of_a_run_say_what_its_result_says() {
    if !has_tap() {
        return;
    }
    let gauge = Gauge::on_emulated(&["a>b drop 17"]);
    let records = gauge.file("run.rec");
    let ended = gauge.with(&["--records", records.to_str().unwrap(), "--json", "--label", "blue"]).go();
    ended.assert_verdict("FAIL", 1);
    let mut log = Command::new(PROGRAM);
    let rows = log.args(["log", "--format", "jsonl", "--rows", "runs"]).arg(&records).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&rows.stderr), "", "nothing is skipped");
    let row: serde_json::Value = serde_json::from_slice(&rows.stdout).unwrap();
    let result = ended.json();
    assert_eq!((&row["verdict"], &row["label"], &row["box"]), (&"FAIL".into(), &"blue".into(), &"".into()));
    assert_eq!(row["a_to_b_sent_frames"], result["a_to_b"]["sent"]);
    assert_eq!((&row["a_to_b_lost_at_least_frames"], &row["b_to_a_missing_frames"]), (&17.into(), &0.into()));
    assert!(row["utc"].as_str().is_some_and(|utc| utc.ends_with('Z')), "{row}");
}

#[test]
fn a_failed_run_writes_one_log_to_both_places_and_a_picture_of_its_verdict() {
    if !has_tap() {
        return;
    }
    let gauge = Gauge::on_emulated(&["a>b drop 17", "b>a flip 5"]);
    let (ended, log, picture) = everything(gauge.with(&["--truth", "--label", "rack \"7\", blue"]));
    ended.assert_verdict("FAIL", 1);
    assert_eq!(ended.log(), log.lines().collect::<Vec<_>>());
    let lines = grammar::check(&log.lines().collect::<Vec<_>>());
    assert_eq!((lines[0].tag, lines.last().unwrap().tag), ("start", "end"));
    assert!(log.contains("label \"rack \\\"7\\\", blue\""), "{log}");
    let result = ended.json();
    let reasons: Vec<String> =
        result["reasons"].as_array().unwrap().iter().map(|reason| reason.to_string()).collect();
    assert_eq!(tagged(&lines, "reason").collect::<Vec<_>>(), reasons);
    assert_eq!(tagged(&lines, "total").count(), 2);
    assert_eq!(tagged(&lines, "stream").count(), 4);
    let (width, height, drawn) = look_at(&picture);
    assert_eq!((width, height, drawn), (128 * SCALE, 64 * SCALE, true));
    let reasons = [verdict_page(Verdict::Pass, "no errors"), verdict_page(Verdict::Invalid, "")];
    assert!(!reasons.contains(&picture));
}

#[test]
fn a_passed_run_writes_a_picture_of_pass() {
    if !has_namespaces() {
        return;
    }
    let (ended, log, picture) = everything(Gauge::on_virtual().unhurried());
    ended.assert_verdict("PASS", 0);
    let page = verdict_page(Verdict::Pass, "no errors at 0.02 of 10.0 Gb/s");
    assert!(picture == page, "the picture is another page");
    let lines = grammar::check(&log.lines().collect::<Vec<_>>());
    let phases: Vec<String> = tagged(&lines, "phase").collect();
    assert_eq!(phases, ["settings", "link", "loop check", "settle", "run", "drain", "done"]);
    assert!(tagged(&lines, "rate").count() >= 2);
    assert!(!ended.out.contains('\u{1b}'), "no escape sequences where the output is no terminal");
}

#[test]
fn a_log_that_cannot_be_kept_is_told_and_the_verdict_stands() {
    if !has_namespaces() {
        return;
    }
    let ended = Gauge::on_virtual().unhurried().with_log(Path::new("/dev/full")).go();
    assert!(ended.err.contains("the log is not complete"), "{}", ended.err);
    assert!(ended.log().last().unwrap().ends_with("end"), "standard output has it all");
}
