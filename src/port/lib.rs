//! Frames in and out of the box: the datapath, a crate of its own because it is compiled for speed and what is around
//! it for size.
//!
//! [`Engine`] moves the flood of one direction, [`Scout`] the few slow probes and whatever else is heard.
//! Both have a fake beside the real one, so that a whole session runs in virtual time.

#![deny(unsafe_code)]

pub mod clock;
pub mod filter;
pub mod mmsg;
// In the folder that has all the `unsafe` there is.
#[allow(unsafe_code)]
#[path = "../sys/packet.rs"]
pub mod packet;
pub mod published;
pub mod scout;
pub mod socket;
pub mod worker;

use measure::frame::Writer;
use measure::units::Side;
use std::io;

/// What became of an offered burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Frames that the kernel accepted, counted from the first of the burst.
    pub accepted: usize,
    /// The kernel refused the next one for lack of room: flow control, offer it again.
    pub refused: bool,
}

/// One direction's way through the cable: frames leave by one port and arrive at the other.
///
/// One thread owns it and does both, because that is twice as fast as one thread for each.
pub trait Engine {
    /// Offers the frames `first .. first + count` of `stream`, in order.
    ///
    /// `writer` puts each frame into its slot; a frame that was not accepted is offered again later
    /// under the same number.
    ///
    /// # Errors
    /// The socket's error, other than lack of room (interface down: `ENETDOWN`; gone: `ENXIO`, `ENODEV`).
    fn send(&mut self, writer: &Writer, stream: usize, first: u64, count: usize) -> io::Result<Sent>;

    /// Hands one batch of received frames to `sink` (without FCS), and tells how many there were;
    /// 0 says the sockets are drained.
    ///
    /// # Errors
    /// The socket's error.
    fn receive(&mut self, sink: &mut impl FnMut(&[u8])) -> io::Result<usize>;

    /// Frames that the receive sockets dropped for lack of room, since the engine was made.
    ///
    /// # Errors
    /// The socket's error.
    fn drops(&mut self) -> io::Result<u64>;
}

/// Sends slow probes and hears everything that is not the flood, on both ports.
pub trait Scout {
    /// Sends one frame (without FCS) out of port `from`.
    ///
    /// # Errors
    /// The socket's error, lack of room included.
    fn send(&mut self, from: Side, frame: &[u8]) -> io::Result<()>;

    /// Hands what port `on` has heard since the last call to `sink`, a bounded number of frames; never blocks.
    /// This run's undamaged test frames are left out by a filter in the kernel.
    ///
    /// # Errors
    /// The socket's error.
    fn hear(&mut self, on: Side, sink: &mut dyn FnMut(&[u8])) -> io::Result<()>;
}
