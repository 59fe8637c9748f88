//! `linegauge history`: rings as a box leaves them, and what is none.

use super::gauge::{Ended, PROGRAM, Running};
use super::records::Maker;
use linegauge::journal::history::{History, SLOT};
use proptest::prelude::*;
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Slots of the rings here.
const SLOTS: u64 = 32;

/// A ring in a file, in a folder that lives as long as it does.
struct Ring {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Ring {
    fn blank() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        File::create(&path).unwrap().set_len(SLOTS * SLOT as u64).unwrap();
        Self { folder, path }
    }

    /// What a box has left that did these runs: number and frames lost.
    fn of(runs: &[(u32, u64)]) -> Self {
        let ring = Self::blank();
        let mut history = History::open(ring.open()).unwrap();
        let mut maker = Maker::new("rack-7");
        for &(run, lost) in runs {
            maker.start(run, "blue");
            history.append(run, &maker.end(run, lost, 3e-7)).unwrap();
        }
        ring
    }

    fn open(&self) -> File {
        File::options().read(true).write(true).open(&self.path).unwrap()
    }

    /// Overwrites what is at the begin of a slot.
    fn spoil(&self, slot: u64, octets: &[u8]) {
        self.open().write_all_at(octets, slot * SLOT as u64).unwrap();
    }

    fn read(&self, words: &[&str]) -> Ended {
        history(&self.path, words)
    }
}

fn history(place: &Path, words: &[&str]) -> Ended {
    let mut command = Command::new(PROGRAM);
    command.arg("history").arg(place).args(words).stdin(Stdio::null());
    Running::start(&mut command).end()
}

fn rows(ended: &Ended) -> Vec<Value> {
    ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn results_are_told_oldest_first_in_every_form() {
    let ring = Ring::of(&[(41, 0), (42, 17)]);
    let text = ring.read(&[]);
    assert_eq!((text.code, text.err.as_str()), (Some(0), ""));
    let verdicts: Vec<_> = text.out.lines().filter(|line| line.contains(" verdict ")).collect();
    assert!(
        verdicts[0].contains(" verdict PASS, run 41, ") && verdicts[1].contains(" verdict FAIL, run 42, ")
    );
    assert!(text.out.contains(" reason \"A>B lost 17 of 1000\"\n"), "{}", text.out);

    let rows = rows(&ring.read(&["--format", "jsonl"]));
    assert_eq!(rows.len(), 2);
    assert_eq!(
        (&rows[0]["run"], &rows[0]["verdict"], &rows[0]["box"]),
        (&41.into(), &"PASS".into(), &"rack-7".into())
    );
    assert_eq!((&rows[1]["a_to_b_lost_at_least_frames"], &rows[1]["label"]), (&17.into(), &"blue".into()));
    assert_eq!(rows[1]["b_to_a_sent_frames"], Value::Null, "unknown is not zero");

    let csv = ring.read(&["--format", "csv"]);
    let lines: Vec<_> = csv.out.lines().collect();
    assert!(lines.len() == 3 && lines[0].starts_with("kind,source,box,") && lines[1].starts_with("run,"));
}

#[test]
fn only_the_newest_are_told_where_that_is_asked_for() {
    let ring = Ring::of(&[(1, 0), (2, 0), (3, 0)]);
    let runs = |last: &str| {
        let rows = rows(&ring.read(&["--format", "jsonl", "--last", last]));
        rows.iter().map(|row| row["run"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((runs("2"), runs("9")), (vec![2, 3], vec![1, 2, 3]));
    assert_eq!(ring.read(&["--last", "0"]).code, Some(2));
}

#[test]
fn what_is_damaged_is_counted_and_never_told_as_a_result() {
    let ring = Ring::of(&[(1, 0), (2, 17), (3, 0)]);
    ring.spoil(1, &[0x55; 700]);
    let ended = ring.read(&["--format", "jsonl"]);
    assert_eq!((ended.code, rows(&ended).len()), (Some(0), 2));
    assert!(ended.err.ends_with(": skipped: 1 damaged\n"), "{}", ended.err);
    // A whole slot with something else in it.
    let other = Ring::blank();
    History::open(other.open()).unwrap().append(1, b"run 1, PASS").unwrap();
    let ended = other.read(&[]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), ""));
    assert!(ended.err.ends_with(": skipped: 1 without a result\n"), "{}", ended.err);
}

#[test]
fn an_empty_history_is_said_to_be_one() {
    let ended = Ring::blank().read(&[]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), ""));
    assert!(ended.err.ends_with(": an empty history\n"), "{}", ended.err);
}

#[test]
fn what_is_no_history_is_refused_with_its_name() {
    let ring = Ring::blank();
    let place = |name: &str| ring.folder.path().join(name);
    fs::write(place("small"), [0; 5000]).unwrap();
    nix::unistd::mkfifo(&place("pipe"), nix::sys::stat::Mode::S_IRUSR).unwrap();
    for (place, why) in [
        (place("small"), "5000 octets are too few: a history needs 65536"),
        (place("missing"), "No such file or directory"),
        (place("pipe"), "Illegal seek"),
        (ring.folder.path().to_owned(), "Is a directory"),
        (PathBuf::from("/dev/null"), "0 octets are too few"),
    ] {
        let ended = history(&place, &[]);
        assert_eq!((ended.code, ended.out.as_str()), (Some(3), ""), "{}", ended.err);
        assert!(ended.err.contains(place.to_str().unwrap()) && ended.err.contains(why), "{}", ended.err);
        assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    }
}

#[test]
fn the_readme_shows_a_result_as_it_is_told() {
    let rows = Ring::of(&[(42, 17)]).read(&[]);
    let first: Vec<_> = rows.out.lines().take(2).collect();
    assert!(include_str!("../../README.md").contains(&first.join("\n")), "README.md lacks {first:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn random_octets_are_no_result(octets in prop::collection::vec(any::<u8>(), 65_536..70_000)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        fs::write(&path, &octets).unwrap();
        let ended = history(&path, &["--format", "jsonl"]);
        prop_assert_eq!((ended.code, ended.out.as_str()), (Some(0), ""));
        prop_assert!(ended.err.contains("16 damaged") || ended.err.contains("17 damaged"), "{}", ended.err);
    }
}
