//! A moment as people and programs write it: ISO 8601, UTC.

use std::fmt::{self, Display, Formatter};

/// Milliseconds of a day.
const DAY_MS: u64 = 86_400_000;

/// Days of four centuries in the Gregorian calendar.
const FOUR_CENTURIES: u64 = 146_097;

/// Days from 0000-03-01 to 1970-01-01. Years are counted from March here, so that a leap day is a year's last.
const BEFORE_1970: u64 = 719_468;

/// Milliseconds since 1970-01-01 UTC; displays as `2026-12-01T03:27:18.000Z`.
pub struct Utc(pub u64);

impl Display for Utc {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (days, ms) = (self.0 / DAY_MS, self.0 % DAY_MS);
        let (year, month, day) = date(days);
        let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
    }
}

/// Year, month and day of a day since 1970-01-01.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + BEFORE_1970;
    let (era, of_era) = (days / FOUR_CENTURIES, days % FOUR_CENTURIES);
    // Every fourth year has a day more, every hundredth not, the last of all has it.
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // From March on, months have 31, 30, 31, 30, 31 days, again and again: 153 in five.
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (400 * era + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_written_as_they_are_known() {
        for (unix_ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_796_095_638_123, "2026-12-01T03:27:18.123Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(Utc(unix_ms).to_string(), text);
        }
    }

    #[test]
    fn each_day_follows_the_one_before() {
        let mut last = date(0);
        for day in 1..300_000 {
            let (year, month, of_month) = date(day);
            let next = (year, month, of_month);
            let same_month = next == (last.0, last.1, last.2 + 1);
            let next_month = of_month == 1 && (year, month) == (last.0 + last.1 / 12, last.1 % 12 + 1);
            assert!(same_month || next_month && last.2 >= 28, "{last:?} {next:?}");
            assert!((1..=31).contains(&of_month));
            last = next;
        }
    }

    #[test]
    fn the_last_moment_that_there_is_has_a_date() {
        assert!(Utc(u64::MAX).to_string().starts_with("584556"));
    }
}
