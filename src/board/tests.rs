//! Boards as a whole: snapshots, inheritance, what does not go together, and reading back what is shown.

use super::*;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with the given files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn load_in(folder: &tempfile::TempDir, name: &str) -> Result<Board, BoardError> {
    load(folder.path().join(name).to_str().unwrap())
}

/// The refusal of board `name`, with the folder's own path left out.
fn refusal(files: &[(&str, &str)], name: &str) -> String {
    let folder = folder(files);
    let line = load_in(&folder, name).unwrap_err().to_string();
    line.replace(&format!("{}/", folder.path().display()), "")
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/boards").join(format!("{name}.txt"))
}

#[test]
fn built_in_boards_resolve_as_recorded() {
    for (name, _) in builtin() {
        let found = format!("{:#?}\n", load(name).unwrap());
        let path = golden(name);
        if std::env::var_os("LINEGAUGE_BLESS").is_some_and(|value| value == "1") {
            fs::write(&path, &found).unwrap();
        }
        let recorded = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(found, recorded, "{}: LINEGAUGE_BLESS=1 records it anew", path.display());
    }
}

#[test]
fn every_file_of_the_board_folder_is_built_in() {
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("board")).unwrap();
    let mut files: Vec<_> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let mut names: Vec<_> = builtin().map(|(name, _)| name.to_owned()).collect();
    files.sort();
    names.sort();
    assert_eq!(files, names);
}

#[test]
fn the_default_board_is_a_gigabit_over_a_virtual_cable() {
    let board = load(DEFAULT).unwrap();
    assert_eq!(board.cable, CableKind::Virtual);
    assert_eq!(board.pace, Some(BitRate::from_mbps(1000)));
    assert_eq!(board.stream_ethertypes(), [0x88B5, 0x88B6]);
    assert_eq!(board.duration.judged(), Some(Duration::from_secs(10)));
}

#[test]
fn a_board_that_names_only_its_cable_has_the_defaults() {
    let folder = folder(&[("mine.toml", "cable = \"virtual\"")]);
    let board = load_in(&folder, "mine.toml").unwrap();
    assert_eq!(board.name, "mine");
    assert_eq!(board.ethertypes, DEFAULT_ETHERTYPES);
    assert_eq!((board.speed, board.pace, board.clock_khz), (None, None, None));
    assert_eq!((board.mtu, board.streams, board.tolerance_ppm), (9000, 2, 100));
    assert!(board.link_restart);
    assert!(!board.mac_checks_fcs);
}

#[test]
fn a_board_says_only_what_differs_from_the_one_it_inherits() {
    let folder = folder(&[
        ("slow.toml", "inherit = \"virtual\"\npace-mbps = 100"),
        ("sub/slower.toml", "inherit = \"../slow.toml\"\nstreams = 1"),
    ]);
    let board = load_in(&folder, "sub/slower.toml").unwrap();
    let expected = Board {
        name: "slower".to_owned(),
        pace: Some(BitRate::from_mbps(100)),
        streams: 1,
        ..load("virtual").unwrap()
    };
    assert_eq!(board, expected);
}

#[test]
fn a_serial_port_can_be_inherited_and_taken_away_but_never_what_a_box_is_known_by() {
    let files = [
        (
            "a.toml",
            "cable = \"virtual\"\nserial = \"/dev/ttyS0\"\nknown-by-dmi = \"Box\"\nknown-by-pci = [\"8086:10fb\"]",
        ),
        ("b.toml", "inherit = \"a.toml\"\nserial-flow = true\nserial-baud = 9600"),
        ("c.toml", "inherit = \"b.toml\"\nserial = \"none\""),
    ];
    let folder = folder(&files);
    let [a, b, c] = ["a.toml", "b.toml", "c.toml"].map(|name| load_in(&folder, name).unwrap());
    let at = |baud, flow| Some(SerialSettings { path: "/dev/ttyS0".into(), baud, flow });
    assert_eq!([a.serial, b.serial, c.serial], [at(115_200, false), at(9600, true), None]);
    assert!(!a.badge.is_empty() && b.badge.is_empty() && c.badge.is_empty());
}

