//! The software cables with a box around them: a private network, two interfaces and a rig over them.

use super::HostRefused;
use crate::cable::account::Account;
use crate::cable::emulated::EmulatedCable;
use crate::cable::runner::{Live, RunningCable};
use crate::cable::tap::TapCable;
use crate::cable::veth;
use crate::clock::Monotonic;
use crate::host::namespace;
use crate::nic::netdev::Netdevs;
use crate::nic::{Nic, PortIdentity};
use crate::rig::sockets::SocketRig;
use measure::counter::PortCounters;
use measure::link::LinkReading;
use measure::record::SettingReading;
use measure::units::{BitRate, Side};
use std::io;

/// The interfaces' names in the private network.
const NAMES: [&str; 2] = ["portA", "portB"];

/// Two ends of a veth pair in a private network.
pub(super) struct VirtualBox {
    interfaces: [u32; 2],
    mtu: u16,
}

impl VirtualBox {
    /// Moves this process into a private network and makes the pair there. No thread may run yet.
    ///
    /// # Errors
    /// What the host refused.
    pub(super) fn new(mtu: u16) -> Result<Self, HostRefused> {
        namespace::enter_private().map_err(HostRefused::because)?;
        let interfaces = veth::create(NAMES).map_err(HostRefused::because)?;
        Ok(Self { interfaces, mtu })
    }

    /// A rig over the pair.
    ///
    /// # Errors
    /// What the host refused.
    pub(super) fn rig(&self, clock: Monotonic) -> Result<SocketRig<Netdevs>, HostRefused> {
        let nic = Netdevs::open(self.interfaces, u32::from(self.mtu)).map_err(HostRefused::because)?;
        Ok(SocketRig::new(nic, self.interfaces, clock))
    }
}

/// Two TAP devices in a private network with an emulated cable between them.
pub(super) struct EmulatedBox {
    cable: RunningCable,
    mtu: u16,
}

impl EmulatedBox {
    /// Moves this process into a private network and makes the devices there. No thread may run yet.
    ///
    /// # Errors
    /// What the host refused.
    pub(super) fn new(cable: EmulatedCable, mtu: u16) -> Result<Self, HostRefused> {
        namespace::enter_private().map_err(HostRefused::because)?;
        let cable = TapCable::new(NAMES, cable).map_err(HostRefused::because)?;
        Ok(Self { cable: cable.start().map_err(HostRefused::because)?, mtu })
    }

    /// A rig over the devices.
    ///
    /// # Errors
    /// What the host refused.
    pub(super) fn rig(&self, clock: Monotonic) -> Result<SocketRig<EmulatedPorts>, HostRefused> {
        let index = |name: &str| {
            nix::net::if_::if_nametoindex(name)
                .map_err(|error| HostRefused::new(format_args!("interface {name}"), error))
        };
        let [a, b] = NAMES;
        let interfaces = [index(a)?, index(b)?];
        let inner = Netdevs::open(interfaces, u32::from(self.mtu)).map_err(HostRefused::because)?;
        let nic = EmulatedPorts { inner, cable: self.cable.live() };
        Ok(SocketRig::new(nic, interfaces, clock))
    }

    /// Ends the cable and tells its own account.
    pub(super) fn account(self) -> Account {
        self.cable.stop()
    }
}

/// TAP devices whose MACs are the emulated cable's: what a MAC counts and negotiates, it tells.
pub(super) struct EmulatedPorts {
    inner: Netdevs,
    cable: Live,
}

/// The link speed that the emulated MACs negotiate; a TAP device itself has none.
const EMULATED_SPEED: BitRate = BitRate::from_mbps(10_000);

impl Nic for EmulatedPorts {
    fn identity(&self, side: Side) -> PortIdentity {
        self.inner.identity(side)
    }

    fn prepare(&mut self) -> Vec<SettingReading> {
        self.inner.prepare()
    }

    fn verify(&mut self) -> Vec<SettingReading> {
        self.inner.verify()
    }

    fn set_up(&mut self, side: Side, up: bool) -> io::Result<()> {
        self.inner.set_up(side, up)
    }

    fn link(&mut self, side: Side) -> io::Result<LinkReading> {
        let reading = self.inner.link(side)?;
        let speed = reading.carrier.filter(|&up| up).map(|_| EMULATED_SPEED);
        Ok(LinkReading { speed, advertises: Some(true), ..reading })
    }

    fn counters(&mut self, side: Side) -> io::Result<PortCounters> {
        let mac = self.cable.mac(side);
        // The kernel counts a frame as sent when the cable's thread has read it. What counts is the other end of
        // that thread: a frame that it still holds, because the host gave it no time, is not on the wire.
        let (tx_frames, crc_errors) = (Some(mac.tx_frames), Some(mac.crc_errors));
        Ok(PortCounters { tx_frames, crc_errors, ..self.inner.counters(side)? })
    }
}
