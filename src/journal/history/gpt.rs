//! Partition tables of the GUID kind (UEFI specification 2.10, section 5.3): which partitions there are.

use super::disk::Disk;
use crc::{CRC_32_ISO_HDLC, Crc};
use std::io;
use std::ops::Range;

/// What a header begins with.
const SIGNATURE: &[u8; 8] = b"EFI PART";

/// Octets of a header that the specification names.
const HEADER: usize = 92;
const HEADER_SIZE: Range<usize> = 12..16;
const HEADER_CHECK: Range<usize> = 16..20;
const MY_SECTOR: Range<usize> = 24..32;
const ENTRIES_SECTOR: Range<usize> = 72..80;
const ENTRY_COUNT: Range<usize> = 80..84;
const ENTRY_SIZE: Range<usize> = 84..88;
const ENTRIES_CHECK: Range<usize> = 88..92;

/// Octets of an entry, as Linux wants it.
const ENTRY: usize = 128;
const FIRST_SECTOR: Range<usize> = 32..40;
const LAST_SECTOR: Range<usize> = 40..48;

/// More entries than any tool makes: 128 is usual.
const MOST_ENTRIES: usize = 4096;

const CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// A partition type, in the order of the octets on the disk.
pub(super) type Type = [u8; 16];

/// One partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its number, from 1.
    pub number: usize,
    /// Its type.
    pub kind: Type,
    /// Where it begins, in octets.
    pub start: u64,
    /// How long it is, in octets.
    pub size: u64,
}

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoTable {
    /// The disk does not read.
    #[error("cannot be read: {0}")]
    Disk(#[from] io::Error),
    /// Nothing of the kind.
    #[error("no GUID partition table")]
    Absent,
    /// There is one, and its copy is no better.
    #[error("its GUID partition table is damaged")]
    Damaged,
}

/// The partitions of `disk`, whose sectors have so many octets: by the table at its begin, else by the copy at its
/// end.
///
/// # Errors
/// See [`NoTable`]; of the table, where the copy is not there either.
pub(super) fn entries(disk: &impl Disk, sector: u64) -> Result<Vec<Entry>, NoTable> {
    let last = disk.size()?.checked_div(sector).unwrap_or(0).saturating_sub(1);
    table(disk, sector, 1).or_else(|error| table(disk, sector, last).map_err(|_| error))
}

/// The table whose header is in sector `header`.
fn table(disk: &impl Disk, sector: u64, header: u64) -> Result<Vec<Entry>, NoTable> {
    let mut octets = [0; HEADER];
    disk.read_at(&mut octets, header.saturating_mul(sector))?;
    if !octets.starts_with(SIGNATURE) {
        return Err(NoTable::Absent);
    }
    let (at, count, check) = array(octets, header).ok_or(NoTable::Damaged)?;
    let mut array = vec![[0; ENTRY]; count];
    disk.read_at(array.as_flattened_mut(), at.saturating_mul(sector))?;
    if CRC32.checksum(array.as_flattened()) != check {
        return Err(NoTable::Damaged);
    }
    Ok((1..).zip(&array).filter_map(|(number, octets)| entry(number, octets, sector)).collect())
}

/// Sector, length and check of the entries, of a header that is whole.
fn array(mut header: [u8; HEADER], my_sector: u64) -> Option<(u64, usize, u32)> {
    let check = u32_at(&header, HEADER_CHECK)?;
    header[HEADER_CHECK].fill(0);
    let count = usize::try_from(u32_at(&header, ENTRY_COUNT)?).ok()?;
    let is_whole = usize::try_from(u32_at(&header, HEADER_SIZE)?) == Ok(HEADER)
        && CRC32.checksum(&header) == check
        && u64_at(&header, MY_SECTOR)? == my_sector
        && usize::try_from(u32_at(&header, ENTRY_SIZE)?) == Ok(ENTRY)
        && count <= MOST_ENTRIES;
    is_whole.then_some((u64_at(&header, ENTRIES_SECTOR)?, count, u32_at(&header, ENTRIES_CHECK)?))
}

/// The partition of an entry; none where it is free or ends before it begins.
fn entry(number: usize, octets: &[u8; ENTRY], sector: u64) -> Option<Entry> {
    let kind: Type = *octets.first_chunk()?;
    let (first, last) = (u64_at(octets, FIRST_SECTOR)?, u64_at(octets, LAST_SECTOR)?);
    let size = last.checked_sub(first)?.checked_add(1)?.checked_mul(sector)?;
    let start = first.checked_mul(sector)?;
    (kind != [0; 16]).then_some(Entry { number, kind, start, size })
}

fn u32_at(octets: &[u8], at: Range<usize>) -> Option<u32> {
    Some(u32::from_le_bytes(octets.get(at)?.try_into().ok()?))
}

fn u64_at(octets: &[u8], at: Range<usize>) -> Option<u64> {
    Some(u64::from_le_bytes(octets.get(at)?.try_into().ok()?))
}
