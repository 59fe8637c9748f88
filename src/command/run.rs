//! `linegauge run`: one cable through the whole chain.

use super::bench_box::{EmulatedBox, VirtualBox};
use super::console::Console;
use super::desk::Desk;
use super::task::Task;
use super::{HostRefused, NotDone, task};
use crate::COMMIT;
use crate::args::{LogTarget, RunRequest};
use crate::board::{Board, CableKind};
use crate::cable::account::Account;
use crate::cable::emulated::EmulatedCable;
use crate::cable::fault::Script;
use crate::clock::Monotonic;
use crate::host::wall_clock;
use crate::journal::json;
use crate::journal::record::Recorder;
use crate::nic::find;
use crate::panel::{picture, png};
use crate::session::{self, Config, Report, Rig};
use crate::sys::terminal::window_size;
use measure::link::PATIENCE;
use measure::plan::End;
use measure::record::{Words, words};
use measure::units::{Instant, Side};
use measure::verdict::Verdict;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Pixels of the screenshot for each pixel of the panel.
const SCREENSHOT_SCALE: u32 = 4;

/// Runs the test and tells its verdict.
///
/// # Errors
/// See [`NotDone`].
pub fn run(request: &RunRequest) -> Result<Option<Verdict>, NotDone> {
    let script = Script::parse(&request.faults).map_err(|error| NotDone::Usage(error.to_string()))?;
    let stop = stop_flag()?;
    // Files are opened as the user, before the namespaces change who that is.
    let Files { out, screenshot } = Files::open(request)?;
    let mut console = Console::default();
    let (report, truth) = match request.board.cable {
        CableKind::Virtual => (over_veth(request, &mut console, out, &stop)?, None),
        CableKind::Emulated => {
            let (report, truth) = over_emulated(request, &script, &mut console, out, &stop)?;
            (report, Some(truth))
        }
        CableKind::Ports => return Err(no_real_ports(&request.board).into()),
    };
    console.print_last(&last_words(request, &report, truth.as_ref()));
    save_panel(request, &console, screenshot)?;
    Ok(Some(report.verdict()))
}

/// Real ports are looked for, so that a board file can be tried; driving them is not part of this version.
fn no_real_ports(board: &Board) -> HostRefused {
    let named = board.ports.iter().flatten().zip(Side::BOTH);
    for (port, side) in named {
        if let Err(error) = find::interface(Path::new("/sys"), &port.pci, port.dev_port) {
            return HostRefused::new(format_args!("board {}, port {side}", board.name), error);
        }
    }
    let why =
        "its ports are there, but this version drives software cables only (--cable virtual or emulated)";
    HostRefused::new(format_args!("board {}", board.name), why)
}

fn over_veth(
    request: &RunRequest,
    console: &mut Console,
    out: OutFiles,
    stop: &AtomicBool,
) -> Result<Report, NotDone> {
    let config = config(request, Vec::new())?;
    let bench = VirtualBox::new(request.board.mtu)?;
    let mut rig = bench.rig(Monotonic::start())?;
    open_console(console, request, out)?;
    drive(&mut rig, &mut Desk::new(console, &request.board, stop), &config)
}

fn over_emulated(
    request: &RunRequest,
    script: &Script,
    console: &mut Console,
    out: OutFiles,
    stop: &AtomicBool,
) -> Result<(Report, Account), NotDone> {
    let seed = request.seed.map_or_else(|| task::nonce().map(u64::from), Ok)?;
    let mut notes = vec![words(format_args!("emulated cable, seed {seed}"))];
    notes.extend(script.faults().iter().map(|fault| words(format_args!("fault {fault}"))));
    let config = config(request, notes)?;
    let run = match config.plan.end {
        End::After(time) => time,
        // By bits: faults are spread over the shortest time it can take.
        End::AtBits(_) => measure::plan::QUICK,
    };
    let cable =
        EmulatedCable::new(script, seed, config.plan.settle + run).with_ethertypes(&config.ethertypes);
    let bench = EmulatedBox::new(cable, request.board.mtu)?;
    let mut rig = bench.rig(Monotonic::start())?;
    open_console(console, request, out)?;
    let report = drive(&mut rig, &mut Desk::new(console, &request.board, stop), &config);
    drop(rig);
    Ok((report?, bench.account()))
}

