//! What a run or a bench is to do, checked as a whole.

use super::options::{BenchOptions, BoardsOptions, CableOptions, HistoryOptions, LogOptions, RunOptions};
use super::refused::Refused;
use crate::board::{self, Board, CableKind, DurationArg, SizeMix};
use crate::journal::reader::{Format, Rows, Style};
use measure::plan::PROOF_BOUND;
use std::path::PathBuf;
use std::time::Duration;

/// A run to be done.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRequest {
    /// The board with what the options changed; it has been checked again after that.
    pub board: Board,
    /// Bit error ratio to be undercut. Always there where the duration is [`DurationArg::Proof`]: the run
    /// then ends by bits. Beside another duration the run ends by time and may check too few bits for it.
    pub bound: Option<f64>,
    /// Confidence of the bound, 0.5 to 0.999999.
    pub confidence: f64,
    /// Fault scripts as given; none unless the cable is [`CableKind::Emulated`].
    pub faults: Vec<String>,
    /// Seed of the emulated cable's choices; none where one is to be drawn (and told).
    pub seed: Option<u64>,
    /// Print the emulated cable's own account beside the report.
    pub truth: bool,
    /// The cable's label, at most 32 printable ASCII characters; empty for none.
    pub label: String,
    /// Where the log goes; none for beside the panel.
    pub log: Option<LogTarget>,
    /// File for the records.
    pub records: Option<PathBuf>,
    /// PNG file for the last panel.
    pub screenshot: Option<PathBuf>,
    /// End the output with one JSON object.
    pub json: bool,
    /// Draw the panel if the output is a terminal.
    pub panel: bool,
}

/// Where a log goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogTarget {
    /// Standard output.
    StandardOutput,
    /// A file, which is written anew.
    File(PathBuf),
}

/// A bench to be done: the datapath over the virtual cable, as fast as it goes.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchRequest {
    /// The virtual board without a pace; its mix is the first of `mixes`.
    pub board: Board,
    /// Size mixes, one bench each; at least one.
    pub mixes: Vec<SizeMix>,
    /// Time for each.
    pub seconds: Duration,
    /// Print JSON.
    pub json: bool,
}

/// An emulated cable between two ports of an emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CableRequest {
    /// At port A and at port B.
    pub ends: [CableEnd; 2],
    /// Fault scripts as given.
    pub faults: Vec<String>,
    /// Seed of the cable's choices.
    pub seed: u64,
    /// What faults are spread over, from the first test frame on.
    pub traffic: Duration,
}

/// Records to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRequest {
    /// Where they come from, each once.
    pub sources: Vec<LogSource>,
    /// How they are told.
    pub style: Style,
    /// Bit rate of those sources that are serial ports.
    pub baud: u32,
}

/// Results to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRequest {
    /// Where they are; none for the partition of a stick in this machine.
    pub place: Option<PathBuf>,
    /// How they are told.
    pub style: Style,
    /// How many of the newest; none for all.
    pub last: Option<usize>,
}

/// Where records come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogSource {
    /// Standard input.
    StandardInput,
    /// A serial port or a file.
    Path(PathBuf),
}

/// The two unix datagram sockets at one end of a cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CableEnd {
    /// The cable's own, which it makes.
    pub cable: PathBuf,
    /// The port's, which may come later.
    pub port: PathBuf,
}

impl RunOptions {
    pub(super) fn request(self) -> Result<RunRequest, Refused> {
        let mut board = self.base()?;
        self.change(&mut board);
        board.check().map_err(|conflict| Refused::conflict(&conflict))?;
        self.check_cable(board.cable)?;
        self.check_files()?;
        Ok(RunRequest {
            bound: self.bound.or((board.duration == DurationArg::Proof).then_some(PROOF_BOUND)),
            board,
            confidence: self.confidence,
            faults: self.fault,
            seed: self.seed,
            truth: self.truth,
            label: self.label,
            log: self.log,
            records: self.records,
            screenshot: self.screenshot,
            json: self.json,
            panel: !self.no_panel,
        })
    }

