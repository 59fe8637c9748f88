//! Judges what a test socket took.

use super::header::Header;
use super::origin::Origin;
use super::{Identity, Kind, MAGIC_AT, View, differing_bits, l1_octets, payload_of};
use crate::units::{Direction, MAX_STREAMS};

/// What a test socket's frame turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A test frame of this run and direction, whole and without a wrong bit.
    Good {
        /// Its stream.
        stream: usize,
        /// Its number in the stream.
        sequence: u64,
        /// Octets it occupied on the wire.
        l1_octets: u64,
        /// Payload bits compared.
        payload_bits: u64,
    },
    /// One with wrong bits or cut short, whose header says which it is.
    Corrupt {
        /// Its stream.
        stream: usize,
        /// Its number in the stream.
        sequence: u64,
        /// Octets that came, as they occupied the wire.
        l1_octets: u64,
        /// Payload bits that came and were compared.
        payload_bits: u64,
        /// Wrong bits in the Ethernet header and in the payload that came.
        bit_errors: u64,
        /// It came shorter than it was sent.
        truncated: bool,
    },
    /// One of this run and direction whose header was hit: which it was cannot be told.
    Unidentified {
        /// Octets that came, as they occupied the wire.
        l1_octets: u64,
    },
    /// No test frame of this run and direction.
    ///
    /// A test frame of this run that arrives at the port that sent it is among these: it belongs to
    /// no account, and [`super::hear`] names it.
    NotOurs,
}

/// Judges the frames of one direction.
#[derive(Clone, Debug)]
pub struct Checker {
    identity: Identity,
    direction: Direction,
    /// The Ethernet header that each stream's frames must have.
    ethernet: heapless::Vec<[u8; MAGIC_AT], MAX_STREAMS>,
}

impl Checker {
    /// A checker for `direction`; it has as many streams as `identity` has ethertypes.
    #[must_use]
    pub fn new(identity: Identity, direction: Direction) -> Self {
        let streams = 0..identity.ethertypes.len();
        let ethernet = streams.map(|stream| identity.ethernet(direction, Kind::Test, stream)).collect();
        Self { identity, direction, ethernet }
    }

    /// Judges `frame` (without FCS), taken by a test socket of the receiving port.
    #[must_use]
    pub fn check(&self, frame: &[u8]) -> Arrival {
        let Some(view) = View::new_checked(frame) else { return self.misfit(frame) };
        let Some((header, ethernet)) = self.identify(&view) else { return self.misfit(frame) };
        let expected = payload_of(&header);
        let whole = view.payload().get(..expected.len()) == Some(expected);
        if whole && view.ethernet() == ethernet {
            return Arrival::Good {
                stream: usize::from(header.stream),
                sequence: header.sequence,
                l1_octets: l1_octets(usize::from(header.length)),
                payload_bits: bits(expected),
            };
        }
        damaged(&view, &header, ethernet)
    }

    /// The header of a test frame of this run and direction, and the Ethernet header that belongs to it.
    fn identify(&self, view: &View<'_>) -> Option<(Header, &[u8; MAGIC_AT])> {
        let header = view.header()?;
        let ours = header.nonce == self.identity.nonce
            && header.kind == Kind::Test
            && header.direction == self.direction;
        let ethernet = self.ethernet.get(usize::from(header.stream))?;
        ours.then_some((header, ethernet))
    }

    #[cold]
    fn misfit(&self, frame: &[u8]) -> Arrival {
        let ours = Origin { direction: self.direction, kind: Kind::Test };
        if Origin::of(&self.identity, self.direction, frame) == Some(ours) {
            Arrival::Unidentified { l1_octets: l1_octets(frame.len()) }
        } else {
            Arrival::NotOurs
        }
    }
}

