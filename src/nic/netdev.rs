//! Both ports as Linux network interfaces: rtnetlink for settings and counters, ethtool for the rest.
//!
//! The interfaces are known by index; a name is only what they are called at the moment.

use super::{Nic, PortIdentity, quiet};
use crate::sys::ethtool::Ethtool;
use crate::sys::rtnl::{Link, LinkFlags, Rtnl};
use measure::counter::PortCounters;
use measure::link::{LinkReading, known_speed};
use measure::record::{SettingReading, text};
use measure::units::{BitRate, Side};
use std::io;

/// Drivers without a MAC that could see a wrong FCS or miss a frame: their zeros are not counts.
const WITHOUT_MAC: [&str; 3] = ["veth", "tun", "virtio_net"];

/// Link modes of 10 Gb/s (`ETHTOOL_LINK_MODE_10000base*_Full_BIT` of linux/ethtool.h): T, KX4, KR, R_FEC,
/// CR, SR, LR, LRM, ER.
const TEN_GIGABIT_MODES: u64 = 1 << 12 | 0b111 << 18 | 0b1_1111 << 41;

/// Two network interfaces.
pub struct Netdevs {
    ports: [Port; 2],
    kernel: Kernel,
    mtu: u32,
}

/// The two ways of asking.
pub(super) struct Kernel {
    pub(super) rtnl: Rtnl,
    pub(super) ethtool: Ethtool,
}

/// One interface.
struct Port {
    ifindex: u32,
    identity: PortIdentity,
    /// What ethtool said, and at which count of carrier changes.
    settings: Option<(u32, Settled)>,
}

/// What stays as it is while the carrier does.
#[derive(Clone, Copy)]
struct Settled {
    speed: BitRate,
    advertises: Option<bool>,
}

/// Why two interfaces cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NetdevError {
    /// The kernel cannot be asked at all.
    #[error("cannot ask the kernel about network interfaces: {0}")]
    Kernel(io::Error),
    /// An interface cannot be looked at.
    #[error("port {port}: cannot look at interface number {ifindex}: {source}")]
    Interface {
        /// Which port it was to be.
        port: Side,
        /// Its index.
        ifindex: u32,
        /// The kernel's word.
        source: io::Error,
    },
}

impl Netdevs {
    /// The interfaces with these indices, in the network namespace of the calling thread, as ports A and B
    /// that are to carry frames with payloads of up to `mtu` octets.
    ///
    /// # Errors
    /// See [`NetdevError`].
    pub fn open(interfaces: [u32; 2], mtu: u32) -> Result<Self, NetdevError> {
        let rtnl = Rtnl::open().map_err(NetdevError::Kernel)?;
        let ethtool = Ethtool::open().map_err(NetdevError::Kernel)?;
        let mut kernel = Kernel { rtnl, ethtool };
        let [a, b] = interfaces;
        let ports = [kernel.port(Side::A, a)?, kernel.port(Side::B, b)?];
        Ok(Self { ports, kernel, mtu })
    }

    fn port(&self, side: Side) -> &Port {
        let [a, b] = &self.ports;
        if side == Side::A { a } else { b }
    }
}

impl Nic for Netdevs {
    fn identity(&self, side: Side) -> PortIdentity {
        self.port(side).identity.clone()
    }

    /// Makes the settings of each port that does not hold them, for which it goes down, and sets both up.
    ///
    /// Promiscuous reception is the doing of whoever listens, and is only read back here.
    fn prepare(&mut self) -> Vec<SettingReading> {
        let mut readings = Vec::new();
        for side in Side::BOTH {
            let ifindex = self.port(side).ifindex;
            readings.extend(quiet::hold(&mut self.kernel, side, ifindex, self.mtu));
        }
        for side in Side::BOTH {
            // A port that cannot be set up shows as one without link.
            let _ = self.set_up(side, true);
        }
        readings
    }

    fn verify(&mut self) -> Vec<SettingReading> {
        let mut readings = Vec::new();
        for side in Side::BOTH {
            let ifindex = self.port(side).ifindex;
            readings.extend(quiet::read(&mut self.kernel, side, ifindex, self.mtu));
        }
        readings
    }

    fn set_up(&mut self, side: Side, up: bool) -> io::Result<()> {
        let flags = if up { LinkFlags::UP } else { LinkFlags::empty() };
        self.kernel.rtnl.set_flags(self.port(side).ifindex, flags, LinkFlags::UP)
    }

