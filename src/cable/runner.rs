//! A cable in real time: one thread between two ends, whatever they are made of.

use crate::cable::account::Account;
use crate::cable::emulated::{EmulatedCable, MacCounts};
use measure::units::{Direction, Instant, Side};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Frames read from one end before the other has its turn.
const BATCH: usize = 64;

/// Longest sleep: how late a stop, or a port switched off, can be noticed.
const TICK: Duration = Duration::from_millis(10);

/// The largest frame that either kind of end can hand over.
const LARGEST: usize = 1 << 16;

/// One end of a cable.
pub trait End: Send + 'static {
    /// Reads the next frame that the port sent into `buffer`; none if there is none yet.
    ///
    /// # Errors
    /// The system's; an end that is gone for good says so each time.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// Makes `frame` arrive at the port.
    ///
    /// # Errors
    /// The system's: the host did not take the frame.
    fn write(&mut self, frame: &[u8]) -> io::Result<()>;

    /// Gives the port a carrier or takes it away.
    ///
    /// # Errors
    /// The system's.
    fn set_carrier(&mut self, up: bool) -> io::Result<()>;

    /// Whether the port's own link is switched on; none where that cannot be seen.
    fn is_up(&mut self) -> Option<bool>;

    /// What to wait on for the next frame.
    fn as_fd(&self) -> BorrowedFd<'_>;
}

/// What other threads can see of a running cable.
#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    carriers: [AtomicBool; 2],
    macs: [[AtomicU64; 3]; 2],
    errors: AtomicU64,
    account: Mutex<Account>,
}

/// A view of a running cable; it outlives the cable and then shows its last state.
#[derive(Clone, Debug)]
pub struct Live(Arc<Shared>);

impl Live {
    /// What the MAC of port `side` would have counted; as of the last turn of the cable's thread.
    #[must_use]
    pub fn mac(&self, side: Side) -> MacCounts {
        let [tx, rx, crc] = &self.0.macs[side.index()];
        MacCounts {
            tx_frames: tx.load(Ordering::Relaxed),
            rx_frames: rx.load(Ordering::Relaxed),
            crc_errors: crc.load(Ordering::Relaxed),
        }
    }

    /// Whether the cable gives port `side` a carrier.
    #[must_use]
    pub fn carrier(&self, side: Side) -> bool {
        self.0.carriers[side.index()].load(Ordering::Relaxed)
    }

