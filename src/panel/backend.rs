//! What a display has to be able to do, whatever it is.

use super::canvas::Canvas;
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

/// What the inks look like: red, green and blue, 0 to 255, in the order of [`Ink`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette(pub [[u8; 3]; 4]);

impl Palette {
    /// The colour of what is lit; a quarter as bright where it is to be dim.
    #[must_use]
    pub fn colour(&self, look: Look) -> [u8; 3] {
        let Self([plain, good, doubtful, bad]) = *self;
        let bright = match look.ink {
            Ink::Plain => plain,
            Ink::Good => good,
            Ink::Doubtful => doubtful,
            Ink::Bad => bad,
        };
        bright.map(|part| if look.dim { part / 4 } else { part })
    }
}

/// White, green, amber and red, each light enough to be read from across the room.
impl Default for Palette {
    fn default() -> Self {
        Self([[255, 255, 255], [32, 255, 64], [255, 184, 0], [255, 56, 64]])
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use measure::record::text;

    #[test]
    fn verdicts_and_faults_have_their_ink_and_nothing_else_has() {
        let page = |verdict| Screen::Verdict { verdict, reason: text(""), run: 1, unsaved: false };
        let inks = [Verdict::Pass, Verdict::Fail, Verdict::Marginal, Verdict::Invalid];
        let inks = inks.map(|verdict| Ink::of(&page(verdict)));
        assert_eq!(inks, [Ink::Good, Ink::Bad, Ink::Doubtful, Ink::Doubtful]);
        assert_eq!(Ink::of(&Screen::Fault { text: text("no ports") }), Ink::Bad);
        assert_eq!(Ink::of(&Screen::Checking { what: "loop" }), Ink::Plain);
    }

    #[test]
    fn a_dim_colour_is_the_same_colour() {
        let colour = |dim| Palette::default().colour(Look { ink: Ink::Doubtful, dim });
        assert_eq!((colour(false), colour(true)), ([255, 184, 0], [63, 46, 0]));
    }
}
