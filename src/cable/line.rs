//! One direction of an emulated cable: hits frames with what is due, holds some back, hands the rest on.

use crate::cable::account::{Damage, DirectionAccount, Fate, Kind};
use crate::cable::fault::{Action, Region};
use crate::cable::recognise::{ADDRESSES, Class, Frame, HEADERS};
use crate::cable::schedule::{Schedule, below, region};
use measure::units::{Direction, Instant};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;
use std::time::Duration;

/// How long a frame is held back for a later one of its stream.
pub(super) const PATIENCE: Duration = Duration::from_millis(50);

/// Most frames that a delay holds back: more than 100 ms of the jumbo mix at 10 Gb/s.
const QUEUE: usize = 1 << 17;

/// Octets of an Ethernet header: what a truncated frame keeps at least.
const ETHERNET: usize = 14;

/// What was done to a frame, to be entered in the account when it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// Nothing.
    Clean,
    /// Bits were turned or octets cut off.
    Damaged(Action, Damage),
    /// It is the second copy.
    Copy,
    /// It has been overtaken.
    Late,
}

impl Mark {
    /// The action that comes to nothing if the frame does not arrive.
    fn action(self) -> Option<Action> {
        match self {
            Self::Clean => None,
            Self::Damaged(action, _) => Some(action),
            Self::Copy => Some(Action::Duplicate),
            Self::Late => Some(Action::Reorder),
        }
    }
}

/// A frame that is held back.
#[derive(Clone, Debug)]
struct Parcel {
    class: Class,
    stream: u8,
    mark: Mark,
    /// When it goes on at the latest.
    until: Instant,
    octets: Vec<u8>,
}

/// Where frames and figures of one direction go.
pub(super) struct Exit<'a> {
    /// The moment.
    pub now: Instant,
    /// The direction's account.
    pub account: &'a mut DirectionAccount,
    /// Takes what arrives.
    pub deliver: &'a mut dyn FnMut(Direction, &[u8]),
}

/// One direction of the cable.
#[derive(Clone, Debug)]
pub(super) struct Line {
    direction: Direction,
    rng: Xoshiro256PlusPlus,
    /// What is due on test frames and on probes.
    schedules: [Schedule; 2],
    /// The frame that waits for a later one to pass.
    waiting: Option<Parcel>,
    /// Frames behind a delay, in order.
    queue: VecDeque<Parcel>,
    /// The end of the longest delay so far.
    held_until: Instant,
    /// Buffers to use again.
    spare: Vec<Vec<u8>>,
}

impl Line {
    /// A line with what is due on test frames and on probes; `rng` picks bits and lengths.
    pub fn new(direction: Direction, rng: Xoshiro256PlusPlus, schedules: [Schedule; 2]) -> Self {
        Self {
            direction,
            rng,
            schedules,
            waiting: None,
            queue: VecDeque::new(),
            held_until: Instant::ZERO,
            spare: Vec::new(),
        }
    }

    /// Takes a frame in, `time` after the first of its class.
    pub fn carry(&mut self, frame: Frame, time: Duration, exit: &mut Exit) {
        match self.due(&frame, time) {
            None => self.pass(frame, exit),
            Some(action) => self.hit(action, frame, exit),
        }
    }

    /// What is to be done to a frame. While one is held back nothing is: so it is a whole frame that overtakes
    /// it, and there is no doubt whether a receiver can see that.
    fn due(&mut self, frame: &Frame, time: Duration) -> Option<Action> {
        let free = self.waiting.is_none();
        self.schedule(frame.class).filter(|_| free)?.take(time, frame.octets.len())
    }

    fn schedule(&mut self, class: Class) -> Option<&mut Schedule> {
        self.schedules.get_mut(class.index())
    }

    fn hit(&mut self, action: Action, frame: Frame, exit: &mut Exit) {
        let flow = exit.account.flow_mut(frame.class);
        match action {
            Action::Drop => {
                flow.lose(Fate::Dropped);
                flow.did(Kind::Drop);
            }
            Action::Fcs => {
                flow.lose(Fate::Fcs);
                flow.did(Kind::Fcs);
            }
            Action::Delay { by } => {
                flow.did(Kind::Delay);
                self.held_until = self.held_until.max(exit.now + by);
                self.pass(frame, exit);
            }
            Action::Reorder => self.wait(frame, Mark::Late, exit),
            Action::Duplicate => self.duplicate(frame, exit),
            Action::Flip { bits, region } => {
                self.damage(action, frame, exit, |rng, octets| flip(rng, octets, bits, region))
            }
            Action::Truncate { region } => {
                self.damage(action, frame, exit, |rng, octets| truncate(rng, octets, region))
            }
        }
    }

