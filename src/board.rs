//! Boards: what a box has and how it is tested, as data.
//!
//! A board is a TOML file (`board/README.md` tells its keys). The ones in `board/` are compiled in and
//! picked by name when the program starts; any other is read from a path. A board may inherit from
//! another and say only what differs.

mod badge;
mod desk;
mod display;
mod duration;
mod error;
mod file;
mod gpio;
mod keeping;
mod keys;
mod layer;
mod port;
mod show;
mod wiring;
pub(crate) mod words;

pub use badge::{Badge, PciId};
pub use desk::{ButtonKind, OnFault, SerialSettings};
pub use display::{BusKind, DisplayKind, DisplaySettings};
pub use duration::{DurationArg, RIGHT as DURATION_RIGHT};
pub use error::{BoardError, Conflict};
pub use gpio::{GpioWire, Wires};
pub use keeping::{HistoryIn, RecordsTo};
pub use keys::{KEYS, Key};
pub use measure::mix::{MixError, SizeMix};
pub use port::PortPath;
pub use show::list;
pub use wiring::GpioLine;

use layer::{Layer, Wire};
use measure::units::{BitRate, CLOCK_TOLERANCE_PPM, FCS_OCTETS, MAX_STREAMS};
use serde::Deserialize;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Octets of an Ethernet header (IEEE 802.3, 3.1.1), which an MTU does not count.
const HEADER_OCTETS: u64 = 14;

/// The board that is used where none is named.
pub const DEFAULT: &str = "virtual";

/// Ethertypes of the streams where a board has none of its own; `board/virtual.toml` tells why these.
pub const DEFAULT_ETHERTYPES: [u16; MAX_STREAMS] = [0x88B5, 0x88B6, 0x6000, 0x6005, 0x6006, 0x6008, 0x6009];

const BUILTIN: [(&str, &str); 6] = [
    ("virtual", include_str!("../board/virtual.toml")),
    ("emulated", include_str!("../board/emulated.toml")),
    ("emulated-box", include_str!("../board/emulated-box.toml")),
    ("emulated-ssd1306", include_str!("../board/emulated-ssd1306.toml")),
    ("emulated-sh1106", include_str!("../board/emulated-sh1106.toml")),
    ("x520", include_str!("../board/x520.toml")),
];

/// What is between the two ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CableKind {
    /// A veth pair in private namespaces.
    Virtual,
    /// Two TAP devices with a faulty cable in software between them.
    Emulated,
    /// Real network ports.
    Ports,
}

impl CableKind {
    /// Its name in a board file and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Virtual => "virtual",
            Self::Emulated => "emulated",
            Self::Ports => "ports",
        }
    }
}

impl fmt::Display for CableKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for CableKind {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let kinds = [Self::Virtual, Self::Emulated, Self::Ports];
        kinds.into_iter().find(|kind| kind.name() == text).ok_or("virtual, emulated or ports")
    }
}

/// What a measured CPU clock is to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClockProof {
    /// Without a measured clock of the right rate there is no run.
    Require,
    /// It is measured and shown.
    Report,
    /// It is not measured: under an emulator it would mean nothing.
    Off,
}

impl ClockProof {
    /// Its name in a board file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Require => "require",
            Self::Report => "report",
            Self::Off => "off",
        }
    }
}

/// A board with all it inherits and every default filled in, checked as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    /// Built-in name, or the file's name without its ending.
    pub name: String,
    /// One line for people; may be empty.
    pub description: String,
    /// What is between the ports.
    pub cable: CableKind,
    /// Ports A and B; there exactly where the cable is [`CableKind::Ports`].
    pub ports: Option<[PortPath; 2]>,
    /// Link speed that the ports should negotiate; none where it is not judged.
    pub speed: Option<BitRate>,
    /// L1 rate offered a direction, all streams together; none where a full ring is the flow control.
    pub pace: Option<BitRate>,
    /// Largest payload of a frame in octets: header and FCS are not counted.
    pub mtu: u16,
    /// Frame sizes.
    pub mix: SizeMix,
    /// Streams a direction, 1 to 7.
    pub streams: u8,
    /// Ethertypes of the streams, at least as many as streams.
    pub ethertypes: Vec<u16>,
    /// Time at the beginning of the traffic that is accounted but not judged for rate.
    pub settle: Duration,
    /// How long frames flow after the settle.
    pub duration: DurationArg,
    /// Whether port A's link may be taken down to see port B's carrier drop.
    pub link_restart: bool,
    /// Whether the MAC discards frames with a wrong FCS, so that damaged content is not the cable's.
    pub mac_checks_fcs: bool,
    /// How far a received rate may be above the one sent, in parts per million.
    pub tolerance_ppm: u64,
    /// CPU clock to pin in kHz; none where it is left alone.
    pub clock_khz: Option<u32>,
    /// Whether a run needs the pinned clock; false where none is given.
    pub clock_required: bool,
    /// What the measured clock is to a run.
    pub clock_proof: ClockProof,
    /// Longest time a processor may take to wake up, in µs; none where no limit is asked for.
    pub dma_latency_us: Option<u16>,
    /// Path of the watchdog device; none where there is none to arm.
    pub watchdog: Option<String>,
    /// Time in seconds after which the watchdog resets a box whose run loop stands still.
    pub watchdog_timeout_s: u16,
    /// What the panel is drawn on.
    pub display: DisplayKind,
    /// How that is wired and set.
    pub display_settings: DisplaySettings,
    /// The serial port of the text log; none for no such log.
    pub serial: Option<SerialSettings>,
    /// Where the records for programs go.
    pub records: RecordsTo,
    /// Where the last results are kept.
    pub history: HistoryIn,
    /// What is pressed to start and stop a run.
    pub button: ButtonKind,
    /// The GPIO lines of button, lamps and beeper.
    pub wires: Wires,
    /// What the box does that cannot work, once it has said so.
    pub on_fault: OnFault,
    /// By what a box is known to be of this board.
    pub badge: Badge,
}

