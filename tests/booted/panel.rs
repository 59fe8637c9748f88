//! The display, drawn again from the log's own figures and compared pixel by pixel.

use linegauge::panel::canvas::Canvas;
use linegauge::panel::draw;
use measure::record::text;
use measure::screen::Screen;
use measure::verdict::Verdict;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Pages on a framebuffer of this size or more.
const PAGE: (u16, u16) = (320, 240);

/// Pages on a small display.
const SMALL_PAGE: (u16, u16) = (128, 64);

/// The picture in a file, a pixel lit where it is not black.
struct Picture {
    width: usize,
    height: usize,
    lit: Vec<bool>,
}

impl Picture {
    fn read(path: &Path) -> Self {
        let mut reader = png::Decoder::new(BufReader::new(File::open(path).unwrap())).read_info().unwrap();
        let mut octets = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut octets).unwrap();
        let samples = info.color_type.samples();
        assert_eq!(info.bit_depth, png::BitDepth::Eight);
        let lit = octets.chunks(samples).map(|pixel| pixel.iter().any(|&sample| sample > 0)).collect();
        Self { width: info.width as usize, height: info.height as usize, lit }
    }

    /// What a display of this size shows of a page: in whole multiples, in the middle, black around it.
    fn of(screen: &Screen, width: usize, height: usize) -> Self {
        let size = if width < PAGE.0.into() { SMALL_PAGE } else { PAGE };
        let mut page = Canvas::new(size.0, size.1);
        let Ok(()) = draw(&mut page, screen);
        let (across, down) = (usize::from(size.0), usize::from(size.1));
        let scale = (width / across).min(height / down);
        let (left, top) = ((width - across * scale) / 2, (height - down * scale) / 2);
        let at = |x: usize, y: usize| {
            let inside = (left..left + across * scale).contains(&x) && (top..top + down * scale).contains(&y);
            inside && {
                let of = |pixel: usize, corner: usize| u16::try_from((pixel - corner) / scale).unwrap();
                page.lit(of(x, left), of(y, top))
            }
        };
        let lit = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| at(x, y)).collect();
        Self { width, height, lit }
    }
}

/// The display in the file shows this page and nothing else.
pub fn assert_shows(file: &Path, screen: &Screen) {
    let shown = Picture::read(file);
    let right = Picture::of(screen, shown.width, shown.height);
    assert!(right.lit.iter().any(|&lit| lit), "a page has something on it");
    let wrong = shown.lit.iter().zip(&right.lit).filter(|(shown, right)| shown != right).count();
    assert_eq!(wrong, 0, "pixels of {} are wrong; the page must be {screen:?}", file.display());
}

/// A verdict's page.
pub fn verdict(verdict: Verdict, reason: &str, run: u32) -> Screen {
    Screen::Verdict { verdict, reason: text(reason), run, unsaved: false }
}

/// The same, of a run that could not be kept.
pub fn unsaved(page: Screen) -> Screen {
    let Screen::Verdict { verdict, reason, run, .. } = page else { panic!("{page:?} is no verdict") };
    Screen::Verdict { verdict, reason, run, unsaved: true }
}
