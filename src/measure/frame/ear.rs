//! Names what the listening socket of a port heard.

use super::origin::Origin;
use super::{ETHERTYPE_AT, Identity, Kind, View, payload_of};
use crate::loopcheck::{Heard, ProbeKind};
use crate::units::{Direction, MacAddress, Side};

/// What `frame` (without FCS), heard by the listening socket of port `on`, is.
///
/// - An intact header of ours with another nonce is another gauge's.
/// - A frame of this run is a probe, or damaged, or one that a test socket accounts. It is never
///   foreign, whatever was hit: it has our addresses and ethertype, or our magic and nonce, or few
///   wrong bits in all of them. Where it arrives at the port that sent it, it did not go through the
///   cable: an own stray.
/// - Else a source address of ours makes it an own stray,
/// - and anything left is foreign, however short.
///
/// A filter in the kernel may leave out what has an ethertype of ours, and the magic, kind and nonce
/// of a test frame, and the direction that arrives here. It must look at all of these: a frame that
/// lacks one of them is accounted by nobody else, or did not come through the cable.
#[must_use]
pub fn hear(identity: &Identity, on: Side, frame: &[u8]) -> Heard {
    let view = View::new_checked(frame).filter(View::is_intact);
    if let Some(nonce) = view.map(|view| view.nonce()).filter(|nonce| *nonce != identity.nonce) {
        return Heard::AnotherGauge { nonce };
    }
    let toward = direction_to(on);
    match Origin::of(identity, toward, frame) {
        Some(origin) if origin.direction == toward => of_this_run(identity, origin, frame),
        Some(origin) => Heard::OwnStray { from: origin.direction.from(), ethertype: ethertype(frame) },
        None => stranger(identity, frame),
    }
}

/// A frame of this run that came the way it was sent.
fn of_this_run(identity: &Identity, origin: Origin, frame: &[u8]) -> Heard {
    let Origin { direction, kind } = origin;
    match kind {
        Kind::Unicast if is_undamaged_probe(identity, frame) => {
            Heard::Probe { direction, kind: ProbeKind::Unicast }
        }
        Kind::Filtered if is_undamaged_probe(identity, frame) => {
            Heard::Probe { direction, kind: ProbeKind::Filtered }
        }
        Kind::Test if identity.has_ethertype_of(frame) => Heard::Test { direction },
        Kind::Test | Kind::Unicast | Kind::Filtered => Heard::Damaged { direction },
    }
}

fn is_undamaged_probe(identity: &Identity, frame: &[u8]) -> bool {
    let parsed = View::new_checked(frame).and_then(|view| Some((view, view.header()?)));
    let Some((view, header)) = parsed else { return false };
    let expected = payload_of(&header);
    *view.ethernet() == identity.ethernet(header.direction, header.kind, 0)
        && view.payload().get(..expected.len()) == Some(expected)
}

fn stranger(identity: &Identity, frame: &[u8]) -> Heard {
    let source = octets_at(frame, MacAddress::default().0.len());
    match identity.side_of(source) {
        Some(from) => Heard::OwnStray { from, ethertype: ethertype(frame) },
        None => Heard::Foreign { from: MacAddress(source), ethertype: ethertype(frame) },
    }
}

fn direction_to(port: Side) -> Direction {
    match port {
        Side::A => Direction::BToA,
        Side::B => Direction::AToB,
    }
}

fn ethertype(frame: &[u8]) -> u16 {
    u16::from_be_bytes(octets_at(frame, ETHERTYPE_AT))
}

/// `N` octets from `at` on; what did not come is zero.
fn octets_at<const N: usize>(frame: &[u8], at: usize) -> [u8; N] {
    let mut octets = [0; N];
    for (octet, came) in octets.iter_mut().zip(frame.get(at..).unwrap_or_default()) {
        *octet = *came;
    }
    octets
}

#[cfg(test)]
mod tests {
    use super::super::samples::{flipped, frame, identity, writer};
    use super::super::{Arrival, Checker, MAGIC_AT, PAYLOAD_AT, Writer};
    use super::*;
    use crate::mix::SizeMix;
    use proptest::prelude::*;
    use std::vec::Vec;

    const WAY: Direction = Direction::AToB;

    /// What port B, the receiving one, hears.
    fn hear_at_b(frame: &[u8]) -> Heard {
        hear(&identity(), Side::B, frame)
    }

    fn probe(kind: ProbeKind) -> [u8; 60] {
        let mut octets = [0; 60];
        writer(WAY, "64").probe(kind, 5, &mut octets);
        octets
    }

    fn frame_between(destination: [u8; 6], source: [u8; 6], ethertype: u16) -> Vec<u8> {
        let mut octets = [destination, source].concat();
        octets.extend(ethertype.to_be_bytes());
        octets.resize(60, 0);
        octets
    }

    #[test]
    fn both_kinds_of_probe_are_heard_at_the_other_port() {
        for kind in [ProbeKind::Unicast, ProbeKind::Filtered] {
            assert_eq!(hear_at_b(&probe(kind)), Heard::Probe { direction: WAY, kind });
        }
    }

    #[test]
    fn a_probe_heard_where_it_was_sent_is_an_own_stray() {
        // Field case 34: own transmissions must not make a loop out of an open port.
        let heard = hear(&identity(), Side::A, &probe(ProbeKind::Unicast));
        assert_eq!(heard, Heard::OwnStray { from: Side::A, ethertype: 0x88B5 });
    }