/// The compiled-in boards: name and TOML text.
pub fn builtin() -> impl Iterator<Item = (&'static str, &'static str)> {
    BUILTIN.into_iter()
}

/// Loads a built-in board by name, or a board file by path (a path has a `/` or ends in `.toml`).
///
/// # Errors
/// Where there is no such board, or it is not one; each prints as one line.
pub fn load(name_or_path: &str) -> Result<Board, BoardError> {
    let (place, layer) = file::flatten(name_or_path)?;
    Board::of(&place, layer)
}

impl Board {
    fn of(place: &file::Place, layer: Layer) -> Result<Self, BoardError> {
        let missing = |key| BoardError::missing(place.shown(), key);
        let cable = layer.cable.ok_or_else(|| missing("cable"))?;
        let ports = ports(cable, &layer).map_err(missing)?;
        let serial = serial(&layer);
        let records = RecordsTo::of(&layer, serial.as_ref()).map_err(|conflict| place.refuse(conflict))?;
        let wires = wires(&layer);
        let display = layer.display.unwrap_or_default();
        let display_settings =
            DisplaySettings::of(display, &layer).map_err(|conflict| place.refuse(conflict))?;
        let board = Self {
            name: place.name(),
            description: layer.description.map(|line| line.0).unwrap_or_default(),
            cable,
            ports,
            speed: layer.speed_mbps.map(|mega| BitRate::from_mbps(mega.0)),
            pace: layer.pace_mbps.map(|mega| BitRate::from_mbps(mega.0)),
            mtu: layer.mtu.map_or(9000, |octets| octets.0),
            mix: layer.mix.map_or_else(default_mix, |mix| mix.0),
            streams: layer.streams.map_or(2, |streams| streams.0),
            ethertypes: layer.ethertypes.map_or_else(|| DEFAULT_ETHERTYPES.to_vec(), |list| list.0),
            settle: layer.settle_s.map_or(Duration::from_secs(5), |settle| settle.0),
            duration: layer.duration.map_or(DurationArg::Quick, |duration| duration.0),
            link_restart: layer.link_restart.unwrap_or(true),
            mac_checks_fcs: layer.mac_checks_fcs.unwrap_or(false),
            tolerance_ppm: layer.tolerance_ppm.map_or(CLOCK_TOLERANCE_PPM, |ppm| ppm.0),
            clock_required: layer.clock_required.unwrap_or(layer.clock_khz.is_some()),
            clock_khz: layer.clock_khz.map(|khz| khz.0),
            clock_proof: layer.clock_proof.unwrap_or(ClockProof::Report),
            dma_latency_us: layer.dma_latency_us.map(|micros| micros.0),
            watchdog: layer.watchdog.map(|path| path.0),
            watchdog_timeout_s: layer.watchdog_timeout_s.map_or(30, |seconds| seconds.0),
            display,
            display_settings,
            serial,
            records,
            history: layer.history.map(|history| history.0).unwrap_or_default(),
            button: layer.button.map(|button| button.0).unwrap_or_default(),
            wires,
            on_fault: layer.on_fault.unwrap_or_default(),
            badge: Badge {
                dmi: layer.known_by_dmi.map(|text| text.0),
                pci: layer.known_by_pci.map(|list| list.0).unwrap_or_default(),
            },
        };
        match board.check() {
            Ok(()) => Ok(board),
            Err(conflict) => Err(place.refuse(conflict)),
        }
    }

    /// Largest frame that the MTU carries, in octets with FCS.
    #[must_use]
    pub fn largest_frame(&self) -> u64 {
        u64::from(self.mtu) + HEADER_OCTETS + FCS_OCTETS
    }

