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

#[cfg(test)]
pub(super) mod tests {
    use super::super::model::Model;
    use super::super::partition::TYPE;
    use super::*;
    use proptest::prelude::*;

    /// The type of an EFI system partition, C12A7328-F81F-11D2-BA4B-00A0C93EC93B.
    const ESP: Type = *b"\x28\x73\x2A\xC1\x1F\xF8\xD2\x11\xBA\x4B\x00\xA0\xC9\x3E\xC9\x3B";

    /// The stick's own identifier, and those of its partitions but for their last octet.
    const STICK: [u8; 16] = *b"\x0E\x7F\x1A\x6C\x2B\x9E\x37\x4A\x8E\x52linega";

    const SECTOR: usize = 512;
    const ENTRIES: usize = 128;

    /// Type, first and last sector, last octet of the identifier, name.
    type Row = (Type, u64, u64, u8, &'static str);

    /// What image/parts/stick.sh asks for.
    const ROWS: [Row; 2] =
        [(ESP, 2048, 133_119, b'b', "linegauge"), (TYPE, 133_120, 165_887, b'c', "linegauge history")];

    /// Sectors of the stick.
    const SECTORS: usize = 167_936;

    fn array_of(rows: &[Row]) -> Vec<u8> {
        let mut array = vec![0; ENTRIES * ENTRY];
        for (entry, (kind, first, last, id, name)) in array.chunks_exact_mut(ENTRY).zip(rows) {
            entry[..16].copy_from_slice(kind);
            entry[16..32].copy_from_slice(&STICK);
            entry[31] = *id;
            entry[FIRST_SECTOR].copy_from_slice(&first.to_le_bytes());
            entry[LAST_SECTOR].copy_from_slice(&last.to_le_bytes());
            let name = name.encode_utf16().flat_map(u16::to_le_bytes);
            entry[56..].iter_mut().zip(name).for_each(|(octet, letter)| *octet = letter);
        }
        array
    }

    fn header_of(array: &[u8], my: usize, other: usize, entries: usize, sectors: usize) -> [u8; HEADER] {
        let usable = [2048, sectors - 34];
        let places = [my, other].into_iter().chain(usable).flat_map(|place| (place as u64).to_le_bytes());
        let mut header = [SIGNATURE.as_slice(), b"\0\0\x01\0\x5C\0\0\0\0\0\0\0\0\0\0\0"].concat();
        header.extend(places);
        header.extend(STICK);
        header.extend((entries as u64).to_le_bytes());
        header.extend([128_u32, 128, CRC32.checksum(array)].iter().flat_map(|n| n.to_le_bytes()));
        let check = CRC32.checksum(&header);
        header[HEADER_CHECK].copy_from_slice(&check.to_le_bytes());
        header.try_into().unwrap()
    }

    /// A disk of so many sectors with these partitions, as sfdisk lays it out.
    fn image(rows: &[Row], sectors: usize) -> Vec<u8> {
        let array = array_of(rows);
        let mut disk = vec![0; sectors * SECTOR];
        let mut put = |sector: usize, octets: &[u8]| {
            disk[sector * SECTOR..sector * SECTOR + octets.len()].copy_from_slice(octets);
        };
        put(1, &header_of(&array, 1, sectors - 1, 2, sectors));
        put(2, &array);
        put(sectors - 33, &array);
        put(sectors - 1, &header_of(&array, sectors - 1, 1, sectors - 33, sectors));
        disk
    }

    /// The stick, without what is in its partitions.
    pub fn stick() -> Vec<u8> {
        image(&ROWS, SECTORS)
    }

    fn small() -> Vec<u8> {
        image(&[(TYPE, 40, 71, b'b', "small")], 256)
    }

    fn of(disk: Vec<u8>) -> Result<Vec<Entry>, String> {
        entries(&Model::new(1, disk), 512).map_err(|error| error.to_string())
    }

    fn both() -> Vec<Entry> {
        let entry = |number, kind, start, size| Entry { number, kind, start, size };
        vec![entry(1, ESP, 1 << 20, 64 << 20), entry(2, TYPE, 65 << 20, 16 << 20)]
    }

    /// The headers' octets are those that sfdisk 2.38.1 writes for image/parts/stick.sh.
    #[test]
    fn the_sticks_table_is_read_as_sfdisk_writes_it() {
        let stick = stick();
        let hex = |octets: &[u8]| octets.iter().map(|octet| format!("{octet:02x}")).collect::<String>();
        let primary = "4546492050415254000001005c00000055f629ac000000000100000000000000ff8f0200000000000008000000000000\
                       de8f0200000000000e7f1a6c2b9e374a8e526c696e65676102000000000000008000000080000000d9b90489";
        let copy = "4546492050415254000001005c0000001a765ec300000000ff8f02000000000001000000000000000008000000000000\
                    de8f0200000000000e7f1a6c2b9e374a8e526c696e656761df8f0200000000008000000080000000d9b90489";
        assert_eq!(hex(&stick[SECTOR..SECTOR + HEADER]), primary);
        assert_eq!(hex(&stick[(SECTORS - 1) * SECTOR..][..HEADER]), copy);
        assert_eq!(of(stick), Ok(both()));
    }

    #[test]
    fn a_copy_serves_where_the_table_is_damaged() {
        for octet in [SECTOR, SECTOR + 60, 2 * SECTOR + 5] {
            let mut disk = small();
            disk[octet] ^= 1;
            assert_eq!(of(disk), of(small()), "octet {octet}");
        }
    }

    #[test]
    fn on_a_larger_stick_the_copy_is_not_needed() {
        let mut disk = small();
        disk.resize(disk.len() + 100 * SECTOR, 0);
        assert_eq!(of(disk), of(small()));
    }

    #[test]
    fn what_has_no_table_says_so() {
        assert_eq!(of(vec![0; 64 * SECTOR]), Err("no GUID partition table".to_owned()));
        let mut disk = small();
        disk[SECTOR + 60] ^= 1;
        disk[255 * SECTOR + 60] ^= 1;
        assert_eq!(of(disk), Err("its GUID partition table is damaged".to_owned()));
        assert!(of(vec![]).unwrap_err().starts_with("cannot be read: "));
    }

    #[test]
    fn sectors_of_another_size_are_another_table() {
        let disk = Model::new(1, small());
        assert!(matches!(entries(&disk, 4096), Err(NoTable::Absent)));
        assert!(entries(&disk, 0).is_err() && entries(&disk, u64::MAX).is_err());
    }

    #[test]
    fn an_entry_that_ends_before_it_begins_is_none() {
        let rows = [(TYPE, 71, 40, b'b', ""), (ESP, 0, u64::MAX, b'c', ""), (TYPE, 40, 40, b'd', "")];
        let entries = of(image(&rows, 256)).unwrap();
        assert_eq!(entries, [Entry { number: 3, kind: TYPE, start: 40 * 512, size: 512 }]);
    }

    proptest! {
        #[test]
        fn no_octets_are_too_odd_to_look_at(
            noise in prop::collection::vec((0..256 * SECTOR, any::<u8>()), 0..20),
            header in prop::collection::vec((16..HEADER, any::<u8>()), 0..8),
        ) {
            let mut disk = small();
            noise.into_iter().for_each(|(at, octet)| disk[at] = octet);
            let whole: Vec<u8> = disk[SECTOR..SECTOR + HEADER].to_vec();
            header.into_iter().for_each(|(at, octet)| disk[SECTOR + at] = octet);
            disk[SECTOR..][HEADER_CHECK].fill(0);
            let check = CRC32.checksum(&disk[SECTOR..SECTOR + HEADER]);
            disk[SECTOR..][HEADER_CHECK].copy_from_slice(&check.to_le_bytes());
            let found = of(disk);
            prop_assert!(found.is_ok() || found.is_err_and(|why| !why.contains('\n')), "{:?}", whole);
        }
    }
}
