//! Lines of GPIO chips, through the character device's second interface (linux/gpio.h, since kernel 5.10).

#[cfg(test)]
pub(crate) mod fake;

use crate::board::GpioWire;
use gpiocdev_uapi::v2::{
    self, LineConfig, LineEdgeEvent, LineEdgeEventKind, LineFlags, LineValues, get_chip_info,
};
use gpiocdev_uapi::{Error, has_event, read_event, wait_event};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a line that is not there is looked for, and one that is written is written again: an expander that
/// was reset has forgotten it.
pub const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// How long a contact has to rest until the kernel tells its edge, in microseconds: what is shorter is a
/// disturbance and no finger.
const DEBOUNCE_MICROS: u32 = 5_000;

/// Edges that are taken at once: as many as the kernel holds for a line (`GPIO_V2_LINE_REQUEST`, default buffer).
const EDGES: usize = 16;

/// Words of 64 bits in one edge.
const EDGE_WORDS: usize = size_of::<LineEdgeEvent>() / size_of::<u64>();

/// All GPIO chips of a machine.
pub trait Gpio {
    /// A line that is read.
    type Input: Input;
    /// A line that is written.
    type Output: Output;

    /// Opens a line whose edges are told.
    ///
    /// # Errors
    /// There is no such line, it is taken, or its chip has no interrupts.
    fn edges(&mut self, wire: &GpioWire) -> io::Result<Self::Input>;

    /// Opens a line whose level is read, and no more.
    ///
    /// # Errors
    /// There is no such line, or it is taken.
    fn levels(&mut self, wire: &GpioWire) -> io::Result<Self::Input>;

    /// Opens a line that is written, first with this level.
    ///
    /// # Errors
    /// There is no such line, it is taken, or is no output.
    fn output(&mut self, wire: &GpioWire, active: bool) -> io::Result<Self::Output>;
}

/// A line that is read.
pub trait Input {
    /// Waits until there is an edge, the chip goes away, or the time is over.
    fn wait(&self, time: Duration);

    /// The edges that have come, each by whether the line was active after it. Never waits.
    ///
    /// # Errors
    /// The chip has gone.
    fn edges(&mut self) -> io::Result<Vec<bool>>;

    /// Whether the line is active.
    ///
    /// # Errors
    /// The chip has gone.
    fn is_active(&self) -> io::Result<bool>;
}

/// A line that is written.
pub trait Output {
    /// Sets its level.
    ///
    /// # Errors
    /// The chip has gone.
    fn set(&mut self, active: bool) -> io::Result<()>;
}

/// Whether it was told that something is missed: once, until it is found again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Missed(bool);

impl Missed {
    /// The note, the first time.
    pub fn tell(&mut self, note: String) -> Option<String> {
        (!std::mem::replace(&mut self.0, true)).then_some(note)
    }

    /// It is found: whether it was missed.
    pub const fn clear(&mut self) -> bool {
        std::mem::replace(&mut self.0, false)
    }
}

/// The chips that the kernel knows.
#[derive(Clone, Debug)]
pub struct Chips {
    folder: PathBuf,
}

impl Default for Chips {
    fn default() -> Self {
        Self::within(Path::new("/dev"))
    }
}

impl Chips {
    /// The same with another place for the device nodes.
    #[must_use]
    pub fn within(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Opens a chip by path, by name or by label.
    fn open(&self, chip: &str) -> io::Result<File> {
        if chip.starts_with('/') {
            return open(Path::new(chip));
        }
        if is_name(chip)
            && let Ok(file) = open(&self.folder.join(chip))
        {
            return Ok(file);
        }
        let with_label = |file: &File| get_chip_info(file).is_ok_and(|info| info.label.as_os_str() == chip);
        let found = self.nodes().iter().filter_map(|node| open(node).ok()).find(with_label);
        found.ok_or_else(|| io::Error::new(ErrorKind::NotFound, "no GPIO chip has this name or label"))
    }

    /// The chips' device nodes, in the same order each time.
    fn nodes(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        let chips = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_name));
        let mut nodes: Vec<_> = chips.map(|entry| entry.path()).collect();
        nodes.sort();
        nodes
    }

    fn request(&self, wire: &GpioWire, mut config: LineConfig) -> io::Result<Line> {
        let chip = self.open(&wire.chip)?;
        config.flags.set(LineFlags::ACTIVE_LOW, wire.active_low);
        let mut request =
            v2::LineRequest { consumer: "linegauge".into(), config, num_lines: 1, ..Default::default() };
        request.offsets.set(0, wire.line);
        v2::get_line(&chip, request).map(|file| Line { file }).map_err(os_error)
    }

    /// An input whose open contact the chip itself holds released, where it can do that.
    fn input(&self, wire: &GpioWire, config: &LineConfig) -> io::Result<Line> {
        let rest = if wire.active_low { LineFlags::BIAS_PULL_UP } else { LineFlags::BIAS_PULL_DOWN };
        let held = LineConfig { flags: config.flags | rest, ..config.clone() };
        self.request(wire, held).or_else(|_| self.request(wire, config.clone()))
    }
}

