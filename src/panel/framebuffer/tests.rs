//! A framebuffer in memory, of any geometry: pixels exact, nothing outside, nothing that has not changed.

use super::*;
use proptest::prelude::*;

/// What memory holds before anything is written.
const UNTOUCHED: u8 = 0xA5;

/// A framebuffer in memory that keeps account of what is written and can fail.
#[derive(Default)]
struct Model {
    octets: Vec<u8>,
    written: usize,
    broken: bool,
}

impl Memory for &mut Model {
    fn write_at(&mut self, offset: usize, octets: &[u8]) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        self.octets[offset..offset + octets.len()].copy_from_slice(octets);
        self.written += octets.len();
        Ok(())
    }
}

const fn channel(offset: u32, length: u32) -> Bitfield {
    Bitfield { offset, length, msb_right: 0 }
}

const NO_CHANNEL: Bitfield = channel(0, 0);

/// Red, green, blue and opacity as vesafb, efifb and simplefb have them.
fn format(bits: u32) -> [Bitfield; 4] {
    match bits {
        16 => [channel(11, 5), channel(5, 6), channel(0, 5), NO_CHANNEL],
        24 => [channel(16, 8), channel(8, 8), channel(0, 8), NO_CHANNEL],
        _ => [channel(16, 8), channel(8, 8), channel(0, 8), channel(24, 8)],
    }
}

/// A screen of `width` × `height` at `x`, `y` of its memory, with `spare` octets after each row of it.
fn screen(bits: u32, width: u32, height: u32, at: (u32, u32), spare: u32) -> (Variable, Fixed, Model) {
    let [red, green, blue, transp] = format(bits);
    let (xoffset, yoffset) = at;
    let variable = Variable {
        xres: width,
        yres: height,
        xoffset,
        yoffset,
        bits_per_pixel: bits,
        red,
        green,
        blue,
        transp,
        ..Variable::default()
    };
    let line_length = (xoffset + width) * bits / 8 + spare;
    let smem_len = line_length * (yoffset + height);
    let fixed = Fixed { smem_len, visual: 2, line_length, ..Fixed::default() };
    let octets = vec![UNTOUCHED; usize::try_from(smem_len).unwrap()];
    (variable, fixed, Model { octets, ..Model::default() })
}

/// A picture with a frame, a diagonal and nothing symmetric about it.
fn picture() -> Canvas {
    let mut canvas = Canvas::default();
    for x in 0..128 {
        canvas.set(x, 0, true);
        canvas.set(x, x / 2, true);
        canvas.set(x, 63, x % 3 == 0);
    }
    (0..64).for_each(|y| canvas.set(0, y, true));
    canvas
}

fn show(model: &mut Model, variable: &Variable, fixed: &Fixed, pictures: &[Canvas]) {
    let geometry = Geometry::new(variable, fixed).unwrap();
    let mut panel = FramebufferPanel::new(model, geometry, 128, 64).unwrap();
    pictures.iter().for_each(|picture| panel.show(picture).unwrap());
}

/// The octets of visible pixel `x`, `y`.
fn pixel<'a>(model: &'a Model, variable: &Variable, fixed: &Fixed, x: u32, y: u32) -> &'a [u8] {
    let octets = variable.bits_per_pixel / 8;
    let at = (variable.yoffset + y) * fixed.line_length + (variable.xoffset + x) * octets;
    let at = usize::try_from(at).unwrap();
    &model.octets[at..at + usize::try_from(octets).unwrap()]
}

