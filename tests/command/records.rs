//! `linegauge log`: files to their end, serial ports for as long as it is let, and whatever comes on them.

use super::gauge::{PROGRAM, Running, skip, wait_for};
use linegauge::journal::record::Recorder;
use measure::ledger::{DirectionReport, HostEvidence};
use measure::record::{Classes, Event, Stamped, text};
use measure::tally::Tally;
use measure::units::{BitRate, Direction, Instant};
use measure::verdict::{Reason, Verdict};
use nix::fcntl::OFlag;
use nix::pty::{PtyMaster, grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A box that makes records, a second for each.
pub struct Maker {
    recorder: Recorder,
    seconds: u64,
}

impl Maker {
    pub fn new(name: &str) -> Self {
        Self { recorder: Recorder::new(name, None), seconds: 0 }
    }

    fn make(&mut self, event: Event) -> Vec<u8> {
        self.seconds += 1;
        let at = Instant::from_millis(1_000 * self.seconds);
        self.recorder.take(&Stamped { at, event }).map(|frame| frame.to_vec()).unwrap_or_default()
    }

    pub fn start(&mut self, run: u32, label: &str) -> Vec<u8> {
        let (board, label) = (text("x520"), text(label));
        self.make(Event::Start { run, version: "1.2.3", board, label, cable: "ports", nonce: 1 })
    }

    fn second(&mut self, megabits: u64) -> Vec<u8> {
        let rates = [Some(BitRate::from_mbps(megabits)), None];
        self.make(Event::Rate { rates, errors: Classes::default(), left: None })
    }

    /// The end of a run that lost `lost` frames, with the bound `bound`.
    pub fn end(&mut self, run: u32, lost: u64, bound: f64) -> Vec<u8> {
        let verdict = if lost == 0 { Verdict::Pass } else { Verdict::Fail };
        let direction = Direction::AToB;
        let host = HostEvidence { drops: Some(0), cable_evidence: lost > 0 };
        let mut tally = Tally::default();
        (tally.streams[0].sent, tally.streams[0].good) = (1_000, 1_000 - lost);
        let report = DirectionReport::new(direction, &tally, host, None);
        let (checked_bits, confidence, equivalent) = (12_000_000, 0.95, false);
        self.make(Event::Verdict { verdict, run, basis: None, of: None });
        if lost > 0 {
            self.make(Event::Reason(Reason::Lost { direction, at_least: lost, at_most: lost, sent: 1_000 }));
        }
        self.make(Event::Direction(report));
        let bound = Some(bound);
        self.make(Event::Ber { direction, checked_bits, errors: 0, bound, confidence, equivalent });
        self.make(Event::End)
    }

    fn run(&mut self, run: u32, label: &str, lost: u64, bound: f64) -> Vec<u8> {
        [self.start(run, label), self.second(9_998), self.end(run, lost, bound)].concat()
    }
}

/// One end of a cable; the program has the other. No other program gets them: they would keep the line up.
struct Cable {
    master: PtyMaster,
    path: PathBuf,
    _slave: File,
}

impl Cable {
    fn new() -> Self {
        let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let path = PathBuf::from(ptsname_r(&master).unwrap());
        let slave = File::options().read(true).write(true).custom_flags(libc::O_NOCTTY).open(&path).unwrap();
        Self { master, path, _slave: slave }
    }

    fn write(&mut self, octets: &[u8]) {
        self.master.write_all(octets).unwrap();
    }
}

fn log(words: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg("log").args(words).stdin(Stdio::null());
    command
}

fn read_log(words: &[&str]) -> super::gauge::Ended {
    Running::start(&mut log(words)).end()
}

/// A file of records in a folder that lives as long as the value does.
fn file(octets: &[u8]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rack.rec");
    fs::write(&path, octets).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

/// Starts to read `ports` and waits until it has them: it says the first record of each.
fn follow(cables: &mut [Cable], paths: &[&str], words: &[&str]) -> Running {
    let running = Running::start(&mut log(&[paths, words].concat()));
    for (number, cable) in (0..).zip(cables) {
        let name = format!("greeter{number}");
        wait_for("the first record", || {
            // Octets that come before the port is a raw one are anybody's.
            let mut greeter = Maker::new(&name);
            cable.write(&[greeter.start(900 + number, "hello"), greeter.second(1)].concat());
            std::thread::sleep(Duration::from_millis(20));
            running.said().contains(&name) || !running.complained().is_empty()
        });
    }
    running
}

#[test]
fn a_file_is_read_to_its_end() {
    let (_folder, path) = file(&Maker::new("rack-7").run(3, "blue", 17, 3e-7));
    let text = read_log(&[&path]);
    assert_eq!((text.code, text.err.as_str()), (Some(0), ""));
    assert!(text.out.contains("     2.000 rate A>B 9.998 Gb/s, B>A N/A, lost 0, "), "{}", text.out);
    assert!(text.out.contains(" reason \"A>B lost 17 of 1000\"\n"), "{}", text.out);

    let rows = read_log(&[&path, "--format", "jsonl"]);
    let rows: Vec<Value> = rows.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&rows[0]["kind"], &rows[0]["a_to_b_rate_gbps"]), (&"second".into(), &9.998.into()));
    assert_eq!((&rows[1]["kind"], &rows[1]["verdict"]), (&"run".into(), &"FAIL".into()));
    assert_eq!(
        (&rows[1]["a_to_b_missing_frames"], &rows[1]["b_to_a_missing_frames"]),
        (&17.into(), &Value::Null)
    );

    let table = read_log(&[&path, "--format", "csv", "--rows", "runs"]);
    let lines: Vec<_> = table.out.lines().collect();
    assert!(lines[0].starts_with("kind,source,box,") && lines[1].starts_with("run,"), "{}", table.out);
    assert_eq!(lines.len(), 2);
}

