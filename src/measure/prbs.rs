//! What a test frame carries: PRBS-31 from one template, at a phase that tells frames apart.
//!
//! Every payload is a slice of the same template, so that a receiver compares whole slices instead
//! of generating bits. Where the slice starts depends on direction, stream and sequence mod
//! [`PHASES`]: a buffer that holds another frame's content shows as half its bits wrong.

use crate::units::{Direction, FrameSize, MAX_STREAMS};

/// How many phases a stream's frames go through. Odd, so that it shares no factor with rings and
/// batches of a power of two: a buffer sent again one lap later holds another phase.
pub const PHASES: usize = 7;

/// Octets between two phases. The shortest payload, 18 octets, is shorter than that, and the
/// sequence does not repeat within 2³¹ bits, so two phases have nothing in common.
const STRIDE: usize = 19;

/// The longest payload that is ever asked for.
const LONGEST: usize = FrameSize::MAX.without_fcs();

const PHASES_IN_ALL: usize = Direction::BOTH.len() * MAX_STREAMS * PHASES;

const TEMPLATE_OCTETS: usize = (PHASES_IN_ALL - 1) * STRIDE + LONGEST;

/// First state of the template's generator: any that is not sparse, because the sequence comes out
/// of a sparse state (all ones, say) only after hundreds of bits of long runs.
const SEED: u32 = 0x35CA_9E2D;

static TEMPLATE: [u8; TEMPLATE_OCTETS] = template();

/// The payload of frame number `sequence` of `stream` in `direction`, `octets` long.
///
/// A stream number beyond the last counts as the last, a length beyond the longest frame's as that.
#[must_use]
pub fn payload(direction: Direction, stream: usize, sequence: u64, octets: usize) -> &'static [u8] {
    let stream = direction.index() * MAX_STREAMS + stream.min(MAX_STREAMS - 1);
    let from = (stream * PHASES + phase(sequence)) * STRIDE;
    TEMPLATE.get(from..from + octets.min(LONGEST)).unwrap_or_default()
}

#[expect(clippy::cast_possible_truncation, reason = "the remainder is below PHASES")]
const fn phase(sequence: u64) -> usize {
    (sequence % PHASES as u64) as usize
}

/// The shift register of 31 stages of ITU-T O.150, 5.8: stages 28 and 31 are added modulo 2
/// (x³¹ + x²⁸ + 1) and the output is inverted, as in IEEE 802.3, 49.2.8.
struct Prbs31 {
    /// Bit n is stage n + 1; never all zero.
    stages: u32,
}

impl Prbs31 {
    const fn next_bit(&mut self) -> u8 {
        let sum = (self.stages >> 30 ^ self.stages >> 27) & 1;
        self.stages = self.stages << 1 & 0x7fff_ffff | sum;
        if sum == 0 { 1 } else { 0 }
    }

    /// Eight bits, the first in the least significant place: the order in which Ethernet sends them
    /// (IEEE 802.3, 3.3).
    const fn next_octet(&mut self) -> u8 {
        let mut octet = 0;
        let mut place = 0;
        while place < 8 {
            octet |= self.next_bit() << place;
            place += 1;
        }
        octet
    }
}

const fn template() -> [u8; TEMPLATE_OCTETS] {
    let mut generator = Prbs31 { stages: SEED };
    let mut octets = [0; TEMPLATE_OCTETS];
    let mut at = 0;
    while at < TEMPLATE_OCTETS {
        octets[at] = generator.next_octet();
        at += 1;
    }
    octets
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn bits(octets: &[u8]) -> Vec<u8> {
        octets.iter().flat_map(|octet| (0..8).map(move |place| octet >> place & 1)).collect()
    }

    /// Every phase there is, `octets` long.
    fn all_phases(octets: usize) -> Vec<&'static [u8]> {
        let phase =
            |direction, stream| (0..7).map(move |sequence| payload(direction, stream, sequence, octets));
        let streams = |direction| (0..MAX_STREAMS).flat_map(move |stream| phase(direction, stream));
        Direction::BOTH.into_iter().flat_map(streams).collect()
    }

    fn assert_phases_differ(octets: usize, least: f64, most: f64) {
        let phases = all_phases(octets);
        for (index, one) in phases.iter().enumerate() {
            for other in &phases[..index] {
                let wrong: u32 = one.iter().zip(*other).map(|(a, b)| (a ^ b).count_ones()).sum();
                let share = f64::from(wrong) / (octets as f64 * 8.0);
                assert!((least..=most).contains(&share), "{share} of {octets} octets differ");
            }
        }
    }

    #[test]
    fn the_sequence_from_all_ones_begins_with_the_runs_of_prbs31() {
        // b[n] = b[n−31] + b[n−28] from all ones, inverted: (1 + x³)^k modulo 2, by hand.
        let mut generator = Prbs31 { stages: 0x7fff_ffff };
        let runs = [(1, 28), (0, 3), (1, 25), (0, 6), (1, 22), (0, 3), (1, 3), (0, 3)];
        for (bit, length) in runs {
            for _ in 0..length {
                assert_eq!(generator.next_bit(), bit);
            }
        }
    }

    #[test]
    fn the_law_of_the_sequence_holds_over_the_whole_template() {
        let bits = bits(&TEMPLATE);
        for n in 31..bits.len() {
            // The output is inverted, and so is the law.
            assert_eq!(bits[n], bits[n - 31] ^ bits[n - 28] ^ 1, "bit {n}");
        }
    }

    #[test]
    fn the_template_is_balanced() {
        let ones = bits(&TEMPLATE).iter().map(|bit| f64::from(*bit)).sum::<f64>();
        let share = ones / (TEMPLATE_OCTETS as f64 * 8.0);
        assert!((0.49..0.51).contains(&share), "{share}");
    }

    #[test]
    fn any_two_phases_differ_in_about_half_of_their_bits() {
        assert_phases_differ(1472, 0.45, 0.55);
        // The shortest payload there is.
        assert_phases_differ(18, 0.25, 0.75);
    }

    #[test]
    fn a_buffer_one_lap_of_a_power_of_two_late_holds_another_phase() {
        for lap in (0..16).map(|power| 1u64 << power) {
            assert_ne!(payload(Direction::AToB, 0, 0, 18), payload(Direction::AToB, 0, lap, 18), "{lap}");
        }
    }

    #[test]
    fn no_argument_is_too_large() {
        let last = payload(Direction::BToA, usize::MAX, u64::MAX - 1, usize::MAX);
        assert_eq!(last.len(), LONGEST);
        assert_eq!(payload(Direction::BToA, 6, u64::MAX - 1, LONGEST), last);
    }
}
