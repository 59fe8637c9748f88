//! From accounts and findings to the verdict.

use super::{Reason, Verdict};
use crate::ledger::{DirectionReport, Interval, StreamReport};
use crate::units::{BitRate, Direction};
use core::time::Duration;
use heapless::Vec;

/// The smear window, 32 buckets of 16 ms: what a worker may stand still for without showing in the rates.
pub const LONGEST_STALL: Duration = Duration::from_millis(32 * 16);

/// The rate that PASS needs: 99.5 % of the rate judged against, rounded up.
#[must_use]
pub fn pass_rate(basis: BitRate) -> BitRate {
    let rate = (u128::from(basis.bits_per_second()) * 995).div_ceil(1000);
    BitRate::from_bits_per_second(u64::try_from(rate).unwrap_or(u64::MAX))
}

/// Everything that a verdict rests on.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The accounts, A→B and B→A.
    pub directions: [&'a DirectionReport; 2],
    /// What was found outside of the accounts: settings, link, loop check, counters, the host.
    pub findings: &'a [Reason],
    /// Received rate that PASS needs in each direction ([`pass_rate`]).
    pub pass_rate: BitRate,
    /// The MACs discard frames with a wrong FCS, so that damage within a good one is not the cable's.
    pub mac_checks_fcs: bool,
    /// Checked bits that an explicitly asked bound needs in each direction.
    pub needed_bits: Option<u64>,
    /// Every setting that the run needs was read back as wanted, to the end.
    pub settings_held: bool,
    /// The senders were started: only then does what they did not do say anything.
    pub traffic_started: bool,
    /// Rates that were offered over the judged part, A→B and B→A; none where there was none.
    pub offered: [Option<BitRate>; 2],
}

/// The verdict and all its reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The word.
    pub verdict: Verdict,
    /// Strongest rank first, in the order of the list within a rank; empty exactly where the verdict is PASS.
    pub reasons: Vec<Reason, 40>,
}

impl Judgement {
    /// The reason to show.
    #[must_use]
    pub fn first(&self) -> Option<&Reason> {
        self.reasons.first()
    }
}

/// Judges a run.
///
/// What the final accounts say about a direction stands in place of an earlier finding of the same kind.
/// With more than 40 reasons the weakest are left out.
#[must_use]
pub fn judge(case: &Case) -> Judgement {
    let mut reasons = Reasons::default();
    for direction in Direction::BOTH {
        case.account_for(direction, &mut reasons);
    }
    for &finding in case.findings {
        reasons.add(finding.behind_fcs(case.mac_checks_fcs));
    }
    if reasons.0.is_empty() {
        case.shown_or_not(&mut reasons);
    }
    let verdict = reasons.0.first().map_or(Verdict::Pass, |strongest| strongest.rank().verdict());
    Judgement { verdict, reasons: reasons.0 }
}

/// Reasons in their order, each once.
#[derive(Default)]
struct Reasons(Vec<Reason, 40>);

impl Reasons {
    fn add(&mut self, reason: Reason) {
        if self.0.iter().any(|known| is_same(known, &reason)) {
            return;
        }
        let place = self.0.iter().take_while(|known| known.order() <= reason.order()).count();
        if self.0.is_full() && place < self.0.len() {
            self.0.pop();
        }
        // Refused only when full, and then it is the weakest.
        let _ = self.0.insert(place, reason);
    }

    fn add_if(&mut self, is_so: bool, reason: Reason) {
        if is_so {
            self.add(reason);
        }
    }
}

/// The same statement: equal, or two counts of one kind of thing in one direction.
fn is_same(known: &Reason, other: &Reason) -> bool {
    known == other
        || known.order() == other.order()
            && known.direction().is_some()
            && known.direction() == other.direction()
}

