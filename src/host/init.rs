//! The duties of PID 1: set the machine up, keep it tidy, end it.
//!
//! If PID 1 returns, exits or is killed, the kernel panics: so [`live`] never returns, and a panic ends in
//! the hook of [`on_panic`]. Nothing here stops at an error. [`prepare`] does all it can and tells what it
//! could not do, for the display and the log.
//!
//! Nothing is written to `/dev/console`: a write there can take for ever when the terminal behind it has
//! been stopped. The standard streams lead to `/dev/null`; last words go to the kernel's log.
//!
//! # Limitations
//! Rust's runtime opens `/dev/null` for each standard stream that is closed, and aborts if it cannot, before
//! any code of ours runs. The kernel starts PID 1 with closed ones where no console is registered. So the
//! initramfs needs a `/dev/null` of its own below what [`prepare`] mounts.

use super::mounts::{Mount, NotMounted, mount_all};
use crate::sys::init::set_console_level;
use nix::errno::Errno;
use nix::sys::reboot::{RebootMode, reboot, set_cad_enabled};
use nix::sys::stat::Mode;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, dup2_stderr, dup2_stdin, dup2_stdout, mkdir};
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::panic::PanicHookInfo;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The kernel prints only what is more urgent than this: emergencies, alerts, critical conditions. Printing a
/// line on a UART can keep a processor busy for 200 ms.
const CONSOLE_LEVEL: u8 = 3;

/// Where a line goes into the kernel's log.
const KERNEL_LOG: &str = "/dev/kmsg";

/// How a machine ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Power is cut.
    PowerOff,
    /// It starts again.
    Restart,
}

/// What PID 1 asks of the kernel.
pub trait Kernel {
    /// Makes a folder.
    ///
    /// # Errors
    /// The kernel's; `EEXIST` where it is there.
    fn make_folder(&mut self, path: &Path) -> nix::Result<()>;

    /// Mounts one row.
    ///
    /// # Errors
    /// The kernel's; `EBUSY` where it is mounted.
    fn mount(&mut self, row: &Mount) -> nix::Result<()>;

    /// Points the standard streams to `/dev/null`.
    ///
    /// # Errors
    /// The kernel's.
    fn silence_streams(&mut self) -> nix::Result<()>;

    /// Lets the kernel print only messages more urgent than `level`.
    ///
    /// # Errors
    /// The kernel's.
    fn set_console_level(&mut self, level: u8) -> nix::Result<()>;

    /// Makes ctrl-alt-del a SIGINT to PID 1 instead of a restart.
    ///
    /// # Errors
    /// The kernel's.
    fn catch_ctrl_alt_del(&mut self) -> nix::Result<()>;

    /// Takes one child that has ended; none where there is none such.
    ///
    /// # Errors
    /// The kernel's; `ECHILD` where there is no child at all.
    fn reap(&mut self) -> nix::Result<Option<Pid>>;

    /// Writes what is not on the disks yet.
    fn sync(&mut self);

    /// Ends the machine; comes back only where that was refused.
    fn end(&mut self, end: End) -> Errno;
}

/// The real kernel.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linux;

impl Kernel for Linux {
    fn make_folder(&mut self, path: &Path) -> nix::Result<()> {
        mkdir(path, Mode::from_bits_truncate(0o755))
    }

    fn mount(&mut self, row: &Mount) -> nix::Result<()> {
        let options = (!row.options.is_empty()).then_some(row.options);
        nix::mount::mount(Some(row.kind), row.on, Some(row.kind), row.flags, options)
    }

    fn silence_streams(&mut self) -> nix::Result<()> {
        let null = OpenOptions::new().read(true).write(true).open("/dev/null");
        let null = null.map_err(|error| error.raw_os_error().map_or(Errno::EIO, Errno::from_raw))?;
        dup2_stdin(&null)?;
        dup2_stdout(&null)?;
        dup2_stderr(&null)
    }

    fn set_console_level(&mut self, level: u8) -> nix::Result<()> {
        set_console_level(level)
    }

    fn catch_ctrl_alt_del(&mut self) -> nix::Result<()> {
        set_cad_enabled(false)
    }

    fn reap(&mut self) -> nix::Result<Option<Pid>> {
        match waitpid(None, Some(WaitPidFlag::WNOHANG))? {
            WaitStatus::StillAlive => Ok(None),
            ended => Ok(ended.pid()),
        }
    }

    fn sync(&mut self) {
        nix::unistd::sync();
    }

    fn end(&mut self, end: End) -> Errno {
        let mode = match end {
            End::PowerOff => RebootMode::RB_POWER_OFF,
            End::Restart => RebootMode::RB_AUTOBOOT,
        };
        match reboot(mode) {
            Err(errno) => errno,
            Ok(never) => match never {},
        }
    }
}

/// A duty that could not be done. Each is one line.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// A file system is missing.
    #[error("{0}")]
    Mount(#[from] NotMounted),
    /// The kernel's messages may come between the lines of the log.
    #[error("cannot quieten the kernel's console: {0}")]
    ConsoleLevel(Errno),
    /// Something printed by accident may block.
    #[error("cannot point the standard streams to /dev/null: {0}")]
    Streams(Errno),
    /// Ctrl-alt-del restarts at once, whatever is going on.
    #[error("cannot catch ctrl-alt-del: {0}")]
    CtrlAltDel(Errno),
    /// No signal is taken.
    #[error("cannot take signals: {0}")]
    Signals(io::Error),
}

