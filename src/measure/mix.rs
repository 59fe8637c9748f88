//! Which frame sizes a stream sends: a list, equally often and interleaved.

use crate::units::{BitRate, FrameSize};
use core::fmt;

/// Most sizes a mix can have.
pub const MAX_SIZES: usize = 16;

/// The mixes that have a name.
const NAMED: [(&str, &[u16]); 3] = [
    ("jumbo", &[64, 128, 256, 512, 1024, 1280, 1518, 8192]),
    // RFC 2544, 9.1: the sizes for Ethernet.
    ("rfc2544", &[64, 128, 256, 512, 1024, 1280, 1518]),
    ("small", &[64]),
];

/// Frame sizes that a stream sends in turn: frame number n has size n mod the number of sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeMix {
    /// At least one.
    sizes: heapless::Vec<FrameSize, MAX_SIZES>,
}

impl SizeMix {
    /// The mix called `name`: `jumbo`, `rfc2544` or `small`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let (_, octets) = NAMED.iter().find(|(known, _)| *known == name)?;
        let sizes = octets.iter().filter_map(|octets| FrameSize::new(*octets)).collect();
        Some(Self { sizes })
    }

    /// A mix from its name or from a list of sizes, "64,1518".
    ///
    /// # Errors
    /// What is neither a name nor a size from 64 to 9216, or more than 16 sizes.
    pub fn parse(text: &str) -> Result<Self, MixError> {
        match Self::named(text.trim()) {
            Some(mix) => Ok(mix),
            None => Self::listed(text),
        }
    }

    fn listed(text: &str) -> Result<Self, MixError> {
        let mut sizes = heapless::Vec::new();
        for item in text.split(',') {
            let size = parse_size(item.trim())?;
            sizes.push(size).map_err(|_| MixError::TooMany { given: text.split(',').count() })?;
        }
        Ok(Self { sizes })
    }

    /// The sizes in the order in which they are sent.
    #[must_use]
    pub fn sizes(&self) -> &[FrameSize] {
        &self.sizes
    }

    /// After how many frames the sizes repeat.
    #[must_use]
    pub fn period(&self) -> usize {
        self.sizes.len()
    }

    /// The size of a stream's frame number `sequence`.
    #[must_use]
    pub fn size(&self, sequence: u64) -> FrameSize {
        let sizes = u64::try_from(self.sizes.len()).unwrap_or(u64::MAX);
        let index = sequence.checked_rem(sizes).and_then(|index| usize::try_from(index).ok());
        index.and_then(|index| self.sizes.get(index)).copied().unwrap_or(FrameSize::MIN)
    }

    /// The largest size.
    #[must_use]
    pub fn largest(&self) -> FrameSize {
        self.sizes.iter().copied().max().unwrap_or(FrameSize::MIN)
    }

    /// Octets on the wire of one frame of each size.
    #[must_use]
    pub fn l1_octets_per_period(&self) -> u64 {
        self.sizes.iter().map(|size| size.l1_octets()).sum()
    }

    /// Octets on the wire of the mean frame.
    #[must_use]
    pub fn mean_l1_octets(&self) -> f64 {
        self.l1_octets_per_period() as f64 / self.sizes.len() as f64
    }

    /// Frames that fill `rate` for a second.
    #[must_use]
    pub fn frames_per_second(&self, rate: BitRate) -> f64 {
        rate.bits_per_second() as f64 / 8.0 / self.mean_l1_octets()
    }

    /// The mix's name, where it has one: a list of the same sizes has it too.
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        let is_this = |octets: &[u16]| {
            let sizes = self.sizes.iter().map(|size| size.octets());
            sizes.eq(octets.iter().map(|octets| u64::from(*octets)))
        };
        NAMED.iter().find(|(_, octets)| is_this(octets)).map(|(name, _)| *name)
    }
}

/// The name, else the list; [`SizeMix::parse`] reads both.
impl fmt::Display for SizeMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.name() {
            return f.write_str(name);
        }
        for (index, size) in self.sizes.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{}", size.octets())?;
        }
        Ok(())
    }
}

fn parse_size(item: &str) -> Result<FrameSize, MixError> {
    let octets: u64 = item.parse().map_err(|_| MixError::NotASize { item: shortened(item) })?;
    let size = u16::try_from(octets).ok().and_then(FrameSize::new);
    size.ok_or(MixError::OutOfRange { octets })
}

/// As much of `item` as an error message needs.
fn shortened(item: &str) -> heapless::String<24> {
    let mut short = heapless::String::new();
    for c in item.chars() {
        if short.push(c).is_err() {
            break;
        }
    }
    short
}

