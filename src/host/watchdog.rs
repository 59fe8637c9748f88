//! The watchdog: resets the box when the run loop stands still.
//!
//! It runs from the moment it is opened. It is fed only through [`Watchdog::feed_if_progress`], whose counter
//! only the run loop moves, and is stopped only by [`Watchdog::disarm`]: dropping it, or a process that ends in
//! any other way, leaves it running into the reset.

use crate::sys::watchdog as sys;
use measure::record::{Words, words};
use measure::units::Instant;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

/// `WDIOF_CARDRESET`: the watchdog caused the last start (linux/watchdog.h).
const CARD_RESET: u32 = 0x20;

/// `WDIOF_MAGICCLOSE`: closing stops it only after the character `V` was written (linux/watchdog.h).
const MAGIC_CLOSE: u32 = 0x100;

/// Feedings in the watchdog's time: three may be late or lost.
const FEEDINGS: u32 = 4;

/// A watchdog device, from open on: the real one, or a model of it.
pub trait Device {
    /// What it is and can do.
    ///
    /// # Errors
    /// The kernel's, here and below.
    fn support(&self) -> io::Result<sys::Support>;

    /// Why the machine last started, as `WDIOF_` flags.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn boot_status(&self) -> io::Result<u32>;

    /// Sets its time in seconds and tells what it has become.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn set_timeout(&self, seconds: u16) -> io::Result<i32>;

    /// Its time in seconds.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn timeout(&self) -> io::Result<i32>;

    /// Starts its time anew.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn keep_alive(&self) -> io::Result<()>;

    /// Has the next close stop it.
    #[expect(clippy::missing_errors_doc, reason = "said above")]
    fn allow_stop(&self) -> io::Result<()>;
}

impl Device for File {
    fn support(&self) -> io::Result<sys::Support> {
        sys::support(self.as_fd())
    }

    fn boot_status(&self) -> io::Result<u32> {
        sys::boot_status(self.as_fd())
    }

    fn set_timeout(&self, seconds: u16) -> io::Result<i32> {
        sys::set_timeout(self.as_fd(), seconds)
    }

    fn timeout(&self) -> io::Result<i32> {
        sys::timeout(self.as_fd())
    }

    fn keep_alive(&self) -> io::Result<()> {
        sys::keep_alive(self.as_fd())
    }

    fn allow_stop(&self) -> io::Result<()> {
        let mut device = self;
        device.write_all(b"V")
    }
}

/// Why there is no watchdog.
#[derive(Debug, thiserror::Error)]
pub enum WatchdogError {
    /// It cannot be opened: `EBUSY` where another program holds it.
    #[error("watchdog {device}: cannot be opened: {source}")]
    Open {
        /// The device.
        device: String,
        /// The kernel's word.
        source: io::Error,
    },
    /// It does not answer as a watchdog.
    #[error("watchdog {device}: is no watchdog: {source}")]
    NotOne {
        /// The device.
        device: String,
        /// The kernel's word.
        source: io::Error,
    },
    /// It does not tell after what time it resets the machine, so nobody knows when to feed it.
    #[error("watchdog {device}: does not tell its time: {source}")]
    Timeout {
        /// The device.
        device: String,
        /// The kernel's word.
        source: io::Error,
    },
}

/// What is known of a watchdog, for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchdogReport {
    /// Its name.
    pub identity: String,
    /// Time asked for.
    pub asked: Duration,
    /// Time it has, after which it resets the machine: rounded, or fixed by the hardware.
    pub timeout: Duration,
    /// It says that the last start of the machine was its doing. A device that does not say so may still have
    /// done it: not all of them can tell (`iTCO_wdt` cannot), and none says whether it can.
    pub reset_the_machine: bool,
    /// It goes on when the process ends without stopping it.
    pub outlives_us: bool,
}

impl WatchdogReport {
    /// As lines of the log.
    pub fn notes(&self) -> impl Iterator<Item = Words> {
        let (seconds, asked) = (self.timeout.as_secs(), self.asked.as_secs());
        let armed = words(format_args!("watchdog {:?}: armed, {seconds} s", self.identity));
        let rounded = (seconds != asked).then(|| words(format_args!("watchdog: {asked} s were asked for")));
        let start =
            self.reset_the_machine.then(|| words("THE WATCHDOG RESET THIS BOX: its run loop had stopped"));
        let mortal = (!self.outlives_us).then(|| words("watchdog: stops if the program ends"));
        [start, Some(armed), rounded, mortal].into_iter().flatten()
    }
}

