//! PASS, FAIL, MARGINAL or INVALID, and why.
//!
//! A reason belongs to one of four ranks; the highest rank present gives the verdict, and within a
//! rank the order of [`Reason`]'s variants gives the reason shown. PASS is what has been shown, not
//! what is left over: what is left over is INVALID.

mod judge;
mod words;

pub use judge::{Case, Judgement, LONGEST_STALL, judge, pass_rate};

use crate::units::{BitRate, Direction, MacAddress, Side};
use core::time::Duration;

/// The word on the display.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The cable carried everything, and everything needed to say so was seen.
    Pass,
    /// There is evidence against the cable.
    Fail,
    /// The cable carried everything, with little to spare.
    Marginal,
    /// The host or the set-up spoiled the run: the cable is not judged.
    Invalid,
}

impl Verdict {
    /// The command's exit code; 2 is left for requests that are wrong themselves.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Fail => 1,
            Self::Invalid => 3,
            Self::Marginal => 4,
        }
    }
}

/// What a reason does to a verdict, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// The run says nothing about a cable: INVALID.
    Voiding,
    /// Evidence against the cable: FAIL.
    Cable,
    /// The run was not what it should have been: INVALID.
    Spoiling,
    /// Nothing wrong, little to spare: MARGINAL.
    Margin,
}

impl Rank {
    /// The verdict where this is the highest rank present.
    #[must_use]
    pub const fn verdict(self) -> Verdict {
        match self {
            Self::Voiding | Self::Spoiling => Verdict::Invalid,
            Self::Cable => Verdict::Fail,
            Self::Margin => Verdict::Marginal,
        }
    }
}

/// How a switch gave itself away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SwitchSign {
    /// Probes arrived by address: those to the port's own did and those to 01-80-C2-00-00-0E, which every
    /// bridge must filter (IEEE 802.1Q, 8.6.3), did not, or the other way round.
    FilteredAddress,
    /// The link at the other port stayed up while this port's was down.
    LinkStayedUp,
}

/// A setting that the run needs, or would like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Setting {
    /// Both ports are there, distinct, and on the same driver.
    Ports,
    /// The port's module was accepted.
    Module,
    /// PCIe width and speed carry both directions.
    Pcie,
    /// Largest frame the port carries.
    Mtu,
    /// The CPU clock.
    Clock,
    /// CPU latency limit of power management.
    DmaLatency,
    /// Link-level pause.
    Pause,
    /// Energy-efficient Ethernet.
    Eee,
    /// Stream-to-queue steering.
    Steering,
    /// Descriptor rings.
    Rings,
    /// IPv6 off: no router solicitations, no MLD.
    Ipv6,
    /// No address generation at link-up.
    AddressGeneration,
    /// No ARP.
    Arp,
    /// Firmware LLDP agent off.
    Lldp,
    /// Receive socket buffer.
    ReceiveBuffer,
    /// Promiscuous reception.
    Promiscuous,
}

