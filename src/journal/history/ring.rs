//! The ring of slots: read as a whole, appended to behind the newest record.

use super::disk::Disk;
use super::slot::{MOST_OCTETS, Numbers, SLOT, Slot, decode, encode};
use std::io;

/// Slots that one append may use: a bad spot on the disk costs some of these, and no record.
pub const TRIES: u32 = 4;

/// With fewer slots, an append could come too near to the newest records.
const LEAST_SLOTS: u32 = 16;

/// More are not used: reading the ring has to come to an end. 64 MiB.
const MOST_SLOTS: u32 = 16384;

/// Slots that are read at once.
const AT_ONCE: u32 = 64;

/// A disk on which so many slots in a row cannot be read is dead: each may have cost half a minute.
const DEAD: u32 = 16;

/// Octets of a slot, as places on a disk are counted.
const STEP: u64 = SLOT as u64;

const LEAST_OCTETS: u64 = LEAST_SLOTS as u64 * STEP;

/// Why a disk holds no history. Each is one line.
#[derive(Debug, thiserror::Error)]
pub enum NotOpened {
    /// Its size cannot be had.
    #[error("size: {0}")]
    Size(io::Error),
    /// There is not enough of it.
    #[error("{0} octets are too few: a history needs {LEAST_OCTETS}")]
    TooSmall(u64),
    /// It does not read.
    #[error("cannot be read at octet {at}: {source}")]
    Dead {
        /// The place of the last attempt.
        at: u64,
        /// What the disk said of it.
        source: io::Error,
    },
}

/// Why a record was not saved. Each is one line.
#[derive(Debug, thiserror::Error)]
pub enum NotSaved {
    /// It does not fit a slot.
    #[error("a record of {0} octets is too long: {MOST_OCTETS} at most")]
    TooLong(usize),
    /// The disk did not take it.
    #[error("cannot be written at octet {at}: {source}")]
    Refused {
        /// The place of the last attempt.
        at: u64,
        /// What the disk said of it.
        source: io::Error,
    },
}

/// A record as it was appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its numbers.
    pub numbers: Numbers,
    /// Its octets.
    pub octets: Vec<u8>,
}

/// What was found on a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Slots there are: that many records can be kept.
    pub slots: u32,
    /// Slots with a record.
    pub records: u32,
    /// Slots with a record of a newer version, which is kept and not read.
    pub newer: u32,
    /// Slots that hold no whole record: cut off by a power cut, decayed, or never ours.
    pub damaged: u32,
    /// Slots that the disk does not read.
    pub unreadable: u32,
    /// The newest record's numbers, of whatever version: runs are counted on from it.
    pub newest: Option<Numbers>,
    /// The slot of that record.
    newest_slot: u32,
}

impl Survey {
    fn note(&mut self, index: u32, slot: Option<Slot<'_>>) {
        match slot {
            None => self.unreadable += 1,
            Some(Slot::Blank) => {}
            Some(Slot::Damaged) => self.damaged += 1,
            Some(Slot::Newer(numbers)) => {
                self.newer += 1;
                self.number(index, numbers);
            }
            Some(Slot::Record(numbers, _)) => {
                self.records += 1;
                self.number(index, numbers);
            }
        }
    }

    fn number(&mut self, index: u32, numbers: Numbers) {
        if self.newest.is_none_or(|newest| newest <= numbers) {
            (self.newest, self.newest_slot) = (Some(numbers), index);
        }
    }
}

/// Reads the records on `disk`, oldest first, and tells what else is there.
///
/// # Errors
/// See [`NotOpened`].
pub fn read(disk: &impl Disk) -> Result<(Vec<Kept>, Survey), NotOpened> {
    let mut kept = Vec::new();
    let survey = survey(disk, |numbers, octets| kept.push(Kept { numbers, octets: octets.to_vec() }))?;
    kept.sort_by_key(|record| record.numbers);
    // One that was written again, because the disk did not say that it had taken it.
    kept.dedup_by_key(|record| record.numbers);
    Ok((kept, survey))
}

/// A ring that is appended to. There must be no other for the same disk.
pub struct History<D> {
    disk: D,
    survey: Survey,
    /// The slot behind the newest durable record.
    next: u32,
    sequence: u64,
}

