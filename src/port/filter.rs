//! The kernel filter of the scout: everything but this run's test frames.
//!
//! The flood goes to the engines' sockets; a copy of it here would be in the way of the few frames that
//! matter. What is left out has a test ethertype, and the magic, the run's nonce, the kind of a test frame
//! and the direction that arrives here in their places. A test frame whose header was hit there is still
//! heard, and so is one that comes back to the port that sent it.

use crate::packet::Instruction;
use measure::frame::{DIRECTION_AT, ETHERTYPE_AT, KIND_AT, Kind, MAGIC, MAGIC_AT, NONCE_AT};
use measure::units::{Direction, MAX_STREAMS};

/// Octets kept of a frame that passes: more than a probe has, and enough to say whose a foreign one is.
pub const SNAP_OCTETS: u16 = 256;

/// A program for the kernel's classic BPF machine.
pub type Program = heapless::Vec<Instruction, MAX_INSTRUCTIONS>;

/// Length 3, ethertype 2 and one more for each, four header fields of 3 each, and the last word.
const MAX_INSTRUCTIONS: usize = 3 + 2 + MAX_STREAMS + 4 * 3 + 1;

/// Octets a frame needs for each load below to lie inside it: a load beyond the end drops the frame.
const READ_OCTETS: usize = NONCE_AT + 4;

// Instruction codes of linux/bpf_common.h.
const LOAD_WORD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const LOAD_HALF: u16 = 0x28; // BPF_LD | BPF_H | BPF_ABS
const LOAD_OCTET: u16 = 0x30; // BPF_LD | BPF_B | BPF_ABS
const LOAD_LENGTH: u16 = 0x80; // BPF_LD | BPF_W | BPF_LEN
const IF_EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const IF_AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K

/// The program that passes everything but the test frames of the run `nonce` that go in `direction`.
///
/// Of more than [`MAX_STREAMS`] ethertypes, those beyond are not left out.
#[must_use]
pub fn all_but_test_frames(nonce: u32, direction: Direction, ethertypes: &[u16]) -> Program {
    let ethertypes = ethertypes.get(..MAX_STREAMS).unwrap_or(ethertypes);
    let mut program = Program::new();
    program.extend([load(LOAD_LENGTH, 0), unless(IF_AT_LEAST, wide(READ_OCTETS)), PASS]);
    program.extend([load(LOAD_HALF, ETHERTYPE_AT)]);
    program.extend((1..=7).rev().skip(MAX_STREAMS - ethertypes.len()).zip(ethertypes).map(one_of));
    program.extend([PASS]);
    program.extend([load(LOAD_WORD, MAGIC_AT), unless(IF_EQUAL, MAGIC), PASS]);
    program.extend([load(LOAD_OCTET, KIND_AT), unless(IF_EQUAL, u32::from(Kind::Test.code())), PASS]);
    program.extend([load(LOAD_OCTET, DIRECTION_AT), unless(IF_EQUAL, wide(direction.index())), PASS]);
    program.extend([load(LOAD_WORD, NONCE_AT), unless(IF_EQUAL, nonce), PASS]);
    program.extend([DROP]);
    program
}

/// The last word: keep what was asked for.
const PASS: Instruction = Instruction { code: RETURN, jt: 0, jf: 0, k: SNAP_OCTETS as u32 };
/// The last word: keep nothing.
const DROP: Instruction = Instruction { code: RETURN, jt: 0, jf: 0, k: 0 };

/// Loads what is at octet `at`, most significant octet first.
fn load(code: u16, at: usize) -> Instruction {
    Instruction { code, jt: 0, jf: 0, k: wide(at) }
}

/// Goes on to the next instruction unless the test holds; then skips it.
fn unless(code: u16, value: u32) -> Instruction {
    Instruction { code, jt: 1, jf: 0, k: value }
}

/// One of several values, each of which is good enough: skips the tests left and the instruction after them.
fn one_of((left, &value): (u8, &u16)) -> Instruction {
    Instruction { code: IF_EQUAL, jt: left, jf: 0, k: u32::from(value) }
}

