//! Each command of each data sheet, and what none of them has.

use super::*;
use crate::picture::{HEIGHT, Picture, WIDTH};
use proptest::prelude::*;

const CHIPS: [Chip; 3] = [Chip::Ssd1306, Chip::Ssd1309, Chip::Sh1106];

fn send(controller: &mut Controller, octets: &[u8]) {
    octets.iter().for_each(|octet| controller.command(*octet));
}

/// Column of the memory that is the leftmost pixel of an upright picture.
fn first_column(chip: Chip) -> u8 {
    if chip == Chip::Sh1106 { 2 } else { 0 }
}

/// One that is on, upright, and dark all over, its pointer at the left upper pixel.
fn upright(chip: Chip) -> Controller {
    let mut controller = Controller::new(chip);
    send(&mut controller, &[0xA1, 0xC8]);
    if chip == Chip::Ssd1306 {
        send(&mut controller, &[0x8D, 0x14]);
    }
    for page in 0..8 {
        send(&mut controller, &[0xB0 | page, 0x00, 0x10]);
        (0..chip.columns()).for_each(|_| controller.data(0));
    }
    send(&mut controller, &[0xB0, first_column(chip), 0x10, 0xAF]);
    assert_eq!(controller.picture(), Some(Picture::dark()), "{chip}");
    assert_eq!(controller.take_wrongs(), [""; 0]);
    controller
}

/// The lit pixels of a picture with few.
fn lit(controller: &Controller) -> Vec<(usize, usize)> {
    let picture = controller.picture().unwrap();
    let all = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y)));
    all.filter(|(x, y)| picture.lit(*x, *y)).collect()
}

#[test]
fn a_picture_stands_upright_with_columns_turned_and_rows_reversed() {
    for chip in CHIPS {
        let mut controller = upright(chip);
        controller.data(0x81);
        assert_eq!(lit(&controller), [(0, 0), (0, 7)], "{chip}");
        send(&mut controller, &[0xB7, 0x0F, 0x17]);
        controller.data(0x80);
        let last = if chip == Chip::Sh1106 { 125 } else { 127 };
        assert_eq!(lit(&controller)[2], (last, 63), "{chip}");
    }
}

#[test]
fn rows_turn_at_once_and_columns_with_the_next_writing_or_at_once() {
    for chip in CHIPS {
        let mut controller = upright(chip);
        controller.data(0x01);
        send(&mut controller, &[0xC0]);
        assert_eq!(lit(&controller), [(0, 63)], "{chip}");
        send(&mut controller, &[0xA0]);
        let there = if chip == Chip::Sh1106 { (127, 63) } else { (0, 63) };
        assert_eq!(lit(&controller), [there], "{chip}");
        send(&mut controller, &[first_column(chip), 0x10]);
        controller.data(0x01);
        assert!(lit(&controller).contains(&(127, 63)), "{chip}");
    }
}

#[test]
fn lines_start_offset_and_multiplex_are_the_data_sheets() {
    // What stands in the table of the SSD1306's data sheet (10-1) for row 8, upside down here as the glass is.
    for (commands, y) in [(&[0x48][..], 0), (&[0xD3, 0x08], 0), (&[0x40], 8), (&[0x41, 0xD3, 0x01], 6)] {
        let mut controller = upright(Chip::Ssd1306);
        send(&mut controller, &[0xC0, 0xB1]);
        controller.data(0x01);
        send(&mut controller, commands);
        assert_eq!(lit(&controller), [(0, 63 - y)], "{commands:02X?}");
    }
    let mut controller = upright(Chip::Ssd1306);
    send(&mut controller, &[0xC0, 0xA8, 47, 0xA5]);
    let picture = controller.picture().unwrap();
    assert_eq!(picture, Picture::of(|_, y| y >= 16), "48 rows are driven");
}

#[test]
fn a_glass_with_other_pins_than_were_set_shows_its_rows_in_disorder() {
    let mut controller = upright(Chip::Ssd1309);
    controller.data(0x06);
    send(&mut controller, &[0xDA, 0x02]);
    assert_eq!(lit(&controller).len(), 2);
    assert_ne!(lit(&controller), [(0, 1), (0, 2)]);
    send(&mut controller, &[0xDA, 0x32]);
    assert_eq!(lit(&controller), [(0, 0), (0, 3)], "neighbours are swapped");
    send(&mut controller, &[0xDA, 0x12]);
    assert_eq!(lit(&controller), [(0, 1), (0, 2)]);
}

#[test]
fn inverse_all_on_and_off() {
    for chip in CHIPS {
        let mut controller = upright(chip);
        controller.data(0x01);
        send(&mut controller, &[0xA7]);
        assert_eq!(controller.picture(), Some(Picture::of(|x, y| (x, y) != (0, 0))), "{chip}");
        send(&mut controller, &[0xA5]);
        assert_eq!(controller.picture(), Some(Picture::of(|_, _| true)), "{chip}");
        send(&mut controller, &[0xA4, 0xA6]);
        assert_eq!(lit(&controller), [(0, 0)], "{chip}");
        assert_eq!(controller.status(), 0);
        send(&mut controller, &[0xAE]);
        assert_eq!((controller.picture(), controller.status()), (None, 0x40), "{chip}");
    }
}

