//! The rate of one direction, in the three windows that people look at.
//!
//! 16 ms buckets, smeared, for the display; 1 s means for the log; and the steady-state mean for the
//! verdict, from the end of the settle to the end of sending. The last two use raw totals: the smear
//! is for the display alone.

use crate::bucket::{Bucket, Mean, Meter};
use crate::smear::Smear;
use crate::tally::Tally;
use crate::units::{BitRate, Instant};
use core::time::Duration;

/// Watches one direction's received totals.
#[derive(Clone, Debug)]
pub struct Gauge {
    meter: Meter,
    smear: Smear,
    shown: Option<BitRate>,
    highest: Option<BitRate>,
    second: Option<Mean>,
    steady: Option<Mean>,
    steady_rate: Option<BitRate>,
    offered: Option<Mean>,
    offered_rate: Option<BitRate>,
    last: Reading,
    lead_in: bool,
}

/// The last reading: L1 octets received and sent, and the one stamp of both.
#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    received: u64,
    sent: u64,
    at: Instant,
}

/// Length of the empty bucket before the first: what a first burst brings too much goes there, unshown.
const LEAD_IN: Duration = Duration::from_millis(16);

impl Gauge {
    /// A gauge for a line of rate `line`, whose clock may be `tolerance_ppm` fast.
    #[must_use]
    pub fn new(line: BitRate, tolerance_ppm: u64) -> Self {
        let mut smear = Smear::new(line, tolerance_ppm);
        // An empty window retires nothing yet.
        let _ = smear.enter(Bucket { l1_octets: 0, time: LEAD_IN });
        Self {
            meter: Meter::default(),
            smear,
            shown: None,
            highest: None,
            second: None,
            steady: None,
            steady_rate: None,
            offered: None,
            offered_rate: None,
            last: Reading::default(),
            lead_in: true,
        }
    }

    /// Takes in what a worker published.
    pub fn read(&mut self, tally: &Tally) {
        self.last =
            Reading { received: tally.received_l1_octets, sent: tally.sent_l1_octets, at: tally.received_at };
        if let Some(bucket) = self.meter.read(tally.received_l1_octets, tally.received_at)
            && let Some(settled) = self.smear.enter(bucket)
        {
            self.show(settled);
        }
    }

    fn show(&mut self, settled: Bucket) {
        if core::mem::take(&mut self.lead_in) {
            return;
        }
        self.shown = settled.rate();
        self.highest = self.highest.max(self.shown);
    }

    /// The settle is over: the judged mean begins at the last reading.
    pub fn settled(&mut self) {
        let Reading { received, sent, at } = self.last;
        self.steady = Some(Mean::begin(received, at));
        self.offered = Some(Mean::begin(sent, at));
    }

    /// Sending ends: the judged mean ends at the last reading, and the window is emptied.
    pub fn stop(&mut self) {
        let Reading { received, sent, at } = self.last;
        self.steady_rate = self.steady.and_then(|mean| mean.rate(received, at));
        self.offered_rate = self.offered.and_then(|mean| mean.rate(sent, at));
        while let Some(settled) = self.smear.drain() {
            self.show(settled);
        }
    }

    /// The rate to show: the bucket that has just settled.
    #[must_use]
    pub fn shown(&self) -> Option<BitRate> {
        self.shown
    }

    /// The mean since this was last asked.
    pub fn second(&mut self) -> Option<BitRate> {
        let Reading { received, at, .. } = self.last;
        let rate = self.second.and_then(|mean| mean.rate(received, at));
        self.second = Some(Mean::begin(received, at));
        rate
    }

    /// The judged mean; none before sending has ended, or where there was no judged part.
    #[must_use]
    pub fn steady(&self) -> Option<BitRate> {
        self.steady_rate
    }

    /// What the sender put on the line over the judged part; none where there is no judged mean either.
    #[must_use]
    pub fn offered(&self) -> Option<BitRate> {
        self.offered_rate
    }

    /// Highest bucket ever shown.
    #[must_use]
    pub fn highest(&self) -> Option<BitRate> {
        self.highest
    }

    /// Buckets shown above line rate because a stall outlived the window.
    #[must_use]
    pub fn outlived(&self) -> u64 {
        self.smear.outlived()
    }
}
