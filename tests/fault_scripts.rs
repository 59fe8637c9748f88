//! Random fault scripts on the pure emulated cable: a receiver that looks at every frame finds exactly what the
//! cable's account says, in every class.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use linegauge::cable::STRANGER;
use linegauge::cable::account::{Account, Fate, Flow, Kind};
use linegauge::cable::emulated::EmulatedCable;
use linegauge::cable::fault::Script;
use linegauge::cable::recognise::ETHERTYPES;
use measure::frame::{ETHERTYPE_AT, Header, Kind as FrameKind, MAGIC_AT, PAYLOAD_AT, View};
use measure::units::{Direction, Instant, Side};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher};
use std::time::Duration;

const TRAFFIC: Duration = Duration::from_secs(1);
/// Time between two frames of one direction.
const STEP: Duration = Duration::from_millis(2);
const PROBES: u64 = 256;
const STREAMS: u64 = 2;
const SIZES: [usize; 5] = [60, 124, 60, 252, 508];

/// Frame `number` of a direction, reproducible from what its header says.
fn frame(direction: Direction, kind: FrameKind, number: u64) -> Vec<u8> {
    let stream = u8::try_from(number % STREAMS).unwrap();
    let size = SIZES[usize::try_from(number).unwrap() % SIZES.len()];
    let length = u16::try_from(size).unwrap();
    let header = Header { kind, direction, stream, nonce: 9, sequence: number, length };
    let mut frame = vec![2; ETHERTYPE_AT];
    frame.extend(ETHERTYPES[usize::from(stream)].to_be_bytes());
    frame.extend(header.to_octets());
    let mut state = number ^ 0x9E37_79B9_7F4A_7C15;
    frame.resize_with(size, || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    });
    frame
}

/// Kind and number, if the frame has a whole header.
fn identify(octets: &[u8]) -> Option<(FrameKind, u64)> {
    let header = View::new_checked(octets)?.header()?;
    Some((header.kind, header.sequence))
}

/// A kind's place among the receivers.
fn index(kind: FrameKind) -> usize {
    usize::from(kind != FrameKind::Test)
}

/// What a careful receiver finds in the readable frames of one kind.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    arrived: u64,
    duplicates: u64,
    reordered: u64,
    payload_flipped: u64,
    readable_bits: u64,
    ethertype_flipped: u64,
    ethertype_bits: u64,
    address_flipped: u64,
    payload_cut: u64,
}

/// The same from the account.
fn told(flow: &Flow) -> Found {
    Found {
        arrived: flow.delivered - flow.damage.unreadable(),
        duplicates: flow.fault(Kind::Duplicate).done,
        reordered: flow.fault(Kind::Reorder).done,
        payload_flipped: flow.damage.payload_flipped,
        readable_bits: flow.damage.readable_bits,
        ethertype_flipped: flow.damage.ethertype_flipped,
        ethertype_bits: flow.damage.ethertype_bits,
        address_flipped: flow.damage.address_flipped,
        payload_cut: flow.damage.payload_cut,
    }
}

/// Receives the frames of one direction and kind.
#[derive(Default)]
struct Receiver {
    found: Found,
    seen: HashSet<u64>,
    highest: HashMap<u64, u64>,
    odd: HashSet<u64>,
}

impl Receiver {
    /// A frame whose header is whole and says that it is `number`; `whole` is how it was sent.
    fn hear(&mut self, whole: &[u8], octets: &[u8], number: u64) {
        self.found.arrived += 1;
        let misplaced = if self.seen.insert(number) { self.is_late(number) } else { self.is_duplicate() };
        let damaged = if octets.len() < whole.len() { self.is_cut() } else { self.is_flipped(whole, octets) };
        assert!(octets.len() == whole.len() || whole.starts_with(octets), "a cut frame was flipped too");
        assert!(!(misplaced && damaged), "frame {number} was hit twice");
        if misplaced || damaged {
            assert!(self.odd.insert(number), "frame {number} was hit twice");
        }
    }

    fn is_duplicate(&mut self) -> bool {
        self.found.duplicates += 1;
        true
    }

    fn is_late(&mut self, number: u64) -> bool {
        let highest = self.highest.entry(number % STREAMS).or_insert(number);
        let late = number < *highest;
        *highest = number.max(*highest);
        self.found.reordered += u64::from(late);
        late
    }

    fn is_cut(&mut self) -> bool {
        self.found.payload_cut += 1;
        true
    }

    fn is_flipped(&mut self, whole: &[u8], octets: &[u8]) -> bool {
        let bits = |from: usize, to: usize| -> u64 {
            whole[from..to].iter().zip(&octets[from..to]).map(|(a, b)| u64::from((a ^ b).count_ones())).sum()
        };
        let addresses = bits(0, ETHERTYPE_AT);
        let ethertype = bits(ETHERTYPE_AT, MAGIC_AT);
        let payload = bits(PAYLOAD_AT, whole.len());
        let all = addresses + ethertype + payload;
        if ethertype > 0 {
            self.found.ethertype_flipped += 1;
            self.found.ethertype_bits += all;
        } else if all > 0 {
            let flipped =
                if addresses > 0 { &mut self.found.address_flipped } else { &mut self.found.payload_flipped };
            *flipped += 1;
            self.found.readable_bits += all;
        }
        all > 0
    }
}

