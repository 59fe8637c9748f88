//! Is it a loop: what was heard before a flood may leave the box.
//!
//! First both ports only listen; then a few slow probes go each way, to the peer port's own address and to
//! one that every bridge must filter. What both kinds get through, each way, and nothing else is heard on,
//! is a loop. Anything foreign ends the check at once, and later the run ([`intruder`]).

use crate::units::{Direction, Instant, MacAddress, Side};
use crate::verdict::{Reason, SwitchSign};
use core::time::Duration;

/// Probes of each kind in each direction.
pub const PROBES: u8 = 32;

/// A probe's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProbeKind {
    /// To the peer port's own address.
    Unicast,
    /// To 01-80-C2-00-00-0E, which a cable carries and every bridge must filter (IEEE 802.1Q, 8.6.3).
    Filtered,
}

/// A frame as the listening port understood it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A probe of this run.
    Probe {
        /// Direction it travelled.
        direction: Direction,
        /// Its kind.
        kind: ProbeKind,
    },
    /// A frame with our magic and somebody else's nonce.
    AnotherGauge {
        /// That nonce.
        nonce: u32,
    },
    /// A frame from one of this box's own addresses that the test did not send.
    OwnStray {
        /// The port whose address it carries.
        from: Side,
        /// Its ethertype.
        ethertype: u16,
    },
    /// A frame of ours, damaged so that no test socket took it.
    Damaged {
        /// Direction it travelled.
        direction: Direction,
    },
    /// Anything else.
    Foreign {
        /// Its source address.
        from: MacAddress,
        /// Its ethertype.
        ethertype: u16,
    },
    /// A test frame of this run that a test socket takes too, because its ethertype is whole: the
    /// account has it, whatever else was hit, and nothing is to be done about it here.
    Test {
        /// Direction it travelled.
        direction: Direction,
    },
}

/// The reason to stop that lies in a frame heard on port `on`, before or during the flood; none for our own,
/// damaged or not.
#[must_use]
pub const fn intruder(on: Side, heard: Heard) -> Option<Reason> {
    match heard {
        Heard::Probe { .. } | Heard::Damaged { .. } | Heard::Test { .. } => None,
        Heard::AnotherGauge { nonce } => Some(Reason::AnotherGauge { on, nonce }),
        Heard::OwnStray { from, ethertype } => Some(Reason::OwnStray { from, ethertype }),
        Heard::Foreign { from, ethertype } => Some(Reason::ForeignTraffic { on, from, ethertype }),
    }
}

/// The times of a loop check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopConfig {
    /// Pure listening before the first probe, from carrier-up on: longer than the 2 s between a bridge's
    /// hellos (IEEE 802.1D-2004, table 17-1).
    pub listen: Duration,
    /// From one probe to the next, whichever way they go.
    pub gap: Duration,
    /// From the last probe to the judgement: what is on its way may arrive.
    pub stragglers: Duration,
}

impl Default for LoopConfig {
    fn default() -> Self {
        Self {
            listen: Duration::from_millis(2_500),
            gap: Duration::from_millis(5),
            stragglers: Duration::from_millis(300),
        }
    }
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Nothing is due.
    Wait,
    /// Send one probe.
    Send {
        /// Which way.
        direction: Direction,
        /// To which address.
        kind: ProbeKind,
        /// Its number within its kind and direction, from 0.
        index: u8,
    },
    /// The check is over.
    Done(Outcome),
}

/// What the check has found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// A loop: the flood may start.
    Loop,
    /// No flood may leave the box.
    Refused(Reason),
}

/// Probes of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeCounts {
    /// Sent of each kind; while they are being sent, of the kind that is ahead.
    pub sent: u64,
    /// Heard at the other port, of those to its own address.
    pub unicast: u64,
    /// Heard at the other port, of those to the address that bridges filter.
    pub filtered: u64,
    /// Damaged frames of ours heard at the other port.
    pub damaged: u64,
    /// Heard at the port that sent them: no cable does that.
    pub echoed: u64,
}

/// How the probes of one direction fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Nothing arrived.
    Silent,
    /// One kind arrived and the other did not.
    OneKind,
    /// What arrived was damaged, so that kinds cannot be told.
    Garbled,
    /// Both kinds arrived.
    Open,
}

