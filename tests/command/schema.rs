//! The JSON result: its fields are only ever added, so a new one is added here too, and none is taken away.

use super::gauge::{Gauge, has_namespaces};
use nix::sys::signal::Signal;
use serde_json::Value;

const RESULT: [&str; 13] = [
    "a_to_b",
    "b_to_a",
    "basis_gbps",
    "board",
    "errors",
    "label",
    "link_gbps",
    "reason",
    "reasons",
    "run",
    "schema",
    "verdict",
    "version",
];

const ERRORS: [&str; 4] = ["corrupt", "internal", "link", "lost"];

const DIRECTION: [&str; 21] = [
    "ber_bound",
    "ber_confidence",
    "ber_equivalent",
    "bit_errors",
    "checked_bits",
    "corrupt",
    "duplicates",
    "good",
    "highest_gbps",
    "host",
    "l1_gbps",
    "lost",
    "lost_at_most",
    "misplaced",
    "missing",
    "probes_sent",
    "received",
    "reordered",
    "sent",
    "unidentified",
    "unknown",
];

fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Every object has its keys, whatever came of the run.
fn check_keys(result: &Value) {
    assert_eq!(keys(result), RESULT);
    assert_eq!(keys(&result["errors"]), ERRORS);
    assert_eq!(keys(&result["a_to_b"]), DIRECTION);
    assert_eq!(keys(&result["b_to_a"]), DIRECTION);
    assert_eq!(result["schema"], 1);
    assert_eq!(result["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn the_result_has_the_same_keys_whether_there_was_traffic_or_not() {
    if !has_namespaces() {
        return;
    }
    let words = ["--json", "--label", "rack 7 \"blue\""];
    let mut stopped = Gauge::on_virtual().with(&words).start();
    stopped.until("phase link");
    stopped.signal(Signal::SIGINT);
    let (stopped, whole) = (stopped.end().json(), Gauge::on_virtual().unhurried().with(&words).go().json());
    for result in [&whole, &stopped] {
        check_keys(result);
        assert_eq!((&result["label"], &result["board"]), (&words[2].into(), &"short".into()));
    }
    assert!(whole["a_to_b"]["ber_bound"].as_f64().unwrap() > 0.0);
    assert_eq!(whole["basis_gbps"], 0.02);
    assert!(whole["a_to_b"]["l1_gbps"].as_f64().unwrap() > 0.019, "{whole}");
    assert_eq!(stopped["a_to_b"]["l1_gbps"], Value::Null, "unknown is not zero");
}
