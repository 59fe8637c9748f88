//! One slot: a header, a record, zeros.
//!
//! | octets | what |
//! |---|---|
//! | 0..8 | magic |
//! | 8..10 | version of what follows the header |
//! | 10..12 | length of the record in octets |
//! | 12..16 | run number |
//! | 16..24 | sequence number, from 0, one more a saved record |
//! | 24..28 | zero |
//! | 28..32 | CRC-32C of octets 0..28 and of the record |
//! | 32.. | the record |
//!
//! Numbers are little-endian. Header, length and check are the same in all versions, so that an older program knows
//! a newer one's record for whole, counts on from it, and leaves it alone until its turn to be overwritten.

use crc::{CRC_32_ISCSI, Crc, Table};
use std::ops::Range;

/// Octets of a slot.
pub const SLOT: usize = 4096;

/// The longest record, in octets.
pub const MOST_OCTETS: usize = SLOT - HEADER;

const HEADER: usize = 32;
const MAGIC: Range<usize> = 0..8;
const VERSION: Range<usize> = 8..10;
const LENGTH: Range<usize> = 10..12;
const RUN: Range<usize> = 12..16;
const SEQUENCE: Range<usize> = 16..24;
const CHECK: Range<usize> = 28..HEADER;

/// What a slot with a record begins with.
const OURS: &[u8; 8] = b"LGHISTRY";

/// The version that is written.
const CURRENT: u16 = 1;

/// Sequence numbers from here on are damage: one a millisecond would take nine thousand years.
const NO_SEQUENCE: u64 = 1 << 48;

const CRC32C: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// The numbers of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Numbers {
    /// Of the record: one more than that of the last one that was saved before it.
    pub sequence: u64,
    /// Of the run, as the caller gave it.
    pub run: u32,
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot<'a> {
    /// Nothing yet: all zeros or, on flash, all ones.
    Blank,
    /// Something that is no whole record.
    Damaged,
    /// A whole record of a version that is not known here.
    Newer(Numbers),
    /// A whole record.
    Record(Numbers, &'a [u8]),
}

/// A slot with the record `octets`; none where they are more than [`MOST_OCTETS`].
pub(super) fn encode(numbers: Numbers, octets: &[u8]) -> Option<[u8; SLOT]> {
    encode_as(CURRENT, numbers, octets)
}

fn encode_as(version: u16, numbers: Numbers, octets: &[u8]) -> Option<[u8; SLOT]> {
    let mut slot = [0; SLOT];
    slot.get_mut(HEADER..HEADER.checked_add(octets.len())?)?.copy_from_slice(octets);
    slot[MAGIC].copy_from_slice(OURS);
    slot[VERSION].copy_from_slice(&version.to_le_bytes());
    slot[LENGTH].copy_from_slice(&u16::try_from(octets.len()).ok()?.to_le_bytes());
    slot[RUN].copy_from_slice(&numbers.run.to_le_bytes());
    slot[SEQUENCE].copy_from_slice(&numbers.sequence.to_le_bytes());
    let check = check(&slot, octets);
    slot[CHECK].copy_from_slice(&check.to_le_bytes());
    Some(slot)
}

/// What is in `slot`.
pub(super) fn decode(slot: &[u8; SLOT]) -> Slot<'_> {
    let is_all = |value| slot.iter().all(|&octet| octet == value);
    match whole(slot) {
        Some((CURRENT, numbers, octets)) => Slot::Record(numbers, octets),
        Some((version, numbers, _)) if version > CURRENT => Slot::Newer(numbers),
        None if is_all(0) || is_all(0xFF) => Slot::Blank,
        _ => Slot::Damaged,
    }
}