impl ProbeCounts {
    fn way(&self) -> Way {
        let whole = self.unicast.saturating_add(self.filtered);
        if self.unicast > 0 && self.filtered > 0 {
            Way::Open
        } else if whole > self.damaged {
            // A bad cable hits both kinds alike; what tells them apart reads addresses. With a few probes
            // heard out of 64 that may still be chance: then a wrong INVALID is better than a flood.
            Way::OneKind
        } else if self.damaged > 0 {
            Way::Garbled
        } else {
            Way::Silent
        }
    }

    /// Probes beyond those sent, and those that came back where they left.
    fn surplus(&self) -> u64 {
        let more = |heard: u64| heard.saturating_sub(self.sent);
        self.echoed.saturating_add(more(self.unicast)).saturating_add(more(self.filtered))
    }
}

/// Probes in all: both kinds, both ways.
const STEPS: u8 = 4 * PROBES;

/// Listens, probes, listens and judges, in virtual or real time.
#[derive(Clone, Debug)]
pub struct LoopCheck {
    config: LoopConfig,
    /// The earliest moment for the next step.
    due: Instant,
    /// Probes handed out, of [`STEPS`].
    step: u8,
    /// Times that a probe could not be sent.
    refusals: u8,
    counts: [ProbeCounts; 2],
    outcome: Option<Outcome>,
}

impl LoopCheck {
    /// A check that begins `now`, on ports that have had carrier and have both been listened to since
    /// `listening_since`.
    #[must_use]
    pub fn new(now: Instant, listening_since: Instant, config: LoopConfig) -> Self {
        Self {
            config,
            due: (listening_since + config.listen).max(now),
            step: 0,
            refusals: 0,
            counts: [ProbeCounts::default(); 2],
            outcome: None,
        }
    }

    /// Takes note of a frame heard on port `on`. The first intruder decides, at any time, even after a pass.
    pub fn heard(&mut self, on: Side, heard: Heard) {
        if let Some(reason) = intruder(on, heard) {
            self.refuse(reason);
        }
        let (direction, kind) = match heard {
            Heard::Probe { direction, kind } => (direction, Some(kind)),
            Heard::Damaged { direction } => (direction, None),
            _ => return,
        };
        let counts = self.heard_in_mut(direction);
        let count = match kind {
            // The header of a damaged frame may be wrong: where it was heard tells less, that it was is enough.
            None => &mut counts.damaged,
            Some(_) if on != direction.to() => &mut counts.echoed,
            Some(ProbeKind::Unicast) => &mut counts.unicast,
            Some(ProbeKind::Filtered) => &mut counts.filtered,
        };
        *count = count.saturating_add(1);
    }

    /// What to do at `now`. After `Send`, the probe counts as sent unless [`LoopCheck::unsent`] says otherwise.
    pub fn next(&mut self, now: Instant) -> Action {
        if let Some(outcome) = self.outcome {
            return Action::Done(outcome);
        }
        if now < self.due {
            return Action::Wait;
        }
        if self.step == STEPS {
            let outcome = obstacle(self.counts()).map_or(Outcome::Loop, Outcome::Refused);
            self.outcome = Some(outcome);
            return Action::Done(outcome);
        }
        self.send(now)
    }

    /// The port did not take the probe that [`LoopCheck::next`] has just handed out: it is handed out again.
    /// After 32 times in all the check is refused for it: it must end even where nothing can be sent.
    pub fn unsent(&mut self) {
        let Some(step) = self.step.checked_sub(1) else { return };
        self.step = step;
        self.refusals = self.refusals.saturating_add(1);
        let (direction, ..) = probe(step);
        if self.refusals >= PROBES {
            self.refuse(Reason::NothingSent { direction });
        }
    }

    /// The probes so far, A→B and B→A.
    #[must_use]
    pub fn counts(&self) -> [ProbeCounts; 2] {
        Direction::BOTH.map(|direction| ProbeCounts {
            sent: self.probes_sent(direction).div_ceil(2),
            ..*self.heard_in(direction)
        })
    }

