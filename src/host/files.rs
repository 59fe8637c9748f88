//! Small text files of the kernel: what /sys tells and takes.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::str::FromStr;

/// Most octets that are read of one file. A sysfs file is at most a page, 4096 octets on x86.
const MOST_OCTETS: u64 = 64 << 10;

/// Files by path: the kernel's own, or a model of them.
pub trait Files {
    /// Reads a whole file.
    ///
    /// # Errors
    /// The kernel's; `InvalidData` where it is not UTF-8.
    fn read(&self, path: &Path) -> io::Result<String>;

    /// Writes a file that is there, in one piece.
    ///
    /// # Errors
    /// The kernel's.
    fn write(&self, path: &Path, text: &str) -> io::Result<()>;

    /// Names in a directory, in no order.
    ///
    /// # Errors
    /// The kernel's.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
}

impl<F: Files + ?Sized> Files for &F {
    fn read(&self, path: &Path) -> io::Result<String> {
        (**self).read(path)
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        (**self).write(path, text)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        (**self).list(path)
    }
}

/// The files that are really there.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealFiles;

impl Files for RealFiles {
    fn read(&self, path: &Path) -> io::Result<String> {
        let mut octets = Vec::new();
        File::open(path)?.take(MOST_OCTETS).read_to_end(&mut octets)?;
        String::from_utf8(octets).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        // One write call is one order to a sysfs attribute: the rest of a short write would be another.
        let written = OpenOptions::new().write(true).truncate(true).open(path)?.write(text.as_bytes())?;
        if written == text.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let names = std::fs::read_dir(path)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        Ok(names.collect())
    }
}

