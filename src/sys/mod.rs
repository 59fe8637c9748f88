//! The only `unsafe` of the project: one system call a function, each with its SAFETY note.
//!
//! `packet.rs` in this folder is part of the crate `port`, which is compiled for speed.
#![allow(unsafe_code)]

pub mod ethtool;
pub mod framebuffer;
pub mod i2c;
pub mod init;
mod link_request;
pub mod rtnl;
pub mod serial;
pub mod terminal;
pub mod tun;
pub mod watchdog;