/// Why a text is no size mix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MixError {
    /// Neither a name nor a number.
    NotASize {
        /// The item, cut at 24 octets.
        item: heapless::String<24>,
    },
    /// A size that no test frame has.
    OutOfRange {
        /// That size.
        octets: u64,
    },
    /// More sizes than a mix can have.
    TooMany {
        /// How many were given.
        given: usize,
    },
}

impl fmt::Display for MixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (min, max) = (FrameSize::MIN.octets(), FrameSize::MAX.octets());
        match self {
            Self::NotASize { item } => {
                write!(f, "size mix: \"{item}\" is no frame size; give ")?;
                write!(f, "jumbo, rfc2544, small or sizes from {min} to {max} like 64,1518")
            }
            Self::OutOfRange { octets } => {
                write!(f, "size mix: a frame of {octets} octets is not possible; ")?;
                write!(f, "sizes count the FCS and go from {min} to {max}")
            }
            Self::TooMany { given } => {
                write!(f, "size mix: {given} sizes are too many; give at most {MAX_SIZES}")
            }
        }
    }
}

impl core::error::Error for MixError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;
    use std::vec::Vec;

    const TEN_GIGABIT: BitRate = BitRate::from_mbps(10_000);

    fn assert_near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() < tolerance, "{value} is not {expected} ± {tolerance}");
    }

    #[test]
    fn the_jumbo_mix_fills_ten_gigabit_with_0_7614_million_frames_a_second() {
        let jumbo = SizeMix::named("jumbo").unwrap();
        assert_near(jumbo.mean_l1_octets() - 20.0, 1621.75, 1e-9);
        assert_near(jumbo.frames_per_second(TEN_GIGABIT) / 1e6, 0.7614, 0.000_05);
    }

    #[test]
    fn the_rfc2544_mix_fills_ten_gigabit_with_1_7777_million_frames_a_second() {
        let mix = SizeMix::named("rfc2544").unwrap();
        assert_near(mix.frames_per_second(TEN_GIGABIT) / 1e6, 1.7777, 0.000_05);
    }

    #[test]
    fn small_frames_fill_ten_gigabit_with_14_88_million_a_second() {
        // RFC 2544, appendix B.
        let mix = SizeMix::named("small").unwrap();
        assert_near(mix.frames_per_second(TEN_GIGABIT), 14_880_952.4, 0.1);
    }

    #[test]
    fn sizes_come_in_turn_for_ever() {
        let mix = SizeMix::parse("64,1518,9216").unwrap();
        let octets: Vec<u64> = (0..4).map(|sequence| mix.size(sequence).octets()).collect();
        assert_eq!(octets, [64, 1518, 9216, 64]);
        assert_eq!(mix.size(u64::MAX).octets(), 64, "2^64 − 1 is a multiple of 3");
        assert_eq!(mix.largest(), FrameSize::MAX);
        assert_eq!(mix.l1_octets_per_period(), 84 + 1538 + 9236);
    }

    #[test]
    fn a_list_that_has_a_name_is_shown_by_it() {
        assert_eq!(SizeMix::parse("64").unwrap().to_string(), "small");
        assert_eq!(SizeMix::parse(" 64, 1518 ").unwrap().to_string(), "64,1518");
        assert_eq!(SizeMix::named("64,1518"), None);
    }

    #[test]
    fn what_is_no_mix_gets_one_line_that_says_what_is_wrong_and_right() {
        let message = |text: &str| SizeMix::parse(text).unwrap_err().to_string();
        assert_eq!(
            message("64,fish"),
            "size mix: \"fish\" is no frame size; give jumbo, rfc2544, small or sizes from 64 to 9216 like 64,1518"
        );
        assert_eq!(
            message("63"),
            "size mix: a frame of 63 octets is not possible; sizes count the FCS and go from 64 to 9216"
        );
        assert!(message("70000").contains("70000"));
        assert!(message("").contains("\"\""));
        assert!(message("-1").contains("\"-1\""));
        let seventeen = ["64"; 17].join(",");
        assert_eq!(message(&seventeen), "size mix: 17 sizes are too many; give at most 16");
    }

    proptest! {
        #[test]
        fn every_mix_reads_back_as_it_is_shown(octets in prop::collection::vec(64u16..=9216, 1..=16)) {
            let text = octets.iter().map(u16::to_string).collect::<Vec<_>>().join(",");
            let mix = SizeMix::parse(&text).unwrap();
            prop_assert_eq!(mix.period(), octets.len());
            prop_assert_eq!(SizeMix::parse(&mix.to_string()).unwrap(), mix);
        }

        #[test]
        fn any_text_is_a_mix_or_a_one_line_error(text in any::<std::string::String>()) {
            match SizeMix::parse(&text) {
                Ok(mix) => prop_assert!((1..=MAX_SIZES).contains(&mix.period())),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}