/// One thing that speaks against PASS, with its value and its limit.
///
/// The order of the variants is the order in which reasons are shown within a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    // Rank 1, voiding.
    /// No probe came back at either port.
    NotALoop,
    /// A switch is in the path.
    Switch(SwitchSign),
    /// Another gauge's frames arrived.
    AnotherGauge {
        /// Port where they arrived.
        on: Side,
        /// The run nonce they carried.
        nonce: u32,
    },
    /// A frame arrived that is none of ours.
    ForeignTraffic {
        /// Port where it arrived.
        on: Side,
        /// Its source address.
        from: MacAddress,
        /// Its ethertype.
        ethertype: u16,
    },
    /// A frame with one of our addresses arrived that the test did not send.
    OwnStray {
        /// Port of this box that it came from.
        from: Side,
        /// Its ethertype.
        ethertype: u16,
    },
    /// One port has link, the other has none.
    OneEndOpen {
        /// The port without link.
        down: Side,
    },
    /// A port's device went away.
    DeviceGone {
        /// The port.
        port: Side,
    },
    /// Somebody on this host set a port down, or made it part of a bridge or bond.
    PortTaken {
        /// The port.
        port: Side,
    },
    /// A port's counters stepped back.
    CountersReset {
        /// The port.
        port: Side,
    },
    /// Frames came twice: no cable does that.
    Duplicated {
        /// Direction of the frames.
        direction: Direction,
        /// How many.
        frames: u64,
    },
    /// Frames came out of order within a stream: no cable does that.
    Reordered {
        /// Direction of the frames.
        direction: Direction,
        /// How many.
        frames: u64,
    },
    /// Frames came far out of order, or numbered beyond what was sent.
    Misplaced {
        /// Direction of the frames.
        direction: Direction,
        /// How many.
        frames: u64,
    },
    /// Frames are missing and no counter can tell who lost them.
    UnknownOrigin {
        /// Direction of the frames.
        direction: Direction,
        /// How many.
        frames: u64,
    },
    /// Damaged content behind a good FCS, on a port that checks the FCS: the box's own memory or DMA.
    DamagedInside {
        /// Direction of the frames.
        direction: Direction,
        /// How many.
        frames: u64,
    },
    /// Nothing was sent in a direction.
    NothingSent {
        /// The direction.
        direction: Direction,
    },

    // Rank 2, cable evidence.
    /// Probes or frames passed one way and none the other.
    DeadDirection {
        /// The dead one.
        direction: Direction,
    },
    /// No link within the time allowed.
    NoLink {
        /// How long was waited.
        waited: Duration,
    },
    /// The link dropped three times while waiting for it.
    Flapping {
        /// Drops seen.
        drops: u64,
    },
    /// The link went down during the run.
    LinkDown {
        /// Port that saw it.
        port: Side,
        /// Carrier changes counted.
        changes: u64,
    },
    /// Both ports can do more than the speed they came up at.
    WrongSpeed {
        /// The board's speed.
        expected: BitRate,
        /// The link's.
        got: BitRate,
    },
    /// Frames with a wrong FCS.
    CrcErrors {
        /// Receiving port.
        port: Side,
        /// How many.
        frames: u64,
    },
    /// Symbol, code or block errors.
    SymbolErrors {
        /// Receiving port.
        port: Side,
        /// How many.
        errors: u64,
    },
    /// Local or remote faults (IEEE 802.3, 46.3.4).
    LinkFaults {
        /// The port.
        port: Side,
        /// How many.
        faults: u64,
    },
    /// Frames lost on the way.
    Lost {
        /// Direction of the frames.
        direction: Direction,
        /// At least so many.
        at_least: u64,
        /// At most so many.
        at_most: u64,
        /// Of so many sent.
        sent: u64,
    },
    /// Frames received with damaged content.
    Corrupt {
        /// Direction of the frames.
        direction: Direction,
        /// How many frames.
        frames: u64,
        /// Wrong bits in those of them that say which frame they are.
        bit_errors: u64,
    },

    // Rank 3, spoiling.
    /// A setting the run needs could not be held.
    SettingNotHeld {
        /// Which.
        setting: Setting,
        /// At which port, where it is a port's.
        port: Option<Side>,
    },
    /// The link came up below the board's speed, and the cable need not be the cause.
    SpeedSetup {
        /// The board's speed.
        expected: BitRate,
        /// The link's.
        got: BitRate,
    },
    /// The host dropped received frames.
    HostDrops {
        /// Direction of the frames.
        direction: Direction,
        /// How many.
        frames: u64,
    },
    /// Pause frames were sent or received.
    PauseFrames {
        /// The port.
        port: Side,
        /// How many.
        frames: u64,
    },
    /// The CPU clock was not held (thermal or power limit, firmware).
    ClockNotHeld,
    /// The senders could not fill the line, with nothing lost: the host, not the cable.
    HostBound {
        /// The direction.
        direction: Direction,
        /// Steady rate reached.
        rate: BitRate,
        /// Rate needed.
        limit: BitRate,
    },
    /// A worker stood still for longer than the smear window.
    Stalled {
        /// Direction the worker serves.
        direction: Direction,
        /// For how long.
        time: Duration,
    },
    /// A worker stopped working.
    WorkerDied {
        /// Direction the worker serves.
        direction: Direction,
    },
    /// The run was stopped before its time.
    StoppedEarly,
    /// Something that PASS needs was never shown, and nothing else explains it.
    NotShown {
        /// Direction in which it was not.
        direction: Direction,
    },

    // Rank 4, little margin.
    /// A pair's SNR operating margin is under the board's limit.
    SnrMargin {
        /// The port.
        port: Side,
        /// Pair, 0 for A to 3 for D.
        pair: u8,
        /// Margin in tenths of a dB.
        tenths_db: i16,
        /// Limit in tenths of a dB.
        limit_tenths_db: i16,
    },
    /// Block errors that the receiver corrected.
    CorrectedBlocks {
        /// The port.
        port: Side,
        /// How many.
        blocks: u64,
    },
    /// Fast retrains (IEEE 802.3, 55.4.2.5.15).
    FastRetrains {
        /// The port.
        port: Side,
        /// How many.
        retrains: u64,
    },
    /// Optical receive power under the module's own warning threshold.
    ReceivePower {
        /// The port.
        port: Side,
    },
    /// Fewer bits were checked than the bound asked for needs.
    TooFewBits {
        /// The direction.
        direction: Direction,
        /// Bits checked.
        checked: u64,
        /// Bits needed.
        needed: u64,
    },
}

