//! Puts test frames into slots: the payload once a slot, the header once a frame.

use super::{Header, Identity, Kind, MAGIC_AT, PAYLOAD_AT, payload_of};
use crate::loopcheck::ProbeKind;
use crate::mix::SizeMix;
use crate::prbs::PHASES;
use crate::units::{Direction, FrameSize, MAX_STREAMS};

/// Writes the frames of one direction.
///
/// A slot holds the frames whose sequence is the slot's number modulo the number of slots. That
/// number is a multiple of both the payload's and the sizes' period, so all frames of a slot have
/// the same size and payload: [`Writer::fill`] once, then [`Writer::stamp`] for each frame.
#[derive(Clone, Debug)]
pub struct Writer {
    identity: Identity,
    direction: Direction,
    mix: SizeMix,
}

impl Writer {
    /// A writer for `direction`; it has as many streams as `identity` has ethertypes.
    #[must_use]
    pub fn new(identity: Identity, direction: Direction, mix: SizeMix) -> Self {
        Self { identity, direction, mix }
    }

    /// Whose frames these are.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Streams in this direction.
    #[must_use]
    pub fn streams(&self) -> usize {
        self.identity.ethertypes.len()
    }

    /// The sizes sent.
    #[must_use]
    pub fn mix(&self) -> &SizeMix {
        &self.mix
    }

    /// How many slots a stream needs: the least number from `at_least` on with which a slot's frames
    /// are all alike.
    #[must_use]
    pub fn slots(&self, at_least: usize) -> usize {
        let unit = least_common_multiple(PHASES, self.mix.period());
        at_least.max(1).div_ceil(unit).saturating_mul(unit)
    }

    /// Octets of a slot: the largest frame without FCS.
    #[must_use]
    pub fn slot_octets(&self) -> usize {
        self.mix.largest().without_fcs()
    }

    /// Fills `slot` of `stream`: Ethernet header, header and payload. What does not fit is cut.
    pub fn fill(&self, stream: usize, slot: usize, buf: &mut [u8]) {
        let sequence = u64::try_from(slot).unwrap_or_default();
        let header = self.header(stream, sequence);
        let ethernet = self.identity.ethernet(self.direction, Kind::Test, stream);
        self.write(&ethernet, &header, buf);
    }

    /// Makes the frame in a filled slot frame number `sequence` of `stream`, and returns its octets
    /// without FCS. Touches the header only.
    pub fn stamp(&self, stream: usize, sequence: u64, buf: &mut [u8]) -> usize {
        let header = self.header(stream, sequence);
        write_at(buf, MAGIC_AT, &header.to_octets());
        usize::from(header.length)
    }

    /// Writes a whole probe of the least size and returns its octets without FCS.
    pub fn probe(&self, kind: ProbeKind, sequence: u64, buf: &mut [u8]) -> usize {
        let kind = Kind::from(kind);
        let header = Header { kind, length: length_of(FrameSize::MIN), ..self.header(0, sequence) };
        self.write(&self.identity.ethernet(self.direction, kind, 0), &header, buf);
        usize::from(header.length)
    }

    fn header(&self, stream: usize, sequence: u64) -> Header {
        Header {
            kind: Kind::Test,
            direction: self.direction,
            stream: u8::try_from(stream.min(MAX_STREAMS - 1)).unwrap_or_default(),
            nonce: self.identity.nonce,
            sequence,
            length: length_of(self.mix.size(sequence)),
        }
    }

    fn write(&self, ethernet: &[u8], header: &Header, buf: &mut [u8]) {
        write_at(buf, 0, ethernet);
        write_at(buf, MAGIC_AT, &header.to_octets());
        write_at(buf, PAYLOAD_AT, payload_of(header));
    }
}

/// The length field of a frame of `size`.
fn length_of(size: FrameSize) -> u16 {
    u16::try_from(size.without_fcs()).unwrap_or(u16::MAX)
}