impl Case<'_> {
    fn report(&self, direction: Direction) -> &DirectionReport {
        let [a_to_b, b_to_a] = self.directions;
        match direction {
            Direction::AToB => a_to_b,
            Direction::BToA => b_to_a,
        }
    }

    /// The reasons that follow from one direction's account.
    fn account_for(&self, direction: Direction, reasons: &mut Reasons) {
        self.voiding(direction, reasons);
        self.cable(direction, reasons);
        self.host(direction, reasons);
        if self.traffic_started
            && let Some(needed) = self.needed_bits
        {
            let checked = self.report(direction).checked_bits;
            reasons.add_if(checked < needed, Reason::TooFewBits { direction, checked, needed });
        }
    }

    fn voiding(&self, direction: Direction, reasons: &mut Reasons) {
        let report = self.report(direction);
        let mut count = |frames: u64, reason: Reason| reasons.add_if(frames > 0, reason);
        count(report.duplicates, Reason::Duplicated { direction, frames: report.duplicates });
        count(report.reordered, Reason::Reordered { direction, frames: report.reordered });
        count(report.misplaced, Reason::Misplaced { direction, frames: report.misplaced });
        count(report.unknown, Reason::UnknownOrigin { direction, frames: report.unknown });
        let silent = self.traffic_started && report.sent == 0;
        reasons.add_if(silent, Reason::NothingSent { direction });
    }

    /// Evidence against the cable, or against the box where the MAC has vouched for the wire.
    fn cable(&self, direction: Direction, reasons: &mut Reasons) {
        let report = self.report(direction);
        reasons.add_if(self.is_dead(direction), Reason::DeadDirection { direction });
        let Interval { at_least, at_most } = report.lost;
        // From 0 up they may all be among the unidentified, which are there as damaged already.
        reasons.add_if(at_least > 0, Reason::Lost { direction, at_least, at_most, sent: report.sent });
        let (frames, bit_errors) = (report.corrupt, report.bit_errors);
        let corrupt = Reason::Corrupt { direction, frames, bit_errors };
        reasons.add_if(frames > 0, corrupt.behind_fcs(self.mac_checks_fcs));
    }

    /// Nothing came through while the other direction worked, and it was not the host that dropped it all.
    fn is_dead(&self, direction: Direction) -> bool {
        let (report, other) = (self.report(direction), self.report(direction.reverse()));
        report.sent > report.host && report.received == 0 && other.received > 0
    }

    fn host(&self, direction: Direction, reasons: &mut Reasons) {
        let report = self.report(direction);
        reasons.add_if(report.host > 0, Reason::HostDrops { direction, frames: report.host });
        if let Some(rate) = report.steady
            && self.is_starved(direction, rate)
        {
            reasons.add(Reason::HostBound { direction, rate, limit: self.pass_rate });
        }
        let time = report.longest_stall;
        reasons.add_if(time > LONGEST_STALL, Reason::Stalled { direction, time });
    }

    /// The sender did not fill the line: too little arrived because too little was sent, and no other reason
    /// explains that.
    fn is_starved(&self, direction: Direction, rate: BitRate) -> bool {
        let explains = |finding: &Reason| {
            use Reason::{DeviceGone, LinkDown, PortTaken, StoppedEarly, WorkerDied};
            let gone = matches!(finding, LinkDown { .. } | DeviceGone { .. } | PortTaken { .. });
            gone || matches!(finding, StoppedEarly | WorkerDied { .. })
        };
        let [a_to_b, b_to_a] = self.offered;
        let offered = if direction == Direction::AToB { a_to_b } else { b_to_a };
        let too_little = |rate: BitRate| rate < self.pass_rate;
        too_little(rate) && offered.is_some_and(too_little) && !self.findings.iter().any(explains)
    }

    /// Nothing speaks against the cable: says where something that speaks for it is missing.
    fn shown_or_not(&self, reasons: &mut Reasons) {
        let run = self.traffic_started && self.settings_held && self.pass_rate > BitRate::default();
        for direction in Direction::BOTH {
            let report = self.report(direction);
            let shown = run && report.direction == direction && is_clean(report) && self.fills_line(report);
            reasons.add_if(!shown, Reason::NotShown { direction });
        }
    }

    fn fills_line(&self, report: &DirectionReport) -> bool {
        report.steady.is_some_and(|rate| rate >= self.pass_rate) && report.checked_bits > 0
    }
}

/// Frames flowed, each arrived once and whole, and every class is zero, in the sum and stream by stream.
fn is_clean(report: &DirectionReport) -> bool {
    let classes = [
        report.corrupt,
        report.unidentified,
        report.bit_errors,
        report.missing,
        report.lost.at_most,
        report.host,
        report.unknown,
        report.duplicates,
        report.reordered,
        report.misplaced,
    ];
    let flowed = report.sent > 0 && report.good == report.sent && report.received >= report.sent;
    flowed && classes == [0; 10] && report.streams.iter().all(is_clean_stream)
}

fn is_clean_stream(stream: &StreamReport) -> bool {
    *stream == StreamReport { sent: stream.sent, good: stream.sent, ..StreamReport::default() }
}