/// Whether a text is the name of a chip's device node, and of nothing else.
fn is_name(text: &str) -> bool {
    let number = text.strip_prefix("gpiochip").unwrap_or_default();
    !number.is_empty() && number.bytes().all(|octet| octet.is_ascii_digit())
}

fn open(node: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(node)
}

fn os_error(error: Error) -> io::Error {
    match error {
        Error::Os(errno) => io::Error::from_raw_os_error(errno.0),
        Error::UnderRead(error) => io::Error::new(ErrorKind::UnexpectedEof, error),
    }
}

impl Gpio for Chips {
    type Input = Line;
    type Output = Line;

    fn edges(&mut self, wire: &GpioWire) -> io::Result<Line> {
        let flags = LineFlags::INPUT | LineFlags::EDGE_RISING | LineFlags::EDGE_FALLING;
        let mut config = LineConfig { flags, ..LineConfig::default() };
        config.add_debounce(DEBOUNCE_MICROS, 1);
        self.input(wire, &config)
    }

    fn levels(&mut self, wire: &GpioWire) -> io::Result<Line> {
        self.input(wire, &LineConfig { flags: LineFlags::INPUT, ..LineConfig::default() })
    }

    fn output(&mut self, wire: &GpioWire, active: bool) -> io::Result<Line> {
        let mut config = LineConfig { flags: LineFlags::OUTPUT, ..LineConfig::default() };
        config.add_values(&LineValues::from_slice(&[active]));
        self.request(wire, config)
    }
}

/// One line that is ours.
#[derive(Debug)]
pub struct Line {
    file: File,
}

impl Input for Line {
    fn wait(&self, time: Duration) {
        // Interrupted: the next look finds what there is.
        let _ = wait_event(&self.file, time);
    }

    fn edges(&mut self) -> io::Result<Vec<bool>> {
        // A chip that has gone is told as if there were an event; the read then says so.
        if !has_event(&self.file).unwrap_or(false) {
            return Ok(Vec::new());
        }
        let mut words = [0; EDGES * EDGE_WORDS];
        let count = read_event(&self.file, &mut words).map_err(os_error)?;
        let edges = words.get(..count).unwrap_or_default().chunks_exact(EDGE_WORDS);
        let edges = edges.filter_map(|edge| LineEdgeEvent::from_slice(edge).ok());
        Ok(edges.map(|edge| edge.kind == LineEdgeEventKind::RisingEdge as u32).collect())
    }

    fn is_active(&self) -> io::Result<bool> {
        let mut values = LineValues { bits: 0, mask: 1 };
        v2::get_line_values(&self.file, &mut values).map_err(os_error)?;
        Ok(values.bits & 1 == 1)
    }
}

impl Output for Line {
    fn set(&mut self, active: bool) -> io::Result<()> {
        v2::set_line_values(&self.file, &LineValues { bits: u64::from(active), mask: 1 }).map_err(os_error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(chip: &str) -> GpioWire {
        GpioWire { chip: chip.to_owned(), line: 3, active_low: false }
    }

    #[test]
    fn a_chip_that_is_not_there_is_an_error_by_name_label_and_path() {
        let folder = tempfile::tempdir().unwrap();
        let mut chips = Chips::within(folder.path());
        for chip in ["gpiochip0", "pinctrl-bcm2835", "/dev/null/gpiochip0", "../null"] {
            assert!(chips.edges(&wire(chip)).is_err(), "{chip}");
            assert!(chips.levels(&wire(chip)).is_err(), "{chip}");
            assert!(chips.output(&wire(chip), true).is_err(), "{chip}");
        }
    }

    #[test]
    fn a_file_that_is_no_chip_is_an_error_and_keeps_nobody_waiting() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("gpiochip0"), "").unwrap();
        nix::unistd::mkfifo(&folder.path().join("gpiochip1"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let mut chips = Chips::within(folder.path());
        for chip in ["gpiochip0", "gpiochip1", "a label"] {
            assert!(chips.levels(&wire(chip)).is_err(), "{chip}");
        }
    }

    #[test]
    fn only_a_chips_own_node_is_a_name() {
        assert!(is_name("gpiochip0") && is_name("gpiochip12"));
        for text in ["gpiochip", "gpiochip1a", "gpiochip0/../x", "xgpiochip0", "", "../gpiochip0"] {
            assert!(!is_name(text), "{text:?}");
        }
    }

    #[test]
    fn nodes_are_those_of_chips_and_sorted() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["gpiochip1", "gpiochip0", "gpiomem", "null"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let nodes = Chips::within(folder.path()).nodes();
        assert_eq!(nodes, ["gpiochip0", "gpiochip1"].map(|name| folder.path().join(name)));
    }

    #[test]
    fn what_is_missed_is_told_once_until_it_is_found() {
        let mut missed = Missed::default();
        assert!(!missed.clear());
        assert_eq!(missed.tell("a".to_owned()), Some("a".to_owned()));
        assert_eq!(missed.tell("b".to_owned()), None);
        assert!(missed.clear());
        assert_eq!(missed.tell("b".to_owned()), Some("b".to_owned()));
    }
}
