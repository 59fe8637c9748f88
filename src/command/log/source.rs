//! Where records come from.

use super::super::HostRefused;
use super::tell;
use crate::args::LogSource;
use crate::board::SerialSettings;
use crate::board::words::one_line;
use crate::journal::reader::{Reader, Style};
use crate::journal::record::MAJOR;
use crate::journal::serial;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serialport::{SerialPort, TTYPort};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// How often a port that has gone away is looked for.
const RETRY: Duration = Duration::from_secs(1);

/// Octets that are taken at once.
const CHUNK: usize = 4096;

/// A source of records and who reads it.
pub struct Source {
    name: String,
    from: From,
    reader: Reader,
    /// The foreign version that was told of.
    version: Option<(u8, u8)>,
    error: Option<String>,
}

enum From {
    /// Standard input or a file; none when it has ended.
    File(Option<File>),
    /// A serial port.
    Port(Port),
}

/// A port that may come and go.
struct Port {
    settings: SerialSettings,
    port: Option<TTYPort>,
    /// When it is looked for again.
    due: Instant,
}

impl Source {
    /// Opens a source.
    ///
    /// # Errors
    /// What could not be opened, and why.
    pub fn open(source: &LogSource, baud: u32, style: Style) -> Result<Self, HostRefused> {
        let (name, from) = match source {
            LogSource::StandardInput => ("-".to_owned(), standard_input()),
            LogSource::Path(path) => (one_line(&path.to_string_lossy()), From::open(path, baud)),
        };
        let from = from.map_err(|error| HostRefused::new(&name, error))?;
        let reader = Reader::new(&name, style);
        Ok(Self { name, from, reader, version: None, error: None })
    }

    /// It is a serial port.
    pub const fn is_port(&self) -> bool {
        matches!(self.from, From::Port(_))
    }

    /// Nothing more will come; a port may always come back.
    pub const fn ended(&self) -> bool {
        matches!(self.from, From::File(None))
    }

    /// What kept it from being read to its end, in one line.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Takes what is there and adds to `out` what it says; tells whether there was anything.
    pub fn look(&mut self, out: &mut String) -> bool {
        let mut octets = [0; CHUNK];
        let read = match &mut self.from {
            From::File(Some(file)) => read_file(file, &mut octets),
            From::File(None) => return false,
            From::Port(port) => port.read(&self.name, &mut octets),
        };
        match read {
            Ok(0) => self.end(None),
            Ok(count) => {
                self.reader.take(octets.get(..count).unwrap_or_default(), out);
                self.tell_version();
                return true;
            }
            Err(error) if is_nothing_yet(&error) => {}
            Err(error) => self.end(Some(&error)),
        }
        false
    }

    /// It has ended, or the port has gone away.
    fn end(&mut self, error: Option<&io::Error>) {
        self.reader.cut();
        match &mut self.from {
            From::File(file) => {
                *file = None;
                self.error = error.map(|error| format!("{}: {error}", self.name));
            }
            From::Port(port) => {
                port.close();
                tell(&self.name, "it has gone away; it is looked for once a second");
            }
        }
    }

    /// Records that cannot be read at all are told of at once: they may go on for days.
    fn tell_version(&mut self) {
        let version = self.reader.skipped().version;
        if let (true, Some((major, minor))) = (version != self.version, version) {
            tell(
                &self.name,
                format_args!("records of format {major}.{minor}; this version reads {MAJOR}.x only"),
            );
        }
        self.version = version;
    }

    /// Says what was skipped, where there was anything.
    pub fn tell_skipped(&self) {
        let (records, skipped) = (self.reader.records(), self.reader.skipped());
        if !skipped.is_nothing() {
            tell(&self.name, format_args!("{records} records read, skipped: {skipped}"));
        }
    }
}

impl From {
    fn open(path: &Path, baud: u32) -> io::Result<Self> {
        if !is_terminal(path)? {
            return Ok(Self::File(Some(File::open(path)?)));
        }
        let settings = SerialSettings { path: path.to_owned(), baud, flow: false };
        let port = Some(open_port(&settings)?);
        Ok(Self::Port(Port { settings, port, due: Instant::now() }))
    }
}

/// Standard input, unbuffered.
fn standard_input() -> io::Result<From> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    Ok(From::File(Some(File::from(input))))
}

/// A serial port is a terminal; looking does not wait for a carrier.
fn is_terminal(path: &Path) -> io::Result<bool> {
    if !std::fs::metadata(path)?.file_type().is_char_device() {
        return Ok(false);
    }
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    Ok(OpenOptions::new().read(true).custom_flags(flags).open(path)?.is_terminal())
}

fn open_port(settings: &SerialSettings) -> io::Result<TTYPort> {
    let mut port = serial::open(settings)?;
    port.set_timeout(Duration::ZERO)?;
    Ok(port)
}

impl Port {
    fn close(&mut self) {
        self.port = None;
        self.due = Instant::now() + RETRY;
    }

    /// Reads what is there; a port that is away is looked for when it is time.
    fn read(&mut self, name: &str, octets: &mut [u8]) -> io::Result<usize> {
        if self.port.is_none() && Instant::now() >= self.due {
            self.due = Instant::now() + RETRY;
            self.port = open_port(&self.settings).ok();
            if self.port.is_some() {
                tell(name, "it is there again");
            }
        }
        self.port.as_mut().map_or_else(|| Err(ErrorKind::WouldBlock.into()), |port| port.read(octets))
    }
}

/// Reads what is there, and does not wait for what a pipe may bring.
fn read_file(file: &mut File, octets: &mut [u8]) -> io::Result<usize> {
    let mut waits = [PollFd::new(file.as_fd(), PollFlags::POLLIN)];
    if poll(&mut waits, PollTimeout::ZERO)? == 0 {
        return Err(ErrorKind::WouldBlock.into());
    }
    file.read(octets)
}

fn is_nothing_yet(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
