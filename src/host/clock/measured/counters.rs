//! The counters in which a processor tells its own clock (Intel SDM volume 3B, 15.2; AMD PPR, MSR C000_00E7).

use crate::clock::{Clock, Monotonic};
use crate::host::clock::Khz;
use measure::units::Instant;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// `IA32_TIME_STAMP_COUNTER`: advances at one rate always, the rate of `MPERF`.
const TSC: u64 = 0x10;
/// `IA32_MPERF`: advances while the processor is not halted, at the rate of the time stamp counter.
const MPERF: u64 = 0xE7;
/// `IA32_APERF`: advances while the processor is not halted, at its real clock.
const APERF: u64 = 0xE8;

/// The three counters and the moment they were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Just after the time stamp counter was read.
    pub at: Instant,
    /// Time stamp counter.
    pub tsc: u64,
    /// Cycles at the base rate while not halted.
    pub mperf: u64,
    /// Cycles at the real clock while not halted.
    pub aperf: u64,
}

/// The mean clock, while not halted, between two readings of one processor.
///
/// None where no time passed, a counter stood still (an emulator reads them as 0) or went back, or the result
/// is no clock.
#[must_use]
pub fn by_counters(before: Counters, after: Counters) -> Option<Khz> {
    let delta = |of: fn(&Counters) -> u64| of(&after).checked_sub(of(&before)).map(u128::from);
    let nanos = delta(|counters| counters.at.as_nanos())?;
    let (tsc, mperf, aperf) = (delta(|c| c.tsc)?, delta(|c| c.mperf)?, delta(|c| c.aperf)?);
    // Cycles a nanosecond are GHz: a million kHz.
    let above = tsc.checked_mul(aperf)?.checked_mul(1_000_000)?;
    let khz = above.checked_div(nanos.checked_mul(mperf)?)?;
    Khz::new(u32::try_from(khz).ok()?)
}

/// Least part of the time that a processor has to be awake for its clock to be judged: one of so many. A few
/// cycles between two sleeps are no sign of the clock it works at.
const LEAST_AWAKE: u64 = 10;

/// A processor's counters from one look to the next.
#[derive(Debug, Default)]
pub(super) struct Trail {
    last: Option<Counters>,
}

impl Trail {
    /// The clock since the last look; none where there was none, or the processor mostly slept.
    pub fn advance(&mut self, now: Counters) -> Option<Khz> {
        let before = self.last.replace(now)?;
        let awake = now.mperf.checked_sub(before.mperf)?.saturating_mul(LEAST_AWAKE);
        if awake >= now.tsc.checked_sub(before.tsc)? { by_counters(before, now) } else { None }
    }
}

/// The counters of one processor, through the kernel's `msr` driver.
#[derive(Debug)]
pub(super) struct Reader {
    file: File,
    clock: Monotonic,
}

impl Reader {
    /// None where there is no such driver, or not for this process.
    pub fn open(dev: &Path, cpu: u32) -> Option<Self> {
        let file = File::open(dev.join(format!("cpu/{cpu}/msr"))).ok()?;
        Some(Self { file, clock: Monotonic::start() })
    }

    /// None where the processor lacks one of them, or refuses it to a guest.
    pub fn read(&self) -> Option<Counters> {
        let (mperf, aperf) = (self.register(MPERF)?, self.register(APERF)?);
        let tsc = self.register(TSC)?;
        Some(Counters { at: self.clock.now(), tsc, mperf, aperf })
    }

    fn register(&self, number: u64) -> Option<u64> {
        let mut octets = [0; 8];
        self.file.read_exact_at(&mut octets, number).ok()?;
        Some(u64::from_ne_bytes(octets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: Counters =
        Counters { at: Instant::from_millis(5), tsc: 1 << 40, mperf: 7_000_000_000, aperf: 9_000_000_000 };

    /// A processor of `base` kHz that runs at `real` kHz, busy for so many of 10 ms.
    fn after(base: u64, real: u64, busy_ms: u64) -> Counters {
        Counters {
            at: START.at + std::time::Duration::from_millis(10),
            tsc: START.tsc + base * 10,
            mperf: START.mperf + base * busy_ms,
            aperf: START.aperf + real * busy_ms,
        }
    }

    #[test]
    fn the_ratio_of_the_counters_is_that_of_real_to_base_clock() {
        for (base, real) in [(2_600_000, 2_000_000), (2_600_000, 400_000), (3_000_000, 3_600_000)] {
            let real_khz = Khz::new(u32::try_from(real).unwrap());
            assert_eq!(by_counters(START, after(base, real, 10)), real_khz);
            assert_eq!(by_counters(START, after(base, real, 3)), real_khz, "time asleep does not count");
        }
    }

    #[test]
    fn counters_that_stand_still_or_go_back_tell_nothing() {
        assert_eq!(by_counters(START, START), None);
        assert_eq!(by_counters(START, after(2_600_000, 2_000_000, 0)), None);
        assert_eq!(by_counters(after(2_600_000, 2_000_000, 10), START), None);
        let reset = Counters { aperf: 5, ..after(2_600_000, 2_000_000, 10) };
        assert_eq!(by_counters(START, reset), None);
    }

    #[test]
    fn a_trail_tells_the_clock_since_the_last_look_of_a_processor_that_worked() {
        let mut trail = Trail::default();
        assert_eq!(trail.advance(START), None, "the first look");
        let slowed = after(2_600_000, 1_400_000, 9);
        assert_eq!(trail.advance(slowed), Khz::new(1_400_000));
        let mut trail = Trail { last: Some(START) };
        assert_eq!(trail.advance(after(2_600_000, 1_400_000, 0)), None, "it slept");
        assert_eq!(trail.advance(START), None, "a step back");
    }

    #[test]
    fn registers_are_read_at_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("cpu/4");
        std::fs::create_dir_all(&directory).unwrap();
        let file = File::create(directory.join("msr")).unwrap();
        file.write_all_at(&7_u64.to_ne_bytes(), APERF).unwrap();
        let reader = Reader::open(folder.path(), 4).unwrap();
        assert_eq!(reader.register(APERF), Some(7));
        assert_eq!(reader.register(APERF + 1), None, "an octet is missing");
        assert!(Reader::open(folder.path(), 5).is_none());
    }

    proptest! {
        #[test]
        fn no_counters_are_too_odd(before: [u64; 4], after: [u64; 4]) {
            let counters = |[at, tsc, mperf, aperf]: [u64; 4]| {
                Counters { at: Instant::from_nanos(at), tsc, mperf, aperf }
            };
            let _ = by_counters(counters(before), counters(after));
        }
    }
}
