//! An earlier result in one line: what the box says of its history on the log.

use super::reader::lines;
use super::record::body::Summary;
use super::record::{Decoder, Record};
use super::text::{OrNa, Quoted};
use super::utc::Utc;
use measure::units::BitRate;

/// The result in the octets of a record; none where there is none in them.
///
/// ```text
/// run 13, FAIL, utc 2026-12-04T02:38:42.000Z, label "blue", A>B 9.871 Gb/s, B>A N/A, reason "A>B lost 17"
/// ```
#[must_use]
pub fn line(octets: &[u8]) -> Option<String> {
    let mut decoder = Decoder::default();
    let records = octets.iter().filter_map(|&octet| decoder.take(octet));
    records
        .into_iter()
        .find_map(|record| if let Record::Summary(summary) = record { Some(told(&summary)) } else { None })
}

fn told(summary: &Summary) -> String {
    let rate = |direction: usize| {
        let account = summary.accounts.get(direction).and_then(Option::as_ref);
        OrNa(account.and_then(|account| account.steady_bps).map(BitRate::from_bits_per_second))
    };
    let mut line = format!(
        "run {}, {}, utc {}, label {}, A>B {}, B>A {}",
        summary.run,
        lines::verdict(summary.verdict),
        OrNa(summary.unix_ms.map(Utc)),
        Quoted(&summary.label),
        rate(0),
        rate(1),
    );
    if let Some(coded) = summary.reasons.first() {
        let reason = coded.reason().map_or_else(|| lines::reason(coded), |reason| reason.brief().to_string());
        line.push_str(&format!(", reason {}", Quoted(reason)));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::record::Recorder;
    use core::time::Duration;
    use measure::ledger::{DirectionReport, HostEvidence};
    use measure::record::{Event, Stamped, text};
    use measure::tally::Tally;
    use measure::units::{Direction, Instant};
    use measure::verdict::{Reason, Verdict};

    fn record(verdict: Verdict, reason: Option<Reason>) -> Vec<u8> {
        let host = HostEvidence { drops: Some(0), cable_evidence: false };
        let steady = Some(BitRate::from_mbps(9_871));
        let forth = DirectionReport {
            steady,
            ..DirectionReport::new(Direction::AToB, &Tally::default(), host, None)
        };
        let (version, board, label) = ("1", text("b"), text("blue \"3\""));
        let start = Event::Start { run: 13, version, board, label, cable: "ports", nonce: 1 };
        let verdict = Event::Verdict { verdict, run: 13, basis: None, of: None };
        let clock = Event::WallClock { unix: Duration::from_secs(1_796_095_638) };
        let events = [clock, start, verdict].into_iter().chain(reason.map(Event::Reason));
        let mut recorder = Recorder::default();
        let frames = events.chain([Event::Direction(forth), Event::End]);
        frames
            .filter_map(|event| recorder.take(&Stamped { at: Instant::ZERO, event }))
            .last()
            .unwrap()
            .to_vec()
    }

    #[test]
    fn a_result_is_told_in_one_line_with_what_is_not_known_apart_from_zero() {
        let pass =
            "run 13, PASS, utc 2026-12-01T03:27:18.000Z, label \"blue \\\"3\\\"\", A>B 9.871 Gb/s, B>A N/A";
        assert_eq!(line(&record(Verdict::Pass, None)).as_deref(), Some(pass));
        let dead = record(Verdict::Fail, Some(Reason::DeadDirection { direction: Direction::BToA }));
        let fail = format!("{}, reason \"B>A dead\"", pass.replace("PASS", "FAIL"));
        assert_eq!(line(&dead), Some(fail));
    }

    #[test]
    fn what_is_no_result_is_told_as_none() {
        let whole = record(Verdict::Pass, None);
        for octets in [&[][..], &[0; 40], &whole[..whole.len() / 2], b"run 13, PASS"] {
            assert_eq!(line(octets), None);
        }
    }
}
