//! Which device a port is, by where it is plugged in.

use std::fmt;
use std::str::FromStr;

/// What a port's path can be, for refusals.
pub const RIGHT: &str =
    "a PCI path like \"0000:03:00.0\", with \"/1\" after it for the second port of one function";

/// A network port by its PCI path and its number there: what stays when interface names change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PortPath {
    /// domain:bus:device.function in lower-case hexadecimal, as the links under /sys/bus/pci/devices are named.
    pub pci: String,
    /// The interface's `dev_port`: which of several ports behind one function, from 0.
    pub dev_port: u16,
}

impl FromStr for PortPath {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (pci, dev_port) = text.split_once('/').unwrap_or((text, "0"));
        let dev_port = decimal(dev_port).ok_or(RIGHT)?;
        if is_pci_path(pci) { Ok(Self { pci: pci.to_ascii_lowercase(), dev_port }) } else { Err(RIGHT) }
    }
}

fn decimal(text: &str) -> Option<u16> {
    text.bytes().all(|octet| octet.is_ascii_digit()).then(|| text.parse().ok())?
}

/// The kernel prints a path with `%04x:%02x:%02x.%d`; domains above 0xffff (VMD) have more digits.
fn is_pci_path(text: &str) -> bool {
    let mut parts = text.splitn(3, ':');
    let (Some(domain), Some(bus), Some(slot)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let Some((device, function)) = slot.split_once('.') else { return false };
    (4..=8).contains(&domain.len())
        && hexadecimal(domain, 8).is_some()
        && hexadecimal(bus, 2).is_some_and(|_| bus.len() == 2)
        && hexadecimal(device, 2).is_some_and(|number| device.len() == 2 && number < 32)
        && hexadecimal(function, 1).is_some_and(|number| number < 8)
}

fn hexadecimal(text: &str, most_digits: usize) -> Option<u32> {
    let digits = text.len() <= most_digits && text.bytes().all(|octet| octet.is_ascii_hexdigit());
    digits.then(|| u32::from_str_radix(text, 16).ok())?
}

impl fmt::Display for PortPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pci)?;
        if self.dev_port == 0 { Ok(()) } else { write!(f, "/{}", self.dev_port) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_kept_as_sysfs_writes_it() {
        let path: PortPath = "0000:0A:1F.7/1".parse().unwrap();
        assert_eq!(path, PortPath { pci: "0000:0a:1f.7".to_owned(), dev_port: 1 });
        assert_eq!(path.to_string(), "0000:0a:1f.7/1");
    }

    #[test]
    fn the_first_port_needs_no_number() {
        assert_eq!("10000:01:00.0/0".parse::<PortPath>().unwrap().to_string(), "10000:01:00.0");
    }

    #[test]
    fn interface_names_and_broken_paths_are_refused() {
        for text in [
            "",
            "eth0",
            "03:00.0",
            "0000:03:00",
            "0000:03:20.0",
            "0000:03:00.8",
            "0000:3:00.0",
            "0000:03:00.0/",
            "0000:03:00.0/x",
            "0000:03:00.0/65536",
            "0000:03:00.0/+1",
            "+000:03:00.0",
            "0000:03:00.0:1",
            "0000:03:0\u{e9}.0",
        ] {
            assert_eq!(text.parse::<PortPath>(), Err(RIGHT), "{text}");
        }
    }
}
