//! What a virtio GPIO chip answers (virtio 1.2, 5.18): a button, three lamps and a beeper. It has no interrupts.

use crate::backend::{Device, News};
use std::time::Instant;

/// The lines' names, in the order of their numbers.
pub const NAMES: [&str; 5] = ["button", "lamp-pass", "lamp-fail", "lamp-busy", "beeper"];

/// The button's number.
const BUTTON: usize = 0;

/// Octets of a request: type, line, value.
const REQUEST: usize = 8;

/// `VIRTIO_GPIO_MSG_…` (linux/virtio_gpio.h).
const GET_NAMES: u16 = 1;
const GET_DIRECTION: u16 = 2;
const SET_DIRECTION: u16 = 3;
const GET_VALUE: u16 = 4;
const SET_VALUE: u16 = 5;

/// The request was done.
const OK: u8 = 0;
/// It was not.
const ERROR: u8 = 1;

/// What a line is used as (`VIRTIO_GPIO_DIRECTION_…`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Direction {
    #[default]
    None,
    Out,
    In,
}

impl Direction {
    const ALL: [Self; 3] = [Self::None, Self::Out, Self::In];

    const fn code(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Out => 1,
            Self::In => 2,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Line {
    direction: Direction,
    /// What the box drives it to, once it is an output.
    driven: bool,
    /// What a finger does to it.
    pressed: bool,
}

impl Line {
    const fn level(self) -> bool {
        match self.direction {
            Direction::Out => self.driven,
            Direction::None | Direction::In => self.pressed,
        }
    }
}

/// The chip.
#[derive(Debug)]
pub struct GpioChip {
    lines: [Line; NAMES.len()],
    start: Instant,
}

impl GpioChip {
    /// With nothing pressed and nothing lit. Lamps are told with their time since `start`.
    #[must_use]
    pub fn new(start: Instant) -> Self {
        Self { lines: Default::default(), start }
    }

    /// Presses the button, or lets it go.
    pub const fn press(&mut self, pressed: bool) {
        self.lines[BUTTON].pressed = pressed;
    }

    /// The value of a request's answer; none for what is no request.
    fn do_request(&mut self, request: &[u8], news: &mut News) -> Option<u8> {
        let [kind, kind_high, line, line_high, value @ ..]: [u8; REQUEST] = request.try_into().ok()?;
        let number = usize::from(u16::from_le_bytes([line, line_high]));
        let value = u32::from_le_bytes(value);
        let line = self.lines.get_mut(number)?;
        let before = line.level();
        let answer = match u16::from_le_bytes([kind, kind_high]) {
            GET_DIRECTION => line.direction.code(),
            SET_DIRECTION => {
                line.direction = Direction::ALL.into_iter().find(|known| u32::from(known.code()) == value)?;
                0
            }
            GET_VALUE => line.level().into(),
            SET_VALUE if value <= 1 => {
                line.driven = value == 1;
                0
            }
            _ => return None,
        };
        let after = line.level();
        if after != before {
            let (name, state) = (NAMES[number], if after { "on" } else { "off" });
            news.push(format!("{name} {state} {:.3}", self.start.elapsed().as_secs_f64()));
        }
        Some(answer)
    }
}

/// The names as they are asked for, each with a zero behind it.
fn names() -> Vec<u8> {
    NAMES.iter().flat_map(|name| name.bytes().chain([0])).collect()
}

impl Device for GpioChip {
    /// Requests, and events that there are none of.
    const QUEUES: usize = 2;

    fn config(&self) -> Vec<u8> {
        let count = u16::try_from(NAMES.len()).unwrap_or(u16::MAX);
        let octets = u32::try_from(names().len()).unwrap_or(u32::MAX);
        [&count.to_le_bytes()[..], &[0, 0], &octets.to_le_bytes()].concat()
    }

    fn answer(&mut self, request: &[u8], room: usize, news: &mut News) -> Vec<u8> {
        let mut answer = if request.starts_with(&GET_NAMES.to_le_bytes()) {
            [&[OK], names().as_slice()].concat()
        } else {
            self.do_request(request, news).map_or([ERROR, 0], |value| [OK, value]).to_vec()
        };
        answer.truncate(room);
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ask(chip: &mut GpioChip, kind: u16, line: u16, value: u32) -> (Vec<u8>, News) {
        let request = [&kind.to_le_bytes()[..], &line.to_le_bytes(), &value.to_le_bytes()].concat();
        let mut news = News::new();
        (chip.answer(&request, 64, &mut news), news)
    }

    fn words(news: &News) -> Vec<String> {
        news.iter().map(|line| line.rsplit_once(' ').unwrap().0.to_owned()).collect()
    }

    #[test]
    fn its_lines_have_names() {
        let mut chip = GpioChip::new(Instant::now());
        let (answer, _) = ask(&mut chip, GET_NAMES, 0, 0);
        let names = "button\0lamp-pass\0lamp-fail\0lamp-busy\0beeper\0";
        assert_eq!(answer, [&[0], names.as_bytes()].concat());
        assert_eq!(chip.config(), [5, 0, 0, 0, u8::try_from(names.len()).unwrap(), 0, 0, 0]);
    }

    #[test]
    fn the_button_is_read_as_it_is_pressed() {
        let mut chip = GpioChip::new(Instant::now());
        assert_eq!(ask(&mut chip, SET_DIRECTION, 0, 2).0, [0, 0]);
        chip.press(true);
        assert_eq!(ask(&mut chip, GET_VALUE, 0, 0).0, [0, 1]);
        chip.press(false);
        assert_eq!(ask(&mut chip, GET_VALUE, 0, 0).0, [0, 0]);
        assert_eq!(ask(&mut chip, GET_DIRECTION, 0, 0).0, [0, 2]);
    }

    #[test]
    fn a_lamp_is_told_when_it_changes_and_only_then() {
        let mut chip = GpioChip::new(Instant::now());
        assert_eq!(ask(&mut chip, SET_VALUE, 1, 1).1, [""; 0], "not driven yet");
        assert_eq!(words(&ask(&mut chip, SET_DIRECTION, 1, 1).1), ["lamp-pass on"]);
        assert_eq!(ask(&mut chip, SET_VALUE, 1, 1).1, [""; 0]);
        assert_eq!(words(&ask(&mut chip, SET_VALUE, 1, 0).1), ["lamp-pass off"]);
        assert_eq!(words(&ask(&mut chip, SET_VALUE, 1, 1).1), ["lamp-pass on"]);
        assert_eq!(words(&ask(&mut chip, SET_DIRECTION, 1, 0).1), ["lamp-pass off"], "let go");
    }

    #[test]
    fn what_is_no_request_is_an_error() {
        let mut chip = GpioChip::new(Instant::now());
        for (kind, line, value) in
            [(GET_VALUE, 5, 0), (SET_VALUE, 1, 2), (SET_DIRECTION, 1, 3), (6, 0, 3), (0, 0, 0)]
        {
            assert_eq!(ask(&mut chip, kind, line, value).0, [ERROR, 0], "{kind} {line} {value}");
        }
        assert_eq!(chip.answer(&[4, 0, 0], 2, &mut News::new()), [ERROR, 0]);
    }

    proptest! {
        #[test]
        fn whatever_comes_is_answered_in_its_room(
            requests in prop::collection::vec((prop::collection::vec(0..8_u8, 0..12), 0..60_usize), 0..40),
        ) {
            let mut chip = GpioChip::new(Instant::now());
            for (octets, room) in requests {
                prop_assert!(chip.answer(&octets, room, &mut News::new()).len() <= room);
            }
        }
    }
}