    /// The copy follows at once or behind the next frame of its class.
    fn duplicate(&mut self, frame: Frame, exit: &mut Exit) {
        exit.account.flow_mut(frame.class).copies += 1;
        self.pass(frame, exit);
        if below(&mut self.rng, 2) == 0 {
            self.go(frame, Mark::Copy, exit);
        } else {
            self.wait(frame, Mark::Copy, exit);
        }
    }

    fn damage(
        &mut self,
        action: Action,
        frame: Frame,
        exit: &mut Exit,
        spoil: impl FnOnce(&mut Xoshiro256PlusPlus, &mut Vec<u8>) -> Damage,
    ) {
        let mut octets = self.copy(frame.octets);
        let damage = spoil(&mut self.rng, &mut octets);
        self.go(Frame { octets: &octets, ..frame }, Mark::Damaged(action, damage), exit);
        self.spare.push(octets);
    }

    /// Hands a whole frame on, and behind it the one that has waited for such a frame.
    fn pass(&mut self, frame: Frame, exit: &mut Exit) {
        self.go(frame, Mark::Clean, exit);
        let overtaken = |parcel: &mut Parcel| {
            let behind = parcel.mark == Mark::Copy || parcel.stream == frame.stream;
            parcel.class == frame.class && behind
        };
        if let Some(parcel) = self.waiting.take_if(overtaken) {
            let mark = parcel.mark;
            self.let_go(parcel, mark, exit);
        }
    }

    /// Hands on a frame that has waited.
    fn let_go(&mut self, parcel: Parcel, mark: Mark, exit: &mut Exit) {
        exit.account.flow_mut(parcel.class).in_flight -= 1;
        self.go(parcel.frame(), mark, exit);
        self.spare.push(parcel.octets);
    }

    /// Hands a frame on: to the receiving port, or to the queue while a delay lasts.
    fn go(&mut self, frame: Frame, mark: Mark, exit: &mut Exit) {
        if exit.now >= self.held_until {
            self.land(frame, mark, exit);
        } else if self.queue.len() < QUEUE {
            let parcel = self.parcel(frame, mark, self.held_until);
            exit.account.flow_mut(frame.class).in_flight += 1;
            self.queue.push_back(parcel);
        } else {
            self.forget(frame.class, mark, Fate::Overflow, exit.account);
        }
    }

    fn land(&mut self, frame: Frame, mark: Mark, exit: &mut Exit) {
        let flow = exit.account.flow_mut(frame.class);
        flow.delivered += 1;
        if let Some(action) = mark.action() {
            flow.did(action.into());
        }
        if let Mark::Damaged(_, damage) = &mark {
            flow.damaged(damage);
        }
        (exit.deliver)(self.direction, frame.octets);
    }

    /// Enters a frame as gone; what was done to it is to be done again to another.
    fn forget(&mut self, class: Class, mark: Mark, fate: Fate, account: &mut DirectionAccount) {
        account.flow_mut(class).lose(fate);
        if let (Some(action), Some(schedule)) = (mark.action(), self.schedule(class)) {
            schedule.again(action);
        }
    }

    /// Holds a frame back until a later one has passed.
    fn wait(&mut self, frame: Frame, mark: Mark, exit: &mut Exit) {
        let parcel = self.parcel(frame, mark, exit.now + PATIENCE);
        exit.account.flow_mut(frame.class).in_flight += 1;
        self.waiting = Some(parcel);
    }

    /// Hands on what a delay has held back for long enough.
    pub fn release(&mut self, exit: &mut Exit) {
        while self.queue.front().is_some_and(|parcel| parcel.until <= exit.now) {
            let Some(parcel) = self.queue.pop_front() else { return };
            exit.account.flow_mut(parcel.class).in_flight -= 1;
            self.land(parcel.frame(), parcel.mark, exit);
            self.spare.push(parcel.octets);
        }
    }

