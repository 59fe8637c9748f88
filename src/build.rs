//! The commit that the program is built from, and a smaller release program.
//!
//! The release program has no tables for unwinding: a panic ends it, after its hook and without a trace, and
//! everything else needs none. They are a twelfth of it.

use std::env;
use std::process::Command;

fn main() {
    name_commit();
    println!("cargo::rerun-if-changed=src/no_unwinding.ld");
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo tells it");
        println!("cargo::rustc-link-arg-bins=-Wl,--no-eh-frame-hdr,-T,{folder}/src/no_unwinding.ld");
    }
}

/// Tells the program its commit, as `LINEGAUGE_COMMIT`: 12 digits, with a plus where the tree differs from it; empty
/// where nobody knows.
fn name_commit() {
    let commit = git(&["describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"]);
    println!("cargo::rustc-env=LINEGAUGE_COMMIT={}", commit.unwrap_or_default());
    // What makes it another: a commit, and a change of what is built.
    let places = ["HEAD", "logs/HEAD"].map(|file| git(&["rev-parse", "--git-path", file]));
    let sources = ["src", "board", "Cargo.toml", "Cargo.lock"].map(str::to_owned);
    for path in places.into_iter().flatten().chain(sources) {
        println!("cargo::rerun-if-changed={path}");
    }
}

/// What git says, in one line; none where there is no git, or no repository.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| line.trim().to_owned())
}
