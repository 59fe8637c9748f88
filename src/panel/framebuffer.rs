//! The panel on a framebuffer device: `/dev/fb0`.
//!
//! A picture in two colours is drawn as large as whole multiples allow, in the middle, on black, in white or an
//! ink that tells the verdict. Only
//! what has changed since the last picture is written: a framebuffer is slow memory. Nothing outside the
//! visible rectangle is ever touched.
//!
//! # Limitations
//! Pixels are written lowest octet first, as every x86 framebuffer has them.

use super::backend::{Backend, Look, Palette};
use super::canvas::Canvas;
use crate::sys::framebuffer::{self, Bitfield, Fixed, Variable};
use measure::screen::Screen;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Where the kernel has the first framebuffer.
pub const DEVICE: &str = "/dev/fb0";

/// `FB_TYPE_PACKED_PIXELS` (linux/fb.h): all bits of a pixel lie together.
const PACKED_PIXELS: u32 = 0;

/// `FB_VISUAL_TRUECOLOR` and `FB_VISUAL_DIRECTCOLOR` (linux/fb.h): a pixel has a field for each colour.
const COLOR_FIELDS: [u32; 2] = [2, 4];

/// Why there is no panel on a framebuffer. Each is one line.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It cannot be opened or asked.
    #[error("framebuffer {path}: {source}")]
    Device {
        /// The device.
        path: PathBuf,
        /// The kernel's word.
        source: io::Error,
    },
    /// It has no such pixels as can be drawn here.
    #[error(
        "framebuffer with {bits} bits per pixel, type {kind}, visual {visual}; it has to have 16, 24 or 32 bits, packed, with colour fields"
    )]
    Format {
        /// Bits per pixel.
        bits: u32,
        /// `FB_TYPE_*`.
        kind: u32,
        /// `FB_VISUAL_*`.
        visual: u32,
    },
    /// A colour is not inside the pixel.
    #[error(
        "framebuffer with {bits} bits per pixel has a colour of {length} bits at bit {offset}; it has to be inside the pixel, lowest bit first"
    )]
    Channel {
        /// Bits per pixel.
        bits: u32,
        /// Lowest bit of the colour.
        offset: u32,
        /// Its bits.
        length: u32,
    },
    /// What is visible is not inside the memory.
    #[error(
        "framebuffer of {width} x {height} at {x}, {y} with rows of {stride} octets does not fit its {memory} octets of memory"
    )]
    Memory {
        /// Visible pixels across.
        width: u32,
        /// Visible pixels down.
        height: u32,
        /// First visible column.
        x: u32,
        /// First visible row.
        y: u32,
        /// Octets a row.
        stride: u32,
        /// Octets in all.
        memory: u32,
    },
    /// The panel is larger.
    #[error(
        "framebuffer of {width} x {height} pixels is smaller than the panel of {panel_width} x {panel_height}"
    )]
    TooSmall {
        /// Visible pixels across.
        width: u32,
        /// Visible pixels down.
        height: u32,
        /// The panel's pixels across.
        panel_width: u16,
        /// The panel's pixels down.
        panel_height: u16,
    },
}

/// Octets of one pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pixel {
    octets: [u8; 4],
    length: usize,
}

impl Pixel {
    fn as_slice(&self) -> &[u8] {
        self.octets.get(..self.length).unwrap_or(&self.octets)
    }
}

/// Where the visible pixels are in a framebuffer's memory, and what black and white are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    width: usize,
    height: usize,
    stride: usize,
    /// Offset of the first visible pixel.
    origin: usize,
    white: Pixel,
    black: Pixel,
    /// Red, green and blue within a pixel.
    fields: [Bitfield; 3],
}

impl Geometry {
    /// The geometry that a device tells, checked: all that is visible is inside its memory.
    ///
    /// # Errors
    /// Where it cannot be drawn on; see [`Refused`].
    pub fn new(variable: &Variable, fixed: &Fixed) -> Result<Self, Refused> {
        let octets = pixel_octets(variable, fixed)?;
        let (white, black) = colours(variable, octets)?;
        let [width, height, x, y, stride, memory] = [
            variable.xres,
            variable.yres,
            variable.xoffset,
            variable.yoffset,
            fixed.line_length,
            fixed.smem_len,
        ];
        let outside = Refused::Memory { width, height, x, y, stride, memory };
        // Wide enough for any three numbers of 32 bits.
        let row_end = (u128::from(x) + u128::from(width)) * octets as u128;
        let rows_before = (u128::from(y) + u128::from(height)).saturating_sub(1);
        let end = rows_before * u128::from(stride) + row_end;
        if width == 0 || height == 0 || row_end > u128::from(stride) || end > u128::from(memory) {
            return Err(outside);
        }
        let [width, height, x, y, stride] =
            [width, height, x, y, stride].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        let fields = [variable.red, variable.green, variable.blue];
        Ok(Self { width, height, stride, origin: y * stride + x * octets, white, black, fields })
    }

