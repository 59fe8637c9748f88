//! The box: what PID 1 does from power-on to power-off.
//!
//! ```text
//! file systems → board → display, serial port, button, watchdog → self-proof → settings → [life]
//! ```
//! Whatever goes wrong on the way ends in a FAULT page and a line of the log, and then in what the board says:
//! wait for the button, or start again.

mod fault;
mod front;
mod keeping;
mod life;
mod outfit;
mod pages;
mod ports;
mod which;

use crate::clock::Monotonic;
use crate::host::init::{self, End, Linux, Trouble};
use crate::host::mounts::TABLE;
use crate::proof;
use fault::Fault;
use front::Front;
use life::Life;
use measure::record::{Event, text};
use measure::screen::Screen;
use outfit::Outfit;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use which::{Debug, Which};

/// The box's whole life. Never returns: a PID 1 that did would stop the kernel.
pub fn run() -> ! {
    init::live(Linux, serve)
}

fn serve() -> End {
    let clock = Monotonic::since_kernel();
    let troubles = init::prepare(&mut Linux, &TABLE);
    let which = Which::read();
    let outfit = which.as_ref().map_or_else(|_| Outfit::default(), |which| Outfit::of(&which.board));
    fault::take_panics(&outfit);
    let ending = Arc::<AtomicBool>::default();
    let signals = init::take_signals(Linux, &ending).err();
    let mut front = Front::open(clock, &outfit, ending);
    match power_on(&mut front, which, troubles.into_iter().chain(signals)) {
        Ok(which) => Life::new(front, which).live(),
        Err(fault) => fault::stand(&mut front, &outfit, &fault),
    }
}

/// Everything before the first wait; what it stumbles over.
fn power_on(
    front: &mut Front,
    which: Result<Which, Fault>,
    troubles: impl Iterator<Item = Trouble>,
) -> Result<Which, Fault> {
    front.show(&Screen::Checking { what: "myself" });
    let board = which.as_ref().map_or_else(|_| text("unknown"), |which| text(&which.board.name));
    front.tell(Event::Boot { version: env!("CARGO_PKG_VERSION"), board });
    front.arm_watchdog();
    let mut worst = None;
    for trouble in troubles {
        front.note(&trouble);
        if trouble.is_required() {
            worst.get_or_insert_with(|| Fault::new("a file system is missing", &trouble));
        }
    }
    if let Some(fault) = worst {
        return Err(fault);
    }
    let which = which?;
    prove(which.debug)?;
    front.note(&"self-proof: one error of each kind was shown, and reported");
    Ok(which)
}

/// The gauge is shown errors before it judges a cable.
fn prove(debug: Option<Debug>) -> Result<(), Fault> {
    let outcome = if debug == Some(Debug::Blind) { proof::run_blind() } else { proof::run() };
    outcome.map_err(|failed| Fault::new("the gauge does not see errors", &failed))
}
