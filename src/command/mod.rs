//! What each command does: build the real parts, run them, tell what came of it.

pub mod appliance;
pub mod bench;
mod bench_box;
pub mod boards;
pub mod cable;
mod console;
mod desk;
pub mod history;
pub mod log;
pub mod run;
mod task;

use measure::verdict::Verdict;
use std::io::Write;
use std::process::ExitCode;

/// Why a right request could not be carried out: exit code 3.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct HostRefused(pub String);

impl HostRefused {
    /// `what` was tried, and `why` it did not work.
    pub fn new(what: impl core::fmt::Display, why: impl core::fmt::Display) -> Self {
        Self(format!("{what}: {why}"))
    }

    /// An error that says both by itself.
    pub fn because(error: impl core::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// Why a command was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum NotDone {
    /// The request itself is wrong: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The host could not carry it out: exit code 3.
    #[error(transparent)]
    Host(#[from] HostRefused),
}

/// Prints a text on standard output. A reader that has gone away is no reason to fail; anything else that
/// keeps the text from being written is told on standard error.
pub fn print_out(text: &str) {
    let mut out = std::io::stdout();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        complain(&format_args!("standard output is not complete: {error}"));
    }
}

/// What is to be said of output that is the point of a command. A reader that has gone away has what it wants.
///
/// # Errors
/// Where it could not be written to its end.
fn written(outcome: std::io::Result<()>) -> Result<(), HostRefused> {
    match outcome {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(HostRefused::new("standard output", error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Tells on standard error why something was not done; a reader that has gone away changes nothing.
pub fn complain(refused: &impl core::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "linegauge: {refused}");
}

/// Exit code for a request that is wrong in itself.
pub const EXIT_USAGE: u8 = 2;

/// Exit code for a host that could not carry out a right request.
pub const EXIT_HOST: u8 = 3;

/// The exit code of a finished command; a refusal is one line on standard error.
#[must_use]
pub fn exit_code(outcome: Result<Option<Verdict>, NotDone>) -> ExitCode {
    match outcome {
        Ok(verdict) => ExitCode::from(verdict.map_or(0, Verdict::exit_code)),
        Err(refused) => {
            complain(&refused);
            ExitCode::from(match refused {
                NotDone::Usage(_) => EXIT_USAGE,
                NotDone::Host(_) => EXIT_HOST,
            })
        }
    }
}
