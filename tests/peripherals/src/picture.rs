//! A picture of 128 × 64 pixels, and its file.

use std::io::{self, Write};

/// Pixels across.
pub const WIDTH: usize = 128;
/// Pixels down.
pub const HEIGHT: usize = 64;

/// Which pixels are lit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    rows: [u128; HEIGHT],
}

impl Picture {
    /// With those pixels lit that `lit` says, asked by x and y.
    #[must_use]
    pub fn of(lit: impl Fn(usize, usize) -> bool) -> Self {
        let row = |y| (0..WIDTH).fold(0, |row, x| row | u128::from(lit(x, y)) << x);
        Self { rows: std::array::from_fn(row) }
    }

    /// Nothing lit.
    #[must_use]
    pub const fn dark() -> Self {
        Self { rows: [0; HEIGHT] }
    }

    /// Whether a pixel is lit; none outside is.
    #[must_use]
    pub fn lit(&self, x: usize, y: usize) -> bool {
        x < WIDTH && self.rows.get(y).is_some_and(|row| row >> x & 1 != 0)
    }

    /// Writes it as PNG, 8 bits of grey a pixel: lit is white, everything else black.
    ///
    /// # Errors
    /// Those of `file`.
    pub fn write_png(&self, file: impl Write) -> io::Result<()> {
        let mut encoder = png::Encoder::new(file, 128, 64);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        let octets: Vec<u8> =
            (0..HEIGHT * WIDTH).map(|at| if self.lit(at % WIDTH, at / WIDTH) { 0xFF } else { 0 }).collect();
        let mut writer = encoder.write_header().map_err(io::Error::other)?;
        writer.write_image_data(&octets).map_err(io::Error::other)?;
        writer.finish().map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_reads_back() {
        let picture = Picture::of(|x, y| x == 3 || (x == 127 && y == 63));
        let mut file = Vec::new();
        picture.write_png(&mut file).unwrap();
        let mut reader = png::Decoder::new(io::Cursor::new(file)).read_info().unwrap();
        let mut octets = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut octets).unwrap();
        assert!(Picture::of(|x, y| octets[y * WIDTH + x] == 0xFF) == picture);
        assert!(picture.lit(127, 63) && !picture.lit(127, 62) && !picture.lit(3, 64) && !picture.lit(128, 0));
    }
}
