//! A canvas as a PNG file, lit pixels white.

use super::canvas::Canvas;
use ::png::{BitDepth, ColorType, Encoder};

/// Largest enlargement.
pub const MAX_SCALE: u32 = 16;

/// The canvas as a 1-bit grey PNG, each pixel `scale` × `scale` (taken as 1 to 16).
#[must_use]
pub fn encode(canvas: &Canvas, scale: u32) -> Vec<u8> {
    let scale = u16::try_from(scale.clamp(1, MAX_SCALE)).unwrap_or(1);
    let (width, height) = (u32::from(canvas.width()), u32::from(canvas.height()));
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width * u32::from(scale), height * u32::from(scale));
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::One);
    let written =
        encoder.write_header().and_then(|mut writer| writer.write_image_data(&enlarged(canvas, scale)));
    written.expect("a canvas has at least one pixel and memory takes any write");
    file
}

/// Rows of octets, leftmost pixel in the highest bit.
fn enlarged(canvas: &Canvas, scale: u16) -> Vec<u8> {
    let mut octets = Vec::new();
    for y in 0..canvas.height() {
        let row = enlarged_row(canvas, y, scale);
        for _ in 0..scale {
            octets.extend_from_slice(&row);
        }
    }
    octets
}

fn enlarged_row(canvas: &Canvas, y: u16, scale: u16) -> Vec<u8> {
    let pixels: Vec<bool> = (0..canvas.width())
        .flat_map(|x| core::iter::repeat_n(canvas.lit(x, y), usize::from(scale)))
        .collect();
    pixels.chunks(8).map(octet).collect()
}

/// Up to eight pixels as one octet, padded with dark ones.
fn octet(pixels: &[bool]) -> u8 {
    (0..8).fold(0, |octet, bit| octet << 1 | u8::from(pixels.get(bit).copied().unwrap_or(false)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Width, height and octets of a 1-bit grey PNG.
    fn decode(file: &[u8]) -> (u32, u32, Vec<u8>) {
        let mut decoder = ::png::Decoder::new(std::io::Cursor::new(file));
        decoder.set_transformations(::png::Transformations::IDENTITY);
        let mut reader = decoder.read_info().unwrap();
        let mut octets = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut octets).unwrap();
        assert_eq!((info.color_type, info.bit_depth), (ColorType::Grayscale, BitDepth::One));
        (info.width, info.height, octets)
    }

    #[test]
    fn lit_pixels_are_white() {
        let mut canvas = Canvas::new(9, 2);
        canvas.set(0, 0, true);
        canvas.set(8, 1, true);
        assert_eq!(decode(&encode(&canvas, 1)), (9, 2, vec![0x80, 0, 0, 0x80]));
    }

    #[test]
    fn a_scale_makes_squares() {
        let mut canvas = Canvas::new(2, 1);
        canvas.set(1, 0, true);
        assert_eq!(decode(&encode(&canvas, 3)), (6, 3, vec![0b0001_1100; 3]));
    }

    #[test]
    fn a_scale_out_of_range_is_brought_into_it() {
        assert_eq!(decode(&encode(&Canvas::new(1, 1), 0)), (1, 1, vec![0]));
        assert_eq!(decode(&encode(&Canvas::new(1, 1), u32::MAX)).0, MAX_SCALE);
    }
}
