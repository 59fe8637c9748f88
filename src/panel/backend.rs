//! What a display has to be able to do, whatever it is.

use super::canvas::Canvas;
use super::framebuffer::{FramebufferPanel, Memory};
use measure::screen::Screen;
use measure::verdict::Verdict;
use std::io;

/// The colour of what is lit, where a display has colours. The shapes say the same without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ink {
    /// Nothing is judged.
    #[default]
    Plain,
    /// PASS.
    Good,
    /// MARGINAL and INVALID.
    Doubtful,
    /// FAIL, or a box that cannot work.
    Bad,
}

impl Ink {
    /// The colour of a page.
    #[must_use]
    pub const fn of(screen: &Screen) -> Self {
        match screen {
            Screen::Verdict { verdict, .. } | Screen::Figures { verdict, .. } => Self::of_verdict(*verdict),
            Screen::Running { failed: true, .. } | Screen::Fault { .. } => Self::Bad,
            // A reader of codes wants no colour.
            Screen::Running { .. }
            | Screen::PlugCable { .. }
            | Screen::Checking { .. }
            | Screen::Qr { .. } => Self::Plain,
        }
    }

    const fn of_verdict(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Good,
            Verdict::Fail => Self::Bad,
            Verdict::Marginal | Verdict::Invalid => Self::Doubtful,
        }
    }
}

/// How a picture is to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Its colour.
    pub ink: Ink,
    /// Whether it is to be as dark as can still be read.
    pub dim: bool,
}

/// A display. Every error means that what is on it is not known any more: the panel then opens it anew.
pub trait Backend {
    /// Pixels across and down.
    fn size(&self) -> (u16, u16);

    /// Shows `canvas`; only what has changed is sent. Of a larger canvas the upper left part is shown.
    ///
    /// # Errors
    /// Those of the bus.
    fn show(&mut self, canvas: &Canvas) -> io::Result<()>;

    /// How this picture and the next ones look, where the display can tell the difference.
    ///
    /// # Errors
    /// Those of the bus.
    fn set_look(&mut self, _look: Look) -> io::Result<()> {
        Ok(())
    }

    /// Finds out whether the display is still there, where it can be found out.
    ///
    /// # Errors
    /// Where it is not.
    fn probe(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Takes nothing of what is on the display for granted: the next picture is sent in full.
    fn forget(&mut self) {}
}

impl<B: Backend + ?Sized> Backend for Box<B> {
    fn size(&self) -> (u16, u16) {
        (**self).size()
    }

    fn show(&mut self, canvas: &Canvas) -> io::Result<()> {
        (**self).show(canvas)
    }

    fn set_look(&mut self, look: Look) -> io::Result<()> {
        (**self).set_look(look)
    }

    fn probe(&mut self) -> io::Result<()> {
        (**self).probe()
    }

    fn forget(&mut self) {
        (**self).forget();
    }
}

impl<M: Memory> Backend for FramebufferPanel<M> {
    fn size(&self) -> (u16, u16) {
        Self::size(self)
    }

    fn show(&mut self, canvas: &Canvas) -> io::Result<()> {
        Self::show(self, canvas)
    }
}
