//! An emulated cable between two unix datagram sockets, a frame a datagram: what QEMU's `-netdev dgram` speaks.
//!
//! For each port: `-netdev dgram,id=n0,local.type=unix,local.path=PORT,remote.type=unix,remote.path=CABLE`.
//! A socket has no carrier: [`Live::carrier`](crate::cable::runner::Live::carrier) tells what to set by QMP's
//! `set_link`.
//!
//! # Limitations
//! QEMU's NICs pad a frame that arrives with fewer than 60 octets: a truncated one is then longer than it left
//! the cable, and if it was cut by an octet that happened to be zero, it is whole again.

use crate::cable::emulated::EmulatedCable;
use crate::cable::runner::{End, RunningCable};
use nix::poll::{PollFd, PollFlags, poll};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

/// How long a port that is behind may let the cable wait before a frame counts as refused, ms: longer than an
/// emulator stands still that is not dead. The kernel queues only ten datagrams (net.unix.max_dgram_qlen), so
/// waiting is the rule there, and it holds both ports up alike: none of them sends what the other cannot take.
const PATIENCE_MS: u16 = 20_000;

/// Why there is no datagram cable.
#[derive(Debug, thiserror::Error)]
pub enum DatagramError {
    /// The cable's own socket could not be made.
    #[error("no socket at {path}: {error}", path = path.display())]
    Bind {
        /// Where.
        path: PathBuf,
        /// The kernel's reason.
        error: io::Error,
    },
    /// Two of the four sockets are one.
    #[error("{path} is named twice; each of the four sockets needs a path of its own", path = path.display())]
    Twice {
        /// Which.
        path: PathBuf,
    },
    /// A socket could not be set up.
    #[error("datagram cable cannot start: {error}")]
    Start {
        /// The kernel's reason.
        error: io::Error,
    },
}

/// Where the two sockets of one port are.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The cable's own, made here; QEMU's `remote.path`.
    pub cable: &'a Path,
    /// The port's; QEMU's `local.path`. It may come later, and come again.
    pub port: &'a Path,
}

/// A cable that has its sockets and does not carry yet.
#[derive(Debug)]
pub struct DatagramCable {
    cable: EmulatedCable,
    ends: [DatagramEnd; 2],
}

impl DatagramCable {
    /// Makes the cable's sockets for port A and port B; a stale socket in the way is removed.
    ///
    /// # Errors
    /// A path that cannot be bound, or is named twice.
    pub fn new(places: [Place; 2], cable: EmulatedCable) -> Result<Self, DatagramError> {
        let [a, b] = places;
        let paths = [a.cable, a.port, b.cable, b.port];
        let again = (1..paths.len()).find(|&at| paths.iter().take(at).any(|path| *path == paths[at]));
        if let Some(at) = again {
            return Err(DatagramError::Twice { path: paths[at].to_owned() });
        }
        Ok(Self { cable, ends: [DatagramEnd::bind(a)?, DatagramEnd::bind(b)?] })
    }

    /// A cable between two sockets that are connected to the ports.
    ///
    /// # Errors
    /// A socket that cannot be made non-blocking.
    pub fn between(sockets: [UnixDatagram; 2], cable: EmulatedCable) -> Result<Self, DatagramError> {
        let [a, b] = sockets;
        Ok(Self { cable, ends: [DatagramEnd::new(a, None)?, DatagramEnd::new(b, None)?] })
    }

    /// Starts to carry frames, in a thread of its own.
    ///
    /// # Errors
    /// No thread.
    pub fn start(self) -> Result<RunningCable, DatagramError> {
        RunningCable::start(self.cable, self.ends).map_err(|error| DatagramError::Start { error })
    }
}

/// One port's socket, seen from the cable.
#[derive(Debug)]
struct DatagramEnd {
    socket: UnixDatagram,
    /// The port's path, and whether we are connected to it; none for a socket that was given.
    port: Option<PathBuf>,
    connected: bool,
    /// The cable's own path, removed at the end.
    own: Option<PathBuf>,
}

impl DatagramEnd {
    fn bind(place: Place) -> Result<Self, DatagramError> {
        let at = |error| DatagramError::Bind { path: place.cable.to_owned(), error };
        if fs::symlink_metadata(place.cable).is_ok_and(|found| found.file_type().is_socket()) {
            fs::remove_file(place.cable).map_err(at)?;
        }
        let socket = UnixDatagram::bind(place.cable).map_err(at)?;
        let mut end = Self::new(socket, Some(place.port.to_owned()))?;
        end.own = Some(place.cable.to_owned());
        Ok(end)
    }

