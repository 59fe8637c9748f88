//! Where time comes from: the one thing that a session and the workers ask for it.

use measure::units::{Instant, nanos};
use std::time::Duration;

/// A monotonic clock that can also wait.
pub trait Clock {
    /// This moment.
    fn now(&self) -> Instant;

    /// Returns at `moment` or a little later; at once where that has passed.
    fn sleep_until(&self, moment: Instant);
}

/// The kernel's monotonic clock, counted from the start of the process or of the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Monotonic {
    origin: std::time::Instant,
}

impl Monotonic {
    /// A clock whose origin is now.
    #[must_use]
    pub fn start() -> Self {
        Self { origin: std::time::Instant::now() }
    }

    /// A clock whose origin is the kernel's own: the moment it started, but for some milliseconds. How long the
    /// machine's firmware took before that, nothing tells. Where the kernel does not say, as
    /// [`Monotonic::start`].
    #[must_use]
    pub fn since_kernel() -> Self {
        let now = std::time::Instant::now();
        let uptime = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).map(Duration::from);
        Self { origin: uptime.ok().and_then(|uptime| now.checked_sub(uptime)).unwrap_or(now) }
    }
}

impl Clock for Monotonic {
    fn now(&self) -> Instant {
        Instant::from_nanos(nanos(self.origin.elapsed()))
    }

    fn sleep_until(&self, moment: Instant) {
        let left = moment.since(self.now());
        if left > Duration::ZERO {
            std::thread::sleep(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_clock_is_counted_from_its_own_start() {
        let uptime =
            || Duration::from(nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).unwrap());
        let before = uptime();
        let clock = Monotonic::since_kernel();
        let now = Duration::from_nanos(clock.now().as_nanos());
        // The origin is found between the two readings, so it is late by less than they are apart.
        assert!(before <= now + (uptime() - before) && now <= uptime(), "{before:?} {now:?}");
    }

    #[test]
    fn a_moment_that_has_passed_is_not_waited_for() {
        let clock = Monotonic::start();
        clock.sleep_until(Instant::ZERO);
        let before = clock.now();
        assert!(clock.now() >= before);
    }
}
