//! Version 1.0 of the records, as boxes in the field write it. Do not change this test, nor its two files:
//! whatever the program becomes, it reads these octets and finds these records in them.
//!
//! A new minor version gets files and a test of its own; [`a_box_of_today_writes_these_octets`] then moves there
//! with the story, and what is left here stays.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test, in helpers too")]

use linegauge::journal::record::{Decoder, MAJOR, MINOR, Record, Recorder};
use measure::ledger::{DirectionReport, Interval, StreamReport};
use measure::record::{Classes, Event, Held, Phase, SettingReading, Stamped, text, words};
use measure::units::{BitRate, Direction, Instant, MAX_STREAMS, MacAddress, Side};
use measure::verdict::{Reason, Setting, SwitchSign, Verdict};
use std::time::Duration;

/// One frame a line, in hexadecimal.
const OCTETS: &str = include_str!("golden/records-1.0.txt");

/// What the frames hold, one record a line. The structs of the wire never change, and so they always look like
/// this.
const RECORDS: &str = include_str!("golden/records-1.0-read.txt");

fn read() -> Vec<Record> {
    let octet = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let octets = OCTETS.lines().flat_map(|line| line.as_bytes().chunks(2).map(octet));
    let mut decoder = Decoder::default();
    let records = octets.filter_map(|octet| decoder.take(octet)).collect();
    assert!(decoder.skipped().is_nothing(), "{}", decoder.skipped());
    records
}

#[test]
fn records_of_version_1_0_are_read_for_ever() {
    let found: String = read().iter().map(|record| format!("{record:?}\n")).collect();
    assert_eq!(found, RECORDS);
}

#[test]
fn reasons_of_version_1_0_keep_their_numbers_and_the_order_of_their_figures() {
    let seen = read().into_iter().filter_map(|record| match record {
        Record::Seen(seen) => seen.reason.reason(),
        _ => None,
    });
    assert_eq!(seen.collect::<Vec<_>>(), reasons());
}

#[test]
fn a_box_of_today_writes_these_octets() {
    assert_eq!((MAJOR, MINOR), (1, 0), "a new version has golden octets of its own");
    let mut recorder = Recorder::new("box 7", Some("13639f6"));
    recorder.set_wall_clock(Instant::ZERO, Duration::from_secs(1_796_095_638));
    let frames = story().into_iter().filter_map(|stamped| recorder.take(&stamped));
    let written: String = frames.map(|frame| hexadecimal(&frame) + "\n").collect();
    assert_eq!(written, OCTETS);
}

