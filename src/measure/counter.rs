//! Counters that only go forward, whatever the device behind them does.

/// A port's counters by meaning, raw as read at one moment; none where the driver has no such counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Frames sent.
    pub tx_frames: Option<u64>,
    /// Frames received.
    pub rx_frames: Option<u64>,
    /// Frames dropped on the way out, the driver's or the device's doing.
    pub tx_dropped: Option<u64>,
    /// Received frames dropped by the host for lack of room, wherever this driver counts them.
    pub rx_dropped: Option<u64>,
    /// Frames the port missed because the host was too slow.
    pub rx_missed: Option<u64>,
    /// Frames with a wrong FCS.
    pub crc_errors: Option<u64>,
    /// Symbol, code and block errors.
    pub symbol_errors: Option<u64>,
    /// Local and remote faults.
    pub link_faults: Option<u64>,
    /// Pause frames, sent and received.
    pub pause_frames: Option<u64>,
}
