//! Records as rows: one for each second of traffic, one for each run, for DuckDB, pandas or a log shipper.
//!
//! The schema is stable: columns are only ever added, behind those of their part, and one never changes its
//! meaning. Units are in the names; a rate is an L1 rate. A figure that cannot be had, or that does not belong
//! to a row's kind, is `null` in JSON and nothing at all in CSV, and never 0; a text that is there and empty is
//! `""` in both.

use super::{Context, lines};
use crate::journal::record::body::{Account, Marks, Second, Summary};
use crate::journal::record::codes::Coded;
use crate::journal::record::{CodedReason, Record};
use crate::journal::text::phase_name;
use crate::journal::utc::Utc;
use measure::record::Phase;
use std::fmt::Write;

/// Which rows are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rows {
    /// All; the column `kind` tells them apart.
    #[default]
    Both,
    /// One a run.
    Runs,
    /// One a second.
    Seconds,
}

impl Rows {
    const fn has(self, kind: Kind) -> bool {
        matches!((self, kind), (Self::Both, _) | (Self::Runs, Kind::Run) | (Self::Seconds, Kind::Second))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Second,
    Run,
}

/// What stands in a column.
enum Cell {
    Nothing,
    Whole(u64),
    Real(f64),
    Text(String),
    Truth(bool),
}

/// What every row has.
struct Common<'a> {
    kind: &'static str,
    context: &'a Context,
    at_ms: u64,
    run: u32,
    label: Option<&'a str>,
}

/// A second, and the phase in which it was.
struct Moment<'a>(&'a Second, &'a Context);

/// A column: its name, and what stands in it.
type Column<T> = (&'static str, fn(&T) -> Cell);
type CommonColumn = (&'static str, fn(&Common<'_>) -> Cell);
type MomentColumn = (&'static str, fn(&Moment<'_>) -> Cell);

const COMMON: [CommonColumn; 10] = [
    ("kind", |row| row.kind.into()),
    ("source", |row| row.context.source.as_str().into()),
    ("box", |row| row.context.box_id.as_deref().into()),
    ("board", |row| row.context.origin.as_ref().map(|origin| origin.board.as_str()).into()),
    ("version", |row| row.context.origin.as_ref().map(|origin| origin.version.as_str()).into()),
    ("git_commit", |row| row.context.origin.as_ref().and_then(|origin| origin.commit.as_deref()).into()),
    ("label", |row| row.label.into()),
    ("run", |row| u64::from(row.run).into()),
    ("at_s", |row| scaled(row.at_ms, 1e3).into()),
    ("utc", |row| row.context.unix_ms(row.at_ms).map(|unix_ms| Utc(unix_ms).to_string()).into()),
];

const SECOND: [MomentColumn; 8] = [
    ("phase", |Moment(_, context)| context.phase.map(phase).into()),
    ("a_to_b_rate_gbps", |Moment(second, _)| second.rates_kbps[0].map(|kbps| scaled(kbps, 1e6)).into()),
    ("b_to_a_rate_gbps", |Moment(second, _)| second.rates_kbps[1].map(|kbps| scaled(kbps, 1e6)).into()),
    ("lost_frames", |Moment(second, _)| second.lost.into()),
    ("corrupt_frames", |Moment(second, _)| second.corrupt.into()),
    ("link_errors", |Moment(second, _)| second.link.into()),
    ("internal_errors", |Moment(second, _)| second.internal.into()),
    ("left_s", |Moment(second, _)| second.left_s.map(u64::from).into()),
];