fn hexadecimal(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Every kind of record, every phase, every reason, every setting, and figures that can be told apart.
fn story() -> Vec<Stamped> {
    let mut events = vec![
        Event::Boot { version: "1.2.3", board: text("bench") },
        Event::Phase(Phase::Wait),
        Event::Fault(words("port A: no such device")),
        Event::Start {
            run: 3,
            version: "1.2.3",
            board: text("bench"),
            label: text("blue 3m"),
            cable: "ports",
            nonce: 0xbeef,
        },
    ];
    events.extend(phases().map(Event::Phase));
    events.extend(links());
    events.extend(seconds());
    events.extend(reasons().into_iter().map(Event::Evidence));
    events.push(Event::LogDropped { lines: 12 });
    events.extend(summary());
    let times = (1..).map(|count| Instant::from_millis(250 * count));
    times.zip(events).map(|(at, event)| Stamped { at, event }).collect()
}

fn phases() -> impl Iterator<Item = Phase> {
    use Phase::{Done, Drain, Link, LoopCheck, Run, Settings, Settle};
    [Settings, Link, LoopCheck, Settle, Run, Drain, Done].into_iter()
}

fn links() -> [Event; 3] {
    let speed = Some(BitRate::from_mbps(10_000));
    [
        Event::Link { port: Side::A, up: Some(true), speed },
        Event::Link { port: Side::B, up: Some(false), speed: None },
        Event::Link { port: Side::B, up: None, speed: None },
    ]
}

fn seconds() -> [Event; 2] {
    let errors = Classes { lost: 1, corrupt: 200, link: 30_000, internal: 4_000_000_000 };
    let rate = BitRate::from_bits_per_second;
    [
        Event::Rate {
            rates: [Some(rate(9_998_765_499)), Some(rate(0))],
            errors: Classes::default(),
            left: Some(Duration::from_millis(95_001)),
        },
        Event::Rate { rates: [None, Some(rate(1_000_000))], errors, left: None },
    ]
}

fn reasons() -> Vec<Reason> {
    let (direction, port) = (Direction::AToB, Side::B);
    let (expected, got) = (BitRate::from_mbps(10_000), BitRate::from_mbps(1_000));
    let from = MacAddress([2, 0x1b, 0x21, 0, 0, 0x0a]);
    vec![
        Reason::NotALoop,
        Reason::Switch(SwitchSign::FilteredAddress),
        Reason::Switch(SwitchSign::LinkStayedUp),
        Reason::AnotherGauge { on: Side::A, nonce: 0xdead_beef },
        Reason::ForeignTraffic { on: Side::B, from, ethertype: 0x86dd },
        Reason::OwnStray { from: Side::A, ethertype: 0x0806 },
        Reason::OneEndOpen { down: Side::B },
        Reason::DeviceGone { port: Side::A },
        Reason::PortTaken { port },
        Reason::CountersReset { port },
        Reason::Duplicated { direction, frames: 1 },
        Reason::Reordered { direction: Direction::BToA, frames: 2 },
        Reason::Misplaced { direction, frames: 3 },
        Reason::UnknownOrigin { direction, frames: 4 },
        Reason::DamagedInside { direction, frames: 5 },
        Reason::NothingSent { direction },
        Reason::DeadDirection { direction },
        Reason::NoLink { waited: Duration::from_secs(25) },
        Reason::Flapping { drops: 3 },
        Reason::LinkDown { port, changes: 6 },
        Reason::WrongSpeed { expected, got },
        Reason::CrcErrors { port, frames: 7 },
        Reason::SymbolErrors { port, errors: 8 },
        Reason::LinkFaults { port, faults: 9 },
        Reason::Lost { direction, at_least: 15, at_most: 17, sent: 73_012_345 },
        Reason::Corrupt { direction, frames: 10, bit_errors: 11 },
        Reason::SettingNotHeld { setting: Setting::Mtu, port: Some(port) },
        Reason::SettingNotHeld { setting: Setting::Clock, port: None },
        Reason::SpeedSetup { expected, got },
        Reason::HostDrops { direction, frames: 12 },
        Reason::PauseFrames { port, frames: 13 },
        Reason::ClockNotHeld,
        Reason::HostBound { direction, rate: got, limit: expected },
        Reason::Stalled { direction, time: Duration::from_millis(600) },
        Reason::WorkerDied { direction },
        Reason::StoppedEarly,
        Reason::NotShown { direction },
        Reason::SnrMargin { port, pair: 2, tenths_db: -5, limit_tenths_db: 10 },
        Reason::CorrectedBlocks { port, blocks: 14 },
        Reason::FastRetrains { port, retrains: 15 },
        Reason::ReceivePower { port },
        Reason::TooFewBits { direction, checked: 16, needed: 2_996_000_000_000 },
    ]
}

fn summary() -> Vec<Event> {
    let lost = Reason::Lost { direction: Direction::AToB, at_least: 11, at_most: 12, sent: 100 };
    let mut events = vec![
        Event::Verdict {
            verdict: Verdict::Fail,
            run: 3,
            basis: Some(BitRate::from_mbps(1_000)),
            of: Some(BitRate::from_mbps(10_000)),
        },
        Event::Reason(lost),
        Event::Reason(Reason::StoppedEarly),
    ];
    events.extend(direction());
    for (count, setting) in settings().into_iter().enumerate() {
        let port = [None, Some(Side::A), Some(Side::B)][count % 3];
        let held = if count % 2 == 0 { Held::No } else { Held::NotAvailable };
        let (wanted, got) = (text("on"), text(""));
        events.push(Event::Setting(SettingReading { setting, port, wanted, got, held, required: false }));
    }
    events.extend(figures().map(|(what, port)| Event::NotAvailable { what, port }));
    events.push(Event::End);
    events
}

/// The account of one direction; the other has none.
fn direction() -> [Event; 4] {
    let direction = Direction::AToB;
    let report = DirectionReport {
        direction,
        streams: [StreamReport::default(); MAX_STREAMS],
        sent: 100,
        received: 83,
        good: 80,
        corrupt: 3,
        unidentified: 1,
        bit_errors: 5,
        checked_bits: 1_000,
        missing: 18,
        lost: Interval { at_least: 11, at_most: 12 },
        host: 4,
        unknown: 2,
        duplicates: 6,
        reordered: 7,
        misplaced: 8,
        steady: Some(BitRate::from_mbps(9_998)),
        longest_stall: Duration::from_millis(3),
    };
    let (checked_bits, bound, confidence) = (9_500_000_000, Some(3.125e-10), 0.95);
    [
        Event::Direction(report),
        Event::Ber { direction, checked_bits, errors: 9, bound, confidence, equivalent: true },
        Event::Readings { direction, highest: None, above_line: 10 },
        Event::Left { direction, probes: 64, test_frames: 100 },
    ]
}

fn settings() -> [Setting; 16] {
    use Setting::{
        AddressGeneration, Arp, Clock, DmaLatency, Eee, Ipv6, Lldp, Module, Mtu, Pause, Pcie, Ports,
        Promiscuous, ReceiveBuffer, Rings, Steering,
    };
    [
        Ports,
        Module,
        Pcie,
        Mtu,
        Clock,
        DmaLatency,
        Pause,
        Eee,
        Steering,
        Rings,
        Ipv6,
        AddressGeneration,
        Arp,
        Lldp,
        ReceiveBuffer,
        Promiscuous,
    ]
}

fn figures() -> impl Iterator<Item = (&'static str, Option<Side>)> {
    [
        ("frames sent by the MAC", Some(Side::A)),
        ("frames received by the MAC", Some(Side::B)),
        ("transmit drops", Some(Side::A)),
        ("receive drops", Some(Side::B)),
        ("missed frames", Some(Side::A)),
        ("CRC errors", Some(Side::B)),
        ("symbol errors", Some(Side::A)),
        ("local and remote faults", Some(Side::B)),
        ("pause frames", Some(Side::A)),
        ("SNR margin", None),
        ("temperature", None),
        ("package power", None),
    ]
    .into_iter()
}
