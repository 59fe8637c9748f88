//! The worker: moves one direction's frames, checks them and publishes what it counted.
//!
//! It sends on one port and receives on the other, on one thread: what it does not do is look at a
//! rate, judge, log or draw. Each [`Worker::step`] is one turn; a thread turns it on a box, and the
//! virtual-time rig turns the very same code in tests.

use super::{Engine, mmsg::Mmsg, published::Published};
use crate::clock::{Clock, Monotonic};
use measure::frame::{Checker, Writer};
use measure::pace::Pacer;
use measure::stream::Account;
use measure::units::{BitRate, Instant, MAX_STREAMS, nanos};
use measure::verdict::LONGEST_STALL;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// Frames of one turn: larger batches gain nothing (`seeds`: batch sizes above 64).
pub const BATCH: usize = 64;

/// How far a paced worker may catch up after a stall: the smear window, so that what it catches up
/// is still shown where it belongs (32 buckets of 16 ms).
pub const CATCH_UP: Duration = LONGEST_STALL;

/// Longest sleep between two turns: frames on their way are not left waiting for longer.
const NAP: Duration = Duration::from_micros(250);

/// Sleep between two turns while there is nothing to send.
const IDLE: Duration = Duration::from_millis(1);

/// How often the sockets are asked for their drops.
const DROPS_EVERY: Duration = Duration::from_millis(8);

/// Most receive batches of one turn, so that a flood of foreign frames cannot keep a worker from its other work.
const MOST_BATCHES: usize = 32;

/// What a worker is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Order {
    /// Receive only: before traffic, and after it.
    Listen,
    /// Send and receive.
    Send,
    /// Come to an end.
    Halt,
}

/// The order that holds, given by the session and read by the workers.
#[derive(Debug, Default)]
pub struct Orders(AtomicU8);

impl Orders {
    /// Gives an order.
    pub fn give(&self, order: Order) {
        self.0.store(order as u8, Ordering::Release);
    }

    /// The order that holds.
    #[must_use]
    pub fn read(&self) -> Order {
        match self.0.load(Ordering::Acquire) {
            0 => Order::Listen,
            1 => Order::Send,
            _ => Order::Halt,
        }
    }
}

/// What a turn says of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// There may be more to do at once.
    Busy,
    /// Nothing to do before this moment.
    Idle(Instant),
    /// The worker was told to end.
    Over,
}

/// One direction's worker.
pub struct Worker<E> {
    engine: E,
    writer: Writer,
    checker: Checker,
    account: Account,
    /// Sequence number of each stream's next frame.
    next: [u64; MAX_STREAMS],
    /// Stream whose turn it is to send first.
    first: usize,
    pace: Option<BitRate>,
    pacer: Option<Pacer>,
    orders: Arc<Orders>,
    published: Arc<Published>,
    /// When the last turn began, while sending.
    last_turn: Option<Instant>,
    drops_read: Instant,
}

impl<E: Engine> Worker<E> {
    /// A worker for the direction of `writer` and `checker`, at `pace` or as fast as the port takes it.
    pub fn new(
        engine: E,
        writer: Writer,
        checker: Checker,
        pace: Option<BitRate>,
        orders: Arc<Orders>,
        published: Arc<Published>,
    ) -> Self {
        Self {
            engine,
            writer,
            checker,
            account: Account::default(),
            next: [0; MAX_STREAMS],
            first: 0,
            pace,
            pacer: None,
            orders,
            published,
            last_turn: None,
            drops_read: Instant::ZERO,
        }
    }

    /// Turns until told to halt.
    pub fn run(mut self, clock: &impl Clock) {
        loop {
            match self.step(clock) {
                Turn::Busy => {}
                Turn::Idle(until) => clock.sleep_until(until),
                Turn::Over => break,
            }
        }
    }

    /// One turn: send what is due, drain what has arrived, publish.
    pub fn step(&mut self, clock: &impl Clock) -> Turn {
        let now = clock.now();
        let order = self.orders.read();
        let outcome = match order {
            Order::Send => self.send(now),
            Order::Listen | Order::Halt => {
                self.last_turn = None;
                Ok(false)
            }
        };
        let more_to_send = self.note_error(outcome).unwrap_or(false);
        let outcome = self.receive();
        let more_to_receive = self.note_error(outcome).unwrap_or(false);
        let after = clock.now();
        self.read_drops(after, order);
        self.publish(now, after);
        match order {
            Order::Halt => Turn::Over,
            _ if more_to_send || more_to_receive => Turn::Busy,
            Order::Send => Turn::Idle(self.due(after)),
            Order::Listen => Turn::Idle(after + IDLE),
        }
    }

