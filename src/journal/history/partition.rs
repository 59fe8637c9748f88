//! Where on this machine the history's partition is, without help: no program but this one runs on the box.
//!
//! Each disk's own table is read, and the kernel's view in sysfs taken only for the partition's name.

use super::disk::{Disk, Part, open_to_read, open_to_write};
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

/// The history in the file or on the device at `path`: of a whole stick, or its image, the partition; else all of it.
///
/// # Errors
/// The kernel's; and where there is a partition table without such a partition.
pub fn within(path: &Path) -> io::Result<Part<File>> {
    let disk = open_to_read(path)?;
    let size = Disk::size(&disk)?;
    // The table is where the disk's sectors put it, and a file does not tell how large they are.
    let table = [SYSFS_SECTOR, 4096].into_iter().find_map(|sector| gpt::entries(&disk, sector).ok());
    let Some(entries) = table else { return Ok(Part::new(disk, 0, size)) };
    let entry = entries.iter().find(|entry| entry.kind == TYPE).ok_or_else(|| {
        io::Error::other(format!("none of its {} partitions is of type {TYPE_TEXT}", entries.len()))
    })?;
    Ok(Part::new(disk, entry.start, entry.size))
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

#[cfg(test)]
mod tests {
    use super::super::gpt::tests::stick;
    use super::*;

    #[test]
    fn in_the_image_of_a_whole_stick_the_partition_is_found_and_in_anything_else_all_of_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stick.img");
        let mut image = stick();
        image[133_120 * 512..][..4].copy_from_slice(b"ring");
        fs::write(&path, &image).unwrap();
        let part = within(&path).unwrap();
        let mut octets = [0; 4];
        part.read_at(&mut octets, 0).unwrap();
        assert_eq!((part.size().unwrap(), &octets), (32_768 * 512, b"ring"));
        fs::write(&path, b"no table at all").unwrap();
        assert_eq!(within(&path).unwrap().size().unwrap(), 15);
    }

    /// A machine's /sys and /dev.
    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new() -> Self {
            let machine = Self(tempfile::tempdir().unwrap());
            fs::create_dir_all(machine.class()).unwrap();
            fs::create_dir(machine.dev()).unwrap();
            machine
        }

        fn class(&self) -> PathBuf {
            self.sys().join("class/block")
        }

        fn sys(&self) -> PathBuf {
            self.0.path().join("sys")
        }

        fn dev(&self) -> PathBuf {
            self.0.path().join("dev")
        }

        fn put(&self, folder: &Path, files: &[(&str, u64)]) {
            fs::create_dir_all(folder).unwrap();
            files
                .iter()
                .for_each(|(file, number)| fs::write(folder.join(file), format!("{number}\n")).unwrap());
        }

        /// A disk that holds `octets`.
        fn disk(&self, name: &str, removable: u64, octets: &[u8]) {
            let sectors = u64::try_from(octets.len()).unwrap() / 512;
            self.put(&self.class().join(name), &[("removable", removable), ("size", sectors)]);
            fs::write(self.dev().join(name), octets).unwrap();
        }

        /// What the kernel shows of the stick's second partition, in both places.
        fn partition(&self, disk: &str, name: &str, start: u64) {
            let files = [("partition", 2), ("start", start), ("size", 32768)];
            self.put(&self.class().join(disk).join(name), &files);
            self.put(&self.class().join(name), &files);
            fs::write(self.dev().join(name), vec![0; 16 << 20]).unwrap();
        }

        fn stick(&self, disk: &str, removable: u64, partition: &str) {
            self.disk(disk, removable, &stick());
            self.partition(disk, partition, 133_120);
        }

        fn find(&self) -> Result<String, String> {
            let path = find(&self.sys(), &self.dev()).map_err(|error| error.to_string())?;
            Ok(path.strip_prefix(self.dev()).unwrap().display().to_string())
        }
    }

    #[test]
    fn the_partition_is_found_by_its_type_and_opened() {
        let machine = Machine::new();
        machine.disk("nvme0n1", 0, &[0; 1 << 20]);
        machine.stick("sda", 1, "sda2");
        assert_eq!(machine.find(), Ok("sda2".to_owned()));
        let history = open(&machine.sys(), &machine.dev()).unwrap();
        assert_eq!((history.survey().slots, history.survey().newest), (4096, None));
    }

    #[test]
    fn a_removable_disk_goes_first_and_then_the_first_by_name() {
        let machine = Machine::new();
        machine.stick("sdb", 0, "sdb2");
        machine.stick("sda", 0, "sda2");
        assert_eq!(machine.find(), Ok("sda2".to_owned()));
        machine.stick("sdc", 1, "sdc2");
        assert_eq!(machine.find(), Ok("sdc2".to_owned()));
    }

    #[test]
    fn what_is_not_found_is_told_disk_by_disk() {
        let machine = Machine::new();
        let none = format!("no disk in {}", machine.class().display());
        assert_eq!(machine.find(), Err(none));
        machine.disk("sda", 1, b"");
        assert!(machine.find().unwrap_err().starts_with("no disk in "), "a reader without a card is none");
        machine.disk("sdb", 1, &[0; 1 << 16]);
        machine.disk("sdc", 0, &stick());
        machine.partition("sdc", "sdc2", 2048);
        let why = "no partition of type 6C696E65-6761-7567-6548-4953544F5259: sdb: no GUID partition table; \
                   sdc: partition 2 is in its table, and not among the kernel's";
        assert_eq!(machine.find(), Err(why.to_owned()));
        fs::remove_file(machine.dev().join("sdb")).unwrap();
        assert!(machine.find().unwrap_err().contains("sdb: No such file or directory"));
    }

    #[test]
    fn a_partition_that_does_not_open_is_named() {
        let machine = Machine::new();
        machine.stick("sda", 1, "sda2");
        let refusal = || open(&machine.sys(), &machine.dev()).map(drop).unwrap_err().to_string();
        let node = machine.dev().join("sda2");
        fs::write(&node, [0; 100]).unwrap();
        let small = format!("{}: 100 octets are too few: a history needs 65536", node.display());
        assert_eq!(refusal(), small);
        fs::remove_file(&node).unwrap();
        assert_eq!(refusal(), format!("{}: No such file or directory (os error 2)", node.display()));
    }

    #[test]
    fn the_type_is_the_one_in_its_text() {
        let digits: Vec<u8> = TYPE_TEXT.bytes().filter(|octet| *octet != b'-').collect();
        let octet = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        let octets: Vec<u8> = digits.chunks(2).map(octet).collect();
        // The first three numbers of a GUID are little-endian.
        let order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
        assert_eq!(order.map(|at| octets[at]), TYPE);
        assert!(include_str!("../../../image/parts/stick.sh").contains(TYPE_TEXT));
    }
}
