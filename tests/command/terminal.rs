//! The panel on a real terminal (a pseudo terminal of 80 columns and 24 rows).

use super::gauge::{Ended, Gauge, Running, has_namespaces};
use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::signal::Signal;
use nix::sys::termios::{Termios, tcgetattr};
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::process::Stdio;

const COLUMNS: usize = 80;
const ROWS: usize = 24;
/// Rows that the panel takes.
const PANEL: usize = 16;

/// A run on a terminal: the terminal's other end, and its modes before the run.
struct OnTerminal {
    run: Running,
    terminal: OwnedFd,
    before: Termios,
}

fn start(gauge: Gauge, columns: usize, rows: usize) -> OnTerminal {
    let size = Winsize {
        ws_row: rows.try_into().unwrap(),
        ws_col: columns.try_into().unwrap(),
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let OpenptyResult { master, slave } = openpty(&size, None).unwrap();
    let before = tcgetattr(&slave).unwrap();
    let mut command = gauge.command();
    command.stdin(slave.try_clone().unwrap()).stdout(slave).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // The command still holds the terminal: the reader would wait for it for ever.
    drop(command);
    let terminal = master.try_clone().unwrap();
    OnTerminal { run: Running::over(child, Some(File::from(master))).with(gauge.folder), terminal, before }
}

impl OnTerminal {
    /// Its end, with the terminal as it was before.
    fn end(self) -> Ended {
        let ended = self.run.end();
        assert_eq!(tcgetattr(&self.terminal).unwrap(), self.before, "the terminal's modes");
        ended
    }
}

/// The few things a terminal does with what a run writes; anything else fails the test.
#[derive(Default)]
struct Screen {
    lines: Vec<String>,
    /// The screen's first line.
    top: usize,
    row: usize,
    column: usize,
}

impl Screen {
    fn after(text: &str) -> Self {
        let mut screen = Self::default();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match c {
                '\r' => screen.column = 0,
                '\n' => screen.down(),
                '\u{1b}' => screen.escape(&mut rest),
                c => screen.put(c),
            }
        }
        screen
    }

    fn down(&mut self) {
        self.row += 1;
        self.top = self.top.max((self.row + 1).saturating_sub(ROWS));
    }

    fn escape(&mut self, rest: &mut std::str::Chars) {
        assert_eq!(rest.next(), Some('['));
        let mut number = 0;
        loop {
            match rest.next().unwrap() {
                digit @ '0'..='9' => {
                    number = 10 * number + usize::try_from(digit.to_digit(10).unwrap()).unwrap()
                }
                'A' => return self.row = self.row.saturating_sub(number).max(self.top),
                'K' => return self.line().clear(),
                'J' => return self.lines.truncate(self.row),
                other => panic!("{other:?} ends a sequence"),
            }
        }
    }

    fn line(&mut self) -> &mut String {
        if self.lines.len() <= self.row {
            self.lines.resize(self.row + 1, String::new());
        }
        &mut self.lines[self.row]
    }

    fn put(&mut self, c: char) {
        if self.column == COLUMNS {
            self.column = 0;
            self.down();
        }
        let column = self.column;
        let kept: String = self.line().chars().take(column).collect();
        let gap = " ".repeat(column - kept.chars().count());
        *self.line() = kept + &gap + &c.to_string();
        self.column += 1;
    }
}

fn is_panel(line: &str) -> bool {
    line.chars().count() == 64 && line.chars().all(|c| ('\u{2800}'..='\u{28ff}').contains(&c))
}

#[test]
fn the_whole_log_is_kept_and_the_panel_stands_under_it_with_the_result() {
    if !has_namespaces() {
        return;
    }
    let gauge = Gauge::on_virtual().unhurried();
    let log = gauge.file("log");
    let gauge = gauge.with_log(&log).with(&["--json"]);
    let ended = start(gauge, COLUMNS, ROWS).end();
    ended.assert_verdict("PASS", 0);
    let (live, _) = ended.out.split_once(" verdict ").unwrap();
    assert_eq!(Screen::after(live).top, 0, "panel and log lines fit the terminal, and none is wrapped away");
    let screen = Screen::after(&ended.out);
    let panels: Vec<usize> =
        (0..screen.lines.len()).filter(|&row| is_panel(screen.lines[row].as_str())).collect();
    assert_eq!(
        panels,
        (panels[0]..panels[0] + PANEL).collect::<Vec<_>>(),
        "one panel, whole, nothing over it"
    );
    assert!(screen.lines.iter().any(|line| is_panel(line) && line.chars().any(|c| c != '\u{2800}')));
    let log = fs::read_to_string(&log).unwrap();
    let summary: Vec<&str> = log.lines().skip_while(|line| !line.contains(" verdict ")).collect();
    assert!(summary.len() > 20, "{log}");
    let shown: Vec<&str> = ended.out.lines().collect();
    let whole = shown.windows(summary.len()).any(|lines| lines == summary);
    assert!(whole, "the whole summary is in the terminal's history");
    let closing = screen.lines.iter().skip(panels[0] + PANEL).find(|line| !line.is_empty()).unwrap();
    assert_eq!(closing, summary[0], "the verdict is the first line under the panel");
}

#[test]
fn a_terminal_too_small_for_the_panel_gets_the_log_alone() {
    if !has_namespaces() {
        return;
    }
    let mut small = start(Gauge::on_virtual().endless(), 60, 15);
    let mut none = start(Gauge::on_virtual().endless().with(&["--no-panel"]), COLUMNS, ROWS);
    for run in [&mut small.run, &mut none.run] {
        run.until("phase link");
        run.signal(Signal::SIGINT);
    }
    for ended in [small.end(), none.end()] {
        assert_eq!(ended.code, Some(3), "{}", ended.out);
        assert!(!ended.out.contains('\u{1b}'), "{}", ended.out);
        assert!(ended.out.contains("reason \"stopped early\""), "{}", ended.out);
    }
}

#[test]
fn a_killed_run_leaves_the_terminal_as_it_was() {
    if !has_namespaces() {
        return;
    }
    let mut killed = start(Gauge::on_virtual().endless(), COLUMNS, ROWS);
    killed.run.until("phase settle");
    killed.run.signal(Signal::SIGKILL);
    let ended = killed.end();
    assert_eq!(ended.code, None);
    let last = ended.out.rsplit('\n').next().unwrap();
    assert_eq!(last.trim_start_matches("\r"), "\u{1b}[J", "the cursor waits in the line under the block");
}
