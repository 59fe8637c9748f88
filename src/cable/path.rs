//! Whether there is a cable between the ports at all: carrier, dead and open ends, bridges, networks.

use crate::cable::account::Fate;
use crate::cable::fault::{Fault, Script};
use crate::cable::schedule::moment;
use measure::units::{Direction, Side};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

/// How long the carrier stays between two flaps, so that each is seen as one.
pub(super) const BETWEEN_FLAPS: Duration = Duration::from_millis(250);

/// The group addresses that no bridge passes on: 01-80-C2-00-00-00 to -0F (IEEE 802.1Q, 8.6.3).
fn is_reserved(octets: &[u8]) -> bool {
    matches!(octets, [0x01, 0x80, 0xC2, 0, 0, 0..=0x0F, ..])
}

/// When a lasting fault begins.
#[derive(Clone, Copy, Debug, Default)]
enum Onset {
    #[default]
    Never,
    Beginning,
    /// This long after the first test frame.
    After(Duration),
}

impl Onset {
    fn of(at: Option<Duration>) -> Self {
        at.map_or(Self::Beginning, Self::After)
    }

    /// Of two onsets of the same fault the earlier one counts.
    fn join(&mut self, other: Self) {
        *self = match (*self, other) {
            (Self::Beginning, _) | (_, Self::Beginning) => Self::Beginning,
            (Self::After(one), Self::After(other)) => Self::After(one.min(other)),
            (Self::Never, onset) | (onset, Self::Never) => onset,
        }
    }

    fn has_come(self, time: Option<Duration>) -> bool {
        match self {
            Self::Never => false,
            Self::Beginning => true,
            Self::After(at) => time.is_some_and(|time| time >= at),
        }
    }

    fn moment(self) -> Option<Duration> {
        if let Self::After(at) = self { Some(at) } else { None }
    }
}

/// A time without carrier, counted from the first test frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flap {
    pub from: Duration,
    pub to: Duration,
}

/// What is between the ports. Times are counted from the first test frame; none is before it.
#[derive(Clone, Debug)]
pub(super) struct Path {
    dead: [Onset; 2],
    open: [Onset; 2],
    network: [bool; 2],
    switch: bool,
    /// In order, and never two at a time.
    flaps: Vec<Flap>,
    /// Whether each port's own link is switched on.
    ports: [bool; 2],
}

impl Path {
    /// What `script` puts there.
    pub fn new(script: &Script, rng: &mut Xoshiro256PlusPlus, traffic: Duration) -> Self {
        let mut path = Self {
            dead: Default::default(),
            open: Default::default(),
            network: [false; 2],
            switch: false,
            flaps: Vec::new(),
            ports: [true; 2],
        };
        for fault in script.faults() {
            path.add(*fault, rng, traffic);
        }
        path.settle_flaps();
        path
    }

    fn add(&mut self, fault: Fault, rng: &mut Xoshiro256PlusPlus, traffic: Duration) {
        match fault {
            Fault::Dead { line, at } => {
                for direction in Direction::BOTH.into_iter().filter(|&direction| line.covers(direction)) {
                    self.dead[direction.index()].join(Onset::of(at));
                }
            }
            Fault::Open { port, at } => self.open[port.index()].join(Onset::of(at)),
            Fault::Switch => self.switch = true,
            Fault::Network { port } => {
                for side in Side::BOTH {
                    self.network[side.index()] |= port.is_none_or(|port| port == side);
                }
            }
            Fault::Flap { count, length, at } => {
                for _ in 0..count {
                    let from = at.unwrap_or_else(|| moment(rng, traffic));
                    self.flaps.push(Flap { from, to: from.saturating_add(length) });
                }
            }
            Fault::Frames(_) | Fault::Foreign { .. } => (),
        }
    }

    /// Puts the flaps in order and pushes those back that would run into the one before.
    fn settle_flaps(&mut self) {
        self.flaps.sort_by_key(|flap| flap.from);
        let mut free = Duration::ZERO;
        for flap in &mut self.flaps {
            let push = free.saturating_sub(flap.from);
            flap.from += push;
            flap.to += push;
            free = flap.to + BETWEEN_FLAPS;
        }
    }

    /// All flaps, in order.
    pub fn flaps(&self) -> &[Flap] {
        &self.flaps
    }

    /// Port `side`'s own link is switched on or off.
    pub fn set_port(&mut self, side: Side, up: bool) {
        self.ports[side.index()] = up;
    }

    /// Whether port `side` is plugged into a live network.
    pub fn is_network(&self, side: Side) -> bool {
        self.network[side.index()]
    }

    /// Whether port `side` has a carrier, as far as the cable and what is at its other end go.
    pub fn carrier(&self, side: Side, time: Option<Duration>) -> bool {
        let partner = self.switch || self.is_network(side) || self.ports[side.other().index()];
        partner && !self.open[side.index()].has_come(time) && !self.flapping(time)
    }

    fn flapping(&self, time: Option<Duration>) -> bool {
        let Some(time) = time else { return false };
        let begun = self.flaps.partition_point(|flap| flap.from <= time);
        begun.checked_sub(1).and_then(|last| self.flaps.get(last)).is_some_and(|flap| time < flap.to)
    }

    /// What keeps everything from crossing in `direction`, if anything does.
    pub fn cut(&self, direction: Direction, time: Option<Duration>) -> Option<Fate> {
        if self.flapping(time) || !self.ports.iter().all(|&up| up) {
            Some(Fate::Down)
        } else if self.open.iter().any(|open| open.has_come(time)) {
            Some(Fate::Open)
        } else if self.network.contains(&true) {
            Some(Fate::Network)
        } else {
            self.dead[direction.index()].has_come(time).then_some(Fate::Dead)
        }
    }

    /// What keeps this frame from crossing in `direction`, if anything does.
    pub fn fate(&self, direction: Direction, octets: &[u8], time: Option<Duration>) -> Option<Fate> {
        let filtered = (self.switch && is_reserved(octets)).then_some(Fate::Filtered);
        self.cut(direction, time).or(filtered)
    }

    /// The next moment after `time` at which a carrier may change.
    pub fn next_edge(&self, time: Duration) -> Option<Duration> {
        let begun = self.flaps.partition_point(|flap| flap.to <= time);
        let flap = self.flaps.get(begun).map(|flap| if flap.from > time { flap.from } else { flap.to });
        let open = self.open.iter().filter_map(|open| open.moment()).filter(|&at| at > time);
        open.chain(flap).min()
    }
}
