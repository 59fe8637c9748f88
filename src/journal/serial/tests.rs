//! The log on real pseudo-terminals, whose readers read, stop, go away and come back.

use super::super::mailbox::{LogSender, log_mailbox};
use super::*;
use crate::journal::record::Recorder;
use crate::journal::text::Line;
use measure::record::{Classes, Event, text, words};
use measure::units::Instant;
use measure::verdict::Verdict;
use nix::pty::{OpenptyResult, openpty};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

/// The reader's end of a pseudo-terminal. The other end stays open here, so that the reader is only gone
/// when this is.
struct Reader {
    master: File,
    slave: OwnedFd,
}

impl Reader {
    fn new() -> Self {
        let OpenptyResult { master, slave } = openpty(None, None).unwrap();
        Self { master: File::from(master), slave }
    }

    fn path(&self) -> PathBuf {
        std::fs::read_link(format!("/proc/self/fd/{}", self.slave.as_raw_fd())).unwrap()
    }

    fn settings(&self) -> SerialSettings {
        settings(&self.path())
    }

    /// Reads lines until one has `last` in it.
    fn lines_until(&self, last: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for line in BufReader::new(&self.master).lines() {
            lines.push(line.unwrap());
            if lines.last().is_some_and(|line| line.contains(last)) {
                break;
            }
        }
        lines
    }
}

fn settings(path: &Path) -> SerialSettings {
    SerialSettings { path: path.to_owned(), baud: 115_200, flow: false }
}

fn note(text: &str) -> Stamped {
    Stamped { at: Instant::ZERO, event: Event::Note(words(text)) }
}

fn rate() -> Stamped {
    let event = Event::Rate { rates: [None; 2], errors: Classes::default(), left: None };
    Stamped { at: Instant::ZERO, event }
}

fn verdict() -> Stamped {
    let event = Event::Verdict { verdict: Verdict::Pass, run: 1, basis: None, of: None };
    Stamped { at: Instant::ZERO, event }
}

fn started(reader: &Reader) -> (LogSender, mpsc::Receiver<SerialCommand>, JoinHandle<()>) {
    let (sender, receiver) = log_mailbox();
    let (commands, typed) = mpsc::channel();
    let thread =
        start(reader.settings(), Voice::Text, receiver, move |command| commands.send(command).unwrap())
            .unwrap();
    (sender, typed, thread)
}

#[test]
fn lines_arrive_whole_in_order_and_with_their_ends() {
    let reader = Reader::new();
    let (mut log, _typed, thread) = started(&reader);
    (0..50).for_each(|number| log.post(note(&format!("line {number}"))));
    let lines = reader.lines_until("line 49");
    let expected: Vec<_> = (0..50).map(|number| Line(&note(&format!("line {number}"))).to_string()).collect();
    assert_eq!(lines[0], "", "the first line begins at the left whatever was there before");
    assert_eq!(lines[1..], expected);
    log.close();
    thread.join().unwrap();
}

#[test]
fn what_is_typed_arrives_as_commands() {
    let mut reader = Reader::new();
    let (mut log, typed, thread) = started(&reader);
    // The port is raw as soon as the first line is there.
    log.post(note("ready"));
    reader.lines_until("ready");
    reader.master.write_all(b" sl rack 7\roff\r").unwrap();
    let expected = [
        SerialCommand::Button,
        SerialCommand::LastSummary,
        SerialCommand::Label("rack 7".to_owned()),
        SerialCommand::PowerOff,
    ];
    assert_eq!(typed.iter().take(4).collect::<Vec<_>>(), expected);
    log.close();
    thread.join().unwrap();
}

#[test]
fn every_octet_passes_both_ways() {
    let mut reader = Reader::new();
    let mut port = open(&reader.settings()).unwrap();
    let octets: Vec<u8> = (0..=255).collect();
    port.write_all(&octets).unwrap();
    let mut there = vec![0; 256];
    reader.master.read_exact(&mut there).unwrap();
    assert_eq!(there, octets, "0x11, 0x13 and 0x0D too");
    reader.master.write_all(&octets).unwrap();
    let mut back = Vec::new();
    while back.len() < octets.len() {
        let mut some = [0; 256];
        let count = port.read(&mut some).unwrap();
        back.extend_from_slice(&some[..count]);
    }
    assert_eq!(back, octets);
}

