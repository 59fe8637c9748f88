//! What a cable has to know of a frame: is it a test frame, a probe, or anything else, and of which stream.

use measure::frame::{DEFAULT_ETHERTYPES, ETHERTYPE_AT, KIND_AT, Kind, MAGIC, MAGIC_AT, PAYLOAD_AT};

/// Where the stream's number is.
const STREAM_AT: usize = KIND_AT + 2;
/// Octets of Ethernet and test header together: the payload begins here.
pub const HEADERS: usize = PAYLOAD_AT;
/// Octets of the two addresses.
pub const ADDRESSES: usize = ETHERTYPE_AT;
/// Ethertypes of the default two streams.
pub const ETHERTYPES: [u16; 2] = DEFAULT_ETHERTYPES;

/// What a frame is to the cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// A frame of the flood.
    Test,
    /// A probe of the loop check.
    Probe,
    /// Anything else.
    Other,
}

impl Class {
    /// All, in the order of their index.
    pub const ALL: [Self; 3] = [Self::Test, Self::Probe, Self::Other];

    /// Its place in an array.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A frame (without FCS) on its way, and what the cable knows of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    pub octets: &'a [u8],
    pub class: Class,
    pub stream: u8,
}

/// Tells frames apart by ethertype, magic and kind.
#[derive(Clone, Debug)]
pub(super) struct Recogniser {
    ethertypes: Vec<u16>,
}

impl Recogniser {
    /// One for streams of `ethertypes`.
    pub fn new(ethertypes: &[u16]) -> Self {
        Self { ethertypes: ethertypes.to_vec() }
    }

    /// What `octets` are.
    pub fn frame<'a>(&self, octets: &'a [u8]) -> Frame<'a> {
        let stream = octets.get(STREAM_AT).copied().unwrap_or_default();
        Frame { octets, class: self.class(octets), stream }
    }

    fn class(&self, octets: &[u8]) -> Class {
        let Some(kind) = octets.get(KIND_AT).filter(|_| octets.len() >= HEADERS && self.ours(octets)) else {
            return Class::Other;
        };
        if *kind == Kind::Test.code() { Class::Test } else { Class::Probe }
    }

    fn ours(&self, octets: &[u8]) -> bool {
        let ethertype = octets.get(ADDRESSES..).and_then(|rest| rest.first_chunk());
        let magic = octets.get(MAGIC_AT..).and_then(|rest| rest.first_chunk());
        ethertype.is_some_and(|octets| self.ethertypes.contains(&u16::from_be_bytes(*octets)))
            && magic.is_some_and(|octets| u32::from_be_bytes(*octets) == MAGIC)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Kind of a test frame.
    pub const TEST: u8 = Kind::Test.code();
    /// Kind of a probe.
    pub const PROBE: u8 = Kind::Unicast.code();

    /// A frame of ours as far as a cable looks at it; `sequence` is where the real header has it.
    pub fn frame(kind: u8, stream: u8, sequence: u64, octets: usize) -> Vec<u8> {
        let mut frame = vec![0x55; octets];
        frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, 2]);
        frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
        frame[12..14].copy_from_slice(&ETHERTYPES[usize::from(stream) % 2].to_be_bytes());
        frame[14..18].copy_from_slice(&MAGIC.to_be_bytes());
        frame[18..22].copy_from_slice(&[1, kind, 0, stream]);
        frame[26..34].copy_from_slice(&sequence.to_be_bytes());
        frame
    }

    /// The sequence that [`frame`] has put in.
    pub fn sequence(frame: &[u8]) -> u64 {
        u64::from_be_bytes(frame[26..34].try_into().unwrap())
    }

    #[test]
    fn frames_of_ours_are_told_by_ethertype_magic_and_kind() {
        let recogniser = Recogniser::new(&ETHERTYPES);
        let class = |octets: &[u8]| recogniser.frame(octets).class;
        assert_eq!(class(&frame(TEST, 1, 0, 60)), Class::Test);
        assert_eq!(class(&frame(PROBE, 0, 0, 60)), Class::Probe);
        assert_eq!(recogniser.frame(&frame(TEST, 1, 0, 60)).stream, 1);
        for spoilt in [12, 14, 17] {
            let mut other = frame(TEST, 0, 0, 60);
            other[spoilt] ^= 0x40;
            assert_eq!(class(&other), Class::Other, "octet {spoilt}");
        }
    }

    #[test]
    fn a_frame_without_room_for_the_header_is_something_else() {
        let recogniser = Recogniser::new(&ETHERTYPES);
        let whole = frame(TEST, 0, 0, 60);
        for octets in 0..HEADERS {
            assert_eq!(recogniser.frame(&whole[..octets]).class, Class::Other, "{octets} octets");
        }
    }
}
