//! Places each arriving frame in its stream: new, late, twice, or impossible to say.

use crate::frame::Arrival;
use crate::tally::{StreamTally, Tally};
use crate::units::MAX_STREAMS;

/// How many sequence numbers back from the highest a frame can still be placed.
///
/// Far more than any order that one queue and one cable can mix up, so that a frame beyond it is
/// reported and not guessed at.
pub const WINDOW: u64 = 1024;

const WORD_BITS: u64 = u64::BITS as u64;
const WORDS: usize = 16;
const _: () = assert!(WORDS as u64 * WORD_BITS == WINDOW);

/// Where an arriving frame belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Not seen before.
    New {
        /// It came after a later one.
        reordered: bool,
    },
    /// Seen before.
    Duplicate,
    /// Older than the window, so that late and twice cannot be told apart, or never sent.
    Misplaced,
}

/// The sequence numbers of one stream that have arrived, in a window that moves up with the highest.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    /// One more than the highest that arrived.
    next: u64,
    /// The window: number n, of `next − WINDOW .. next`, is bit n mod WINDOW.
    seen: [u64; WORDS],
}

impl Tracker {
    /// Places frame number `sequence`, of `sent` so far.
    ///
    /// A number that was never sent moves nothing, however large.
    pub fn arrive(&mut self, sequence: u64, sent: u64) -> Placement {
        if sequence >= sent {
            return Placement::Misplaced;
        }
        if sequence >= self.next {
            self.advance_to(sequence);
            return Placement::New { reordered: false };
        }
        if self.next - sequence > WINDOW {
            return Placement::Misplaced;
        }
        let seen = self.is_seen(sequence);
        self.set(sequence, true);
        if seen { Placement::Duplicate } else { Placement::New { reordered: true } }
    }

    /// Moves the window up: the numbers passed over have not arrived, `sequence` has.
    fn advance_to(&mut self, sequence: u64) {
        if sequence - self.next >= WINDOW {
            self.seen = [0; WORDS];
        } else {
            for passed in self.next..sequence {
                self.set(passed, false);
            }
        }
        self.set(sequence, true);
        // Below `sent`, so there is a next one.
        self.next = sequence.saturating_add(1);
    }

    fn is_seen(&self, sequence: u64) -> bool {
        let (word, mask) = place(sequence);
        self.seen.get(word).is_some_and(|bits| bits & mask != 0)
    }

    fn set(&mut self, sequence: u64, seen: bool) {
        let (word, mask) = place(sequence);
        if let Some(bits) = self.seen.get_mut(word) {
            *bits = if seen { *bits | mask } else { *bits & !mask };
        }
    }
}

/// The word of the window and the bit in it that belong to `sequence`.
const fn place(sequence: u64) -> (usize, u64) {
    let word = sequence / WORD_BITS % WORDS as u64;
    (word as usize, 1 << (sequence % WORD_BITS))
}

/// Keeps the totals of one direction.
#[derive(Clone, Debug, Default)]
pub struct Account {
    tally: Tally,
    trackers: [Tracker; MAX_STREAMS],
}

impl Account {
    /// Notes `frames` of `stream`, `l1_octets` long together on the wire, that the kernel accepted.
    /// Must come before their arrival is noted.
    pub fn sent(&mut self, stream: usize, frames: u64, l1_octets: u64) {
        let Some(figures) = self.tally.streams.get_mut(stream) else { return };
        figures.sent += frames;
        self.tally.sent_l1_octets += l1_octets;
    }

