//! The truth of an emulated cable: what it was asked to do, and what became of every frame.
//!
//! In each direction and class, at any moment:
//! carried + copies = delivered + gone (by fate) + in flight.

use crate::cable::fault::Action;
use crate::cable::recognise::Class;
use measure::units::{Direction, Side};
use std::fmt;

/// What a counted fault does, without its particulars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Lost on purpose.
    Drop,
    /// Delivered with turned bits.
    Flip,
    /// Delivered without its end.
    Truncate,
    /// Delivered twice.
    Duplicate,
    /// Delivered after a later frame of its stream.
    Reorder,
    /// Held back, and everything behind it.
    Delay,
    /// Discarded by the receiving MAC for its FCS.
    Fcs,
}

impl Kind {
    /// All, in the order of their index.
    pub const ALL: [Self; 7] =
        [Self::Drop, Self::Flip, Self::Truncate, Self::Duplicate, Self::Reorder, Self::Delay, Self::Fcs];

    /// Its name in the account.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drop => "dropped",
            Self::Flip => "flipped",
            Self::Truncate => "truncated",
            Self::Duplicate => "duplicated",
            Self::Reorder => "reordered",
            Self::Delay => "delayed",
            Self::Fcs => "fcs",
        }
    }
}

impl From<Action> for Kind {
    fn from(action: Action) -> Self {
        match action {
            Action::Drop => Self::Drop,
            Action::Flip { .. } => Self::Flip,
            Action::Truncate { .. } => Self::Truncate,
            Action::Duplicate => Self::Duplicate,
            Action::Reorder => Self::Reorder,
            Action::Delay { .. } => Self::Delay,
            Action::Fcs => Self::Fcs,
        }
    }
}

/// Why a frame did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// A `drop` fault.
    Dropped,
    /// An `fcs` fault: the receiving MAC discarded and counted it.
    Fcs,
    /// There was no carrier: a flap, or a port that is down.
    Down,
    /// A `dead` direction.
    Dead,
    /// An `open` end.
    Open,
    /// A `switch` kept it to itself.
    Filtered,
    /// It went into a live `network`.
    Network,
    /// The emulator had no room for a frame that a delay held back.
    Overflow,
}

impl Fate {
    /// All, in the order of their index.
    pub const ALL: [Self; 8] = [
        Self::Dropped,
        Self::Fcs,
        Self::Down,
        Self::Dead,
        Self::Open,
        Self::Filtered,
        Self::Network,
        Self::Overflow,
    ];

    /// Its name in the account.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Fcs => "fcs",
            Self::Down => "lost while down",
            Self::Dead => "lost to the dead direction",
            Self::Open => "lost to the open end",
            Self::Filtered => "filtered",
            Self::Network => "lost to the network",
            Self::Overflow => "overflowed",
        }
    }
}

/// A number asked for and the number done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// How many the script asks for.
    pub asked: u64,
    /// How many there were.
    pub done: u64,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} asked", self.done, self.asked)
    }
}

/// How the frames that arrived were damaged. Each flipped frame counts once, under the first of test header,
/// ethertype, addresses and payload that was hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Flipped bits in all.
    pub bits: u64,
    /// Flipped frames whose test header was hit: they cannot say who they are.
    pub header_flipped: u64,
    /// Flipped frames whose ethertype was hit: a socket for one ethertype does not see them, whoever looks at
    /// every frame can read them.
    pub ethertype_flipped: u64,
    /// Flipped bits of those.
    pub ethertype_bits: u64,
    /// Flipped frames whose addresses were hit.
    pub address_flipped: u64,
    /// Flipped frames whose payload alone was hit.
    pub payload_flipped: u64,
    /// Flipped bits of the frames with addresses or payload hit: what a report of bit errors can know of.
    pub readable_bits: u64,
    /// Truncated frames with their headers whole.
    pub payload_cut: u64,
    /// Truncated frames without a whole header: they cannot say who they are.
    pub header_cut: u64,
}

impl Damage {
    /// Frames that cannot say who they are, wherever they are seen.
    #[must_use]
    pub const fn unreadable(&self) -> u64 {
        self.header_flipped + self.header_cut
    }