impl Trouble {
    /// Without this duty no cable is judged.
    #[must_use]
    pub const fn is_required(&self) -> bool {
        match self {
            Self::Mount(failed) => failed.row.required,
            _ => false,
        }
    }
}

/// Sets the machine up: quiet kernel, file systems, streams, ctrl-alt-del. Does all it can and tells what it
/// could not do.
pub fn prepare(kernel: &mut impl Kernel, table: &[Mount]) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    troubles.extend(kernel.set_console_level(CONSOLE_LEVEL).err().map(Trouble::ConsoleLevel));
    troubles.extend(mount_all(kernel, table).into_iter().map(Trouble::Mount));
    troubles.extend(kernel.silence_streams().err().map(Trouble::Streams));
    troubles.extend(kernel.catch_ctrl_alt_del().err().map(Trouble::CtrlAltDel));
    troubles
}

/// Takes the signals of PID 1: ctrl-alt-del and SIGTERM set `asked_to_end`, and children that end are
/// taken at once, by a thread of its own.
///
/// # Errors
/// The kernel's.
pub fn take_signals(
    mut kernel: impl Kernel + Send + 'static,
    asked_to_end: &Arc<AtomicBool>,
) -> Result<(), Trouble> {
    let take = || -> io::Result<()> {
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(asked_to_end))?;
        }
        let (mut told, teller) = UnixStream::pair()?;
        signal_hook::low_level::pipe::register(signal_hook::consts::SIGCHLD, teller)?;
        let work = move || {
            // One octet can stand for many children.
            while told.read(&mut [0; 64]).is_ok_and(|count| count > 0) {
                reap_all(&mut kernel);
            }
        };
        std::thread::Builder::new().name("reaper".to_owned()).spawn(work).map(drop)
    };
    take().map_err(Trouble::Signals)
}

/// Takes all children that have ended; tells how many.
fn reap_all(kernel: &mut impl Kernel) -> usize {
    let mut count = 0;
    loop {
        match kernel.reap() {
            Ok(Some(_)) => count += 1,
            Err(Errno::EINTR) => {}
            Ok(None) | Err(_) => return count,
        }
    }
}

/// Writes back what is to be kept and ends the machine; comes back only where that was refused.
pub fn end(kernel: &mut impl Kernel, how: End) -> Errno {
    kernel.sync();
    kernel.end(how)
}

/// PID 1's whole life: does `work`, then ends the machine as that says. Never returns, even where ending is
/// refused.
pub fn live(mut kernel: impl Kernel, work: impl FnOnce() -> End) -> ! {
    let how = work();
    let errno = end(&mut kernel, how);
    // Nobody is left to tell but the kernel's log.
    let _ = leave_in_kernel_log(Path::new(KERNEL_LOG), &format!("cannot end the machine: {errno}"));
    stay()
}

/// Does nothing, for good.
fn stay() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

/// Makes every panic, in whatever thread, leave one line in the kernel's log, hand the same line to
/// `last_words` (for the display and the log) and end by `ending`, which has to end the machine: PID 1 must
/// not come back from a panic. A second panic meanwhile only waits.
pub fn on_panic(
    last_words: impl Fn(&str) + Send + Sync + 'static,
    ending: impl Fn() + Send + Sync + 'static,
) {
    let panicked = AtomicBool::new(false);
    std::panic::set_hook(Box::new(move |info| {
        if panicked.swap(true, Ordering::AcqRel) {
            stay();
        }
        let line = panic_line(info);
        // If even that fails there is nowhere left to say so.
        let _ = leave_in_kernel_log(Path::new(KERNEL_LOG), &line);
        last_words(&line);
        ending();
    }));
}

/// A panic in one line: what, where, and in which thread.
fn panic_line(info: &PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let what = info.payload_as_str().unwrap_or("no message").replace(char::is_control, " ");
    let place =
        info.location().map_or_else(String::new, |place| format!(" at {}:{}", place.file(), place.line()));
    format!("panic{place} in thread {}: {what}", thread.name().unwrap_or("without a name"))
}

/// Leaves a line in the kernel's log, as critical as has to be for the console to show it.
fn leave_in_kernel_log(log: &Path, line: &str) -> io::Result<()> {
    // Level 2 is KERN_CRIT. One write is one record, of at most 1024 octets or so (printk's LOG_LINE_MAX).
    let record: String = format!("<2>linegauge: {line}").chars().take(900).collect();
    OpenOptions::new().write(true).open(log)?.write_all(format!("{record}\n").as_bytes())
}

/// A kernel that only writes down what it is asked.
#[cfg(test)]
pub mod recording {
    use super::*;
    use std::path::PathBuf;

    /// One call.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "named as the methods of the trait")]
    pub enum Call {
        MakeFolder(PathBuf),
        Mount(&'static str),
        SilenceStreams,
        SetConsoleLevel(u8),
        CatchCtrlAltDel,
        Sync,
        End(End),
    }