    /// Notes what arrived.
    ///
    /// *Received* is every frame of ours in whatever state, because that is what the wire carried.
    /// Bits are checked, and wrong, once a frame: those of a frame that is not new do not count.
    pub fn arrived(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Good { stream, sequence, l1_octets, payload_bits } => {
                self.received(l1_octets);
                if let Some(figures) = self.place(stream, sequence) {
                    figures.good += 1;
                    figures.checked_bits += payload_bits;
                }
            }
            Arrival::Corrupt { stream, sequence, l1_octets, payload_bits, bit_errors, truncated: _ } => {
                self.received(l1_octets);
                if let Some(figures) = self.place(stream, sequence) {
                    figures.corrupt += 1;
                    figures.bit_errors += bit_errors;
                    figures.checked_bits += payload_bits;
                }
            }
            Arrival::Unidentified { l1_octets } => {
                self.received(l1_octets);
                self.tally.unidentified += 1;
            }
            Arrival::NotOurs => {}
        }
    }

    /// The totals.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The totals, for what the worker itself notes in them: stamps, stalls, socket errors.
    pub fn tally_mut(&mut self) -> &mut Tally {
        &mut self.tally
    }

    fn received(&mut self, l1_octets: u64) {
        self.tally.received += 1;
        self.tally.received_l1_octets += l1_octets;
    }

    /// The figures of `stream` if its frame number `sequence` is new; else notes what it is.
    fn place(&mut self, stream: usize, sequence: u64) -> Option<&mut StreamTally> {
        let figures = self.tally.streams.get_mut(stream)?;
        let tracker = self.trackers.get_mut(stream)?;
        let placement = tracker.arrive(sequence, figures.sent);
        figures.expected = tracker.next;
        match placement {
            Placement::New { reordered } => {
                figures.reordered += u64::from(reordered);
                return Some(figures);
            }
            Placement::Duplicate => figures.duplicates += 1,
            Placement::Misplaced => figures.misplaced += 1,
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const NEW: Placement = Placement::New { reordered: false };
    const LATE: Placement = Placement::New { reordered: true };
    const MANY: u64 = 1 << 40;

    #[test]
    fn frames_in_order_are_new() {
        let mut tracker = Tracker::default();
        for sequence in 0..3 * WINDOW {
            assert_eq!(tracker.arrive(sequence, MANY), NEW);
        }
    }

    #[test]
    fn a_frame_that_comes_twice_is_a_duplicate_each_time() {
        let mut tracker = Tracker::default();
        assert_eq!(tracker.arrive(5, MANY), NEW);
        assert_eq!(tracker.arrive(5, MANY), Placement::Duplicate);
        assert_eq!(tracker.arrive(3, MANY), LATE);
        assert_eq!(tracker.arrive(3, MANY), Placement::Duplicate);
    }

    #[test]
    fn the_window_is_1024_numbers_to_the_last_one() {
        let mut tracker = Tracker::default();
        assert_eq!(tracker.arrive(WINDOW, MANY), NEW);
        assert_eq!(tracker.arrive(0, MANY), Placement::Misplaced);
        assert_eq!(tracker.arrive(1, MANY), LATE);
    }

    #[test]
    fn a_frame_that_was_never_sent_moves_nothing() {
        let mut tracker = Tracker::default();
        assert_eq!(tracker.arrive(9, 10), NEW);
        for forged in [10, 11, 1 << 63, u64::MAX] {
            assert_eq!(tracker.arrive(forged, 10), Placement::Misplaced);
        }
        assert_eq!(tracker.arrive(8, 10), LATE);
    }

    #[test]
    fn a_gap_longer_than_the_window_leaves_nothing_of_the_old_one() {
        let mut tracker = Tracker::default();
        for sequence in 0..WINDOW {
            tracker.arrive(sequence, MANY);
        }
        assert_eq!(tracker.arrive(10 * WINDOW, MANY), NEW);
        for sequence in 9 * WINDOW + 1..10 * WINDOW {
            assert_eq!(tracker.arrive(sequence, MANY), LATE, "{sequence}");
        }
    }

    fn good(stream: usize, sequence: u64) -> Arrival {
        Arrival::Good { stream, sequence, l1_octets: 84, payload_bits: 144 }
    }

    #[test]
    fn every_frame_of_ours_is_received_and_only_new_ones_are_checked() {
        let mut account = Account::default();
        account.sent(1, 2000, 2000 * 84);
        let corrupt = Arrival::Corrupt {
            stream: 1,
            sequence: 7,
            l1_octets: 84,
            payload_bits: 144,
            bit_errors: 3,
            truncated: false,
        };
        let arrivals =
            [good(1, 1999), good(1, 1999), good(1, 5), corrupt, Arrival::Unidentified { l1_octets: 84 }];
        for arrival in arrivals {
            account.arrived(arrival);
        }
        account.arrived(Arrival::NotOurs);
        let tally = account.tally();
        assert_eq!((tally.received, tally.received_l1_octets, tally.unidentified), (5, 5 * 84, 1));
        let expected = StreamTally {
            sent: 2000,
            good: 1,
            checked_bits: 144,
            duplicates: 1,
            misplaced: 2,
            expected: 2000,
            ..Default::default()
        };
        assert_eq!(tally.streams[1], expected);
    }

    #[test]
    fn a_stream_that_does_not_exist_is_no_panic() {
        let mut account = Account::default();
        account.sent(MAX_STREAMS, 1, 84);
        account.arrived(good(usize::MAX, 0));
        assert_eq!(account.tally().sent_l1_octets, 0);
    }

    /// What a tracker would say if it remembered everything.
    #[derive(Default)]
    struct Model(BTreeSet<u64>);

    impl Model {
        fn arrive(&mut self, sequence: u64, sent: u64) -> Placement {
            let highest = self.0.last().copied();
            if sequence >= sent || highest.is_some_and(|highest| sequence + WINDOW <= highest) {
                return Placement::Misplaced;
            }
            let reordered = highest.is_some_and(|highest| sequence < highest);
            if self.0.insert(sequence) { Placement::New { reordered } } else { Placement::Duplicate }
        }
    }

    proptest! {
        #[test]
        fn a_tracker_agrees_with_one_that_remembers_everything(
            steps in prop::collection::vec((-1500i64..1500, any::<bool>()), 1..300),
        ) {
            let (mut tracker, mut model) = (Tracker::default(), Model::default());
            let mut at = 0u64;
            for (step, near) in steps {
                at = at.saturating_add_signed(if near { step % 8 } else { step });
                prop_assert_eq!(tracker.arrive(at, 20_000), model.arrive(at, 20_000));
            }
        }
    }
}
