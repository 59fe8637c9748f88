//! The only `unsafe` of the project: one system call a function, each with its SAFETY note.
#![allow(unsafe_code)]

pub mod ethtool;
pub mod framebuffer;
pub mod i2c;
pub mod init;
pub mod packet;
pub mod rtnl;
pub mod serial;
pub mod terminal;
pub mod tun;
pub mod watchdog;
