//! The account of one direction: sent = good + corrupt + missing, frame by frame, stream by stream.
//!
//! # Who lost the missing frames
//! *missing* is what did not arrive with a header that could be read. Who is to blame is settled in
//! this order, each taking of what the one before left:
//!
//! 1. *host*: as many as fresh, complete host counters show dropped, never more than are missing.
//! 2. *lost*, if those counters are there: the rest is the cable's. It is an interval, because
//!    - an unidentified arrival is a missing frame that did come, or a second copy of any frame, and
//!    - a misplaced arrival is a missing frame that came too late, or a second copy:
//!
//!    lost is between missing − host − those arrivals and missing − host.
//! 3. Without those counters, CRC, symbol or link evidence still says that the cable loses frames,
//!    and the same interval holds with host = 0.
//! 4. Without either, nobody can say: what such arrivals do not explain is *unknown*, and nothing
//!    is called lost.
//!
//! Everything is settled stream by stream first, so that a surplus in one stream never cancels a
//! loss in another.

use crate::counter::PortCounters;
use crate::tally::{StreamTally, Tally};
use crate::units::{BitRate, Direction, MAX_STREAMS};
use core::time::Duration;

/// An inclusive range of a count that damage left uncertain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// At least.
    pub at_least: u64,
    /// At most.
    pub at_most: u64,
}

/// One stream's account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamReport {
    /// Frames sent.
    pub sent: u64,
    /// Different frames received undamaged.
    pub good: u64,
    /// Different frames received damaged, header readable.
    pub corrupt: u64,
    /// Wrong bits in those.
    pub bit_errors: u64,
    /// sent − good − corrupt.
    pub missing: u64,
    /// Frames that came twice.
    pub duplicates: u64,
    /// Frames that came out of order.
    pub reordered: u64,
    /// Frames too late to place, or numbered beyond what was sent.
    pub misplaced: u64,
}

/// One direction's account.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectionReport {
    /// Which direction.
    pub direction: Direction,
    /// Stream by stream.
    pub streams: [StreamReport; MAX_STREAMS],
    /// Frames accepted for sending.
    pub sent: u64,
    /// Frames of ours that arrived, in whatever state.
    pub received: u64,
    /// Different frames received undamaged.
    pub good: u64,
    /// Frames received damaged, unidentified ones included.
    pub corrupt: u64,
    /// Damaged frames that cannot say which frame they are.
    pub unidentified: u64,
    /// Wrong bits in the damaged frames that can.
    pub bit_errors: u64,
    /// Payload bits received and compared.
    pub checked_bits: u64,
    /// sent − good − corrupt, over the streams.
    pub missing: u64,
    /// Missing frames that the cable lost.
    pub lost: Interval,
    /// Missing frames that fresh host counters explain.
    pub host: u64,
    /// Missing frames that nothing explains and no counter could.
    pub unknown: u64,
    /// Frames that came twice.
    pub duplicates: u64,
    /// Frames that came out of order.
    pub reordered: u64,
    /// Frames that could not be placed.
    pub misplaced: u64,
    /// Received L1 rate over the judged part; none where it had no length.
    pub steady: Option<BitRate>,
    /// Longest time the worker stood still.
    pub longest_stall: Duration,
}

/// What the receiving host says about frames of one direction that did not arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostEvidence {
    /// Frames that the host's counters show dropped; none unless all of them are there and fresh.
    pub drops: Option<u64>,
    /// CRC errors, symbol errors or link trouble were seen.
    pub cable_evidence: bool,
}