    fn new(socket: UnixDatagram, port: Option<PathBuf>) -> Result<Self, DatagramError> {
        socket.set_nonblocking(true).map_err(|error| DatagramError::Start { error })?;
        let connected = port.is_none();
        Ok(Self { socket, port, connected, own: None })
    }

    /// Connects to the port's socket, which makes waiting for room there possible.
    fn connect(&mut self) -> io::Result<()> {
        if let (false, Some(port)) = (self.connected, &self.port) {
            self.socket.connect(port)?;
            self.connected = true;
        }
        Ok(())
    }

    /// Waits until the port has room; an error is the send's to tell.
    fn wait_for_room(&self) {
        let _ = poll(&mut [PollFd::new(self.socket.as_fd(), PollFlags::POLLOUT)], PATIENCE_MS);
    }

    /// Sends, and once more if the port was behind.
    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.connect()?;
        match self.socket.send(frame) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.wait_for_room();
                self.socket.send(frame)
            }
            other => other,
        }
        .map(|_| ())
    }
}

impl End for DatagramEnd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.socket.recv(buffer) {
            Ok(octets) => Ok(Some(octets)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            // The port's socket went away; it may come again.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&mut self, frame: &[u8]) -> io::Result<()> {
        match self.send(frame) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused && self.port.is_some() => {
                // The port's socket went away; there may be a new one at the same path.
                self.connected = false;
                self.send(frame)
            }
            result => result,
        }
    }

    fn set_carrier(&mut self, _up: bool) -> io::Result<()> {
        Ok(())
    }

    fn is_up(&mut self) -> Option<bool> {
        None
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for DatagramEnd {
    fn drop(&mut self) {
        if let Some(own) = &self.own {
            // If it is gone already, so much the better.
            let _ = fs::remove_file(own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cable::account::{Account, Fate, Kind};
    use crate::cable::fault::Script;
    use crate::cable::recognise::tests::{TEST, frame, sequence};
    use measure::units::{Direction, Side};
    use std::thread;
    use std::time::Duration;

    /// No frame of ours: it tells the reader that nothing more comes.
    const LAST: &[u8] = b"last";

    fn cable(faults: &[&str]) -> EmulatedCable {
        EmulatedCable::new(&Script::parse(faults).unwrap(), 1, Duration::ZERO)
    }

    /// Sends `count` test frames and the last word; returns the numbers that arrive.
    fn flood(from: &UnixDatagram, to: &UnixDatagram, count: u64) -> Vec<u64> {
        thread::scope(|scope| {
            let reader = scope.spawn(|| read_all(to));
            for number in 0..count {
                from.send(&frame(TEST, 0, number, 60)).unwrap();
            }
            from.send(LAST).unwrap();
            reader.join().unwrap()
        })
    }

    fn read_all(socket: &UnixDatagram) -> Vec<u64> {
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut buffer = [0; 2048];
        let mut numbers = Vec::new();
        loop {
            let octets = socket.recv(&mut buffer).unwrap();
            match &buffer[..octets] {
                LAST => return numbers,
                frame => numbers.push(sequence(frame)),
            }
        }
    }

    fn dropped(account: &Account, direction: Direction) -> u64 {
        account.direction(direction).test().fault(Kind::Drop).done
    }

    #[test]
    fn frames_cross_between_two_sockets_both_ways_and_the_account_tells_which_did_not() {
        let (port_a, cable_a) = UnixDatagram::pair().unwrap();
        let (port_b, cable_b) = UnixDatagram::pair().unwrap();
        let cable = cable(&["a>b drop 17", "b>a fcs 3"]);
        let running = DatagramCable::between([cable_a, cable_b], cable).unwrap().start().unwrap();
        let live = running.live();
        assert_eq!(flood(&port_a, &port_b, 500), (17..500).collect::<Vec<_>>());
        assert_eq!(flood(&port_b, &port_a, 500), (3..500).collect::<Vec<_>>());
        let account = running.stop();
        assert_eq!(dropped(&account, Direction::AToB), 17);
        assert_eq!(account.direction(Direction::BToA).test().gone(Fate::Fcs), 3);
        assert!(account.balances(), "{account}");
        assert_eq!(Direction::BOTH.map(|direction| account.direction(direction).refused), [0, 0]);
        assert_eq!(live.account(), account);
        assert_eq!(live.mac(Side::A).crc_errors, 3);
        assert_eq!(live.mac(Side::B).rx_frames, 483 + 1);
        assert_eq!(live.errors(), 0);
    }

    #[test]
    fn carriers_are_there_to_be_read_where_sockets_have_none() {
        let (_port_a, cable_a) = UnixDatagram::pair().unwrap();
        let (_port_b, cable_b) = UnixDatagram::pair().unwrap();
        let running =
            DatagramCable::between([cable_a, cable_b], cable(&["b open"])).unwrap().start().unwrap();
        assert_eq!(Side::BOTH.map(|side| running.live().carrier(side)), [true, false]);
    }

    #[test]
    fn a_port_may_come_late_and_come_again() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["cable-a", "port-a", "cable-b", "port-b"].map(|name| folder.path().join(name));
        let [cable_a, port_a, cable_b, port_b] = &paths;
        let places = [Place { cable: cable_a, port: port_a }, Place { cable: cable_b, port: port_b }];
        let running = DatagramCable::new(places, cable(&[])).unwrap().start().unwrap();
        for _ in 0..2 {
            let [a, b] = [port_a, port_b].map(|path| UnixDatagram::bind(path).unwrap());
            a.connect(cable_a).unwrap();
            assert_eq!(flood(&a, &b, 100), (0..100).collect::<Vec<_>>());
            [port_a, port_b].into_iter().for_each(|path| fs::remove_file(path).unwrap());
        }
        let account = running.stop();
        assert_eq!(account.direction(Direction::AToB).test().delivered, 200);
        assert!(!cable_a.exists() && !cable_b.exists(), "the cable's sockets are removed");
    }

    #[test]
    fn a_port_that_stands_still_for_a_while_loses_nothing() {
        let (port_a, cable_a) = UnixDatagram::pair().unwrap();
        let (port_b, cable_b) = UnixDatagram::pair().unwrap();
        let running = DatagramCable::between([cable_a, cable_b], cable(&[])).unwrap().start().unwrap();
        let arrived = thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..200 {
                    port_a.send(&frame(TEST, 0, number, 60)).unwrap();
                }
                port_a.send(LAST).unwrap();
            });
            // Longer than an emulator is starved on a machine that is busy.
            thread::sleep(Duration::from_millis(400));
            read_all(&port_b)
        });
        assert_eq!(arrived, (0..200).collect::<Vec<_>>());
        assert_eq!(running.stop().direction(Direction::AToB).refused, 0);
    }

    #[test]
    fn no_socket_can_be_two() {
        let [one, two, three] = ["/tmp/one", "/tmp/two", "/tmp/three"].map(Path::new);
        let places = [Place { cable: one, port: two }, Place { cable: three, port: one }];
        let error = DatagramCable::new(places, cable(&[])).unwrap_err().to_string();
        assert!(error.starts_with("/tmp/one is named twice"), "{error}");
    }

    #[test]
    fn what_a_port_that_is_not_there_cannot_take_is_the_host_s_refusal() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["cable-a", "cable-b", "none-a", "none-b"].map(|name| folder.path().join(name));
        let [cable_a, cable_b, none_a, none_b] = &paths;
        let places = [Place { cable: cable_a, port: none_a }, Place { cable: cable_b, port: none_b }];
        let running = DatagramCable::new(places, cable(&[])).unwrap().start().unwrap();
        let port = UnixDatagram::unbound().unwrap();
        port.send_to(&frame(TEST, 0, 0, 60), cable_a).unwrap();
        let truth = *running.stop().direction(Direction::AToB);
        assert_eq!((truth.test().carried, truth.test().delivered, truth.refused), (1, 1, 1));
    }

    #[test]
    fn a_path_that_cannot_be_bound_is_named() {
        let [one, two, three, four] = ["cable", "port", "other cable", "other port"];
        let at = |name| Path::new("/no such folder").join(name);
        let paths = [at(one), at(two), at(three), at(four)];
        let [one, two, three, four] = &paths;
        let places = [Place { cable: one, port: two }, Place { cable: three, port: four }];
        let error = DatagramCable::new(places, cable(&[])).unwrap_err().to_string();
        assert!(error.starts_with("no socket at /no such folder/cable: "), "{error}");
    }
}
