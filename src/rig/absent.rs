//! A box whose ports are not there: a session over it says so, as INVALID, and sends nothing.

use crate::clock::{Clock, Monotonic};
use crate::nic::{Nic, PortIdentity};
use crate::port::Scout;
use crate::port::worker::Order;
use crate::session::Rig;
use measure::counter::PortCounters;
use measure::frame::Writer;
use measure::link::LinkReading;
use measure::record::{Held, SettingReading, Text, text};
use measure::tally::Tally;
use measure::units::{BitRate, Direction, Instant, Side};
use measure::verdict::Setting;
use std::io;

/// A port that was to be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentPort {
    /// Where it was to be.
    pub wanted: Text,
    /// What is there instead, in few words; none where all is well with this one.
    pub found: Option<Text>,
}

/// The box.
pub struct AbsentRig {
    clock: Monotonic,
    ports: AbsentPorts,
}

impl AbsentRig {
    /// A box with these ports, at least one of which is missing.
    #[must_use]
    pub fn new(ports: [AbsentPort; 2], clock: Monotonic) -> Self {
        Self { clock, ports: AbsentPorts(ports) }
    }
}

impl Clock for AbsentRig {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn sleep_until(&self, moment: Instant) {
        self.clock.sleep_until(moment);
    }
}

impl Rig for AbsentRig {
    fn nic(&mut self) -> &mut dyn Nic {
        &mut self.ports
    }

    fn open(&mut self, _: [Writer; 2], _: Option<BitRate>) -> io::Result<()> {
        Ok(())
    }

    fn scout(&mut self) -> &mut dyn Scout {
        &mut self.ports
    }

    fn order(&mut self, _: Order) {}

    fn tally(&mut self, _: Direction) -> Option<Tally> {
        None
    }

    fn died(&mut self, _: Direction) -> bool {
        false
    }
}

struct AbsentPorts([AbsentPort; 2]);

fn gone() -> io::Error {
    io::Error::from_raw_os_error(libc::ENODEV)
}

impl Nic for AbsentPorts {
    fn identity(&self, side: Side) -> PortIdentity {
        PortIdentity { name: self.0[side.index()].wanted.clone(), ..PortIdentity::default() }
    }

    /// The ports themselves are the setting that is not held.
    fn prepare(&mut self) -> Vec<SettingReading> {
        let reading = |(port, ports): (Side, &AbsentPort)| SettingReading {
            setting: Setting::Ports,
            port: Some(port),
            wanted: ports.wanted.clone(),
            got: ports.found.clone().unwrap_or_else(|| text("there")),
            held: if ports.found.is_some() { Held::No } else { Held::Yes },
            required: true,
        };
        Side::BOTH.into_iter().zip(&self.0).map(reading).collect()
    }

    fn verify(&mut self) -> Vec<SettingReading> {
        self.prepare()
    }

    fn set_up(&mut self, _: Side, _: bool) -> io::Result<()> {
        Err(gone())
    }

    fn link(&mut self, _: Side) -> io::Result<LinkReading> {
        Err(gone())
    }

    fn counters(&mut self, _: Side) -> io::Result<PortCounters> {
        Err(gone())
    }
}

impl Scout for AbsentPorts {
    fn send(&mut self, _: Side, _: &[u8]) -> io::Result<()> {
        Err(gone())
    }

    fn hear(&mut self, _: Side, _: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        Err(gone())
    }
}