#[cold]
fn damaged(view: &View<'_>, header: &Header, ethernet: &[u8]) -> Arrival {
    let expected = payload_of(header);
    // Octets beyond the header's length are padding or what the driver left there.
    let came = view.payload().get(..expected.len()).unwrap_or(view.payload());
    Arrival::Corrupt {
        stream: usize::from(header.stream),
        sequence: header.sequence,
        l1_octets: l1_octets(view.octets().min(usize::from(header.length))),
        payload_bits: bits(came),
        bit_errors: differing_bits(view.ethernet(), ethernet) + differing_bits(came, expected),
        truncated: came.len() < expected.len(),
    }
}

fn bits(octets: &[u8]) -> u64 {
    u64::try_from(octets.len()).unwrap_or(u64::MAX / 8) * 8
}

#[cfg(test)]
mod tests {
    use super::super::samples::{flipped, frame, identity, writer};
    use super::super::{DIRECTION_AT, KIND_AT, PAYLOAD_AT, Writer};
    use super::*;
    use crate::loopcheck::ProbeKind;
    use crate::mix::SizeMix;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    const WAY: Direction = Direction::AToB;

    fn check(frame: &[u8]) -> Arrival {
        Checker::new(identity(), WAY).check(frame)
    }

    fn bit_errors(arrival: Arrival) -> u64 {
        match arrival {
            Arrival::Corrupt { bit_errors, .. } => bit_errors,
            _ => panic!("{arrival:?} is not corrupt"),
        }
    }

    /// `header` of one frame before the payload of another.
    fn spliced(header: &[u8], payload: &[u8]) -> Vec<u8> {
        [&header[..PAYLOAD_AT], &payload[PAYLOAD_AT..]].concat()
    }

    fn assert_every_single_bit_shows(octets: &[u8]) {
        let checker = Checker::new(identity(), WAY);
        for bit in 0..octets.len() * 8 {
            let arrival = checker.check(&flipped(octets, bit));
            if (MAGIC_AT * 8..PAYLOAD_AT * 8).contains(&bit) {
                assert!(matches!(arrival, Arrival::Unidentified { .. }), "bit {bit}: {arrival:?}");
            } else {
                assert_eq!(bit_errors(arrival), 1, "bit {bit}");
            }
        }
    }

    #[test]
    fn an_undamaged_frame_is_good_with_its_wire_octets_and_payload_bits() {
        let octets = frame(&writer(WAY, "1518"), 4, 77);
        let good = Arrival::Good { stream: 4, sequence: 77, l1_octets: 1538, payload_bits: 1472 * 8 };
        assert_eq!(check(&octets), good);
    }

    #[test]
    fn any_single_wrong_bit_of_a_64_octet_frame_shows() {
        assert_every_single_bit_shows(&frame(&writer(WAY, "64"), 0, 12));
    }

    #[test]
    fn any_single_wrong_bit_of_a_1518_octet_frame_shows() {
        assert_every_single_bit_shows(&frame(&writer(WAY, "1518"), 6, 0xFFFF_FFFF));
    }

    #[test]
    fn a_stale_slot_with_the_content_of_another_sequence_shows() {
        let writer = writer(WAY, "1518");
        for stale in 1..7 {
            let octets = spliced(&frame(&writer, 0, 70), &frame(&writer, 0, 70 - stale));
            assert!((5000..6800).contains(&bit_errors(check(&octets))), "{stale} frames stale");
        }
    }

    #[test]
    fn a_buffer_swapped_with_another_streams_shows() {
        let writer = writer(WAY, "64");
        for other in 1..7 {
            let octets = spliced(&frame(&writer, 0, 70), &frame(&writer, other, 70));
            assert!(bit_errors(check(&octets)) > 36, "stream {other}");
        }
    }

    #[test]
    fn a_buffer_swapped_with_the_other_directions_shows() {
        let there = frame(&writer(WAY, "1518"), 0, 70);
        let back = frame(&writer(WAY.reverse(), "1518"), 0, 70);
        assert!(bit_errors(check(&spliced(&there, &back))) > 5000);
    }