const RUN: [Column<Summary>; 11] = [
    ("verdict", |run| lines::verdict(run.verdict).into()),
    ("reason", |run| run.reasons.first().map(lines::reason).into()),
    ("reasons", |run| reasons(&run.reasons).into()),
    ("reasons_left_out", |run| u64::from(run.reasons_left_out).into()),
    ("basis_gbps", |run| run.basis_bps.map(gbps).into()),
    ("paced_of_gbps", |run| run.paced_of_bps.map(gbps).into()),
    ("ber_confidence", |run| run.confidence_ppm.map(|ppm| f64::from(ppm) / 1e6).into()),
    ("ber_equivalent", |run| Cell::Truth(run.equivalent)),
    ("settings_not_held", |run| settings(run.not_held)),
    ("settings_not_available", |run| settings(run.without_setting)),
    ("figures_not_available", |run| lines::figures(run.without_figure).into()),
];

/// A run has these twice, with `a_to_b_` and with `b_to_a_` before them.
const WAY: [Column<Account>; 22] = [
    ("sent_frames", |way| way.sent.into()),
    ("received_frames", |way| way.received.into()),
    ("good_frames", |way| way.good.into()),
    ("lost_at_least_frames", |way| way.lost_at_least.into()),
    ("lost_at_most_frames", |way| way.lost_at_most.into()),
    ("corrupt_frames", |way| way.corrupt.into()),
    ("unidentified_frames", |way| way.unidentified.into()),
    ("bit_errors", |way| way.bit_errors.into()),
    ("missing_frames", |way| way.missing.into()),
    ("host_frames", |way| way.host.into()),
    ("unknown_frames", |way| way.unknown.into()),
    ("duplicate_frames", |way| way.duplicates.into()),
    ("reordered_frames", |way| way.reordered.into()),
    ("misplaced_frames", |way| way.misplaced.into()),
    ("steady_gbps", |way| way.steady_bps.map(gbps).into()),
    ("highest_gbps", |way| way.highest_bps.map(gbps).into()),
    ("above_line_readings", |way| way.above_line.into()),
    ("longest_stall_s", |way| scaled(way.longest_stall_us, 1e6).into()),
    ("probes", |way| way.probes.into()),
    ("checked_bits", |way| way.checked_bits.into()),
    ("ber_errors", |way| way.ber_errors.into()),
    ("ber_bound", |way| way.ber_bound.into()),
];

/// What stands before the names of a direction's columns.
const WAYS: [&str; 2] = ["a_to_b_", "b_to_a_"];

/// The names of the columns of `rows`, in their order.
fn names(rows: Rows) -> impl Iterator<Item = String> {
    let of = move |kind, names: Vec<String>| if rows.has(kind) { names } else { Vec::new() };
    let common = COMMON.iter().map(|&(name, _)| name.to_owned());
    let second = SECOND.iter().map(|&(name, _)| name.to_owned()).collect();
    let mut run: Vec<_> = RUN.iter().map(|&(name, _)| name.to_owned()).collect();
    for way in WAYS {
        run.extend(WAY.iter().map(|(name, _)| format!("{way}{name}")));
    }
    common.chain(of(Kind::Second, second)).chain(of(Kind::Run, run))
}

/// The first line of CSV.
#[must_use]
pub fn header(rows: Rows) -> String {
    names(rows).collect::<Vec<_>>().join(",") + "\n"
}

/// The row that `record` is, where it is one: its kind and the cells that are of it, in the columns' order.
fn cells(context: &Context, record: &Record) -> Option<(Kind, Vec<Cell>)> {
    let (kind, row, own) = match record {
        Record::Second(second) => {
            let row = Common {
                kind: "second",
                context,
                at_ms: second.at_ms,
                run: second.run,
                label: context.label(second),
            };
            (Kind::Second, row, SECOND.iter().map(|(_, cell)| cell(&Moment(second, context))).collect())
        }
        Record::Summary(run) => {
            let row =
                Common { kind: "run", context, at_ms: run.at_ms, run: run.run, label: Some(&run.label) };
            (Kind::Run, row, run_cells(run))
        }
        _ => return None,
    };
    let own: Vec<Cell> = own;
    Some((kind, COMMON.iter().map(|(_, cell)| cell(&row)).chain(own).collect()))
}

