//! One session in virtual time, told as a story.
#![allow(dead_code, reason = "each test file uses its own part of it")]

use linegauge::cable::emulated::EmulatedCable;
use linegauge::cable::fault::Script;
use linegauge::clock::Clock;
use linegauge::rig::trouble::{HostTrouble, Mishap};
use linegauge::rig::world::World;
use linegauge::session::{self, Config, Host, MachineSettings, Output, Report};
use measure::frame::DEFAULT_ETHERTYPES;
use measure::mix::SizeMix;
use measure::plan::{End, Plan};
use measure::record::{Event, Phase, SettingReading, Slipped, Stamped, text};
use measure::screen::Screen;
use measure::units::{BitRate, Instant, Side};
use std::time::Duration;

/// What a session is to go through.
pub struct Run {
    faults: Vec<String>,
    seed: u64,
    trouble: HostTrouble,
    stop_at: Option<Event>,
    settings: Vec<SettingReading>,
    slip_at: Option<(Event, Slipped)>,
    pub config: Config,
}

/// What came of it.
pub struct Outcome {
    pub report: Report,
    pub truth: linegauge::cable::account::Account,
    pub events: Vec<Stamped>,
    pub screens: Vec<(Instant, Screen)>,
    pub socket_drops: [u64; 2],
    /// The carriers at the end.
    pub carriers: [bool; 2],
    /// When the first and the last test frame left.
    pub flood: Option<(Instant, Instant)>,
}

impl Run {
    pub fn with(faults: &[&str]) -> Self {
        Self::of(faults.iter().map(|&fault| fault.to_owned()).collect())
    }

    pub fn of(faults: Vec<String>) -> Self {
        Self {
            faults,
            seed: 1,
            trouble: HostTrouble::default(),
            stop_at: None,
            settings: Vec::new(),
            slip_at: None,
            config: config(),
        }
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
        self.trouble.socket_drops = socket_drops;
        self
    }

    /// Changes what goes wrong in the box.
    pub fn trouble(mut self, change: impl FnOnce(&mut HostTrouble)) -> Self {
        change(&mut self.trouble);
        self
    }

    /// Lets something happen in the box so long after the first test frame.
    pub fn mishap(self, at: Duration, what: Mishap) -> Self {
        self.trouble(|trouble| trouble.mishap = Some((at, what)))
    }

    /// Presses the button when `event` is told.
    pub fn stop_at(mut self, event: Event) -> Self {
        self.stop_at = Some(event);
        self
    }

    /// The machine's own settings, as read back.
    pub fn host_settings(mut self, settings: Vec<SettingReading>) -> Self {
        self.settings = settings;
        self
    }

    /// Lets one of the machine's settings slip once `event` is told.
    pub fn slip_at(mut self, event: Event, slipped: Slipped) -> Self {
        self.slip_at = Some((event, slipped));
        self
    }

    pub fn configure(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    pub fn go(self) -> Outcome {
        let (report, world, tape) = self.drive();
        Outcome {
            report: report.expect("somebody asked for this run"),
            truth: world.with_cable(|cable| *cable.account()),
            events: tape.events,
            screens: tape.screens,
            socket_drops: world.socket_drops(),
            carriers: Side::BOTH.map(|side| world.with_cable(|cable| cable.carrier(side, world.now()))),
            flood: world.flood(),
        }
    }

    /// The log of a run that comes to no verdict, because its cable was taken out again.
    pub fn go_in_vain(self) -> Vec<Stamped> {
        let (report, _, tape) = self.drive();
        assert_eq!(report, None);
        tape.events
    }

    fn drive(self) -> (Option<Report>, World, Tape) {
        let script = Script::parse(&self.faults).expect("a test's own script");
        let End::After(run) = self.config.plan.end else { panic!("a test's plan ends by time") };
        let traffic = self.config.plan.settle + run;
        let cable = EmulatedCable::new(&script, self.seed, traffic).with_ethertypes(&self.config.ethertypes);
        let mut world = World::new(cable, self.trouble);
        let mut tape = Tape {
            now: Box::new(world.watch()),
            stop_at: self.stop_at,
            stopped: false,
            settings: self.settings,
            slip_at: self.slip_at,
            slipped: Vec::new(),
            events: Vec::new(),
            screens: Vec::new(),
        };
        let report =
            session::run(&mut world, &mut tape, &self.config).expect("the model's sockets always open");
        (report, world, tape)
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
        last: None,
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

impl Outcome {
    /// When the display first showed that the cable has failed.
    pub fn latched(&self) -> Option<Instant> {
        let failed = |screen: &Screen| matches!(screen, Screen::Running { failed: true, .. });
        self.screens.iter().find(|(_, screen)| failed(screen)).map(|(at, _)| *at)
    }

    /// So long after the first test frame left.
    pub fn after(&self, time: Duration) -> Instant {
        self.flood.expect("there was traffic").0 + time
    }
}

/// All reasons in plain words.
pub fn reasons(outcome: &Outcome) -> Vec<String> {
    outcome.report.judgement.reasons.iter().map(ToString::to_string).collect()
}

/// Keeps everything, and stops the run where it is told to.
struct Tape {
    now: Box<dyn Fn() -> Instant>,
    stop_at: Option<Event>,
    stopped: bool,
    settings: Vec<SettingReading>,
    slip_at: Option<(Event, Slipped)>,
    slipped: Vec<Slipped>,
    events: Vec<Stamped>,
    screens: Vec<(Instant, Screen)>,
}

impl Host for Tape {
    fn settings(&mut self) -> MachineSettings {
        MachineSettings { readings: self.settings.clone(), notes: Vec::new() }
    }

    fn turn(&mut self, _: Instant) -> Vec<Slipped> {
        std::mem::take(&mut self.slipped)
    }

    fn stopped(&self) -> bool {
        self.stopped
    }
}

impl Output for Tape {
    fn event(&mut self, at: Instant, event: Event) {
        self.stopped |= self.stop_at.as_ref() == Some(&event);
        if let Some((_, slipped)) = self.slip_at.take_if(|(when, _)| *when == event) {
            self.slipped.push(slipped);
        }
        self.events.push(Stamped { at, event });
    }

    fn screen(&mut self, screen: Screen) {
        if self.screens.last().is_none_or(|(_, last)| *last != screen) {
            self.screens.push(((self.now)(), screen));
        }
    }
}
