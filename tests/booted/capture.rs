//! What left the ports, from power-on.

use measure::frame::{DEFAULT_ETHERTYPES, ETHERTYPE_AT, FILTERED_ADDRESS, KIND_AT, Kind, MAGIC, MAGIC_AT};
use std::path::Path;

/// Octets of the file's header and of each record's (pcap-savefile(5)).
const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

/// Frames by kind: test frames, unicast probes, filtered probes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Left {
    pub test: u64,
    pub unicast: u64,
    pub filtered: u64,
}

/// The frames in a capture file; each has to be one of ours.
pub fn left(path: &Path) -> Left {
    let octets = std::fs::read(path).unwrap();
    let mut left = Left::default();
    let mut rest = &octets[FILE_HEADER..];
    while let Some((header, after)) = rest.split_at_checked(RECORD_HEADER) {
        let length = u32::from_le_bytes(header[8..12].try_into().unwrap()) as usize;
        // The emulator may be cut off in the middle of its last record.
        let Some((frame, after)) = after.split_at_checked(length) else { break };
        count(&mut left, frame);
        rest = after;
    }
    left
}

fn count(left: &mut Left, frame: &[u8]) {
    let ethertype = u16::from_be_bytes(frame[ETHERTYPE_AT..MAGIC_AT].try_into().unwrap());
    let magic = u32::from_be_bytes(frame[MAGIC_AT..MAGIC_AT + 4].try_into().unwrap());
    assert!(DEFAULT_ETHERTYPES.contains(&ethertype) && magic == MAGIC, "not ours: {frame:02x?}");
    let kind = frame[KIND_AT];
    let (count, filtered) = match Kind::ALL.into_iter().find(|known| known.code() == kind) {
        Some(Kind::Test) => (&mut left.test, false),
        Some(Kind::Unicast) => (&mut left.unicast, false),
        Some(Kind::Filtered) => (&mut left.filtered, true),
        None => panic!("of no kind: {frame:02x?}"),
    };
    *count += 1;
    assert_eq!(frame[..6] == FILTERED_ADDRESS.0, filtered, "{frame:02x?}");
}
