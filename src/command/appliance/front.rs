//! What stands before the technician: display, serial port, button, lamps; and behind them the watchdog.

use super::fault;
use super::keeping::{Keeping, Recital, Recited, Tell};
use super::outfit::Outfit;
use crate::board::{DisplayKind, RecordsTo, SerialSettings};
use crate::clock::{Clock, Monotonic};
use crate::host::button::gpio::{self, GpioButton};
use crate::host::button::{self, Buttons, Gesture};
use crate::host::gpio::Chips;
use crate::host::init::{self, End, Linux};
use crate::host::lamps::{self, LampLines};
use crate::host::watchdog::Watchdog;
use crate::journal::history::Saving;
use crate::journal::mailbox::{LogSender, ScreenSender, log_mailbox, screen_mailbox};
use crate::journal::record::Recorder;
use crate::journal::serial;
use crate::journal::typed::{HELP, SerialCommand};
use crate::journal::voice::Voice;
use crate::panel;
use crate::panel::keeper::News;
use crate::panel::thread::PanelThread;
use crate::session::TICK;
use measure::life::Input;
use measure::record::{Event, Stamped, long_words, words};
use measure::screen::Screen;
use measure::units::Instant;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long the first page may take.
const FIRST_PAGE: Duration = Duration::from_millis(100);

/// Wishes that wait for the loop's next turn.
const WISHES: usize = 16;

/// How long the serial port is given for the last lines, and the lamps to go out; the port's thread gives up sooner.
const LAST_LINES: Duration = Duration::from_secs(4);

/// What somebody wants of the box.
enum Wish {
    Gesture(Gesture),
    Typed(SerialCommand),
    /// The log is to say so.
    Note(String),
    /// Nobody's wish: something has become of the display.
    Display(News),
}

/// What comes of it for the box's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// An input of the table.
    Input(Input),
    /// Ctrl-alt-del: the machine is to start again.
    Ending,
}

impl Said {
    /// How the machine is to end for it; none where it is not to.
    pub(super) const fn end(self) -> Option<End> {
        match self {
            Self::Ending => Some(End::Restart),
            Self::Input(Input::PowerOff) => Some(End::PowerOff),
            Self::Input(_) => None,
        }
    }
}

/// All of it.
pub(super) struct Front {
    clock: Monotonic,
    lines: Vec<SerialOut>,
    baud: u32,
    screens: Option<ScreenSender>,
    lamps: Option<(ScreenSender, JoinHandle<()>)>,
    wishes: mpsc::Receiver<Wish>,
    ending: Arc<AtomicBool>,
    /// Device and time; none where the board has none.
    watchdog_to_arm: Option<(PathBuf, u16)>,
    watchdog: Option<Watchdog>,
    /// Turns of whichever loop is at work: what the watchdog is fed by.
    turns: u64,
    summary: Summary,
    /// Where runs are kept; none where the board keeps none.
    keeping: Option<Keeping>,
    /// What is said of a verdict, until its record is durable.
    held: Vec<Stamped>,
    recital: Option<Recital>,
    /// A run is going on: the disk is left alone.
    pub busy: bool,
    /// A run whose verdict was shown as not saved, and that is saved now.
    pub saved_late: Option<u32>,
    /// The cable's label for the next run, empty for none.
    pub label: String,
}

impl Front {
    /// Opens what the box has. Nothing of it need be there: it is looked for until it is.
    pub(super) fn open(clock: Monotonic, outfit: &Outfit, ending: Arc<AtomicBool>) -> Self {
        let (tell, wishes) = mpsc::sync_channel(WISHES);
        let mut front = Self {
            clock,
            lines: Vec::new(),
            baud: outfit.serial.as_ref().map_or(0, |serial| serial.baud),
            screens: None,
            lamps: None,
            wishes,
            ending,
            watchdog_to_arm: outfit.watchdog.clone(),
            watchdog: None,
            turns: 0,
            summary: Summary::default(),
            keeping: Keeping::open(&outfit.history, clock.now()),
            held: Vec::new(),
            recital: None,
            busy: false,
            saved_late: None,
            label: String::new(),
        };
        front.open_serial(outfit, tell.clone());
        front.open_display(outfit, tell.clone());
        front.open_button(outfit, tell.clone());
        front.open_wires(outfit, tell);
        front
    }

