//! The real system calls over a virtual cable: packet sockets, rtnetlink and veth in a private network.
//!
//! Each test gives its own thread a network namespace, which takes root; without, it says that it was skipped.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod wire_bench;

use linegauge::cable::veth;
use linegauge::nic::Nic;
use linegauge::nic::netdev::Netdevs;
use linegauge::port::packet::BATCH;
use linegauge::port::scout::PacketScout;
use linegauge::port::{Engine, Scout, Sent};
use measure::frame::{DEFAULT_ETHERTYPES, MAGIC_AT, NONCE_AT};
use measure::loopcheck::ProbeKind;
use measure::record::{Held, SettingReading};
use measure::units::{BitRate, Direction, Side};
use measure::verdict::Setting;
use nix::sched::{CloneFlags, unshare};
use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};
use wire_bench::{Bench, MTU, NONCE, exchange, receive_all, stay_on_this_processor, wait_for};

/// A cable in a network of this thread's own; none without root.
fn private() -> Option<Bench> {
    if let Err(errno) = unshare(CloneFlags::CLONE_NEWNET) {
        eprintln!("SKIPPED: needs root for a private network ({errno})");
        return None;
    }
    stay_on_this_processor();
    Some(Bench::new())
}

fn setting_of(bench: &Bench, port: Side, setting: Setting) -> &SettingReading {
    bench.settings.iter().find(|row| row.setting == setting && row.port == Some(port)).unwrap()
}

#[test]
fn every_frame_arrives_in_its_stream_in_order_with_its_payload() {
    let Some(bench) = private() else { return };
    for direction in Direction::BOTH {
        let writer = bench.writer(direction);
        let mut engine = bench.engine(direction, &writer);
        let arrived = exchange(&mut engine, &writer, 2000);
        let all: Vec<u64> = (0..2000).collect();
        assert_eq!(arrived, BTreeMap::from([(0, all.clone()), (1, all)]), "{direction}");
        assert_eq!(engine.drops().unwrap(), 0);
    }
}

#[test]
fn a_port_never_receives_what_it_sends() {
    let Some(bench) = private() else { return };
    let writer = bench.writer(Direction::AToB);
    let mut there = bench.engine(Direction::AToB, &writer);
    let mut back = bench.engine(Direction::BToA, &bench.writer(Direction::BToA));
    let sent = there.send(&writer, 0, 0, BATCH).unwrap();
    assert_eq!(sent, Sent { accepted: BATCH, refused: false });
    let mut arrived = 0;
    wait_for("the burst at the other port", || {
        arrived += receive_all(&mut there).len();
        arrived == BATCH
    });
    assert_eq!(receive_all(&mut back), [], "port A hears itself");
}

#[test]
fn more_than_the_socket_holds_is_dropped_and_counted() {
    let Some(bench) = private() else { return };
    let writer = bench.writer(Direction::AToB);
    let mut engine = bench.engine(Direction::AToB, &writer);
    let room = engine.receive_buffer().unwrap();
    // Every eighth frame alone has 8188 octets: this is more than fits.
    let frames = room / 500;
    let sent = engine.send(&writer, 0, 0, frames).unwrap();
    let accepted = u64::try_from(sent.accepted).unwrap();
    wait_for("drops", || engine.drops().unwrap() > 0);
    let mut arrived = 0;
    wait_for("each frame to be received or counted as dropped", || {
        arrived += u64::try_from(receive_all(&mut engine).len()).unwrap();
        arrived + engine.drops().unwrap() == accepted
    });
    assert_eq!(arrived + engine.drops().unwrap(), accepted, "reading the drops does not change them");
}

#[test]
fn an_interface_that_is_down_is_told_to_the_sender() {
    let Some(mut bench) = private() else { return };
    let writer = bench.writer(Direction::AToB);
    let mut engine = bench.engine(Direction::AToB, &writer);
    bench.nic.set_up(Side::A, false).unwrap();
    let error = engine.send(&writer, 0, 0, 1).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ENETDOWN));
    assert_eq!(receive_all(&mut engine), []);
    bench.nic.set_up(Side::A, true).unwrap();
    assert_eq!(exchange(&mut engine, &writer, 10)[&0].len(), 10, "and it works again");
}

#[test]
fn the_scout_hears_probes_and_damaged_frames_but_no_test_frames() {
    let Some(mut bench) = private() else { return };
    let writer = bench.writer(Direction::AToB);
    let mut engine = bench.engine(Direction::AToB, &writer);
    assert_eq!(engine.send(&writer, 1, 0, 10).unwrap().accepted, 10);
    assert_eq!(bench.heard_until_now(Side::B), Vec::<Vec<u8>>::new(), "test frames");

    let mut probe = [0; 60];
    for kind in [ProbeKind::Unicast, ProbeKind::Filtered] {
        writer.probe(kind, 0, &mut probe);
        bench.scout.send(Side::A, &probe).unwrap();
        assert_eq!(bench.heard_until_now(Side::B), [probe.to_vec()], "{kind:?}");
    }
    assert_eq!(bench.heard(Side::A), Vec::<Vec<u8>>::new(), "its own sending");

    let mut frame = vec![0; writer.slot_octets()];
    writer.fill(0, 0, &mut frame);
    frame.truncate(60);
    for octet in [0, 12, MAGIC_AT, NONCE_AT] {
        let mut damaged = frame.clone();
        damaged[octet] ^= 1;
        bench.scout.send(Side::A, &damaged).unwrap();
        let expected = if octet == 0 { vec![] } else { vec![damaged] };
        assert_eq!(bench.heard_until_now(Side::B), expected, "a bit of octet {octet}");
    }
    bench.scout.send(Side::B, &frame).unwrap();
    assert_eq!(bench.heard_until_now(Side::A), [frame], "a test frame back at the port that sends such");

    let short = vec![0xaa; 20];
    bench.scout.send(Side::A, &short).unwrap();
    assert_eq!(bench.heard_until_now(Side::B), [short], "20 octets");
}

