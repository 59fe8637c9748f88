//! Serial ports: what the `serialport` crate does not do.

use std::io;
use std::os::fd::AsRawFd;

/// Makes reads and writes of `port` return at once instead of waiting.
///
/// The crate waits with a timeout until there is room for one octet and then writes all it was given, which
/// blocks for as long as nobody takes the rest.
///
/// # Errors
/// None that is known for an open descriptor.
pub fn set_nonblocking(port: &impl AsRawFd) -> io::Result<()> {
    // SAFETY: a call by value; a descriptor that is not open is an error and nothing else. F_SETFL leaves the
    // access mode as it is, and a serial port just opened has no other flag to lose.
    let result = unsafe { libc::fcntl(port.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
