//! What outlives a run: the history on the stick, through power cuts and without a stick; and the records.

use super::emulator::{Emulator, Shown, firmware};
use super::panel::{assert_shows, unsaved, verdict};
use linegauge::journal::history::{Disk, Kept, read};
use linegauge::journal::kept;
use measure::verdict::Verdict;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Where image/parts/stick.sh puts the history, in octets.
const START: u64 = (2048 + 131_072) * 512;

/// Its size.
const SIZE: u64 = 32_768 * 512;

/// The history's part of a stick's image.
struct Partition(File);

impl Disk for Partition {
    fn size(&self) -> io::Result<u64> {
        Ok(SIZE)
    }

    fn read_at(&self, octets: &mut [u8], at: u64) -> io::Result<()> {
        self.0.read_exact_at(octets, START + at)
    }

    fn write_at(&mut self, _: &[u8], _: u64) -> io::Result<()> {
        unreachable!("it is only read")
    }

    fn sync(&mut self) -> io::Result<()> {
        unreachable!("it is only read")
    }
}

/// A stick of its own, as image/build makes it.
struct Stick {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Stick {
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stick.img");
        std::fs::copy(firmware()?.join("linegauge.img"), &path).unwrap();
        Some(Self { _folder: folder, path })
    }

    fn results(&self) -> Vec<Kept> {
        read(&Partition(File::open(&self.path).unwrap())).unwrap().0
    }

    /// The numbers of the runs on it, each of which can be read.
    fn runs(&self) -> Vec<u32> {
        let results = self.results();
        for Kept { numbers, octets } in &results {
            let line = kept::line(octets).unwrap_or_else(|| panic!("run {} cannot be read", numbers.run));
            assert!(line.starts_with(&format!("run {}, ", numbers.run)), "{line}");
        }
        results.iter().map(|result| result.numbers.run).collect()
    }
}

impl Emulator {
    fn stick(self, stick: &Stick) -> Self {
        self.words(["--stick", stick.path.to_str().unwrap()])
    }
}

/// Runs that the log said were saved.
fn saved(shown: &Shown) -> Vec<u32> {
    let number = |line: &String| line.split_once(" saved run ")?.1.parse().ok();
    shown.lines.iter().filter_map(number).collect()
}

#[test]
fn runs_are_kept_and_counted_on_when_the_box_is_switched_on_again() {
    let Some(emulator) = Emulator::new() else { return };
    let stick = Stick::new().unwrap();
    let label = ["--type", "phase wait", "l blue 3m\r", "--type", "end$", "off\r"];
    let first = emulator.stick(&stick).words(label).until_it_is_off();
    assert!(first.find("history: 0 results, room for 4096").is_some());
    assert_eq!((saved(&first), stick.runs()), (vec![1], vec![1]));
    // The verdict is told when its record is durable, so the line that says so is in its block.
    let place = |part: &str| first.lines.iter().position(|line| line.contains(part)).unwrap();
    assert!(place(" verdict PASS") < place(" saved run 1") && place(" saved run 1") + 1 == place(" end"));

    let again = Emulator::new().unwrap().stick(&stick).words(["--type", "end$", "h"]).until("results told");
    assert!(again.find("history: 1 result, room for 4096").is_some());
    assert!(again.find(" verdict PASS, run 2").is_some());
    let told: Vec<_> = again.lines.iter().filter_map(|line| line.split_once(" kept ")).collect();
    assert_eq!(told.len(), 2);
    assert!(told[0].1.starts_with("run 1, PASS, utc 2") && told[0].1.contains("label \"blue 3m\", A>B 0.0"));
    assert!(told[1].1.starts_with("run 2, PASS, "));
    assert_eq!(stick.runs(), [1, 2]);
}

#[test]
fn without_a_stick_the_verdict_comes_all_the_same_and_says_that_it_is_not_saved() {
    let Some(emulator) = Emulator::new() else { return };
    let shown = emulator.words(["--no-stick"]).screenshot().until("end$");
    assert_eq!(shown.verdict(), ("PASS", ""));
    assert!(shown.line(" not-saved run 1, why ").contains("no disk in /sys/class/block"));
    assert!(saved(&shown).is_empty());
    let page = verdict(Verdict::Pass, super::life::NO_ERRORS, 1);
    assert_shows(&shown.file("end.png"), &unsaved(page));
}