    /// The streams' ethertypes: as many as there are streams.
    #[must_use]
    pub fn stream_ethertypes(&self) -> &[u16] {
        self.ethertypes.get(..usize::from(self.streams)).unwrap_or(&self.ethertypes)
    }

    /// Whether the values go together.
    ///
    /// # Errors
    /// The first that does not, and what would.
    pub fn check(&self) -> Result<(), Conflict> {
        self.check_ports()?;
        self.check_sizes()?;
        self.check_streams()?;
        self.check_pace()?;
        self.check_clock()?;
        self.wires.check()
    }

    fn check_ports(&self) -> Result<(), Conflict> {
        let Some([a, b]) = &self.ports else { return Ok(()) };
        if self.cable != CableKind::Ports {
            let right = format!("only cable = \"ports\" has ports; this one is \"{}\"", self.cable);
            return Err(Conflict { key: "port-a", value: a.to_string(), right });
        }
        if a == b {
            let right = "the same as port-a; the two ends of the cable need two ports".to_owned();
            return Err(Conflict { key: "port-b", value: b.to_string(), right });
        }
        Ok(())
    }

    fn check_sizes(&self) -> Result<(), Conflict> {
        let (size, most) = (self.mix.largest().octets(), self.largest_frame());
        if size <= most {
            return Ok(());
        }
        let right =
            format!("size {size} is over the {most} octets (FCS counted) that MTU {} carries", self.mtu);
        Err(Conflict { key: "mix", value: self.mix.to_string(), right })
    }

    fn check_streams(&self) -> Result<(), Conflict> {
        let most = self.ethertypes.len();
        if (1..=most).contains(&usize::from(self.streams)) {
            return Ok(());
        }
        let right = format!("each stream needs an ethertype of its own, and this board lists {most}");
        Err(Conflict { key: "streams", value: self.streams.to_string(), right })
    }

    fn check_pace(&self) -> Result<(), Conflict> {
        let (Some(pace), Some(speed)) = (self.pace, self.speed) else { return Ok(()) };
        if pace <= speed {
            return Ok(());
        }
        let right = format!("{pace} is over this board's link speed of {speed}");
        Err(Conflict { key: "pace-mbps", value: show::mbps(pace), right })
    }

    fn check_clock(&self) -> Result<(), Conflict> {
        if self.clock_khz.is_some() || !self.clock_required {
            return Ok(());
        }
        let right = "there is no clock to hold without clock-khz".to_owned();
        Err(Conflict { key: "clock-required", value: "true".to_owned(), right })
    }

    /// This board with another software cable: what describes the ports and the host comes from that cable's built-in
    /// board, what describes the test stays.
    ///
    /// # Errors
    /// Where `cable` is [`CableKind::Ports`] and the board's is not: it does not say which ports.
    pub fn on_cable(self, cable: CableKind) -> Result<Self, BoardError> {
        if cable == self.cable {
            return Ok(self);
        }
        if cable == CableKind::Ports {
            return Err(BoardError::missing(self.name, "port-a"));
        }
        let Self {
            name,
            description,
            pace,
            mtu,
            mix,
            streams,
            ethertypes,
            settle,
            duration,
            tolerance_ppm,
            ..
        } = self;
        let ports_and_host = load(cable.name())?;
        Ok(Self {
            name,
            description,
            pace,
            mtu,
            mix,
            streams,
            ethertypes,
            settle,
            duration,
            tolerance_ppm,
            ..ports_and_host
        })
    }
}

fn default_mix() -> SizeMix {
    SizeMix::named("jumbo").expect("jumbo is a named mix")
}

/// The serial port where the board has one.
fn serial(layer: &Layer) -> Option<SerialSettings> {
    let path = layer.serial.as_ref()?.0.clone()?;
    let baud = layer.serial_baud.map_or(desk::DEFAULT_BAUD, |baud| baud.0);
    Some(SerialSettings { path, baud, flow: layer.serial_flow.unwrap_or(false) })
}

/// The GPIO lines that the board has.
fn wires(layer: &Layer) -> Wires {
    let of = |wire: &Option<Wire>| wire.as_ref().and_then(|wire| wire.0.clone());
    Wires {
        button: of(&layer.button_gpio),
        pass: of(&layer.lamp_pass),
        fail: of(&layer.lamp_fail),
        busy: of(&layer.lamp_busy),
        beeper: of(&layer.beeper),
    }
}

/// Ports A and B where the cable has any; the missing key's name where one is not given.
fn ports(cable: CableKind, layer: &Layer) -> Result<Option<[PortPath; 2]>, &'static str> {
    match (&layer.port_a, &layer.port_b) {
        (Some(a), Some(b)) => Ok(Some([a.0.clone(), b.0.clone()])),
        (None, None) if cable != CableKind::Ports => Ok(None),
        (None, _) => Err("port-a"),
        (_, None) => Err("port-b"),
    }
}

#[cfg(test)]
mod tests;