/// Everything in `model` is `canvas`, scaled and in the middle, on black, and nothing outside was written.
fn assert_shown(model: &Model, variable: &Variable, fixed: &Fixed, canvas: &Canvas) {
    let (white, black) = match variable.bits_per_pixel {
        16 => (&[0xFF, 0xFF][..], &[0, 0][..]),
        24 => (&[0xFF; 3][..], &[0; 3][..]),
        _ => (&[0xFF; 4][..], &[0, 0, 0, 0xFF][..]),
    };
    let scale = (variable.xres / 128).min(variable.yres / 64);
    let (left, top) = ((variable.xres - 128 * scale) / 2, (variable.yres - 64 * scale) / 2);
    for y in 0..variable.yres {
        for x in 0..variable.xres {
            let inside = x >= left && y >= top;
            let at = inside.then(|| ((x - left) / scale, (y - top) / scale));
            let at = at.and_then(|(x, y)| Some((u16::try_from(x).ok()?, u16::try_from(y).ok()?)));
            let lit = at.is_some_and(|(x, y)| canvas.lit(x, y));
            let found = pixel(model, variable, fixed, x, y);
            assert_eq!(found, if lit { white } else { black }, "pixel {x}, {y}");
        }
    }
    let visible = (variable.xres * variable.yres * variable.bits_per_pixel / 8) as usize;
    let kept = outside(model, variable, fixed).filter(|octet| *octet == UNTOUCHED).count();
    assert_eq!(kept + visible, model.octets.len(), "something outside was written");
}

/// The octets that are not of a visible pixel.
fn outside<'a>(model: &'a Model, variable: &'a Variable, fixed: &'a Fixed) -> impl Iterator<Item = u8> + 'a {
    let octets = variable.bits_per_pixel / 8;
    let columns = variable.xoffset * octets..(variable.xoffset + variable.xres) * octets;
    model.octets.iter().zip(0_u32..).filter_map(move |(octet, at)| {
        let (row, column) = (at / fixed.line_length, at % fixed.line_length);
        let visible = row >= variable.yoffset && columns.contains(&column);
        (!visible).then_some(*octet)
    })
}

#[test]
fn pixels_are_exact_at_every_depth() {
    for bits in [16, 24, 32] {
        let (variable, fixed, mut model) = screen(bits, 640, 480, (0, 0), 0);
        show(&mut model, &variable, &fixed, &[picture()]);
        assert_shown(&model, &variable, &fixed, &picture());
    }
}

#[test]
fn an_odd_stride_and_a_panned_screen_are_honoured() {
    for bits in [16, 24, 32] {
        let (variable, fixed, mut model) = screen(bits, 131, 67, (5, 3), 7);
        show(&mut model, &variable, &fixed, &[picture()]);
        assert_shown(&model, &variable, &fixed, &picture());
    }
}

#[test]
fn channels_lie_where_the_device_says() {
    // 555 with an unused highest bit, as old VESA modes have it, and blue first with opacity lowest.
    let (mut variable, fixed, _) = screen(16, 128, 64, (0, 0), 0);
    [variable.red, variable.green, variable.blue] = [channel(10, 5), channel(5, 5), channel(0, 5)];
    let geometry = Geometry::new(&variable, &fixed).unwrap();
    assert_eq!((geometry.white.as_slice(), geometry.black.as_slice()), (&[0xFF, 0x7F][..], &[0, 0][..]));
    let (mut variable, fixed, _) = screen(32, 128, 64, (0, 0), 0);
    [variable.red, variable.green, variable.blue] = [channel(8, 8), channel(16, 8), channel(24, 8)];
    variable.transp = channel(0, 4);
    let geometry = Geometry::new(&variable, &fixed).unwrap();
    assert_eq!(geometry.white.as_slice(), [0x0F, 0xFF, 0xFF, 0xFF]);
    assert_eq!(geometry.black.as_slice(), [0x0F, 0, 0, 0]);
}

#[test]
fn the_picture_is_as_large_as_whole_multiples_allow() {
    for (width, height, scale) in
        [(128, 64, 1), (255, 127, 1), (640, 480, 5), (1280, 800, 10), (1920, 100, 1)]
    {
        let (variable, fixed, mut model) = screen(32, width, height, (0, 0), 0);
        let geometry = Geometry::new(&variable, &fixed).unwrap();
        let panel = FramebufferPanel::new(&mut model, geometry, 128, 64).unwrap();
        assert_eq!(panel.scale(), scale, "{width} x {height}");
    }
}

