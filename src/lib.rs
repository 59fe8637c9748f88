//! linegauge: a go/no-go gauge for 10 Gb/s Ethernet cables.
//!
//! The crate `measure` is the pure core, and `port` the datapath; here are the thin adapters around it and the one run loop.
//! In reading order:
//!
//! - [`session`]: the only loop: sample → measure → record → draw;
//! - [`rig`]: what a session drives: real sockets with threads, or a model in virtual time;
//! - [`proof`]: the gauge shown an error of each kind, before it judges a cable;
//! - [`port`]: frames in and out, and the worker that moves them;
//! - [`nic`]: what a NIC tells and takes;
//! - [`cable`]: virtual and emulated cables;
//! - [`panel`]: screens to pixels, terminal and PNG;
//! - [`journal`]: the text log, the JSON result, the records with their reader, the history on the stick;
//! - [`board`], [`args`]: what is asked for, checked;
//! - [`command`]: what each command does: the only place, with `main`, that names concrete parts;
//! - [`host`], [`clock`], [`sys`]: PID 1, the machine and its settings, where time comes from, and the only `unsafe`.
#![deny(unsafe_code)]

pub mod args;
pub mod board;
pub mod cable;
pub mod command;
pub mod host;
pub mod journal;
pub mod nic;
pub mod panel;
pub mod proof;
pub mod rig;
pub mod session;
pub mod sys;

/// The commit that the program was built from: 12 digits, and a plus where its tree was changed; none where nobody
/// knows.
pub const COMMIT: Option<&str> = {
    let commit = env!("LINEGAUGE_COMMIT");
    if commit.is_empty() { None } else { Some(commit) }
};

pub use ::port;
pub use port::clock;
