//! Whose frame is it: ours, and then of which direction and kind, even where its header was hit.

use super::header::direction_code;
use super::{ETHERTYPE_AT, Identity, KIND_AT, Kind, MAGIC, MAGIC_AT, NONCE_AT, VERSION, VERSION_AT, View};
use crate::units::Direction;

/// Most wrong bits in the 184 of addresses, magic, version, kind, direction and nonce with which a
/// frame still counts as a damaged one of ours.
///
/// Far more than a link that holds its block lock does to a frame, and far less than chance needs: a
/// stranger's frame has 92 wrong bits give or take 7; a frame between our own two addresses (88 bits
/// left) has 44 give or take 5, and one with nothing but zeros or ones behind them 24 at least.
pub(super) const MOST_WRONG_BITS: u64 = 20;

/// What a frame of ours was sent as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub direction: Direction,
    pub kind: Kind,
}

impl Origin {
    /// What `frame`, heard where `toward` leads, was sent as; none where it is no frame of this run.
    ///
    /// An intact header is believed. Otherwise the frame is what it resembles most of all that could
    /// have been sent that way: the two ports of one card often differ in a single bit of their
    /// addresses, so that what was hit there tells no direction.
    #[cold]
    pub fn of(identity: &Identity, toward: Direction, frame: &[u8]) -> Option<Self> {
        let Some(view) = View::new_checked(frame).filter(View::is_intact) else {
            return Self::resembling(identity, toward, frame);
        };
        if view.nonce() != identity.nonce {
            return None;
        }
        match view.header() {
            Some(header) => Some(Self { direction: header.direction, kind: header.kind }),
            None => Self::resembling(identity, toward, frame),
        }
    }

    fn resembling(identity: &Identity, direction: Direction, frame: &[u8]) -> Option<Self> {
        let candidates = Kind::ALL.map(|kind| Self { direction, kind }).into_iter();
        let nearest = candidates.min_by_key(|candidate| candidate.wrong_bits(identity, frame))?;
        let ours = nearest.wrong_bits(identity, frame) <= MOST_WRONG_BITS
            || nearest.has_our_ethernet_header(identity, frame)
            || names_this_run(identity, frame);
        ours.then_some(nearest)
    }

    /// Wrong bits in what all frames of this origin have in common; bits that did not come are wrong.
    fn wrong_bits(self, identity: &Identity, frame: &[u8]) -> u64 {
        let codes = [VERSION, self.kind.code(), direction_code(self.direction)];
        wrong_bits_at(frame, 0, &identity.addresses(self.direction, self.kind))
            + wrong_bits_at(frame, MAGIC_AT, &MAGIC.to_be_bytes())
            + wrong_bits_at(frame, VERSION_AT, &codes)
            + wrong_bits_at(frame, NONCE_AT, &identity.nonce.to_be_bytes())
    }

    /// Both addresses and an ethertype of ours: nobody else sends that, whatever became of the rest.
    fn has_our_ethernet_header(self, identity: &Identity, frame: &[u8]) -> bool {
        let addresses = identity.addresses(self.direction, self.kind);
        frame.get(..ETHERTYPE_AT) == Some(&addresses) && identity.has_ethertype_of(frame)
    }
}

/// Magic and nonce of this run: a stranger has them once in 2⁶⁴ frames.
fn names_this_run(identity: &Identity, frame: &[u8]) -> bool {
    let at = |at: usize| frame.get(at..at + 4);
    at(MAGIC_AT) == Some(&MAGIC.to_be_bytes()) && at(NONCE_AT) == Some(&identity.nonce.to_be_bytes())
}

fn wrong_bits_at(frame: &[u8], at: usize, expected: &[u8]) -> u64 {
    let came = frame.get(at..).unwrap_or_default();
    let absent = expected.get(came.len()..).unwrap_or_default();
    super::differing_bits(came, expected) + 8 * u64::try_from(absent.len()).unwrap_or(u64::MAX / 8)
}

const _: () = assert!(KIND_AT == VERSION_AT + 1, "the three codes are next to each other");
