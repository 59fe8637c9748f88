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
    last: (u64, Instant),
    lead_in: bool,
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
            last: (0, Instant::ZERO),
            lead_in: true,
        }
    }

    /// Takes in what a worker published.
    pub fn read(&mut self, tally: &Tally) {
        self.last = (tally.received_l1_octets, tally.received_at);
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
        let (octets, at) = self.last;
        self.steady = Some(Mean::begin(octets, at));
    }

    /// Sending ends: the judged mean ends at the last reading, and the window is emptied.
    pub fn stop(&mut self) {
        let (octets, at) = self.last;
        self.steady_rate = self.steady.and_then(|mean| mean.rate(octets, at));
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
        let (octets, at) = self.last;
        let rate = self.second.and_then(|mean| mean.rate(octets, at));
        self.second = Some(Mean::begin(octets, at));
        rate
    }

    /// The judged mean; none before sending has ended, or where there was no judged part.
    #[must_use]
    pub fn steady(&self) -> Option<BitRate> {
        self.steady_rate
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
