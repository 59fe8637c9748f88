//! What the box has to be seen, heard and pressed by.

use crate::board::{Board, ButtonKind, DisplayKind, DisplaySettings, OnFault, SerialSettings};
use std::path::PathBuf;

/// Display, serial port, button, watchdog.
#[derive(Clone, Debug)]
pub(super) struct Outfit {
    pub display: DisplayKind,
    pub display_settings: DisplaySettings,
    pub serial: Option<SerialSettings>,
    pub button: ButtonKind,
    /// Device and time in seconds.
    pub watchdog: Option<(PathBuf, u16)>,
    pub on_fault: OnFault,
}

/// Of a box that nobody knows: what most have, so that it can say so.
impl Default for Outfit {
    fn default() -> Self {
        Self {
            display: DisplayKind::Framebuffer,
            display_settings: DisplaySettings::defaults(DisplayKind::Framebuffer),
            serial: Some(SerialSettings { path: PathBuf::from("/dev/ttyS0"), baud: 115_200, flow: false }),
            button: ButtonKind::Power,
            watchdog: None,
            on_fault: OnFault::Wait,
        }
    }
}

impl Outfit {
    /// A board's.
    pub(super) fn of(board: &Board) -> Self {
        Self {
            display: board.display,
            display_settings: board.display_settings.clone(),
            serial: board.serial.clone(),
            button: board.button.clone(),
            watchdog: board.watchdog.as_ref().map(|path| (PathBuf::from(path), board.watchdog_timeout_s)),
            on_fault: board.on_fault,
        }
    }
}