/// Ranks the variants of [`Reason`], in their order: its rank and its place come from one table.
macro_rules! ranks {
    ($($rank:ident: $($reason:ident)+;)+) => {
        /// The variants of [`Reason`] without their values.
        #[derive(Clone, Copy)]
        enum Place {
            $($($reason,)+)+
        }

        impl Reason {
            /// What this reason does to a verdict.
            #[must_use]
            pub const fn rank(&self) -> Rank {
                match self {
                    $($(Self::$reason { .. })|+ => Rank::$rank,)+
                }
            }

            const fn place(&self) -> Place {
                match self {
                    $($(Self::$reason { .. } => Place::$reason,)+)+
                }
            }
        }
    };
}

ranks! {
    Voiding:
        NotALoop Switch AnotherGauge ForeignTraffic OwnStray OneEndOpen DeviceGone PortTaken CountersReset
        Duplicated Reordered Misplaced UnknownOrigin DamagedInside NothingSent;
    Cable:
        DeadDirection NoLink Flapping LinkDown WrongSpeed CrcErrors SymbolErrors LinkFaults Lost Corrupt;
    Spoiling:
        SettingNotHeld SpeedSetup HostDrops PauseFrames ClockNotHeld HostBound Stalled WorkerDied
        StoppedEarly NotShown;
    Margin:
        SnrMargin CorrectedBlocks FastRetrains ReceivePower TooFewBits;
}

impl Reason {
    /// Its place in the list, from 0: the order in which reasons are shown.
    #[must_use]
    pub const fn order(&self) -> usize {
        self.place() as usize
    }

    /// Whose fault damaged content is: where the MAC discards frames with a wrong FCS, what is damaged behind
    /// a good one was damaged inside the box.
    #[must_use]
    pub const fn behind_fcs(self, mac_checks_fcs: bool) -> Self {
        match self {
            Self::Corrupt { direction, frames, .. } if mac_checks_fcs => {
                Self::DamagedInside { direction, frames }
            }
            other => other,
        }
    }

    /// The port it is about, where it is about one.
    #[must_use]
    pub const fn port(&self) -> Option<Side> {
        match *self {
            Self::SettingNotHeld { port, .. } => port,
            Self::AnotherGauge { on: port, .. }
            | Self::ForeignTraffic { on: port, .. }
            | Self::OwnStray { from: port, .. }
            | Self::OneEndOpen { down: port }
            | Self::DeviceGone { port }
            | Self::PortTaken { port }
            | Self::CountersReset { port }
            | Self::LinkDown { port, .. }
            | Self::CrcErrors { port, .. }
            | Self::SymbolErrors { port, .. }
            | Self::LinkFaults { port, .. }
            | Self::PauseFrames { port, .. }
            | Self::SnrMargin { port, .. }
            | Self::CorrectedBlocks { port, .. }
            | Self::FastRetrains { port, .. }
            | Self::ReceivePower { port } => Some(port),
            _ => None,
        }
    }

    /// The direction whose frames it is about, where it is about frames.
    #[must_use]
    pub const fn direction(&self) -> Option<Direction> {
        match *self {
            Self::Duplicated { direction, .. }
            | Self::Reordered { direction, .. }
            | Self::Misplaced { direction, .. }
            | Self::UnknownOrigin { direction, .. }
            | Self::DamagedInside { direction, .. }
            | Self::NothingSent { direction }
            | Self::DeadDirection { direction }
            | Self::Lost { direction, .. }
            | Self::Corrupt { direction, .. }
            | Self::HostDrops { direction, .. }
            | Self::HostBound { direction, .. }
            | Self::Stalled { direction, .. }
            | Self::WorkerDied { direction }
            | Self::NotShown { direction }
            | Self::TooFewBits { direction, .. } => Some(direction),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
