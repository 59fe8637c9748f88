//! Records: what a run has come to, for programs. Versioned, checked, and readable whatever has become of the
//! line.
//!
//! # The wire
//! ```text
//! frame   = 0x00 COBS( version kind sequence body crc ) 0x00     at most 512 octets between its delimiters
//! version = u8      major in the high four bits, minor in the low four: 0x10
//! kind    = u8      what the body is; the numbers are in `body`
//! sequence = u8     counts this sender's records, modulo 256
//! body    = postcard of the struct of that kind, then what newer minor versions add
//! crc     = u32     CRC-32 (ISO-HDLC, as in 802.3) of all before it, least significant octet first
//! ```
//! COBS leaves no 0x00 in a frame, and each frame brings a delimiter before and after it. So records can share a
//! line with a text log, and a reader is in step again with the next frame, wherever it joins and whatever it
//! lost.
//!
//! # What may change
//! A number is never given to anything else, a struct never changes. A new minor version adds kinds of record,
//! reasons, figures at the end of a reason, and octets at the end of a body; a reader skips and counts the kinds
//! that it does not know and ignores the rest. Anything else is a new major version, and a reader refuses those
//! by name. `tests/golden/records-1.0.txt` has the octets of version 1.0.
//!
//! # On the box
//! A [`Recorder`] is fed events and gives at most one frame an event. Whoever keeps a backlog keeps frames or events, but
//! gives an event to its recorder once: records are numbered as they are made.

pub mod body;
pub(super) mod codes;
mod decoder;
pub(super) mod frame;
mod reason;
mod recorder;
mod summary;

pub use body::Record;
pub use decoder::{Decoder, Skipped};
pub use frame::{DELIMITER, Frame, LONGEST, MAJOR, MINOR, SUMMARY_BELOW};
pub use reason::CodedReason;
pub use recorder::Recorder;

#[cfg(test)]
mod tests;
