//! Which board a box is: by the kernel's command line, else by what the hardware tells of itself.

use super::cmdline::{CommandLine, check_board};
use crate::board::words::{any_of, one_line, quoted};
use crate::board::{Badge, PciId};
use std::fs;
use std::path::Path;

/// The texts of the firmware (SMBIOS types 1 and 2) that a board can be known by.
const DMI: [&str; 4] = ["sys_vendor", "product_name", "board_vendor", "board_name"];

/// What the hardware tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hardware {
    /// Vendor, product, mainboard's vendor, mainboard; those there are.
    pub dmi: Vec<String>,
    /// Every PCI function.
    pub pci: Vec<PciId>,
}

impl Hardware {
    /// Reads the sysfs tree at `sys`; what cannot be read is not there.
    #[must_use]
    pub fn read(sys: &Path) -> Self {
        let text = |file: &&str| fs::read(sys.join("class/dmi/id").join(file)).ok();
        let texts = DMI.iter().filter_map(text);
        let dmi = texts.map(|octets| String::from_utf8_lossy(&octets).trim().to_owned());
        let devices = fs::read_dir(sys.join("bus/pci/devices")).into_iter().flatten().filter_map(Result::ok);
        let mut pci: Vec<_> = devices.filter_map(|device| pci_id(&device.path())).collect();
        pci.sort();
        Self { dmi: dmi.filter(|text| !text.is_empty()).collect(), pci }
    }

    /// How many things this hardware is known by; none where one of them is missing.
    fn matches(&self, badge: &Badge) -> Option<usize> {
        let texts = badge.dmi.iter().all(|part| self.dmi.iter().any(|text| text.contains(part.as_str())));
        let count = |ids: &[PciId], id| ids.iter().filter(|other| *other == id).count();
        let devices = badge.pci.iter().all(|id| count(&self.pci, id) >= count(&badge.pci, id));
        let known = !badge.is_empty() && texts && devices;
        known.then(|| badge.pci.len() + usize::from(badge.dmi.is_some()))
    }

    /// What it is, for a refusal.
    fn told(&self) -> String {
        let texts: Vec<_> = self.dmi.iter().map(|text| quoted(text)).collect();
        let texts = if texts.is_empty() { "nothing".to_owned() } else { texts.join(", ") };
        let ids: Vec<_> = self.pci.iter().map(ToString::to_string).collect();
        format!("firmware tells {texts}; PCI {}", one_line(&ids.join(" ")))
    }
}

fn pci_id(device: &Path) -> Option<PciId> {
    let number = |file| {
        let text = fs::read_to_string(device.join(file)).ok()?;
        u16::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
    };
    Some(PciId { vendor: number("vendor")?, device: number("device")? })
}

/// Why no board is chosen. Each is one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoBoard {
    /// The one that was named is none.
    #[error("kernel command line: {0}")]
    Named(String),
    /// No board is known by this hardware.
    #[error("no board is known by this hardware; name it with linegauge.board=NAME ({0})")]
    Unknown(String),
    /// Several are, equally well.
    #[error("this hardware could be {0}; name it with linegauge.board=NAME")]
    Several(String),
}

