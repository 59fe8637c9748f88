//! The account of one direction: sent = good + corrupt + missing, frame by frame, stream by stream.

use crate::units::{BitRate, Direction, MAX_STREAMS};
use core::time::Duration;

/// An inclusive range of a count that damage left uncertain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// At least.
    pub at_least: u64,
    /// At most.
    pub at_most: u64,
}

/// One stream's account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamReport {
    /// Frames sent.
    pub sent: u64,
    /// Different frames received undamaged.
    pub good: u64,
    /// Different frames received damaged, header readable.
    pub corrupt: u64,
    /// Wrong bits in those.
    pub bit_errors: u64,
    /// sent − good − corrupt.
    pub missing: u64,
    /// Frames that came twice.
    pub duplicates: u64,
    /// Frames that came out of order.
    pub reordered: u64,
    /// Frames too late to place, or numbered beyond what was sent.
    pub misplaced: u64,
}

/// One direction's account.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectionReport {
    /// Which direction.
    pub direction: Direction,
    /// Stream by stream.
    pub streams: [StreamReport; MAX_STREAMS],
    /// Frames accepted for sending.
    pub sent: u64,
    /// Frames of ours that arrived, in whatever state.
    pub received: u64,
    /// Different frames received undamaged.
    pub good: u64,
    /// Frames received damaged, unidentified ones included.
    pub corrupt: u64,
    /// Damaged frames that cannot say which frame they are.
    pub unidentified: u64,
    /// Wrong bits in the damaged frames that can.
    pub bit_errors: u64,
    /// Payload bits received and compared.
    pub checked_bits: u64,
    /// sent − good − corrupt, over the streams.
    pub missing: u64,
    /// Missing frames that the cable lost.
    pub lost: Interval,
    /// Missing frames that fresh host counters explain.
    pub host: u64,
    /// Missing frames that nothing explains and no counter could.
    pub unknown: u64,
    /// Frames that came twice.
    pub duplicates: u64,
    /// Frames that came out of order.
    pub reordered: u64,
    /// Frames that could not be placed.
    pub misplaced: u64,
    /// Received L1 rate over the judged part; none where it had no length.
    pub steady: Option<BitRate>,
    /// Longest time the worker stood still.
    pub longest_stall: Duration,
}
