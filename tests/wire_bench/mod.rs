//! A virtual cable with the real parts plugged into both ends, for tests.
#![allow(dead_code, reason = "each test program uses a part of it")]

use linegauge::cable::veth;
use linegauge::nic::Nic;
use linegauge::nic::netdev::Netdevs;
use linegauge::port::mmsg::Mmsg;
use linegauge::port::packet::BATCH;
use linegauge::port::scout::PacketScout;
use linegauge::port::{Engine, Scout};
use measure::frame::{DEFAULT_ETHERTYPES, Header, Identity, PAYLOAD_AT, View, Writer};
use measure::loopcheck::ProbeKind;
use measure::mix::SizeMix;
use measure::prbs;
use measure::record::SettingReading;
use measure::units::{Direction, Side};
use nix::sched::{CpuSet, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The run that these frames are of.
pub const NONCE: u32 = 0x1234_5678;
/// Largest payload asked of both ends.
pub const MTU: u32 = 9000;

/// A virtual cable with everything that is plugged into it.
pub struct Bench {
    pub interfaces: [u32; 2],
    pub identity: Identity,
    pub scout: PacketScout,
    pub nic: Netdevs,
    pub settings: Vec<SettingReading>,
}

impl Bench {
    /// A cable in the network namespace of this thread, listened to from before its link is up.
    pub fn new() -> Self {
        let interfaces = veth::create(["wire0", "wire1"]).unwrap();
        let scout = PacketScout::open(interfaces, NONCE, &DEFAULT_ETHERTYPES).unwrap();
        let mut nic = Netdevs::open(interfaces, MTU).unwrap();
        let settings = nic.prepare();
        let identity = Identity {
            nonce: NONCE,
            macs: Side::BOTH.map(|side| nic.identity(side).mac),
            ethertypes: DEFAULT_ETHERTYPES.into_iter().collect(),
        };
        Self { interfaces, identity, scout, nic, settings }
    }

    pub fn writer(&self, direction: Direction) -> Writer {
        Writer::new(self.identity.clone(), direction, SizeMix::named("jumbo").unwrap())
    }

    pub fn engine(&self, direction: Direction, writer: &Writer) -> Mmsg {
        let [from, to] = [direction.from(), direction.to()].map(|side| self.interfaces[side.index()]);
        Mmsg::open(from, to, writer, &self.identity.ethertypes).unwrap()
    }

    /// What the scout has heard on a port by now.
    pub fn heard(&mut self, on: Side) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        self.scout.hear(on, &mut |frame| frames.push(frame.to_vec())).unwrap();
        frames
    }

    /// What the scout hears on a port of what has been sent there before this call, all of it: a probe is
    /// sent after it and waited for.
    pub fn heard_until_now(&mut self, on: Side) -> Vec<Vec<u8>> {
        let mut mark = [0; 60];
        let direction = if on == Side::B { Direction::AToB } else { Direction::BToA };
        self.writer(direction).probe(ProbeKind::Unicast, u64::MAX, &mut mark);
        self.scout.send(on.other(), &mark).unwrap();
        let mut frames = Vec::new();
        wait_for("the probe after everything else", || {
            frames.extend(self.heard(on));
            frames.last().is_some_and(|last| *last == mark)
        });
        frames.pop();
        frames
    }
}

/// Frames wait for a processor's next interrupt work, and those that wait on another one would be overtaken.
pub fn stay_on_this_processor() {
    let mut here = CpuSet::new();
    here.set(sched_getcpu().unwrap()).unwrap();
    sched_setaffinity(Pid::from_raw(0), &here).unwrap();
}

/// Looks again and again until it has happened; a machine that is busy may take its time.
pub fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(10), "waited for {what} in vain");
        std::thread::yield_now();
    }
}

/// Everything that has arrived, as headers; each payload is checked bit by bit.
pub fn receive_all(engine: &mut Mmsg) -> Vec<Header> {
    let mut headers = Vec::new();
    let mut sink = |frame: &[u8]| {
        let view = View::new_checked(frame).unwrap();
        let header = view.header().expect("the header is intact");
        assert_eq!(header.nonce, NONCE);
        let length = usize::from(header.length);
        let stream = usize::from(header.stream);
        let expected = prbs::payload(header.direction, stream, header.sequence, length - PAYLOAD_AT);
        assert_eq!(&frame[PAYLOAD_AT..length], expected, "{header:?}");
        headers.push(header);
    };
    while engine.receive(&mut sink).unwrap() > 0 {}
    headers
}

/// Sends `frames` frames of each stream, receiving after each burst, and tells which sequences arrived.
pub fn exchange(engine: &mut Mmsg, writer: &Writer, frames: u64) -> BTreeMap<u8, Vec<u64>> {
    let mut arrived = BTreeMap::<u8, Vec<u64>>::new();
    let mut next = vec![0; writer.streams()];
    let mut left = frames * u64::try_from(writer.streams()).unwrap();
    wait_for("all frames", || {
        for (stream, next) in next.iter_mut().enumerate() {
            let count = usize::try_from(frames - *next).unwrap().min(BATCH);
            let sent = engine.send(writer, stream, *next, count).unwrap();
            *next += u64::try_from(sent.accepted).unwrap();
            for header in receive_all(engine) {
                arrived.entry(header.stream).or_default().push(header.sequence);
                left -= 1;
            }
        }
        left == 0
    });
    arrived
}
