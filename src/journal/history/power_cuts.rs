//! Histories under thousands of power cuts, each against the account of what was appended.

use super::model::{Dice, Model};
use super::ring::{History, Kept, read};
use super::slot::SLOT;
use std::collections::BTreeMap;

/// Lives of a disk, and power cuts in each.
const LIVES: u64 = 2500;
const CUTS: usize = 8;

/// The longest record.
const MOST: usize = 1000;

/// One record that was handed over.
struct Handed {
    octets: Vec<u8>,
    is_durable: bool,
    /// Writes of the disk until then.
    writes: usize,
}

/// Everything that was handed over, by its run.
#[derive(Default)]
struct Account(BTreeMap<u32, Handed>);

impl Account {
    /// Appends a random record as the next run.
    fn append(&mut self, history: &mut History<&mut Model>, dice: &mut Dice) {
        let run = self.0.last_key_value().map_or(1, |(run, _)| run + 1);
        let length = dice.below(MOST + 1);
        let octets = dice.octets(length);
        let is_durable = history.append(run, &octets).is_ok();
        self.0.insert(run, Handed { octets, is_durable, writes: history.disk().writes });
    }

    /// The newest run that was reported durable.
    fn newest(&self) -> Option<u32> {
        self.0.iter().rev().find(|(_, handed)| handed.is_durable).map(|(run, _)| *run)
    }

    /// What is on the disk was handed over, in this order; what was durable is there.
    fn check(&self, disk: &Model, slots: usize, seed: u64) {
        let (records, survey) = read(disk).unwrap();
        assert!(records.is_sorted_by(before), "seed {seed}: out of order");
        for record in &records {
            let handed = self.0.get(&record.numbers.run);
            assert!(handed.is_some_and(|handed| handed.octets == record.octets), "seed {seed}: bogus");
        }
        let runs: Vec<_> = records.iter().map(|record| record.numbers.run).collect();
        let is_due = |handed: &Handed| handed.is_durable && disk.writes - handed.writes < slots;
        for (run, _) in self.0.iter().filter(|(_, handed)| is_due(handed)) {
            assert!(runs.contains(run), "seed {seed}: run {run} is lost; there are {runs:?}");
        }
        assert!(survey.newest.map(|newest| newest.run) >= self.newest(), "seed {seed}: runs begin anew");
        assert!(self.newest().is_none_or(|run| runs.contains(&run)), "seed {seed}: the newest is lost");
    }
}

fn before(a: &Kept, b: &Kept) -> bool {
    a.numbers < b.numbers && a.numbers.run < b.numbers.run
}

/// Opens, appends and closes until the power is cut, several times; tells how many records became durable.
fn live(seed: u64, media: Vec<u8>, fails_once_in: usize) -> usize {
    let mut dice = Dice::new(seed);
    let slots = media.len() / SLOT;
    let mut disk = Model::new(seed + 1_000_000, media);
    disk.fails_once_in = fails_once_in;
    let mut account = Account::default();
    for _ in 0..CUTS {
        disk.cut_after(1 + dice.below(3 * slots));
        while disk.has_power() {
            append_some(&mut disk, &mut account, &mut dice);
        }
        disk.power_cycle();
        account.check(&disk, slots, seed);
    }
    disk.fails_once_in = 0;
    append_some(&mut disk, &mut account, &mut dice);
    account.check(&disk, slots, seed);
    let newest = account.0.last_key_value().map(|(run, _)| *run);
    assert_eq!(account.newest(), newest, "seed {seed}: the next is saved");
    account.0.values().filter(|handed| handed.is_durable).count()
}

fn append_some(disk: &mut Model, account: &mut Account, dice: &mut Dice) {
    let mut history = History::open(&mut *disk).unwrap();
    for _ in 0..=dice.below(20) {
        account.append(&mut history, dice);
        if !history.disk().has_power() {
            break;
        }
    }
    disk.close();
}

#[test]
fn no_power_cut_loses_a_durable_record_or_makes_one_up() {
    let durable: usize = (0..LIVES).map(|seed| live(seed, blank(seed), 0)).sum();
    assert!(durable > 100_000, "{durable}");
}

#[test]
fn nor_on_a_disk_whose_writes_fail_now_and_then() {
    let durable: usize = (0..LIVES).map(|seed| live(seed, blank(seed), 3)).sum();
    assert!(durable > 100_000, "{durable}");
}

#[test]
fn nor_on_one_that_held_something_else() {
    let durable: usize = (0..100).map(|seed| live(seed, Dice::new(seed).octets(20 * SLOT), 5)).sum();
    assert!(durable > 1000, "{durable}");
}

fn blank(seed: u64) -> Vec<u8> {
    vec![0; (16 + usize::try_from(seed % 9).unwrap()) * SLOT]
}