    /// Probes that have left the box in `direction`, both kinds together.
    #[must_use]
    pub fn probes_sent(&self, direction: Direction) -> u64 {
        let step = u64::from(self.step);
        match direction {
            Direction::AToB => step.div_ceil(2),
            Direction::BToA => step / 2,
        }
    }

    fn send(&mut self, now: Instant) -> Action {
        let (direction, kind, index) = probe(self.step);
        self.step += 1;
        // From now, not from when it was due: after a pause the probes must not come in a burst.
        self.due = now + if self.step == STEPS { self.config.stragglers } else { self.config.gap };
        Action::Send { direction, kind, index }
    }

    fn refuse(&mut self, reason: Reason) {
        if !matches!(self.outcome, Some(Outcome::Refused(_))) {
            self.outcome = Some(Outcome::Refused(reason));
        }
    }

    fn heard_in(&self, direction: Direction) -> &ProbeCounts {
        let [a_to_b, b_to_a] = &self.counts;
        match direction {
            Direction::AToB => a_to_b,
            Direction::BToA => b_to_a,
        }
    }

    fn heard_in_mut(&mut self, direction: Direction) -> &mut ProbeCounts {
        let [a_to_b, b_to_a] = &mut self.counts;
        match direction {
            Direction::AToB => a_to_b,
            Direction::BToA => b_to_a,
        }
    }
}

/// The probe of one step: the ways alternate, then the kinds.
fn probe(step: u8) -> (Direction, ProbeKind, u8) {
    let direction = if step.is_multiple_of(2) { Direction::AToB } else { Direction::BToA };
    let kind = if (step / 2).is_multiple_of(2) { ProbeKind::Unicast } else { ProbeKind::Filtered };
    (direction, kind, step / 4)
}

