//! A block device that loses its power, and its temper, as real ones do.
//!
//! Reads see what was written. Until it is synced, each sector of each write is on its own: at a power cut it is
//! lost, lands in any order, or is torn at any octet into new and old, new and noise, or something unreadable.

use super::disk::Disk;
use nix::errno::Errno;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::BTreeSet;
use std::io;

/// Octets of a sector.
pub const SECTOR: usize = 512;

/// A seeded random choice.
pub struct Dice(Xoshiro256PlusPlus);

impl Dice {
    /// The same choices for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// One of `0..below`.
    pub fn below(&mut self, below: usize) -> usize {
        usize::try_from(self.0.next_u64() % u64::try_from(below).unwrap()).unwrap()
    }

    /// True once in `times`; never for 0.
    pub fn once_in(&mut self, times: usize) -> bool {
        times != 0 && self.below(times) == 0
    }

    /// So many random octets.
    pub fn octets(&mut self, count: usize) -> Vec<u8> {
        let mut octets = vec![0; count];
        self.0.fill_bytes(&mut octets);
        octets
    }
}

/// The device.
pub struct Model {
    dice: Dice,
    /// What stays.
    media: Vec<u8>,
    /// Sectors that do not read until they are written again.
    unreadable: BTreeSet<usize>,
    /// What reads see: the media and the writes upon it.
    cache: Vec<u8>,
    /// Sectors written and not synced, oldest first.
    pending: Vec<(usize, [u8; SECTOR])>,
    /// Writes and syncs until the power is cut.
    power: usize,
    /// One write or sync fails in so many; none for 0.
    pub fails_once_in: usize,
    /// Slot-sized writes begun.
    pub writes: usize,
}

impl Model {
    /// A device that holds `media`, with power.
    pub fn new(seed: u64, media: Vec<u8>) -> Self {
        Self {
            dice: Dice::new(seed),
            cache: media.clone(),
            media,
            unreadable: BTreeSet::new(),
            pending: Vec::new(),
            power: usize::MAX,
            fails_once_in: 0,
            writes: 0,
        }
    }

    /// Cuts the power in the middle of the write or sync that comes after so many.
    pub fn cut_after(&mut self, operations: usize) {
        self.power = operations;
    }

    /// Cuts the power now, unless that has been done, and gives it back.
    pub fn power_cycle(&mut self) {
        self.fall();
        self.power = usize::MAX;
    }

    /// Whether the power has not been cut.
    pub fn has_power(&self) -> bool {
        self.power > 0
    }

    /// The last user closes it: the kernel forgets what it holds and the device does not.
    pub fn close(&mut self) {
        self.fall();
    }

    /// Has the sector at octet `at` refuse to be read.
    pub fn spoil(&mut self, at: usize) {
        self.unreadable.insert(at / SECTOR);
    }

    /// What is written and not synced meets its fate, in any order; the cache is forgotten.
    fn fall(&mut self) {
        while !self.pending.is_empty() {
            let (sector, new) = self.pending.swap_remove(self.dice.below(self.pending.len()));
            self.land(sector, new);
        }
        self.cache.clone_from(&self.media);
    }

    fn land(&mut self, sector: usize, new: [u8; SECTOR]) {
        let from = sector * SECTOR;
        let torn = from + self.dice.below(SECTOR + 1);
        let old = &mut self.media[from..from + SECTOR];
        let (head, tail) = old.split_at_mut(torn - from);
        match self.dice.below(8) {
            0 | 1 => return,
            2..=4 => old.copy_from_slice(&new),
            5 => head.copy_from_slice(&new[..torn - from]),
            6 => {
                tail.copy_from_slice(&new[torn - from..]);
                head.copy_from_slice(&self.dice.octets(torn - from));
            }
            _ => {
                self.unreadable.insert(sector);
                return;
            }
        }
        self.unreadable.remove(&sector);
    }

    /// One write or sync begins: whether it comes to its end.
    fn begin(&mut self) -> io::Result<()> {
        if self.power == 0 {
            return Err(Errno::EIO.into());
        }
        self.power = self.power.saturating_sub(usize::from(self.power != usize::MAX));
        let fails = self.power == 0 || self.dice.once_in(self.fails_once_in);
        if fails { Err(Errno::EIO.into()) } else { Ok(()) }
    }
}

impl Disk for Model {
    fn size(&self) -> io::Result<u64> {
        Ok(u64::try_from(self.media.len()).unwrap())
    }

    fn read_at(&self, octets: &mut [u8], at: u64) -> io::Result<()> {
        let at = usize::try_from(at).unwrap();
        let end = at.saturating_add(octets.len());
        let sectors = at / SECTOR..end.div_ceil(SECTOR);
        if self.unreadable.range(sectors).next().is_some() {
            return Err(Errno::EIO.into());
        }
        let there = self.cache.get(at..end).ok_or(io::ErrorKind::UnexpectedEof)?;
        octets.copy_from_slice(there);
        Ok(())
    }

    fn write_at(&mut self, octets: &[u8], at: u64) -> io::Result<()> {
        if !self.has_power() {
            return Err(Errno::EIO.into());
        }
        let at = usize::try_from(at).unwrap();
        self.writes += 1;
        self.cache[at..at + octets.len()].copy_from_slice(octets);
        let (sectors, _) = octets.as_chunks::<SECTOR>();
        self.pending.extend((at / SECTOR..).zip(sectors.iter().copied()));
        self.begin()
    }

    /// One that fails leaves the kernel with nothing to write: what has not landed never will.
    fn sync(&mut self) -> io::Result<()> {
        if let Err(error) = self.begin() {
            let cache = self.cache.clone();
            self.fall();
            self.cache = cache;
            return Err(error);
        }
        for (sector, new) in self.pending.drain(..) {
            self.media[sector * SECTOR..(sector + 1) * SECTOR].copy_from_slice(&new);
            self.unreadable.remove(&sector);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(seed: u64) -> Model {
        let mut disk = Model::new(seed, vec![0; 8 * SECTOR]);
        disk.write_at(&[7; 4 * SECTOR], 0).unwrap();
        disk
    }

    #[test]
    fn what_was_synced_stays() {
        let mut disk = written(1);
        disk.sync().unwrap();
        disk.power_cycle();
        assert_eq!(disk.media[..4 * SECTOR], [7; 4 * SECTOR]);
        assert_eq!(disk.media[4 * SECTOR..], [0; 4 * SECTOR]);
    }

    #[test]
    fn what_was_not_synced_is_whole_lost_torn_or_unreadable() {
        let (mut whole, mut lost, mut torn, mut unreadable) = (0, 0, 0, 0);
        for seed in 0..100 {
            let mut disk = written(seed);
            disk.power_cycle();
            unreadable += disk.unreadable.len();
            for sector in disk.media.as_chunks::<SECTOR>().0.iter().take(4) {
                match sector.iter().filter(|&&octet| octet == 7).count() {
                    0 => lost += 1,
                    SECTOR => whole += 1,
                    _ => torn += 1,
                }
            }
            assert_eq!(disk.media[4 * SECTOR..], [0; 4 * SECTOR], "nothing else is touched");
        }
        assert!([whole, lost, torn, unreadable].iter().all(|&count| count > 20));
    }

    #[test]
    fn without_power_nothing_is_taken() {
        let mut disk = written(1);
        disk.cut_after(1);
        assert!(disk.sync().is_err() && disk.sync().is_err());
        assert!(disk.write_at(&[1; SECTOR], 0).is_err());
        disk.power_cycle();
        assert!(disk.write_at(&[1; SECTOR], 0).is_ok() && disk.sync().is_ok());
    }
}
