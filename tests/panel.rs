//! Every page of the display, pixel by pixel, at the smallest size and a larger one.
//!
//! `LINEGAUGE_BLESS=1 cargo test --test panel` draws the pictures in `tests/golden` anew. Look at
//! each of them before it is committed.

use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::Rectangle;
use linegauge::panel::canvas::Canvas;
use linegauge::panel::{draw, png};
use measure::record::{Classes, text};
use measure::screen::Screen;
use measure::ticket::{Outcome, Ticket};
use measure::units::BitRate;
use measure::verdict::Verdict;
use proptest::prelude::*;
use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const SIZES: [(u16, u16); 2] = [(128, 64), (320, 240)];
const VERDICTS: [Verdict; 4] = [Verdict::Pass, Verdict::Fail, Verdict::Marginal, Verdict::Invalid];

fn gbps(giga: f64) -> Option<BitRate> {
    BitRate::of(1_000_000_000, Duration::from_secs_f64(8.0 / giga))
}

fn classes(lost: u64, corrupt: u64, link: u64, internal: u64) -> Classes {
    Classes { lost, corrupt, link, internal }
}

fn plug(last: Option<(Verdict, u32)>, hint: &str) -> Screen {
    Screen::PlugCable { last, hint: text(hint) }
}

fn running() -> Screen {
    Screen::Running {
        rates: [gbps(9.998), gbps(10.0)],
        progress: 137,
        errors: Classes::default(),
        left: Some(Duration::from_secs(83)),
        failed: false,
        settling: false,
    }
}

fn verdict(verdict: Verdict, reason: &str, run: u32) -> Screen {
    Screen::Verdict { verdict, reason: text(reason), run, unsaved: false }
}

/// A verdict's page of a run that could not be kept.
fn unsaved(page: Screen) -> Screen {
    let Screen::Verdict { verdict, reason, run, .. } = page else { unreachable!() };
    Screen::Verdict { verdict, reason, run, unsaved: true }
}

/// The verdict page of each verdict, with a reason as a run would give it.
fn verdict_page(of: Verdict) -> Screen {
    match of {
        Verdict::Pass => verdict(of, "no errors in 96 s", 12),
        Verdict::Fail => verdict(of, "A>B lost 17 of 73012345", 13),
        Verdict::Marginal => verdict(of, "port A pair C SNR margin 0.4 dB, limit 1.0", 1014),
        Verdict::Invalid => verdict(of, "a switch is in the path", 4_294_967_295),
    }
}

fn figures(
    verdict: Verdict,
    rates: [Option<BitRate>; 2],
    errors: Classes,
    bounds: [Option<f64>; 2],
) -> Screen {
    Screen::Figures { verdict, run: 12, rates, errors, bounds }
}

/// The page with the code of a run's result.
fn qr(verdict: Verdict, run: u32, label: &str, errors: Classes) -> Screen {
    let ticket = Ticket::new(&Outcome {
        verdict,
        run,
        box_id: "bench-2",
        label,
        rates: [gbps(9.9999), gbps(9.871)],
        errors,
        bounds: [Some(2.99e-13), Some(1.2e-9)],
    });
    Screen::Qr { verdict, run, ticket }
}

