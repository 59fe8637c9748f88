//! PID 1 for real, in namespaces of its own: mounts, signals, orphans, power-off, panic.
//!
//! A program of its own without the test harness. It starts itself again, first to enter the namespaces and
//! then as PID 1 in them. There reboot(2) ends the namespace and not the machine, and the kernel tells which
//! end it was by the signal that PID 1 dies of (reboot(2)). The kernel's console level is the one thing that
//! is left out: it is the whole machine's.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use linegauge::host::init::{End, Kernel, Linux, live, on_panic, prepare, take_signals};
use linegauge::host::mounts::{Mount, TABLE};
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, chdir, chroot, getegid, geteuid, getpid};
use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The exit code by which a process says that this host allows no such namespaces.
const SKIPPED: i32 = 249;

/// The user and group that own nothing.
const NOBODY: u32 = 65534;

fn main() {
    let role = std::env::args().nth(1).unwrap_or_default();
    match role.as_str() {
        "enter" => enter(),
        "appliance" => appliance(),
        "panicking" => panicking(),
        "orphaning" => drop(again(Path::new("/proc/self/exe"), &["orphan"]).spawn().unwrap()),
        "orphan" => {}
        _ => {
            ctrl_alt_del_ends_an_appliance_in_a_power_off();
            a_panic_leaves_its_words_and_ends_in_a_restart();
            if geteuid().is_root() {
                again_as_nobody();
            }
        }
    }
}

fn again(program: &Path, roles: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(roles).stdout(Stdio::piped());
    command
}

/// The same for somebody whom the kernel refuses most mounts: each has to be named, and life goes on.
fn again_as_nobody() {
    // Nobody may not reach into the folder where this program was built.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("pid_one");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for path in [folder.path(), &program] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    let status = Command::new(&program).uid(NOBODY).gid(NOBODY).current_dir("/").status().unwrap();
    assert!(status.success(), "as nobody: {status}");
}

/// Starts `role` as PID 1; none where the host allows no namespaces.
fn pid_one(role: &str) -> Option<(Child, BufReader<std::process::ChildStdout>)> {
    let mut child = again(&std::env::current_exe().unwrap(), &["enter", role]).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    output.read_line(&mut first).unwrap();
    if first == "entered\n" {
        return Some((child, output));
    }
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(SKIPPED), "{first}{status}");
    eprint!("SKIPPED: {first}");
    None
}

/// The signal that PID 1 died of, as its parent tells it.
fn died_of(mut child: Child) -> Option<Signal> {
    let status = child.wait().unwrap();
    status.code().and_then(|code| Signal::try_from(code).ok())
}

fn ctrl_alt_del_ends_an_appliance_in_a_power_off() {
    let Some((child, output)) = pid_one("appliance") else { return };
    let mut told = Vec::new();
    for line in output.lines().map(Result::unwrap) {
        if let Some(pid) = line.strip_prefix("ready as ") {
            // What the kernel sends for ctrl-alt-del.
            kill(Pid::from_raw(pid.parse().unwrap()), Signal::SIGINT).unwrap();
        }
        told.push(line);
    }
    assert_eq!(died_of(child), Some(Signal::SIGINT), "power-off: {told:#?}");
    for row in TABLE.iter().filter(|row| row.required) {
        let there = told.iter().any(|line| *line == format!("{} is there", row.on));
        let named =
            told.iter().any(|line| line.contains(&format!("cannot mount {} on {}: ", row.kind, row.on)));
        assert!(there != named, "{} is mounted or named: {told:#?}", row.on);
    }
    for line in ["/proc is there", "/run is there", "no zombie is left", "work is done"] {
        assert!(told.iter().any(|other| other == line), "{line}: {told:#?}");
    }
    println!("ctrl-alt-del ends an appliance in a power-off:\n  {}", told.join("\n  "));
}

fn a_panic_leaves_its_words_and_ends_in_a_restart() {
    let Some((child, output)) = pid_one("panicking") else { return };
    let told: Vec<_> = output.lines().map(Result::unwrap).collect();
    assert_eq!(died_of(child), Some(Signal::SIGHUP), "restart: {told:#?}");
    let [line] = told.as_slice() else { panic!("one line: {told:#?}") };
    assert!(line.starts_with("panic at tests/pid_one.rs:"), "{line}");
    assert!(line.ends_with("in thread worker: wedged for good"), "{line}");
    println!("a panic leaves its words and ends in a restart:\n  {line}");
}