#[test]
fn inheriting_in_a_circle_is_refused() {
    let files = [("a.toml", "inherit = \"./b.toml\""), ("b.toml", "inherit = \"a.toml\"")];
    assert_eq!(
        refusal(&files, "a.toml"),
        "board a.toml > ./b.toml > a.toml: inherit goes round or is too long; \
         a board inherits from at most 8 others in a row"
    );
    let round = [("a.toml", "inherit = \"x/../a.toml\""), ("x/y", "")];
    assert!(refusal(&round, "a.toml").contains("inherit goes round or is too long"));
}

#[test]
fn what_cannot_be_a_board_is_refused_in_one_line() {
    for (text, line) in [
        ("", "board my.toml: cable is missing; it is \"virtual\", \"emulated\" or \"ports\""),
        (
            "inherit = \"vitrual\"",
            "board my.toml: inherit = \"vitrual\" is not virtual, emulated, emulated-box, emulated-ssd1306, emulated-sh1106 or x520, \
             or a path with a / or ending in .toml",
        ),
        (
            "inherit = \"gone.toml\"",
            "board gone.toml: cannot be read: No such file or directory (os error 2)",
        ),
        (
            "inherit = \"virtual\"\nmix = \"64,9019\"",
            "board my.toml: mix = 64,9019: size 9019 is over the 9018 octets (FCS counted) that MTU 9000 carries",
        ),
        (
            "inherit = \"virtual\"\nmtu = 1500",
            "board my.toml: mix = jumbo: size 8192 is over the 1518 octets (FCS counted) that MTU 1500 carries",
        ),
        (
            "inherit = \"virtual\"\nethertypes = [0x88B5]",
            "board my.toml: streams = 2: each stream needs an ethertype of its own, and this board lists 1",
        ),
        (
            "inherit = \"x520\"\npace-mbps = 20000",
            "board my.toml: pace-mbps = 20000: 20.000 Gb/s is over this board's link speed of 10.000 Gb/s",
        ),
        (
            "inherit = \"x520\"\nport-b = \"0000:01:00.0\"",
            "board my.toml: port-b = 0000:01:00.0: the same as port-a; the two ends of the cable need two ports",
        ),
        (
            "inherit = \"x520\"\ncable = \"virtual\"",
            "board my.toml: port-a = 0000:01:00.0: only cable = \"ports\" has ports; this one is \"virtual\"",
        ),
    ] {
        assert_eq!(refusal(&[("my.toml", text)], "my.toml"), line);
    }
    let line = refusal(&[("my.toml", "cable = \"ports\"\nport-a = \"0000:01:00.0\"")], "my.toml");
    assert!(line.starts_with("board my.toml: port-b is missing; it is a PCI path like"), "{line}");
}

#[test]
fn a_clock_that_is_pinned_is_required_unless_the_board_says_otherwise() {
    for (text, required) in [("", true), ("clock-required = false", false), ("clock-khz = 1_600_000", true)] {
        let folder = folder(&[("my.toml", &format!("inherit = \"x520\"\n{text}"))]);
        assert_eq!(load_in(&folder, "my.toml").unwrap().clock_required, required, "{text}");
    }
    let board = load("x520").unwrap();
    assert_eq!((board.clock_proof, board.dma_latency_us), (ClockProof::Report, Some(10)));
    assert_eq!((board.watchdog.as_deref(), board.watchdog_timeout_s), (Some("/dev/watchdog0"), 30));
}

