//! Keys of input devices: `/dev/input/event*`.
//!
//! Which device has which key and name is read from sysfs, and events are read as they are: nothing else is
//! asked of a device.

use super::{ButtonWatch, Gesture};
use crate::board::ButtonKind;
use crate::clock::Clock;
use measure::units::Instant;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::ffi::c_ulong;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// `KEY_POWER` (linux/input-event-codes.h).
const KEY_POWER: u16 = 116;

/// `EV_SYN` and its `SYN_DROPPED` (linux/input-event-codes.h): the reader was too slow and has missed some.
const EV_SYN: u16 = 0;
const SYN_DROPPED: u16 = 3;

/// `EV_KEY` (linux/input-event-codes.h).
const EV_KEY: u16 = 1;

/// Octets of the time that an event begins with: two `long` (linux/input.h).
const TIME_OCTETS: usize = 2 * size_of::<c_ulong>();

/// Octets of a `struct input_event`: time, type, code, value.
const EVENT_OCTETS: usize = TIME_OCTETS + 8;

/// How often the key is looked at while a gesture is going on.
const BUSY_LOOK: Duration = Duration::from_millis(20);

/// How often devices are looked for while there is none, and a stop is noticed.
const IDLE_LOOK: Duration = Duration::from_secs(1);

/// What one event says, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    /// A key went down (or repeats) or up.
    Key { code: u16, down: bool },
    /// Events were lost.
    Lost,
}

/// The events in `octets`; a rest that is no whole event is left out.
fn events(octets: &[u8]) -> impl Iterator<Item = Said> {
    octets.chunks_exact(EVENT_OCTETS).filter_map(|event| {
        let [k0, k1, c0, c1, value @ ..] = event.get(TIME_OCTETS..)? else { return None };
        let kind = u16::from_ne_bytes([*k0, *k1]);
        let code = u16::from_ne_bytes([*c0, *c1]);
        let down = value.iter().any(|octet| *octet != 0);
        match (kind, code) {
            (EV_KEY, code) => Some(Said::Key { code, down }),
            (EV_SYN, SYN_DROPPED) => Some(Said::Lost),
            _ => None,
        }
    })
}

/// Whether a device's capability bitmap (`capabilities/key` in sysfs: words of a `long`, highest first) has
/// the key.
fn has_key(bitmap: &str, key: u16) -> bool {
    let bits = c_ulong::BITS;
    let (word, bit) = (u32::from(key) / bits, u32::from(key) % bits);
    let word = bitmap.split_ascii_whitespace().rev().nth(usize::try_from(word).unwrap_or(usize::MAX));
    let word = word.and_then(|word| c_ulong::from_str_radix(word, 16).ok());
    word.is_some_and(|word| word >> bit & 1 == 1)
}

/// The names of the event devices that are a button of this kind (`event3`), by the sysfs tree at `sys`.
fn find(sys: &Path, kind: &ButtonKind) -> Vec<String> {
    let inputs = fs::read_dir(sys.join("class/input")).into_iter().flatten().filter_map(Result::ok);
    let names = inputs.filter_map(|input| input.file_name().into_string().ok());
    let text = |name: &str, file: &str| {
        fs::read_to_string(sys.join("class/input").join(name).join("device").join(file)).unwrap_or_default()
    };
    let fits = |name: &String| match kind {
        ButtonKind::None => false,
        ButtonKind::Power => has_key(&text(name, "capabilities/key"), KEY_POWER),
        ButtonKind::Named(wanted) => text(name, "name").trim_end() == wanted,
    };
    let mut found: Vec<_> = names.filter(|name| name.starts_with("event")).filter(fits).collect();
    found.sort();
    found
}

/// An open event device and its keys that are down.
struct Device {
    file: File,
    down: Vec<u16>,
}

impl Device {
    fn open(node: &Path) -> io::Result<Self> {
        let flags = libc::O_NONBLOCK | libc::O_CLOEXEC;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(node)?;
        Ok(Self { file, down: Vec::new() })
    }

    /// The events that have come.
    fn read(&mut self) -> io::Result<Vec<Said>> {
        let mut octets = [0; 32 * EVENT_OCTETS];
        match self.file.read(&mut octets) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => Ok(events(octets.get(..count).unwrap_or_default()).collect()),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }

