//! Records in, lines and rows out.

use super::*;
use crate::journal::record::body::{Account, Passage};
use crate::journal::record::frame::tests::foreign;
use crate::journal::record::{CodedReason, Recorder};
use core::time::Duration;
use measure::record::{Classes, Event, Phase, Stamped, text};
use measure::units::{BitRate, Direction, Instant};
use measure::verdict::{Reason, Verdict};
use proptest::prelude::*;
use serde_json::Value;

fn start(run: u32, label: &str) -> Event {
    let (board, label) = (text("bench"), text(label));
    Event::Start { run, version: "1.2.3", board, label, cable: "ports", nonce: 1 }
}

fn second(rate: Option<u64>, lost: u64) -> Event {
    let errors = Classes { lost, ..Classes::default() };
    let left = Some(Duration::from_secs(6));
    Event::Rate { rates: [rate.map(BitRate::from_mbps), None], errors, left }
}

fn end(run: u32, verdict: Verdict) -> [Event; 2] {
    [Event::Verdict { verdict, run, basis: Some(BitRate::from_mbps(10_000)), of: None }, Event::End]
}

/// A box, one event a second.
struct Maker(Recorder, u64);

impl Maker {
    fn new(box_id: &str) -> Self {
        Self(Recorder::new(box_id, Some("13639f6")), 0)
    }

    fn make(&mut self, events: impl IntoIterator<Item = Event>) -> Vec<u8> {
        let mut octets = Vec::new();
        for event in events {
            self.1 += 1;
            let at = Instant::from_millis(1_000 * self.1);
            octets.extend(self.0.take(&Stamped { at, event }).unwrap_or_default());
        }
        octets
    }
}

/// A run that fails, of a box that knows what time it is.
fn run() -> Vec<u8> {
    let mut maker = Maker::new("box 7");
    maker.0.set_wall_clock(Instant::ZERO, Duration::from_secs(1_796_095_638));
    let lost = Reason::Lost { direction: Direction::AToB, at_least: 17, at_most: 17, sent: 73_012_345 };
    let mut events = vec![start(3, "rack 7, \"blue\""), Event::Phase(Phase::Run), second(Some(9_998), 17)];
    events.extend(end(3, Verdict::Fail));
    events.insert(4, Event::Reason(Reason::StoppedEarly));
    events.insert(4, Event::Reason(lost));
    maker.make(events)
}

fn style(format: Format, rows: Rows) -> Style {
    Style { format, rows, marked: false }
}

fn said(octets: &[u8], style: Style) -> String {
    let mut out = String::new();
    Reader::new("/dev/ttyUSB0", style).take(octets, &mut out);
    out
}

