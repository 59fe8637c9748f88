//! The emulated cable: a script and a seed in, frames through, exact truth out.
//!
//! Pure: no clock, no I/O; the same calls give the same frames. Nothing is allocated for a frame that no
//! fault touches.

use crate::cable::account::{Account, Asked, Fate};
use crate::cable::fault::{Fault, FrameFault, Script};
use crate::cable::line::{Exit, Line};
use crate::cable::path::Path;
use crate::cable::recognise::{Class, ETHERTYPES, Recogniser};
use crate::cable::schedule::{Schedule, moment};
use crate::cable::stranger::Strangers;
use measure::units::{Direction, Instant, Side};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use std::time::Duration;

/// What the MAC of one port would have counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MacCounts {
    /// Frames sent.
    pub tx_frames: u64,
    /// Frames received with a good FCS, foreign ones included.
    pub rx_frames: u64,
    /// Frames received with a wrong FCS and discarded.
    pub crc_errors: u64,
}

/// Takes what arrives: the direction it travelled and the frame without its FCS.
pub type Deliver<'a> = &'a mut dyn FnMut(Direction, &[u8]);

/// A cable between ports A and B with faults.
#[derive(Clone, Debug)]
pub struct EmulatedCable {
    recogniser: Recogniser,
    path: Path,
    lines: [Line; 2],
    strangers: [Strangers; 2],
    account: Account,
    /// When the first test frame and the first probe came.
    first: [Option<Instant>; 2],
    /// The latest moment that was told.
    now: Instant,
    /// Whether both ends had a carrier when last looked at.
    whole: bool,
}

