//! The only loop: sample → measure → record → draw, every 16 ms. No arithmetic of its own.
//!
//! A session takes one cable through the chain: settings → link → loop check → settle → run → drain
//! → verdict. It drives a [`Rig`] (real ports, or a model in virtual time) and tells an [`Output`]
//! what happened; it never waits for either.

mod config;
mod report;
mod stage;

pub use config::Config;
pub use report::{Ber, Report};

use crate::clock::Clock;
use crate::nic::Nic;
use crate::port::Scout;
use crate::port::worker::Order;
use measure::evidence::Evidence;
use measure::frame::{Identity, Writer, hear};
use measure::link::{LinkReading, Rearm};
use measure::loopcheck::{Heard, intruder};
use measure::record::{Event, Held, Phase, SettingReading, Slipped, Words, text, words};
use measure::screen::Screen;
use measure::tally::Tally;
use measure::units::{BitRate, Direction, Instant, Side};
use measure::verdict::{Reason, Setting};
use stage::Stage;
use std::io;
use std::time::Duration;

/// The sampling period: one bucket (design: 16 ms windows).
pub const TICK: Duration = Duration::from_millis(16);

/// What a session drives: two ports, a cable between them, and time.
pub trait Rig: Clock {
    /// The ports.
    fn nic(&mut self) -> &mut dyn Nic;

    /// Opens the sockets of a run: from now on both ports are listened to, and nothing is sent.
    ///
    /// # Errors
    /// What could not be opened, in one line.
    fn open(&mut self, writers: [Writer; 2], pace: Option<BitRate>) -> io::Result<()>;

    /// The probes' way out and everybody's way in; only after [`Rig::open`].
    fn scout(&mut self) -> &mut dyn Scout;

    /// Tells the workers what to do; only after [`Rig::open`].
    fn order(&mut self, order: Order);

    /// What the worker of `direction` has published; none where no consistent reading was to be had.
    fn tally(&mut self, direction: Direction) -> Option<Tally>;

    /// The worker of `direction` has ended without having been told to.
    fn died(&mut self, direction: Direction) -> bool;
}

/// Who is told. Neither call ever blocks.
pub trait Output {
    /// Something happened.
    fn event(&mut self, at: Instant, event: Event);

    /// This is what the display shows now.
    fn screen(&mut self, screen: Screen);
}

/// The machine that a run goes on in, and whoever stands before it. No call takes longer than a read of some
/// small files.
pub trait Host {
    /// Makes the machine's own settings: clock, wake-up latency.
    fn settings(&mut self) -> MachineSettings;

    /// The loop has come round once more: whatever depends on its going on is told so here, and nowhere else.
    /// What has slipped of the settings since the last turn is given back, once.
    fn turn(&mut self, now: Instant) -> Vec<Slipped>;

    /// Somebody wants the run to end early.
    fn stopped(&self) -> bool;
}

/// Who is told, and the machine around it: one thing, since the one who presses the button reads the display.
pub trait Around: Output + Host {}

impl<T: Output + Host> Around for T {}

/// What came of the machine's own settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineSettings {
    /// Each as read back.
    pub readings: Vec<SettingReading>,
    /// What the reader of the log should know beside them.
    pub notes: Vec<Words>,
}

/// One run over one cable.
pub struct Session<'a> {
    rig: &'a mut dyn Rig,
    around: &'a mut dyn Around,
    config: &'a Config,
    identity: Identity,
    evidence: Evidence,
    /// As read back before the run; the summary repeats them.
    settings: Vec<SettingReading>,
    links: [LinkReading; 2],
    /// Probes that have left, by direction.
    probes: [u64; 2],
    /// Tells a cable that was taken out from one that blinks.
    unplugged: Rearm,
    stage: Stage,
}

/// Takes one cable through the whole chain. No report where no cable was there to be judged: a run that nobody
/// asked for, whose cable was taken out again before anything was sent.
///
/// # Errors
/// The sockets could not be opened: the request was right, the host cannot carry it out.
pub fn run(rig: &mut dyn Rig, around: &mut dyn Around, config: &Config) -> io::Result<Option<Report>> {
    Session::new(rig, around, config).run()
}

impl<'a> Session<'a> {
    fn new(rig: &'a mut dyn Rig, around: &'a mut dyn Around, config: &'a Config) -> Self {
        let macs = Side::BOTH.map(|side| rig.nic().identity(side).mac);
        let identity = Identity { nonce: config.nonce, macs, ethertypes: config.ethertypes.clone() };
        let evidence = Evidence::new(config.limits(rig.nic().refresh()));
        Self {
            rig,
            around,
            config,
            identity,
            evidence,
            settings: Vec::new(),
            links: Default::default(),
            probes: [0; 2],
            unplugged: Rearm::new(),
            stage: Stage::Over,
        }
    }

    fn run(mut self) -> io::Result<Option<Report>> {
        self.introduce();
        // Both ports are listened to before the settings take them up.
        self.open()?;
        if self.settings() {
            self.enter_link();
            self.turn();
            self.rig.order(Order::Halt);
        }
        if matches!(self.stage, Stage::Withdrawn) {
            self.note("the cable was taken out again before anything was sent: no run");
            return Ok(None);
        }
        Ok(Some(self.close()))
    }

    /// The loop.
    fn turn(&mut self) {
        let mut due = self.rig.now();
        while !matches!(self.stage, Stage::Over | Stage::Withdrawn) {
            let now = self.rig.now();
            self.watch_host(now);
            self.hear(now);
            self.watch_links(now);
            self.advance(now);
            self.draw();
            due = (due + TICK).max(now);
            self.rig.sleep_until(due);
        }
    }