    /// The calls so far, those that are to fail, and the children that have ended.
    #[derive(Debug, Default)]
    pub struct Recording {
        /// In order.
        pub calls: Vec<Call>,
        failing: Vec<(Call, Errno)>,
        /// What the next calls of `reap` give, from the end.
        pub children: Vec<nix::Result<Option<Pid>>>,
    }

    impl Recording {
        /// Lets `call` fail.
        pub fn fail(&mut self, call: Call, errno: Errno) {
            self.failing.push((call, errno));
        }

        fn record(&mut self, call: Call) -> nix::Result<()> {
            let failing = self.failing.iter().find(|(failing, _)| *failing == call).map(|(_, errno)| *errno);
            self.calls.push(call);
            failing.map_or(Ok(()), Err)
        }
    }

    impl Kernel for Recording {
        fn make_folder(&mut self, path: &Path) -> nix::Result<()> {
            self.record(Call::MakeFolder(path.to_owned()))
        }

        fn mount(&mut self, row: &Mount) -> nix::Result<()> {
            self.record(Call::Mount(row.on))
        }

        fn silence_streams(&mut self) -> nix::Result<()> {
            self.record(Call::SilenceStreams)
        }

        fn set_console_level(&mut self, level: u8) -> nix::Result<()> {
            self.record(Call::SetConsoleLevel(level))
        }

        fn catch_ctrl_alt_del(&mut self) -> nix::Result<()> {
            self.record(Call::CatchCtrlAltDel)
        }

        fn reap(&mut self) -> nix::Result<Option<Pid>> {
            self.children.pop().unwrap_or(Err(Errno::ECHILD))
        }

        fn sync(&mut self) {
            self.calls.push(Call::Sync);
        }

        fn end(&mut self, end: End) -> Errno {
            self.record(Call::End(end)).err().unwrap_or(Errno::EINVAL)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mounts::TABLE;
    use super::recording::{Call, Recording};
    use super::*;

    #[test]
    fn the_kernel_is_quiet_before_anything_else_and_streams_wait_for_their_device() {
        let mut kernel = Recording::default();
        assert!(prepare(&mut kernel, &TABLE).is_empty());
        let at = |call: &Call| kernel.calls.iter().position(|other| other == call);
        assert_eq!(at(&Call::SetConsoleLevel(3)), Some(0));
        assert!(at(&Call::Mount("/dev")) < at(&Call::SilenceStreams));
        assert_eq!(kernel.calls.last(), Some(&Call::CatchCtrlAltDel));
    }

    #[test]
    fn every_duty_is_tried_and_every_failure_told() {
        let mut kernel = Recording::default();
        kernel.fail(Call::SetConsoleLevel(3), Errno::EPERM);
        kernel.fail(Call::Mount("/proc"), Errno::EPERM);
        kernel.fail(Call::Mount("/sys/kernel/debug"), Errno::ENODEV);
        kernel.fail(Call::SilenceStreams, Errno::ENOENT);
        kernel.fail(Call::CatchCtrlAltDel, Errno::EPERM);
        let troubles = prepare(&mut kernel, &TABLE);
        let lines: Vec<_> = troubles.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "cannot quieten the kernel's console: EPERM: Operation not permitted",
                "cannot mount proc on /proc: EPERM: Operation not permitted",
                "cannot mount debugfs on /sys/kernel/debug: ENODEV: No such device",
                "cannot point the standard streams to /dev/null: ENOENT: No such file or directory",
                "cannot catch ctrl-alt-del: EPERM: Operation not permitted",
            ]
        );
        let required: Vec<_> = troubles.iter().map(Trouble::is_required).collect();
        assert_eq!(required, [false, true, false, false, false]);
    }

    #[test]
    fn all_children_that_have_ended_are_taken() {
        let child = |number| Ok(Some(Pid::from_raw(number)));
        let mut kernel = Recording::default();
        kernel.children = vec![Ok(None), child(9), Err(Errno::EINTR), child(8), child(7)];
        assert_eq!(reap_all(&mut kernel), 3);
        assert_eq!(reap_all(&mut kernel), 0, "no child is left");
    }

    #[test]
    fn disks_are_written_before_the_end() {
        for how in [End::PowerOff, End::Restart] {
            let mut kernel = Recording::default();
            kernel.fail(Call::End(how), Errno::EPERM);
            assert_eq!(end(&mut kernel, how), Errno::EPERM);
            assert_eq!(kernel.calls, [Call::Sync, Call::End(how)]);
        }
    }

    #[test]
    fn last_words_are_one_short_record() {
        let log = tempfile::NamedTempFile::new().unwrap();
        leave_in_kernel_log(log.path(), &"x".repeat(5000)).unwrap();
        let record = std::fs::read_to_string(log.path()).unwrap();
        assert!(record.starts_with("<2>linegauge: xxx") && record.ends_with("x\n"));
        assert_eq!(record.len(), 901);
        assert!(leave_in_kernel_log(Path::new("/dev/no-log"), "x").is_err());
    }
}
