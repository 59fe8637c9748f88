//! One start of the program: its board file, its words, and what came of it.

use nix::poll::{PollFd, PollFlags, poll};
use serde_json::Value;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_linegauge");

/// Whoever has not ended after this long hangs.
const HANGS: Duration = Duration::from_secs(100);

/// How often something is looked at that is waited for.
const LOOK: Duration = Duration::from_millis(5);

/// A run to be started: a short one at a low pace, so that several fit on two cores.
pub struct Gauge {
    pub folder: tempfile::TempDir,
    words: Vec<String>,
}

impl Gauge {
    /// A run over the virtual cable.
    pub fn on_virtual() -> Self {
        Self::on("virtual")
    }

    /// A run over the emulated cable with `faults`.
    pub fn on_emulated(faults: &[&str]) -> Self {
        faults.iter().fold(Self::on("emulated"), |gauge, fault| gauge.with(&["--fault", fault]))
    }

    fn on(cable: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let board = folder.path().join("short.toml");
        let text = format!("inherit = {cable:?}\nsettle-s = 0.3\nduration = 0.7\npace-mbps = 20\n");
        std::fs::write(&board, text).unwrap();
        let words = ["run", "--board", board.to_str().unwrap()].map(str::to_owned).to_vec();
        Self { folder, words }
    }

    /// More words.
    pub fn with(mut self, words: &[&str]) -> Self {
        self.words.extend(words.iter().map(|&word| word.to_owned()));
        self
    }

    /// Long enough for a rate that a busy host does not spoil: its steady state is 2 s.
    pub fn unhurried(self) -> Self {
        self.with(&["--duration", "2"])
    }

    /// Longer than any test waits: it is ended by the test.
    pub fn endless(self) -> Self {
        self.with(&["--duration", "600"])
    }

    /// Its log goes to a file too.
    pub fn with_log(self, log: &Path) -> Self {
        self.with(&["--log", log.to_str().unwrap()])
    }

    /// A file in this run's own folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(&self.words).stdin(Stdio::null());
        command
    }

    /// Starts it, with its output collected.
    pub fn start(self) -> Running {
        Running::start(&mut self.command()).with(self.folder)
    }

    /// Starts it and waits for its end.
    pub fn go(self) -> Ended {
        self.start().end()
    }
}

/// All of `gauges` at the same time.
pub fn side_by_side<const N: usize>(gauges: [Gauge; N]) -> [Ended; N] {
    gauges.map(Gauge::start).map(Running::end)
}

/// The program while it runs.
pub struct Running {
    pub child: Child,
    out: Collected,
    err: Collected,
    /// What it reads and writes in there goes with it.
    folder: Option<tempfile::TempDir>,
}

