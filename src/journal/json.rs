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