/// A cable under traffic, with a receiver for each direction and kind (0 test frames, 1 probes).
struct Bench {
    cable: EmulatedCable,
    now: Instant,
    sent: [[u64; 2]; 2],
    receivers: [[Receiver; 2]; 2],
    unreadable: [u64; 2],
    foreign: [u64; 2],
    /// Everything that arrived, for comparing two runs.
    digest: DefaultHasher,
}

impl Bench {
    fn new(script: &Script, seed: u64) -> Self {
        Self {
            cable: EmulatedCable::new(script, seed, TRAFFIC),
            now: Instant::from_millis(3000),
            sent: Default::default(),
            receivers: Default::default(),
            unreadable: [0; 2],
            foreign: [0; 2],
            digest: DefaultHasher::new(),
        }
    }

    fn hear(&mut self, direction: Direction, octets: &[u8]) {
        self.digest.write(octets);
        if octets.get(6..12) == Some(&STRANGER.0) {
            self.foreign[direction.index()] += 1;
        } else if let Some((kind, number)) = identify(octets) {
            let whole = frame(direction, kind, number);
            self.receivers[direction.index()][index(kind)].hear(&whole, octets, number);
        } else {
            self.unreadable[direction.index()] += 1;
        }
    }

    fn send(&mut self, direction: Direction, kind: FrameKind) {
        let number = &mut self.sent[direction.index()][index(kind)];
        let octets = frame(direction, kind, *number);
        *number += 1;
        let mut heard = Vec::new();
        self.cable.carry(direction, self.now, &octets, &mut |to, frame| heard.push((to, frame.to_vec())));
        heard.into_iter().for_each(|(to, frame)| self.hear(to, &frame));
    }

    /// Lets `time` pass with all that the cable wants to do in it, as its runner would.
    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(event) = self.cable.next_event().filter(|event| *event <= end) {
            self.poll(event.max(self.now));
        }
        self.poll(end);
    }

    fn poll(&mut self, now: Instant) {
        self.now = now;
        let mut heard = Vec::new();
        self.cable.poll(now, &mut |to, frame| heard.push((to, frame.to_vec())));
        heard.into_iter().for_each(|(to, frame)| self.hear(to, &frame));
    }

    /// Probes, then traffic for `factor` times what the cable was told, then silence.
    fn run(&mut self, factor: u32) {
        for _ in 0..PROBES {
            Direction::BOTH.into_iter().for_each(|direction| self.send(direction, FrameKind::Unicast));
            self.pass(STEP);
        }
        let end = self.now + TRAFFIC * factor;
        while self.now < end {
            Direction::BOTH.into_iter().for_each(|direction| self.send(direction, FrameKind::Test));
            self.pass(STEP);
        }
        self.pass(Duration::from_secs(1));
    }

    fn account(&self) -> &Account {
        self.cable.account()
    }
}

/// The account is whole, and says what the receivers have found.
fn compare(bench: &Bench) {
    let account = bench.account();
    assert!(account.balances(), "{account}");
    for direction in Direction::BOTH {
        let index = direction.index();
        let truth = account.direction(direction);
        for (kind, flow) in [truth.test(), truth.probes()].into_iter().enumerate() {
            compare_flow(flow, bench.sent[index][kind], &bench.receivers[index][kind]);
        }
        let unreadable = truth.test().damage.unreadable() + truth.probes().damage.unreadable();
        assert_eq!(bench.unreadable[index], unreadable, "{account}");
        assert_eq!(bench.foreign[index], truth.foreign.done + truth.network, "{account}");
        let crc = truth.test().gone(Fate::Fcs) + truth.probes().gone(Fate::Fcs);
        assert_eq!(bench.cable.mac(direction.to()).crc_errors, crc);
    }
}

fn compare_flow(flow: &Flow, sent: u64, receiver: &Receiver) {
    assert_eq!((flow.carried, flow.in_flight), (sent, 0), "{flow}");
    assert_eq!(receiver.found, told(flow), "{flow}");
    let different = u64::try_from(receiver.seen.len()).unwrap();
    let copies_lost = flow.copies - flow.fault(Kind::Duplicate).done;
    let missing = flow.missing() - copies_lost + flow.damage.unreadable();
    assert_eq!(sent - different, missing, "{flow}");
}

/// Everything that was asked has been done.
fn complete(account: &Account) {
    for direction in Direction::BOTH {
        let truth = account.direction(direction);
        for kind in Kind::ALL {
            for fault in [truth.test().fault(kind), truth.probes().fault(kind)] {
                assert_eq!(fault.asked, fault.done, "{kind:?}\n{account}");
            }
        }
        assert_eq!(truth.foreign.asked, truth.foreign.done, "{account}");
    }
    assert_eq!(account.flaps.asked, account.flaps.done, "{account}");
}

