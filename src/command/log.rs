//! `linegauge log`: the records of boxes, live from serial ports or out of files.
//!
//! One loop looks at every source in turn, and none of them makes it wait. Serial ports are followed until a
//! signal says to end, files are read to their end, one after the other. What was skipped is told on standard
//! error: records are the output.

mod source;

use super::run::stop_flag;
use super::{HostRefused, NotDone, complain};
use crate::args::LogRequest;
use crate::journal::reader::{Format, header};
use source::Source;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often the sources are looked at while nothing comes: a port at 4 Mbaud has then 4000 octets, which its
/// driver keeps.
const LOOK: Duration = Duration::from_millis(10);

/// Reads until every source has ended, or a signal says to end.
///
/// # Errors
/// See [`NotDone`].
pub fn run(request: &LogRequest) -> Result<(), NotDone> {
    let stop = stop_flag()?;
    let open = |source| Source::open(source, request.baud, request.style);
    let mut sources = request.sources.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let first = if request.style.format == Format::Csv { header(request.style.rows) } else { String::new() };
    let written = follow(&mut sources, &stop, first, &mut io::stdout());
    sources.iter().for_each(Source::tell_skipped);
    super::written(written)?;
    match sources.iter().find_map(Source::error) {
        Some(error) => Err(HostRefused(error.to_owned()).into()),
        None => Ok(()),
    }
}

/// Writes `out`, and then what the sources say, until they have ended.
fn follow(
    sources: &mut [Source],
    stop: &AtomicBool,
    mut out: String,
    sink: &mut impl Write,
) -> io::Result<()> {
    loop {
        sink.write_all(out.as_bytes()).and_then(|()| sink.flush())?;
        out.clear();
        if stop.load(Ordering::Relaxed) || sources.iter().all(Source::ended) {
            return Ok(());
        }
        if !look(sources, &mut out) {
            thread::sleep(LOOK);
        }
    }
}

/// Takes what is there: of every port, and of the first file that has not ended. Tells whether there was
/// anything.
fn look(sources: &mut [Source], out: &mut String) -> bool {
    let mut files = 0;
    let mut any = false;
    for source in sources.iter_mut().filter(|source| !source.ended()) {
        files += usize::from(!source.is_port());
        if source.is_port() || files == 1 {
            any |= source.look(out);
        }
    }
    any
}

/// Says on standard error what has become of a source.
fn tell(source: &str, what: impl std::fmt::Display) {
    complain(&format_args!("{source}: {what}"));
}
