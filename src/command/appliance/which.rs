//! Which board this box is, and the switches of a test build.

use super::fault::Fault;
use crate::board::{self, Board, PortPath};
use crate::host::cmdline::CommandLine;
use crate::host::recognise::{self, Hardware};
use std::fs;
use std::path::Path;

/// Where the kernel shows its command line.
const COMMAND_LINE: &str = "/proc/cmdline";

/// What the box is.
pub(super) struct Which {
    /// Its board.
    pub board: Board,
    /// Where that has its two ports.
    pub places: [PortPath; 2],
    /// The box's own name; none where nobody gave it one.
    pub box_id: Option<String>,
    /// What a test build is to do wrong.
    pub debug: Option<Debug>,
}

/// What a test build can be told to do wrong, as `linegauge.debug=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Debug {
    /// The run loop stops going round while frames flow.
    Wedge,
    /// The self-proof sees none of the errors it is shown.
    Blind,
    /// The loop panics once it waits for a cable.
    Panic,
}

impl Debug {
    const ALL: [(&'static str, Self); 3] =
        [("wedge", Self::Wedge), ("blind", Self::Blind), ("panic", Self::Panic)];

    /// The switch by its name. What a technician uses has none of them.
    fn named(name: &str) -> Result<Self, Fault> {
        let refused =
            |why: &str| Fault::new("bad kernel command line", &format_args!("linegauge.debug={name}: {why}"));
        if !cfg!(debug_assertions) {
            return Err(refused("only a test build has switches"));
        }
        let known = Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, debug)| debug);
        known.ok_or_else(|| refused("must be wedge, blind or panic"))
    }
}

impl Which {
    /// By the kernel's command line, else by the hardware.
    ///
    /// # Errors
    /// What the display is to say.
    pub(super) fn read() -> Result<Self, Fault> {
        let text = fs::read_to_string(COMMAND_LINE).map_err(|error| {
            Fault::new("no kernel command line", &format_args!("{COMMAND_LINE}: {error}"))
        })?;
        let said =
            CommandLine::parse(&text).map_err(|error| Fault::new("bad kernel command line", &error))?;
        let debug = said.debug.as_deref().map(Debug::named).transpose()?;
        let board = find(&said, &Hardware::read(Path::new("/sys")))?;
        let Some(places) = board.ports.clone() else {
            return Err(Fault::new(
                "this board has no ports",
                &format_args!("board {} has no port-a and port-b", board.name),
            ));
        };
        Ok(Self { board, places, box_id: said.box_id, debug })
    }
}

fn find(said: &CommandLine, hardware: &Hardware) -> Result<Board, Fault> {
    let load = |name: &str| board::load(name).map_err(|error| Fault::new("bad board", &error));
    let boards = board::builtin().map(|(name, _)| load(name)).collect::<Result<Vec<_>, _>>()?;
    let badges: Vec<_> = boards.iter().map(|board| (board.name.as_str(), &board.badge)).collect();
    let name =
        recognise::choose(said, hardware, &badges).map_err(|error| Fault::new("unknown board", &error))?;
    load(name)
}
