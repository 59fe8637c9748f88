//! What the display shows, as values; `panel` makes pixels of it.

use crate::record::{Classes, Text};
use crate::ticket::Ticket;
use crate::units::BitRate;
use crate::verdict::Verdict;
use core::time::Duration;

/// One page of the display.
#[derive(Clone, Debug, PartialEq)]
pub enum Screen {
    /// Waiting for a cable.
    PlugCable {
        /// Last verdict and its run number: they stay readable.
        last: Option<(Verdict, u32)>,
        /// What is being waited for, in words ("port B has no link").
        hint: Text,
    },
    /// Something is being checked before frames flow.
    Checking {
        /// What ("settings", "link", "loop").
        what: &'static str,
    },
    /// Frames flow.
    Running {
        /// Received rates, A→B and B→A; none is shown as N/A.
        rates: [Option<BitRate>; 2],
        /// Done so far, in thousandths.
        progress: u16,
        /// Errors so far.
        errors: Classes,
        /// Time left; none where the run ends by bits.
        left: Option<Duration>,
        /// The cable has already failed: shown at once and for good.
        failed: bool,
        /// Traffic has not settled yet.
        settling: bool,
    },
    /// The verdict.
    Verdict {
        /// The word.
        verdict: Verdict,
        /// One line of reason in plain words.
        reason: Text,
        /// Run number.
        run: u32,
        /// It was to be kept, and is not.
        unsaved: bool,
    },
    /// The figures behind the verdict.
    Figures {
        /// The word, small.
        verdict: Verdict,
        /// Run number.
        run: u32,
        /// Steady rates, A→B and B→A.
        rates: [Option<BitRate>; 2],
        /// Errors by class.
        errors: Classes,
        /// BER upper bounds, A→B and B→A.
        bounds: [Option<f64>; 2],
    },
    /// The box itself cannot work.
    Fault {
        /// Why, in plain words.
        text: Text,
    },
    /// The result as a QR code.
    Qr {
        /// The word, small.
        verdict: Verdict,
        /// Run number.
        run: u32,
        /// What the code says.
        ticket: Ticket,
    },
}
