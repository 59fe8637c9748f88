//! What the program can be told while it runs, a line each on standard input, and its answers.

use crate::backend::Served;
use crate::gpio::GpioChip;
use crate::i2c::Adapter;
use std::fs::File;
use std::io;

/// The commands, for whoever asks for help.
pub const HELP: &str = "\
oled picture FILE   write what a person sees of the display as PNG
oled wedge          stop answering: what the box sends waits
oled return         answer again
oled vanish         pull it out: the connection ends, for good
button down         press the button
button up           let it go";

/// What there is to command.
pub struct Bench {
    /// The display, where there is one.
    pub oled: Option<Served<Adapter>>,
    /// The GPIO chip, where there is one.
    pub gpio: Option<Served<GpioChip>>,
}

impl Bench {
    /// Does a command; the answer, one line: `ok`, or `refused: ` and why.
    #[must_use]
    pub fn answer(&self, line: &str) -> String {
        match self.act(line.trim()) {
            Ok(()) => "ok".to_owned(),
            Err(why) => format!("refused: {line}: {why}"),
        }
    }

    fn act(&self, line: &str) -> Result<(), String> {
        let (device, act) = line.split_once(' ').unwrap_or((line, ""));
        match device {
            "oled" => Self::on_oled(self.oled.as_ref().ok_or("there is no display")?, act),
            "button" => {
                let pressed = match act {
                    "down" => true,
                    "up" => false,
                    _ => return Err("must be down or up".to_owned()),
                };
                self.gpio.as_ref().ok_or("there is no GPIO chip")?.with(|chip| chip.press(pressed));
                Ok(())
            }
            _ => Err("must begin with oled or button".to_owned()),
        }
    }

    fn on_oled(oled: &Served<Adapter>, act: &str) -> Result<(), String> {
        match act.split_once(' ').unwrap_or((act, "")) {
            ("picture", file) if !file.is_empty() => {
                write(oled, file).map_err(|error| error.to_string())?;
            }
            ("wedge", "") => oled.wedge(),
            ("return", "") => oled.go_on().map_err(|error| error.to_string())?,
            ("vanish", "") if oled.vanish() => oled.with(Adapter::lose_power),
            ("vanish", "") => return Err("no emulator is joined to it".to_owned()),
            _ => return Err("must be picture FILE, wedge, return or vanish".to_owned()),
        }
        Ok(())
    }
}

fn write(oled: &Served<Adapter>, file: &str) -> io::Result<()> {
    oled.with(|adapter| adapter.picture()).write_png(File::create(file)?)
}