    /// The first page is waited for, so that what the log says of its time is so; a display that is slow or missing
    /// is not.
    fn open_display(&mut self, outfit: &Outfit, tell: SyncSender<Wish>) {
        if outfit.display == DisplayKind::None {
            return;
        }
        let (mut screens, pages) = screen_mailbox();
        screens.post(&Screen::Checking { what: "myself" });
        let (kind, settings) = (outfit.display, outfit.display_settings.clone());
        let dim_after = settings.dim_after;
        let open = move || panel::open(kind, &settings);
        let news = move |news| drop(tell.try_send(Wish::Display(news)));
        let panicked = Arc::clone(&outfit.panicked);
        let last_word = move || panicked.load(Ordering::Relaxed).then(fault::last_page);
        if PanelThread::start(pages, open, dim_after, news, last_word).is_ok() {
            self.screens = Some(screens);
        }
        if let Ok(wish) = self.wishes.recv_timeout(FIRST_PAGE) {
            self.take(wish);
        }
    }

    fn open_serial(&mut self, outfit: &Outfit, tell: SyncSender<Wish>) {
        if let Some(settings) = &outfit.serial {
            let shared = outfit.records == RecordsTo::Log;
            let voice = if shared { Voice::Both(Recorder::default()) } else { Voice::Text };
            // Where the loop does not come to them there are enough already.
            let command = move |command| drop(tell.try_send(Wish::Typed(command)));
            self.lines.extend(SerialOut::open(settings, voice, command));
        }
        if let RecordsTo::Port(settings) = &outfit.records {
            // Nobody types on a line for programs.
            self.lines.extend(SerialOut::open(settings, Voice::Records(Recorder::default()), |_| ()));
        }
    }

    fn open_button(&self, outfit: &Outfit, tell: SyncSender<Wish>) {
        let buttons = Buttons::new(outfit.button.clone());
        let gesture = move |gesture| drop(tell.try_send(Wish::Gesture(gesture)));
        let never = Arc::<AtomicBool>::default();
        // Where there is no thread for it the serial port is a button as well.
        let _ = button::start(buttons, self.clock, never, gesture);
    }

    /// The button, lamps and beeper on GPIO lines.
    fn open_wires(&mut self, outfit: &Outfit, tell: SyncSender<Wish>) {
        let note = {
            let tell = tell.clone();
            move |note| drop(tell.try_send(Wish::Note(note)))
        };
        if let Some(lines) = LampLines::new(Chips::default(), &outfit.wires) {
            let (screens, pages) = screen_mailbox();
            let panicked = Arc::clone(&outfit.panicked);
            let is_broken = move || panicked.load(Ordering::Relaxed);
            let thread = lamps::start(lines, self.clock, pages, is_broken, note.clone());
            self.lamps = thread.ok().map(|thread| (screens, thread));
        }
        if let Some(wire) = &outfit.wires.button {
            let button = GpioButton::new(Chips::default(), wire.clone());
            let panicked = Arc::clone(&outfit.panicked);
            let gesture = move |gesture| press(gesture, &tell, &panicked);
            // Where there is no thread for it the serial port is a button as well.
            let _ = gpio::start(button, self.clock, Arc::default(), gesture, note);
        }
    }

    /// This moment, since the kernel's start.
    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// The clock of it.
    pub(super) const fn clock(&self) -> Monotonic {
        self.clock
    }

    /// Waits for the loop's next turn.
    pub(super) fn rest(&self) {
        self.clock.sleep_until(self.clock.now() + TICK);
    }

    /// Arms the board's watchdog, and says so; a box that it has started again says that first.
    pub(super) fn arm_watchdog(&mut self) {
        let Some((device, seconds)) = self.watchdog_to_arm.take() else { return };
        match Watchdog::open(&device, seconds) {
            Ok(watchdog) => {
                watchdog.report().notes().for_each(|note| self.note(&note));
                self.watchdog = Some(watchdog);
            }
            Err(error) => self.note(&error),
        }
    }

    /// This start of the box was the watchdog's doing.
    pub(super) fn was_reset(&self) -> bool {
        self.watchdog.as_ref().is_some_and(|watchdog| watchdog.report().reset_the_machine)
    }

    /// The loop has come round: feeds the watchdog and tells what is wanted.
    pub(super) fn turn(&mut self, now: Instant) -> Vec<Said> {
        self.turns = self.turns.wrapping_add(1);
        if let Some(watchdog) = &mut self.watchdog {
            // One that cannot be fed resets the box, and the next start says so.
            let _ = watchdog.feed_if_progress(now, self.turns);
        }
        if let Some(screens) = &mut self.screens {
            screens.retry();
        }
        if let Some((lamps, _)) = &mut self.lamps {
            lamps.retry();
        }
        self.look_after_history(now);
        let ending = self.ending.load(Ordering::Relaxed).then_some(Said::Ending);
        let mut said: Vec<_> = ending.into_iter().collect();
        while let Ok(wish) = self.wishes.try_recv() {
            said.extend(self.take(wish).map(Said::Input));
        }
        said
    }

