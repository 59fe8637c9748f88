//! What a virtio I2C adapter answers (virtio 1.2, 5.12), with a display as its only device.

use crate::backend::{Device, News};
use crate::controller::{Chip, Controller};
use crate::display::Display;
use crate::picture::Picture;

/// The display's address, 7 bits.
pub const ADDRESS: u16 = 0x3C;

/// Octets of a request's header: address, padding, flags.
const HEADER: usize = 8;

/// `VIRTIO_I2C_FLAGS_M_RD`: the request reads.
const READS: u8 = 2;

/// The request was done.
const OK: u8 = 0;
/// It was not: nobody is at that address, or it is no request.
const ERROR: u8 = 1;

/// The adapter and the display on it.
#[derive(Debug)]
pub struct Adapter {
    display: Display,
}

impl Adapter {
    /// With a display that has just got its power.
    #[must_use]
    pub fn new(chip: Chip) -> Self {
        Self { display: Display::new(Controller::new(chip)) }
    }

    /// What a person sees of the display: dark while it is off.
    #[must_use]
    pub fn picture(&self) -> Picture {
        self.display.controller.picture().unwrap_or_else(Picture::dark)
    }

    /// The display is pulled out.
    pub fn lose_power(&mut self) {
        *self = Self::new(self.display.controller.chip());
    }

    /// Does a request; whether it was one, and for the display.
    fn do_request(&mut self, request: &[u8], reading: &mut [u8]) -> bool {
        let Some((header, message)) = request.split_at_checked(HEADER) else { return false };
        let [low, high, _, _, flags, ..] = *header else { return false };
        // Seven bits of address, above the one that I2C has for reading.
        if u16::from_le_bytes([low, high]) != ADDRESS << 1 {
            return false;
        }
        if flags & READS != 0 {
            reading.fill(self.display.controller.status());
        } else {
            self.display.message(message);
        }
        true
    }
}

impl Device for Adapter {
    const QUEUES: usize = 1;

    fn config(&self) -> Vec<u8> {
        Vec::new()
    }

    fn answer(&mut self, request: &[u8], room: usize, news: &mut News) -> Vec<u8> {
        let mut answer = vec![0; room];
        let Some((status, reading)) = answer.split_last_mut() else { return answer };
        let controls = self.display.wrong_controls();
        *status = if self.do_request(request, reading) { OK } else { ERROR };
        if self.display.wrong_controls() > controls {
            news.push("oled wrong: a control octet that there is not".to_owned());
        }
        let wrongs = self.display.controller.take_wrongs();
        news.extend(wrongs.into_iter().map(|wrong| format!("oled wrong: {wrong}")));
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request(address: u8, flags: u8, message: &[u8]) -> Vec<u8> {
        [&[address << 1, 0, 0, 0, flags, 0, 0, 0], message].concat()
    }

    #[test]
    fn what_is_written_to_the_address_is_the_displays() {
        let (mut adapter, mut news) = (Adapter::new(Chip::Ssd1306), News::new());
        let on = request(0x3C, 0, &[0x00, 0x8D, 0x14, 0xA5, 0xAF]);
        assert_eq!(adapter.answer(&on, 1, &mut news), [OK]);
        assert_eq!(adapter.picture(), Picture::of(|_, _| true));
        assert_eq!(adapter.answer(&request(0x3C, 2, &[]), 3, &mut news), [0, 0, OK]);
        let mut other = Adapter::new(Chip::Ssd1306);
        other.answer(&on, 1, &mut news);
        other.lose_power();
        assert_eq!(other.picture(), Picture::dark());
        assert_eq!(adapter.answer(&request(0x3C, 0, &[0x00, 0xAE]), 1, &mut news), [OK]);
        assert_eq!(adapter.picture(), Picture::dark());
        assert_eq!(adapter.answer(&request(0x3C, 2, &[]), 2, &mut news), [0x40, OK]);
        assert_eq!(news, [""; 0]);
    }

    #[test]
    fn nobody_is_at_another_address() {
        let (mut adapter, mut news) = (Adapter::new(Chip::Sh1106), News::new());
        assert_eq!(adapter.answer(&request(0x3D, 0, &[0x00, 0xAF]), 1, &mut news), [ERROR]);
        assert_eq!(adapter.answer(&[0x78, 0, 0], 1, &mut news), [ERROR]);
        assert_eq!(adapter.picture(), Picture::dark());
    }

    #[test]
    fn what_no_data_sheet_has_is_told() {
        let (mut adapter, mut news) = (Adapter::new(Chip::Sh1106), News::new());
        adapter.answer(&request(0x3C, 0, &[0x00, 0x8D, 0xA9]), 1, &mut news);
        adapter.answer(&request(0x3C, 0, &[0x07]), 1, &mut news);
        let wrong = |what| format!("oled wrong: {what}");
        let told =
            ["command 8D: there is none", "command A9: there is none", "a control octet that there is not"];
        assert_eq!(news, told.map(wrong));
    }

    proptest! {
        #[test]
        fn whatever_comes_is_answered_in_its_room(
            chip in prop::sample::select(vec![Chip::Ssd1306, Chip::Ssd1309, Chip::Sh1106]),
            requests in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..80), 0..40_usize), 0..40),
            to_display in any::<bool>(),
        ) {
            let mut adapter = Adapter::new(chip);
            for (octets, room) in requests {
                let octets = if to_display { request(0x3C, 0, &octets) } else { octets };
                prop_assert_eq!(adapter.answer(&octets, room, &mut News::new()).len(), room);
                prop_assert!(!adapter.picture().lit(128, 0));
            }
        }
    }
}