impl EmulatedCable {
    /// A cable with the faults of `script`, at moments that `seed` picks out of `traffic` (settle and run).
    #[must_use]
    pub fn new(script: &Script, seed: u64, traffic: Duration) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let path = Path::new(script, &mut rng, traffic);
        let mut account = Account::default();
        account.flaps.asked = path.flaps().len() as u64;
        let mut part = |direction: Direction| {
            let mut plan = Plan::new(script, direction, &mut rng, traffic);
            plan.ask(&mut account);
            rng.jump();
            let line = Line::new(direction, rng.clone(), plan.schedules);
            rng.jump();
            (line, Strangers::new(rng.clone(), plan.singles, path.is_network(direction.to())))
        };
        let (a_to_b, to_b) = part(Direction::AToB);
        let (b_to_a, to_a) = part(Direction::BToA);
        Self {
            recogniser: Recogniser::new(&ETHERTYPES),
            path,
            lines: [a_to_b, b_to_a],
            strangers: [to_b, to_a],
            account,
            first: [None; 2],
            now: Instant::ZERO,
            whole: true,
        }
    }

    /// The same cable for streams of `ethertypes` instead of the default two.
    #[must_use]
    pub fn with_ethertypes(mut self, ethertypes: &[u16]) -> Self {
        self.recogniser = Recogniser::new(ethertypes);
        self
    }

    /// Takes a frame (without FCS) that has left a port.
    pub fn carry(&mut self, direction: Direction, now: Instant, frame: &[u8], deliver: Deliver) {
        let frame = self.recogniser.frame(frame);
        let first = self.first.get_mut(frame.class.index());
        let since = first.map(|first| *first.get_or_insert(now));
        self.advance(now, deliver);
        let fate = self.path.fate(direction, frame.octets, self.time());
        let account = self.account.direction_mut(direction);
        let flow = account.flow_mut(frame.class);
        flow.carried += 1;
        if let Some(fate) = fate {
            flow.lose(fate);
            return;
        }
        let time = since.map_or(Duration::ZERO, |since| self.now.since(since));
        self.lines[direction.index()].carry(frame, time, &mut Exit { now: self.now, account, deliver });
    }

    /// Does what is due without a frame: releases what was held back, lets strangers speak, flaps.
    pub fn poll(&mut self, now: Instant, deliver: Deliver) {
        self.advance(now, deliver);
        for direction in Direction::BOTH {
            let account = self.account.direction_mut(direction);
            let mut exit = Exit { now: self.now, account, deliver: &mut *deliver };
            self.lines[direction.index()].give_up(&mut exit);
        }
    }

    /// When [`EmulatedCable::poll`] should be called next; none if only a frame can make something happen.
    #[must_use]
    pub fn next_event(&self) -> Option<Instant> {
        let first = self.first[Class::Test.index()];
        let after = |time: Option<Duration>| first.zip(time).map(|(first, time)| first + time);
        let edge = self.time().and_then(|time| self.path.next_edge(time));
        let lines = self.lines.iter().map(Line::next_event);
        let strangers = Direction::BOTH.into_iter().flat_map(|direction| {
            let strangers = &self.strangers[direction.index()];
            // Without a carrier they wait, and the edge that brings it back is an event of its own.
            let single = strangers.next_single().filter(|_| self.carrier(direction.to(), self.now));
            [after(single), strangers.next_says()]
        });
        lines.chain(strangers).chain([after(edge)]).flatten().min()
    }

    /// Whether port `side` has a carrier at `now`.
    #[must_use]
    pub fn carrier(&self, side: Side, now: Instant) -> bool {
        self.path.carrier(side, self.first[Class::Test.index()].map(|first| now.since(first)))
    }

    /// Tells that port `side` switches its own link on or off: the other port's carrier goes with it, unless a
    /// switch or a network keeps it up.
    pub fn set_port(&mut self, side: Side, up: bool) {
        self.path.set_port(side, up);
        self.look();
    }

    /// What the MAC of port `side` would have counted.
    #[must_use]
    pub fn mac(&self, side: Side) -> MacCounts {
        let [sent, received] = if side == Side::A {
            [Direction::AToB, Direction::BToA]
        } else {
            [Direction::BToA, Direction::AToB]
        };
        let (sent, received) = (self.account.direction(sent), self.account.direction(received));
        let arrived: u64 = Class::ALL.iter().map(|&class| received.flow(class).delivered).sum();
        MacCounts {
            tx_frames: Class::ALL.iter().map(|&class| sent.flow(class).carried).sum(),
            rx_frames: arrived + received.foreign.done + received.network,
            crc_errors: Class::ALL.iter().map(|&class| received.flow(class).gone(Fate::Fcs)).sum(),
        }
    }

    /// The truth so far.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Enters that the host behind the receiving port would not take `frames` of the delivered ones.
    pub fn note_refused(&mut self, direction: Direction, frames: u64) {
        let refused = &mut self.account.direction_mut(direction).refused;
        *refused = refused.saturating_add(frames);
    }

    /// Time since the first test frame.
    fn time(&self) -> Option<Duration> {
        self.first[Class::Test.index()].map(|first| self.now.since(first))
    }

    /// Brings everything but lost patience up to `now`, in the order of time.
    fn advance(&mut self, now: Instant, deliver: Deliver) {
        let now = now.max(self.now);
        self.flap_until(now, deliver);
        self.now = now;
        self.release(deliver);
        self.look();
        for direction in Direction::BOTH {
            self.hear_strangers(direction, deliver);
        }
    }

    /// Begins the flaps that are due; what was to arrive before each still does.
    fn flap_until(&mut self, now: Instant, deliver: Deliver) {
        let Some(first) = self.first[Class::Test.index()] else { return };
        while let Some(flap) = self.next_flap().filter(|&from| first + from <= now) {
            self.now = self.now.max(first + flap);
            self.release(deliver);
            self.lose(Fate::Down);
            self.account.flaps.done += 1;
        }
    }

    fn next_flap(&self) -> Option<Duration> {
        let index = usize::try_from(self.account.flaps.done).ok()?;
        self.path.flaps().get(index).map(|flap| flap.from)
    }

    fn release(&mut self, deliver: Deliver) {
        for direction in Direction::BOTH {
            let account = self.account.direction_mut(direction);
            let mut exit = Exit { now: self.now, account, deliver: &mut *deliver };
            self.lines[direction.index()].release(&mut exit);
        }
    }

    /// Loses what is held back when an end has lost its carrier since the last look.
    fn look(&mut self) {
        let whole = Side::BOTH.into_iter().all(|side| self.carrier(side, self.now));
        if self.whole && !whole {
            self.lose(self.path.cut(Direction::AToB, self.time()).unwrap_or(Fate::Down));
        }
        self.whole = whole;
    }

    fn lose(&mut self, fate: Fate) {
        for direction in Direction::BOTH {
            self.lines[direction.index()].lose(fate, self.account.direction_mut(direction));
        }
    }

    fn hear_strangers(&mut self, direction: Direction, deliver: Deliver) {
        let hears = self.carrier(direction.to(), self.now);
        let time = self.time();
        let strangers = &mut self.strangers[direction.index()];
        let account = self.account.direction_mut(direction);
        while let Some(frame) = strangers.says(self.now) {
            if hears {
                account.network += 1;
                deliver(direction, &frame);
            }
        }
        while let Some(frame) = hears.then(|| strangers.single(time)).flatten() {
            account.foreign.done += 1;
            deliver(direction, &frame);
        }
    }
}

