//! A device behind an emulator's vhost-user socket: takes requests out of the queues in the emulator's memory and puts
//! the answers in. Whatever is in a queue, nothing stops but that queue.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use vhost::vhost_user::message::{VhostUserProtocolFeatures, VhostUserVirtioFeatures};
use vhost::vhost_user::{Error as VhostUserError, Listener};
use vhost_user_backend::{Error, ShutdownHandle, VhostUserBackendMut, VhostUserDaemon, VringRwLock, VringT};
use virtio_queue::{DescriptorChain, QueueOwnedT};
use vm_memory::{GuestAddressSpace, GuestMemoryAtomic, GuestMemoryLoadGuard, GuestMemoryMmap};
use vmm_sys_util::epoll::EventSet;

/// `VIRTIO_F_VERSION_1`, `VIRTIO_RING_F_EVENT_IDX`, `VIRTIO_RING_F_INDIRECT_DESC` (linux/virtio_config.h,
/// linux/virtio_ring.h). Without event indices QEMU 7.2 loses the I2C adapter's connection.
const VERSION_1: u64 = 1 << 32;
const EVENT_IDX: u64 = 1 << 29;
const INDIRECT: u64 = 1 << 28;

/// `VIRTIO_I2C_F_ZERO_LENGTH_REQUEST` (linux/virtio_i2c.h): the guest's driver wants it. On a GPIO chip it would be
/// interrupts, which QEMU 7.2 does not pass on and this chip does not have.
const DEVICE_OWN: u64 = 1 << 0;

/// Most requests that wait in a queue.
const QUEUE_SIZE: usize = 256;

/// Octets of the largest request, and of the largest answer: more than a kernel sends (8192 on I2C).
const MOST: usize = 1 << 16;

/// Lines for whoever runs the program.
pub type News = Vec<String>;

type Memory = GuestMemoryMmap<()>;
type Chain = DescriptorChain<GuestMemoryLoadGuard<Memory>>;

/// A virtio device, as far as it is not its queues.
pub trait Device: Send + Sync + 'static {
    /// Queues that it has; requests are in the first.
    const QUEUES: usize;

    /// Its configuration space.
    fn config(&self) -> Vec<u8>;

    /// The answer to a request, at most `room` octets (up to 65536), and what is to be told of it.
    fn answer(&mut self, request: &[u8], room: usize, news: &mut News) -> Vec<u8>;
}

/// The device and its queues.
struct Backend<D> {
    device: D,
    tell: fn(&str),
    memory: Option<GuestMemoryAtomic<Memory>>,
    /// It answers nothing.
    wedged: bool,
    /// The queue of requests, once there was one.
    requests: Option<VringRwLock>,
}

impl<D: Device> Backend<D> {
    /// Answers what waits in the queue.
    fn serve(&mut self) -> io::Result<()> {
        let Some(queue) = self.requests.clone() else { return Ok(()) };
        loop {
            queue.disable_notification().map_err(io::Error::other)?;
            self.answer_waiting(&queue)?;
            // What came since would not be told.
            if !queue.enable_notification().map_err(io::Error::other)? {
                return Ok(());
            }
        }
    }

    fn answer_waiting(&mut self, queue: &VringRwLock) -> io::Result<()> {
        let Some(memory) = self.memory.as_ref().map(GuestMemoryAtomic::memory) else { return Ok(()) };
        let waiting: Vec<Chain> = queue
            .get_mut()
            .get_queue_mut()
            .iter(memory.clone())
            .map_err(io::Error::other)?
            .take(QUEUE_SIZE)
            .collect();
        for chain in waiting {
            let head = chain.head_index();
            // A request that cannot be read or answered is given back as it is.
            let written = self.exchange(&memory, chain).unwrap_or(0);
            queue.add_used(head, written).map_err(io::Error::other)?;
        }
        if queue.needs_notification().map_err(io::Error::other)? {
            queue.signal_used_queue()?;
        }
        Ok(())
    }

    /// One request and its answer; the octets of it.
    fn exchange(&mut self, memory: &Memory, chain: Chain) -> io::Result<u32> {
        let reader = chain.clone().reader(memory).map_err(io::Error::other)?;
        let mut writer = chain.writer(memory).map_err(io::Error::other)?;
        let room = writer.available_bytes();
        if reader.available_bytes() > MOST || room > MOST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut request = Vec::new();
        reader.take(MOST as u64).read_to_end(&mut request)?;
        let mut news = News::new();
        let answer = self.device.answer(&request, room, &mut news);
        news.iter().for_each(|line| (self.tell)(line));
        writer.write_all(&answer)?;
        u32::try_from(answer.len()).map_err(io::Error::other)
    }
}

