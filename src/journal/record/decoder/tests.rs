//! Lines that are joined late, damaged, cut and shared.

use super::super::body::{Dropped, Passage};
use super::super::frame::{Frame, seal, tests::foreign};
use super::super::tests::read;
use super::*;
use proptest::prelude::*;

/// A record that tells its number.
fn record(number: u64) -> Record {
    Record::Dropped(Dropped { at_ms: number, events: number.wrapping_mul(0x0101_0101_0101) })
}

fn frame(number: u64) -> Frame {
    seal(u8::try_from(number % 256).unwrap(), &record(number)).unwrap()
}

fn frames(numbers: std::ops::Range<u64>) -> Vec<u8> {
    numbers.flat_map(frame).collect()
}

fn records(numbers: impl IntoIterator<Item = u64>) -> Vec<Record> {
    numbers.into_iter().map(record).collect()
}

#[test]
fn a_line_without_damage_is_read_without_loss() {
    assert_eq!(read(&frames(0..1_000)), (records(0..1_000), Skipped::default()));
}

#[test]
fn who_joins_in_the_middle_of_a_frame_has_the_next() {
    let octets = frames(0..10);
    for joined in 2..frame(0).len() - 1 {
        let (found, skipped) = read(&octets[joined..]);
        assert_eq!(found, records(1..10));
        assert_eq!((skipped.damaged, skipped.missing), (0, 0), "nobody has lost anything");
        // The last octets of a frame may happen to be text.
        assert_eq!(skipped.octets + skipped.text, (frame(0).len() - 1 - joined) as u64);
    }
}

#[test]
fn a_frame_without_its_end_costs_itself_alone() {
    for end in 1..frame(0).len() - 1 {
        let cut = [&frame(0)[..], &frame(1)[..end], &frame(2)[..]].concat();
        let (found, skipped) = read(&cut);
        assert_eq!(found, records([0, 2]));
        assert_eq!((skipped.octets + skipped.text, skipped.missing), ((end - 1) as u64, 1));
    }
}

#[test]
fn a_log_on_the_same_line_is_no_loss() {
    let log = b"    12.345 rate A>B 9.998 Gb/s\r\n".repeat(100);
    let shared = [&log[..], &frame(0)[..], &log[..], &frame(1)[..], &log[..]].concat();
    let (found, skipped) = read(&shared);
    assert_eq!(found, records(0..2));
    assert_eq!(skipped, Skipped { text: 3 * log.len() as u64, ..Skipped::default() });
    assert!(skipped.is_nothing());
}

#[test]
fn a_delimiter_inside_a_frame_costs_that_frame_alone() {
    for at in 2..frame(1).len() - 1 {
        let mut middle = frame(1).to_vec();
        middle.insert(at, DELIMITER);
        let (found, skipped) = read(&[&frame(0)[..], &middle, &frame(2)[..]].concat());
        assert_eq!(found, records([0, 2]));
        assert_eq!(skipped.missing, 1);
    }
}

#[test]
fn endless_noise_takes_no_room_and_is_counted() {
    let noise = vec![0xa5; 1_000_000];
    let (found, skipped) = read(&[&frame(0)[..], &noise, &frame(1)[..]].concat());
    assert_eq!(found, records(0..2));
    assert_eq!((skipped.octets, skipped.damaged, skipped.missing), (1_000_000, 1, 0));
}

#[test]
fn kinds_and_versions_that_are_not_known_are_counted_apart() {
    let newer_kind = foreign(0x11, 99, 1, b"anything");
    let malformed = foreign(0x10, 3, 2, b"");
    let other = foreign(0x25, 1, 0, b"anything");
    let (found, skipped) = read(&[&frame(0)[..], &newer_kind, &malformed, &other, &frame(3)].concat());
    assert_eq!(found, records([0, 3]));
    let counted =
        Skipped { unknown: 1, malformed: 1, foreign: 1, version: Some((2, 5)), ..Skipped::default() };
    assert_eq!(skipped, counted);
    let told = "malformed records 1, records of an unknown kind 1, records of another format 1";
    assert_eq!(skipped.to_string(), told);
    assert_eq!(Skipped { text: 7, ..Skipped::default() }.to_string(), "nothing");
}

#[test]
fn records_that_never_came_are_counted_and_a_box_that_starts_anew_has_lost_none() {
    let kept = [0, 1, 5, 250, 260].into_iter().flat_map(frame).collect::<Vec<_>>();
    assert_eq!(read(&kept).1.missing, 3 + 244 + 9);
    let reboot = [&frame(1000)[..], &frame(3)[..], &frame(4)[..]].concat();
    assert_eq!(read(&reboot).1.missing, 0);
    let twice = [&frame(7)[..], &frame(7)[..], &frame(8)[..]].concat();
    assert_eq!(read(&twice).1.missing, 0, "a record that is sent again is not lost");
}

