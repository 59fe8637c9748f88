//! Counters that only go forward, whatever the device behind them does.
//!
//! A device's counters run from boot, wrap at a width of their own, and fall back to zero when its
//! driver resets them. What a run may use are the process-local totals made here: they start at
//! zero at the first reading and only grow. Every baseline is taken from them, never from a raw
//! reading; that way no lifetime is charged to a run, and no difference goes to 2^64.

use crate::units::{BitRate, CLOCK_TOLERANCE_PPM, FrameSize};
use core::time::Duration;

/// The longest time by which a driver's counters may be behind the device, added to the time between
/// two readings. Drivers refresh every 2 s at the slowest reported (ice issue 24, Intel 82580), and one
/// of those refreshes may come to nothing (ice issue 54).
pub const SLOWEST_REFRESH: Duration = Duration::from_secs(4);

/// How many bits a device's counter has before it starts again at zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Width {
    /// 32 bits.
    Bits32,
    /// 48 bits.
    Bits48,
    /// 64 bits.
    Bits64,
    /// Not known: then a step back is never a wrap.
    #[default]
    Unknown,
}

impl Width {
    /// The largest value the counter can show; none where the width is not known.
    #[must_use]
    pub const fn largest(self) -> Option<u64> {
        match self {
            Self::Bits32 => Some((1 << 32) - 1),
            Self::Bits48 => Some((1 << 48) - 1),
            Self::Bits64 => Some(u64::MAX),
            Self::Unknown => None,
        }
    }

    /// Whether the counter can come round a whole time, unseen, within a step of `most`.
    /// Such a source has to be read more often, or refused.
    #[must_use]
    pub fn can_lap(self, most: u64) -> bool {
        self.largest().is_some_and(|largest| most > largest)
    }

    /// The step from `last` through the top to `raw`; none where no counter of this width does that.
    fn wrapped(self, last: u64, raw: u64) -> Option<u64> {
        let to_top = self.largest()?.checked_sub(last)?;
        (raw < last).then(|| to_top + raw + 1)
    }
}

/// What one observation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The first reading: the baseline, which adds nothing.
    First,
    /// The counter went forward by so much.
    Forward(u64),
    /// The counter came round through its top, and went forward by so much.
    Wrapped(u64),
    /// The counter went back, or further forward than the line can take it. Either way the device's
    /// count has a new origin: nothing is added, and the next step is taken from here.
    Reset,
}

/// A process-local total that only grows, made of one raw counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forward {
    width: Width,
    last: Option<u64>,
    total: u64,
    resets: u32,
}

impl Forward {
    /// A total of zero, for a raw counter of `width`.
    #[must_use]
    pub const fn new(width: Width) -> Self {
        Self { width, last: None, total: 0, resets: 0 }
    }

    /// Takes in a raw reading; `most` is the largest step plausible at line rate since the last one.
    pub fn observe(&mut self, raw: u64, most: u64) -> Step {
        let step = self.last.replace(raw).map_or(Step::First, |last| self.judge(last, raw, most));
        match step {
            Step::First => {}
            Step::Forward(by) | Step::Wrapped(by) => self.total = self.total.saturating_add(by),
            Step::Reset => self.resets = self.resets.saturating_add(1),
        }
        step
    }

    /// The counter could not be read any more: counted as a reset, once, however long it stays away.
    /// What it shows when it comes back is a new baseline, because the time between is not accounted for.
    pub fn vanish(&mut self) {
        if self.last.take().is_some() {
            self.resets = self.resets.saturating_add(1);
        }
    }

    /// Everything counted since the first reading.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// How often the raw counter was reset, jumped or vanished.
    #[must_use]
    pub const fn resets(&self) -> u32 {
        self.resets
    }

