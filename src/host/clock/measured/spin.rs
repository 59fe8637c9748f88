//! A loop whose length in cycles is known: additions that wait for one another.

use crate::host::clock::Khz;
use measure::units::nanos;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Pairs of an addition and an exclusive-or in one pass of the loop. Each needs the result of the one before
/// and takes one cycle on every x86-64 and 64-bit Arm core (Agner Fog, instruction tables; Arm optimisation
/// guides); counting the passes goes on beside them. Neither operand is a constant, which newer Intel cores
/// add while renaming, in no time at all.
const PAIRS: u32 = 64;

/// Passes in a slice: 256 000 cycles, 128 µs at 2 GHz, so that a timer interrupt hits few of the slices.
const PASSES: u32 = 2000;

/// Slices of a measurement: 4 ms at 2 GHz.
const SLICES: usize = 31;

/// A piece of the loop: how many cycles it has, and how long it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Cycles.
    pub cycles: u32,
    /// Time.
    pub time: Duration,
}

/// The clock that the median slice tells: interrupts and being descheduled lengthen some slices, and nothing
/// shortens one. None where there are no slices or no time passed.
#[must_use]
pub fn by_slices(slices: &[Slice]) -> Option<Khz> {
    let mut rates: Vec<_> = slices.iter().filter_map(khz).collect();
    rates.sort_unstable();
    Khz::new(*rates.get(rates.len() / 2)?)
}

fn khz(slice: &Slice) -> Option<u32> {
    let khz = (u64::from(slice.cycles) * 1_000_000).checked_div(nanos(slice.time))?;
    u32::try_from(khz).ok()
}

/// Runs the loop. Empty in a build without optimisation, whose loop goes through memory and tells nothing.
pub(super) fn slices() -> Vec<Slice> {
    if cfg!(debug_assertions) {
        return Vec::new();
    }
    (0..SLICES).map(|_| slice()).collect()
}

fn slice() -> Slice {
    let start = Instant::now();
    black_box(chain(black_box(1), black_box(3), black_box(5)));
    Slice { cycles: PASSES * PAIRS * 2, time: start.elapsed() }
}

/// The chain. No sum and no exclusive-or of it can be known before the one it builds on.
#[inline(never)]
fn chain(seed: u64, addend: u64, mask: u64) -> u64 {
    let mut value = seed;
    for _ in 0..PASSES {
        for _ in 0..PAIRS {
            value = value.wrapping_add(addend) ^ mask;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice_of(micros: u64) -> Slice {
        Slice { cycles: 256_000, time: Duration::from_micros(micros) }
    }

    #[test]
    fn cycles_over_time_is_the_clock() {
        assert_eq!(by_slices(&[slice_of(128)]), Khz::new(2_000_000));
        assert_eq!(by_slices(&[slice_of(640)]), Khz::new(400_000));
    }

    #[test]
    fn slices_that_were_interrupted_do_not_count() {
        let slices = [slice_of(128), slice_of(9_000), slice_of(128), slice_of(128), slice_of(700)];
        assert_eq!(by_slices(&slices), Khz::new(2_000_000));
    }

    #[test]
    fn no_slices_and_no_time_tell_nothing() {
        assert_eq!(by_slices(&[]), None);
        assert_eq!(by_slices(&[slice_of(0)]), None);
    }

    #[test]
    fn the_chain_is_what_it_says() {
        let expected = (0..PASSES * PAIRS).fold(7_u64, |value, _| value.wrapping_add(11) ^ 13);
        assert_eq!(chain(7, 11, 13), expected);
    }
}
