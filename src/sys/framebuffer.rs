//! What a framebuffer device tells of itself (linux/fb.h).

use std::ffi::{c_ulong, c_void};
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// `FBIOGET_VSCREENINFO` (linux/fb.h): numbered before there was `_IOR`, so without a size in it.
const FBIOGET_VSCREENINFO: c_ulong = 0x4600;

/// `FBIOGET_FSCREENINFO` (linux/fb.h).
const FBIOGET_FSCREENINFO: c_ulong = 0x4602;

/// `struct fb_bitfield`: where a colour channel is within a pixel.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bitfield {
    /// Its lowest bit.
    pub offset: u32,
    /// Its bits; 0 where the pixel has no such channel.
    pub length: u32,
    /// Not 0 where its highest bit comes first.
    pub msb_right: u32,
}

/// `struct fb_var_screeninfo`: what a mode switch would change.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// Pixels across that are visible.
    pub xres: u32,
    /// Pixels down that are visible.
    pub yres: u32,
    /// Pixels across in memory.
    pub xres_virtual: u32,
    /// Pixels down in memory.
    pub yres_virtual: u32,
    /// Column in memory at which the visible part begins.
    pub xoffset: u32,
    /// Row in memory at which the visible part begins.
    pub yoffset: u32,
    /// Bits from one pixel to the next.
    pub bits_per_pixel: u32,
    /// 0 for colour, 1 for grey, else a FOURCC.
    pub grayscale: u32,
    /// The red channel.
    pub red: Bitfield,
    /// The green channel.
    pub green: Bitfield,
    /// The blue channel.
    pub blue: Bitfield,
    /// How opaque the pixel is.
    pub transp: Bitfield,
    /// Pixel format besides colour, activation, size in mm, timings, rotation, colour space, reserved: not
    /// used here.
    pub rest: [u32; 20],
}

/// `struct fb_fix_screeninfo`: what stays.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fixed {
    /// The driver's name for it, ended by a zero.
    pub id: [u8; 16],
    /// Physical address.
    pub smem_start: c_ulong,
    /// Octets of memory.
    pub smem_len: u32,
    /// How pixels lie in memory: 0 for packed (`FB_TYPE_PACKED_PIXELS`).
    pub kind: u32,
    /// More about that.
    pub type_aux: u32,
    /// How a pixel is a colour: 2 for `FB_VISUAL_TRUECOLOR`, 4 for `FB_VISUAL_DIRECTCOLOR`.
    pub visual: u32,
    /// Panning steps: not used here.
    pub pan_steps: [u16; 3],
    /// Octets from one row to the next.
    pub line_length: u32,
    /// Physical address of registers.
    pub mmio_start: c_ulong,
    /// Octets of them.
    pub mmio_len: u32,
    /// Accelerator.
    pub accel: u32,
    /// Capabilities and reserved: not used here.
    pub rest: [u16; 3],
}

// The kernel's own sizes: 40 words of 32 bits, and 80 octets where `long` has 64 bits.
const _: () = assert!(size_of::<Variable>() == 160);
const _: () = assert!(size_of::<c_ulong>() != 8 || size_of::<Fixed>() == 80);

fn ask(device: &impl AsFd, request: c_ulong, answer: *mut c_void) -> io::Result<()> {
    let fd = device.as_fd().as_raw_fd();
    // SAFETY: called only from this file, with a request and the address of a struct, repr(C), that has the
    // size the kernel writes for it (asserted above) and outlives the call; the descriptor is borrowed.
    let result = unsafe { libc::ioctl(fd, request as _, answer) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Size, pixel format and panning of an open framebuffer.
///
/// # Errors
/// `ENOTTY` where it is none, `ENODEV` where it has gone.
pub fn variable(device: &impl AsFd) -> io::Result<Variable> {
    let mut variable = Variable::default();
    ask(device, FBIOGET_VSCREENINFO, (&raw mut variable).cast())?;
    Ok(variable)
}

/// Memory and stride of an open framebuffer.
///
/// # Errors
/// `ENOTTY` where it is none, `ENODEV` where it has gone.
pub fn fixed(device: &impl AsFd) -> io::Result<Fixed> {
    let mut fixed = Fixed::default();
    ask(device, FBIOGET_FSCREENINFO, (&raw mut fixed).cast())?;
    Ok(fixed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn a_file_is_no_framebuffer() {
        let null = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(variable(&null).unwrap_err().raw_os_error(), Some(libc::ENOTTY));
        assert_eq!(fixed(&null).unwrap_err().raw_os_error(), Some(libc::ENOTTY));
    }

    #[test]
    fn fields_are_where_the_kernel_has_them() {
        assert_eq!(offset_of!(Variable, bits_per_pixel), 24);
        assert_eq!(offset_of!(Variable, red), 32);
        assert_eq!(offset_of!(Variable, transp), 68);
        assert_eq!(offset_of!(Variable, rest), 80);
        #[cfg(target_pointer_width = "64")]
        {
            assert_eq!(offset_of!(Fixed, smem_len), 24);
            assert_eq!(offset_of!(Fixed, visual), 36);
            assert_eq!(offset_of!(Fixed, line_length), 48);
            assert_eq!(offset_of!(Fixed, mmio_start), 56);
        }
    }
}
