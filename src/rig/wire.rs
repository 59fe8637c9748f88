//! The modelled wire: ports, what their drivers count, the cable between them and the sockets on them.

use super::trouble::{HostTrouble, Mishap};
use crate::cable::emulated::EmulatedCable;
use measure::counter::PortCounters;
use measure::frame::{DIRECTION_AT, Identity, KIND_AT, Kind, MAGIC, MAGIC_AT, NONCE_AT};
use measure::units::{Direction, Instant, Side};
use std::collections::VecDeque;
use std::io;

/// Ports, cable and sockets.
pub(super) struct Wire {
    pub(super) cable: EmulatedCable,
    pub(super) identity: Option<Identity>,
    /// Frames for the test sockets of each port.
    pub(super) arrived: [VecDeque<Vec<u8>>; 2],
    /// Frames for the listening socket of each port.
    pub(super) heard: [VecDeque<Vec<u8>>; 2],
    pub(super) spare: Vec<Vec<u8>>,
    pub(super) ports: [PortModel; 2],
    pub(super) trouble: HostTrouble,
    pub(super) socket_drops: [u64; 2],
    /// Test frames that have arrived, for the overload to count down.
    pub(super) offered: u64,
    /// When the first and the last test frame left.
    pub(super) flood: Option<(Instant, Instant)>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PortModel {
    pub(super) carrier: bool,
    pub(super) changes: u64,
    pub(super) tx_frames: u64,
    pub(super) rx_frames: u64,
    pub(super) tx_dropped: u64,
    pub(super) rx_missed: u64,
    pub(super) link_faults: u64,
    /// What the driver told last, and when it looked.
    pub(super) told: Option<(Instant, PortCounters)>,
    /// What stood in the counters when they were reset.
    pub(super) reset_at: Option<PortCounters>,
}

impl Wire {
    /// Ports A and B with `cable` between them.
    pub(super) fn new(cable: EmulatedCable, trouble: HostTrouble) -> Self {
        Self {
            cable,
            identity: None,
            arrived: Default::default(),
            heard: Default::default(),
            spare: Vec::new(),
            ports: Default::default(),
            trouble,
            socket_drops: [0; 2],
            offered: 0,
            flood: None,
        }
    }

    pub(super) fn mishap(&self, now: Instant) -> Option<(Instant, Mishap)> {
        self.trouble.struck(self.flood.map(|(first, _)| first), now)
    }

    pub(super) fn has_happened(&self, now: Instant, what: Mishap) -> bool {
        self.mishap(now).is_some_and(|(_, happened)| happened == what)
    }

