//! The clock as it really is: counted by the processor, or timed with a loop of known length.
//!
//! Accuracy: by counters about 0.1 % (each of the two moments is known to a few microseconds, 4 ms apart or
//! more). By the loop about 0.1 % on a core that is not disturbed, since a slice of 256 000 cycles is timed to
//! some 50 ns and the median leaves interrupts out; in a virtual machine as good as the host's scheduling, and
//! under an emulator that translates instructions it tells the emulator's pace and no clock.

mod counters;
mod spin;

pub use counters::{Counters, by_counters};
pub use spin::{Slice, by_slices};

use super::{CpuList, Khz};
use crate::board::ClockProof;
use crate::host::affinity;
use measure::record::{Held, SettingReading, Text, text};
use measure::verdict::Setting;
use std::fmt;
use std::path::Path;

/// How far a measured clock may be from the one wanted, in percent.
pub const TOLERANCE_PERCENT: u64 = 2;

/// How a clock was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `APERF` over `MPERF`, times the rate of the time stamp counter.
    Counters,
    /// A loop of additions that wait for one another.
    Loop,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counters => "aperf",
            Self::Loop => "loop",
        })
    }
}

/// The clock of one processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Its number.
    pub cpu: u32,
    /// Its clock.
    pub khz: Khz,
    /// How that is known.
    pub method: Method,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, cpu {}, {}", self.khz, self.cpu, self.method)
    }
}

/// Measures those of `cpus` that this process may run on, one after another: each is kept busy for a few
/// milliseconds. `dev` is where device nodes are.
///
/// None where one of them could not be measured: the others would prove nothing about it.
#[must_use]
pub fn all(dev: &Path, cpus: &CpuList) -> Option<Vec<Measured>> {
    // A thread of its own, so that the caller's processors stay as they are.
    std::thread::scope(|scope| scope.spawn(|| measure_each(dev, cpus)).join()).ok()?
}

fn measure_each(dev: &Path, cpus: &CpuList) -> Option<Vec<Measured>> {
    let allowed = affinity::allowed().ok()?;
    let cpus =
        allowed.into_iter().filter_map(|cpu| u32::try_from(cpu).ok()).filter(|cpu| cpus.contains(*cpu));
    let measured: Vec<_> = cpus.map(|cpu| one(dev, cpu)).collect::<Option<_>>()?;
    (!measured.is_empty()).then_some(measured)
}

fn one(dev: &Path, cpu: u32) -> Option<Measured> {
    affinity::pin(usize::try_from(cpu).ok()?).ok()?;
    let counters = counters::Reader::open(dev, cpu);
    let read = || counters.as_ref().and_then(counters::Reader::read);
    let before = read();
    let slices = spin::slices();
    let counted = before.zip(read()).and_then(|(before, after)| by_counters(before, after));
    let counted = counted.map(|khz| Measured { cpu, khz, method: Method::Counters });
    counted.or_else(|| Some(Measured { cpu, khz: by_slices(&slices)?, method: Method::Loop }))
}

/// Watches the clock of working processors from one look to the next, by their counters: what a thermal or
/// power limit takes from it shows there and in no file.
#[derive(Debug)]
pub struct Watch(Vec<Watched>);

#[derive(Debug)]
struct Watched {
    cpu: u32,
    reader: counters::Reader,
    trail: counters::Trail,
}

impl Watch {
    /// Begins to watch those of `cpus` whose counters can be read, which may be none.
    #[must_use]
    pub fn begin(dev: &Path, cpus: &CpuList) -> Self {
        let watched = |cpu| {
            let reader = counters::Reader::open(dev, cpu)?;
            let mut trail = counters::Trail::default();
            let _ = trail.advance(reader.read()?);
            Some(Watched { cpu, reader, trail })
        };
        Self(cpus.iter().filter_map(watched).collect())
    }

    /// The clock, since this was last asked, of those that worked for a tenth of that time or more. Interrupts
    /// each processor for some microseconds: not more often than once a second.
    pub fn look(&mut self) -> Vec<Measured> {
        let clock = |watched: &mut Watched| {
            let khz = watched.trail.advance(watched.reader.read()?)?;
            Some(Measured { cpu: watched.cpu, khz, method: Method::Counters })
        };
        self.0.iter_mut().filter_map(clock).collect()
    }
}

/// The one that is furthest from `wanted`; none where nothing was measured.
#[must_use]
pub fn furthest(measured: &[Measured], wanted: Khz) -> Option<Measured> {
    measured.iter().copied().max_by_key(|one| one.khz.apart(wanted))
}

