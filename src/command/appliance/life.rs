//! The box from its first wait for a cable to power-off: the table of [`measure::life`], carried out.

use super::fault::{self, Fault};
use super::front::{Front, Said};
use super::outfit::Outfit;
use super::pages::Pages;
use super::ports::{Ports, RunRig};
use super::which::{Debug, Which};
use crate::COMMIT;
use crate::board::{Board, DurationArg};
use crate::command::task::Task;
use crate::host::init::End;
use crate::host::settings::{self, Applied, HostWatch};
use crate::host::wall_clock;
use crate::nic::Nic;
use crate::rig::absent::AbsentRig;
use crate::session::{self, Config, Host, MachineSettings, Output, Report};
use measure::life::{Act, Input, Plug, State};
use measure::link::{LinkConfig, LinkReading, LinkState, LinkWatch, PATIENCE};
use measure::record::{Event, Held, Phase, SettingReading, Slipped, Text, text};
use measure::screen::Screen;
use measure::units::{Instant, Side};
use measure::verdict::Verdict;
use std::io;
use std::time::Duration;

/// How long drivers may take at power-on until both ports are there.
const PORTS_PATIENCE: Duration = Duration::from_secs(5);

/// How long the display tells what the button has changed.
const NOTICE: Duration = Duration::from_secs(4);

/// Confidence of the bit error bound on a box, where nobody can ask for another.
const CONFIDENCE: f64 = 0.95;

/// The box at work.
pub(super) struct Life {
    front: Front,
    board: Board,
    debug: Option<Debug>,
    ports: Ports,
    links: [LinkReading; 2],
    state: State,
    plug: Plug,
    waiting: LinkWatch,
    runs: u32,
    /// What tells this box from others, where it is known.
    box_id: Option<String>,
    /// The log has been told.
    is_introduced: bool,
    last: Option<(Verdict, u32)>,
    /// What is shown in turn while a verdict stands.
    pages: Pages,
    notice: Option<(Instant, Text)>,
    watch: HostWatch,
}

/// How a wait ends.
enum Next {
    /// In a run that gives up on a link after so long.
    Run(Option<Duration>),
    /// With the machine.
    End(End),
}

impl Life {
    /// A box that has just been switched on.
    pub(super) fn new(front: Front, which: Which) -> Self {
        let Which { board, places, box_id, debug } = which;
        Self {
            ports: Ports::new(places, board.mtu),
            links: Default::default(),
            state: State::Waiting,
            plug: Plug::default(),
            waiting: LinkWatch::new(LinkConfig::auto(board.speed), front.now()),
            runs: 0,
            box_id,
            is_introduced: false,
            last: None,
            pages: Pages::default(),
            notice: None,
            watch: HostWatch::default(),
            front,
            board,
            debug,
        }
    }

    /// Lives until the machine is to end.
    pub(super) fn live(mut self) -> End {
        let mut next = self.power_on();
        loop {
            match next {
                Next::Run(give_up) => match self.judge(give_up) {
                    Ok(None) => next = self.wait(),
                    Ok(Some(end)) => return self.front.finish(end),
                    Err(fault) => return fault::stand(&mut self.front, &Outfit::of(&self.board), &fault),
                },
                Next::End(end) => return self.front.finish(end),
            }
        }
    }

    /// Makes the machine's settings, asks for a cable, and makes the ports' settings, which takes some drivers half
    /// a second. One that a run needs and that is not held is the first verdict: INVALID, whatever is plugged in.
    fn power_on(&mut self) -> Next {
        let MachineSettings { mut readings, notes } = hold_settings(&self.board, &mut self.watch);
        notes.iter().for_each(|note| self.front.note(note));
        self.tell_settings(&readings);
        self.introduce();
        self.enter_waiting();
        let hint =
            if self.front.was_reset() { "restarted by its watchdog" } else { "its ports are starting" };
        self.notice = Some((self.front.now() + NOTICE, text(hint)));
        let wanted = match self.await_disk_and_ports() {
            Some(Next::End(end)) => return Next::End(end),
            wanted => wanted,
        };
        let ports = self.ports.prepare();
        self.tell_settings(&ports);
        if !self.front.was_reset() {
            self.notice = None;
        }
        readings.extend(ports);
        let is_missing = |reading: &SettingReading| reading.required && reading.held != Held::Yes;
        let ready = self.ports.nic().is_some() && !readings.iter().any(is_missing);
        match wanted {
            Some(wanted) => wanted,
            None if ready => self.wait(),
            None => Next::Run(None),
        }
    }

    fn tell_settings(&mut self, readings: &[SettingReading]) {
        readings.iter().for_each(|reading| self.front.tell(Event::Setting(reading.clone())));
    }

