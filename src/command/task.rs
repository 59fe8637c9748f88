//! What one run is to do, made of a board and of what was asked, on a desk or on the box.

use super::HostRefused;
use crate::board::Board;
use crate::session::Config;
use measure::plan::{PROOF_BOUND, Plan, QUICK};
use measure::record::{Words, text};
use measure::units::MAX_STREAMS;
use measure::verdict::Verdict;
use std::time::Duration;

/// One run.
pub(super) struct Task<'a> {
    /// The board, with the duration that is asked for.
    pub board: &'a Board,
    /// Its number.
    pub run: u32,
    /// The cable's label, empty for none.
    pub label: &'a str,
    /// Bit error ratio to be undercut; none where nobody asked.
    pub bound: Option<f64>,
    /// Confidence of the bound.
    pub confidence: f64,
    /// Verdict and number of the run before.
    pub last: Option<(Verdict, u32)>,
    /// How long a link is waited for; none to wait for ever.
    pub give_up: Option<Duration>,
    /// What the reader of the log should know before it begins.
    pub notes: Vec<Words>,
}

impl Task<'_> {
    /// The task as a session takes it, with a nonce of its own.
    ///
    /// # Errors
    /// The host has no random numbers.
    pub(super) fn config(self) -> Result<Config, HostRefused> {
        let board = self.board;
        let needed_bits = self.bound.and_then(|bound| measure::ber::bits_needed(bound, 0, self.confidence));
        Ok(Config {
            run: self.run,
            board: text(&board.name),
            label: text(self.label),
            cable: board.cable.name(),
            nonce: nonce()?,
            ethertypes: ethertypes(board),
            mix: board.mix.clone(),
            pace: board.pace,
            speed: board.speed,
            plan: self.plan(needed_bits),
            confidence: self.confidence,
            needed_bits,
            last: self.last,
            give_up: self.give_up,
            link_restart: board.link_restart,
            mac_checks_fcs: board.mac_checks_fcs,
            tolerance_ppm: board.tolerance_ppm,
            notes: self.notes,
        })
    }

    fn plan(&self, needed_bits: Option<u64>) -> Plan {
        let settle = self.board.settle;
        let end = match (self.board.duration.judged(), needed_bits) {
            (Some(time), _) => return Plan { settle, ..Plan::after(time) },
            (None, Some(bits)) => Some(Plan::at_bits(bits)),
            (None, None) => Plan::proof(PROOF_BOUND, self.confidence).ok(),
        };
        Plan { settle, ..end.unwrap_or_else(|| Plan::after(QUICK)) }
    }
}

/// The board's ethertypes, one a stream.
pub(super) fn ethertypes(board: &Board) -> heapless::Vec<u16, MAX_STREAMS> {
    board.stream_ethertypes().iter().copied().take(MAX_STREAMS).collect()
}

/// A nonce that tells this run's frames from everybody else's.
///
/// # Errors
/// The host has no random numbers.
pub(super) fn nonce() -> Result<u32, HostRefused> {
    getrandom::u32().map_err(|error| HostRefused::new("random numbers for the run's nonce", error))
}
