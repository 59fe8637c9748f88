//! Stopped, killed: what is still told, and what is left.

use super::gauge::{Gauge, Running, full_pipe, has_namespaces, has_tap, skip, wait_for};
use super::truth::number;
use nix::sys::signal::Signal;
use std::fs;
use std::path::Path;

#[test]
fn a_stopped_run_is_invalid_and_tells_all_its_figures() {
    if !has_tap() {
        return;
    }
    let gauges = [Gauge::on_virtual(), Gauge::on_emulated(&[]).with(&["--truth"])];
    let runs = gauges.map(|gauge| gauge.endless().with(&["--json"])).map(Gauge::start);
    for (mut run, signal) in runs.into_iter().zip([Signal::SIGINT, Signal::SIGTERM]) {
        run.until(" rate ");
        run.signal(signal);
        let ended = run.end();
        ended.assert_verdict("INVALID", 3);
        let result = ended.json();
        assert_eq!(result["reason"], "stopped early");
        for direction in ["a_to_b", "b_to_a"] {
            let [sent, good] = ["sent", "good"].map(|name| number(&result[direction], name));
            assert!(sent > 0 && sent == good, "{sent} sent, {good} good");
        }
        assert!(ended.log().iter().any(|line| line.ends_with(" end")), "the summary is whole");
    }
}

#[test]
fn a_run_can_be_stopped_in_every_phase_before_traffic() {
    if !has_namespaces() {
        return;
    }
    for phase in ["phase link", "phase loop check"] {
        let mut run = Gauge::on_virtual().endless().with(&["--json"]).start();
        run.until(phase);
        run.signal(Signal::SIGINT);
        let ended = run.end();
        ended.assert_verdict("INVALID", 3);
        assert_eq!(ended.json()["reason"], "stopped early");
        assert_eq!(number(&ended.json()["a_to_b"], "sent"), 0);
    }
}

#[test]
fn a_second_signal_ends_at_once_what_waits_for_a_stuck_reader() {
    if !has_namespaces() {
        return;
    }
    let gauge = Gauge::on_virtual().endless();
    let log = gauge.file("log");
    let gauge = gauge.with_log(&log);
    let (stuck, pipe) = full_pipe();
    let mut command = gauge.command();
    let run = Running::over(command.stdout(pipe).stderr(std::process::Stdio::piped()).spawn().unwrap(), None);
    let logged = |text: &str| fs::read_to_string(&log).is_ok_and(|lines| lines.contains(text));
    wait_for("the link phase", || logged("phase link"));
    run.signal(Signal::SIGINT);
    wait_for("the end of the log", || logged(" end\n"));
    run.signal(Signal::SIGINT);
    assert_eq!(run.end().code, Some(130));
    drop(stuck);
}

/// The network namespace of a process; none where it is gone.
fn network_of(process: impl AsRef<Path>) -> Option<std::path::PathBuf> {
    fs::read_link(process.as_ref().join("ns/net")).ok()
}

/// Whether any process is in the network namespace `network`.
fn is_inhabited(network: &Path) -> bool {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .any(|process| network_of(process.path()).as_deref() == Some(network))
}

fn interfaces() -> Vec<String> {
    let table = fs::read_to_string("/proc/net/dev").unwrap();
    table.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned())).collect()
}

#[test]
fn a_killed_run_leaves_no_namespace_and_no_interface() {
    if !has_tap() {
        return;
    }
    let before = interfaces();
    let gauges = [Gauge::on_virtual().endless(), Gauge::on_emulated(&[]).endless()];
    for mut run in gauges.map(Gauge::start) {
        run.until("phase settle");
        let Some(network) = network_of(format!("/proc/{}", run.child.id())) else {
            skip("this host does not show in which namespace a process is");
            return;
        };
        assert_ne!(Some(&network), network_of("/proc/self").as_ref(), "a network of its own");
        run.signal(Signal::SIGKILL);
        assert_eq!(run.end().code, None);
        assert!(!is_inhabited(&network), "{} is left", network.display());
    }
    let left: Vec<String> = interfaces().into_iter().filter(|name| !before.contains(name)).collect();
    assert!(!left.iter().any(|name| name.starts_with("port")), "{left:?}");
}
