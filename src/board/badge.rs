//! By what a box is known: what it tells of itself and what is plugged in.

use std::fmt;
use std::str::FromStr;

/// What a list of PCI devices can be, for refusals.
pub(super) const PCI_RIGHT: &str =
    "a list of 1 to 16 PCI ids like \"8086:10fb\", one for each device that has to be there";

/// What a text of the firmware can be, for refusals.
pub(super) const DMI_RIGHT: &str = "a text of 1 to 80 characters without control characters";

/// Vendor and device of a PCI function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PciId {
    /// The vendor.
    pub vendor: u16,
    /// The vendor's number for the device.
    pub device: u16,
}

impl FromStr for PciId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |digits: &str| {
            let right = digits.len() == 4 && digits.bytes().all(|octet| octet.is_ascii_hexdigit());
            right.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
        };
        let ids = text.split_once(':').and_then(|(vendor, device)| Some((number(vendor)?, number(device)?)));
        ids.map(|(vendor, device)| Self { vendor, device }).ok_or(PCI_RIGHT)
    }
}

impl fmt::Display for PciId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:04x}", self.vendor, self.device)
    }
}

/// By what a box is known to be of a board; a board without any is only ever named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Badge {
    /// Found in what the firmware tells of vendor, product or mainboard.
    pub dmi: Option<String>,
    /// PCI devices that are all there, as often as they are listed.
    pub pci: Vec<PciId>,
}

impl Badge {
    /// Nothing to know a box by.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.dmi.is_none() && self.pci.is_empty()
    }
}

pub(super) fn dmi(text: String) -> Result<String, &'static str> {
    let right = (1..=80).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if right { Ok(text) } else { Err(DMI_RIGHT) }
}

pub(super) fn pci(list: &[String]) -> Result<Vec<PciId>, &'static str> {
    if (1..=16).contains(&list.len()) { list.iter().map(|id| id.parse()).collect() } else { Err(PCI_RIGHT) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_two_numbers_of_four_digits() {
        let id: PciId = "8086:10FB".parse().unwrap();
        assert_eq!(id, PciId { vendor: 0x8086, device: 0x10fb });
        assert_eq!(id.to_string(), "8086:10fb");
        for text in ["", "8086", "8086:", "8086:10f", "8086:10fbb", "+086:10fb", "8086:10fb:1"] {
            assert_eq!(text.parse::<PciId>(), Err(PCI_RIGHT), "{text}");
        }
    }

    #[test]
    fn lists_and_texts_have_a_length() {
        assert!(pci(&[]).is_err());
        assert!(pci(&vec!["8086:10fb".to_owned(); 17]).is_err());
        assert_eq!(pci(&["8086:10fb".to_owned()]).unwrap().len(), 1);
        assert_eq!(dmi(String::new()), Err(DMI_RIGHT));
        assert_eq!(dmi("x".repeat(81)), Err(DMI_RIGHT));
        assert_eq!(dmi("QEMU".to_owned()).as_deref(), Ok("QEMU"));
    }
}