    /// Drivers and disks may take their time. A press of the button meanwhile counts once they are there.
    fn await_disk_and_ports(&mut self) -> Option<Next> {
        let until = self.front.now() + PORTS_PATIENCE;
        let mut wanted = None;
        loop {
            let now = self.front.now();
            self.draw(now);
            if self.ports.look(now) {
                self.introduce();
            }
            let awaits_ports = self.ports.nic().is_none() && now < until;
            if !awaits_ports && !self.front.awaits_history() {
                return wanted;
            }
            for said in self.front.turn(now) {
                match (said.end(), said) {
                    (Some(end), _) => return Some(Next::End(end)),
                    (None, Said::Input(input)) => wanted = self.take(now, input).or(wanted),
                    (None, Said::Ending) => {}
                }
            }
            self.front.rest();
        }
    }

    /// Waits for the next run, or for the end.
    fn wait(&mut self) -> Next {
        self.plug = Plug::default();
        loop {
            let now = self.front.now();
            let mut said = self.front.turn(now);
            said.extend(self.look_at_ports(now).map(Said::Input));
            for said in said {
                let next = match said {
                    Said::Ending => Some(Next::End(End::Restart)),
                    Said::Input(input) => self.take(now, input),
                };
                if let Some(next) = next {
                    return next;
                }
            }
            self.draw(now);
            assert!(self.debug != Some(Debug::Panic), "asked for on the kernel's command line");
            self.front.rest();
        }
    }

    fn enter_waiting(&mut self) {
        let now = self.front.now();
        self.waiting = LinkWatch::new(LinkConfig::auto(self.board.speed), now);
        // So that the display tells at once what there is.
        let _: LinkState = self.waiting.see(now, self.links);
        self.front.tell(Event::Phase(Phase::Wait));
    }

    fn take(&mut self, now: Instant, input: Input) -> Option<Next> {
        let (state, act) = self.state.on(input);
        self.state = state;
        match act {
            Act::RunNow => return Some(Next::Run(Some(PATIENCE))),
            Act::RunByItself => return Some(Next::Run(None)),
            Act::PowerOff => return Some(Next::End(End::PowerOff)),
            Act::NextDuration => self.next_duration(now),
            Act::Wait => self.enter_waiting(),
            Act::Nothing | Act::Stop | Act::ShowVerdict => {}
        }
        None
    }

    fn next_duration(&mut self, now: Instant) {
        self.board.duration = match self.board.duration {
            DurationArg::Quick => DurationArg::Standard,
            DurationArg::Standard => DurationArg::Proof,
            DurationArg::Proof | DurationArg::Seconds(_) => DurationArg::Quick,
        };
        let notice = text(format_args!("next run: {}", self.board.duration));
        self.front.note(&notice);
        self.notice = Some((now + NOTICE, notice));
    }

    /// What the links say; ports that have gone are looked for, and finding them is as good as a new cable.
    fn look_at_ports(&mut self, now: Instant) -> Option<Input> {
        if self.ports.look(now) {
            self.introduce();
            let readings = self.ports.prepare();
            self.tell_settings(&readings);
            self.links = Default::default();
            return Some(Input::Unplugged);
        }
        for port in Side::BOTH {
            match self.ports.nic()?.link(port) {
                Ok(reading) => self.take_link(port, reading),
                Err(error) => {
                    self.front.note(&format_args!("port {port} is gone: {error}"));
                    self.ports.forget();
                    return None;
                }
            }
        }
        let _: LinkState = self.waiting.see(now, self.links);
        self.plug.see(now, self.state, self.links.map(|link| link.carrier == Some(true)))
    }

    fn take_link(&mut self, port: Side, reading: LinkReading) {
        let last = std::mem::replace(&mut self.links[port.index()], reading);
        if (last.carrier, last.speed) != (reading.carrier, reading.speed) {
            self.front.tell(Event::Link { port, up: reading.carrier, speed: reading.speed });
        }
    }

    fn draw(&mut self, now: Instant) {
        if self.front.saved_late.take().is_some_and(|run| self.last.is_some_and(|(_, last)| last == run)) {
            self.pages.saved();
        }
        self.notice.take_if(|(until, _)| now >= *until);
        let notice = self.notice.as_ref().map(|(_, notice)| notice.clone());
        match (self.state, notice) {
            (State::Verdict, None) => {
                if let Some(page) = self.pages.at(now) {
                    self.front.show(page);
                }
            }
            (_, notice) => {
                let hint = notice.unwrap_or_else(|| self.hint());
                self.front.show(&Screen::PlugCable { last: self.last, hint });
            }
        }
    }

    fn hint(&mut self) -> Text {
        if self.ports.nic().is_some() { self.waiting.hint() } else { text("the ports are gone") }
    }

