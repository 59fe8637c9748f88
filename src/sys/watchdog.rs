//! Watchdog devices (linux/watchdog.h): what they support, their time, and feeding them.

use std::ffi::{c_int, c_ulong};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `WDIOC_GETSUPPORT`, `_IOR('W', 0, struct watchdog_info)`.
const GETSUPPORT: c_ulong = 0x8028_5700;
/// `WDIOC_GETBOOTSTATUS`, `_IOR('W', 2, int)`.
const GETBOOTSTATUS: c_ulong = 0x8004_5702;
/// `WDIOC_KEEPALIVE`, `_IOR('W', 5, int)`.
const KEEPALIVE: c_ulong = 0x8004_5705;
/// `WDIOC_SETTIMEOUT`, `_IOWR('W', 6, int)`.
const SETTIMEOUT: c_ulong = 0xC004_5706;
/// `WDIOC_GETTIMEOUT`, `_IOR('W', 7, int)`.
const GETTIMEOUT: c_ulong = 0x8004_5707;

/// What a device is and can do: `struct watchdog_info`, in the kernel's layout.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Support {
    /// `WDIOF_` flags.
    pub options: u32,
    /// Version of its firmware.
    pub firmware_version: u32,
    /// Its name, filled up with zeros.
    pub identity: [u8; 32],
}

/// Asks what the device is and can do.
///
/// # Errors
/// `ENOTTY` where it is no watchdog.
pub fn support(device: BorrowedFd<'_>) -> io::Result<Support> {
    let mut support = Support::default();
    // SAFETY: the descriptor is borrowed and so open; WDIOC_GETSUPPORT writes one `watchdog_info`, for which
    // any octets are valid and which outlives the call.
    check(unsafe { libc::ioctl(device.as_raw_fd(), GETSUPPORT as _, &raw mut support) })?;
    Ok(support)
}

/// Why the machine last started, as `WDIOF_` flags.
///
/// # Errors
/// `ENOTTY` where it is no watchdog.
pub fn boot_status(device: BorrowedFd<'_>) -> io::Result<u32> {
    number(device, GETBOOTSTATUS, 0).map(c_int::cast_unsigned)
}

/// Starts the device's time anew.
///
/// # Errors
/// `ENODEV` where the device is gone, or what the driver says of it.
pub fn keep_alive(device: BorrowedFd<'_>) -> io::Result<()> {
    number(device, KEEPALIVE, 0).map(drop)
}

/// Sets the device's time in seconds; tells what it has become, which may be rounded.
///
/// # Errors
/// `EOPNOTSUPP` where it is fixed, `EINVAL` where the device cannot have that.
pub fn set_timeout(device: BorrowedFd<'_>, seconds: u16) -> io::Result<i32> {
    number(device, SETTIMEOUT, c_int::from(seconds))
}

/// The device's time in seconds.
///
/// # Errors
/// `EOPNOTSUPP` where the driver does not know.
pub fn timeout(device: BorrowedFd<'_>) -> io::Result<i32> {
    number(device, GETTIMEOUT, 0)
}

/// A request that takes or gives one number, or neither.
fn number(device: BorrowedFd<'_>, request: c_ulong, value: c_int) -> io::Result<c_int> {
    let mut value = value;
    // SAFETY: the descriptor is borrowed and so open; every request made with this reads and writes at most
    // one `int`, which outlives the call.
    check(unsafe { libc::ioctl(device.as_raw_fd(), request as _, &raw mut value) })?;
    Ok(value)
}

fn check(outcome: c_int) -> io::Result<()> {
    if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn the_structure_has_the_size_in_its_request() {
        assert_eq!((GETSUPPORT >> 16) & 0x3FFF, c_ulong::try_from(size_of::<Support>()).unwrap());
    }

    #[test]
    fn what_is_no_watchdog_says_so() {
        let null = std::fs::File::open("/dev/null").unwrap();
        let errors = [
            support(null.as_fd()).map(drop),
            boot_status(null.as_fd()).map(drop),
            keep_alive(null.as_fd()),
            set_timeout(null.as_fd(), 30).map(drop),
            timeout(null.as_fd()).map(drop),
        ]
        .map(|outcome| outcome.unwrap_err().raw_os_error());
        assert_eq!(errors, [Some(libc::ENOTTY); 5]);
    }
}
