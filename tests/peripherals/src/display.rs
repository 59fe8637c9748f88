//! A controller behind an I2C address: what each octet of a message is (SSD1306, 8.1.5.2; SH1106, I2C interface).

use crate::controller::Controller;

/// What the next octet of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// One that says what follows.
    Control,
    /// A command's, and then another control octet.
    OneCommand,
    /// Data, and then another control octet.
    OneData,
    /// Commands to the end.
    Commands,
    /// Data to the end.
    Data,
    /// Of no meaning.
    Lost,
}

/// A display on I2C.
#[derive(Debug)]
pub struct Display {
    /// Its controller.
    pub controller: Controller,
    next: Next,
    wrong_controls: u64,
}

impl Display {
    /// A display with this controller.
    #[must_use]
    pub const fn new(controller: Controller) -> Self {
        Self { controller, next: Next::Control, wrong_controls: 0 }
    }

    /// A message begins. A command of which arguments are still to come goes on in it.
    pub const fn start(&mut self) {
        self.next = Next::Control;
    }

    /// The next octet behind the address.
    pub fn octet(&mut self, octet: u8) {
        self.next = match self.next {
            Next::Control => self.control(octet),
            Next::OneCommand | Next::Commands => {
                self.controller.command(octet);
                self.next.after()
            }
            Next::OneData | Next::Data => {
                self.controller.data(octet);
                self.next.after()
            }
            Next::Lost => Next::Lost,
        }
    }

    /// A whole message.
    pub fn message(&mut self, octets: &[u8]) {
        self.start();
        octets.iter().for_each(|octet| self.octet(*octet));
    }

    /// Messages that were cut short by a control octet that there is not.
    #[must_use]
    pub const fn wrong_controls(&self) -> u64 {
        self.wrong_controls
    }

    const fn control(&mut self, octet: u8) -> Next {
        match octet {
            0x00 => Next::Commands,
            0x40 => Next::Data,
            0x80 => Next::OneCommand,
            0xC0 => Next::OneData,
            _ => {
                self.wrong_controls += 1;
                Next::Lost
            }
        }
    }
}

impl Next {
    const fn after(self) -> Self {
        match self {
            Self::OneCommand | Self::OneData => Self::Control,
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::Chip;
    use crate::picture::Picture;

    /// A display that is on and dark.
    fn display() -> Display {
        let mut display = Display::new(Controller::new(Chip::Ssd1309));
        display.message(&[0x00, 0x20, 0x00, 0xA1, 0xC8, 0xAF]);
        display.message(&[&[0x40][..], &[0; 1024]].concat());
        assert_eq!(display.controller.picture(), Some(Picture::dark()));
        display
    }

    #[test]
    fn commands_and_data_can_take_turns_in_one_message() {
        let mut display = display();
        display.message(&[0x80, 0x81, 0x80, 0x33, 0xC0, 0x01, 0x80, 0xA6, 0x40, 0x80, 0x02]);
        assert_eq!(display.controller.contrast(), 0x33);
        let lit = [(0, 0), (1, 7), (2, 1)];
        assert_eq!(display.controller.picture(), Some(Picture::of(|x, y| lit.contains(&(x, y)))));
        assert_eq!((display.wrong_controls(), display.controller.wrongs()), (0, 0));
    }

    #[test]
    fn an_argument_can_come_in_the_next_message() {
        let mut display = display();
        display.message(&[0x00, 0x81]);
        display.message(&[0x00, 0x44]);
        assert_eq!((display.controller.contrast(), display.controller.wrongs()), (0x44, 0));
    }

    #[test]
    fn a_control_octet_that_there_is_not_ends_the_message_and_is_counted() {
        let mut display = display();
        display.message(&[0x01, 0x81, 0x55]);
        display.message(&[0x80, 0xE3, 0xFF, 0x81, 0x55]);
        assert_eq!((display.controller.contrast(), display.wrong_controls()), (0x7F, 2));
    }
}
