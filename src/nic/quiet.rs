//! Ports that say nothing by themselves and carry what they have to: settings made, then read back.
//!
//! A fresh interface sends router solicitations and multicast listener reports as soon as its link is up
//! (RFC 4861, 6.3.7; RFC 3810, 6.1). On a gauge's port every such frame is a stray, so all of this is done
//! with the port down.

use super::netdev::Kernel;
use crate::sys::rtnl::{LinkFlags, NO_ADDRESS_GENERATION};
use measure::record::{Held, SettingReading, Text, text};
use measure::units::Side;
use measure::verdict::Setting;
use std::io;
use std::path::{Path, PathBuf};

/// What reading back gave.
#[derive(Debug, PartialEq, Eq)]
enum Got {
    /// This.
    Is(Text),
    /// There is no such thing at this port.
    NotAvailable,
    /// An error.
    Unreadable,
}

/// Sees to it that one port holds the settings, and reads each back. A port that holds them all is left alone:
/// its link, which can take seconds to come up, stays. Any other is down afterwards.
///
/// What a port does not have is not required of it.
pub(super) fn hold(kernel: &mut Kernel, port: Side, ifindex: u32, mtu: u32) -> Vec<SettingReading> {
    let readings = read(kernel, port, ifindex, mtu);
    let is_ours = |reading: &SettingReading| reading.setting != Setting::Promiscuous;
    if readings.iter().filter(|reading| is_ours(reading)).all(|reading| reading.held != Held::No) {
        return readings;
    }
    order(kernel, ifindex, mtu);
    read(kernel, port, ifindex, mtu)
}

fn order(kernel: &mut Kernel, ifindex: u32, mtu: u32) {
    let name = kernel.name(ifindex);
    // Whatever an order's outcome, what counts is what is read back.
    let _ = kernel.rtnl.set_flags(ifindex, LinkFlags::empty(), LinkFlags::UP);
    // First of all, because IPv6 leaves an interface whose MTU falls under 1280 and comes back to it anew.
    let _ = kernel.rtnl.set_mtu(ifindex, mtu);
    Ipv6Switch::of(Path::new("/proc/sys"), &name).turn_off();
    let _ = kernel.rtnl.generate_no_addresses(ifindex);
    let _ = kernel.rtnl.set_flags(ifindex, LinkFlags::NOARP, LinkFlags::NOARP);
    let _ = kernel.ethtool.pause_off(&name);
    let _ = kernel.ethtool.energy_efficient_off(&name);
}

/// Reads the settings of one port back.
pub(super) fn read(kernel: &mut Kernel, port: Side, ifindex: u32, mtu: u32) -> Vec<SettingReading> {
    let name = kernel.name(ifindex);
    let ipv6 = Ipv6Switch::of(Path::new("/proc/sys"), &name);
    let rows = [
        (Setting::Mtu, text(mtu), kernel.mtu(ifindex)),
        (Setting::Ipv6, text("off"), ipv6.read()),
        (Setting::AddressGeneration, text("none"), kernel.address_generation(ifindex)),
        (Setting::Arp, text("off"), kernel.arp(ifindex)),
        (Setting::Promiscuous, text("on"), kernel.promiscuous(ifindex)),
        (Setting::Pause, text("off"), kernel.pause(&name)),
        (Setting::Eee, text("off"), kernel.energy_efficient(&name)),
    ];
    rows.map(|(setting, wanted, got)| reading(setting, port, wanted, got)).into()
}

fn reading(setting: Setting, port: Side, wanted: Text, got: Got) -> SettingReading {
    let (held, got) = match got {
        Got::Is(got) if got == wanted => (Held::Yes, got),
        Got::Is(got) => (Held::No, got),
        Got::NotAvailable => (Held::NotAvailable, Text::new()),
        Got::Unreadable => (Held::No, Text::new()),
    };
    let required = held != Held::NotAvailable;
    SettingReading { setting, port: Some(port), wanted, got, held, required }
}

impl Kernel {
    /// What the interface is called now; empty where it is gone.
    fn name(&mut self, ifindex: u32) -> String {
        self.rtnl.link(ifindex).map(|link| link.name.as_str().to_owned()).unwrap_or_default()
    }

    fn mtu(&mut self, ifindex: u32) -> Got {
        match self.rtnl.link(ifindex) {
            Ok(link) => link.mtu.map_or(Got::Unreadable, |mtu| Got::Is(text(mtu))),
            Err(_) => Got::Unreadable,
        }
    }

