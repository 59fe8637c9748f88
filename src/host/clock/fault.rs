//! What keeps a clock from being held, in words that fit a line of the log.

use super::cpulist::CpuList;
use super::khz::Khz;
use nix::errno::Errno;
use std::fmt;

/// What is wrong with one processor's clock, or with all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The kernel tells no list of online processors.
    NoList,
    /// This processor has no cpufreq directory.
    NoScaling,
    /// The kernel answers `EBUSY` as for an offline processor, and this one is online.
    Busy,
    /// A file cannot be read, or what it says is no clock rate.
    Unreadable(&'static str),
    /// A write was refused, and what is read back is not as wanted.
    Refused {
        /// Which file.
        file: &'static str,
        /// The kernel's word.
        errno: Errno,
    },
    /// The highest clock with turbo off is below the one wanted.
    TooSlow(Khz),
    /// The lowest clock is above the one wanted.
    TooFast(Khz),
    /// Writing succeeded and something else is read back.
    Clamped {
        /// Lower limit as read back.
        min: Khz,
        /// Upper limit as read back.
        max: Khz,
    },
    /// Turbo could not be turned off, or is on again.
    Turbo,
    /// The firmware allows only this.
    FirmwareLimit(Khz),
    /// The processor got too hot and slowed itself down.
    Throttled,
    /// It was offline when the clock was pinned, and is online now.
    CameOnline,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoList => f.write_str("no list of online CPUs"),
            Self::NoScaling => f.write_str("no cpufreq"),
            Self::Busy => f.write_str("EBUSY though online"),
            Self::Unreadable(file) => write!(f, "{file} unreadable"),
            Self::Refused { file, errno } => write!(f, "{file} refused, {errno:?}"),
            Self::TooSlow(khz) => write!(f, "at most {khz}"),
            Self::TooFast(khz) => write!(f, "at least {khz}"),
            Self::Clamped { min, max } if min == max => write!(f, "set to {max}"),
            Self::Clamped { min, max } => write!(f, "set to {} to {max}", min.get()),
            Self::Turbo => f.write_str("turbo on"),
            Self::FirmwareLimit(khz) => write!(f, "firmware limit {khz}"),
            Self::Throttled => f.write_str("thermal throttling"),
            Self::CameOnline => f.write_str("came online"),
        }
    }
}

/// A trouble and the processors that have it; no processors where it is the machine's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockFault {
    /// What.
    pub trouble: Trouble,
    /// Where.
    pub cpus: CpuList,
}

impl ClockFault {
    /// A trouble of the machine.
    pub(super) fn of_all(trouble: Trouble) -> Self {
        Self { trouble, cpus: CpuList::default() }
    }
}

impl fmt::Display for ClockFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.trouble)?;
        if self.cpus.is_empty() { Ok(()) } else { write!(f, ", cpu {}", self.cpus) }
    }
}

/// Puts the processors that have the same trouble together; the order is that of the first of each.
pub(super) fn grouped(troubles: impl IntoIterator<Item = (u32, Trouble)>) -> Vec<ClockFault> {
    let mut faults: Vec<ClockFault> = Vec::new();
    for (cpu, trouble) in troubles {
        match faults.iter_mut().find(|fault| fault.trouble == trouble) {
            Some(fault) => fault.cpus.insert(cpu),
            None => faults.push(ClockFault { trouble, cpus: [cpu].into_iter().collect() }),
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn khz(khz: u32) -> Khz {
        Khz::new(khz).unwrap()
    }

    #[test]
    fn processors_with_the_same_trouble_share_a_line() {
        let slow = Trouble::TooSlow(khz(1_800_000));
        let faults = grouped([(0, Trouble::Busy), (1, slow), (2, slow), (4, slow)]);
        let lines: Vec<_> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["EBUSY though online, cpu 0", "at most 1800000 kHz, cpu 1-2,4"]);
    }

    #[test]
    fn every_trouble_fits_a_reading_with_a_range_of_processors() {
        let odd = khz(u32::MAX);
        for (trouble, line) in [
            (Trouble::NoList, "no list of online CPUs"),
            (Trouble::NoScaling, "no cpufreq"),
            (Trouble::Busy, "EBUSY though online"),
            (Trouble::Unreadable("scaling_max_freq"), "scaling_max_freq unreadable"),
            (
                Trouble::Refused { file: "scaling_max_freq", errno: Errno::EINVAL },
                "scaling_max_freq refused, EINVAL",
            ),
            (Trouble::TooSlow(odd), "at most 4294967295 kHz"),
            (Trouble::TooFast(odd), "at least 4294967295 kHz"),
            (Trouble::Clamped { min: odd, max: odd }, "set to 4294967295 kHz"),
            (Trouble::Clamped { min: khz(1), max: odd }, "set to 1 to 4294967295 kHz"),
            (Trouble::Turbo, "turbo on"),
            (Trouble::FirmwareLimit(odd), "firmware limit 4294967295 kHz"),
            (Trouble::Throttled, "thermal throttling"),
            (Trouble::CameOnline, "came online"),
        ] {
            let shown = grouped([(0, trouble), (1, trouble)])[0].to_string();
            assert_eq!(shown, format!("{line}, cpu 0-1"));
            assert_eq!(measure::record::text(&shown).as_str(), shown, "it is not cut");
        }
    }
}
