//! A display that is missing, goes, and comes back: told once, drawn in full again, never in the way.

use super::super::oled::bus::{ADDRESS, Device, Shared};
use super::super::oled::wire::I2cWire;
use super::super::oled::{Chip, Oled, Settings};
use super::*;
use measure::record::text;
use measure::verdict::Verdict;
use proptest::prelude::*;

const CHIP: Chip = Chip::Sh1106;

type Display = Oled<I2cWire<Shared>>;

fn open(device: &Shared) -> Display {
    let settings =
        Settings { chip: CHIP, column_offset: 2, contrast: 200, upside_down: false, inverted: false };
    Oled::new(I2cWire::new(device.clone(), ADDRESS), settings)
}

fn keeper(device: &Shared) -> Keeper<Display, impl FnMut() -> io::Result<Display>> {
    let device = device.clone();
    Keeper::new(move || Ok(open(&device)), Some(Duration::from_secs(600)))
}

fn verdict(run: u32) -> Screen {
    Screen::Verdict { verdict: Verdict::Pass, reason: text("no errors in 96 s"), run, unsaved: false }
}

const fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn unplug(device: &Shared) {
    device.0.borrow_mut().patience = Some(0);
}

/// Plugged in again, the display has forgotten everything.
fn plug(device: &Shared) {
    let mut device = device.0.borrow_mut();
    device.patience = None;
    device.power_cut();
}

fn shows(device: &Shared, screen: &Screen) -> bool {
    device.0.borrow().picture() == Some(super::super::picture(screen))
}

#[test]
fn a_display_is_told_up_once_it_shows_the_first_page() {
    let device = Device::shared(CHIP);
    let mut keeper = keeper(&device);
    assert_eq!(keeper.turn(at(0), None), None, "nothing to show yet");
    assert_eq!(keeper.turn(at(20), Some(verdict(1))), Some(News::Up));
    assert_eq!(keeper.turn(at(40), Some(verdict(2))), None);
    assert!(shows(&device, &verdict(2)));
}

#[test]
fn a_missing_display_is_told_once_and_tried_once_a_second() {
    let device = Device::shared(CHIP);
    unplug(&device);
    let mut keeper = keeper(&device);
    let lost = keeper.turn(at(0), Some(verdict(1))).unwrap();
    assert_eq!(lost.to_string(), "display lost: no acknowledge; it is tried every second");
    for millis in (20..10_000).step_by(20) {
        assert_eq!(keeper.turn(at(millis), None), None);
    }
    assert_eq!(device.0.borrow().transfers, 10);
    plug(&device);
    assert_eq!(keeper.turn(at(10_000), None), Some(News::Up));
    assert!(shows(&device, &verdict(1)));
}

#[test]
fn a_display_unplugged_while_nothing_changes_is_noticed_within_a_second_and_drawn_in_full_again() {
    let device = Device::shared(CHIP);
    let mut keeper = keeper(&device);
    keeper.turn(at(0), Some(verdict(1)));
    unplug(&device);
    assert_eq!(keeper.turn(at(980), None), None);
    assert!(matches!(keeper.turn(at(1000), None), Some(News::Lost(_))));
    plug(&device);
    assert_eq!(keeper.turn(at(1980), None), None);
    assert_eq!(keeper.turn(at(2000), None), Some(News::Up));
    assert!(shows(&device, &verdict(1)));
}

#[test]
fn a_display_unplugged_too_briefly_to_be_missed_is_drawn_in_full_within_10_s() {
    let device = Device::shared(CHIP);
    let mut keeper = keeper(&device);
    keeper.turn(at(0), Some(verdict(1)));
    plug(&device);
    for millis in (20..=10_000).step_by(20) {
        assert_eq!(keeper.turn(at(millis), None), None);
    }
    assert!(shows(&device, &verdict(1)));
}

#[test]
fn a_display_that_cannot_be_opened_is_told_with_the_reason() {
    let mut keeper = Keeper::new(|| Err::<Display, _>(io::Error::other("no adapter x")), None);
    assert_eq!(keeper.turn(at(0), Some(verdict(1))), Some(News::Lost("no adapter x".to_owned())));
    assert_eq!(keeper.turn(at(5000), None), None);
}

#[test]
fn a_verdict_that_nobody_comes_for_is_dimmed_and_a_new_page_is_bright() {
    let device = Device::shared(CHIP);
    let mut keeper = keeper(&device);
    keeper.turn(at(0), Some(verdict(1)));
    keeper.turn(at(599_000), None);
    assert_eq!(device.0.borrow().controller().contrast(), 200);
    keeper.turn(at(600_000), None);
    assert_eq!(device.0.borrow().controller().contrast(), 0);
    assert!(shows(&device, &verdict(1)));
    keeper.turn(at(660_000), None);
    let moved = super::super::picture(&verdict(1)).moved(1, 0);
    assert!(device.0.borrow().picture() == Some(moved), "moved by a pixel");
    keeper.turn(at(660_020), Some(verdict(2)));
    assert_eq!(device.0.borrow().controller().contrast(), 200);
    assert!(shows(&device, &verdict(2)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_the_bus_did_the_last_page_is_there_two_seconds_after_it_is_well(
        steps in prop::collection::vec((0..700_u64, prop::option::of(1..9_u32), prop::option::of(0..2000_usize)), 1..30),
    ) {
        let device = Device::shared(CHIP);
        let mut keeper = keeper(&device);
        let (mut now, mut last, mut up) = (0, 1, false);
        let mut hear = |news: Option<News>| match news {
            Some(News::Up) => assert!(!std::mem::replace(&mut up, true), "up twice in a row"),
            Some(News::Lost(_)) => up = false,
            Some(News::Stuck) => panic!("only a thread can tell"),
            None => {}
        };
        hear(keeper.turn(at(now), Some(verdict(last))));
        for (millis, run, patience) in steps {
            now += millis;
            device.0.borrow_mut().patience = patience;
            last = run.unwrap_or(last);
            hear(keeper.turn(at(now), run.map(verdict)));
        }
        plug(&device);
        unplug(&device);
        hear(keeper.turn(at(now + 1000), None));
        plug(&device);
        hear(keeper.turn(at(now + 2000), None));
        prop_assert!(shows(&device, &verdict(last)));
        prop_assert!(up);
    }
}