#[test]
fn standard_input_is_a_source_and_files_come_one_after_the_other() {
    let mut boxes = ["one", "two"].map(Maker::new);
    let seconds: Vec<_> = (0..2_000).flat_map(|_| boxes[0].second(1)).collect();
    let (_folder, path) = file(&[boxes[0].start(1, ""), seconds].concat());
    let mut command = log(&[&path, "-"]);
    let mut running = Running::start(command.stdin(Stdio::piped()));
    let mut input = running.child.stdin.take().unwrap();
    input.write_all(&boxes[1].run(2, "", 0, 1e-7)).unwrap();
    drop(input);
    let ended = running.end();
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    let names: Vec<_> = ended.out.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(names[..2_001], vec!["one"; 2_001]);
    assert!(names[2_001..].iter().all(|name| *name == "two") && names.len() > 2_003, "{}", names.len());
}

#[test]
fn what_is_damaged_in_a_file_is_told_and_changes_no_exit_code() {
    let mut maker = Maker::new("rack-7");
    let mut octets = maker.run(3, "blue", 0, 3e-7);
    octets[20] ^= 0x40;
    octets.extend(b"\x07\x10\xff\xfe noise");
    let (_folder, path) = file(&octets);
    let ended = read_log(&[&path]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.out.contains("verdict PASS, run 3"), "{}", ended.out);
    let told = ended.err.lines().collect::<Vec<_>>();
    let [line] = told.as_slice() else { panic!("{told:?}") };
    assert!(line.starts_with(&format!("linegauge: {path}: 2 records read, skipped: ")), "{line}");
    assert!(line.contains("skipped: damaged frames 1, octets of noise and damage "), "{line}");
}

