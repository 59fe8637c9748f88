//! A clock rate.

use crate::host::files::whole;
use std::fmt;
use std::num::NonZeroU32;

/// A clock rate in kHz, the unit of cpufreq: from 1 kHz to 4.29 THz. A driver's 0 stands for unknown and is
/// no rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Khz(NonZeroU32);

impl Khz {
    /// `khz` kHz; none for 0.
    #[must_use]
    pub const fn new(khz: u32) -> Option<Self> {
        match NonZeroU32::new(khz) {
            Some(khz) => Some(Self(khz)),
            None => None,
        }
    }

    /// What a cpufreq file says: decimal digits. None for anything else ("<unsupported>"), and for 0.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        whole(text).and_then(Self::new)
    }

    /// kHz.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0.get()
    }

    /// How far apart two rates are, in kHz.
    #[must_use]
    pub const fn apart(self, other: Self) -> u32 {
        self.get().abs_diff(other.get())
    }
}

impl fmt::Display for Khz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} kHz", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_number_is_a_rate_and_words_are_none() {
        assert_eq!(Khz::parse("2000000\n"), Khz::new(2_000_000));
        for text in ["<unsupported>", "", "0\n", "-1", "2.0", "99999999999", "2000000 kHz"] {
            assert_eq!(Khz::parse(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd_to_read(text in "[0-9]{0,4096}|\\PC{0,100}") {
            prop_assert!(Khz::parse(&text).is_none_or(|khz| text.contains(&khz.get().to_string())));
        }
    }
}
