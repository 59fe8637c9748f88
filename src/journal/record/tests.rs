//! Events in, frames out: what the wire takes, and what comes back of it.

use super::body::{Account, MOST_REASONS, Summary};
use super::codes::Coded;
use super::*;
use core::time::Duration;
use measure::ledger::{DirectionReport, HostEvidence, Interval};
use measure::record::{Classes, Event, Held, Phase, SettingReading, Stamped, text, words};
use measure::tally::Tally;
use measure::units::{BitRate, Direction, Instant, Side};
use measure::verdict::{Reason, Setting, Verdict};
use proptest::prelude::*;

/// The records in `octets`, and what was skipped.
pub fn read(octets: &[u8]) -> (Vec<Record>, Skipped) {
    let mut decoder = Decoder::default();
    let records = octets.iter().filter_map(|&octet| decoder.take(octet)).collect();
    decoder.cut();
    (records, *decoder.skipped())
}

fn at(millis: u64, event: Event) -> Stamped {
    Stamped { at: Instant::from_millis(millis), event }
}

fn start(run: u32, label: &str) -> Event {
    let (board, label) = (text("bench"), text(label));
    Event::Start { run, version: "1.2.3", board, label, cable: "ports", nonce: u32::MAX }
}

fn verdict(verdict: Verdict) -> Event {
    let basis = Some(BitRate::from_mbps(1_000));
    Event::Verdict { verdict, run: 3, basis, of: Some(BitRate::from_mbps(10_000)) }
}

fn second(rate: u64, count: u64, left: Duration) -> Event {
    Event::Rate {
        rates: [Some(BitRate::from_bits_per_second(rate)); 2],
        errors: Classes { lost: count, corrupt: count, link: count, internal: count },
        left: Some(left),
    }
}

/// One record of each frame that `events` make.
fn recorded(events: impl IntoIterator<Item = Stamped>) -> Vec<Record> {
    let mut recorder = Recorder::new("box 7", Some("13639f6"));
    recorder.set_wall_clock(Instant::ZERO, Duration::from_secs(1_796_095_638));
    let frames: Vec<Frame> = events.into_iter().filter_map(|event| recorder.take(&event)).collect();
    let (records, skipped) = read(&frames.concat());
    assert!(skipped.is_nothing(), "{skipped}");
    assert_eq!(records.len(), frames.len());
    records
}

fn summary(events: Vec<Event>) -> Summary {
    let whole = [start(3, "blue")].into_iter().chain(events).chain([Event::End]);
    match recorded(whole.map(|event| at(20_113, event))).pop() {
        Some(Record::Summary(summary)) => summary,
        other => panic!("{other:?}"),
    }
}

fn account(direction: Direction) -> DirectionReport {
    let host = HostEvidence { drops: Some(0), cable_evidence: false };
    DirectionReport::new(direction, &Tally::default(), host, None)
}

#[test]
fn a_hello_says_whose_records_these_are_and_when_it_is() {
    let records = recorded([at(500, start(3, "blue"))]);
    let [Record::Hello(hello)] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((hello.at_ms, hello.unix_ms), (500, Some(1_796_095_638_500)));
    assert_eq!((hello.box_id.as_str(), hello.origin.board.as_str()), ("box 7", "bench"));
    assert_eq!((hello.origin.version.as_str(), hello.origin.commit.as_deref()), ("1.2.3", Some("13639f6")));
    let start = hello.start.as_ref().unwrap();
    assert_eq!((start.run, start.label.as_str(), start.cable.as_str()), (3, "blue", "ports"));
}

#[test]
fn a_box_that_has_only_started_has_no_run() {
    let records = recorded([
        at(1, Event::Boot { version: "1.2.3", board: text("bench") }),
        at(2, Event::Phase(Phase::Wait)),
        at(3, Event::Fault(words("port A: no such device"))),
    ]);
    let [Record::Hello(hello), Record::Passage(passage), Record::Fault(fault)] = records.as_slice() else {
        panic!("{records:?}")
    };
    assert_eq!((hello.start.as_ref(), passage.run), (None, 0));
    assert_eq!(fault.why, "port A: no such device");
}

#[test]
fn without_a_wall_clock_there_is_no_wall_time() {
    let frame = Recorder::new("", None).take(&at(500, start(3, ""))).unwrap();
    let (records, _) = read(&frame);
    let [Record::Hello(hello)] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((hello.unix_ms, hello.origin.commit.as_ref()), (None, None));
}

