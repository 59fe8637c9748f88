//! An emulated cable between two TAP devices: real system calls, a real network stack, no hardware.
//!
//! The devices live as long as the cable, in the network namespace of the thread that made them.

use crate::cable::emulated::EmulatedCable;
use crate::cable::runner::{End, RunningCable};
use crate::sys::tun;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

/// Frames that a device holds until the cable's thread reads them: 5 ms at 1.6 Mframe/s, several bursts of 64
/// from each stream.
const QUEUE: i32 = 8192;

/// Why there is no TAP cable.
#[derive(Debug, thiserror::Error)]
pub enum TapError {
    /// The host has no TUN driver for us.
    #[error("no TUN device: {path}: {error} (the kernel needs CONFIG_TUN, and we the right to open it)", path = tun::DEVICE)]
    Open {
        /// The kernel's reason.
        error: io::Error,
    },
    /// The device could not be made.
    #[error("no TAP device {name}: {error} (it takes CAP_NET_ADMIN over this network namespace)")]
    Attach {
        /// Its name.
        name: String,
        /// The kernel's reason.
        error: io::Error,
    },
    /// There is no socket to ask for its flags.
    #[error("no socket to look after TAP device {name}: {error}")]
    Socket {
        /// Its name.
        name: String,
        /// The kernel's reason.
        error: io::Error,
    },
    /// The cable's thread could not be started, or a carrier not be set.
    #[error("TAP cable cannot start: {error}")]
    Start {
        /// The kernel's reason.
        error: io::Error,
    },
}

/// A cable that has its devices and does not carry yet.
#[derive(Debug)]
pub struct TapCable {
    cable: EmulatedCable,
    ends: [TapEnd; 2],
}

impl TapCable {
    /// Makes the TAP devices `names`, for port A and port B, in this thread's network namespace.
    ///
    /// # Errors
    /// No driver, no permission, or a name that is taken: see [`TapError`].
    pub fn new(names: [&str; 2], cable: EmulatedCable) -> Result<Self, TapError> {
        let [a, b] = names;
        Ok(Self { cable, ends: [TapEnd::new(a)?, TapEnd::new(b)?] })
    }

    /// Starts to carry frames, in a thread of its own.
    ///
    /// # Errors
    /// No thread, or a kernel that cannot set a TAP's carrier (before 5.0).
    pub fn start(self) -> Result<RunningCable, TapError> {
        RunningCable::start(self.cable, self.ends).map_err(|error| TapError::Start { error })
    }
}

/// One TAP device, seen from its file.
#[derive(Debug)]
struct TapEnd {
    name: String,
    device: File,
    /// Any socket of the device's namespace: interface requests go through one.
    socket: UdpSocket,
}

impl TapEnd {
    fn new(name: &str) -> Result<Self, TapError> {
        let device = tun::open().map_err(|error| TapError::Open { error })?;
        let named = |error| TapError::Attach { name: name.to_owned(), error };
        tun::attach_tap(device.as_fd(), name).map_err(named)?;
        // An unspecified address needs no interface to be up. Written as a text, it would bring a resolver of
        // names into the program: 130 kB.
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))
            .map_err(|error| TapError::Socket { name: name.to_owned(), error })?;
        // A shorter queue is no fault of the cable's: what it drops shows as the device's own drops.
        let _ = tun::set_queue_length(&socket, name, QUEUE);
        Ok(Self { name: name.to_owned(), device, socket })
    }
}

impl End for TapEnd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.device.read(buffer) {
            Ok(octets) => Ok(Some(octets)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&mut self, frame: &[u8]) -> io::Result<()> {
        self.device.write(frame).map(|_| ())
    }

    fn set_carrier(&mut self, up: bool) -> io::Result<()> {
        tun::set_carrier(self.device.as_fd(), up)
    }

    fn is_up(&mut self) -> Option<bool> {
        tun::flags(&self.socket, &self.name).ok().map(|flags| flags & libc::IFF_UP != 0)
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cable::account::{Account, Kind};
    use crate::cable::fault::Script;
    use crate::cable::recognise::tests::{TEST, frame, sequence};
    use measure::units::{Direction, Side};
    use nix::poll::{PollFd, PollFlags, poll};
    use std::collections::BTreeSet;
    use std::thread;
    use std::time::{Duration, Instant};

    const NAMES: [&str; 2] = ["lgA", "lgB"];
    /// How long something that must happen is waited for.
    const PATIENCE: Duration = Duration::from_secs(20);

    /// Runs `test` in a network namespace of its own, on a thread that ends with it.
    fn alone(test: impl FnOnce() + Send) {
        let run = || match nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).map(|()| tun::open()) {
            Ok(Ok(_)) => test(),
            Ok(Err(error)) => skip(&format!("{}: {error}", tun::DEVICE)),
            Err(error) => skip(&format!("no network namespace: {error}")),
        };
        thread::scope(|scope| scope.spawn(run).join().unwrap());
    }

