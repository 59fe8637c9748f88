//! The keys of a board file: what each may be, and what it is where it is left out.

use super::words::nearest;

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As written in the file.
    pub name: &'static str,
    /// What its value may be, in words, with unit and range.
    pub right: &'static str,
    /// What it is where neither the file nor what it inherits has it.
    pub default: &'static str,
}

const fn key(name: &'static str, right: &'static str, default: &'static str) -> Key {
    Key { name, right, default }
}

/// All keys, in the order in which a board is shown.
pub const KEYS: [Key; 51] = [
    key("description", "one line of text, at most 100 characters", "empty"),
    key(
        "inherit",
        "the name of a built-in board, or a path with a / or ending in .toml",
        "nothing inherited",
    ),
    key("cable", "\"virtual\", \"emulated\" or \"ports\"", "must be given or inherited"),
    key("port-a", super::port::RIGHT, "must be given with cable = \"ports\", and only there"),
    key("port-b", super::port::RIGHT, "must be given with cable = \"ports\", and only there"),
    key("speed-mbps", "a whole number from 1 to 400000 (Mb/s)", "link speed is not judged"),
    key(
        "pace-mbps",
        "a whole number from 1 to 400000 (Mb/s of L1 rate)",
        "no pace: a full ring is the flow control",
    ),
    key("mtu", "a whole number from 68 to 9198 (octets)", "9000"),
    key(
        "mix",
        "\"jumbo\", \"rfc2544\", \"small\" or a list like \"64,1518,9018\" (octets, FCS counted, 64 to MTU + 18)",
        "\"jumbo\"",
    ),
    key("streams", "a whole number from 1 to 7 (a direction)", "2"),
    key(
        "ethertypes",
        "a list of 1 to 7 different numbers from 0x0600 to 0xFFFF, none of which the kernel or a MAC takes for itself",
        "[0x88B5, 0x88B6, 0x6000, 0x6005, 0x6006, 0x6008, 0x6009]",
    ),
    key("settle-s", "a number from 0 to 600 (seconds)", "5"),
    key(
        "duration",
        "\"quick\", \"standard\", \"proof\" or a number from 0.1 to 2592000 (seconds)",
        "\"quick\"",
    ),
    key("link-restart", "true or false", "true"),
    key("mac-checks-fcs", "true or false", "false"),
    key("tolerance-ppm", "a whole number from 0 to 10000 (parts per million)", "100"),
    key("clock-khz", "a whole number from 100000 to 10000000 (kHz)", "the CPU clock is left alone"),
    key(
        "clock-required",
        "true or false; true only with clock-khz",
        "true where clock-khz is given, else false",
    ),
    key("clock-proof", "\"require\", \"report\" or \"off\"", "\"report\""),
    key("dma-latency-us", "a whole number from 0 to 10000 (microseconds)", "no limit is asked for"),
    key("watchdog", "the path of a device, like \"/dev/watchdog0\"", "no watchdog"),
    key("watchdog-timeout-s", "a whole number from 2 to 600 (seconds)", "30"),
    key(
        "display",
        "\"none\", \"framebuffer\", \"ssd1306\", \"sh1106\", \"ssd1306-spi\", \"ssd1309-spi\", \"sh1106-spi\", \"st7789\" or \"ili9341\"",
        "\"none\"",
    ),
    key("display-bus", super::wiring::BUS_RIGHT, "must be given for a display on a bus"),
    key("display-address", "a whole number from 0x08 to 0x77", "0x3C"),
    key("display-column-offset", "a whole number from 0 to 4 (columns)", "2"),
    key("display-dc", super::wiring::LINE_RIGHT, "must be given for a display on SPI"),
    key("display-reset", super::wiring::LINE_RIGHT, "the display resets itself"),
    key("display-spi-khz", "a whole number from 100 to 100000 (kHz)", "8000 for an OLED, 32000 for a TFT"),
    key("display-size", super::wiring::SIZE_RIGHT, "\"320x240\""),
    key("display-upside-down", "true or false", "false"),
    key("display-mirrored", "true or false", "true for an ILI9341, else false"),
    key("display-inverted", "true or false", "true for an ST7789, else false"),
    key("display-contrast", "a whole number from 0 to 255", "207"),
    key("display-colours", super::wiring::COLOURS_RIGHT, "[\"FFFFFF\", \"20FF40\", \"FFB800\", \"FF3840\"]"),
    key("display-dim-after-s", "a whole number from 0 to 86400 (seconds; 0 for never)", "600"),
    key("serial", super::desk::SERIAL_RIGHT, "\"none\""),
    key("serial-baud", "a whole number from 1200 to 4000000 (bits per second)", "115200"),
    key("serial-flow", "true or false", "false"),
    key("records", super::keeping::RECORDS_RIGHT, "\"none\""),
    key("records-baud", "a whole number from 1200 to 4000000 (bits per second)", "115200"),
    key("history", super::keeping::HISTORY_RIGHT, "\"none\""),
    key("button", super::desk::BUTTON_RIGHT, "\"none\""),
    key("button-gpio", super::gpio::WIRE_RIGHT, "\"none\""),
    key("lamp-pass", super::gpio::WIRE_RIGHT, "\"none\""),
    key("lamp-fail", super::gpio::WIRE_RIGHT, "\"none\""),
    key("lamp-busy", super::gpio::WIRE_RIGHT, "\"none\""),
    key("beeper", super::gpio::WIRE_RIGHT, "\"none\""),
    key("on-fault", "\"wait\" or \"reboot\"", "\"wait\""),
    key("known-by-dmi", super::badge::DMI_RIGHT, "not known by it; never inherited"),
    key("known-by-pci", super::badge::PCI_RIGHT, "not known by it; never inherited"),
];

/// What key `name` may be; none where there is no such key.
pub(super) fn right(name: &str) -> Option<&'static str> {
    KEYS.iter().find(|key| key.name == name).map(|key| key.right)
}

/// What to say about `name`, which is no key.
pub(super) fn hint(name: &str) -> String {
    let names = || KEYS.iter().map(|key| key.name);
    match nearest(name, names()) {
        Some(name) => format!("did you mean {name}?"),
        None => format!("the keys are {}", names().collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_has_a_row_for_every_key() {
        let readme = include_str!("../../board/README.md");
        for Key { name, right, default } in KEYS {
            let row = format!("| `{name}` | {right} | {default} |");
            assert!(readme.contains(&row), "board/README.md lacks: {row}");
        }
        assert_eq!(readme.matches("\n| `").count(), KEYS.len(), "board/README.md has rows that are no keys");
    }

    #[test]
    fn a_slip_is_pointed_out_and_nonsense_gets_the_list() {
        assert_eq!(hint("pace-mpbs"), "did you mean pace-mbps?");
        assert!(hint("xyzzy").starts_with("the keys are description, inherit, cable,"));
    }
}
