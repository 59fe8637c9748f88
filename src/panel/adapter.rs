//! Finding an I2C adapter by its name: the numbers of buses change from boot to boot and kernel to kernel.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where the kernel lists the adapters that have a device.
pub const CLASS: &str = "/sys/class/i2c-dev";

/// The device of the adapter `bus`: a path as it is, else the adapter in `class` of that name, else the only one
/// of which the name begins so.
///
/// # Errors
/// Where there is none or more than one; the line names those that there are.
pub fn device(bus: &str, class: &Path) -> io::Result<PathBuf> {
    if bus.starts_with('/') {
        return Ok(PathBuf::from(bus));
    }
    let all = adapters(class)?;
    let exact: Vec<_> = all.iter().filter(|(_, name)| name == bus).collect();
    let begun = all.iter().filter(|(_, name)| name.starts_with(bus)).collect();
    let fitting: Vec<_> = if exact.is_empty() { begun } else { exact };
    match fitting.as_slice() {
        [(device, _)] => Ok(Path::new("/dev").join(device)),
        _ => Err(io::Error::new(io::ErrorKind::NotFound, refusal(bus, fitting.len(), &all))),
    }
}

fn refusal(bus: &str, fitting: usize, all: &[(String, String)]) -> String {
    let names: Vec<_> = all.iter().map(|(device, name)| format!("{name} (/dev/{device})")).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    format!("{fitting} I2C adapters are named {bus}, and it has to be one; there are: {names}")
}

/// Every adapter's device and name, in the order of the devices.
fn adapters(class: &Path) -> io::Result<Vec<(String, String)>> {
    let entries = match fs::read_dir(class) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut all: Vec<_> = entries
        .filter_map(|entry| {
            let device = entry.ok()?.file_name().into_string().ok()?;
            // One that goes away while it is looked at is not there.
            let name = fs::read_to_string(class.join(&device).join("name")).ok()?;
            Some((device, name.trim().to_owned()))
        })
        .collect();
    all.sort();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(adapters: &[(&str, &str)]) -> tempfile::TempDir {
        let class = tempfile::tempdir().unwrap();
        for (device, name) in adapters {
            fs::create_dir(class.path().join(device)).unwrap();
            fs::write(class.path().join(device).join("name"), format!("{name}\n")).unwrap();
        }
        class
    }

    const PC: [(&str, &str); 4] = [
        ("i2c-0", "SMBus I801 adapter at f040"),
        ("i2c-1", "i915 gmbus dpb"),
        ("i2c-2", "i915 gmbus dpc"),
        ("i2c-3", "i915 gmbus dpb"),
    ];

    #[test]
    fn an_adapter_is_found_by_path_name_and_beginning() {
        let class = class(&PC);
        let found = |bus| device(bus, class.path()).unwrap();
        assert_eq!(found("/dev/i2c-7"), Path::new("/dev/i2c-7"));
        assert_eq!(found("i915 gmbus dpc"), Path::new("/dev/i2c-2"));
        assert_eq!(found("SMBus I801"), Path::new("/dev/i2c-0"));
    }

    #[test]
    fn a_name_of_none_or_several_is_refused_with_those_there_are() {
        let line = |bus, class: &tempfile::TempDir| device(bus, class.path()).unwrap_err().to_string();
        let two = class(&PC[..2]);
        let there = "there are: SMBus I801 adapter at f040 (/dev/i2c-0), i915 gmbus dpb (/dev/i2c-1)";
        assert_eq!(
            line("CP2112", &two),
            format!("0 I2C adapters are named CP2112, and it has to be one; {there}")
        );
        assert!(line("i915 gmbus dpb", &class(&PC)).starts_with("2 I2C adapters are named i915 gmbus dpb,"));
        assert!(line("i915", &class(&PC)).starts_with("3 I2C adapters"));
        assert!(line("x", &class(&[])).ends_with("there are: none"));
        let gone = device("x", Path::new("/no/such/class")).unwrap_err().to_string();
        assert!(gone.ends_with("there are: none"), "{gone}");
    }
}
