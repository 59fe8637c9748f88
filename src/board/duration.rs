//! How long a run's judged part lasts.

use super::words::number;
use measure::plan;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Shortest judged time in seconds: six 16 ms buckets, the least that makes a mean.
const SHORTEST_S: f64 = 0.1;
/// Longest judged time in seconds: thirty days.
const LONGEST_S: f64 = 30.0 * 86_400.0;

/// What a duration can be, for refusals.
pub const RIGHT: &str = "quick, standard, proof or 0.1 to 2592000 seconds";

/// How long frames flow after the settle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DurationArg {
    /// 10 s.
    Quick,
    /// 96 s.
    Standard,
    /// As long as the bits take that prove the bound.
    Proof,
    /// So many seconds, 0.1 to 2 592 000.
    Seconds(f64),
}

impl DurationArg {
    /// `seconds`; none outside 0.1 to 2 592 000.
    #[must_use]
    pub fn seconds(seconds: f64) -> Option<Self> {
        (SHORTEST_S..=LONGEST_S).contains(&seconds).then_some(Self::Seconds(seconds))
    }

    /// The judged time; none for a run that ends by bits.
    #[must_use]
    pub fn judged(self) -> Option<Duration> {
        match self {
            Self::Quick => Some(plan::QUICK),
            Self::Standard => Some(plan::STANDARD),
            Self::Proof => None,
            Self::Seconds(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        }
    }
}

impl FromStr for DurationArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "quick" => Ok(Self::Quick),
            "standard" => Ok(Self::Standard),
            "proof" => Ok(Self::Proof),
            _ => text.parse().ok().and_then(Self::seconds).ok_or(RIGHT),
        }
    }
}

impl fmt::Display for DurationArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quick => f.write_str("quick"),
            Self::Standard => f.write_str("standard"),
            Self::Proof => f.write_str("proof"),
            Self::Seconds(seconds) => f.write_str(&number(*seconds)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_seconds_are_durations() {
        assert_eq!("quick".parse::<DurationArg>().unwrap().judged(), Some(Duration::from_secs(10)));
        assert_eq!("standard".parse::<DurationArg>().unwrap().judged(), Some(Duration::from_secs(96)));
        assert_eq!("proof".parse::<DurationArg>().unwrap().judged(), None);
        assert_eq!("2.5".parse::<DurationArg>().unwrap().judged(), Some(Duration::from_millis(2500)));
    }

    #[test]
    fn no_time_endless_time_and_nonsense_are_refused() {
        for text in ["0", "-1", "0.05", "nan", "inf", "-inf", "1e400", "2592001", "", "fast", "10s"] {
            assert_eq!(text.parse::<DurationArg>(), Err(RIGHT), "{text}");
        }
    }

    #[test]
    fn what_is_shown_reads_back() {
        for text in ["quick", "standard", "proof", "30", "0.25"] {
            assert_eq!(text.parse::<DurationArg>().unwrap().to_string(), text);
        }
    }
}
