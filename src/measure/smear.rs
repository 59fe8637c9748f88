//! Repairs the display where a late reader put octets into the wrong bucket.
//!
//! A reader that was held up finds afterwards what had been on the wire before: one bucket reads low
//! and a later one above line rate. So a bucket above line rate donates its excess backward, to the
//! earlier ones that have room. This happens once, when the bucket enters, and its result is kept:
//! a pass recomputed from raw buckets at every sample shows what it moved twice, once where it moved
//! to and once more where it came from, and manufactures more than the line can carry.
//!
//! This is for the display. The verdict and all means use raw totals.

use crate::bucket::Bucket;
use crate::units::BitRate;
use heapless::Deque;

/// Buckets that a donation reaches back: 512 ms of 16 ms ones.
pub const WINDOW: usize = 32;

/// The last [`WINDOW`] buckets of one direction, on their way to the display.
#[derive(Clone, Debug)]
pub struct Smear {
    cap: BitRate,
    window: Deque<Bucket, WINDOW>,
    outlived: u64,
}

impl Smear {
    /// An empty window for a line of rate `line` whose clock may be `tolerance_ppm` fast
    /// ([`crate::units::CLOCK_TOLERANCE_PPM`] for 802.3).
    #[must_use]
    pub fn new(line: BitRate, tolerance_ppm: u64) -> Self {
        Self { cap: line.plus_ppm(tolerance_ppm), window: Deque::new(), outlived: 0 }
    }

    /// Takes a bucket in, once and for all; gives the one that it pushes out of a full window, to be shown.
    pub fn enter(&mut self, mut bucket: Bucket) -> Option<Bucket> {
        self.donate(&mut bucket);
        let shown = if self.window.is_full() { self.drain() } else { None };
        // Cannot fail: a full window has just lost its oldest bucket.
        let _ = self.window.push_back(bucket);
        shown
    }

    /// Retires the oldest bucket, to be shown; none when the window is empty.
    pub fn drain(&mut self) -> Option<Bucket> {
        let shown = self.window.pop_front()?;
        if shown.l1_octets > capacity(self.cap, &shown) {
            self.outlived = self.outlived.saturating_add(1);
        }
        Some(shown)
    }

    /// L1 octets in the window: entered and not yet shown.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.window.iter().map(|bucket| bucket.l1_octets).fold(0, u64::saturating_add)
    }

    /// Buckets shown above line rate: a stall outlived the window, which should be larger.
    #[must_use]
    pub const fn outlived(&self) -> u64 {
        self.outlived
    }

    /// Moves what `bucket` has above its capacity to earlier buckets that have room, nearest first,
    /// because a burst follows right after the stall that caused it.
    fn donate(&mut self, bucket: &mut Bucket) {
        let mut excess = bucket.l1_octets.saturating_sub(capacity(self.cap, bucket));
        for earlier in self.window.iter_mut().rev() {
            if excess == 0 {
                break;
            }
            let room = capacity(self.cap, earlier).saturating_sub(earlier.l1_octets);
            let moved = excess.min(room);
            earlier.l1_octets += moved;
            bucket.l1_octets -= moved;
            excess -= moved;
        }
    }
}

