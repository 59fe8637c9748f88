//! How many arguments each command has.

use super::Chip;

/// Arguments of the command that begins with this octet; none where there is no such command.
pub(super) const fn arguments(chip: Chip, octet: u8) -> Option<usize> {
    match octet {
        0x00..=0x1F | 0x40..=0x7F | 0xA0 | 0xA1 | 0xA4..=0xA7 | 0xAE | 0xAF | 0xB0..=0xB7 => Some(0),
        0xC0 | 0xC8 | 0xE3 => Some(0),
        0x81 | 0xA8 | 0xD3 | 0xD5 | 0xD9 | 0xDA | 0xDB => Some(1),
        _ => match chip {
            Chip::Sh1106 => of_sh1106(octet),
            Chip::Ssd1306 => match octet {
                0x8D => Some(1),
                _ => of_both_ssd(octet),
            },
            Chip::Ssd1309 => match octet {
                // Its GPIO pin, and its lock.
                0xDC | 0xFD => Some(1),
                _ => of_both_ssd(octet),
            },
        },
    }
}

/// Pump voltage, row direction (whose lowest three bits say nothing), read-modify-write and its end, converter.
const fn of_sh1106(octet: u8) -> Option<usize> {
    match octet {
        0x30..=0x33 | 0xC1..=0xC7 | 0xC9..=0xCF | 0xE0 | 0xEE => Some(0),
        0xAD => Some(1),
        _ => None,
    }
}

/// Addressing, its windows, and scrolling.
const fn of_both_ssd(octet: u8) -> Option<usize> {
    match octet {
        0x2E | 0x2F => Some(0),
        0x20 => Some(1),
        0x21 | 0x22 | 0xA3 => Some(2),
        0x29 | 0x2A => Some(5),
        0x26 | 0x27 => Some(6),
        _ => None,
    }
}

/// Whether the arguments of a command that sets up scrolling are right; what would be.
pub(super) fn check_scroll(command: &[u8]) -> Result<(), &'static str> {
    let right = match *command {
        [0xA3, fixed, moving] => fixed < 64 && moving < 128,
        [_, 0, first, interval, last, 0, 0xFF] => first <= last && last < 8 && interval < 8,
        [_, 0, first, interval, last, rows] => first <= last && last < 8 && interval < 8 && rows < 64,
        _ => false,
    };
    if right { Ok(()) } else { Err("no scrolling is set up so") }
}