    /// Sends what may be sent now; true where more could follow at once.
    fn send(&mut self, now: Instant) -> io::Result<bool> {
        self.note_stall(now);
        let counts = self.share_out(now);
        let streams = self.writer.streams();
        for turn in 0..streams {
            let stream = (self.first + turn) % streams;
            let count = counts.get(stream).copied().unwrap_or(0);
            if count > 0 && !self.send_stream(stream, count)? {
                return Ok(false);
            }
        }
        self.first = (self.first + 1) % streams.max(1);
        Ok(self.pace.is_none())
    }

    /// Offers `count` frames of one stream; false where the port is full.
    fn send_stream(&mut self, stream: usize, count: usize) -> io::Result<bool> {
        let Some(next) = self.next.get_mut(stream) else { return Ok(true) };
        let sent = self.engine.send(&self.writer, stream, *next, count)?;
        let octets = l1_octets(&self.writer, *next, sent.accepted);
        *next += sent.accepted as u64;
        self.account.sent(stream, sent.accepted as u64, octets);
        if let Some(pacer) = &mut self.pacer {
            pacer.spend(octets);
        }
        if sent.refused {
            self.account.tally_mut().refused += 1;
        }
        Ok(!sent.refused)
    }

    /// How many frames of each stream may be sent now: in turn, as long as the batch and the credit last.
    fn share_out(&mut self, now: Instant) -> [usize; MAX_STREAMS] {
        let mut credit = self.credit(now);
        let mut counts = [0; MAX_STREAMS];
        let streams = self.writer.streams();
        for frame in 0..BATCH {
            let stream = (self.first + frame) % streams.max(1);
            let (Some(count), Some(next)) = (counts.get_mut(stream), self.next.get(stream)) else { break };
            let octets = self.writer.mix().size(next + *count as u64).l1_octets();
            if octets > credit {
                break;
            }
            credit -= octets;
            *count += 1;
        }
        counts
    }

    /// L1 octets that may be sent now.
    fn credit(&mut self, now: Instant) -> u64 {
        let Some(rate) = self.pace else { return u64::MAX };
        let pacer = self.pacer.get_or_insert_with(|| Pacer::new(rate, now, CATCH_UP));
        let credit = pacer.credit(now);
        self.account.tally_mut().forfeited_l1_octets = pacer.forfeited();
        credit
    }

    /// When the next turn is due while sending.
    fn due(&self, now: Instant) -> Instant {
        let largest = self.writer.mix().largest().l1_octets();
        let ready = self.pacer.as_ref().map_or(now, |pacer| pacer.ready_at(largest));
        ready.max(now + NAP / 2).min(now + NAP)
    }

