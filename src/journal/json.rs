//! The result of a run as one JSON object, for `--json`.
//!
//! The names carry their units. A figure that cannot be had is `null`, never 0. Fields are only ever
//! added; `schema` changes when one changes its meaning.

use crate::session::Report;
use measure::units::BitRate;
use serde::Serialize;

/// Version of the schema below.
pub const SCHEMA: u32 = 1;

/// The whole object.
#[derive(Debug, Serialize)]
pub struct Result {
    /// [`SCHEMA`].
    pub schema: u32,
    /// PASS, FAIL, MARGINAL or INVALID.
    pub verdict: String,
    /// The strongest reason in plain words; "no errors" with PASS, and at what pace.
    pub reason: String,
    /// All reasons, strongest first.
    pub reasons: Vec<String>,
    /// Run number.
    pub run: u32,
    /// Firmware version.
    pub version: &'static str,
    /// Board name.
    pub board: String,
    /// Cable label, empty for none.
    pub label: String,
    /// Rate judged against, Gb/s at L1.
    pub basis_gbps: Option<f64>,
    /// Link speed, Gb/s.
    pub link_gbps: Option<f64>,
    /// Lost, corrupt, link and internal, both directions together.
    pub errors: Errors,
    /// A→B.
    pub a_to_b: Direction,
    /// B→A.
    pub b_to_a: Direction,
}

/// Errors by class.
#[derive(Debug, Serialize)]
pub struct Errors {
    /// Frames lost on the cable.
    pub lost: u64,
    /// Frames received damaged.
    pub corrupt: u64,
    /// Carrier changes, CRC, symbol and fault counts.
    pub link: u64,
    /// Host drops, resets, stalls.
    pub internal: u64,
}

/// One direction.
#[derive(Debug, Serialize)]
pub struct Direction {
    /// Frames accepted for sending.
    pub sent: u64,
    /// Frames of ours that arrived.
    pub received: u64,
    /// Different frames received undamaged.
    pub good: u64,
    /// Frames the cable lost, at least.
    pub lost: u64,
    /// Frames the cable lost, at most (damaged headers leave it uncertain).
    pub lost_at_most: u64,
    /// Frames received damaged.
    pub corrupt: u64,
    /// Of those, frames that cannot say which frame they are.
    pub unidentified: u64,
    /// Wrong bits in the others.
    pub bit_errors: u64,
    /// sent − good − corrupt that can say which frame they are.
    pub missing: u64,
    /// Missing frames that the host dropped.
    pub host: u64,
    /// Missing frames that nothing explains.
    pub unknown: u64,
    /// Frames that came twice.
    pub duplicates: u64,
    /// Frames that came out of order.
    pub reordered: u64,
    /// Frames that came too late to be placed, or numbered beyond what was sent.
    pub misplaced: u64,
    /// Received steady rate, Gb/s at L1.
    pub l1_gbps: Option<f64>,
    /// Highest 16 ms reading shown, Gb/s at L1.
    pub highest_gbps: Option<f64>,
    /// Payload bits received and compared.
    pub checked_bits: u64,
    /// One-sided upper bound of the bit error ratio.
    pub ber_bound: Option<f64>,
    /// Confidence of that bound, 0 to 1.
    pub ber_confidence: f64,
    /// The bound counts discarded frames as one error each.
    pub ber_equivalent: bool,
    /// Probes that left before traffic.
    pub probes_sent: u64,
}

/// Gb/s of a rate, with all its digits.
#[expect(clippy::cast_precision_loss, reason = "a rate below 2^53 bit/s is exact")]
fn gbps(rate: BitRate) -> f64 {
    rate.bits_per_second() as f64 / 1e9
}

impl Result {
    /// The object for `report`.
    #[must_use]
    pub fn new(report: &Report, board: &str, label: &str) -> Self {
        Self {
            schema: SCHEMA,
            verdict: report.verdict().to_string(),
            reason: report.reason().to_string(),
            reasons: report.judgement.reasons.iter().map(ToString::to_string).collect(),
            run: report.run,
            version: env!("CARGO_PKG_VERSION"),
            board: board.to_owned(),
            label: label.to_owned(),
            basis_gbps: report.basis.map(gbps),
            link_gbps: report.link_speed.map(gbps),
            errors: Errors {
                lost: report.classes.lost,
                corrupt: report.classes.corrupt,
                link: report.classes.link,
                internal: report.classes.internal,
            },
            a_to_b: Direction::new(report, 0),
            b_to_a: Direction::new(report, 1),
        }
    }

