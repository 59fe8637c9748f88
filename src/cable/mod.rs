//! Cables to test against: emulated ones, with faults and an exact account of them.
//!
//! - [`fault`]: the script, what goes wrong;
//! - [`emulated`]: the cable itself, pure and in whatever time it is given;
//! - [`account`]: the truth, what really went wrong;
//! - [`runner`]: a cable in real time between two ends;
//! - [`tap`], [`datagram`]: those ends.
//!
//! And [`veth`], the virtual cable: the kernel itself, without faults.

pub mod account;
pub mod datagram;
pub mod emulated;
pub mod fault;
mod line;
mod parse;
mod path;
pub mod recognise;
pub mod runner;
mod schedule;
mod stranger;
pub mod tap;
pub mod veth;

pub use stranger::STRANGER;
