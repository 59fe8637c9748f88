//! When to send: a rate kept exactly, with bounded catching up after a stall.
//!
//! Credit is earned before it is spent, so at no moment has more been sent than the rate allows. It is
//! computed from the whole time since the start and not summed up call by call, so nothing drifts.

use crate::units::{BitRate, FrameSize, Instant};
use core::time::Duration;

/// Nanoseconds that one L1 octet takes at 1 bit/s.
const OCTET_NANOS: u128 = 8 * 1_000_000_000;

/// Paces one sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacer {
    rate: BitRate,
    start: Instant,
    most: u64,
    spent: u64,
    forfeited: u64,
}

impl Pacer {
    /// Earns credit at `rate` from `start` on, and keeps at most `catch_up` worth of it.
    ///
    /// It keeps the largest frame at least, or a slow pace could never send one.
    #[must_use]
    pub fn new(rate: BitRate, start: Instant, catch_up: Duration) -> Self {
        let most = rate.l1_octets_in(catch_up).max(FrameSize::MAX.l1_octets());
        Self { rate, start, most, spent: 0, forfeited: 0 }
    }

    /// L1 octets that may be sent at `now`. What a stall has piled up beyond the catch-up is forfeited.
    pub fn credit(&mut self, now: Instant) -> u64 {
        let earned = self.rate.l1_octets_in(now.since(self.start));
        let credit = earned.saturating_sub(self.gone());
        let beyond = credit.saturating_sub(self.most);
        self.forfeited = self.forfeited.saturating_add(beyond);
        credit - beyond
    }

    /// `l1_octets` were sent. Sending more than the credit is a debt, paid off before there is credit again.
    pub fn spend(&mut self, l1_octets: u64) {
        self.spent = self.spent.saturating_add(l1_octets);
    }

    /// The first moment at which there is credit for `l1_octets`, if nothing is spent till then; for more
    /// than is ever kept, the moment at which there is most. Far away at a rate of zero.
    #[must_use]
    pub fn ready_at(&self, l1_octets: u64) -> Instant {
        let wanted = u128::from(self.gone()) + u128::from(l1_octets.min(self.most));
        let nanos = match u128::from(self.rate.bits_per_second()) {
            0 => u64::MAX,
            rate => u64::try_from((wanted * OCTET_NANOS).div_ceil(rate)).unwrap_or(u64::MAX),
        };
        self.start + Duration::from_nanos(nanos)
    }

    /// L1 octets lost to stalls that were longer than the catch-up.
    #[must_use]
    pub const fn forfeited(&self) -> u64 {
        self.forfeited
    }

