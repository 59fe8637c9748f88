//! Which interface is the port at a PCI path: names, order and renames do not matter.

use std::fs;
use std::path::Path;

/// Why there is no port at a place.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// Nothing is plugged in there.
    #[error("there is no PCI device {0} on this host; `lspci -D` lists what there is")]
    NoDevice(String),
    /// Something is, but it is no network port, or no driver has taken it.
    #[error(
        "PCI device {pci} has no network port {dev_port} (no driver, a refused module, or another kind of device)"
    )]
    NoPort {
        /// The device.
        pci: String,
        /// The port of it that was asked for.
        dev_port: u16,
    },
}

/// The name of the interface that is port `dev_port` of the PCI device `pci`, by the sysfs tree at `sys`.
///
/// # Errors
/// There is none.
pub fn interface(sys: &Path, pci: &str, dev_port: u16) -> Result<String, NotFound> {
    let device = sys.join("bus/pci/devices").join(pci);
    if !device.exists() {
        return Err(NotFound::NoDevice(pci.to_owned()));
    }
    let no_port = || NotFound::NoPort { pci: pci.to_owned(), dev_port };
    let interfaces = fs::read_dir(device.join("net")).map_err(|_| no_port())?;
    interfaces
        .filter_map(Result::ok)
        .find(|interface| dev_port_of(&interface.path()) == Some(dev_port))
        .and_then(|interface| interface.file_name().into_string().ok())
        .ok_or_else(no_port)
}

/// The port's number within its device (`dev_port` of sysfs-class-net); none where it cannot be read.
fn dev_port_of(interface: &Path) -> Option<u16> {
    fs::read_to_string(interface.join("dev_port")).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PCI: &str = "0000:03:00.0";

    fn tree(ports: &[(&str, &str)]) -> tempfile::TempDir {
        let sys = tempfile::tempdir().unwrap();
        let device = sys.path().join("bus/pci/devices").join(PCI);
        fs::create_dir_all(&device).unwrap();
        for (name, dev_port) in ports {
            let interface = device.join("net").join(name);
            fs::create_dir_all(&interface).unwrap();
            fs::write(interface.join("dev_port"), dev_port).unwrap();
        }
        sys
    }

    #[test]
    fn a_port_is_found_by_its_place_and_not_by_its_name() {
        let sys = tree(&[("rename4", "1\n"), ("eth7", "0\n")]);
        assert_eq!(interface(sys.path(), PCI, 0), Ok("eth7".to_owned()));
        assert_eq!(interface(sys.path(), PCI, 1), Ok("rename4".to_owned()));
    }

    #[test]
    fn what_is_missing_is_named() {
        let sys = tree(&[("eth0", "garbage"), ("eth1", "")]);
        let error = interface(sys.path(), "0000:04:00.0", 0).unwrap_err();
        assert!(error.to_string().contains("no PCI device 0000:04:00.0"), "{error}");
        let error = interface(sys.path(), PCI, 0).unwrap_err();
        assert!(error.to_string().contains("0000:03:00.0 has no network port 0"), "{error}");
        assert!(interface(tree(&[]).path(), PCI, 0).is_err());
    }
}
