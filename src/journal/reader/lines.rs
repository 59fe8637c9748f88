//! Records as lines of the text log: the same tags, and the same fields as far as records have them.
//!
//! Beyond the log's own fields, `start` and `of` end with `commit`, `box` and `utc`. A number that a newer
//! version has given, and this one does not know, is shown as `number 57`.

use crate::journal::record::body::{Account, Hello, Link, Marks, Origin, Second, Summary};
use crate::journal::record::codes::{Coded, figure};
use crate::journal::record::{CodedReason, Record};
use crate::journal::text::{Line, OrNa, Quoted};
use crate::journal::utc::Utc;
use measure::ledger::{DirectionReport, Interval};
use measure::record::{Classes, Event, Phase, Stamped, words};
use measure::units::{BitRate, Direction, Instant, MAX_STREAMS, Side};
use measure::verdict::{Setting, Verdict};
use std::fmt::Display;
use std::time::Duration;

/// The lines of a record, without their ends.
pub fn of(record: &Record) -> Vec<String> {
    let at_ms = record.at_ms();
    match record {
        Record::Hello(hello) => vec![at(at_ms, hello_line(hello))],
        Record::Second(second) => vec![line(at_ms, rate(second))],
        Record::Passage(passage) => vec![match Phase::of_code(passage.phase.into()) {
            Some(phase) => line(at_ms, Event::Phase(phase)),
            None => at(at_ms, format_args!("phase {}", Number(passage.phase))),
        }],
        Record::Seen(seen) => vec![at(at_ms, format_args!("seen {}", Quoted(reason(&seen.reason))))],
        Record::Link(link) => vec![link_line(link)],
        Record::Fault(fault) => vec![line(at_ms, Event::Fault(words(&fault.why)))],
        Record::Dropped(dropped) => vec![line(at_ms, Event::LogDropped { lines: dropped.events })],
        Record::Summary(summary) => summary_lines(summary),
    }
}

/// A name as one word, in quotes where it is none: whose line this is, or what a program calls itself.
pub fn mark(name: &str) -> String {
    let word = !name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '"');
    if word { name.to_owned() } else { Quoted(name).to_string() }
}

/// Why, in plain words.
pub fn reason(coded: &CodedReason) -> String {
    match coded.reason() {
        Some(reason) => reason.to_string(),
        None => format!("reason {} {:?}", Number(coded.code), coded.figures.as_slice()),
    }
}

/// The word of a verdict.
pub fn verdict(code: u8) -> String {
    Verdict::of_code(code.into()).map_or_else(|| Number(code).to_string(), |verdict| verdict.to_string())
}

/// The settings in a set, as "mtu A, clock".
pub fn settings(marks: Marks) -> String {
    let name = |(place, code): (u8, u8)| {
        let setting = Setting::of_code(code.into());
        let name = setting.map_or_else(|| Number(code).to_string(), |setting| setting.to_string());
        side(place).map_or(name.clone(), |side| format!("{name} {side}"))
    };
    marks.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// The figures in a set, as "CRC errors A, temperature".
pub fn figures(marks: Marks) -> String {
    let name = |(place, code)| match side(place) {
        Some(side) => format!("{} {side}", figure(code)),
        None => figure(code).to_owned(),
    };
    marks.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// A number that a newer version has given.
struct Number(u8);

impl Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "number {}", self.0)
    }
}

fn line(at_ms: u64, event: Event) -> String {
    Line(&Stamped { at: Instant::from_millis(at_ms), event }).to_string()
}

/// A line whose event cannot be made again: it has texts that only the box's program has.
fn at(at_ms: u64, rest: impl Display) -> String {
    format!("{:>6}.{:03} {rest}", at_ms / 1000, at_ms % 1000)
}

fn side(place: u8) -> Option<Side> {
    Side::of_code(place.into())
}

fn bps(rate: u64) -> BitRate {
    BitRate::from_bits_per_second(rate)
}

fn hello_line(hello: &Hello) -> String {
    let (version, board) = (mark(&hello.origin.version), &hello.origin.board);
    let tail = tail(&hello.origin, &hello.box_id, hello.unix_ms);
    match &hello.start {
        Some(start) => format!(
            "start run {}, version {version}, board {}, cable {}, label {}, nonce {:08x}{tail}",
            start.run,
            Quoted(board),
            mark(&start.cable),
            Quoted(&start.label),
            start.nonce,
        ),
        None => format!("boot version {version}, board {}{tail}", Quoted(board)),
    }
}

/// What records say beyond the log.
fn tail(origin: &Origin, box_id: &str, unix_ms: Option<u64>) -> String {
    let commit = OrNa(origin.commit.as_deref().map(mark));
    format!(", commit {commit}, box {}, utc {}", Quoted(box_id), OrNa(unix_ms.map(Utc)))
}

