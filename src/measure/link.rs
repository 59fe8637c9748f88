//! Is there a link: both ports up, at the same speed, for long enough.

use crate::units::BitRate;

/// A port's link as read at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkReading {
    /// Carrier; none where it cannot be read.
    pub carrier: Option<bool>,
    /// Negotiated speed; none where unknown (down, −1, 0, all-ones, or not on the list of known speeds).
    pub speed: Option<BitRate>,
    /// Carrier changes since the device appeared (IFLA_CARRIER_CHANGES); none where not counted.
    pub changes: Option<u64>,
    /// The port advertises the board's speed; none where it cannot be read.
    pub advertises: Option<bool>,
}
