//! The thread that writes records.
//!
//! A disk may take its time, hang for ever, fail, or be pulled and put back. Whoever hands over a record never waits
//! for it: the answer is looked for at each turn, and after [`PATIENCE`] it is that the record is not saved.

use super::disk::Disk;
use super::ring::{History, Kept, NotOpened, Survey};
use measure::units::Instant;
use std::fmt::Display;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError};
use std::time::Duration;

/// How long a verdict waits for its record to become durable.
pub const PATIENCE: Duration = Duration::from_millis(500);

/// How often a disk that is not there is looked for, besides whenever there is a record for it.
const LOOK: Duration = Duration::from_secs(1);

/// Records that wait for a disk that hangs.
const WAITING: usize = 8;

/// News that wait to be taken.
const NEWS: usize = 8;

/// What has become of the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// It was opened: what is on it.
    Opened(Survey),
    /// It cannot be opened, for this reason. Told once for each reason; it is tried again all the time.
    NotOpened(String),
}

/// What has become of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saving {
    /// It is on its way.
    Waiting,
    /// It is durable.
    Saved,
    /// It is not, for this reason.
    NotSaved(String),
}

/// What is to be done.
enum Job {
    Save { run: u32, octets: Vec<u8>, answer: SyncSender<Result<(), String>> },
    Read(SyncSender<Result<Vec<Kept>, String>>),
}

/// The caller's end of the thread.
///
/// The thread ends behind this, when what waits is written. Nothing waits for that: a disk that hangs would hold up
/// the box's power-off.
pub struct Keeper {
    jobs: SyncSender<Job>,
    news: Receiver<News>,
}

impl Keeper {
    /// Starts the thread. It opens the history with `open`, again and again until that succeeds, and again after it
    /// has failed.
    ///
    /// # Errors
    /// The thread could not be started.
    pub fn start<D: Disk, E: Display>(
        open: impl FnMut() -> Result<History<D>, E> + Send + 'static,
    ) -> io::Result<Self> {
        let (jobs, todo) = mpsc::sync_channel(WAITING);
        let (tell, news) = mpsc::sync_channel(NEWS);
        let work = move || Worker { open, history: None, tell, last_told: String::new() }.serve(&todo);
        std::thread::Builder::new().name("history".to_owned()).spawn(work)?;
        Ok(Self { jobs, news })
    }

    /// The next news of the disk, where there are any.
    pub fn news(&self) -> Option<News> {
        self.news.try_recv().ok()
    }

    /// Hands over the record `octets` of run `run`.
    pub fn save(&self, now: Instant, run: u32, octets: Vec<u8>) -> Ticket {
        let (answer, answers) = mpsc::sync_channel(1);
        let refused = match self.jobs.try_send(Job::Save { run, octets, answer }) {
            Ok(()) => None,
            Err(TrySendError::Full(_)) => Some(format!("{WAITING} records wait for the disk already")),
            Err(TrySendError::Disconnected(_)) => Some(GONE.to_owned()),
        };
        let saving = refused.map_or(Saving::Waiting, Saving::NotSaved);
        Ticket { since: now, answers, saving }
    }

    /// Asks for the records, oldest first: they come, once, or the reason why not. The thread does nothing else
    /// meanwhile, so it is not to be asked in a run.
    #[must_use]
    pub fn read(&self) -> Receiver<Result<Vec<Kept>, String>> {
        let (answer, answers) = mpsc::sync_channel(1);
        if let Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) =
            self.jobs.try_send(Job::Read(answer))
            && let Job::Read(answer) = job
        {
            // There is room for one: it was made just now.
            let _ = answer.try_send(Err("the disk does not answer".to_owned()));
        }
        answers
    }
}

/// Why nothing comes of a record any more.
const GONE: &str = "the history's thread has ended";

/// What is looked at until a record is saved, or not.
pub struct Ticket {
    since: Instant,
    answers: Receiver<Result<(), String>>,
    saving: Saving,
}

impl Ticket {
    /// What has become of the record by `now`. A record that was given up on may still be saved later: then this says
    /// so, later.
    pub fn look(&mut self, now: Instant) -> &Saving {
        match self.answers.try_recv() {
            Ok(answer) => self.saving = answer.map_or_else(Saving::NotSaved, |()| Saving::Saved),
            Err(_) if self.saving != Saving::Waiting => {}
            Err(TryRecvError::Disconnected) => self.saving = Saving::NotSaved(GONE.to_owned()),
            Err(TryRecvError::Empty) if now < self.since + PATIENCE => {}
            Err(TryRecvError::Empty) => {
                let late = format!("the disk has not answered within {} ms", PATIENCE.as_millis());
                self.saving = Saving::NotSaved(late);
            }
        }
        &self.saving
    }
}

/// The thread's end.
struct Worker<D, O> {
    open: O,
    history: Option<History<D>>,
    tell: SyncSender<News>,
    last_told: String,
}

impl<D: Disk, E: Display, O: FnMut() -> Result<History<D>, E>> Worker<D, O> {
    fn serve(mut self, todo: &Receiver<Job>) {
        // The reason is in the news.
        let _ = self.history();
        loop {
            let job = match self.history {
                Some(_) => todo.recv().map_err(|_| RecvTimeoutError::Disconnected),
                None => todo.recv_timeout(LOOK),
            };
            match job {
                Ok(job) => self.work(job),
                Err(RecvTimeoutError::Timeout) => drop(self.history()),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Does it, and answers. Whoever asked may have gone.
    fn work(&mut self, job: Job) {
        match job {
            Job::Save { run, octets, answer } => drop(answer.try_send(self.save(run, &octets))),
            Job::Read(answer) => drop(answer.try_send(self.read())),
        }
    }

    /// A disk that fails is closed, so that the kernel forgets what it holds for it, and opened again: it may have
    /// been pulled and put back.
    fn save(&mut self, run: u32, octets: &[u8]) -> Result<(), String> {
        let was_open = self.history.is_some();
        let mut result = self.append(run, octets);
        if result.is_err() && was_open {
            self.history = None;
            result = self.append(run, octets);
        }
        if result.is_err() {
            self.history = None;
        }
        result
    }

    fn append(&mut self, run: u32, octets: &[u8]) -> Result<(), String> {
        self.history()?.append(run, octets).map_err(|error| error.to_string())
    }

    fn read(&mut self) -> Result<Vec<Kept>, String> {
        self.history()?.records().map_err(|error: NotOpened| error.to_string())
    }

    /// The history, opened where it is not.
    fn history(&mut self) -> Result<&mut History<D>, String> {
        if self.history.is_none() {
            let history = (self.open)().map_err(|error| self.told(error.to_string()))?;
            self.tell(News::Opened(*history.survey()));
            self.last_told.clear();
            self.history = Some(history);
        }
        self.history.as_mut().ok_or_else(String::new)
    }

    /// Tells why it is not opened, unless that was told last.
    fn told(&mut self, why: String) -> String {
        if self.last_told != why {
            self.tell(News::NotOpened(why.clone()));
            self.last_told.clone_from(&why);
        }
        why
    }

    fn tell(&self, news: News) {
        // Where nobody takes the news there are enough already.
        let _ = self.tell.try_send(news);
    }
}
