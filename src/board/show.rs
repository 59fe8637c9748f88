//! A board as TOML text that reads back as the same board.

use super::words::number;
use super::{Badge, Board, RecordsTo, SerialSettings, builtin};
use measure::units::BitRate;
use std::fmt;

/// The compiled-in boards, one a line.
#[must_use]
pub fn list() -> String {
    builtin().filter_map(|(name, _)| super::load(name).ok()).map(|board| line(&board)).collect()
}

fn line(board: &Board) -> String {
    format!("{:<10} {:<9} {}\n", board.name, board.cable, board.description)
}

/// A rate in whole Mb/s where it is whole.
pub(super) fn mbps(rate: BitRate) -> String {
    let (whole, rest) = (rate.bits_per_second() / 1_000_000, rate.bits_per_second() % 1_000_000);
    let text = format!("{whole}.{rest:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# board {}, with all it inherits and every default", self.name)?;
        writeln!(f, "description = {}", basic_string(&self.description))?;
        writeln!(f, "cable = \"{}\"", self.cable)?;
        let [a, b] = self.ports.as_ref().map_or([None, None], |[a, b]| [Some(a), Some(b)]);
        optional(f, "port-a", a.map(|path| format!("\"{path}\"")))?;
        optional(f, "port-b", b.map(|path| format!("\"{path}\"")))?;
        optional(f, "speed-mbps", self.speed.map(mbps))?;
        optional(f, "pace-mbps", self.pace.map(mbps))?;
        writeln!(f, "mtu = {}", self.mtu)?;
        writeln!(f, "mix = \"{}\"", self.mix)?;
        writeln!(f, "streams = {}", self.streams)?;
        let ethertypes: Vec<_> = self.ethertypes.iter().map(|number| format!("0x{number:04X}")).collect();
        writeln!(f, "ethertypes = [{}]", ethertypes.join(", "))?;
        writeln!(f, "settle-s = {}", number(self.settle.as_secs_f64()))?;
        let duration = self.duration.to_string();
        let is_name = duration.starts_with(|c: char| c.is_ascii_alphabetic());
        writeln!(f, "duration = {}", if is_name { basic_string(&duration) } else { duration })?;
        writeln!(f, "link-restart = {}", self.link_restart)?;
        writeln!(f, "mac-checks-fcs = {}", self.mac_checks_fcs)?;
        writeln!(f, "tolerance-ppm = {}", self.tolerance_ppm)?;
        self.show_host(f)?;
        self.show_desk(f)
    }
}

impl Board {
    /// The keys of the host's settings.
    fn show_host(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        optional(f, "clock-khz", self.clock_khz.map(|khz| khz.to_string()))?;
        writeln!(f, "clock-required = {}", self.clock_required)?;
        writeln!(f, "clock-proof = \"{}\"", self.clock_proof.name())?;
        optional(f, "dma-latency-us", self.dma_latency_us.map(|micros| micros.to_string()))?;
        optional(f, "watchdog", self.watchdog.as_deref().map(basic_string))?;
        writeln!(f, "watchdog-timeout-s = {}", self.watchdog_timeout_s)
    }

    /// The keys of what outlives a run.
    fn show_keeping(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "records = {}", basic_string(&self.records.to_string()))?;
        let baud = if let RecordsTo::Port(port) = &self.records { Some(port.baud) } else { None };
        optional(f, "records-baud", baud.map(|baud| baud.to_string()))?;
        writeln!(f, "history = {}", basic_string(&self.history.to_string()))
    }

    /// The keys of what people see and press, and of what the box is known by.
    fn show_desk(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "display = \"{}\"", self.display)?;
        for (key, value) in self.display_settings.shown(self.display) {
            optional(f, key, value)?;
        }
        write_serial(f, self.serial.as_ref())?;
        self.show_keeping(f)?;
        writeln!(f, "button = {}", basic_string(&self.button.to_string()))?;
        for (key, wire) in self.wires.keys() {
            let wire = wire.map_or_else(|| "none".to_owned(), ToString::to_string);
            writeln!(f, "{key} = {}", basic_string(&wire))?;
        }
        writeln!(f, "on-fault = \"{}\"", self.on_fault)?;
        let Badge { dmi, pci } = &self.badge;
        optional(f, "known-by-dmi", dmi.as_deref().map(basic_string))?;
        let ids: Vec<_> = pci.iter().map(|id| format!("\"{id}\"")).collect();
        optional(f, "known-by-pci", (!ids.is_empty()).then(|| format!("[{}]", ids.join(", "))))
    }
}

fn write_serial(f: &mut fmt::Formatter<'_>, serial: Option<&SerialSettings>) -> fmt::Result {
    let path = serial.map_or("none".into(), |serial| serial.path.to_string_lossy());
    writeln!(f, "serial = {}", basic_string(&path))?;
    optional(f, "serial-baud", serial.map(|serial| serial.baud.to_string()))?;
    optional(f, "serial-flow", serial.map(|serial| serial.flow.to_string()))
}

fn optional(f: &mut fmt::Formatter<'_>, key: &str, value: Option<String>) -> fmt::Result {
    match value {
        Some(value) => writeln!(f, "{key} = {value}"),
        None => writeln!(f, "# {key} is not set"),
    }
}

/// A TOML basic string; a board's texts have no control characters.
pub(super) fn basic_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
