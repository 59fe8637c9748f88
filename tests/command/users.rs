//! Somebody who is not root.

use super::gauge::{Gauge, PROGRAM, Running, has_namespaces, skip, unshares};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// The user and group that own nothing.
const NOBODY: u32 = 65534;

/// The command as nobody, where we are root.
fn as_nobody(command: &mut Command) -> &mut Command {
    if nix::unistd::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.env("HOME", "/").current_dir("/")
}

#[test]
fn an_ordinary_user_gets_a_verdict_too() {
    let mut probe = Command::new("unshare");
    if !has_namespaces() || !unshares(as_nobody(probe.args(["--user", "--map-root-user", "--net", "true"]))) {
        skip("this host gives an ordinary user no private network");
        return;
    }
    let gauge = Gauge::on_virtual().unhurried().with(&["--json"]);
    // Nobody may not reach into the folder where the program was built.
    let program = gauge.file("linegauge");
    std::fs::copy(PROGRAM, &program).unwrap();
    for path in [gauge.folder.path(), &program] {
        std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(&program);
    let ended = Running::start(as_nobody(command.args(gauge.words()).stdin(Stdio::null()))).end();
    ended.assert_verdict("PASS", 0);
}
