//! Bit error ratio: how sure a count of errors makes us.
//!
//! Errors are rare and independent, so their number is Poisson distributed; the bound is the ratio
//! at which so few errors, or fewer, would be seen with a chance of only 1 − confidence. It says
//! nothing about errors that come in bursts, and it is never a certification.

/// From this many errors on the sum of Poisson terms, which takes about 8·√n of them, gives way to the
/// approximation of Wilson and Hilferty (1931), which is better than 1 in 10⁷ there.
const MANY: u64 = 100_000;

/// One-sided upper bound of the bit error ratio after `errors` in `bits`, at `confidence` (0.95 for 95 %).
///
/// None for no bits, and for a confidence that is not between 0 and 1.
#[must_use]
pub fn upper_bound(errors: u64, bits: u64, confidence: f64) -> Option<f64> {
    if bits == 0 {
        return None;
    }
    Some(mean(errors, confidence)? / float(bits))
}

/// Bits to check so that `errors` in them bound the ratio by `bound`, at `confidence`.
///
/// None for a bound or a confidence that is not between 0 and 1, and for more bits than 64 bits can count.
#[must_use]
pub fn bits_needed(bound: f64, errors: u64, confidence: f64) -> Option<u64> {
    if !is_open_unit(bound) {
        return None;
    }
    whole(libm::ceil(mean(errors, confidence)? / bound))
}

/// The Poisson mean at which `errors` or fewer have a chance of 1 − `confidence`.
fn mean(errors: u64, confidence: f64) -> Option<f64> {
    if !is_open_unit(confidence) {
        return None;
    }
    Some(match errors {
        0 => -libm::log1p(-confidence),
        1..MANY => bisect(|mean| chance_of_at_most(errors, mean) > 1.0 - confidence),
        MANY.. => wilson_hilferty(errors, confidence),
    })
}

/// Strictly between 0 and 1; NaN is not.
fn is_open_unit(value: f64) -> bool {
    value > 0.0 && value < 1.0
}

/// Where `below`, true of small numbers and false of great ones, turns false.
fn bisect(below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while below(high) {
        low = high;
        high *= 2.0;
    }
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        if below(middle) { low = middle } else { high = middle }
    }
}

/// Σ e^−m · m^k / k! over k ≤ `n`, summed both ways from the greatest term: the others soon vanish.
fn chance_of_at_most(n: u64, mean: f64) -> f64 {
    let last = float(n);
    let peak = libm::floor(mean).min(last);
    let greatest = libm::exp(peak * libm::log(mean) - mean - libm::lgamma(peak + 1.0));
    let mut sum = greatest;
    let (mut term, mut k) = (greatest, peak);
    while k > 0.0 && term > sum * f64::EPSILON {
        term *= k / mean;
        sum += term;
        k -= 1.0;
    }
    (term, k) = (greatest, peak);
    while k < last && term > sum * f64::EPSILON {
        k += 1.0;
        term *= mean / k;
        sum += term;
    }
    sum
}

/// The mean by the cube-root normal approximation of the gamma distribution.
fn wilson_hilferty(errors: u64, confidence: f64) -> f64 {
    let shape = float(errors) + 1.0;
    let root = 1.0 - 1.0 / (9.0 * shape) + normal_quantile(confidence) / (3.0 * libm::sqrt(shape));
    shape * root * root * root
}

/// How many standard deviations above its mean a normal variable stays with this chance.
fn normal_quantile(chance: f64) -> f64 {
    if chance < 0.5 {
        return -normal_quantile(1.0 - chance);
    }
    bisect(|deviations| libm::erfc(deviations / core::f64::consts::SQRT_2) / 2.0 > 1.0 - chance)
}

/// The nearest floating-point number: at most 1 part in 2⁵³ away.
#[expect(clippy::cast_precision_loss, reason = "a bound is given to a few digits")]
const fn float(count: u64) -> f64 {
    count as f64
}

