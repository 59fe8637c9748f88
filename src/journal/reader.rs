//! What a reader makes of records: lines of the text log, JSON Lines, or CSV.
//!
//! A [`Reader`] follows one source: it remembers whose records it reads, so that every line and every row can
//! say it, and does not remember it across a cut: the next cable may be another box's.

pub(super) mod lines;
mod table;

pub use table::{Rows, header};

use super::record::body::{BoxName, Hello, Origin, Second, Start, Summary};
use super::record::{Decoder, Record, Skipped};
use std::fmt::Write;

/// In which form records are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Lines as in the text log.
    #[default]
    Text,
    /// One JSON object a row.
    JsonLines,
    /// Comma-separated values.
    Csv,
}

/// How records are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// In which form.
    pub format: Format,
    /// Which rows, where they are rows.
    pub rows: Rows,
    /// Lines of text say whose they are: there are several sources.
    pub marked: bool,
}

/// What is known of the box whose records these are.
#[derive(Clone, Debug, Default)]
struct Context {
    /// The source by its name.
    source: String,
    box_id: Option<BoxName>,
    origin: Option<Origin>,
    start: Option<Start>,
    /// Number of the phase that was entered last.
    phase: Option<u8>,
    /// UTC at the origin of the box's monotonic clock, in milliseconds since 1970.
    epoch_ms: Option<i128>,
}

/// Reads the records of one source.
#[derive(Clone, Debug)]
pub struct Reader {
    style: Style,
    decoder: Decoder,
    context: Context,
    records: u64,
}

impl Reader {
    /// A reader of what comes from `source`.
    #[must_use]
    pub fn new(source: &str, style: Style) -> Self {
        let context = Context { source: source.to_owned(), ..Context::default() };
        Self { style, decoder: Decoder::default(), context, records: 0 }
    }

    /// Takes octets; adds to `out` what the records say that they complete, in whole lines.
    pub fn take(&mut self, octets: &[u8], out: &mut String) {
        for &octet in octets {
            if let Some(record) = self.decoder.take(octet) {
                self.records = self.records.saturating_add(1);
                self.context.learn(&record);
                self.tell(&record, out);
            }
        }
    }

    /// The line is cut off.
    pub fn cut(&mut self) {
        self.decoder.cut();
        self.context = Context { source: std::mem::take(&mut self.context.source), ..Context::default() };
    }

    /// Records read so far.
    #[must_use]
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// What was not read so far.
    #[must_use]
    pub const fn skipped(&self) -> &Skipped {
        self.decoder.skipped()
    }

    fn tell(&self, record: &Record, out: &mut String) {
        match self.style.format {
            Format::Text => self.tell_lines(record, out),
            Format::JsonLines => table::json(self.style.rows, &self.context, record, out),
            Format::Csv => table::csv(self.style.rows, &self.context, record, out),
        }
    }

    fn tell_lines(&self, record: &Record, out: &mut String) {
        for line in lines::of(record) {
            if self.style.marked {
                let _ = write!(out, "{} ", lines::mark(self.context.name()));
            }
            out.push_str(&line);
            out.push('\n');
        }
    }
}

impl Context {
    fn learn(&mut self, record: &Record) {
        match record {
            Record::Hello(hello) => self.meet(hello),
            Record::Summary(summary) => self.conclude(summary),
            Record::Passage(passage) => self.phase = Some(passage.phase),
            _ => {}
        }
    }

    fn meet(&mut self, hello: &Hello) {
        self.box_id = Some(hello.box_id.clone());
        self.origin = Some(hello.origin.clone());
        self.start.clone_from(&hello.start);
        self.phase = None;
        self.set_clock(hello.at_ms, hello.unix_ms);
    }

    /// A summary says once more whose it is.
    fn conclude(&mut self, summary: &Summary) {
        self.box_id = Some(summary.box_id.clone());
        if summary.origin.is_some() {
            self.origin.clone_from(&summary.origin);
        }
        self.set_clock(summary.at_ms, summary.unix_ms);
    }

    fn set_clock(&mut self, at_ms: u64, unix_ms: Option<u64>) {
        self.epoch_ms = unix_ms.map(|unix_ms| i128::from(unix_ms) - i128::from(at_ms));
    }

    /// The box's name, or the source's where the box has not said it yet.
    fn name(&self) -> &str {
        self.box_id.as_deref().filter(|name| !name.is_empty()).unwrap_or(&self.source)
    }

    /// UTC at a moment of the box's monotonic clock, in milliseconds since 1970.
    fn unix_ms(&self, at_ms: u64) -> Option<u64> {
        u64::try_from(self.epoch_ms? + i128::from(at_ms)).ok()
    }

    /// The label of the run of `second`, where its beginning was read.
    fn label(&self, second: &Second) -> Option<&str> {
        let start = self.start.as_ref().filter(|start| start.run == second.run)?;
        Some(&start.label)
    }
}

#[cfg(test)]
mod tests;
