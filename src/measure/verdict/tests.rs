use super::*;

const AB: Direction = Direction::AToB;
const TEN: BitRate = BitRate::from_mbps(10_000);

/// Every reason, in the order of the list.
pub(super) fn one_of_each() -> [Reason; 40] {
    [
        Reason::NotALoop,
        Reason::Switch(SwitchSign::FilteredAddress),
        Reason::AnotherGauge { on: Side::A, nonce: 0xdead_beef },
        Reason::ForeignTraffic { on: Side::A, from: MacAddress([2, 0, 0, 0, 0, 9]), ethertype: 0x0800 },
        Reason::OwnStray { from: Side::A, ethertype: 0x86dd },
        Reason::OneEndOpen { down: Side::B },
        Reason::DeviceGone { port: Side::A },
        Reason::PortTaken { port: Side::B },
        Reason::CountersReset { port: Side::B },
        Reason::Duplicated { direction: AB, frames: 1 },
        Reason::Reordered { direction: AB, frames: 2 },
        Reason::Misplaced { direction: AB, frames: 3 },
        Reason::UnknownOrigin { direction: AB, frames: 4 },
        Reason::DamagedInside { direction: AB, frames: 5 },
        Reason::NothingSent { direction: AB },
        Reason::DeadDirection { direction: Direction::BToA },
        Reason::NoLink { waited: Duration::from_secs(25) },
        Reason::Flapping { drops: 3 },
        Reason::LinkDown { port: Side::A, changes: 2 },
        Reason::WrongSpeed { expected: TEN, got: BitRate::from_mbps(1000) },
        Reason::CrcErrors { port: Side::B, frames: 17 },
        Reason::SymbolErrors { port: Side::B, errors: 1 },
        Reason::LinkFaults { port: Side::A, faults: 2 },
        Reason::Lost { direction: AB, at_least: 17, at_most: 17, sent: 73_012_345 },
        Reason::Corrupt { direction: Direction::BToA, frames: 5, bit_errors: 5 },
        Reason::SettingNotHeld { setting: Setting::Mtu, port: Some(Side::A) },
        Reason::SpeedSetup { expected: TEN, got: BitRate::from_mbps(2500) },
        Reason::HostDrops { direction: AB, frames: 40 },
        Reason::PauseFrames { port: Side::A, frames: 1 },
        Reason::ClockNotHeld,
        Reason::HostBound { direction: AB, rate: BitRate::from_mbps(3812), limit: BitRate::from_mbps(9950) },
        Reason::Stalled { direction: AB, time: Duration::from_millis(1234) },
        Reason::WorkerDied { direction: AB },
        Reason::StoppedEarly,
        Reason::NotShown { direction: AB },
        Reason::SnrMargin { port: Side::A, pair: 2, tenths_db: 4, limit_tenths_db: 10 },
        Reason::CorrectedBlocks { port: Side::B, blocks: 12 },
        Reason::FastRetrains { port: Side::B, retrains: 1 },
        Reason::ReceivePower { port: Side::A },
        Reason::TooFewBits { direction: AB, checked: 1_000, needed: 2_996_000_000_000 },
    ]
}

#[test]
fn the_list_holds_every_reason_in_its_place() {
    let places: std::vec::Vec<usize> = one_of_each().iter().map(Reason::order).collect();
    let all: std::vec::Vec<usize> = (0..=Place::TooFewBits as usize).collect();
    assert_eq!(places, all);
}

#[test]
fn the_ranks_are_blocks_of_the_list() {
    let ranks = one_of_each().map(|reason| reason.rank());
    assert!(ranks.is_sorted());
    let count = |rank| ranks.iter().filter(|&&each| each == rank).count();
    let counts = [Rank::Voiding, Rank::Cable, Rank::Spoiling, Rank::Margin].map(count);
    assert_eq!(counts, [15, 10, 10, 5]);
}

#[test]
fn the_exit_codes_are_those_of_the_manual() {
    let codes = [Verdict::Pass, Verdict::Fail, Verdict::Invalid, Verdict::Marginal].map(Verdict::exit_code);
    assert_eq!(codes, [0, 1, 3, 4]);
}

#[test]
fn a_reason_about_frames_knows_their_direction() {
    let about_frames = one_of_each().iter().filter(|reason| reason.direction().is_some()).count();
    assert_eq!(about_frames, 15);
    let dead = Reason::DeadDirection { direction: Direction::BToA };
    assert_eq!(dead.direction(), Some(Direction::BToA));
    assert_eq!(Reason::StoppedEarly.direction(), None);
}
