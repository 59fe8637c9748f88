//! The ethtool ioctls (linux/ethtool.h): driver, speed, pause, energy-efficient Ethernet.
//!
//! Each interface is named by its name of the moment, which is all that these calls take.

use std::ffi::c_char;
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// A socket to ask through.
#[derive(Debug)]
pub struct Ethtool {
    socket: OwnedFd,
}

/// What a port is set to and what it offers, as far as the kernel knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkSettings {
    /// Speed in Mb/s as the driver tells it: 0 and all-ones stand for unknown.
    pub speed: u32,
    /// Link modes advertised, bit 0 first, 64 of them (the 10 Gb/s ones end at 45); none where the kernel
    /// tells no modes.
    pub advertised: Option<u64>,
}

/// Link-level flow control of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// It is negotiated.
    pub negotiated: bool,
    /// Pause frames are obeyed.
    pub receive: bool,
    /// Pause frames are sent.
    pub transmit: bool,
}

impl Ethtool {
    /// Opens the socket.
    ///
    /// # Errors
    /// The kernel's.
    pub fn open() -> io::Result<Self> {
        use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
        let socket = socket(AddressFamily::Unix, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
        Ok(Self { socket })
    }

    /// Name of the driver of `interface`.
    ///
    /// # Errors
    /// `EOPNOTSUPP` where there is none to tell, `ENODEV` where there is no such interface.
    pub fn driver(&self, interface: &str) -> io::Result<String> {
        let mut info =
            DriverInfo { command: ETHTOOL_GDRVINFO, version: [0; 32], driver: [0; 32], rest: [0; 128] };
        self.ask(interface, &mut info)?;
        let name = info.driver.split(|&octet| octet == 0).next().unwrap_or(&[]);
        Ok(String::from_utf8_lossy(name).into_owned())
    }

    /// Speed and modes of `interface`.
    ///
    /// # Errors
    /// `EOPNOTSUPP` where the driver cannot tell, `ENODEV` where there is no such interface.
    pub fn link_settings(&self, interface: &str) -> io::Result<LinkSettings> {
        let mut settings = Settings { command: ETHTOOL_GLINKSETTINGS, ..Settings::default() };
        // The first answer only tells how many words a set of modes has, as a negative number.
        self.ask(interface, &mut settings)?;
        let words = settings.mode_words.checked_neg().filter(|&words| words > 0);
        settings = Settings {
            command: ETHTOOL_GLINKSETTINGS,
            mode_words: words.unwrap_or(0),
            ..Settings::default()
        };
        self.ask(interface, &mut settings)?;
        Ok(LinkSettings { speed: settings.speed, advertised: settings.advertised() })
    }

    /// Flow control of `interface`.
    ///
    /// # Errors
    /// `EOPNOTSUPP` where the driver has none, `ENODEV` where there is no such interface.
    pub fn pause(&self, interface: &str) -> io::Result<Pause> {
        let mut pause = PauseParameters { command: ETHTOOL_GPAUSEPARAM, ..PauseParameters::default() };
        self.ask(interface, &mut pause)?;
        Ok(Pause {
            negotiated: pause.negotiated != 0,
            receive: pause.receive != 0,
            transmit: pause.transmit != 0,
        })
    }

    /// Turns flow control of `interface` off.
    ///
    /// # Errors
    /// `EOPNOTSUPP` where the driver has none, `ENODEV` where there is no such interface.
    pub fn pause_off(&self, interface: &str) -> io::Result<()> {
        let mut pause = PauseParameters { command: ETHTOOL_SPAUSEPARAM, ..PauseParameters::default() };
        self.ask(interface, &mut pause)
    }

    /// Whether energy-efficient Ethernet of `interface` is enabled.
    ///
    /// # Errors
    /// `EOPNOTSUPP` where the driver has none, `ENODEV` where there is no such interface.
    pub fn energy_efficient(&self, interface: &str) -> io::Result<bool> {
        let mut eee = EnergyEfficient { command: ETHTOOL_GEEE, ..EnergyEfficient::default() };
        self.ask(interface, &mut eee)?;
        Ok(eee.enabled != 0)
    }

    /// Turns energy-efficient Ethernet of `interface` off.
    ///
    /// # Errors
    /// `EOPNOTSUPP` where the driver has none, `ENODEV` where there is no such interface.
    pub fn energy_efficient_off(&self, interface: &str) -> io::Result<()> {
        let mut eee = EnergyEfficient { command: ETHTOOL_GEEE, ..EnergyEfficient::default() };
        self.ask(interface, &mut eee)?;
        eee.command = ETHTOOL_SEEE;
        eee.enabled = 0;
        eee.sends_low_power_idle = 0;
        self.ask(interface, &mut eee)
    }

    fn ask<T: Request>(&self, interface: &str, request: &mut T) -> io::Result<()> {
        let mut envelope =
            Envelope { name: name(interface)?, request: std::ptr::from_mut(request).cast(), rest: [0; REST] };
        // SAFETY: the envelope is an ifreq whose data points to a request of the kernel's layout, which
        // tells its own length by its command; both outlive the call.
        let result = unsafe { libc::ioctl(self.socket.as_fd().as_raw_fd(), SIOCETHTOOL, &raw mut envelope) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// A structure that begins with its command and has the layout that the kernel has for it.
///
/// # Safety
/// The kernel writes as much as the command's structure holds: the type has to be no smaller.
unsafe trait Request {}

/// `SIOCETHTOOL` of linux/sockios.h; the type differs between C libraries.
const SIOCETHTOOL: libc::Ioctl = 0x8946;

// Commands of linux/ethtool.h.
const ETHTOOL_GDRVINFO: u32 = 0x03;
const ETHTOOL_GPAUSEPARAM: u32 = 0x12;
const ETHTOOL_SPAUSEPARAM: u32 = 0x13;
const ETHTOOL_GEEE: u32 = 0x44;
const ETHTOOL_SEEE: u32 = 0x45;
const ETHTOOL_GLINKSETTINGS: u32 = 0x4c;

/// Octets of `struct ifreq` after the pointer: its union is 24 octets on 64-bit machines, 16 on 32-bit ones.
const REST: usize = mem::size_of::<libc::ifreq>() - libc::IFNAMSIZ - mem::size_of::<*mut u8>();

/// `struct ifreq` of net/if.h with a pointer in it.
#[repr(C)]
struct Envelope {
    name: [c_char; libc::IFNAMSIZ],
    request: *mut u8,
    rest: [u8; REST],
}

const _: () = assert!(mem::size_of::<Envelope>() == mem::size_of::<libc::ifreq>());

/// `struct ethtool_drvinfo`.
#[repr(C)]
struct DriverInfo {
    command: u32,
    driver: [u8; 32],
    version: [u8; 32],
    rest: [u8; 128],
}

const _: () = assert!(mem::size_of::<DriverInfo>() == 196);
// SAFETY: struct ethtool_drvinfo has 196 octets.
unsafe impl Request for DriverInfo {}

/// `struct ethtool_pauseparam`.
#[repr(C)]
#[derive(Default)]
struct PauseParameters {
    command: u32,
    negotiated: u32,
    receive: u32,
    transmit: u32,
}

// SAFETY: the structure of the header, field by field.
unsafe impl Request for PauseParameters {}

/// `struct ethtool_eee`.
#[repr(C)]
#[derive(Default)]
struct EnergyEfficient {
    command: u32,
    supported: u32,
    advertised: u32,
    partner_advertised: u32,
    active: u32,
    enabled: u32,
    sends_low_power_idle: u32,
    timer: u32,
    reserved: [u32; 2],
}

// SAFETY: the structure of the header, field by field.
unsafe impl Request for EnergyEfficient {}

/// Words that three sets of modes take at most: their count is a signed octet.
const MODE_WORDS: usize = 3 * 127;

/// `struct ethtool_link_settings`, with room for every number of modes.
#[repr(C)]
struct Settings {
    command: u32,
    speed: u32,
    /// Duplex, port, PHY address, negotiation, MDIO support, two about MDI-X.
    octets: [u8; 7],
    mode_words: i8,
    transceiver: u8,
    primary: [u8; 3],
    reserved: [u32; 7],
    /// Supported, advertised, and advertised by the partner.
    modes: [u32; MODE_WORDS],
}

const _: () = assert!(mem::offset_of!(Settings, modes) == 48);
// SAFETY: the header of 48 octets, and as many words as the kernel can be asked for.
unsafe impl Request for Settings {}

impl Default for Settings {
    fn default() -> Self {
        Self {
            command: 0,
            speed: 0,
            octets: [0; 7],
            mode_words: 0,
            transceiver: 0,
            primary: [0; 3],
            reserved: [0; 7],
            modes: [0; MODE_WORDS],
        }
    }
}

impl Settings {
    /// The first 64 advertised modes.
    fn advertised(&self) -> Option<u64> {
        let words = usize::try_from(self.mode_words).ok().filter(|&words| words > 0)?;
        let modes = self.modes.get(words..words + words.min(2))?;
        Some(modes.iter().rev().fold(0, |sum, &word| sum << 32 | u64::from(word)))
    }
}

/// An interface's name as `struct ifreq` has it: at most 15 octets and a zero.
fn name(interface: &str) -> io::Result<[c_char; libc::IFNAMSIZ]> {
    let mut name = [0; libc::IFNAMSIZ];
    if interface.len() >= name.len() {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    for (to, from) in name.iter_mut().zip(interface.bytes()) {
        *to = c_char::from_ne_bytes([from]);
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_device_has_no_pause_and_no_eee() {
        let ethtool = Ethtool::open().unwrap();
        let refused = Some(libc::EOPNOTSUPP);
        assert_eq!(ethtool.pause("lo").unwrap_err().raw_os_error(), refused);
        assert_eq!(ethtool.energy_efficient("lo").unwrap_err().raw_os_error(), refused);
    }

    #[test]
    fn an_interface_that_is_not_there_is_no_device() {
        let ethtool = Ethtool::open().unwrap();
        for interface in ["no-such-port", "a-name-that-no-interface-can-have"] {
            let error = ethtool.link_settings(interface).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::ENODEV), "{interface}");
        }
    }

    #[test]
    fn advertised_modes_are_the_second_set_of_words() {
        let mut settings = Settings { mode_words: 3, ..Settings::default() };
        settings.modes[..6].copy_from_slice(&[1, 2, 3, 0x10, 0x20, 0x30]);
        assert_eq!(settings.advertised(), Some(0x20_0000_0010));
        settings.mode_words = 0;
        assert_eq!(settings.advertised(), None);
    }
}