    fn take(&mut self, wish: Wish) -> Option<Input> {
        match wish {
            Wish::Gesture(Gesture::Press) | Wish::Typed(SerialCommand::Button) => Some(Input::Press),
            Wish::Gesture(Gesture::NextDuration) => Some(Input::Next),
            Wish::Gesture(Gesture::PowerOff) | Wish::Typed(SerialCommand::PowerOff) => Some(Input::PowerOff),
            Wish::Typed(command) => {
                self.answer(command);
                None
            }
            Wish::Note(note) => {
                self.note(&note);
                None
            }
            Wish::Display(news) => {
                self.note(&news);
                None
            }
        }
    }

    /// Does what concerns nothing but the log and the next run's label.
    fn answer(&mut self, command: SerialCommand) {
        match command {
            SerialCommand::Button | SerialCommand::PowerOff => {}
            SerialCommand::LastSummary if self.summary.is_empty() => self.note(&"no run yet"),
            SerialCommand::LastSummary => {
                let events = self.summary.events.clone();
                events.into_iter().for_each(|event| self.tell(event));
            }
            SerialCommand::History => self.recite(),
            SerialCommand::Label(label) => {
                self.note(&format_args!("next label {label:?}"));
                self.label = label;
            }
            SerialCommand::Help => HELP.iter().for_each(|line| self.note(line)),
            SerialCommand::Refused(why) => self.note(&why),
        }
    }

    /// Tells the log, at this moment.
    pub(super) fn tell(&mut self, event: Event) {
        self.tell_at(self.clock.now(), event);
    }

    /// Tells the log a note.
    pub(super) fn note(&mut self, note: &impl Display) {
        self.tell(Event::Note(words(note)));
    }

    /// Tells the log. What is said of a verdict is held back where its run is to be kept, until
    /// [`Front::keep`].
    pub(super) fn tell_at(&mut self, at: Instant, event: Event) {
        let stamped = Stamped { at, event };
        let Some(keeping) = &mut self.keeping else { return self.post(stamped) };
        keeping.see(&stamped);
        if self.held.is_empty() && !matches!(stamped.event, Event::Verdict { .. }) || !self.busy {
            self.post(stamped);
        } else {
            self.held.push(stamped);
        }
    }

    fn post(&mut self, stamped: Stamped) {
        self.summary.see(&stamped.event);
        self.lines.iter_mut().for_each(|line| line.log.post(stamped.clone()));
    }

    /// Shows a page.
    pub(super) fn show(&mut self, screen: &Screen) {
        if let Some(screens) = &mut self.screens {
            screens.post(screen);
        }
        if let Some((lamps, _)) = &mut self.lamps {
            lamps.post(screen);
        }
    }

    /// The last words, and all of them; the watchdog stops only where the power goes.
    pub(super) fn finish(&mut self, end: End) -> End {
        self.note(&match end {
            End::PowerOff => "switching off",
            End::Restart => "starting again",
        });
        if let (End::PowerOff, Some(watchdog)) = (end, self.watchdog.take()) {
            watchdog.disarm().unwrap_or_else(|error| self.note(&format_args!("watchdog goes on: {error}")));
        }
        self.lines.iter().for_each(|line| line.log.close());
        self.lamps.iter().for_each(|(lamps, _)| lamps.close());
        let until = self.now() + LAST_LINES;
        let lines = self.lines.drain(..).map(|line| line.thread);
        let writers: Vec<_> = lines.chain(self.lamps.take().map(|(_, thread)| thread)).collect();
        while writers.iter().any(|thread| !thread.is_finished()) && self.now() < until {
            self.rest();
        }
        end
    }
}

/// The history.
impl Front {
    /// The number of the newest run that is known to be kept; 0 for none.
    pub(super) fn newest_kept(&self) -> u32 {
        self.keeping.as_ref().map_or(0, Keeping::newest)
    }

    /// Whether runs had better wait for the history: they are counted on from it.
    pub(super) fn awaits_history(&self) -> bool {
        self.keeping.as_ref().is_some_and(|keeping| keeping.is_awaited(self.now()))
    }