/// L1 octets that `cap` fits into the bucket's time, rounded down so that none ever shows more.
fn capacity(cap: BitRate, bucket: &Bucket) -> u64 {
    cap.l1_octets_in(bucket.time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    const LINE: BitRate = BitRate::from_mbps(10_000);
    const PPM: u64 = 100;
    /// Octets of a full 16 ms bucket, without the tolerance and with it.
    const FULL: u64 = 20_000_000;
    const CAP: u64 = 20_002_000;

    fn bucket(l1_octets: u64) -> Bucket {
        Bucket { l1_octets, time: Duration::from_millis(16) }
    }

    /// Everything that `entered` shows, the window emptied at the end, and how many outlived it.
    fn show(entered: impl IntoIterator<Item = u64>) -> (Vec<u64>, u64) {
        let mut smear = Smear::new(LINE, PPM);
        let mut shown: Vec<_> =
            entered.into_iter().filter_map(|octets| smear.enter(bucket(octets))).collect();
        shown.extend(core::iter::from_fn(|| smear.drain()));
        (shown.iter().map(|bucket| bucket.l1_octets).collect(), smear.outlived())
    }

    #[test]
    fn a_bucket_is_shown_when_the_window_is_full() {
        let mut smear = Smear::new(LINE, PPM);
        for octets in 0..32 {
            assert_eq!(smear.enter(bucket(octets)), None);
        }
        assert_eq!(smear.enter(bucket(99)), Some(bucket(0)));
        assert_eq!(smear.held(), (1..32).sum::<u64>() + 99);
    }

    #[test]
    fn a_burst_goes_back_into_the_stall_before_it() {
        let (shown, outlived) = show([FULL, 5_000_000, FULL + 15_000_000, FULL]);
        assert_eq!(shown, [FULL, FULL - 2_000, CAP, FULL]);
        assert_eq!(outlived, 0);
    }

    #[test]
    fn the_nearest_room_is_filled_first() {
        let (shown, _) = show([FULL / 2, FULL / 2, CAP + 10_003_000]);
        assert_eq!(shown, [FULL / 2 + 1_000, CAP, CAP]);
    }

    #[test]
    fn nothing_moves_forward() {
        let (shown, outlived) = show([CAP + 1, 0]);
        assert_eq!((shown.as_slice(), outlived), ([CAP + 1, 0].as_slice(), 1));
    }

    #[test]
    fn a_stall_that_outlives_the_window_is_shown_as_it_is_and_counted() {
        // 40 empty buckets and then all of it at once: eight of them have left the window.
        let (shown, outlived) = show(core::iter::repeat_n(0, 40).chain([41 * FULL]));
        let (last, earlier) = shown.split_last().unwrap();
        assert!(earlier.iter().take(8).all(|octets| *octets == 0));
        assert!(earlier.iter().skip(8).all(|octets| *octets == CAP));
        assert_eq!(*last, 41 * FULL - 32 * CAP);
        assert_eq!(outlived, 1);
    }

    #[test]
    fn counters_that_move_once_a_second_outlive_the_window() {
        // Case: 62 readings of zero, then a second's worth. The sign is there each time.
        let second = (0..62).map(|n| if n == 61 { 62 * FULL } else { 0 });
        let (_, outlived) = show(second.cycle().take(62 * 5));
        assert_eq!(outlived, 5);
    }

    #[test]
    fn a_wire_100_ppm_fast_is_no_excess() {
        let (shown, outlived) = show(core::iter::repeat_n(CAP, 100));
        assert_eq!((shown, outlived), (std::vec![CAP; 100], 0));
    }

    #[test]
    fn on_a_wire_100_ppm_fast_stalls_are_still_repaired() {
        let stalled = (0..120).map(|n| match n % 6 {
            1 => CAP / 4,
            2 => 0,
            3 => 2 * CAP + 3 * (CAP / 4),
            _ => CAP,
        });
        let (shown, outlived) = show(stalled);
        assert_eq!((shown, outlived), (std::vec![CAP; 120], 0));
    }

    /// Buckets of any time, filled anywhere from nothing to far above the line.
    fn buckets() -> impl Strategy<Value = Vec<Bucket>> {
        let one = (0..40_000_000u64, prop_oneof![3 => 0..1_200u64, 1 => 900..1_000u64, 1 => 0..9_000u64]);
        let bucket = one.prop_map(|(nanos, thousandths)| {
            let time = Duration::from_nanos(nanos);
            Bucket { l1_octets: LINE.l1_octets_in(time) * thousandths / 1000, time }
        });
        vec(bucket, 0..150)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn what_is_shown_and_what_is_held_is_what_entered(buckets in buckets()) {
            let mut smear = Smear::new(LINE, PPM);
            let (mut entered, mut shown) = (0, 0);
            for bucket in buckets {
                entered += bucket.l1_octets;
                shown += smear.enter(bucket).map_or(0, |bucket| bucket.l1_octets);
                prop_assert_eq!(shown + smear.held(), entered);
            }
        }

        #[test]
        fn every_bucket_is_shown_once_in_order_with_its_own_time(buckets in buckets()) {
            let mut smear = Smear::new(LINE, PPM);
            let mut shown: Vec<_> = buckets.iter().filter_map(|bucket| smear.enter(*bucket)).collect();
            shown.extend(core::iter::from_fn(|| smear.drain()));
            let times = |buckets: &[Bucket]| buckets.iter().map(|bucket| bucket.time).collect::<Vec<_>>();
            prop_assert_eq!(times(&shown), times(&buckets));
        }

        #[test]
        fn nothing_stays_above_the_line_while_room_is_in_the_window(buckets in buckets()) {
            let mut smear = Smear::new(LINE, PPM);
            let cap = LINE.plus_ppm(PPM);
            for bucket in buckets {
                let before = smear.window.clone();
                smear.enter(bucket);
                let entered = smear.window.back().unwrap();
                if entered.l1_octets > capacity(cap, entered) {
                    let room: u64 = before
                        .iter()
                        .map(|earlier| capacity(cap, earlier).saturating_sub(earlier.l1_octets))
                        .sum();
                    prop_assert_eq!(bucket.l1_octets - entered.l1_octets, room);
                }
            }
        }

        #[test]
        fn a_settled_bucket_only_gains_and_never_above_the_line(buckets in buckets()) {
            let mut smear = Smear::new(LINE, PPM);
            let cap = LINE.plus_ppm(PPM);
            for bucket in buckets {
                let before = smear.window.clone();
                let retired = smear.enter(bucket);
                let after = retired.iter().chain(smear.window.iter());
                for (before, after) in before.iter().zip(after) {
                    prop_assert!(after.l1_octets >= before.l1_octets);
                    prop_assert!(after.l1_octets <= before.l1_octets.max(capacity(cap, after)));
                }
            }
        }

        #[test]
        fn outlived_counts_what_is_shown_above_the_line(buckets in buckets()) {
            let mut smear = Smear::new(LINE, PPM);
            let mut shown: Vec<_> = buckets.iter().filter_map(|bucket| smear.enter(*bucket)).collect();
            shown.extend(core::iter::from_fn(|| smear.drain()));
            let above = shown.iter().filter(|bucket| bucket.l1_octets > capacity(LINE.plus_ppm(PPM), bucket));
            prop_assert_eq!(u64::try_from(above.count()).unwrap(), smear.outlived());
        }
    }
}
