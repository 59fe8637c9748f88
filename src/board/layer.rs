//! What one board file says, before it is laid over what it inherits.

use super::badge::{self, PciId};
use super::desk::{self, ButtonKind, OnFault};
use super::display::DisplayKind;
use super::duration::DurationArg;
use super::gpio::{self, GpioWire};
use super::keeping::{HistoryKey, RecordsKey};
use super::port::PortPath;
use super::wiring;
use super::{CableKind, ClockProof, DEFAULT_ETHERTYPES, SizeMix};
use serde::Deserialize;
use std::path::PathBuf;
use std::time::Duration;

/// Ethertypes that a VLAN layer, a MAC or a NIC's firmware takes for itself, or that a host answers.
const TAKEN: [u16; 9] = [
    0x0800, // IPv4
    0x0806, // ARP
    0x8100, // 802.1Q tag: taken off before a socket sees it
    0x86DD, // IPv6
    0x8808, // MAC control, pause
    0x8809, // slow protocols, LACP
    0x888E, // 802.1X
    0x88A8, // 802.1ad tag
    0x88CC, // LLDP: some NICs accept such a frame and never send it
];

/// The keys of one file, each unset where the file does not have it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Layer {
    pub description: Option<Line>,
    pub inherit: Option<String>,
    pub cable: Option<CableKind>,
    pub port_a: Option<Port>,
    pub port_b: Option<Port>,
    pub speed_mbps: Option<Within<u64, 1, 400_000>>,
    pub pace_mbps: Option<Within<u64, 1, 400_000>>,
    pub mtu: Option<Within<u16, 68, 9198>>,
    pub mix: Option<Mix>,
    pub streams: Option<Within<u8, 1, 7>>,
    pub ethertypes: Option<Ethertypes>,
    pub settle_s: Option<Settle>,
    pub duration: Option<Length>,
    pub link_restart: Option<bool>,
    pub mac_checks_fcs: Option<bool>,
    pub tolerance_ppm: Option<Within<u64, 0, 10_000>>,
    pub clock_khz: Option<Within<u32, 100_000, 10_000_000>>,
    pub clock_required: Option<bool>,
    pub clock_proof: Option<ClockProof>,
    pub dma_latency_us: Option<Within<u16, 0, 10_000>>,
    pub watchdog: Option<DevicePath>,
    pub watchdog_timeout_s: Option<Within<u16, 2, 600>>,
    pub display: Option<DisplayKind>,
    pub display_bus: Option<wiring::Bus>,
    pub display_address: Option<Within<u8, 0x08, 0x77>>,
    pub display_column_offset: Option<Within<u8, 0, 4>>,
    pub display_dc: Option<wiring::Line>,
    pub display_reset: Option<wiring::Line>,
    pub display_spi_khz: Option<Within<u32, 100, 100_000>>,
    pub display_size: Option<wiring::Pixels>,
    pub display_upside_down: Option<bool>,
    pub display_mirrored: Option<bool>,
    pub display_inverted: Option<bool>,
    pub display_contrast: Option<Within<u8, 0, 255>>,
    pub display_colours: Option<wiring::Colours>,
    pub display_dim_after_s: Option<Within<u32, 0, 86_400>>,
    pub serial: Option<Serial>,
    pub serial_baud: Option<Within<u32, 1200, 4_000_000>>,
    pub serial_flow: Option<bool>,
    pub records: Option<RecordsKey>,
    pub records_baud: Option<Within<u32, 1200, 4_000_000>>,
    pub history: Option<HistoryKey>,
    pub button: Option<Button>,
    pub button_gpio: Option<Wire>,
    pub lamp_pass: Option<Wire>,
    pub lamp_fail: Option<Wire>,
    pub lamp_busy: Option<Wire>,
    pub beeper: Option<Wire>,
    pub on_fault: Option<OnFault>,
    pub known_by_dmi: Option<Dmi>,
    pub known_by_pci: Option<Pci>,
}

impl Layer {
    /// This layer over `below`: a key is this layer's where it has it. By what a box is known is not inherited:
    /// that box is of the board below.
    pub fn over(self, below: Self) -> Self {
        Self {
            description: self.description.or(below.description),
            inherit: self.inherit.or(below.inherit),
            cable: self.cable.or(below.cable),
            port_a: self.port_a.or(below.port_a),
            port_b: self.port_b.or(below.port_b),
            speed_mbps: self.speed_mbps.or(below.speed_mbps),
            pace_mbps: self.pace_mbps.or(below.pace_mbps),
            mtu: self.mtu.or(below.mtu),
            mix: self.mix.or(below.mix),
            streams: self.streams.or(below.streams),
            ethertypes: self.ethertypes.or(below.ethertypes),
            settle_s: self.settle_s.or(below.settle_s),
            duration: self.duration.or(below.duration),
            link_restart: self.link_restart.or(below.link_restart),
            mac_checks_fcs: self.mac_checks_fcs.or(below.mac_checks_fcs),
            tolerance_ppm: self.tolerance_ppm.or(below.tolerance_ppm),
            clock_khz: self.clock_khz.or(below.clock_khz),
            clock_required: self.clock_required.or(below.clock_required),
            clock_proof: self.clock_proof.or(below.clock_proof),
            dma_latency_us: self.dma_latency_us.or(below.dma_latency_us),
            watchdog: self.watchdog.or(below.watchdog),
            watchdog_timeout_s: self.watchdog_timeout_s.or(below.watchdog_timeout_s),
            display: self.display.or(below.display),
            display_bus: self.display_bus.or(below.display_bus),
            display_address: self.display_address.or(below.display_address),
            display_column_offset: self.display_column_offset.or(below.display_column_offset),
            display_dc: self.display_dc.or(below.display_dc),
            display_reset: self.display_reset.or(below.display_reset),
            display_spi_khz: self.display_spi_khz.or(below.display_spi_khz),
            display_size: self.display_size.or(below.display_size),
            display_upside_down: self.display_upside_down.or(below.display_upside_down),
            display_mirrored: self.display_mirrored.or(below.display_mirrored),
            display_inverted: self.display_inverted.or(below.display_inverted),
            display_contrast: self.display_contrast.or(below.display_contrast),
            display_colours: self.display_colours.or(below.display_colours),
            display_dim_after_s: self.display_dim_after_s.or(below.display_dim_after_s),
            serial: self.serial.or(below.serial),
            serial_baud: self.serial_baud.or(below.serial_baud),
            serial_flow: self.serial_flow.or(below.serial_flow),
            records: self.records.or(below.records),
            records_baud: self.records_baud.or(below.records_baud),
            history: self.history.or(below.history),
            button: self.button.or(below.button),
            button_gpio: self.button_gpio.or(below.button_gpio),
            lamp_pass: self.lamp_pass.or(below.lamp_pass),
            lamp_fail: self.lamp_fail.or(below.lamp_fail),
            lamp_busy: self.lamp_busy.or(below.lamp_busy),
            beeper: self.beeper.or(below.beeper),
            on_fault: self.on_fault.or(below.on_fault),
            known_by_dmi: self.known_by_dmi,
            known_by_pci: self.known_by_pci,
        }
    }
}

