//! The firmware image, booted in the emulated box: what a technician would see and an engineer read.
//!
//! Where QEMU is not installed these tests say SKIPPED on standard error and nothing else. With
//! `LINEGAUGE_EMULATOR=required` that is a failure, and so is an image that cannot be built. The first build of the
//! image takes some minutes for its kernel.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod capture;
mod emulator;
mod faults;
mod firmware;
mod hosts;
mod kept;
mod life;
mod noise;
mod panel;
mod peripherals;
mod trouble;
