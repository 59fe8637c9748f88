//! What the box has to be seen, heard and pressed by.

use crate::board::{
    Board, ButtonKind, DisplayKind, DisplaySettings, HistoryIn, OnFault, RecordsTo, SerialSettings, Wires,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Display, serial port, button, lamps, watchdog.
#[derive(Clone, Debug)]
pub(super) struct Outfit {
    pub display: DisplayKind,
    pub display_settings: DisplaySettings,
    pub serial: Option<SerialSettings>,
    pub records: RecordsTo,
    pub history: HistoryIn,
    pub button: ButtonKind,
    pub wires: Wires,
    /// Device and time in seconds.
    pub watchdog: Option<(PathBuf, u16)>,
    pub on_fault: OnFault,
    /// Set by the first panic: from then on lamps show a fault, and a button on a GPIO line starts the box again.
    pub panicked: Arc<AtomicBool>,
}

/// Of a box that nobody knows: what most have, so that it can say so.
impl Default for Outfit {
    fn default() -> Self {
        Self {
            display: DisplayKind::Framebuffer,
            display_settings: DisplaySettings::defaults(DisplayKind::Framebuffer),
            serial: Some(SerialSettings { path: PathBuf::from("/dev/ttyS0"), baud: 115_200, flow: false }),
            records: RecordsTo::None,
            history: HistoryIn::None,
            button: ButtonKind::Power,
            wires: Wires::default(),
            watchdog: None,
            on_fault: OnFault::Wait,
            panicked: Arc::default(),
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
            records: board.records.clone(),
            history: board.history.clone(),
            button: board.button.clone(),
            wires: board.wires.clone(),
            watchdog: board.watchdog.as_ref().map(|path| (PathBuf::from(path), board.watchdog_timeout_s)),
            on_fault: board.on_fault,
            panicked: Arc::default(),
        }
    }
}
