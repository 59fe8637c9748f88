//! A controller of the MIPI display command set, and what is in its memory.

use super::super::backend::Ink;
use super::super::oled::bus::{Nak, NoDelay};
use super::*;
use embedded_hal::{digital, spi};
use measure::record::text;
use measure::screen::Screen;
use measure::verdict::Verdict;
use mipidsi::models::{ILI9341Rgb565, ST7789};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A controller, as the addresses see it: the orientation is its own affair.
#[derive(Default)]
struct Model {
    data: bool,
    command: u8,
    arguments: Vec<u8>,
    /// Pixels by column and row.
    memory: BTreeMap<(u16, u16), u16>,
    written: usize,
    window: [u16; 4],
    address_mode: u8,
    inverted: bool,
    on: bool,
    awake: bool,
    resets: usize,
    largest: usize,
    broken: bool,
}

impl Model {
    fn take(&mut self, octet: u8) {
        if !self.data {
            (self.command, self.arguments) = (octet, Vec::new());
            match octet {
                0x11 => self.awake = true,
                0x20 | 0x21 => self.inverted = octet == 0x21,
                0x29 => self.on = true,
                0x01 | 0x13 | 0x2A | 0x2B | 0x2C | 0x36 | 0x3A | 0xB4 => {}
                unknown => panic!("command {unknown:#04x}"),
            }
            if octet == 0x2C {
                self.written = 0;
            }
            return;
        }
        self.arguments.push(octet);
        match (self.command, self.arguments.as_slice()) {
            (0x2A, &[a, b, c, d]) => {
                [self.window[0], self.window[2]] = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
            }
            (0x2B, &[a, b, c, d]) => {
                [self.window[1], self.window[3]] = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
            }
            (0x2C, &[high, low]) => self.pixel(u16::from_be_bytes([high, low])),
            (0x36, &[mode]) => self.address_mode = mode,
            (0x3A, &[format]) => assert_eq!(format & 7, 5, "16 bits a pixel"),
            _ => {}
        }
    }

    fn pixel(&mut self, colour: u16) {
        self.arguments.clear();
        let [left, top, right, bottom] = self.window.map(usize::from);
        let width = right - left + 1;
        let (x, y) = (left + self.written % width, top + self.written / width);
        assert!(y <= bottom, "more pixels than the window has");
        self.written += 1;
        self.memory.insert((x.try_into().unwrap(), y.try_into().unwrap()), colour);
    }
}

#[derive(Clone, Default)]
struct Bus(Rc<RefCell<Model>>);

impl spi::ErrorType for Bus {
    type Error = Nak;
}