    /// Hands on the frame that has waited in vain. A copy is one all the same; a frame that was not overtaken
    /// goes as it is, and the next one is tried instead.
    pub fn give_up(&mut self, exit: &mut Exit) {
        let Some(parcel) = self.waiting.take_if(|parcel| parcel.until <= exit.now) else { return };
        if parcel.mark == Mark::Copy {
            return self.let_go(parcel, Mark::Copy, exit);
        }
        if let (Some(action), Some(schedule)) = (parcel.mark.action(), self.schedule(parcel.class)) {
            schedule.again(action);
        }
        self.let_go(parcel, Mark::Clean, exit);
    }

    /// Loses all that is held back.
    pub fn lose(&mut self, fate: Fate, account: &mut DirectionAccount) {
        self.held_until = Instant::ZERO;
        while let Some(parcel) = self.queue.pop_front().or_else(|| self.waiting.take()) {
            account.flow_mut(parcel.class).in_flight -= 1;
            self.forget(parcel.class, parcel.mark, fate, account);
            self.spare.push(parcel.octets);
        }
    }

    /// When something held back goes on by itself.
    pub fn next_event(&self) -> Option<Instant> {
        [self.queue.front(), self.waiting.as_ref()].into_iter().flatten().map(|parcel| parcel.until).min()
    }

    fn parcel(&mut self, frame: Frame, mark: Mark, until: Instant) -> Parcel {
        let octets = self.copy(frame.octets);
        Parcel { class: frame.class, stream: frame.stream, mark, until, octets }
    }

    /// The octets in a buffer that was used before, if there is one.
    fn copy(&mut self, octets: &[u8]) -> Vec<u8> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(octets);
        buffer
    }
}

impl Parcel {
    fn frame(&self) -> Frame<'_> {
        Frame { octets: &self.octets, class: self.class, stream: self.stream }
    }
}

/// Turns `bits` different bits; the schedule has seen to it that the region holds as many.
fn flip(rng: &mut Xoshiro256PlusPlus, octets: &mut [u8], bits: u16, part: Region) -> Damage {
    let (from, to) = region(part, octets.len());
    let room = (to - from) * 8;
    let mut chosen = Vec::with_capacity(usize::from(bits));
    while chosen.len() < usize::from(bits).min(room) {
        let bit = below(rng, room as u64);
        if !chosen.contains(&bit) {
            chosen.push(bit);
        }
    }
    let places = chosen.iter().map(|bit| (from + usize::try_from(bit / 8).unwrap_or_default(), bit % 8));
    for (at, bit) in places.clone() {
        if let Some(octet) = octets.get_mut(at) {
            *octet ^= 1 << bit;
        }
    }
    flipped(bits, places.map(|(at, _)| at))
}

/// The damage of `bits` flipped bits in the octets `places`.
fn flipped(bits: u16, places: impl Iterator<Item = usize> + Clone) -> Damage {
    let bits = u64::from(bits);
    let hit = |part: std::ops::Range<usize>| places.clone().any(|at| part.contains(&at));
    let damage = Damage { bits, ..Damage::default() };
    if hit(ETHERNET..HEADERS) {
        Damage { header_flipped: 1, ..damage }
    } else if hit(ADDRESSES..ETHERNET) {
        Damage { ethertype_flipped: 1, ethertype_bits: bits, ..damage }
    } else if hit(0..ADDRESSES) {
        Damage { address_flipped: 1, readable_bits: bits, ..damage }
    } else {
        Damage { payload_flipped: 1, readable_bits: bits, ..damage }
    }
}

/// Cuts the end off, somewhere in the region.
fn truncate(rng: &mut Xoshiro256PlusPlus, octets: &mut Vec<u8>, part: Region) -> Damage {
    let (from, to) = region(part, octets.len());
    let from = from.max(ETHERNET);
    let span = u64::try_from(to.saturating_sub(from)).unwrap_or_default();
    let length = from + usize::try_from(below(rng, span)).unwrap_or_default();
    octets.truncate(length);
    let whole = u64::from(length >= HEADERS);
    Damage { payload_cut: whole, header_cut: 1 - whole, ..Damage::default() }
}