#[test]
fn a_second_has_all_its_figures_and_knows_its_run() {
    let event = Event::Rate {
        rates: [Some(BitRate::from_bits_per_second(9_998_000_499)), None],
        errors: Classes { lost: 1, corrupt: 2, link: 3, internal: 4 },
        left: Some(Duration::from_millis(6_200)),
    };
    let records = recorded([at(0, start(3, "")), at(12_345, event)]);
    let Some(Record::Second(second)) = records.last() else { panic!("{records:?}") };
    assert_eq!((second.run, second.at_ms, second.left_s), (3, 12_345, Some(7)));
    assert_eq!(second.rates_kbps, [Some(9_998_000), None], "unknown is not zero");
    assert_eq!([second.lost, second.corrupt, second.link, second.internal], [1, 2, 3, 4]);
}

#[test]
fn a_second_takes_at_most_64_octets_of_the_wire_whatever_its_figures() {
    let mut recorder = Recorder::new("box", None);
    recorder.take(&at(0, start(u32::MAX, "")));
    let extreme =
        Stamped { at: Instant::from_nanos(u64::MAX), event: second(u64::MAX, u64::MAX, Duration::MAX) };
    assert_eq!(recorder.take(&extreme).unwrap().len(), 64);
    let usual = at(96_000, second(9_998_000_000, 0, Duration::from_secs(90)));
    assert!(recorder.take(&usual).unwrap().len() < 36);
}

#[test]
fn a_summary_has_every_figure_apart() {
    let report = DirectionReport {
        sent: 100,
        received: 83,
        good: 80,
        lost: Interval { at_least: 11, at_most: 12 },
        corrupt: 3,
        unidentified: 1,
        bit_errors: 5,
        missing: 17,
        host: 4,
        unknown: 2,
        duplicates: 6,
        reordered: 7,
        misplaced: 8,
        steady: Some(BitRate::from_mbps(9_998)),
        longest_stall: Duration::from_micros(3_100),
        ..account(Direction::BToA)
    };
    let direction = Direction::BToA;
    let summary = summary(vec![
        verdict(Verdict::Fail),
        Event::Direction(report),
        Event::Ber {
            direction,
            checked_bits: 1_000,
            errors: 9,
            bound: Some(3.1e-11),
            confidence: 0.95,
            equivalent: true,
        },
        Event::Readings { direction, highest: Some(BitRate::from_mbps(10_001)), above_line: 10 },
        Event::Left { direction, probes: 64, test_frames: 100 },
    ]);
    let account = Account {
        sent: 100,
        received: 83,
        good: 80,
        lost_at_least: 11,
        lost_at_most: 12,
        corrupt: 3,
        unidentified: 1,
        bit_errors: 5,
        missing: 17,
        host: 4,
        unknown: 2,
        duplicates: 6,
        reordered: 7,
        misplaced: 8,
        steady_bps: Some(9_998_000_000),
        highest_bps: Some(10_001_000_000),
        above_line: 10,
        longest_stall_us: 3_100,
        probes: 64,
        checked_bits: 1_000,
        ber_errors: 9,
        ber_bound: Some(3.1e-11),
    };
    assert_eq!(summary.accounts, [None, Some(account)], "what was not told is not zero");
    assert_eq!((summary.confidence_ppm, summary.equivalent), (Some(950_000), true));
    assert_eq!((summary.run, summary.label.as_str(), summary.box_id.as_str()), (3, "blue", "box 7"));
    assert_eq!((summary.basis_bps, summary.paced_of_bps), (Some(1_000_000_000), Some(10_000_000_000)));
    assert_eq!(Verdict::of_code(summary.verdict.into()), Some(Verdict::Fail));
    assert_eq!(summary.unix_ms, Some(1_796_095_658_113));
}

#[test]
fn a_summary_knows_what_was_not_held_and_what_could_not_be_had() {
    let setting = |setting, port, held| {
        let (wanted, got) = (text("off"), text(""));
        Event::Setting(SettingReading { setting, port, wanted, got, held, required: false })
    };
    let summary = summary(vec![
        setting(Setting::Mtu, Some(Side::A), Held::No),
        setting(Setting::Pause, Some(Side::B), Held::No),
        setting(Setting::Mtu, Some(Side::A), Held::Yes),
        setting(Setting::Clock, None, Held::NotAvailable),
        Event::NotAvailable { what: "CRC errors", port: Some(Side::A) },
        Event::NotAvailable { what: "temperature", port: None },
        verdict(Verdict::Pass),
    ]);
    assert!(summary.not_held.iter().eq([(2, 6)]), "what was read back last counts");
    assert!(summary.without_setting.iter().eq([(0, 4)]));
    let names: Vec<_> =
        summary.without_figure.iter().map(|(place, code)| (place, codes::figure(code))).collect();
    assert_eq!(names, [(0, "temperature"), (1, "CRC errors")]);
}

