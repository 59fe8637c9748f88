//! The gauge's proof of itself: shown an error of each kind on an emulated cable, it has to report each.
//!
//! A gauge that says PASS because it no longer sees anything is worse than none. So before its first verdict
//! a box takes a few short runs in virtual time, through the same session, the same workers and the same
//! checker that judge real cables, and compares what is reported with what every such run must show.

use crate::cable::emulated::EmulatedCable;
use crate::cable::fault::Script;
use crate::rig::trouble::HostTrouble;
use crate::rig::world::World;
use crate::session::{self, Config, Host, MachineSettings, Output, Report};
use measure::frame::DEFAULT_ETHERTYPES;
use measure::mix::SizeMix;
use measure::plan::{End, Plan};
use measure::record::{Event, Slipped, text};
use measure::screen::Screen;
use measure::units::{BitRate, Instant};
use measure::verdict::Verdict;
use std::time::Duration;

/// The offered rate: enough frames for every fault to find one of its own.
const PACE: BitRate = BitRate::from_mbps(8);

/// How long frames flow, the settle included.
const TRAFFIC: Duration = Duration::from_millis(300);

/// One run: what the cable does, and what has to be reported of each direction.
#[derive(Clone, Copy, Debug)]
struct Trial {
    name: &'static str,
    faults: &'static [&'static str],
    verdict: Verdict,
    figures: [Figures; 2],
}

/// One direction's figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Figures {
    lost: u64,
    corrupt: u64,
    bit_errors: u64,
    duplicates: u64,
    reordered: u64,
}

impl Figures {
    const CLEAN: Self = Self { lost: 0, corrupt: 0, bit_errors: 0, duplicates: 0, reordered: 0 };
}

/// The runs, the good cable first. A frame with a wrong FCS never arrives, so it is lost as well; a truncated one
/// is corrupt without a wrong bit.
const TRIALS: [Trial; 5] = [
    Trial { name: "a good cable", faults: &[], verdict: Verdict::Pass, figures: [Figures::CLEAN; 2] },
    Trial {
        name: "one lost frame",
        faults: &["b>a drop 1"],
        verdict: Verdict::Fail,
        figures: [Figures::CLEAN, Figures { lost: 1, ..Figures::CLEAN }],
    },
    Trial {
        name: "one wrong bit",
        faults: &["a>b flip 1"],
        verdict: Verdict::Fail,
        figures: [Figures { corrupt: 1, bit_errors: 1, ..Figures::CLEAN }, Figures::CLEAN],
    },
    Trial {
        name: "one frame of each kind",
        faults: &[
            "both drop 1",
            "both fcs 1",
            "both flip 1",
            "both truncate 1",
            "both duplicate 1",
            "both reorder 1",
        ],
        verdict: Verdict::Invalid,
        figures: [Figures { lost: 2, corrupt: 2, bit_errors: 1, duplicates: 1, reordered: 1 }; 2],
    },
    Trial {
        name: "a dead direction",
        faults: &["a>b dead"],
        verdict: Verdict::Fail,
        figures: [Figures::CLEAN; 2],
    },
];

/// What was not reported as it had to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failed {
    /// The verdict.
    #[error("self-proof: {trial} gave {got}, and must give {right}")]
    Verdict {
        /// Which run.
        trial: &'static str,
        /// The verdict it gave.
        got: Verdict,
        /// The right one.
        right: Verdict,
    },
    /// A figure.
    #[error("self-proof: {trial}: {figure} is {got}, and must be {right}")]
    Figure {
        /// Which run.
        trial: &'static str,
        /// Which figure, with its direction.
        figure: &'static str,
        /// What it was.
        got: u64,
        /// The right one.
        right: u64,
    },
    /// The run did not take place.
    #[error("self-proof: {trial}: {why}")]
    NotRun {
        /// Which run.
        trial: &'static str,
        /// Why.
        why: String,
    },
}

/// Takes all the runs. Some milliseconds on a desk.
///
/// # Errors
/// The first thing that was not reported as it had to be: this gauge must not judge a cable.
pub fn run() -> Result<(), Failed> {
    TRIALS.iter().try_for_each(|trial| trial.judge(&trial.go(trial.faults)?))
}

/// As [`run`], with a cable that does nothing of what it should: a gauge that has gone blind looks the same. For
/// tests of what becomes of it.
///
/// # Errors
/// Always.
pub fn run_blind() -> Result<(), Failed> {
    TRIALS.iter().try_for_each(|trial| trial.judge(&trial.go(&[])?))
}