/// What a script asks of one direction.
struct Plan {
    direction: Direction,
    schedules: [Schedule; 2],
    faults: Vec<FrameFault>,
    singles: Vec<Duration>,
}

impl Plan {
    fn new(script: &Script, direction: Direction, rng: &mut Xoshiro256PlusPlus, traffic: Duration) -> Self {
        let mut plan =
            Self { direction, schedules: Default::default(), faults: Vec::new(), singles: Vec::new() };
        for fault in script.faults() {
            match *fault {
                Fault::Frames(fault) if fault.line.covers(direction) => plan.frames(fault, rng, traffic),
                Fault::Foreign { line, count, at } if line.covers(direction) => {
                    let moments = (0..count).map(|_| at.unwrap_or_else(|| moment(rng, traffic)));
                    plan.singles.extend(moments);
                }
                _ => (),
            }
        }
        plan.schedules.iter_mut().for_each(Schedule::sort);
        plan
    }

    fn frames(&mut self, fault: FrameFault, rng: &mut Xoshiro256PlusPlus, traffic: Duration) {
        let schedule = &mut self.schedules[class(fault).index()];
        for _ in 0..fault.count {
            let spread = |rng| if fault.probe { Duration::ZERO } else { moment(rng, traffic) };
            let at = fault.at.unwrap_or_else(|| spread(rng));
            schedule.add(at, fault.action);
        }
        self.faults.push(fault);
    }

    /// Enters what is asked in the account.
    fn ask(&mut self, account: &mut Account) {
        let account = account.direction_mut(self.direction);
        account.foreign = Asked { asked: self.singles.len() as u64, done: 0 };
        for fault in &self.faults {
            account.flow_mut(class(*fault)).ask(fault.action.into(), u64::from(fault.count));
        }
    }
}