/// A number as the machine has it.
fn wide(number: usize) -> u32 {
    u32::try_from(number).expect("places and codes in the header are small")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: u32 = 0xdead_beef;
    const ETHERTYPES: [u16; 2] = [0x88b5, 0x88b6];

    /// What the kernel's machine makes of `frame`: octets kept.
    fn run(program: &[Instruction], frame: &[u8]) -> u32 {
        let mut accumulator = 0u32;
        let mut at = 0usize;
        loop {
            let step = program[at];
            let k = step.k as usize;
            at += 1;
            let loaded = |octets: usize| {
                frame.get(k..k + octets).map(|b| b.iter().fold(0u32, |sum, &b| sum << 8 | u32::from(b)))
            };
            let value = match step.code {
                LOAD_LENGTH => Some(u32::try_from(frame.len()).unwrap()),
                LOAD_WORD => loaded(4),
                LOAD_HALF => loaded(2),
                LOAD_OCTET => loaded(1),
                RETURN => return step.k,
                IF_EQUAL | IF_AT_LEAST => {
                    let holds =
                        if step.code == IF_EQUAL { accumulator == step.k } else { accumulator >= step.k };
                    at += usize::from(if holds { step.jt } else { step.jf });
                    continue;
                }
                other => panic!("unknown instruction {other:#x}"),
            };
            match value {
                Some(value) => accumulator = value,
                None => return 0,
            }
        }
    }

    fn test_frame(ethertype: u16) -> [u8; 60] {
        let mut frame = [0x55; 60];
        frame[12..14].copy_from_slice(&ethertype.to_be_bytes());
        frame[MAGIC_AT..MAGIC_AT + 4].copy_from_slice(&MAGIC.to_be_bytes());
        frame[KIND_AT] = Kind::Test.code();
        frame[DIRECTION_AT] = 1;
        frame[NONCE_AT..NONCE_AT + 4].copy_from_slice(&NONCE.to_be_bytes());
        frame
    }

    #[test]
    fn this_runs_test_frames_of_each_ethertype_are_left_out() {
        let seven = [0x88b5, 0x88b6, 0x9001, 0x9002, 0x9003, 0x9004, 0x9005];
        for streams in 1..=7 {
            let program = all_but_test_frames(NONCE, Direction::BToA, &seven[..streams]);
            for (index, &ethertype) in seven.iter().enumerate() {
                let kept = run(&program, &test_frame(ethertype));
                assert_eq!(kept == 0, index < streams, "{streams} streams, {ethertype:#06x}");
            }
        }
    }

    #[test]
    fn a_bit_flipped_in_what_makes_a_test_frame_lets_it_pass() {
        let program = all_but_test_frames(NONCE, Direction::BToA, &ETHERTYPES);
        for octet in [12, MAGIC_AT, MAGIC_AT + 3, KIND_AT, DIRECTION_AT, NONCE_AT, NONCE_AT + 3] {
            let mut frame = test_frame(ETHERTYPES[0]);
            frame[octet] ^= 0x10;
            assert_eq!(run(&program, &frame), u32::from(SNAP_OCTETS), "octet {octet}");
        }
    }

    #[test]
    fn a_test_frame_that_comes_back_to_its_sender_passes() {
        let program = all_but_test_frames(NONCE, Direction::AToB, &ETHERTYPES);
        assert_eq!(run(&program, &test_frame(ETHERTYPES[0])), u32::from(SNAP_OCTETS));
    }

    #[test]
    fn another_gauges_test_frames_pass() {
        let program = all_but_test_frames(NONCE + 1, Direction::BToA, &ETHERTYPES);
        assert_eq!(run(&program, &test_frame(ETHERTYPES[1])), u32::from(SNAP_OCTETS));
    }

    #[test]
    fn a_frame_too_short_for_the_header_passes_whatever_its_length() {
        let program = all_but_test_frames(NONCE, Direction::BToA, &ETHERTYPES);
        let frame = test_frame(ETHERTYPES[0]);
        for length in 0..READ_OCTETS {
            assert_eq!(run(&program, &frame[..length]), u32::from(SNAP_OCTETS), "{length} octets");
        }
        assert_eq!(run(&program, &frame[..READ_OCTETS]), 0);
    }

    #[test]
    fn with_no_ethertype_everything_passes() {
        let program = all_but_test_frames(NONCE, Direction::BToA, &[]);
        assert_eq!(run(&program, &test_frame(ETHERTYPES[0])), u32::from(SNAP_OCTETS));
    }
}