/// Version, numbers and octets of a record that is as it was written.
fn whole(slot: &[u8; SLOT]) -> Option<(u16, Numbers, &[u8])> {
    if slot[MAGIC] != OURS[..] {
        return None;
    }
    let length = u16::from_le_bytes(field(slot, LENGTH)?);
    let octets = slot[HEADER..].get(..usize::from(length))?;
    let sequence = u64::from_le_bytes(field(slot, SEQUENCE)?);
    let numbers = Numbers { sequence, run: u32::from_le_bytes(field(slot, RUN)?) };
    let is_whole = u32::from_le_bytes(field(slot, CHECK)?) == check(slot, octets) && sequence < NO_SEQUENCE;
    is_whole.then_some((u16::from_le_bytes(field(slot, VERSION)?), numbers, octets))
}

fn field<const N: usize>(slot: &[u8; SLOT], at: Range<usize>) -> Option<[u8; N]> {
    slot[at].try_into().ok()
}

fn check(slot: &[u8; SLOT], octets: &[u8]) -> u32 {
    let mut digest = CRC32C.digest();
    digest.update(&slot[..CHECK.start]);
    digest.update(octets);
    digest.finalize()
}

/// A slot of a version that this program does not know.
#[cfg(test)]
pub(super) fn encode_newer(numbers: Numbers, octets: &[u8]) -> [u8; SLOT] {
    encode_as(CURRENT + 1, numbers, octets).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NUMBERS: Numbers = Numbers { sequence: 0x0102_0304_0506, run: 0xA0B0_C0D0 };

    /// Do not change this test: there are sticks with such slots.
    #[test]
    fn golden_octets_of_version_1() {
        let slot = encode(NUMBERS, b"PASS").unwrap();
        let golden = b"LGHISTRY\x01\0\x04\0\xD0\xC0\xB0\xA0\x06\x05\x04\x03\x02\x01\0\0\0\0\0\0";
        assert_eq!(slot[..28], golden[..]);
        assert_eq!(slot[28..36], *b"\x58\x9E\x79\x4BPASS");
        assert!(slot[36..].iter().all(|&octet| octet == 0));
        assert_eq!(decode(&slot), Slot::Record(NUMBERS, b"PASS"));
    }

    #[test]
    fn a_slot_nobody_wrote_is_blank() {
        assert_eq!(decode(&[0; SLOT]), Slot::Blank);
        assert_eq!(decode(&[0xFF; SLOT]), Slot::Blank);
        assert_eq!(decode(&[0x55; SLOT]), Slot::Damaged);
    }

    #[test]
    fn a_newer_versions_record_is_known_for_whole() {
        let mut slot = encode_newer(NUMBERS, b"what may come");
        assert_eq!(decode(&slot), Slot::Newer(NUMBERS));
        slot[40] ^= 1;
        assert_eq!(decode(&slot), Slot::Damaged);
        assert_eq!(decode(&encode_as(0, NUMBERS, b"").unwrap()), Slot::Damaged);
    }

    #[test]
    fn what_is_too_long_or_too_far_is_no_record() {
        assert!(encode(NUMBERS, &[7; MOST_OCTETS]).is_some());
        assert!(encode(NUMBERS, &[7; MOST_OCTETS + 1]).is_none());
        let far = Numbers { sequence: NO_SEQUENCE, ..NUMBERS };
        assert_eq!(decode(&encode(far, b"").unwrap()), Slot::Damaged);
    }

    proptest! {
        #[test]
        fn a_record_comes_back_and_no_flipped_bit_goes_unseen(
            octets in prop::collection::vec(any::<u8>(), 0..=MOST_OCTETS),
            sequence in 0..NO_SEQUENCE,
            run: u32,
            bit: prop::sample::Index,
        ) {
            let numbers = Numbers { sequence, run };
            let mut slot = encode(numbers, &octets).unwrap();
            prop_assert_eq!(decode(&slot), Slot::Record(numbers, &octets));
            let bit = bit.index((HEADER + octets.len()) * 8);
            slot[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(decode(&slot), Slot::Damaged);
        }
    }
}