fn objects(octets: &[u8], rows: Rows) -> Vec<Value> {
    let out = said(octets, style(Format::JsonLines, rows));
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lines_are_those_of_the_log() {
    let lines = said(&run(), Style::default());
    let expected = "     1.000 start run 3, version 1.2.3, board \"bench\", cable ports, \
                    label \"rack 7, \\\"blue\\\"\", nonce 00000001, commit 13639f6, box \"box 7\", \
                    utc 2026-12-01T03:27:19.000Z
     2.000 phase run
     3.000 rate A>B 9.998 Gb/s, B>A N/A, lost 17, corrupt 0, link 0, internal 0, left 6 s
     7.000 verdict FAIL, run 3, at 10.000 Gb/s
     7.000 reason \"A>B lost 17 of 73012345\"
     7.000 reason \"stopped early\"
     7.000 of version 1.2.3, board \"bench\", label \"rack 7, \\\"blue\\\"\", commit 13639f6, box \"box 7\", \
                    utc 2026-12-01T03:27:25.000Z
     7.000 end
";
    assert_eq!(lines, expected);
}

#[test]
fn a_second_is_an_object_with_units_in_its_names_and_null_for_what_is_unknown() {
    let objects = objects(&run(), Rows::Seconds);
    let [second] = objects.as_slice() else { panic!("{objects:?}") };
    for (name, value) in [
        ("kind", Value::from("second")),
        ("source", "/dev/ttyUSB0".into()),
        ("box", "box 7".into()),
        ("board", "bench".into()),
        ("version", "1.2.3".into()),
        ("git_commit", "13639f6".into()),
        ("label", "rack 7, \"blue\"".into()),
        ("run", 3.into()),
        ("at_s", 3.0.into()),
        ("utc", "2026-12-01T03:27:21.000Z".into()),
        ("phase", "run".into()),
        ("a_to_b_rate_gbps", 9.998.into()),
        ("b_to_a_rate_gbps", Value::Null),
        ("lost_frames", 17.into()),
        ("left_s", 6.into()),
    ] {
        assert_eq!(second[name], value, "{name}");
    }
    assert!(second.get("verdict").is_none(), "what a second cannot have is not there");
}

#[test]
fn a_run_is_an_object_that_needs_no_other() {
    let whole = run();
    // Only the summary arrives.
    let last = whole.iter().rposition(|&octet| octet == 0).unwrap();
    let first = whole[..last].iter().rposition(|&octet| octet == 0).unwrap();
    let objects = objects(&whole[first..], Rows::Both);
    let [run] = objects.as_slice() else { panic!("{objects:?}") };
    for (name, value) in [
        ("kind", Value::from("run")),
        ("box", "box 7".into()),
        ("board", "bench".into()),
        ("git_commit", "13639f6".into()),
        ("label", "rack 7, \"blue\"".into()),
        ("run", 3.into()),
        ("utc", "2026-12-01T03:27:25.000Z".into()),
        ("verdict", "FAIL".into()),
        ("reason", "A>B lost 17 of 73012345".into()),
        ("reasons", "A>B lost 17 of 73012345; stopped early".into()),
        ("basis_gbps", 10.0.into()),
        ("paced_of_gbps", Value::Null),
        ("ber_confidence", Value::Null),
        ("a_to_b_sent_frames", Value::Null),
        ("settings_not_held", "".into()),
    ] {
        assert_eq!(run[name], value, "{name}");
    }
}

#[test]
fn csv_has_one_header_for_both_kinds_and_as_many_fields_in_every_row() {
    let rows = said(&run(), style(Format::Csv, Rows::Both));
    let header = header(Rows::Both);
    let columns = header.trim_end().split(',').count();
    let quoted = "\"rack 7, \"\"blue\"\"\"";
    for (row, kind) in rows.lines().zip(["second", "run"]) {
        assert!(
            row.starts_with(&format!("{kind},/dev/ttyUSB0,box 7,bench,1.2.3,13639f6,{quoted},3,")),
            "{row}"
        );
        let plain = row.replace(quoted, "label").replace("\"\"", "");
        assert_eq!(plain.split(',').count(), columns, "{row}");
    }
    assert_eq!(rows.lines().count(), 2);
}

#[test]
fn rows_of_one_kind_have_that_kinds_columns() {
    for (rows, kind, own, others) in
        [(Rows::Runs, "run", "verdict", "left_s"), (Rows::Seconds, "second", "left_s", "verdict")]
    {
        let (header, body) = (header(rows), said(&run(), style(Format::Csv, rows)));
        let names: Vec<_> = header.trim_end().split(',').collect();
        assert!(names.contains(&own) && !names.contains(&others), "{names:?}");
        assert!(body.starts_with(kind) && body.lines().count() == 1, "{body}");
    }
}

#[test]
fn no_two_columns_have_one_name() {
    let header = header(Rows::Both);
    let names: Vec<_> = header.trim_end().split(',').collect();
    let different: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(different.len(), names.len());
    assert!(names.iter().all(|name| name.bytes().all(|octet| octet.is_ascii_lowercase() || octet == b'_')));
}

#[test]
fn objects_and_csv_have_the_same_columns_in_the_same_order() {
    for (rows, at) in [(Rows::Seconds, 0), (Rows::Runs, 0)] {
        let out = said(&run(), style(Format::JsonLines, rows));
        let line = out.lines().nth(at).unwrap();
        let mut from = 0;
        for name in header(rows).trim_end().split(',') {
            let key = format!("\"{name}\":");
            from += line[from..].find(&key).unwrap_or_else(|| panic!("{key} after {from} in {line}"));
        }
    }
}

#[test]
fn several_sources_mark_every_line_with_the_box_or_until_it_is_known_with_the_source() {
    let mut reader = Reader::new("/dev/ttyUSB0", Style { marked: true, ..Style::default() });
    let mut maker = Maker::new("rack-7");
    let mut out = String::new();
    let hello = maker.make([start(1, "")]);
    let early = maker.make([second(Some(1), 0)]);
    reader.take(&early, &mut out);
    reader.take(&hello, &mut out);
    reader.cut();
    reader.take(&early, &mut out);
    let names: Vec<_> = out.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(names, ["/dev/ttyUSB0", "rack-7", "/dev/ttyUSB0"], "after a cut it may be another box");
}

#[test]
fn a_mark_is_one_word() {
    assert_eq!(lines::mark("rack-7"), "rack-7");
    assert_eq!(lines::mark("rack 7"), "\"rack 7\"");
    assert_eq!(lines::mark("a\nb"), "\"a\\u000ab\"");
}

#[test]
fn the_label_of_another_run_is_not_this_ones() {
    let mut maker = Maker::new("box");
    let first = maker.make([start(3, "blue")]);
    let lost_hello = maker.make([start(4, "red")]);
    let second = maker.make([second(Some(1), 0)]);
    assert!(!lost_hello.is_empty());
    let objects = objects(&[first, second].concat(), Rows::Both);
    assert_eq!(
        (&objects[0]["label"], &objects[0]["run"], &objects[0]["box"]),
        (&Value::Null, &4.into(), &"box".into())
    );
}

#[test]
fn without_a_wall_clock_there_is_no_utc() {
    let octets = Maker::new("box").make([start(3, ""), second(None, 0)]);
    let objects = objects(&octets, Rows::Both);
    assert_eq!(
        (&objects[0]["utc"], &objects[0]["label"]),
        (&Value::Null, &"".into()),
        "empty is not unknown"
    );
    assert!(said(&octets, style(Format::Csv, Rows::Both)).contains(",\"\",3,"));
}

#[test]
fn names_that_a_newer_version_has_given_are_shown_by_their_numbers() {
    let reason = CodedReason { code: 99, figures: [1, 2].into_iter().collect() };
    assert_eq!(lines::reason(&reason), "reason number 99 [1, 2]");
    assert_eq!(lines::verdict(9), "number 9");
    let passage = Record::Passage(Passage { at_ms: 12_345, run: 1, phase: 77 });
    assert_eq!(lines::of(&passage), ["    12.345 phase number 77"]);
}

#[test]
fn a_summary_without_its_origin_takes_the_hellos() {
    let mut context = Context::default();
    context.learn(&Record::Hello(Hello {
        at_ms: 0,
        unix_ms: None,
        box_id: "b".try_into().unwrap(),
        origin: Origin { board: "bench".try_into().unwrap(), ..Origin::default() },
        start: None,
    }));
    context.learn(&Record::Summary(Summary {
        accounts: [Some(Account::default()), None],
        ..Summary::default()
    }));
    assert_eq!(context.origin.unwrap().board, "bench");
}

#[test]
fn a_reason_never_has_what_separates_reasons() {
    let figures: heapless::Vec<u64, 6> = [1, 2, 3, 4, 5, 6].into_iter().collect();
    let texts = (0..=255).map(|code| lines::reason(&CodedReason { code, figures: figures.clone() }));
    assert!(texts.into_iter().all(|text| !text.contains("; ")));
}

#[test]
fn every_frame_of_a_run_says_something() {
    let frames = run();
    let mut reader = Reader::new("x", Style::default());
    let mut out = String::new();
    reader.take(&frames, &mut out);
    assert_eq!((reader.records(), reader.skipped().is_nothing()), (4, true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Frames that are whole, with bodies of any octets: whoever made them, lines stay lines and rows rows.
    #[test]
    fn no_record_breaks_a_line_or_a_row(kind in 1..9_u8, body in prop::collection::vec(any::<u8>(), 0..300)) {
        let frame = foreign(0x10, kind, 0, &body);
        let lines = said(&frame, Style::default());
        prop_assert!(lines.lines().all(|line| !line.contains(char::is_control)), "{lines:?}");
        for object in said(&frame, style(Format::JsonLines, Rows::Both)).lines() {
            prop_assert!(serde_json::from_str::<Value>(object).is_ok(), "{object}");
        }
        said(&frame, style(Format::Csv, Rows::Both));
    }

    /// The same for seconds with any figures.
    #[test]
    fn no_figures_take_the_reader_down(at_ms in any::<u64>(), unix_ms in any::<u64>(), rate in any::<u64>()) {
        let mut context = Context::default();
        let hello = Hello { at_ms, unix_ms: Some(unix_ms), box_id: BoxName::new(), origin: Origin::default(), start: None };
        context.learn(&Record::Hello(hello));
        let second = Second {
            at_ms: rate,
            run: 1,
            rates_kbps: [Some(rate); 2],
            lost: rate,
            corrupt: rate,
            link: rate,
            internal: rate,
            left_s: Some(u32::MAX),
        };
        let record = Record::Second(second);
        prop_assert_eq!(lines::of(&record).len(), 1);
        let mut out = String::new();
        table::json(Rows::Both, &context, &record, &mut out);
        prop_assert!(serde_json::from_str::<Value>(&out).is_ok(), "{}", out);
    }
}
