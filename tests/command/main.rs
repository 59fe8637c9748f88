//! The program from outside: what it prints and writes, how it ends, and what it leaves behind.
//!
//! Every test starts the real binary. Where the host has no namespaces or no TUN device for us, a test says
//! SKIPPED on standard error and nothing else.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod faults;
mod files;
mod gauge;
mod grammar;
mod history;
mod others;
mod readers;
mod records;
mod refusals;
mod schema;
mod signals;
mod terminal;
mod truth;
mod users;