#[test]
fn sources_that_are_not_there_or_cannot_be_read_are_the_hosts_affair() {
    let line = read_log(&["/nowhere/at/all"]).assert_refused(3).to_owned();
    assert_eq!(line, "/nowhere/at/all: No such file or directory (os error 2)");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    assert_eq!(read_log(&[path]).assert_refused(3), format!("{path}: Is a directory (os error 21)"));
    assert!(read_log(&["-", "-"]).assert_refused(2).contains("only once"));
}

#[test]
fn a_reader_that_has_gone_away_ends_it_quietly() {
    let mut maker = Maker::new("rack-7");
    let octets: Vec<_> = (0..20_000).flat_map(|_| maker.second(1)).collect();
    let (_folder, path) = file(&octets);
    let mut child = log(&[&path]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = Running::over(child, None).end();
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
}

/// Noise such as a line has when a plug is half in: any octet, delimiters and text among them.
fn noise(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    (0..count).map(|_| if next() < 30 { 0 } else { next() }).collect()
}

#[test]
fn on_a_noisy_port_every_record_that_is_whole_is_read_and_no_other() {
    let mut cable = [Cable::new()];
    let path = cable[0].path.clone();
    let path = path.to_str().unwrap();
    let mut running = follow(&mut cable, &[path], &["--format", "jsonl", "--rows", "seconds"]);
    let [cable] = &mut cable;
    let mut maker = Maker::new("rack-7");
    cable.write(&maker.start(5, "noisy"));
    for number in 0..200 {
        // A whole second, one that is cut, a line of the text log, and noise.
        cable.write(&maker.second(1_000 + number));
        let cut = maker.second(9_999);
        cable.write(&cut[..cut.len() / 2]);
        cable.write(b"    12.345 rate A>B 9.999 Gb/s, B>A N/A\r\n");
        cable.write(&noise(number, 90));
        std::thread::sleep(Duration::from_millis(1));
    }
    running.until("1.199");
    running.signal(Signal::SIGINT);
    let ended = running.end();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let rows = ended.out.lines().map(|line| serde_json::from_str(line).unwrap());
    let rows: Vec<Value> = rows.filter(|row: &Value| row["run"] == 5).collect();
    let rates: Vec<_> = rows.iter().map(|row| row["a_to_b_rate_gbps"].as_f64().unwrap()).collect();
    let sent: Vec<_> = (1_000..1_200).map(|megabits| f64::from(megabits) / 1e3).collect();
    assert_eq!(rates, sent);
    assert!(rows.iter().all(|row| row["box"] == "rack-7" && row["label"] == "noisy"));
    assert!(ended.err.contains("damaged frames ") && ended.err.contains("missing records "), "{}", ended.err);
}

#[test]
fn lines_of_several_ports_are_marked_with_their_boxes() {
    let mut cables = [Cable::new(), Cable::new()];
    let paths = cables.each_ref().map(|cable| cable.path.clone());
    let paths = paths.each_ref().map(|path| path.to_str().unwrap());
    let mut running = follow(&mut cables, &paths, &[]);
    let mut boxes = ["left", "right"].map(Maker::new);
    for number in 0..20 {
        for (cable, maker) in cables.iter_mut().zip(&mut boxes) {
            cable.write(&maker.start(number, ""));
        }
    }
    for name in ["left", "right"] {
        running.until(&format!("{name}     20.000 start run 19"));
    }
    running.signal(Signal::SIGTERM);
    let ended = running.end();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    for name in ["left", "right"] {
        let lines: Vec<_> = ended.out.lines().filter(|line| line.starts_with(&format!("{name} "))).collect();
        assert_eq!(lines.len(), 20);
        assert!(lines.iter().all(|line| line.contains(&format!("box \"{name}\""))));
    }
}

/// A port by a name that stays, as udev gives it.
fn plug(name: &Path, cable: &Cable) {
    let _ = fs::remove_file(name);
    symlink(&cable.path, name).unwrap();
}

#[test]
fn a_port_that_is_plugged_in_again_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("ttyUSB0");
    let mut cables = [Cable::new()];
    plug(&name, &cables[0]);
    let running = follow(&mut cables, &[name.to_str().unwrap()], &[]);
    fs::remove_file(&name).unwrap();
    drop(cables);
    wait_for("the port to be missed", || running.complained().contains("it has gone away"));

    let mut other = Cable::new();
    plug(&name, &other);
    let mut maker = Maker::new("again");
    wait_for("a record of the other box", || {
        other.write(&maker.start(1, ""));
        std::thread::sleep(Duration::from_millis(50));
        running.said().contains("box \"again\"")
    });
    assert!(running.complained().contains("it is there again"), "{}", running.complained());
    running.signal(Signal::SIGINT);
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn a_newer_format_is_refused_by_name_and_at_once() {
    let (_folder, path) = file(&newer_format());
    let ended = read_log(&[&path]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), ""));
    let first = ended.err.lines().next().unwrap();
    assert_eq!(first, format!("linegauge: {path}: records of format 2.0; this version reads 1.x only"));
}

