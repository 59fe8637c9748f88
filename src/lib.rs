//! linegauge: a go/no-go gauge for 10 Gb/s Ethernet cables.
//!
//! The crate `measure` is the pure core; here are the thin adapters around it and the one run loop.
//! Adapters never name each other; only `main` names concrete ones.
#![deny(unsafe_code)]

pub mod nic;
pub mod sys;
