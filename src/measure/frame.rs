//! The test frame: its layout, writing it and checking it.
//!
//! ```text
//!  0  destination 6 · source 6 · ethertype 2: the stream
//! 14  magic 4 · version 1 · kind 1 · direction 1 · stream 1
//! 22  run nonce 4 · sequence 8 · length 2 · reserved 2 · CRC-32C of octets 14 to 37
//! 42  PRBS-31 payload up to the length
//! ```
//!
//! All numbers are big-endian. *length* counts the frame from the destination address to the end of
//! the payload, without the FCS: short frames arrive padded. The header says which frame it is and
//! so which payload it must carry; nothing needs to be kept between frames to check each bit.
//!
//! [`Writer`] puts frames into slots, [`Checker`] judges what a test socket took, [`hear`] names
//! what the listening socket of a port heard.

mod checker;
mod ear;
mod header;
mod origin;
#[cfg(test)]
pub(crate) mod samples;
mod writer;

pub use checker::{Arrival, Checker};
pub use ear::hear;
pub use header::{Header, Kind, View};
pub use writer::Writer;

use crate::prbs;
use crate::units::{Direction, FrameSize, MAX_STREAMS, MacAddress, Side};

/// IEEE 802 local experimental ethertypes 1 and 2 (IEEE 802, 9.2.4): the default two streams.
pub const DEFAULT_ETHERTYPES: [u16; 2] = [0x88B5, 0x88B6];

/// Begins every header: "LG" and two octets that are no text. 19 of its bits are set, so that
/// neither an all-zero nor an all-one header is anywhere near one of ours.
pub const MAGIC: u32 = 0x4C47_B7ED;

/// Version of the header.
pub const VERSION: u8 = 1;

/// 01-80-C2-00-00-0E, nearest bridge: a cable carries it and every bridge must filter it
/// (IEEE 802.1Q, 8.6.3).
pub const FILTERED_ADDRESS: MacAddress = MacAddress([0x01, 0x80, 0xC2, 0x00, 0x00, 0x0E]);

/// Octets of the header after the Ethernet header.
pub const HEADER_OCTETS: usize = 28;

/// Where the ethertype is in a frame, in octets.
pub const ETHERTYPE_AT: usize = 12;

/// Where the header begins in a frame, and with it the magic (4 octets).
pub const MAGIC_AT: usize = 14;

/// Where the version is in a frame (1 octet).
pub const VERSION_AT: usize = MAGIC_AT + 4;

/// Where the kind is in a frame (1 octet, see [`Kind::code`]).
pub const KIND_AT: usize = MAGIC_AT + 5;

/// Where the direction is in a frame (1 octet, [`Direction::index`]).
pub const DIRECTION_AT: usize = MAGIC_AT + 6;

/// Where the run's nonce is in a frame (4 octets).
pub const NONCE_AT: usize = MAGIC_AT + 8;

/// Where the payload begins in a frame.
pub const PAYLOAD_AT: usize = MAGIC_AT + HEADER_OCTETS;

/// Who this run is: what makes a frame ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Random, new for each run.
    pub nonce: u32,
    /// The ports' addresses, by [`Side::index`].
    pub macs: [MacAddress; 2],
    /// The streams' ethertypes, in order.
    pub ethertypes: heapless::Vec<u16, MAX_STREAMS>,
}

impl Identity {
    fn mac(&self, side: Side) -> [u8; 6] {
        let [a, b] = self.macs;
        match side {
            Side::A => a.0,
            Side::B => b.0,
        }
    }

    /// The port with this address.
    fn side_of(&self, address: [u8; 6]) -> Option<Side> {
        Side::BOTH.into_iter().find(|side| self.mac(*side) == address)
    }

    fn ethertype(&self, stream: usize) -> u16 {
        let [default, _] = DEFAULT_ETHERTYPES;
        self.ethertypes.get(stream).copied().unwrap_or(default)
    }

    /// Whether `frame` has the ethertype of one of the streams: whether a test socket takes it.
    fn has_ethertype_of(&self, frame: &[u8]) -> bool {
        let ethertype = frame.get(ETHERTYPE_AT..MAGIC_AT);
        self.ethertypes.iter().any(|ours| ethertype == Some(&ours.to_be_bytes()))
    }

    /// Destination and source of a frame of ours.
    fn addresses(&self, direction: Direction, kind: Kind) -> [u8; 12] {
        let destination = match kind {
            Kind::Filtered => FILTERED_ADDRESS.0,
            Kind::Test | Kind::Unicast => self.mac(direction.to()),
        };
        let mut addresses = [0; 12];
        let (to, from) = addresses.split_at_mut(6);
        to.copy_from_slice(&destination);
        from.copy_from_slice(&self.mac(direction.from()));
        addresses
    }

    /// The Ethernet header of a frame of ours.
    fn ethernet(&self, direction: Direction, kind: Kind, stream: usize) -> [u8; MAGIC_AT] {
        let mut header = [0; MAGIC_AT];
        let (addresses, ethertype) = header.split_at_mut(ETHERTYPE_AT);
        addresses.copy_from_slice(&self.addresses(direction, kind));
        ethertype.copy_from_slice(&self.ethertype(stream).to_be_bytes());
        header
    }
}

/// The payload that a frame must carry according to its header.
fn payload_of(header: &Header) -> &'static [u8] {
    let octets = usize::from(header.length).saturating_sub(PAYLOAD_AT);
    prbs::payload(header.direction, usize::from(header.stream), header.sequence, octets)
}

/// Octets on the wire of a frame of which `octets` came, FCS not counted.
fn l1_octets(octets: usize) -> u64 {
    let octets = u64::try_from(octets).unwrap_or(u64::MAX);
    let shortest = FrameSize::MIN.octets();
    octets.saturating_add(crate::units::FCS_OCTETS).max(shortest) + crate::units::L1_OVERHEAD_OCTETS
}

/// Bits in which two slices differ, as far as both reach.
fn differing_bits(one: &[u8], other: &[u8]) -> u64 {
    one.iter().zip(other).map(|(a, b)| u64::from((a ^ b).count_ones())).sum()
}