    fn take(&mut self, code: u16, down: bool) {
        self.down.retain(|other| *other != code);
        if down {
            self.down.push(code);
        }
    }
}

/// All input devices that are the button, taken as one: some boxes report one press by two of them.
pub struct Buttons {
    kind: ButtonKind,
    sys: PathBuf,
    input: PathBuf,
    devices: Vec<Device>,
    watch: ButtonWatch,
}

impl Buttons {
    /// The buttons of this kind on this machine. There need not be one yet: they are looked for until there
    /// is.
    #[must_use]
    pub fn new(kind: ButtonKind) -> Self {
        Self::within(kind, Path::new("/sys"), Path::new("/dev/input"))
    }

    /// The same with other places for sysfs and the device nodes.
    #[must_use]
    pub fn within(kind: ButtonKind, sys: &Path, input: &Path) -> Self {
        let (sys, input) = (sys.to_owned(), input.to_owned());
        Self { kind, sys, input, devices: Vec::new(), watch: ButtonWatch::new(false) }
    }

    /// Devices that are open.
    #[must_use]
    pub fn devices(&self) -> usize {
        self.devices.len()
    }

    /// Looks for devices, where there is none.
    pub fn look_for_devices(&mut self) {
        if self.devices.is_empty() {
            let nodes = find(&self.sys, &self.kind).into_iter().map(|name| self.input.join(name));
            self.devices = nodes.filter_map(|node| Device::open(&node).ok()).collect();
        }
    }

    /// Waits until something is pressed or released, or it is time to look again.
    pub fn wait(&self) {
        let time = if self.watch.is_busy() { BUSY_LOOK } else { IDLE_LOOK };
        let ready = |device| PollFd::new(device, PollFlags::POLLIN);
        let mut devices: Vec<_> = self.devices.iter().map(|device| ready(device.file.as_fd())).collect();
        // Interrupted or refused: the next look finds what there is.
        let _ = poll(&mut devices, PollTimeout::try_from(time).unwrap_or(PollTimeout::ZERO));
    }

    /// Takes what has come and tells the gestures complete at `now`. Never waits.
    pub fn see(&mut self, now: Instant) -> Vec<Gesture> {
        let mut gestures = Vec::new();
        let mut at = 0;
        while let Some(device) = self.devices.get_mut(at) {
            let Ok(said) = device.read() else {
                drop(self.devices.swap_remove(at));
                self.watch.forget();
                continue;
            };
            said.into_iter().for_each(|said| gestures.extend(self.take(at, said, now)));
            at += 1;
        }
        gestures.extend(self.watch.see(now, self.is_down()));
        gestures
    }

    fn take(&mut self, device: usize, said: Said, now: Instant) -> Option<Gesture> {
        let device = self.devices.get_mut(device)?;
        match said {
            Said::Key { code, down } if self.kind != ButtonKind::Power || code == KEY_POWER => {
                device.take(code, down);
                self.watch.see(now, self.is_down())
            }
            Said::Key { .. } => None,
            Said::Lost => {
                device.down.clear();
                self.watch.forget();
                None
            }
        }
    }

    fn is_down(&self) -> bool {
        self.devices.iter().any(|device| !device.down.is_empty())
    }
}