/// Copies as much of `octets` to `buf` from `at` on as fits.
fn write_at(buf: &mut [u8], at: usize, octets: &[u8]) {
    let Some(room) = buf.get_mut(at..) else { return };
    let fits = room.len().min(octets.len());
    if let (Some(room), Some(octets)) = (room.get_mut(..fits), octets.get(..fits)) {
        room.copy_from_slice(octets);
    }
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    a / greatest_common_divisor(a, b).max(1) * b
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    match a.checked_rem(b) {
        None => a,
        Some(rest) => greatest_common_divisor(b, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{frame, identity, writer};
    use super::super::{Arrival, Checker, FILTERED_ADDRESS};
    use super::*;
    use proptest::prelude::*;
    use std::vec;

    const FIRST: Direction = Direction::AToB;

    #[test]
    fn slots_are_a_multiple_of_both_periods() {
        assert_eq!(writer(FIRST, "jumbo").slots(64), 2 * 56);
        assert_eq!(writer(FIRST, "rfc2544").slots(64), 70);
        assert_eq!(writer(FIRST, "small").slots(0), 7);
        assert_eq!(writer(FIRST, "small").slots(7), 7);
    }

    #[test]
    fn slots_filled_once_carry_every_later_frame() {
        let writer = writer(FIRST, "64,1518,65,300");
        let checker = Checker::new(identity(), FIRST);
        let slots = writer.slots(64);
        for stream in 0..writer.streams() {
            let mut ring = vec![vec![0; writer.slot_octets()]; slots];
            for (slot, buf) in ring.iter_mut().enumerate() {
                writer.fill(stream, slot, buf);
            }
            for number in 0..3 * slots {
                let buf = &mut ring[number % slots];
                let sequence = u64::try_from(number).unwrap();
                let octets = writer.stamp(stream, sequence, buf);
                let arrival = checker.check(&buf[..octets]);
                let is_it = matches!(arrival, Arrival::Good { stream: s, sequence: n, .. } if (s, n) == (stream, sequence));
                assert!(is_it, "{arrival:?} for {stream} {sequence}");
            }
        }
    }

    #[test]
    fn a_stamp_touches_the_header_only() {
        let writer = writer(FIRST, "64");
        let mut stamped = frame(&writer, 0, 0);
        writer.stamp(0, u64::MAX, &mut stamped);
        let other = frame(&writer, 0, 0);
        assert_eq!(stamped[..MAGIC_AT], other[..MAGIC_AT]);
        assert_ne!(stamped[MAGIC_AT..PAYLOAD_AT], other[MAGIC_AT..PAYLOAD_AT]);
        assert_eq!(stamped[PAYLOAD_AT..], other[PAYLOAD_AT..]);
    }

    #[test]
    fn a_probe_is_a_frame_of_the_least_size_to_its_address() {
        let writer = writer(Direction::BToA, "jumbo");
        let mut buf = [0; 64];
        assert_eq!(writer.probe(ProbeKind::Unicast, 0, &mut buf), 60);
        assert_eq!(buf[..6], identity().macs[0].0);
        assert_eq!(writer.probe(ProbeKind::Filtered, 0, &mut buf), 60);
        assert_eq!(buf[..6], FILTERED_ADDRESS.0);
        assert_eq!(buf[6..14], [0x90, 0xE2, 0xBA, 0x4C, 0x11, 0x02, 0x88, 0xB5]);
    }

    proptest! {
        #[test]
        fn no_buffer_is_too_short_and_no_number_too_large(
            octets in 0usize..70, stream in any::<usize>(), slot in any::<usize>(), sequence in any::<u64>(),
        ) {
            let (writer, mut buf) = (writer(FIRST, "64,9216"), vec![0; octets]);
            writer.fill(stream, slot, &mut buf);
            prop_assert!(writer.stamp(stream, sequence, &mut buf) <= writer.slot_octets());
            prop_assert_eq!(writer.probe(ProbeKind::Unicast, sequence, &mut buf), 60);
        }
    }
}
