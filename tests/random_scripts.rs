//! Ten thousand random fault scripts through the real session loop: what is reported is what was done.
//!
//! Seeds are fixed, so a failure names its script and comes back. `LINEGAUGE_SCRIPTS` sets another number.

mod common;

use common::{Outcome, Run, reasons};
use linegauge::cable::account::{Fate, Flow, Kind};
use measure::ledger::DirectionReport;
use measure::units::Direction;
use measure::verdict::Verdict;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Scripts tried where nobody asks for another number.
const SCRIPTS: u64 = 10_000;

/// A random number below `limit`.
fn below(rng: &mut Xoshiro256PlusPlus, limit: u64) -> u64 {
    rng.next_u64() % limit
}

fn pick<'a>(rng: &mut Xoshiro256PlusPlus, from: &[&'a str]) -> &'a str {
    from[usize::try_from(below(rng, from.len() as u64)).expect("an index")]
}

/// One fault on test frames, of any kind a cable report can be compared with number by number.
fn fault(rng: &mut Xoshiro256PlusPlus) -> String {
    let line = pick(rng, &["a>b", "b>a", "both"]);
    let count = 1 + below(rng, 20);
    let region = pick(rng, &["payload", "payload", "header", "any"]);
    match below(rng, 8) {
        0 | 1 => format!("{line} drop {count}"),
        2 => format!("{line} flip {count} bits {} region {region}", 1 + below(rng, 8)),
        3 => format!("{line} truncate {count} region {region}"),
        4 => format!("{line} duplicate {count}"),
        5 => format!("{line} reorder {count}"),
        6 => format!("{line} delay {count} by {}us", 1 + below(rng, 20_000)),
        _ => format!("{line} fcs {count}"),
    }
}

fn script(seed: u64) -> (Vec<String>, [u64; 2]) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let faults = (0..below(&mut rng, 4)).map(|_| fault(&mut rng)).collect();
    let host = |rng: &mut Xoshiro256PlusPlus| if below(rng, 8) == 0 { 1 + below(rng, 50) } else { 0 };
    (faults, [host(&mut rng), host(&mut rng)])
}

/// What the report says of one direction is what the cable and the host did there.
fn compare(report: &DirectionReport, flow: &Flow, socket_drops: u64) {
    let damage = &flow.damage;
    assert_eq!(report.sent, flow.carried, "sent");
    assert_eq!(report.host, socket_drops, "host");
    assert_eq!(report.unknown, 0, "unknown");
    let lost = flow.gone(Fate::Dropped) + flow.gone(Fate::Fcs);
    assert_eq!(lost, flow.missing(), "the cable lost frames in no other way");
    assert!(report.lost.at_least <= lost && lost <= report.lost.at_most, "{lost} lost, {:?}", report.lost);
    if damage.unreadable() == 0 && damage.ethertype_flipped == 0 {
        assert_eq!((report.lost.at_least, report.lost.at_most), (lost, lost), "lost exactly");
    }
    assert_eq!(report.corrupt, damage.corrupt(), "corrupt");
    let bits = damage.readable_bits..=damage.readable_bits + damage.ethertype_bits;
    assert!(bits.contains(&report.bit_errors), "{} wrong bits, {bits:?}", report.bit_errors);
    if socket_drops == 0 {
        assert_eq!(report.duplicates, flow.copies, "duplicates");
        assert_eq!(report.reordered, flow.fault(Kind::Reorder).done, "reordered");
    }
    assert_eq!(report.misplaced, 0, "misplaced");
    let accounted: u64 = report.streams.iter().map(|s| s.good + s.corrupt + s.missing).sum();
    assert_eq!(report.sent, accounted, "sent = good + corrupt + missing");
}

/// The verdict that the truth asks for.
fn compare_verdict(outcome: &Outcome, socket_drops: u64) {
    let flows = Direction::BOTH.map(|direction| *outcome.truth.direction(direction).test());
    let sum = |figure: fn(&Flow) -> u64| flows.iter().map(figure).sum::<u64>();
    let not_a_cable =
        sum(|flow| flow.copies) + outcome.report.directions.iter().map(|d| d.reordered).sum::<u64>();
    let cable = sum(Flow::missing) + sum(|flow| flow.damage.corrupt());
    let right = match (not_a_cable, cable, socket_drops) {
        (0, 0, 0) => Verdict::Pass,
        (0, 0, _) => Verdict::Invalid,
        (0, _, _) => Verdict::Fail,
        _ => Verdict::Invalid,
    };
    assert_eq!(outcome.report.verdict(), right, "{:?}", reasons(outcome));
}

fn try_script(seed: u64) {
    let (faults, host) = script(seed);
    let outcome = Run::of(faults).seed(seed).host_drops(host).go();
    assert!(outcome.truth.balances(), "the cable's own account balances");
    for direction in Direction::BOTH {
        let truth = outcome.truth.direction(direction);
        let index = direction.index();
        compare(&outcome.report.directions[index], truth.test(), outcome.socket_drops[index]);
    }
    compare_verdict(&outcome, outcome.socket_drops.iter().sum());
}

#[test]
fn the_report_is_the_truth_whatever_the_cable_does() {
    let scripts = std::env::var("LINEGAUGE_SCRIPTS").map_or(SCRIPTS, |text| text.parse().unwrap());
    let workers = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    std::thread::scope(|scope| {
        for worker in 0..workers {
            scope.spawn(move || {
                for seed in (worker..scripts).step_by(usize::try_from(workers).unwrap()) {
                    let outcome = std::panic::catch_unwind(|| try_script(seed));
                    assert!(outcome.is_ok(), "seed {seed}: {:?}", script(seed));
                }
            });
        }
    });
}
