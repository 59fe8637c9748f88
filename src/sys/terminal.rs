//! What a terminal tells of itself.

use std::os::fd::{AsFd, AsRawFd};

/// Columns and rows of the terminal behind `terminal`; none where it is no terminal or has no size.
pub fn window_size(terminal: &impl AsFd) -> Option<(u16, u16)> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    let fd = terminal.as_fd().as_raw_fd();
    // SAFETY: TIOCGWINSZ writes one `winsize` to the address given, and `size` is one that outlives the call.
    let outcome = unsafe { libc::ioctl(fd, libc::TIOCGWINSZ, &raw mut size) };
    (outcome == 0 && size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_no_window() {
        let null = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(window_size(&null), None);
    }
}
