//! The history: the last results, kept across power cuts on a raw partition of the stick, or in a file.
//!
//! - [`Disk`]: what it is kept on;
//! - [`History`], [`read`]: the ring of records;
//! - [`Keeper`], [`Ticket`]: the thread that writes them, so that a slow disk holds up nobody;
//! - [`partition`]: where on this machine the partition is.
//!
//! # Layout
//! The disk is a ring of slots of 4096 octets, a record in each. That is the unit in which Linux writes back a
//! partition of whole 4 KiB, and the largest physical sector of today's disks: so whatever a power cut leaves of a
//! slot being written, no other slot was on its way. A slot is written once a lap, over the oldest record.
//!
//! # What it promises
//! - A record whose [`History::append`] came back without an error is read back, octet by octet, until as many
//!   later records are appended as there are slots, but for the [`TRIES`] slots that may be in use at that moment.
//! - What is read back was appended. Half a record, or anything else, is counted and left out.
//! - Both hold whatever a power cut does to writes that were not yet synced: loses, reorders or tears them.
//!
//! The disk's word is taken when it says that a record is durable: one that lies loses what it lied about. Many USB
//! sticks tell of no cache of their own, and then a write that is done counts as durable.
//!
//! # What it costs
//! - To open it, the whole ring is read once in sequence: 16 MiB take about half a second on USB 2 (30 MB/s), the
//!   second time about ten milliseconds, from the page cache. A binary search would do with a dozen reads, and would
//!   have to guess around damaged slots. Nobody waits for it but the first record.
//! - An append is one write of 4 KiB and one flush.
//! - 16 MiB hold 4096 records. As they are written in sequence, flash erases each of its blocks about once a lap.
//!   At 1000 erases that is 4 million runs: 14 years of 800 a day, or 4 years of one each 30 s without a pause.

mod disk;
mod gpt;
mod keeper;
#[cfg(test)]
mod model;
pub mod partition;
#[cfg(test)]
mod power_cuts;
mod ring;
mod slot;

pub use disk::{Disk, Part, open_to_read, open_to_write};
pub use keeper::{Keeper, News, PATIENCE, Saving, Ticket};
pub use ring::{History, Kept, NotOpened, NotSaved, Survey, TRIES, read};
pub use slot::{MOST_OCTETS, Numbers, SLOT};