    /// The object as one line.
    #[must_use]
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("plain numbers and texts always have a JSON form")
    }
}

impl Direction {
    fn new(report: &Report, index: usize) -> Self {
        let account = &report.directions[index];
        let ber = &report.ber[index];
        Self {
            sent: account.sent,
            received: account.received,
            good: account.good,
            lost: account.lost.at_least,
            lost_at_most: account.lost.at_most,
            corrupt: account.corrupt,
            unidentified: account.unidentified,
            bit_errors: account.bit_errors,
            missing: account.missing,
            host: account.host,
            unknown: account.unknown,
            duplicates: account.duplicates,
            reordered: account.reordered,
            misplaced: account.misplaced,
            l1_gbps: account.steady.map(gbps),
            highest_gbps: report.highest[index].map(gbps),
            checked_bits: account.checked_bits,
            ber_bound: ber.bound,
            ber_confidence: ber.confidence,
            ber_equivalent: ber.equivalent,
            probes_sent: report.probes[index],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Ber;
    use measure::ledger::{DirectionReport, HostEvidence};
    use measure::record::Classes;
    use measure::tally::{StreamTally, Tally};
    use measure::units::Direction as Way;
    use measure::verdict::{Judgement, Reason, Verdict};

    fn report() -> Report {
        let host = HostEvidence { drops: Some(1), cable_evidence: false };
        let account = |way| {
            let mut tally = Tally { received: 83, unidentified: 1, ..Tally::default() };
            tally.streams[0] = StreamTally {
                sent: 100,
                good: 80,
                corrupt: 2,
                bit_errors: 5,
                checked_bits: 8,
                ..StreamTally::default()
            };
            DirectionReport::new(way, &tally, host, (way == Way::AToB).then_some(BitRate::from_mbps(9_998)))
        };
        let directions = Way::BOTH.map(account);
        let lost = Reason::Lost { direction: Way::AToB, at_least: 16, at_most: 17, sent: 100 };
        let ber = |bound| Ber { checked_bits: 8, errors: 6, bound, confidence: 0.95, equivalent: false };
        Report {
            run: 3,
            judgement: Judgement { verdict: Verdict::Fail, reasons: [lost].into_iter().collect() },
            directions,
            classes: Classes { lost: 16, corrupt: 6, link: 0, internal: 2 },
            ber: [ber(Some(3e-12)), ber(None)],
            basis: Some(BitRate::from_mbps(10_000)),
            link_speed: None,
            pace_of: None,
            highest: [Some(BitRate::from_mbps(10_001)), None],
            probes: [64, 64],
        }
    }

    /// Programs rely on it: fields may be added at the end of an object; do not change what is here.
    #[test]
    fn the_object_is_as_its_readers_know_it() {
        let version = env!("CARGO_PKG_VERSION");
        let both = r#""sent":100,"received":83,"good":80,"lost":16,"lost_at_most":17,"corrupt":3,"unidentified":1,"bit_errors":5,"missing":18,"host":1,"unknown":0,"duplicates":0,"reordered":0,"misplaced":0"#;
        let golden = [
            r#"{"schema":1,"verdict":"FAIL","reason":"A>B lost 16 to 17 of 100","reasons":["A>B lost 16 to 17 of 100"],"run":3,"#,
            &format!(r#""version":"{version}","board":"bench","label":"blue \"3m\"","basis_gbps":10.0,"link_gbps":null,"#),
            r#""errors":{"lost":16,"corrupt":6,"link":0,"internal":2},"#,
            &format!(r#""a_to_b":{{{both},"l1_gbps":9.998,"highest_gbps":10.001,"checked_bits":8,"ber_bound":3e-12,"ber_confidence":0.95,"ber_equivalent":false,"probes_sent":64}},"#),
            &format!(r#""b_to_a":{{{both},"l1_gbps":null,"highest_gbps":null,"checked_bits":8,"ber_bound":null,"ber_confidence":0.95,"ber_equivalent":false,"probes_sent":64}}}}"#),
        ]
        .concat();
        assert_eq!(Result::new(&report(), "bench", "blue \"3m\"").to_line(), golden);
    }

    #[test]
    fn it_is_one_line_whatever_the_label() {
        let line = Result::new(&report(), "bench", "one\ntwo").to_line();
        assert!(!line.contains('\n'), "{line}");
    }
}
