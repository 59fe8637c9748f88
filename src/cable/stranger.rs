//! Frames that are not ours, as they arrive at one port: single ones, and the chatter of a live network.

use crate::cable::schedule::below;
use measure::units::{Instant, MacAddress};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;
use std::time::Duration;

/// Who sends them: an address set aside for documentation (RFC 9542), so nobody's in earnest.
pub const STRANGER: MacAddress = MacAddress([0x00, 0x00, 0x5E, 0x00, 0x53, 0x17]);

/// The hello time of the spanning tree (IEEE 802.1D-2004, table 17-1).
const HELLO: Duration = Duration::from_secs(2);

/// A broadcast comes after 100 ms to 3 s.
const QUIET: (u64, u64) = (100, 2900);

/// Octets of the smallest frame without its FCS.
const SMALLEST: usize = 60;

/// An ARP request of the stranger's: who has 192.0.2.1, tell 192.0.2.23 (RFC 826; addresses of RFC 5737).
pub(super) fn arp_request() -> [u8; SMALLEST] {
    let mut frame = addressed([0xFF; 6]);
    frame[12..22].copy_from_slice(&[0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 1]);
    frame[22..28].copy_from_slice(&STRANGER.0);
    frame[28..32].copy_from_slice(&[192, 0, 2, 23]);
    frame[38..42].copy_from_slice(&[192, 0, 2, 1]);
    frame
}

/// A spanning tree hello: an 802.3 length, LLC 42-42-03, then a configuration BPDU
/// (IEEE 802.1D-2004, 9.3.1) of a bridge with the stranger's address.
pub(super) fn hello() -> [u8; SMALLEST] {
    let mut frame = addressed([0x01, 0x80, 0xC2, 0, 0, 0]);
    frame[12..17].copy_from_slice(&[0, 38, 0x42, 0x42, 0x03]);
    frame[22..24].copy_from_slice(&[0x80, 0]);
    frame[24..30].copy_from_slice(&STRANGER.0);
    frame[34..36].copy_from_slice(&[0x80, 0]);
    frame[36..42].copy_from_slice(&STRANGER.0);
    // Port 0x8001, age 0 s, maximum age 20 s, hello 2 s, forward delay 15 s, in 1/256 s.
    frame[42..52].copy_from_slice(&[0x80, 1, 0, 0, 20, 0, 2, 0, 15, 0]);
    frame
}

fn addressed(to: [u8; 6]) -> [u8; SMALLEST] {
    let mut frame = [0; SMALLEST];
    frame[..6].copy_from_slice(&to);
    frame[6..12].copy_from_slice(&STRANGER.0);
    frame
}

/// When the network at a port speaks next.
#[derive(Clone, Copy, Debug)]
struct Chatter {
    hello: Instant,
    broadcast: Instant,
}

/// What strangers send to one port.
#[derive(Clone, Debug)]
pub(super) struct Strangers {
    rng: Xoshiro256PlusPlus,
    /// Moments of single frames after the first test frame, in order.
    singles: VecDeque<Duration>,
    network: bool,
    /// None until the network is first asked.
    chatter: Option<Chatter>,
}

impl Strangers {
    /// Single frames at those moments, and the chatter of a network if there is one.
    pub fn new(rng: Xoshiro256PlusPlus, mut singles: Vec<Duration>, network: bool) -> Self {
        singles.sort_unstable();
        Self { rng, singles: singles.into(), network, chatter: None }
    }

    /// The next single frame that is due `time` after the first test frame.
    pub fn single(&mut self, time: Option<Duration>) -> Option<[u8; SMALLEST]> {
        let due = self.singles.front().zip(time).is_some_and(|(at, time)| *at <= time);
        due.then(|| self.singles.pop_front()).flatten().map(|_| arp_request())
    }

    /// When the next single frame is due after the first test frame.
    pub fn next_single(&self) -> Option<Duration> {
        self.singles.front().copied()
    }

    /// What the network says at `now`: at most one frame, so ask until there is none.
    pub fn says(&mut self, now: Instant) -> Option<[u8; SMALLEST]> {
        if !self.network {
            return None;
        }
        let rng = &mut self.rng;
        let chatter = self.chatter.get_or_insert_with(|| Chatter {
            hello: now + Duration::from_nanos(below(rng, measure::units::nanos(HELLO))),
            broadcast: now + quiet(rng),
        });
        if chatter.hello <= now {
            chatter.hello = now + HELLO;
            Some(hello())
        } else if chatter.broadcast <= now {
            chatter.broadcast = now + quiet(rng);
            Some(arp_request())
        } else {
            None
        }
    }

    /// When the network speaks next; the origin of time if it was never asked.
    pub fn next_says(&self) -> Option<Instant> {
        let next = self.chatter.map_or(Instant::ZERO, |chatter| chatter.hello.min(chatter.broadcast));
        self.network.then_some(next)
    }
}

fn quiet(rng: &mut Xoshiro256PlusPlus) -> Duration {
    Duration::from_millis(QUIET.0 + below(rng, QUIET.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng;

    fn strangers(singles: Vec<Duration>, network: bool) -> Strangers {
        Strangers::new(Xoshiro256PlusPlus::seed_from_u64(3), singles, network)
    }

    #[test]
    fn a_network_says_hello_every_two_seconds_and_broadcasts_now_and_then() {
        let mut network = strangers(Vec::new(), true);
        let (mut hellos, mut broadcasts) = (0, 0);
        for millis in 0..60_000 {
            while let Some(frame) = network.says(Instant::from_millis(millis)) {
                *if frame == hello() { &mut hellos } else { &mut broadcasts } += 1;
            }
        }
        assert!((29..=30).contains(&hellos), "{hellos} hellos in a minute");
        assert!((20..=600).contains(&broadcasts), "{broadcasts} broadcasts in a minute");
    }

    #[test]
    fn without_a_network_there_is_no_chatter() {
        let mut quiet = strangers(Vec::new(), false);
        assert_eq!((quiet.says(Instant::from_millis(9000)), quiet.next_says()), (None, None));
    }

    #[test]
    fn single_frames_come_in_order_and_not_before_there_is_traffic() {
        let mut singles = strangers(vec![Duration::from_secs(2), Duration::ZERO], false);
        assert_eq!(singles.single(None), None);
        assert!(singles.single(Some(Duration::ZERO)).is_some());
        assert_eq!(singles.next_single(), Some(Duration::from_secs(2)));
        assert_eq!(singles.single(Some(Duration::from_secs(1))), None);
    }

    #[test]
    fn a_hello_says_how_long_its_llc_part_is() {
        // 802.3 length: LLC 3 + configuration BPDU 35 octets.
        assert_eq!(u16::from_be_bytes([hello()[12], hello()[13]]), 38);
    }
}
