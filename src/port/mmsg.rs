//! The engine that every Linux has: sendmmsg and recvmmsg on packet sockets.

use super::socket::{PacketSocket, SocketError};
use super::{Engine, Sent};
use crate::packet::{Arrival, BATCH};
use measure::frame::Writer;
use measure::units::MAX_STREAMS;
use std::io::{self, IoSlice, IoSliceMut};

/// Octets a receive buffer has beyond the largest frame, so that a frame that grew is seen to be longer.
const SPARE_OCTETS: usize = 64;

/// Octets of a cache line on the machines this runs on.
const CACHE_LINE_OCTETS: usize = 64;

/// One direction through packet sockets: one that sends, and one for each stream that receives.
pub struct Mmsg {
    sender: PacketSocket,
    slots: Slots,
    receivers: heapless::Vec<PacketSocket, MAX_STREAMS>,
    buffers: Box<[u8]>,
    buffer_octets: usize,
    /// Receiver whose turn it is.
    next: usize,
    drops: u64,
}

/// Why there is no such engine.
#[derive(Debug, thiserror::Error)]
pub enum MmsgError {
    /// One of its sockets.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// More streams than a direction can have.
    #[error("{0} streams in a direction: at most {MAX_STREAMS} are possible")]
    Streams(usize),
}

impl Mmsg {
    /// Opens the way out of interface `from` and into interface `to`, one receive socket for each of
    /// `ethertypes`, and fills the slots that frames are sent from.
    ///
    /// # Errors
    /// See [`MmsgError`].
    pub fn open(from: u32, to: u32, writer: &Writer, ethertypes: &[u16]) -> Result<Self, MmsgError> {
        let mut receivers = heapless::Vec::new();
        for &ethertype in ethertypes {
            let receiver = PacketSocket::receiver(to, ethertype)?;
            receivers.push(receiver).map_err(|_| MmsgError::Streams(ethertypes.len()))?;
        }
        let buffer_octets = spread(writer.slot_octets() + SPARE_OCTETS);
        Ok(Self {
            sender: PacketSocket::sender(from)?,
            slots: Slots::filled(writer),
            receivers,
            buffers: vec![0; buffer_octets * BATCH].into(),
            buffer_octets,
            next: 0,
            drops: 0,
        })
    }

    /// Octets of kernel memory the smallest of the receive sockets may fill; none where the kernel does not
    /// say. An ordinary user is granted less than asked for.
    #[must_use]
    pub fn receive_buffer(&self) -> Option<usize> {
        self.receivers.iter().filter_map(PacketSocket::receive_buffer).min()
    }
}

impl Engine for Mmsg {
    fn send(&mut self, writer: &Writer, stream: usize, first: u64, count: usize) -> io::Result<Sent> {
        if stream >= self.receivers.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut accepted = 0;
        while accepted < count {
            let burst = (count - accepted).min(BATCH);
            let from = first.saturating_add(u64::try_from(accepted).unwrap_or(u64::MAX));
            let taken = match self.sender.send(&self.slots.stamped(writer, stream, from, burst)) {
                Ok(taken) => taken,
                Err(error) if is_lack_of_room(&error) => 0,
                // What was accepted before must be told; the error will be there the next time.
                Err(_) if accepted > 0 => 0,
                Err(error) => return Err(error),
            };
            accepted += taken;
            if taken < burst {
                return Ok(Sent { accepted, refused: true });
            }
        }
        Ok(Sent { accepted, refused: false })
    }

    /// One batch of one stream's socket, the streams taking turns. The host's own sending counts as read but
    /// is never handed on.
    fn receive(&mut self, sink: &mut impl FnMut(&[u8])) -> io::Result<usize> {
        for _ in 0..self.receivers.len() {
            let turn = self.next;
            self.next = (turn + 1) % self.receivers.len();
            let Some(receiver) = self.receivers.get(turn) else { continue };
            let read = read_batch(receiver, &mut self.buffers, self.buffer_octets, sink)?;
            if read > 0 {
                return Ok(read);
            }
        }
        Ok(0)
    }

