//! What is asked of the kernel about an interface: `struct ifinfomsg` and the attributes after it, as
//! rtnetlink(7) and linux/if_link.h lay them out.
//!
//! A few attributes are all that is needed. A crate that knows every attribute there is weighs 200 kB of the
//! program for them.

use super::rtnl::NO_ADDRESS_GENERATION;
use libc::{AF_INET6, IFLA_AF_SPEC, IFLA_IFNAME, IFLA_INFO_DATA, IFLA_INFO_KIND, IFLA_LINKINFO, IFLA_MTU};
use libc::{RTM_GETLINK, RTM_NEWLINK, RTM_SETLINK};
use netlink_packet_core::{DefaultNla, Emitable, NetlinkPayload, NetlinkSerializable};

/// The other end of a pair, in the data of kind `veth` (linux/veth.h).
const VETH_INFO_PEER: u16 = 1;

/// How IPv6 makes addresses, in the IPv6 part of `IFLA_AF_SPEC` (linux/if_link.h).
pub(super) const IFLA_INET6_ADDR_GEN_MODE: u16 = 8;

bitflags::bitflags! {
    /// What an interface is set to and what it is, as `ifi_flags` has it: those of linux/if.h that matter here,
    /// and whatever else the kernel says.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct LinkFlags: u32 {
        /// Set up by somebody (`IFF_UP`); says nothing of the carrier.
        const UP = 1 << 0;
        /// The loopback interface (`IFF_LOOPBACK`).
        const LOOPBACK = 1 << 3;
        /// Asks nobody for addresses (`IFF_NOARP`).
        const NOARP = 1 << 7;
        const _ = !0;
    }
}

/// A request; its header is put before it by whoever sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinkRequest {
    kind: u16,
    body: Vec<u8>,
}

impl LinkRequest {
    /// To be told about an interface.
    pub(super) fn get(ifindex: u32) -> Self {
        Self { kind: RTM_GETLINK, body: about(ifindex) }
    }

    /// To have those of an interface's flags that are in `mask`.
    pub(super) fn set_flags(ifindex: u32, flags: LinkFlags, mask: LinkFlags) -> Self {
        Self { kind: RTM_SETLINK, body: header(ifindex, flags, mask) }
    }

    /// To let an interface's frames carry payloads of up to `mtu` octets.
    pub(super) fn set_mtu(ifindex: u32, mtu: u32) -> Self {
        let mtu = DefaultNla::new(IFLA_MTU, mtu.to_ne_bytes().into());
        Self { kind: RTM_SETLINK, body: [about(ifindex), octets(&[mtu])].concat() }
    }

    /// To have IPv6 make no address for an interface.
    pub(super) fn generate_no_addresses(ifindex: u32) -> Self {
        let mode = DefaultNla::new(IFLA_INET6_ADDR_GEN_MODE, vec![NO_ADDRESS_GENERATION]);
        let families = nest(IFLA_AF_SPEC, &[nest(INET6, &[mode])]);
        Self { kind: RTM_SETLINK, body: [about(ifindex), octets(&[families])].concat() }
    }

    /// To make a pair of virtual interfaces with these names.
    pub(super) fn new_veth_pair(names: [&str; 2]) -> Self {
        let [near, far] = names.map(|name| text(IFLA_IFNAME, name));
        let far = DefaultNla::new(VETH_INFO_PEER, [about(0), octets(&[far])].concat());
        let info = nest(IFLA_LINKINFO, &[text(IFLA_INFO_KIND, "veth"), nest(IFLA_INFO_DATA, &[far])]);
        Self { kind: RTM_NEWLINK, body: [about(0), octets(&[near, info])].concat() }
    }
}

impl NetlinkSerializable for LinkRequest {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        self.body.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self.body);
    }
}

impl From<LinkRequest> for NetlinkPayload<LinkRequest> {
    fn from(request: LinkRequest) -> Self {
        Self::InnerMessage(request)
    }
}