/// The board of this box: the one that is named, else the one that is known by most of the hardware.
///
/// # Errors
/// See [`NoBoard`].
pub fn choose<'a>(
    said: &CommandLine,
    hardware: &Hardware,
    boards: &[(&'a str, &Badge)],
) -> Result<&'a str, NoBoard> {
    if let Some(name) = &said.board {
        return check_board(name, boards.iter().map(|(board, _)| *board)).map_err(NoBoard::Named);
    }
    let known = || boards.iter().filter_map(|(name, badge)| Some((hardware.matches(badge)?, *name)));
    let Some(best) = known().map(|(count, _)| count).max() else {
        return Err(NoBoard::Unknown(hardware.told()));
    };
    let names: Vec<_> = known().filter(|(count, _)| *count == best).map(|(_, name)| name).collect();
    match names.as_slice() {
        [name] => Ok(name),
        _ => Err(NoBoard::Several(any_of(names))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board;
    use proptest::prelude::*;

    const X520: PciId = PciId { vendor: 0x8086, device: 0x10fb };
    const E1000E: PciId = PciId { vendor: 0x8086, device: 0x10d3 };

    fn badge(dmi: Option<&str>, pci: &[PciId]) -> Badge {
        Badge { dmi: dmi.map(str::to_owned), pci: pci.to_vec() }
    }

    fn hardware(dmi: &[&str], pci: &[PciId]) -> Hardware {
        Hardware { dmi: dmi.iter().map(|text| (*text).to_owned()).collect(), pci: pci.to_vec() }
    }

    fn chosen(said: Option<&str>, hardware: &Hardware) -> Result<&'static str, String> {
        let boards = [
            ("virtual", &badge(None, &[])),
            ("x520", &badge(None, &[X520, X520])),
            ("qemu", &badge(Some("QEMU"), &[E1000E, E1000E])),
            ("any-qemu", &badge(Some("QEMU"), &[])),
        ];
        let said = CommandLine { board: said.map(str::to_owned), ..CommandLine::default() };
        choose(&said, hardware, &boards).map_err(|error| error.to_string())
    }

    #[test]
    fn the_board_that_is_named_is_taken_whatever_the_hardware() {
        assert_eq!(chosen(Some("virtual"), &hardware(&["QEMU"], &[])), Ok("virtual"));
        let line =
            "kernel command line: linegauge.board must be virtual, x520, qemu or any-qemu, not \"x250\"";
        assert_eq!(chosen(Some("x250"), &hardware(&["QEMU"], &[])), Err(line.to_owned()));
    }

    #[test]
    fn the_board_that_is_known_by_most_is_taken() {
        assert_eq!(chosen(None, &hardware(&["QEMU", "Standard PC"], &[E1000E, E1000E])), Ok("qemu"));
        assert_eq!(chosen(None, &hardware(&["QEMU", "Standard PC"], &[E1000E])), Ok("any-qemu"));
        assert_eq!(chosen(None, &hardware(&["Acme"], &[E1000E, X520, X520])), Ok("x520"));
    }

    #[test]
    fn a_device_has_to_be_there_as_often_as_it_is_listed() {
        let line = "no board is known by this hardware; name it with linegauge.board=NAME (firmware tells \"Acme\"; PCI 8086:10fb)";
        assert_eq!(chosen(None, &hardware(&["Acme"], &[X520])), Err(line.to_owned()));
        let line = "no board is known by this hardware; name it with linegauge.board=NAME (firmware tells nothing; PCI )";
        assert_eq!(chosen(None, &Hardware::default()), Err(line.to_owned()));
    }

    #[test]
    fn two_boards_that_fit_alike_are_named() {
        let badge = badge(Some("QEMU"), &[]);
        let boards = [("a", &badge), ("b", &badge)];
        let chosen = choose(&CommandLine::default(), &hardware(&["QEMU"], &[]), &boards);
        let line = "this hardware could be a or b; name it with linegauge.board=NAME";
        assert_eq!(chosen.unwrap_err().to_string(), line);
    }

    #[test]
    fn no_two_built_in_boards_are_known_by_the_same() {
        let boards: Vec<_> = board::builtin().map(|(name, _)| board::load(name).unwrap()).collect();
        let badges: Vec<_> = boards.iter().map(|board| (board.name.as_str(), &board.badge)).collect();
        for board in boards.iter().filter(|board| !board.badge.is_empty()) {
            let hardware =
                Hardware { dmi: board.badge.dmi.iter().cloned().collect(), pci: board.badge.pci.clone() };
            assert_eq!(choose(&CommandLine::default(), &hardware, &badges), Ok(board.name.as_str()));
        }
    }

    #[test]
    fn hardware_is_read_from_sysfs() {
        let sys = tempfile::tempdir().unwrap();
        let dmi = sys.path().join("class/dmi/id");
        fs::create_dir_all(&dmi).unwrap();
        fs::write(dmi.join("sys_vendor"), "QEMU\n").unwrap();
        fs::write(dmi.join("product_name"), b"Standard \xff PC\n").unwrap();
        fs::write(dmi.join("board_name"), "\n").unwrap();
        for (name, vendor, device) in [
            ("0000:00:02.0", "0x8086\n", "0x10d3\n"),
            ("0000:00:01.0", "0x8086\n", "0x10fb\n"),
            ("0000:00:03.0", "garbage\n", "0x10fb\n"),
        ] {
            let folder = sys.path().join("bus/pci/devices").join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("vendor"), vendor).unwrap();
            fs::write(folder.join("device"), device).unwrap();
        }
        assert_eq!(Hardware::read(sys.path()), hardware(&["QEMU", "Standard \u{fffd} PC"], &[E1000E, X520]));
        assert_eq!(Hardware::read(Path::new("/nowhere")), Hardware::default());
    }

    proptest! {
        #[test]
        fn every_refusal_is_one_line(dmi in prop::collection::vec(any::<String>(), 0..4), name in any::<Option<String>>()) {
            let hardware = Hardware { dmi, pci: vec![X520; 300] };
            let said = CommandLine { board: name, ..CommandLine::default() };
            let error = choose(&said, &hardware, &[("x", &Badge::default())]).err();
            if let Some(line) = error.map(|error| error.to_string()) {
                prop_assert!(!line.chars().any(char::is_control), "{line:?}");
            }
        }
    }
}
