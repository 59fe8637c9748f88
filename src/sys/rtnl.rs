//! Interfaces through rtnetlink (rtnetlink(7)): make, change, look.
//!
//! Looking is done every few milliseconds while frames flow, so it reuses its buffer and reads only the
//! attributes it needs; what those hold is the kernel's word and is checked like any other outside data.

pub use super::link_request::LinkFlags;
use super::link_request::{IFLA_INET6_ADDR_GEN_MODE, INET6, LinkRequest};
use measure::units::MacAddress;
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkMessage, NlasIterator};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use std::io;

/// Octets of the reply buffer: a link's attributes are about 2000, and the kernel's own tools take 32 KiB.
const BUFFER_OCTETS: usize = 32 << 10;

/// A conversation with the kernel about interfaces.
pub struct Rtnl {
    socket: Socket,
    buffer: Box<[u8]>,
    sequence: u32,
}

impl Rtnl {
    /// Opens the socket, in the network namespace of the calling thread.
    ///
    /// # Errors
    /// The kernel's.
    pub fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, buffer: vec![0; BUFFER_OCTETS].into(), sequence: 0 })
    }

    /// Makes a pair of virtual interfaces that are each other's other end, both down.
    ///
    /// # Errors
    /// `EEXIST` where a name is taken, `EOPNOTSUPP` where the kernel has no veth.
    pub fn add_veth_pair(&mut self, names: [&str; 2]) -> io::Result<()> {
        self.order(LinkRequest::new_veth_pair(names), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Sets those of an interface's flags that are in `mask`.
    ///
    /// # Errors
    /// `ENODEV` where the interface is gone, `EPERM`.
    pub fn set_flags(&mut self, ifindex: u32, flags: LinkFlags, mask: LinkFlags) -> io::Result<()> {
        self.order(LinkRequest::set_flags(ifindex, flags, mask), 0)
    }

    /// Sets the largest payload of an interface's frames, in octets.
    ///
    /// # Errors
    /// `EINVAL` and `ERANGE` where the device does not carry that, `ENODEV` where it is gone.
    pub fn set_mtu(&mut self, ifindex: u32, mtu: u32) -> io::Result<()> {
        self.order(LinkRequest::set_mtu(ifindex, mtu), 0)
    }

    /// Has IPv6 make no address for an interface by itself.
    ///
    /// # Errors
    /// `EAFNOSUPPORT` where there is no IPv6 on the interface, `ENODEV` where it is gone.
    pub fn generate_no_addresses(&mut self, ifindex: u32) -> io::Result<()> {
        self.order(LinkRequest::generate_no_addresses(ifindex), 0)
    }

    /// Looks at an interface.
    ///
    /// # Errors
    /// `ENODEV` where it is gone; `InvalidData` where the reply is none.
    pub fn link(&mut self, ifindex: u32) -> io::Result<Link> {
        self.send(LinkRequest::get(ifindex), 0)?;
        Link::parse(self.reply()?).ok_or_else(|| malformed("a link"))
    }

    /// Sends an order and waits for it to be carried out.
    fn order(&mut self, request: LinkRequest, flags: u16) -> io::Result<()> {
        self.send(request, flags | NLM_F_ACK)?;
        self.reply().map(drop)
    }

    fn send(&mut self, request: LinkRequest, flags: u16) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut message = NetlinkMessage::from(request);
        message.header.flags = NLM_F_REQUEST | flags;
        message.header.sequence_number = self.sequence;
        message.finalize();
        let length = message.buffer_len();
        let room = self.buffer.get_mut(..length).ok_or_else(|| malformed("a request that fits"))?;
        message.serialize(room);
        self.socket.send(room, 0).map(drop)
    }

    /// The payload of the reply to the last request, empty for a plain "done".
    ///
    /// The kernel has put its reply into the socket before `send` returned: nothing blocks here.
    fn reply(&mut self) -> io::Result<&[u8]> {
        loop {
            let received = self.socket.recv(&mut &mut self.buffer[..], libc::MSG_DONTWAIT)?;
            let reply = Reply::parse(self.buffer.get(..received).unwrap_or(&[]))?;
            if reply.sequence == self.sequence {
                let (from, to) = (HEADER_OCTETS, reply.length);
                return Ok(self.buffer.get(from..to).unwrap_or(&[]));
            }
        }
    }
}

/// A reply's envelope, read and checked.
struct Reply {
    sequence: u32,
    /// Octets of the message, its header counted; 16 where there is no more to it than "done".
    length: usize,
}

/// Octets of `struct nlmsghdr`.
const HEADER_OCTETS: usize = 16;

/// Octets of `struct ifinfomsg`.
const LINK_HEADER_OCTETS: usize = 16;

/// Type of a message that tells how a request ended (linux/netlink.h).
const NLMSG_ERROR: u16 = 2;

