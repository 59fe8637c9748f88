//! What only PID 1 asks of the kernel and `nix` has no call for.

use nix::errno::Errno;
use std::ffi::c_int;
use std::ptr;

/// `SYSLOG_ACTION_CONSOLE_LEVEL` (syslog(2)).
const CONSOLE_LEVEL: c_int = 8;

/// Lets the kernel print only messages more urgent than `level` (1 to 8) on its consoles.
///
/// # Errors
/// `EPERM` without `CAP_SYSLOG`, `EINVAL` for another level.
pub fn set_console_level(level: u8) -> nix::Result<()> {
    // SAFETY: this action reads and writes no memory; the level is passed in place of a length.
    let result = unsafe { libc::klogctl(CONSOLE_LEVEL, ptr::null_mut(), c_int::from(level)) };
    Errno::result(result).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_is_none_is_refused() {
        assert!(matches!(set_console_level(0), Err(Errno::EINVAL | Errno::EPERM)));
        assert!(matches!(set_console_level(9), Err(Errno::EINVAL | Errno::EPERM)));
    }
}