/// Every page with a name for its picture.
fn pages() -> Vec<(&'static str, Screen)> {
    let fast = Some(BitRate::from_bits_per_second(u64::MAX));
    let many = classes(u64::MAX, 12_345_678, 99_999, 100_000);
    let clean = Classes::default();
    vec![
        ("plug-first", plug(None, "port B has no link")),
        ("plug-pass", plug(Some((Verdict::Pass, 12)), "ports A and B have no link")),
        ("plug-fail", plug(Some((Verdict::Fail, 13)), "unplug the cable, then plug in the next one")),
        ("plug-marginal", plug(Some((Verdict::Marginal, 1014)), "port A has no link")),
        ("plug-invalid", plug(Some((Verdict::Invalid, u32::MAX)), "")),
        ("checking-settings", Screen::Checking { what: "settings" }),
        ("checking-loop", Screen::Checking { what: "loop" }),
        ("running", running()),
        (
            "running-settling",
            Screen::Running {
                rates: [gbps(0.9997), None],
                progress: 4,
                errors: clean,
                left: Some(Duration::from_secs(101)),
                failed: false,
                settling: true,
            },
        ),
        (
            "running-failed",
            Screen::Running {
                rates: [gbps(9.871), gbps(9.9995)],
                progress: 640,
                errors: classes(17, 3, 0, 0),
                left: Some(Duration::from_secs(36)),
                failed: true,
                settling: false,
            },
        ),
        (
            "running-unknown",
            Screen::Running {
                rates: [None, None],
                progress: 0,
                errors: clean,
                left: None,
                failed: false,
                settling: true,
            },
        ),
        (
            "running-huge",
            Screen::Running {
                rates: [fast, gbps(100.0)],
                progress: u16::MAX,
                errors: many,
                left: Some(Duration::MAX),
                failed: true,
                settling: true,
            },
        ),
        ("verdict-pass", verdict_page(Verdict::Pass)),
        ("verdict-fail", verdict_page(Verdict::Fail)),
        ("verdict-marginal", verdict_page(Verdict::Marginal)),
        ("verdict-invalid", verdict_page(Verdict::Invalid)),
        ("verdict-short", verdict(Verdict::Fail, "no link", 7)),
        ("verdict-unsaved", unsaved(verdict(Verdict::Pass, "no errors at 1.0 of 10.0 Gb/s", 12))),
        ("verdict-unsaved-fail", unsaved(verdict(Verdict::Fail, "A>B lost 17", u32::MAX))),
        (
            "verdict-long",
            verdict(Verdict::Invalid, "A frame of 52:54:00:12:34:56, ethertype 0x88cc, port A", 99_999),
        ),
        (
            "figures-pass",
            figures(Verdict::Pass, [gbps(9.9999), gbps(9.9998)], clean, [Some(2.99e-13), Some(3.01e-13)]),
        ),
        (
            "figures-fail",
            figures(
                Verdict::Fail,
                [gbps(9.87), gbps(10.0)],
                classes(17, 5, 1, 0),
                [Some(1.2e-9), Some(3e-12)],
            ),
        ),
        ("figures-unknown", figures(Verdict::Invalid, [None, None], clean, [None, Some(f64::NAN)])),
        ("figures-huge", figures(Verdict::Marginal, [fast, fast], many, [Some(f64::MAX), Some(5e-324)])),
        ("qr-pass", qr(Verdict::Pass, 12, "", clean)),
        ("qr-fail", qr(Verdict::Fail, 13, "rack 4 / cable 0042", classes(17, 5, 1, 0))),
        ("qr-marginal", qr(Verdict::Marginal, 1014, "a name as long as there is no room for at all", clean)),
        ("qr-invalid", qr(Verdict::Invalid, u32::MAX, "C-7", many)),
        ("fault", Screen::Fault { text: text("ports 0000:03:00.0 and .1 are not there") }),
        ("fault-short", Screen::Fault { text: text("no network ports") }),
    ]
}

fn drawn(screen: &Screen, (width, height): (u16, u16)) -> Canvas {
    let mut canvas = Canvas::new(width, height);
    draw(&mut canvas, screen).unwrap();
    canvas
}

fn golden_path(name: &str, (width, height): (u16, u16)) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}-{width}x{height}.png"))
}

