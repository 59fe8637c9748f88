//! The text log: one line an event, for a person and for grep.
//!
//! # Grammar
//! ```text
//! line  = stamp SP tag [ SP field *( ", " field ) ]         the line "end" alone has no field
//! stamp = seconds since start, right-aligned, 3 decimals   "    12.345"
//! tag   = one word that tells the kind of line             "rate"
//! field = [ name SP ] value [ SP unit ]                    "lost 17", "PASS", "A>B 1.000 Gb/s"
//! name  = word *( SP word )                                "bit errors"
//! ```
//! A value is a number, a range (`15 to 17`), words, `N/A` where it cannot be had (never 0), or a text in
//! double quotes (quotes and control characters in it are escaped as in JSON). Directions are `A>B` and `B>A`.
//! Rates are L1 rates in Gb/s; times are in seconds; counts are plain integers. New tags and new
//! fields at the end of a line may be added; what is here stays.
//!
//! | tag | says |
//! |---|---|
//! | `start` | a run begins: number, version, board, cable, label, nonce |
//! | `plan` | streams, mix, pace, settle and run time |
//! | `port` | a port as found |
//! | `set` | a setting as read back |
//! | `phase` | the link of the chain that is entered |
//! | `link` | a port's carrier and speed changed |
//! | `probes` | loop check: probes sent and heard |
//! | `rate` | once a second while frames flow: rates, errors by class, time left |
//! | `seen` | evidence, at the moment it was first seen |
//! | `note` | anything else worth knowing |
//! | `verdict` | the word, run number, what it was judged against |
//! | `reason` | why, strongest first |
//! | `total` | one direction's account |
//! | `stream` | one stream's account |
//! | `ber` | bits checked, errors, upper bound and its confidence |
//! | `readings` | the 16 ms readings of one direction |
//! | `left` | frames that left the box |
//! | `of` | whose result it is: version, board, label |
//! | `n/a` | a figure that could not be had |
//! | `dropped` | lines that a slow reader made the log drop |
//! | `end` | the run is over |
//! | `boot` | the box has started: version, board |
//! | `fault` | the box itself cannot work, and why: no cable is judged |
//! | `box` | which box it is: what tells it from others, and the commit that its firmware was built from |
//! | `utc` | what the clock chip says, where it is set |
//! | `saved` | the run's record is in the history |
//! | `not-saved` | it was not when the verdict was shown, and why |
//! | `kept` | an earlier result out of the history, on request |

use super::utc::Utc;
use measure::ledger::{DirectionReport, Interval, StreamReport};
use measure::record::{Classes, Event, Held, Phase, SettingReading, Stamped};
use measure::units::{BitRate, Direction};
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// An event as its line of the log, without the line end.
#[derive(Debug)]
pub struct Line<'a>(pub &'a Stamped);

impl Display for Line<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let millis = self.0.at.as_nanos() / 1_000_000;
        write!(f, "{:>6}.{:03} ", millis / 1000, millis % 1000)?;
        write_event(f, &self.0.event)
    }
}

