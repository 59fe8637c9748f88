//! A whole box and its cable in virtual time: the same session, the same workers, no operating system.
//!
//! Time passes only when the session sleeps. The cable is the emulated one, so that what is reported
//! can be compared with what was done, number by number.

use crate::cable::emulated::EmulatedCable;
use crate::clock::Clock;
use crate::nic::{Nic, PortIdentity};
use crate::port::published::Published;
use crate::port::worker::{Order, Orders, Turn, Worker};
use crate::port::{Engine, Scout, Sent};
use crate::session::Rig;
use measure::counter::PortCounters;
use measure::frame::{Checker, DIRECTION_AT, Identity, KIND_AT, Kind, MAGIC, MAGIC_AT, NONCE_AT, Writer};
use measure::link::LinkReading;
use measure::record::{Held, SettingReading, text};
use measure::tally::Tally;
use measure::units::{BitRate, Direction, Instant, MacAddress, Side};
use measure::verdict::Setting;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// How far virtual time moves at once: a worker's turn is never further away.
const STEP: Duration = Duration::from_millis(4);

/// Turns that a busy worker gets before time moves on.
const TURNS: usize = 64;

/// The link speed of the modelled ports.
const SPEED: BitRate = BitRate::from_mbps(10_000);

/// The modelled box.
pub struct World {
    wire: Rc<RefCell<Wire>>,
    clock: VirtualClock,
    nic: WorldNic,
    scout: WorldScout,
    workers: RefCell<Vec<Worker<WorldEngine>>>,
    orders: Arc<Orders>,
    published: [Arc<Published>; 2],
}

/// Troubles of the host that are not the cable's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTrouble {
    /// Frames of each direction that the receive socket drops, and counts.
    pub socket_drops: [u64; 2],
}

#[derive(Clone, Debug, Default)]
struct VirtualClock(Rc<Cell<Instant>>);

impl Clock for VirtualClock {
    fn now(&self) -> Instant {
        self.0.get()
    }

    fn sleep_until(&self, moment: Instant) {
        self.0.set(self.0.get().max(moment));
    }
}

/// Ports, cable and sockets.
struct Wire {
    cable: EmulatedCable,
    identity: Option<Identity>,
    /// Frames for the test sockets of each port.
    arrived: [VecDeque<Vec<u8>>; 2],
    /// Frames for the listening socket of each port.
    heard: [VecDeque<Vec<u8>>; 2],
    spare: Vec<Vec<u8>>,
    ports: [PortModel; 2],
    trouble: HostTrouble,
    socket_drops: [u64; 2],
    /// When the first and the last test frame left.
    flood: Option<(Instant, Instant)>,
}

#[derive(Clone, Copy, Debug)]
struct PortModel {
    carrier: bool,
    changes: u64,
    tx_frames: u64,
    rx_frames: u64,
    tx_dropped: u64,
}

impl World {
    /// A box with `cable` between its ports.
    #[must_use]
    pub fn new(cable: EmulatedCable, trouble: HostTrouble) -> Self {
        let port = PortModel { carrier: false, changes: 0, tx_frames: 0, rx_frames: 0, tx_dropped: 0 };
        let wire = Rc::new(RefCell::new(Wire {
            cable,
            identity: None,
            arrived: Default::default(),
            heard: Default::default(),
            spare: Vec::new(),
            ports: [port; 2],
            trouble,
            socket_drops: [0; 2],
            flood: None,
        }));
        let clock = VirtualClock::default();
        Self {
            nic: WorldNic { wire: Rc::clone(&wire), clock: clock.clone() },
            scout: WorldScout { wire: Rc::clone(&wire), clock: clock.clone() },
            wire,
            clock,
            workers: RefCell::new(Vec::new()),
            orders: Arc::default(),
            published: Default::default(),
        }
    }

    /// Looks at the cable: its account is the truth.
    pub fn with_cable<T>(&self, look: impl FnOnce(&EmulatedCable) -> T) -> T {
        look(&self.wire.borrow().cable)
    }

    /// When the first and the last test frame left the box; none where none did.
    #[must_use]
    pub fn flood(&self) -> Option<(Instant, Instant)> {
        self.wire.borrow().flood
    }

