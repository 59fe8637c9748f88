//! Starts `image/boot` and keeps what it shows.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock};
use tempfile::TempDir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// One box at a time: two would take each other's processors, and a starved run is INVALID.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A box that is about to be switched on.
pub struct Emulator {
    words: Vec<String>,
    folder: TempDir,
    _alone: MutexGuard<'static, ()>,
}

/// What a box has shown.
pub struct Shown {
    pub lines: Vec<String>,
    folder: TempDir,
}

impl Emulator {
    /// A box with the firmware that a technician gets; none where there is no emulator.
    pub fn new() -> Option<Self> {
        Self::with_image(firmware()?)
    }

    /// A box with a test build of it, which takes `linegauge.debug=`.
    pub fn with_test_build() -> Option<Self> {
        Self::with_image(test_firmware()?)
    }

    fn with_image(image: &Path) -> Option<Self> {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let new = Self { words: Vec::new(), folder: tempfile::tempdir().unwrap(), _alone: alone };
        let image = image.to_str().unwrap().to_owned();
        Some(new.words(["--image", &image, "--timeout", "120"]))
    }

    /// More options of `image/boot`.
    pub fn words<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Self {
        self.words.extend(words.into_iter().map(str::to_owned));
        self
    }

    /// A cable with this fault, spread over a run of this board.
    pub fn cable(self, fault: &str) -> Self {
        let program = env!("CARGO_BIN_EXE_linegauge");
        self.words(["--cable", fault, "--traffic", "6", "--program", program])
    }

    /// Keeps the display at the end.
    pub fn screenshot(self) -> Self {
        let file = self.folder.path().join("end.png");
        self.words(["--screenshot", file.to_str().unwrap()])
    }

    /// Keeps the display at a step.
    pub fn picture(self, when: &str) -> Self {
        let file = self.folder.path().join("step.png");
        self.words(["--picture", when, file.to_str().unwrap()])
    }

    /// A small display of this chip, a GPIO chip, and the board that has both.
    pub fn peripherals(self, chip: &str) -> Self {
        let (program, board) = (peripherals().to_str().unwrap(), format!("linegauge.board=emulated-{chip}"));
        self.words(["--oled", chip, "--gpio", "--peripherals", program, "--append", &board])
    }

    /// Keeps the small display at a step.
    pub fn oled_picture(self, when: &str, name: &str) -> Self {
        let file = self.folder.path().join(name);
        self.words(["--oled-picture", when, file.to_str().unwrap()])
    }

    /// Keeps what leaves the ports.
    pub fn capture(self) -> Self {
        let folder = self.folder.path().to_owned();
        self.words(["--capture", folder.to_str().unwrap()])
    }

    /// Runs the box until a line has this, after the last step.
    pub fn until(self, pattern: &str) -> Shown {
        self.words(["--until", pattern]).until_it_is_off()
    }

    /// Runs the box until it has switched itself off.
    pub fn until_it_is_off(self) -> Shown {
        let mut command = Command::new(Path::new(ROOT).join("image/boot"));
        command.args(&self.words).stdin(Stdio::null());
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?} ended with {}\n{text}\n{errors}", output.status);
        Shown { lines: text.lines().map(str::to_owned).collect(), folder: self.folder }
    }
}

impl Shown {
    /// The first line that has `part`.
    pub fn line(&self, part: &str) -> &str {
        self.find(part).unwrap_or_else(|| panic!("no line has {part:?}:\n{}", self.lines.join("\n")))
    }

    /// The same, where there may be none.
    pub fn find(&self, part: &str) -> Option<&str> {
        self.lines.iter().map(String::as_str).find(|line| line.contains(part))
    }

    /// The lines that have `part`.
    pub fn count(&self, part: &str) -> usize {
        self.lines.iter().filter(|line| line.contains(part)).count()
    }

    /// Seconds since power-on of the first line that has `part`.
    pub fn at(&self, part: &str) -> f64 {
        self.line(part).split_whitespace().next().unwrap().parse().unwrap()
    }

    /// The number that follows `name` in `line`: of the log, or of the cable's account.
    pub fn number(&self, line: &str, name: &str) -> u64 {
        let line = self.line(line);
        let after = line.split(&format!("{name} ")).nth(1).unwrap_or_else(|| panic!("no {name} in {line}"));
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or_else(|_| panic!("no number after {name} in {line}"))
    }

    /// The verdict of the first run, with its strongest reason, empty where there is none.
    pub fn verdict(&self) -> (&str, &str) {
        let word = self.line(" verdict ").split(" verdict ").nth(1).unwrap().split(',').next().unwrap();
        let reason = self.find(" reason ").and_then(|line| line.split('"').nth(1));
        (word, reason.unwrap_or_default())
    }

    /// No verdict of any run is `word`.
    pub fn assert_never(&self, word: &str) {
        assert_eq!(self.find(&format!(" verdict {word}")), None);
    }

    /// A file that was kept.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// The image of the release build, built once; none where there is no emulator.
pub fn firmware() -> Option<&'static Path> {
    static IMAGE: OnceLock<Option<PathBuf>> = OnceLock::new();
    IMAGE.get_or_init(|| build("image", &[])).as_deref()
}

/// The image of the test build.
fn test_firmware() -> Option<&'static Path> {
    static IMAGE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let image = || {
        firmware()?;
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("linegauge-test-build");
        let mut strip = Command::new("strip");
        strip.arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_linegauge"));
        assert!(strip.status().unwrap().success(), "{strip:?}");
        build("image-test", &["--init", program.to_str().unwrap()])
    };
    IMAGE.get_or_init(image).as_deref()
}

/// The program that is the small display and the GPIO chip, built once.
fn peripherals() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut command = Command::new(env!("CARGO"));
        command.args(["build", "--locked", "--package", "linegauge-peripherals", "--message-format", "json"]);
        let output = command.current_dir(ROOT).stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "{command:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let messages = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let program =
            messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).next_back();
        program.expect("cargo tells where the program is")
    })
}

fn build(name: &str, words: &[&str]) -> Option<PathBuf> {
    let required = std::env::var("LINEGAUGE_EMULATOR").is_ok_and(|value| value == "required");
    if Command::new("qemu-system-x86_64").arg("--version").output().is_err() && !required {
        return skip("qemu-system-x86_64 is not installed");
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut command = Command::new(Path::new(ROOT).join("image/build"));
    command.arg("--out").arg(&folder).args(words).stdout(std::io::stderr());
    let built = command.status().unwrap().success();
    assert!(built || !required, "{command:?}");
    if built { Some(folder) } else { skip("image/build did not work, see above") }
}

fn skip(why: &str) -> Option<PathBuf> {
    eprintln!("SKIPPED: {why}");
    None
}