/// When to feed: after progress, and not too often. Pure, so that its rule can be tested.
#[derive(Clone, Copy, Debug)]
pub struct Feeder {
    interval: Duration,
    last: Option<(Instant, u64)>,
}

impl Feeder {
    /// Feeds at most once every `interval`.
    #[must_use]
    pub const fn new(interval: Duration) -> Self {
        Self { interval, last: None }
    }

    /// Whether to feed at `now`, with the run loop's counter at `progress`: where the counter has moved since
    /// the last feeding, either way, and that is an interval ago. Always at first.
    #[must_use]
    pub fn is_due(&self, now: Instant, progress: u64) -> bool {
        self.last.is_none_or(|(at, seen)| progress != seen && now.since(at) >= self.interval)
    }

    /// It was fed.
    pub const fn fed(&mut self, now: Instant, progress: u64) {
        self.last = Some((now, progress));
    }
}

/// An armed watchdog.
#[derive(Debug)]
pub struct Watchdog<D: Device = File> {
    /// None only in the course of `disarm`.
    device: Option<D>,
    feeder: Feeder,
    report: WatchdogReport,
    magic_close: bool,
}

impl Watchdog {
    /// Arms the watchdog `device` (like "/dev/watchdog0") with a time of `seconds`, or what it makes of that.
    ///
    /// # Errors
    /// See [`WatchdogError`]. No watchdog is left running then, but for one that the kernel never stops.
    pub fn open(device: &Path, seconds: u16) -> Result<Self, WatchdogError> {
        let name = device.display().to_string();
        let file = OpenOptions::new().write(true).open(device);
        let file = file.map_err(|source| WatchdogError::Open { device: name.clone(), source })?;
        Self::arm(file, name, seconds)
    }
}

impl<D: Device> Watchdog<D> {
    /// As [`Watchdog::open`], with a device that is open.
    ///
    /// # Errors
    /// See [`WatchdogError`].
    pub fn arm(device: D, name: String, seconds: u16) -> Result<Self, WatchdogError> {
        let support = match device.support() {
            Ok(support) => support,
            Err(source) => return Err(WatchdogError::NotOne { device: name, source }),
        };
        let timeout = match timeout(&device, seconds) {
            Ok(timeout) => timeout,
            Err(source) => {
                // Nobody could feed it in time.
                let _ = device.allow_stop();
                return Err(WatchdogError::Timeout { device: name, source });
            }
        };
        let magic_close = support.options & MAGIC_CLOSE != 0;
        let report = WatchdogReport {
            identity: identity(&support.identity),
            asked: Duration::from_secs(u64::from(seconds)),
            timeout,
            reset_the_machine: device.boot_status().is_ok_and(|status| status & CARD_RESET != 0),
            outlives_us: magic_close,
        };
        Ok(Self { device: Some(device), feeder: Feeder::new(timeout / FEEDINGS), report, magic_close })
    }

    /// What is known of it.
    #[must_use]
    pub const fn report(&self) -> &WatchdogReport {
        &self.report
    }

    /// Feeds it where `progress`, a counter that only the run loop moves, has moved since the last feeding, and
    /// at most four times in the watchdog's time. Tells whether it was fed. Cheap where it was not: call it as
    /// often as the loop turns.
    ///
    /// # Errors
    /// The kernel's; the next call tries again.
    pub fn feed_if_progress(&mut self, now: Instant, progress: u64) -> io::Result<bool> {
        let Some(device) = self.device.as_ref().filter(|_| self.feeder.is_due(now, progress)) else {
            return Ok(false);
        };
        device.keep_alive()?;
        self.feeder.fed(now, progress);
        Ok(true)
    }

    /// Stops it, for an orderly power-off.
    ///
    /// Where the kernel was told never to stop a watchdog (`nowayout`) it goes on, with all of its time before
    /// it: the power has to be off by then.
    ///
    /// # Errors
    /// The kernel's; it is still armed then.
    pub fn disarm(mut self) -> io::Result<()> {
        let Some(device) = self.device.as_ref() else { return Ok(()) };
        device.keep_alive()?;
        if self.magic_close {
            device.allow_stop()?;
        }
        // Closing it is what stops it.
        drop(self.device.take());
        Ok(())
    }
}

impl<D: Device> Drop for Watchdog<D> {
    /// Leaves it running. Where closing would stop it, it stays open to the end of the process.
    fn drop(&mut self) {
        if let Some(device) = self.device.take().filter(|_| !self.magic_close) {
            std::mem::forget(device);
        }
    }
}

