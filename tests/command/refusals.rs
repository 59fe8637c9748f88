//! What is refused, with which exit code, in one line, and with nothing begun.

use super::gauge::{Gauge, PROGRAM, Running, has_tap, skip, unshare, unshares};
use std::fs;
use std::process::Command;

#[test]
fn a_wrong_fault_script_is_the_requests_own_fault_and_touches_no_file() {
    let gauge = Gauge::on_emulated(&["a>b drop 17", "a>b dorp 5"]);
    let log = gauge.file("log");
    fs::write(&log, "an older run").unwrap();
    let ended = gauge.with_log(&log).go();
    let line = ended.assert_refused(2);
    assert!(line.starts_with("fault: \"dorp\" does not fit after \"a>b\": expected drop, flip"), "{line}");
    assert_eq!(fs::read_to_string(&log).unwrap(), "an older run");
}

#[test]
fn a_fault_on_a_cable_that_has_none_and_an_unknown_board_are_wrong_requests() {
    let ended = Gauge::on_virtual().with(&["--fault", "a>b drop 1"]).go();
    assert!(ended.assert_refused(2).contains("--cable emulated"));
    let ended = Running::start(Command::new(PROGRAM).args(["run", "--board", "no-such-board"])).end();
    assert!(ended.assert_refused(2).contains("no-such-board"));
}

#[test]
fn ports_that_are_not_there_are_the_hosts_affair() {
    let ended = Running::start(Command::new(PROGRAM).args(["run", "--board", "x520"])).end();
    assert!(ended.assert_refused(3).contains("x520"), "{}", ended.err);
}

#[test]
fn files_that_cannot_be_written_are_told_before_anything_is_done() {
    for (option, name) in [("--log", "log file"), ("--screenshot", "screenshot")] {
        let ended = Gauge::on_virtual().with(&[option, "/nowhere/at/all"]).go();
        let line = ended.assert_refused(3);
        assert!(line.starts_with(&format!("{name} /nowhere/at/all: ")), "{line}");
    }
}

/// A command that a shell runs after `preparation`, in namespaces of its own.
fn after(preparation: &str, flags: &[&str], gauge: &Gauge, prefix: &[&str]) -> Command {
    let script = format!("{preparation} && exec \"$@\"");
    let mut command = unshare(flags);
    command.args(["sh", "-c", &script, "sh"]).args(prefix).arg(PROGRAM).args(gauge.words());
    command
}

/// Whether this host lets us prepare such a place; says so where it does not.
fn can(preparation: &str, flags: &[&str]) -> bool {
    let can = unshares(unshare(flags).args(["sh", "-c", preparation]));
    if !can {
        skip(&format!("this host does not let us do: {preparation}"));
    }
    can
}

#[test]
fn a_host_without_namespaces_for_us_is_told_in_one_line() {
    // The limits of a user namespace are its root's to set, and hold for whoever is in it.
    let preparation =
        "echo 0 >/proc/sys/user/max_user_namespaces && echo 0 >/proc/sys/user/max_net_namespaces";
    // Already there where we are not root.
    let flags: &[&str] = if nix::unistd::geteuid().is_root() { &["--user", "--map-root-user"] } else { &[] };
    if !can(preparation, flags) {
        return;
    }
    let gauge = Gauge::on_virtual();
    let ended = Running::start(&mut after(preparation, flags, &gauge, &[])).end();
    let line = ended.assert_refused(3);
    assert!(
        line.starts_with("cannot make a private network") && line.contains("max_net_namespaces"),
        "{line}"
    );

    let powerless = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"];
    if !can(&format!("{preparation} && {} true", powerless.join(" ")), flags) {
        return;
    }
    let ended = Running::start(&mut after(preparation, flags, &gauge, &powerless)).end();
    let line = ended.assert_refused(3);
    assert!(line.ends_with("set the sysctl user.max_user_namespaces=1000"), "{line}");
}

#[test]
fn a_host_without_tun_device_is_told_in_one_line() {
    let preparation = "mount -t tmpfs none /dev/net";
    if !has_tap() || !can(preparation, &["--mount"]) {
        return;
    }
    let gauge = Gauge::on_emulated(&[]);
    let ended = Running::start(&mut after(preparation, &["--mount"], &gauge, &[])).end();
    let line = ended.assert_refused(3);
    assert!(line.starts_with("no TUN device: /dev/net/tun: "), "{line}");
}
