//! A record as octets on a wire, and back.
//!
//! ```text
//! 0x00  COBS( version  kind  sequence  body ...  CRC-32 )  0x00
//! ```
//! Each frame brings both of its delimiters, so that it is whole whatever comes before and after it.

use super::body::Record;
use crc::{CRC_32_ISO_HDLC, Crc, NoTable};

/// The major version of the format: another one is another format.
pub const MAJOR: u8 = 1;

/// The minor version: a higher one has more kinds of record, and more at the end of those that there are.
pub const MINOR: u8 = 0;

/// Longest frame in octets, without its delimiters.
pub const LONGEST: usize = 512;

/// A summary takes fewer octets of the wire.
pub const SUMMARY_BELOW: usize = 400;

/// What separates frames; COBS keeps it out of them.
pub const DELIMITER: u8 = 0;

/// A frame with its delimiters.
pub type Frame = heapless::Vec<u8, { LONGEST + 2 }>;

/// Without a table: a summary is 400 octets, and there is one a run.
const CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);

/// Octets of version, kind and sequence number.
const HEAD: usize = 3;

/// Octets of the CRC.
const TAIL: usize = 4;

/// What COBS adds at most to so many octets as are in the longest frame: one, and one more for each 254.
const COBS: usize = 1 + LONGEST.div_ceil(254);

/// What is inside the COBS of the longest frame.
const INSIDE: usize = LONGEST - COBS;

/// A frame that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// The sender's count of its records, modulo 256.
    pub sequence: u8,
    /// The record; none of a kind that this version does not know.
    pub record: Option<Record>,
}

/// Why a frame could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// No COBS, too short, or the CRC does not hold: no frame, or no longer.
    Damaged,
    /// Whole, of another major version.
    Version {
        /// Major.
        major: u8,
        /// Minor.
        minor: u8,
    },
    /// Whole, and not what its kind says: whoever made it has another idea of this version.
    Malformed {
        /// Its sequence number.
        sequence: u8,
    },
}

/// `record` as a frame; none where it is longer than any frame, which no record of ours is.
#[must_use]
pub fn seal(sequence: u8, record: &Record) -> Option<Frame> {
    let mut inside = [0; INSIDE];
    let (head, rest) = inside.split_first_chunk_mut::<HEAD>()?;
    *head = [MAJOR << 4 | MINOR, record.kind(), sequence];
    let end = HEAD + record.put(rest.get_mut(..INSIDE - HEAD - TAIL)?).ok()?;
    enclose(&mut inside, end)
}

/// Adds the CRC to the first `end` octets of `inside` and makes them a frame.
fn enclose(inside: &mut [u8; INSIDE], end: usize) -> Option<Frame> {
    let crc = CRC.checksum(inside.get(..end)?);
    inside.get_mut(end..end + TAIL)?.copy_from_slice(&crc.to_le_bytes());
    let mut coded = [0; LONGEST];
    let length = cobs::try_encode(inside.get(..end + TAIL)?, &mut coded).ok()?;
    let mut frame = Frame::new();
    frame.push(DELIMITER).ok()?;
    frame.extend_from_slice(coded.get(..length)?).ok()?;
    frame.push(DELIMITER).ok()?;
    Some(frame)
}

/// Reads what was between two delimiters; `octets` are used up.
///
/// # Errors
/// See [`Unread`].
pub fn open(octets: &mut [u8]) -> Result<Opened, Unread> {
    let length = cobs::decode_in_place(octets).map_err(|_| Unread::Damaged)?;
    let inside = octets.get(..length).ok_or(Unread::Damaged)?;
    let (covered, crc) = inside.split_last_chunk::<TAIL>().ok_or(Unread::Damaged)?;
    if CRC.checksum(covered) != u32::from_le_bytes(*crc) {
        return Err(Unread::Damaged);
    }
    let (&[version, kind, sequence], body) = covered.split_first_chunk::<HEAD>().ok_or(Unread::Damaged)?;
    let (major, minor) = (version >> 4, version & 0x0f);
    if major != MAJOR {
        return Err(Unread::Version { major, minor });
    }
    let record = Record::take(kind, body).transpose().map_err(|_| Unread::Malformed { sequence })?;
    Ok(Opened { sequence, record })
}

#[cfg(test)]
pub(in crate::journal) mod tests {
    use super::super::body::{Dropped, Passage};
    use super::*;

    fn record() -> Record {
        Record::Passage(Passage { at_ms: 12_345, run: 3, phase: 5 })
    }

    /// A frame as some other version may make it.
    pub fn foreign(version: u8, kind: u8, sequence: u8, body: &[u8]) -> Frame {
        let mut inside = [0; INSIDE];
        inside[..HEAD].copy_from_slice(&[version, kind, sequence]);
        inside[HEAD..HEAD + body.len()].copy_from_slice(body);
        enclose(&mut inside, HEAD + body.len()).unwrap()
    }

    fn opened(frame: &[u8]) -> Result<Opened, Unread> {
        let [DELIMITER, inside @ .., DELIMITER] = frame else { panic!("{frame:?}") };
        open(&mut inside.to_vec())
    }

    #[test]
    fn a_record_comes_back_as_it_was() {
        let frame = seal(7, &record()).unwrap();
        assert_eq!(opened(&frame), Ok(Opened { sequence: 7, record: Some(record()) }));
        assert_eq!(frame.iter().filter(|&&octet| octet == DELIMITER).count(), 2);
    }

    #[test]
    fn a_newer_minor_version_is_read_as_far_as_it_is_known() {
        let mut body = [0; 64];
        let known = Record::Dropped(Dropped { at_ms: 5, events: 3 });
        let length = known.put(&mut body).unwrap();
        body[length..].fill(0xa5);
        let read = opened(&foreign(0x1f, known.kind(), 0, &body));
        assert_eq!(read, Ok(Opened { sequence: 0, record: Some(known) }));
        assert_eq!(opened(&foreign(0x11, 200, 9, &body)), Ok(Opened { sequence: 9, record: None }));
    }

    #[test]
    fn another_major_version_is_told_by_its_number() {
        assert_eq!(opened(&foreign(0x23, 1, 0, b"?")), Err(Unread::Version { major: 2, minor: 3 }));
    }

    #[test]
    fn a_whole_frame_with_half_a_body_is_malformed() {
        assert_eq!(opened(&foreign(0x10, 3, 4, &[1])), Err(Unread::Malformed { sequence: 4 }));
    }

    #[test]
    fn no_single_damaged_octet_escapes() {
        let frame = seal(7, &record()).unwrap();
        for at in 1..frame.len() - 1 {
            for flip in 1..=255 {
                let mut damaged = frame[1..frame.len() - 1].to_vec();
                damaged[at - 1] ^= flip;
                assert_eq!(open(&mut damaged), Err(Unread::Damaged), "octet {at}, {flip:#04x}");
            }
        }
    }

    #[test]
    fn what_is_no_frame_at_all_is_damaged() {
        for octets in [&b""[..], b"\x01", b"text", &[1; 600], &[0xff; 600], &[2, 0x10, 1]] {
            assert_eq!(open(&mut octets.to_vec()), Err(Unread::Damaged));
        }
    }
}
