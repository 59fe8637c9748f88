//! Packet sockets, two worker threads and the kernel's interfaces.

use crate::clock::{Clock, Monotonic};
use crate::host::affinity;
use crate::nic::Nic;
use crate::port::Scout;
use crate::port::mmsg::Mmsg;
use crate::port::published::Published;
use crate::port::scout::PacketScout;
use crate::port::worker::{Order, Orders, Worker};
use crate::session::Rig;
use measure::frame::{Checker, Writer};
use measure::tally::Tally;
use measure::units::{BitRate, Direction, Instant};
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

/// A box whose ports are interfaces of this kernel.
pub struct SocketRig<N> {
    nic: N,
    indices: [u32; 2],
    clock: Monotonic,
    scout: Option<PacketScout>,
    orders: Arc<Orders>,
    published: [Arc<Published>; 2],
    threads: [Option<JoinHandle<()>>; 2],
}

impl<N: Nic> SocketRig<N> {
    /// A rig over the interfaces with `indices`, whose settings, link and counters `nic` knows.
    pub fn new(nic: N, indices: [u32; 2], clock: Monotonic) -> Self {
        Self {
            nic,
            indices,
            clock,
            scout: None,
            orders: Arc::default(),
            published: Default::default(),
            threads: Default::default(),
        }
    }

    fn start_worker(
        &mut self,
        direction: Direction,
        writer: Writer,
        pace: Option<BitRate>,
    ) -> io::Result<()> {
        let [from, to] = [direction.from(), direction.to()].map(|side| self.indices[side.index()]);
        let identity = writer.identity().clone();
        let engine = Mmsg::open(from, to, &writer, &identity.ethertypes).map_err(io::Error::other)?;
        let checker = Checker::new(identity, direction);
        let published = Arc::clone(&self.published[direction.index()]);
        let worker = Worker::new(engine, writer, checker, pace, Arc::clone(&self.orders), published);
        let clock = self.clock;
        let cpu = own_cpu(direction);
        let thread = std::thread::Builder::new().name(format!("worker {direction}")).spawn(move || {
            // Without a processor of its own it is slower, and nothing else.
            let _ = cpu.map(affinity::pin);
            worker.flood(&clock);
        })?;
        self.threads[direction.index()] = Some(thread);
        Ok(())
    }
}

impl<N> Clock for SocketRig<N> {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn sleep_until(&self, moment: Instant) {
        self.clock.sleep_until(moment);
    }
}

impl<N: Nic> Rig for SocketRig<N> {
    fn nic(&mut self) -> &mut dyn Nic {
        &mut self.nic
    }

    fn open(&mut self, writers: [Writer; 2], pace: Option<BitRate>) -> io::Result<()> {
        let [writer, _] = &writers;
        let identity = writer.identity();
        self.scout = Some(
            PacketScout::open(self.indices, identity.nonce, &identity.ethertypes)
                .map_err(io::Error::other)?,
        );
        for (direction, writer) in Direction::BOTH.into_iter().zip(writers) {
            self.start_worker(direction, writer, pace)?;
        }
        Ok(())
    }

    fn scout(&mut self) -> &mut dyn Scout {
        self.scout.as_mut().expect("a session opens its rig before it listens")
    }

    fn order(&mut self, order: Order) {
        self.orders.give(order);
    }

    fn tally(&mut self, direction: Direction) -> Option<Tally> {
        self.published[direction.index()].read()
    }

    fn died(&mut self, direction: Direction) -> bool {
        self.threads[direction.index()].as_ref().is_some_and(JoinHandle::is_finished)
    }
}

/// The processor for a direction's worker. A virtual cable delivers frames on the processor that sent them:
/// a worker that moved to another in between could overtake its own frames.
fn own_cpu(direction: Direction) -> Option<usize> {
    let allowed = affinity::allowed().ok()?;
    let turn = direction.index().checked_rem(allowed.len())?;
    allowed.get(turn).copied()
}

/// The workers end with the rig: no frame leaves after it.
impl<N> Drop for SocketRig<N> {
    fn drop(&mut self) {
        self.orders.give(Order::Halt);
        for thread in self.threads.iter_mut().filter_map(Option::take) {
            // A worker that panicked has been reported as dead already.
            let _ = thread.join();
        }
    }
}