/// A whole, non-negative number that fits in 64 bits.
fn whole(value: f64) -> Option<u64> {
    /// 2⁶⁴, the first that does not fit.
    const TOO_MANY: f64 = 18_446_744_073_709_551_616.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range has just been tested and the value is whole"
    )]
    (0.0..TOO_MANY).contains(&value).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;

    #[test]
    fn bits_for_1e_minus_12_at_95_percent_match_the_published_table() {
        let table = ["2.996e12", "4.744e12", "6.296e12", "7.754e12", "9.154e12"];
        for (errors, published) in (0..).zip(table) {
            let bits = bits_needed(1e-12, errors, 0.95).unwrap();
            assert_eq!(format!("{:.3e}", float(bits)), published, "{errors} errors");
        }
    }

    #[test]
    fn the_published_bits_bound_the_ratio_by_1e_minus_12() {
        let table =
            [2_996_000_000_000, 4_744_000_000_000, 6_296_000_000_000, 7_754_000_000_000, 9_154_000_000_000];
        for (errors, bits) in (0..).zip(table) {
            let bound = upper_bound(errors, bits, 0.95).unwrap();
            assert!((bound / 1e-12 - 1.0).abs() < 2e-4, "{errors} errors: {bound}");
        }
    }

    #[test]
    fn no_bits_and_no_confidence_bound_nothing() {
        assert_eq!(upper_bound(0, 0, 0.95), None);
        for confidence in [0.0, 1.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!(upper_bound(0, 1, confidence), None, "{confidence}");
            assert_eq!(bits_needed(1e-12, 0, confidence), None, "{confidence}");
        }
        for bound in [0.0, 1.0, -1e-12, f64::NAN, f64::INFINITY] {
            assert_eq!(bits_needed(bound, 0, 0.95), None, "{bound}");
        }
    }

    #[test]
    fn more_bits_than_can_be_counted_is_none() {
        assert_eq!(bits_needed(1e-300, 0, 0.95), None);
        assert_eq!(bits_needed(1e-19, u64::MAX, 0.95), None);
    }

    #[test]
    fn the_sum_and_the_approximation_agree_where_they_meet() {
        for confidence in [0.5, 0.9, 0.95, 0.999_999] {
            let sum = bisect(|mean| chance_of_at_most(MANY, mean) > 1.0 - confidence);
            let approximation = mean(MANY, confidence).unwrap();
            assert!((sum / approximation - 1.0).abs() < 1e-7, "{confidence}: {sum} {approximation}");
        }
    }

    #[test]
    fn half_confidence_is_the_median_two_thirds_above_the_count() {
        // Median of the gamma distribution: n + 2/3 + 8 / (405 n) + …
        for errors in [10, 1000, 99_999, 1_000_000] {
            let excess = mean(errors, 0.5).unwrap() - float(errors);
            assert!((excess - 2.0 / 3.0).abs() < 0.003, "{errors}: {excess}");
        }
    }

    #[test]
    fn the_greatest_counts_are_bounded_too() {
        for confidence in [f64::MIN_POSITIVE, 0.5, 0.999_999, 1.0 - f64::EPSILON / 2.0] {
            for errors in [1, MANY - 1, MANY, u64::MAX] {
                let bound = upper_bound(errors, u64::MAX, confidence).unwrap();
                assert!(bound.is_finite() && bound >= 0.0, "{errors} at {confidence}: {bound}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn a_bound_lies_above_the_ratio_seen(errors in 0u64..2_000_000, confidence in 0.5..0.999_999) {
            prop_assert!(mean(errors, confidence).unwrap() > float(errors));
        }

        #[test]
        fn more_errors_raise_the_bound(errors in 0u64..200_000, confidence in 0.5..0.999_999) {
            prop_assert!(mean(errors, confidence) < mean(errors + 1, confidence));
        }

        #[test]
        fn more_bits_lower_the_bound(errors in 0u64..1000, bits in 1u64..1 << 50, more in 1u64..1 << 40) {
            prop_assert!(upper_bound(errors, bits + more, 0.95) <= upper_bound(errors, bits, 0.95));
        }

        #[test]
        fn more_confidence_raises_the_bound(
            errors in 0u64..200_000,
            confidence in 0.5..0.99,
            more in 0.000_1..0.009,
        ) {
            prop_assert!(mean(errors, confidence) < mean(errors, confidence + more));
        }

        #[test]
        fn the_bits_needed_keep_the_bound_and_one_less_does_not(
            errors in 0u64..1000,
            exponent in 3i32..10,
            confidence in 0.5..0.999_999,
        ) {
            let bound = 10f64.powi(-exponent);
            let bits = bits_needed(bound, errors, confidence).unwrap();
            prop_assert!(upper_bound(errors, bits, confidence).unwrap() <= bound * (1.0 + 1e-12));
            prop_assert!(upper_bound(errors, bits - 1, confidence).unwrap_or(1.0) > bound * (1.0 - 1e-12));
        }

        #[test]
        fn nothing_that_comes_in_makes_it_stumble(errors: u64, bits: u64, confidence: f64, bound: f64) {
            let allowed = bits > 0 && confidence > 0.0 && confidence < 1.0;
            prop_assert_eq!(upper_bound(errors, bits, confidence).is_some(), allowed);
            let _ = bits_needed(bound, errors, confidence);
        }
    }
}
