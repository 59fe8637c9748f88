//! Rates out of counts: what was counted between two readings, over the time between those readings.
//!
//! The stamp of a reading is the clock read right after its counters. A sampler runs a variable time
//! after its tick; with the tick as label, a right count is divided by a wrong time, and because
//! E[1/x] > 1/E[x] the error does not cancel: it reads high. So each [`Meter`] has stamps of its own,
//! and two directions never share one.

use crate::units::{BitRate, Instant};
use core::time::Duration;

/// What one direction carried between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// L1 octets.
    pub l1_octets: u64,
    /// Time between the two readings.
    pub time: Duration,
}

impl Bucket {
    /// The mean rate within the bucket; none for no time at all.
    #[must_use]
    pub fn rate(&self) -> Option<BitRate> {
        BitRate::of(self.l1_octets, self.time)
    }
}

/// A forward-only total and the moment right after it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reading {
    l1_octets: u64,
    at: Instant,
}

impl Reading {
    /// What was counted from here to a later reading of the same total.
    fn until(self, l1_octets: u64, at: Instant) -> Bucket {
        Bucket { l1_octets: l1_octets.saturating_sub(self.l1_octets), time: at.since(self.at) }
    }
}

/// Cuts one direction's total into buckets, one a reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    last: Option<Reading>,
    flowing: bool,
}

impl Meter {
    /// The bucket since the last reading; `read_at` is the clock read right after the total.
    ///
    /// None where there is no rate to tell: at the first reading, which is the baseline; at a reading
    /// with no newer stamp, whose octets go into the next bucket; and at the first bucket with frames in
    /// it, which is a partial one because they began somewhere in its middle. Before that, buckets are
    /// empty: a known zero.
    pub fn read(&mut self, l1_octets_total: u64, read_at: Instant) -> Option<Bucket> {
        let Some(last) = self.last else {
            self.last = Some(Reading { l1_octets: l1_octets_total, at: read_at });
            return None;
        };
        let bucket = last.until(l1_octets_total, read_at);
        if bucket.time.is_zero() {
            return None;
        }
        self.last = Some(Reading { l1_octets: l1_octets_total.max(last.l1_octets), at: read_at });
        let partial = !self.flowing && bucket.l1_octets > 0;
        self.flowing |= partial;
        (!partial).then_some(bucket)
    }
}

/// The mean rate since one reading, from raw totals: what a verdict uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mean {
    begin: Reading,
}

impl Mean {
    /// Begins where the total stood at `at`.
    #[must_use]
    pub const fn begin(l1_octets_total: u64, at: Instant) -> Self {
        Self { begin: Reading { l1_octets: l1_octets_total, at } }
    }

    /// The mean rate from there to this reading; none where no time has passed.
    #[must_use]
    pub fn rate(&self, l1_octets_total: u64, at: Instant) -> Option<BitRate> {
        self.begin.until(l1_octets_total, at).rate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const WINDOW: Duration = Duration::from_millis(16);

    /// A meter that has its baseline at zero and its partial bucket behind it.
    fn running() -> (Meter, Instant) {
        let mut meter = Meter::default();
        meter.read(0, Instant::ZERO);
        meter.read(1, Instant::ZERO + WINDOW);
        (meter, Instant::ZERO + WINDOW)
    }

    #[test]
    fn the_first_reading_is_the_baseline() {
        assert_eq!(Meter::default().read(123_456_789, Instant::from_millis(5)), None);
    }

    #[test]
    fn the_first_partial_bucket_is_not_a_rate() {
        let at = |n: u32| Instant::ZERO + WINDOW * n;
        let mut meter = Meter::default();
        meter.read(50, at(0));
        assert_eq!(meter.read(50, at(1)), Some(Bucket { l1_octets: 0, time: WINDOW }));
        assert_eq!(meter.read(7_000, at(2)), None);
        assert_eq!(meter.read(27_000, at(3)), Some(Bucket { l1_octets: 20_000, time: WINDOW }));
    }

    #[test]
    fn once_frames_have_flowed_silence_is_a_rate_of_zero() {
        let (mut meter, at) = running();
        let silent = meter.read(1, at + WINDOW).unwrap();
        assert_eq!(silent.rate(), Some(BitRate::default()));
        assert!(meter.read(9, at + WINDOW * 2).is_some());
    }

    #[test]
    fn octets_under_an_old_stamp_wait_for_the_next_bucket() {
        let (mut meter, at) = running();
        assert_eq!(meter.read(4_001, at), None);
        assert_eq!(meter.read(5_001, at - WINDOW), None);
        assert_eq!(meter.read(20_001, at + WINDOW), Some(Bucket { l1_octets: 20_000, time: WINDOW }));
    }

    #[test]
    fn a_total_that_steps_back_counts_nothing_twice() {
        let (mut meter, at) = running();
        meter.read(1_001, at + WINDOW);
        assert_eq!(meter.read(401, at + WINDOW * 2), Some(Bucket { l1_octets: 0, time: WINDOW }));
        assert_eq!(meter.read(1_501, at + WINDOW * 3), Some(Bucket { l1_octets: 500, time: WINDOW }));
    }

    #[test]
    fn the_time_is_the_measured_one_and_not_the_interval_asked_for() {
        // A nominal second that took 1.08 s: dividing by 1.000 would read 8 % high.
        let line = BitRate::from_mbps(10_000);
        let real = Duration::from_millis(1080);
        let (mut meter, at) = running();
        let bucket = meter.read(1 + line.l1_octets_in(real), at + real).unwrap();
        assert_eq!(bucket.rate(), Some(line));
    }

    #[test]
    fn the_mean_is_taken_from_the_first_reading_to_the_last() {
        let mean = Mean::begin(1_000, Instant::from_millis(5_000));
        let rate = mean.rate(1_000 + 1_250_000_000, Instant::from_millis(6_000));
        assert_eq!(rate, Some(BitRate::from_mbps(10_000)));
        assert_eq!(mean.rate(2_000, Instant::from_millis(5_000)), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn buckets_hold_every_octet_and_every_moment_once(
            steps in vec((0..30_000_000u64, 0..40_000_000u64), 0..60),
        ) {
            let (mut meter, start) = running();
            let (mut total, mut at) = (1, start);
            let (mut octets, mut time) = (0, Duration::ZERO);
            for (by, nanos) in steps {
                total += by;
                at = at + Duration::from_nanos(nanos);
                if let Some(bucket) = meter.read(total, at) {
                    octets += bucket.l1_octets;
                    time += bucket.time;
                }
            }
            // What an old stamp left pending is there at the next new one.
            let last = meter.read(total, at + WINDOW).unwrap();
            prop_assert_eq!(octets + last.l1_octets, total - 1);
            prop_assert_eq!(time + last.time, (at + WINDOW).since(start));
        }
    }
}