    /// Compares before it subtracts: a test on the difference comes too late.
    fn judge(&self, last: u64, raw: u64, most: u64) -> Step {
        match raw.checked_sub(last) {
            Some(by) if by <= most => Step::Forward(by),
            Some(_) => Step::Reset,
            // Where a whole lap is plausible, every reset would look like a wrap.
            None if self.width.can_lap(most) => Step::Reset,
            None => match self.width.wrapped(last, raw) {
                Some(by) if by <= most => Step::Wrapped(by),
                _ => Step::Reset,
            },
        }
    }
}

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

impl PortCounters {
    /// How many counters there are.
    pub const FIELDS: usize = 9;

    /// The counters in the order of their declaration, for whatever is done to each alike.
    #[must_use]
    pub const fn to_fields(self) -> [Option<u64>; Self::FIELDS] {
        [
            self.tx_frames,
            self.rx_frames,
            self.tx_dropped,
            self.rx_dropped,
            self.rx_missed,
            self.crc_errors,
            self.symbol_errors,
            self.link_faults,
            self.pause_frames,
        ]
    }

    /// The counters back from [`PortCounters::to_fields`].
    #[must_use]
    pub const fn from_fields(fields: [Option<u64>; Self::FIELDS]) -> Self {
        let [
            tx_frames,
            rx_frames,
            tx_dropped,
            rx_dropped,
            rx_missed,
            crc_errors,
            symbol_errors,
            link_faults,
            pause_frames,
        ] = fields;
        Self {
            tx_frames,
            rx_frames,
            tx_dropped,
            rx_dropped,
            rx_missed,
            crc_errors,
            symbol_errors,
            link_faults,
            pause_frames,
        }
    }

    /// `with` of each counter that is known both here and in `other`; none for the rest.
    #[must_use]
    pub fn zip(&self, other: &Self, with: impl Fn(u64, u64) -> u64) -> Self {
        let mut fields = self.to_fields();
        for (field, other) in fields.iter_mut().zip(other.to_fields()) {
            *field = field.zip(other).map(|(a, b)| with(a, b));
        }
        Self::from_fields(fields)
    }

    /// What was counted since `baseline`, both being totals; none where either is not known.
    #[must_use]
    pub fn since(&self, baseline: &Self) -> Self {
        self.zip(baseline, u64::saturating_sub)
    }

    /// The most that each counter can move in `elapsed` on a line of rate `line`, its driver being
    /// [`SLOWEST_REFRESH`] late.
    ///
    /// Frames: as many as fit at the smallest size. Everything else: one for each octet, the smallest
    /// group that any code has (8B/10B), and far more than a host can be refused room for frames.
    #[must_use]
    pub fn plausible(elapsed: Duration, line: BitRate) -> Self {
        let time = elapsed.saturating_add(SLOWEST_REFRESH);
        let octets = line.plus_ppm(CLOCK_TOLERANCE_PPM).l1_octets_in(time);
        let frames = Some(octets / FrameSize::MIN.l1_octets());
        let events = Some(octets);
        Self {
            tx_frames: frames,
            rx_frames: frames,
            tx_dropped: events,
            rx_dropped: frames,
            rx_missed: frames,
            crc_errors: frames,
            symbol_errors: events,
            link_faults: events,
            pause_frames: events,
        }
    }
}

/// Forward-only totals of all of a port's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortTotals {
    width: Width,
    counters: [Option<Forward>; PortCounters::FIELDS],
}

impl PortTotals {
    /// No totals yet, for a port whose driver keeps counters of `width`.
    #[must_use]
    pub const fn new(width: Width) -> Self {
        Self { width, counters: [None; PortCounters::FIELDS] }
    }

    /// Takes in a reading made `elapsed` after the last one (anything for the first) on a line of rate `line`.
    ///
    /// `line` is the most that can pass, in either direction: the link speed, or the pace where that is
    /// higher (a software device may tell any speed).
    pub fn observe(&mut self, raw: &PortCounters, elapsed: Duration, line: BitRate) {
        let most = PortCounters::plausible(elapsed, line).to_fields();
        for ((counter, raw), most) in self.counters.iter_mut().zip(raw.to_fields()).zip(most) {
            match (raw, most, counter.as_mut()) {
                (Some(raw), Some(most), _) => {
                    counter.get_or_insert(Forward::new(self.width)).observe(raw, most);
                }
                (None, _, Some(counter)) => counter.vanish(),
                _ => {}
            }
        }
    }