/// The picture in a 1-bit grey PNG.
fn decoded(file: &Path) -> Canvas {
    let file = fs::File::open(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut reader = ::png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("a PNG file");
    let mut octets = vec![0; reader.output_buffer_size().expect("a small picture")];
    let info = reader.next_frame(&mut octets).expect("a whole picture");
    assert_eq!((info.color_type, info.bit_depth), (::png::ColorType::Grayscale, ::png::BitDepth::One));
    let [width, height] = [info.width, info.height].map(|side| u16::try_from(side).expect("a small picture"));
    let mut canvas = Canvas::new(width, height);
    for (row, y) in octets.chunks(info.line_size).zip(0..) {
        (0..width).for_each(|x| canvas.set(x, y, row[usize::from(x / 8)] & (0x80 >> (x % 8)) != 0));
    }
    canvas
}

#[test]
fn every_page_looks_like_its_picture() {
    let bless = std::env::var_os("LINEGAUGE_BLESS").is_some_and(|value| value == "1");
    for (name, screen) in pages() {
        for size in SIZES {
            let (canvas, path) = (drawn(&screen, size), golden_path(name, size));
            if bless {
                fs::write(&path, png::encode(&canvas, 1)).unwrap();
            }
            assert!(canvas == decoded(&path), "{} shows another picture", path.display());
        }
    }
}

/// What a reader of codes reads from the pixels, lit ones light.
fn read_code(canvas: &Canvas) -> String {
    let (width, height) = (usize::from(canvas.width()), usize::from(canvas.height()));
    let side = |pixel: usize| u16::try_from(pixel).expect("a pixel of the canvas");
    let dark = |x, y| !canvas.lit(side(x), side(y));
    let mut image = rqrr::PreparedImage::prepare_from_bitmap(width, height, dark);
    let codes = image.detect_grids();
    assert_eq!(codes.len(), 1, "codes found at {width} x {height}");
    codes[0].decode().unwrap_or_else(|error| panic!("at {width} x {height}: {error}")).1
}

#[test]
fn a_code_is_read_back_from_its_pixels_at_every_size() {
    let sizes = [(128, 64), (240, 240), (240, 320), (320, 240), (640, 480), (1280, 800), (161, 97)];
    let codes = pages().into_iter().filter_map(|(_, screen)| match &screen {
        Screen::Qr { ticket, .. } => Some((ticket.as_str().to_owned(), screen)),
        _ => None,
    });
    for (text, screen) in codes {
        for size in sizes {
            assert_eq!(read_code(&drawn(&screen, size)), text);
        }
    }
}

#[test]
fn the_readme_shows_a_code_as_it_is() {
    let screen = qr(Verdict::Fail, 13, "rack 4 / cable 0042", classes(17, 5, 1, 0));
    let text = read_code(&drawn(&screen, (320, 240)));
    assert!(include_str!("../README.md").contains(&text), "README.md lacks {text}");
}

#[test]
fn a_code_is_read_back_while_the_picture_rests() {
    let screen = qr(Verdict::Fail, 13, "rack 4 / cable 0042", classes(17, 5, 1, 0));
    for (right, down) in [(1, 0), (1, 1), (0, 1)] {
        let text = read_code(&drawn(&screen, (128, 64)).moved(right, down));
        assert!(text.starts_with("LG1F:13:BENCH-2:RACK 4 / CABLE 0042:"), "{text}");
    }
}

#[test]
fn every_picture_belongs_to_a_page() {
    let expected: Vec<PathBuf> =
        pages().iter().flat_map(|(name, _)| SIZES.map(|size| golden_path(name, size))).collect();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")).unwrap() {
        let path = entry.unwrap().path();
        let is_picture = path.extension().is_some_and(|ending| ending == "png");
        assert!(!is_picture || expected.contains(&path), "{} is no page's", path.display());
    }
}

/// Rows of the longest unbroken upright line of `lit` pixels in column `x`.
fn longest_upright(canvas: &Canvas, x: u16, lit: bool) -> usize {
    let column: Vec<bool> = (0..canvas.height()).map(|y| canvas.lit(x, y) == lit).collect();
    column.split(|inked| !inked).map(<[bool]>::len).max().unwrap_or(0)
}

