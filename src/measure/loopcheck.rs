//! Is it a loop: what was heard before a flood may leave the box.

use crate::units::{Direction, MacAddress, Side};

/// A probe's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProbeKind {
    /// To the peer port's own address.
    Unicast,
    /// To 01-80-C2-00-00-0E, which a cable carries and every bridge must filter (IEEE 802.1Q, 8.6.3).
    Filtered,
}

/// A frame that is no test frame of this run, as the listening port understood it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A probe of this run.
    Probe {
        /// Direction it travelled.
        direction: Direction,
        /// Its kind.
        kind: ProbeKind,
    },
    /// A frame with our magic and somebody else's nonce.
    AnotherGauge {
        /// That nonce.
        nonce: u32,
    },
    /// A frame from one of this box's own addresses that the test did not send.
    OwnStray {
        /// The port whose address it carries.
        from: Side,
        /// Its ethertype.
        ethertype: u16,
    },
    /// A frame of ours, damaged so that no test socket took it.
    Damaged {
        /// Direction it travelled.
        direction: Direction,
    },
    /// Anything else.
    Foreign {
        /// Its source address.
        from: MacAddress,
        /// Its ethertype.
        ethertype: u16,
    },
}
