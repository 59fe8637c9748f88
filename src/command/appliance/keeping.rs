//! The box's memory of its runs: their records, on their way to the history.

use crate::board::HistoryIn;
use crate::journal::history::{
    History, Keeper, Kept, News, Saving, Survey, Ticket, open_to_write, partition,
};
use crate::journal::kept;
use crate::journal::record::Recorder;
use measure::record::{Event, Stamped};
use measure::units::Instant;
use std::fs::File;
use std::path::Path;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

/// How long after its start a box waits for the disk of its history: a stick takes two to three seconds to be there.
/// Runs are counted on from it, so the first one comes after it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Octets of a line that the log is to tell of an earlier result, at most.
const LINE: u64 = 220;

/// The results, and who keeps them.
pub(super) struct Keeping {
    keeper: Keeper,
    recorder: Recorder,
    /// The record of the run that is over.
    record: Option<Vec<u8>>,
    /// It was opened at least once.
    found: bool,
    /// Until then a disk that is not there is no news.
    until: Instant,
    /// Why it was not opened, and nobody has been told yet.
    untold: Option<String>,
    newest: u32,
    /// A record that was given up on, and may still come to be saved.
    late: Option<(u32, Ticket)>,
}

/// What there is to say of the history.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tell {
    /// In the log.
    Note(String),
    /// The run's record is durable after all.
    Saved(u32),
}

impl Keeping {
    /// Starts to look for the history of a box that has started at `now`; none where the board keeps none.
    pub fn open(place: &HistoryIn, now: Instant) -> Option<Self> {
        if *place == HistoryIn::None {
            return None;
        }
        let place = place.clone();
        // Without a thread for it no record is kept, and each verdict says so.
        let keeper = Keeper::start(move || open(&place)).ok()?;
        Some(Self {
            keeper,
            recorder: Recorder::default(),
            record: None,
            found: false,
            until: now + PATIENCE,
            untold: None,
            newest: 0,
            late: None,
        })
    }

    /// Takes in what happened.
    pub fn see(&mut self, stamped: &Stamped) {
        let frame = self.recorder.take(stamped);
        if stamped.event == Event::End {
            self.record = frame.map(|frame| frame.to_vec());
        }
    }

    /// Hands over the record of the run that is over.
    pub fn save(&mut self, now: Instant, run: u32) -> Option<Ticket> {
        self.newest = self.newest.max(run);
        self.record.take().map(|record| self.keeper.save(now, run, record))
    }

    /// A record that was given up on is looked after further.
    pub fn give_up(&mut self, run: u32, ticket: Ticket) {
        self.late = Some((run, ticket));
    }

    /// The number of the newest run that was kept; 0 for none.
    pub const fn newest(&self) -> u32 {
        self.newest
    }

    /// Whether runs had better wait: it may still be found.
    pub fn is_awaited(&self, now: Instant) -> bool {
        !self.found && now < self.until
    }

    /// What has become of it since.
    pub fn news(&mut self, now: Instant) -> Vec<Tell> {
        let mut tell = Vec::new();
        while let Some(news) = self.keeper.news() {
            match news {
                News::Opened(survey) => {
                    self.found = true;
                    self.untold = None;
                    self.newest = self.newest.max(survey.newest.map_or(0, |numbers| numbers.run));
                    tell.push(Tell::Note(told(&survey)));
                }
                News::NotOpened(why) => self.untold = Some(why),
            }
        }
        if !self.is_awaited(now) {
            tell.extend(self.untold.take().map(|why| Tell::Note(format!("history: {why}"))));
        }
        if let Some((run, _)) = self.late.take_if(|(_, ticket)| *ticket.look(now) == Saving::Saved) {
            tell.push(Tell::Saved(run));
        }
        tell
    }

    /// Begins to tell the results, on a line of so many bits per second.
    pub fn recite(&self, baud: u32) -> Recital {
        let nanos = LINE * 10 * 1_000_000_000 / u64::from(baud.max(1));
        Recital {
            answer: self.keeper.read(),
            results: None,
            told: 0,
            pause: Duration::from_nanos(nanos),
            next: Instant::ZERO,
        }
    }
}

/// Opens the history where the board has it.
fn open(place: &HistoryIn) -> Result<History<File>, String> {
    match place {
        HistoryIn::None => Err("this board keeps none".to_owned()),
        HistoryIn::Stick => {
            partition::open(Path::new("/sys"), Path::new("/dev")).map_err(|error| error.to_string())
        }
        HistoryIn::Path(path) => open_path(path).map_err(|error| format!("{}: {error}", path.display())),
    }
}

fn open_path(path: &Path) -> Result<History<File>, String> {
    let disk = open_to_write(path).map_err(|error| error.to_string())?;
    History::open(disk).map_err(|error| error.to_string())
}

/// What was found, for the log.
fn told(survey: &Survey) -> String {
    let Survey { slots, records, newer, damaged, unreadable, .. } = *survey;
    let mut line = format!("history: {}, room for {slots}", counted(records));
    for (count, what) in [(newer, "of a newer version"), (damaged, "damaged"), (unreadable, "unreadable")] {
        if count > 0 {
            line.push_str(&format!(", {count} {what}"));
        }
    }
    line
}

/// So many results, in words.
fn counted(count: u32) -> String {
    if count == 1 { "1 result".to_owned() } else { format!("{count} results") }
}

/// The results on their way to the log, no faster than that takes them.
pub(super) struct Recital {
    answer: Receiver<Result<Vec<Kept>, String>>,
    results: Option<std::vec::IntoIter<Kept>>,
    told: u32,
    pause: Duration,
    next: Instant,
}

