//! From memory to light: which bit a pixel of the glass is lit by.
//!
//! The glass is that of most modules of 128 × 64: its columns are on the last 128 segments but those that it leaves
//! out on either side, from right to left, its rows on the row drivers from below, wired for alternate pins. So a
//! picture stands upright with columns turned round (A1) and rows reversed (C8).

use super::{Chip, Controller};
use crate::picture::{HEIGHT, Picture, WIDTH};

impl Controller {
    /// What a person sees; none where the display is off or has no voltage to light with.
    #[must_use]
    pub fn picture(&self) -> Option<Picture> {
        let lit = |x, y| self.row(y).is_some_and(|row| self.is_lit(self.segment(x), row));
        (self.on && self.supplied).then(|| Picture::of(lit))
    }

    /// Segment that drives column `x` of the glass.
    const fn segment(&self, x: usize) -> usize {
        let left_out = (self.chip.columns() - WIDTH) / 2;
        left_out + WIDTH - 1 - x
    }

    /// Row of the picture that the controller sends to line `y` of the glass; none where that is not driven.
    fn row(&self, y: usize) -> Option<usize> {
        let wire = HEIGHT - 1 - y;
        // Lines of the glass come from two sides by turns.
        let (place, right) = (wire / 2, (wire % 2 == 1) != self.pins_swapped);
        let driver = if self.pins_alternate { 2 * place } else { place };
        let driver = driver + if right { if self.pins_alternate { 1 } else { HEIGHT / 2 } } else { 0 };
        let rows = usize::from(self.multiplex) + 1;
        let driver = if self.rows_reversed { rows + HEIGHT - 1 - driver } else { driver };
        let row = (driver + usize::from(self.offset)) % HEIGHT;
        (row < rows).then_some(row)
    }

    fn is_lit(&self, segment: usize, row: usize) -> bool {
        let line = (row + usize::from(self.start_line)) % HEIGHT;
        let turned = self.remapped && self.chip == Chip::Sh1106;
        let place = if turned { self.chip.columns() - 1 - segment } else { segment };
        let bit = self.ram[line / 8][place] >> (line % 8) & 1 != 0;
        self.all_on || bit != self.inverted
    }
}