impl DirectionReport {
    /// The account of `direction` out of its totals and of what the receiving host says.
    ///
    /// `steady` is the received rate over the judged part of the run.
    #[must_use]
    pub fn new(direction: Direction, tally: &Tally, host: HostEvidence, steady: Option<BitRate>) -> Self {
        let streams = tally.streams.each_ref().map(StreamReport::new);
        let sum = |figure: fn(&StreamReport) -> u64| total(streams.iter().map(figure));
        let missing = sum(|stream| stream.missing);
        let late = sum(StreamReport::perhaps_late);
        let blame = Blame::new(missing, tally.unidentified.saturating_add(late), host);
        Self {
            direction,
            streams,
            sent: sum(|stream| stream.sent),
            received: tally.received,
            good: sum(|stream| stream.good),
            corrupt: sum(|stream| stream.corrupt).saturating_add(tally.unidentified),
            unidentified: tally.unidentified,
            bit_errors: sum(|stream| stream.bit_errors),
            checked_bits: tally.sum(|stream| stream.checked_bits),
            missing,
            lost: blame.lost,
            host: blame.host,
            unknown: blame.unknown,
            duplicates: sum(|stream| stream.duplicates),
            reordered: sum(|stream| stream.reordered),
            misplaced: sum(|stream| stream.misplaced),
            steady,
            longest_stall: Duration::from_nanos(tally.longest_stall),
        }
    }
}

impl StreamReport {
    fn new(tally: &StreamTally) -> Self {
        Self {
            sent: tally.sent,
            good: tally.good,
            corrupt: tally.corrupt,
            bit_errors: tally.bit_errors,
            missing: tally.sent.saturating_sub(tally.good.saturating_add(tally.corrupt)),
            duplicates: tally.duplicates,
            reordered: tally.reordered,
            misplaced: tally.misplaced,
        }
    }

    /// Missing frames of this stream that may have come too late to be placed.
    fn perhaps_late(&self) -> u64 {
        self.misplaced.min(self.missing)
    }
}

/// Who lost the missing frames.
struct Blame {
    lost: Interval,
    host: u64,
    unknown: u64,
}

impl Blame {
    /// Of `missing` frames, up to `arrived` of which came without saying so.
    fn new(missing: u64, arrived: u64, host: HostEvidence) -> Self {
        let interval = |at_most: u64| Interval { at_least: at_most.saturating_sub(arrived), at_most };
        match host.drops {
            Some(drops) => {
                let host = drops.min(missing);
                Self { lost: interval(missing - host), host, unknown: 0 }
            }
            None if host.cable_evidence => Self { lost: interval(missing), host: 0, unknown: 0 },
            None => Self { lost: Interval::default(), host: 0, unknown: missing.saturating_sub(arrived) },
        }
    }
}

/// Frames that the host dropped in one direction, from the sending and the receiving port's counters since
/// the baseline; none where one of them is missing, because then nobody can say.
///
/// A send that the kernel refused for lack of room counts as a drop of the device, but the frame was offered
/// again: it is not missing. A virtual cable counts one drop at both its ends: the larger figure counts.
#[must_use]
pub fn host_drops(tally: &Tally, from: &PortCounters, to: &PortCounters) -> Option<u64> {
    let outgoing = from.tx_dropped?.saturating_sub(tally.refused);
    let incoming = to.rx_dropped?.saturating_add(to.rx_missed.unwrap_or(0));
    Some(outgoing.max(incoming).saturating_add(tally.socket_drops))
}

/// Frames that the kernel accepted and the sending MAC has not sent; 0 where that MAC does not count them.
#[must_use]
pub fn unsent(tally: &Tally, from: &PortCounters) -> u64 {
    let sent = tally.sum(|stream| stream.sent);
    from.tx_frames.map_or(0, |frames| sent.saturating_sub(frames))
}

/// Frames that the receiving MAC passed on and no test socket got: the host has them or had them, they are not
/// lost on the cable; 0 where that MAC does not count them.
///
/// For finished accounts only: while frames flow, counters and totals are read one after the other, and what
/// passes in between is on its way.
#[must_use]
pub fn unread(tally: &Tally, to: &PortCounters) -> u64 {
    to.rx_frames.map_or(0, |frames| frames.saturating_sub(tally.received))
}

