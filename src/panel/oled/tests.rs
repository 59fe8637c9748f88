//! What is drawn is what is in the controller's memory, at little cost, whatever the bus does.

use super::super::{draw, picture};
use super::bus::{ADDRESS, Device, Line, NoDelay, Shared};
use super::wire::{I2cWire, SmbusWire, SpiWire};
use super::*;
use core::time::Duration;
use measure::record::{Classes, text};
use measure::screen::Screen;
use measure::units::BitRate;
use measure::verdict::Verdict;
use proptest::prelude::*;

const fn settings(chip: Chip) -> Settings {
    Settings { chip, column_offset: chip.usual_offset(), contrast: 0xCF, upside_down: false, inverted: false }
}

fn on_i2c(device: &Shared, chip: Chip) -> Oled<I2cWire<Shared>> {
    Oled::new(I2cWire::new(device.clone(), ADDRESS), settings(chip))
}

/// A display of each kind on each bus.
fn displays() -> Vec<(Shared, Chip, Box<dyn Backend>)> {
    let mut all: Vec<(Shared, Chip, Box<dyn Backend>)> = Vec::new();
    for chip in [Chip::Ssd1306, Chip::Ssd1309, Chip::Sh1106] {
        let [one, two, three] = [(); 3].map(|()| Device::shared(chip));
        let spi =
            SpiWire::new(three.clone(), Line::Data(three.clone()), Some(Line::Reset(three.clone())), NoDelay);
        all.push((one.clone(), chip, Box::new(on_i2c(&one, chip))));
        all.push((two.clone(), chip, Box::new(Oled::new(SmbusWire(two), settings(chip)))));
        all.push((three, chip, Box::new(Oled::new(spi, settings(chip)))));
    }
    all
}

/// Contrast and charge.
fn brightness(device: &Shared) -> (u8, u8) {
    let device = device.0.borrow();
    (device.controller().contrast(), device.controller().charge())
}

fn assert_shows(device: &Shared, canvas: &Canvas) {
    let found = device.0.borrow().picture();
    let chip = device.0.borrow().controller().chip();
    assert!(found.is_some_and(|found| found == *canvas), "{chip} shows another picture");
}

fn running(mega: u64, seconds: u64, errors: u64) -> Screen {
    Screen::Running {
        rates: [mega, mega + 1].map(|mega| Some(BitRate::from_mbps(mega))),
        progress: u16::try_from(1000 - seconds * 10).unwrap(),
        errors: Classes { lost: errors, ..Classes::default() },
        left: Some(Duration::from_secs(seconds)),
        failed: errors > 0,
        settling: false,
    }
}

fn verdict(verdict: Verdict, run: u32) -> Screen {
    Screen::Verdict { verdict, reason: text("A>B lost 17 of 73012345"), run, unsaved: false }
}

#[test]
fn memory_is_the_picture_on_every_display_and_bus() {
    for (device, _, mut display) in displays() {
        for screen in [running(9998, 90, 0), running(9997, 89, 3), verdict(Verdict::Fail, 12)] {
            let canvas = picture(&screen);
            display.show(&canvas).unwrap();
            assert_shows(&device, &canvas);
        }
    }
}

/// Bus time in µs of each of a minute's updates, as a run at 10 Gb/s has them.
fn running_updates(device: &Shared, display: &mut dyn Backend) -> Vec<usize> {
    let rates = [9998, 9999, 9998, 9999, 10_000, 9999, 9997, 9998];
    let update = |(second, mega): (u64, u64)| {
        device.0.borrow_mut().forget_costs();
        display.show(&picture(&running(mega, 90 - second, 0))).unwrap();
        device.0.borrow().bus_micros()
    };
    (1..=60).zip(rates.into_iter().cycle()).map(update).collect()
}

#[test]
fn a_full_redraw_takes_at_most_30_ms_and_a_typical_running_update_under_6() {
    for (device, chip, mut display) in displays() {
        display.show(&picture(&running(9998, 90, 0))).unwrap();
        let full = device.0.borrow().bus_micros();
        assert!(full <= 30_000, "{chip:?}: {full} µs");
        let updates = running_updates(&device, display.as_mut());
        let (mean, worst) = (updates.iter().sum::<usize>() / updates.len(), *updates.iter().max().unwrap());
        // The worst is where both rates gain or lose a digit.
        assert!(mean < 6_000 && worst < 10_000, "{chip:?}: {mean} µs, at worst {worst}");
    }
}

#[test]
fn a_picture_that_is_there_costs_nothing() {
    let device = Device::shared(Chip::Ssd1306);
    let mut display = on_i2c(&device, Chip::Ssd1306);
    display.show(&picture(&running(9998, 90, 0))).unwrap();
    device.0.borrow_mut().forget_costs();
    display.show(&picture(&running(9998, 90, 0))).unwrap();
    assert_eq!(device.0.borrow().octets, 0);
}

#[test]
fn one_pixel_costs_one_column() {
    let device = Device::shared(Chip::Sh1106);
    let mut display = on_i2c(&device, Chip::Sh1106);
    let mut canvas = Canvas::default();
    display.show(&canvas).unwrap();
    device.0.borrow_mut().forget_costs();
    canvas.set(77, 21, true);
    display.show(&canvas).unwrap();
    assert_eq!(
        device.0.borrow().octets,
        2 + 3 + 2 + 1,
        "address and control twice, three commands, a column"
    );
}

#[test]
fn after_a_power_cut_the_next_full_picture_sets_all_up_again() {
    let device = Device::shared(Chip::Ssd1306);
    let mut display = on_i2c(&device, Chip::Ssd1306);
    let canvas = picture(&verdict(Verdict::Pass, 3));
    display.show(&canvas).unwrap();
    device.0.borrow_mut().power_cut();
    display.show(&canvas).unwrap();
    assert_eq!(device.0.borrow().picture(), None, "nobody could know");
    display.forget();
    display.show(&canvas).unwrap();
    assert_shows(&device, &canvas);
}