#[test]
fn host_settings_out_of_range_are_refused_in_one_line() {
    for (text, line) in [
        (
            "clock-required = true",
            "board my.toml: clock-required = true: there is no clock to hold without clock-khz",
        ),
        (
            "clock-proof = \"maybe\"",
            "board my.toml: clock-proof = \"maybe\" is not \"require\", \"report\" or \"off\"",
        ),
        (
            "dma-latency-us = -1",
            "board my.toml: dma-latency-us = -1 is not a whole number from 0 to 10000 (microseconds)",
        ),
        (
            "watchdog = \"watchdog0\"",
            "board my.toml: watchdog = \"watchdog0\" is not the path of a device, like \"/dev/watchdog0\"",
        ),
        (
            "watchdog-timeout-s = 1",
            "board my.toml: watchdog-timeout-s = 1 is not a whole number from 2 to 600 (seconds)",
        ),
    ] {
        let text = format!("inherit = \"virtual\"\n{text}");
        assert_eq!(refusal(&[("my.toml", &text)], "my.toml"), line);
    }
}

#[test]
fn a_wire_can_be_inherited_and_taken_away() {
    let files = [
        ("a.toml", "inherit = \"virtual\"\nlamp-pass = \"gpiochip0:1\"\nbutton-gpio = \"!gpiochip0:2\""),
        ("b.toml", "inherit = \"a.toml\"\nlamp-pass = \"none\"\nbeeper = \"gpiochip0:1\""),
    ];
    let folder = folder(&files);
    let wires = load_in(&folder, "b.toml").unwrap().wires;
    let wire = |line, active_low| Some(GpioWire { chip: "gpiochip0".to_owned(), line, active_low });
    let expected = Wires { button: wire(2, true), beeper: wire(1, false), ..Wires::default() };
    assert_eq!(wires, expected);
}

#[test]
fn a_wire_that_is_none_or_another_ones_is_refused_in_one_line() {
    for (text, line) in [
        (
            "button-gpio = \"17\"",
            "board my.toml: button-gpio = \"17\" is not \"none\" or a GPIO chip and a line of it, \
             like \"gpiochip0:17\", with ! before it where low is active",
        ),
        (
            "lamp-fail = 17",
            "board my.toml: lamp-fail = 17 is not \"none\" or a GPIO chip and a line of it, \
             like \"gpiochip0:17\", with ! before it where low is active",
        ),
        (
            "lamp-pass = \"gpiochip0:1\"\nlamp-busy = \"!gpiochip0:1\"",
            "board my.toml: lamp-busy = !gpiochip0:1: the same line as lamp-pass; each needs one of its own",
        ),
    ] {
        let text = format!("inherit = \"virtual\"\n{text}");
        assert_eq!(refusal(&[("my.toml", &text)], "my.toml"), line);
    }
}

#[test]
fn unreadable_files_are_refused_in_one_line() {
    let folder = folder(&[("sub/x", "")]);
    fs::write(folder.path().join("big.toml"), vec![b'#'; 10_000_000]).unwrap();
    fs::write(folder.path().join("latin.toml"), b"description = \"\xe9\"").unwrap();
    let line = |name| load_in(&folder, name).unwrap_err().to_string();
    assert!(line("big.toml").ends_with("big.toml: too large; a board file has at most 65536 octets"));
    assert!(line("latin.toml").ends_with("latin.toml: octet 15 is not UTF-8; a board file is UTF-8 text"));
    assert!(line("gone.toml").ends_with("gone.toml: cannot be read: No such file or directory (os error 2)"));
    assert!(line("sub").ends_with("sub: cannot be read: Is a directory (os error 21)"));
}

#[test]
fn a_name_that_is_no_board_is_refused_with_the_ones_there_are() {
    assert_eq!(
        load("vitrual\n").unwrap_err().to_string(),
        "board \"vitrual\\n\" is not virtual, emulated, emulated-box, emulated-ssd1306, emulated-sh1106 or x520, or a path with a / or ending in .toml"
    );
}

