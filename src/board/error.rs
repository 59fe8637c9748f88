//! Why there is no such board.

use std::io;

/// A refusal of a board: one line that names the board, the key, its value and what would be right.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// Neither a built-in board nor a path.
    #[error("board {name} is not {right}")]
    Unknown {
        /// The name, quoted.
        name: String,
        /// What could be named instead.
        right: String,
    },
    /// The file could not be read.
    #[error("board {board}: cannot be read: {source}")]
    Read {
        /// The file.
        board: String,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The file is no board file by its length alone.
    #[error("board {board}: too large; a board file has at most {most} octets")]
    TooLarge {
        /// The file.
        board: String,
        /// Largest length in octets.
        most: u64,
    },
    /// The file is no text.
    #[error("board {board}: octet {at} is not UTF-8; a board file is UTF-8 text")]
    NotText {
        /// The file.
        board: String,
        /// Offset of the first bad octet, from 0.
        at: usize,
    },
    /// The text is no TOML.
    #[error("board {board}: line {line}: {message}")]
    Syntax {
        /// The board.
        board: String,
        /// Line number, from 1.
        line: usize,
        /// What the TOML reader says.
        message: String,
    },
    /// There is no such key.
    #[error("board {board}: unknown key {key}; {hint}")]
    UnknownKey {
        /// The board.
        board: String,
        /// The key.
        key: String,
        /// The nearest key, or all of them.
        hint: String,
    },
    /// A key's value is not what it may be.
    #[error("board {board}: {key} = {value} is not {right}")]
    BadValue {
        /// The board.
        board: String,
        /// The key.
        key: String,
        /// Its value as written.
        value: String,
        /// What it may be.
        right: String,
    },
    /// A key without which there is no board.
    #[error("board {board}: {key} is missing; it is {right}")]
    Missing {
        /// The board.
        board: String,
        /// The key.
        key: &'static str,
        /// What it may be.
        right: &'static str,
    },
    /// Boards inherit from one another in a circle, or in too long a row.
    #[error(
        "board {chain}: inherit goes round or is too long; a board inherits from at most {most} others in a row"
    )]
    Loop {
        /// The boards in a row.
        chain: String,
        /// Longest row.
        most: usize,
    },
    /// Two keys do not go together.
    #[error("board {board}: {conflict}")]
    Conflict {
        /// The board.
        board: String,
        /// Which, and why.
        conflict: Conflict,
    },
}

impl BoardError {
    /// Board `board` lacks `key`.
    pub(super) fn missing(board: String, key: &'static str) -> Self {
        Self::Missing { board, key, right: super::keys::right(key).unwrap_or_default() }
    }
}

/// A key that does not fit the rest of its board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: {right}")]
pub struct Conflict {
    /// The key.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// What would fit.
    pub right: String,
}