impl Reply {
    /// # Errors
    /// The one that the reply tells.
    fn parse(octets: &[u8]) -> io::Result<Self> {
        let short = || malformed("a message");
        let length = usize::try_from(u32_at(octets, 0).ok_or_else(short)?).map_err(|_| short())?;
        let kind = u16_at(octets, 4).ok_or_else(short)?;
        let sequence = u32_at(octets, 8).ok_or_else(short)?;
        if length < HEADER_OCTETS || length > octets.len() {
            return Err(short());
        }
        if kind != NLMSG_ERROR {
            return Ok(Self { sequence, length });
        }
        match u32_at(octets, HEADER_OCTETS).ok_or_else(short)?.cast_signed() {
            0 => Ok(Self { sequence, length: HEADER_OCTETS }),
            code => Err(io::Error::from_raw_os_error(code.saturating_neg())),
        }
    }
}

/// An interface as looked at; none for what the kernel did not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Its name of the moment.
    pub name: heapless::String<{ libc::IFNAMSIZ }>,
    /// Its address, where it has one of 6 octets.
    pub mac: Option<MacAddress>,
    /// Its flags (`IFF_*`).
    pub flags: LinkFlags,
    /// Largest payload in octets.
    pub mtu: Option<u32>,
    /// Carrier.
    pub carrier: Option<bool>,
    /// Index of the bridge or bond that it belongs to, where it does.
    pub master: Option<u32>,
    /// Times that the carrier came or went since the device appeared.
    pub carrier_changes: Option<u32>,
    /// Reasons there are for hearing every address.
    pub promiscuity: Option<u32>,
    /// How IPv6 makes addresses for it; none where there is no IPv6 on it.
    pub address_generation: Option<u8>,
    /// Its counters.
    pub counters: Option<Counters>,
}

/// The counters of `struct rtnl_link_stats64` (linux/if_link.h) that say something here. They are whatever
/// the driver puts there: zero may mean that it does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames received.
    pub rx_packets: u64,
    /// Frames sent.
    pub tx_packets: u64,
    /// Frames received and dropped by the host.
    pub rx_dropped: u64,
    /// Frames dropped on the way out.
    pub tx_dropped: u64,
    /// Frames received with a wrong FCS.
    pub rx_crc_errors: u64,
    /// Frames that the device missed for lack of room.
    pub rx_missed_errors: u64,
}

/// `IN6_ADDR_GEN_MODE_NONE` of linux/if_link.h.
pub const NO_ADDRESS_GENERATION: u8 = 1;

// Attributes of linux/if_link.h.
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_MASTER: u16 = 10;
const IFLA_STATS64: u16 = 23;
const IFLA_AF_SPEC: u16 = 26;
const IFLA_PROMISCUITY: u16 = 30;
const IFLA_CARRIER: u16 = 33;
const IFLA_CARRIER_CHANGES: u16 = 35;

impl Link {
    /// Reads `struct ifinfomsg` and the attributes after it; attributes that make no sense are left out, and
    /// what follows a broken one is not read.
    fn parse(octets: &[u8]) -> Option<Self> {
        let flags = LinkFlags::from_bits_retain(u32_at(octets, 8)?);
        let mut link = Self { flags, ..Self::default() };
        for attribute in NlasIterator::new(octets.get(LINK_HEADER_OCTETS..)?).map_while(Result::ok) {
            link.take(attribute.kind(), attribute.value());
        }
        Some(link)
    }

    fn take(&mut self, kind: u16, value: &[u8]) {
        match kind {
            IFLA_ADDRESS => self.mac = value.try_into().ok().map(MacAddress),
            IFLA_IFNAME => self.name = name(value).unwrap_or_default(),
            IFLA_MTU => self.mtu = u32_at(value, 0),
            IFLA_MASTER => self.master = u32_at(value, 0).filter(|&index| index != 0),
            IFLA_CARRIER => self.carrier = value.first().map(|&carrier| carrier != 0),
            IFLA_CARRIER_CHANGES => self.carrier_changes = u32_at(value, 0),
            IFLA_PROMISCUITY => self.promiscuity = u32_at(value, 0),
            IFLA_STATS64 => self.counters = Counters::parse(value),
            IFLA_AF_SPEC => {
                self.address_generation = nested(value, INET6)
                    .and_then(|inet6| nested(inet6, IFLA_INET6_ADDR_GEN_MODE))
                    .and_then(|mode| mode.first().copied());
            }
            _ => {}
        }
    }
}

impl Counters {
    fn parse(value: &[u8]) -> Option<Self> {
        let counter = |index: usize| {
            let octets = value.get(index * 8..index * 8 + 8)?;
            Some(u64::from_ne_bytes(octets.try_into().ok()?))
        };
        // Indices are the places in the structure, in u64.
        Some(Self {
            rx_packets: counter(0)?,
            tx_packets: counter(1)?,
            rx_dropped: counter(6)?,
            tx_dropped: counter(7)?,
            rx_crc_errors: counter(12)?,
            rx_missed_errors: counter(15)?,
        })
    }
}

