//! What stands before the technician: display, serial port, button, lamps; and behind them the watchdog.

use super::fault;
use super::outfit::Outfit;
use crate::board::DisplayKind;
use crate::clock::{Clock, Monotonic};
use crate::host::button::gpio::{self, GpioButton};
use crate::host::button::{self, Buttons, Gesture};
use crate::host::gpio::Chips;
use crate::host::init::{self, End, Linux};
use crate::host::lamps::{self, LampLines};
use crate::host::watchdog::Watchdog;
use crate::journal::mailbox::{LogSender, ScreenSender, log_mailbox, screen_mailbox};
use crate::journal::serial;
use crate::journal::typed::{HELP, SerialCommand};
use crate::panel;
use crate::panel::keeper::News;
use crate::panel::thread::PanelThread;
use crate::session::TICK;
use measure::life::Input;
use measure::record::{Event, Stamped, words};
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
    log: Option<LogSender>,
    serial: Option<JoinHandle<()>>,
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
    /// The cable's label for the next run, empty for none.
    pub label: String,
}

impl Front {
    /// Opens what the box has. Nothing of it need be there: it is looked for until it is.
    pub(super) fn open(clock: Monotonic, outfit: &Outfit, ending: Arc<AtomicBool>) -> Self {
        let (tell, wishes) = mpsc::sync_channel(WISHES);
        let mut front = Self {
            clock,
            log: None,
            serial: None,
            screens: None,
            lamps: None,
            wishes,
            ending,
            watchdog_to_arm: outfit.watchdog.clone(),
            watchdog: None,
            turns: 0,
            summary: Summary::default(),
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
        let Some(settings) = outfit.serial.clone() else { return };
        let (log, lines) = log_mailbox();
        // Where the loop does not come to them there are enough already.
        let command = move |command| drop(tell.try_send(Wish::Typed(command)));
        self.serial = serial::start(settings, lines, command).ok();
        self.log = self.serial.is_some().then_some(log);
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

    /// Tells the log.
    pub(super) fn tell_at(&mut self, at: Instant, event: Event) {
        self.summary.see(&event);
        if let Some(log) = &mut self.log {
            log.post(Stamped { at, event });
        }
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
        self.log.iter().for_each(LogSender::close);
        self.lamps.iter().for_each(|(lamps, _)| lamps.close());
        let until = self.now() + LAST_LINES;
        let writers: Vec<_> =
            self.serial.take().into_iter().chain(self.lamps.take().map(|(_, thread)| thread)).collect();
        while writers.iter().any(|thread| !thread.is_finished()) && self.now() < until {
            self.rest();
        }
        end
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
