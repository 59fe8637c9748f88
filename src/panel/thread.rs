//! The panel's own thread: between a mailbox that the run loop posts pages to, and a display that may be slow.

use super::backend::Backend;
use super::keeper::{Keeper, News};
use crate::journal::mailbox::Receiver;
use measure::screen::Screen;
use measure::units::Instant;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time between two looks into the mailbox: a latched FAIL has 100 ms to be seen, and a small OLED takes 30 of
/// them.
const LOOK: Duration = Duration::from_millis(20);

/// Time after which a display that is being drawn on is said to be stuck: the slowest takes a tenth of it.
const STUCK: Duration = Duration::from_secs(2);

/// Time between two looks for that.
const LOOK_FOR_STUCK: Duration = Duration::from_millis(250);

/// The thread.
pub struct PanelThread(JoinHandle<()>);

impl PanelThread {
    /// Starts it: the newest page of `screens` is kept on the display that `open` opens, as a [`Keeper`] does, and
    /// `tell` hears what becomes of the display. A page that `last_word` has takes the place of all others. It ends
    /// after the mailbox is closed, the last page drawn.
    ///
    /// # Errors
    /// Where no thread can be had.
    pub fn start<B, O, T, L>(
        screens: Receiver<Screen>,
        open: O,
        dim_after: Option<Duration>,
        tell: T,
        last_word: L,
    ) -> io::Result<Self>
    where
        B: Backend,
        O: FnMut() -> io::Result<B> + Send + 'static,
        T: FnMut(News) + Send + 'static,
        L: Fn() -> Option<Screen> + Send + 'static,
    {
        let watch = Arc::new(Watch(Mutex::new(Watched { tell, drawing: None, stuck: false })));
        let watcher = Arc::downgrade(&watch);
        let look = move || {
            while let Some(watch) = watcher.upgrade() {
                watch.look();
                drop(watch);
                thread::sleep(LOOK_FOR_STUCK);
            }
        };
        thread::Builder::new().name("panel watch".to_owned()).spawn(look)?;
        let run = move || serve(screens, &mut Keeper::new(open, dim_after), &watch, &last_word);
        thread::Builder::new().name("panel".to_owned()).spawn(run).map(Self)
    }

