//! From octets to records, whatever has become of the octets on their way.
//!
//! A frame is what stands between two delimiters and proves by its CRC that it is one. So a reader that comes
//! late, or loses octets, has all frames again from the next delimiter on, and a frame all of whose octets
//! arrive is never lost to what happened before or after it.

use super::Record;
use super::frame::{DELIMITER, LONGEST, Opened, Unread, open};
use core::fmt::{self, Display, Formatter};
use core::mem;

/// What was not read, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Octets of neither a record nor text: noise and what is left of damaged frames.
    pub octets: u64,
    /// Pieces between delimiters that are no frame, or no longer: damaged, cut, or too long.
    pub damaged: u64,
    /// Whole frames whose body is not what their kind says.
    pub malformed: u64,
    /// Whole frames of a kind that this version does not know.
    pub unknown: u64,
    /// Whole frames of another major version.
    pub foreign: u64,
    /// That version, major and minor, of the last of them.
    pub version: Option<(u8, u8)>,
    /// Records that were sent and not read, told by the gaps in their numbers; at least, as 256 lost in a row
    /// leave no gap.
    pub missing: u64,
    /// Octets of text between frames: a log on the same line, and no loss.
    pub text: u64,
}

/// Makes records of octets, one at a time.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    piece: heapless::Vec<u8, LONGEST>,
    /// Octets of the piece, those that found no room counted.
    length: u64,
    /// All of them can be text.
    text: bool,
    /// A delimiter has been seen: what comes now is whole.
    joined: bool,
    /// Sequence number and time of the last record.
    last: Option<(u8, u64)>,
    skipped: Skipped,
}

impl Decoder {
    /// Takes one octet; a record where it completes one.
    pub fn take(&mut self, octet: u8) -> Option<Record> {
        if octet == DELIMITER {
            return self.delimit();
        }
        self.text = is_text(octet) && (self.text || self.length == 0);
        self.length = self.length.saturating_add(1);
        // What finds no room is counted, and the piece is no frame any more.
        let _ = self.piece.push(octet);
        None
    }

    /// The line is cut off: nothing follows on what is here so far, and what comes next may be another box's.
    pub fn cut(&mut self) {
        let text = if self.text { self.length } else { 0 };
        self.skipped.text = self.skipped.text.saturating_add(text);
        self.skipped.octets = self.skipped.octets.saturating_add(self.length - text);
        *self = Self { skipped: self.skipped, ..Self::default() };
    }

    /// What was not read so far.
    #[must_use]
    pub const fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn delimit(&mut self) -> Option<Record> {
        let joined = mem::replace(&mut self.joined, true);
        let (length, text) = (mem::take(&mut self.length), mem::take(&mut self.text));
        let mut piece = mem::take(&mut self.piece);
        if text {
            self.skipped.text = self.skipped.text.saturating_add(length);
        } else if length > 0 {
            let whole = u64::try_from(piece.len()) == Ok(length);
            match if whole { open(&mut piece) } else { Err(Unread::Damaged) } {
                Ok(opened) => return self.read(opened),
                Err(unread) => self.skip(unread, length, joined),
            }
        }
        None
    }

    fn read(&mut self, Opened { sequence, record }: Opened) -> Option<Record> {
        self.number(sequence, record.as_ref().map(Record::at_ms));
        self.skipped.unknown += u64::from(record.is_none());
        record
    }

    /// Counts a piece of `length` octets that is no record; one that came before the first delimiter is but the
    /// end of something.
    fn skip(&mut self, unread: Unread, length: u64, joined: bool) {
        match unread {
            Unread::Damaged => {
                self.skipped.octets = self.skipped.octets.saturating_add(length);
                self.skipped.damaged += u64::from(joined);
            }
            Unread::Version { major, minor } => {
                self.skipped.foreign += 1;
                self.skipped.version = Some((major, minor));
            }
            Unread::Malformed { sequence } => {
                self.skipped.malformed += 1;
                self.number(sequence, None);
            }
        }
    }

    /// Counts the records between this one and the last. A box that has started anew counts anew, and its clock
    /// shows it; a record that is sent again has its number again.
    fn number(&mut self, sequence: u8, at_ms: Option<u64>) {
        let (last, last_ms) = self.last.unwrap_or((sequence, 0));
        let at_ms = at_ms.unwrap_or(last_ms);
        if at_ms >= last_ms {
            let gap = sequence.wrapping_sub(last).saturating_sub(1);
            self.skipped.missing += u64::from(gap);
        }
        self.last = Some((sequence, at_ms));
    }
}

const fn is_text(octet: u8) -> bool {
    matches!(octet, b' '..=b'~' | b'\t' | b'\r' | b'\n')
}

impl Skipped {
    /// Nothing was lost: text alone is no loss.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self { text: self.text, ..Self::default() }
    }
}

/// What is not 0, by name; "nothing" for nothing.
impl Display for Skipped {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.is_nothing() {
            return f.write_str("nothing");
        }
        let mut separator = "";
        for (what, count) in [
            ("damaged frames", self.damaged),
            ("octets of noise and damage", self.octets),
            ("malformed records", self.malformed),
            ("records of an unknown kind", self.unknown),
            ("records of another format", self.foreign),
            ("missing records", self.missing),
        ] {
            if count > 0 {
                write!(f, "{separator}{what} {count}")?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