    /// A port that has gone away answers nothing.
    pub(super) fn look_for(&self, side: Side, now: Instant) -> io::Result<()> {
        if self.has_happened(now, Mishap::PortGone(side)) {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        Ok(())
    }

    /// A frame leaves port `direction.from()`; false where the port has no carrier.
    pub(super) fn carry(&mut self, direction: Direction, now: Instant, frame: &[u8]) -> bool {
        let port = &mut self.ports[direction.from().index()];
        if !port.carrier {
            port.tx_dropped += 1;
            return false;
        }
        port.tx_frames += 1;
        if self.identity.as_ref().is_some_and(|identity| is_plain_test(identity, direction, frame)) {
            let (first, _) = self.flood.unwrap_or((now, now));
            self.flood = Some((first, now));
        }
        self.with_deliver(|cable, deliver| cable.carry(direction, now, frame, deliver));
        true
    }

    /// The cable's own events, and what they do to the carriers.
    pub(super) fn poll(&mut self, now: Instant) {
        self.with_deliver(|cable, deliver| cable.poll(now, deliver));
        let carriers = Side::BOTH.map(|side| self.cable.carrier(side, now) && !self.trouble.blinks(now));
        for (side, carrier) in Side::BOTH.into_iter().zip(carriers) {
            let port = &mut self.ports[side.index()];
            port.changes += u64::from(port.carrier != carrier);
            port.carrier = carrier;
            if carrier && !carriers[side.other().index()] {
                port.link_faults = self.trouble.link_faults[side.index()];
            }
        }
    }

    fn with_deliver(&mut self, act: impl FnOnce(&mut EmulatedCable, &mut dyn FnMut(Direction, &[u8]))) {
        let Self { cable, identity, arrived, heard, spare, ports, trouble, socket_drops, offered, .. } = self;
        act(cable, &mut |direction, frame| {
            let way = direction.index();
            let to = direction.to().index();
            let Some(identity) = identity else { return };
            let plain = is_plain_test(identity, direction, frame);
            if plain && take_one(&mut trouble.missed[way]) {
                ports[to].rx_missed += 1;
                return;
            }
            ports[to].rx_frames += 1;
            *offered += u64::from(plain);
            let overloaded = trouble.overload.is_some_and(|one_of| plain && offered.is_multiple_of(one_of));
            if plain && (overloaded || take_one(&mut trouble.socket_drops[way])) {
                socket_drops[way] += 1;
            } else if is_test_ethertype(identity, frame) {
                arrived[to].push_back(copy(spare, frame));
            }
            if !plain {
                heard[to].push_back(copy(spare, frame));
            }
        });
    }
}

/// Takes one of what is left; false where nothing is.
fn take_one(left: &mut u64) -> bool {
    let some = *left > 0;
    *left -= u64::from(some);
    some
}

fn copy(spare: &mut Vec<Vec<u8>>, frame: &[u8]) -> Vec<u8> {
    let mut buffer = spare.pop().unwrap_or_default();
    buffer.clear();
    buffer.extend_from_slice(frame);
    buffer
}

/// A socket bound to one of the test's ethertypes takes the frame.
fn is_test_ethertype(identity: &Identity, frame: &[u8]) -> bool {
    let ethertype = frame.get(12..14).map(|at| u16::from_be_bytes([at[0], at[1]]));
    ethertype.is_some_and(|ethertype| identity.ethertypes.contains(&ethertype))
}

/// The listening socket's filter leaves the frame out: ethertype, magic, nonce, kind and direction of a test
/// frame that arrives where it should.
fn is_plain_test(identity: &Identity, direction: Direction, frame: &[u8]) -> bool {
    let at = |start: usize| frame.get(start..start + 4);
    is_test_ethertype(identity, frame)
        && at(MAGIC_AT) == Some(&MAGIC.to_be_bytes()[..])
        && at(NONCE_AT) == Some(&identity.nonce.to_be_bytes()[..])
        && frame.get(KIND_AT) == Some(&Kind::Test.code())
        && frame.get(DIRECTION_AT).map(|&code| usize::from(code)) == Some(direction.index())
}

impl Wire {
    /// What the driver of port `side` tells, which is as old as its last refresh.
    pub(super) fn counters(&mut self, side: Side, now: Instant) -> PortCounters {
        let refresh = self.trouble.refresh;
        let told = self.ports[side.index()].told.filter(|(at, _)| now.since(*at) < refresh);
        let (_, counters) = told.unwrap_or_else(|| (now, self.counted(side, now)));
        let port = &mut self.ports[side.index()];
        port.told = told.or(Some((now, counters)));
        if self.trouble.mishap.is_some() && self.has_happened(now, Mishap::CountersReset(side)) {
            let origin = *self.ports[side.index()].reset_at.get_or_insert(counters);
            return counters.since(&origin);
        }
        counters
    }

    /// What port `side` has counted at this moment.
    fn counted(&self, side: Side, now: Instant) -> PortCounters {
        let port = &self.ports[side.index()];
        let trouble = &self.trouble;
        let flooded = self.flood.is_some_and(|(first, _)| now > first);
        let dropped = if flooded { trouble.unknown_protocol } else { 0 };
        let counted = |count: u64| (!trouble.no_drop_counters).then_some(count);
        PortCounters {
            tx_frames: Some(port.tx_frames),
            rx_frames: Some(port.rx_frames),
            tx_dropped: counted(port.tx_dropped),
            rx_dropped: counted(dropped),
            rx_missed: counted(port.rx_missed),
            crc_errors: Some(self.cable.mac(side).crc_errors),
            link_faults: Some(port.link_faults),
            ..PortCounters::default()
        }
    }
}