    fn address_generation(&mut self, ifindex: u32) -> Got {
        match self.rtnl.link(ifindex).map(|link| link.address_generation) {
            Ok(None) => Got::NotAvailable,
            Ok(Some(NO_ADDRESS_GENERATION)) => Got::Is(text("none")),
            Ok(Some(mode)) => Got::Is(text(format_args!("mode {mode}"))),
            Err(_) => Got::Unreadable,
        }
    }

    fn arp(&mut self, ifindex: u32) -> Got {
        match self.rtnl.link(ifindex) {
            Ok(link) => on_or_off(!link.flags.contains(LinkFlags::NOARP)),
            Err(_) => Got::Unreadable,
        }
    }

    fn promiscuous(&mut self, ifindex: u32) -> Got {
        match self.rtnl.link(ifindex).map(|link| link.promiscuity) {
            Ok(Some(reasons)) => on_or_off(reasons > 0),
            _ => Got::Unreadable,
        }
    }

    fn pause(&self, name: &str) -> Got {
        match self.ethtool.pause(name) {
            Ok(pause) => on_or_off(pause.receive || pause.transmit),
            Err(error) => refusal(&error),
        }
    }

    fn energy_efficient(&self, name: &str) -> Got {
        match self.ethtool.energy_efficient(name) {
            Ok(enabled) => on_or_off(enabled),
            Err(error) => refusal(&error),
        }
    }
}

fn on_or_off(on: bool) -> Got {
    Got::Is(text(if on { "on" } else { "off" }))
}

/// A driver that does not know a setting does not have it.
fn refusal(error: &io::Error) -> Got {
    if error.raw_os_error() == Some(libc::EOPNOTSUPP) { Got::NotAvailable } else { Got::Unreadable }
}

/// The switch that takes IPv6 off one interface (`disable_ipv6`, kernel document networking/ip-sysctl).
///
/// It is reached through /proc, which shows the network namespace of whoever reads it; /sys would show that
/// in which it was mounted.
struct Ipv6Switch {
    /// Where sysctls of networking are.
    net: PathBuf,
    file: PathBuf,
}

impl Ipv6Switch {
    fn of(sysctls: &Path, interface: &str) -> Self {
        let net = sysctls.join("net");
        let file = net.join("ipv6/conf").join(interface).join("disable_ipv6");
        Self { net, file }
    }

    fn turn_off(&self) {
        // A file that cannot be written (a container may have it read-only) shows in what is read back.
        let _ = std::fs::write(&self.file, "1");
    }

    /// No file where there are others of its kind: no IPv6 on this interface, or in this kernel.
    fn read(&self) -> Got {
        match std::fs::read_to_string(&self.file) {
            Ok(disabled) => on_or_off(disabled.trim() != "1"),
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.net.is_dir() => Got::NotAvailable,
            Err(_) => Got::Unreadable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_a_port_does_not_have_is_not_required() {
        let row = reading(Setting::Pause, Side::A, text("off"), Got::NotAvailable);
        assert_eq!((row.held, row.required, row.got.as_str()), (Held::NotAvailable, false, ""));
    }

    #[test]
    fn a_setting_that_is_not_as_wanted_or_cannot_be_read_is_not_held() {
        let other = reading(Setting::Mtu, Side::B, text(9000), Got::Is(text(1500)));
        assert_eq!((other.held, other.required, other.got.as_str()), (Held::No, true, "1500"));
        let unreadable = reading(Setting::Mtu, Side::B, text(9000), Got::Unreadable);
        assert_eq!((unreadable.held, unreadable.required), (Held::No, true));
    }

    #[test]
    fn ipv6_is_off_after_it_was_turned_off() {
        let root = tempfile::tempdir().unwrap();
        let interface = root.path().join("net/ipv6/conf/port0");
        std::fs::create_dir_all(&interface).unwrap();
        std::fs::write(interface.join("disable_ipv6"), "0\n").unwrap();
        let switch = Ipv6Switch::of(root.path(), "port0");
        assert_eq!(switch.read(), Got::Is(text("on")));
        switch.turn_off();
        assert_eq!(switch.read(), Got::Is(text("off")));
    }

    #[test]
    fn a_kernel_without_ipv6_has_no_switch_for_it() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("net/core")).unwrap();
        assert_eq!(Ipv6Switch::of(root.path(), "port0").read(), Got::NotAvailable);
    }

    #[test]
    fn without_proc_nobody_knows_whether_ipv6_is_off() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(Ipv6Switch::of(root.path(), "port0").read(), Got::Unreadable);
    }
}