/// A whole number in decimal digits, white space around it left out; none for anything else, signs included.
#[must_use]
pub fn whole<T: FromStr>(text: &str) -> Option<T> {
    let digits = text.trim_ascii();
    digits.bytes().all(|octet| octet.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
pub(crate) mod model {
    //! A tree of files that answers as the kernel's do: with errors, late, or with something else.

    use super::{Files, whole};
    use nix::errno::Errno;
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::io;
    use std::path::{Path, PathBuf};
    use std::rc::Rc;

    /// What a file makes of a text written to it: the text it has then, or an error.
    type Taking = Rc<dyn Fn(&Tree, &str) -> Result<String, Errno>>;

    #[derive(Clone, Default)]
    struct Node {
        text: String,
        refuses_reading: Option<Errno>,
        taking: Option<Taking>,
        /// Reads that still give the old text after a write.
        lag: u32,
        late: Option<(u32, String)>,
    }

    /// The tree.
    #[derive(Default)]
    pub struct Tree {
        nodes: RefCell<BTreeMap<PathBuf, Node>>,
        links: Vec<(PathBuf, PathBuf)>,
        orders: RefCell<Vec<(String, String)>>,
    }

    impl Tree {
        /// Puts a file with `text` at `path`, in place of the one there.
        pub fn put(&self, path: impl AsRef<Path>, text: impl ToString) {
            let node = Node { text: text.to_string(), ..Node::default() };
            self.nodes.borrow_mut().insert(self.resolve(path.as_ref()), node);
        }

        /// Changes the text of a file behind everybody's back.
        pub fn change(&self, path: impl AsRef<Path>, text: impl ToString) {
            self.alter(path.as_ref(), |node| node.text = text.to_string());
        }

        /// Takes a file away.
        pub fn remove(&self, path: impl AsRef<Path>) {
            self.nodes.borrow_mut().remove(&self.resolve(path.as_ref()));
        }

        /// Has reads of a file fail.
        pub fn refuse_reading(&self, path: impl AsRef<Path>, errno: Errno) {
            self.alter(path.as_ref(), |node| node.refuses_reading = Some(errno));
        }

        /// Has `taking` decide what becomes of a write.
        pub fn on_write(
            &self,
            path: impl AsRef<Path>,
            taking: impl Fn(&Tree, &str) -> Result<String, Errno> + 'static,
        ) {
            self.alter(path.as_ref(), |node| node.taking = Some(Rc::new(taking)));
        }

        /// Has a file show a write only after so many reads.
        pub fn lag(&self, path: impl AsRef<Path>, reads: u32) {
            self.alter(path.as_ref(), |node| node.lag = reads);
        }

        /// Makes everything under `from` that under `to`, as a symbolic link does.
        pub fn link(&mut self, from: impl AsRef<Path>, to: impl AsRef<Path>) {
            self.links.push((from.as_ref().to_owned(), to.as_ref().to_owned()));
        }

        /// The text of a file, white space around it left out.
        pub fn text(&self, path: impl AsRef<Path>) -> String {
            let nodes = self.nodes.borrow();
            nodes
                .get(&self.resolve(path.as_ref()))
                .map(|node| node.text.trim().to_owned())
                .unwrap_or_default()
        }

        /// A number in a file; none where it is something else.
        pub fn number(&self, path: impl AsRef<Path>) -> Option<u32> {
            whole(&self.text(path))
        }

        /// What was written since this was last asked: file and text, in order.
        pub fn take_orders(&self) -> Vec<(String, String)> {
            self.orders.take()
        }

        fn alter(&self, path: &Path, change: impl FnOnce(&mut Node)) {
            let path = self.resolve(path);
            let mut nodes = self.nodes.borrow_mut();
            change(nodes.get_mut(&path).unwrap_or_else(|| panic!("{} is not there", path.display())));
        }

        fn resolve(&self, path: &Path) -> PathBuf {
            let target =
                self.links.iter().find_map(|(from, to)| Some(to.join(path.strip_prefix(from).ok()?)));
            target.unwrap_or_else(|| path.to_owned())
        }

        fn node(&self, path: &Path) -> io::Result<Node> {
            self.nodes.borrow().get(path).cloned().ok_or_else(|| Errno::ENOENT.into())
        }
    }

    impl Files for Tree {
        fn read(&self, path: &Path) -> io::Result<String> {
            let path = self.resolve(path);
            let mut nodes = self.nodes.borrow_mut();
            let node = nodes.get_mut(&path).ok_or(Errno::ENOENT)?;
            if let Some(errno) = node.refuses_reading {
                return Err(errno.into());
            }
            match node.late.take() {
                Some((0, text)) => node.text = text,
                Some((reads, text)) => node.late = Some((reads - 1, text)),
                None => {}
            }
            Ok(node.text.clone())
        }

        fn write(&self, path: &Path, text: &str) -> io::Result<()> {
            self.orders.borrow_mut().push((path.display().to_string(), text.to_owned()));
            let path = self.resolve(path);
            let node = self.node(&path)?;
            let taken = node.taking.map_or_else(|| Ok(text.to_owned()), |taking| taking(self, text))?;
            self.alter(&path, |node| match node.lag {
                0 => node.text = taken,
                reads => node.late = Some((reads, taken)),
            });
            Ok(())
        }

        fn list(&self, path: &Path) -> io::Result<Vec<String>> {
            let nodes = self.nodes.borrow();
            let inside = nodes.keys().filter_map(|file| file.strip_prefix(path).ok()?.iter().next());
            let mut names: Vec<_> = inside.map(|name| name.to_string_lossy().into_owned()).collect();
            names.dedup();
            if names.is_empty() { Err(Errno::ENOENT.into()) } else { Ok(names) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_is_written_only_where_there_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("max");
        assert_eq!(RealFiles.write(&path, "1").unwrap_err().kind(), io::ErrorKind::NotFound);
        std::fs::write(&path, "a longer text").unwrap();
        RealFiles.write(&path, "2000000").unwrap();
        assert_eq!(RealFiles.read(&path).unwrap(), "2000000");
        assert_eq!(RealFiles.list(folder.path()).unwrap(), ["max"]);
    }

    #[test]
    fn octets_that_are_no_text_are_an_error_and_a_huge_file_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("odd");
        std::fs::write(&path, b"\xff\xfe").unwrap();
        assert_eq!(RealFiles.read(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
        std::fs::write(&path, vec![b'7'; 1 << 20]).unwrap();
        assert_eq!(RealFiles.read(&path).unwrap().len() as u64, MOST_OCTETS);
    }

    #[test]
    fn only_digits_are_a_number() {
        assert_eq!(whole::<u32>(" 42\n"), Some(42));
        for text in ["", "+1", "-1", "1 2", "0x10", "<unsupported>", "4294967296", "\u{663}"] {
            assert_eq!(whole::<u32>(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_number_of_any_text_is_the_one_it_prints(text in "\\PC{0,20}|[0-9]{0,4096}") {
            if let Some(number) = whole::<u64>(&text) {
                let shown = text.trim_ascii().trim_start_matches('0');
                prop_assert_eq!(number.to_string(), if shown.is_empty() { "0" } else { shown });
            }
        }
    }
}