    fn link(&mut self, side: Side) -> io::Result<LinkReading> {
        let [a, b] = &mut self.ports;
        let port = if side == Side::A { a } else { b };
        let link = self.kernel.rtnl.link(port.ifindex)?;
        let carrier = carrier(&link);
        let settled = if carrier == Some(true) { port.settled(&self.kernel.ethtool, &link) } else { None };
        Ok(LinkReading {
            carrier,
            speed: settled.map(|settled| settled.speed),
            changes: link.carrier_changes.map(u64::from),
            advertises: settled.and_then(|settled| settled.advertises),
            taken: !link.flags.contains(LinkFlags::UP) || link.master.is_some(),
        })
    }

    fn counters(&mut self, side: Side) -> io::Result<PortCounters> {
        let port = self.port(side);
        let has_mac = !WITHOUT_MAC.contains(&port.identity.driver.as_str());
        let ifindex = port.ifindex;
        let Some(counters) = self.kernel.rtnl.link(ifindex)?.counters else {
            return Ok(PortCounters::default());
        };
        Ok(PortCounters {
            tx_frames: Some(counters.tx_packets),
            rx_frames: Some(counters.rx_packets),
            tx_dropped: Some(counters.tx_dropped),
            rx_dropped: Some(counters.rx_dropped),
            rx_missed: has_mac.then_some(counters.rx_missed_errors),
            crc_errors: has_mac.then_some(counters.rx_crc_errors),
            ..PortCounters::default()
        })
    }
}

impl Kernel {
    fn port(&mut self, port: Side, ifindex: u32) -> Result<Port, NetdevError> {
        let link =
            self.rtnl.link(ifindex).map_err(|source| NetdevError::Interface { port, ifindex, source })?;
        let identity = PortIdentity {
            name: text(&link.name),
            driver: text(self.ethtool.driver(&link.name).unwrap_or_default()),
            mac: link.mac.unwrap_or_default(),
        };
        Ok(Port { ifindex, identity, settings: None })
    }
}

impl Port {
    /// Speed and what is advertised, asked for once after each change of carrier: some drivers ask their
    /// PHY or their firmware, which takes milliseconds.
    fn settled(&mut self, ethtool: &Ethtool, link: &Link) -> Option<Settled> {
        if let Some((changes, settled)) = self.settings
            && Some(changes) == link.carrier_changes
        {
            return Some(settled);
        }
        let settings = ethtool.link_settings(&link.name).ok()?;
        let settled = Settled { speed: speed(settings.speed)?, advertises: advertises(settings.advertised) };
        self.settings = link.carrier_changes.map(|changes| (changes, settled));
        Some(settled)
    }
}

/// Whether there is carrier: a port that is set down has none, whatever its driver remembers.
fn carrier(link: &Link) -> Option<bool> {
    if link.flags.contains(LinkFlags::UP) { link.carrier } else { Some(false) }
}

/// A speed as ethtool tells it, in Mb/s; none for unknown (0, all-ones) and for what is no speed.
fn speed(mbps: u32) -> Option<BitRate> {
    known_speed(i64::from(mbps))
}

/// Whether 10 Gb/s is among the modes; none where there are none at all, as on interfaces without a PHY.
fn advertises(modes: Option<u64>) -> Option<bool> {
    modes.filter(|&modes| modes != 0).map(|modes| modes & TEN_GIGABIT_MODES != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_speeds_are_none() {
        for unknown in [0, u32::MAX, 0xffff, 9_999] {
            assert_eq!(speed(unknown), None, "{unknown}");
        }
        assert_eq!(speed(10_000), Some(BitRate::from_mbps(10_000)));
    }

    #[test]
    fn an_interface_without_modes_advertises_nobody_knows_what() {
        assert_eq!(advertises(None), None);
        assert_eq!(advertises(Some(0)), None);
        assert_eq!(advertises(Some(1 << 5)), Some(false), "1000baseT/Full");
        assert_eq!(advertises(Some(1 << 5 | 1 << 12)), Some(true), "10000baseT/Full");
    }

    #[test]
    fn a_port_that_is_set_down_has_no_carrier() {
        let mut link = Link { carrier: Some(true), ..Link::default() };
        assert_eq!(carrier(&link), Some(false));
        link.flags = LinkFlags::UP;
        assert_eq!(carrier(&link), Some(true));
    }

    #[test]
    fn an_interface_that_is_not_there_is_named_with_its_port() {
        let error = Netdevs::open([1, u32::MAX >> 1], 9000).err().unwrap();
        assert!(
            error.to_string().starts_with("port B: cannot look at interface number 2147483647"),
            "{error}"
        );
    }
}