fn lines() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("a>b"), Just("b>a"), Just("both")]
}

fn regions() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("payload"), Just("header"), Just("any")]
}

/// A moment in the traffic, or none.
fn moments() -> impl Strategy<Value = String> {
    prop_oneof![2 => Just(String::new()), 1 => (0..900u32).prop_map(|millis| format!(" at {millis}ms"))]
}

/// What is done to frames, with its particulars but without `probe` and `at`.
fn actions() -> impl Strategy<Value = String> {
    let plain = prop_oneof![Just("drop"), Just("duplicate"), Just("reorder"), Just("fcs")];
    prop_oneof![
        3 => (plain, 1..8u32).prop_map(|(action, count)| format!("{action} {count}")),
        2 => (1..8u32, 1..=144u32, regions())
            .prop_map(|(count, bits, region)| format!("flip {count} bits {bits} region {region}")),
        2 => (1..8u32, 1..4u32).prop_map(|(count, bits)| format!("flip {count} bits {bits} region any")),
        2 => (1..8u32, regions()).prop_map(|(count, region)| format!("truncate {count} region {region}")),
        1 => (1..4u32, 1..30_000u32).prop_map(|(count, micros)| format!("delay {count} by {micros}us")),
    ]
}

/// Faults that are always done if the traffic is long enough.
fn counted() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => (lines(), actions(), moments()).prop_map(|(line, action, at)| format!("{line} {action}{at}")),
        1 => (lines(), actions()).prop_map(|(line, action)| format!("{line} {action} probe")),
        1 => (lines(), 1..4u32, moments()).prop_map(|(line, count, at)| format!("{line} foreign {count}{at}")),
        2 => (1..3u32, 1..80u32, moments())
            .prop_map(|(count, millis, at)| format!("flap {count} for {millis}ms{at}")),
    ]
}

/// Faults that can make others impossible.
fn lasting() -> impl Strategy<Value = String> {
    prop_oneof![
        (lines(), moments()).prop_map(|(line, at)| format!("{line} dead{at}")),
        moments().prop_map(|at| format!("a open{at}")),
        moments().prop_map(|at| format!("b open{at}")),
        Just("switch".to_owned()),
        Just("network".to_owned()),
        Just("a network".to_owned()),
    ]
}

fn run(faults: &[String], seed: u64, factor: u32) -> Bench {
    let script = Script::parse(faults).unwrap();
    let mut bench = Bench::new(&script, seed);
    bench.run(factor);
    bench
}

/// Cases of a property; nothing is written beside the sources.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn a_receiver_finds_what_the_account_tells_and_all_that_was_asked(
        faults in proptest::collection::vec(counted(), 0..6),
        seed in any::<u64>(),
    ) {
        let bench = run(&faults, seed, 3);
        compare(&bench);
        complete(bench.account());
    }

    #[test]
    fn lasting_faults_leave_no_frame_unaccounted(
        faults in proptest::collection::vec(prop_oneof![lasting(), counted()], 1..6),
        seed in any::<u64>(),
    ) {
        compare(&run(&faults, seed, 1));
    }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn the_same_seed_gives_the_same_cable(
        faults in proptest::collection::vec(counted(), 1..5),
        seed in any::<u64>(),
    ) {
        let (one, other) = (run(&faults, seed, 1), run(&faults, seed, 1));
        prop_assert_eq!(one.account(), other.account());
        prop_assert_eq!(one.digest.finish(), other.digest.finish());
    }
}

#[test]
fn another_seed_picks_other_frames() {
    let faults = ["a>b drop 17".to_owned()];
    let (one, other) = (run(&faults, 1, 1), run(&faults, 2, 1));
    assert_eq!(one.account(), other.account());
    assert_ne!(one.digest.finish(), other.digest.finish());
}

#[test]
fn seventeen_dropped_and_five_bits_of_five_frames_are_told_as_such() {
    let bench = run(&["a>b drop 17".to_owned(), "b>a flip 5".to_owned()], 4, 1);
    let truth = bench.account().to_string();
    for line in [
        "truth A>B carried 500, delivered 483, dropped 17 of 17 asked",
        "truth B>A carried 500, delivered 500, flipped 5 of 5 asked, bits 5, readable bits 5",
    ] {
        assert!(truth.lines().any(|told| told == line), "{truth}");
    }
}

#[test]
fn the_account_shows_that_only_probes_left_for_a_live_network() {
    let script = Script::parse(["network"]).unwrap();
    let mut bench = Bench::new(&script, 1);
    for _ in 0..PROBES {
        bench.send(Direction::AToB, FrameKind::Unicast);
        bench.pass(Duration::from_millis(20));
    }
    let left = bench.account().left(Side::A);
    assert_eq!((left.probes, left.test_frames), (PROBES, 0));
    assert_eq!(bench.account().direction(Direction::AToB).probes().gone(Fate::Network), PROBES);
    assert!(bench.foreign.iter().all(|&foreign| foreign > 0), "both ports hear the network");
}
