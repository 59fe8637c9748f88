//! One processor's clock: its cpufreq directory, and the counters that tell of a lowered clock.

use super::fault::Trouble;
use super::khz::Khz;
use super::turbo::{self, Switch};
use crate::host::files::{Files, whole};
use nix::errno::Errno;
use std::io;
use std::path::{Path, PathBuf};

const MIN: &str = "scaling_min_freq";
const MAX: &str = "scaling_max_freq";
const GOVERNOR: &str = "scaling_governor";
const PREFERENCE: &str = "energy_performance_preference";

/// The governor that asks for the upper limit at all times: every driver has it, if only by its own name.
const PERFORMANCE: &str = "performance";

/// Lower and upper limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub min: Khz,
    pub max: Khz,
}

impl Limits {
    /// No room between the limits.
    pub fn pinned(khz: Khz) -> Self {
        Self { min: khz, max: khz }
    }

    /// The order in which these are written over `now`, so that the lower is never above the upper in
    /// between: that was an error until Linux 5.2 (`EINVAL`), and clamps silently since.
    fn order(self, now: Option<Self>) -> [(&'static str, Khz); 2] {
        let (min, max) = ((MIN, self.min), (MAX, self.max));
        if now.is_none_or(|now| self.max >= now.max) { [max, min] } else { [min, max] }
    }
}

/// One processor and how its clock stood before.
#[derive(Debug)]
pub(super) struct Cpu {
    pub number: u32,
    directory: PathBuf,
    throttle_counts: [PathBuf; 2],
    before: Limits,
    governor: Option<String>,
    preference: Option<String>,
    boost: Switch,
    refused: Option<Trouble>,
    throttled: [Option<u64>; 2],
    /// It was as wanted when it was pinned.
    pub held: bool,
}

impl Cpu {
    /// Looks at processor `number` of those under `cpus` (/sys/devices/system/cpu).
    pub fn look(files: &impl Files, cpus: &Path, number: u32) -> Result<Self, Trouble> {
        let cpu = cpus.join(format!("cpu{number}"));
        let directory = cpu.join("cpufreq");
        let text = |file| files.read(&directory.join(file)).ok().map(|text| text.trim_ascii().to_owned());
        let mut boost = turbo::of_cpu(&directory);
        boost.look(files);
        Ok(Self {
            number,
            before: limits(files, &directory)?,
            governor: text(GOVERNOR),
            preference: text(PREFERENCE),
            boost,
            refused: None,
            throttle_counts: ["core", "package"]
                .map(|part| cpu.join(format!("thermal_throttle/{part}_throttle_count"))),
            throttled: [None; 2],
            held: false,
            directory,
        })
    }

    /// Turns this processor's own turbo off.
    pub fn turn_turbo_off(&self, files: &impl Files) {
        self.boost.turn_off(files);
    }

    /// Sets governor and limits. What is refused is remembered: reading back tells whether it matters.
    pub fn set(&mut self, files: &impl Files, wanted: Khz) {
        if self.offers_performance(files) {
            let _ = files.write(&self.directory.join(GOVERNOR), PERFORMANCE);
        }
        // Turning turbo off has moved the upper limit of some drivers: what counts is the one of now.
        let now = limits(files, &self.directory).ok();
        for (file, khz) in Limits::pinned(wanted).order(now) {
            if let Err(error) = files.write(&self.directory.join(file), &khz.get().to_string()) {
                self.refused.get_or_insert(refusal(file, &error));
            }
        }
        self.throttled = self.throttle_counts(files);
    }

    fn offers_performance(&self, files: &impl Files) -> bool {
        let offered = files.read(&self.directory.join("scaling_available_governors"));
        offered.is_ok_and(|list| list.split_ascii_whitespace().any(|governor| governor == PERFORMANCE))
    }

