//! Where on this machine the history's partition is, without help: no program but this one runs on the box.
//!
//! Each disk's own table is read, and the kernel's view in sysfs taken only for the partition's name.

use super::disk::{open_to_read, open_to_write};
use super::gpt::{self, Entry, NoTable, Type};
use super::ring::{History, NotOpened};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The type of a history's partition, as `image/parts/stick.sh` gives it: `6C696E65-6761-7567-6548-4953544F5259`.
pub(super) const TYPE: Type = *b"enilaggueHISTORY";

/// The same, for a person.
const TYPE_TEXT: &str = "6C696E65-6761-7567-6548-4953544F5259";

/// What sysfs counts in, whatever the disk's sectors: octets.
const SYSFS_SECTOR: u64 = 512;

/// Why there is no history. Each is one line.
#[derive(Debug, thiserror::Error)]
pub enum NoHistory {
    /// There is nothing to look at.
    #[error("no disk in {0}")]
    NoDisk(PathBuf),
    /// None of the disks has it; what each has.
    #[error("no partition of type {TYPE_TEXT}: {0}")]
    NoPartition(String),
    /// The partition does not open.
    #[error("{path}: {source}")]
    Device {
        /// Its device node.
        path: PathBuf,
        /// The kernel's word.
        source: io::Error,
    },
    /// The partition holds none, and can hold none.
    #[error("{path}: {source}")]
    NotOpened {
        /// Its device node.
        path: PathBuf,
        /// What is wrong with it.
        source: NotOpened,
    },
}

/// Finds the partition and opens the history on it, with the kernel's trees at `sys` and `dev`.
///
/// # Errors
/// See [`NoHistory`].
pub fn open(sys: &Path, dev: &Path) -> Result<History<File>, NoHistory> {
    let path = find(sys, dev)?;
    let disk = open_to_write(&path).map_err(|source| NoHistory::Device { path: path.clone(), source })?;
    History::open(disk).map_err(|source| NoHistory::NotOpened { path, source })
}

/// The device node of the history's partition: on a removable disk where there is one, else on the first disk by name
/// that has it.
///
/// # Errors
/// See [`NoHistory`].
pub fn find(sys: &Path, dev: &Path) -> Result<PathBuf, NoHistory> {
    let class = sys.join("class/block");
    let mut reasons = Vec::new();
    for name in disks(&class) {
        match look(&class, dev, &name) {
            Ok(path) => return Ok(path),
            Err(reason) => reasons.push(format!("{name}: {reason}")),
        }
    }
    if reasons.is_empty() {
        Err(NoHistory::NoDisk(class))
    } else {
        Err(NoHistory::NoPartition(reasons.join("; ")))
    }
}

/// Disks with something in them, removable ones first.
fn disks(class: &Path) -> Vec<String> {
    let names = |folder: &Path| fs::read_dir(folder).into_iter().flatten().filter_map(|entry| entry.ok());
    let mut disks: Vec<_> = names(class)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| {
            let disk = class.join(name);
            !disk.join("partition").exists() && number(&disk.join("size")) != Some(0)
        })
        .map(|name| (number(&class.join(&name).join("removable")) != Some(1), name))
        .collect();
    disks.sort();
    disks.into_iter().map(|(_, name)| name).collect()
}

/// Why a disk is passed over.
#[derive(Debug, thiserror::Error)]
enum PassedOver {
    #[error("{0}")]
    NotOpened(#[from] io::Error),
    #[error("{0}")]
    NoTable(#[from] NoTable),
    #[error("{0} partitions, all of other types")]
    Others(usize),
    #[error("partition {0} is in its table, and not among the kernel's")]
    NotShown(usize),
}

fn look(class: &Path, dev: &Path, disk: &str) -> Result<PathBuf, PassedOver> {
    let folder = class.join(disk);
    let sector = number(&folder.join("queue/logical_block_size")).unwrap_or(SYSFS_SECTOR);
    let entries = gpt::entries(&open_to_read(&node(dev, disk))?, sector)?;
    let Some(entry) = entries.iter().find(|entry| entry.kind == TYPE) else {
        return Err(PassedOver::Others(entries.len()));
    };
    let name = shown(&folder, entry).ok_or(PassedOver::NotShown(entry.number))?;
    Ok(node(dev, &name))
}

/// The kernel's name of a partition: number, place and size have to be those of the table.
fn shown(disk: &Path, entry: &Entry) -> Option<String> {
    let octets = |file: PathBuf| number(&file)?.checked_mul(SYSFS_SECTOR);
    let is_it = |folder: &Path| {
        number(&folder.join("partition")) == u64::try_from(entry.number).ok()
            && octets(folder.join("start")) == Some(entry.start)
            && octets(folder.join("size")) == Some(entry.size)
    };
    let mut folders = fs::read_dir(disk).ok()?.filter_map(Result::ok);
    folders.find(|folder| is_it(&folder.path()))?.file_name().into_string().ok()
}

/// sysfs has an exclamation mark where the name in /dev has a folder.
fn node(dev: &Path, name: &str) -> PathBuf {
    dev.join(name.replace('!', "/"))
}

fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim_ascii().parse().ok()
}