    #[test]
    fn a_test_frame_heard_where_it_was_sent_is_an_own_stray() {
        let octets = frame(&writer(WAY, "64"), 1, 0);
        let heard = hear(&identity(), Side::A, &octets);
        assert_eq!(heard, Heard::OwnStray { from: Side::A, ethertype: 0x88B6 });
    }

    #[test]
    fn any_wrong_bit_makes_a_probe_damaged() {
        for kind in [ProbeKind::Unicast, ProbeKind::Filtered] {
            for bit in 0..60 * 8 {
                let heard = hear_at_b(&flipped(&probe(kind), bit));
                assert_eq!(heard, Heard::Damaged { direction: WAY }, "{kind:?} bit {bit}");
            }
        }
    }

    #[test]
    fn a_test_frame_with_a_wrong_bit_is_accounted_or_damaged_but_never_foreign() {
        // Two streams only: with seven, one wrong bit can turn one stream's ethertype into another's.
        let mut identity = identity();
        identity.ethertypes = [0x88B5, 0x88B6].into_iter().collect();
        let octets = frame(&writer(WAY, "64"), 0, 0);
        for bit in 0..octets.len() * 8 {
            let ethertype_hit = (12 * 8..14 * 8).contains(&bit);
            let expected = match ethertype_hit {
                true => Heard::Damaged { direction: WAY },
                false => Heard::Test { direction: WAY },
            };
            assert_eq!(hear(&identity, Side::B, &flipped(&octets, bit)), expected, "bit {bit}");
        }
    }

    #[test]
    fn a_test_frame_is_damaged_when_no_test_socket_takes_its_ethertype() {
        let mut octets = frame(&writer(WAY, "64"), 0, 0);
        octets[..14].fill(0);
        assert_eq!(hear_at_b(&octets), Heard::Damaged { direction: WAY }, "addresses gone too");
        octets[PAYLOAD_AT - 1] ^= 1;
        assert_eq!(hear_at_b(&octets), Heard::Damaged { direction: WAY }, "magic and nonce are left");
    }

    #[test]
    fn our_magic_with_a_foreign_nonce_is_another_gauge() {
        let other = Identity { nonce: 7, ..identity() };
        let octets = frame(&Writer::new(other, WAY, SizeMix::named("small").unwrap()), 0, 0);
        assert_eq!(hear_at_b(&octets), Heard::AnotherGauge { nonce: 7 });
    }

    #[test]
    fn a_frame_from_our_own_address_is_an_own_stray() {
        let solicitation = frame_between([0x33, 0x33, 0, 0, 0, 2], identity().macs[1].0, 0x86DD);
        assert_eq!(hear_at_b(&solicitation), Heard::OwnStray { from: Side::B, ethertype: 0x86DD });
        let between_ports = frame_between(identity().macs[1].0, identity().macs[0].0, 0x0800);
        assert_eq!(hear_at_b(&between_ports), Heard::OwnStray { from: Side::A, ethertype: 0x0800 });
    }

    #[test]
    fn anything_else_is_foreign_with_who_it_was() {
        let arp = frame_between([0xFF; 6], [0x00, 0x1B, 0x21, 1, 2, 3], 0x0806);
        let from = MacAddress([0x00, 0x1B, 0x21, 1, 2, 3]);
        assert_eq!(hear_at_b(&arp), Heard::Foreign { from, ethertype: 0x0806 });
    }

    #[test]
    fn a_frame_too_short_for_an_address_is_foreign_with_what_there_is() {
        let heard = hear_at_b(&[1, 2, 3, 4, 5, 6, 7, 8]);
        let from = MacAddress([7, 8, 0, 0, 0, 0]);
        assert_eq!(heard, Heard::Foreign { from, ethertype: 0 });
        let nobody = Heard::Foreign { from: MacAddress::default(), ethertype: 0 };
        assert_eq!(hear_at_b(&[]), nobody);
    }

    proptest! {
        #[test]
        fn random_octets_are_foreign(octets in prop::collection::vec(any::<u8>(), 0..200)) {
            let heard = hear_at_b(&octets);
            prop_assert!(matches!(heard, Heard::Foreign { .. }), "{:?}", heard);
        }

        #[test]
        fn no_damage_to_the_ethernet_header_makes_a_frame_of_ours_foreign(
            ethernet in prop::array::uniform14(any::<u8>()), sequence in any::<u64>(),
        ) {
            let mut octets = frame(&writer(WAY, "64"), 3, sequence);
            octets[..MAGIC_AT].copy_from_slice(&ethernet);
            let heard = hear_at_b(&octets);
            let ours = matches!(heard, Heard::Damaged { direction: WAY } | Heard::Test { direction: WAY });
            prop_assert!(ours, "{:?}", heard);
        }

        #[test]
        fn a_damaged_test_frame_is_counted_once_by_the_account_or_by_ear(
            bits in prop::collection::vec(0usize..64 * 8, 1..24), length in 14usize..=64,
        ) {
            let whole = frame(&writer(WAY, "68"), 2, 9);
            let damaged = bits.iter().fold(whole, |octets, bit| flipped(&octets, *bit));
            let damaged = &damaged[..length];
            let taken = identity().has_ethertype_of(damaged);
            let accounted = taken && Checker::new(identity(), WAY).check(damaged) != Arrival::NotOurs;
            let by_ear = match hear_at_b(damaged) {
                Heard::Damaged { .. } => true,
                Heard::Test { .. } => false,
                // Too much of it is gone.
                _ => return Ok(()),
            };
            prop_assert!(accounted != by_ear, "accounted: {}, by ear: {}", accounted, by_ear);
        }
    }
}