/// What a measured clock says about the one wanted: held within ±2 %.
///
/// A clock that was not measured is not available. Only with [`ClockProof::Require`] is it needed for a run;
/// with [`ClockProof::Off`] it is not looked at.
#[must_use]
pub fn judge(measured: Option<Measured>, wanted: Khz, proof: ClockProof) -> SettingReading {
    let measured = measured.filter(|_| proof != ClockProof::Off);
    let (held, got) = match measured {
        None => (Held::NotAvailable, Text::new()),
        Some(one) => {
            let held = if is_near(one.khz, wanted) { Held::Yes } else { Held::No };
            (held, text(one))
        }
    };
    let wanted = text(format_args!("{wanted} measured"));
    let required = proof == ClockProof::Require;
    SettingReading { setting: Setting::Clock, port: None, wanted, got, held, required }
}

/// Whether a measured clock is within ±2 % of the one wanted.
#[must_use]
pub fn is_near(measured: Khz, wanted: Khz) -> bool {
    u64::from(measured.apart(wanted)) * 100 <= u64::from(wanted.get()) * TOLERANCE_PERCENT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn khz(khz: u32) -> Khz {
        Khz::new(khz).unwrap()
    }

    fn measured(cpu: u32, clock: u32) -> Measured {
        Measured { cpu, khz: khz(clock), method: Method::Counters }
    }

    fn judged(clock: u32, wanted: u32) -> SettingReading {
        judge(Some(measured(3, clock)), khz(wanted), ClockProof::Require)
    }

    #[test]
    fn two_percent_either_way_is_held_and_a_kilohertz_more_is_not() {
        for (clock, held) in [
            (2_000_000, Held::Yes),
            (1_960_000, Held::Yes),
            (1_959_999, Held::No),
            (2_040_000, Held::Yes),
            (2_040_001, Held::No),
        ] {
            assert_eq!(judged(clock, 2_000_000).held, held, "{clock}");
        }
    }

    #[test]
    fn a_clock_above_its_limit_is_not_held() {
        let reading = judged(3_600_000, 3_000_000);
        assert_eq!((reading.held, reading.required), (Held::No, true));
        assert_eq!(reading.got.as_str(), "3600000 kHz, cpu 3, aperf");
        assert_eq!(reading.wanted.as_str(), "3000000 kHz measured");
    }

    #[test]
    fn a_clock_that_is_stuck_low_is_not_held() {
        assert_eq!(judged(400_000, 2_000_000).held, Held::No);
    }

    #[test]
    fn the_board_says_whether_a_proof_is_needed_shown_or_left_out() {
        let slow = Some(measured(0, 1_000_000));
        let by = |measured, proof| {
            let reading = judge(measured, khz(2_000_000), proof);
            (reading.held, reading.required)
        };
        assert_eq!(by(slow, ClockProof::Require), (Held::No, true));
        assert_eq!(by(slow, ClockProof::Report), (Held::No, false));
        assert_eq!(by(slow, ClockProof::Off), (Held::NotAvailable, false));
        assert_eq!(by(None, ClockProof::Require), (Held::NotAvailable, true));
        assert_eq!(by(None, ClockProof::Report), (Held::NotAvailable, false));
    }

    #[test]
    fn the_processor_furthest_off_speaks_for_all() {
        let all = [measured(0, 2_000_000), measured(1, 400_000), measured(2, 2_100_000)];
        assert_eq!(furthest(&all, khz(2_000_000)), Some(measured(1, 400_000)));
        assert_eq!(furthest(&[], khz(2_000_000)), None);
    }

    #[test]
    fn the_longest_reading_is_not_cut() {
        let reading = judge(Some(measured(8191, u32::MAX)), khz(u32::MAX), ClockProof::Report);
        assert!(reading.got.ends_with("aperf") && reading.wanted.ends_with("measured"), "{reading:?}");
    }

    #[test]
    fn measuring_leaves_the_callers_processors_alone() {
        let before = affinity::allowed().unwrap();
        let cpus = before.iter().map(|cpu| u32::try_from(*cpu).unwrap()).collect();
        let nowhere = tempfile::tempdir().unwrap();
        let measured = all(nowhere.path(), &cpus).unwrap_or_default();
        assert_eq!(affinity::allowed().unwrap(), before);
        assert!(measured.iter().all(|one| one.method == Method::Loop), "there are no counters to read");
    }
}