impl SpiDevice for Bus {
    fn transaction(&mut self, operations: &mut [spi::Operation<'_, u8>]) -> Result<(), Nak> {
        let mut model = self.0.borrow_mut();
        for operation in operations {
            let spi::Operation::Write(octets) = operation else { panic!("nothing is read from a display") };
            if model.broken {
                return Err(Nak);
            }
            model.largest = model.largest.max(octets.len());
            octets.iter().for_each(|octet| model.take(*octet));
        }
        Ok(())
    }
}

/// The data/command line, or the one for a reset.
enum Line {
    Data(Bus),
    Reset(Bus),
}

impl digital::ErrorType for Line {
    type Error = Nak;
}

impl OutputPin for Line {
    fn set_low(&mut self) -> Result<(), Nak> {
        match self {
            Self::Data(bus) => bus.0.borrow_mut().data = false,
            Self::Reset(bus) => bus.0.borrow_mut().resets += 1,
        }
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Nak> {
        if let Self::Data(bus) = self {
            bus.0.borrow_mut().data = true;
        }
        Ok(())
    }
}

const SIDEWAYS: Settings = Settings {
    size: (320, 240),
    upside_down: false,
    mirrored: false,
    inverted: true,
    blue_first: false,
    palette: Palette([[255, 255, 255], [32, 255, 64], [255, 184, 0], [255, 56, 64]]),
};

fn start<M: Model565>(model: M, settings: Settings, bus: &Bus) -> Box<dyn Backend> {
    let dcs = Dcs::new(bus.clone(), Line::Data(bus.clone()));
    Box::new(Tft::start(model, settings, dcs, Some(Line::Reset(bus.clone())), &mut NoDelay).unwrap())
}

trait Model565: mipidsi::models::Model<ColorFormat = Rgb565> + 'static {}
impl<M: mipidsi::models::Model<ColorFormat = Rgb565> + 'static> Model565 for M {}

fn verdict(run: u32) -> Screen {
    Screen::Verdict { verdict: Verdict::Fail, reason: text("A>B lost 17 of 73012345"), run, unsaved: false }
}

fn page(screen: &Screen, (width, height): (u16, u16)) -> Canvas {
    let mut canvas = Canvas::new(width, height);
    let Ok(()) = super::super::draw(&mut canvas, screen);
    canvas
}

fn assert_shows(bus: &Bus, canvas: &Canvas, ink: u16) {
    let model = bus.0.borrow();
    assert!(model.on && model.awake);
    for y in 0..canvas.height() {
        for x in 0..canvas.width() {
            let expected = if canvas.lit(x, y) { ink } else { 0 };
            assert_eq!(model.memory.get(&(x, y)), Some(&expected), "pixel {x}, {y}");
        }
    }
    assert_eq!(model.memory.len(), usize::from(canvas.width()) * usize::from(canvas.height()), "outside");
}

#[test]
fn memory_is_the_picture_in_its_ink_after_any_pages() {
    let bus = Bus::default();
    let mut display = start(ST7789, SIDEWAYS, &bus);
    for (screen, ink) in [
        (Screen::Checking { what: "loop" }, 0xFFFF),
        (verdict(12), 0xF9C8),
        (verdict(13), 0xF9C8),
        (Screen::PlugCable { last: Some((Verdict::Fail, 13)), hint: text("port B has no link") }, 0xFFFF),
    ] {
        display.set_look(Look { ink: Ink::of(&screen), dim: false }).unwrap();
        display.show(&page(&screen, (320, 240))).unwrap();
        assert_shows(&bus, &page(&screen, (320, 240)), ink);
    }
    assert!(bus.0.borrow().largest <= MOST_OCTETS);
    assert_eq!(bus.0.borrow().resets, 1);
}

#[test]
fn only_what_has_changed_is_sent() {
    let bus = Bus::default();
    let mut display = start(ST7789, SIDEWAYS, &bus);
    let mut canvas = page(&verdict(12), (320, 240));
    display.show(&canvas).unwrap();
    bus.0.borrow_mut().memory.clear();
    display.show(&canvas).unwrap();
    assert_eq!(bus.0.borrow().memory.len(), 0);
    canvas.set(100, 200, !canvas.lit(100, 200));
    display.show(&canvas).unwrap();
    assert_eq!(bus.0.borrow().memory.len(), usize::from(BAND), "one column of a band");
    bus.0.borrow_mut().memory.clear();
    display.set_look(Look { ink: Ink::Good, dim: true }).unwrap();
    display.show(&canvas).unwrap();
    assert_shows(&bus, &canvas, Rgb565::new(1, 16, 2).into_storage());
}

#[test]
fn a_display_is_set_up_as_it_is_mounted() {
    // The modes that makers of ILI9341 boards give for the four ways to mount one.
    for (size, upside_down, mode) in [
        ((240, 320), false, 0x48),
        ((320, 240), false, 0x28),
        ((240, 320), true, 0x88),
        ((320, 240), true, 0xE8),
    ] {
        let bus = Bus::default();
        let settings =
            Settings { size, upside_down, mirrored: true, inverted: false, blue_first: true, ..SIDEWAYS };
        start(ILI9341Rgb565, settings, &bus).show(&page(&verdict(1), size)).unwrap();
        assert_shows(&bus, &page(&verdict(1), size), 0xFFFF);
        assert_eq!(bus.0.borrow().address_mode, mode, "{size:?} upside down: {upside_down}");
        assert!(!bus.0.borrow().inverted);
    }
    let bus = Bus::default();
    start(ST7789, SIDEWAYS, &bus);
    assert!(bus.0.borrow().inverted);
}

#[test]
fn after_a_failure_the_next_picture_is_sent_in_full() {
    let bus = Bus::default();
    let mut display = start(ST7789, SIDEWAYS, &bus);
    display.show(&page(&verdict(1), (320, 240))).unwrap();
    bus.0.borrow_mut().broken = true;
    display.show(&page(&verdict(2), (320, 240))).unwrap_err();
    bus.0.borrow_mut().broken = false;
    bus.0.borrow_mut().memory.clear();
    display.show(&page(&verdict(1), (320, 240))).unwrap();
    assert_shows(&bus, &page(&verdict(1), (320, 240)), 0xFFFF);
}

#[test]
fn a_bus_that_fails_at_the_start_is_refused_in_its_own_words() {
    let bus = Bus::default();
    bus.0.borrow_mut().broken = true;
    let dcs = Dcs::new(bus.clone(), Line::Data(bus.clone()));
    let refused = Tft::start(ST7789, SIDEWAYS, dcs, None, &mut NoDelay).err().unwrap();
    assert_eq!(refused.to_string(), "no acknowledge");
}