fn rate(second: &Second) -> Event {
    let rates = second.rates_kbps.map(|rate| rate.map(|kbps| bps(kbps.saturating_mul(1000))));
    let Second { lost, corrupt, link, internal, left_s, .. } = *second;
    let left = left_s.map(|left| Duration::from_secs(left.into()));
    Event::Rate { rates, errors: Classes { lost, corrupt, link, internal }, left }
}

fn link_line(link: &Link) -> String {
    let Link { at_ms, port, up, speed_bps, .. } = *link;
    match side(port) {
        Some(port) => line(at_ms, Event::Link { port, up, speed: speed_bps.map(bps) }),
        None => at(at_ms, format_args!("link port {}", Number(port))),
    }
}

/// The summary block in the log's order.
fn summary_lines(summary: &Summary) -> Vec<String> {
    let at_ms = summary.at_ms;
    let mut lines = vec![at(at_ms, verdict_line(summary))];
    for coded in &summary.reasons {
        lines.push(at(at_ms, format_args!("reason {}", Quoted(reason(coded)))));
    }
    if summary.reasons_left_out > 0 {
        let note = format_args!("{} weaker reasons were left out", summary.reasons_left_out);
        lines.push(line(at_ms, Event::Note(words(note))));
    }
    for (direction, account) in Direction::BOTH.into_iter().zip(&summary.accounts) {
        let events = account.iter().flat_map(|account| account_events(direction, summary, account));
        lines.extend(events.map(|event| line(at_ms, event)));
    }
    lines.extend(mark_lines(summary));
    let origin = summary.origin.clone().unwrap_or_default();
    let whose = summary.origin.as_ref().map(|origin| (mark(&origin.version), Quoted(&origin.board)));
    let (version, board) = whose.unzip();
    let tail = tail(&origin, &summary.box_id, summary.unix_ms);
    let (version, board, label) = (OrNa(version), OrNa(board), Quoted(&summary.label));
    lines.push(at(at_ms, format_args!("of version {version}, board {board}, label {label}{tail}")));
    lines.push(line(at_ms, Event::End));
    lines
}

fn verdict_line(summary: &Summary) -> String {
    let of = summary.paced_of_bps.map(|speed| format!(", of {}", bps(speed))).unwrap_or_default();
    let basis = OrNa(summary.basis_bps.map(bps));
    format!("verdict {}, run {}, at {basis}{of}", verdict(summary.verdict), summary.run)
}

fn account_events(direction: Direction, summary: &Summary, account: &Account) -> impl Iterator<Item = Event> {
    let report = DirectionReport {
        direction,
        streams: [measure::ledger::StreamReport::default(); MAX_STREAMS],
        sent: account.sent,
        received: account.received,
        good: account.good,
        corrupt: account.corrupt,
        unidentified: account.unidentified,
        bit_errors: account.bit_errors,
        checked_bits: account.checked_bits,
        missing: account.missing,
        lost: Interval { at_least: account.lost_at_least, at_most: account.lost_at_most },
        host: account.host,
        unknown: account.unknown,
        duplicates: account.duplicates,
        reordered: account.reordered,
        misplaced: account.misplaced,
        steady: account.steady_bps.map(bps),
        longest_stall: Duration::from_micros(account.longest_stall_us),
    };
    let ber = summary.confidence_ppm.map(|ppm| Event::Ber {
        direction,
        checked_bits: account.checked_bits,
        errors: account.ber_errors,
        bound: account.ber_bound.filter(|bound| bound.is_finite()),
        confidence: f64::from(ppm) / 1e6,
        equivalent: summary.equivalent,
    });
    let highest = account.highest_bps.map(bps);
    let readings = Event::Readings { direction, highest, above_line: account.above_line };
    let left = Event::Left { direction, probes: account.probes, test_frames: account.sent };
    [Some(Event::Direction(report)), ber, Some(readings), Some(left)].into_iter().flatten()
}

/// What was not held, and what could not be had.
fn mark_lines(summary: &Summary) -> Vec<String> {
    let note = |what: &str, marks| {
        let names = settings(marks);
        (!names.is_empty())
            .then(|| at(summary.at_ms, format_args!("note {}", Quoted(format!("{what}: {names}")))))
    };
    let settings = [
        note("settings not held", summary.not_held),
        note("settings that this box does not have", summary.without_setting),
    ];
    let figures = summary.without_figure.iter().map(|(place, code)| {
        line(summary.at_ms, Event::NotAvailable { what: figure(code), port: side(place) })
    });
    settings.into_iter().flatten().chain(figures).collect()
}