    /// Visible pixels, across and down.
    #[must_use]
    pub const fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// The pixel of a colour: red, green and blue, 0 to 255.
    fn pixel(&self, colour: [u8; 3]) -> Pixel {
        let black = u32::from_le_bytes(self.black.octets);
        let value = self.fields.iter().zip(colour).fold(black, |value, (field, part)| {
            let most = u64::from(u32::MAX.checked_shr(u32::BITS.saturating_sub(field.length)).unwrap_or(0));
            let part = u32::try_from((u64::from(part) * most + 127) / 255).unwrap_or(u32::MAX);
            value | part.checked_shl(field.offset).unwrap_or(0)
        });
        Pixel { octets: value.to_le_bytes(), ..self.black }
    }

    /// Offset in memory of a visible pixel.
    const fn offset(&self, x: usize, y: usize) -> usize {
        self.origin + y * self.stride + x * self.white.length
    }
}

fn pixel_octets(variable: &Variable, fixed: &Fixed) -> Result<usize, Refused> {
    let drawable = fixed.kind == PACKED_PIXELS && COLOR_FIELDS.contains(&fixed.visual);
    match variable.bits_per_pixel {
        16 if drawable => Ok(2),
        24 if drawable => Ok(3),
        32 if drawable => Ok(4),
        bits => Err(Refused::Format { bits, kind: fixed.kind, visual: fixed.visual }),
    }
}

/// White and black: all colours full or empty, and opaque where the pixel says so.
fn colours(variable: &Variable, length: usize) -> Result<(Pixel, Pixel), Refused> {
    let bits = variable.bits_per_pixel;
    let opaque = field(variable.transp, bits)?;
    let mut full = opaque;
    for colour in [variable.red, variable.green, variable.blue] {
        let mask = field(colour, bits)?;
        if mask == 0 {
            return Err(Refused::Channel { bits, offset: colour.offset, length: colour.length });
        }
        full |= mask;
    }
    let pixel = |value: u32| Pixel { octets: value.to_le_bytes(), length };
    Ok((pixel(full), pixel(opaque)))
}

/// The bits of a channel; none set where the pixel does not have it.
fn field(channel: Bitfield, bits: u32) -> Result<u32, Refused> {
    let Bitfield { offset, length, msb_right } = channel;
    let inside = offset.checked_add(length).is_some_and(|end| end <= bits);
    if length > 0 && !(inside && msb_right == 0) {
        return Err(Refused::Channel { bits, offset, length });
    }
    let ones = u32::MAX.checked_shr(u32::BITS.saturating_sub(length)).unwrap_or(0);
    Ok(ones.checked_shl(offset).unwrap_or(0))
}

/// A framebuffer's memory: the device, or a model of it.
pub trait Memory {
    /// Writes `octets` at `offset`.
    ///
    /// # Errors
    /// The device's.
    fn write_at(&mut self, offset: usize, octets: &[u8]) -> io::Result<()>;
}

impl Memory for File {
    fn write_at(&mut self, offset: usize, octets: &[u8]) -> io::Result<()> {
        let offset = u64::try_from(offset).map_err(io::Error::other)?;
        self.write_all_at(octets, offset)
    }
}

/// The panel on a framebuffer.
pub struct FramebufferPanel<M> {
    memory: M,
    geometry: Geometry,
    scale: usize,
    /// Visible pixel at which the picture's corner is.
    corner: (usize, usize),
    /// What is on it; none where nobody knows.
    shown: Option<Canvas>,
    /// In which ink.
    shown_ink: Pixel,
    palette: Palette,
    ink: Pixel,
    size: (u16, u16),
    /// One row of the visible part, at work.
    row: Vec<u8>,
}

impl FramebufferPanel<File> {
    /// A panel of `width` × `height` pixels on the framebuffer at `path`.
    ///
    /// # Errors
    /// See [`Refused`].
    pub fn open(path: &Path, width: u16, height: u16) -> Result<Self, Refused> {
        let (device, geometry) = open_device(path)?;
        Self::new(device, geometry, width, height)
    }

    /// A panel for pages on the framebuffer at `path`: of 320 × 240 pixels where these fit, else of the smallest
    /// size that pages have.
    ///
    /// # Errors
    /// See [`Refused`].
    pub fn open_for_pages(path: &Path) -> Result<Self, Refused> {
        let (device, geometry) = open_device(path)?;
        let (width, height) = page_size(geometry.size());
        Self::new(device, geometry, width, height)
    }
}

fn open_device(path: &Path) -> Result<(File, Geometry), Refused> {
    let refused = |source| Refused::Device { path: path.to_owned(), source };
    // Not blocking, and never a controlling terminal: the path comes from a board.
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let device = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).map_err(refused)?;
    let variable = framebuffer::variable(&device).map_err(refused)?;
    let fixed = framebuffer::fixed(&device).map_err(refused)?;
    let geometry = Geometry::new(&variable, &fixed)?;
    Ok((device, geometry))
}