/// Starts the thread that hands gestures to `tell` until `stop` is set.
///
/// # Errors
/// The thread could not be started.
pub fn start(
    mut buttons: Buttons,
    clock: impl Clock + Send + 'static,
    stop: Arc<AtomicBool>,
    mut tell: impl FnMut(Gesture) + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("button".to_owned()).spawn(move || {
        while !stop.load(Ordering::Acquire) {
            buttons.look_for_devices();
            buttons.wait();
            buttons.see(clock.now()).into_iter().for_each(&mut tell);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Monotonic;
    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;
    use proptest::prelude::*;
    use std::io::Write;
    use std::sync::mpsc;

    fn event(kind: u16, code: u16, value: i32) -> Vec<u8> {
        let mut octets = vec![0xEE; TIME_OCTETS];
        octets.extend(kind.to_ne_bytes());
        octets.extend(code.to_ne_bytes());
        octets.extend(value.to_ne_bytes());
        octets
    }

    fn key(code: u16, down: bool) -> Vec<u8> {
        [event(EV_KEY, code, i32::from(down)), event(EV_SYN, 0, 0)].concat()
    }

    /// A machine with input devices whose events come from pipes.
    struct Machine {
        folder: tempfile::TempDir,
    }

    impl Machine {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().unwrap() }
        }

        fn buttons(&self, kind: ButtonKind) -> Buttons {
            let mut buttons = Buttons::within(kind, self.folder.path(), &self.folder.path().join("dev"));
            buttons.look_for_devices();
            buttons
        }

        /// Plugs a device in; its events are what is written to the file.
        fn plug(&self, event: &str, name: &str, keys: &str) -> File {
            let device = self.folder.path().join("class/input").join(event).join("device");
            fs::create_dir_all(device.join("capabilities")).unwrap();
            fs::write(device.join("name"), format!("{name}\n")).unwrap();
            fs::write(device.join("capabilities/key"), format!("{keys}\n")).unwrap();
            let folder = self.folder.path().join("dev");
            fs::create_dir_all(&folder).unwrap();
            let node = folder.join(event);
            mkfifo(&node, Mode::S_IRWXU).unwrap();
            // Opened for both, so that it does not wait for the reader.
            OpenOptions::new().read(true).write(true).open(node).unwrap()
        }
    }

    /// The capability bitmap of an ACPI power button.
    const POWER_ONLY: &str = "10000000000000 0";

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn an_event_has_24_octets_where_long_has_8() {
        assert_eq!(EVENT_OCTETS, if size_of::<c_ulong>() == 8 { 24 } else { 16 });
        assert_eq!(EVENT_OCTETS, size_of::<libc::input_event>());
    }

    #[test]
    fn keys_repeats_and_losses_are_told_and_other_events_are_not() {
        let octets = [
            event(EV_KEY, KEY_POWER, 1),
            event(EV_SYN, 0, 0),
            event(EV_KEY, KEY_POWER, 2),
            event(4, 4, 1),
            event(EV_KEY, 30, 0),
            event(EV_SYN, SYN_DROPPED, 0),
            vec![1; EVENT_OCTETS - 1],
        ]
        .concat();
        let down = Said::Key { code: KEY_POWER, down: true };
        let up = Said::Key { code: 30, down: false };
        assert_eq!(events(&octets).collect::<Vec<_>>(), [down, down, up, Said::Lost]);
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn the_power_key_is_found_in_a_bitmap() {
        assert!(has_key(POWER_ONLY, KEY_POWER));
        assert!(has_key("402000007 ff803078f800d001 feffffdfffefffff fffffffffffffffe", KEY_POWER));
        for bitmap in ["", "0", "10000000000000", "8000000000000 0", "x 0", "fffffffffffffffff 0"] {
            assert!(!has_key(bitmap, KEY_POWER), "{bitmap}");
        }
    }

    #[test]
    fn devices_are_found_by_key_or_by_name() {
        let machine = Machine::new();
        let _files = [
            machine.plug("event0", "Power Button", POWER_ONLY),
            machine.plug("event1", "Foot Switch", "40000000"),
            machine.plug("event12", "Foot Switch", "40000000"),
            machine.plug("mouse0", "Power Button", POWER_ONLY),
        ];
        let found = |kind| find(machine.folder.path(), &kind);
        assert_eq!(found(ButtonKind::Power), ["event0"]);
        assert_eq!(found(ButtonKind::Named("Foot Switch".to_owned())), ["event1", "event12"]);
        assert!(found(ButtonKind::None).is_empty());
        assert!(find(Path::new("/nowhere"), &ButtonKind::Power).is_empty());
    }

    #[test]
    fn a_press_of_the_power_key_is_told_and_other_keys_are_not() {
        let machine = Machine::new();
        let mut device = machine.plug("event0", "Keyboard", POWER_ONLY);
        let mut buttons = machine.buttons(ButtonKind::Power);
        device.write_all(&[key(30, true), key(30, false)].concat()).unwrap();
        assert!(buttons.see(at(0)).is_empty());
        assert!(buttons.see(at(1000)).is_empty());
        device.write_all(&[key(KEY_POWER, true), key(KEY_POWER, false)].concat()).unwrap();
        let told: Vec<_> = (0..100).flat_map(|look| buttons.see(at(2000 + 20 * look))).collect();
        assert_eq!(told, [Gesture::Press]);
    }

    #[test]
    fn one_press_by_two_devices_is_one_press() {
        let machine = Machine::new();
        let mut first = machine.plug("event0", "Power Button", POWER_ONLY);
        let mut second = machine.plug("event1", "Power Button", POWER_ONLY);
        let mut buttons = machine.buttons(ButtonKind::Power);
        assert_eq!(buttons.devices(), 2);
        for device in [&mut first, &mut second] {
            device.write_all(&[key(KEY_POWER, true), key(KEY_POWER, false)].concat()).unwrap();
        }
        let told: Vec<_> = (0..100).flat_map(|look| buttons.see(at(20 * look))).collect();
        assert_eq!(told, [Gesture::Press]);
    }

    #[test]
    fn any_key_of_a_named_device_counts_and_holding_it_switches_off() {
        let machine = Machine::new();
        let mut device = machine.plug("event3", "Foot Switch", "0");
        let mut buttons = machine.buttons(ButtonKind::Named("Foot Switch".to_owned()));
        device.write_all(&key(48, true)).unwrap();
        let told: Vec<_> = (0..400).flat_map(|look| buttons.see(at(20 * look))).collect();
        assert_eq!(told, [Gesture::PowerOff]);
    }

    #[test]
    fn a_release_that_was_lost_does_not_switch_off() {
        let machine = Machine::new();
        let mut device = machine.plug("event0", "Power Button", POWER_ONLY);
        let mut buttons = machine.buttons(ButtonKind::Power);
        device.write_all(&[key(KEY_POWER, true), event(EV_SYN, SYN_DROPPED, 0)].concat()).unwrap();
        assert!((0..500).all(|look| buttons.see(at(20 * look)).is_empty()));
    }

    #[test]
    fn a_device_that_goes_away_while_pressed_does_not_switch_off_and_is_found_again() {
        let machine = Machine::new();
        let mut device = machine.plug("event0", "Power Button", POWER_ONLY);
        let mut buttons = machine.buttons(ButtonKind::Power);
        device.write_all(&key(KEY_POWER, true)).unwrap();
        assert!(buttons.see(at(0)).is_empty());
        // Without a writer a pipe is at its end.
        drop(device);
        assert!((1..500).all(|look| buttons.see(at(20 * look)).is_empty()));
        assert_eq!(buttons.devices(), 0);
        let node = machine.folder.path().join("dev/event0");
        let mut device = OpenOptions::new().read(true).write(true).open(node).unwrap();
        buttons.look_for_devices();
        device.write_all(&[key(KEY_POWER, true), key(KEY_POWER, false)].concat()).unwrap();
        let told: Vec<_> = (0..100).flat_map(|look| buttons.see(at(20_000 + 20 * look))).collect();
        assert_eq!(told, [Gesture::Press]);
    }

    #[test]
    fn the_thread_tells_presses_until_it_is_stopped() {
        let machine = Machine::new();
        let mut device = machine.plug("event0", "Power Button", POWER_ONLY);
        let buttons = machine.buttons(ButtonKind::Power);
        let (tell, told) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let tell = move |gesture| tell.send(gesture).unwrap();
        let thread = start(buttons, Monotonic::start(), Arc::clone(&stop), tell).unwrap();
        device.write_all(&[key(KEY_POWER, true), key(KEY_POWER, false)].concat()).unwrap();
        assert_eq!(told.recv(), Ok(Gesture::Press));
        stop.store(true, Ordering::Release);
        // Wakes it from its wait.
        device.write_all(&key(KEY_POWER, false)).unwrap();
        thread.join().unwrap();
    }

    proptest! {
        #[test]
        fn no_octets_are_too_odd_to_read(octets in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(events(&octets).count() <= octets.len() / EVENT_OCTETS);
        }

        #[test]
        fn no_bitmap_is_too_odd_to_read(bitmap in "[0-9a-fx \n-]{0,60}", key in any::<u16>()) {
            let _ = has_key(&bitmap, key);
        }
    }
}
