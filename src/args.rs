//! The command line: from words to a checked request.
//!
//! Whatever is wrong with the words is found here, before anything on the host is touched, and is told
//! in one line: the option, its value, and what would be right. Fault scripts alone are passed on as
//! they are: the cable that follows them reads them.

mod help;
mod options;
mod refused;
mod request;
mod values;

pub use refused::Refused;
pub use request::{
    BenchRequest, CableEnd, CableRequest, HistoryRequest, LogRequest, LogSource, LogTarget, RunRequest,
};

use crate::board::Board;
use crate::board::words::one_line;
use clap::Parser;
use clap::error::ErrorKind;
use options::{Cli, Sub};
use std::ffi::OsString;

/// What the program is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Judge a cable.
    Run(RunRequest),
    /// Show what boards there are, or one of them in full.
    Boards {
        /// The one; none for the list.
        board: Option<Board>,
    },
    /// Measure the datapath.
    Bench(BenchRequest),
    /// Read records.
    Log(LogRequest),
    /// Read the results that a box has kept.
    History(HistoryRequest),
    /// Be the cable between two ports of an emulator.
    Cable(CableRequest),
    /// Print this text (help, version) and end with exit code 0.
    Print(String),
}

/// Reads the program's arguments; the first is the program's own name and is passed over.
///
/// # Errors
/// Where the words are no request, or a request that no box could carry out.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, Refused> {
    let words = arguments.into_iter().enumerate().skip(1).map(|(at, argument)| plain(at, argument));
    let words = std::iter::once(Ok(String::from("linegauge"))).chain(words);
    let words = words.collect::<Result<Vec<_>, _>>()?;
    match Cli::try_parse_from(words) {
        Ok(cli) => command(cli),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Ok(Command::Print(error.to_string()))
        }
        Err(error) => Err(Refused::usage(&error)),
    }
}

/// Arguments end up in log lines and file names that people read aloud: no control characters.
fn plain(at: usize, argument: OsString) -> Result<String, Refused> {
    match argument.into_string() {
        Ok(text) if text.chars().any(char::is_control) => {
            Err(Refused::new(format!("argument {at} ({}): must have no control characters", one_line(&text))))
        }
        Ok(text) => Ok(text),
        Err(other) => {
            let shown = one_line(&other.to_string_lossy());
            Err(Refused::new(format!("argument {at} ({shown}): must be UTF-8 text")))
        }
    }
}

fn command(cli: Cli) -> Result<Command, Refused> {
    match cli.sub {
        None => cli.run.request().map(Command::Run),
        Some(Sub::Run(run)) => run.request().map(Command::Run),
        Some(Sub::Boards(boards)) => boards.board().map(|board| Command::Boards { board }),
        Some(Sub::Bench(bench)) => bench.request().map(Command::Bench),
        Some(Sub::Log(log)) => log.request().map(Command::Log),
        Some(Sub::History(history)) => Ok(Command::History(history.request())),
        Some(Sub::Cable(cable)) => Ok(Command::Cable(cable.request())),
    }
}