    /// Whether both limits read back as wanted, and neither hardware nor firmware stands against them.
    pub fn check(&self, files: &impl Files, wanted: Khz) -> Result<(), Trouble> {
        self.boost.check(files)?;
        let limits = limits(files, &self.directory)?;
        let khz = |file| self.khz(files, file);
        if let Some(most) = khz("cpuinfo_max_freq").filter(|most| *most < wanted) {
            return Err(Trouble::TooSlow(most));
        }
        if let Some(least) = khz("cpuinfo_min_freq").filter(|least| *least > wanted) {
            return Err(Trouble::TooFast(least));
        }
        if limits != Limits::pinned(wanted) {
            let Limits { min, max } = limits;
            return Err(self.refused.unwrap_or(Trouble::Clamped { min, max }));
        }
        match khz("bios_limit").filter(|most| *most < wanted) {
            Some(most) => Err(Trouble::FirmwareLimit(most)),
            None => Ok(()),
        }
    }

    /// As [`Self::check`], and whether it was throttled since this was last asked.
    ///
    /// All of it is told from memory; `scaling_cur_freq` is left alone, which interrupts the processor to ask.
    pub fn check_again(&mut self, files: &impl Files, wanted: Khz) -> Result<(), Trouble> {
        let now = self.throttle_counts(files);
        let before = std::mem::replace(&mut self.throttled, now);
        if before.into_iter().zip(now).any(|(before, now)| before.is_some() && now > before) {
            return Err(Trouble::Throttled);
        }
        self.check(files, wanted)
    }

    fn throttle_counts(&self, files: &impl Files) -> [Option<u64>; 2] {
        self.throttle_counts.each_ref().map(|file| files.read(file).ok().and_then(|text| whole(&text)))
    }

    /// Highest clock that the driver tells; none where it tells none.
    pub fn highest(&self, files: &impl Files) -> Option<Khz> {
        self.khz(files, "cpuinfo_max_freq")
    }

    /// Driver and governor of now, for people.
    pub fn ways(&self, files: &impl Files) -> (String, String) {
        let text = |file| files.read(&self.directory.join(file)).unwrap_or_default();
        (text("scaling_driver").trim_ascii().to_owned(), text(GOVERNOR).trim_ascii().to_owned())
    }

    /// Puts its own turbo back.
    pub fn restore_turbo(&self, files: &impl Files) {
        self.boost.restore(files);
    }

    /// Puts governor, limits and energy preference back. Nobody is left to tell what cannot be.
    pub fn restore(&self, files: &impl Files) {
        let put = |file, text: &str| drop(files.write(&self.directory.join(file), text));
        if let Some(governor) = &self.governor {
            put(GOVERNOR, governor);
        }
        for (file, khz) in self.before.order(limits(files, &self.directory).ok()) {
            put(file, &khz.get().to_string());
        }
        // Not before the governor: under "performance" it is fixed (`EBUSY`).
        if let Some(preference) = &self.preference {
            put(PREFERENCE, preference);
        }
    }

    fn khz(&self, files: &impl Files, file: &str) -> Option<Khz> {
        files.read(&self.directory.join(file)).ok().and_then(|text| Khz::parse(&text))
    }
}

fn limits(files: &impl Files, directory: &Path) -> Result<Limits, Trouble> {
    let limit = |file| {
        let text = files.read(&directory.join(file)).map_err(|error| unreadable(file, &error))?;
        Khz::parse(&text).ok_or(Trouble::Unreadable(file))
    };
    Ok(Limits { min: limit(MIN)?, max: limit(MAX)? })
}

fn unreadable(file: &'static str, error: &io::Error) -> Trouble {
    match error.kind() {
        io::ErrorKind::NotFound => Trouble::NoScaling,
        io::ErrorKind::ResourceBusy => Trouble::Busy,
        _ => Trouble::Unreadable(file),
    }
}

fn refusal(file: &'static str, error: &io::Error) -> Trouble {
    match error.raw_os_error().map_or(Errno::EIO, Errno::from_raw) {
        Errno::EBUSY => Trouble::Busy,
        errno => Trouble::Refused { file, errno },
    }
}
