//! How long a run lasts: by the clock, or by the bits it has checked.

use crate::ber;
use crate::record::{Text, text};
use core::fmt;
use core::time::Duration;

/// The first part of the traffic, accounted but not judged for rate.
pub const SETTLE: Duration = Duration::from_secs(5);

/// Judged time of the plan `quick`.
pub const QUICK: Duration = Duration::from_secs(10);

/// Judged time of the plan `standard`.
pub const STANDARD: Duration = Duration::from_secs(96);

/// Bit error ratio that the plan `proof` is to bound where nobody asks for another.
pub const PROOF_BOUND: f64 = 1e-12;

/// Confidence where nobody asks for another.
pub const CONFIDENCE: f64 = 0.95;

/// Where a run that ends by bits is given up: 1e-12 takes 312 s at 10 Gb/s, and under an hour at 1 Gb/s.
pub const LIMIT: Duration = Duration::from_secs(2 * 3600);

/// A run that ends by bits is judged at least so long: without a judged part there is no steady rate.
pub const SHORTEST_BY_BITS: Duration = Duration::from_secs(1);

/// Shortest judged time that can be asked for, in seconds: some six buckets of 16 ms.
const SHORTEST: f64 = 0.1;

/// Longest judged time that can be asked for, in seconds: a week.
const LONGEST: f64 = 604_800.0;

/// What ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// So much judged time, counted from the end of the settle.
    After(Duration),
    /// So many checked bits in each direction, those of the settle included.
    AtBits(u64),
}

/// Which part of the traffic a moment belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Accounted, not judged for rate.
    Settle,
    /// Judged.
    Run,
    /// The senders may stop.
    Over,
}

/// How long a run lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Settle time.
    pub settle: Duration,
    /// What ends the run.
    pub end: End,
    /// Traffic time, settle included, at which a run by bits ends without having them; unused by the clock.
    pub limit: Duration,
}

impl Plan {
    /// The plans that have a name: `quick`, `standard` and `proof` (1e-12 at 95 %).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "quick" => Some(Self::after(QUICK)),
            "standard" => Some(Self::after(STANDARD)),
            "proof" => Some(Self::at_bits(ber::bits_needed(PROOF_BOUND, 0, CONFIDENCE)?)),
            _ => None,
        }
    }

    /// The plan that a person asked for: a name, or seconds of judged time (0.1 to 604800).
    ///
    /// `bound` and `confidence` say how many bits `proof` takes; the others leave them alone.
    ///
    /// # Errors
    /// One line that names what was given and what would be right.
    pub fn parse(given: &str, bound: f64, confidence: f64) -> Result<Self, PlanError> {
        if given == "proof" {
            return Self::proof(bound, confidence);
        }
        if let Some(plan) = Self::named(given) {
            return Ok(plan);
        }
        let refuse = || PlanError::Duration(text(given));
        let seconds: f64 = given.parse().map_err(|_| refuse())?;
        if !(SHORTEST..=LONGEST).contains(&seconds) {
            return Err(refuse());
        }
        Duration::try_from_secs_f64(seconds).map(Self::after).map_err(|_| refuse())
    }

    /// A run that ends once no error in its bits bounds the ratio by `bound` at `confidence`.
    ///
    /// # Errors
    /// One line that names the figure that is out of range.
    pub fn proof(bound: f64, confidence: f64) -> Result<Self, PlanError> {
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(PlanError::Confidence(confidence));
        }
        ber::bits_needed(bound, 0, confidence).map(Self::at_bits).ok_or(PlanError::Bound(bound))
    }

    /// A settle and then `time` of judged traffic.
    #[must_use]
    pub const fn after(time: Duration) -> Self {
        Self { settle: SETTLE, end: End::After(time), limit: SETTLE.saturating_add(time) }
    }

    /// As much traffic as it takes to check `bits` each way.
    #[must_use]
    pub const fn at_bits(bits: u64) -> Self {
        Self { settle: SETTLE, end: End::AtBits(bits), limit: LIMIT }
    }

    /// Where a run stands after `traffic_for` with `checked_bits` A→B and B→A.
    #[must_use]
    pub fn stage(&self, traffic_for: Duration, checked_bits: [u64; 2]) -> Stage {
        if self.is_over(traffic_for, checked_bits) {
            Stage::Over
        } else if traffic_for < self.settle {
            Stage::Settle
        } else {
            Stage::Run
        }
    }

    /// How much is done, in thousandths of settle and run; 1000 exactly when the run is over.
    #[must_use]
    pub fn progress(&self, traffic_for: Duration, checked_bits: [u64; 2]) -> u16 {
        let timed = thousandths(traffic_for.as_nanos(), self.shortest().as_nanos());
        match self.end {
            End::After(_) => timed,
            End::AtBits(bits) => {
                let [a, b] = checked_bits;
                let checked = thousandths(a.min(b).into(), bits.into());
                checked.min(timed).max(thousandths(traffic_for.as_nanos(), self.limit.as_nanos()))
            }
        }
    }

    /// Time left; none where the run ends by bits.
    #[must_use]
    pub fn left(&self, traffic_for: Duration) -> Option<Duration> {
        match self.end {
            End::After(_) => Some(self.shortest().saturating_sub(traffic_for)),
            End::AtBits(_) => None,
        }
    }

    /// The least traffic time at which the run can be over, its limit apart.
    fn shortest(&self) -> Duration {
        self.settle.saturating_add(match self.end {
            End::After(time) => time,
            End::AtBits(_) => SHORTEST_BY_BITS,
        })
    }

    fn is_over(&self, traffic_for: Duration, checked_bits: [u64; 2]) -> bool {
        let timed = traffic_for >= self.shortest();
        match self.end {
            End::After(_) => timed,
            End::AtBits(bits) => {
                timed && checked_bits.iter().all(|&checked| checked >= bits) || traffic_for >= self.limit
            }
        }
    }
}

