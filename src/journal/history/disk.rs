//! What a history is kept on: a partition, a file, or a model of them.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// Octets that stay.
pub trait Disk {
    /// How many octets there are.
    ///
    /// # Errors
    /// The disk's.
    fn size(&self) -> io::Result<u64>;

    /// Fills `octets` with what is there from octet `at` on.
    ///
    /// # Errors
    /// The disk's; `UnexpectedEof` behind its end.
    fn read_at(&self, octets: &mut [u8], at: u64) -> io::Result<()>;

    /// Writes `octets` from octet `at` on. They may not be durable yet.
    ///
    /// # Errors
    /// The disk's: some of them may be written.
    fn write_at(&mut self, octets: &[u8], at: u64) -> io::Result<()>;

    /// Makes durable what was written.
    ///
    /// # Errors
    /// The disk's: none of what was written since the last time may be.
    fn sync(&mut self) -> io::Result<()>;
}

impl Disk for File {
    /// By its end: the kernel gives block devices no length.
    fn size(&self) -> io::Result<u64> {
        let mut file = self;
        file.seek(SeekFrom::End(0))
    }

    fn read_at(&self, octets: &mut [u8], at: u64) -> io::Result<()> {
        self.read_exact_at(octets, at)
    }

    fn write_at(&mut self, octets: &[u8], at: u64) -> io::Result<()> {
        self.write_all_at(octets, at)
    }

    /// `fdatasync`: of a block device it writes back, and has the device empty its own cache.
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

impl<D: Disk + ?Sized> Disk for &mut D {
    fn size(&self) -> io::Result<u64> {
        (**self).size()
    }

    fn read_at(&self, octets: &mut [u8], at: u64) -> io::Result<()> {
        (**self).read_at(octets, at)
    }

    fn write_at(&mut self, octets: &[u8], at: u64) -> io::Result<()> {
        (**self).write_at(octets, at)
    }

    fn sync(&mut self) -> io::Result<()> {
        (**self).sync()
    }
}

/// A part of a disk.
#[derive(Debug)]
pub struct Part<D> {
    disk: D,
    start: u64,
    size: u64,
}

impl<D: Disk> Part<D> {
    /// The `size` octets of `disk` from octet `start` on.
    pub const fn new(disk: D, start: u64, size: u64) -> Self {
        Self { disk, start, size }
    }

    /// The place on the disk; an error behind the end of the part.
    fn place(&self, octets: usize, at: u64) -> io::Result<u64> {
        let end = u64::try_from(octets).ok().and_then(|octets| at.checked_add(octets));
        let inside = end.is_some_and(|end| end <= self.size);
        let place = if inside { self.start.checked_add(at) } else { None };
        place.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

impl<D: Disk> Disk for Part<D> {
    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }

    fn read_at(&self, octets: &mut [u8], at: u64) -> io::Result<()> {
        self.disk.read_at(octets, self.place(octets.len(), at)?)
    }

    fn write_at(&mut self, octets: &[u8], at: u64) -> io::Result<()> {
        let place = self.place(octets.len(), at)?;
        self.disk.write_at(octets, place)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.sync()
    }
}

/// Opens the file or device at `path` to append to it. It has to be there.
///
/// # Errors
/// The kernel's: `EBUSY` where it is mounted, `EROFS` where it is write-protected.
pub fn open_to_write(path: &Path) -> io::Result<File> {
    // Of a device, O_EXCL without O_CREAT asks that nothing in the kernel uses it.
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_EXCL).open(path)
}

/// Opens the file or device at `path` to read it.
///
/// # Errors
/// The kernel's.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    // A pipe would wait for its writer.
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn a_file_keeps_what_is_written_where_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk");
        std::fs::write(&path, [0; 100]).unwrap();
        let mut file = open_to_write(&path).unwrap();
        Disk::write_at(&mut file, b"abc", 97).unwrap();
        file.sync().unwrap();
        assert_eq!(file.size().unwrap(), 100);
        let mut octets = [0; 4];
        Disk::read_at(&open_to_read(&path).unwrap(), &mut octets, 96).unwrap();
        assert_eq!(&octets, b"\0abc");
        assert_eq!(Disk::read_at(&file, &mut octets, 97).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_part_has_its_own_octets_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk");
        std::fs::write(&path, b"0123456789").unwrap();
        let mut part = Part::new(open_to_write(&path).unwrap(), 3, 4);
        assert_eq!(part.size().unwrap(), 4);
        let mut octets = [0; 2];
        part.read_at(&mut octets, 2).unwrap();
        assert_eq!(&octets, b"56");
        part.write_at(b"x", 3).unwrap();
        part.sync().unwrap();
        for at in [3, 4, u64::MAX] {
            assert_eq!(part.read_at(&mut octets, at).unwrap_err().kind(), ErrorKind::UnexpectedEof);
            assert_eq!(part.write_at(b"yy", at).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"012345x789");
    }

    #[test]
    fn what_is_not_there_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk");
        assert_eq!(open_to_write(&path).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(!path.exists());
    }
}