#[test]
fn without_voltage_there_is_no_light() {
    for (chip, off, on) in
        [(Chip::Ssd1306, [0x8D, 0x10], [0x8D, 0x14]), (Chip::Sh1106, [0xAD, 0x8A], [0xAD, 0x8B])]
    {
        let mut controller = upright(chip);
        send(&mut controller, &[0xAE]);
        send(&mut controller, &off);
        send(&mut controller, &[0xAF]);
        assert_eq!(controller.picture(), None, "{chip}");
        send(&mut controller, &[0xAE]);
        send(&mut controller, &on);
        send(&mut controller, &[0xAF]);
        assert!(controller.picture().is_some(), "{chip}");
        assert_eq!(controller.wrongs(), 0);
    }
}

#[test]
fn page_addressing_stays_in_its_page_and_an_sh1106_stops_behind_its_last_column() {
    for chip in [Chip::Ssd1306, Chip::Ssd1309] {
        let mut controller = upright(chip);
        send(&mut controller, &[0x0F, 0x17]);
        controller.data(0x01);
        controller.data(0x01);
        assert_eq!(lit(&controller), [(0, 0), (127, 0)]);
    }
    let mut controller = upright(Chip::Sh1106);
    send(&mut controller, &[0x03, 0x18]);
    controller.data(0x01);
    controller.data(0x01);
    assert_eq!(lit(&controller), [], "column 131 is behind the glass");
    assert_eq!(controller.take_wrongs(), ["data 01 at column 132: the last is 131"]);
}

#[test]
fn horizontal_and_vertical_addressing_keep_to_their_window() {
    let window = [0x21, 5, 6, 0x22, 2, 3];
    for (mode, third) in [(0x00, (5, 24)), (0x01, (6, 16))] {
        let mut controller = upright(Chip::Ssd1306);
        send(&mut controller, &[0x20, mode]);
        send(&mut controller, &window);
        (0..3).for_each(|_| controller.data(0x01));
        let second = if mode == 0 { (6, 16) } else { (5, 24) };
        let mut right = [(5, 16), second, third];
        right.sort_by_key(|(x, y)| (*y, *x));
        assert_eq!(lit(&controller), right);
        controller.data(0x01);
        controller.data(0x03);
        assert_eq!(lit(&controller).len(), 5, "the fifth is over the first");
        assert!(lit(&controller).contains(&(5, 17)));
    }
}

#[test]
fn read_modify_write_goes_back_to_its_column() {
    let mut controller = upright(Chip::Sh1106);
    send(&mut controller, &[0xE0]);
    controller.data(0x01);
    controller.data(0x01);
    send(&mut controller, &[0xEE]);
    controller.data(0x02);
    assert_eq!(lit(&controller), [(1, 0), (0, 1)]);
    send(&mut controller, &[0xEE]);
    assert_eq!(controller.take_wrongs(), ["command EE: no read-modify-write is going on"]);
}

#[test]
fn what_is_of_no_use_to_a_picture_is_taken_as_well() {
    let common = [0x81, 0x10, 0xD5, 0x80, 0xD9, 0xF1, 0xE3];
    let ssd = [0x26, 0, 0, 0, 7, 0, 0xFF, 0x29, 0, 1, 2, 3, 9, 0xA3, 0, 64, 0x2F, 0x2E];
    for (chip, own) in [
        (Chip::Ssd1306, [&ssd[..], &[0xDB, 0x30]].concat()),
        (Chip::Ssd1309, [&ssd[..], &[0xDB, 0x34, 0xDC, 0x03, 0xFD, 0x12]].concat()),
        (Chip::Sh1106, vec![0x30, 0x33, 0xDB, 0x77, 0xC7, 0xCF]),
    ] {
        let mut controller = upright(chip);
        send(&mut controller, &common);
        send(&mut controller, &own);
        assert_eq!(controller.take_wrongs(), [""; 0], "{chip}");
        assert_eq!((controller.contrast(), controller.charge()), (0x10, 0xF1));
    }
}

#[test]
fn scrolling_is_switched_on_and_off() {
    let mut controller = upright(Chip::Ssd1306);
    send(&mut controller, &[0x2F]);
    assert!(controller.is_scrolling());
    send(&mut controller, &[0x2E]);
    assert!(!controller.is_scrolling());
}

#[test]
fn a_locked_ssd1309_takes_nothing_but_its_key() {
    let mut controller = upright(Chip::Ssd1309);
    send(&mut controller, &[0xFD, 0x16, 0xAE, 0xFD, 0x12, 0xA5]);
    assert_eq!(controller.picture(), Some(Picture::of(|_, _| true)));
    assert_eq!(controller.take_wrongs(), ["command AE: it is locked"]);
}