fn write_event(f: &mut Formatter<'_>, event: &Event) -> fmt::Result {
    match event {
        Event::Start { run, version, board, label, cable, nonce } => write!(
            f,
            "start run {run}, version {version}, board {}, cable {cable}, label {}, nonce {nonce:08x}",
            Quoted(board),
            Quoted(label),
        ),
        Event::Plan { streams, mix, pace, settle, run, bits } => write!(
            f,
            "plan streams {streams}, mix {}, pace {}, settle {} s, run {} s, bits {}",
            Quoted(mix),
            OrWord(*pace, "none"),
            Seconds(*settle),
            OrWord(run.map(Seconds), "none"),
            OrWord(*bits, "none"),
        ),
        Event::Port { port, name, driver, mac } => {
            write!(f, "port {port}, name {}, driver {}, mac {mac}", Quoted(name), Quoted(driver))
        }
        Event::Setting(reading) => write_setting(f, reading),
        Event::Phase(phase) => write!(f, "phase {}", phase_name(*phase)),
        Event::Link { port, up, speed } => {
            let state = up.map(|up| if up { "up" } else { "down" });
            write!(f, "link {port} {}, speed {}", OrNa(state), OrNa(*speed))
        }
        Event::Probes { direction, sent, unicast, filtered } => {
            write!(f, "probes {direction}, sent {sent}, heard unicast {unicast}, heard filtered {filtered}")
        }
        Event::Rate { rates, errors, left } => write_rate(f, rates, errors, *left),
        Event::Evidence(reason) => write!(f, "seen {}", Quoted(reason)),
        Event::Note(words) => write!(f, "note {}", Quoted(words)),
        Event::Verdict { verdict, run, basis, of } => {
            write!(f, "verdict {verdict}, run {run}, at {}", OrNa(*basis))?;
            of.map_or(Ok(()), |speed| write!(f, ", of {speed}"))
        }
        Event::Reason(reason) => write!(f, "reason {}", Quoted(reason)),
        Event::Direction(report) => write_total(f, report),
        Event::Stream { direction, stream, ethertype, report } => {
            write_stream(f, *direction, *stream, *ethertype, report)
        }
        Event::Ber { direction, checked_bits, errors, bound, confidence, equivalent } => write!(
            f,
            "ber {direction}, checked {checked_bits} bits, errors {errors} {}, bound {}, confidence {} %",
            if *equivalent { "events (equivalent)" } else { "bits" },
            OrNa(bound.map(Ratio)),
            confidence * 100.0,
        ),
        Event::NotAvailable { what, port } => match port {
            Some(port) => write!(f, "n/a port {port}, {}", Quoted(what)),
            None => write!(f, "n/a {}", Quoted(what)),
        },
        Event::LogDropped { lines } => write!(f, "dropped {lines} lines"),
        Event::Left { direction, probes, test_frames } => {
            write!(f, "left {direction}, probes {probes}, test frames {test_frames}")
        }
        Event::Readings { direction, highest, above_line } => {
            write!(f, "readings {direction}, highest {}, above line rate {above_line}", OrNa(*highest))
        }
        Event::Identity { version, board, label } => {
            write!(f, "of version {version}, board {}, label {}", Quoted(board), Quoted(label))
        }
        Event::End => f.write_str("end"),
        Event::Boot { version, board } => write!(f, "boot version {version}, board {}", Quoted(board)),
        Event::Fault(why) => write!(f, "fault {}", Quoted(why)),
        Event::Box { id, commit } => write!(f, "box {}, commit {}", Quoted(id), OrNa(*commit)),
        Event::WallClock { unix } => {
            write!(f, "utc {}", Utc(u64::try_from(unix.as_millis()).unwrap_or(u64::MAX)))
        }
        Event::Saved { run } => write!(f, "saved run {run}"),
        Event::NotSaved { run, why } => write!(f, "not-saved run {run}, why {}", Quoted(why)),
        Event::Kept(line) => write!(f, "kept {line}"),
    }
}

fn write_setting(f: &mut Formatter<'_>, reading: &SettingReading) -> fmt::Result {
    write!(f, "set {}", reading.setting)?;
    if let Some(port) = reading.port {
        write!(f, " {port}")?;
    }
    let got = if reading.got.is_empty() { None } else { Some(Quoted(&reading.got)) };
    write!(f, ", wanted {}, got {}, ", Quoted(&reading.wanted), OrNa(got))?;
    f.write_str(match (reading.held, reading.required) {
        (Held::Yes, _) => "held",
        (Held::No, true) => "NOT HELD",
        (Held::No, false) => "not held",
        (Held::NotAvailable, true) => "NOT AVAILABLE",
        (Held::NotAvailable, false) => "not available",
    })
}

fn write_rate(
    f: &mut Formatter<'_>,
    rates: &[Option<BitRate>; 2],
    errors: &Classes,
    left: Option<Duration>,
) -> fmt::Result {
    let [forth, back] = *rates;
    write!(f, "rate A>B {}, B>A {}, ", OrNa(forth), OrNa(back))?;
    let Classes { lost, corrupt, link, internal } = errors;
    write!(f, "lost {lost}, corrupt {corrupt}, link {link}, internal {internal}, ")?;
    write!(f, "left {}", OrNa(left.map(WholeSeconds)))
}