    /// Past the test harness, which swallows what a passing test prints.
    fn skip(reason: &str) {
        writeln!(io::stderr(), "SKIPPED: {reason}").unwrap();
    }

    fn cable(faults: &[&str]) -> EmulatedCable {
        EmulatedCable::new(&Script::parse(faults).unwrap(), 1, Duration::ZERO)
    }

    fn start(faults: &[&str]) -> RunningCable {
        TapCable::new(NAMES, cable(faults)).unwrap().start().unwrap()
    }

    fn switch(name: &str, up: bool) {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        tun::set_flags(&socket, name, if up { libc::IFF_UP } else { 0 }).unwrap();
    }

    fn is_running(name: &str) -> bool {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        tun::flags(&socket, name).unwrap() & libc::IFF_RUNNING != 0
    }

    /// Waits until the kernel shows these carriers.
    fn wait_for_carriers(carriers: [bool; 2]) {
        let start = Instant::now();
        while NAMES.map(is_running) != carriers {
            assert!(
                start.elapsed() < PATIENCE,
                "carriers {:?} instead of {carriers:?}",
                NAMES.map(is_running)
            );
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Both devices switched on, with sockets to play the ports, and frames crossing both ways: the kernel
    /// begins to send a moment after it shows the carrier.
    fn ports() -> [File; 2] {
        NAMES.iter().for_each(|name| switch(name, true));
        let ports = NAMES.map(port);
        let [a, b] = &ports;
        wait_for_crossing(a, b);
        wait_for_crossing(b, a);
        ports
    }

    /// A socket to play a port with, with room for all that a test sends.
    fn port(name: &str) -> File {
        let socket = tun::packet_socket(name).unwrap();
        nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::RcvBufForce, &(1 << 23)).unwrap();
        socket
    }

    fn wait_for_crossing(from: &File, to: &File) {
        let mut hello = frame(TEST, 0, 0, 1514);
        hello[12..14].copy_from_slice(&[0x88, 0xB7]);
        let start = Instant::now();
        loop {
            // Without a carrier the kernel may say so or not.
            let _ = (&mut &*from).write(&hello);
            let mut heard = false;
            hear(to, Duration::from_millis(10), |frame| heard |= frame == hello);
            if heard {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "nothing crosses");
        }
    }

    fn send(from: &File, count: u64) {
        for number in 0..count {
            (&mut &*from).write_all(&frame(TEST, 0, number, 1514)).unwrap();
        }
    }

    /// Fresh interfaces speak by themselves: only frames of ours count.
    fn is_ours(frame: &[u8]) -> bool {
        frame[12..14] == [0x88, 0xB5]
    }

    /// Sends `count` test frames and returns the numbers that arrive, until `want` have.
    fn flood(from: &File, to: &File, count: u64, want: usize) -> BTreeSet<u64> {
        send(from, count);
        let mut arrived = BTreeSet::new();
        wait_until(|| {
            hear(to, Duration::from_millis(20), |frame| {
                if is_ours(frame) {
                    arrived.insert(sequence(frame));
                }
            });
            arrived.len() >= want
        });
        arrived
    }

    fn wait_until(mut done: impl FnMut() -> bool) {
        let start = Instant::now();
        while !done() && start.elapsed() < PATIENCE {}
    }

    /// Hands on the frames that are there, waiting for the first.
    fn hear(socket: &File, wait: Duration, mut sink: impl FnMut(&[u8])) {
        let mut buffer = [0; 2048];
        let mut timeout = u16::try_from(wait.as_millis()).unwrap();
        while poll(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLIN)], timeout).unwrap() > 0 {
            let octets = (&mut &*socket).read(&mut buffer).unwrap();
            sink(&buffer[..octets]);
            timeout = 0;
        }
    }

    fn refused(account: &Account) -> [u64; 2] {
        Direction::BOTH.map(|direction| account.direction(direction).refused)
    }

    #[test]
    fn frames_cross_between_two_devices_and_the_account_tells_which_did_not() {
        alone(|| {
            let running = start(&["a>b drop 17", "b>a fcs 3"]);
            let [a, b] = ports();
            assert_eq!(flood(&a, &b, 640, 623), (17..640).collect());
            // The sender's own socket hears what it sends, so the other way has sockets of its own.
            drop((a, b));
            let [a, b] = ports();
            assert_eq!(flood(&b, &a, 640, 637), (3..640).collect());
            let live = running.live();
            let account = running.stop();
            assert_eq!(account.direction(Direction::AToB).test().fault(Kind::Drop).done, 17);
            assert_eq!(live.mac(Side::A).crc_errors, 3);
            assert!(account.balances(), "{account}");
            assert_eq!((refused(&account), live.errors()), ([0, 0], 0));
        });
    }

    #[test]
    fn what_the_account_calls_delivered_is_what_the_device_receives() {
        // Each fault, and how many of 640 frames of ours come out.
        for (faults, count) in [
            (&["a>b flip 9 bits 3"][..], 640),
            (&["a>b truncate 4"], 640),
            (&["a>b duplicate 5"], 645),
            (&["a>b reorder 6"], 640),
            (&["a>b delay 2 by 20ms"], 640),
            (&["a>b dead at 0s"], 0),
            (&["a>b drop 3", "a>b fcs 4", "both duplicate 2", "b>a drop 9"], 635),
        ] {
            alone(|| {
                let running = start(faults);
                let [a, b] = ports();
                send(&a, 640);
                let mut heard = 0;
                wait_until(|| {
                    hear(&b, Duration::from_millis(20), |frame| heard += u64::from(is_ours(frame)));
                    let account = running.live().account();
                    let flow = account.direction(Direction::AToB).test();
                    flow.carried == 640 && flow.in_flight == 0 && flow.delivered == heard
                });
                let account = running.stop();
                assert_eq!((heard, refused(&account)), (count, [0, 0]), "{account}");
                assert!(account.balances(), "{account}");
            });
        }
    }

    #[test]
    fn an_open_end_is_a_device_without_carrier() {
        alone(|| {
            let _running = start(&["b open"]);
            NAMES.iter().for_each(|name| switch(name, true));
            wait_for_carriers([true, false]);
        });
    }

    #[test]
    fn a_flap_is_seen_by_both_devices() {
        alone(|| {
            let running = start(&["flap 1 for 2s at 0s"]);
            let [a, _b] = ports();
            (&mut &a).write_all(&frame(TEST, 0, 0, 60)).unwrap();
            wait_for_carriers([false, false]);
            wait_for_carriers([true, true]);
            assert_eq!(running.stop().flaps.done, 1);
        });
    }

    #[test]
    fn a_device_that_is_switched_off_takes_the_other_s_carrier_along() {
        alone(|| {
            let _running = start(&[]);
            let _ports = ports();
            switch("lgA", false);
            wait_for_carriers([false, false]);
            switch("lgA", true);
            wait_for_carriers([true, true]);
        });
    }

    #[test]
    fn what_a_device_that_is_down_cannot_take_is_the_host_s_refusal() {
        alone(|| {
            // A foreign frame needs no sender, and a network keeps the carrier up whatever the port does.
            let running = start(&["b network"]);
            let live = running.live();
            let start = Instant::now();
            while live.account().direction(Direction::AToB).refused == 0 {
                assert!(start.elapsed() < PATIENCE, "{}", live.account());
                thread::sleep(Duration::from_millis(10));
            }
            let truth = *running.stop().direction(Direction::AToB);
            assert_eq!(truth.refused, truth.network, "port B was never switched on");
        });
    }

    #[test]
    fn the_devices_go_with_the_cable() {
        alone(|| {
            drop(start(&[]));
            let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
            for name in NAMES {
                assert_eq!(tun::flags(&socket, name).unwrap_err().raw_os_error(), Some(libc::ENODEV));
            }
        });
    }

    #[test]
    fn a_name_that_is_taken_is_named() {
        alone(|| {
            let error = TapCable::new(["lgA", "lgA"], cable(&[])).unwrap_err().to_string();
            assert!(error.starts_with("no TAP device lgA: "), "{error}");
        });
    }

    #[test]
    fn a_missing_driver_is_told_as_such() {
        let error = TapError::Open { error: io::Error::from_raw_os_error(libc::ENOENT) };
        assert!(error.to_string().starts_with("no TUN device: /dev/net/tun: "), "{error}");
    }
}