    /// Errors of the ends other than a frame not taken (a device that is gone, a carrier not set).
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.0.errors.load(Ordering::Relaxed)
    }

    /// The truth as of the last turn of the cable's thread.
    #[must_use]
    pub fn account(&self) -> Account {
        *self.0.account.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// A cable on its thread; dropping it stops it.
#[derive(Debug)]
pub struct RunningCable {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Account>>,
}

impl RunningCable {
    /// Starts `cable` between the end at port A and the end at port B, in a thread of its own.
    ///
    /// # Errors
    /// No thread, or an end that takes no carrier setting.
    pub fn start<E: End>(cable: EmulatedCable, ends: [E; 2]) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let mut runner = Runner::new(cable, ends, Arc::clone(&shared));
        runner.begin()?;
        let thread = thread::Builder::new().name("cable".to_owned()).spawn(move || runner.run())?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// A view of it.
    #[must_use]
    pub fn live(&self) -> Live {
        Live(Arc::clone(&self.shared))
    }

    /// Stops it and tells the truth; the ends are closed then.
    #[must_use]
    pub fn stop(mut self) -> Account {
        self.join().unwrap_or_else(|| self.live().account())
    }

    /// None if the thread died or was joined before.
    fn join(&mut self) -> Option<Account> {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.thread.take()?.join().ok()
    }
}

impl Drop for RunningCable {
    fn drop(&mut self) {
        self.join();
    }
}

/// The monotonic clock, from when it was made.
#[derive(Debug)]
struct Clock(std::time::Instant);

impl Clock {
    fn now(&self) -> Instant {
        Instant::ZERO + self.0.elapsed()
    }
}

struct Runner<E> {
    cable: EmulatedCable,
    ends: [E; 2],
    shared: Arc<Shared>,
    clock: Clock,
    buffer: Vec<u8>,
    /// Carriers as last set.
    carriers: [bool; 2],
    /// When the ports were last asked whether they are switched on.
    looked: Instant,
    /// An end that failed is waited on no more until the next tick, lest the thread spin.
    resting: [bool; 2],
}

impl<E: End> Runner<E> {
    fn new(cable: EmulatedCable, ends: [E; 2], shared: Arc<Shared>) -> Self {
        Self {
            cable,
            ends,
            shared,
            clock: Clock(std::time::Instant::now()),
            buffer: vec![0; LARGEST],
            carriers: [true; 2],
            looked: Instant::ZERO,
            resting: [false; 2],
        }
    }

    /// Sets both carriers for the first time: here an error is the caller's to know.
    fn begin(&mut self) -> io::Result<()> {
        self.look_at_ports();
        for side in Side::BOTH {
            let up = self.cable.carrier(side, self.clock.now());
            self.ends[side.index()].set_carrier(up)?;
            self.carriers[side.index()] = up;
        }
        self.publish();
        Ok(())
    }

    fn run(mut self) -> Account {
        while !self.shared.stop.load(Ordering::Relaxed) {
            if self.turn() {
                self.sleep();
            }
        }
        // What the ports have sent until now is still carried, as far as one batch goes.
        self.turn();
        *self.cable.account()
    }

    /// Carries a batch each way, does what is due, shows the result; true if there was no more to carry.
    fn turn(&mut self) -> bool {
        self.look_at_ports();
        let empty = self.carry_batches();
        let now = self.clock.now();
        // After the frames: one that was held back must not be given up while the next waits to be read.
        self.with_cable(|cable, deliver| cable.poll(now, deliver));
        self.set_carriers(now);
        self.publish();
        empty
    }

    /// One batch from each end; true if both have nothing more.
    fn carry_batches(&mut self) -> bool {
        let mut empty = true;
        for direction in Direction::BOTH {
            let mut count = 0;
            while count < BATCH && self.carry_one(direction) {
                count += 1;
            }
            empty &= count < BATCH;
        }
        empty
    }

    /// Carries one frame; false if there is none.
    fn carry_one(&mut self, direction: Direction) -> bool {
        let from = direction.from().index();
        match self.ends[from].read(&mut self.buffer) {
            Ok(Some(octets)) => {
                let buffer = std::mem::take(&mut self.buffer);
                let now = self.clock.now();
                let frame = buffer.get(..octets).unwrap_or(&buffer);
                self.with_cable(|cable, deliver| cable.carry(direction, now, frame, deliver));
                self.buffer = buffer;
                true
            }
            Ok(None) => false,
            Err(_) => {
                self.resting[from] = true;
                self.shared.errors.fetch_add(1, Ordering::Relaxed);
                false
            }
        }
    }

    /// Lets the cable deliver to the ends, and enters what they would not take.
    fn with_cable(&mut self, act: impl FnOnce(&mut EmulatedCable, &mut dyn FnMut(Direction, &[u8]))) {
        let ends = &mut self.ends;
        let mut refused = [0; 2];
        act(&mut self.cable, &mut |direction, frame| {
            if ends[direction.to().index()].write(frame).is_err() {
                refused[direction.index()] += 1;
            }
        });
        for direction in Direction::BOTH {
            self.cable.note_refused(direction, refused[direction.index()]);
        }
    }

    fn look_at_ports(&mut self) {
        let now = self.clock.now();
        if self.looked != Instant::ZERO && now.since(self.looked) < TICK {
            return;
        }
        self.looked = now;
        self.resting = [false; 2];
        for side in Side::BOTH {
            if let Some(up) = self.ends[side.index()].is_up() {
                self.cable.set_port(side, up);
            }
        }
    }

    fn set_carriers(&mut self, now: Instant) {
        for side in Side::BOTH {
            let up = self.cable.carrier(side, now);
            if up == self.carriers[side.index()] {
                continue;
            }
            self.carriers[side.index()] = up;
            if self.ends[side.index()].set_carrier(up).is_err() {
                self.shared.errors.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn publish(&self) {
        for side in Side::BOTH {
            let counts = self.cable.mac(side);
            let [tx, rx, crc] = &self.shared.macs[side.index()];
            tx.store(counts.tx_frames, Ordering::Relaxed);
            rx.store(counts.rx_frames, Ordering::Relaxed);
            crc.store(counts.crc_errors, Ordering::Relaxed);
            self.shared.carriers[side.index()].store(self.carriers[side.index()], Ordering::Relaxed);
        }
        // A reader that holds the lock gets the next one.
        if let Ok(mut account) = self.shared.account.try_lock() {
            *account = *self.cable.account();
        }
    }

    /// Waits for a frame, the cable's next event, or the tick.
    fn sleep(&mut self) {
        let now = self.clock.now();
        let due = self.cable.next_event().map_or(TICK, |event| event.since(now));
        let timeout = TimeSpec::from_duration(due.min(TICK));
        let mut waits: heapless::Vec<PollFd, 2> = heapless::Vec::new();
        for (end, resting) in self.ends.iter().zip(self.resting) {
            if !resting {
                // There is room for both.
                let _ = waits.push(PollFd::new(end.as_fd(), PollFlags::POLLIN));
            }
        }
        match ppoll(&mut waits, Some(timeout), None) {
            Ok(_) | Err(Errno::EINTR) => (),
            Err(_) => {
                self.shared.errors.fetch_add(1, Ordering::Relaxed);
                thread::sleep(TICK);
            }
        }
    }
}
