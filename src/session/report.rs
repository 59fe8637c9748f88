//! What a session ends with: the verdict and the figures behind it.

use super::Session;
use measure::ber;
use measure::counter::PortCounters;
use measure::ledger::DirectionReport;
use measure::record::{Classes, Event, Phase, text};
use measure::screen::Screen;
use measure::units::{BitRate, Direction, Side};
use measure::verdict::{Judgement, Reason, Verdict};
use std::io;

/// The result of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Run number.
    pub run: u32,
    /// Verdict and reasons, strongest first.
    pub judgement: Judgement,
    /// The account of A→B and B→A.
    pub directions: [DirectionReport; 2],
    /// Errors by class.
    pub classes: Classes,
    /// BER of A→B and B→A.
    pub ber: [Ber; 2],
    /// Rate judged against; none where no speed is known.
    pub basis: Option<BitRate>,
    /// Link speed; none where unknown.
    pub link_speed: Option<BitRate>,
    /// Pace and link speed, where the rate judged against is a pace.
    pub pace_of: Option<(BitRate, BitRate)>,
    /// Highest 16 ms reading shown in each direction.
    pub highest: [Option<BitRate>; 2],
    /// Probes that left in each direction.
    pub probes: [u64; 2],
}

/// The bit error ratio of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ber {
    /// Payload bits received and compared.
    pub checked_bits: u64,
    /// Errors: bits, or events where the MAC discards damaged frames.
    pub errors: u64,
    /// One-sided upper bound; none where no bit was checked.
    pub bound: Option<f64>,
    /// Confidence of the bound.
    pub confidence: f64,
    /// Errors are discarded frames, each counted as one.
    pub equivalent: bool,
}

impl Report {
    /// The verdict.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.judgement.verdict
    }

    /// The reason shown, in plain words; with PASS, that there are no errors, and at what pace.
    #[must_use]
    pub fn reason(&self) -> String {
        self.judgement.first().map_or_else(|| self.nothing_wrong(), ToString::to_string)
    }

    /// The verdict's page; `unsaved` where the run was to be kept, and is not.
    #[must_use]
    pub fn page(&self, unsaved: bool) -> Screen {
        let brief = self.judgement.first().map(Reason::brief);
        let reason = brief.map_or_else(|| text(self.nothing_wrong()), text);
        Screen::Verdict { verdict: self.verdict(), reason, run: self.run, unsaved }
    }

    /// What there is to say of a PASS: a paced one says so.
    fn nothing_wrong(&self) -> String {
        match self.pace_of {
            Some((pace, speed)) => format!("no errors at {} of {} Gb/s", brief(pace), brief(speed)),
            None => "no errors".to_owned(),
        }
    }
}