fn write_total(f: &mut Formatter<'_>, report: &DirectionReport) -> fmt::Result {
    write!(
        f,
        "total {}, sent {}, received {}, good {}, lost {}, corrupt {}, bit errors {}, ",
        report.direction,
        report.sent,
        report.received,
        report.good,
        Range(report.lost),
        report.corrupt,
        report.bit_errors,
    )?;
    write!(
        f,
        "unidentified {}, missing {}, host {}, unknown {}, duplicates {}, reordered {}, misplaced {}, ",
        report.unidentified,
        report.missing,
        report.host,
        report.unknown,
        report.duplicates,
        report.reordered,
        report.misplaced,
    )?;
    write!(f, "steady {}, longest stall {} s", OrNa(report.steady), Seconds(report.longest_stall))
}

fn write_stream(
    f: &mut Formatter<'_>,
    direction: Direction,
    stream: u8,
    ethertype: u16,
    report: &StreamReport,
) -> fmt::Result {
    let StreamReport { sent, good, corrupt, bit_errors, missing, duplicates, reordered, misplaced } = report;
    write!(f, "stream {direction} {stream}, ethertype {ethertype:#06x}, sent {sent}, good {good}, ")?;
    write!(f, "missing {missing}, corrupt {corrupt}, bit errors {bit_errors}, ")?;
    write!(f, "duplicates {duplicates}, reordered {reordered}, misplaced {misplaced}")
}

/// A phase's name.
pub(super) fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Settings => "settings",
        Phase::Link => "link",
        Phase::LoopCheck => "loop check",
        Phase::Settle => "settle",
        Phase::Run => "run",
        Phase::Drain => "drain",
        Phase::Done => "done",
        Phase::Wait => "wait",
    }
}

/// The value, or N/A where it cannot be had.
pub(super) struct OrNa<T>(pub Option<T>);

impl<T: Display> Display for OrNa<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(f),
            None => f.write_str("N/A"),
        }
    }
}

/// The value, or a word where there is none by choice.
struct OrWord<T>(Option<T>, &'static str);

impl<T: Display> Display for OrWord<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(f),
            None => f.write_str(self.1),
        }
    }
}

/// Seconds with as many decimals as there are milliseconds to tell.
struct Seconds(Duration);

impl Display for Seconds {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.subsec_millis() {
            0 => write!(f, "{}", self.0.as_secs()),
            millis => write!(f, "{}.{millis:03}", self.0.as_secs()),
        }
    }
}

/// Whole seconds with their unit.
struct WholeSeconds(Duration);

impl Display for WholeSeconds {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0.as_millis().div_ceil(1000))
    }
}

/// "17", or "15 to 17" where damage left it uncertain.
struct Range(Interval);

impl Display for Range {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Interval { at_least, at_most } = self.0;
        if at_least == at_most { write!(f, "{at_least}") } else { write!(f, "{at_least} to {at_most}") }
    }
}

/// A ratio as people write it: 3.1e-11.
struct Ratio(f64);

impl Display for Ratio {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1e}", self.0)
    }
}

/// A text in double quotes, so that it cannot be taken for a field.
pub(super) struct Quoted<T>(pub T);

impl<T: Display> Display for Quoted<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        f.write_char('"')?;
        write!(Escaping(f), "{}", self.0)?;
        f.write_char('"')
    }
}

/// Escapes what would end the quotes or the line.
struct Escaping<'a, 'b>(&'a mut Formatter<'b>);

