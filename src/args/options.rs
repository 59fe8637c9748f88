//! The options as the command line has them.

use super::request::{CableEnd, LogTarget};
use super::{help, values};
use crate::board::{CableKind, DurationArg, SizeMix};
use crate::journal::reader::{Format, Rows};
use clap::{Args, Parser, Subcommand};
use measure::units::BitRate;
use std::path::PathBuf;
use std::time::Duration;

/// A go/no-go gauge for 10 Gb/s Ethernet cables
#[derive(Debug, Parser)]
#[command(
    name = "linegauge",
    version,
    long_about = help::ABOUT,
    after_help = help::SHORT_END,
    after_long_help = help::LONG_END,
    args_conflicts_with_subcommands = true,
    next_line_help = true
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub sub: Option<Sub>,
    #[command(flatten)]
    pub run: RunOptions,
}

#[derive(Debug, Subcommand)]
pub(super) enum Sub {
    /// Judge a cable (what happens without a command, too)
    #[command(long_about = help::ABOUT, after_long_help = help::LONG_END)]
    Run(RunOptions),
    /// List the built-in boards, or show one in full
    Boards(BoardsOptions),
    /// Measure how many frames a second the datapath moves, at which CPU cost
    Bench(BenchOptions),
    /// Read the records of boxes from serial ports and files
    #[command(after_help = help::LOG_END, after_long_help = help::LOG_END)]
    Log(LogOptions),
    /// Read the results that a box has kept
    #[command(after_help = help::HISTORY_END, after_long_help = help::HISTORY_END)]
    History(HistoryOptions),
    /// Be an emulated cable between two ports of an emulator (unix datagram sockets)
    #[command(hide = true)]
    Cable(CableOptions),
}

#[derive(Debug, Args)]
#[command(next_line_help = true)]
pub(super) struct RunOptions {
    /// Board: a built-in name, or a TOML file (with a / or ending in .toml)
    /// [default: virtual]
    #[arg(verbatim_doc_comment, long, value_name = "NAME|FILE", help_heading = help::BOX)]
    pub board: Option<String>,

    /// virtual (a veth pair), emulated (faults on demand) or ports (real).
    /// Without --board it picks the board of that name; ports needs --board
    #[arg(verbatim_doc_comment, long, value_name = "KIND", value_parser = values::cable, help_heading = help::BOX)]
    pub cable: Option<CableKind>,

    /// Traffic after the settle: quick (10 s), standard (96 s), proof (as
    /// long as a bound of 1e-12 takes) or seconds [default: the board's]
    #[arg(verbatim_doc_comment, long, value_name = "NAME|SECONDS", value_parser = values::duration,
        allow_hyphen_values = true, help_heading = help::TEST)]
    pub duration: Option<DurationArg>,

    /// Streams in each direction, 1 to 7 [default: the board's]
    #[arg(long, value_name = "N", value_parser = values::streams, allow_hyphen_values = true,
        help_heading = help::TEST)]
    pub streams: Option<u8>,

    /// Frame sizes: jumbo, rfc2544, small, or a list like 64,1518,9018
    /// (octets, FCS counted, up to MTU + 18) [default: the board's]
    #[arg(
        verbatim_doc_comment,long, value_name = "NAME|LIST", value_parser = values::mix, allow_hyphen_values = true,
        help_heading = help::TEST)]
    pub mix: Option<SizeMix>,

    /// Rate to offer in each direction, all streams together, preamble and
    /// gap counted: 1M to 400G, a plain number is Mb/s [default: the board's]
    #[arg(
        verbatim_doc_comment,long, value_name = "RATE", value_parser = values::rate, allow_hyphen_values = true,
        help_heading = help::TEST)]
    pub rate: Option<BitRate>,

    /// Bit error ratio to be undercut, like 1e-12: the run ends by bits. With
    /// --duration it ends by time, and too few bits are MARGINAL
    #[arg(
        verbatim_doc_comment,long, value_name = "BER", value_parser = values::bound, allow_hyphen_values = true,
        help_heading = help::TEST)]
    pub bound: Option<f64>,

    /// Confidence of the bound, 0.5 to 0.999999 or percent [default: 0.95]
    #[arg(long, value_name = "C", value_parser = values::confidence, allow_hyphen_values = true,
        default_value_t = measure::plan::CONFIDENCE, hide_default_value = true, help_heading = help::TEST)]
    pub confidence: f64,

    /// What the cable does wrong, like 'a>b drop 17'; can be given repeatedly
    #[arg(long, value_name = "SCRIPT", help_heading = help::EMULATED)]
    pub fault: Vec<String>,

    /// Seed of the cable's choices [default: drawn, and told in the log]
    #[arg(long, value_name = "N", value_parser = values::seed, allow_hyphen_values = true,
        help_heading = help::EMULATED)]
    pub seed: Option<u64>,

    /// Print the cable's own account beside the report
    #[arg(long, help_heading = help::EMULATED)]
    pub truth: bool,

    /// The cable's label: at most 32 printable ASCII characters
    #[arg(long, value_name = "TEXT", value_parser = values::label, default_value = "", hide_default_value = true,
        help_heading = help::OUTPUT)]
    pub label: String,

    /// Write the log to a file, or with - to standard output
    #[arg(long, value_name = "FILE|-", value_parser = values::log, help_heading = help::OUTPUT)]
    pub log: Option<LogTarget>,

    /// Write the records to a file, for `linegauge log` to read
    #[arg(long, value_name = "FILE", value_parser = values::file, help_heading = help::OUTPUT)]
    pub records: Option<PathBuf>,

    /// Write the last panel as a PNG
    #[arg(long, value_name = "FILE", value_parser = values::file, help_heading = help::OUTPUT)]
    pub screenshot: Option<PathBuf>,

    /// End the output with one line of JSON
    #[arg(long, help_heading = help::OUTPUT)]
    pub json: bool,

    /// No panel, only the log (as always where the output is no terminal)
    #[arg(long, help_heading = help::OUTPUT)]
    pub no_panel: bool,
}