/// The value of the attribute `kind` among those in `octets`.
fn nested(octets: &[u8], kind: u16) -> Option<&[u8]> {
    let mut rest = octets;
    loop {
        let length = usize::from(u16_at(rest, 0)?);
        let found = u16_at(rest, 2)? & netlink_packet_core::NLA_TYPE_MASK == kind;
        let value = rest.get(4..length)?;
        if found {
            return Some(value);
        }
        rest = rest.get(length.next_multiple_of(4)..)?;
    }
}

/// A name, which ends at its zero.
fn name(value: &[u8]) -> Option<heapless::String<{ libc::IFNAMSIZ }>> {
    let octets = value.split(|&octet| octet == 0).next()?;
    heapless::String::try_from(std::str::from_utf8(octets).ok()?).ok()
}

fn u16_at(octets: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(octets.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(octets: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(octets.get(at..at + 4)?.try_into().ok()?))
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the kernel's answer is not {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An attribute as the kernel lays it out.
    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let length = u16::try_from(4 + value.len()).unwrap();
        let mut octets = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
        octets.extend(value);
        octets.resize(octets.len().next_multiple_of(4), 0);
        octets
    }

    fn link(attributes: &[Vec<u8>]) -> Vec<u8> {
        let mut octets = vec![0; LINK_HEADER_OCTETS];
        octets.extend(attributes.concat());
        octets
    }

    #[test]
    fn counters_are_taken_from_their_places() {
        let raw: Vec<u8> = (100..125u64).flat_map(u64::to_ne_bytes).collect();
        let parsed = Link::parse(&link(&[attribute(IFLA_STATS64, &raw)])).unwrap().counters.unwrap();
        let expected = Counters {
            rx_packets: 100,
            tx_packets: 101,
            rx_dropped: 106,
            tx_dropped: 107,
            rx_crc_errors: 112,
            rx_missed_errors: 115,
        };
        assert_eq!(parsed, expected);
    }

    #[test]
    fn what_is_not_told_is_none() {
        let parsed = Link::parse(&link(&[])).unwrap();
        assert_eq!(parsed, Link::default());
    }

    #[test]
    fn attributes_of_a_wrong_length_are_none() {
        let parsed = Link::parse(&link(&[
            attribute(IFLA_ADDRESS, &[1; 20]),
            attribute(IFLA_MTU, &[1, 2]),
            attribute(IFLA_STATS64, &[0; 40]),
            attribute(IFLA_IFNAME, &[b'x'; 40]),
            attribute(IFLA_CARRIER, &[]),
        ]));
        assert_eq!(parsed, Some(Link::default()));
    }

    #[test]
    fn address_generation_is_found_inside_its_family() {
        let mode = attribute(IFLA_INET6_ADDR_GEN_MODE, &[NO_ADDRESS_GENERATION]);
        let inet6 = [attribute(1, &[0; 4]), mode.clone()].concat();
        let families = [attribute(2, &mode), attribute(INET6 | 0x8000, &inet6)].concat();
        let parsed = Link::parse(&link(&[attribute(IFLA_AF_SPEC, &families)])).unwrap();
        assert_eq!(parsed.address_generation, Some(NO_ADDRESS_GENERATION));
    }

    #[test]
    fn a_refusal_is_the_kernels_error() {
        let mut octets = vec![0; 36];
        octets[..4].copy_from_slice(&36u32.to_ne_bytes());
        octets[4..6].copy_from_slice(&NLMSG_ERROR.to_ne_bytes());
        octets[16..20].copy_from_slice(&(-libc::ENODEV).to_ne_bytes());
        let error = Reply::parse(&octets).err().unwrap();
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
    }

    #[test]
    fn an_interface_that_is_not_there_is_no_device() {
        let error = Rtnl::open().unwrap().link(u32::MAX >> 1).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
    }

    #[test]
    fn the_loopback_interface_can_be_looked_at() {
        let link = Rtnl::open().unwrap().link(1).unwrap();
        assert_eq!(link.name, "lo");
        assert!(link.flags.contains(LinkFlags::LOOPBACK));
        assert!(link.counters.is_some());
    }

    proptest! {
        #[test]
        fn no_octets_are_too_odd_to_read(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Link::parse(&octets);
            let _ = Reply::parse(&octets);
            let _ = nested(&octets, INET6);
        }

        #[test]
        fn broken_attribute_lengths_are_survived(
            kinds in proptest::collection::vec((0u16..40, 0u16..64), 0..12),
        ) {
            let mut octets = vec![0; LINK_HEADER_OCTETS];
            for (kind, length) in kinds {
                octets.extend(length.to_ne_bytes());
                octets.extend(kind.to_ne_bytes());
                octets.extend([7; 12]);
            }
            let _ = Link::parse(&octets);
        }
    }
}