/// The request as a session takes it.
fn config(request: &RunRequest, notes: Vec<Words>) -> Result<Config, HostRefused> {
    let RunRequest { board, label, bound, confidence, .. } = request;
    let (bound, confidence) = (*bound, *confidence);
    Task { board, run: 1, label, bound, confidence, last: None, give_up: Some(PATIENCE), notes }.config()
}

/// Runs the session; whatever comes of it, the log is written to its end.
fn drive(rig: &mut dyn Rig, desk: &mut Desk, config: &Config) -> Result<Report, NotDone> {
    let report = session::run(rig, desk, config);
    desk.finish();
    let report = report.map_err(|error| HostRefused::new("packet sockets", error))?;
    report.ok_or_else(|| HostRefused::new("no run", "the cable was taken out").into())
}

/// What is printed after the log: the cable's own account and the result, where they are asked for.
fn last_words(request: &RunRequest, report: &Report, truth: Option<&Account>) -> String {
    let truth = truth.filter(|_| request.truth).map(ToString::to_string).unwrap_or_default();
    let result = if request.json {
        json::Result::new(report, &request.board.name, &request.label).to_line() + "\n"
    } else {
        String::new()
    };
    truth + &result
}

/// The panel as it stood at last, into the file that is open for it.
fn save_panel(request: &RunRequest, console: &Console, file: Option<File>) -> Result<(), HostRefused> {
    let (Some(path), Some(mut file), Some(screen)) = (&request.screenshot, file, console.last_screen())
    else {
        return Ok(());
    };
    file.write_all(&png::encode(&picture(screen), SCREENSHOT_SCALE))
        .map_err(|error| HostRefused::new(format_args!("screenshot {}", path.display()), error))
}

/// The files of a run, open before it begins: what cannot be written is told then, and not after it.
struct Files {
    out: OutFiles,
    screenshot: Option<File>,
}

/// Those that are written as it goes on.
struct OutFiles {
    log: Option<File>,
    records: Option<File>,
}

impl Files {
    fn open(request: &RunRequest) -> Result<Self, HostRefused> {
        let log = match &request.log {
            Some(LogTarget::File(path)) => Some(create("log file", path)?),
            Some(LogTarget::StandardOutput) | None => None,
        };
        let screenshot = request.screenshot.as_deref().map(|path| create("screenshot", path)).transpose()?;
        let records = request.records.as_deref().map(|path| create("records", path)).transpose()?;
        Ok(Self { out: OutFiles { log, records }, screenshot })
    }
}

fn create(what: &str, path: &Path) -> Result<File, HostRefused> {
    File::create(path).map_err(|error| HostRefused::new(format_args!("{what} {}", path.display()), error))
}

/// The panel on a terminal, else the log alone; and the files that are asked for.
fn open_console(console: &mut Console, request: &RunRequest, out: OutFiles) -> Result<(), HostRefused> {
    let refused = |error| HostRefused::new("a thread for the log", error);
    if let Some(file) = out.log {
        console.log_to(file).map_err(refused)?;
    }
    if let Some(file) = out.records {
        console.record_to(recorder(), file).map_err(refused)?;
    }
    let panel = request.panel && request.log != Some(LogTarget::StandardOutput);
    let terminal = window_size(&io::stdout()).filter(|_| panel && io::stdout().is_terminal());
    match terminal {
        Some((columns, rows)) => console.show_on(columns, rows).map_err(refused),
        None => console.log_to(io::stdout()).map_err(refused),
    }
}

/// Records of a run on a desk, whose clock starts now: no box has made them.
fn recorder() -> Recorder {
    let mut recorder = Recorder::new("", COMMIT);
    if let Some(unix) = wall_clock::now() {
        recorder.set_wall_clock(Instant::ZERO, unix);
    }
    recorder
}

/// Set by Ctrl-C, by a request to end, and by the terminal going away; a second one ends at once.
pub(super) fn stop_flag() -> Result<Arc<AtomicBool>, HostRefused> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The first registered acts first: it ends the process only where the flag is up already.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .map_err(|error| HostRefused::new("signal handlers", error))?;
    }
    Ok(stop)
}
