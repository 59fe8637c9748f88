//! The host's settings as a board asks for them: clock and wake-up latency, made, read back, watched.

use super::clock::{self, ClockFault, ClockPin, Khz, measured};
use super::files::RealFiles;
use super::latency::{self, LatencyHold};
use crate::board::{Board, ClockProof};
use measure::record::{Held, SettingReading, Slipped, Words, words};
use measure::units::Instant;
use measure::verdict::Setting;
use std::path::PathBuf;
use std::time::Duration;

/// How often the settings are looked at while a run goes on.
const LOOK: Duration = Duration::from_secs(1);

/// Where the kernel's files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// sysfs.
    pub sys: PathBuf,
    /// Device nodes.
    pub dev: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self { sys: PathBuf::from("/sys"), dev: PathBuf::from("/dev") }
    }
}

/// What came of the settings.
#[derive(Debug)]
pub struct Applied {
    /// Each as read back; none for what the board leaves alone.
    pub readings: Vec<SettingReading>,
    /// What the log should say beside them.
    pub notes: Vec<Words>,
    /// What holds them.
    pub held: HostHold,
}

/// Holds the host's settings while it lives, and puts them back.
#[derive(Debug, Default)]
pub struct HostHold {
    clock: Option<ClockPin<RealFiles>>,
    clock_required: bool,
    measured: Option<MeasuredClock>,
    latency: Option<LatencyHold>,
}

/// A clock that was measured to be right, and is watched.
#[derive(Debug)]
struct MeasuredClock {
    watch: measured::Watch,
    wanted: Khz,
    required: bool,
}

impl MeasuredClock {
    fn check(&mut self) -> Option<Slipped> {
        let furthest = measured::furthest(&self.watch.look(), self.wanted)?;
        let what = words(format_args!("measured {furthest}"));
        let slipped = Slipped { setting: Setting::Clock, what, required: self.required };
        (!measured::is_near(furthest.khz, self.wanted)).then_some(slipped)
    }
}

impl HostHold {
    /// Whether everything still holds, for once a second or so of a run: what slipped, empty where nothing did.
    pub fn check(&mut self) -> Vec<Slipped> {
        let required = self.clock_required;
        let slipped = |fault: ClockFault| Slipped { setting: Setting::Clock, what: words(fault), required };
        let faults = self.clock.as_mut().map(ClockPin::check).unwrap_or_default();
        let latency = self.latency.as_ref().filter(|latency| !latency.holds()).map(|_| Slipped {
            setting: Setting::DmaLatency,
            what: words("a longer wake-up is allowed"),
            required: true,
        });
        let measured = self.measured.as_mut().and_then(MeasuredClock::check);
        faults.into_iter().map(slipped).chain(measured).chain(latency).collect()
    }

    /// Leaves the clock pinned to the end: for a box that does nothing else. The latency limit ends with the
    /// process in any case.
    pub fn keep(&mut self) {
        if let Some(clock) = &mut self.clock {
            clock.keep();
        }
    }
}

/// Looks at what is held once a second, and tells each thing that slips once.
#[derive(Debug, Default)]
pub struct HostWatch {
    held: HostHold,
    next: Option<Instant>,
    told: Vec<Slipped>,
}

impl HostWatch {
    /// A watch over `held`.
    #[must_use]
    pub fn new(held: HostHold) -> Self {
        Self { held, next: None, told: Vec::new() }
    }

    /// What has slipped since the last look, where one is due at `now`.
    pub fn look(&mut self, now: Instant) -> Vec<Slipped> {
        if self.next.is_some_and(|next| now < next) {
            return Vec::new();
        }
        self.next = Some(now + LOOK);
        let is_told = |slipped: &Slipped| {
            self.told.iter().any(|told| (told.setting, told.required) == (slipped.setting, slipped.required))
        };
        let news: Vec<_> = self.held.check().into_iter().filter(|slipped| !is_told(slipped)).collect();
        self.told.extend(news.iter().cloned());
        news
    }

    /// Leaves the settings as they are to the end; see [`HostHold::keep`].
    pub fn keep(&mut self) {
        self.held.keep();
    }
}

/// Makes the host's settings as `board` asks and reads each back. Takes up to 200 ms where the clock does not
/// settle, and some milliseconds a processor where it is measured.
#[must_use]
pub fn apply(board: &Board) -> Applied {
    apply_in(&Roots::default(), board)
}

/// As [`apply`], with the kernel's files elsewhere.
#[must_use]
pub fn apply_in(roots: &Roots, board: &Board) -> Applied {
    let mut applied = Applied { readings: Vec::new(), notes: Vec::new(), held: HostHold::default() };
    if let Some(micros) = board.dma_latency_us {
        let (reading, hold) = latency::hold(&roots.dev.join("cpu_dma_latency"), micros.into());
        applied.readings.push(reading);
        applied.held.latency = hold;
    }
    if let Some(wanted) = board.clock_khz.and_then(Khz::new) {
        applied.pin_clock(roots, board, wanted);
        applied.measure_clock(roots, board.clock_proof, wanted);
    }
    applied
}

