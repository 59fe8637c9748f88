//! Where time comes from: the one thing that [`crate::session`] and the workers ask for it.

use measure::units::{Instant, nanos};
use std::time::Duration;

/// A monotonic clock that can also wait.
pub trait Clock {
    /// This moment.
    fn now(&self) -> Instant;

    /// Returns at `moment` or a little later; at once where that has passed.
    fn sleep_until(&self, moment: Instant);
}

/// The kernel's monotonic clock, counted from the start of the process.
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
    fn a_moment_that_has_passed_is_not_waited_for() {
        let clock = Monotonic::start();
        clock.sleep_until(Instant::ZERO);
        let before = clock.now();
        assert!(clock.now() >= before);
    }
}