    /// Waits until the record of run `run` is durable, 500 ms at most, and lets go what was held back; tells whether it
    /// could not be kept, and whether the machine is to end.
    pub(super) fn keep(&mut self, run: u32) -> (bool, Option<End>) {
        let now = self.now();
        let ticket = self.keeping.as_mut().and_then(|keeping| keeping.save(now, run));
        let mut end = None;
        let mut outcome = None;
        if let Some(mut ticket) = ticket {
            while *ticket.look(self.now()) == Saving::Waiting {
                let said = self.turn(self.now());
                end = end.or(said.into_iter().find_map(Said::end));
                self.rest();
            }
            outcome = Some(match ticket.look(self.now()) {
                Saving::NotSaved(why) => Event::NotSaved { run, why: words(why) },
                _ => Event::Saved { run },
            });
            if let (Some(Event::NotSaved { .. }), Some(keeping)) = (&outcome, &mut self.keeping) {
                keeping.give_up(run, ticket);
            }
        }
        let unsaved = matches!(outcome, Some(Event::NotSaved { .. }));
        self.let_go(outcome);
        (unsaved, end)
    }

    /// Posts what was held back, and `outcome` as the last line of the summary.
    fn let_go(&mut self, outcome: Option<Event>) {
        let at = self.now();
        for stamped in std::mem::take(&mut self.held) {
            if stamped.event == Event::End {
                outcome.iter().cloned().for_each(|event| self.post(Stamped { at, event }));
                self.post(Stamped { at, ..stamped });
            } else {
                self.post(stamped);
            }
        }
    }

    /// Begins to tell the results that are kept.
    fn recite(&mut self) {
        let baud = self.baud;
        match &self.keeping {
            None => self.note(&"this board keeps no history"),
            Some(_) if self.busy => self.note(&"the history is told when no run goes on"),
            Some(keeping) => self.recital = Some(keeping.recite(baud)),
        }
    }

    fn look_after_history(&mut self, now: Instant) {
        let news = self.keeping.as_mut().map_or_else(Vec::new, |keeping| keeping.news(now));
        for tell in news {
            match tell {
                Tell::Note(note) => self.note(&note),
                Tell::Saved(run) => {
                    self.saved_late = Some(run);
                    self.tell(Event::Saved { run });
                }
            }
        }
        let Some(mut recital) = self.recital.take() else { return };
        if self.busy {
            return self.note(&recital.broken_off());
        }
        match recital.turn(now) {
            Recited::Over(note) => return self.note(&note),
            Recited::Line(line) => self.tell(Event::Kept(long_words(line))),
            Recited::Nothing => {}
        }
        self.recital = Some(recital);
    }
}

/// A serial port, and who writes to it.
struct SerialOut {
    log: LogSender,
    thread: JoinHandle<()>,
}

impl SerialOut {
    /// None where there is no thread for it.
    fn open(
        settings: &SerialSettings,
        voice: Voice,
        command: impl FnMut(SerialCommand) + Send + 'static,
    ) -> Option<Self> {
        let (log, events) = log_mailbox();
        let thread = serial::start(settings.clone(), voice, events, command).ok()?;
        Some(Self { log, thread })
    }
}

/// A press of a GPIO line's button. After a panic nobody takes wishes any more: it starts the box again by itself.
fn press(gesture: Gesture, tell: &SyncSender<Wish>, panicked: &AtomicBool) {
    if panicked.load(Ordering::Relaxed) && gesture != Gesture::NextDuration {
        init::end(&mut Linux, End::Restart);
    }
    drop(tell.try_send(Wish::Gesture(gesture)));
}

/// The last run's summary: from its verdict to its end.
#[derive(Default)]
struct Summary {
    events: Vec<Event>,
    open: bool,
}

impl Summary {
    fn see(&mut self, event: &Event) {
        if matches!(event, Event::Start { .. }) {
            (self.open, self.events) = (false, Vec::new());
        }
        // Told again, it is not taken for another.
        if matches!(event, Event::Verdict { .. }) && self.events.is_empty() {
            self.open = true;
        }
        if self.open {
            self.events.push(event.clone());
        }
        self.open &= *event != Event::End;
    }

    fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::record::{Phase, text};
    use measure::verdict::Verdict;

    fn start(run: u32) -> Event {
        let (board, label) = (text("b"), text(""));
        Event::Start { run, version: "1", board, label, cable: "ports", nonce: 1 }
    }

    fn verdict(run: u32) -> Event {
        Event::Verdict { verdict: Verdict::Pass, run, basis: None, of: None }
    }

    #[test]
    fn the_summary_is_the_last_runs_from_verdict_to_end_and_is_not_doubled_by_being_told() {
        let mut summary = Summary::default();
        let run = |number| {
            [start(number), Event::Phase(Phase::Done), verdict(number), Event::End, Event::Phase(Phase::Wait)]
        };
        for event in run(1).into_iter().chain(run(2)) {
            summary.see(&event);
        }
        assert_eq!(summary.events, [verdict(2), Event::End]);
        for event in summary.events.clone() {
            summary.see(&event);
        }
        assert_eq!(summary.events, [verdict(2), Event::End]);
    }
}
