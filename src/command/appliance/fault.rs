//! A box that cannot work says so, and does then what its board says.

use super::front::{Front, Said};
use super::outfit::Outfit;
use crate::board::{DisplayKind, OnFault};
use crate::clock::{Clock, Monotonic};
use crate::host::button::{Buttons, Gesture};
use crate::host::init::{self, End, Linux};
use crate::journal::text::Line;
use crate::panel::framebuffer::{self, FramebufferPanel};
use measure::life::Input;
use measure::record::{Event, Stamped, text, words};
use measure::screen::Screen;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long a fault can be read before the box starts again by itself.
const READABLE: Duration = Duration::from_secs(10);

/// Why no cable is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// For the display, at most 48 characters.
    pub brief: &'static str,
    /// For the log.
    pub line: String,
}

impl Fault {
    /// `brief` for the display, `why` for the log.
    pub(super) fn new(brief: &'static str, why: &impl core::fmt::Display) -> Self {
        Self { brief, line: why.to_string() }
    }
}

/// Shows and tells the fault, and comes back when the box is to start again or to be switched off: at the button,
/// or after ten seconds, as the board says.
pub(super) fn stand(front: &mut Front, outfit: &Outfit, fault: &Fault) -> End {
    front.show(&Screen::Fault { text: text(fault.brief) });
    front.tell(Event::Fault(words(&fault.line)));
    let since = front.now();
    loop {
        let now = front.now();
        if outfit.on_fault == OnFault::Reboot && now.since(since) >= READABLE {
            return front.finish(End::Restart);
        }
        for said in front.turn(now) {
            let pressed = (said == Said::Input(Input::Press)).then_some(End::Restart);
            if let Some(end) = pressed.or(said.end()) {
                return front.finish(end);
            }
        }
        front.rest();
    }
}

/// Makes a panic, in whatever thread, the box's last words on display and serial port, and then what the board
/// says. A watchdog that is armed is not fed meanwhile, and may be sooner.
pub(super) fn take_panics(outfit: &Outfit) {
    let (speaker, waiter) = (outfit.clone(), outfit.clone());
    init::on_panic(move |line| last_words(&speaker, line), move || act(&waiter));
}

/// What is shown after a panic, whatever was to be shown next.
pub(super) fn last_page() -> Screen {
    Screen::Fault { text: text("program error, see the log") }
}

/// Past all threads and mailboxes, of which nobody knows how they are: the display's own thread shows the same page,
/// where it is not the one that panicked.
fn last_words(outfit: &Outfit, line: &str) {
    outfit.panicked.store(true, Ordering::Relaxed);
    if outfit.display == DisplayKind::Framebuffer
        && let Ok(mut panel) = FramebufferPanel::open_for_pages(Path::new(framebuffer::DEVICE))
    {
        let _ = panel.draw(&last_page());
    }
    let Some(serial) = &outfit.serial else { return };
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    if let Ok(mut port) = OpenOptions::new().write(true).custom_flags(flags).open(&serial.path) {
        let at = Monotonic::since_kernel().now();
        let _ = write!(port, "\r\n{}\r\n", Line(&Stamped { at, event: Event::Fault(words(line)) }));
    }
}

/// The panicking thread's own wait: no other is relied on.
fn act(outfit: &Outfit) {
    let clock = Monotonic::since_kernel();
    let until = clock.now() + READABLE;
    let mut buttons = Buttons::new(outfit.button.clone());
    loop {
        buttons.look_for_devices();
        buttons.wait();
        let pressed = buttons.see(clock.now()).iter().any(|gesture| *gesture != Gesture::NextDuration);
        if pressed || outfit.on_fault == OnFault::Reboot && clock.now() >= until {
            init::end(&mut Linux, End::Restart);
        }
    }
}