#[cfg(test)]
mod tests {
    use super::super::tests::one_of_each;
    use super::super::{Rank, Setting};
    use super::*;
    use crate::units::{MAX_STREAMS, Side};
    use proptest::prelude::*;
    use std::vec::Vec as List;

    const BASIS: BitRate = BitRate::from_mbps(10_000);

    /// A direction that carried everything.
    fn clean(direction: Direction) -> DirectionReport {
        let mut streams = [StreamReport::default(); MAX_STREAMS];
        for stream in streams.iter_mut().take(2) {
            *stream = StreamReport { sent: 500, good: 500, ..StreamReport::default() };
        }
        DirectionReport {
            direction,
            streams,
            sent: 1000,
            received: 1000,
            good: 1000,
            corrupt: 0,
            unidentified: 0,
            bit_errors: 0,
            checked_bits: 1_000_000,
            missing: 0,
            lost: Interval::default(),
            host: 0,
            unknown: 0,
            duplicates: 0,
            reordered: 0,
            misplaced: 0,
            steady: Some(BASIS),
            longest_stall: Duration::from_millis(3),
        }
    }

    /// A run in which A→B is as `change` leaves it and everything else is as PASS needs it.
    fn judge_with(change: impl FnOnce(&mut DirectionReport), findings: &[Reason]) -> Judgement {
        let mut a_to_b = clean(Direction::AToB);
        change(&mut a_to_b);
        judge_case(&a_to_b, &clean(Direction::BToA), findings, |_| ())
    }

    fn judge_case(
        a_to_b: &DirectionReport,
        b_to_a: &DirectionReport,
        findings: &[Reason],
        change: impl FnOnce(&mut Case),
    ) -> Judgement {
        let mut case = Case {
            directions: [a_to_b, b_to_a],
            findings,
            pass_rate: pass_rate(BASIS),
            mac_checks_fcs: false,
            needed_bits: None,
            settings_held: true,
            traffic_started: true,
            offered: [a_to_b, b_to_a].map(offered),
        };
        change(&mut case);
        judge(&case)
    }

    /// What did not arrive and is not missing was not sent.
    fn offered(report: &DirectionReport) -> Option<BitRate> {
        if report.missing > 0 { Some(BASIS) } else { report.steady }
    }

    fn judge_clean(change: impl FnOnce(&mut Case)) -> Judgement {
        judge_case(&clean(Direction::AToB), &clean(Direction::BToA), &[], change)
    }

    fn found(findings: &[Reason]) -> Judgement {
        judge_with(|_| (), findings)
    }

    /// Nothing moved: the accounts of a run that was refused.
    fn idle(direction: Direction) -> DirectionReport {
        DirectionReport {
            streams: [StreamReport::default(); MAX_STREAMS],
            sent: 0,
            received: 0,
            good: 0,
            checked_bits: 0,
            steady: None,
            longest_stall: Duration::ZERO,
            ..clean(direction)
        }
    }

    #[test]
    fn a_run_that_showed_everything_passes() {
        let judgement = found(&[]);
        assert_eq!(judgement.verdict, Verdict::Pass);
        assert_eq!(judgement.first(), None);
    }

    #[test]
    fn the_pass_rate_is_99_5_percent_rounded_up() {
        assert_eq!(pass_rate(BASIS), BitRate::from_mbps(9_950));
        assert_eq!(pass_rate(BitRate::from_bits_per_second(1)), BitRate::from_bits_per_second(1));
        assert_eq!(
            pass_rate(BitRate::from_bits_per_second(u64::MAX)).bits_per_second(),
            18_354_510_353_341_003_857
        );
    }

    #[test]
    fn each_reason_alone_gives_the_verdict_of_its_rank() {
        for reason in one_of_each() {
            let judgement = found(&[reason]);
            let verdict = match reason.rank() {
                Rank::Voiding | Rank::Spoiling => Verdict::Invalid,
                Rank::Cable => Verdict::Fail,
                Rank::Margin => Verdict::Marginal,
            };
            assert_eq!(judgement.verdict, verdict, "{reason:?}");
            assert_eq!(judgement.reasons.as_slice(), [reason]);
        }
    }

    #[test]
    fn of_every_pair_the_earlier_in_the_list_is_shown_and_judges() {
        let all = one_of_each();
        for (place, &strong) in all.iter().enumerate() {
            for &weak in all.iter().skip(place + 1) {
                for findings in [[strong, weak], [weak, strong]] {
                    let judgement = found(&findings);
                    assert_eq!(judgement.reasons.as_slice(), [strong, weak]);
                    assert_eq!(judgement.verdict, strong.rank().verdict(), "{strong:?} and {weak:?}");
                }
            }
        }
    }