#[test]
fn another_software_cable_brings_its_own_ports() {
    let board = load("x520").unwrap().on_cable(CableKind::Emulated).unwrap();
    assert_eq!((board.cable, board.ports, board.speed), (CableKind::Emulated, None, None));
    assert_eq!((board.clock_khz, board.clock_required, board.dma_latency_us), (None, false, None));
    assert!(!board.link_restart);
    assert!(!board.mac_checks_fcs);
    assert_eq!(board.duration, DurationArg::Standard);
    let line = load("virtual").unwrap().on_cable(CableKind::Ports).unwrap_err().to_string();
    assert!(line.starts_with("board virtual: port-a is missing; it is a PCI path"), "{line}");
}

fn any_line() -> impl Strategy<Value = GpioLine> {
    (0..100_u8, any::<u32>()).prop_map(|(chip, line)| GpioLine { chip: format!("gpiochip{chip}"), line })
}

/// A display with settings that mean something to it.
fn any_display() -> impl Strategy<Value = (DisplayKind, DisplaySettings)> {
    let wiring = (0x08..=0x77_u8, 0..=4_u8, any_line(), prop::option::of(any_line()), 100..=100_000_u32);
    let look =
        ((128..=320_u16, 64..=240_u16), any::<[bool; 3]>(), any::<(u8, [[u8; 3]; 4])>(), 0..=86_400_u64);
    let kinds = "none framebuffer ssd1306 sh1106 ssd1306-spi ssd1309-spi sh1106-spi st7789 ili9341";
    let kinds: Vec<DisplayKind> = kinds.split(' ').map(|name| name.parse().unwrap()).collect();
    (prop::sample::select(kinds), "/[^\\p{Cc}]{1,79}", wiring, look).prop_map(|(kind, bus, wiring, look)| {
        let (address, column_offset, dc, reset, spi_khz) = wiring;
        let (size, [upside_down, inverted, mirrored], (contrast, colours), dim_after) = look;
        let mut settings = DisplaySettings::defaults(kind);
        if kind != DisplayKind::None {
            settings.dim_after = (dim_after > 0).then(|| Duration::from_secs(dim_after));
        }
        if kind.bus().is_some() {
            settings = DisplaySettings { bus: Some(bus), upside_down, inverted, ..settings };
        }
        match kind.bus() {
            Some(BusKind::I2c) => settings.address = address,
            Some(BusKind::Spi) => settings = DisplaySettings { dc: Some(dc), reset, spi_khz, ..settings },
            None => {}
        }
        if kind.is_tft() {
            (settings.size, settings.mirrored) = (size, mirrored);
        }
        if kind.is_tft() || kind == DisplayKind::Framebuffer {
            settings.colours = colours;
        }
        if kind.is_oled() {
            settings.contrast = contrast;
        }
        if matches!(kind, DisplayKind::Sh1106 | DisplayKind::Sh1106Spi) {
            settings.column_offset = column_offset;
        }
        (kind, settings)
    })
}

#[test]
fn a_display_says_how_it_is_wired_and_nothing_that_means_nothing_to_it() {
    for (text, line) in [
        (
            "display = \"sh1106\"",
            "display = sh1106: it needs display-bus, which is the path of a device like \"/dev/i2c-1\" or \
             \"/dev/spidev0.0\", or the name of an I2C adapter, at most 80 characters",
        ),
        (
            "display = \"st7789\"\ndisplay-bus = \"/dev/spidev0.0\"",
            "display = st7789: it needs display-dc, which is a GPIO chip and a line of it, like \"gpiochip0:25\"",
        ),
        (
            "display = \"ssd1306-spi\"\ndisplay-bus = \"SMBus I801\"\ndisplay-dc = \"gpiochip0:25\"",
            "display-bus = \"SMBus I801\": ssd1306-spi is on SPI, of which the bus is a path like \"/dev/spidev0.0\"",
        ),
        (
            "display = \"ssd1306\"\ndisplay-bus = \"/dev/i2c-1\"\ndisplay-column-offset = 2",
            "display-column-offset = 2: it is for display = sh1106 or sh1106-spi; this one is ssd1306",
        ),
        (
            "display = \"framebuffer\"\ndisplay-address = 0x3D",
            "display-address = 0x3D: it is for display = ssd1306 or sh1106; this one is framebuffer",
        ),
        (
            "display = \"ssd1306\"\ndisplay-bus = \"/dev/i2c-1\"\ndisplay-size = \"320x240\"",
            "display-size = \"320x240\": it is for display = st7789 or ili9341; this one is ssd1306",
        ),
        (
            "display = \"st7789\"\ndisplay-size = \"640x480\"",
            "display-size = \"640x480\" is not width x height in pixels like \"320x240\", from 128x64 to 240x320 or 320x240",
        ),
    ] {
        let text = format!("inherit = \"virtual\"\n{text}");
        assert_eq!(refusal(&[("my.toml", &text)], "my.toml"), format!("board my.toml: {line}"));
    }
}

