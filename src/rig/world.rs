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
use crate::rig::trouble::{HostTrouble, Mishap};
use crate::rig::wire::Wire;
use crate::session::Rig;
use measure::counter::PortCounters;
use measure::frame::{Checker, Writer};
use measure::link::LinkReading;
use measure::record::{Held, SettingReading, text};
use measure::tally::Tally;
use measure::units::{BitRate, Direction, Instant, MacAddress, Side};
use measure::verdict::Setting;
use std::cell::{Cell, RefCell};
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

/// The link speed after [`Mishap::OtherSpeed`].
const OTHER_SPEED: BitRate = BitRate::from_mbps(1_000);

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

impl World {
    /// A box with `cable` between its ports.
    #[must_use]
    pub fn new(cable: EmulatedCable, trouble: HostTrouble) -> Self {
        let wire = Rc::new(RefCell::new(Wire::new(cable, trouble)));
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

    /// This world's time, to be asked while a session drives the world.
    pub fn watch(&self) -> impl Fn() -> Instant + use<> {
        let clock = self.clock.clone();
        move || clock.now()
    }

    fn mishap(&self) -> Option<(Instant, Mishap)> {
        self.wire.borrow().mishap(self.now())
    }

    fn step_to(&self, moment: Instant) {
        self.clock.sleep_until(moment);
        self.wire.borrow_mut().poll(moment);
        let mishap = self.wire.borrow().mishap(moment);
        for (direction, worker) in Direction::BOTH.into_iter().zip(self.workers.borrow_mut().iter_mut()) {
            if mishap.is_some_and(|mishap| stands_still(direction, mishap, moment)) {
                continue;
            }
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
        let hidden = self.mishap().is_some_and(|(_, what)| what == Mishap::TallyUnreadable(direction));
        if hidden { None } else { self.published[direction.index()].read() }
    }

    fn died(&mut self, direction: Direction) -> bool {
        self.mishap().is_some_and(|(_, what)| what == Mishap::WorkerEnds(direction))
    }
}

/// The worker of `direction` gets no turn at `now`.
fn stands_still(direction: Direction, (at, what): (Instant, Mishap), now: Instant) -> bool {
    match what {
        Mishap::Stall(stalled, time) => stalled == direction && now < at + time,
        Mishap::WorkerEnds(ended) => ended == direction,
        _ => false,
    }
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
        self.verify()
    }

    fn verify(&mut self) -> Vec<SettingReading> {
        let (wire, now) = (self.wire.borrow(), self.clock.now());
        let setting = |port| {
            let other = wire.has_happened(now, Mishap::OtherMtu(port));
            SettingReading {
                setting: Setting::Mtu,
                port: Some(port),
                wanted: text(9000),
                got: text(if other { 1500 } else { 9000 }),
                held: if other { Held::No } else { Held::Yes },
                required: true,
            }
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
        let now = self.clock.now();
        wire.look_for(side, now)?;
        let port = &wire.ports[side.index()];
        let speed = if wire.has_happened(now, Mishap::OtherSpeed) { OTHER_SPEED } else { SPEED };
        Ok(LinkReading {
            carrier: Some(port.carrier),
            speed: port.carrier.then_some(speed),
            changes: (!wire.trouble.no_carrier_counter).then_some(port.changes),
            taken: wire.has_happened(now, Mishap::PortTaken(side)),
            ..LinkReading::default()
        })
    }

    fn counters(&mut self, side: Side) -> io::Result<PortCounters> {
        let now = self.clock.now();
        let mut wire = self.wire.borrow_mut();
        wire.look_for(side, now)?;
        if wire.has_happened(now, Mishap::CountersUnreadable(side)) {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        Ok(wire.counters(side, now))
    }

    fn refresh(&self) -> Duration {
        self.wire.borrow().trouble.refresh
    }
}
