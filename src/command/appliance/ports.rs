//! The board's two ports as this kernel has them: looked for by place until both are there.

use crate::board::PortPath;
use crate::clock::Monotonic;
use crate::nic::Nic;
use crate::nic::find::{self, NotFound};
use crate::nic::netdev::Netdevs;
use crate::rig::absent::{AbsentPort, AbsentRig};
use crate::rig::sockets::SocketRig;
use measure::record::{SettingReading, Text, text};
use measure::units::Instant;
use measure::verdict::Setting;
use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

/// How often ports that are missing are looked for.
const LOOK: Duration = Duration::from_secs(1);

/// The two ports.
pub(super) struct Ports {
    places: [PortPath; 2],
    mtu: u32,
    found: Option<Found>,
    next: Instant,
}

/// Both, opened.
struct Found {
    nic: Netdevs,
    interfaces: [u32; 2],
}

/// What a run is done with.
pub(super) enum RunRig<'a> {
    /// Both ports.
    There(SocketRig<&'a mut Netdevs>),
    /// Not both.
    Absent(AbsentRig),
}

impl Ports {
    /// The ports at `places`, to carry payloads of up to `mtu` octets.
    pub(super) fn new(places: [PortPath; 2], mtu: u16) -> Self {
        Self { places, mtu: u32::from(mtu), found: None, next: Instant::ZERO }
    }

    /// Looks for the ports where they are missing and it is time to; tells whether they have just been found.
    pub(super) fn look(&mut self, now: Instant) -> bool {
        if self.found.is_some() || now < self.next {
            return false;
        }
        self.next = now + LOOK;
        self.found = self.open();
        self.found.is_some()
    }

    fn open(&self) -> Option<Found> {
        let index = |place: &PortPath| {
            let name = interface(place).ok()?;
            nix::net::if_::if_nametoindex(name.as_str()).ok()
        };
        let [a, b] = &self.places;
        let interfaces = [index(a)?, index(b)?];
        Some(Found { nic: Netdevs::open(interfaces, self.mtu).ok()?, interfaces })
    }

    /// Both ports, where they are there.
    pub(super) fn nic(&mut self) -> Option<&mut Netdevs> {
        self.found.as_mut().map(|found| &mut found.nic)
    }

    /// One of them has gone: both are looked for again.
    pub(super) fn forget(&mut self) {
        self.found = None;
    }

    /// Makes the ports' settings and reads them back, but for promiscuous reception: that begins with a run.
    pub(super) fn prepare(&mut self) -> Vec<SettingReading> {
        let Some(nic) = self.nic() else { return Vec::new() };
        let readings = nic.prepare();
        readings.into_iter().filter(|reading| reading.setting != Setting::Promiscuous).collect()
    }

    /// What a run is done with.
    pub(super) fn rig(&mut self, clock: Monotonic) -> RunRig<'_> {
        let absent = self.places.each_ref().map(absent);
        match &mut self.found {
            Some(Found { nic, interfaces }) => RunRig::There(SocketRig::new(nic, *interfaces, clock)),
            None => RunRig::Absent(AbsentRig::new(absent, clock)),
        }
    }

    /// What a run is done with that could not open the ports, for this reason.
    pub(super) fn refused(&self, why: &impl Display, clock: Monotonic) -> AbsentRig {
        let port = |place: &PortPath| AbsentPort { wanted: text(place), found: Some(text(why)) };
        AbsentRig::new(self.places.each_ref().map(port), clock)
    }
}

fn interface(place: &PortPath) -> Result<String, NotFound> {
    find::interface(Path::new("/sys"), &place.pci, place.dev_port)
}

fn absent(place: &PortPath) -> AbsentPort {
    let found: Option<Text> = interface(place).err().map(|missing| match missing {
        NotFound::NoDevice(_) => text("no PCI device there"),
        NotFound::NoPort { .. } => text("a PCI device without a network port"),
    });
    AbsentPort { wanted: text(place), found }
}