    /// The board before the options change it: the one named, on the cable named.
    fn base(&self) -> Result<Board, Refused> {
        let (name, cable) = match (&self.board, self.cable) {
            (None, None) => return Ok(board::load(board::DEFAULT)?),
            (None, Some(CableKind::Ports)) => {
                return Err(Refused::value("--cable", "ports", "needs --board, which says which two ports"));
            }
            (None, Some(cable)) => return Ok(board::load(cable.name())?),
            (Some(name), None) => return Ok(board::load(name)?),
            (Some(name), Some(cable)) => (name, cable),
        };
        let board = board::load(name)?;
        if cable == CableKind::Ports && board.cable != cable {
            let right =
                format!("board {} does not say which two ports; its cable is {}", board.name, board.cable);
            return Err(Refused::value("--cable", "ports", right));
        }
        Ok(board.on_cable(cable)?)
    }

    fn change(&self, board: &mut Board) {
        board.pace = self.rate.or(board.pace);
        board.streams = self.streams.unwrap_or(board.streams);
        if let Some(mix) = &self.mix {
            board.mix = mix.clone();
        }
        let by_bits = self.bound.map(|_| DurationArg::Proof);
        board.duration = self.duration.or(by_bits).unwrap_or(board.duration);
    }

    /// Options that only the emulated cable has.
    fn check_cable(&self, cable: CableKind) -> Result<(), Refused> {
        if cable == CableKind::Emulated {
            return Ok(());
        }
        let right =
            format!("only the emulated cable has it, and this run's cable is {cable}; add --cable emulated");
        if let Some(fault) = self.fault.first() {
            return Err(Refused::value("--fault", fault, right));
        }
        if let Some(seed) = self.seed {
            return Err(Refused::value("--seed", &seed.to_string(), right));
        }
        if self.truth { Err(Refused::new(format!("--truth: {right}"))) } else { Ok(()) }
    }

    fn check_files(&self) -> Result<(), Refused> {
        let log = if let Some(LogTarget::File(path)) = &self.log { Some(path) } else { None };
        let files = [
            ("--log", log),
            ("--records", self.records.as_ref()),
            ("--screenshot", self.screenshot.as_ref()),
        ];
        for (at, (option, file)) in files.iter().enumerate() {
            let Some(file) = file else { continue };
            if let Some((other, _)) = files.iter().take(at).find(|(_, other)| *other == Some(*file)) {
                let right = format!("must be another file than that of {other}");
                return Err(Refused::value(option, &file.to_string_lossy(), &right));
            }
        }
        Ok(())
    }
}

impl BoardsOptions {
    pub(super) fn board(&self) -> Result<Option<Board>, Refused> {
        Ok(self.board.as_deref().map(board::load).transpose()?)
    }
}

impl BenchOptions {
    pub(super) fn request(self) -> Result<BenchRequest, Refused> {
        let mut board = board::load(board::DEFAULT)?;
        board.pace = None;
        board.streams = self.streams.unwrap_or(board.streams);
        let mixes = if self.mix.is_empty() { vec![board.mix.clone()] } else { self.mix };
        for mix in mixes.iter().rev() {
            board.mix = mix.clone();
            board.check().map_err(|conflict| Refused::conflict(&conflict))?;
        }
        Ok(BenchRequest { board, mixes, seconds: self.seconds, json: self.json })
    }
}

impl LogOptions {
    pub(super) fn request(self) -> Result<LogRequest, Refused> {
        let marked = self.sources.len() > 1;
        if let (Format::Text, Some(_)) = (self.format, self.rows) {
            return Err(Refused::new(
                "--rows: text has no rows; add --format jsonl or --format csv".to_owned(),
            ));
        }
        let mut sources = Vec::new();
        for name in &self.sources {
            let source = LogSource::of(name)?;
            if sources.contains(&source) {
                return Err(Refused::source(name, "must be given only once"));
            }
            sources.push(source);
        }
        let style = Style { format: self.format, rows: self.rows.unwrap_or_default(), marked };
        Ok(LogRequest { sources, style, baud: self.baud })
    }
}

impl HistoryOptions {
    pub(super) fn request(self) -> HistoryRequest {
        let style = Style { format: self.format, rows: Rows::Runs, marked: false };
        HistoryRequest { place: self.place, style, last: self.last }
    }
}

impl LogSource {
    fn of(name: &str) -> Result<Self, Refused> {
        match name {
            "" => Err(Refused::source(name, "must be a serial port, a file or -")),
            "-" => Ok(Self::StandardInput),
            path => Ok(Self::Path(PathBuf::from(path))),
        }
    }
}

impl CableOptions {
    pub(super) fn request(self) -> CableRequest {
        CableRequest { ends: [self.a, self.b], faults: self.fault, seed: self.seed, traffic: self.traffic }
    }
}