#[test]
fn a_run_without_a_verdict_has_no_summary() {
    let events = [at(0, start(3, "")), at(1, Event::End), at(2, Event::End)];
    assert_eq!(recorded(events).len(), 1);
}

#[test]
fn nothing_of_a_run_is_left_in_the_next() {
    let lost = Reason::StoppedEarly;
    let events = [start(3, "blue"), verdict(Verdict::Invalid), Event::Reason(lost), Event::End];
    let again = [start(4, ""), verdict(Verdict::Pass), Event::End];
    let records = recorded(events.into_iter().chain(again).map(|event| at(1, event)));
    let Some(Record::Summary(last)) = records.last() else { panic!("{records:?}") };
    assert_eq!((last.run, last.label.as_str(), last.reasons.len()), (4, "", 0));
}

/// The frame of a summary, and what it says.
fn sealed(label: &str, events: impl IntoIterator<Item = Event>) -> (usize, Summary) {
    let mut recorder = Recorder::new(&"b".repeat(30), Some("0123456789abcdef"));
    recorder.set_wall_clock(Instant::ZERO, Duration::from_millis(1 << 42));
    let all = [start(u32::MAX, label)].into_iter().chain(events).chain([Event::End]);
    let frame = all.filter_map(|event| recorder.take(&at(1 << 41, event))).last().unwrap();
    let (records, _) = read(&frame);
    let Some(Record::Summary(summary)) = records.into_iter().next() else { panic!("no summary") };
    (frame.len(), summary)
}

/// The account of a direction with `count` for all that is never wrong on a good cable.
fn bad(direction: Direction, sent: u64, count: u64) -> [Event; 4] {
    let report = DirectionReport {
        sent,
        received: sent,
        good: sent,
        lost: Interval { at_least: count, at_most: count },
        corrupt: count,
        unidentified: count,
        bit_errors: count,
        missing: count,
        host: count,
        unknown: count,
        duplicates: count,
        reordered: count,
        misplaced: count,
        steady: Some(BitRate::from_bits_per_second(sent)),
        longest_stall: Duration::from_nanos(count),
        ..account(direction)
    };
    let ber = Event::Ber {
        direction,
        checked_bits: sent.saturating_mul(12_000),
        errors: count,
        bound: Some(3e-12),
        confidence: 0.95,
        equivalent: true,
    };
    let highest = Some(BitRate::from_bits_per_second(sent));
    [
        Event::Direction(report),
        ber,
        Event::Readings { direction, highest, above_line: count },
        Event::Left { direction, probes: 64, test_frames: sent },
    ]
}

/// A FAIL that has much to say.
fn bad_run(sent: u64, count: u64, reasons: u8) -> Vec<Event> {
    let reason = |direction| Reason::Lost { direction, at_least: count, at_most: count, sent };
    let mut events = vec![verdict(Verdict::Fail)];
    events.extend((0..reasons).map(|number| {
        Event::Reason(reason(if number % 2 == 0 { Direction::AToB } else { Direction::BToA }))
    }));
    events.extend(Direction::BOTH.into_iter().flat_map(|direction| bad(direction, sent, count)));
    for port in [None, Some(Side::A), Some(Side::B)] {
        events.push(Event::NotAvailable { what: "package power", port });
    }
    events
}

#[test]
fn a_summary_is_under_400_octets_of_the_wire_whatever_its_figures() {
    let label = "l".repeat(48);
    let (length, summary) = sealed(&label, bad_run(u64::MAX, u64::MAX, 40));
    assert!(length < SUMMARY_BELOW, "{length}");
    assert_eq!(
        summary.reasons.len() + usize::from(summary.reasons_left_out),
        40,
        "what is left out is counted"
    );
    assert_eq!(summary.accounts[0].unwrap().sent, (1 << 49) - 1);
}

/// All that can be said against a cable while frames flow both ways.
fn every_evidence(count: u64, sent: u64) -> Vec<Event> {
    let mut reasons = Vec::new();
    for (port, direction) in Side::BOTH.into_iter().zip(Direction::BOTH) {
        reasons.extend([
            Reason::LinkDown { port, changes: 6 },
            Reason::CrcErrors { port, frames: count },
            Reason::SymbolErrors { port, errors: count },
            Reason::LinkFaults { port, faults: 4 },
            Reason::Lost { direction, at_least: count, at_most: count + 1_000, sent },
            Reason::Corrupt { direction, frames: count, bit_errors: 3 * count },
        ]);
    }
    reasons.into_iter().map(Event::Reason).collect()
}

