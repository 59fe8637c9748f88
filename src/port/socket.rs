//! A packet socket that hears one thing on one interface, or only sends.
//!
//! The order matters: opened with protocol 0, options and filter set, and only then bound. Between
//! opening and binding, a socket with a protocol would hear every interface.

use crate::packet::{self, Arrival, Instruction};
use nix::sys::socket::{SetSockOpt, getsockopt, setsockopt, sockopt};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, OwnedFd};

/// Room asked for in a socket's buffers, in octets: some ten milliseconds of 10 Gb/s. Without
/// CAP_NET_ADMIN in the host's own user namespace the kernel grants no more than `net.core.rmem_max`.
const BUFFER_OCTETS: usize = 16 << 20;

/// Why there is no packet socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// It could not be opened.
    #[error("cannot open a packet socket, which takes CAP_NET_RAW: {0}")]
    Open(io::Error),
    /// It does not take an option.
    #[error("a packet socket refuses the option {option}: {source}")]
    Option {
        /// The option's name in packet(7) or socket(7).
        option: &'static str,
        /// The kernel's word.
        source: io::Error,
    },
    /// It cannot be bound.
    #[error(
        "cannot bind a packet socket to interface number {ifindex}, ethertype {ethertype:#06x}: {source}"
    )]
    Bind {
        /// Index of the interface.
        ifindex: u32,
        /// Ethertype that was to be heard.
        ethertype: u16,
        /// The kernel's word.
        source: io::Error,
    },
}

/// A non-blocking packet socket.
#[derive(Debug)]
pub struct PacketSocket {
    fd: OwnedFd,
}

impl PacketSocket {
    /// A socket that only sends, straight into the driver.
    ///
    /// # Errors
    /// See [`SocketError`].
    pub fn sender(ifindex: u32) -> Result<Self, SocketError> {
        let socket = Self::open()?;
        socket.option("PACKET_QDISC_BYPASS", libc::PACKET_QDISC_BYPASS, 1)?;
        socket.widen(sockopt::SndBufForce, sockopt::SndBuf);
        socket.bind(ifindex, 0)
    }

    /// A socket that hears frames of one ethertype.
    ///
    /// # Errors
    /// See [`SocketError`].
    pub fn receiver(ifindex: u32, ethertype: u16) -> Result<Self, SocketError> {
        Self::open_receiver()?.bind(ifindex, ethertype)
    }

    /// A socket that hears what `filter` passes, to whichever address it was sent.
    ///
    /// # Errors
    /// See [`SocketError`].
    pub fn listener(ifindex: u32, filter: &[Instruction]) -> Result<Self, SocketError> {
        let socket = Self::open_receiver()?;
        packet::attach_filter(socket.fd.as_fd(), filter).map_err(refused("SO_ATTACH_FILTER"))?;
        packet::listen_to_every_address(socket.fd.as_fd(), ifindex)
            .map_err(refused("PACKET_ADD_MEMBERSHIP"))?;
        socket.bind(ifindex, ETH_P_ALL)
    }

    /// Offers frames; tells how many the kernel took, counted from the first.
    ///
    /// # Errors
    /// Where it took none: `ENOBUFS` and `EAGAIN` for lack of room, and what the interface says.
    pub fn send(&self, frames: &[IoSlice<'_>]) -> io::Result<usize> {
        packet::send(self.fd.as_fd(), frames)
    }

    /// Receives what is waiting; 0 says that nothing is.
    ///
    /// An interface that is down has nothing waiting either: the kernel tells that once to each socket, but
    /// whether there is a link is for the link's reader to say.
    ///
    /// # Errors
    /// The socket's: `ENODEV` where the interface is gone.
    pub fn receive(&self, buffers: &mut [IoSliceMut<'_>], arrivals: &mut [Arrival]) -> io::Result<usize> {
        match packet::receive(self.fd.as_fd(), buffers, arrivals) {
            Err(error)
                if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENETDOWN | libc::EINTR)) =>
            {
                Ok(0)
            }
            other => other,
        }
    }

    /// Frames dropped for lack of room since this was last asked.
    ///
    /// # Errors
    /// The socket's.
    pub fn take_drops(&self) -> io::Result<u32> {
        packet::take_drops(self.fd.as_fd())
    }

    /// Octets of kernel memory the socket may fill with frames not yet received; none where the kernel does
    /// not say. The kernel counts its own overhead in: it grants twice what is asked for (socket(7)).
    #[must_use]
    pub fn receive_buffer(&self) -> Option<usize> {
        getsockopt(&self.fd, sockopt::RcvBuf).ok()
    }

    fn open() -> Result<Self, SocketError> {
        packet::open().map(|fd| Self { fd }).map_err(SocketError::Open)
    }

    fn open_receiver() -> Result<Self, SocketError> {
        let socket = Self::open()?;
        socket.option("PACKET_IGNORE_OUTGOING", libc::PACKET_IGNORE_OUTGOING, 1)?;
        socket.widen(sockopt::RcvBufForce, sockopt::RcvBuf);
        Ok(socket)
    }

    fn option(&self, name: &'static str, option: libc::c_int, value: libc::c_int) -> Result<(), SocketError> {
        packet::set_option(self.fd.as_fd(), option, value).map_err(refused(name))
    }

    /// A larger buffer where the kernel lets us. One that stays small is no error: what it drops is counted.
    fn widen(&self, forced: impl SetSockOpt<Val = usize>, granted: impl SetSockOpt<Val = usize>) {
        if setsockopt(&self.fd, forced, &BUFFER_OCTETS).is_err() {
            let _ = setsockopt(&self.fd, granted, &BUFFER_OCTETS);
        }
    }

    fn bind(self, ifindex: u32, ethertype: u16) -> Result<Self, SocketError> {
        packet::bind(self.fd.as_fd(), ifindex, ethertype).map_err(|source| SocketError::Bind {
            ifindex,
            ethertype,
            source,
        })?;
        Ok(self)
    }
}

/// Ethertype that stands for every frame (linux/if_ether.h).
const ETH_P_ALL: u16 = 0x0003;

fn refused(option: &'static str) -> impl FnOnce(io::Error) -> SocketError {
    move |source| SocketError::Option { option, source }
}
