//! Bounded mailboxes between the run loop and whoever writes slowly.
//!
//! The loop posts and goes on: no lock, no allocation, no waiting. When a reader is slow, rate lines are
//! dropped first and counted; room is kept for everything a verdict needs.

use heapless::spsc::{Consumer, Producer, Queue};
use measure::record::{Event, Stamped};
use measure::screen::Screen;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Events that a mailbox holds: more than a whole run has besides its rate lines.
const EVENTS: usize = 512;

/// Room that rate lines may not take.
const RESERVE: usize = 384;

/// The loop's end.
pub struct Sender<T: 'static> {
    queue: Producer<'static, T>,
    closed: Arc<AtomicBool>,
}

/// The slow writer's end.
pub struct Receiver<T: 'static> {
    queue: Consumer<'static, T>,
    closed: Arc<AtomicBool>,
}

/// A mailbox of `N` − 1 places, for the life of the process.
#[must_use]
pub fn mailbox<T, const N: usize>() -> (Sender<T>, Receiver<T>) {
    let queue: &'static mut Queue<T, N> = Box::leak(Box::new(Queue::new()));
    let (producer, consumer) = queue.split();
    let closed = Arc::new(AtomicBool::new(false));
    let sender = Sender { queue: producer, closed: Arc::clone(&closed) };
    (sender, Receiver { queue: consumer, closed })
}

impl<T> Sender<T> {
    /// Posts `item`; gives it back where there is no room.
    ///
    /// # Errors
    /// The item itself.
    pub fn post(&mut self, item: T) -> Result<(), T> {
        self.queue.enqueue(item)
    }

    /// Free places.
    #[must_use]
    pub fn room(&self) -> usize {
        self.queue.capacity() - self.queue.len()
    }

    /// Nothing more will come.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }
}

impl<T> Receiver<T> {
    /// The oldest item, where there is one.
    pub fn take(&mut self) -> Option<T> {
        self.queue.dequeue()
    }

    /// Nothing more will come, and nothing is left.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.closed.load(Ordering::Acquire) && !self.queue.ready()
    }
}

/// The log's mailbox: knows what may be dropped.
pub struct LogSender {
    inner: Sender<Stamped>,
    dropped: u64,
}

/// A log mailbox.
#[must_use]
pub fn log_mailbox() -> (LogSender, Receiver<Stamped>) {
    let (inner, receiver) = mailbox::<Stamped, EVENTS>();
    (LogSender { inner, dropped: 0 }, receiver)
}

impl LogSender {
    /// Posts an event; drops and counts it where the reader is too slow for it.
    pub fn post(&mut self, stamped: Stamped) {
        let needed = if may_be_dropped(&stamped.event) { RESERVE } else { 0 };
        self.confess(&stamped);
        if self.inner.room() <= needed || self.inner.post(stamped).is_err() {
            self.dropped += 1;
        }
    }

    /// Says how many lines were dropped, as soon as there is room to say so.
    fn confess(&mut self, next: &Stamped) {
        if self.dropped == 0 || self.inner.room() <= RESERVE && may_be_dropped(&next.event) {
            return;
        }
        let event = Event::LogDropped { lines: self.dropped };
        if self.inner.post(Stamped { at: next.at, event }).is_ok() {
            self.dropped = 0;
        }
    }

    /// Nothing more will come.
    pub fn close(&self) {
        self.inner.close();
    }
}

/// Screens on their way to a panel.
const SCREENS: usize = 4;

/// The panel's mailbox: what is shown last arrives at last, however slow the panel.
pub struct ScreenSender {
    inner: Sender<Screen>,
    last: Option<Screen>,
    delivered: bool,
}

/// A panel's mailbox.
#[must_use]
pub fn screen_mailbox() -> (ScreenSender, Receiver<Screen>) {
    let (inner, receiver) = mailbox::<Screen, SCREENS>();
    (ScreenSender { inner, last: None, delivered: true }, receiver)
}

impl ScreenSender {
    /// Shows `screen`, unless it is shown already. One that finds no room is shown by a later call of this or of
    /// [`ScreenSender::retry`], unless another takes its place.
    pub fn post(&mut self, screen: &Screen) {
        if self.last.as_ref() != Some(screen) {
            self.last = Some(screen.clone());
            self.delivered = false;
        }
        self.retry();
    }

    /// Tries to deliver what found no room; tells whether nothing is left to deliver.
    pub fn retry(&mut self) -> bool {
        if let (false, Some(last)) = (self.delivered, &self.last) {
            self.delivered = self.inner.post(last.clone()).is_ok();
        }
        self.delivered
    }

    /// Nothing more will come.
    pub fn close(&self) {
        self.inner.close();
    }
}

/// Rate lines are the first to go: their figures are in the summary too.
fn may_be_dropped(event: &Event) -> bool {
    matches!(event, Event::Rate { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::record::Classes;
    use measure::units::Instant;
    use measure::verdict::Verdict;

    fn rate() -> Stamped {
        let event = Event::Rate { rates: [None; 2], errors: Classes::default(), left: None };
        Stamped { at: Instant::ZERO, event }
    }

    fn verdict() -> Stamped {
        let event = Event::Verdict { verdict: Verdict::Pass, run: 1, basis: None, of: None };
        Stamped { at: Instant::ZERO, event }
    }

    fn drain(receiver: &mut Receiver<Stamped>) -> Vec<Event> {
        core::iter::from_fn(|| receiver.take()).map(|stamped| stamped.event).collect()
    }

    #[test]
    fn a_stuck_reader_costs_rate_lines_and_never_a_verdict() {
        let (mut sender, mut receiver) = log_mailbox();
        (0..10_000).for_each(|_| sender.post(rate()));
        sender.post(verdict());
        let events = drain(&mut receiver);
        let rates = events.iter().filter(|event| may_be_dropped(event)).count();
        let dropped = events.iter().find_map(|event| match event {
            Event::LogDropped { lines } => Some(*lines),
            _ => None,
        });
        assert_eq!(dropped, Some(10_000 - rates as u64), "every line is written or counted");
        assert!(matches!(events.last(), Some(Event::Verdict { .. })));
    }

    #[test]
    fn a_slow_panel_gets_the_last_screen_at_last_and_none_twice() {
        let (mut sender, mut receiver) = screen_mailbox();
        let screen = |what| Screen::Checking { what };
        for what in ["a", "a", "b", "c", "d", "e"] {
            sender.post(&screen(what));
        }
        assert!(!sender.retry(), "there is no room");
        let mut shown = Vec::new();
        while let Some(screen) = receiver.take() {
            shown.push(screen);
            sender.retry();
        }
        assert_eq!(shown, ["a", "b", "c", "e"].map(screen));
        sender.post(&screen("e"));
        assert!(sender.retry() && receiver.take().is_none());
    }

    #[test]
    fn a_reader_that_keeps_up_gets_everything() {
        let (mut sender, mut receiver) = log_mailbox();
        for _ in 0..10_000 {
            sender.post(rate());
            assert_eq!(drain(&mut receiver).len(), 1);
        }
    }

    #[test]
    fn what_was_posted_before_closing_is_still_taken() {
        let (mut sender, mut receiver) = log_mailbox();
        sender.post(verdict());
        sender.close();
        assert!(!receiver.finished());
        assert_eq!(drain(&mut receiver).len(), 1);
        assert!(receiver.finished());
    }
}
