//! The pure measuring core of linegauge: units, frames, counters, rates, accounts and the verdict.
//!
//! Nothing here knows an operating system, allocates, or has a clock of its own: time comes in as
//! an argument ([`units::Instant`]), what was seen comes in as plain values, and what to say comes
//! out as plain values. The layers, bottom up:
//!
//! - quantities: [`units`];
//! - what is on the wire: [`mix`], [`prbs`], [`frame`];
//! - when to send it: [`pace`], [`plan`];
//! - what was counted: [`counter`], [`stream`], [`tally`];
//! - rates out of counts: [`bucket`], [`smear`], [`gauge`];
//! - is it a loop, is there a link: [`link`], [`loopcheck`];
//! - what the box does next: [`life`];
//! - the account and the judgement: [`ledger`], [`ber`], [`evidence`], [`verdict`];
//! - what to tell people: [`record`], [`screen`], [`ticket`].
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod ber;
pub mod bucket;
pub mod counter;
pub mod evidence;
pub mod frame;
pub mod gauge;
pub mod ledger;
pub mod life;
pub mod link;
pub mod loopcheck;
pub mod mix;
pub mod pace;
pub mod plan;
pub mod prbs;
pub mod record;
pub mod screen;
pub mod smear;
pub mod stream;
pub mod tally;
pub mod ticket;
pub mod units;
pub mod verdict;