#[test]
fn only_what_has_changed_is_written() {
    let (variable, fixed, mut model) = screen(32, 640, 480, (0, 0), 0);
    let geometry = Geometry::new(&variable, &fixed).unwrap();
    let mut panel = FramebufferPanel::new(&mut model, geometry, 128, 64).unwrap();
    let mut canvas = picture();
    panel.show(&canvas).unwrap();
    panel.memory.written = 0;
    panel.show(&canvas).unwrap();
    assert_eq!(panel.memory.written, 0, "the same picture again");
    canvas.set(17, 40, !canvas.lit(17, 40));
    panel.show(&canvas).unwrap();
    assert_eq!(panel.memory.written, 5 * 5 * 4, "one pixel, 5 x 5 on the screen, 4 octets each");
    canvas.set(10, 5, !canvas.lit(10, 5));
    canvas.set(12, 5, !canvas.lit(12, 5));
    panel.memory.written = 0;
    panel.show(&canvas).unwrap();
    assert_eq!(panel.memory.written, 3 * 5 * 5 * 4, "from the first to the last changed pixel of a row");
    assert_shown(&model, &variable, &fixed, &canvas);
}

#[test]
fn after_a_failure_the_next_picture_is_drawn_in_full() {
    let (variable, fixed, mut model) = screen(16, 128, 64, (0, 0), 0);
    let geometry = Geometry::new(&variable, &fixed).unwrap();
    let mut panel = FramebufferPanel::new(&mut model, geometry, 128, 64).unwrap();
    panel.show(&picture()).unwrap();
    panel.memory.broken = true;
    assert_eq!(panel.show(&Canvas::default()).unwrap_err().raw_os_error(), Some(libc::ENODEV));
    panel.memory.broken = false;
    panel.memory.octets.fill(UNTOUCHED);
    panel.show(&picture()).unwrap();
    assert_shown(&model, &variable, &fixed, &picture());
}

#[test]
fn another_ink_is_drawn_over_what_is_lit_and_nothing_else() {
    use crate::panel::backend::Ink;
    for (bits, green) in [(16, &[0xE8, 0x27][..]), (24, &[64, 255, 32]), (32, &[64, 255, 32, 255])] {
        let (variable, fixed, mut model) = screen(bits, 128, 64, (0, 0), 0);
        let geometry = Geometry::new(&variable, &fixed).unwrap();
        let mut panel = FramebufferPanel::new(&mut model, geometry, 128, 64).unwrap();
        let mut canvas = Canvas::default();
        canvas.set(3, 5, true);
        panel.show(&canvas).unwrap();
        panel.memory.written = 0;
        panel.set_look(Look { ink: Ink::Good, dim: false }).unwrap();
        panel.show(&canvas).unwrap();
        assert_eq!(panel.memory.written, green.len(), "one pixel");
        assert_eq!(pixel(&model, &variable, &fixed, 3, 5), green);
    }
}

#[test]
fn a_screen_smaller_than_the_panel_is_refused() {
    for (width, height) in [(127, 64), (128, 63), (1, 1), (4000, 63)] {
        let (variable, fixed, mut model) = screen(32, width, height, (0, 0), 0);
        let geometry = Geometry::new(&variable, &fixed).unwrap();
        let refused = FramebufferPanel::new(&mut model, geometry, 128, 64).err().unwrap();
        let line = format!("framebuffer of {width} x {height} pixels is smaller than the panel of 128 x 64");
        assert_eq!(refused.to_string(), line);
    }
}