#[test]
fn every_setting_is_held_or_not_there() {
    let Some(bench) = private() else { return };
    for port in Side::BOTH {
        for setting in [Setting::Mtu, Setting::Arp, Setting::Promiscuous] {
            let row = setting_of(&bench, port, setting);
            assert_eq!((row.held, row.required, &row.got), (Held::Yes, true, &row.wanted), "{setting:?}");
        }
        for setting in [Setting::Ipv6, Setting::AddressGeneration] {
            assert_ne!(setting_of(&bench, port, setting).held, Held::No, "{setting:?}");
        }
        for setting in [Setting::Pause, Setting::Eee] {
            let row = setting_of(&bench, port, setting);
            assert_eq!((row.held, row.required), (Held::NotAvailable, false), "{setting:?}");
        }
    }
    assert_eq!(bench.settings.len(), 14);
}

#[test]
fn a_prepared_cable_is_silent_when_its_link_comes_up() {
    let Some(mut bench) = private() else { return };
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(3) {
        for side in Side::BOTH {
            assert_eq!(bench.heard(side), Vec::<Vec<u8>>::new(), "port {side}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_fresh_cable_is_not_silent_which_is_why_ports_are_prepared() {
    if unshare(CloneFlags::CLONE_NEWNET).is_err() || !std::path::Path::new("/proc/sys/net/ipv6").exists() {
        eprintln!("SKIPPED: needs root for a private network, and IPv6");
        return;
    }
    let interfaces = veth::create(["wire0", "wire1"]).unwrap();
    let mut scout = PacketScout::open(interfaces, NONCE, &DEFAULT_ETHERTYPES).unwrap();
    let mut nic = Netdevs::open(interfaces, MTU).unwrap();
    for side in Side::BOTH {
        nic.set_up(side, true).unwrap();
    }
    let start = Instant::now();
    let mut frames = 0;
    while frames == 0 && start.elapsed() < Duration::from_secs(10) {
        scout.hear(Side::B, &mut |_| frames += 1).unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(frames > 0, "the scout hears router solicitations and the like");
}

#[test]
fn the_link_follows_either_port() {
    let Some(mut bench) = private() else { return };
    let up = bench.nic.link(Side::B).unwrap();
    assert_eq!(up.carrier, Some(true));
    assert_eq!(up.speed, Some(BitRate::from_mbps(10_000)), "what veth says of itself");
    assert_eq!(up.advertises, None);
    bench.nic.set_up(Side::A, false).unwrap();
    for side in Side::BOTH {
        let down = bench.nic.link(side).unwrap();
        assert_eq!((down.carrier, down.speed), (Some(false), None), "port {side}");
    }
    bench.nic.set_up(Side::A, true).unwrap();
    let again = bench.nic.link(Side::B).unwrap();
    assert_eq!(again.carrier, Some(true));
    assert_eq!(again.changes.zip(up.changes).map(|(now, then)| now - then), Some(2));
}

#[test]
fn counters_count_frames_and_say_nothing_of_what_veth_does_not_count() {
    let Some(mut bench) = private() else { return };
    let before = Side::BOTH.map(|side| bench.nic.counters(side).unwrap());
    let writer = bench.writer(Direction::AToB);
    let mut engine = bench.engine(Direction::AToB, &writer);
    exchange(&mut engine, &writer, 100);
    let after = Side::BOTH.map(|side| bench.nic.counters(side).unwrap());
    let [a, b] = [0, 1].map(|port| {
        let (before, after) = (&before[port], &after[port]);
        [
            after.tx_frames.zip(before.tx_frames).map(|(now, then)| now - then),
            after.rx_frames.zip(before.rx_frames).map(|(now, then)| now - then),
        ]
    });
    assert_eq!(a, [Some(200), Some(0)]);
    assert_eq!(b, [Some(0), Some(200)]);
    for counters in after {
        assert_eq!((counters.tx_dropped, counters.rx_dropped), (Some(0), Some(0)));
        assert_eq!((counters.crc_errors, counters.symbol_errors, counters.rx_missed), (None, None, None));
    }
}

#[test]
fn ports_tell_who_they_are() {
    let Some(bench) = private() else { return };
    let [a, b] = Side::BOTH.map(|side| bench.nic.identity(side));
    assert_eq!((a.name.as_str(), b.name.as_str()), ("wire0", "wire1"));
    assert_eq!((a.driver.as_str(), b.driver.as_str()), ("veth", "veth"));
    assert_ne!(a.mac, b.mac);
    assert_eq!(a.mac.0[0] & 0b11, 0b10, "locally administered, for one station");
}

#[test]
fn a_device_that_is_gone_is_told() {
    let Some(mut bench) = private() else { return };
    let writer = bench.writer(Direction::AToB);
    let mut engine = bench.engine(Direction::AToB, &writer);
    let status = Command::new("ip").args(["link", "delete", "wire0"]).status();
    if !status.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: needs the command ip to take a device away");
        return;
    }
    let gone = Some(libc::ENODEV);
    assert_eq!(bench.nic.link(Side::A).unwrap_err().raw_os_error(), gone);
    assert_eq!(bench.nic.counters(Side::B).unwrap_err().raw_os_error(), gone);
    let error = engine.send(&writer, 0, 0, 1).unwrap_err().raw_os_error();
    assert!(matches!(error, Some(libc::ENXIO | libc::ENODEV)), "{error:?}");
    let names = ["wire0", "wire0"];
    assert!(veth::create(names).unwrap_err().to_string().starts_with("cannot make the virtual cable wire0"));
}
