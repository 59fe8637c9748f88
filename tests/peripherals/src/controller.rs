//! An OLED's controller: registers, memory, and every command of its data sheet.
//!
//! What a data sheet does not have (a command, an argument, a column, data inside a command) changes nothing, and is
//! counted and told. Not modelled: scrolling by itself, which is switched on and off and moves nothing; how dark a
//! contrast is; anything that is read back but the status.

mod glass;
mod syntax;

use std::fmt;
use std::str::FromStr;
use syntax::arguments;

/// Octets across of the largest memory: an SH1106's.
pub const MOST_COLUMNS: usize = 132;

/// Pages of eight rows.
pub const PAGES: usize = 8;

/// What was wrong, as far as it is kept to be told; the rest is counted.
const MOST_TOLD: usize = 16;

/// What nobody knows after a power-up is in the memory.
const AFTER_POWER_UP: u8 = 0xA5;

/// The controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chip {
    /// SSD1306: 128 columns, a charge pump of its own.
    Ssd1306,
    /// SSD1309: 128 columns, without a charge pump.
    Ssd1309,
    /// SH1106: 132 columns, of which displays show 128; page addressing only.
    Sh1106,
}

impl Chip {
    const ALL: [(&'static str, Self); 3] =
        [("ssd1306", Self::Ssd1306), ("ssd1309", Self::Ssd1309), ("sh1106", Self::Sh1106)];

    /// Columns of its memory.
    #[must_use]
    pub const fn columns(self) -> usize {
        match self {
            Self::Ssd1306 | Self::Ssd1309 => 128,
            Self::Sh1106 => MOST_COLUMNS,
        }
    }
}

impl fmt::Display for Chip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.into_iter().find(|(_, chip)| chip == self).map(|(name, _)| name);
        f.write_str(name.unwrap_or_default())
    }
}

impl FromStr for Chip {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, chip)| chip).ok_or("ssd1306, ssd1309 or sh1106")
    }
}

/// How the pointer into the memory goes on after an octet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Addressing {
    /// To the next column of the same page.
    Page,
    /// To the next column of the window, and behind its last to its next page.
    Horizontal,
    /// To the next page of the window, and behind its last to its next column.
    Vertical,
}

/// First and last.
type Span = (usize, usize);

/// What was wrong.
#[derive(Debug, Default)]
struct Wrong {
    count: u64,
    told: Vec<String>,
}

/// Registers and memory.
#[derive(Debug)]
pub struct Controller {
    chip: Chip,
    /// By page and segment on an SSD1306 or SSD1309, which turns the columns round as it writes; by page and column on
    /// an SH1106, which does as it shows.
    ram: [[u8; MOST_COLUMNS]; PAGES],
    page: usize,
    column: usize,
    addressing: Addressing,
    column_span: Span,
    page_span: Span,
    start_line: u8,
    offset: u8,
    /// Rows that are driven, less one.
    multiplex: u8,
    remapped: bool,
    rows_reversed: bool,
    pins_alternate: bool,
    pins_swapped: bool,
    contrast: u8,
    charge: u8,
    inverted: bool,
    all_on: bool,
    on: bool,
    /// It makes, or is given, the voltage that light takes.
    supplied: bool,
    scrolling: bool,
    locked: bool,
    /// Column to go back to at the end of a read-modify-write.
    marked: Option<usize>,
    /// The command whose arguments are still to come, and those that came.
    pending: Vec<u8>,
    wrong: Wrong,
}

impl Controller {
    /// One that has just got its power.
    #[must_use]
    pub fn new(chip: Chip) -> Self {
        Self {
            chip,
            ram: [[AFTER_POWER_UP; MOST_COLUMNS]; PAGES],
            page: 0,
            column: 0,
            addressing: Addressing::Page,
            column_span: (0, 127),
            page_span: (0, 7),
            start_line: 0,
            offset: 0,
            multiplex: 63,
            remapped: false,
            rows_reversed: false,
            pins_alternate: true,
            pins_swapped: false,
            contrast: if chip == Chip::Sh1106 { 0x80 } else { 0x7F },
            charge: 0x22,
            inverted: false,
            all_on: false,
            on: false,
            supplied: chip != Chip::Ssd1306,
            scrolling: false,
            locked: false,
            marked: None,
            pending: Vec::new(),
            wrong: Wrong::default(),
        }
    }

    /// Which one it is.
    #[must_use]
    pub const fn chip(&self) -> Chip {
        self.chip
    }

    /// Contrast, 0 to 255.
    #[must_use]
    pub const fn contrast(&self) -> u8 {
        self.contrast
    }

    /// The charge before each row: its two phases, the second in the upper four bits.
    #[must_use]
    pub const fn charge(&self) -> u8 {
        self.charge
    }

