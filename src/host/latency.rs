//! The limit on how long a processor may take to wake up (/dev/cpu_dma_latency, the kernel's CPU latency
//! quality of service: Documentation/power/pm_qos_interface.rst).

use measure::record::{Held, SettingReading, Text, text};
use measure::verdict::Setting;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A request that stands while this lives: the kernel forgets it when the descriptor is closed.
#[derive(Debug)]
pub struct LatencyHold {
    device: File,
    wanted: i32,
}

impl LatencyHold {
    /// Asks that no processor takes longer than `micros` to wake up. The descriptor is not inherited by other
    /// programs.
    ///
    /// # Errors
    /// `NotFound` in a kernel without idle states, `PermissionDenied` to an ordinary user.
    pub fn open(device: &Path, micros: i32) -> io::Result<Self> {
        let device = OpenOptions::new().read(true).write(true).open(device)?;
        // Exactly four octets, in one write: any other length is taken for a hexadecimal number.
        let written = device.write_at(&micros.to_ne_bytes(), 0)?;
        if written != 4 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        Ok(Self { device, wanted: micros })
    }

    /// The limit in force, in microseconds: the lowest of everybody's requests.
    ///
    /// # Errors
    /// The kernel's.
    pub fn effective(&self) -> io::Result<i32> {
        let mut octets = [0; 4];
        // At offset 0: the device keeps a position, and there is nothing behind the first answer.
        self.device.read_exact_at(&mut octets, 0)?;
        Ok(i32::from_ne_bytes(octets))
    }

    /// Whether the limit in force is as low as was asked.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.effective().is_ok_and(|effective| is_low_enough(effective, self.wanted))
    }
}

/// Somebody else may have asked for less, which is as good. A limit below zero is no time.
fn is_low_enough(effective: i32, wanted: i32) -> bool {
    (0..=wanted).contains(&effective)
}

/// Asks for a limit of `micros` and reads back what is in force; the request stands while the second value
/// lives.
///
/// A kernel without such a limit has no idle states to be limited, so it is not required there.
pub fn hold(device: &Path, micros: i32) -> (SettingReading, Option<LatencyHold>) {
    match LatencyHold::open(device, micros) {
        Ok(hold) => (reading(micros, hold.effective().ok()), Some(hold)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => (not_available(micros), None),
        Err(_) => (reading(micros, None), None),
    }
}

fn reading(wanted: i32, effective: Option<i32>) -> SettingReading {
    let low_enough = effective.is_some_and(|effective| is_low_enough(effective, wanted));
    SettingReading {
        setting: Setting::DmaLatency,
        port: None,
        wanted: text(format_args!("{wanted} us")),
        got: effective.map_or_else(Text::new, |effective| text(format_args!("{effective} us"))),
        held: if low_enough { Held::Yes } else { Held::No },
        required: true,
    }
}

fn not_available(wanted: i32) -> SettingReading {
    SettingReading { held: Held::NotAvailable, required: false, ..reading(wanted, None) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    /// A file in place of the device: it takes and gives the same four octets.
    fn device() -> tempfile::NamedTempFile {
        tempfile::NamedTempFile::new().unwrap()
    }

    #[test]
    fn a_request_is_four_octets_in_the_hosts_order() {
        let device = device();
        let (reading, hold) = hold(device.path(), 10);
        assert_eq!(std::fs::read(device.path()).unwrap(), 10_i32.to_ne_bytes());
        assert_eq!((reading.held, reading.required), (Held::Yes, true));
        assert_eq!((reading.wanted.as_str(), reading.got.as_str()), ("10 us", "10 us"));
        assert!(hold.unwrap().holds());
    }

    #[test]
    fn no_other_program_inherits_the_request() {
        let device = device();
        let hold = LatencyHold::open(device.path(), 10).unwrap();
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", hold.device.as_raw_fd())).unwrap();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
        assert_ne!(i32::from_str_radix(flags.trim(), 8).unwrap() & libc::O_CLOEXEC, 0);
    }

    #[test]
    fn what_counts_is_the_limit_in_force() {
        let device = device();
        let hold = LatencyHold::open(device.path(), 10).unwrap();
        for (effective, holds) in
            [(0, true), (5, true), (10, true), (11, false), (2_000_000_000, false), (-1, false)]
        {
            std::fs::write(device.path(), i32::to_ne_bytes(effective)).unwrap();
            assert_eq!(hold.effective().unwrap(), effective);
            assert_eq!(hold.holds(), holds, "{effective}");
        }
    }

    #[test]
    fn an_answer_that_is_too_short_is_not_held() {
        let device = device();
        let hold = LatencyHold::open(device.path(), 10).unwrap();
        std::fs::write(device.path(), "10\n").unwrap();
        assert!(!hold.holds());
        let reading = reading(10, hold.effective().ok());
        assert_eq!((reading.held, reading.got.as_str()), (Held::No, ""));
    }

    #[test]
    fn a_kernel_without_the_device_is_not_asked_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cpu_dma_latency");
        let (reading, hold) = hold(&path, 10);
        assert_eq!((reading.held, reading.required), (Held::NotAvailable, false));
        assert!(hold.is_none() && !path.exists(), "none is made");
    }

    #[test]
    fn a_device_that_cannot_be_opened_is_not_held() {
        let folder = tempfile::tempdir().unwrap();
        let (reading, hold) = hold(folder.path(), 10);
        assert_eq!((reading.held, reading.required), (Held::No, true));
        assert!(hold.is_none());
    }
}
