//! The virtual cable for somebody who is not root: in a user namespace, with the buffers that anybody gets.
//!
//! A program of its own without the test harness, because the kernel refuses a user namespace to a process
//! with threads. Started by root, it starts itself again as nobody.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod wire_bench;

use linegauge::host::namespace;
use linegauge::port::Engine;
use measure::record::Held;
use measure::units::{Direction, Side};
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use wire_bench::{Bench, exchange, stay_on_this_processor};

/// The user and group that own nothing.
const NOBODY: u32 = 65534;

fn main() {
    if nix::unistd::geteuid().is_root() {
        again_as_nobody();
    } else {
        an_ordinary_user_gets_the_same_cable();
    }
}

fn again_as_nobody() {
    // Nobody may not reach into the folder where this program was built.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("ordinary_user");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for path in [folder.path(), &program] {
        std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    let status = Command::new(&program).uid(NOBODY).gid(NOBODY).current_dir("/").status().unwrap();
    assert!(status.success(), "as nobody: {status}");
}

fn an_ordinary_user_gets_the_same_cable() {
    match namespace::enter_private() {
        Ok(private) => assert!(private.rootless),
        Err(error @ namespace::NamespaceError::Threads) => panic!("{error}"),
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            return;
        }
    }
    assert!(nix::unistd::geteuid().is_root(), "root of the namespace");
    stay_on_this_processor();
    let mut bench = Bench::new();
    assert!(bench.settings.iter().all(|row| row.held != Held::No), "{:#?}", bench.settings);

    let writer = bench.writer(Direction::BToA);
    let mut engine = bench.engine(Direction::BToA, &writer);
    let room = engine.receive_buffer().unwrap();
    let all: Vec<u64> = (0..5000).collect();
    assert_eq!(exchange(&mut engine, &writer, 5000), BTreeMap::from([(0, all.clone()), (1, all)]));
    assert_eq!(engine.drops().unwrap(), 0);
    assert_eq!(bench.heard(Side::A), Vec::<Vec<u8>>::new());
    println!("an ordinary user gets the same cable, with receive buffers of {room} octets");
}
