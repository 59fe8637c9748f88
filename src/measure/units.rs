//! Quantities with their unit, range and representation: time, octets, rates, ports and directions.
//!
//! A *frame size* always counts the 4-octet FCS and never the preamble.
//! A *rate* here is always an L1 rate: what the frames occupy on the wire.

use core::fmt;
use core::ops::{Add, Sub};
use core::time::Duration;

/// Octets of a frame check sequence (IEEE 802.3, 3.2.9).
pub const FCS_OCTETS: u64 = 4;

/// Octets a frame occupies on the wire beyond its own: preamble 7, start-of-frame delimiter 1,
/// minimum interpacket gap 12 (IEEE 802.3, 3.2.1, 3.2.2 and 4.4.2).
pub const L1_OVERHEAD_OCTETS: u64 = 20;

/// How far two 802.3 clocks may be apart: ±100 ppm (IEEE 802.3, 49.2 and 55.5.3.5).
pub const CLOCK_TOLERANCE_PPM: u64 = 100;

/// Most streams a direction can have.
pub const MAX_STREAMS: usize = 7;

/// A moment of the monotonic clock, in nanoseconds since an origin that is the same for a whole process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The origin itself.
    pub const ZERO: Self = Self(0);

    /// A moment `nanos` nanoseconds after the origin.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A moment `millis` milliseconds after the origin.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Nanoseconds since the origin.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Time from `earlier` to this moment; zero where `earlier` is in fact later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(nanos(duration)))
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(nanos(duration)))
    }
}

/// Nanoseconds of a duration, saturating at `u64::MAX` (584 years).
#[must_use]
pub fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Size of a frame in octets, FCS counted: 64 to 9216.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameSize(u16);

impl FrameSize {
    /// minFrameSize of IEEE 802.3, 4.4.2.
    pub const MIN: Self = Self(64);
    /// The largest frame the test sends; what a port really carries is its MTU + 18.
    pub const MAX: Self = Self(9216);

    /// A frame of `octets`, FCS counted; `None` outside 64 to 9216.
    #[must_use]
    pub const fn new(octets: u16) -> Option<Self> {
        if octets < Self::MIN.0 || octets > Self::MAX.0 { None } else { Some(Self(octets)) }
    }

    /// Octets, FCS counted.
    #[must_use]
    pub const fn octets(self) -> u64 {
        self.0 as u64
    }

    /// Octets that software hands over: without the FCS, which the MAC appends.
    #[must_use]
    pub const fn without_fcs(self) -> usize {
        self.0 as usize - 4
    }

    /// Octets the frame occupies on the wire.
    #[must_use]
    pub const fn l1_octets(self) -> u64 {
        self.octets() + L1_OVERHEAD_OCTETS
    }
}

/// An L1 rate in bit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

impl BitRate {
    /// A rate of `bits` bit/s.
    #[must_use]
    pub const fn from_bits_per_second(bits: u64) -> Self {
        Self(bits)
    }

    /// A rate of `mega` Mb/s, the unit in which Linux tells a link speed.
    #[must_use]
    pub const fn from_mbps(mega: u64) -> Self {
        Self(mega.saturating_mul(1_000_000))
    }

    /// bit/s.
    #[must_use]
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }

    /// The rate that moves `l1_octets` in `time`; `None` for no time at all.
    #[must_use]
    pub fn of(l1_octets: u64, time: Duration) -> Option<Self> {
        let bits = u128::from(l1_octets) * 8 * 1_000_000_000;
        let rate = bits.checked_div(time.as_nanos())?;
        Some(Self(u64::try_from(rate).unwrap_or(u64::MAX)))
    }

    /// L1 octets that this rate moves in `time`, rounded down.
    #[must_use]
    pub fn l1_octets_in(self, time: Duration) -> u64 {
        let octets = u128::from(self.0).saturating_mul(time.as_nanos()) / (8 * 1_000_000_000);
        u64::try_from(octets).unwrap_or(u64::MAX)
    }

    /// This rate with a clock that runs `ppm` parts per million fast.
    #[must_use]
    pub fn plus_ppm(self, ppm: u64) -> Self {
        let rate = u128::from(self.0).saturating_mul(1_000_000 + u128::from(ppm)) / 1_000_000;
        Self(u64::try_from(rate).unwrap_or(u64::MAX))
    }
}

/// Always in Gb/s with three decimals, so that two figures on one screen never differ in unit.
impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mega = self.0.saturating_add(500_000) / 1_000_000;
        write!(f, "{}.{:03} Gb/s", mega / 1000, mega % 1000)
    }
}

/// One of the box's two network ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Port A.
    A,
    /// Port B.
    B,
}

impl Side {
    /// Both, in order.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// The port at the other end of the cable.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// 0 for A, 1 for B.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "A",
            Self::B => "B",
        })
    }
}

/// One of the cable's two directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Sent by port A, received by port B.
    AToB,
    /// Sent by port B, received by port A.
    BToA,
}

impl Direction {
    /// Both, in order.
    pub const BOTH: [Self; 2] = [Self::AToB, Self::BToA];

    /// 0 for A→B, 1 for B→A: the value in the test frame's header.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The port that sends.
    #[must_use]
    pub const fn from(self) -> Side {
        match self {
            Self::AToB => Side::A,
            Self::BToA => Side::B,
        }
    }

    /// The port that receives.
    #[must_use]
    pub const fn to(self) -> Side {
        self.from().other()
    }

    /// The other direction.
    #[must_use]
    pub const fn reverse(self) -> Self {
        match self {
            Self::AToB => Self::BToA,
            Self::BToA => Self::AToB,
        }
    }
}

/// ASCII, so that any serial terminal and grep can take it.
impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AToB => "A>B",
            Self::BToA => "B>A",
        })
    }
}

/// A 48-bit MAC address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_l1_rate_counts_preamble_and_gap() {
        // 64-octet frames at 10 Gb/s: 14 880 952 a second (RFC 2544, appendix B).
        let frames = 14_880_952;
        let octets = frames * FrameSize::MIN.l1_octets();
        let rate = BitRate::of(octets, Duration::from_secs(1)).unwrap();
        assert!(rate.bits_per_second().abs_diff(10_000_000_000) < 1000, "{rate:?}");
    }

    #[test]
    fn no_time_is_no_rate() {
        assert_eq!(BitRate::of(1, Duration::ZERO), None);
    }

    #[test]
    fn a_rate_prints_in_gigabits_with_its_unit() {
        let text = std::format!("{}", BitRate::from_mbps(9_996));
        assert_eq!(text, "9.996 Gb/s");
    }

    #[test]
    fn rates_saturate_and_never_overflow() {
        let most = BitRate::from_bits_per_second(u64::MAX);
        assert_eq!(most.plus_ppm(u64::MAX), most);
        assert_eq!(most.l1_octets_in(Duration::MAX), u64::MAX);
        assert_eq!(std::format!("{most}"), "18446744073.709 Gb/s");
    }

    #[test]
    fn frame_sizes_outside_the_standard_are_refused() {
        assert_eq!(FrameSize::new(63), None);
        assert_eq!(FrameSize::new(64), Some(FrameSize::MIN));
        assert_eq!(FrameSize::new(9217), None);
    }

    #[test]
    fn a_direction_knows_its_ends() {
        assert_eq!(Direction::BToA.from(), Side::B);
        assert_eq!(Direction::BToA.to(), Side::A);
        assert_eq!(Direction::AToB.reverse(), Direction::BToA);
    }
}