    /// Drains the receive sockets; true where more may be waiting.
    fn receive(&mut self) -> io::Result<bool> {
        let Self { engine, checker, account, .. } = self;
        for _ in 0..MOST_BATCHES {
            if engine.receive(&mut |frame| account.arrived(checker.check(frame)))? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn read_drops(&mut self, now: Instant, order: Order) {
        if order == Order::Send && now.since(self.drops_read) < DROPS_EVERY {
            return;
        }
        self.drops_read = now;
        let drops = self.engine.drops();
        if let Some(drops) = self.note_error(drops) {
            self.account.tally_mut().socket_drops = drops;
        }
    }

    fn note_stall(&mut self, now: Instant) {
        if let Some(last) = self.last_turn {
            let tally = self.account.tally_mut();
            tally.longest_stall = tally.longest_stall.max(nanos(now.since(last)));
        }
        self.last_turn = Some(now);
    }

    fn note_error<T>(&mut self, outcome: io::Result<T>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(error) => {
                let tally = self.account.tally_mut();
                tally.socket_errors += 1;
                tally.last_errno =
                    error.raw_os_error().and_then(|errno| u64::try_from(errno).ok()).unwrap_or(0);
                None
            }
        }
    }

    /// Publishes the totals: `drained` is the clock read right after the sockets were drained.
    fn publish(&mut self, turn: Instant, drained: Instant) {
        let tally = self.account.tally_mut();
        tally.alive_at = turn;
        tally.received_at = drained;
        self.published.write(self.account.tally());
    }
}

/// L1 octets of the frames `first .. first + count` of a stream.
fn l1_octets(writer: &Writer, first: u64, count: usize) -> u64 {
    (first..).take(count).map(|sequence| writer.mix().size(sequence).l1_octets()).sum()
}

impl Worker<Mmsg> {
    /// As [`Worker::run`], over packet sockets and in real time: no type is left open here, so that it is compiled with
    /// this crate, for speed.
    pub fn flood(self, clock: &Monotonic) {
        self.run(clock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sent;
    use measure::frame::Identity;
    use measure::mix::SizeMix;
    use measure::units::{Direction, MacAddress};
    use std::cell::{Cell, RefCell};
    use std::collections::VecDeque;
    use std::rc::Rc;

    const PACE: BitRate = BitRate::from_mbps(100);
    /// L1 octets of the one size that the tests send, and of that pace in a millisecond.
    const FRAME: u64 = 1538;
    const A_MILLISECOND: u64 = 12_500;

    /// A cable as a queue, and a port that takes as much as it is told to.
    #[derive(Default)]
    struct Port {
        frames: VecDeque<Vec<u8>>,
        bursts: Vec<(usize, u64, usize)>,
        room: Option<usize>,
        error: Option<i32>,
        drops: u64,
    }

    impl Port {
        fn refuse(&self) -> io::Result<()> {
            self.error.map_or(Ok(()), |errno| Err(io::Error::from_raw_os_error(errno)))
        }
    }

    #[derive(Clone, Default)]
    struct FakeEngine(Rc<RefCell<Port>>);

    impl Engine for FakeEngine {
        fn send(&mut self, writer: &Writer, stream: usize, first: u64, count: usize) -> io::Result<Sent> {
            let mut port = self.0.borrow_mut();
            port.refuse()?;
            port.bursts.push((stream, first, count));
            let accepted = count.min(port.room.unwrap_or(count));
            port.room = port.room.map(|room| room - accepted);
            for sequence in (first..).take(accepted) {
                let mut buffer = vec![0; writer.slot_octets()];
                let slots = writer.slots(1) as u64;
                writer.fill(stream, usize::try_from(sequence % slots).unwrap(), &mut buffer);
                let length = writer.stamp(stream, sequence, &mut buffer);
                buffer.truncate(length);
                port.frames.push_back(buffer);
            }
            Ok(Sent { accepted, refused: accepted < count })
        }

        fn receive(&mut self, sink: &mut impl FnMut(&[u8])) -> io::Result<usize> {
            let mut port = self.0.borrow_mut();
            port.refuse()?;
            let batch = port.frames.len().min(BATCH);
            port.frames.drain(..batch).for_each(|frame| sink(&frame));
            Ok(batch)
        }

        fn drops(&mut self) -> io::Result<u64> {
            Ok(self.0.borrow().drops)
        }
    }

    #[derive(Default)]
    struct FakeClock(Cell<Instant>);

    impl FakeClock {
        fn pass(&self, time: Duration) {
            self.0.set(self.0.get() + time);
        }
    }

    impl Clock for FakeClock {
        fn now(&self) -> Instant {
            self.0.get()
        }

        fn sleep_until(&self, moment: Instant) {
            self.0.set(moment);
        }
    }

    struct Bench {
        worker: Worker<FakeEngine>,
        port: Rc<RefCell<Port>>,
        clock: FakeClock,
        orders: Arc<Orders>,
        published: Arc<Published>,
    }

    impl Bench {
        fn new(streams: usize, pace: Option<BitRate>) -> Self {
            let ethertypes = (0x88b5..).take(streams).collect();
            let macs = [MacAddress([2, 0, 0, 0, 0, 1]), MacAddress([2, 0, 0, 0, 0, 2])];
            let identity = Identity { nonce: 5, macs, ethertypes };
            let mix = SizeMix::parse("1518").unwrap();
            let writer = Writer::new(identity.clone(), Direction::AToB, mix);
            let checker = Checker::new(identity, Direction::AToB);
            let engine = FakeEngine::default();
            let (port, orders, published) = (Rc::clone(&engine.0), Arc::default(), Arc::default());
            let worker =
                Worker::new(engine, writer, checker, pace, Arc::clone(&orders), Arc::clone(&published));
            Self { worker, port, clock: FakeClock::default(), orders, published }
        }

        /// Turns for `time`, a turn a millisecond.
        fn work(&mut self, time: Duration) {
            for _ in 0..time.as_millis() {
                self.clock.pass(Duration::from_millis(1));
                self.worker.step(&self.clock);
            }
        }

        fn tally(&self) -> measure::tally::Tally {
            self.published.read().unwrap()
        }

        fn sent(&self) -> u64 {
            self.tally().sum(|stream| stream.sent)
        }
    }

    #[test]
    fn before_it_is_told_to_send_it_listens_and_gives_signs_of_life() {
        let mut bench = Bench::new(2, Some(PACE));
        bench.work(Duration::from_millis(50));
        assert_eq!((bench.sent(), bench.port.borrow().bursts.len()), (0, 0));
        assert_eq!(bench.tally().alive_at, bench.clock.now());
    }

    #[test]
    fn it_keeps_its_pace_and_checks_what_it_sent() {
        let mut bench = Bench::new(2, Some(PACE));
        bench.orders.give(Order::Send);
        bench.work(Duration::from_secs(1));
        let tally = bench.tally();
        let due = 999 * A_MILLISECOND;
        assert!((due - FRAME..=due).contains(&tally.sent_l1_octets), "{}", tally.sent_l1_octets);
        assert_eq!(tally.sum(|stream| stream.good), bench.sent());
        let [first, second, ..] = tally.streams;
        assert!(first.sent.abs_diff(second.sent) <= bench.sent() / 10, "{} and {}", first.sent, second.sent);
    }

    #[test]
    fn a_batch_is_64_frames_at_most_even_without_a_pace() {
        let mut bench = Bench::new(3, None);
        bench.orders.give(Order::Send);
        assert_eq!(bench.worker.step(&bench.clock), Turn::Busy);
        let offered: usize = bench.port.borrow().bursts.iter().map(|(.., count)| count).sum();
        assert_eq!((offered, bench.sent()), (BATCH, 64));
    }

    #[test]
    fn a_full_port_is_flow_control_and_the_frame_is_offered_again_under_its_number() {
        let mut bench = Bench::new(1, None);
        bench.orders.give(Order::Send);
        bench.port.borrow_mut().room = Some(10);
        bench.worker.step(&bench.clock);
        assert_eq!((bench.sent(), bench.tally().refused), (10, 1));
        bench.port.borrow_mut().room = None;
        bench.worker.step(&bench.clock);
        assert_eq!(bench.port.borrow().bursts, [(0, 0, 64), (0, 10, 64)]);
        let tally = bench.tally();
        assert_eq!((tally.streams[0].good, tally.streams[0].duplicates), (74, 0));
    }

    #[test]
    fn the_time_between_two_turns_is_a_stall_only_while_sending() {
        let mut bench = Bench::new(1, Some(PACE));
        bench.work(Duration::from_millis(5));
        bench.clock.pass(Duration::from_secs(3));
        bench.orders.give(Order::Send);
        bench.work(Duration::from_millis(5));
        assert!(bench.tally().longest_stall <= 1_000_000);
        bench.clock.pass(Duration::from_millis(699));
        bench.work(Duration::from_millis(1));
        assert_eq!(bench.tally().longest_stall, 700_000_000);
        assert!(bench.tally().forfeited_l1_octets > 0, "beyond the smear window nothing is made good");
    }

    #[test]
    fn received_is_stamped_right_after_the_drain() {
        let mut bench = Bench::new(1, Some(PACE));
        bench.work(Duration::from_millis(20));
        assert_eq!(bench.tally().received_at, bench.clock.now());
    }

    #[test]
    fn socket_errors_are_counted_and_end_nothing() {
        let mut bench = Bench::new(1, Some(PACE));
        bench.orders.give(Order::Send);
        bench.work(Duration::from_millis(10));
        bench.port.borrow_mut().error = Some(libc::ENETDOWN);
        bench.work(Duration::from_millis(10));
        let tally = bench.tally();
        assert!(tally.socket_errors >= 10, "{}", tally.socket_errors);
        assert_eq!(tally.last_errno, u64::try_from(libc::ENETDOWN).unwrap());
        bench.port.borrow_mut().error = None;
        let before = bench.sent();
        bench.work(Duration::from_millis(10));
        assert!(bench.sent() > before);
    }

    #[test]
    fn drops_are_known_before_the_next_reading_is_due() {
        let mut bench = Bench::new(1, Some(PACE));
        bench.orders.give(Order::Send);
        bench.work(Duration::from_millis(20));
        bench.port.borrow_mut().drops = 7;
        bench.work(Duration::from_millis(16));
        assert_eq!(bench.tally().socket_drops, 7);
    }

    #[test]
    fn told_to_listen_it_sends_nothing_more_and_drains() {
        let mut bench = Bench::new(1, None);
        bench.orders.give(Order::Send);
        bench.work(Duration::from_millis(2));
        bench.orders.give(Order::Listen);
        let bursts = bench.port.borrow().bursts.len();
        bench.work(Duration::from_millis(2));
        assert_eq!(bench.port.borrow().bursts.len(), bursts);
        assert!(bench.port.borrow().frames.is_empty());
    }

    #[test]
    fn told_to_halt_it_ends_with_its_figures_published() {
        let mut bench = Bench::new(1, None);
        bench.orders.give(Order::Send);
        bench.worker.step(&bench.clock);
        bench.orders.give(Order::Halt);
        assert_eq!(bench.worker.step(&bench.clock), Turn::Over);
        assert_eq!(bench.tally().sum(|stream| stream.good), 64);
    }
}
