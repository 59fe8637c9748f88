//! Everything but a run.

use super::gauge::{Ended, PROGRAM, Running, has_namespaces};
use serde_json::Value;
use std::process::Command;

fn go(words: &[&str]) -> Ended {
    Running::start(Command::new(PROGRAM).args(words)).end()
}

/// What it prints, with exit code 0 and nothing to complain about.
fn printed(words: &[&str]) -> String {
    let ended = go(words);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{words:?}");
    ended.out
}

#[test]
fn boards_lists_each_built_in_board_and_shows_one_as_a_board_file() {
    let list = printed(&["boards"]);
    for name in ["virtual", "emulated", "x520"] {
        assert!(list.lines().any(|line| line.trim_start().starts_with(name)), "{name} in\n{list}");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(format!("{name}.toml"));
        let shown = printed(&["boards", name]);
        std::fs::write(&file, &shown).unwrap();
        let again = printed(&["boards", file.to_str().unwrap()]);
        assert_eq!(settings(&again), settings(&shown), "what is shown is a board file");
    }
}

/// The lines that are no comment.
fn settings(board: &str) -> Vec<&str> {
    board.lines().filter(|line| !line.starts_with('#')).collect()
}

#[test]
fn help_and_version_are_told() {
    assert_eq!(printed(&["--version"]), format!("linegauge {}\n", env!("CARGO_PKG_VERSION")));
    let help = printed(&["--help"]);
    for word in ["Exit codes:", "Examples:", "PASS", "INVALID", "bench", "boards"] {
        assert!(help.contains(word), "{word}");
    }
    assert_eq!(printed(&["run", "--help"]), printed(&["help", "run"]));
}

#[test]
fn a_bench_has_a_row_for_each_mix() {
    if !has_namespaces() {
        return;
    }
    let rows = printed(&["bench", "--seconds", "0.3", "--mix", "small", "--mix", "jumbo", "--json"]);
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(rows.iter().map(|row| &row["mix"]).collect::<Vec<_>>(), ["small", "jumbo"]);
    for row in &rows {
        let mut keys: Vec<&String> = row.as_object().unwrap().keys().collect();
        keys.sort_unstable();
        assert_eq!(
            keys,
            [
                "cpu_ns_per_frame",
                "engine",
                "l1_gbps",
                "missing",
                "mix",
                "sent",
                "streams",
                "verified",
                "verified_mframes_per_s",
            ]
        );
        let [sent, verified, missing] =
            ["sent", "verified", "missing"].map(|name| super::truth::number(row, name));
        assert!(verified > 0 && sent == verified + missing, "{row}");
        assert!(row["verified_mframes_per_s"].as_f64().unwrap() > 0.0, "{row}");
    }
}
