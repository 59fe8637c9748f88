//! Frames for the tests of this module and of those above it.

use super::{Identity, Writer};
use crate::mix::SizeMix;
use crate::units::{Direction, MAX_STREAMS, MacAddress};
use std::vec;
use std::vec::Vec;

/// Two ports of one card: their addresses differ in two bits only.
pub fn identity() -> Identity {
    let macs = [0x01, 0x02].map(|last| MacAddress([0x90, 0xE2, 0xBA, 0x4C, 0x11, last]));
    let ethertypes = (0x88B5..).take(MAX_STREAMS).collect();
    Identity { nonce: 0xC0FF_EE42, macs, ethertypes }
}

pub fn writer(direction: Direction, mix: &str) -> Writer {
    Writer::new(identity(), direction, SizeMix::parse(mix).unwrap())
}

/// Frame number `sequence` of `stream`, written from scratch.
pub fn frame(writer: &Writer, stream: usize, sequence: u64) -> Vec<u8> {
    let mut buf = vec![0; writer.slot_octets()];
    let slots = u64::try_from(writer.slots(1)).unwrap();
    writer.fill(stream, usize::try_from(sequence % slots).unwrap(), &mut buf);
    let octets = writer.stamp(stream, sequence, &mut buf);
    buf.truncate(octets);
    buf
}

/// `frame` with its bit number `bit` wrong.
pub fn flipped(frame: &[u8], bit: usize) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[bit / 8] ^= 1 << (bit % 8);
    frame
}