impl<D: Disk> History<D> {
    /// Finds the newest record on `disk`. A disk without any, blank or not, is an empty history.
    ///
    /// # Errors
    /// See [`NotOpened`].
    pub fn open(disk: D) -> Result<Self, NotOpened> {
        let survey = survey(&disk, |_, _| ())?;
        let (next, sequence) = match survey.newest {
            Some(newest) => (survey.newest_slot + 1, newest.sequence + 1),
            None => (0, 0),
        };
        Ok(Self { disk, survey, next, sequence })
    }

    /// What was found when it was opened.
    pub const fn survey(&self) -> &Survey {
        &self.survey
    }

    #[cfg(test)]
    pub(super) const fn disk(&self) -> &D {
        &self.disk
    }

    /// Reads the records, oldest first.
    ///
    /// # Errors
    /// See [`NotOpened`].
    pub fn records(&self) -> Result<Vec<Kept>, NotOpened> {
        read(&self.disk).map(|(records, _)| records)
    }

    /// Appends the record `octets` of run `run`, in place of the oldest where the ring is full. It is durable when
    /// this returns.
    ///
    /// # Errors
    /// See [`NotSaved`]. The record may still be read back, whole; the next one may be saved. However often this
    /// fails, it uses no slot but the [`TRIES`] behind the newest durable record.
    pub fn append(&mut self, run: u32, octets: &[u8]) -> Result<(), NotSaved> {
        let numbers = Numbers { sequence: self.sequence, run };
        let slot = encode(numbers, octets).ok_or(NotSaved::TooLong(octets.len()))?;
        // Whatever becomes of this one, no other may be taken for it.
        self.sequence += 1;
        let mut result = Ok(());
        for ahead in 0..TRIES {
            let index = (self.next + ahead) % self.survey.slots;
            result = self.put(index, &slot);
            if result.is_ok() {
                self.next = index + 1;
                break;
            }
        }
        result
    }

    fn put(&mut self, index: u32, slot: &[u8; SLOT]) -> Result<(), NotSaved> {
        let at = place(index);
        let refused = |source| NotSaved::Refused { at, source };
        self.disk.write_at(slot, at).map_err(refused)?;
        self.disk.sync().map_err(refused)
    }
}

/// Looks at every slot and hands out the records as they come.
fn survey(disk: &impl Disk, mut record: impl FnMut(Numbers, &[u8])) -> Result<Survey, NotOpened> {
    let mut survey = Survey { slots: slots(disk)?, ..Survey::default() };
    scan(disk, survey.slots, |index, octets| {
        let slot = octets.map(decode);
        survey.note(index, slot);
        if let Some(Slot::Record(numbers, octets)) = slot {
            record(numbers, octets);
        }
    })?;
    Ok(survey)
}

fn slots(disk: &impl Disk) -> Result<u32, NotOpened> {
    let size = disk.size().map_err(NotOpened::Size)?;
    let slots = u32::try_from(size / STEP).unwrap_or(MOST_SLOTS).min(MOST_SLOTS);
    if slots < LEAST_SLOTS { Err(NotOpened::TooSmall(size)) } else { Ok(slots) }
}

/// Reads all slots in sequence; none is handed out for one that cannot be read.
fn scan(
    disk: &impl Disk,
    slots: u32,
    mut visit: impl FnMut(u32, Option<&[u8; SLOT]>),
) -> Result<(), NotOpened> {
    let mut buffer = vec![[0; SLOT]; AT_ONCE as usize];
    let mut failed = 0;
    for first in (0..slots).step_by(AT_ONCE as usize) {
        let count = AT_ONCE.min(slots - first);
        let chunk = &mut buffer[..count as usize];
        let are_read = disk.read_at(chunk.as_flattened_mut(), place(first)).is_ok();
        for (index, octets) in (first..).zip(chunk) {
            let one = if are_read { Ok(()) } else { disk.read_at(octets, place(index)) };
            failed = if one.is_ok() { 0 } else { failed + 1 };
            match one {
                Err(source) if failed == DEAD => return Err(NotOpened::Dead { at: place(index), source }),
                one => visit(index, one.is_ok().then_some(&*octets)),
            }
        }
    }
    Ok(())
}

fn place(index: u32) -> u64 {
    u64::from(index) * STEP
}