#[test]
fn a_stick_that_is_pulled_out_in_mid_run_costs_the_record_and_nothing_else() {
    let Some(emulator) = Emulator::new() else { return };
    let stick = Stick::new().unwrap();
    let shown = emulator.stick(&stick).words(["--pull", "phase run"]).until("end$");
    assert_eq!(shown.verdict(), ("PASS", ""));
    assert!(shown.find(" not-saved run 1, why ").is_some());
    assert!(stick.runs().is_empty());
}

/// Kills the emulator at moments around the saving, each time on what the last left behind.
#[test]
fn a_power_cut_loses_no_result_that_was_shown_and_leaves_none_that_never_was() {
    let Some(emulator) = Emulator::new() else { return };
    drop(emulator);
    let stick = Stick::new().unwrap();
    let mut shown_so_far = Vec::new();
    // At the end of the drain, while the record is on its way, as soon as it is saved, and in the next run.
    let cuts: [&[&str]; 4] = [
        &["--kill", "phase drain"],
        &["--kill", "phase done"],
        &["--kill", "saved run"],
        &["--press", "end$", "--kill", "phase link", "--kill", "+1.5"],
    ];
    for cut in cuts {
        let before = stick.runs();
        let shown = Emulator::new().unwrap().stick(&stick).words(cut.iter().copied()).until_it_is_off();
        let found = format!("history: {} result", before.len());
        let note = shown.find(&found).unwrap_or_else(|| panic!("{found}\n{}", shown.lines.join("\n")));
        assert!(note.ends_with(", room for 4096\""), "nothing is damaged: {note}");
        shown_so_far.extend(saved(&shown));
        let after = stick.runs();
        assert!(shown_so_far.iter().all(|run| after.contains(run)), "{shown_so_far:?} {after:?}");
        assert!(after.starts_with(&before) && after.len() <= before.len() + 1, "{before:?} {after:?}");
        assert!(after.is_sorted_by(|one, next| one < next), "{after:?}");
    }
    assert!(!shown_so_far.is_empty(), "a run was shown before a cut");
}

#[test]
fn records_on_the_second_line_say_what_the_log_says_through_noise_on_a_terminal() {
    let Some(emulator) = Emulator::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let wire = folder.path().join("records");
    nix::unistd::mkfifo(&wire, nix::sys::stat::Mode::S_IRUSR | nix::sys::stat::Mode::S_IWUSR).unwrap();
    let line = super::noise::Line::new();
    let reader = line.reader();
    let (sender, shown) = std::thread::scope(|scope| {
        let path = wire.clone();
        let sender = scope.spawn(move || line.relay(&path));
        // Switched off, the box says the last of its records before it goes.
        let words = ["--records", wire.to_str().unwrap(), "--type", "end$", "off\r"];
        let shown = emulator.words(words).until_it_is_off();
        (sender.join().unwrap(), shown)
    });
    let (rows, complaint) = reader.end();
    let of = |kind: &str| rows.iter().filter(|row| row["kind"] == kind).collect::<Vec<_>>();
    let [run] = of("run")[..] else { panic!("{rows:?}") };
    assert_eq!((&run["verdict"], &run["run"], &run["box"]), (&"PASS".into(), &1.into(), &"00000A".into()));
    assert_eq!(run["a_to_b_sent_frames"], shown.number(" total A>B", "sent"));
    assert_eq!(run["b_to_a_good_frames"], shown.number(" total B>A", "good"));
    let seconds = of("second").len();
    assert!(
        seconds > 0 && seconds + sender.seconds_spoilt == shown.count(" rate A>B "),
        "{seconds} {sender:?}"
    );
    assert!(sender.seconds_spoilt > 0 && complaint.contains("skipped"), "{sender:?} {complaint}");
}

/// The stick's image as it was built has no results: what is asserted of one is the box's doing.
#[test]
fn a_stick_as_built_is_an_empty_history() {
    let Some(image) = firmware() else { return };
    let image: &Path = &image.join("linegauge.img");
    let (results, survey) = read(&Partition(File::open(image).unwrap())).unwrap();
    assert_eq!((results.len(), survey.slots, survey.damaged, survey.unreadable), (0, 4096, 0, 0));
}
