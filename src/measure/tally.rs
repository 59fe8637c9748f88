//! What a worker has counted: totals that only ever grow, from the first frame on.
//!
//! Sent = good + corrupt + missing, stream by stream; this file holds the raw totals,
//! [`crate::ledger`] makes the account of them.

use crate::units::{Instant, MAX_STREAMS};

/// Totals of one stream in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamTally {
    /// Frames the kernel accepted for sending.
    pub sent: u64,
    /// Different frames received whole and undamaged.
    pub good: u64,
    /// Different frames received with damaged content but a header that says which frame it is.
    pub corrupt: u64,
    /// Wrong bits found in the corrupt frames.
    pub bit_errors: u64,
    /// Payload bits received and compared, good and corrupt frames alike.
    pub checked_bits: u64,
    /// Frames that came a second time.
    pub duplicates: u64,
    /// Frames that came after a later one of their stream (counted as good or corrupt too).
    pub reordered: u64,
    /// Frames too old to tell whether they came twice, or numbered beyond what was sent:
    /// neither good nor corrupt.
    pub misplaced: u64,
    /// One more than the highest number that arrived: what is below it and has not arrived is missing
    /// already, what is above it may still be on its way.
    pub expected: u64,
}

/// Totals of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Stream by stream; those beyond the streams in use stay zero.
    pub streams: [StreamTally; MAX_STREAMS],
    /// Damaged frames of ours whose header was hit: they cannot say which stream they belong to.
    pub unidentified: u64,
    /// L1 octets of the frames accepted for sending.
    pub sent_l1_octets: u64,
    /// Frames of ours that arrived, in whatever state.
    pub received: u64,
    /// L1 octets of the frames of ours that arrived.
    pub received_l1_octets: u64,
    /// The clock read right after the receive socket was last drained, ns
    /// (the stamp that belongs to `received` and `received_l1_octets`).
    pub received_at: Instant,
    /// The clock read at the worker's last step, ns: its heartbeat.
    pub alive_at: Instant,
    /// Longest time between two of the worker's steps while sending, ns.
    pub longest_stall: u64,
    /// Pace credit forfeited because a stall outlived the smear window, L1 octets.
    pub forfeited_l1_octets: u64,
    /// Sends that the kernel refused for lack of room (`ENOBUFS`, `EAGAIN`): flow control, not loss.
    pub refused: u64,
    /// Frames that the receive sockets dropped for lack of buffer space.
    pub socket_drops: u64,
    /// Errors of the sockets other than lack of room (interface down or gone).
    pub socket_errors: u64,
    /// The last such error's errno, 0 for none.
    pub last_errno: u64,
}

impl Tally {
    /// How many words [`Tally::to_words`] gives.
    pub const WORDS: usize = MAX_STREAMS * StreamTally::WORDS + 12;

    /// The totals as plain words, for a single writer to publish.
    #[must_use]
    pub fn to_words(&self) -> [u64; Self::WORDS] {
        let mut words = [0; Self::WORDS];
        let (streams, rest) = words.split_at_mut(MAX_STREAMS * StreamTally::WORDS);
        for (stream, out) in self.streams.iter().zip(streams.chunks_exact_mut(StreamTally::WORDS)) {
            out.copy_from_slice(&stream.to_words());
        }
        rest.copy_from_slice(&[
            self.unidentified,
            self.sent_l1_octets,
            self.received,
            self.received_l1_octets,
            self.received_at.as_nanos(),
            self.alive_at.as_nanos(),
            self.longest_stall,
            self.forfeited_l1_octets,
            self.refused,
            self.socket_drops,
            self.socket_errors,
            self.last_errno,
        ]);
        words
    }

    /// The totals back from their words.
    #[must_use]
    pub fn from_words(words: &[u64; Self::WORDS]) -> Self {
        let (streams, rest) = words.split_at(MAX_STREAMS * StreamTally::WORDS);
        let mut tally = Self::default();
        for (stream, from) in tally.streams.iter_mut().zip(streams.chunks_exact(StreamTally::WORDS)) {
            *stream = StreamTally::from_words(from);
        }
        let at = |index: usize| rest.get(index).copied().unwrap_or_default();
        tally.unidentified = at(0);
        tally.sent_l1_octets = at(1);
        tally.received = at(2);
        tally.received_l1_octets = at(3);
        tally.received_at = Instant::from_nanos(at(4));
        tally.alive_at = Instant::from_nanos(at(5));
        tally.longest_stall = at(6);
        tally.forfeited_l1_octets = at(7);
        tally.refused = at(8);
        tally.socket_drops = at(9);
        tally.socket_errors = at(10);
        tally.last_errno = at(11);
        tally
    }

    /// Sum of one figure over all streams.
    #[must_use]
    pub fn sum(&self, figure: impl Fn(&StreamTally) -> u64) -> u64 {
        self.streams.iter().map(figure).fold(0, u64::saturating_add)
    }
}

impl StreamTally {
    /// How many words one stream takes.
    const WORDS: usize = 9;

    fn to_words(self) -> [u64; Self::WORDS] {
        [
            self.sent,
            self.good,
            self.corrupt,
            self.bit_errors,
            self.checked_bits,
            self.duplicates,
            self.reordered,
            self.misplaced,
            self.expected,
        ]
    }

    fn from_words(words: &[u64]) -> Self {
        let at = |index: usize| words.get(index).copied().unwrap_or_default();
        Self {
            sent: at(0),
            good: at(1),
            corrupt: at(2),
            bit_errors: at(3),
            checked_bits: at(4),
            duplicates: at(5),
            reordered: at(6),
            misplaced: at(7),
            expected: at(8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_carry_every_figure() {
        let mut words = [0; Tally::WORDS];
        for (value, word) in (1..).zip(words.iter_mut()) {
            *word = value;
        }
        assert_eq!(Tally::from_words(&words).to_words(), words);
    }
}