impl Session<'_> {
    /// Judges, tells and shows.
    pub(super) fn close(mut self) -> Report {
        self.verify_settings();
        let report = self.report();
        self.enter(Phase::Done);
        self.summarise(&report);
        self.show(&report);
        report
    }

    /// Reads the settings back once more: PASS says that they held to the end. A port that is gone has none.
    fn verify_settings(&mut self) {
        let gone = |reason: &Reason| matches!(reason, Reason::DeviceGone { .. });
        if !self.evidence.started() || self.evidence.has_found(gone) {
            return;
        }
        let ports = self.rig.nic().verify();
        ports.iter().for_each(|reading| self.judge_setting(reading));
        self.settings.retain(|reading| reading.port.is_none());
        self.settings.extend(ports);
    }

    fn report(&self) -> Report {
        let directions = self.evidence.reports();
        Report {
            run: self.config.run,
            judgement: self.evidence.judge(),
            classes: self.evidence.final_classes(),
            ber: directions.each_ref().map(|report| self.ber(report)),
            directions,
            basis: self.evidence.basis(),
            link_speed: self.link_speed(),
            pace_of: self.config.pace.zip(self.link_speed()),
            highest: self.evidence.readings().map(|(highest, _)| highest),
            probes: self.probes,
        }
    }

    fn ber(&self, report: &DirectionReport) -> Ber {
        let crc = self.evidence.since_baseline(report.direction.to()).crc_errors.unwrap_or(0);
        let equivalent = self.config.mac_checks_fcs;
        let bits = report.bit_errors.saturating_add(report.unidentified);
        let errors = if equivalent { bits.saturating_add(crc) } else { bits };
        let confidence = self.config.confidence;
        let bound = ber::upper_bound(errors, report.checked_bits, confidence);
        Ber { checked_bits: report.checked_bits, errors, bound, confidence, equivalent }
    }

    /// The summary block, verdict first.
    fn summarise(&mut self, report: &Report) {
        self.tell_verdict(report);
        for reason in &report.judgement.reasons {
            self.tell(Event::Reason(*reason));
        }
        for (direction, (account, ber)) in
            Direction::BOTH.into_iter().zip(report.directions.iter().zip(&report.ber))
        {
            self.tell(Event::Direction(*account));
            self.tell_streams(account);
            self.tell_ber(direction, ber);
            self.tell_readings(direction);
            let probes = report.probes[direction.index()];
            self.tell(Event::Left { direction, probes, test_frames: account.sent });
        }
        for reading in core::mem::take(&mut self.settings) {
            self.tell(Event::Setting(reading));
        }
        self.tell_not_available();
        self.tell_socket_errors();
        self.tell(self.config.identity());
        self.tell(Event::End);
    }

    fn tell_verdict(&mut self, report: &Report) {
        self.tell(Event::Verdict {
            verdict: report.verdict(),
            run: report.run,
            basis: report.basis,
            of: report.pace_of.map(|(_, speed)| speed),
        });
    }

    fn tell_streams(&mut self, account: &DirectionReport) {
        for (stream, (ethertype, report)) in (0..).zip(self.config.ethertypes.iter().zip(&account.streams)) {
            let direction = account.direction;
            self.tell(Event::Stream { direction, stream, ethertype: *ethertype, report: *report });
        }
    }

    fn tell_ber(&mut self, direction: Direction, ber: &Ber) {
        let Ber { checked_bits, errors, bound, confidence, equivalent } = *ber;
        self.tell(Event::Ber { direction, checked_bits, errors, bound, confidence, equivalent });
    }

    fn tell_readings(&mut self, direction: Direction) {
        let (highest, above_line) = self.evidence.readings()[direction.index()];
        self.tell(Event::Readings { direction, highest, above_line });
    }

    /// Names every counter that this box or driver does not have.
    fn tell_not_available(&mut self) {
        for port in Side::BOTH {
            let counters = self.evidence.since_baseline(port);
            for what in missing_counters(&counters) {
                self.tell(Event::NotAvailable { what, port: Some(port) });
            }
        }
        for what in ["SNR margin", "temperature", "package power"] {
            self.tell(Event::NotAvailable { what, port: None });
        }
    }

    /// Names what the sockets refused, which explains a sender that stood still.
    fn tell_socket_errors(&mut self) {
        for (direction, (count, errno)) in Direction::BOTH.into_iter().zip(self.evidence.socket_errors()) {
            if count > 0 {
                let last = io::Error::from_raw_os_error(i32::try_from(errno).unwrap_or(0));
                self.note(format_args!("{direction}: {count} socket errors, the last one {last}"));
            }
        }
    }

    fn show(&mut self, report: &Report) {
        self.around.screen(report.page(false));
    }
}

/// A rate in Gb/s with no more decimals than it has, but one: "1.0", "0.02".
fn brief(rate: BitRate) -> String {
    let mega = rate.bits_per_second().saturating_add(500_000) / 1_000_000;
    let decimals = format!("{:03}", mega % 1000);
    let kept = decimals.trim_end_matches('0');
    format!("{}.{}", mega / 1000, if kept.is_empty() { "0" } else { kept })
}

/// The counters that could not be read.
fn missing_counters(counters: &PortCounters) -> impl Iterator<Item = &'static str> {
    [
        ("frames sent by the MAC", counters.tx_frames),
        ("frames received by the MAC", counters.rx_frames),
        ("transmit drops", counters.tx_dropped),
        ("receive drops", counters.rx_dropped),
        ("missed frames", counters.rx_missed),
        ("CRC errors", counters.crc_errors),
        ("symbol errors", counters.symbol_errors),
        ("local and remote faults", counters.link_faults),
        ("pause frames", counters.pause_frames),
    ]
    .into_iter()
    .filter_map(|(what, count)| count.is_none().then_some(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brief_rate_is_never_rounded_to_nothing() {
        let shown = [10_000, 1_000, 200, 20, 1, 1_250].map(|mega| brief(BitRate::from_mbps(mega)));
        assert_eq!(shown, ["10.0", "1.0", "0.2", "0.02", "0.001", "1.25"]);
    }
}
