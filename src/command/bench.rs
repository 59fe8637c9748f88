//! `linegauge bench`: how many frames a second the virtual cable carries and what a verified frame costs.
//!
//! The figures compare engines with each other on one machine in one go; they say nothing of a cable.
//! What counts is all CPU time of the machine, softirq included, as /proc/stat has it.

use super::bench_box::VirtualBox;
use super::{HostRefused, NotDone, print_out};
use crate::args::BenchRequest;
use crate::clock::{Clock, Monotonic};
use crate::host::cputime;
use crate::port::worker::Order;
use crate::session::Rig;
use measure::frame::{Identity, Writer};
use measure::mix::SizeMix;
use measure::tally::Tally;
use measure::units::{BitRate, Direction, Side};
use measure::verdict::Verdict;
use serde::Serialize;
use std::time::Duration;

/// One row.
#[derive(Debug, Serialize)]
struct Row {
    engine: &'static str,
    mix: String,
    streams: usize,
    /// Verified frames a second, both directions together, in millions.
    verified_mframes_per_s: f64,
    /// Received L1 rate, both directions together.
    l1_gbps: f64,
    /// CPU time of the whole machine a verified frame.
    cpu_ns_per_frame: Option<f64>,
    sent: u64,
    verified: u64,
    missing: u64,
}

/// Measures and prints a row a mix.
///
/// # Errors
/// What the host refused.
pub fn run(request: &BenchRequest) -> Result<Option<Verdict>, NotDone> {
    let bench = VirtualBox::new(request.board.mtu)?;
    if !request.json {
        print_out("engine  mix                streams  Mframe/s  Gb/s (L1)  CPU ns/frame  missing\n");
    }
    for mix in &request.mixes {
        let row = measure(&bench, request, mix)?;
        print(&row, request.json);
    }
    Ok(None)
}

fn print(row: &Row, json: bool) {
    if json {
        let row = serde_json::to_string(row).expect("plain numbers always have a JSON form");
        return print_out(&format!("{row}\n"));
    }
    let cpu = row.cpu_ns_per_frame.map_or_else(|| "N/A".to_owned(), |ns| format!("{ns:.0}"));
    print_out(&format!(
        "{:<7} {:<18} {:>7} {:>9.3} {:>10.2} {cpu:>13} {:>8}\n",
        row.engine, row.mix, row.streams, row.verified_mframes_per_s, row.l1_gbps, row.missing,
    ));
}

fn measure(bench: &VirtualBox, request: &BenchRequest, mix: &SizeMix) -> Result<Row, HostRefused> {
    let clock = Monotonic::start();
    let mut rig = bench.rig(clock)?;
    rig.nic().prepare();
    let macs = Side::BOTH.map(|side| rig.nic().identity(side).mac);
    let identity =
        Identity { nonce: super::task::nonce()?, macs, ethertypes: super::task::ethertypes(&request.board) };
    let writers = Direction::BOTH.map(|way| Writer::new(identity.clone(), way, mix.clone()));
    rig.open(writers, None).map_err(|error| HostRefused::new("packet sockets", error))?;
    let cpu = cputime::busy();
    let began = clock.now();
    rig.order(Order::Send);
    clock.sleep_until(began + request.seconds);
    rig.order(Order::Listen);
    let flowed = clock.now().since(began);
    let cpu = cpu.ok().zip(cputime::busy().ok()).map(|(before, after)| after.saturating_sub(before));
    clock.sleep_until(clock.now() + Duration::from_millis(50));
    let tallies: Vec<Tally> = Direction::BOTH.into_iter().filter_map(|way| rig.tally(way)).collect();
    Ok(row(request, mix, &tallies, flowed, cpu))
}

#[expect(clippy::cast_precision_loss, reason = "figures for people: 53 bits are plenty")]
fn row(
    request: &BenchRequest,
    mix: &SizeMix,
    tallies: &[Tally],
    flowed: Duration,
    cpu: Option<Duration>,
) -> Row {
    let sum = |figure: fn(&Tally) -> u64| tallies.iter().map(figure).sum::<u64>();
    let sent = sum(|tally| tally.sum(|stream| stream.sent));
    let verified = sum(|tally| tally.sum(|stream| stream.good));
    let rate = BitRate::of(sum(|tally| tally.received_l1_octets), flowed).unwrap_or_default();
    Row {
        engine: "mmsg",
        mix: mix.to_string(),
        streams: usize::from(request.board.streams),
        verified_mframes_per_s: verified as f64 / flowed.as_secs_f64() / 1e6,
        l1_gbps: rate.bits_per_second() as f64 / 1e9,
        cpu_ns_per_frame: cpu.filter(|_| verified > 0).map(|cpu| cpu.as_nanos() as f64 / verified as f64),
        sent,
        verified,
        missing: sent.saturating_sub(verified),
    }
}