impl Trial {
    fn go(&self, faults: &[&str]) -> Result<Report, Failed> {
        let not_run = |why: String| Failed::NotRun { trial: self.name, why };
        let script = Script::parse(faults).map_err(|error| not_run(error.to_string()))?;
        let config = config();
        let cable = EmulatedCable::new(&script, 1, TRAFFIC).with_ethertypes(&config.ethertypes);
        let mut world = World::new(cable, HostTrouble::default());
        let report =
            session::run(&mut world, &mut Nobody, &config).map_err(|error| not_run(error.to_string()))?;
        report.ok_or_else(|| not_run("there was no cable".to_owned()))
    }

    fn judge(&self, report: &Report) -> Result<(), Failed> {
        let (got, right) = (report.verdict(), self.verdict);
        for (index, names) in FIGURES.iter().enumerate() {
            self.compare(names, &figures(report, index), &self.figures[index])?;
        }
        if got == right { Ok(()) } else { Err(Failed::Verdict { trial: self.name, got, right }) }
    }

    fn compare(&self, names: &[&'static str; 5], got: &[u64; 5], right: &Figures) -> Result<(), Failed> {
        let Figures { lost, corrupt, bit_errors, duplicates, reordered } = *right;
        let rights = [lost, corrupt, bit_errors, duplicates, reordered];
        let mut rows = names.iter().zip(got.iter().zip(rights));
        match rows.find(|(_, (got, right))| *got != right) {
            None => Ok(()),
            Some((figure, (got, right))) => {
                Err(Failed::Figure { trial: self.name, figure, got: *got, right })
            }
        }
    }
}

/// The figures' names, direction by direction.
const FIGURES: [[&str; 5]; 2] = [
    ["A>B lost", "A>B corrupt", "A>B bit errors", "A>B duplicates", "A>B reordered"],
    ["B>A lost", "B>A corrupt", "B>A bit errors", "B>A duplicates", "B>A reordered"],
];

/// One direction's figures as reported. A loss that is not known exactly is none of these runs'.
fn figures(report: &Report, direction: usize) -> [u64; 5] {
    let account = &report.directions[direction];
    [account.lost.at_most, account.corrupt, account.bit_errors, account.duplicates, account.reordered]
}

fn config() -> Config {
    let plan =
        Plan { settle: TRAFFIC / 3, end: End::After(TRAFFIC - TRAFFIC / 3), limit: Duration::from_secs(10) };
    Config {
        run: 0,
        board: text("self-proof"),
        label: text(""),
        cable: "model",
        nonce: 0x5EED_0001,
        ethertypes: DEFAULT_ETHERTYPES.into_iter().collect(),
        mix: SizeMix::named("rfc2544").expect("rfc2544 is a named mix"),
        pace: Some(PACE),
        speed: None,
        plan,
        confidence: 0.95,
        needed_bits: None,
        last: None,
        give_up: Some(Duration::from_secs(25)),
        link_restart: false,
        mac_checks_fcs: false,
        tolerance_ppm: measure::units::CLOCK_TOLERANCE_PPM,
        notes: Vec::new(),
    }
}

/// Nobody is told of these runs, and the machine has no part in them.
struct Nobody;

impl Output for Nobody {
    fn event(&mut self, _: Instant, _: Event) {}

    fn screen(&mut self, _: Screen) {}
}

impl Host for Nobody {
    fn settings(&mut self) -> MachineSettings {
        MachineSettings::default()
    }

    fn turn(&mut self, _: Instant) -> Vec<Slipped> {
        Vec::new()
    }

    fn stopped(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_gauge_sees_what_it_is_shown() {
        assert_eq!(run(), Ok(()));
    }

    #[test]
    fn a_gauge_that_sees_nothing_does_not_get_through() {
        let failed = run_blind().unwrap_err().to_string();
        assert_eq!(failed, "self-proof: one lost frame: B>A lost is 0, and must be 1");
    }

    #[test]
    fn each_figure_and_each_verdict_counts() {
        for trial in &TRIALS {
            let report = trial.go(trial.faults).unwrap();
            assert_eq!(trial.judge(&report), Ok(()));
            for verdict in [Verdict::Pass, Verdict::Fail, Verdict::Invalid, Verdict::Marginal] {
                let mut report = report.clone();
                report.judgement.verdict = verdict;
                assert_eq!(
                    trial.judge(&report).is_ok(),
                    verdict == trial.verdict,
                    "{} {verdict}",
                    trial.name
                );
            }
            for (direction, names) in FIGURES.into_iter().enumerate() {
                let mut wrong = [const { None }; 5].map(|_: Option<()>| report.clone());
                wrong[0].directions[direction].lost.at_most += 1;
                wrong[1].directions[direction].corrupt += 1;
                wrong[2].directions[direction].bit_errors += 1;
                wrong[3].directions[direction].duplicates += 1;
                wrong[4].directions[direction].reordered += 1;
                for (report, figure) in wrong.iter().zip(names) {
                    let failed = trial.judge(report).unwrap_err().to_string();
                    assert!(failed.contains(figure), "{failed}");
                }
            }
        }
    }
}