/// Sets the time and tells what it is; a device whose time cannot be set tells its own.
fn timeout(device: &impl Device, seconds: u16) -> io::Result<Duration> {
    let set = device.set_timeout(seconds).ok();
    let got = set.filter(|got| *got > 0).map_or_else(|| device.timeout(), Ok)?;
    match u64::try_from(got) {
        Ok(seconds @ 1..) => Ok(Duration::from_secs(seconds)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, format!("{got} s is no time"))),
    }
}

/// A device's name up to the first zero, with whatever is not to be shown in place of it.
fn identity(octets: &[u8]) -> String {
    let name = octets.split(|octet| *octet == 0).next().unwrap_or_default();
    let shown = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    String::from_utf8_lossy(name).trim().chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::errno::Errno;
    use proptest::prelude::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// What a model does and what was done to it.
    #[derive(Clone, Debug, Default)]
    struct State {
        options: u32,
        boot_status: u32,
        /// Its time; 0 is an error when asked.
        timeout: i32,
        /// What it makes of a time asked for.
        rounds_to: Option<i32>,
        fails: bool,
        fed: u32,
        stop_allowed: bool,
        closed: bool,
    }

    #[derive(Clone, Debug, Default)]
    struct Model(Rc<RefCell<State>>);

    impl Model {
        fn new(state: State) -> Self {
            Self(Rc::new(RefCell::new(state)))
        }

        fn arm(&self, seconds: u16) -> Result<Watchdog<Open>, WatchdogError> {
            Watchdog::arm(Open(self.clone()), "model".to_owned(), seconds)
        }

        fn now(&self) -> State {
            self.0.borrow().clone()
        }
    }

    /// The descriptor: dropping it closes the device.
    #[derive(Debug)]
    struct Open(Model);

    impl Drop for Open {
        fn drop(&mut self) {
            self.0.0.borrow_mut().closed = true;
        }
    }

    impl Device for Open {
        fn support(&self) -> io::Result<sys::Support> {
            let mut identity = [0; 32];
            identity[..10].copy_from_slice(b"model dog ");
            Ok(sys::Support { options: self.0.now().options, firmware_version: 0, identity })
        }

        fn boot_status(&self) -> io::Result<u32> {
            Ok(self.0.now().boot_status)
        }

        fn set_timeout(&self, seconds: u16) -> io::Result<i32> {
            let mut state = self.0.0.borrow_mut();
            state.timeout = state.rounds_to.ok_or(Errno::EOPNOTSUPP)?.max(i32::from(seconds));
            Ok(state.timeout)
        }

        fn timeout(&self) -> io::Result<i32> {
            match self.0.now().timeout {
                0 => Err(Errno::EOPNOTSUPP.into()),
                seconds => Ok(seconds),
            }
        }

        fn keep_alive(&self) -> io::Result<()> {
            let mut state = self.0.0.borrow_mut();
            if state.fails {
                return Err(Errno::EIO.into());
            }
            state.fed += 1;
            Ok(())
        }

        fn allow_stop(&self) -> io::Result<()> {
            self.0.0.borrow_mut().stop_allowed = true;
            Ok(())
        }
    }

    fn usual() -> State {
        State { options: MAGIC_CLOSE, rounds_to: Some(0), ..State::default() }
    }

    fn notes(watchdog: &Watchdog<Open>) -> Vec<String> {
        watchdog.report().notes().map(|note| note.as_str().to_owned()).collect()
    }

    #[test]
    fn it_is_fed_only_after_progress_and_four_times_in_its_time() {
        let model = Model::new(usual());
        let mut watchdog = model.arm(20).unwrap();
        let mut feed = |second: u64, progress| {
            watchdog.feed_if_progress(Instant::from_millis(second * 1000), progress).unwrap()
        };
        assert!(feed(0, 0), "the first time");
        assert!(!feed(5, 0), "the loop stands");
        assert!(!feed(4, 1), "too early");
        assert!(feed(5, 1));
        assert!(!feed(1000, 1), "the loop stands for good");
        assert!(feed(1000, 2));
        assert_eq!(model.now().fed, 3);
    }

    #[test]
    fn a_feeding_that_failed_is_tried_again() {
        let model = Model::new(State { fails: true, ..usual() });
        let mut watchdog = model.arm(20).unwrap();
        assert!(watchdog.feed_if_progress(Instant::ZERO, 1).is_err());
        model.0.borrow_mut().fails = false;
        assert!(watchdog.feed_if_progress(Instant::ZERO, 1).unwrap());
    }

    #[test]
    fn a_time_that_was_rounded_is_the_one_that_counts() {
        let model = Model::new(State { rounds_to: Some(64), ..usual() });
        let mut watchdog = model.arm(20).unwrap();
        assert_eq!(
            notes(&watchdog),
            ["watchdog \"model dog\": armed, 64 s", "watchdog: 20 s were asked for"]
        );
        watchdog.feed_if_progress(Instant::ZERO, 0).unwrap();
        assert!(!watchdog.feed_if_progress(Instant::from_millis(15_999), 1).unwrap());
        assert!(watchdog.feed_if_progress(Instant::from_millis(16_000), 1).unwrap());
    }

    #[test]
    fn a_time_that_cannot_be_set_is_asked_for() {
        let fixed = Model::new(State { rounds_to: None, timeout: 8, ..usual() });
        assert_eq!(fixed.arm(20).unwrap().report().timeout, Duration::from_secs(8));
        for timeout in [0, -5] {
            let model = Model::new(State { rounds_to: None, timeout, ..usual() });
            let line = model.arm(20).unwrap_err().to_string();
            assert!(line.starts_with("watchdog model: does not tell its time: "), "{line}");
            assert!(model.now().stop_allowed && model.now().closed, "it is not left running");
        }
    }

    #[test]
    fn the_start_after_its_reset_says_so() {
        let model = Model::new(State { boot_status: CARD_RESET, ..usual() });
        let watchdog = model.arm(20).unwrap();
        assert!(watchdog.report().reset_the_machine);
        assert_eq!(notes(&watchdog)[0], "THE WATCHDOG RESET THIS BOX: its run loop had stopped");
    }

    #[test]
    fn another_kind_of_start_is_not_the_watchdogs() {
        // Overheated, or the power failed: WDIOF_OVERHEAT, WDIOF_POWERUNDER.
        let model = Model::new(State { boot_status: 0x01 | 0x10, ..usual() });
        assert_eq!(notes(&model.arm(20).unwrap()), ["watchdog \"model dog\": armed, 20 s"]);
    }

    #[test]
    fn dropping_it_leaves_it_armed() {
        let model = Model::new(usual());
        drop(model.arm(20).unwrap());
        assert!(model.now().closed && !model.now().stop_allowed);
    }

    #[test]
    fn a_device_that_stops_when_closed_is_not_closed_by_dropping_it() {
        let model = Model::new(State { options: 0, ..usual() });
        let watchdog = model.arm(20).unwrap();
        assert!(notes(&watchdog).contains(&"watchdog: stops if the program ends".to_owned()));
        drop(watchdog);
        assert!(!model.now().closed);
    }

    #[test]
    fn disarming_gives_it_all_its_time_then_stops_it() {
        for (options, magic) in [(MAGIC_CLOSE, true), (0, false)] {
            let model = Model::new(State { options, ..usual() });
            model.arm(20).unwrap().disarm().unwrap();
            let State { fed, stop_allowed, closed, .. } = model.now();
            assert_eq!((fed, stop_allowed, closed), (1, magic, true));
        }
    }

    #[test]
    fn a_disarming_that_fails_leaves_it_armed() {
        let model = Model::new(State { fails: true, options: 0, ..usual() });
        assert!(model.arm(20).unwrap().disarm().is_err());
        assert!(!model.now().closed);
    }

    #[test]
    fn what_is_not_there_or_no_watchdog_is_refused_in_one_line() {
        let line = |device: &str| Watchdog::open(Path::new(device), 20).unwrap_err().to_string();
        assert_eq!(
            line("/dev/no-such-watchdog"),
            "watchdog /dev/no-such-watchdog: cannot be opened: No such file or directory (os error 2)"
        );
        assert_eq!(
            line("/dev/null"),
            "watchdog /dev/null: is no watchdog: Inappropriate ioctl for device (os error 25)"
        );
    }

    proptest! {
        #[test]
        fn any_name_of_a_device_is_one_line(octets: [u8; 32]) {
            prop_assert!(!identity(&octets).chars().any(char::is_control));
        }

        #[test]
        fn it_is_never_fed_without_progress_nor_too_often(
            turns in prop::collection::vec((0..2000_u64, 0..2_u64), 1..200)
        ) {
            let interval = Duration::from_secs(5);
            let mut feeder = Feeder::new(interval);
            let (mut now, mut progress) = (Instant::ZERO, 0);
            let mut fed: Vec<(Instant, u64)> = Vec::new();
            for (millis, steps) in turns {
                now = now + Duration::from_millis(millis);
                progress += steps;
                if feeder.is_due(now, progress) {
                    feeder.fed(now, progress);
                    fed.push((now, progress));
                }
            }
            for pair in fed.windows(2) {
                prop_assert!(pair[1].0.since(pair[0].0) >= interval && pair[1].1 > pair[0].1);
            }
        }
    }
}