fn class(fault: FrameFault) -> Class {
    if fault.probe { Class::Probe } else { Class::Test }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cable::account::{Kind, Left};
    use crate::cable::recognise::tests::{PROBE, TEST, frame, sequence};
    use crate::cable::stranger::STRANGER;

    const A_TO_B: Direction = Direction::AToB;
    const B_TO_A: Direction = Direction::BToA;

    /// A cable, and what arrived in each direction and when.
    struct Bench {
        cable: EmulatedCable,
        arrived: Vec<(Direction, u64, Vec<u8>)>,
    }

    impl Bench {
        fn new(faults: &[&str]) -> Self {
            let script = Script::parse(faults).unwrap();
            let cable = EmulatedCable::new(&script, 7, Duration::from_secs(1));
            Self { cable, arrived: Vec::new() }
        }

        fn carry(&mut self, direction: Direction, millis: u64, frame: &[u8]) {
            let arrived = &mut self.arrived;
            self.cable.carry(direction, Instant::from_millis(millis), frame, &mut |direction, frame| {
                arrived.push((direction, millis, frame.to_vec()));
            });
        }

        fn poll(&mut self, millis: u64) {
            let arrived = &mut self.arrived;
            self.cable.poll(Instant::from_millis(millis), &mut |direction, frame| {
                arrived.push((direction, millis, frame.to_vec()));
            });
        }

        /// Sends test frame `sequence` of stream 0 from A to B.
        fn test(&mut self, millis: u64, number: u64) {
            self.carry(A_TO_B, millis, &frame(TEST, 0, number, 100));
        }

        /// Sequence and time of arrival, in order.
        fn times(&self) -> Vec<(u64, u64)> {
            self.arrived.iter().map(|(_, millis, frame)| (sequence(frame), *millis)).collect()
        }

        fn carriers(&self, millis: u64) -> [bool; 2] {
            Side::BOTH.map(|side| self.cable.carrier(side, Instant::from_millis(millis)))
        }

        fn gone(&self, direction: Direction, fate: Fate) -> u64 {
            self.cable.account().direction(direction).test().gone(fate)
        }
    }

    #[test]
    fn without_faults_every_frame_arrives_at_once_and_unchanged() {
        let mut bench = Bench::new(&[]);
        let frames = [frame(TEST, 1, 4, 60), frame(PROBE, 0, 0, 60), vec![1, 2, 3], Vec::new()];
        for octets in &frames {
            bench.carry(B_TO_A, 5, octets);
        }
        let arrived = frames.into_iter().map(|octets| (B_TO_A, 5, octets)).collect::<Vec<_>>();
        assert_eq!(bench.arrived, arrived);
        assert_eq!(bench.cable.next_event(), None);
        assert_eq!(bench.cable.account().left(Side::B), Left { probes: 1, test_frames: 1, others: 2 });
    }

    #[test]
    fn a_delay_shifts_the_direction_in_time_and_keeps_its_order() {
        let mut bench = Bench::new(&["a>b delay 1 by 5ms at 1ms"]);
        for millis in 0..9 {
            bench.test(millis, millis);
        }
        let times = [(0, 0), (1, 6), (2, 6), (3, 6), (4, 6), (5, 6), (6, 6), (7, 7), (8, 8)];
        assert_eq!(bench.times(), times);
        assert_eq!(bench.cable.account().direction(A_TO_B).test().fault(Kind::Delay).done, 1);
    }

    #[test]
    fn a_delay_ends_by_itself_at_the_announced_event() {
        let mut bench = Bench::new(&["a>b delay 1 by 5ms at 0s"]);
        bench.test(0, 0);
        assert_eq!(bench.cable.account().direction(A_TO_B).test().in_flight, 1);
        assert_eq!(bench.cable.next_event(), Some(Instant::from_millis(5)));
        bench.poll(5);
        assert_eq!(bench.times(), [(0, 5)]);
        assert!(bench.cable.account().balances());
    }

    #[test]
    fn a_reordered_frame_waits_for_a_later_one_of_its_own_stream() {
        let mut bench = Bench::new(&["a>b reorder 1 at 0s"]);
        bench.test(0, 0);
        bench.carry(A_TO_B, 1, &frame(TEST, 1, 70, 100));
        bench.test(2, 1);
        assert_eq!(bench.times(), [(70, 1), (1, 2), (0, 2)]);
        assert_eq!(bench.cable.account().direction(A_TO_B).test().fault(Kind::Reorder).done, 1);
    }

    #[test]
    fn a_frame_held_in_vain_goes_on_in_order_and_the_next_is_tried() {
        let mut bench = Bench::new(&["a>b reorder 1 at 0s"]);
        bench.test(0, 0);
        assert_eq!(bench.cable.next_event(), Some(Instant::from_millis(50)));
        bench.poll(50);
        assert_eq!(bench.times(), [(0, 50)]);
        assert_eq!(bench.cable.account().direction(A_TO_B).test().fault(Kind::Reorder).done, 0);
        bench.test(60, 1);
        bench.test(61, 2);
        assert_eq!(bench.times(), [(0, 50), (2, 61), (1, 61)]);
        assert_eq!(bench.cable.account().direction(A_TO_B).test().fault(Kind::Reorder).done, 1);
    }

    #[test]
    fn a_frame_with_a_wrong_fcs_is_counted_by_the_receiving_mac_alone() {
        let mut bench = Bench::new(&["a>b fcs 1 at 0s"]);
        bench.test(0, 0);
        bench.test(1, 1);
        assert_eq!(bench.times(), [(1, 1)]);
        assert_eq!(bench.cable.mac(Side::B), MacCounts { tx_frames: 0, rx_frames: 1, crc_errors: 1 });
        assert_eq!(bench.cable.mac(Side::A), MacCounts { tx_frames: 2, rx_frames: 0, crc_errors: 0 });
    }

    #[test]
    fn a_flap_takes_both_carriers_and_loses_what_is_on_the_wire() {
        let mut bench = Bench::new(&["flap 1 for 800ms at 10ms", "a>b delay 1 by 20ms at 5ms"]);
        bench.test(0, 0);
        assert_eq!(bench.carriers(9), [true, true]);
        bench.test(5, 1);
        assert_eq!(bench.cable.next_event(), Some(Instant::from_millis(10)));
        bench.poll(10);
        assert_eq!(bench.carriers(10), [false, false]);
        bench.carry(B_TO_A, 500, &frame(TEST, 0, 0, 60));
        assert_eq!(bench.cable.next_event(), Some(Instant::from_millis(810)));
        assert_eq!(bench.carriers(810), [true, true]);
        bench.test(810, 2);
        assert_eq!(bench.times(), [(0, 0), (2, 810)]);
        assert_eq!((bench.gone(A_TO_B, Fate::Down), bench.gone(B_TO_A, Fate::Down)), (1, 1));
        assert_eq!(bench.cable.account().flaps, Asked { asked: 1, done: 1 });
    }

    #[test]
    fn flaps_never_run_into_each_other() {
        let mut bench = Bench::new(&["flap 3 for 100ms at 0s", "flap 2 for 30ms at 40ms"]);
        bench.test(0, 0);
        let mut edges = 0;
        for millis in 1..2500 {
            bench.poll(millis);
            edges += u32::from(bench.carriers(millis - 1)[0] && !bench.carriers(millis)[0]);
        }
        assert_eq!(edges, 4, "the first of five was down from the beginning");
        assert_eq!(bench.cable.account().flaps, Asked { asked: 5, done: 5 });
    }

    #[test]
    fn a_dead_direction_carries_nothing_and_keeps_the_link() {
        let mut bench = Bench::new(&["b>a dead"]);
        bench.test(0, 0);
        bench.carry(B_TO_A, 0, &frame(TEST, 0, 1, 60));
        bench.carry(B_TO_A, 0, &frame(PROBE, 0, 1, 60));
        assert_eq!(bench.times(), [(0, 0)]);
        assert_eq!(bench.gone(B_TO_A, Fate::Dead), 1);
        assert_eq!(bench.carriers(0), [true, true]);
    }

    #[test]
    fn an_open_end_has_no_carrier_and_nothing_crosses() {
        let mut bench = Bench::new(&["b open"]);
        assert_eq!(bench.carriers(0), [true, false]);
        bench.test(0, 0);
        assert_eq!((bench.arrived.len(), bench.gone(A_TO_B, Fate::Open)), (0, 1));
    }

    #[test]
    fn a_lasting_fault_can_begin_in_the_middle() {
        let mut bench = Bench::new(&["b open at 5ms", "a>b dead at 2ms"]);
        for millis in 0..6 {
            bench.test(millis, millis);
        }
        assert_eq!(bench.times(), [(0, 0), (1, 1)]);
        assert_eq!((bench.gone(A_TO_B, Fate::Dead), bench.gone(A_TO_B, Fate::Open)), (3, 1));
        assert_eq!((bench.carriers(4), bench.carriers(5)), ([true, true], [true, false]));
    }

    #[test]
    fn a_switch_keeps_reserved_addresses_to_itself_and_carries_the_rest() {
        let mut bench = Bench::new(&["switch"]);
        let mut probe = frame(PROBE, 0, 0, 60);
        bench.carry(A_TO_B, 0, &probe);
        probe[..6].copy_from_slice(&[0x01, 0x80, 0xC2, 0, 0, 0x0E]);
        bench.carry(A_TO_B, 0, &probe);
        let probes = bench.cable.account().direction(A_TO_B).probes();
        assert_eq!((probes.delivered, probes.gone(Fate::Filtered)), (1, 1));
    }

    #[test]
    fn a_port_that_is_switched_off_takes_the_other_carrier_along_unless_a_switch_keeps_it() {
        for (script, other) in [(vec![], false), (vec!["switch"], true), (vec!["network"], true)] {
            let mut bench = Bench::new(&script);
            bench.cable.set_port(Side::A, false);
            assert_eq!(bench.carriers(0), [true, other], "{script:?}");
            bench.cable.set_port(Side::A, true);
            assert_eq!(bench.carriers(0), [true, true], "{script:?}");
        }
    }

    #[test]
    fn from_a_live_network_come_strangers_and_nothing_of_ours() {
        let mut bench = Bench::new(&["a network"]);
        assert_eq!(bench.cable.next_event(), Some(Instant::ZERO), "it wants to be polled from the start");
        for millis in 0..5000 {
            bench.carry(B_TO_A, millis, &frame(PROBE, 0, 0, 60));
            bench.carry(A_TO_B, millis, &frame(PROBE, 0, 0, 60));
        }
        let to_a = bench.cable.account().direction(B_TO_A);
        assert!(to_a.network > 2, "{} foreign frames in 5 s", to_a.network);
        assert_eq!(usize::try_from(to_a.network), Ok(bench.arrived.len()));
        assert!(bench.arrived.iter().all(|(to, _, frame)| *to == B_TO_A && frame[6..12] == STRANGER.0));
        assert_eq!(to_a.probes().gone(Fate::Network), 5000);
    }

    #[test]
    fn a_foreign_frame_arrives_at_its_moment_or_when_the_carrier_is_back() {
        let mut bench =
            Bench::new(&["a>b foreign 1 at 3ms", "b>a foreign 1 at 6ms", "flap 1 for 9ms at 5ms"]);
        bench.poll(2);
        bench.test(10, 0);
        assert_eq!(bench.cable.next_event(), Some(Instant::from_millis(13)));
        for millis in 11..=24 {
            bench.poll(millis);
        }
        let foreign: Vec<_> = bench.arrived[1..].iter().map(|(to, millis, _)| (*to, *millis)).collect();
        assert_eq!(foreign, [(A_TO_B, 13), (B_TO_A, 24)]);
        assert_eq!(bench.cable.account().direction(B_TO_A).foreign, Asked { asked: 1, done: 1 });
    }

    #[test]
    fn faults_on_probes_leave_test_frames_alone() {
        let mut bench = Bench::new(&["a>b drop 2 probe"]);
        for number in 0..3 {
            bench.carry(A_TO_B, number, &frame(PROBE, 0, number, 60));
            bench.test(number, 100 + number);
        }
        assert_eq!(bench.times(), [(100, 0), (101, 1), (2, 2), (102, 2)]);
        assert_eq!(bench.cable.account().direction(A_TO_B).probes().fault(Kind::Drop).done, 2);
    }

    #[test]
    fn other_ethertypes_are_test_frames_when_told() {
        let mut bench = Bench::new(&["a>b drop 1 at 0s"]);
        bench.cable = bench.cable.with_ethertypes(&[0x9000]);
        let mut other = frame(TEST, 0, 0, 60);
        bench.carry(A_TO_B, 0, &other);
        assert_eq!(bench.arrived.len(), 1);
        other[12..14].copy_from_slice(&[0x90, 0x00]);
        bench.carry(A_TO_B, 0, &other);
        assert_eq!((bench.arrived.len(), bench.gone(A_TO_B, Fate::Dropped)), (1, 1));
    }

    #[test]
    fn what_a_flap_took_is_done_again_to_another_frame() {
        let mut bench =
            Bench::new(&["a>b duplicate 1 at 0s", "a>b delay 1 by 9ms at 0s", "flap 1 for 1ms at 2ms"]);
        bench.test(0, 0);
        bench.test(1, 1);
        for millis in 3..9 {
            bench.test(millis, millis);
        }
        let flow = bench.cable.account().direction(A_TO_B).test();
        assert_eq!(flow.fault(Kind::Duplicate).done, 1);
        assert!(flow.balances(), "{flow:?}");
    }
}