/// What speaks against a loop, strongest first; none where both kinds came through both ways, once each.
///
/// A kind counts as heard in a direction when one probe of it arrived there whole: a bad cable loses probes
/// of both kinds alike and is left to the run to judge. One kind missing in one direction only is a switch
/// too, for a cable cannot read an address.
fn obstacle(counts: [ProbeCounts; 2]) -> Option<Reason> {
    let ways = counts.map(|direction| direction.way());
    if ways == [Way::Silent; 2] {
        return Some(Reason::NotALoop);
    }
    if ways.contains(&Way::OneKind) {
        return Some(Reason::Switch(SwitchSign::FilteredAddress));
    }
    let each = || Direction::BOTH.into_iter().zip(counts);
    let surplus = each().find(|(_, counts)| counts.surplus() > 0);
    if let Some((direction, counts)) = surplus {
        return Some(Reason::Duplicated { direction, frames: counts.surplus() });
    }
    let dead = each().find(|(_, counts)| counts.way() == Way::Silent);
    if let Some((direction, _)) = dead {
        return Some(Reason::DeadDirection { direction });
    }
    let (direction, garbled) = each().find(|(_, counts)| counts.way() == Way::Garbled)?;
    Some(Reason::Corrupt { direction, frames: garbled.damaged, bit_errors: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    const AB: Direction = Direction::AToB;
    const BA: Direction = Direction::BToA;
    const SWITCH: Outcome = Outcome::Refused(Reason::Switch(SwitchSign::FilteredAddress));
    const STRANGER: Heard = Heard::Foreign { from: MacAddress([2, 0, 0, 0, 0, 9]), ethertype: 0x0800 };

    /// One probe on the wire.
    type Sent = (Direction, ProbeKind, u8);

    /// A check that has been listened for since the origin.
    fn check() -> LoopCheck {
        LoopCheck::new(Instant::ZERO, Instant::ZERO, LoopConfig::default())
    }

    /// Runs `check` to its end in virtual time over a path that answers each probe with what is heard where.
    fn run(check: &mut LoopCheck, mut path: impl FnMut(Sent) -> Vec<(Side, Heard)>) -> Outcome {
        for ms in 0..10_000 {
            match check.next(Instant::from_millis(ms)) {
                Action::Wait => {}
                Action::Send { direction, kind, index } => {
                    for (on, heard) in path((direction, kind, index)) {
                        check.heard(on, heard);
                    }
                }
                Action::Done(outcome) => return outcome,
            }
        }
        panic!("the check never ends");
    }

    fn outcome(path: impl FnMut(Sent) -> Vec<(Side, Heard)>) -> Outcome {
        run(&mut check(), path)
    }

    /// The probe as its far end hears it.
    fn arrives((direction, kind, _): Sent) -> Vec<(Side, Heard)> {
        Vec::from([(direction.to(), Heard::Probe { direction, kind })])
    }

    fn garbled((direction, ..): Sent) -> Vec<(Side, Heard)> {
        Vec::from([(direction.to(), Heard::Damaged { direction })])
    }

    fn only(keep: impl Fn(Sent) -> bool) -> impl FnMut(Sent) -> Vec<(Side, Heard)> {
        move |sent| if keep(sent) { arrives(sent) } else { Vec::new() }
    }

    #[test]
    fn a_cable_is_a_loop() {
        let mut check = check();
        assert_eq!(run(&mut check, arrives), Outcome::Loop);
        let all = ProbeCounts { sent: 32, unicast: 32, filtered: 32, ..ProbeCounts::default() };
        assert_eq!(check.counts(), [all; 2]);
        assert_eq!(Direction::BOTH.map(|direction| check.probes_sent(direction)), [64; 2]);
    }

    #[test]
    fn each_path_has_its_outcome() {
        let refused = |reason| Outcome::Refused(reason);
        let unicast = |sent: Sent| sent.1 == ProbeKind::Unicast;
        assert_eq!(outcome(|_| Vec::new()), refused(Reason::NotALoop));
        assert_eq!(outcome(only(unicast)), SWITCH);
        assert_eq!(outcome(only(|sent| !unicast(sent))), SWITCH);
        assert_eq!(outcome(only(|sent| sent.0 == AB || unicast(sent))), SWITCH, "filtered one way");
        assert_eq!(outcome(only(|sent| sent.0 == AB && unicast(sent))), SWITCH, "one way and filtered");
        assert_eq!(outcome(only(|sent| sent.0 == AB)), refused(Reason::DeadDirection { direction: BA }));
        assert_eq!(outcome(only(|sent| sent.0 == BA)), refused(Reason::DeadDirection { direction: AB }));
        assert_eq!(outcome(only(|sent| sent.2 == 31)), Outcome::Loop, "one of each kind is enough");
    }

    #[test]
    fn damaged_frames_are_ours_and_show_that_a_direction_is_there() {
        let corrupt =
            |direction, frames| Outcome::Refused(Reason::Corrupt { direction, frames, bit_errors: 0 });
        assert_eq!(outcome(garbled), corrupt(AB, 64));
        let one_way = |sent: Sent| if sent.0 == BA { garbled(sent) } else { arrives(sent) };
        assert_eq!(outcome(one_way), corrupt(BA, 64), "not dead");
        let half = |sent: Sent| if sent.2.is_multiple_of(2) { garbled(sent) } else { arrives(sent) };
        assert_eq!(outcome(half), Outcome::Loop, "left to the run");
        let nearly_all = |sent: Sent| match sent {
            (AB, ProbeKind::Unicast, 0) | (BA, ..) => arrives(sent),
            _ => garbled(sent),
        };
        assert_eq!(outcome(nearly_all), corrupt(AB, 63), "the other kind is among the damaged");
        let switched = |sent: Sent| match sent {
            (_, ProbeKind::Unicast, 0) => garbled(sent),
            (_, ProbeKind::Unicast, _) => arrives(sent),
            _ => Vec::new(),
        };
        assert_eq!(outcome(switched), SWITCH, "one damaged frame does not excuse 32 missing");
    }

    #[test]
    fn probes_that_come_back_where_they_left_are_no_loop() {
        let echo =
            |(direction, kind, _): Sent| Vec::from([(direction.from(), Heard::Probe { direction, kind })]);
        assert_eq!(outcome(echo), Outcome::Refused(Reason::NotALoop));
        let both = |sent: Sent| [arrives(sent), echo(sent)].concat();
        assert_eq!(outcome(both), Outcome::Refused(Reason::Duplicated { direction: AB, frames: 64 }));
    }

    #[test]
    fn probes_that_come_twice_are_no_plain_cable() {
        let twice = |sent: Sent| if sent.0 == BA { arrives(sent).repeat(2) } else { arrives(sent) };
        assert_eq!(outcome(twice), Outcome::Refused(Reason::Duplicated { direction: BA, frames: 64 }));
    }

    #[test]
    fn nothing_is_sent_before_both_ports_were_listened_to_for_2_5_seconds() {
        let mut check =
            LoopCheck::new(Instant::from_millis(4_000), Instant::from_millis(3_000), LoopConfig::default());
        assert_eq!(check.next(Instant::from_millis(5_499)), Action::Wait);
        let first = Action::Send { direction: AB, kind: ProbeKind::Unicast, index: 0 };
        assert_eq!(check.next(Instant::from_millis(5_500)), first);
    }

    #[test]
    fn a_check_never_acts_before_it_begins() {
        let now = Instant::from_millis(9_000);
        let mut check = LoopCheck::new(now, Instant::ZERO, LoopConfig::default());
        assert_eq!(check.next(Instant::from_millis(8_999)), Action::Wait);
        assert!(matches!(check.next(now), Action::Send { .. }));
    }

    #[test]
    fn probes_keep_their_distance_even_after_a_pause() {
        let mut check = check();
        assert!(matches!(check.next(Instant::from_millis(7_000)), Action::Send { .. }));
        assert_eq!(check.next(Instant::from_millis(7_004)), Action::Wait);
        assert!(matches!(check.next(Instant::from_millis(7_005)), Action::Send { .. }));
    }

    #[test]
    fn stragglers_count() {
        let mut check = check();
        let mut late = Vec::new();
        let mut now = 0;
        while check.probes_sent(BA) < 64 {
            if let Action::Send { direction, kind, index } = check.next(Instant::from_millis(now)) {
                late.extend(arrives((direction, kind, index)));
            }
            now += 5;
        }
        assert_eq!(check.next(Instant::from_millis(now + 290)), Action::Wait);
        for (on, heard) in late {
            check.heard(on, heard);
        }
        assert_eq!(check.next(Instant::from_millis(now + 300)), Action::Done(Outcome::Loop));
    }

    #[test]
    fn an_intruder_heard_while_listening_keeps_every_probe_in() {
        let mut check = check();
        assert_eq!(check.next(Instant::from_millis(100)), Action::Wait);
        check.heard(Side::A, STRANGER);
        let refused = Action::Done(Outcome::Refused(intruder(Side::A, STRANGER).unwrap()));
        assert_eq!(check.next(Instant::from_millis(101)), refused, "at once");
        assert_eq!(check.next(Instant::from_millis(9_000)), refused, "and for good");
        assert_eq!(Direction::BOTH.map(|direction| check.probes_sent(direction)), [0; 2]);
    }

    #[test]
    fn an_intruder_stops_a_check_that_has_passed() {
        let mut check = check();
        assert_eq!(run(&mut check, arrives), Outcome::Loop);
        check.heard(Side::B, Heard::AnotherGauge { nonce: 7 });
        let reason = Reason::AnotherGauge { on: Side::B, nonce: 7 };
        assert_eq!(check.next(Instant::ZERO), Action::Done(Outcome::Refused(reason)));
    }

    #[test]
    fn intruders_are_named_and_our_own_are_none() {
        let (on, from, ethertype) = (Side::B, MacAddress([2, 0, 0, 0, 0, 9]), 0x86dd);
        let rows = [
            (Heard::Probe { direction: AB, kind: ProbeKind::Unicast }, None),
            (Heard::Damaged { direction: AB }, None),
            (Heard::AnotherGauge { nonce: 7 }, Some(Reason::AnotherGauge { on, nonce: 7 })),
            (
                Heard::OwnStray { from: Side::A, ethertype },
                Some(Reason::OwnStray { from: Side::A, ethertype }),
            ),
            (Heard::Foreign { from, ethertype }, Some(Reason::ForeignTraffic { on, from, ethertype })),
        ];
        for (heard, reason) in rows {
            assert_eq!(intruder(on, heard), reason, "{heard:?}");
        }
    }

    #[test]
    fn a_probe_that_was_not_taken_is_handed_out_again() {
        let mut check = check();
        let at = Instant::from_millis;
        let first = check.next(at(2_500));
        check.unsent();
        assert_eq!(check.probes_sent(AB), 0);
        assert_eq!(check.next(at(2_505)), first);
        assert_eq!(check.probes_sent(AB), 1);
    }

    #[test]
    fn a_check_that_cannot_send_ends() {
        let mut check = check();
        let mut now = 2_500;
        while let Action::Send { .. } = check.next(Instant::from_millis(now)) {
            check.unsent();
            now += 5;
        }
        let reason = Reason::NothingSent { direction: AB };
        assert_eq!(check.next(Instant::from_millis(now)), Action::Done(Outcome::Refused(reason)));
        check.unsent();
    }

    #[test]
    fn every_probe_is_sent_once() {
        let mut sent = Vec::new();
        outcome(|probe| {
            sent.push(probe);
            Vec::new()
        });
        assert_eq!(sent.len(), 128);
        for direction in Direction::BOTH {
            for kind in [ProbeKind::Unicast, ProbeKind::Filtered] {
                for index in 0..PROBES {
                    let times = sent.iter().filter(|&&probe| probe == (direction, kind, index)).count();
                    assert_eq!(times, 1);
                }
            }
        }
    }

    fn any_side() -> impl Strategy<Value = Side> {
        prop::sample::select(Side::BOTH.as_slice())
    }

    fn any_heard() -> impl Strategy<Value = Heard> {
        let direction = || prop::sample::select(Direction::BOTH.as_slice());
        let kind = prop::sample::select([ProbeKind::Unicast, ProbeKind::Filtered].as_slice());
        prop_oneof![
            4 => (direction(), kind).prop_map(|(direction, kind)| Heard::Probe { direction, kind }),
            2 => direction().prop_map(|direction| Heard::Damaged { direction }),
            1 => any::<u32>().prop_map(|nonce| Heard::AnotherGauge { nonce }),
            1 => (any_side(), any::<u16>()).prop_map(|(from, ethertype)| Heard::OwnStray { from, ethertype }),
            1 => any::<u16>().prop_map(|ethertype| Heard::Foreign { from: MacAddress::default(), ethertype }),
        ]
    }

    proptest! {
        #[test]
        fn a_loop_is_only_what_let_both_kinds_through_both_ways(lost in prop::collection::vec(0u8..4, 128)) {
            // 0 arrives, 1 and 2 are lost, 3 is damaged.
            let mut fates = lost.iter();
            let mut whole = [[0; 2]; 2];
            let outcome = outcome(|sent| match fates.next() {
                Some(0) => {
                    whole[sent.0.index()][sent.1 as usize] += 1;
                    arrives(sent)
                }
                Some(3) => garbled(sent),
                _ => Vec::new(),
            });
            let both_kinds_both_ways = whole.iter().flatten().all(|&heard| heard > 0);
            prop_assert_eq!(outcome == Outcome::Loop, both_kinds_both_ways);
        }

        #[test]
        fn a_path_that_loses_kinds_or_directions_is_never_a_loop(open in prop::array::uniform4(any::<bool>())) {
            let outcome = outcome(only(|(direction, kind, _)| open[direction.index() * 2 + kind as usize]));
            prop_assert_eq!(outcome == Outcome::Loop, open == [true; 4]);
        }

        #[test]
        fn whatever_is_heard_the_first_intruder_decides(
            frames in prop::collection::vec((any_side(), any_heard()), 0..20),
            times in prop::collection::vec(0u64..5_000, 0..40),
        ) {
            let mut check = check();
            let first = frames.iter().find_map(|&(on, heard)| intruder(on, heard));
            for (on, heard) in frames {
                check.heard(on, heard);
            }
            for at in times {
                let action = check.next(Instant::from_millis(at));
                match first {
                    Some(reason) => prop_assert_eq!(action, Action::Done(Outcome::Refused(reason))),
                    None => prop_assert!(at >= 2_500 || action == Action::Wait),
                }
            }
        }
    }
}
