//! What the emulated box has beside its ports, from the device's side: a small OLED on a virtio I2C adapter, and a
//! virtio GPIO chip with a button, lamps and a beeper. An emulator is the other end, by vhost-user.
//!
//! In reading order:
//!
//! - [`controller`]: an SSD1306, SSD1309 or SH1106 to the last command; the firmware's own tests have it as well;
//! - [`picture`]: what a person sees of it;
//! - [`display`]: the same behind an I2C address;
//! - [`i2c`], [`gpio`]: what the two virtio devices answer;
//! - [`backend`]: queues of an emulator's memory, for both;
//! - [`commands`]: what the program can be told while it runs.
#![deny(unsafe_code)]

pub mod backend;
pub mod commands;
pub mod controller;
pub mod display;
pub mod gpio;
pub mod i2c;
pub mod picture;