#[test]
fn a_display_can_be_inherited_and_taken_away() {
    let files = [
        (
            "a.toml",
            "cable = \"virtual\"\ndisplay = \"sh1106\"\ndisplay-bus = \"SMBus I801\"\ndisplay-contrast = 9",
        ),
        ("b.toml", "inherit = \"a.toml\"\ndisplay-column-offset = 0\ndisplay-dim-after-s = 0"),
        ("c.toml", "inherit = \"b.toml\"\ndisplay = \"none\""),
    ];
    let folder = folder(&files);
    let [b, c] = ["b.toml", "c.toml"].map(|name| load_in(&folder, name).unwrap());
    let expected = DisplaySettings {
        bus: Some("SMBus I801".to_owned()),
        column_offset: 0,
        contrast: 9,
        dim_after: None,
        ..DisplaySettings::defaults(DisplayKind::Sh1106)
    };
    assert_eq!((b.display, b.display_settings), (DisplayKind::Sh1106, expected));
    assert_eq!(c.display_settings, DisplaySettings::defaults(DisplayKind::None));
}

fn any_serial() -> impl Strategy<Value = SerialSettings> {
    ("/[a-zA-Z0-9 \"\\\\-]{1,20}", 1200..=4_000_000_u32, any::<bool>())
        .prop_map(|(path, baud, flow)| SerialSettings { path: path.into(), baud, flow })
}

fn any_records(serial: Option<&SerialSettings>) -> impl Strategy<Value = RecordsTo> + use<> {
    let shared = if serial.is_some() { RecordsTo::Log } else { RecordsTo::None };
    // A port of another name than any of the log's.
    let own = ("/[a-z \"\\\\-]{1,20}_", 1200..=4_000_000_u32)
        .prop_map(|(path, baud)| RecordsTo::Port(SerialSettings { path: path.into(), baud, flow: false }));
    prop_oneof![Just(RecordsTo::None), Just(shared), own]
}

fn any_lines() -> impl Strategy<Value = (Option<SerialSettings>, RecordsTo)> {
    prop::option::of(any_serial()).prop_flat_map(|serial| {
        let records = any_records(serial.as_ref());
        (Just(serial), records)
    })
}

fn any_history() -> impl Strategy<Value = HistoryIn> {
    "none|stick|/[^\\p{Cc}]{1,80}".prop_map(|text| text.parse().unwrap())
}

fn any_button() -> impl Strategy<Value = ButtonKind> {
    "none|power|[^\\p{Cc}]{1,80}".prop_map(|text| text.parse().unwrap())
}

