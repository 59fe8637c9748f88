//! What goes wrong in the modelled box that is not the cable's doing.

use measure::units::{Direction, Instant, Side};
use std::time::Duration;

/// Troubles of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTrouble {
    /// Frames of each direction that the receive socket drops, and counts.
    pub socket_drops: [u64; 2],
    /// Frames of each direction that the receiving port misses, and counts as missed.
    pub missed: [u64; 2],
    /// The receive sockets drop, and count, one test frame of so many, for as long as frames flow.
    pub overload: Option<u64>,
    /// Frames of no protocol of this host's, which each port counts as dropped from the first test frame on.
    pub unknown_protocol: u64,
    /// The driver does not count what the host drops.
    pub no_drop_counters: bool,
    /// The port's link does not count its changes of carrier.
    pub no_carrier_counter: bool,
    /// How long a counter stays as it was before the driver brings it up to date.
    pub refresh: Duration,
    /// Local and remote faults that each port counts while the other one has no link.
    pub link_faults: [u64; 2],
    /// Times at which the carrier of both ports goes away, and for how long.
    pub blinks: [Option<(Instant, Duration)>; 3],
    /// What happens so long after the first test frame has left.
    pub mishap: Option<(Duration, Mishap)>,
}

/// Something that happens once, in the middle of the traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// A worker stands still for so long.
    Stall(Direction, Duration),
    /// A worker's thread ends.
    WorkerEnds(Direction),
    /// What a worker publishes cannot be read any more.
    TallyUnreadable(Direction),
    /// A port's device goes away (`ENODEV`).
    PortGone(Side),
    /// A port's counters begin again at zero.
    CountersReset(Side),
    /// A port's counters cannot be read any more (`EIO`).
    CountersUnreadable(Side),
    /// Somebody sets a port down, or puts it into a bridge; the carrier stays.
    PortTaken(Side),
    /// Somebody gives a port another MTU.
    OtherMtu(Side),
    /// The ports tell another link speed, and no carrier change was seen.
    OtherSpeed,
}

impl HostTrouble {
    /// The mishap that has happened by `now`, and when; `began` is when the first test frame left.
    pub(super) fn struck(&self, began: Option<Instant>, now: Instant) -> Option<(Instant, Mishap)> {
        let (after, mishap) = self.mishap?;
        let at = began? + after;
        (now >= at).then_some((at, mishap))
    }

    /// The carriers are away at `now`, and it is not the cable's doing.
    pub(super) fn blinks(&self, now: Instant) -> bool {
        self.blinks.iter().flatten().any(|&(at, time)| at <= now && now < at + time)
    }
}
