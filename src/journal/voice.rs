//! What is said of an event on a serial line: a line of text, a record, or both.

use super::record::Recorder;
use super::text::Line;
use measure::record::Stamped;
use std::io::Write;

/// What a line of text ends with on the wire: as a terminal program wants it.
const LINE_END: &[u8] = b"\r\n";

/// How a serial line speaks.
#[derive(Clone, Debug)]
pub enum Voice {
    /// For people.
    Text,
    /// For programs.
    Records(Recorder),
    /// For both: each record after the line of the same event.
    Both(Recorder),
}

impl Voice {
    /// What is said first on a line, so that whatever the reader saw last, the next is a beginning. A record brings its
    /// own.
    pub(super) const fn greeting(&self) -> &'static [u8] {
        match self {
            Self::Text | Self::Both(_) => LINE_END,
            Self::Records(_) => b"",
        }
    }

    /// The octets of an event; none where it is not told. Each event is to be given once.
    pub(super) fn say(&mut self, stamped: &Stamped) -> Vec<u8> {
        let mut octets = Vec::new();
        if !matches!(self, Self::Records(_)) {
            // Memory takes what there is.
            let _ = write!(octets, "{}", Line(stamped));
            octets.extend_from_slice(LINE_END);
        }
        if let Self::Records(recorder) | Self::Both(recorder) = self
            && let Some(frame) = recorder.take(stamped)
        {
            octets.extend_from_slice(&frame);
        }
        octets
    }
}
