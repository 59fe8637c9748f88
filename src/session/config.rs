//! What one run is asked to do.

use measure::evidence::Limits;
use measure::mix::SizeMix;
use measure::plan::{End, Plan};
use measure::record::{Event, Text, Words, text};
use measure::units::{BitRate, MAX_STREAMS};
use measure::verdict::Verdict;
use std::time::Duration;

/// Everything a session needs to know beforehand; boards and arguments are made into this.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Run number on this box.
    pub run: u32,
    /// Board name.
    pub board: Text,
    /// Cable label, empty for none.
    pub label: Text,
    /// Kind of cable: "virtual", "emulated" or "ports".
    pub cable: &'static str,
    /// The run's nonce: it tells this run's frames from everybody else's.
    pub nonce: u32,
    /// One ethertype a stream.
    pub ethertypes: heapless::Vec<u16, MAX_STREAMS>,
    /// Frame sizes.
    pub mix: SizeMix,
    /// L1 rate offered in each direction; none for as fast as the port takes it.
    pub pace: Option<BitRate>,
    /// The board's link speed; none where any will do.
    pub speed: Option<BitRate>,
    /// How long the test takes.
    pub plan: Plan,
    /// Confidence of the BER bound, 0 to 1.
    pub confidence: f64,
    /// Checked bits a direction that an explicitly asked bound needs.
    pub needed_bits: Option<u64>,
    /// Verdict and number of the run before, which stay readable while this one waits for its link.
    pub last: Option<(Verdict, u32)>,
    /// Give up on a link after this long; none to wait for ever.
    pub give_up: Option<Duration>,
    /// Port A's link may be taken down to see port B's carrier drop.
    pub link_restart: bool,
    /// The MAC discards and counts frames with a wrong FCS.
    pub mac_checks_fcs: bool,
    /// How far above line rate a reading may be, ppm.
    pub tolerance_ppm: u64,
    /// Things the reader of the log should know before it begins.
    pub notes: Vec<Words>,
}

impl Config {
    /// What the run is judged against, with counters that may be `refresh` old.
    pub(super) fn limits(&self, refresh: Duration) -> Limits {
        Limits {
            tolerance_ppm: self.tolerance_ppm,
            mac_checks_fcs: self.mac_checks_fcs,
            needed_bits: self.needed_bits,
            stall: crate::port::worker::CATCH_UP,
            refresh,
        }
    }

    pub(super) fn start(&self) -> Event {
        Event::Start {
            run: self.run,
            version: env!("CARGO_PKG_VERSION"),
            board: self.board.clone(),
            label: self.label.clone(),
            cable: self.cable,
            nonce: self.nonce,
        }
    }

    pub(super) fn identity(&self) -> Event {
        Event::Identity {
            version: env!("CARGO_PKG_VERSION"),
            board: self.board.clone(),
            label: self.label.clone(),
        }
    }

    pub(super) fn plan_event(&self) -> Event {
        let (run, bits) = match self.plan.end {
            End::After(time) => (Some(time), None),
            End::AtBits(bits) => (None, Some(bits)),
        };
        Event::Plan {
            streams: u8::try_from(self.ethertypes.len()).unwrap_or(u8::MAX),
            mix: text(&self.mix),
            pace: self.pace,
            settle: self.plan.settle,
            run,
            bits,
        }
    }
}
