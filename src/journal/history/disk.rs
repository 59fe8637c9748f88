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
    File::open(path)
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
    fn what_is_not_there_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk");
        assert_eq!(open_to_write(&path).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(!path.exists());
    }
}