    /// Frames that the sockets really dropped, by direction.
    #[must_use]
    pub fn socket_drops(&self) -> [u64; 2] {
        self.wire.borrow().socket_drops
    }

    fn step_to(&self, moment: Instant) {
        self.clock.sleep_until(moment);
        self.wire.borrow_mut().poll(moment);
        for worker in self.workers.borrow_mut().iter_mut() {
            // A worker that is never done is cut off here, as a thread is by the scheduler.
            let _ = (0..TURNS).any(|_| worker.step(&self.clock) != Turn::Busy);
        }
    }
}

impl Clock for World {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn sleep_until(&self, moment: Instant) {
        while self.now() < moment {
            self.step_to((self.now() + STEP).min(moment));
        }
    }
}

impl Rig for World {
    fn nic(&mut self) -> &mut dyn Nic {
        &mut self.nic
    }

    fn open(&mut self, writers: [Writer; 2], pace: Option<BitRate>) -> io::Result<()> {
        for (direction, writer) in Direction::BOTH.into_iter().zip(writers) {
            let identity = writer.identity().clone();
            self.wire.borrow_mut().identity = Some(identity.clone());
            let engine = WorldEngine::new(&self.wire, &self.clock, direction, &writer);
            let published = Arc::clone(&self.published[direction.index()]);
            let checker = Checker::new(identity, direction);
            let worker = Worker::new(engine, writer, checker, pace, Arc::clone(&self.orders), published);
            self.workers.borrow_mut().push(worker);
        }
        Ok(())
    }

    fn scout(&mut self) -> &mut dyn Scout {
        &mut self.scout
    }

    fn order(&mut self, order: Order) {
        self.orders.give(order);
    }

    fn tally(&mut self, direction: Direction) -> Option<Tally> {
        self.published[direction.index()].read()
    }

    fn died(&mut self, _direction: Direction) -> bool {
        false
    }
}