/// What a recital comes to at a moment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Recited {
    /// Nothing yet.
    Nothing,
    /// The next result.
    Line(String),
    /// All was told, or nothing more can be.
    Over(String),
}

impl Recital {
    /// What is to be told now.
    pub fn turn(&mut self, now: Instant) -> Recited {
        if now < self.next {
            return Recited::Nothing;
        }
        self.next = now + self.pause;
        let Some(results) = &mut self.results else {
            match self.answer.try_recv() {
                Ok(Ok(results)) => self.results = Some(results.into_iter()),
                Ok(Err(why)) => return Recited::Over(format!("history: {why}")),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => {
                    return Recited::Over("history: the disk does not answer".to_owned());
                }
            }
            return Recited::Nothing;
        };
        match results.next() {
            Some(result) => {
                self.told += 1;
                let unread = || format!("run {}, of another version", result.numbers.run);
                Recited::Line(kept::line(&result.octets).unwrap_or_else(unread))
            }
            None => Recited::Over(format!("history: {} told", counted(self.told))),
        }
    }

    /// What is said where a run breaks in.
    pub fn broken_off(&self) -> String {
        let left =
            self.results.as_ref().map_or(0, |results| u32::try_from(results.len()).unwrap_or(u32::MAX));
        let all = self.told.saturating_add(left);
        format!("history: {} of {} told, then a run began", self.told, counted(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::record::text;
    use measure::verdict::Verdict;

    /// Room for 16 results.
    const OCTETS: u64 = 16 * 4096;

    fn file() -> (tempfile::TempDir, HistoryIn) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        File::create(&path).unwrap().set_len(OCTETS).unwrap();
        (folder, HistoryIn::Path(path))
    }

    /// The history, as soon as its thread has said what it is.
    fn opened(place: &HistoryIn) -> (Keeping, Vec<Tell>) {
        let mut keeping = Keeping::open(place, Instant::ZERO).unwrap();
        loop {
            let news = keeping.news(Instant::ZERO + PATIENCE);
            if !news.is_empty() {
                return (keeping, news);
            }
            std::thread::yield_now();
        }
    }

    fn run(keeping: &mut Keeping, run: u32) -> Saving {
        let (version, board, label) = ("1", text("b"), text(""));
        let start = Event::Start { run, version, board, label, cable: "ports", nonce: 1 };
        let verdict = Event::Verdict { verdict: Verdict::Pass, run, basis: None, of: None };
        for event in [start, verdict, Event::End] {
            keeping.see(&Stamped { at: Instant::ZERO, event });
        }
        let mut ticket = keeping.save(Instant::ZERO, run).unwrap();
        while *ticket.look(Instant::ZERO) == Saving::Waiting {
            std::thread::yield_now();
        }
        ticket.look(Instant::ZERO).clone()
    }

    fn recited(keeping: &Keeping) -> Vec<Recited> {
        let (mut recital, mut said) = (keeping.recite(115_200), Vec::new());
        for turn in 0.. {
            match recital.turn(Instant::from_millis(20 * turn)) {
                Recited::Nothing => std::thread::yield_now(),
                over @ Recited::Over(_) => {
                    said.push(over);
                    break;
                }
                line @ Recited::Line(_) => said.push(line),
            }
        }
        said
    }

    #[test]
    fn a_board_without_a_history_keeps_none() {
        assert!(Keeping::open(&HistoryIn::None, Instant::ZERO).is_none());
    }

    #[test]
    fn runs_are_counted_on_where_the_box_was_switched_off() {
        let (_folder, place) = file();
        let (mut keeping, news) = opened(&place);
        assert_eq!(news, [Tell::Note("history: 0 results, room for 16".to_owned())]);
        assert_eq!((keeping.newest(), keeping.is_awaited(Instant::ZERO)), (0, false));
        assert_eq!([1, 2].map(|number| run(&mut keeping, number)), [Saving::Saved, Saving::Saved]);
        drop(keeping);
        let (keeping, news) = opened(&place);
        assert_eq!(news, [Tell::Note("history: 2 results, room for 16".to_owned())]);
        assert_eq!(keeping.newest(), 2);
        let line = |run| Recited::Line(format!("run {run}, PASS, utc N/A, label \"\", A>B N/A, B>A N/A"));
        assert_eq!(
            recited(&keeping),
            [line(1), line(2), Recited::Over("history: 2 results told".to_owned())]
        );
    }

    #[test]
    fn a_disk_that_is_not_there_is_waited_for_then_told_and_holds_up_nothing() {
        let (folder, place) = file();
        drop(folder);
        let mut keeping = Keeping::open(&place, Instant::ZERO).unwrap();
        let just_before = Instant::ZERO + PATIENCE - Duration::from_nanos(1);
        assert!(keeping.is_awaited(just_before));
        assert!(matches!(run(&mut keeping, 1), Saving::NotSaved(why) if why.contains("No such file")));
        assert_eq!(keeping.news(just_before), []);
        let late = Instant::ZERO + PATIENCE;
        assert!(!keeping.is_awaited(late));
        assert!(matches!(keeping.news(late).as_slice(), [Tell::Note(why)] if why.contains("No such file")));
        assert!(matches!(recited(&keeping).as_slice(), [Recited::Over(why)] if why.contains("No such file")));
    }

    #[test]
    fn a_run_that_was_not_judged_is_not_kept() {
        let (_folder, place) = file();
        let (mut keeping, _) = opened(&place);
        keeping.see(&Stamped { at: Instant::ZERO, event: Event::End });
        assert!(keeping.save(Instant::ZERO, 1).is_none());
    }
}