    #[test]
    fn the_ethertype_of_another_stream_is_damage_of_the_stream_in_the_header() {
        let mut octets = frame(&writer(WAY, "64"), 0, 3);
        octets[13] = 0xB6;
        let arrival = check(&octets);
        assert_eq!(bit_errors(arrival), 2, "B5 and B6 differ in two bits");
        assert!(matches!(arrival, Arrival::Corrupt { stream: 0, sequence: 3, truncated: false, .. }));
    }

    #[test]
    fn a_frame_cut_in_the_payload_is_corrupt_and_compared_as_far_as_it_came() {
        let octets = frame(&writer(WAY, "1518"), 1, 5);
        for cut in PAYLOAD_AT..octets.len() {
            let came = u64::try_from(cut).unwrap();
            let expected = Arrival::Corrupt {
                stream: 1,
                sequence: 5,
                l1_octets: came.max(60) + 24,
                payload_bits: (came - 42) * 8,
                bit_errors: 0,
                truncated: true,
            };
            assert_eq!(check(&octets[..cut]), expected);
        }
        assert_eq!(bit_errors(check(&flipped(&octets, 60 * 8)[..100])), 1);
    }

    #[test]
    fn a_frame_cut_in_the_header_is_unidentified_padded_or_not() {
        let octets = frame(&writer(WAY, "1518"), 1, 5);
        for cut in MAGIC_AT..PAYLOAD_AT {
            let mut padded = octets[..cut].to_vec();
            padded.resize(60, 0);
            for frame in [&octets[..cut], &padded] {
                assert_eq!(check(frame), Arrival::Unidentified { l1_octets: 84 }, "cut at {cut}");
            }
        }
        for cut in 0..MAGIC_AT {
            assert_eq!(check(&octets[..cut]), Arrival::NotOurs);
        }
    }

    #[test]
    fn octets_beyond_the_headers_length_are_padding() {
        let octets = frame(&writer(WAY, "64"), 1, 5);
        let padded = [&octets[..], &[0xFF; 7]].concat();
        assert_eq!(check(&padded), check(&octets));
        assert!(matches!(check(&padded), Arrival::Good { l1_octets: 84, .. }));
    }

    #[test]
    fn a_header_in_ruins_behind_our_addresses_is_unidentified() {
        let mut octets = frame(&writer(WAY, "64"), 0, 3);
        octets[MAGIC_AT..PAYLOAD_AT].fill(0x5A);
        assert_eq!(check(&octets), Arrival::Unidentified { l1_octets: 84 });
    }

    #[test]
    fn another_runs_frames_are_not_ours() {
        let other = Identity { nonce: 1, ..identity() };
        let writer = Writer::new(other, WAY, SizeMix::named("small").unwrap());
        assert_eq!(check(&frame(&writer, 0, 0)), Arrival::NotOurs);
    }

    #[test]
    fn our_own_sending_is_not_received() {
        let octets = frame(&writer(WAY.reverse(), "64"), 0, 0);
        assert_eq!(check(&octets), Arrival::NotOurs);
        for bit in (0..MAGIC_AT * 8).chain(PAYLOAD_AT * 8..octets.len() * 8) {
            assert_eq!(check(&flipped(&octets, bit)), Arrival::NotOurs, "bit {bit}");
        }
    }

    #[test]
    fn a_damaged_header_is_no_evidence_that_a_frame_was_turned_around() {
        let mut turned = frame(&writer(WAY.reverse(), "64"), 0, 0);
        turned[PAYLOAD_AT - 1] ^= 1;
        assert!(matches!(check(&turned), Arrival::Unidentified { .. }));
    }

    #[test]
    fn a_probe_damaged_or_not_is_no_test_frame() {
        let mut octets = [0; 60];
        for kind in [ProbeKind::Unicast, ProbeKind::Filtered] {
            writer(WAY, "64").probe(kind, 0, &mut octets);
            assert_eq!(check(&octets), Arrival::NotOurs);
            for bit in 0..octets.len() * 8 {
                assert_eq!(check(&flipped(&octets, bit)), Arrival::NotOurs, "bit {bit}");
            }
        }
    }

