//! The summary of a run, gathered from its last events.

use super::Record;
use super::body::{Account, Summary};
use super::codes::{Coded, figure_code};
use super::frame::{Frame, SUMMARY_BELOW, seal};
use super::reason::CodedReason;
use core::time::Duration;
use measure::ledger::DirectionReport;
use measure::record::{Event, Held, SettingReading};
use measure::units::{BitRate, Side};

/// Bits of a count that a long run fills: 7 octets on the wire.
const LONG_COUNT: u32 = 49;

/// Bits of a count that is nothing or little in any run: 5 octets.
const SHORT_COUNT: u32 = 35;

/// Bits of a rate in bit/s: 6 octets, 4.3 Tb/s.
const RATE: u32 = 42;

/// Bits of payload: 9 octets, which is 29 years at 10 Gb/s.
const PAYLOAD: u32 = 63;

/// `value`, or the greatest number of `bits` bits where it is greater.
pub(super) fn hold(value: u64, bits: u32) -> u64 {
    value.min((1 << bits) - 1)
}

/// What a run's events have said of its result so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathered {
    summary: Summary,
    judged: bool,
}

impl Gathered {
    /// Takes in what an event says of the result.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::Setting(reading) => self.setting(reading),
            Event::Verdict { verdict, basis, of, .. } => {
                self.judged = true;
                self.summary.verdict = verdict.code();
                self.summary.basis_bps = basis.map(rate);
                self.summary.paced_of_bps = of.map(rate);
            }
            Event::Reason(reason) => {
                if self.summary.reasons.push(CodedReason::of(reason)).is_err() {
                    self.leave_out();
                }
            }
            Event::NotAvailable { what, port } => {
                self.summary.without_figure.set(place(*port), figure_code(what), true);
            }
            _ => self.account(event),
        }
    }

    /// Takes in what an event says of one direction.
    fn account(&mut self, event: &Event) {
        match event {
            Event::Direction(report) => self.of(report.direction.index(), |account| counts(account, report)),
            Event::Ber { direction, checked_bits, errors, bound, confidence, equivalent } => {
                self.summary.confidence_ppm = Some(millionths(*confidence));
                self.summary.equivalent = *equivalent;
                self.of(direction.index(), |account| {
                    account.checked_bits = hold(*checked_bits, PAYLOAD);
                    account.ber_errors = hold(*errors, LONG_COUNT);
                    account.ber_bound = *bound;
                });
            }
            Event::Readings { direction, highest, above_line } => self.of(direction.index(), |account| {
                account.highest_bps = highest.map(rate);
                account.above_line = hold(*above_line, SHORT_COUNT);
            }),
            Event::Left { direction, probes, .. } => {
                self.of(direction.index(), |account| account.probes = hold(*probes, SHORT_COUNT));
            }
            _ => {}
        }
    }

    fn of(&mut self, direction: usize, change: impl FnOnce(&mut Account)) {
        if let Some(account) = self.summary.accounts.get_mut(direction) {
            change(account.get_or_insert_default());
        }
    }

    /// What was read back last is how it stands.
    fn setting(&mut self, reading: &SettingReading) {
        let (place, code) = (place(reading.port), reading.setting.code());
        self.summary.not_held.set(place, code, reading.held == Held::No);
        self.summary.without_setting.set(place, code, reading.held == Held::NotAvailable);
    }

    fn leave_out(&mut self) {
        self.summary.reasons_left_out = self.summary.reasons_left_out.saturating_add(1);
    }

    /// The summary as a frame, with what `identify` says of whose it is; none where there was no verdict.
    ///
    /// What does not fit is left out: first the origin, which the hello has, then the weakest reasons, which
    /// are counted.
    pub fn seal(mut self, sequence: u8, identify: impl FnOnce(&mut Summary)) -> Option<Frame> {
        if !self.judged {
            return None;
        }
        identify(&mut self.summary);
        loop {
            let frame = seal(sequence, &Record::Summary(self.summary.clone()));
            if let Some(frame) = frame.filter(|frame| frame.len() < SUMMARY_BELOW) {
                return Some(frame);
            }
            if self.summary.origin.take().is_none() {
                self.summary.reasons.pop()?;
                self.leave_out();
            }
        }
    }
}

/// The figures of a direction's account that its report has.
fn counts(account: &mut Account, report: &DirectionReport) {
    *account = Account {
        sent: hold(report.sent, LONG_COUNT),
        received: hold(report.received, LONG_COUNT),
        good: hold(report.good, LONG_COUNT),
        lost_at_least: hold(report.lost.at_least, LONG_COUNT),
        lost_at_most: hold(report.lost.at_most, LONG_COUNT),
        corrupt: hold(report.corrupt, LONG_COUNT),
        unidentified: hold(report.unidentified, SHORT_COUNT),
        bit_errors: hold(report.bit_errors, LONG_COUNT),
        missing: hold(report.missing, LONG_COUNT),
        host: hold(report.host, SHORT_COUNT),
        unknown: hold(report.unknown, SHORT_COUNT),
        duplicates: hold(report.duplicates, SHORT_COUNT),
        reordered: hold(report.reordered, SHORT_COUNT),
        misplaced: hold(report.misplaced, SHORT_COUNT),
        steady_bps: report.steady.map(rate),
        longest_stall_us: hold(micros(report.longest_stall), SHORT_COUNT),
        ..*account
    };
}

fn rate(rate: BitRate) -> u64 {
    hold(rate.bits_per_second(), RATE)
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// A confidence in millionths; not a number is 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded, and held to 0 to 1e6")]
fn millionths(confidence: f64) -> u32 {
    (confidence * 1e6).round().clamp(0.0, 1e6) as u32
}

/// A place among a summary's marks: 0 for the host, 1 for port A, 2 for port B.
fn place(port: Option<Side>) -> u8 {
    port.map_or(0, Coded::code)
}