#[test]
fn what_no_data_sheet_has_changes_nothing_and_is_told() {
    let ssd = Chip::Ssd1306;
    for (chip, octets, wrong) in [
        (ssd, &[0xAD][..], "AD: there is none"),
        (ssd, &[0xE0], "E0: there is none"),
        (ssd, &[0xC1], "C1: there is none"),
        (ssd, &[0x8D, 0x04], "8D 04: must be 10 or 14"),
        (ssd, &[0x20, 0x03], "20 03: must be 00, 01 or 02"),
        (ssd, &[0x21, 0, 127], "21 00 7F: only in horizontal and vertical addressing"),
        (ssd, &[0xA8, 14], "A8 0E: the ratio is out of range"),
        (ssd, &[0xD3, 64], "D3 40: the offset must be 00 to 3F"),
        (ssd, &[0xD9, 0x10], "D9 10: neither phase may be 0"),
        (ssd, &[0xDA, 0x10], "DA 10: there are no such pins"),
        (ssd, &[0xDB, 0x40], "DB 40: there is no such level"),
        (ssd, &[0x26, 1, 0, 0, 7, 0, 0xFF], "26 01 00 00 07 00 FF: no scrolling is set up so"),
        (Chip::Ssd1309, &[0x8D], "8D: there is none"),
        (Chip::Ssd1309, &[0xFD, 0], "FD 00: must be 12 or 16"),
        (Chip::Sh1106, &[0x20], "20: there is none"),
        (Chip::Sh1106, &[0x8D], "8D: there is none"),
        (Chip::Sh1106, &[0xAD, 0x8B], "AD 8B: the display must be off"),
        (Chip::Sh1106, &[0xDA, 0x22], "DA 22: there are no such pins"),
    ] {
        let mut controller = upright(chip);
        send(&mut controller, octets);
        assert_eq!(controller.take_wrongs(), [format!("command {wrong}")], "{chip}");
        controller.data(0x01);
        assert_eq!(lit(&controller), [(0, 0)], "{chip} after {wrong}");
    }
}

#[test]
fn windows_and_pointers_belong_to_their_addressing() {
    let mut controller = upright(Chip::Ssd1306);
    send(&mut controller, &[0x20, 0x00, 0xB3, 0x04, 0x21, 9, 3, 0x22, 0, 8]);
    let order = "first and last must be in order and there";
    let right = ["B3: only in page addressing".to_owned(), "04: only in page addressing".to_owned()];
    let right = right.into_iter().chain(["21 09 03", "22 00 08"].map(|what| format!("{what}: {order}")));
    let right: Vec<_> = right.map(|what| format!("command {what}")).collect();
    assert_eq!(controller.take_wrongs(), right);
}

#[test]
fn data_inside_a_command_ends_it() {
    let mut controller = upright(Chip::Sh1106);
    send(&mut controller, &[0xA8]);
    controller.data(0x01);
    assert_eq!(controller.take_wrongs(), ["data 01 inside command A8"]);
    assert_eq!(lit(&controller), [(0, 0)]);
}

#[test]
fn wrongs_are_counted_and_the_first_of_them_told() {
    let mut controller = upright(Chip::Sh1106);
    (0..100).for_each(|_| controller.command(0xFF));
    assert_eq!((controller.wrongs(), controller.take_wrongs().len()), (100, MOST_TOLD));
}

#[test]
fn chips_go_by_their_names() {
    assert!(CHIPS.into_iter().all(|chip| chip.to_string().parse() == Ok(chip)));
    assert_eq!("ssd1307".parse::<Chip>(), Err("ssd1306, ssd1309 or sh1106"));
}

proptest! {
    #[test]
    fn whatever_comes_it_shows_a_picture_or_none(
        chip in prop::sample::select(CHIPS.to_vec()),
        octets in prop::collection::vec((prop::bool::weighted(0.7), any::<u8>()), 0..400),
    ) {
        let mut controller = Controller::new(chip);
        for (is_command, octet) in octets {
            if is_command { controller.command(octet) } else { controller.data(octet) }
        }
        let wrongs = controller.wrongs();
        prop_assert!(controller.take_wrongs().len() as u64 <= wrongs);
        prop_assert!(controller.picture().is_none_or(|picture| (0..HEIGHT).all(|y| !picture.lit(WIDTH, y))));
    }

    #[test]
    fn any_picture_written_page_by_page_is_what_is_seen(rows in prop::array::uniform32(any::<u128>())) {
        for chip in CHIPS {
            let mut controller = upright(chip);
            let wanted = Picture::of(|x, y| rows[y / 2] >> x & 1 != 0);
            for page in 0..8 {
                send(&mut controller, &[0xB0 | page, first_column(chip), 0x10]);
                for x in 0..WIDTH {
                    let bits = (0..8).filter(|row| wanted.lit(x, usize::from(page) * 8 + row));
                    controller.data(bits.fold(0, |octet, row| octet | 1 << row));
                }
            }
            prop_assert_eq!(controller.picture(), Some(wanted));
            prop_assert_eq!(controller.wrongs(), 0);
        }
    }
}
