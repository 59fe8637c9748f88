//! Keeps a display up to date, whatever the display does: it may be missing, go and come back.
//!
//! Without a clock and a thread of its own, so that a test can be both; [`super::thread`] has them.

use super::backend::{Backend, Ink, Look};
use super::canvas::Canvas;
use super::rest::{self, Rest};
use core::fmt;
use core::time::Duration;
use measure::screen::Screen;
use measure::units::Instant;
use std::io;

/// Time from one attempt to reach a display to the next, and from one look whether it is still there to the next.
const AGAIN: Duration = Duration::from_secs(1);

/// Time after which nothing on a display is taken for granted: on a bus that nobody answers on, as SPI, this brings
/// one back that was unplugged.
const AFRESH: Duration = Duration::from_secs(10);

/// What has become of the display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// It shows what it should, for the first time or again.
    Up,
    /// It does not, and why. Told once; it is tried again every second.
    Lost(String),
    /// It keeps who draws waiting, as a wedged bus does, and so it cannot even be tried.
    Stuck,
}

impl fmt::Display for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Up => f.write_str("display up"),
            Self::Lost(why) => write!(f, "display lost: {why}; it is tried every second"),
            Self::Stuck => f.write_str("display lost: it does not answer; nothing else waits for it"),
        }
    }
}

/// What is on the display that is there.
struct Drawn {
    screen: Screen,
    look: Look,
    shift: (u16, u16),
}

/// Keeps one display.
pub struct Keeper<B, O> {
    open: O,
    dim_after: Option<Duration>,
    backend: Option<B>,
    /// What should be on the display, and since when nothing has happened on it.
    wanted: Option<(Screen, Instant)>,
    drawn: Option<Drawn>,
    /// When the display is tried or looked for again.
    due: Instant,
    /// When it was last drawn on with nothing taken for granted.
    afresh: Instant,
    /// What was told last.
    told: Option<News>,
}

impl<B: Backend, O: FnMut() -> io::Result<B>> Keeper<B, O> {
    /// Keeps the display that `open` opens, and spares it once nothing has happened for `dim_after`.
    pub const fn new(open: O, dim_after: Option<Duration>) -> Self {
        Self {
            open,
            dim_after,
            backend: None,
            wanted: None,
            drawn: None,
            due: Instant::ZERO,
            afresh: Instant::ZERO,
            told: None,
        }
    }

    /// Does what is to be done at `now`, to be called a few times a second; `screen` is what is to be shown from
    /// now on. Tells what has become of the display, where that is new.
    pub fn turn(&mut self, now: Instant, screen: Option<Screen>) -> Option<News> {
        if let Some(screen) = screen {
            self.want(screen, now);
        }
        let (screen, since) = self.wanted.clone()?;
        match self.keep(now, &screen, now.since(since)) {
            Ok(false) => None,
            Ok(true) => self.tell(News::Up),
            Err(error) => {
                (self.backend, self.drawn) = (None, None);
                self.due = after(now, AGAIN);
                self.tell(News::Lost(error.to_string()))
            }
        }
    }

    /// What was told last.
    pub const fn told(&self) -> Option<&News> {
        self.told.as_ref()
    }

    fn want(&mut self, screen: Screen, now: Instant) {
        let since = match &self.wanted {
            Some((last, since)) if !rest::is_news(last, &screen) => *since,
            _ => now,
        };
        self.wanted = Some((screen, since));
    }

    /// Opens, draws or looks after the display; whether it was drawn on.
    fn keep(&mut self, now: Instant, screen: &Screen, idle: Duration) -> io::Result<bool> {
        if self.backend.is_none() {
            if now < self.due {
                return Ok(false);
            }
            self.backend = Some((self.open)()?);
            self.afresh = now;
        }
        let Some(backend) = &mut self.backend else { return Ok(false) };
        let Rest { dim, shift } = rest::after(idle, self.dim_after);
        let look = Look { ink: Ink::of(screen), dim };
        if now.since(self.afresh) >= AFRESH {
            self.afresh = now;
            self.drawn = None;
            backend.forget();
        }
        let there = |drawn: &Drawn| drawn.screen == *screen && drawn.look == look && drawn.shift == shift;
        if !self.drawn.as_ref().is_some_and(there) {
            backend.set_look(look)?;
            backend.show(&picture(backend.size(), screen, shift))?;
            self.drawn = Some(Drawn { screen: screen.clone(), look, shift });
            self.due = after(now, AGAIN);
            return Ok(true);
        }
        if now >= self.due {
            self.due = after(now, AGAIN);
            backend.probe()?;
        }
        Ok(false)
    }

    /// What has not been told yet: only the first of many losses.
    fn tell(&mut self, news: News) -> Option<News> {
        let again = match (&self.told, &news) {
            (Some(told), news) => core::mem::discriminant(told) == core::mem::discriminant(news),
            (None, _) => false,
        };
        (!again).then(|| self.told.insert(news).clone())
    }
}

fn after(now: Instant, time: Duration) -> Instant {
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    Instant::from_nanos(now.as_nanos().saturating_add(nanos))
}

/// The page on a display of `size`, moved by `shift`.
fn picture((width, height): (u16, u16), screen: &Screen, shift: (u16, u16)) -> Canvas {
    let mut canvas = Canvas::new(width, height);
    let Ok(()) = super::draw(&mut canvas, screen);
    if shift == (0, 0) { canvas } else { canvas.moved(shift.0, shift.1) }
}

#[cfg(test)]
mod tests;
