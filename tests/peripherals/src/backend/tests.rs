//! Queues as an emulator's guest may leave them.

use super::*;
use proptest::prelude::*;
use virtio_queue::Queue;
use virtio_queue::desc::{RawDescriptor, split::Descriptor};
use virtio_queue::mock::MockSplitQueue;
use vm_memory::{Bytes, GuestAddress};

/// Answers with the request itself.
struct Echo;

impl Device for Echo {
    const QUEUES: usize = 1;

    fn config(&self) -> Vec<u8> {
        vec![1, 2]
    }

    fn answer(&mut self, request: &[u8], room: usize, _: &mut News) -> Vec<u8> {
        request.iter().copied().take(room).collect()
    }
}

const SIZE: usize = 0x1_0000;
const TEXT: GuestAddress = GuestAddress(0x8000);
const ANSWER: GuestAddress = GuestAddress(0x9000);

fn memory() -> Memory {
    let memory = Memory::from_ranges(&[(GuestAddress(0), SIZE)]).unwrap();
    memory.write_slice(b"request", TEXT).unwrap();
    memory
}

fn backend(memory: &Memory) -> Backend<Echo> {
    let memory = Some(GuestMemoryAtomic::new(memory.clone()));
    Backend { device: Echo, tell: |_| {}, memory, wedged: false, requests: None }
}

/// The chains that such descriptors make, as the device finds them.
fn chains(memory: &Memory, descriptors: &[RawDescriptor]) -> Vec<Chain> {
    let guest = MockSplitQueue::new(memory, 16);
    guest.build_multiple_desc_chains(descriptors).unwrap();
    let mut queue: Queue = guest.create_queue().unwrap();
    let atomic = GuestMemoryAtomic::new(memory.clone());
    queue.iter(atomic.memory()).unwrap().collect()
}

fn descriptor(address: GuestAddress, length: u32, flags: u16, next: u16) -> RawDescriptor {
    RawDescriptor::from(Descriptor::new(address.0, length, flags, next))
}

const NEXT: u16 = 1;
const WRITE: u16 = 2;

#[test]
fn a_request_is_answered_where_there_is_room() {
    let memory = memory();
    let both = [descriptor(TEXT, 7, NEXT, 1), descriptor(ANSWER, 16, WRITE, 0)];
    let chain = chains(&memory, &both).remove(0);
    assert_eq!(backend(&memory).exchange(&memory, chain).unwrap(), 7);
    let mut answer = [0; 8];
    memory.read_slice(&mut answer, ANSWER).unwrap();
    assert_eq!(&answer, b"request\0");
}

#[test]
fn one_outside_the_memory_or_of_no_end_is_refused() {
    let memory = memory();
    for wrong in [
        [descriptor(GuestAddress(0xFFFF_0000), 7, NEXT, 1), descriptor(ANSWER, 16, WRITE, 0)],
        [descriptor(TEXT, 7, NEXT, 1), descriptor(GuestAddress(0xFFFE), 16, WRITE, 0)],
        [descriptor(TEXT, u32::MAX, NEXT, 1), descriptor(ANSWER, 16, WRITE, 0)],
    ] {
        let chain = chains(&memory, &wrong).remove(0);
        assert!(backend(&memory).exchange(&memory, chain).is_err(), "{wrong:?}");
    }
}

#[test]
fn configuration_that_is_not_there_reads_as_zeros() {
    let backend = backend(&memory());
    assert_eq!(backend.get_config(0, 2), [1, 2]);
    assert_eq!(backend.get_config(1, 3), [2, 0, 0]);
    assert_eq!(backend.get_config(u32::MAX, 1), [0]);
}

proptest! {
    #[test]
    fn no_descriptor_is_too_odd(
        odd in prop::collection::vec((0..0x2_0000_u64, 0..0x2_0000_u32, 0..8_u16, 0..20_u16), 1..12),
    ) {
        let memory = memory();
        let guest = MockSplitQueue::new(&memory, 16);
        for (index, (address, length, flags, next)) in (0..).zip(odd) {
            guest.desc_table().store(index, descriptor(GuestAddress(address), length, flags, next)).unwrap();
            guest.avail().ring().ref_at(usize::from(index)).unwrap().store(index);
        }
        guest.avail().idx().store(12);
        let mut queue: Queue = guest.create_queue().unwrap();
        let atomic = GuestMemoryAtomic::new(memory.clone());
        let mut backend = backend(&memory);
        let found: Vec<Chain> = queue.iter(atomic.memory()).unwrap().collect();
        prop_assert_eq!(found.len(), 12);
        for chain in found {
            if let Ok(written) = backend.exchange(&memory, chain) {
                prop_assert!(written as usize <= MOST);
            }
        }
    }
}