fn run_cells(run: &Summary) -> Vec<Cell> {
    let mut cells: Vec<_> = RUN.iter().map(|(_, cell)| cell(run)).collect();
    for account in &run.accounts {
        cells.extend(WAY.iter().map(|(_, cell)| account.as_ref().map_or(Cell::Nothing, cell)));
    }
    cells
}

/// Adds the row of `record` to `out` as a JSON object on a line, where it is one of `rows`.
pub fn json(rows: Rows, context: &Context, record: &Record, out: &mut String) {
    let Some((kind, cells)) = cells(context, record).filter(|&(kind, _)| rows.has(kind)) else { return };
    let rows = if kind == Kind::Run { Rows::Runs } else { Rows::Seconds };
    let mut separator = '{';
    for (name, cell) in names(rows).zip(&cells) {
        let _ = write!(out, "{separator}\"{name}\":");
        write_json(cell, out);
        separator = ',';
    }
    out.push_str("}\n");
}

/// Adds the row of `record` to `out` as a line of CSV, where it is one of `rows`.
pub fn csv(rows: Rows, context: &Context, record: &Record, out: &mut String) {
    let Some((kind, mut cells)) = cells(context, record).filter(|&(kind, _)| rows.has(kind)) else { return };
    if rows == Rows::Both {
        pad(kind, &mut cells);
    }
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_csv(cell, out);
    }
    out.push('\n');
}

/// Leaves the other kind's columns empty.
fn pad(kind: Kind, cells: &mut Vec<Cell>) {
    let empty = |count| std::iter::repeat_with(|| Cell::Nothing).take(count);
    match kind {
        Kind::Second => cells.extend(empty(RUN.len() + WAYS.len() * WAY.len())),
        Kind::Run => drop(cells.splice(COMMON.len()..COMMON.len(), empty(SECOND.len()))),
    }
}

fn write_json(cell: &Cell, out: &mut String) {
    match cell {
        Cell::Nothing => out.push_str("null"),
        Cell::Text(text) => out.push_str(&serde_json::to_string(text).unwrap_or_default()),
        other => write_plain(other, out),
    }
}

/// RFC 4180: in quotes what has a comma, a quote or a line end in it, and here what is empty and yet there.
fn write_csv(cell: &Cell, out: &mut String) {
    match cell {
        Cell::Text(text) if text.is_empty() || text.contains([',', '"', '\n', '\r']) => {
            let _ = write!(out, "\"{}\"", text.replace('"', "\"\""));
        }
        Cell::Text(text) => out.push_str(text),
        other => write_plain(other, out),
    }
}

/// Numbers and truths are the same in both.
fn write_plain(cell: &Cell, out: &mut String) {
    let _ = match cell {
        Cell::Whole(whole) => write!(out, "{whole}"),
        Cell::Real(real) => write!(out, "{}", serde_json::Value::from(*real)),
        Cell::Truth(truth) => write!(out, "{truth}"),
        Cell::Nothing | Cell::Text(_) => Ok(()),
    };
}

fn reasons(coded: &[CodedReason]) -> String {
    coded.iter().map(lines::reason).collect::<Vec<_>>().join("; ")
}

fn settings(marks: Marks) -> Cell {
    lines::settings(marks).into()
}

fn phase(code: u8) -> String {
    Phase::of_code(code.into()).map_or_else(|| format!("number {code}"), |phase| phase_name(phase).to_owned())
}

fn gbps(bps: u64) -> f64 {
    scaled(bps, 1e9)
}

#[expect(clippy::cast_precision_loss, reason = "times and rates: exact below 2^53")]
fn scaled(count: u64, unit: f64) -> f64 {
    count as f64 / unit
}

impl From<u64> for Cell {
    fn from(whole: u64) -> Self {
        Self::Whole(whole)
    }
}

/// A number that is none is nothing.
impl From<f64> for Cell {
    fn from(real: f64) -> Self {
        if real.is_finite() { Self::Real(real) } else { Self::Nothing }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}