/// A frame of format 2.0: its version octet and its CRC are where they are in every version.
fn newer_format() -> Vec<u8> {
    let inside = [0x20, 1, 1, 5];
    let crc = crc::Crc::<u32, crc::NoTable>::new(&crc::CRC_32_ISO_HDLC).checksum(&inside).to_le_bytes();
    let whole = [&inside[..], &crc[..]].concat();
    assert!(!whole.contains(&0), "so COBS only counts it");
    let count = u8::try_from(whole.len() + 1).unwrap();
    [&[0, count][..], &whole, &[0]].concat()
}

/// The README's query over a table of runs, by Python's own SQL.
const QUERY: &str = r#"
import csv, sqlite3, sys
rows = list(csv.DictReader(open("runs.csv", newline="")))
def value(text):
    try: return float(text)
    except ValueError: return text or None
names = list(rows[0])
base = sqlite3.connect(":memory:")
base.execute('create table "runs.csv" (%s)' % ", ".join(names))
marks = ", ".join("?" * len(names))
base.executemany('insert into "runs.csv" values (%s)' % marks, [[value(row[n]) for n in names] for row in rows])
for row in base.execute(sys.argv[1]): print(*row)
"#;

/// The part of the README between the fences of its only SQL.
fn readme_query() -> &'static str {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once("```sql\n").unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_readmes_query_answers_what_it_says() {
    let mut maker = Maker::new("rack-7");
    let runs =
        [("blue", 0, 2e-12), ("red", 17, 9e-9), ("blue", 0, 3e-12), ("red", 0, 1e-12), ("grey", 1, 1e-9)];
    let octets: Vec<_> =
        (1..).zip(runs).flat_map(|(run, (label, lost, bound))| maker.run(run, label, lost, bound)).collect();
    let (folder, path) = file(&octets);
    let table = read_log(&[&path, "--format", "csv", "--rows", "runs"]);
    fs::write(folder.path().join("runs.csv"), &table.out).unwrap();
    let mut python = Command::new("python3");
    let Ok(answer) = python.args(["-c", QUERY, readme_query()]).current_dir(&folder).output() else {
        return skip("there is no python3 to run the README's query");
    };
    let said = String::from_utf8(answer.stdout).unwrap();
    let error = String::from_utf8(answer.stderr).unwrap();
    assert_eq!(said, "grey 1 1 1e-09\nred 2 1 9e-09\nblue 2 0 3e-12\n", "{error}");
}

#[test]
fn the_readme_names_every_column() {
    let readme = include_str!("../../README.md");
    let header = linegauge::journal::reader::header(linegauge::journal::reader::Rows::Both);
    for name in header.trim_end().split(',') {
        let plain = name.trim_start_matches("a_to_b_").trim_start_matches("b_to_a_");
        let named = readme.contains(&format!("`{name}`")) || readme.contains(&format!("`{plain}`"));
        assert!(named, "{name}");
    }
}