#[test]
fn a_line_that_is_cut_off_leaves_nothing_for_what_comes_next() {
    let mut decoder = Decoder::default();
    let first = [&frame(0)[..], &frame(1)[..6]].concat();
    assert_eq!(first.iter().filter_map(|&octet| decoder.take(octet)).count(), 1);
    decoder.cut();
    let second = frames(40..42);
    let found: Vec<_> = second.iter().filter_map(|&octet| decoder.take(octet)).collect();
    assert_eq!(found, records(40..42));
    assert_eq!(*decoder.skipped(), Skipped { octets: 5, ..Skipped::default() });
}

/// What becomes of a line at some octet.
#[derive(Clone, Debug)]
enum Damage {
    Change(u8),
    Insert(Vec<u8>),
    Lose(usize),
    Delimiter,
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (1..=255_u8).prop_map(Damage::Change),
        prop::collection::vec(any::<u8>(), 1..40).prop_map(Damage::Insert),
        (1..40_usize).prop_map(Damage::Lose),
        Just(Damage::Delimiter),
    ]
}

/// Applies damage at places of `octets`, the last place first; tells which octets it touched: one that is
/// inserted touches those on both sides.
fn apply(octets: &mut Vec<u8>, mut damage: Vec<(usize, Damage)>) -> Vec<(usize, usize)> {
    damage.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let mut touched = Vec::new();
    for (at, what) in damage {
        let at = at % octets.len();
        match what {
            Damage::Change(flip) => {
                octets[at] ^= flip;
                touched.push((at, at + 1));
            }
            Damage::Insert(inserted) => {
                octets.splice(at..at, inserted);
                touched.push((at, at));
            }
            Damage::Lose(count) => {
                let end = (at + count).min(octets.len());
                octets.drain(at..end);
                touched.push((at, end));
            }
            Damage::Delimiter => {
                octets.insert(at, DELIMITER);
                touched.push((at, at));
            }
        }
    }
    touched
}

/// A frame's octets from `begin` to `end` are all there, next to each other.
fn untouched(begin: usize, end: usize, touched: &[(usize, usize)]) -> bool {
    touched.iter().all(|&(from, to)| {
        let beside = to <= begin || from >= end;
        // What is inserted between two frames is outside both.
        beside || (from == to && (from == begin || from == end))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_undamaged_record_is_read_and_no_other(
        places in prop::collection::vec((0..2_000_usize, damage()), 0..12),
        text in "[ -~]{0,40}",
    ) {
        let frames: Vec<Vec<u8>> =
            (0..80).map(|number| [frame(number).to_vec(), text.clone().into_bytes()].concat()).collect();
        let mut octets = frames.concat();
        let length = octets.len();
        let places = places.into_iter().map(|(at, what)| (at % length, what));
        // One at a place, and not into what another has touched: so that what is touched can be told.
        let mut last = length;
        let mut apart: Vec<_> = places.collect();
        apart.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        apart.retain(|(at, what)| {
            let reach = if let Damage::Lose(count) = what { *count } else { 1 };
            let fits = at + reach < last;
            if fits { last = *at }
            fits
        });
        let touched = apply(&mut octets, apart);
        let (found, skipped) = read(&octets);
        let mut begin = 0;
        let mut due = Vec::new();
        for (number, whole) in (0..).zip(&frames) {
            let end = begin + whole.len() - text.len();
            if untouched(begin, end, &touched) {
                due.push(record(number));
            }
            begin += whole.len();
        }
        for record in &due {
            prop_assert!(found.contains(record), "{record:?} is lost; {skipped}");
        }
        for record in &found {
            prop_assert!(records(0..80).contains(record), "{record:?} was never sent");
        }
        prop_assert!(found.is_sorted_by_key(Record::at_ms));
    }

    #[test]
    fn noise_is_never_a_record_and_every_octet_of_it_is_counted(
        noise in prop::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(0x10), Just(b'a')], 0..3_000),
    ) {
        let (found, skipped) = read(&noise);
        prop_assert_eq!(found, []);
        let delimiters = noise.iter().filter(|&&octet| octet == DELIMITER).count();
        prop_assert_eq!(skipped.octets + skipped.text, (noise.len() - delimiters) as u64);
        prop_assert_eq!(skipped.unknown + skipped.malformed + skipped.foreign, 0);
    }

    /// Bodies of any kind and any octets, in frames that are whole.
    #[test]
    fn no_body_takes_the_reader_down(kind in 0..12_u8, body in prop::collection::vec(any::<u8>(), 0..300)) {
        let frame = foreign(0x10, kind, 0, &body);
        let (found, skipped) = read(&frame);
        prop_assert_eq!(found.len() as u64 + skipped.unknown + skipped.malformed, 1);
    }
}

#[test]
fn a_passage_is_a_record_like_any_other() {
    let passage = Record::Passage(Passage { at_ms: 1, run: 2, phase: 3 });
    assert_eq!(read(&seal(0, &passage).unwrap()).0, [passage]);
}
