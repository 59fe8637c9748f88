//! Figures as short texts of a known greatest length, so that a layout can count on it.
//!
//! What is unknown is "N/A", never 0.

use core::time::Duration;
use measure::record::{Text, text};
use measure::units::BitRate;

/// What stands for a figure that is not known.
const UNKNOWN: &str = "N/A";

/// Most characters of [`rate`]: "10.000".
pub const RATE_CHARS: usize = 6;
/// Most characters of [`count`]: "12.3M".
pub const COUNT_CHARS: usize = 5;
/// Most characters of [`bound`]: "4.9e-324".
pub const BOUND_CHARS: usize = 8;

/// A rate in Gb/s with three decimals: "9.998"; fewer from 100 Gb/s on, where no port is yet.
pub fn rate(rate: Option<BitRate>) -> Text {
    let Some(rate) = rate else { return text(UNKNOWN) };
    let mega = rate.bits_per_second().saturating_add(500_000) / 1_000_000;
    match (mega / 1000, mega % 1000) {
        (giga @ 0..100, rest) => text(format_args!("{giga}.{rest:03}")),
        (giga @ 100..1000, rest) => text(format_args!("{giga}.{:02}", rest / 10)),
        _ => text(">999"),
    }
}

/// A count: whole up to 99999, then its three leading digits, cut and not rounded: "12.3M".
pub fn count(count: u64) -> Text {
    if count < 100_000 {
        return text(count);
    }
    let (thousandths, unit) = core::iter::successors(Some(count), |n| Some(n / 1000))
        .zip("kMGTPE".chars())
        .find(|(thousandths, _)| *thousandths < 1_000_000)
        .expect("a u64 is less than 1000 E");
    match (thousandths / 1000, thousandths % 1000) {
        (whole @ 0..10, rest) => text(format_args!("{whole}.{:02}{unit}", rest / 10)),
        (whole @ 10..100, rest) => text(format_args!("{whole}.{}{unit}", rest / 100)),
        (whole, _) => text(format_args!("{whole}{unit}")),
    }
}

/// A time left, rounded up to the second, so that 0:00 is the end and nothing else: "1:23", "27h05", ">99h".
pub fn time(time: Option<Duration>) -> Text {
    let Some(time) = time else { return text(UNKNOWN) };
    let seconds = time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0));
    match (seconds / 60, seconds % 60) {
        (minutes @ 0..60, seconds) => text(format_args!("{minutes}:{seconds:02}")),
        (minutes @ 60..6000, _) => text(format_args!("{}h{:02}", minutes / 60, minutes % 60)),
        _ => text(">99h"),
    }
}

/// An upper bound of a bit error ratio: "3.0e-13".
pub fn bound(bound: Option<f64>) -> Text {
    match bound {
        Some(bound) if bound.is_finite() && bound >= 0.0 => text(format_args!("{bound:.1e}")),
        _ => text(UNKNOWN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn giga(bits: u64) -> Text {
        rate(Some(BitRate::from_bits_per_second(bits)))
    }

    #[test]
    fn rates_have_three_decimals() {
        assert_eq!(giga(9_998_000_000), "9.998");
        assert_eq!(giga(9_999_499_999), "9.999");
        assert_eq!(giga(10_000_000_000), "10.000");
        assert_eq!(giga(1_000_000), "0.001");
        assert_eq!(giga(123_456_000_000), "123.45");
        assert_eq!(giga(u64::MAX), ">999");
    }

    #[test]
    fn what_is_unknown_is_not_zero() {
        assert_eq!((rate(None), time(None), bound(None)), (text("N/A"), text("N/A"), text("N/A")));
        assert_eq!(bound(Some(f64::NAN)), "N/A");
        assert_eq!(giga(0), "0.000");
    }

    #[test]
    fn counts_are_whole_as_long_as_they_fit() {
        assert_eq!(count(0), "0");
        assert_eq!(count(99_999), "99999");
        assert_eq!(count(100_000), "100k");
        assert_eq!(count(999_999), "999k");
        assert_eq!(count(1_234_567), "1.23M");
        assert_eq!(count(12_345_678), "12.3M");
        assert_eq!(count(1_000_000_000), "1.00G");
        assert_eq!(count(u64::MAX), "18.4E");
    }

    #[test]
    fn time_left_is_rounded_up() {
        assert_eq!(time(Some(Duration::ZERO)), "0:00");
        assert_eq!(time(Some(Duration::from_millis(1))), "0:01");
        assert_eq!(time(Some(Duration::from_secs(83))), "1:23");
        assert_eq!(time(Some(Duration::from_secs(3600))), "1h00");
        assert_eq!(time(Some(Duration::MAX)), ">99h");
    }

    #[test]
    fn bounds_are_short() {
        assert_eq!(bound(Some(2.996e-12)), "3.0e-12");
        assert_eq!(bound(Some(0.5)), "5.0e-1");
    }

    proptest! {
        #[test]
        fn no_figure_is_longer_than_its_room(n: u64, nanos in 0..1_000_000_000u32, x: f64) {
            prop_assert!(giga(n).len() <= RATE_CHARS);
            prop_assert!(count(n).len() <= COUNT_CHARS);
            prop_assert!(time(Some(Duration::new(n, nanos))).len() <= 5);
            prop_assert!(bound(Some(x)).len() <= BOUND_CHARS);
        }

        #[test]
        fn a_count_that_is_not_zero_never_looks_like_it(n in 1u64..) {
            prop_assert_ne!(count(n), "0");
        }
    }
}
