//! What an I2C adapter can do (linux/i2c-dev.h).

use std::ffi::{c_ulong, c_void};
use std::io;
use std::os::fd::{AsRawFd, RawFd};

/// `I2C_FUNCS` (linux/i2c-dev.h): numbered without a size in it.
const I2C_FUNCS: c_ulong = 0x0705;

/// `I2C_FUNC_I2C` (linux/i2c.h): plain I2C messages of any length.
pub const PLAIN: c_ulong = 0x0000_0001;

/// `I2C_FUNC_SMBUS_WRITE_I2C_BLOCK` (linux/i2c.h): a command octet and up to 32 of data.
pub const BLOCK_WRITE: c_ulong = 0x0800_0000;

/// The functions that the adapter has, a bit each.
///
/// # Errors
/// `ENOTTY` where the device is none.
pub fn functions(adapter: &impl AsRawFd) -> io::Result<c_ulong> {
    let mut functions: c_ulong = 0;
    let fd: RawFd = adapter.as_raw_fd();
    let answer: *mut c_void = (&raw mut functions).cast();
    // SAFETY: the kernel writes one unsigned long at `answer`, which is one and outlives the call; `adapter` keeps
    // the descriptor open.
    let result = unsafe { libc::ioctl(fd, I2C_FUNCS as _, answer) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(functions) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_no_adapter() {
        let null = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(functions(&null).unwrap_err().raw_os_error(), Some(libc::ENOTTY));
    }
}
