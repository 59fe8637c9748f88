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

#[cfg(test)]
mod tests {
    use super::super::model::Model;
    use super::super::slot::SLOT;
    use super::*;
    use std::sync::{Arc, Mutex};

    /// A disk that does a write only when it is told how that ends.
    struct Told {
        disk: Model,
        endings: Receiver<io::Result<()>>,
    }

    impl Disk for Told {
        fn size(&self) -> io::Result<u64> {
            self.disk.size()
        }
        fn read_at(&self, octets: &mut [u8], at: u64) -> io::Result<()> {
            self.disk.read_at(octets, at)
        }
        fn write_at(&mut self, octets: &[u8], at: u64) -> io::Result<()> {
            self.endings.recv().map_err(io::Error::other)??;
            self.disk.write_at(octets, at)
        }
        fn sync(&mut self) -> io::Result<()> {
            self.disk.sync()
        }
    }

    /// A keeper whose disk is what `slot` holds, and pulled where that is nothing.
    fn keeper(slot: &Arc<Mutex<Option<Told>>>) -> Keeper {
        let slot = Arc::clone(slot);
        Keeper::start(move || {
            let disk = slot.lock().unwrap().take().ok_or_else(|| "there is no disk".to_owned())?;
            History::open(disk).map_err(|error| error.to_string())
        })
        .unwrap()
    }

    fn disk() -> (mpsc::Sender<io::Result<()>>, Arc<Mutex<Option<Told>>>) {
        let (end, endings) = mpsc::channel();
        let disk = Told { disk: Model::new(1, vec![0; 16 * SLOT]), endings };
        (end, Arc::new(Mutex::new(Some(disk))))
    }

    /// What a record comes to, with the clock standing still.
    fn outcome(ticket: &mut Ticket) -> Saving {
        while *ticket.look(Instant::ZERO) == Saving::Waiting {
            std::thread::yield_now();
        }
        ticket.look(Instant::ZERO).clone()
    }

    fn next_news(keeper: &Keeper) -> News {
        keeper.news.recv().unwrap()
    }

    fn broken() -> io::Result<()> {
        Err(io::Error::other("broken"))
    }

    #[test]
    fn a_record_is_saved_and_read_back() {
        let (end, slot) = disk();
        let keeper = keeper(&slot);
        assert!(matches!(next_news(&keeper), News::Opened(Survey { slots: 16, newest: None, .. })));
        let mut ticket = keeper.save(Instant::ZERO, 7, b"PASS".to_vec());
        end.send(Ok(())).unwrap();
        assert_eq!(outcome(&mut ticket), Saving::Saved);
        let records = keeper.read().recv().unwrap().unwrap();
        assert_eq!(records.iter().map(|record| record.numbers.run).collect::<Vec<_>>(), [7]);
        assert_eq!(records[0].octets, b"PASS");
        assert_eq!(keeper.news(), None);
    }

    #[test]
    fn a_disk_that_hangs_is_given_up_on_and_what_it_does_later_still_counts() {
        let (end, slot) = disk();
        let keeper = keeper(&slot);
        let mut ticket = keeper.save(Instant::ZERO, 1, vec![]);
        let just_before = Instant::from_nanos(499_999_999);
        assert_eq!(*ticket.look(just_before), Saving::Waiting);
        let late = Saving::NotSaved("the disk has not answered within 500 ms".to_owned());
        assert_eq!(*ticket.look(Instant::ZERO + PATIENCE), late);
        let mut next = keeper.save(Instant::ZERO, 2, vec![]);
        end.send(Ok(())).unwrap();
        end.send(Ok(())).unwrap();
        assert_eq!(outcome(&mut next), Saving::Saved);
        assert_eq!(*ticket.look(Instant::ZERO + PATIENCE), Saving::Saved);
    }

    #[test]
    fn no_more_records_wait_for_a_disk_that_hangs_than_there_is_room_for() {
        let (end, slot) = disk();
        let keeper = keeper(&slot);
        // One may have been taken out already.
        let mut tickets: Vec<_> = (0..WAITING + 2).map(|_| keeper.save(Instant::ZERO, 1, vec![])).collect();
        let full = Saving::NotSaved("8 records wait for the disk already".to_owned());
        assert_eq!(tickets.last_mut().map(outcome), Some(full.clone()));
        drop(end);
        assert!(tickets.iter_mut().all(|ticket| matches!(outcome(ticket), Saving::NotSaved(_))));
    }

    #[test]
    fn a_disk_that_fails_is_opened_again_and_later_records_are_tried() {
        let (end, slot) = disk();
        let keeper = keeper(&slot);
        assert!(matches!(next_news(&keeper), News::Opened(_)));
        (0..super::super::ring::TRIES).for_each(|_| end.send(broken()).unwrap());
        let mut ticket = keeper.save(Instant::ZERO, 1, vec![]);
        assert_eq!(outcome(&mut ticket), Saving::NotSaved("there is no disk".to_owned()));
        assert_eq!(next_news(&keeper), News::NotOpened("there is no disk".to_owned()));
        let (end, other) = disk();
        *slot.lock().unwrap() = other.lock().unwrap().take();
        end.send(Ok(())).unwrap();
        let mut ticket = keeper.save(Instant::ZERO, 2, vec![]);
        assert_eq!(outcome(&mut ticket), Saving::Saved);
        assert!(matches!(next_news(&keeper), News::Opened(_)));
    }

    #[test]
    fn a_disk_that_was_pulled_and_put_back_costs_no_record() {
        let (end, slot) = disk();
        let keeper = keeper(&slot);
        assert!(matches!(next_news(&keeper), News::Opened(_)));
        (0..super::super::ring::TRIES).for_each(|_| end.send(broken()).unwrap());
        let (end, other) = disk();
        *slot.lock().unwrap() = other.lock().unwrap().take();
        end.send(Ok(())).unwrap();
        assert_eq!(outcome(&mut keeper.save(Instant::ZERO, 1, vec![])), Saving::Saved);
    }

    #[test]
    fn without_a_disk_records_and_questions_are_answered_all_the_same() {
        let keeper = keeper(&Arc::default());
        assert_eq!(next_news(&keeper), News::NotOpened("there is no disk".to_owned()));
        let mut ticket = keeper.save(Instant::ZERO, 1, vec![]);
        assert_eq!(outcome(&mut ticket), Saving::NotSaved("there is no disk".to_owned()));
        assert_eq!(keeper.read().recv().unwrap(), Err("there is no disk".to_owned()));
        assert_eq!(keeper.news(), None, "a reason is told once");
    }
}
