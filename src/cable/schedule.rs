//! When faults are due: moments drawn from a seed, in order.

use crate::cable::fault::Action;
use crate::cable::recognise::HEADERS;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use std::collections::VecDeque;
use std::time::Duration;

/// A number from 0 to under `limit`, 0 where that is 0. The bias is under `limit` ÷ 2⁶⁴.
pub(super) fn below(rng: &mut Xoshiro256PlusPlus, limit: u64) -> u64 {
    let product = u128::from(rng.next_u64()) * u128::from(limit);
    u64::try_from(product >> 64).unwrap_or_default()
}

/// A moment somewhere in the traffic, but not in its first 3 % nor in its last 8 %: what is held back or timed
/// out then still has time to arrive.
pub(super) fn moment(rng: &mut Xoshiro256PlusPlus, traffic: Duration) -> Duration {
    let whole = measure::units::nanos(traffic);
    let percent = |share: u64| whole / 100 * share;
    Duration::from_nanos(percent(3) + below(rng, percent(92 - 3)))
}

/// The actions that are due on the frames of one class in one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule(VecDeque<(Duration, Action)>);

impl Schedule {
    /// Adds an action that is due `at` that long after the first frame; [`Schedule::sort`] must follow.
    pub fn add(&mut self, at: Duration, action: Action) {
        self.0.push_back((at, action));
    }

    /// Puts what was added in order of time; equal moments keep the order of the script.
    pub fn sort(&mut self) {
        self.0.make_contiguous().sort_by_key(|&(at, _)| at);
    }

    /// The action for a frame of `octets` at `time` after the first one, if one is due that such a frame can
    /// bear.
    pub fn take(&mut self, time: Duration, octets: usize) -> Option<Action> {
        let index =
            self.0.iter().take_while(|&&(at, _)| at <= time).position(|&(_, action)| room(action, octets))?;
        self.0.remove(index).map(|(_, action)| action)
    }

    /// Makes an action that came to nothing due again, at once.
    pub fn again(&mut self, action: Action) {
        self.0.push_front((Duration::ZERO, action));
    }
}

/// The octets of a frame of `octets` that an action may damage, from and to.
pub(super) fn region(region: crate::cable::fault::Region, octets: usize) -> (usize, usize) {
    use crate::cable::fault::Region;
    match region {
        Region::Payload => (HEADERS.min(octets), octets),
        Region::Header => (0, HEADERS.min(octets)),
        Region::Any => (0, octets),
    }
}

/// Whether a frame of `octets` has enough of what `action` damages.
fn room(action: Action, octets: usize) -> bool {
    match action {
        Action::Flip { bits, region: part } => {
            let (from, to) = region(part, octets);
            (to - from) * 8 >= usize::from(bits)
        }
        // Every region of a frame of ours but an empty payload can be cut.
        Action::Truncate { region: part } => {
            let (from, to) = region(part, octets);
            to > from
        }
        Action::Drop | Action::Duplicate | Action::Reorder | Action::Delay { .. } | Action::Fcs => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cable::fault::Region;
    use rand_xoshiro::rand_core::SeedableRng;

    #[test]
    fn moments_stay_away_from_both_ends_of_the_traffic_and_fill_what_is_between() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let traffic = Duration::from_secs(100);
        let moments: Vec<_> = (0..10_000).map(|_| moment(&mut rng, traffic)).collect();
        let (first, last) = (moments.iter().min().unwrap(), moments.iter().max().unwrap());
        assert!(*first >= Duration::from_secs(3) && *first < Duration::from_secs(4), "{first:?}");
        assert!(*last < Duration::from_secs(92) && *last > Duration::from_secs(91), "{last:?}");
    }

    #[test]
    fn an_action_waits_for_its_moment_and_is_taken_once() {
        let mut schedule = Schedule::default();
        schedule.add(Duration::from_secs(2), Action::Drop);
        schedule.add(Duration::from_secs(1), Action::Fcs);
        schedule.sort();
        assert_eq!(schedule.take(Duration::from_millis(999), 60), None);
        assert_eq!(schedule.take(Duration::from_secs(5), 60), Some(Action::Fcs));
        assert_eq!(schedule.take(Duration::from_secs(5), 60), Some(Action::Drop));
        assert_eq!(schedule.take(Duration::from_secs(5), 60), None);
    }

    #[test]
    fn a_frame_too_short_for_one_action_can_bear_the_next() {
        let mut schedule = Schedule::default();
        schedule.add(Duration::ZERO, Action::Flip { bits: 9, region: Region::Payload });
        schedule.add(Duration::ZERO, Action::Drop);
        assert_eq!(schedule.take(Duration::ZERO, HEADERS + 1), Some(Action::Drop));
        assert_eq!(schedule.take(Duration::ZERO, HEADERS + 1), None);
        assert!(schedule.take(Duration::ZERO, HEADERS + 2).is_some());
    }
}