/// The size of pages on a framebuffer of this many pixels.
fn page_size((width, height): (usize, usize)) -> (u16, u16) {
    if width >= 320 && height >= 240 { (320, 240) } else { (Canvas::WIDTH, Canvas::HEIGHT) }
}

impl<M: Memory> FramebufferPanel<M> {
    /// A panel of `width` × `height` pixels in the middle of `memory`; nothing is written yet.
    ///
    /// # Errors
    /// [`Refused::TooSmall`].
    pub fn new(memory: M, geometry: Geometry, width: u16, height: u16) -> Result<Self, Refused> {
        let (panel_width, panel_height) = (width.max(1), height.max(1));
        let (across, down) = (usize::from(panel_width), usize::from(panel_height));
        let scale = (geometry.width / across).min(geometry.height / down);
        if scale == 0 {
            let small = |pixels| u32::try_from(pixels).unwrap_or(u32::MAX);
            let (width, height) = (small(geometry.width), small(geometry.height));
            return Err(Refused::TooSmall { width, height, panel_width, panel_height });
        }
        let corner = ((geometry.width - across * scale) / 2, (geometry.height - down * scale) / 2);
        let size = (panel_width, panel_height);
        let (shown, row, palette) = (None, Vec::new(), Palette::default());
        let (shown_ink, ink) = (geometry.white, geometry.white);
        Ok(Self { memory, geometry, scale, corner, shown, shown_ink, palette, ink, size, row })
    }

    /// With these colours.
    #[must_use]
    pub fn with_palette(self, palette: Palette) -> Self {
        Self { palette, ..self }
    }

    /// Pixels of the framebuffer for each of the panel, across and down.
    #[must_use]
    pub const fn scale(&self) -> usize {
        self.scale
    }

    /// Draws `screen` as a page of the panel's own size, and shows it.
    ///
    /// # Errors
    /// The device's; the next picture is then drawn in full.
    pub fn draw(&mut self, screen: &Screen) -> io::Result<()> {
        let mut canvas = Canvas::new(self.size.0, self.size.1);
        let Ok(()) = super::draw(&mut canvas, screen);
        self.show(&canvas)
    }

    /// Shows `canvas`: the first time on a screen that is made black all over, later only what has changed.
    /// Of a canvas that is larger than the panel the upper left part is shown.
    ///
    /// # Errors
    /// The device's; the next picture is then drawn in full.
    pub fn show(&mut self, canvas: &Canvas) -> io::Result<()> {
        let shown = match self.shown.take() {
            Some(shown) => shown,
            None => {
                self.blacken()?;
                Canvas::new(self.size.0, self.size.1)
            }
        };
        let same_ink = self.shown_ink == self.ink;
        let keeps = |x, y| shown.lit(x, y) == canvas.lit(x, y) && (same_ink || !canvas.lit(x, y));
        for y in 0..self.size.1 {
            let mut changed = (0..self.size.0).filter(|&x| !keeps(x, y));
            if let Some(first) = changed.next() {
                let last = changed.next_back().unwrap_or(first);
                self.write_pixels(canvas, y, first, last)?;
            }
        }
        self.shown = Some(canvas.clone());
        self.shown_ink = self.ink;
        Ok(())
    }

    /// Makes everything that is visible black.
    fn blacken(&mut self) -> io::Result<()> {
        self.row.clear();
        for _ in 0..self.geometry.width {
            self.row.extend_from_slice(self.geometry.black.as_slice());
        }
        for y in 0..self.geometry.height {
            self.memory.write_at(self.geometry.offset(0, y), &self.row)?;
        }
        Ok(())
    }

    /// Writes the pixels `first` to `last` of the canvas's row `y`.
    fn write_pixels(&mut self, canvas: &Canvas, y: u16, first: u16, last: u16) -> io::Result<()> {
        self.row.clear();
        for x in first..=last {
            let pixel = if canvas.lit(x, y) { &self.ink } else { &self.geometry.black };
            for _ in 0..self.scale {
                self.row.extend_from_slice(pixel.as_slice());
            }
        }
        let left = self.corner.0 + usize::from(first) * self.scale;
        let top = self.corner.1 + usize::from(y) * self.scale;
        for row in top..top + self.scale {
            self.memory.write_at(self.geometry.offset(left, row), &self.row)?;
        }
        Ok(())
    }
}

impl<M: Memory> Backend for FramebufferPanel<M> {
    fn size(&self) -> (u16, u16) {
        self.size
    }

    fn show(&mut self, canvas: &Canvas) -> io::Result<()> {
        Self::show(self, canvas)
    }

    fn set_look(&mut self, look: Look) -> io::Result<()> {
        self.ink = self.geometry.pixel(self.palette.colour(look));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
