//! The log on a serial port, as text or as records, and what is typed there.
//!
//! A thread of its own writes: lines come by the log's mailbox and wait in a [`Backlog`] of their own for as
//! long as the reader takes none. The port never makes anybody wait: reads and writes give up after
//! [`LOOK`], and a port that is not there, or goes away, is looked for once a second.
//!
//! The port is raw, 8N1, exclusive, and without flow control unless the board says so. A line ends with a
//! carriage return and a line feed, as a terminal program wants it. What the port did not take whole is written again,
//! as it was, when there is a port.

use super::backlog::Backlog;
use super::mailbox::Receiver;
use super::typed::{SerialCommand, Typed};
use super::voice::Voice;
use crate::board::SerialSettings;
use crate::sys::serial::set_nonblocking;
use measure::record::Stamped;
use serialport::{ClearBuffer, DataBits, FlowControl, Parity, SerialPort, StopBits, TTYPort};
use std::io::{self, ErrorKind, Read, Write};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long one read or write waits, and how often the mailbox is looked into.
const LOOK: Duration = Duration::from_millis(30);

/// Looks from one attempt to open the port to the next: about a second.
const LOOKS_TO_RETRY: u32 = 33;

/// Looks that a reader is given to take what is left when the log is closed: about three seconds.
const LOOKS_AT_THE_END: u32 = 100;

/// Lines that wait for the reader: several runs without their rate lines.
const WAITING: usize = 512;

/// Opens a board's serial port.
///
/// # Errors
/// The kernel's: no such port, somebody else has it, or it does not do what is asked.
pub fn open(settings: &SerialSettings) -> io::Result<TTYPort> {
    let flow = if settings.flow { FlowControl::Hardware } else { FlowControl::None };
    let builder = serialport::new(settings.path.to_string_lossy(), settings.baud)
        .data_bits(DataBits::Eight)
        .parity(Parity::None)
        .stop_bits(StopBits::One)
        .flow_control(flow)
        .timeout(LOOK);
    let port = TTYPort::open(&builder)?;
    set_nonblocking(&port)?;
    Ok(port)
}

/// Starts the thread that writes what `voice` makes of `log` to the port and hands what is typed there to `command`,
/// until the log is closed and written, or the reader has had three seconds for it.
///
/// The port need not be there: it is opened as soon as it is.
///
/// # Errors
/// The thread could not be started.
pub fn start(
    settings: SerialSettings,
    voice: Voice,
    log: Receiver<Stamped>,
    command: impl FnMut(SerialCommand) + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let link = SerialLink::new(voice, move || open(&settings));
    std::thread::Builder::new().name("serial".to_owned()).spawn(move || serve(link, log, command))
}

fn serve<P: Port>(
    mut link: SerialLink<P, impl FnMut() -> io::Result<P>>,
    mut log: Receiver<Stamped>,
    mut command: impl FnMut(SerialCommand),
) {
    let mut looks_left = LOOKS_AT_THE_END;
    while looks_left > 0 && !(log.finished() && link.idle()) {
        if log.finished() {
            looks_left -= 1;
        }
        while let Some(line) = log.take() {
            link.add(line);
        }
        link.look(&mut command);
        if !link.is_open() {
            std::thread::sleep(LOOK);
        }
    }
}

/// What a serial port does for the log.
trait Port: Read + Write {
    /// Throws away what is on its way out: a port that is closed would wait for it.
    fn discard(&mut self);
}

impl Port for TTYPort {
    fn discard(&mut self) {
        // It goes away in any case.
        let _ = self.clear(ClearBuffer::All);
    }
}

/// A port that may come and go, and what is to be written to it.
struct SerialLink<P, O> {
    open: O,
    port: Option<P>,
    looks_to_retry: u32,
    backlog: Backlog,
    voice: Voice,
    /// The octets of the event that is being written, and those that the port has not taken yet.
    current: Vec<u8>,
    left: Vec<u8>,
    typed: Typed,
}

impl<P: Port, O: FnMut() -> io::Result<P>> SerialLink<P, O> {
    fn new(voice: Voice, open: O) -> Self {
        let (backlog, typed) = (Backlog::new(WAITING), Typed::default());
        let (current, left) = (Vec::new(), Vec::new());
        Self { open, port: None, looks_to_retry: 0, backlog, voice, current, left, typed }
    }

    fn add(&mut self, line: Stamped) {
        self.backlog.push(line);
    }

    /// Nothing is left to write.
    fn idle(&self) -> bool {
        self.left.is_empty() && self.current.is_empty() && self.backlog.is_empty()
    }

    const fn is_open(&self) -> bool {
        self.port.is_some()
    }

    /// Writes what the port takes and reads what it has, waiting at most twice [`LOOK`].
    fn look(&mut self, command: &mut impl FnMut(SerialCommand)) {
        self.open_when_due();
        if self.write().and_then(|()| self.read(command)).is_err() {
            self.close();
        }
    }

    fn open_when_due(&mut self) {
        if self.port.is_some() {
            return;
        }
        self.looks_to_retry = self.looks_to_retry.saturating_sub(1);
        if self.looks_to_retry > 0 {
            return;
        }
        self.looks_to_retry = LOOKS_TO_RETRY;
        if let Ok(port) = (self.open)() {
            self.port = Some(port);
            self.left = [self.voice.greeting(), &self.current].concat();
            self.typed = Typed::default();
        }
    }

    /// Closes the port; what it did not take whole is written again when there is a port.
    fn close(&mut self) {
        if let Some(mut port) = self.port.take() {
            port.discard();
        }
        self.left.clear();
    }

    fn write(&mut self) -> io::Result<()> {
        let Some(port) = &mut self.port else { return Ok(()) };
        loop {
            while self.left.is_empty() {
                self.current.clear();
                let Some(event) = self.backlog.pop() else { return Ok(()) };
                self.current = self.voice.say(&event);
                self.left.clone_from(&self.current);
            }
            match port.write(&self.left) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(taken) => drop(self.left.drain(..taken.min(self.left.len()))),
                Err(error) => return not_now(error),
            }
        }
    }

    fn read(&mut self, command: &mut impl FnMut(SerialCommand)) -> io::Result<()> {
        let Some(port) = &mut self.port else { return Ok(()) };
        let mut octets = [0; 256];
        let count = match port.read(&mut octets) {
            // A port that has been hung up.
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => count,
            Err(error) => return not_now(error),
        };
        octets.iter().take(count).filter_map(|&octet| self.typed.take(octet)).for_each(command);
        Ok(())
    }
}

/// Waiting in vain is no error.
fn not_now(error: io::Error) -> io::Result<()> {
    match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(()),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests;