fn refusal(change: impl FnOnce(&mut Variable, &mut Fixed)) -> String {
    let (mut variable, mut fixed, _) = screen(32, 640, 480, (0, 0), 0);
    change(&mut variable, &mut fixed);
    Geometry::new(&variable, &fixed).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_drawn_on_is_refused_by_name() {
    let line = "framebuffer with 8 bits per pixel, type 0, visual 3; it has to have 16, 24 or 32 bits, packed, with colour fields";
    assert_eq!(refusal(|variable, fixed| (variable.bits_per_pixel, fixed.visual) = (8, 3)), line);
    assert!(refusal(|_, fixed| fixed.kind = 1).contains("type 1"));
    assert!(refusal(|_, fixed| fixed.visual = 3).contains("visual 3"));
    let line = "framebuffer with 32 bits per pixel has a colour of 8 bits at bit 25; it has to be inside the pixel, lowest bit first";
    assert_eq!(refusal(|variable, _| variable.red.offset = 25), line);
    assert!(refusal(|variable, _| variable.green.length = 0).contains("a colour of 0 bits"));
    assert!(refusal(|variable, _| variable.blue.msb_right = 1).contains("lowest bit first"));
    assert!(refusal(|variable, _| variable.transp.length = u32::MAX).contains("has a colour of 4294967295"));
}

#[test]
fn what_is_not_inside_its_memory_is_refused() {
    let line =
        "framebuffer of 640 x 480 at 0, 0 with rows of 2559 octets does not fit its 1228800 octets of memory";
    assert_eq!(refusal(|_, fixed| fixed.line_length = 2559), line);
    assert!(refusal(|_, fixed| fixed.smem_len -= 1).contains("does not fit"));
    assert!(refusal(|variable, _| variable.yoffset = 1).contains("does not fit"));
    assert!(refusal(|variable, _| variable.xres = 0).contains("does not fit"));
    assert!(refusal(|variable, _| variable.xoffset = u32::MAX).contains("does not fit"));
    assert!(refusal(|variable, _| variable.yres = u32::MAX).contains("does not fit"));
    let all = |variable: &mut Variable, fixed: &mut Fixed| {
        (variable.xres, variable.xoffset) = (u32::MAX, u32::MAX);
        (variable.yres, variable.yoffset) = (u32::MAX, u32::MAX);
        (fixed.line_length, fixed.smem_len) = (u32::MAX, u32::MAX);
    };
    assert!(refusal(all).contains("does not fit"));
}

#[test]
fn a_device_that_is_no_framebuffer_is_refused_by_its_path() {
    let refused = FramebufferPanel::open(Path::new("/dev/null"), 128, 64).err().unwrap().to_string();
    assert!(refused.starts_with("framebuffer /dev/null: Inappropriate ioctl"), "{refused}");
    let refused = FramebufferPanel::open(Path::new("/dev/no-fb"), 128, 64).err().unwrap().to_string();
    assert!(refused.starts_with("framebuffer /dev/no-fb: No such file"), "{refused}");
}

fn any_picture() -> impl Strategy<Value = Canvas> {
    prop::collection::vec((0..128_u16, 0..64_u16), 0..60).prop_map(|lit| {
        let mut canvas = Canvas::default();
        lit.into_iter().for_each(|(x, y)| canvas.set(x, y, true));
        canvas
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_last_picture_is_shown_and_nothing_outside_is_written(
        bits in prop::sample::select(vec![16_u32, 24, 32]),
        size in (128..300_u32, 64..200_u32),
        at in (0..9_u32, 0..9_u32),
        spare in 0..40_u32,
        pictures in prop::collection::vec(any_picture(), 1..4),
    ) {
        let (variable, fixed, mut model) = screen(bits, size.0, size.1, at, spare);
        show(&mut model, &variable, &fixed, &pictures);
        assert_shown(&model, &variable, &fixed, pictures.last().unwrap());
    }

    #[test]
    fn whatever_a_device_tells_nothing_is_written_outside_its_memory(
        sizes in [0..400_u32, 0..300, 0..20, 0..20, 0..2000, 0..300_000],
        bits in prop::sample::select(vec![1_u32, 8, 16, 24, 32, 64]),
        fields in prop::array::uniform4((0..40_u32, 0..40_u32)),
    ) {
        let [xres, yres, xoffset, yoffset, line_length, smem_len] = sizes;
        let [red, green, blue, transp] = fields.map(|(offset, length)| channel(offset, length));
        let variable = Variable {
            xres, yres, xoffset, yoffset, bits_per_pixel: bits, red, green, blue, transp, ..Variable::default()
        };
        let fixed = Fixed { smem_len, visual: 2, line_length, ..Fixed::default() };
        let octets = vec![UNTOUCHED; usize::try_from(smem_len).unwrap()];
        let mut model = Model { octets, ..Model::default() };
        if let Ok(geometry) = Geometry::new(&variable, &fixed)
            && let Ok(mut panel) = FramebufferPanel::new(&mut model, geometry, 128, 64)
        {
            // The model refuses an offset outside by a panic.
            panel.show(&picture()).unwrap();
        }
    }
}

#[test]
fn pages_are_as_large_as_the_framebuffer_has_room_for() {
    assert_eq!(page_size((640, 480)), (320, 240));
    assert_eq!(page_size((1280, 800)), (320, 240));
    assert_eq!(page_size((320, 200)), (128, 64));
}