#[derive(Debug, Args)]
pub(super) struct BoardsOptions {
    /// The board to show, with all it inherits and every default: a built-in
    /// name, or a TOML file (with a / or ending in .toml)
    #[arg(verbatim_doc_comment, value_name = "NAME|FILE")]
    pub board: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct BenchOptions {
    /// Time for each mix, 0.1 to 3600 s
    #[arg(long, value_name = "SECONDS", value_parser = values::bench_seconds, allow_hyphen_values = true,
        default_value = "2")]
    pub seconds: Duration,

    /// Frame sizes as in `run`; can be given repeatedly [default: jumbo]
    #[arg(long, value_name = "NAME|LIST", value_parser = values::mix, allow_hyphen_values = true)]
    pub mix: Vec<SizeMix>,

    /// Streams in each direction, 1 to 7 [default: 2]
    #[arg(long, value_name = "N", value_parser = values::streams, allow_hyphen_values = true)]
    pub streams: Option<u8>,

    /// Print the figures as one line of JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(next_line_help = true)]
pub(super) struct LogOptions {
    /// Serial ports, which are followed until Ctrl-C and opened again after
    /// they were gone; files, read to their end; - for standard input
    #[arg(verbatim_doc_comment, value_name = "PORT|FILE|-", required = true)]
    pub sources: Vec<String>,

    /// text (lines as in the log of a run), jsonl (JSON Lines) or csv
    #[arg(long, value_name = "FORM", value_parser = values::format, default_value = "text")]
    pub format: Format,

    /// Rows of jsonl and csv: both (told apart by the column `kind`), runs or
    /// seconds [default: both]
    #[arg(verbatim_doc_comment, long, value_name = "KIND", value_parser = values::rows)]
    pub rows: Option<Rows>,

    /// Bit rate of the serial ports, 1200 to 4000000
    #[arg(long, value_name = "BAUD", value_parser = values::baud, allow_hyphen_values = true,
        default_value = "115200")]
    pub baud: u32,
}

#[derive(Debug, Args)]
#[command(next_line_help = true)]
pub(super) struct HistoryOptions {
    /// Stick or its partition, the image of one, or a file [default: the
    /// partition of a stick in this machine]
    #[arg(verbatim_doc_comment, value_name = "DEVICE|FILE", value_parser = values::file)]
    pub place: Option<PathBuf>,

    /// text (lines as in the log of a run), jsonl (JSON Lines) or csv
    #[arg(long, value_name = "FORM", value_parser = values::format, default_value = "text")]
    pub format: Format,

    /// Only the newest N results
    #[arg(long, value_name = "N", value_parser = values::last, allow_hyphen_values = true)]
    pub last: Option<usize>,
}

#[derive(Debug, Args)]
pub(super) struct CableOptions {
    /// Sockets at port A: the cable's, which is made, and the port's
    #[arg(long, value_name = "CABLE:PORT", value_parser = values::cable_end)]
    pub a: CableEnd,

    /// Sockets at port B
    #[arg(long, value_name = "CABLE:PORT", value_parser = values::cable_end)]
    pub b: CableEnd,

    /// What the cable does wrong, as in `run`; can be given repeatedly
    #[arg(long, value_name = "SCRIPT")]
    pub fault: Vec<String>,

    /// Seed of the cable's choices
    #[arg(long, value_name = "N", value_parser = values::seed, allow_hyphen_values = true, default_value = "1")]
    pub seed: u64,

    /// Time that faults are spread over, from the first test frame on, 0.1 to 3600 s
    #[arg(long, value_name = "SECONDS", value_parser = values::bench_seconds, allow_hyphen_values = true,
        default_value = "15")]
    pub traffic: Duration,
}
