//! The header's bytes ([`View`]) and its meaning ([`Header`]).

use super::{HEADER_OCTETS, MAGIC, MAGIC_AT, PAYLOAD_AT, VERSION};
use crate::loopcheck::ProbeKind;
use crate::units::{Direction, FrameSize};
use crc::{CRC_32_ISCSI, Crc, Table};

/// CRC-32C (Castagnoli; RFC 3720, 12.1): over so few octets it catches any five wrong bits, and it
/// is not the polynomial of the FCS, whose blind spots it would otherwise share.
/// The table of 16 lanes takes the header in two steps instead of 24.
static CRC: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// What a frame of ours is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One of the flood, accounted.
    Test,
    /// A probe to the peer port's own address.
    Unicast,
    /// A probe to the address that bridges filter.
    Filtered,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Test, Self::Unicast, Self::Filtered];

    /// The value in the header. Any two differ in four bits, so that a damaged probe is not taken
    /// for a test frame or the other way round.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Test => 0x0F,
            Self::Unicast => 0x33,
            Self::Filtered => 0x55,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

impl From<ProbeKind> for Kind {
    fn from(probe: ProbeKind) -> Self {
        match probe {
            ProbeKind::Unicast => Self::Unicast,
            ProbeKind::Filtered => Self::Filtered,
        }
    }
}

/// A header's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the frame is for.
    pub kind: Kind,
    /// Direction it travels.
    pub direction: Direction,
    /// Its stream, from 0.
    pub stream: u8,
    /// The run it belongs to.
    pub nonce: u32,
    /// Its number in its stream, from 0.
    pub sequence: u64,
    /// Octets of the frame without FCS, 60 to 9212.
    pub length: u16,
}

impl Header {
    /// The header's bytes, CRC included.
    #[must_use]
    pub fn to_octets(&self) -> [u8; HEADER_OCTETS] {
        let mut octets = [0; HEADER_OCTETS];
        octets[field::MAGIC].copy_from_slice(&MAGIC.to_be_bytes());
        octets[field::VERSION] = VERSION;
        octets[field::KIND] = self.kind.code();
        octets[field::DIRECTION] = direction_code(self.direction);
        octets[field::STREAM] = self.stream;
        octets[field::NONCE].copy_from_slice(&self.nonce.to_be_bytes());
        octets[field::SEQUENCE].copy_from_slice(&self.sequence.to_be_bytes());
        octets[field::LENGTH].copy_from_slice(&self.length.to_be_bytes());
        let crc = CRC.checksum(&octets[field::COVERED]);
        octets[field::CRC].copy_from_slice(&crc.to_be_bytes());
        octets
    }
}

/// The value of a direction in the header.
pub(super) fn direction_code(direction: Direction) -> u8 {
    match direction {
        Direction::AToB => 0,
        Direction::BToA => 1,
    }
}

/// Where the fields are, in octets from the magic on.
mod field {
    use core::ops::Range;

    pub const MAGIC: Range<usize> = 0..4;
    pub const VERSION: usize = 4;
    pub const KIND: usize = 5;
    pub const DIRECTION: usize = 6;
    pub const STREAM: usize = 7;
    pub const NONCE: Range<usize> = 8..12;
    pub const SEQUENCE: Range<usize> = 12..20;
    pub const LENGTH: Range<usize> = 20..22;
    pub const RESERVED: Range<usize> = 22..24;
    pub const CRC: Range<usize> = 24..28;
    /// What the CRC covers.
    pub const COVERED: Range<usize> = 0..24;
}

/// A frame long enough to hold a header.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    ethernet: &'a [u8; MAGIC_AT],
    header: &'a [u8; HEADER_OCTETS],
    payload: &'a [u8],
}

impl<'a> View<'a> {
    /// `frame` (without FCS) seen as a test frame; none where it is too short to hold a header.
    #[must_use]
    pub fn new_checked(frame: &'a [u8]) -> Option<Self> {
        let (ethernet, rest) = frame.split_first_chunk()?;
        let (header, payload) = rest.split_first_chunk()?;
        Some(Self { ethernet, header, payload })
    }