impl<D: Device> VhostUserBackendMut for Backend<D> {
    type Bitmap = ();
    type Vring = VringRwLock;

    fn num_queues(&self) -> usize {
        D::QUEUES
    }

    fn max_queue_size(&self) -> usize {
        QUEUE_SIZE
    }

    fn features(&self) -> u64 {
        let own = if D::QUEUES == 1 { DEVICE_OWN } else { 0 };
        VERSION_1 | EVENT_IDX | INDIRECT | VhostUserVirtioFeatures::PROTOCOL_FEATURES.bits() | own
    }

    fn protocol_features(&self) -> VhostUserProtocolFeatures {
        use VhostUserProtocolFeatures as Features;
        let config = if self.device.config().is_empty() { Features::empty() } else { Features::CONFIG };
        Features::MQ | Features::REPLY_ACK | config
    }

    /// The queue itself is told.
    fn set_event_idx(&mut self, _: bool) {}

    fn get_config(&self, offset: u32, size: u32) -> Vec<u8> {
        let octets = self.device.config().into_iter().skip(offset as usize);
        // Asked for more than there is: zeros.
        octets.chain(std::iter::repeat(0)).take((size as usize).min(MOST)).collect()
    }

    fn update_memory(&mut self, memory: GuestMemoryAtomic<Memory>) -> io::Result<()> {
        self.memory = Some(memory);
        Ok(())
    }

    fn handle_event(&mut self, event: u16, _: EventSet, queues: &[VringRwLock], _: usize) -> io::Result<()> {
        if event == 0 {
            self.requests = queues.first().cloned();
        }
        // The queue of a guest that has put nonsense in it stands still; the others go on.
        if event == 0
            && !self.wedged
            && let Err(error) = self.serve()
        {
            (self.tell)(&format!("queue: {error}"));
        }
        Ok(())
    }
}

/// A device that an emulator can be joined to.
pub struct Served<D: Device> {
    backend: Arc<Mutex<Backend<D>>>,
    connection: Arc<Mutex<Option<ShutdownHandle>>>,
}

impl<D: Device> Served<D> {
    /// Listens at `socket`, for one emulator. What the device has to say goes to `tell`.
    ///
    /// # Errors
    /// The socket cannot be made, or a thread.
    pub fn listen(device: D, name: &str, socket: &Path, tell: fn(&str)) -> io::Result<Self> {
        let backend = Backend { device, tell, memory: None, wedged: false, requests: None };
        let backend = Arc::new(Mutex::new(backend));
        let connection = Arc::<Mutex<Option<ShutdownHandle>>>::default();
        let mut listener = Listener::new(socket, true).map_err(io::Error::other)?;
        let memory = GuestMemoryAtomic::new(Memory::new());
        let daemon = VhostUserDaemon::new(name.to_owned(), Arc::clone(&backend), memory);
        let mut daemon = daemon.map_err(|error| io::Error::other(error.to_string()))?;
        let (name, handle) = (name.to_owned(), Arc::clone(&connection));
        thread::Builder::new().spawn(move || {
            let ended = daemon.start(&mut listener).and_then(|()| {
                *locked(&handle) = daemon.shutdown_handle();
                daemon.wait()
            });
            match ended {
                // The emulator has ended.
                Ok(()) | Err(Error::HandleRequest(VhostUserError::Disconnected | VhostUserError::PartialMessage)) => {}
                Err(error) => tell(&format!("{name}: {error}")),
            }
        })?;
        Ok(Self { backend, connection })
    }

    /// Does something with the device.
    pub fn with<T>(&self, act: impl FnOnce(&mut D) -> T) -> T {
        act(&mut locked(&self.backend).device)
    }

    /// Stops answering: requests wait.
    pub fn wedge(&self) {
        locked(&self.backend).wedged = true;
    }

    /// Answers again, first what has waited.
    ///
    /// # Errors
    /// The queue is none.
    pub fn go_on(&self) -> io::Result<()> {
        let mut backend = locked(&self.backend);
        backend.wedged = false;
        backend.serve()
    }

    /// Ends the connection; whether there was one. What waits is never answered.
    #[must_use]
    pub fn vanish(&self) -> bool {
        self.wedge();
        let connection = locked(&self.connection).take();
        connection.as_ref().map(ShutdownHandle::shutdown).is_some()
    }
}

/// Whoever panicked has left nothing half done: a request is answered or not.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