    /// The totals; none for a counter that was never seen.
    #[must_use]
    pub fn totals(&self) -> PortCounters {
        PortCounters::from_fields(self.counters.map(|counter| counter.map(|counter| counter.total())))
    }

    /// How often any of the counters was reset, jumped or vanished.
    #[must_use]
    pub fn resets(&self) -> u32 {
        self.counters.iter().flatten().map(Forward::resets).fold(0, u32::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const LINE: BitRate = BitRate::from_mbps(10_000);
    const WINDOW: Duration = Duration::from_millis(16);

    /// The most octets that a 10 Gb/s line moves in `seconds`.
    fn most(seconds: u64) -> u64 {
        LINE.l1_octets_in(Duration::from_secs(seconds))
    }

    fn after(width: Width, last: u64) -> Forward {
        let mut counter = Forward::new(width);
        counter.observe(last, 0);
        counter
    }

    fn frames(tx: u64, rx: u64) -> PortCounters {
        PortCounters { tx_frames: Some(tx), rx_frames: Some(rx), ..PortCounters::default() }
    }

    #[test]
    fn the_first_reading_charges_no_lifetime_to_the_run() {
        let mut counter = Forward::new(Width::Bits64);
        assert_eq!(counter.observe(182_018_452_734, 0), Step::First);
        assert_eq!((counter.total(), counter.resets()), (0, 0));
    }

    #[test]
    fn a_step_back_adds_nothing_and_counts_as_a_reset() {
        // The next value was once printed as 18446743984687580690: 2^64 - 89021970926.
        let mut counter = after(Width::Bits64, 182_018_452_734);
        assert_eq!(counter.observe(182_018_452_734 - 89_021_970_926, most(1)), Step::Reset);
        assert_eq!((counter.total(), counter.resets()), (0, 1));
    }

    #[test]
    fn after_a_reset_the_count_goes_on_from_the_new_origin() {
        let mut counter = after(Width::Unknown, 1000);
        counter.observe(1500, most(1));
        counter.observe(0, most(1));
        assert_eq!(counter.observe(70, most(1)), Step::Forward(70));
        assert_eq!((counter.total(), counter.resets()), (570, 1));
    }

    #[test]
    fn a_reset_is_no_wrap_of_64_bits() {
        let mut counter = after(Width::Bits64, 5_000_000_000_000);
        assert_eq!(counter.observe(0, most(1)), Step::Reset);
        assert_eq!(counter.total(), 0);
    }

    #[test]
    fn a_true_wrap_of_32_bits_counts() {
        let mut counter = after(Width::Bits32, 4_258_368_365);
        assert_eq!(counter.observe(44_815_312, most(2)), Step::Wrapped(81_414_243));
        assert_eq!(counter.observe(227_007_324, most(2)), Step::Forward(182_192_012));
        assert_eq!((counter.total(), counter.resets()), (81_414_243 + 182_192_012, 0));
    }

    #[test]
    fn the_same_step_is_a_reset_where_the_width_is_not_known_or_other() {
        for width in [Width::Unknown, Width::Bits48, Width::Bits64] {
            assert_eq!(after(width, 4_258_368_365).observe(44_815_312, most(2)), Step::Reset, "{width:?}");
        }
    }

    #[test]
    fn a_wrap_faster_than_the_line_is_a_reset() {
        let slow = BitRate::from_mbps(100).l1_octets_in(Duration::from_secs(2));
        assert_eq!(after(Width::Bits32, 4_258_368_365).observe(44_815_312, slow), Step::Reset);
    }

    #[test]
    fn where_a_whole_lap_could_hide_a_wrap_is_not_believed() {
        // At 10 Gb/s 32 bits of octets last 3.4 s.
        assert!(!Width::Bits32.can_lap(most(3)));
        assert!(Width::Bits32.can_lap(most(4)));
        assert_eq!(after(Width::Bits32, 3_000_000_000).observe(0, most(4)), Step::Reset);
    }

    #[test]
    fn a_jump_forward_beyond_the_line_adds_nothing() {
        let mut counter = after(Width::Bits64, 1000);
        assert_eq!(counter.observe(1000 + most(1) + 1, most(1)), Step::Reset);
        assert_eq!((counter.total(), counter.resets()), (0, 1));
    }

    #[test]
    fn a_value_that_does_not_fit_its_width_is_no_wrap() {
        assert_eq!(after(Width::Bits32, 1 << 40).observe(5, u64::from(u32::MAX)), Step::Reset);
    }

    #[test]
    fn a_wrap_through_the_very_top_counts_one() {
        for width in [Width::Bits32, Width::Bits48, Width::Bits64] {
            let mut counter = after(width, width.largest().unwrap());
            assert_eq!(counter.observe(0, 1), Step::Wrapped(1), "{width:?}");
        }
    }

    #[test]
    fn baselines_come_from_totals_never_from_raw_readings() {
        let mut port = PortTotals::default();
        port.observe(&frames(9_000_000, 8_000_000), Duration::ZERO, LINE);
        port.observe(&frames(9_000_100, 8_000_100), WINDOW, LINE);
        let baseline = port.totals();
        // The driver resets its statistics in mid-run.
        port.observe(&frames(9_000_150, 8_000_150), WINDOW, LINE);
        port.observe(&frames(7, 7), WINDOW, LINE);
        port.observe(&frames(27, 27), WINDOW, LINE);
        assert_eq!(port.totals().since(&baseline), frames(70, 70));
        assert_eq!(port.resets(), 2);
    }

    #[test]
    fn a_counter_that_was_never_seen_stays_unknown() {
        let mut port = PortTotals::default();
        port.observe(&frames(5, 5), Duration::ZERO, LINE);
        assert_eq!(port.totals(), frames(0, 0));
        assert_eq!(port.totals().since(&PortCounters::default()), PortCounters::default());
    }

    #[test]
    fn a_counter_that_appears_later_starts_at_zero() {
        let mut port = PortTotals::default();
        port.observe(&PortCounters::default(), Duration::ZERO, LINE);
        port.observe(&frames(500, 500), WINDOW, LINE);
        assert_eq!((port.totals(), port.resets()), (frames(0, 0), 0));
    }

    #[test]
    fn a_counter_that_vanishes_keeps_its_total_and_is_one_fault() {
        let mut port = PortTotals::default();
        port.observe(&frames(0, 0), Duration::ZERO, LINE);
        port.observe(&frames(30, 40), WINDOW, LINE);
        for _ in 0..3 {
            port.observe(&PortCounters { rx_frames: None, ..frames(30, 40) }, WINDOW, LINE);
        }
        assert_eq!((port.totals(), port.resets()), (frames(30, 40), 1));
        // What came while it was away is not known, so its return adds nothing.
        port.observe(&frames(30, 90), WINDOW, LINE);
        port.observe(&frames(30, 95), WINDOW, LINE);
        assert_eq!((port.totals(), port.resets()), (frames(30, 45), 1));
    }

    #[test]
    fn counters_that_move_only_every_other_second_are_late_and_not_reset() {
        let a_second = 14_880_952;
        let mut port = PortTotals::default();
        port.observe(&frames(0, 0), Duration::ZERO, LINE);
        for _ in 0..3 {
            let stale = port.totals();
            for _ in 0..124 {
                port.observe(&stale, WINDOW, LINE);
            }
            let fresh = stale.zip(&frames(2 * a_second, 2 * a_second), |old, step| old + step);
            port.observe(&fresh, WINDOW, LINE);
        }
        assert_eq!((port.totals(), port.resets()), (frames(6 * a_second, 6 * a_second), 0));
    }

    #[test]
    fn totals_frozen_for_a_while_catch_up_without_a_fault() {
        // A driver's stale sums: frames flow all the time, the sum stands still for one refresh.
        let mut port = PortTotals::default();
        for (seconds, frames_seen) in [(0, 0), (2, 29_000_000), (2, 29_000_000), (2, 87_000_000)] {
            port.observe(&frames(frames_seen, frames_seen), Duration::from_secs(seconds), LINE);
        }
        assert_eq!((port.totals(), port.resets()), (frames(87_000_000, 87_000_000), 0));
    }

    #[test]
    fn what_a_line_cannot_carry_even_late_is_a_reset() {
        let mut port = PortTotals::default();
        port.observe(&frames(0, 0), Duration::ZERO, LINE);
        port.observe(&frames(15_000_000 * 5, 10), WINDOW, LINE);
        assert_eq!((port.totals(), port.resets()), (frames(0, 10), 1));
    }

    #[test]
    fn since_never_goes_below_zero() {
        assert_eq!(frames(5, 9).since(&frames(7, 2)), frames(0, 7));
    }

    #[test]
    fn every_field_finds_its_place_again() {
        let mut fields = [None; PortCounters::FIELDS];
        for (value, field) in (1..).zip(fields.iter_mut()) {
            *field = Some(value);
        }
        let counters = PortCounters::from_fields(fields);
        assert_eq!(counters.to_fields(), fields);
        assert_eq!((counters.tx_frames, counters.pause_frames), (Some(1), Some(9)));
    }

    fn widths() -> impl Strategy<Value = Width> {
        prop_oneof![Just(Width::Bits32), Just(Width::Bits48), Just(Width::Bits64), Just(Width::Unknown)]
    }

    /// Values near the places where arithmetic breaks, and any others.
    fn readings() -> impl Strategy<Value = u64> {
        let near = |top: u64| (0..1000u64).prop_map(move |by| top.wrapping_sub(500).wrapping_add(by));
        prop_oneof![near(0), near(1 << 32), near(1 << 48), 0..100_000u64, any::<u64>()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn totals_never_go_back_and_never_jump(
            width in widths(),
            readings in vec((readings(), readings()), 1..50),
        ) {
            let mut counter = Forward::new(width);
            for (raw, most) in readings {
                let (total, resets) = (counter.total(), counter.resets());
                let step = counter.observe(raw, most);
                let by = match step {
                    Step::Forward(by) | Step::Wrapped(by) => by,
                    Step::First | Step::Reset => 0,
                };
                prop_assert!(by <= most);
                prop_assert_eq!(counter.total(), total.saturating_add(by));
                prop_assert_eq!(counter.resets(), resets + u32::from(step == Step::Reset));
            }
        }

        #[test]
        fn a_counter_of_known_width_wraps_without_loss(
            width in prop_oneof![Just(Width::Bits32), Just(Width::Bits48)],
            start in any::<u64>(),
            steps in vec(0..1_000_000_000u64, 1..50),
        ) {
            let largest = width.largest().unwrap();
            let mut truth = start & largest;
            let mut counter = after(width, truth);
            for step in &steps {
                truth += step;
                counter.observe(truth & largest, 1_000_000_000);
            }
            prop_assert_eq!(counter.total(), steps.iter().sum::<u64>());
            prop_assert_eq!(counter.resets(), 0);
        }

        #[test]
        fn no_port_reading_whatever_makes_a_total_smaller(
            readings in vec((vec(proptest::option::of(readings()), 9), 0..10_000u64), 1..20),
            mega in 0..100_000u64,
        ) {
            let mut port = PortTotals::new(Width::Bits32);
            for (raw, millis) in readings {
                let before = port.totals().to_fields();
                let raw = PortCounters::from_fields(raw.try_into().unwrap());
                port.observe(&raw, Duration::from_millis(millis), BitRate::from_mbps(mega));
                for (before, after) in before.into_iter().zip(port.totals().to_fields()) {
                    prop_assert!(after >= before);
                }
            }
        }
    }
}