#[test]
fn the_port_is_set_as_the_board_says() {
    let reader = Reader::new();
    let port = open(&reader.settings()).unwrap();
    assert_eq!(port.baud_rate().unwrap(), 115_200);
    assert_eq!(port.flow_control().unwrap(), FlowControl::None);
    assert_eq!((port.data_bits().unwrap(), port.stop_bits().unwrap()), (DataBits::Eight, StopBits::One));
    drop(port);
    let with_flow = SerialSettings { flow: true, baud: 9600, ..reader.settings() };
    let port = open(&with_flow).unwrap();
    assert_eq!(port.flow_control().unwrap(), FlowControl::Hardware);
    assert_eq!(port.baud_rate().unwrap(), 9600);
}

#[test]
fn a_reader_that_takes_nothing_never_makes_a_write_wait_for_it() {
    let reader = Reader::new();
    let mut port = open(&reader.settings()).unwrap();
    let line = [b'x'; 1000];
    // Far more than any terminal holds: the loop only ends by a write that gives up.
    let outcome = (0..10_000).find_map(|_| port.write(&line).err());
    let kind = outcome.map(|error| error.kind());
    assert!(matches!(kind, Some(ErrorKind::TimedOut | ErrorKind::WouldBlock)), "{kind:?}");
}

#[test]
fn a_reader_stopped_for_the_whole_time_costs_rate_lines_only_and_they_are_counted() {
    let reader = Reader::new();
    let mut link = SerialLink::new(Voice::Text, || open(&reader.settings()));
    let mut ignored = |_| ();
    link.add(note("start"));
    for second in 0..20_000 {
        link.add(rate());
        if second % 5000 == 0 {
            link.look(&mut ignored);
        }
    }
    link.add(verdict());
    link.look(&mut ignored);
    assert!(!link.idle(), "the terminal cannot hold all that");
    link.add(note("end"));
    let lines = std::thread::scope(|scope| {
        let reading = scope.spawn(|| reader.lines_until("end"));
        while !link.idle() {
            link.look(&mut ignored);
        }
        reading.join().unwrap()
    });
    let rates = lines.iter().filter(|line| line.contains(" rate ")).count();
    let dropped = lines
        .iter()
        .filter_map(|line| line.split_once("dropped ")?.1.strip_suffix(" lines")?.parse::<usize>().ok());
    assert_eq!(rates + dropped.sum::<usize>(), 20_000, "every line is written or counted");
    for word in [" \"start\"", " verdict PASS", " \"end\""] {
        assert_eq!(lines.iter().filter(|line| line.contains(word)).count(), 1, "{word}");
    }
}

#[test]
fn a_stopped_reader_can_still_type() {
    let mut reader = Reader::new();
    let mut commands = Vec::new();
    let settings = reader.settings();
    let mut link = SerialLink::new(Voice::Text, || open(&settings));
    (0..WAITING).for_each(|_| link.add(verdict()));
    link.look(&mut |command| commands.push(command));
    reader.master.write_all(b"off\r").unwrap();
    while commands.is_empty() {
        link.look(&mut |command| commands.push(command));
    }
    assert_eq!(commands, [SerialCommand::PowerOff]);
}

#[test]
fn an_adapter_that_is_gone_is_looked_for_and_nothing_known_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ttyUSB0");
    let mut link = SerialLink::new(Voice::Text, || open(&settings(&path)));
    let mut ignored = |_| ();
    link.add(note("before there was a port"));
    (0..3).for_each(|_| link.look(&mut ignored));
    assert!(!link.is_open());

    let first = Reader::new();
    symlink(first.path(), &path).unwrap();
    (0..LOOKS_TO_RETRY).for_each(|_| link.look(&mut ignored));
    assert_eq!(first.lines_until("before there was a port").len(), 2);

    drop(first);
    link.add(note("while it was gone"));
    (0..3).for_each(|_| link.look(&mut ignored));
    assert!(!link.is_open(), "a port that was hung up is closed");

    let second = Reader::new();
    std::fs::remove_file(&path).unwrap();
    symlink(second.path(), &path).unwrap();
    (0..LOOKS_TO_RETRY).for_each(|_| link.look(&mut ignored));
    assert_eq!(second.lines_until("while it was gone").len(), 2);
    assert!(link.is_open() && link.idle());
}

