//! A GPIO chip for tests: without interrupts, gone, or there again, as they say.

use super::{Gpio, Input, Output};
use crate::board::GpioWire;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// What the chip is.
#[derive(Debug, Default)]
struct State {
    /// Nobody answers any more.
    gone: bool,
    /// How often it has gone: a line that was open before does not come back.
    goings: u32,
    /// The error of a request for edges.
    refusal: Option<i32>,
    /// Levels, and every level that was written.
    lines: BTreeMap<u32, bool>,
    written: Vec<(u32, bool)>,
    edges: VecDeque<bool>,
    requests: u32,
}

/// A chip; clones are the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct FakeChip(Arc<Mutex<State>>);

/// An open line of it.
#[derive(Debug)]
pub(crate) struct FakeLine {
    chip: FakeChip,
    line: u32,
    goings: u32,
    has_edges: bool,
}

impl FakeChip {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Refuses edges with this error number from now on.
    pub(crate) fn refuse_edges(&self, errno: i32) {
        self.state().refusal = Some(errno);
    }

    /// Takes the chip away.
    pub(crate) fn unplug(&self) {
        let mut state = self.state();
        state.gone = true;
        state.goings += 1;
        state.lines.clear();
        state.edges.clear();
    }

    /// Brings it back.
    pub(crate) fn plug(&self) {
        self.state().gone = false;
    }

    /// A contact that takes these levels, one after the other.
    pub(crate) fn bounce(&self, line: u32, levels: &[bool]) {
        let mut state = self.state();
        state.edges.extend(levels);
        if let Some(last) = levels.last() {
            state.lines.insert(line, *last);
        }
    }

    /// A line's level.
    pub(crate) fn level(&self, line: u32) -> Option<bool> {
        self.state().lines.get(&line).copied()
    }

    /// What was written since the last call.
    pub(crate) fn take_written(&self) -> Vec<(u32, bool)> {
        std::mem::take(&mut self.state().written)
    }

    /// Requests for lines so far.
    pub(crate) fn requests(&self) -> u32 {
        self.state().requests
    }

    fn request(&self, wire: &GpioWire, has_edges: bool) -> io::Result<FakeLine> {
        let mut state = self.state();
        state.requests += 1;
        if state.gone {
            return Err(io::Error::from_raw_os_error(libc::ENOENT));
        }
        if let (true, Some(errno)) = (has_edges, state.refusal) {
            return Err(io::Error::from_raw_os_error(errno));
        }
        state.edges.clear();
        Ok(FakeLine { chip: self.clone(), line: wire.line, goings: state.goings, has_edges })
    }
}

impl Gpio for FakeChip {
    type Input = FakeLine;
    type Output = FakeLine;

    fn edges(&mut self, wire: &GpioWire) -> io::Result<FakeLine> {
        self.request(wire, true)
    }

    fn levels(&mut self, wire: &GpioWire) -> io::Result<FakeLine> {
        self.request(wire, false)
    }

    fn output(&mut self, wire: &GpioWire, active: bool) -> io::Result<FakeLine> {
        let mut line = self.request(wire, false)?;
        line.set(active)?;
        Ok(line)
    }
}

impl FakeLine {
    /// The chip, while it is the one that the line was opened on.
    fn state(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.chip.state();
        let there = !state.gone && state.goings == self.goings;
        if there { Ok(state) } else { Err(io::Error::from_raw_os_error(libc::ENODEV)) }
    }
}

impl Input for FakeLine {
    fn wait(&self, _: Duration) {
        std::thread::yield_now();
    }

    fn edges(&mut self) -> io::Result<Vec<bool>> {
        let edges = self.state()?.edges.drain(..).collect();
        Ok(if self.has_edges { edges } else { Vec::new() })
    }

    fn is_active(&self) -> io::Result<bool> {
        Ok(self.state()?.lines.get(&self.line).copied().unwrap_or(false))
    }
}

impl Output for FakeLine {
    fn set(&mut self, active: bool) -> io::Result<()> {
        let line = self.line;
        let mut state = self.state()?;
        state.lines.insert(line, active);
        state.written.push((line, active));
        Ok(())
    }
}
