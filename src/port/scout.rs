//! The scout on packet sockets: hears everything that is not the flood, from before link-up on.

use super::Scout;
use super::filter::{SNAP_OCTETS, all_but_test_frames};
use super::mmsg::read_batch;
use super::socket::{PacketSocket, SocketError};
use crate::packet::{BATCH, Instruction};
use measure::units::{Direction, Side};
use std::io::{self, IoSlice};

/// Batches one call hands on at most: 256 frames, four times the probes of a whole loop check.
const BATCHES_A_CALL: usize = 4;

/// Both ports' slow sender and listener.
///
/// While it lives both ports are promiscuous; the kernel undoes that with its sockets.
pub struct PacketScout {
    ports: [Ears; 2],
    buffers: Box<[u8]>,
}

/// One port's sockets.
struct Ears {
    sender: PacketSocket,
    listener: PacketSocket,
}

impl Ears {
    fn open(ifindex: u32, filter: &[Instruction]) -> Result<Self, SocketError> {
        let listener = PacketSocket::listener(ifindex, filter)?;
        Ok(Self { sender: PacketSocket::sender(ifindex)?, listener })
    }
}

impl PacketScout {
    /// Listens on both interfaces, up or not, to everything but the test frames that carry `nonce` and one of
    /// `ethertypes` and come from the other port.
    ///
    /// # Errors
    /// See [`SocketError`].
    pub fn open(interfaces: [u32; 2], nonce: u32, ethertypes: &[u16]) -> Result<Self, SocketError> {
        let [a, b] = interfaces;
        let ports = [
            Ears::open(a, &all_but_test_frames(nonce, Direction::BToA, ethertypes))?,
            Ears::open(b, &all_but_test_frames(nonce, Direction::AToB, ethertypes))?,
        ];
        let buffers = vec![0; usize::from(SNAP_OCTETS) * BATCH].into();
        Ok(Self { ports, buffers })
    }
}

impl Scout for PacketScout {
    fn send(&mut self, from: Side, frame: &[u8]) -> io::Result<()> {
        let [a, b] = &self.ports;
        let ears = if from == Side::A { a } else { b };
        ears.sender.send(&[IoSlice::new(frame)]).map(drop)
    }

    fn hear(&mut self, on: Side, sink: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        let [a, b] = &self.ports;
        let ears = if on == Side::A { a } else { b };
        for _ in 0..BATCHES_A_CALL {
            if read_batch(&ears.listener, &mut self.buffers, usize::from(SNAP_OCTETS), sink)? < BATCH {
                break;
            }
        }
        Ok(())
    }
}