    /// Waits until it has ended, at most `patience`: a wedged bus can hold it for ever. Whether it has.
    #[must_use]
    pub fn ended_within(&self, patience: Duration) -> bool {
        let start = std::time::Instant::now();
        while !self.0.is_finished() {
            if start.elapsed() >= patience {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
        true
    }
}

/// Sees to it that a display that keeps its thread waiting is told of as well.
struct Watch<T>(Mutex<Watched<T>>);

struct Watched<T> {
    tell: T,
    /// Since when the display has been drawn on; none while nobody does.
    drawing: Option<std::time::Instant>,
    /// It was told that the display is stuck.
    stuck: bool,
}

impl<T: FnMut(News)> Watch<T> {
    fn lock(&self) -> MutexGuard<'_, Watched<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) {
        self.lock().drawing = Some(std::time::Instant::now());
    }

    /// Tells the news; where there are none, but the display was stuck, how it was before.
    fn end(&self, news: Option<News>, before: Option<&News>) {
        let mut watched = self.lock();
        watched.drawing = None;
        let was_stuck = std::mem::take(&mut watched.stuck);
        if let Some(news) = news.or_else(|| before.filter(|_| was_stuck).cloned()) {
            (watched.tell)(news);
        }
    }

    fn look(&self) {
        let mut watched = self.lock();
        if !watched.stuck && watched.drawing.is_some_and(|since| since.elapsed() >= STUCK) {
            watched.stuck = true;
            (watched.tell)(News::Stuck);
        }
    }
}

fn serve<B: Backend, O: FnMut() -> io::Result<B>>(
    mut screens: Receiver<Screen>,
    keeper: &mut Keeper<B, O>,
    watch: &Watch<impl FnMut(News)>,
    last_word: &impl Fn() -> Option<Screen>,
) {
    let start = std::time::Instant::now();
    loop {
        // Looked at first: what was posted before the closing is then drawn below.
        let last = screens.finished();
        let newest = std::iter::from_fn(|| screens.take()).last();
        let newest = last_word().or(newest);
        let now = Instant::from_nanos(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        watch.begin();
        let news = keeper.turn(now, newest);
        watch.end(news, keeper.told());
        if last {
            return;
        }
        thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Canvas;
    use super::*;
    use crate::journal::mailbox::mailbox;
    use std::sync::mpsc;

    /// A display that hands on what it is shown.
    struct Relay(mpsc::Sender<Canvas>);

    impl Backend for Relay {
        fn size(&self) -> (u16, u16) {
            (128, 64)
        }

        fn show(&mut self, canvas: &Canvas) -> io::Result<()> {
            self.0.send(canvas.clone()).map_err(io::Error::other)
        }
    }

    #[test]
    fn the_last_page_is_shown_before_the_thread_ends() {
        let (mut pages, screens) = mailbox::<Screen, 8>();
        let (shown, pictures) = mpsc::channel();
        let (told, news) = mpsc::channel();
        for what in ["settings", "link", "loop"] {
            pages.post(Screen::Checking { what }).unwrap();
        }
        pages.close();
        let open = move || -> io::Result<Box<dyn Backend>> { Ok(Box::new(Relay(shown.clone()))) };
        let tell = move |news| told.send(news).unwrap();
        let panel = PanelThread::start(screens, open, None, tell, || None).unwrap();
        assert!(panel.ended_within(Duration::from_secs(60)));
        let last = pictures.iter().last().unwrap();
        assert!(last == super::super::picture(&Screen::Checking { what: "loop" }));
        assert_eq!(news.iter().collect::<Vec<_>>(), [News::Up]);
    }

    #[test]
    fn a_last_word_takes_the_place_of_whatever_was_to_be_shown() {
        let (mut pages, screens) = mailbox::<Screen, 8>();
        let (shown, pictures) = mpsc::channel();
        pages.post(Screen::Checking { what: "loop" }).unwrap();
        pages.close();
        let open = move || -> io::Result<Box<dyn Backend>> { Ok(Box::new(Relay(shown.clone()))) };
        let word = || Screen::Fault { text: measure::record::text("program error") };
        let panel = PanelThread::start(screens, open, None, |_| {}, move || Some(word())).unwrap();
        assert!(panel.ended_within(Duration::from_secs(60)));
        assert!(pictures.iter().all(|picture| picture == super::super::picture(&word())));
    }

    /// A display that waits for a word before it has drawn.
    struct Wedged(mpsc::Receiver<()>);

    impl Backend for Wedged {
        fn size(&self) -> (u16, u16) {
            (128, 64)
        }

        fn show(&mut self, _canvas: &Canvas) -> io::Result<()> {
            self.0.recv().map_err(io::Error::other)
        }
    }

    #[test]
    fn a_display_that_is_stuck_is_told_once_and_again_when_it_moves() {
        let (mut pages, screens) = mailbox::<Screen, 4>();
        let (free, wedge) = mpsc::channel();
        let mut wedge = Some(wedge);
        let open = move || wedge.take().map(Wedged).ok_or(io::ErrorKind::NotFound.into());
        let (told, news) = mpsc::channel();
        let tell = move |news| told.send(news).unwrap();
        let panel = PanelThread::start(screens, open, None, tell, || None).unwrap();
        pages.post(Screen::Checking { what: "link" }).unwrap();
        free.send(()).unwrap();
        assert_eq!(news.recv(), Ok(News::Up));
        pages.post(Screen::Checking { what: "loop" }).unwrap();
        assert_eq!(news.recv(), Ok(News::Stuck));
        free.send(()).unwrap();
        assert_eq!(news.recv(), Ok(News::Up));
        pages.post(Screen::Checking { what: "settings" }).unwrap();
        assert_eq!(news.recv(), Ok(News::Stuck));
        drop(free);
        assert!(matches!(news.recv(), Ok(News::Lost(_))));
        pages.close();
        assert!(panel.ended_within(Duration::from_secs(60)));
        assert_eq!(news.try_iter().collect::<Vec<_>>(), []);
    }

    #[test]
    fn a_wedged_display_keeps_nobody_waiting() {
        let (mut pages, screens) = mailbox::<Screen, 4>();
        let (free, wedge) = mpsc::channel();
        let mut wedge = Some(wedge);
        let open = move || wedge.take().map(Wedged).ok_or(io::ErrorKind::NotFound.into());
        let panel = PanelThread::start(screens, open, None, |_| {}, || None).unwrap();
        let posted = (0..100).filter(|_| pages.post(Screen::Checking { what: "loop" }).is_ok()).count();
        assert!(posted >= 3, "a full mailbox gives pages back, and nobody waits");
        pages.close();
        assert!(!panel.ended_within(Duration::ZERO));
        drop(free);
        assert!(panel.ended_within(Duration::from_secs(60)));
    }
}