    /// Whether it was told to scroll.
    #[must_use]
    pub const fn is_scrolling(&self) -> bool {
        self.scrolling
    }

    /// How many octets or commands were none of its data sheet's.
    #[must_use]
    pub const fn wrongs(&self) -> u64 {
        self.wrong.count
    }

    /// Those of them that were not told yet, the first 16.
    pub fn take_wrongs(&mut self) -> Vec<String> {
        std::mem::take(&mut self.wrong.told)
    }

    /// The octet that is read as its status: whether it is off.
    #[must_use]
    pub const fn status(&self) -> u8 {
        if self.on { 0 } else { 0x40 }
    }

    /// One octet of a command.
    pub fn command(&mut self, octet: u8) {
        self.pending.push(octet);
        let [first, rest @ ..] = self.pending.as_slice() else { return };
        match arguments(self.chip, *first) {
            Some(count) if rest.len() < count => {}
            Some(_) => {
                let whole = std::mem::take(&mut self.pending);
                if let Err(right) = self.act(&whole) {
                    self.tell_wrong(format!("command {}: {right}", hex(&whole)));
                }
            }
            None => {
                self.pending.clear();
                self.tell_wrong(format!("command {octet:02X}: there is none"));
            }
        }
    }

    /// One octet of data: a column of eight pixels, the uppermost in the lowest bit.
    pub fn data(&mut self, octet: u8) {
        if !self.pending.is_empty() {
            let inside = std::mem::take(&mut self.pending);
            self.tell_wrong(format!("data {octet:02X} inside command {}", hex(&inside)));
        }
        let columns = self.chip.columns();
        if self.column >= columns {
            self.tell_wrong(format!(
                "data {octet:02X} at column {}: the last is {}",
                self.column,
                columns - 1
            ));
            return;
        }
        let turned = self.remapped && self.chip != Chip::Sh1106;
        let place = if turned { columns - 1 - self.column } else { self.column };
        self.ram[self.page][place] = octet;
        self.advance();
    }

    fn advance(&mut self) {
        let wrapped = |at, (first, last): Span| if at == last { first } else { (at + 1) % 128 };
        match self.addressing {
            // It stops behind the last column.
            Addressing::Page if self.chip == Chip::Sh1106 => self.column += 1,
            Addressing::Page => self.column = wrapped(self.column, (0, 127)),
            Addressing::Horizontal => {
                if self.column == self.column_span.1 {
                    self.page = wrapped(self.page, self.page_span) % PAGES;
                }
                self.column = wrapped(self.column, self.column_span);
            }
            Addressing::Vertical => {
                if self.page == self.page_span.1 {
                    self.column = wrapped(self.column, self.column_span);
                }
                self.page = wrapped(self.page, self.page_span) % PAGES;
            }
        }
    }

    fn tell_wrong(&mut self, what: String) {
        self.wrong.count += 1;
        if self.wrong.told.len() < MOST_TOLD {
            self.wrong.told.push(what);
        }
    }