#[test]
fn letters_of_the_verdict_are_at_least_40_of_64_pixels_high() {
    for verdict in VERDICTS {
        for (width, height) in SIZES {
            let canvas = drawn(&verdict_page(verdict), (width, height));
            let (frame, ink) = (width / 20, verdict != Verdict::Fail);
            let stem = (frame..width - frame).map(|x| longest_upright(&canvas, x, ink)).max().unwrap();
            assert!(stem * 64 >= 40 * usize::from(height), "{verdict:?} {stem} of {height}");
            assert!(stem <= usize::from(height) * 3 / 4, "{verdict:?} {stem} of {height}");
        }
    }
}

#[test]
fn the_word_keeps_clear_of_what_is_around_it() {
    // Columns and rows between frame and word, on both sides: of one colour all along.
    for (verdict, lit, gaps) in [
        (Verdict::Pass, false, [2, 125]),
        (Verdict::Fail, true, [1, 126]),
        (Verdict::Marginal, false, [2, 125]),
        (Verdict::Invalid, false, [11, 116]),
    ] {
        let canvas = drawn(&verdict_page(verdict), (128, 64));
        for x in gaps {
            assert!((3..43).all(|y| canvas.lit(x, y) == lit), "{verdict:?} column {x}");
        }
        for y in [2, 43] {
            assert!((12..116).all(|x| canvas.lit(x, y) == lit), "{verdict:?} row {y}");
        }
    }
}

/// What is around the word: the lit pixels of the page's edge, in order, as far as the word goes.
fn edge(verdict: Verdict) -> Vec<bool> {
    let canvas = drawn(&verdict_page(verdict), (128, 64));
    let top = (0..128).map(|x| canvas.lit(x, 0));
    top.chain((0..46).map(|y| canvas.lit(127, y))).collect()
}

#[test]
fn verdicts_differ_in_shape_and_not_only_in_word() {
    let share = |verdict| edge(verdict).iter().filter(|lit| **lit).count() * 100 / 174;
    let changes = |verdict| edge(verdict).windows(2).filter(|pair| pair[0] != pair[1]).count();
    // Framed and solid are lit all along, the one dark and the other lit inside.
    let [pass, fail, marginal, invalid] = VERDICTS.map(share);
    assert_eq!((pass, fail), (100, 100));
    assert!((50..90).contains(&marginal) && invalid < 40, "{marginal} {invalid}");
    assert_eq!(VERDICTS.map(|verdict| changes(verdict) > 10), [false, false, true, true]);
    let lit = VERDICTS.map(|verdict| drawn(&verdict_page(verdict), (128, 46)).lit_count());
    assert!(lit[1] > 3 * lit[0] / 2 && lit[0] != lit[2] && lit[2] != lit[3], "{lit:?}");
}

#[test]
fn a_failure_shows_at_once_and_whatever_else_is_going_on() {
    let page = |failed, settling| {
        let Screen::Running { rates, progress, errors, left, .. } = running() else { unreachable!() };
        drawn(&Screen::Running { rates, progress, errors, left, failed, settling }, (128, 64))
    };
    assert_eq!(page(true, true), page(true, false));
    assert!(page(true, false).lit_count() > page(false, false).lit_count() + 500);
    assert_ne!(page(false, true), page(false, false));
}

#[test]
fn an_unknown_rate_does_not_look_like_zero() {
    let page = |rate| {
        let Screen::Running { progress, errors, left, failed, settling, .. } = running() else {
            unreachable!()
        };
        drawn(&Screen::Running { rates: [rate, rate], progress, errors, left, failed, settling }, (128, 64))
    };
    assert_ne!(page(None), page(Some(BitRate::default())));
}

/// A target that remembers whether anything was drawn outside it.
struct Strict {
    bounds: Rectangle,
    outside: Option<Point>,
}

impl Dimensions for Strict {
    fn bounding_box(&self) -> Rectangle {
        self.bounds
    }
}

impl DrawTarget for Strict {
    type Color = BinaryColor;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<BinaryColor>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        let outside = pixels.into_iter().map(|pixel| pixel.0).find(|at| !self.bounds.contains(*at));
        self.outside = self.outside.or(outside);
        Ok(())
    }
}