    /// Destination, source and ethertype.
    #[must_use]
    pub fn ethernet(&self) -> &'a [u8; MAGIC_AT] {
        self.ethernet
    }

    /// Everything after the header, padding included.
    #[must_use]
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Octets of the whole frame.
    #[must_use]
    pub fn octets(&self) -> usize {
        PAYLOAD_AT + self.payload.len()
    }

    /// Our magic under a CRC that holds: a gauge wrote this header and nothing damaged it since.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        let crc = CRC.checksum(&self.header[field::COVERED]);
        self.u32(field::MAGIC) == MAGIC && self.u32(field::CRC) == crc
    }

    /// The run's nonce.
    #[must_use]
    pub fn nonce(&self) -> u32 {
        self.u32(field::NONCE)
    }

    /// The fields of an intact header; none where it is not intact or one is out of its range.
    #[must_use]
    pub fn header(&self) -> Option<Header> {
        let well_formed = self.is_intact()
            && self.header[field::VERSION] == VERSION
            && self.header[field::RESERVED] == [0, 0];
        if !well_formed {
            return None;
        }
        Some(Header {
            kind: Kind::from_code(self.header[field::KIND])?,
            direction: self.direction()?,
            stream: self.header[field::STREAM],
            nonce: self.nonce(),
            sequence: self.sequence(),
            length: self.length()?,
        })
    }

    fn direction(&self) -> Option<Direction> {
        let code = self.header[field::DIRECTION];
        Direction::BOTH.into_iter().find(|direction| direction_code(*direction) == code)
    }

    fn sequence(&self) -> u64 {
        let mut octets = [0; 8];
        octets.copy_from_slice(&self.header[field::SEQUENCE]);
        u64::from_be_bytes(octets)
    }

    fn length(&self) -> Option<u16> {
        let mut octets = [0; 2];
        octets.copy_from_slice(&self.header[field::LENGTH]);
        let length = u16::from_be_bytes(octets);
        let range = FrameSize::MIN.without_fcs()..=FrameSize::MAX.without_fcs();
        range.contains(&usize::from(length)).then_some(length)
    }

    fn u32(&self, at: core::ops::Range<usize>) -> u32 {
        let mut octets = [0; 4];
        octets.copy_from_slice(&self.header[at]);
        u32::from_be_bytes(octets)
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{flipped, frame, identity, writer};
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    const HEADER: Header = Header {
        kind: Kind::Test,
        direction: Direction::BToA,
        stream: 3,
        nonce: 0x0123_4567,
        sequence: 0x89AB_CDEF_0011_2233,
        length: 1514,
    };

    /// A frame of nothing but `header` with its `octets` changed and the CRC made to fit.
    fn forged(header: &Header, octets: impl Fn(&mut [u8; HEADER_OCTETS])) -> Vec<u8> {
        let mut header = header.to_octets();
        octets(&mut header);
        let crc = CRC.checksum(&header[field::COVERED]);
        header[field::CRC].copy_from_slice(&crc.to_be_bytes());
        [&[0; MAGIC_AT], &header[..]].concat()
    }

    #[test]
    fn a_header_is_these_bytes() {
        // Gauges of different versions must agree on it: do not change this test, add a version.
        #[rustfmt::skip] // eight to a line
        let fields = [
            0x4C, 0x47, 0xB7, 0xED, 1, 0x0F, 1, 3,
            0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF,
            0x00, 0x11, 0x22, 0x33, 0x05, 0xEA, 0, 0,
        ];
        let octets = HEADER.to_octets();
        assert_eq!(octets[..24], fields);
        // Computed bit by bit, elsewhere.
        assert_eq!(octets[24..], 0xFB22_EFB8u32.to_be_bytes());
    }

    #[test]
    fn the_fields_are_where_the_kernel_filter_looks_for_them() {
        let octets = frame(&writer(Direction::BToA, "64"), 2, 9);
        assert_eq!(octets[super::super::ETHERTYPE_AT..][..2], 0x88B7u16.to_be_bytes());
        assert_eq!(octets[super::super::MAGIC_AT..][..4], MAGIC.to_be_bytes());
        assert_eq!(octets[super::super::KIND_AT], Kind::Test.code());
        assert_eq!(octets[super::super::DIRECTION_AT], 1);
        assert_eq!(octets[super::super::NONCE_AT..][..4], identity().nonce.to_be_bytes());
    }

    #[test]
    fn any_two_kinds_differ_in_four_bits() {
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            let differing = Kind::ALL[one].code() ^ Kind::ALL[other].code();
            assert_eq!(differing.count_ones(), 4);
        }
    }

    #[test]
    fn a_field_out_of_its_range_is_refused_though_the_crc_holds() {
        let parse = |octets: Vec<u8>| View::new_checked(&octets).unwrap().header();
        assert_eq!(parse(forged(&HEADER, |_| ())), Some(HEADER));
        let cases: [fn(&mut [u8; HEADER_OCTETS]); 6] = [
            |header| header[field::MAGIC].fill(0),
            |header| header[field::VERSION] = 2,
            |header| header[field::KIND] = 0,
            |header| header[field::DIRECTION] = 2,
            |header| header[field::RESERVED].fill(1),
            |header| header[field::LENGTH].copy_from_slice(&59u16.to_be_bytes()),
        ];
        for (index, case) in cases.into_iter().enumerate() {
            assert_eq!(parse(forged(&HEADER, case)), None, "case {index}");
        }
        assert_eq!(parse(forged(&Header { length: 9213, ..HEADER }, |_| ())), None);
    }

    proptest! {
        #[test]
        fn a_header_reads_back_as_it_was_written(
            (kind, direction) in (0usize..3, 0usize..2),
            (stream, nonce, sequence, length) in (any::<u8>(), any::<u32>(), any::<u64>(), 60u16..=9212),
        ) {
            let (kind, direction) = (Kind::ALL[kind], Direction::BOTH[direction]);
            let header = Header { kind, direction, stream, nonce, sequence, length };
            let octets = forged(&header, |_| ());
            prop_assert_eq!(View::new_checked(&octets).unwrap().header(), Some(header));
        }

        #[test]
        fn no_five_wrong_bits_escape_the_crc(
            sequence in any::<u64>(),
            bits in prop::collection::btree_set(0usize..HEADER_OCTETS * 8, 1..=5),
        ) {
            let mut octets = forged(&Header { sequence, ..HEADER }, |_| ());
            for bit in bits {
                octets = flipped(&octets, MAGIC_AT * 8 + bit);
            }
            prop_assert!(!View::new_checked(&octets).unwrap().is_intact());
        }
    }
}