#[test]
fn a_display_is_dimmed_and_stays_dimmed_over_a_new_start() {
    let device = Device::shared(Chip::Ssd1306);
    let mut display = on_i2c(&device, Chip::Ssd1306);
    display.show(&Canvas::default()).unwrap();
    assert_eq!(brightness(&device), (0xCF, 0xF1));
    display.set_look(Look { dim: true, ..Look::default() }).unwrap();
    assert_eq!(brightness(&device), (0, 0x21));
    device.0.borrow_mut().power_cut();
    display.forget();
    display.show(&Canvas::default()).unwrap();
    assert_eq!(brightness(&device), (0, 0x21));
}

#[test]
fn a_display_with_a_reset_line_is_reset_once() {
    let device = Device::shared(Chip::Ssd1309);
    let (data, reset) = (Line::Data(device.clone()), Line::Reset(device.clone()));
    let wire = SpiWire::new(device.clone(), data, Some(reset), NoDelay);
    let mut display = Oled::new(wire, settings(Chip::Ssd1309));
    display.show(&Canvas::default()).unwrap();
    display.forget();
    display.show(&Canvas::default()).unwrap();
    assert_eq!(device.0.borrow().resets(), 1);
}

#[test]
fn turned_and_inverted_displays_are_set_so() {
    let canvas = picture(&verdict(Verdict::Fail, 3));
    let mut right = Canvas::default();
    for (x, y) in (0..WIDTH).flat_map(|x| (0..HEIGHT).map(move |y| (x, y))) {
        right.set(WIDTH - 1 - x, HEIGHT - 1 - y, !canvas.lit(x, y));
    }
    for chip in [Chip::Ssd1306, Chip::Ssd1309, Chip::Sh1106] {
        let device = Device::shared(chip);
        let settings = Settings { upside_down: true, inverted: true, ..settings(chip) };
        Oled::new(I2cWire::new(device.clone(), ADDRESS), settings).show(&canvas).unwrap();
        assert_shows(&device, &right);
    }
}

#[test]
fn whatever_octet_is_not_acknowledged_the_next_picture_is_whole() {
    for chip in [Chip::Ssd1306, Chip::Sh1106] {
        let first = picture(&running(9998, 90, 0));
        let second = picture(&verdict(Verdict::Fail, 13));
        for patience in 0.. {
            let device = Device::shared(chip);
            let mut display = on_i2c(&device, chip);
            display.show(&first).unwrap();
            device.0.borrow_mut().patience = Some(patience);
            let failed = display.show(&second).is_err();
            device.0.borrow_mut().patience = None;
            display.show(&second).unwrap();
            assert_shows(&device, &second);
            if !failed {
                assert!(patience > 500, "the pictures differ in most of their columns");
                break;
            }
        }
    }
}

fn any_screen() -> impl Strategy<Value = Screen> {
    let verdicts = [Verdict::Pass, Verdict::Fail, Verdict::Marginal, Verdict::Invalid];
    prop_oneof![
        (9_900..10_000_u64, 0..100_u64, 0..3_u64)
            .prop_map(|(mega, left, errors)| running(mega, left, errors)),
        (prop::sample::select(verdicts.to_vec()), any::<u32>()).prop_map(|(word, run)| verdict(word, run)),
        Just(Screen::Checking { what: "loop" }),
        Just(Screen::PlugCable { last: Some((Verdict::Pass, 7)), hint: text("port B has no link") }),
    ]
}

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    Show(Screen),
    Dim(bool),
    Forget,
    Probe,
    /// From so many octets on the display does not answer.
    Fail(usize),
    /// It answers again.
    Heal,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => any_screen().prop_map(Step::Show),
        1 => any::<bool>().prop_map(Step::Dim),
        1 => Just(Step::Forget),
        1 => Just(Step::Probe),
        2 => (0..1500_usize).prop_map(Step::Fail),
        2 => Just(Step::Heal),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whenever_a_picture_was_taken_it_is_in_memory(
        steps in prop::collection::vec(any_step(), 1..25),
        chip in prop::sample::select(vec![Chip::Ssd1306, Chip::Ssd1309, Chip::Sh1106]),
    ) {
        let device = Device::shared(chip);
        let mut display = on_i2c(&device, chip);
        for step in steps {
            match step {
                Step::Show(screen) => {
                    let canvas = picture(&screen);
                    if display.show(&canvas).is_ok() {
                        assert_shows(&device, &canvas);
                    }
                }
                Step::Dim(dim) => drop(display.set_look(Look { dim, ..Look::default() })),
                Step::Forget => display.forget(),
                Step::Probe => drop(display.probe()),
                Step::Fail(octets) => device.0.borrow_mut().patience = Some(octets),
                Step::Heal => device.0.borrow_mut().patience = None,
            }
        }
    }

    #[test]
    fn any_two_pictures_follow_one_another(
        pixels in prop::collection::vec((0..128_u16, 0..64_u16), 0..200), more in 0..200_usize,
    ) {
        let device = Device::shared(Chip::Sh1106);
        let mut display = on_i2c(&device, Chip::Sh1106);
        let mut canvas = Canvas::default();
        draw(&mut canvas, &running(9_998, 50, 0)).unwrap();
        for (count, (x, y)) in pixels.into_iter().enumerate() {
            canvas.set(x, y, !canvas.lit(x, y));
            if count % (more + 1) == 0 {
                display.show(&canvas).unwrap();
                assert_shows(&device, &canvas);
            }
        }
    }
}