    fn drops(&mut self) -> io::Result<u64> {
        for receiver in &self.receivers {
            self.drops = self.drops.saturating_add(u64::from(receiver.take_drops()?));
        }
        Ok(self.drops)
    }
}

/// Hands what `socket` has waiting, at most a batch, to `sink`; tells how many frames were read.
///
/// `buffers` is cut into pieces of `octets`, one a frame.
pub(super) fn read_batch(
    socket: &PacketSocket,
    buffers: &mut [u8],
    octets: usize,
    sink: &mut (impl FnMut(&[u8]) + ?Sized),
) -> io::Result<usize> {
    let mut arrivals = [Arrival::default(); BATCH];
    let mut pieces: heapless::Vec<IoSliceMut<'_>, BATCH> =
        buffers.chunks_exact_mut(octets).take(BATCH).map(IoSliceMut::new).collect();
    let read = socket.receive(&mut pieces, &mut arrivals)?;
    for (piece, arrival) in pieces.iter().zip(&arrivals).take(read) {
        if !arrival.outgoing {
            let frame = piece.get(..arrival.octets).unwrap_or(piece);
            sink(frame);
        }
    }
    Ok(read)
}

/// Frames ready but for their stamp. A slot's payload never changes, so it is written once.
struct Slots {
    octets: Box<[u8]>,
    /// Octets from one slot to the next.
    stride: usize,
    /// Slots a stream.
    count: usize,
}

impl Slots {
    fn filled(writer: &Writer) -> Self {
        let count = writer.slots(BATCH);
        let stride = spread(writer.slot_octets());
        let mut octets = vec![0; writer.streams() * count * stride].into_boxed_slice();
        for (index, slot) in octets.chunks_exact_mut(stride).enumerate() {
            writer.fill(index / count, index % count, slot);
        }
        Self { octets, stride, count }
    }

    /// The frames `first .. first + count` of `stream`, stamped; `count` is at most a batch, so that no two
    /// of them share a slot.
    fn stamped(
        &mut self,
        writer: &Writer,
        stream: usize,
        first: u64,
        count: usize,
    ) -> heapless::Vec<IoSlice<'_>, BATCH> {
        let mut lengths = [0; BATCH];
        for (sequence, length) in (first..).zip(&mut lengths).take(count) {
            if let Some(slot) = self.slot_mut(stream, sequence) {
                *length = writer.stamp(stream, sequence, slot);
            }
        }
        (first..)
            .zip(&lengths)
            .take(count)
            .filter_map(|(sequence, &length)| self.slot(stream, sequence)?.get(..length))
            .map(IoSlice::new)
            .collect()
    }

    fn slot(&self, stream: usize, sequence: u64) -> Option<&[u8]> {
        self.octets.get(self.range(stream, sequence)?)
    }

    fn slot_mut(&mut self, stream: usize, sequence: u64) -> Option<&mut [u8]> {
        let range = self.range(stream, sequence)?;
        self.octets.get_mut(range)
    }

    /// Where the slot of a frame lies; none for a stream that does not exist.
    fn range(&self, stream: usize, sequence: u64) -> Option<std::ops::Range<usize>> {
        let turn = sequence.checked_rem(u64::try_from(self.count).ok()?)?;
        let index = stream.checked_mul(self.count)?.checked_add(usize::try_from(turn).ok()?)?;
        let start = index.checked_mul(self.stride)?;
        Some(start..start.checked_add(self.stride)?)
    }
}

/// `octets` rounded up to an odd number of cache lines: at a power of two from one another, the headers of
/// all slots would share a few sets of the cache.
fn spread(octets: usize) -> usize {
    (octets.div_ceil(CACHE_LINE_OCTETS) | 1) * CACHE_LINE_OCTETS
}

/// The kernel has no room for the next frame: flow control, no error.
fn is_lack_of_room(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::EAGAIN | libc::EINTR))
}
