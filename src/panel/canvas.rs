//! Pixels in memory: two colours, one bit each.

use core::convert::Infallible;
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::*;

/// A picture in two colours, kept as a 1-bit PNG keeps it: rows of whole octets, leftmost pixel in
/// the highest bit.
///
/// The size is a value and not a type, because a board's display is picked at start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canvas {
    width: u16,
    height: u16,
    octets: Vec<u8>,
}

impl Canvas {
    /// Width of the smallest display, in pixels.
    pub const WIDTH: u16 = 128;
    /// Height of the smallest display, in pixels.
    pub const HEIGHT: u16 = 64;

    /// A dark canvas of `width` × `height` pixels, at least 1 × 1.
    #[must_use]
    pub fn new(width: u16, height: u16) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        let octets = vec![0; usize::from(width.div_ceil(8)) * usize::from(height)];
        Self { width, height, octets }
    }

    /// Pixels across.
    #[must_use]
    pub const fn width(&self) -> u16 {
        self.width
    }

    /// Pixels down.
    #[must_use]
    pub const fn height(&self) -> u16 {
        self.height
    }

    /// Whether the pixel at column `x` and row `y` is lit; outside it is dark.
    #[must_use]
    pub fn lit(&self, x: u16, y: u16) -> bool {
        self.place(x, y).and_then(|(octet, bit)| Some(self.octets.get(octet)? & bit != 0)).unwrap_or(false)
    }

    /// Lights or darkens one pixel; outside nothing happens.
    pub fn set(&mut self, x: u16, y: u16, lit: bool) {
        let Some((octet, bit)) = self.place(x, y) else { return };
        if let Some(octet) = self.octets.get_mut(octet) {
            *octet = if lit { *octet | bit } else { *octet & !bit };
        }
    }

    /// The picture moved to the right and down; what leaves it is lost, and what comes in is dark.
    #[must_use]
    pub fn moved(&self, right: u16, down: u16) -> Self {
        let mut moved = Self::new(self.width, self.height);
        for y in down..self.height {
            (right..self.width).for_each(|x| moved.set(x, y, self.lit(x - right, y - down)));
        }
        moved
    }

    /// Lit pixels.
    #[must_use]
    pub fn lit_count(&self) -> u32 {
        self.octets.iter().map(|octet| octet.count_ones()).sum()
    }

    /// Index of the octet that holds a pixel, and its bit; none outside.
    fn place(&self, x: u16, y: u16) -> Option<(usize, u8)> {
        let inside = x < self.width && y < self.height;
        let row = usize::from(self.width.div_ceil(8)) * usize::from(y);
        inside.then(|| (row + usize::from(x / 8), 0x80 >> (x % 8)))
    }
}

/// A dark canvas of the smallest display's size.
impl Default for Canvas {
    fn default() -> Self {
        Self::new(Self::WIDTH, Self::HEIGHT)
    }
}

impl OriginDimensions for Canvas {
    fn size(&self) -> Size {
        Size::new(self.width.into(), self.height.into())
    }
}

impl DrawTarget for Canvas {
    type Color = BinaryColor;
    type Error = Infallible;

    fn draw_iter<I>(&mut self, pixels: I) -> Result<(), Infallible>
    where
        I: IntoIterator<Item = Pixel<BinaryColor>>,
    {
        for Pixel(at, color) in pixels {
            if let (Ok(x), Ok(y)) = (at.x.try_into(), at.y.try_into()) {
                self.set(x, y, color.is_on());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_canvas_is_dark_and_never_empty() {
        assert_eq!(Canvas::default().lit_count(), 0);
        assert_eq!(Canvas::new(0, 0).size(), Size::new(1, 1));
    }

    #[test]
    fn a_pixel_set_is_the_pixel_read() {
        let mut canvas = Canvas::new(13, 5);
        canvas.set(12, 4, true);
        assert!(canvas.lit(12, 4));
        assert_eq!(canvas.lit_count(), 1);
        canvas.set(12, 4, false);
        assert_eq!(canvas.lit_count(), 0);
    }

    #[test]
    fn a_moved_picture_loses_what_leaves_it() {
        let mut canvas = Canvas::new(13, 5);
        canvas.set(0, 0, true);
        canvas.set(12, 4, true);
        let moved = canvas.moved(1, 2);
        assert!(moved.lit(1, 2));
        assert_eq!(moved.lit_count(), 1);
        assert_eq!(canvas.moved(13, 0).lit_count(), 0);
    }

    #[test]
    fn outside_nothing_is_lit_and_nothing_happens() {
        let mut canvas = Canvas::new(13, 5);
        let far = [Point::new(13, 0), Point::new(0, 5), Point::new(-1, 0), Point::new(0, i32::MAX)];
        canvas.draw_iter(far.map(|at| Pixel(at, BinaryColor::On))).unwrap();
        assert_eq!(canvas.lit_count(), 0);
        assert!(!canvas.lit(13, 0) && !canvas.lit(0, 5));
    }
}