    /// Damaged frames, unreadable ones included.
    #[must_use]
    pub const fn corrupt(&self) -> u64 {
        self.unreadable()
            + self.ethertype_flipped
            + self.address_flipped
            + self.payload_flipped
            + self.payload_cut
    }

    fn add(&mut self, other: &Self) {
        self.bits += other.bits;
        self.header_flipped += other.header_flipped;
        self.ethertype_flipped += other.ethertype_flipped;
        self.ethertype_bits += other.ethertype_bits;
        self.address_flipped += other.address_flipped;
        self.payload_flipped += other.payload_flipped;
        self.readable_bits += other.readable_bits;
        self.payload_cut += other.payload_cut;
        self.header_cut += other.header_cut;
    }
}

/// The frames of one class in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Frames that left the sending port.
    pub carried: u64,
    /// Second copies that the cable made of them.
    pub copies: u64,
    /// Frames handed to the receiving port, copies included.
    pub delivered: u64,
    /// Frames held back at this moment.
    pub in_flight: u64,
    /// What the damaged ones among the delivered have.
    pub damage: Damage,
    gone: [u64; Fate::ALL.len()],
    faults: [Asked; Kind::ALL.len()],
}

impl Flow {
    /// Frames that met `fate`.
    #[must_use]
    pub fn gone(&self, fate: Fate) -> u64 {
        self.gone[fate as usize]
    }

    /// Faults of one kind, asked and done.
    #[must_use]
    pub fn fault(&self, kind: Kind) -> Asked {
        self.faults[kind as usize]
    }

    /// Frames that did not arrive and will not.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.gone.iter().sum()
    }

    /// Whether every frame is accounted for.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.carried + self.copies == self.delivered + self.missing() + self.in_flight
    }

    pub(super) fn lose(&mut self, fate: Fate) {
        self.gone[fate as usize] += 1;
    }

    pub(super) fn ask(&mut self, kind: Kind, count: u64) {
        self.faults[kind as usize].asked += count;
    }

    pub(super) fn did(&mut self, kind: Kind) {
        self.faults[kind as usize].done += 1;
    }

    pub(super) fn damaged(&mut self, damage: &Damage) {
        self.damage.add(damage);
    }
}

/// All frames of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionAccount {
    flows: [Flow; Class::ALL.len()],
    /// Foreign frames that `foreign` faults made arrive at the receiving port.
    pub foreign: Asked,
    /// Foreign frames that a live network made arrive there.
    pub network: u64,
    /// Delivered frames that the host behind the receiving port would not take: no doing of the cable's.
    pub refused: u64,
}

impl DirectionAccount {
    /// The frames of one class.
    #[must_use]
    pub fn flow(&self, class: Class) -> &Flow {
        &self.flows[class.index()]
    }

    /// The test frames.
    #[must_use]
    pub fn test(&self) -> &Flow {
        self.flow(Class::Test)
    }

    /// The probes.
    #[must_use]
    pub fn probes(&self) -> &Flow {
        self.flow(Class::Probe)
    }

    /// Everything else that was sent into the cable.
    #[must_use]
    pub fn others(&self) -> &Flow {
        self.flow(Class::Other)
    }

    pub(super) fn flow_mut(&mut self, class: Class) -> &mut Flow {
        &mut self.flows[class.index()]
    }
}

/// Frames that left one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Probes.
    pub probes: u64,
    /// Test frames.
    pub test_frames: u64,
    /// Anything else.
    pub others: u64,
}

/// All that an emulated cable did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    directions: [DirectionAccount; 2],
    /// Flaps, asked and begun.
    pub flaps: Asked,
}

impl Account {
    /// One direction's.
    #[must_use]
    pub fn direction(&self, direction: Direction) -> &DirectionAccount {
        &self.directions[direction.index()]
    }

    /// What left port `side`, whatever became of it.
    #[must_use]
    pub fn left(&self, side: Side) -> Left {
        let sent = self.direction(if side == Side::A { Direction::AToB } else { Direction::BToA });
        Left {
            probes: sent.probes().carried,
            test_frames: sent.test().carried,
            others: sent.others().carried,
        }
    }