/// Enters namespaces of its own, starts the role as PID 1 there, and ends with the number of the signal that
/// it died of.
fn enter() {
    if let Err(errno) = enter_namespaces() {
        println!("this host allows no PID and mount namespaces: {errno}");
        std::process::exit(SKIPPED);
    }
    println!("entered");
    let role = std::env::args().nth(2).unwrap();
    let mut child = Command::new("/proc/self/exe").arg(role).spawn().unwrap();
    // PID 1 knows itself only as 1.
    let status: ExitStatus = child.wait().unwrap();
    std::process::exit(status.signal().unwrap_or(100));
}

fn enter_namespaces() -> nix::Result<()> {
    let (user, group) = (geteuid(), getegid());
    let spaces = CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS;
    if user.is_root() {
        unshare(spaces)?;
    } else {
        unshare(spaces | CloneFlags::CLONE_NEWUSER)?;
        let maps = [
            ("setgroups", "deny".to_owned()),
            ("uid_map", format!("0 {user} 1")),
            ("gid_map", format!("0 {group} 1")),
        ];
        for (file, text) in maps {
            fs::write(format!("/proc/self/{file}"), text).map_err(|_| Errno::EPERM)?;
        }
    }
    // Nothing that is mounted from here on is seen outside.
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>)?;
    mount(Some("tmpfs"), "/mnt", Some("tmpfs"), MsFlags::empty(), None::<&str>)
}

/// The real kernel but for its console level.
#[derive(Clone, Copy)]
struct Contained(Linux);

impl Kernel for Contained {
    fn make_folder(&mut self, path: &Path) -> nix::Result<()> {
        self.0.make_folder(path)
    }

    fn mount(&mut self, row: &Mount) -> nix::Result<()> {
        self.0.mount(row)
    }

    fn silence_streams(&mut self) -> nix::Result<()> {
        self.0.silence_streams()
    }

    fn set_console_level(&mut self, _: u8) -> nix::Result<()> {
        Ok(())
    }

    fn catch_ctrl_alt_del(&mut self) -> nix::Result<()> {
        self.0.catch_ctrl_alt_del()
    }

    fn reap(&mut self) -> nix::Result<Option<Pid>> {
        self.0.reap()
    }

    fn sync(&mut self) {}

    fn end(&mut self, end: End) -> Errno {
        // Anywhere else it would be the machine's.
        assert_eq!(getpid(), Pid::from_raw(1), "reboot only as PID 1 of a namespace");
        self.0.end(end)
    }
}

/// A root with nothing in it, as an initramfs is but for its one file.
fn into_an_empty_root() {
    assert_eq!(getpid(), Pid::from_raw(1), "this role is for PID 1 of a namespace");
    chroot("/mnt").unwrap();
    chdir("/").unwrap();
}

fn appliance() {
    let outside = fs::read_link("/proc/self").unwrap();
    into_an_empty_root();
    // The streams are silenced below; this one goes on.
    let mut out = File::from(std::io::stdout().as_fd().try_clone_to_owned().unwrap());
    let mut kernel = Contained(Linux);
    for trouble in prepare(&mut kernel, &TABLE) {
        writeln!(out, "{trouble}, required: {}", trouble.is_required()).unwrap();
    }
    for (row, file) in TABLE.iter().zip(["self/status", "class/net", "null", ".", "."]) {
        let mounted = fs::read_to_string("/proc/mounts").unwrap();
        let listed = mounted.contains(&format!("{} {} {} ", row.kind, row.on, row.kind));
        if listed && Path::new(row.on).join(file).exists() {
            writeln!(out, "{} is there", row.on).unwrap();
        }
    }
    let asked = Arc::new(AtomicBool::new(false));
    take_signals(kernel, &asked).unwrap();
    drop(again(Path::new("/proc/self/exe"), &["orphaning"]).spawn().unwrap());
    until_no_child_is_left();
    writeln!(out, "no zombie is left").unwrap();
    writeln!(out, "ready as {}", outside.display()).unwrap();
    live(kernel, move || {
        while !asked.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(5));
        }
        writeln!(out, "work is done").unwrap();
        End::PowerOff
    })
}

/// Waits until PID 1 is the only process: the one it started and that one's orphan have been taken.
fn until_no_child_is_left() {
    let others = || {
        let names =
            fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
        names.filter(|name| name != "1" && name.bytes().all(|octet| octet.is_ascii_digit())).count()
    };
    while others() > 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn panicking() {
    into_an_empty_root();
    on_panic(
        |line| println!("{line}"),
        || {
            Contained(Linux).end(End::Restart);
        },
    );
    let worker = std::thread::Builder::new().name("worker".to_owned());
    let worker = worker.spawn(|| panic!("wedged\nfor good")).unwrap();
    let _ = worker.join();
    unreachable!("a panic has ended everything");
}