#[test]
fn a_cable_that_is_bad_in_every_way_for_an_hour_keeps_every_reason() {
    // 3600 s of the jumbo mix at 10 Gb/s, one frame in a hundred lost and one damaged, and the longest label.
    let (sent, count) = (2_741_000_000, 27_410_000);
    let mut events = bad_run(sent, 0, 0);
    for event in &mut events {
        if let Event::Direction(report) = event {
            report.lost = Interval { at_least: count, at_most: count + 1_000 };
            (report.corrupt, report.unidentified, report.missing) = (count, 1_000, count);
            report.bit_errors = 3 * count;
        }
    }
    events.extend(every_evidence(count, sent));
    let (length, summary) = sealed(&"l".repeat(32), events);
    assert!(length < SUMMARY_BELOW, "{length}");
    assert_eq!((summary.reasons.len(), summary.reasons_left_out), (12, 0));
}

#[test]
fn a_good_run_takes_little_and_has_its_origin() {
    let (length, summary) = sealed("rack 7 blue", bad_run(73_012_345, 0, 0));
    assert!(length < 250, "{length}");
    assert_eq!(summary.origin.unwrap().commit.as_deref(), Some("0123456789abcdef"));
}

#[test]
fn more_reasons_than_there_is_room_for_are_counted() {
    let events = bad_run(1, 1, u8::try_from(MOST_REASONS).unwrap() + 10);
    let (_, summary) = sealed("", events);
    assert_eq!(summary.reasons.len() + usize::from(summary.reasons_left_out), MOST_REASONS + 10);
}

#[test]
fn a_text_is_cut_between_characters() {
    let mut recorder = Recorder::new(&"\u{e4}".repeat(40), None);
    let (records, _) = read(&recorder.take(&at(0, start(1, &"x\u{20ac}".repeat(20)))).unwrap());
    let [Record::Hello(hello)] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!(hello.box_id.as_str(), "\u{e4}".repeat(10));
    assert_eq!(hello.start.as_ref().unwrap().label.as_str(), "x\u{20ac}".repeat(8));
}

#[test]
fn a_box_that_does_not_know_its_name_yet_says_whose_records_these_are_once_it_does() {
    let mut recorder = Recorder::default();
    assert_eq!(recorder.take(&at(1, Event::Boot { version: "1.2.3", board: text("bench") })), None);
    assert_eq!(recorder.take(&at(1000, Event::WallClock { unix: Duration::from_secs(1_796_095_638) })), None);
    let frame = recorder.take(&at(2500, Event::Box { id: text("rack 4"), commit: Some("13639f6b54c2+") }));
    let (records, _) = read(&frame.unwrap());
    let [Record::Hello(hello)] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((hello.box_id.as_str(), hello.unix_ms), ("rack 4", Some(1_796_095_639_500)));
    assert_eq!(
        (hello.origin.board.as_str(), hello.origin.commit.as_deref()),
        ("bench", Some("13639f6b54c2+"))
    );
    assert_eq!(hello.start, None);
}

#[test]
fn a_summary_that_the_log_tells_again_is_no_second_record() {
    let mut recorder = Recorder::new("box", None);
    let mut frames =
        |events: Vec<Event>| events.into_iter().filter_map(|event| recorder.take(&at(0, event))).count();
    let told = || vec![verdict(Verdict::Pass), Event::End];
    assert_eq!(frames(vec![start(3, "")]), 1);
    assert_eq!(frames(told()), 1);
    assert_eq!(frames(told()), 0);
    assert_eq!(frames(vec![start(4, "")]), 1);
    assert_eq!(frames(told()), 1);
}

proptest! {
    /// Whatever figures a second has, they come back, or stand at their limit.
    #[test]
    fn figures_come_back_or_stand_at_their_limit(
        rate in any::<u64>(), count in any::<u64>(), left in any::<u32>(), run in any::<u32>(),
    ) {
        let left = Duration::from_secs(left.into());
        let records = recorded([at(0, start(run, "")), at(1, second(rate, count, left))]);
        let Some(Record::Second(second)) = records.last() else { panic!("{records:?}") };
        prop_assert_eq!(second.run, run);
        prop_assert_eq!(second.lost, count.min((1 << 49) - 1));
        prop_assert_eq!(second.internal, count.min((1 << 42) - 1));
        prop_assert_eq!(second.rates_kbps[1], Some((rate.saturating_add(500) / 1000).min((1 << 35) - 1)));
        prop_assert_eq!(u64::from(second.left_s.unwrap()), left.as_secs().min((1 << 28) - 1));
    }
}