fn total(figures: impl Iterator<Item = u64>) -> u64 {
    figures.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::samples::{flipped, frame, identity, writer};
    use crate::frame::{Checker, MAGIC_AT, PAYLOAD_AT, Writer};
    use crate::stream::Account;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    const WAY: Direction = Direction::AToB;
    const COMPLETE: HostEvidence = HostEvidence { drops: Some(0), cable_evidence: false };

    /// A tally of one stream that sent 100 frames.
    fn tally(good: u64, corrupt: u64, unidentified: u64) -> Tally {
        let mut tally = Tally { unidentified, ..Tally::default() };
        tally.streams[0] = StreamTally { sent: 100, good, corrupt, ..StreamTally::default() };
        tally
    }

    fn report(tally: &Tally, host: HostEvidence) -> DirectionReport {
        DirectionReport::new(WAY, tally, host, None)
    }

    #[test]
    fn missing_frames_are_the_hosts_the_cables_or_unknown() {
        let host = |drops, cable_evidence| HostEvidence { drops, cable_evidence };
        // missing, unidentified, what the host says; lost at least and at most, host, unknown.
        let table = [
            (0, 0, host(Some(0), false), (0, 0), 0, 0),
            (5, 0, host(Some(0), false), (5, 5), 0, 0),
            (5, 0, host(Some(3), false), (2, 2), 3, 0),
            (5, 0, host(Some(9), true), (0, 0), 5, 0),
            (5, 2, host(Some(0), false), (3, 5), 0, 0),
            (5, 2, host(Some(1), false), (2, 4), 1, 0),
            (5, 9, host(Some(0), false), (0, 5), 0, 0),
            (5, 0, host(None, false), (0, 0), 0, 5),
            (5, 2, host(None, false), (0, 0), 0, 3),
            (5, 0, host(None, true), (5, 5), 0, 0),
            (5, 2, host(None, true), (3, 5), 0, 0),
        ];
        for (missing, unidentified, evidence, (at_least, at_most), host, unknown) in table {
            let report = report(&tally(100 - missing, 0, unidentified), evidence);
            let expected = (missing, Interval { at_least, at_most }, host, unknown);
            let got = (report.missing, report.lost, report.host, report.unknown);
            assert_eq!(got, expected, "{missing} missing, {unidentified} unidentified, {evidence:?}");
        }
    }

    #[test]
    fn a_surplus_in_one_stream_never_cancels_a_loss_in_another() {
        // Field case 30: one lost and one stray is not PASS.
        let mut tally = tally(99, 0, 0);
        tally.streams[1] = StreamTally { sent: 100, good: 101, ..StreamTally::default() };
        let report = report(&tally, COMPLETE);
        assert_eq!((report.sent, report.good, report.missing), (200, 200, 1));
        assert_eq!(report.lost, Interval { at_least: 1, at_most: 1 });
    }

    #[test]
    fn a_frame_that_cannot_say_who_it_is_is_corrupt_once() {
        let report = report(&tally(90, 4, 6), COMPLETE);
        assert_eq!((report.corrupt, report.unidentified, report.missing), (10, 6, 6));
        assert_eq!(report.lost, Interval { at_least: 0, at_most: 6 });
    }

    #[test]
    fn a_frame_later_than_the_window_is_perhaps_not_lost() {
        let writer = writer(WAY, "64");
        let checker = Checker::new(identity(), WAY);
        let mut account = Account::default();
        account.sent(0, 1100, 1100 * 84);
        for sequence in (1..1100).chain([0]) {
            account.arrived(checker.check(&frame(&writer, 0, sequence)));
        }
        let report = report(account.tally(), COMPLETE);
        assert_eq!((report.misplaced, report.missing), (1, 1));
        assert_eq!(report.lost, Interval { at_least: 0, at_most: 1 });
    }

    #[test]
    fn the_report_carries_the_stall_and_the_rate() {
        let tally = Tally { longest_stall: 1_500_000, ..tally(100, 0, 0) };
        let rate = Some(BitRate::from_mbps(9_999));
        let report = DirectionReport::new(WAY, &tally, COMPLETE, rate);
        assert_eq!((report.longest_stall, report.steady), (Duration::from_micros(1500), rate));
    }

    /// What the modelled cable and host do to a frame, or to its second copy.
    #[derive(Clone, Debug)]
    enum Fate {
        Whole,
        LostOnCable,
        DroppedByHost,
        /// Wrong bits, by place: addresses or payload.
        Damaged(BTreeSet<usize>),
        /// Wrong bits of the header, by place: few enough for the CRC to catch them all.
        HeaderHit(BTreeSet<usize>),
        /// Cut to so many payload octets.
        Cut(usize),
    }

    /// A frame's fate and delay, and those of a second copy of it. A delay counts frames sent since.
    type Passage = ((Fate, usize), Option<(Fate, usize)>);

    const SHORTEST_PAYLOAD: usize = 18;

    fn damage() -> impl Strategy<Value = Fate> {
        let payload = PAYLOAD_AT * 8..(PAYLOAD_AT + SHORTEST_PAYLOAD) * 8;
        let place = prop_oneof![0..12 * 8usize, payload];
        let header = MAGIC_AT * 8..PAYLOAD_AT * 8;
        prop_oneof![
            prop::collection::btree_set(place, 1..20).prop_map(Fate::Damaged),
            prop::collection::btree_set(header, 1..=5).prop_map(Fate::HeaderHit),
            (0..SHORTEST_PAYLOAD).prop_map(Fate::Cut),
        ]
    }

    fn passage(headers_hit: bool) -> impl Strategy<Value = Passage> {
        let fate = prop_oneof![
            6 => Just(Fate::Whole),
            1 => Just(Fate::LostOnCable),
            1 => Just(Fate::DroppedByHost),
            2 => damage(),
        ];
        let spared = move |fate| match fate {
            Fate::HeaderHit(bits) if !headers_hit => Fate::Damaged(bits.iter().map(|bit| bit % 96).collect()),
            fate => fate,
        };
        let delay = || prop_oneof![3 => Just(0usize), 1 => 0..1000usize];
        let copy = prop_oneof![Just(Fate::Whole), damage()].prop_map(spared);
        let copy = prop_oneof![5 => Just(None), 1 => (copy, delay()).prop_map(Some)];
        ((fate.prop_map(spared), delay()), copy)
    }

    /// The cable's own account of one stream.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Truth {
        sent: u64,
        lost: u64,
        dropped: u64,
        headers_hit: u64,
        good: u64,
        corrupt: u64,
        bit_errors: u64,
        duplicates: u64,
        reordered: u64,
        /// Numbers that arrived with a readable header.
        seen: BTreeSet<u64>,
    }

    impl Truth {
        fn arrives(&mut self, sequence: u64, fate: &Fate) {
            if let Fate::HeaderHit(_) = fate {
                self.headers_hit += 1;
                return;
            }
            let late = self.seen.last().is_some_and(|last| *last > sequence);
            if !self.seen.insert(sequence) {
                self.duplicates += 1;
                return;
            }
            self.reordered += u64::from(late);
            match fate {
                Fate::Whole => self.good += 1,
                Fate::Damaged(bits) => {
                    self.corrupt += 1;
                    self.bit_errors += u64::try_from(bits.len()).unwrap();
                }
                _ => self.corrupt += 1,
            }
        }
    }

    /// A frame under way.
    struct UnderWay {
        /// Arrives when the passage of this number is sent.
        due: usize,
        stream: usize,
        sequence: u64,
        fate: Fate,
    }

    /// Sends every passage's frame, of the streams in turn, through a modelled cable.
    struct Model {
        writer: Writer,
        checker: Checker,
        account: Account,
        truth: Vec<Truth>,
        wire: Vec<UnderWay>,
    }

    impl Model {
        fn run(streams: usize, mix: &str, passages: &[Passage]) -> Self {
            let mut model = Self {
                writer: writer(WAY, mix),
                checker: Checker::new(identity(), WAY),
                account: Account::default(),
                truth: std::vec![Truth::default(); streams],
                wire: Vec::new(),
            };
            for (now, (frame, copy)) in passages.iter().enumerate() {
                model.send(now, now % streams, frame, copy.as_ref());
                model.deliver(now);
            }
            model.deliver(usize::MAX);
            model
        }

        fn send(&mut self, now: usize, stream: usize, frame: &(Fate, usize), copy: Option<&(Fate, usize)>) {
            let truth = &mut self.truth[stream];
            let sequence = truth.sent;
            truth.sent += 1;
            self.account.sent(stream, 1, self.writer.mix().size(sequence).l1_octets());
            match frame.0 {
                Fate::LostOnCable => truth.lost += 1,
                Fate::DroppedByHost => truth.dropped += 1,
                _ => {
                    let both = [Some(frame), copy].into_iter().flatten().cloned();
                    self.wire.extend(both.map(|(fate, delay)| UnderWay {
                        due: now + delay,
                        stream,
                        sequence,
                        fate,
                    }));
                }
            }
        }

        fn deliver(&mut self, now: usize) {
            let mut due: Vec<UnderWay> = self.wire.extract_if(.., |frame| frame.due <= now).collect();
            due.sort_by_key(|frame| frame.due);
            for UnderWay { stream, sequence, fate, .. } in due {
                self.truth[stream].arrives(sequence, &fate);
                let octets = harmed(frame(&self.writer, stream, sequence), &fate);
                self.account.arrived(self.checker.check(&octets));
            }
        }
    }

    fn harmed(octets: Vec<u8>, fate: &Fate) -> Vec<u8> {
        match fate {
            Fate::Damaged(bits) | Fate::HeaderHit(bits) => {
                bits.iter().fold(octets, |octets, bit| flipped(&octets, *bit))
            }
            Fate::Cut(payload) => octets[..PAYLOAD_AT + payload].to_vec(),
            _ => octets,
        }
    }

    proptest! {
        #[test]
        fn an_account_agrees_with_the_truth_whatever_the_cable_does(
            streams in 1usize..=7,
            mix in prop::sample::select(std::vec!["64", "64,300,65", "rfc2544"]),
            passages in any::<bool>().prop_flat_map(|hit| prop::collection::vec(passage(hit), 0..300)),
        ) {
            let model = Model::run(streams, mix, &passages);
            let dropped = model.truth.iter().map(|truth| truth.dropped).sum();
            let host = HostEvidence { drops: Some(dropped), cable_evidence: false };
            let report = report(model.account.tally(), host);
            for (got, truth) in report.streams.iter().zip(&model.truth) {
                prop_assert_eq!(got.sent, got.good + got.corrupt + got.missing);
                prop_assert_eq!(
                    (got.sent, got.good, got.corrupt, got.bit_errors, got.duplicates, got.reordered, got.misplaced),
                    (truth.sent, truth.good, truth.corrupt, truth.bit_errors, truth.duplicates, truth.reordered, 0)
                );
            }
            let sum = |figure: fn(&Truth) -> u64| model.truth.iter().map(figure).sum::<u64>();
            let (lost, headers_hit) = (sum(|truth| truth.lost), sum(|truth| truth.headers_hit));
            prop_assert_eq!(report.unidentified, headers_hit);
            prop_assert_eq!(report.corrupt, sum(|truth| truth.corrupt) + headers_hit);
            prop_assert_eq!(report.received, report.good + report.corrupt + report.duplicates);
            prop_assert_eq!((report.host, report.unknown), (dropped, 0));
            let Interval { at_least, at_most } = report.lost;
            prop_assert!((at_least..=at_most).contains(&lost), "{} lost, not {:?}", lost, report.lost);
            prop_assert!(headers_hit > 0 || at_least == at_most, "nothing makes {:?} uncertain", report.lost);
        }
    }
}