/// A port that takes a few octets and then fails.
struct Flaky {
    takes: Vec<usize>,
    taken: std::rc::Rc<std::cell::RefCell<Vec<u8>>>,
}

impl Read for Flaky {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(ErrorKind::TimedOut.into())
    }
}

impl Write for Flaky {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        let most = self.takes.pop().ok_or(ErrorKind::BrokenPipe)?;
        let count = most.min(octets.len());
        self.taken.borrow_mut().extend_from_slice(&octets[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Port for Flaky {
    fn discard(&mut self) {}
}

#[test]
fn a_line_that_was_cut_off_is_written_again_in_full() {
    let taken = std::rc::Rc::default();
    // Taken from the end: the first port takes two octets of line end and five of the line.
    let mut ports = vec![vec![1000; 10], vec![5, 2]];
    let mut link = SerialLink::new(Voice::Text, || {
        let takes = ports.pop().ok_or(ErrorKind::NotFound)?;
        Ok(Flaky { takes, taken: std::rc::Rc::clone(&taken) })
    });
    link.add(note("one"));
    link.add(note("two"));
    (0..=LOOKS_TO_RETRY).for_each(|_| link.look(&mut |_| ()));
    let (one, two) = (Line(&note("one")).to_string(), Line(&note("two")).to_string());
    let expected = format!("\r\n{}\r\n{one}\r\n{two}\r\n", &one[..5]);
    assert_eq!(String::from_utf8(taken.borrow().clone()).unwrap(), expected);
}

/// The run's start and a note, whose second makes no record.
fn told() -> [Stamped; 2] {
    let (board, label) = (text("b"), text(""));
    let start = Event::Start { run: 7, version: "1", board, label, cable: "ports", nonce: 1 };
    [Stamped { at: Instant::ZERO, event: start }, note("last")]
}

#[test]
fn a_line_for_programs_has_records_and_nothing_else() {
    let mut reader = Reader::new();
    let (mut log, receiver) = log_mailbox();
    let voice = Voice::Records(Recorder::new("box", None));
    let thread = start(reader.settings(), voice, receiver, |_| ()).unwrap();
    told().into_iter().for_each(|stamped| log.post(stamped));
    log.close();
    let mut recorder = Recorder::new("box", None);
    let frame = recorder.take(&told()[0]).unwrap();
    let mut octets = vec![0; frame.len()];
    reader.master.read_exact(&mut octets).unwrap();
    thread.join().unwrap();
    assert_eq!(octets, frame.as_slice());
}

#[test]
fn a_line_for_both_has_each_record_after_its_line_of_text() {
    let mut link =
        SerialLink::new(Voice::Both(Recorder::new("box", None)), || Err(ErrorKind::NotFound.into()));
    let mut said = Vec::new();
    for stamped in told() {
        said.extend(link.voice.say(&stamped));
    }
    drop::<SerialLink<Flaky, _>>(link);
    let frame = Recorder::new("box", None).take(&told()[0]).unwrap();
    let [start, last] = told().map(|stamped| format!("{}\r\n", Line(&stamped)).into_bytes());
    assert_eq!(said, [start.as_slice(), &frame, &last].concat());
}

#[test]
fn a_record_that_was_cut_off_is_written_again_as_it_was() {
    let taken = std::rc::Rc::default();
    let mut ports = vec![vec![1000; 10], vec![5]];
    let mut link = SerialLink::new(Voice::Records(Recorder::new("box", None)), || {
        let takes = ports.pop().ok_or(ErrorKind::NotFound)?;
        Ok(Flaky { takes, taken: std::rc::Rc::clone(&taken) })
    });
    told().into_iter().for_each(|stamped| link.add(stamped));
    (0..=LOOKS_TO_RETRY).for_each(|_| link.look(&mut |_| ()));
    let frame = Recorder::new("box", None).take(&told()[0]).unwrap();
    assert_eq!(*taken.borrow(), [&frame[..5], &frame].concat());
    assert!(link.idle());
}