    /// Whether every frame of every class is accounted for.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.directions.iter().flat_map(|direction| &direction.flows).all(Flow::balances)
    }

    pub(super) fn direction_mut(&mut self, direction: Direction) -> &mut DirectionAccount {
        &mut self.directions[direction.index()]
    }
}

/// Fields that are zero and were not asked for are left out, but for carried and delivered.
impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "carried {}, delivered {}", self.carried, self.delivered)?;
        for kind in Kind::ALL {
            let fault = self.fault(kind);
            if fault != Asked::default() {
                write!(f, ", {} {fault}", kind.name())?;
            }
        }
        // The other fates are a kind of fault each, and told above.
        for fate in Fate::ALL.into_iter().filter(|fate| !matches!(fate, Fate::Dropped | Fate::Fcs)) {
            field(f, fate.name(), self.gone(fate))?;
        }
        let damage = &self.damage;
        field(f, "bits", damage.bits)?;
        field(f, "readable bits", damage.readable_bits)?;
        field(f, "headers hit", damage.unreadable())?;
        field(f, "ethertypes hit", damage.ethertype_flipped)?;
        field(f, "addresses hit", damage.address_flipped)?;
        field(f, "in flight", self.in_flight)
    }
}

fn field(f: &mut fmt::Formatter<'_>, name: &str, value: u64) -> fmt::Result {
    if value == 0 { Ok(()) } else { write!(f, ", {name} {value}") }
}

/// One `truth` line for the test frames of each direction and for what each port sent; one for probes, others,
/// foreign frames, refusals and flaps where there is something to tell.
impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for direction in Direction::BOTH {
            lines(f, direction, self.direction(direction))?;
        }
        for side in Side::BOTH {
            let left = self.left(side);
            write!(f, "truth {side} sent probes {}, test frames {}", left.probes, left.test_frames)?;
            field(f, "others", left.others)?;
            writeln!(f)?;
        }
        if self.flaps != Asked::default() {
            writeln!(f, "truth flaps {}", self.flaps)?;
        }
        Ok(())
    }
}

fn lines(f: &mut fmt::Formatter<'_>, direction: Direction, account: &DirectionAccount) -> fmt::Result {
    writeln!(f, "truth {direction} {}", account.test())?;
    for (name, flow) in [("probes", account.probes()), ("others", account.others())] {
        if *flow != Flow::default() {
            writeln!(f, "truth {direction} {name} {flow}")?;
        }
    }
    if account.foreign != Asked::default() || account.network != 0 {
        writeln!(f, "truth {direction} foreign {}, network {}", account.foreign, account.network)?;
    }
    if account.refused != 0 {
        writeln!(f, "truth {direction} host refused {}", account.refused)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Account {
        let mut account = Account::default();
        let flow = account.direction_mut(Direction::AToB).flow_mut(Class::Test);
        (flow.carried, flow.delivered) = (20, 17);
        flow.ask(Kind::Drop, 4);
        for _ in 0..3 {
            flow.lose(Fate::Dropped);
            flow.did(Kind::Drop);
        }
        account.direction_mut(Direction::BToA).flow_mut(Class::Probe).carried = 64;
        account.direction_mut(Direction::BToA).refused = 2;
        account.flaps = Asked { asked: 1, done: 1 };
        account
    }

    #[test]
    fn the_account_prints_one_line_for_each_direction_and_class_with_something_to_tell() {
        assert_eq!(
            example().to_string(),
            "truth A>B carried 20, delivered 17, dropped 3 of 4 asked\n\
             truth B>A carried 0, delivered 0\n\
             truth B>A probes carried 64, delivered 0\n\
             truth B>A host refused 2\n\
             truth A sent probes 0, test frames 20\n\
             truth B sent probes 64, test frames 0\n\
             truth flaps 1 of 1 asked\n"
        );
    }

    #[test]
    fn a_frame_that_is_nowhere_unbalances_the_account() {
        let account = example();
        assert!(account.direction(Direction::AToB).test().balances());
        assert!(!account.balances(), "64 probes were carried and met no fate");
    }

    #[test]
    fn what_left_a_port_is_what_its_direction_carried() {
        let left = example().left(Side::B);
        assert_eq!(left, Left { probes: 64, test_frames: 0, others: 0 });
    }
}