impl Wire {
    /// A frame leaves port `direction.from()`; false where the port has no carrier.
    fn carry(&mut self, direction: Direction, now: Instant, frame: &[u8]) -> bool {
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
    fn poll(&mut self, now: Instant) {
        self.with_deliver(|cable, deliver| cable.poll(now, deliver));
        for side in Side::BOTH {
            let carrier = self.cable.carrier(side, now);
            let port = &mut self.ports[side.index()];
            port.changes += u64::from(port.carrier != carrier);
            port.carrier = carrier;
        }
    }

    fn with_deliver(&mut self, act: impl FnOnce(&mut EmulatedCable, &mut dyn FnMut(Direction, &[u8]))) {
        let Self { cable, identity, arrived, heard, spare, ports, trouble, socket_drops, .. } = self;
        act(cable, &mut |direction, frame| {
            let to = direction.to().index();
            ports[to].rx_frames += 1;
            let Some(identity) = identity else { return };
            let taken = is_test_ethertype(identity, frame);
            if taken
                && is_plain_test(identity, direction, frame)
                && trouble.socket_drops[direction.index()] > 0
            {
                trouble.socket_drops[direction.index()] -= 1;
                socket_drops[direction.index()] += 1;
            } else if taken {
                arrived[to].push_back(copy(spare, frame));
            }
            if !is_plain_test(identity, direction, frame) {
                heard[to].push_back(copy(spare, frame));
            }
        });
    }
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

/// One direction's frames.
struct WorldEngine {
    wire: Rc<RefCell<Wire>>,
    clock: VirtualClock,
    direction: Direction,
    /// Filled once, stream by stream; stamped for each frame.
    slots: Vec<Vec<Vec<u8>>>,
}

impl WorldEngine {
    fn new(wire: &Rc<RefCell<Wire>>, clock: &VirtualClock, direction: Direction, writer: &Writer) -> Self {
        let slots = (0..writer.streams()).map(|stream| filled_slots(writer, stream)).collect();
        Self { wire: Rc::clone(wire), clock: clock.clone(), direction, slots }
    }
}

fn filled_slots(writer: &Writer, stream: usize) -> Vec<Vec<u8>> {
    let filled = |slot| {
        let mut buffer = vec![0; writer.slot_octets()];
        writer.fill(stream, slot, &mut buffer);
        buffer
    };
    (0..writer.slots(1)).map(filled).collect()
}

impl Engine for WorldEngine {
    fn send(&mut self, writer: &Writer, stream: usize, first: u64, count: usize) -> io::Result<Sent> {
        let Some(slots) = self.slots.get_mut(stream) else { return Ok(Sent::default()) };
        let mut wire = self.wire.borrow_mut();
        let slot_count = slots.len() as u64;
        for (accepted, sequence) in (first..).take(count).enumerate() {
            let slot = usize::try_from(sequence % slot_count).unwrap_or(0);
            let buffer = &mut slots[slot];
            let length = writer.stamp(stream, sequence, buffer);
            if !wire.carry(self.direction, self.clock.now(), &buffer[..length]) {
                return Ok(Sent { accepted, refused: true });
            }
        }
        Ok(Sent { accepted: count, refused: false })
    }

    fn receive(&mut self, sink: &mut impl FnMut(&[u8])) -> io::Result<usize> {
        let mut wire = self.wire.borrow_mut();
        let to = self.direction.to().index();
        let batch = wire.arrived[to].len().min(64);
        for _ in 0..batch {
            if let Some(frame) = wire.arrived[to].pop_front() {
                sink(&frame);
                wire.spare.push(frame);
            }
        }
        Ok(batch)
    }

    fn drops(&mut self) -> io::Result<u64> {
        Ok(self.wire.borrow().socket_drops[self.direction.index()])
    }
}

struct WorldScout {
    wire: Rc<RefCell<Wire>>,
    clock: VirtualClock,
}

impl Scout for WorldScout {
    fn send(&mut self, from: Side, frame: &[u8]) -> io::Result<()> {
        let direction = match from {
            Side::A => Direction::AToB,
            Side::B => Direction::BToA,
        };
        if self.wire.borrow_mut().carry(direction, self.clock.now(), frame) {
            Ok(())
        } else {
            Err(io::Error::from_raw_os_error(libc::ENOBUFS))
        }
    }

    fn hear(&mut self, on: Side, sink: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        let mut wire = self.wire.borrow_mut();
        while let Some(frame) = wire.heard[on.index()].pop_front() {
            sink(&frame);
            wire.spare.push(frame);
        }
        Ok(())
    }
}

struct WorldNic {
    wire: Rc<RefCell<Wire>>,
    clock: VirtualClock,
}

impl Nic for WorldNic {
    fn identity(&self, side: Side) -> PortIdentity {
        let last = if side == Side::A { 0x0a } else { 0x0b };
        let mac = MacAddress([0x02, 0x6c, 0x67, 0, 0, last]);
        PortIdentity { name: text(format_args!("model{side}")), driver: text("model"), mac }
    }

    fn prepare(&mut self) -> Vec<SettingReading> {
        let setting = |port| SettingReading {
            setting: Setting::Mtu,
            port: Some(port),
            wanted: text(9000),
            got: text(9000),
            held: Held::Yes,
            required: true,
        };
        Side::BOTH.map(setting).to_vec()
    }

    fn set_up(&mut self, side: Side, up: bool) -> io::Result<()> {
        let mut wire = self.wire.borrow_mut();
        wire.cable.set_port(side, up);
        wire.poll(self.clock.now());
        Ok(())
    }

    fn link(&mut self, side: Side) -> io::Result<LinkReading> {
        let wire = self.wire.borrow();
        let port = &wire.ports[side.index()];
        Ok(LinkReading {
            carrier: Some(port.carrier),
            speed: port.carrier.then_some(SPEED),
            changes: Some(port.changes),
            ..LinkReading::default()
        })
    }

    fn counters(&mut self, side: Side) -> io::Result<PortCounters> {
        let wire = self.wire.borrow();
        let port = &wire.ports[side.index()];
        Ok(PortCounters {
            tx_frames: Some(port.tx_frames),
            rx_frames: Some(port.rx_frames),
            tx_dropped: Some(port.tx_dropped),
            rx_dropped: Some(0),
            rx_missed: Some(0),
            crc_errors: Some(wire.cable.mac(side).crc_errors),
            ..PortCounters::default()
        })
    }
}