    /// A change of the account and the reasons that follow from it.
    type Row = (fn(&mut DirectionReport), &'static [Reason]);

    #[test]
    fn each_class_of_the_account_is_a_reason() {
        const D: Direction = Direction::AToB;
        const ROWS: [Row; 11] = [
            (|r| r.duplicates = 2, &[Reason::Duplicated { direction: D, frames: 2 }]),
            (|r| r.reordered = 3, &[Reason::Reordered { direction: D, frames: 3 }]),
            (|r| r.misplaced = 4, &[Reason::Misplaced { direction: D, frames: 4 }]),
            (|r| (r.missing, r.unknown) = (5, 5), &[Reason::UnknownOrigin { direction: D, frames: 5 }]),
            (|r| *r = idle(D), &[Reason::NothingSent { direction: D }]),
            (
                |r| (r.missing, r.lost) = (7, Interval { at_least: 6, at_most: 7 }),
                &[Reason::Lost { direction: D, at_least: 6, at_most: 7, sent: 1000 }],
            ),
            (
                |r| (r.corrupt, r.bit_errors) = (5, 9),
                &[Reason::Corrupt { direction: D, frames: 5, bit_errors: 9 }],
            ),
            (|r| (r.missing, r.host) = (8, 8), &[Reason::HostDrops { direction: D, frames: 8 }]),
            (
                |r| r.steady = Some(BitRate::from_mbps(3_812)),
                &[Reason::HostBound {
                    direction: D,
                    rate: BitRate::from_mbps(3_812),
                    limit: BitRate::from_mbps(9_950),
                }],
            ),
            (
                |r| r.longest_stall = Duration::from_millis(513),
                &[Reason::Stalled { direction: D, time: Duration::from_millis(513) }],
            ),
            (
                |r| {
                    (r.received, r.good, r.missing, r.lost) =
                        (0, 0, 1000, Interval { at_least: 1000, at_most: 1000 })
                },
                &[
                    Reason::DeadDirection { direction: D },
                    Reason::Lost { direction: D, at_least: 1000, at_most: 1000, sent: 1000 },
                ],
            ),
        ];
        for (change, reasons) in ROWS {
            assert_eq!(judge_with(change, &[]).reasons.as_slice(), reasons);
        }
    }

    #[test]
    fn each_positive_alone_missing_is_invalid_and_not_shown() {
        let rows: [fn(&mut DirectionReport); 9] = [
            |r| r.good = 999,
            |r| r.received = 999,
            |r| r.missing = 1,
            |r| r.lost.at_most = 1,
            |r| r.unidentified = 1,
            |r| r.bit_errors = 1,
            |r| r.checked_bits = 0,
            |r| r.steady = None,
            |r| r.direction = Direction::BToA,
        ];
        for change in rows {
            let judgement = judge_with(change, &[]);
            assert_eq!(judgement.verdict, Verdict::Invalid);
            assert_eq!(judgement.reasons.as_slice(), [Reason::NotShown { direction: Direction::AToB }]);
        }
    }

    #[test]
    fn a_surplus_in_one_stream_never_cancels_a_loss_in_another() {
        let judgement = judge_with(
            |report| {
                report.streams[0].good += 1;
                report.streams[1].good -= 1;
            },
            &[],
        );
        assert_eq!(judgement.verdict, Verdict::Invalid);
    }

    #[test]
    fn the_run_itself_has_to_be_shown_too() {
        let rows: [fn(&mut Case); 3] = [
            |case| case.settings_held = false,
            |case| case.traffic_started = false,
            |case| case.pass_rate = BitRate::default(),
        ];
        let both = Direction::BOTH.map(|direction| Reason::NotShown { direction });
        for change in rows {
            let judgement = judge_clean(change);
            assert_eq!(judgement.verdict, Verdict::Invalid);
            assert_eq!(judgement.reasons.as_slice(), both);
        }
    }

    #[test]
    fn a_check_that_refused_is_the_only_reason_shown() {
        for refusal in [Reason::NotALoop, Reason::NoLink { waited: Duration::from_secs(25) }] {
            let (a_to_b, b_to_a) = (idle(Direction::AToB), idle(Direction::BToA));
            let judgement = judge_case(&a_to_b, &b_to_a, &[refusal], |case| {
                case.traffic_started = false;
                case.needed_bits = Some(1);
            });
            assert_eq!(judgement.reasons.as_slice(), [refusal]);
            assert_eq!(judgement.verdict, refusal.rank().verdict());
        }
    }

    #[test]
    fn nothing_sent_is_shown_after_everything_else_that_voids() {
        let gone = Reason::DeviceGone { port: Side::A };
        let judgement = judge_with(|report| *report = idle(Direction::AToB), &[gone]);
        assert_eq!(judgement.reasons.as_slice(), [gone, Reason::NothingSent { direction: Direction::AToB }]);
    }

    #[test]
    fn damage_behind_a_good_fcs_is_the_boxs_own() {
        let corrupt = Reason::Corrupt { direction: Direction::BToA, frames: 1, bit_errors: 1 };
        let mut a_to_b = clean(Direction::AToB);
        a_to_b.corrupt = 3;
        let judgement =
            judge_case(&a_to_b, &clean(Direction::BToA), &[corrupt], |case| case.mac_checks_fcs = true);
        let inside = [(Direction::AToB, 3), (Direction::BToA, 1)]
            .map(|(direction, frames)| Reason::DamagedInside { direction, frames });
        assert_eq!(judgement.reasons.as_slice(), inside);
        assert_eq!(judgement.verdict, Verdict::Invalid);
    }

    #[test]
    fn loss_that_the_damaged_frames_may_explain_is_told_as_damage() {
        let judgement = judge_with(
            |report| {
                (report.corrupt, report.unidentified, report.missing) = (1, 1, 1);
                report.lost = Interval { at_least: 0, at_most: 1 };
            },
            &[],
        );
        let corrupt = Reason::Corrupt { direction: Direction::AToB, frames: 1, bit_errors: 0 };
        assert_eq!(judgement.reasons.as_slice(), [corrupt]);
    }

    #[test]
    fn a_direction_that_the_host_dropped_whole_is_not_dead() {
        let judgement = judge_with(
            |report| (report.received, report.good, report.missing, report.host) = (0, 0, 1000, 1000),
            &[],
        );
        assert_eq!(
            judgement.reasons.as_slice(),
            [Reason::HostDrops { direction: Direction::AToB, frames: 1000 }]
        );
    }

    #[test]
    fn two_silent_directions_are_lost_and_neither_is_called_dead() {
        let silent = |direction| DirectionReport {
            received: 0,
            good: 0,
            missing: 1000,
            lost: Interval { at_least: 1000, at_most: 1000 },
            steady: Some(BitRate::default()),
            ..clean(direction)
        };
        let judgement = judge_case(&silent(Direction::AToB), &silent(Direction::BToA), &[], |_| ());
        let lost = Direction::BOTH.map(|direction| Reason::Lost {
            direction,
            at_least: 1000,
            at_most: 1000,
            sent: 1000,
        });
        assert_eq!(judgement.reasons.as_slice(), lost);
    }

    #[test]
    fn a_rate_that_loss_explains_is_not_the_hosts() {
        let half = |report: &mut DirectionReport| {
            (report.received, report.good, report.missing) = (500, 500, 500);
            report.lost = Interval { at_least: 500, at_most: 500 };
            report.steady = Some(BitRate::from_mbps(5_000));
        };
        let lost = Reason::Lost { direction: Direction::AToB, at_least: 500, at_most: 500, sent: 1000 };
        assert_eq!(judge_with(half, &[]).reasons.as_slice(), [lost]);
    }

    #[test]
    fn a_rate_that_a_lost_link_explains_is_not_the_hosts() {
        let down = Reason::LinkDown { port: Side::B, changes: 2 };
        let judgement = judge_with(|report| report.steady = Some(BitRate::from_mbps(8_000)), &[down]);
        assert_eq!(judgement.reasons.as_slice(), [down]);
    }

    #[test]
    fn small_frames_measure_the_host_and_never_fail_the_cable() {
        let judgement = judge_with(|report| report.steady = Some(BitRate::from_mbps(3_800)), &[]);
        assert_eq!(judgement.verdict, Verdict::Invalid);
    }

    #[test]
    fn the_pass_rate_itself_and_the_longest_stall_itself_pass() {
        let judgement = judge_with(
            |report| {
                report.steady = Some(BitRate::from_mbps(9_950));
                report.longest_stall = LONGEST_STALL;
            },
            &[],
        );
        assert_eq!(judgement.verdict, Verdict::Pass);
    }

    #[test]
    fn fewer_bits_than_asked_for_are_little_margin() {
        let judgement = judge_clean(|case| case.needed_bits = Some(1_000_001));
        assert_eq!(judgement.verdict, Verdict::Marginal);
        assert_eq!(judgement.reasons.len(), 2);
        assert_eq!(judge_clean(|case| case.needed_bits = Some(1_000_000)).verdict, Verdict::Pass);
    }

    #[test]
    fn the_final_account_stands_in_place_of_what_was_seen_first() {
        let seen = Reason::Corrupt { direction: Direction::AToB, frames: 1, bit_errors: 1 };
        let judgement = judge_with(|report| (report.corrupt, report.bit_errors) = (5, 6), &[seen, seen]);
        let total = Reason::Corrupt { direction: Direction::AToB, frames: 5, bit_errors: 6 };
        assert_eq!(judgement.reasons.as_slice(), [total]);
    }

    #[test]
    fn with_too_many_reasons_the_weakest_are_left_out() {
        let settings =
            [Setting::Mtu, Setting::Arp, Setting::Ipv6, Setting::Eee, Setting::Pause, Setting::Lldp];
        let mut findings: List<Reason> = one_of_each().into();
        for setting in settings {
            findings.push(Reason::SettingNotHeld { setting, port: Some(Side::B) });
        }
        findings.push(Reason::OneEndOpen { down: Side::B });
        let judgement = found(&findings);
        assert!(judgement.reasons.is_full());
        assert_eq!(judgement.first(), Some(&Reason::NotALoop));
        assert!(judgement.reasons.contains(&Reason::OneEndOpen { down: Side::B }));
        let margins = judgement.reasons.iter().filter(|reason| reason.rank() == Rank::Margin);
        assert_eq!(margins.count(), 0, "they are the weakest");
    }

    fn any_findings() -> impl Strategy<Value = List<Reason>> {
        prop::collection::vec(prop::sample::select(List::from(one_of_each())), 0..60)
    }

    fn any_report(direction: Direction) -> impl Strategy<Value = DirectionReport> {
        let few = || prop_oneof![6 => Just(0u64), 1 => 0u64..3, 1 => Just(u64::MAX)];
        let steady = prop::option::of(9_900u64..10_100);
        (prop::array::uniform12(few()), steady, any::<bool>()).prop_map(move |(change, steady, idle_run)| {
            let base = if idle_run { idle(direction) } else { clean(direction) };
            let [
                corrupt,
                unidentified,
                bit_errors,
                missing,
                least,
                most,
                host,
                unknown,
                twice,
                order,
                place,
                got,
            ] = change;
            DirectionReport {
                corrupt,
                unidentified,
                bit_errors,
                missing,
                lost: Interval { at_least: least, at_most: most.max(least) },
                host,
                unknown,
                duplicates: twice,
                reordered: order,
                misplaced: place,
                received: base.received.saturating_sub(got),
                steady: steady.map(BitRate::from_mbps),
                ..base
            }
        })
    }

    proptest! {
        #[test]
        fn only_a_run_without_findings_passes(findings in any_findings()) {
            prop_assert_eq!(found(&findings).verdict == Verdict::Pass, findings.is_empty());
        }

        #[test]
        fn reasons_are_in_order_each_once_and_the_first_judges(
            findings in any_findings(),
            a_to_b in any_report(Direction::AToB),
            b_to_a in any_report(Direction::BToA),
            fcs: bool, needed in prop::option::of(0u64..2_000_000), held: bool, started: bool,
        ) {
            let judgement = judge_case(&a_to_b, &b_to_a, &findings, |case| {
                (case.mac_checks_fcs, case.needed_bits) = (fcs, needed);
                (case.settings_held, case.traffic_started) = (held, started);
            });
            let reasons = judgement.reasons.as_slice();
            prop_assert!(reasons.windows(2).all(|pair| pair[0].order() <= pair[1].order() && pair[0] != pair[1]));
            let verdict = reasons.first().map_or(Verdict::Pass, |first| first.rank().verdict());
            prop_assert_eq!(judgement.verdict, verdict);
            if verdict == Verdict::Pass {
                prop_assert!(held && started && findings.is_empty());
                for report in [a_to_b, b_to_a] {
                    prop_assert_eq!(report.good, report.sent);
                    prop_assert_eq!((report.missing, report.corrupt), (0, 0));
                    prop_assert!(report.steady >= Some(pass_rate(BASIS)));
                }
            }
        }
    }
}
