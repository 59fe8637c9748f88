//! `linegauge-peripherals [--oled CHIP SOCKET] [--gpio SOCKET]`: the emulated box's display, button and lamps.

use linegauge_peripherals::backend::Served;
use linegauge_peripherals::commands::{Bench, HELP};
use linegauge_peripherals::controller::Chip;
use linegauge_peripherals::gpio::GpioChip;
use linegauge_peripherals::i2c::Adapter;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: linegauge-peripherals [--oled ssd1306|ssd1309|sh1106 SOCKET] [--gpio SOCKET]

Listens at each SOCKET for an emulator (vhost-user) and says \"ready\". Then it takes commands on standard input until
that ends, and answers each with a line \"ok\" or \"refused: WHY\". Other lines are news: a lamp that changes, with
seconds since the start (\"lamp-pass on 12.345\"), or \"oled wrong: WHAT\", which no data sheet has.
";

/// What is asked for.
#[derive(Default)]
struct Request {
    oled: Option<(Chip, PathBuf)>,
    gpio: Option<PathBuf>,
}

impl Request {
    fn read(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut words, mut request) = (words, Self::default());
        while let Some(word) = words.next() {
            let mut value = |what: &str| words.next().ok_or_else(|| format!("{word} needs {what}"));
            match word.as_str() {
                "--oled" => {
                    let name = value("a chip and a socket")?;
                    let chip = name.parse().map_err(|right| format!("--oled {name}: must be {right}"))?;
                    request.oled = Some((chip, value("a chip and a socket")?.into()));
                }
                "--gpio" => request.gpio = Some(value("a socket")?.into()),
                _ => return Err(format!("{word}: must be --oled, --gpio or --help")),
            }
        }
        Ok(request)
    }

    fn open(self) -> Result<Bench, String> {
        let at = |socket: &Path, error: io::Error| format!("{}: {error}", socket.display());
        let oled = self.oled.map(|(chip, socket)| {
            Served::listen(Adapter::new(chip), "oled", &socket, say).map_err(|error| at(&socket, error))
        });
        let gpio = self.gpio.map(|socket| {
            let chip = GpioChip::new(Instant::now());
            Served::listen(chip, "gpio", &socket, say).map_err(|error| at(&socket, error))
        });
        Ok(Bench { oled: oled.transpose()?, gpio: gpio.transpose()? })
    }
}

/// One line on standard output; nobody there is no error: the emulator goes on.
fn say(line: &str) {
    let mut output = io::stdout().lock();
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help") {
        say(&format!("{USAGE}\n{HELP}"));
        return ExitCode::SUCCESS;
    }
    match Request::read(words.into_iter()).and_then(Request::open) {
        Ok(bench) => {
            say("ready");
            io::stdin().lines().map_while(Result::ok).for_each(|line| say(&bench.answer(&line)));
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("linegauge-peripherals: {why}");
            ExitCode::from(2)
        }
    }
}
