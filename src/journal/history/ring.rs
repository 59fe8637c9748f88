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
    kept.dedup();
    Ok((kept, survey))
}

/// A ring that is appended to. There must be no other for the same disk.
pub struct History<D> {
    disk: D,
    survey: Survey,
    /// The slot behind the newest durable record.
    next: u32,
    /// Of the next record. One that is not saved leaves it to its successor: were it skipped, the disk might keep
    /// a number from us that is higher than what is given out when it is opened again.
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
    /// this returns. A later run has a higher number.
    ///
    /// # Errors
    /// See [`NotSaved`]. The record may still be read back, whole: it comes before the next one, by its run. However
    /// often this fails, it uses no slot but the [`TRIES`] behind the newest durable record.
    pub fn append(&mut self, run: u32, octets: &[u8]) -> Result<(), NotSaved> {
        let numbers = Numbers { sequence: self.sequence, run };
        let slot = encode(numbers, octets).ok_or(NotSaved::TooLong(octets.len()))?;
        let mut result = Ok(());
        for ahead in 0..TRIES {
            let index = (self.next + ahead) % self.survey.slots;
            result = self.put(index, &slot);
            if result.is_ok() {
                self.next = index + 1;
                self.sequence += 1;
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

#[cfg(test)]
mod tests {
    use super::super::model::Model;
    use super::super::slot::encode_newer;
    use super::*;
    use nix::errno::Errno;
    use proptest::prelude::*;

    fn blank(slots: usize) -> Model {
        Model::new(1, vec![0; slots * SLOT])
    }

    fn runs(disk: &impl Disk) -> Vec<u32> {
        read(disk).unwrap().0.iter().map(|record| record.numbers.run).collect()
    }

    fn append(disk: &mut Model, runs: impl IntoIterator<Item = u32>) {
        let mut history = History::open(disk).unwrap();
        runs.into_iter().for_each(|run| history.append(run, &run.to_le_bytes()).unwrap());
    }

    /// The refusal of opening `disk`.
    fn refusal(disk: impl Disk) -> String {
        History::open(disk).map(drop).unwrap_err().to_string()
    }

    /// A disk that answers nothing but its size.
    struct Dead(u64);

    impl Disk for Dead {
        fn size(&self) -> io::Result<u64> {
            Ok(self.0)
        }
        fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<()> {
            Err(Errno::EIO.into())
        }
        fn write_at(&mut self, _: &[u8], _: u64) -> io::Result<()> {
            Err(Errno::EROFS.into())
        }
        fn sync(&mut self) -> io::Result<()> {
            Err(Errno::EIO.into())
        }
    }

    #[test]
    fn a_blank_disk_is_an_empty_history() {
        let mut disk = blank(16);
        let history = History::open(&mut disk).unwrap();
        assert_eq!(*history.survey(), Survey { slots: 16, ..Survey::default() });
        assert_eq!(history.records().unwrap(), []);
    }

    #[test]
    fn records_are_read_back_in_order_and_runs_are_counted_on() {
        let mut disk = blank(16);
        append(&mut disk, 1..=3);
        append(&mut disk, 4..=5);
        assert_eq!(runs(&disk), [1, 2, 3, 4, 5]);
        let (records, survey) = read(&disk).unwrap();
        assert_eq!(records[4].octets, 5_u32.to_le_bytes());
        assert_eq!(survey.newest, Some(Numbers { sequence: 4, run: 5 }));
    }

    #[test]
    fn a_full_ring_loses_its_oldest_and_wears_all_slots_alike() {
        let mut disk = blank(16);
        append(&mut disk, 1..=40);
        append(&mut disk, 41..=50);
        assert_eq!(runs(&disk), Vec::from_iter(35..=50));
        assert_eq!(disk.writes, 50, "one write a record");
    }

    #[test]
    fn a_torn_slot_is_counted_left_out_and_used_again() {
        let mut disk = blank(16);
        append(&mut disk, 1..=3);
        disk.write_at(&[0x55; 512], 2 * STEP).unwrap();
        let (records, survey) = read(&disk).unwrap();
        assert_eq!((records.len(), survey.damaged), (2, 1));
        append(&mut disk, [4]);
        assert_eq!(runs(&disk), [1, 2, 4]);
    }

    #[test]
    fn a_sector_that_does_not_read_costs_its_slot() {
        let mut disk = blank(16);
        append(&mut disk, 1..=5);
        disk.spoil(SLOT + 700);
        let survey = read(&disk).unwrap().1;
        assert_eq!((survey.records, survey.unreadable), (4, 1));
        assert_eq!(runs(&disk), [1, 3, 4, 5]);
    }

    #[test]
    fn records_of_a_newer_version_are_counted_on_from_and_kept_until_their_turn() {
        let mut disk = blank(16);
        append(&mut disk, 1..=3);
        let newer = encode_newer(Numbers { sequence: 3, run: 4 }, b"what may come");
        disk.write_at(&newer, 3 * STEP).unwrap();
        append(&mut disk, 5..=6);
        let (records, survey) = read(&disk).unwrap();
        assert_eq!((records.len(), survey.newer), (5, 1));
        assert_eq!(survey.newest, Some(Numbers { sequence: 5, run: 6 }));
        append(&mut disk, 7..=19);
        assert_eq!(read(&disk).unwrap().1.newer, 1);
        append(&mut disk, [20]);
        assert_eq!(read(&disk).unwrap().1.newer, 0);
    }

    #[test]
    fn a_disk_that_takes_nothing_costs_no_record_but_the_oldest_few() {
        let mut disk = blank(16);
        append(&mut disk, 1..=16);
        disk.fails_once_in = 1;
        let mut history = History::open(&mut disk).unwrap();
        (17..200).for_each(|run| assert!(history.append(run, b"lost").is_err()));
        disk.fails_once_in = 0;
        disk.power_cycle();
        let left: Vec<_> = runs(&disk).into_iter().filter(|run| *run <= 16).collect();
        assert!(left.ends_with(&Vec::from_iter(1 + TRIES..=16)), "{left:?}");
    }

    #[test]
    fn what_cannot_hold_a_history_says_why() {
        assert_eq!(refusal(blank(15)), "61440 octets are too few: a history needs 65536");
        assert_eq!(refusal(Dead(0)), "0 octets are too few: a history needs 65536");
        let dead = "cannot be read at octet 61440: Input/output error (os error 5)";
        assert_eq!(refusal(Dead(1 << 24)), dead);
    }

    #[test]
    fn what_is_not_saved_says_why() {
        let mut disk = blank(16);
        let mut history = History::open(&mut disk).unwrap();
        let long = history.append(1, &[0; MOST_OCTETS + 1]).unwrap_err();
        assert_eq!(long.to_string(), "a record of 4065 octets is too long: 4064 at most");
        disk.fails_once_in = 1;
        let refused = History::open(&mut disk).unwrap().append(1, b"").unwrap_err();
        assert!(refused.to_string().starts_with("cannot be written at octet 12288: "), "{refused}");
    }

    #[test]
    fn of_a_disk_that_is_too_large_the_begin_is_used() {
        assert_eq!(slots(&Dead(u64::MAX)).unwrap(), MOST_SLOTS);
    }

    /// A slot that is blank, noise, a record of any numbers, or a record with some octets changed.
    fn odd_slot() -> impl Strategy<Value = Vec<u8>> {
        let record = (0..1_u64 << 40, 0..1000_u32, prop::collection::vec(any::<u8>(), 0..64));
        let record = record
            .prop_map(|(sequence, run, octets)| encode(Numbers { sequence, run }, &octets).unwrap().to_vec());
        let changed = (record.clone(), prop::collection::vec((0..SLOT, any::<u8>()), 1..4));
        let changed = changed.prop_map(|(mut slot, changes)| {
            changes.into_iter().for_each(|(at, octet)| slot[at] = octet);
            slot
        });
        let noise = any::<[u8; 32]>().prop_map(|noise| noise.repeat(SLOT / 32));
        prop_oneof![Just(vec![0; SLOT]), noise, record, changed]
    }

    proptest! {
        #[test]
        fn no_octets_are_too_odd_to_open_and_append_to(
            slots in prop::collection::vec(odd_slot(), 16..24),
            rest in prop::collection::vec(any::<u8>(), 0..SLOT),
        ) {
            let mut disk = Model::new(1, [slots.concat(), rest].concat());
            let before = read(&disk).unwrap().0;
            append(&mut disk, [2000]);
            let (after, survey) = read(&disk).unwrap();
            prop_assert_eq!(survey.newest.map(|newest| newest.run), Some(2000));
            prop_assert_eq!(&after.last().unwrap().octets, &2000_u32.to_le_bytes());
            prop_assert!(after.len() >= before.len());
        }
    }
}
