//! Packet sockets (packet(7)): options, binding, and moving frames in batches.
//!
//! Buffers stay with the caller, as slices of his own: nothing here keeps a pointer beyond a call.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Most frames one call moves; beyond 64 there is no gain and more loss (seeds/001).
pub const BATCH: usize = 64;

/// What is known of a received frame beside its octets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Octets the frame really had, which may be more than the buffer took.
    pub octets: usize,
    /// It is the host's own sending, seen on its way out (`PACKET_OUTGOING`).
    pub outgoing: bool,
}

/// One instruction of classic BPF, in the kernel's layout.
pub type Instruction = libc::sock_filter;

/// Opens a packet socket that hears nothing: its protocol is 0 until it is bound.
///
/// A socket opened with a protocol hears every interface until it is bound to one.
///
/// # Errors
/// `EPERM` without CAP_NET_RAW in the network namespace.
pub fn open() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: socket(2) takes no pointers.
    let fd = check(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
    // SAFETY: the kernel has just made this descriptor, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Binds to one interface and one ethertype (`ETH_P_ALL` for all, 0 for none: a socket that only sends).
///
/// # Errors
/// `ENODEV` where the interface is gone.
pub fn bind(socket: BorrowedFd<'_>, ifindex: u32, ethertype: u16) -> io::Result<()> {
    let mut address = EMPTY_ADDRESS;
    address.sll_family = FAMILY;
    address.sll_protocol = ethertype.to_be();
    address.sll_ifindex = ifindex.cast_signed();
    // SAFETY: the pointer and the length are those of `address`, which outlives the call.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), ADDRESS_LENGTH) }).map(drop)
}

/// Sets a packet option (level `SOL_PACKET`) that is a number.
///
/// # Errors
/// `ENOPROTOOPT` where the kernel does not know the option.
pub fn set_option(socket: BorrowedFd<'_>, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    set(socket, libc::SOL_PACKET, option, &value)
}

/// Attaches a classic BPF program that decides which frames the socket hears, and how much of them.
///
/// # Errors
/// `EINVAL` for a program that the kernel refuses, and for one of more than 65535 instructions.
pub fn attach_filter(socket: BorrowedFd<'_>, program: &[Instruction]) -> io::Result<()> {
    let length = u16::try_from(program.len()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    // The kernel copies the program and does not write through the pointer.
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
}

/// Makes the interface hear every address, for as long as the socket lives.
///
/// # Errors
/// `ENODEV` where the interface is gone.
pub fn listen_to_every_address(socket: BorrowedFd<'_>, ifindex: u32) -> io::Result<()> {
    let request = libc::packet_mreq {
        mr_ifindex: ifindex.cast_signed(),
        mr_type: PROMISCUOUS,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set(socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &request)
}

/// Frames that the socket dropped for lack of room since this was last asked: the kernel clears the
/// figure as it is read, so a socket has one reader.
///
/// # Errors
/// The kernel's.
pub fn take_drops(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut statistics = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut length = length_of(&statistics);
    // SAFETY: the pointer and the length are those of `statistics`, which any octets are valid for.
    check(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            (&raw mut statistics).cast(),
            &raw mut length,
        )
    })?;
    Ok(statistics.tp_drops)
}

/// Offers frames (the first [`BATCH`] of them) without blocking; tells how many the kernel took, in order.
///
/// # Errors
/// That of the first frame, where none was taken: `ENOBUFS` and `EAGAIN` for lack of room.
pub fn send(socket: BorrowedFd<'_>, frames: &[IoSlice<'_>]) -> io::Result<usize> {
    let mut messages = [EMPTY_MESSAGE; BATCH];
    let mut count: libc::c_uint = 0;
    for (message, frame) in messages.iter_mut().zip(frames) {
        // An IoSlice is an iovec (std::io::IoSlice); sending does not write through it.
        message.msg_hdr.msg_iov = std::ptr::from_ref(frame).cast_mut().cast();
        message.msg_hdr.msg_iovlen = 1;
        count += 1;
    }
    // SAFETY: the first `count` messages each point to one slice of `frames`, which outlives the call.
    let taken = check(unsafe {
        libc::sendmmsg(socket.as_raw_fd(), messages.as_mut_ptr(), count, libc::MSG_DONTWAIT)
    })?;
    Ok(usize::try_from(taken).unwrap_or(0))
}