impl fmt::Write for Escaping<'_, '_> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        for c in s.chars() {
            match c {
                '"' | '\\' => write!(self.0, "\\{c}")?,
                c if c.is_control() => write!(self.0, "\\u{:04x}", u32::from(c))?,
                c => self.0.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::record::{long_words, text, words};
    use measure::units::{Instant, Side};
    use measure::verdict::{Reason, Setting, Verdict};

    fn line(event: Event) -> String {
        Line(&Stamped { at: Instant::from_millis(12_345), event }).to_string()
    }

    #[test]
    fn a_rate_line_reads_aloud() {
        let event = Event::Rate {
            rates: [Some(BitRate::from_mbps(9_998)), None],
            errors: Classes { lost: 17, ..Classes::default() },
            left: Some(Duration::from_millis(6_200)),
        };
        assert_eq!(
            line(event),
            "    12.345 rate A>B 9.998 Gb/s, B>A N/A, lost 17, corrupt 0, link 0, internal 0, left 7 s"
        );
    }

    #[test]
    fn a_verdict_at_a_pace_says_of_what() {
        let event = Event::Verdict {
            verdict: Verdict::Pass,
            run: 3,
            basis: Some(BitRate::from_mbps(1000)),
            of: Some(BitRate::from_mbps(10_000)),
        };
        assert_eq!(line(event), "    12.345 verdict PASS, run 3, at 1.000 Gb/s, of 10.000 Gb/s");
    }

    #[test]
    fn a_label_cannot_break_the_grammar() {
        let event = Event::Note(words("one\", lost 0\nverdict PASS"));
        assert_eq!(line(event), "    12.345 note \"one\\\", lost 0\\u000averdict PASS\"");
    }

    #[test]
    fn a_setting_that_cannot_be_read_is_not_available_and_not_empty() {
        let event = Event::Setting(SettingReading {
            setting: Setting::Pause,
            port: Some(Side::B),
            wanted: text("off"),
            got: text(""),
            held: Held::NotAvailable,
            required: false,
        });
        assert_eq!(line(event), "    12.345 set pause B, wanted \"off\", got N/A, not available");
    }

    #[test]
    fn an_uncertain_loss_is_shown_as_a_range() {
        assert_eq!(Range(Interval { at_least: 15, at_most: 17 }).to_string(), "15 to 17");
        assert_eq!(Range(Interval { at_least: 17, at_most: 17 }).to_string(), "17");
    }

    #[test]
    fn a_bound_keeps_its_size() {
        assert_eq!(Ratio(2.996e-12).to_string(), "3.0e-12");
    }

    fn account() -> DirectionReport {
        let mut streams = [StreamReport::default(); measure::units::MAX_STREAMS];
        streams[0] = StreamReport { sent: 100, good: 80, missing: 17, corrupt: 3, ..StreamReport::default() };
        DirectionReport {
            direction: Direction::AToB,
            streams,
            sent: 100,
            received: 83,
            good: 80,
            corrupt: 3,
            unidentified: 1,
            bit_errors: 5,
            checked_bits: 1000,
            missing: 17,
            lost: Interval { at_least: 11, at_most: 12 },
            host: 4,
            unknown: 2,
            duplicates: 6,
            reordered: 7,
            misplaced: 8,
            steady: Some(BitRate::from_mbps(9_998)),
            longest_stall: Duration::from_millis(3),
        }
    }

    fn setting(held: Held, required: bool) -> Event {
        let (wanted, got) = (text("9000"), text("1500"));
        Event::Setting(SettingReading {
            setting: Setting::Mtu,
            port: Some(Side::A),
            wanted,
            got,
            held,
            required,
        })
    }

    /// Every kind of line. Readers rely on them: add rows, and fields at the end of a line where none was cut
    /// off before; do not change what is here.
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn golden() -> Vec<(Event, &'static str)> {
        let rate = BitRate::from_mbps;
        let (forth, back) = (Direction::AToB, Direction::BToA);
        let mac = measure::units::MacAddress([2, 0, 0, 0, 0, 0x0a]);
        let lost = Reason::Lost { direction: forth, at_least: 17, at_most: 17, sent: 73_012_345 };
        vec![
            (
                Event::Start {
                    run: 3,
                    version: "1.2.3",
                    board: text("bench"),
                    label: text("blue 3m"),
                    cable: "virtual",
                    nonce: 0xbeef,
                },
                r#"start run 3, version 1.2.3, board "bench", cable virtual, label "blue 3m", nonce 0000beef"#,
            ),
            (
                Event::Plan {
                    streams: 2,
                    mix: text("jumbo"),
                    pace: Some(rate(1_000)),
                    settle: Duration::from_secs(5),
                    run: Some(Duration::from_millis(1_500)),
                    bits: None,
                },
                r#"plan streams 2, mix "jumbo", pace 1.000 Gb/s, settle 5 s, run 1.500 s, bits none"#,
            ),
            (
                Event::Plan {
                    streams: 7,
                    mix: text("64"),
                    pace: None,
                    settle: Duration::from_secs(5),
                    run: None,
                    bits: Some(2_996_000_000_000),
                },
                r#"plan streams 7, mix "64", pace none, settle 5 s, run none s, bits 2996000000000"#,
            ),
            (
                Event::Port { port: Side::A, name: text("eth7"), driver: text("ixgbe"), mac },
                r#"port A, name "eth7", driver "ixgbe", mac 02:00:00:00:00:0a"#,
            ),
            (setting(Held::Yes, true), r#"set mtu A, wanted "9000", got "1500", held"#),
            (setting(Held::No, true), r#"set mtu A, wanted "9000", got "1500", NOT HELD"#),
            (setting(Held::No, false), r#"set mtu A, wanted "9000", got "1500", not held"#),
            (setting(Held::NotAvailable, true), r#"set mtu A, wanted "9000", got "1500", NOT AVAILABLE"#),
            (setting(Held::NotAvailable, false), r#"set mtu A, wanted "9000", got "1500", not available"#),
            (Event::Phase(Phase::Settings), "phase settings"),
            (Event::Phase(Phase::Link), "phase link"),
            (Event::Phase(Phase::LoopCheck), "phase loop check"),
            (Event::Phase(Phase::Settle), "phase settle"),
            (Event::Phase(Phase::Run), "phase run"),
            (Event::Phase(Phase::Drain), "phase drain"),
            (Event::Phase(Phase::Done), "phase done"),
            (
                Event::Link { port: Side::B, up: Some(true), speed: Some(rate(2_500)) },
                "link B up, speed 2.500 Gb/s",
            ),
            (Event::Link { port: Side::B, up: Some(false), speed: None }, "link B down, speed N/A"),
            (Event::Link { port: Side::A, up: None, speed: None }, "link A N/A, speed N/A"),
            (
                Event::Probes { direction: back, sent: 32, unicast: 31, filtered: 30 },
                "probes B>A, sent 32, heard unicast 31, heard filtered 30",
            ),
            (
                Event::Rate {
                    rates: [Some(rate(9_998)), None],
                    errors: Classes { lost: 1, corrupt: 2, link: 3, internal: 4 },
                    left: None,
                },
                "rate A>B 9.998 Gb/s, B>A N/A, lost 1, corrupt 2, link 3, internal 4, left N/A",
            ),
            (Event::Evidence(lost), r#"seen "A>B lost 17 of 73012345""#),
            (Event::Note(words("port A goes down")), r#"note "port A goes down""#),
            (
                Event::Verdict { verdict: Verdict::Marginal, run: 9, basis: None, of: None },
                "verdict MARGINAL, run 9, at N/A",
            ),
            (Event::Reason(lost), r#"reason "A>B lost 17 of 73012345""#),
            (
                Event::Direction(account()),
                "total A>B, sent 100, received 83, good 80, lost 11 to 12, corrupt 3, bit errors 5, \
                 unidentified 1, missing 17, host 4, unknown 2, duplicates 6, reordered 7, misplaced 8, \
                 steady 9.998 Gb/s, longest stall 0.003 s",
            ),
            (
                Event::Stream {
                    direction: forth,
                    stream: 0,
                    ethertype: 0x88b5,
                    report: account().streams[0],
                },
                "stream A>B 0, ethertype 0x88b5, sent 100, good 80, missing 17, corrupt 3, bit errors 0, \
                 duplicates 0, reordered 0, misplaced 0",
            ),
            (
                Event::Ber {
                    direction: forth,
                    checked_bits: 7,
                    errors: 2,
                    bound: Some(3.1e-11),
                    confidence: 0.95,
                    equivalent: true,
                },
                "ber A>B, checked 7 bits, errors 2 events (equivalent), bound 3.1e-11, confidence 95 %",
            ),
            (
                Event::Ber {
                    direction: back,
                    checked_bits: 0,
                    errors: 0,
                    bound: None,
                    confidence: 0.5,
                    equivalent: false,
                },
                "ber B>A, checked 0 bits, errors 0 bits, bound N/A, confidence 50 %",
            ),
            (Event::NotAvailable { what: "CRC errors", port: Some(Side::B) }, r#"n/a port B, "CRC errors""#),
            (Event::NotAvailable { what: "package power", port: None }, r#"n/a "package power""#),
            (Event::LogDropped { lines: 12 }, "dropped 12 lines"),
            (
                Event::Left { direction: forth, probes: 64, test_frames: 100 },
                "left A>B, probes 64, test frames 100",
            ),
            (
                Event::Readings { direction: back, highest: Some(rate(10_000)), above_line: 0 },
                "readings B>A, highest 10.000 Gb/s, above line rate 0",
            ),
            (
                Event::Identity { version: "1.2.3", board: text("bench"), label: text("") },
                r#"of version 1.2.3, board "bench", label """#,
            ),
            (Event::End, "end"),
            (Event::Phase(Phase::Wait), "phase wait"),
            (Event::Boot { version: "1.2.3", board: text("bench") }, "boot version 1.2.3, board \"bench\""),
            (Event::Fault(words("no board")), "fault \"no board\""),
            (
                Event::Box { id: text("rack 4"), commit: Some("13639f6b54c2") },
                "box \"rack 4\", commit 13639f6b54c2",
            ),
            (Event::Box { id: text("7"), commit: None }, "box \"7\", commit N/A"),
            (
                Event::WallClock { unix: Duration::from_millis(1_796_095_638_123) },
                "utc 2026-12-01T03:27:18.123Z",
            ),
            (Event::Saved { run: 3 }, "saved run 3"),
            (
                Event::NotSaved { run: 3, why: words("there is no disk") },
                "not-saved run 3, why \"there is no disk\"",
            ),
            (Event::Kept(long_words("run 3, PASS")), "kept run 3, PASS"),
        ]
    }

    #[test]
    fn every_kind_of_line_is_as_its_readers_know_it() {
        for (event, golden) in golden() {
            assert_eq!(line(event), format!("    12.345 {golden}"));
        }
    }

    /// The place of an event's kind among all kinds. A new kind does not compile until it has one here, and then
    /// the test below asks for its line.
    fn kind(event: &Event) -> usize {
        match event {
            Event::Start { .. } => 0,
            Event::Plan { .. } => 1,
            Event::Port { .. } => 2,
            Event::Setting(_) => 3,
            Event::Phase(_) => 4,
            Event::Link { .. } => 5,
            Event::Probes { .. } => 6,
            Event::Rate { .. } => 7,
            Event::Evidence(_) => 8,
            Event::Note(_) => 9,
            Event::Verdict { .. } => 10,
            Event::Reason(_) => 11,
            Event::Direction(_) => 12,
            Event::Stream { .. } => 13,
            Event::Ber { .. } => 14,
            Event::NotAvailable { .. } => 15,
            Event::LogDropped { .. } => 16,
            Event::Left { .. } => 17,
            Event::Readings { .. } => 18,
            Event::Identity { .. } => 19,
            Event::End => 20,
            Event::Boot { .. } => 21,
            Event::Fault(_) => 22,
            Event::Box { .. } => 23,
            Event::WallClock { .. } => 24,
            Event::Saved { .. } => 25,
            Event::NotSaved { .. } => 26,
            Event::Kept(_) => 27,
        }
    }

    #[test]
    fn no_kind_of_line_is_without_its_golden_text() {
        let kinds: std::collections::BTreeSet<_> = golden().iter().map(|(event, _)| kind(event)).collect();
        assert!(kinds.into_iter().eq(0..=kind(&Event::Kept(long_words("")))));
    }

    #[test]
    fn every_line_keeps_the_grammar() {
        for (event, _) in golden() {
            let line = line(event);
            let (stamp, rest) = line.split_at(10);
            assert!(stamp.trim_start().parse::<f64>().is_ok(), "{line}");
            assert!(rest.starts_with(' ') && !rest.contains(char::is_control), "{line}");
        }
    }
}