    /// A whole command; what would be right where it is none.
    fn act(&mut self, command: &[u8]) -> Result<(), &'static str> {
        if self.locked && command != [0xFD, 0x12] {
            return Err("it is locked");
        }
        match *command {
            [low @ 0x00..=0x0F] => self.set_column(self.column & 0xF0 | usize::from(low))?,
            [high @ 0x10..=0x1F] => self.set_column(self.column & 0x0F | usize::from(high & 0x0F) << 4)?,
            [page @ 0xB0..=0xB7] => self.set_page(usize::from(page & 7))?,
            [line @ 0x40..=0x7F] => self.start_line = line & 0x3F,
            [0x81, contrast] => self.contrast = contrast,
            [turn @ (0xA0 | 0xA1)] => self.remapped = turn == 0xA1,
            [all @ (0xA4 | 0xA5)] => self.all_on = all == 0xA5,
            [invert @ (0xA6 | 0xA7)] => self.inverted = invert == 0xA7,
            [on @ (0xAE | 0xAF)] => self.on = on == 0xAF,
            [reverse @ 0xC0..=0xCF] => self.rows_reversed = reverse >= 0xC8,
            [0xA8, rows] => {
                self.multiplex = within(rows, self.least_multiplex(), 63, "the ratio is out of range")?
            }
            [0xD3, rows] => self.offset = within(rows, 0, 63, "the offset must be 00 to 3F")?,
            [0xD9, phases] => self.charge = two_phases(phases)?,
            [0xDA, pins] => self.set_pins(pins)?,
            [0xDB, level] => self.check_level(level)?,
            _ => return self.act_by_chip(command),
        }
        Ok(())
    }

    /// What is not the same on all of them. What only sets a frequency, or does nothing, is not kept.
    fn act_by_chip(&mut self, command: &[u8]) -> Result<(), &'static str> {
        match (self.chip, command) {
            (Chip::Sh1106, [0xAD, on]) => self.set_converter(*on)?,
            (Chip::Sh1106, [0xE0]) => self.marked = Some(self.column),
            (Chip::Sh1106, [0xEE]) => {
                self.column = self.marked.take().ok_or("no read-modify-write is going on")?
            }
            (Chip::Ssd1306, [0x8D, pump]) => {
                self.supplied = match pump & 0x3F {
                    0x10 => false,
                    0x14 => true,
                    _ => return Err("must be 10 or 14"),
                }
            }
            (Chip::Ssd1309, [0xFD, lock]) => {
                self.locked = match lock {
                    0x12 => false,
                    0x16 => true,
                    _ => return Err("must be 12 or 16"),
                }
            }
            (_, [0x20, mode]) => self.set_addressing(*mode)?,
            (_, [0x21, first, last]) => self.set_column_span(*first, *last)?,
            (_, [0x22, first, last]) => self.set_page_span(*first, *last)?,
            (_, [scroll @ (0x2E | 0x2F)]) => self.scrolling = *scroll == 0x2F,
            (_, [0x26 | 0x27 | 0x29 | 0x2A | 0xA3, ..]) => return syntax::check_scroll(command),
            _ => {}
        }
        Ok(())
    }

    fn set_column(&mut self, column: usize) -> Result<(), &'static str> {
        self.in_page_addressing()?;
        self.column = if self.chip == Chip::Sh1106 { column } else { column & 0x7F };
        Ok(())
    }

    fn set_page(&mut self, page: usize) -> Result<(), &'static str> {
        self.in_page_addressing()?;
        self.page = page;
        Ok(())
    }

    fn in_page_addressing(&self) -> Result<(), &'static str> {
        let is = self.addressing == Addressing::Page;
        if is { Ok(()) } else { Err("only in page addressing") }
    }

    fn set_addressing(&mut self, mode: u8) -> Result<(), &'static str> {
        self.addressing = match mode {
            0 => Addressing::Horizontal,
            1 => Addressing::Vertical,
            2 => Addressing::Page,
            _ => return Err("must be 00, 01 or 02"),
        };
        Ok(())
    }

    fn set_column_span(&mut self, first: u8, last: u8) -> Result<(), &'static str> {
        let span = self.span(first, last, 127)?;
        (self.column_span, self.column) = (span, span.0);
        Ok(())
    }

    fn set_page_span(&mut self, first: u8, last: u8) -> Result<(), &'static str> {
        let span = self.span(first, last, 7)?;
        (self.page_span, self.page) = (span, span.0);
        Ok(())
    }

    fn span(&self, first: u8, last: u8, most: u8) -> Result<Span, &'static str> {
        if self.addressing == Addressing::Page {
            return Err("only in horizontal and vertical addressing");
        }
        let right = first <= last && last <= most;
        if right { Ok((first.into(), last.into())) } else { Err("first and last must be in order and there") }
    }

    fn least_multiplex(&self) -> u8 {
        if self.chip == Chip::Sh1106 { 0 } else { 15 }
    }

    fn set_converter(&mut self, on: u8) -> Result<(), &'static str> {
        // Data sheet, "Set DC-DC OFF/ON".
        if self.on {
            return Err("the display must be off");
        }
        self.supplied = match on {
            0x8A => false,
            0x8B => true,
            _ => return Err("must be 8A or 8B"),
        };
        Ok(())
    }

    fn set_pins(&mut self, pins: u8) -> Result<(), &'static str> {
        let can_swap = self.chip != Chip::Sh1106;
        if pins & 0xCF != 0x02 || (pins & 0x20 != 0 && !can_swap) {
            return Err("there are no such pins");
        }
        (self.pins_alternate, self.pins_swapped) = (pins & 0x10 != 0, pins & 0x20 != 0);
        Ok(())
    }

    fn check_level(&self, level: u8) -> Result<(), &'static str> {
        let right = match self.chip {
            Chip::Ssd1306 => matches!(level, 0x00 | 0x20 | 0x30),
            Chip::Ssd1309 => matches!(level, 0x00 | 0x34 | 0x3C),
            Chip::Sh1106 => true,
        };
        if right { Ok(()) } else { Err("there is no such level") }
    }
}

fn within(value: u8, least: u8, most: u8, right: &'static str) -> Result<u8, &'static str> {
    if (least..=most).contains(&value) { Ok(value) } else { Err(right) }
}

/// Neither phase of the charge may be 0.
fn two_phases(phases: u8) -> Result<u8, &'static str> {
    let right = phases & 0x0F != 0 && phases & 0xF0 != 0;
    if right { Ok(phases) } else { Err("neither phase may be 0") }
}

fn hex(octets: &[u8]) -> String {
    let words: Vec<_> = octets.iter().map(|octet| format!("{octet:02X}")).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests;