    /// One run, whatever the ports are; none where the box goes on.
    fn judge(&mut self, give_up: Option<Duration>) -> Result<Option<End>, Fault> {
        self.state = State::Running;
        self.runs = self.runs.max(self.front.newest_kept()).saturating_add(1);
        self.tell_time();
        let (label, board) = (self.front.label.clone(), self.board.clone());
        let (run, last, notes) = (self.runs, self.last, Vec::new());
        let task = Task {
            board: &board,
            run,
            label: &label,
            bound: None,
            confidence: CONFIDENCE,
            last,
            give_up,
            notes,
        };
        let config = task.config().map_err(|error| Fault::new("no random numbers", &error))?;
        let outcome = self.drive(&config);
        let (report, mut end) = outcome.map_err(|error| Fault::new("the run did not start", &error))?;
        if let Some(report) = report {
            let (unsaved, wanted) = self.front.keep(run);
            end = end.or(wanted);
            self.last = Some((report.verdict(), run));
            let box_id = self.box_id.as_deref().unwrap_or_default();
            self.pages = Pages::new(&report, box_id, &label, unsaved, self.front.now());
            (self.state, _) = self.state.on(Input::RunOver);
        } else {
            self.runs -= 1;
            let now = self.front.now();
            self.take(now, Input::Unplugged);
        }
        Ok(end)
    }

    /// Tells the log which box this is, as soon as that is known: by its own name, or by the end of port A's address.
    fn introduce(&mut self) {
        if self.is_introduced {
            return;
        }
        if let (None, Some(nic)) = (&self.box_id, self.ports.nic()) {
            let [.., x, y, z] = nic.identity(Side::A).mac.0;
            self.box_id = Some(format!("{x:02X}{y:02X}{z:02X}"));
        }
        if let Some(id) = &self.box_id {
            let id = text(id);
            self.is_introduced = true;
            self.tell_time();
            self.front.tell(Event::Box { id, commit: COMMIT });
        }
    }

    /// Tells the log what time it is, where the clock chip is set.
    fn tell_time(&mut self) {
        if let Some(unix) = wall_clock::now() {
            self.front.tell(Event::WallClock { unix });
        }
    }

    fn drive(&mut self, config: &Config) -> io::Result<(Option<Report>, Option<End>)> {
        let clock = self.front.clock();
        self.front.busy = true;
        let mut running = Running {
            front: &mut self.front,
            board: &self.board,
            watch: &mut self.watch,
            debug: self.debug,
            stop: false,
            end: None,
        };
        let report = match self.ports.rig(clock) {
            RunRig::There(mut rig) => session::run(&mut rig, &mut running, config),
            RunRig::Absent(mut rig) => session::run(&mut rig, &mut running, config),
        };
        let report = match report {
            Ok(report) => report,
            // A port that went away a moment ago, most likely.
            Err(error) => {
                let mut rig: AbsentRig = self.ports.refused(&error, clock);
                self.ports.forget();
                session::run(&mut rig, &mut running, config)?
            }
        };
        let end = running.end;
        self.front.busy = false;
        Ok((report, end))
    }
}

/// Makes the machine's settings and watches them from now on. They stay: the box does nothing else.
fn hold_settings(board: &Board, watch: &mut HostWatch) -> MachineSettings {
    let Applied { readings, notes, mut held } = settings::apply(board);
    held.keep();
    *watch = HostWatch::new(held);
    MachineSettings { readings, notes }
}

/// The box around a run.
struct Running<'a> {
    front: &'a mut Front,
    board: &'a Board,
    watch: &'a mut HostWatch,
    debug: Option<Debug>,
    stop: bool,
    end: Option<End>,
}

impl Output for Running<'_> {
    fn event(&mut self, at: Instant, event: Event) {
        let wedge = self.debug == Some(Debug::Wedge) && event == Event::Phase(Phase::Run);
        self.front.tell_at(at, event);
        if wedge {
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
    }

    /// The verdict is shown when its record is durable.
    fn screen(&mut self, screen: Screen) {
        if !matches!(screen, Screen::Verdict { .. }) {
            self.front.show(&screen);
        }
    }
}

impl Host for Running<'_> {
    /// The settings of power-on once more: a processor may have come online since, or another limit.
    fn settings(&mut self) -> MachineSettings {
        hold_settings(self.board, self.watch)
    }

    fn turn(&mut self, now: Instant) -> Vec<Slipped> {
        for said in self.front.turn(now) {
            let stops = matches!(said, Said::Input(input) if State::Running.on(input).1 == Act::Stop);
            self.stop |= stops || said.end().is_some();
            self.end = self.end.or(said.end());
        }
        self.watch.look(now)
    }

    fn stopped(&self) -> bool {
        self.stop
    }
}