/// Receives what is waiting, at most as many frames as there are buffers, and as `arrivals`, and as
/// [`BATCH`]; never blocks. Tells how many it was.
///
/// # Errors
/// `EAGAIN` where nothing is waiting; `ENETDOWN` once after the interface went down.
pub fn receive(
    socket: BorrowedFd<'_>,
    buffers: &mut [IoSliceMut<'_>],
    arrivals: &mut [Arrival],
) -> io::Result<usize> {
    let mut addresses = [EMPTY_ADDRESS; BATCH];
    let mut messages = [EMPTY_MESSAGE; BATCH];
    let mut count: libc::c_uint = 0;
    for (((message, address), buffer), _) in
        messages.iter_mut().zip(&mut addresses).zip(buffers).zip(arrivals.iter())
    {
        message.msg_hdr.msg_name = std::ptr::from_mut(address).cast();
        message.msg_hdr.msg_namelen = ADDRESS_LENGTH;
        // An IoSliceMut is an iovec (std::io::IoSliceMut).
        message.msg_hdr.msg_iov = std::ptr::from_mut(buffer).cast();
        message.msg_hdr.msg_iovlen = 1;
        count += 1;
    }
    let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
    // SAFETY: the first `count` messages each point to an address of `addresses` and a slice of
    // `buffers`, no two to the same; all outlive the call. Without a timeout the last argument is null.
    let received = check(unsafe {
        libc::recvmmsg(socket.as_raw_fd(), messages.as_mut_ptr(), count, flags, std::ptr::null_mut())
    })?;
    let received = usize::try_from(received).unwrap_or(0);
    for ((arrival, message), address) in arrivals.iter_mut().zip(&messages).zip(&addresses).take(received) {
        arrival.octets = usize::try_from(message.msg_len).unwrap_or(usize::MAX);
        arrival.outgoing = address.sll_pkttype == libc::PACKET_OUTGOING;
    }
    Ok(received)
}

/// Address family of a packet socket, as wide as a socket address has it.
#[expect(clippy::cast_possible_truncation, reason = "AF_PACKET is 17")]
const FAMILY: libc::sa_family_t = libc::AF_PACKET as libc::sa_family_t;

/// `PACKET_MR_PROMISC`, as wide as the request has it.
#[expect(clippy::cast_possible_truncation, reason = "PACKET_MR_PROMISC is 1")]
const PROMISCUOUS: u16 = libc::PACKET_MR_PROMISC as u16;

/// Octets of a packet socket's address.
#[expect(clippy::cast_possible_truncation, reason = "20 octets")]
const ADDRESS_LENGTH: libc::socklen_t = mem::size_of::<libc::sockaddr_ll>() as libc::socklen_t;

/// An address with nothing in it.
const EMPTY_ADDRESS: libc::sockaddr_ll = libc::sockaddr_ll {
    sll_family: 0,
    sll_protocol: 0,
    sll_ifindex: 0,
    sll_hatype: 0,
    sll_pkttype: 0,
    sll_halen: 0,
    sll_addr: [0; 8],
};

/// A message without name, buffers or control data.
// SAFETY: all-zero is a valid mmsghdr: its fields are numbers and pointers that may be null.
const EMPTY_MESSAGE: libc::mmsghdr = unsafe { mem::zeroed() };

/// setsockopt(2) with a value that is a plain C structure.
fn set<T: Copy>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> io::Result<()> {
    let pointer = std::ptr::from_ref(value).cast();
    // SAFETY: the pointer and the length are those of `value`, which outlives the call.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, pointer, length_of(value)) }).map(drop)
}

/// Size of a value as socket calls take it.
fn length_of<T>(value: &T) -> libc::socklen_t {
    libc::socklen_t::try_from(mem::size_of_val(value)).expect("option values are a few octets long")
}

/// A call's result, with errno where it says −1.
fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