fn any_wires() -> impl Strategy<Value = Wires> {
    let chip = "gpiochip[0-9]{1,3}|/dev/[a-z]{1,9}|[a-zA-Z][a-z.:\"\\\\-]{0,30}";
    let wire = || prop::option::of((chip, any::<u32>(), any::<bool>()));
    [wire(), wire(), wire(), wire(), wire()].prop_map(|wires| {
        // Chips of different names, so that no line is two things.
        let mut number = 0;
        let [button, pass, fail, busy, beeper] = wires.map(|wire| {
            number += 1;
            wire.map(|(chip, line, active_low)| GpioWire {
                chip: format!("{chip}{number}"),
                line,
                active_low,
            })
        });
        Wires { button, pass, fail, busy, beeper }
    })
}

fn any_badge() -> impl Strategy<Value = Badge> {
    let id = (any::<u16>(), any::<u16>()).prop_map(|(vendor, device)| PciId { vendor, device });
    (prop::option::of("[^\\p{Cc}]{1,80}"), prop::collection::vec(id, 0..=16))
        .prop_map(|(dmi, pci)| Badge { dmi, pci })
}

/// A board that differs from a built-in one in everything that can differ without a conflict.
fn any_board() -> impl Strategy<Value = Board> {
    let base = prop::sample::select(builtin().map(|(name, _)| load(name).unwrap()).collect::<Vec<_>>());
    let numbers = (1..=7_u8, 1..=10_000_u64, 8174..=9198_u16, 0..=10_000_u64);
    let times = (0..=600_000_u64, 0.1..2_592_000.0);
    let flags = (any::<bool>(), any::<bool>(), prop::option::of(100_000..=10_000_000_u32), any::<bool>());
    let host = (
        prop::sample::select(vec![ClockProof::Require, ClockProof::Report, ClockProof::Off]),
        prop::option::of(0..=10_000_u16),
        prop::option::of("/[^\\p{Cc}]{0,99}"),
        2..=600_u16,
    );
    let desk = (any_display(), any_lines(), any_history(), any_button(), any_wires(), any_badge());
    ("[^\\p{Cc}]{0,100}", base, numbers, times, flags, (host, desk)).prop_map(
        |(description, base, numbers, times, flags, (host, desk))| {
            let (clock_proof, dma_latency_us, watchdog, watchdog_timeout_s) = host;
            let (streams, pace, mtu, tolerance_ppm) = numbers;
            let (link_restart, mac_checks_fcs, clock_khz, clock_required) = flags;
            let ((display, display_settings), (serial, records), history, button, wires, badge) = desk;
            Board {
                description,
                streams,
                pace: Some(BitRate::from_mbps(pace)),
                mtu,
                tolerance_ppm,
                settle: Duration::from_millis(times.0),
                duration: DurationArg::Seconds(times.1),
                link_restart,
                mac_checks_fcs,
                clock_khz,
                clock_proof,
                dma_latency_us: dma_latency_us.or(base.dma_latency_us),
                watchdog,
                watchdog_timeout_s,
                clock_required: clock_required && clock_khz.is_some(),
                display,
                display_settings,
                serial,
                records,
                history,
                button,
                wires,
                badge,
                ..base
            }
        },
    )
}

#[test]
fn a_board_that_is_no_plain_file_keeps_nobody_waiting() {
    let folder = folder(&[]);
    let pipe = folder.path().join("pipe.toml");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRUSR | nix::sys::stat::Mode::S_IWUSR).unwrap();
    let error = load(pipe.to_str().unwrap()).unwrap_err().to_string();
    assert!(error.ends_with("cannot be read: it is no plain file"), "{error}");
}

proptest! {
    #[test]
    fn a_board_as_shown_reads_back_as_the_same_board(board in any_board()) {
        let file = format!("{}.toml", board.name);
        let folder = folder(&[(&file, &board.to_string())]);
        prop_assert_eq!(load_in(&folder, &file).unwrap(), board);
    }

    #[test]
    fn any_name_is_a_board_or_one_clear_line(name in any::<String>()) {
        if let Err(error) = load(&name) {
            let line = error.to_string();
            prop_assert!(line.starts_with("board "), "{line:?}");
            prop_assert!(!line.chars().any(char::is_control), "{line:?}");
        }
    }
}