/// A whole number in a range. The refusal says what is right by the key's name, so none is worded here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "i64", bound = "T: TryFrom<i64>")]
pub(super) struct Within<T, const LEAST: i64, const MOST: i64>(pub T);

impl<T: TryFrom<i64>, const LEAST: i64, const MOST: i64> TryFrom<i64> for Within<T, LEAST, MOST> {
    type Error = &'static str;

    fn try_from(number: i64) -> Result<Self, Self::Error> {
        let within = (LEAST..=MOST).contains(&number);
        within.then(|| T::try_from(number).ok()).flatten().map(Self).ok_or("out of range")
    }
}

/// One line of printable text.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Line(pub String);

impl TryFrom<String> for Line {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let printable = !text.chars().any(char::is_control);
        if printable && text.chars().count() <= 100 { Ok(Self(text)) } else { Err("not one short line") }
    }
}

/// An absolute path of a device.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct DevicePath(pub String);

impl TryFrom<String> for DevicePath {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let Line(path) = Line::try_from(text)?;
        if path.starts_with('/') { Ok(Self(path)) } else { Err("not absolute") }
    }
}

/// A port's path.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Port(pub PortPath);

impl TryFrom<String> for Port {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

/// A serial port's device; none where the board takes an inherited one away.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Serial(pub Option<PathBuf>);

impl TryFrom<String> for Serial {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        desk::serial_path(&text).map(Self)
    }
}

/// A button.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Button(pub ButtonKind);

impl TryFrom<String> for Button {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

/// A GPIO line; none where the board takes an inherited one away.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Wire(pub Option<GpioWire>);

impl TryFrom<String> for Wire {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        gpio::wire(&text).map(Self)
    }
}

/// A text of the firmware.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Dmi(pub String);

impl TryFrom<String> for Dmi {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        badge::dmi(text).map(Self)
    }
}

/// PCI devices.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub(super) struct Pci(pub Vec<PciId>);

impl TryFrom<Vec<String>> for Pci {
    type Error = &'static str;

    fn try_from(list: Vec<String>) -> Result<Self, Self::Error> {
        badge::pci(&list).map(Self)
    }
}

/// A size mix.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Mix(pub SizeMix);

impl TryFrom<String> for Mix {
    type Error = super::MixError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        SizeMix::parse(&text).map(Self)
    }
}

/// Ethertypes, one for each stream there can be.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Vec<u16>")]
pub(super) struct Ethertypes(pub Vec<u16>);

impl TryFrom<Vec<u16>> for Ethertypes {
    type Error = &'static str;

    fn try_from(list: Vec<u16>) -> Result<Self, Self::Error> {
        let counted = (1..=DEFAULT_ETHERTYPES.len()).contains(&list.len());
        let usable = |ethertype: &u16| *ethertype >= 0x0600 && !TAKEN.contains(ethertype);
        let different =
            list.iter().enumerate().all(|(at, one)| !list.iter().take(at).any(|other| other == one));
        if counted && different && list.iter().all(usable) { Ok(Self(list)) } else { Err("not usable") }
    }
}

/// Seconds of settling.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "f64")]
pub(super) struct Settle(pub Duration);

impl TryFrom<f64> for Settle {
    type Error = &'static str;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        let within = (0.0..=600.0).contains(&seconds);
        within.then(|| Duration::try_from_secs_f64(seconds).ok()).flatten().map(Self).ok_or("out of range")
    }
}

/// A duration by name or in seconds.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "NameOrSeconds")]
pub(super) struct Length(pub DurationArg);

#[derive(Deserialize)]
#[serde(untagged)]
enum NameOrSeconds {
    Name(String),
    Seconds(f64),
}

impl TryFrom<NameOrSeconds> for Length {
    type Error = &'static str;

    fn try_from(value: NameOrSeconds) -> Result<Self, Self::Error> {
        match value {
            NameOrSeconds::Name(name) => name.parse(),
            NameOrSeconds::Seconds(seconds) => DurationArg::seconds(seconds).ok_or("out of range"),
        }
        .map(Self)
    }
}