/// `AF_INET6`, as an attribute of `IFLA_AF_SPEC`.
#[expect(clippy::cast_possible_truncation, reason = "it is 10")]
pub(super) const INET6: u16 = AF_INET6 as u16;

/// `struct ifinfomsg` that says which interface, and nothing else of it.
fn about(ifindex: u32) -> Vec<u8> {
    header(ifindex, LinkFlags::empty(), LinkFlags::empty())
}

/// `struct ifinfomsg`: no family, any type of device.
fn header(ifindex: u32, flags: LinkFlags, mask: LinkFlags) -> Vec<u8> {
    [[0; 4], ifindex.to_ne_bytes(), flags.bits().to_ne_bytes(), mask.bits().to_ne_bytes()].concat()
}

/// An attribute that holds a text, which ends at its zero.
fn text(kind: u16, text: &str) -> DefaultNla {
    DefaultNla::new(kind, [text.as_bytes(), &[0]].concat())
}

/// An attribute that holds attributes.
fn nest(kind: u16, inner: &[DefaultNla]) -> DefaultNla {
    DefaultNla::new(kind, octets(inner))
}

/// Attributes as the kernel reads them, each padded to 4 octets.
fn octets(attributes: &[DefaultNla]) -> Vec<u8> {
    let mut octets = vec![0; attributes.buffer_len()];
    attributes.emit(&mut octets);
    octets
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: LinkFlags = LinkFlags::UP;

    /// What a request says, once it is seen to be of that kind (`RTM_*` of linux/rtnetlink.h).
    fn body_of(kind: u16, request: LinkRequest) -> Vec<u8> {
        assert_eq!(request.message_type(), kind);
        let mut body = vec![0xAA; request.buffer_len()];
        request.serialize(&mut body);
        body
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().copied().flat_map(u32::to_ne_bytes).collect()
    }

    /// An attribute's header: its length with the header, and its kind.
    fn head(length: u16, kind: u16) -> Vec<u8> {
        [length.to_ne_bytes(), kind.to_ne_bytes()].concat()
    }

    #[test]
    fn looking_names_the_interface_and_nothing_else() {
        assert_eq!(body_of(18, LinkRequest::get(7)), words(&[0, 7, 0, 0]));
    }

    #[test]
    fn flags_come_before_their_mask() {
        let request = LinkRequest::set_flags(7, UP, UP | LinkFlags::NOARP);
        assert_eq!(body_of(19, request), words(&[0, 7, 0x01, 0x81]));
    }

    #[test]
    fn an_mtu_is_one_attribute() {
        let expected = [words(&[0, 7, 0, 0]), head(8, 4), words(&[9000])].concat();
        assert_eq!(body_of(19, LinkRequest::set_mtu(7, 9000)), expected);
    }

    #[test]
    fn address_generation_is_inside_ipv6_inside_the_families() {
        let mode = [head(5, 8), vec![1, 0, 0, 0]].concat();
        let expected = [words(&[0, 7, 0, 0]), head(16, 26), head(12, 10), mode].concat();
        assert_eq!(body_of(19, LinkRequest::generate_no_addresses(7)), expected);
    }

    #[test]
    fn a_pair_is_an_interface_whose_data_is_its_peer() {
        let near = [head(7, 3), b"la\0\0".to_vec()].concat();
        let far = [head(8, 3), b"far\0".to_vec()].concat();
        let peer = [head(28, 1), words(&[0, 0, 0, 0]), far].concat();
        let kind = [head(9, 1), b"veth\0\0\0\0".to_vec()].concat();
        let info = [head(48, 18), kind, head(32, 2), peer].concat();
        let expected = [words(&[0, 0, 0, 0]), near, info].concat();
        assert_eq!(body_of(16, LinkRequest::new_veth_pair(["la", "far"])), expected);
    }
}
