//! `linegauge history`: the results that a box has kept, out of its stick.

use super::{HostRefused, NotDone, complain};
use crate::args::HistoryRequest;
use crate::board::words::one_line;
use crate::journal::history::{Kept, Survey, partition, read};
use crate::journal::kept;
use crate::journal::reader::{Format, Reader, Style, header};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Prints the results, oldest first; what could not be read is told on standard error.
///
/// # Errors
/// See [`NotDone`].
pub fn run(request: &HistoryRequest) -> Result<(), NotDone> {
    let place = match &request.place {
        Some(place) => place.clone(),
        None => stick()?,
    };
    let name = one_line(&place.to_string_lossy());
    let (results, survey) = open(&place).map_err(|why| HostRefused::new(&name, why))?;
    let first = request.last.map_or(0, |last| results.len().saturating_sub(last));
    let (out, unread) = told(&results[first..], &name, request.style);
    let mut sink = io::stdout();
    super::written(sink.write_all(out.as_bytes()).and_then(|()| sink.flush()))?;
    if let Some(skipped) = skipped(&survey, unread) {
        complain(&format_args!("{name}: skipped: {skipped}"));
    }
    if results.is_empty() {
        complain(&format_args!("{name}: an empty history"));
    }
    Ok(())
}

/// The partition of a stick in this machine.
fn stick() -> Result<PathBuf, HostRefused> {
    partition::find(Path::new("/sys"), Path::new("/dev"))
        .map_err(|error| HostRefused::new("no history in this machine", error))
}

fn open(place: &Path) -> Result<(Vec<Kept>, Survey), String> {
    let disk = partition::within(place).map_err(|error| refusal(&error))?;
    read(&disk).map_err(|error| error.to_string())
}

/// A device is root's.
fn refusal(error: &io::Error) -> String {
    if error.kind() == ErrorKind::PermissionDenied {
        format!("{error}; a device is read as root")
    } else {
        error.to_string()
    }
}

/// What the results say, and how many of them say nothing that this version could read.
fn told(results: &[Kept], name: &str, style: Style) -> (String, usize) {
    let mut reader = Reader::new(name, style);
    let mut out = if style.format == Format::Csv { header(style.rows) } else { String::new() };
    let mut unread = 0;
    for result in results {
        if kept::line(&result.octets).is_some() {
            reader.take(&result.octets, &mut out);
            // Each stands by itself.
            reader.cut();
        } else {
            unread += 1;
        }
    }
    (out, unread)
}

/// What was skipped; none where nothing was.
fn skipped(survey: &Survey, unread: usize) -> Option<String> {
    let Survey { newer, damaged, unreadable, .. } = *survey;
    let counts = [
        (u64::from(damaged), "damaged"),
        (u64::from(unreadable), "unreadable"),
        (u64::from(newer), "of a newer version"),
        (u64::try_from(unread).unwrap_or(u64::MAX), "without a result"),
    ];
    let parts: Vec<_> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
