//! The wall clock, where it can be believed.

use std::time::{Duration, SystemTime};

/// 2026-01-01T00:00:00Z, in seconds since 1970: before that there was no such program, and a clock that stands there
/// has never been set. A kernel whose clock chip has lost its battery begins in 1970, 2000 or whatever its chip has.
const FIRST: u64 = 1_767_225_600;

/// Time since 1970-01-01 UTC; none where the clock chip is not set, or there is none.
#[must_use]
pub fn now() -> Option<Duration> {
    believed(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?)
}

fn believed(unix: Duration) -> Option<Duration> {
    (unix.as_secs() >= FIRST).then_some(unix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_nobody_has_set_tells_no_time() {
        // 1970, 2000 and the last second before there was a box.
        for unset in [0, 946_684_800, FIRST - 1] {
            assert_eq!(believed(Duration::from_secs(unset)), None);
        }
        let set = Duration::from_millis(1_796_095_638_123);
        assert_eq!(believed(set), Some(set));
    }
}