impl Running {
    /// Starts `command`; where its output does not go elsewhere already, it is collected.
    pub fn start(command: &mut Command) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Self::over(child, None)
    }

    /// Looks after `child`; `screen` is what it writes to, where that is no pipe.
    pub fn over(mut child: Child, screen: Option<std::fs::File>) -> Self {
        let out = match (screen, child.stdout.take()) {
            (Some(screen), _) => Collected::from(screen),
            (None, Some(pipe)) => Collected::from(pipe),
            (None, None) => Collected::from(io::empty()),
        };
        let err = child.stderr.take().map_or_else(|| Collected::from(io::empty()), Collected::from);
        Self { child, out, err, folder: None }
    }

    /// Keeps `folder` as long as what comes of the run.
    pub fn with(mut self, folder: tempfile::TempDir) -> Self {
        self.folder = Some(folder);
        self
    }

    /// Waits until `text` has been written to standard output.
    pub fn until(&mut self, text: &str) {
        wait_for(text, || self.out.so_far().contains(text) || self.child.try_wait().unwrap().is_some());
        assert!(self.out.so_far().contains(text), "no {text:?} in\n{}", self.out.so_far());
    }

    /// What it has written to standard output.
    pub fn said(&self) -> String {
        self.out.so_far()
    }

    /// What it has written to standard error.
    pub fn complained(&self) -> String {
        self.err.so_far()
    }

    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = nix::unistd::Pid::from_raw(self.child.id().try_into().unwrap());
        nix::sys::signal::kill(pid, signal).unwrap();
    }

    /// Its end; one that does not come fails the test.
    pub fn end(mut self) -> Ended {
        let status = self.wait();
        Ended { code: status.code(), out: self.out.all(), err: self.err.all(), _folder: self.folder.take() }
    }

    fn wait(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            if began.elapsed() > HANGS {
                let _ = self.child.kill();
                panic!("it hangs after\n{}", self.out.so_far());
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// A test that fails leaves nothing running.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for something that must happen.
pub fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let began = Instant::now();
    while !happened() {
        assert!(began.elapsed() < HANGS, "{what} does not happen");
        std::thread::sleep(LOOK);
    }
}

/// What comes out of a pipe, as it comes.
struct Collected {
    octets: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Collected {
    fn from(mut pipe: impl Read + Send + 'static) -> Self {
        let octets = Arc::<Mutex<Vec<u8>>>::default();
        let shared = Arc::clone(&octets);
        let thread = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // A terminal whose last writer has gone reads as an error.
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                shared.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Self { octets, thread }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.octets.lock().unwrap()).into_owned()
    }

    fn all(&mut self) -> String {
        wait_for("the end of the output", || self.thread.is_finished());
        String::from_utf8(std::mem::take(&mut *self.octets.lock().unwrap())).unwrap()
    }
}

/// What came of a run.
pub struct Ended {
    /// Exit code; none if a signal ended it.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    _folder: Option<tempfile::TempDir>,
}

impl Ended {
    /// The last line of output, which is one JSON object.
    pub fn json(&self) -> Value {
        assert!(self.out.ends_with('\n'), "{}{}", self.out, self.err);
        serde_json::from_str(self.out.lines().last().unwrap()).unwrap_or_else(|error| {
            panic!("{error} in the last line of\n{}{}", self.out, self.err);
        })
    }

    /// The lines of the log: neither the cable's account nor the result.
    pub fn log(&self) -> Vec<&str> {
        self.out.lines().filter(|line| !line.starts_with("truth ") && !line.starts_with('{')).collect()
    }

    /// Verdict, exit code and nothing to complain about.
    pub fn assert_verdict(&self, verdict: &str, code: i32) {
        let all = format!("{}{}", self.out, self.err);
        assert_eq!((self.json()["verdict"].as_str(), self.code), (Some(verdict), Some(code)), "{all}");
        assert_eq!(self.err, "", "{all}");
    }

    /// Exit code `code`, one line on standard error that begins with the program's name, and nothing else.
    pub fn assert_refused(&self, code: i32) -> &str {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{}", self.err);
        let line = self.err.strip_suffix('\n').unwrap();
        assert!(!line.contains('\n'), "{line}");
        line.strip_prefix("linegauge: ").unwrap()
    }
}

/// Says loudly that a test shows nothing here, past the harness, which swallows what a passing test prints.
#[expect(clippy::explicit_write, reason = "the harness would swallow what eprintln! prints")]
pub fn skip(reason: &str) {
    writeln!(io::stderr(), "SKIPPED: {reason}").unwrap();
}

/// Whether this host gives us a private network; says so where it does not.
pub fn has_namespaces() -> bool {
    static HAS: LazyLock<bool> = LazyLock::new(|| unshares(unshare(&["--net"]).arg("true")));
    if !*HAS {
        skip("this host gives us no private network");
    }
    *HAS
}

/// Whether there are TAP devices too.
pub fn has_tap() -> bool {
    let device = Path::new("/dev/net/tun");
    let opens = std::fs::File::options().read(true).write(true).open(device);
    if let Err(error) = &opens {
        skip(&format!("{}: {error}", device.display()));
    }
    opens.is_ok() && has_namespaces()
}

/// `unshare(1)` with `flags`, as root of a user namespace where we are not root already.
pub fn unshare(flags: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    if !nix::unistd::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(flags);
    command
}

/// Whether a command can be started and succeeds.
pub fn unshares(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// A pipe that says it takes more takes so much without blocking (PIPE_BUF, pipe(7)).
const ONE_WRITE: usize = 4096;

fn takes_more(pipe: &PipeWriter) -> bool {
    let mut waits = [PollFd::new(pipe.as_fd(), PollFlags::POLLOUT)];
    poll(&mut waits, 0u8).unwrap() > 0
}

/// A pipe that nobody reads, with no room left in it.
pub fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    while takes_more(&writer) {
        writer.write_all(&[b'.'; ONE_WRITE]).unwrap();
    }
    (reader, writer)
}