fn any_rate() -> impl Strategy<Value = Option<BitRate>> {
    prop::option::of(
        prop_oneof![any::<u64>(), 0..20_000_000_000u64, Just(u64::MAX)]
            .prop_map(BitRate::from_bits_per_second),
    )
}

fn any_classes() -> impl Strategy<Value = Classes> {
    let count = || prop_oneof![Just(0), Just(u64::MAX), any::<u64>(), 0..200_000u64];
    (count(), count(), count(), count())
        .prop_map(|(lost, corrupt, link, internal)| classes(lost, corrupt, link, internal))
}

fn any_verdict() -> impl Strategy<Value = Verdict> {
    prop::sample::select(VERDICTS.to_vec())
}

fn any_screen() -> impl Strategy<Value = Screen> {
    let words = || "(?s).{0,60}";
    let whats = vec![
        "",
        "settings",
        "loop",
        "a check of which the name is much longer than any display is wide, at any size",
    ];
    prop_oneof![
        (prop::option::of((any_verdict(), any::<u32>())), words()).prop_map(|(last, hint)| plug(last, &hint)),
        prop::sample::select(whats).prop_map(|what| Screen::Checking { what }),
        (
            [any_rate(), any_rate()],
            any::<u16>(),
            any_classes(),
            prop::option::of(any::<Duration>()),
            any::<[bool; 2]>()
        )
            .prop_map(|(rates, progress, errors, left, [failed, settling])| Screen::Running {
                rates,
                progress,
                errors,
                left,
                failed,
                settling
            }),
        (any_verdict(), words(), any::<u32>()).prop_map(|(word, reason, run)| verdict(word, &reason, run)),
        (any_verdict(), words(), any::<u32>())
            .prop_map(|(word, reason, run)| unsaved(verdict(word, &reason, run))),
        (any_verdict(), any::<u32>(), [any_rate(), any_rate()], any_classes(), any::<[Option<f64>; 2]>())
            .prop_map(|(verdict, run, rates, errors, bounds)| Screen::Figures {
                verdict,
                run,
                rates,
                errors,
                bounds
            }),
        words().prop_map(|why| Screen::Fault { text: text(&why) }),
        (any_verdict(), any::<u32>(), "\\PC{0,60}", any_classes())
            .prop_map(|(verdict, run, label, errors)| qr(verdict, run, &label, errors)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_is_drawn_outside_the_target(screen in any_screen(), width in 0..400u32, height in 0..300u32) {
        for size in [Size::new(width, height), Size::new(128, 64)] {
            let mut target = Strict { bounds: Rectangle::new(Point::new(-7, 9), size), outside: None };
            draw(&mut target, &screen).unwrap();
            prop_assert_eq!(target.outside, None);
        }
    }
}

#[test]
fn a_target_in_colour_takes_the_same_pages() {
    use embedded_graphics::pixelcolor::Rgb565;
    struct Colours(Vec<Rgb565>);
    impl OriginDimensions for Colours {
        fn size(&self) -> Size {
            Size::new(128, 64)
        }
    }
    impl DrawTarget for Colours {
        type Color = Rgb565;
        type Error = Infallible;
        fn draw_iter<I: IntoIterator<Item = Pixel<Rgb565>>>(&mut self, pixels: I) -> Result<(), Infallible> {
            for Pixel(at, colour) in pixels {
                self.0[usize::try_from(at.y * 128 + at.x).unwrap()] = colour;
            }
            Ok(())
        }
    }
    let mut colours = Colours(vec![Rgb565::RED; 128 * 64]);
    draw(&mut colours.color_converted(), &running()).unwrap();
    let lit = colours.0.iter().filter(|colour| **colour == Rgb565::WHITE).count();
    assert_eq!(u32::try_from(lit).unwrap(), drawn(&running(), (128, 64)).lit_count());
    assert!(!colours.0.contains(&Rgb565::RED));
}