    #[test]
    fn a_stream_that_does_not_exist_behind_a_good_crc_is_unidentified() {
        let mut fewer = identity();
        fewer.ethertypes.truncate(2);
        let octets = frame(&writer(WAY, "64"), 2, 0);
        let arrival = Checker::new(fewer, WAY).check(&octets);
        assert_eq!(arrival, Arrival::Unidentified { l1_octets: 84 });
    }

    #[test]
    fn a_stray_with_our_ethertype_and_some_of_our_bytes_is_not_ours() {
        // Field case 31: an ARP frame whose octets happen to look like a header.
        let mut stray = vec![0xFF; 6];
        stray.extend([0x00, 0x1B, 0x21, 0xAA, 0xBB, 0xCC, 0x88, 0xB5]);
        stray.extend(0x4C47_B7EDu32.to_be_bytes());
        stray.resize(60, 0xAB);
        assert_eq!(check(&stray), Arrival::NotOurs);
    }

    #[test]
    fn a_strangers_frame_between_our_addresses_with_zeros_or_ones_behind_is_not_ours() {
        for (fill, nonce) in [(0x00, 0), (0x00, 0xC0FF_EE42), (0xFF, u32::MAX)] {
            let identity = Identity { nonce, ..identity() };
            let mut octets = [&identity.addresses(WAY, Kind::Test)[..], &[0x08, 0x06]].concat();
            octets.resize(60, fill);
            let arrival = Checker::new(identity, WAY).check(&octets);
            assert_eq!(arrival, Arrival::NotOurs, "{fill:#x}, nonce {nonce:#x}");
        }
    }

    proptest! {
        #[test]
        fn random_octets_are_no_panic_and_not_ours(octets in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(check(&octets), Arrival::NotOurs);
        }

        #[test]
        fn wrong_bits_outside_the_header_are_counted_exactly(
            (stream, sequence) in (0usize..7, any::<u64>()),
            bits in prop::collection::btree_set((0usize..(14 + 18 + 236) * 8).prop_map(|bit| {
                if bit < MAGIC_AT * 8 { bit } else { bit + (PAYLOAD_AT - MAGIC_AT) * 8 }
            }), 1..60),
        ) {
            let mut octets = frame(&writer(WAY, "300"), stream, sequence);
            for bit in &bits {
                octets = flipped(&octets, *bit);
            }
            prop_assert_eq!(bit_errors(check(&octets)), u64::try_from(bits.len()).unwrap());
        }

        #[test]
        fn a_mangled_frame_is_never_a_panic_and_never_another_good_frame(
            changes in prop::collection::vec((0usize..150, any::<u8>()), 0..40),
            (length, sequence) in (0usize..150, any::<u64>()),
        ) {
            let whole = frame(&writer(WAY, "128"), 2, sequence);
            let mut octets = whole.clone();
            octets.resize(length, 0);
            for (at, value) in changes {
                if let Some(octet) = octets.get_mut(at) {
                    *octet = value;
                }
            }
            let good = matches!(check(&octets), Arrival::Good { .. });
            prop_assert_eq!(good, octets.get(..whole.len()) == Some(&whole[..]));
        }

        #[test]
        fn up_to_20_wrong_bits_anywhere_leave_a_frame_ours(
            bits in prop::collection::btree_set((0usize..PAYLOAD_AT * 8).prop_filter(
                "what alone tells kinds and directions apart",
                |bit| ![5, 11, KIND_AT, DIRECTION_AT].contains(&(bit / 8)),
            ), 1..=20),
        ) {
            let octets = bits.iter().fold(frame(&writer(WAY, "64"), 0, 7), |octets, bit| flipped(&octets, *bit));
            let header_hit = bits.iter().any(|bit| *bit >= MAGIC_AT * 8);
            match check(&octets) {
                Arrival::Unidentified { .. } => prop_assert!(header_hit),
                Arrival::Corrupt { .. } => prop_assert!(!header_hit),
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
