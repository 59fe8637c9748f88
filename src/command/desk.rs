//! A run on somebody's desk: a console to tell, signals to stop it, and a machine whose settings are put back.

use super::console::Console;
use crate::board::Board;
use crate::host::settings::{self, HostWatch};
use crate::session::{Host, MachineSettings, Output};
use measure::record::{Event, Slipped};
use measure::screen::Screen;
use measure::units::Instant;
use std::sync::atomic::{AtomicBool, Ordering};

/// Console, signals and host.
pub(super) struct Desk<'a> {
    console: &'a mut Console,
    board: &'a Board,
    stop: &'a AtomicBool,
    /// Puts the settings back when the desk goes.
    watch: HostWatch,
}

impl<'a> Desk<'a> {
    /// A desk with `console` on it, for a run of `board` that ends early when `stop` is set.
    pub(super) fn new(console: &'a mut Console, board: &'a Board, stop: &'a AtomicBool) -> Self {
        Self { console, board, stop, watch: HostWatch::default() }
    }

    /// Lets every sink finish what it has.
    pub(super) fn finish(&mut self) {
        self.console.finish();
    }
}

impl Output for Desk<'_> {
    fn event(&mut self, at: Instant, event: Event) {
        self.console.event(at, event);
    }

    fn screen(&mut self, screen: Screen) {
        self.console.screen(screen);
    }
}

impl Host for Desk<'_> {
    fn settings(&mut self) -> MachineSettings {
        let applied = settings::apply(self.board);
        self.watch = HostWatch::new(applied.held);
        MachineSettings { readings: applied.readings, notes: applied.notes }
    }

    fn turn(&mut self, now: Instant) -> Vec<Slipped> {
        self.watch.look(now)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