    /// Credit that is not there any more.
    fn gone(&self) -> u64 {
        self.spent.saturating_add(self.forfeited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const PACE: BitRate = BitRate::from_mbps(1_000);
    const START: Instant = Instant::from_millis(7);
    const CATCH_UP: Duration = Duration::from_millis(512);

    fn pacer() -> Pacer {
        Pacer::new(PACE, START, CATCH_UP)
    }

    #[test]
    fn credit_is_earned_before_it_is_spent() {
        let mut pacer = pacer();
        assert_eq!(pacer.credit(START), 0);
        assert_eq!(pacer.credit(START + Duration::from_millis(1)), 125_000);
        pacer.spend(125_000);
        assert_eq!(pacer.credit(START + Duration::from_millis(1)), 0);
    }

    #[test]
    fn before_the_start_there_is_no_credit() {
        assert_eq!(pacer().credit(Instant::ZERO), 0);
    }

    #[test]
    fn a_stall_within_the_catch_up_is_made_good() {
        let mut pacer = pacer();
        assert_eq!(pacer.credit(START + CATCH_UP), 64_000_000);
        assert_eq!(pacer.forfeited(), 0);
    }

    #[test]
    fn a_longer_stall_is_made_good_in_part_and_the_rest_told() {
        let mut pacer = pacer();
        assert_eq!(pacer.credit(START + Duration::from_secs(2)), 64_000_000);
        assert_eq!(pacer.forfeited(), 250_000_000 - 64_000_000);
        // Asking again takes nothing more away.
        assert_eq!(pacer.credit(START + Duration::from_secs(2)), 64_000_000);
        assert_eq!(pacer.forfeited(), 250_000_000 - 64_000_000);
    }

    #[test]
    fn a_debt_is_paid_off_first() {
        let mut pacer = pacer();
        pacer.spend(125_000);
        assert_eq!(pacer.credit(START + Duration::from_millis(1)), 0);
        assert_eq!(pacer.credit(START + Duration::from_millis(2)), 125_000);
    }

    #[test]
    fn a_slow_pace_sends_the_largest_frame_all_the_same() {
        // 512 ms of 100 kb/s are 6400 octets.
        let largest = FrameSize::MAX.l1_octets();
        let mut pacer = Pacer::new(BitRate::from_bits_per_second(100_000), START, CATCH_UP);
        let ready = pacer.ready_at(largest);
        assert_eq!(pacer.credit(ready), largest);
        assert_eq!(pacer.forfeited(), 0);
    }

    #[test]
    fn more_than_is_ever_kept_is_not_waited_for() {
        let mut pacer = pacer();
        let ready = pacer.ready_at(u64::MAX);
        assert_eq!(ready, START + CATCH_UP);
        assert_eq!(pacer.credit(ready), 64_000_000);
    }

    #[test]
    fn at_a_rate_of_zero_nothing_is_ever_ready() {
        let pacer = Pacer::new(BitRate::default(), START, CATCH_UP);
        assert_eq!(pacer.ready_at(84), Instant::from_nanos(u64::MAX));
    }

    /// Any pace from 1 kb/s to 100 Gb/s.
    fn paces() -> impl Strategy<Value = BitRate> {
        (1_000..100_000_000_000u64).prop_map(BitRate::from_bits_per_second)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn the_pace_is_never_exceeded_and_kept_to_the_octet(
            pace in paces(),
            gaps in vec(0..=512_000_000u64, 1..200),
        ) {
            let mut pacer = Pacer::new(pace, START, CATCH_UP);
            let (mut now, mut sent) = (START, 0);
            for gap in gaps {
                now = now + Duration::from_nanos(gap);
                let credit = pacer.credit(now);
                pacer.spend(credit);
                sent += credit;
                prop_assert_eq!(sent, pace.l1_octets_in(now.since(START)));
            }
            prop_assert_eq!(pacer.forfeited(), 0);
        }

        #[test]
        fn in_whole_frames_the_mean_is_exact_to_a_frame(
            frame in 64..=9216u64,
            gaps in vec(0..500_000_000u64, 50..200),
        ) {
            let (mut pacer, mut now, mut sent) = (pacer(), START, 0);
            for gap in gaps {
                now = now + Duration::from_nanos(gap);
                let frames = pacer.credit(now) / (frame + 20);
                pacer.spend(frames * (frame + 20));
                sent += frames * (frame + 20);
            }
            let due = PACE.l1_octets_in(now.since(START));
            prop_assert!(sent <= due && due - sent < frame + 20);
            // Some 12 s of 1 Gb/s: a frame is far below 0.01 % of it.
            prop_assert!(now.since(START) < Duration::from_secs(5) || (due - sent) * 10_000 < due);
        }

        #[test]
        fn after_any_stalls_all_that_was_earned_is_spent_kept_or_forfeited(
            pace in paces(),
            turns in vec((0..3_000_000_000u64, 0..=100u64), 1..100),
        ) {
            let most = pace.l1_octets_in(CATCH_UP).max(FrameSize::MAX.l1_octets());
            let mut pacer = Pacer::new(pace, START, CATCH_UP);
            let (mut now, mut sent) = (START, 0);
            for (gap, percent) in turns {
                now = now + Duration::from_nanos(gap);
                let credit = pacer.credit(now);
                prop_assert!(credit <= most);
                let earned = pace.l1_octets_in(now.since(START));
                prop_assert_eq!(sent + credit + pacer.forfeited(), earned);
                let spent = u64::try_from(u128::from(credit) * u128::from(percent) / 100).unwrap();
                pacer.spend(spent);
                sent += spent;
            }
        }

        #[test]
        fn ready_at_is_the_first_moment_with_that_credit(
            pace in paces(),
            spent in 0..1_000_000u64,
            wanted in 1..9_237u64,
        ) {
            let mut pacer = Pacer::new(pace, START, CATCH_UP);
            pacer.spend(spent);
            let ready = pacer.ready_at(wanted);
            prop_assert!(pacer.credit(ready - Duration::from_nanos(1)) < wanted);
            prop_assert!(pacer.credit(ready) >= wanted);
        }
    }
}
