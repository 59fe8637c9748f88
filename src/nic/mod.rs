//! What a NIC tells and takes: identity, settings, link, counters.

pub mod find;
pub mod netdev;
mod quiet;

use measure::counter::PortCounters;
use measure::link::LinkReading;
use measure::record::{SettingReading, Text};
use measure::units::{MacAddress, Side};
use std::io;
use std::time::Duration;

/// Who a port is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortIdentity {
    /// Interface name at this moment: for people, never a key.
    pub name: Text,
    /// Driver, empty where unknown.
    pub driver: Text,
    /// Its address.
    pub mac: MacAddress,
}

/// Both ports of the box.
pub trait Nic {
    /// Who port `side` is.
    fn identity(&self, side: Side) -> PortIdentity;

    /// Makes the settings that a run needs (quiet ports, MTU, promiscuous reception, up), then reads each back.
    /// A setting that the driver does not have is reported as not available; nothing is left out.
    fn prepare(&mut self) -> Vec<SettingReading>;

    /// Reads every setting back once more: somebody may have changed one since.
    fn verify(&mut self) -> Vec<SettingReading>;

    /// Sets port `side` administratively up or down.
    ///
    /// # Errors
    /// The kernel's.
    fn set_up(&mut self, side: Side, up: bool) -> io::Result<()>;

    /// Reads port `side`'s link.
    ///
    /// # Errors
    /// The kernel's; `ENODEV` says that the device is gone.
    fn link(&mut self, side: Side) -> io::Result<LinkReading>;

    /// Reads port `side`'s counters.
    ///
    /// # Errors
    /// The kernel's; `ENODEV` says that the device is gone.
    fn counters(&mut self, side: Side) -> io::Result<PortCounters>;

    /// How old a counter may be: one full refresh period of the driver.
    fn refresh(&self) -> Duration {
        Duration::ZERO
    }
}

/// Ports that stay somebody else's.
impl<N: Nic + ?Sized> Nic for &mut N {
    fn identity(&self, side: Side) -> PortIdentity {
        (**self).identity(side)
    }

    fn prepare(&mut self) -> Vec<SettingReading> {
        (**self).prepare()
    }

    fn verify(&mut self) -> Vec<SettingReading> {
        (**self).verify()
    }

    fn set_up(&mut self, side: Side, up: bool) -> io::Result<()> {
        (**self).set_up(side, up)
    }

    fn link(&mut self, side: Side) -> io::Result<LinkReading> {
        (**self).link(side)
    }

    fn counters(&mut self, side: Side) -> io::Result<PortCounters> {
        (**self).counters(side)
    }

    fn refresh(&self) -> Duration {
        (**self).refresh()
    }
}