impl Applied {
    fn pin_clock(&mut self, roots: &Roots, board: &Board, wanted: Khz) {
        let required = board.clock_required;
        let pinning = clock::pin(RealFiles, &roots.sys, wanted, required, &mut std::thread::sleep);
        self.readings.extend(pinning.readings);
        self.notes.extend(pinning.notes);
        self.held.clock = pinning.pin;
        self.held.clock_required = required;
    }

    fn measure_clock(&mut self, roots: &Roots, proof: ClockProof, wanted: Khz) {
        let online = clock::online_cpus(&RealFiles, &roots.sys).filter(|_| proof != ClockProof::Off);
        let measured = online.as_ref().and_then(|cpus| measured::all(&roots.dev, cpus));
        let furthest = measured.and_then(|all| measured::furthest(&all, wanted));
        let reading = measured::judge(furthest, wanted, proof);
        if let Some(cpus) = online.filter(|_| reading.held == Held::Yes) {
            let watch = measured::Watch::begin(&roots.dev, &cpus);
            self.held.measured = Some(MeasuredClock { watch, wanted, required: reading.required });
        }
        self.readings.push(reading);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A box in a folder: two processors, both within 0.8 and 4.0 GHz, and the latency device.
    fn host() -> (tempfile::TempDir, Roots) {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { sys: folder.path().join("sys"), dev: folder.path().join("dev") };
        let cpus = roots.sys.join("devices/system/cpu");
        fs::create_dir_all(&roots.dev).unwrap();
        fs::write(roots.dev.join("cpu_dma_latency"), "").unwrap();
        for cpu in ["cpu0", "cpu1"] {
            let directory = cpus.join(cpu).join("cpufreq");
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("scaling_min_freq"), "800000\n").unwrap();
            fs::write(directory.join("scaling_max_freq"), "4000000\n").unwrap();
            fs::write(directory.join("scaling_governor"), "powersave\n").unwrap();
            fs::write(directory.join("scaling_available_governors"), "performance powersave\n").unwrap();
        }
        fs::write(cpus.join("online"), "0-1\n").unwrap();
        (folder, roots)
    }

    fn board() -> Board {
        Board { clock_proof: ClockProof::Off, ..crate::board::load("x520").unwrap() }
    }

    #[test]
    fn a_board_that_asks_for_nothing_touches_nothing() {
        let nowhere = Roots { sys: "/nowhere".into(), dev: "/nowhere".into() };
        let applied = apply_in(&nowhere, &crate::board::load("virtual").unwrap());
        assert!(applied.readings.is_empty() && applied.notes.is_empty());
    }

    #[test]
    fn what_a_board_asks_for_is_held_watched_and_put_back() {
        let (_folder, roots) = host();
        let file = |name: &str| roots.sys.join("devices/system/cpu/cpu1/cpufreq").join(name);
        let mut applied = apply_in(&roots, &board());
        let rows: Vec<_> = applied.readings.iter().map(|row| (row.setting, row.held, row.required)).collect();
        assert_eq!(
            rows,
            [
                (Setting::DmaLatency, Held::Yes, true),
                (Setting::Clock, Held::Yes, true),
                (Setting::Clock, Held::NotAvailable, false),
            ]
        );
        assert_eq!(applied.held.check(), []);
        fs::write(file("scaling_max_freq"), "1200000\n").unwrap();
        fs::write(roots.dev.join("cpu_dma_latency"), 200_i32.to_ne_bytes()).unwrap();
        let slipped = applied.held.check();
        assert_eq!(slipped.len(), 2);
        assert_eq!(slipped[0].what.as_str(), "set to 2000000 to 1200000 kHz, cpu 1");
        assert!(slipped.iter().all(|slipped| slipped.required));
        drop(applied);
        let text = |name| fs::read_to_string(file(name)).unwrap();
        assert_eq!(text("scaling_min_freq"), "800000");
        assert_eq!(text("scaling_max_freq"), "4000000");
        assert_eq!(text("scaling_governor"), "powersave");
    }

    #[test]
    fn a_box_keeps_its_clock() {
        let (_folder, roots) = host();
        apply_in(&roots, &board()).held.keep();
        let max = roots.sys.join("devices/system/cpu/cpu0/cpufreq/scaling_max_freq");
        assert_eq!(fs::read_to_string(max).unwrap(), "2000000");
    }

    #[test]
    fn a_pin_that_cannot_be_had_is_required_only_where_the_board_says_so() {
        let (_folder, roots) = host();
        for cpu in ["cpu0", "cpu1"] {
            fs::remove_dir_all(roots.sys.join("devices/system/cpu").join(cpu)).unwrap();
        }
        for clock_required in [true, false] {
            let applied = apply_in(&roots, &Board { clock_required, ..board() });
            let pin = &applied.readings[1];
            assert_eq!((pin.held, pin.required), (Held::NotAvailable, clock_required));
        }
    }
}
