//! One session in virtual time, told as a story.
#![allow(dead_code, reason = "each test file uses its own part of it")]

use linegauge::cable::emulated::EmulatedCable;
use linegauge::cable::fault::Script;
use linegauge::rig::world::{HostTrouble, World};
use linegauge::session::{self, Config, Output, Report};
use measure::frame::DEFAULT_ETHERTYPES;
use measure::mix::SizeMix;
use measure::plan::{End, Plan};
use measure::record::{Event, Phase, Stamped, text};
use measure::screen::Screen;
use measure::units::{BitRate, Instant, Side};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What a session is to go through.
pub struct Run {
    faults: Vec<String>,
    seed: u64,
    trouble: HostTrouble,
    pub config: Config,
}

/// What came of it.
pub struct Outcome {
    pub report: Report,
    pub truth: linegauge::cable::account::Account,
    pub events: Vec<Stamped>,
    pub screens: Vec<(Instant, Screen)>,
    pub socket_drops: [u64; 2],
    /// When the first and the last test frame left.
    pub flood: Option<(Instant, Instant)>,
}

impl Run {
    pub fn with(faults: &[&str]) -> Self {
        Self::of(faults.iter().map(|&fault| fault.to_owned()).collect())
    }

    pub fn of(faults: Vec<String>) -> Self {
        Self { faults, seed: 1, trouble: HostTrouble::default(), config: config() }
    }

    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    pub fn without_link_restart(mut self) -> Self {
        self.config.link_restart = false;
        self
    }

    pub fn host_drops(mut self, socket_drops: [u64; 2]) -> Self {
        self.trouble = HostTrouble { socket_drops };
        self
    }

    pub fn go(self) -> Outcome {
        let script = Script::parse(&self.faults).expect("a test's own script");
        let End::After(run) = self.config.plan.end else { panic!("a test's plan ends by time") };
        let traffic = self.config.plan.settle + run;
        let cable = EmulatedCable::new(&script, self.seed, traffic).with_ethertypes(&self.config.ethertypes);
        let mut world = World::new(cable, self.trouble);
        let mut tape = Tape { world_now: Instant::ZERO, events: Vec::new(), screens: Vec::new() };
        let report = session::run(&mut world, &mut tape, &self.config, &AtomicBool::new(false))
            .expect("the model's sockets always open");
        Outcome {
            report,
            truth: world.with_cable(|cable| *cable.account()),
            events: tape.events,
            screens: tape.screens,
            socket_drops: world.socket_drops(),
            flood: world.flood(),
        }
    }
}

/// A short run at a small pace: everything that a long one has.
pub fn config() -> Config {
    Config {
        run: 1,
        board: text("model"),
        label: text(""),
        cable: "model",
        nonce: 0x1234_5678,
        ethertypes: DEFAULT_ETHERTYPES.into_iter().collect(),
        mix: SizeMix::named("jumbo").expect("the default mix"),
        pace: Some(BitRate::from_mbps(20)),
        speed: None,
        plan: Plan {
            settle: Duration::from_secs(1),
            end: End::After(Duration::from_secs(1)),
            limit: Duration::from_secs(60),
        },
        confidence: 0.95,
        needed_bits: None,
        give_up: Some(Duration::from_secs(25)),
        link_restart: true,
        mac_checks_fcs: false,
        tolerance_ppm: 100,
        notes: Vec::new(),
    }
}

impl Outcome {
    /// Test frames that left both ports.
    pub fn test_frames_left(&self) -> u64 {
        Side::BOTH.map(|side| self.truth.left(side).test_frames).into_iter().sum()
    }

    pub fn at(&self, wanted: impl Fn(&Event) -> bool) -> Option<Instant> {
        self.events.iter().find(|stamped| wanted(&stamped.event)).map(|stamped| stamped.at)
    }

    /// When `phase` was entered.
    pub fn entered(&self, phase: Phase) -> Option<Instant> {
        self.at(|event| *event == Event::Phase(phase))
    }
}

/// All reasons in plain words.
pub fn reasons(outcome: &Outcome) -> Vec<String> {
    outcome.report.judgement.reasons.iter().map(ToString::to_string).collect()
}

/// Keeps everything.
struct Tape {
    world_now: Instant,
    events: Vec<Stamped>,
    screens: Vec<(Instant, Screen)>,
}

impl Output for Tape {
    fn event(&mut self, at: Instant, event: Event) {
        self.world_now = at;
        self.events.push(Stamped { at, event });
    }

    fn screen(&mut self, screen: Screen) {
        if self.screens.last().is_none_or(|(_, last)| *last != screen) {
            self.screens.push((self.world_now, screen));
        }
    }
}
