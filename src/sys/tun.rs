//! TAP devices: what the kernel's `tun` driver and a network device take by `ioctl`.

use std::ffi::{c_char, c_int, c_short, c_ulong};
use std::fs::{File, OpenOptions};
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

/// The driver's device node.
pub const DEVICE: &str = "/dev/net/tun";

/// `TUNSETIFF`, `_IOW('T', 202, int)` (linux/if_tun.h).
const TUNSETIFF: c_ulong = 0x4004_54CA;

/// `TUNSETCARRIER`, `_IOW('T', 226, int)` (linux/if_tun.h).
const TUNSETCARRIER: c_ulong = 0x4004_54E2;

/// An interface request by name, with the flags asked for.
fn request(name: &str, flags: c_int) -> io::Result<libc::ifreq> {
    // SAFETY: `ifreq` is integers, arrays and pointers, all of which may be zero.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    // One octet stays zero: the kernel wants the name terminated.
    let room = request.ifr_name.len() - 1;
    if name.is_empty() || name.len() > room || name.bytes().any(|octet| octet == 0) {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = c_char::from_ne_bytes([from]);
    }
    let flags = c_short::try_from(flags).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    request.ifr_ifru.ifru_flags = flags;
    Ok(request)
}

/// Opens the driver's device node without blocking reads and writes.
///
/// # Errors
/// `ENOENT`, `ENODEV` or `EACCES` where there is none for us.
pub fn open() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(DEVICE)
}

/// Makes an open `/dev/net/tun` the other end of the TAP device `name`, made in this thread's network
/// namespace if it is not there. Frames go without a packet information header.
///
/// # Errors
/// `EPERM` without `CAP_NET_ADMIN` over the namespace, `EBUSY` if somebody holds a device of that name,
/// `EINVAL` if the name belongs to a device of another kind or is no name (1 to 15 octets).
pub fn attach_tap(device: BorrowedFd, name: &str) -> io::Result<()> {
    let request = request(name, libc::IFF_TAP | libc::IFF_NO_PI)?;
    // SAFETY: the descriptor is borrowed and so open; TUNSETIFF reads and writes one `ifreq`, which lives
    // until after the call.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), TUNSETIFF as _, &raw const request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Gives the TAP device a carrier or takes it away.
///
/// # Errors
/// `EINVAL` on kernels before 5.0, which have no such request.
pub fn set_carrier(device: BorrowedFd, up: bool) -> io::Result<()> {
    let up = c_int::from(up);
    // SAFETY: the descriptor is borrowed and so open; TUNSETCARRIER reads one `int`, which lives until after
    // the call.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), TUNSETCARRIER as _, &raw const up) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Sets how many frames the device's transmit queue holds (for a TAP device: that wait to be read).
///
/// # Errors
/// `ENODEV` if there is no such device in the namespace of `socket`, `EPERM` without `CAP_NET_ADMIN`.
pub fn set_queue_length(socket: impl AsFd, name: &str, frames: c_int) -> io::Result<()> {
    let mut request = request(name, 0)?;
    request.ifr_ifru.ifru_metric = frames;
    // SAFETY: the descriptor is borrowed and so open; SIOCSIFTXQLEN reads one `ifreq` (ifr_qlen shares its
    // place with ifr_metric), which lives until after the call.
    let result =
        unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCSIFTXQLEN as _, &raw const request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Reads a device's flags (`IFF_UP` and so on).
///
/// # Errors
/// `ENODEV` if there is no such device in the namespace of `socket`.
pub fn flags(socket: impl AsFd, name: &str) -> io::Result<c_int> {
    let mut request = request(name, 0)?;
    // SAFETY: the descriptor is borrowed and so open; SIOCGIFFLAGS reads the name and writes the flags of one
    // `ifreq`, which lives until after the call.
    let result =
        unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCGIFFLAGS as _, &raw mut request) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just filled in the flags; any bits are a valid integer.
    Ok(c_int::from(unsafe { request.ifr_ifru.ifru_flags }))
}

/// Writes a device's flags.
///
/// # Errors
/// `ENODEV` if there is no such device in the namespace of `socket`, `EPERM` without `CAP_NET_ADMIN`.
pub fn set_flags(socket: impl AsFd, name: &str, flags: c_int) -> io::Result<()> {
    let request = request(name, flags)?;
    // SAFETY: the descriptor is borrowed and so open; SIOCSIFFLAGS reads one `ifreq`, which lives until after
    // the call.
    let result =
        unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A raw packet socket bound to one device, for tests that play the port: all protocols, both ways.
///
/// # Errors
/// `EPERM` without `CAP_NET_RAW`, `ENODEV` if there is no such device.
#[cfg(test)]
pub fn packet_socket(name: &str) -> io::Result<File> {
    use std::os::fd::{FromRawFd, OwnedFd};
    let index = nix::net::if_::if_nametoindex(name)?;
    let protocol = u16::try_from(libc::ETH_P_ALL).map_err(io::Error::other)?.to_be();
    // SAFETY: a call by value; the descriptor it returns is checked below and owned by nobody else.
    let socket = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just opened, and not handed to anybody.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    // SAFETY: `sockaddr_ll` is integers and an array of them, all of which may be zero.
    let mut address: libc::sockaddr_ll = unsafe { mem::zeroed() };
    address.sll_family = u16::try_from(libc::AF_PACKET).map_err(io::Error::other)?;
    address.sll_protocol = protocol;
    address.sll_ifindex = i32::try_from(index).map_err(io::Error::other)?;
    let length = libc::socklen_t::try_from(size_of_val(&address)).map_err(io::Error::other)?;
    // SAFETY: the address is a `sockaddr_ll` of that length and lives until after the call.
    let result = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(File::from(socket)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn a_name_that_is_none_is_refused_before_the_kernel_sees_it() {
        for name in ["", "sixteen-octets-x", "a\0b"] {
            assert_eq!(request(name, 0).err().map(|error| error.kind()), Some(io::ErrorKind::InvalidInput));
        }
    }

    #[test]
    fn a_device_that_is_not_there_has_no_flags() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let error = flags(&socket, "no-such-device").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
    }
}
