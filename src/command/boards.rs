//! `linegauge boards`: the boards that are compiled in, or one of them in full.

use super::print_out;
use crate::board::{self, Board};

/// Lists them, or shows one in full.
pub fn show(board: Option<&Board>) {
    match board {
        Some(board) => print_out(&board.to_string()),
        None => print_out(&board::list()),
    }
}