/// `part` of `whole` in thousandths, rounded down, 1000 at most; all of nothing is 1000.
fn thousandths(part: u128, whole: u128) -> u16 {
    let share = part.saturating_mul(1000).checked_div(whole).unwrap_or(1000);
    u16::try_from(share.min(1000)).unwrap_or(1000)
}

/// Why there is no such plan.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanError {
    /// Neither a name nor seconds in range.
    Duration(Text),
    /// A bit error ratio that cannot be shown.
    Bound(f64),
    /// A confidence that is none.
    Confidence(f64),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duration(given) => {
                write!(
                    f,
                    "duration '{given}': give quick, standard, proof or {SHORTEST} to {LONGEST} seconds"
                )
            }
            Self::Bound(bound) => {
                write!(f, "bound {bound:e}: give a bit error ratio from 1e-18 to under 1, such as 1e-12")
            }
            Self::Confidence(confidence) => {
                write!(f, "confidence {confidence}: give a number between 0 and 1, such as 0.95")
            }
        }
    }
}

impl core::error::Error for PlanError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::{String, ToString};

    const NO_BITS: [u64; 2] = [0; 2];

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn parse(given: &str) -> Result<Plan, PlanError> {
        Plan::parse(given, PROOF_BOUND, CONFIDENCE)
    }

    #[test]
    fn the_names_have_their_times() {
        assert_eq!(parse("quick").unwrap().end, End::After(seconds(10)));
        assert_eq!(parse("standard").unwrap().end, End::After(seconds(96)));
        assert_eq!(parse("proof"), Ok(Plan::named("proof").unwrap()));
        assert_eq!(Plan::named("quick").unwrap().settle, seconds(5));
        assert_eq!(Plan::named("slow"), None);
    }

    #[test]
    fn proof_ends_by_the_bits_that_bound_1e_minus_12() {
        let End::AtBits(bits) = Plan::named("proof").unwrap().end else { panic!("proof ends by bits") };
        assert!(bits.abs_diff(2_996_000_000_000) < 500_000_000, "{bits}");
        let End::AtBits(bits) = Plan::proof(1e-9, 0.5).unwrap().end else { panic!("proof ends by bits") };
        assert_eq!(bits, 693_147_181);
    }

    #[test]
    fn seconds_are_a_duration() {
        assert_eq!(parse("20").unwrap().end, End::After(seconds(20)));
        assert_eq!(parse("0.5").unwrap().end, End::After(Duration::from_millis(500)));
    }

    #[test]
    fn a_bad_duration_gets_one_clear_line() {
        for given in ["0", "", "-1", "abc", "inf", "NaN", "0.01", "604801", "1e300", "10 s", "Quick"] {
            let line = parse(given).unwrap_err().to_string();
            let right = "give quick, standard, proof or 0.1 to 604800 seconds";
            assert_eq!(line, std::format!("duration '{given}': {right}"));
        }
    }

    #[test]
    fn a_bad_bound_or_confidence_gets_one_clear_line() {
        let line = |bound, confidence| Plan::proof(bound, confidence).unwrap_err().to_string();
        assert_eq!(line(0.0, 0.95), "bound 0e0: give a bit error ratio from 1e-18 to under 1, such as 1e-12");
        assert_eq!(
            line(1e-300, 0.95),
            "bound 1e-300: give a bit error ratio from 1e-18 to under 1, such as 1e-12"
        );
        assert_eq!(line(1e-12, 1.0), "confidence 1: give a number between 0 and 1, such as 0.95");
        assert_eq!(line(1e-12, f64::NAN), "confidence NaN: give a number between 0 and 1, such as 0.95");
    }

    #[test]
    fn a_timed_run_settles_runs_and_is_over() {
        let plan = Plan::named("quick").unwrap();
        let stages =
            [(0, Stage::Settle), (4, Stage::Settle), (5, Stage::Run), (14, Stage::Run), (15, Stage::Over)];
        for (at, stage) in stages {
            assert_eq!(plan.stage(seconds(at), NO_BITS), stage, "at {at} s");
        }
        assert_eq!(plan.progress(seconds(6), NO_BITS), 400);
        assert_eq!(plan.left(seconds(6)), Some(seconds(9)));
        assert_eq!(plan.left(seconds(99)), Some(Duration::ZERO));
    }

    #[test]
    fn a_run_by_bits_ends_when_both_directions_have_them() {
        let plan = Plan::at_bits(1000);
        assert_eq!(plan.stage(seconds(20), [1000, 999]), Stage::Run);
        assert_eq!(plan.progress(seconds(20), [1000, 999]), 999);
        assert_eq!(plan.stage(seconds(20), [1000, 1000]), Stage::Over);
        assert_eq!(plan.left(seconds(20)), None);
    }

    #[test]
    fn bits_alone_never_cut_the_settle_or_the_judged_second_short() {
        let plan = Plan::at_bits(1);
        assert_eq!(plan.stage(seconds(1), [9, 9]), Stage::Settle);
        assert_eq!(plan.stage(Duration::from_millis(5_999), [9, 9]), Stage::Run);
        assert_eq!(plan.stage(seconds(6), [9, 9]), Stage::Over);
    }

    #[test]
    fn a_run_by_bits_is_given_up_at_its_limit() {
        let plan = Plan::at_bits(u64::MAX);
        assert_eq!(plan.stage(LIMIT - seconds(1), NO_BITS), Stage::Run);
        assert_eq!(plan.stage(LIMIT, NO_BITS), Stage::Over);
        assert_eq!(plan.progress(LIMIT, NO_BITS), 1000);
    }

    fn any_plan() -> impl Strategy<Value = Plan> {
        let times = 0u64..100_000;
        let end = prop_oneof![
            times.clone().prop_map(|ms| End::After(Duration::from_millis(ms))),
            (0u64..1_000_000).prop_map(End::AtBits),
        ];
        (times.clone(), end, times).prop_map(|(settle, end, limit)| Plan {
            settle: Duration::from_millis(settle),
            end,
            limit: Duration::from_millis(limit),
        })
    }

    proptest! {
        #[test]
        fn progress_is_1000_exactly_when_over(plan in any_plan(), ms in 0u64..300_000, a in 0u64..2_000_000, b in 0u64..2_000_000) {
            let time = Duration::from_millis(ms);
            let over = plan.stage(time, [a, b]) == Stage::Over;
            prop_assert_eq!(plan.progress(time, [a, b]) == 1000, over);
        }

        #[test]
        fn a_run_only_goes_forward(plan in any_plan(), ms in 0u64..300_000, more in 0u64..9999, a: u32, b: u32, bits in 0u64..999) {
            let (now, later) = (Duration::from_millis(ms), Duration::from_millis(ms + more));
            let (few, many) = ([u64::from(a), u64::from(b)], [u64::from(a) + bits, u64::from(b) + bits]);
            prop_assert!(plan.stage(now, few) <= plan.stage(later, many));
            prop_assert!(plan.progress(now, few) <= plan.progress(later, many));
            prop_assert!(plan.left(now) >= plan.left(later));
        }

        #[test]
        fn any_text_is_a_plan_or_one_line(given in "\\PC{0,60}", bound: f64, confidence: f64) {
            if let Err(error) = Plan::parse(&given, bound, confidence) {
                let line: String = error.to_string();
                prop_assert!(!line.contains('\n'));
            }
        }

        #[test]
        fn extreme_plans_do_not_overflow(settle: u64, time: u64, now: u64, a: u64, b: u64) {
            let [settle, time, now] = [settle, time, now].map(Duration::from_secs);
            for end in [End::After(time), End::AtBits(a)] {
                let plan = Plan { settle, end, limit: time };
                prop_assert!(plan.progress(now, [a, b]) <= 1000);
                prop_assert!(plan.left(now).is_none_or(|left| left <= settle.saturating_add(time)));
            }
        }
    }
}