    fn introduce(&mut self) {
        let config = self.config;
        self.tell(config.start());
        self.tell(config.plan_event());
        for port in Side::BOTH {
            let found = self.rig.nic().identity(port);
            self.tell(Event::Port { port, name: found.name, driver: found.driver, mac: found.mac });
        }
        for note in &config.notes {
            self.tell(Event::Note(note.clone()));
        }
    }

    /// Makes the settings and reads them back; false where one that the run needs is not held.
    fn settings(&mut self) -> bool {
        self.enter(Phase::Settings);
        self.around.screen(Screen::Checking { what: "settings" });
        let MachineSettings { readings, notes } = self.around.settings();
        notes.into_iter().for_each(|note| self.tell(Event::Note(note)));
        self.settings = readings;
        self.settings.extend(self.rig.nic().prepare());
        for reading in self.settings.clone() {
            self.judge_setting(&reading);
            self.tell(Event::Setting(reading));
        }
        self.evidence.settings_held()
    }

    fn judge_setting(&mut self, reading: &SettingReading) {
        if reading.required && reading.held != Held::Yes {
            self.find(Reason::SettingNotHeld { setting: reading.setting, port: reading.port });
        }
    }

    fn open(&mut self) -> io::Result<()> {
        let writers =
            Direction::BOTH.map(|way| Writer::new(self.identity.clone(), way, self.config.mix.clone()));
        self.rig.open(writers, self.config.pace)
    }

    /// Gives the machine its turn; what has slipped of its settings is told.
    fn watch_host(&mut self, now: Instant) {
        for slipped in self.around.turn(now) {
            self.note(format_args!("{} no longer holds: {}", slipped.setting, slipped.what));
            self.correct_reading(&slipped);
            if slipped.required {
                self.find(match slipped.setting {
                    Setting::Clock => Reason::ClockNotHeld,
                    setting => Reason::SettingNotHeld { setting, port: None },
                });
            }
        }
    }

    /// The summary tells the settings as they stood at last.
    fn correct_reading(&mut self, slipped: &Slipped) {
        let is_it =
            |reading: &&mut SettingReading| reading.port.is_none() && reading.setting == slipped.setting;
        if let Some(reading) = self.settings.iter_mut().find(is_it) {
            (reading.got, reading.held) = (text(&slipped.what), Held::No);
        }
    }

    /// Takes in what both ports have heard that is not the flood.
    fn hear(&mut self, now: Instant) {
        for on in Side::BOTH {
            let mut heard = heapless::Vec::<Heard, 64>::new();
            let Self { identity, evidence, rig, .. } = self;
            let outcome = rig.scout().hear(on, &mut |frame| match hear(identity, on, frame) {
                // A test socket has it too.
                Heard::Test { .. } => {}
                what => {
                    // Each one is counted, and there may be thousands.
                    if let Heard::Damaged { direction } = what {
                        evidence.damaged(direction);
                    }
                    // More than 64 in one tick: the first ones have said enough.
                    let _ = heard.push(what);
                }
            });
            self.note_socket_error(on, &outcome);
            for what in heard {
                self.take(now, on, what);
            }
        }
    }

    fn take(&mut self, now: Instant, on: Side, heard: Heard) {
        if let Some(reason) = intruder(on, heard) {
            self.find(reason);
            self.cut_short(now);
        } else if let Stage::Check { check, .. } = &mut self.stage {
            check.heard(on, heard);
        }
    }

    fn watch_links(&mut self, now: Instant) {
        for port in Side::BOTH {
            match self.rig.nic().link(port) {
                Ok(reading) => self.take_link(now, port, reading),
                Err(error) => {
                    if self.note_device_error(port, &error) {
                        self.cut_short(now);
                    }
                }
            }
        }
    }

    fn take_link(&mut self, now: Instant, port: Side, reading: LinkReading) {
        let Some(last) = self.links.get_mut(port.index()) else { return };
        let changed = last.carrier != reading.carrier || last.speed != reading.speed;
        *last = reading;
        if reading.taken && !self.is_own_doing(port) {
            self.find(Reason::PortTaken { port });
            self.cut_short(now);
        }
        if changed {
            self.tell(Event::Link { port, up: reading.carrier, speed: reading.speed });
        }
    }

    /// True where the error says that the device is gone.
    fn note_device_error(&mut self, port: Side, error: &io::Error) -> bool {
        let gone = matches!(error.raw_os_error(), Some(libc::ENODEV | libc::ENXIO));
        if gone {
            self.find(Reason::DeviceGone { port });
        }
        gone
    }

    fn note_socket_error(&mut self, port: Side, outcome: &io::Result<()>) {
        if let Err(error) = outcome {
            self.note_device_error(port, error);
        }
    }

    /// Adds a reason; the first of its kind goes to the log when it is seen.
    fn find(&mut self, reason: Reason) {
        if self.evidence.find(reason) {
            self.tell(Event::Evidence(reason));
        }
    }

    fn enter(&mut self, phase: Phase) {
        self.tell(Event::Phase(phase));
    }

    fn tell(&mut self, event: Event) {
        let now = self.rig.now();
        self.around.event(now, event);
    }

    fn stopped(&self) -> bool {
        self.around.stopped()
    }

    fn note(&mut self, note: impl core::fmt::Display) {
        self.tell(Event::Note(words(note)));
    }
}
