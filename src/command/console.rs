//! Where a run's events and screens go on a desk: the terminal, a log file, or standard output.
//!
//! Each sink has a thread and a mailbox of its own; the run loop never waits for one.

use super::{complain, print_out};
use crate::journal::mailbox::{LogSender, Receiver, ScreenSender, log_mailbox, screen_mailbox};
use crate::journal::record::Recorder;
use crate::journal::text::Line;
use crate::panel::picture;
use crate::panel::terminal::TerminalPanel;
use crate::session::Output;
use measure::record::{Event, Stamped};
use measure::screen::Screen;
use measure::units::Instant;
use std::io::{self, Write};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often a sink looks into its mailbox.
const LOOK: Duration = Duration::from_millis(30);

/// How long a stuck sink is waited for when the run is over.
const PATIENCE: Duration = Duration::from_secs(3);

/// Lines that stay under the panel when the run is over: verdict, first reasons, both directions.
const CLOSING_LINES: usize = 6;

/// All sinks of a run.
#[derive(Default)]
pub struct Console {
    logs: Vec<LogSender>,
    screens: Option<ScreenSender>,
    threads: Vec<JoinHandle<()>>,
    last: Option<Screen>,
}

impl Console {
    /// Writes every line to `sink`.
    ///
    /// # Errors
    /// The thread could not be started.
    pub fn log_to(&mut self, sink: impl Write + Send + 'static) -> io::Result<()> {
        let (sender, receiver) = log_mailbox();
        self.logs.push(sender);
        let line = |stamped: &Stamped| format!("{}\n", Line(stamped)).into_bytes();
        self.spawn("log", move || write(receiver, "log", line, sink))
    }

    /// Writes the records to `sink`.
    ///
    /// # Errors
    /// The thread could not be started.
    pub fn record_to(&mut self, mut recorder: Recorder, sink: impl Write + Send + 'static) -> io::Result<()> {
        let (sender, receiver) = log_mailbox();
        self.logs.push(sender);
        let frame =
            move |stamped: &Stamped| recorder.take(stamped).map_or_else(Vec::new, |frame| frame.to_vec());
        self.spawn("records", move || write(receiver, "record", frame, sink))
    }

    /// Shows the panel and the last lines of the log on a terminal of `columns` × `rows`.
    ///
    /// # Errors
    /// The thread could not be started.
    pub fn show_on(&mut self, columns: u16, rows: u16) -> io::Result<()> {
        let (sender, lines) = log_mailbox();
        let (screens, screen) = screen_mailbox();
        self.logs.push(sender);
        self.screens = Some(screens);
        self.spawn("panel", move || show(lines, screen, TerminalPanel::new(io::stdout(), columns, rows)))
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.threads.push(std::thread::Builder::new().name(name.to_owned()).spawn(work)?);
        Ok(())
    }

    /// The screen that was shown last.
    #[must_use]
    pub fn last_screen(&self) -> Option<&Screen> {
        self.last.as_ref()
    }

    /// Lets every sink finish what it has; a stuck one is left behind after three seconds.
    pub fn finish(&mut self) {
        self.deliver_last();
        self.logs.iter().for_each(LogSender::close);
        self.screens.iter().for_each(ScreenSender::close);
        wait_for(&self.threads);
    }

    /// Prints what follows the log on standard output, with the log's own patience: a stuck reader of one is a
    /// stuck reader of the other.
    pub fn print_last(&mut self, text: &str) {
        let last = text.to_owned();
        match self.spawn("result", move || print_out(&last)) {
            Ok(()) => wait_for(self.threads.last()),
            Err(_) => print_out(text),
        }
    }

    /// The last screen may have found the mailbox full.
    fn deliver_last(&mut self) {
        if let Some(screens) = &mut self.screens
            && !screens.retry()
        {
            std::thread::sleep(2 * LOOK);
            screens.retry();
        }
    }
}

impl Output for Console {
    fn event(&mut self, at: Instant, event: Event) {
        for log in &mut self.logs {
            log.post(Stamped { at, event: event.clone() });
        }
    }

    fn screen(&mut self, screen: Screen) {
        if let Some(screens) = &mut self.screens {
            screens.post(&screen);
        }
        self.last = Some(screen);
    }
}

/// Waits until all of them have ended, or for three seconds.
fn wait_for<'a>(threads: impl IntoIterator<Item = &'a JoinHandle<()>> + Clone) {
    let looks = PATIENCE.as_millis() / LOOK.as_millis();
    for _ in 0..looks {
        if threads.clone().into_iter().all(JoinHandle::is_finished) {
            break;
        }
        std::thread::sleep(LOOK);
    }
}

/// Writes what `say` makes of events until nothing more comes; a sink that fails is drained without being written to,
/// and `name` complained of.
fn write(
    mut events: Receiver<Stamped>,
    name: &str,
    mut say: impl FnMut(&Stamped) -> Vec<u8>,
    sink: impl Write,
) {
    let mut sink = Some(io::BufWriter::new(sink));
    while !events.finished() {
        let mut outcome = Ok(());
        while let Some(stamped) = events.take() {
            let octets = say(&stamped);
            if let (Ok(()), Some(sink)) = (&outcome, &mut sink) {
                outcome = sink.write_all(&octets);
            }
        }
        if let (Ok(()), Some(sink)) = (&outcome, &mut sink) {
            outcome = sink.flush();
        }
        if let Err(error) = outcome {
            sink = None;
            // Of a reader that has gone away everybody knows.
            if error.kind() != io::ErrorKind::BrokenPipe {
                complain(&format_args!("the {name} is not complete: {error}"));
            }
        }
        std::thread::sleep(LOOK);
    }
}

/// Shows screens and the last lines until nothing more comes, then the whole log and the result under it.
fn show(mut lines: Receiver<Stamped>, mut screens: Receiver<Screen>, mut panel: TerminalPanel<io::Stdout>) {
    let mut record = Vec::new();
    let mut closing = Vec::new();
    let mut outcome = Ok(());
    while !(lines.finished() && screens.finished()) {
        if let Some(screen) = core::iter::from_fn(|| screens.take()).last() {
            outcome = outcome.and_then(|()| panel.show(&picture(&screen)));
        }
        while let Some(stamped) = lines.take() {
            let line = Line(&stamped).to_string();
            outcome = outcome.and_then(|()| panel.log(&line));
            if matches!(stamped.event, Event::Verdict { .. } | Event::Reason(_) | Event::Direction(_)) {
                closing.push(line.clone());
            }
            record.push(line);
        }
        std::thread::sleep(LOOK);
    }
    // A terminal that has gone away has nobody to tell.
    closing.truncate(CLOSING_LINES);
    let _ = outcome.and_then(|()| panel.finish(&record, &closing));
}
