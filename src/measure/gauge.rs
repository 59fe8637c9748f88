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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smear::WINDOW;

    const LINE: BitRate = BitRate::from_mbps(10_000);
    /// A full bucket of 16 ms.
    const FULL: u64 = 20_000_000;

    /// A gauge and the totals that a worker publishes.
    struct Bench {
        gauge: Gauge,
        tally: Tally,
    }

    impl Bench {
        fn new() -> Self {
            let mut bench = Self { gauge: Gauge::new(LINE, 100), tally: Tally::default() };
            bench.gauge.read(&bench.tally);
            bench
        }

        /// `buckets` of 16 ms in which `received` octets came each and `sent` left.
        fn flow(&mut self, buckets: usize, received: u64, sent: u64) {
            for _ in 0..buckets {
                self.tally.received_l1_octets += received;
                self.tally.sent_l1_octets += sent;
                self.tally.received_at = self.tally.received_at + LEAD_IN;
                self.gauge.read(&self.tally);
            }
        }
    }

    #[test]
    fn the_judged_mean_is_the_steady_state_and_knows_nothing_of_the_settle() {
        let mut bench = Bench::new();
        bench.flow(300, FULL / 10, FULL / 10);
        bench.gauge.settled();
        bench.flow(600, FULL, FULL);
        assert_eq!(bench.gauge.steady(), None, "not before sending has ended");
        bench.gauge.stop();
        assert_eq!(bench.gauge.steady(), Some(LINE));
        assert_eq!(bench.gauge.offered(), Some(LINE));
    }

    #[test]
    fn what_comes_in_the_drain_is_in_no_mean() {
        let mut bench = Bench::new();
        bench.gauge.settled();
        bench.flow(100, FULL, FULL);
        bench.gauge.stop();
        bench.flow(10, 1000, 0);
        assert_eq!(bench.gauge.steady(), Some(LINE));
    }

    #[test]
    fn a_run_that_ends_in_its_settle_has_no_judged_mean() {
        let mut bench = Bench::new();
        bench.flow(100, FULL, FULL);
        bench.gauge.stop();
        assert_eq!((bench.gauge.steady(), bench.gauge.offered()), (None, None));
    }

    #[test]
    fn what_was_offered_and_did_not_arrive_is_told_apart() {
        let mut bench = Bench::new();
        bench.gauge.settled();
        bench.flow(100, FULL / 2, FULL);
        bench.gauge.stop();
        assert_eq!(bench.gauge.offered(), Some(LINE));
        assert_eq!(bench.gauge.steady(), Some(BitRate::from_mbps(5_000)));
    }

    #[test]
    fn the_second_is_the_mean_since_it_was_last_asked() {
        let mut bench = Bench::new();
        assert_eq!(bench.gauge.second(), None, "nothing to compare with yet");
        bench.flow(62, FULL, FULL);
        assert_eq!(bench.gauge.second(), Some(LINE));
        bench.flow(62, 0, 0);
        assert_eq!(bench.gauge.second(), Some(BitRate::default()));
        assert_eq!(bench.gauge.second(), None, "no time has passed");
    }

    #[test]
    fn a_reading_is_shown_when_the_window_has_settled_it() {
        let mut bench = Bench::new();
        bench.flow(WINDOW, FULL, FULL);
        assert_eq!(bench.gauge.shown(), None);
        bench.flow(2, FULL, FULL);
        assert_eq!(bench.gauge.shown(), Some(LINE));
        assert_eq!((bench.gauge.highest(), bench.gauge.outlived()), (Some(LINE), 0));
    }

    #[test]
    fn a_worker_that_published_nothing_new_adds_no_reading() {
        let mut bench = Bench::new();
        bench.flow(40, FULL, FULL);
        let shown = bench.gauge.shown();
        (0..40).for_each(|_| bench.gauge.read(&bench.tally));
        assert_eq!(bench.gauge.shown(), shown, "the stamp is the worker's, not the sampler's");
    }
}
