//! A serial line with noise on it, between a box and `linegauge log` on a real pseudo-terminal.

use nix::pty::openpty;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What separates records on the wire.
const DELIMITER: u8 = 0;

/// The number of the kind of record that is one second of traffic: behind the octet that COBS puts first, and the
/// version.
const SECOND: u8 = 2;

/// The line: the box's end, and the reader's.
pub struct Line {
    master: File,
    slave: OwnedFd,
}

/// What went over it.
#[derive(Debug, Default)]
pub struct Sent {
    /// Seconds of traffic that noise has spoilt.
    pub seconds_spoilt: usize,
}

/// `linegauge log` at its other end.
pub struct Reader {
    process: Child,
}

impl Line {
    pub fn new() -> Self {
        let ends = openpty(None, None).unwrap();
        Self { master: ends.master.into(), slave: ends.slave }
    }

    fn path(&self) -> PathBuf {
        std::fs::read_link(format!("/proc/self/fd/{}", self.slave.as_raw_fd())).unwrap()
    }

    /// Starts the reader, and waits until the line is a raw one: what comes before is anybody's.
    pub fn reader(&self) -> Reader {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linegauge"));
        command.args(["log", "--format", "jsonl"]).arg(self.path());
        let process =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while nix::sys::termios::tcgetattr(&self.slave)
            .unwrap()
            .local_flags
            .contains(nix::sys::termios::LocalFlags::ICANON)
        {
            std::thread::sleep(Duration::from_millis(10));
        }
        Reader { process }
    }

    /// Hands on what comes out of the pipe at `wire` until it ends: noise before each record, and an octet taken out of
    /// every third second of traffic, or a delimiter put in.
    pub fn relay(mut self, wire: &Path) -> Sent {
        let mut sent = Sent::default();
        let (mut record, mut seconds) = (Vec::new(), 0);
        for octet in BufReader::new(File::open(wire).unwrap()).bytes() {
            let octet = octet.unwrap();
            if octet != DELIMITER {
                record.push(octet);
            } else if !record.is_empty() {
                let is_second = record.get(2) == Some(&SECOND);
                seconds += usize::from(is_second);
                if is_second && seconds % 3 == 0 {
                    sent.seconds_spoilt += 1;
                    let middle = record.len() / 2;
                    if seconds % 2 == 0 {
                        record.remove(middle);
                    } else {
                        record.insert(middle, DELIMITER);
                    }
                }
                let noise = [0x55, 0xFF, 0x7E, b'\r', 0x11, b'x'];
                self.master.write_all(&[&noise[..], &[DELIMITER], &record, &[DELIMITER]].concat()).unwrap();
                record.clear();
            }
        }
        // What is on the line is read before it goes.
        std::thread::sleep(Duration::from_secs(1));
        sent
    }
}

impl Reader {
    /// Ends the reader; its rows, and its last words.
    pub fn end(self) -> (Vec<Value>, String) {
        let pid = Pid::from_raw(i32::try_from(self.process.id()).unwrap());
        kill(pid, Signal::SIGINT).unwrap();
        let output = self.process.wait_with_output().unwrap();
        let rows = String::from_utf8(output.stdout).unwrap();
        let rows = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (rows, String::from_utf8(output.stderr).unwrap())
    }
}
