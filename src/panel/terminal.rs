//! The panel in a terminal, the last log lines under it.
//!
//! Everything is drawn in place with "cursor up" and "erase line" and nothing else: no raw mode, no
//! alternate screen, no hidden cursor, no scroll region. Whenever the process ends, however it ends,
//! the terminal is as usable as before. Between updates the cursor waits in the line under the block.

use super::braille;
use super::canvas::Canvas;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Fewest columns with which the panel is shown: those of the smallest display's Braille cells.
pub const MIN_COLUMNS: u16 = Canvas::WIDTH / braille::CELL_WIDTH;
/// Fewest rows with which the panel is shown: the panel, three log lines and the cursor's.
pub const MIN_ROWS: u16 = PANEL_ROWS + 4;

/// Rows that the smallest display's Braille cells take.
const PANEL_ROWS: u16 = Canvas::HEIGHT / braille::CELL_HEIGHT;

/// Erase from the cursor to the end of the line (ECMA-48, 8.3.41).
const ERASE_LINE: &str = "\x1b[K";
/// Erase from the cursor to the end of the screen (ECMA-48, 8.3.39).
const ERASE_BELOW: &str = "\x1b[J";

/// A terminal of known size that shows the panel and the last log lines.
///
/// Where the terminal is too small for the panel, log lines are printed as they come.
pub struct TerminalPanel<W> {
    out: W,
    /// The last log lines, ready to print; none where there is no panel.
    window: Option<Window>,
}

/// What is shown in place.
struct Window {
    columns: usize,
    rows: usize,
    panel: Vec<String>,
    log: VecDeque<String>,
    /// Lines between the block's first line and the cursor.
    drawn: usize,
}

impl<W: Write> TerminalPanel<W> {
    /// A panel on a terminal of `columns` × `rows` characters, written to `out`; nothing is written yet.
    pub fn new(out: W, columns: u16, rows: u16) -> Self {
        let large_enough = columns >= MIN_COLUMNS && rows >= MIN_ROWS;
        Self { out, window: large_enough.then(|| Window::new(columns.into(), rows.into())) }
    }

    /// Whether the terminal is large enough for the panel.
    pub const fn shows_panel(&self) -> bool {
        self.window.is_some()
    }

    /// Shows `canvas`, if it looks different from what is shown.
    ///
    /// # Errors
    /// The terminal's.
    pub fn show(&mut self, canvas: &Canvas) -> io::Result<()> {
        let Some(window) = &mut self.window else { return Ok(()) };
        if !window.take(canvas) {
            return Ok(());
        }
        let update = window.redraw();
        self.print(&update)
    }

    /// Adds a log line under the panel, the oldest giving way; cut at the terminal's width.
    ///
    /// # Errors
    /// The terminal's.
    pub fn log(&mut self, line: &str) -> io::Result<()> {
        let line = visible(line);
        let update = match &mut self.window {
            None => line + "\n",
            Some(window) => {
                window.add(line);
                window.redraw()
            }
        };
        self.print(&update)
    }

    /// Prints `record` in full where the block was, and leaves the panel standing under it with as many of
    /// the lines `closing` below as there is room for: the result is what a person is left looking at.
    /// Without a panel there is only the record.
    ///
    /// # Errors
    /// The terminal's.
    pub fn finish(&mut self, record: &[String], closing: &[String]) -> io::Result<()> {
        let mut update = self.window.as_mut().map(Window::clear).unwrap_or_default();
        for line in record {
            update.extend([&visible(line), "\n"]);
        }
        if let Some(window) = &mut self.window {
            closing.iter().for_each(|line| window.add(visible(line)));
            // Nothing is left under the block: what follows begins at the start of a line, with no sequence.
            update.push_str(&window.block());
            window.log.clear();
        }
        self.print(&update)
    }

    /// One write for each update, so that no half of one is ever seen.
    fn print(&mut self, update: &str) -> io::Result<()> {
        self.out.write_all(update.as_bytes())?;
        self.out.flush()
    }
}

impl Window {
    const fn new(columns: usize, rows: usize) -> Self {
        Self { columns, rows, panel: Vec::new(), log: VecDeque::new(), drawn: 0 }
    }

    /// Takes over what `canvas` looks like, as far as the terminal goes; tells whether that is new.
    fn take(&mut self, canvas: &Canvas) -> bool {
        let lines = braille::lines(canvas).map(|line| cut(&line, self.columns));
        let panel: Vec<String> = lines.take(self.rows - 1).collect();
        let new = panel != self.panel;
        self.panel = panel;
        self.trim();
        new
    }

    fn add(&mut self, line: String) {
        self.log.push_back(cut(&line, self.columns));
        self.trim();
    }

    /// Keeps as many log lines as there are rows for beside the panel and the cursor's line. The
    /// smallest panel's rows are left free before it is first shown.
    fn trim(&mut self) {
        let room = (self.rows - 1).saturating_sub(self.panel.len().max(PANEL_ROWS.into()));
        self.log.drain(..self.log.len().saturating_sub(room));
    }

    /// What draws the block over the one before.
    fn redraw(&mut self) -> String {
        let update = self.rewind() + &self.block() + ERASE_BELOW;
        self.drawn = self.panel.len() + self.log.len();
        update
    }

    /// The block's lines. Each is erased first: after a line that fills the width the cursor is still in its
    /// last column.
    fn block(&self) -> String {
        self.panel.iter().chain(&self.log).flat_map(|line| [ERASE_LINE, line, "\n"]).collect()
    }

    /// What takes the block away; the log lines in it are forgotten.
    fn clear(&mut self) -> String {
        let update = self.rewind() + ERASE_BELOW;
        self.log.clear();
        self.drawn = 0;
        update
    }

    /// What brings the cursor to the start of the block.
    fn rewind(&self) -> String {
        let mut update = String::from("\r");
        if self.drawn > 0 {
            // A String takes any write.
            let _ = write!(update, "\x1b[{}A", self.drawn);
        }
        update
    }
}

/// The first `columns` characters.
fn cut(line: &str, columns: usize) -> String {
    line.chars().take(columns).collect()
}

/// The line with what would move the cursor or hide text made visible: `^[` for escape, `<202e>` for
/// a right-to-left override.
fn visible(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\0'..='\x1f' => text.extend(['^', char::from(u8::try_from(c).unwrap_or(0) + b'@')]),
            '\x7f' => text.push_str("^?"),
            c if c.is_control() || is_invisible(c) => {
                text.extend(['<'].into_iter().chain(hex(c)).chain(['>']))
            }
            c => text.push(c),
        }
    }
    text
}

/// Line and paragraph separators, and the marks that steer the direction of text or have no width
/// (Unicode, general categories Zl, Zp and the common ones of Cf).
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A character's code in hexadecimal digits.
fn hex(c: char) -> impl Iterator<Item = char> {
    c.escape_unicode().filter(char::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// Remembers each write.
    #[derive(Clone, Default)]
    struct Writes(Rc<RefCell<Vec<String>>>);

    impl Write for Writes {
        fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().push(String::from_utf8(octets.to_vec()).unwrap());
            Ok(octets.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The few things a terminal does with what the panel writes; anything else fails the test.
    struct Screen {
        rows: usize,
        columns: usize,
        lines: Vec<String>,
        row: usize,
        column: usize,
        scrolled: Vec<String>,
    }

    impl Screen {
        fn new(columns: usize, rows: usize) -> Self {
            Self { rows, columns, lines: vec![String::new(); rows], row: 0, column: 0, scrolled: Vec::new() }
        }

        fn feed(&mut self, text: &str) {
            let mut rest = text;
            while let Some(c) = rest.chars().next() {
                rest = rest.strip_prefix(c).unwrap();
                match c {
                    '\r' => self.column = 0,
                    '\n' => self.line_feed(),
                    '\x1b' => rest = self.escape(rest),
                    c => self.put(c),
                }
            }
        }

        fn line_feed(&mut self) {
            self.column = 0;
            self.row += 1;
            if self.row == self.rows {
                self.row -= 1;
                self.scrolled.push(self.lines.remove(0));
                self.lines.push(String::new());
            }
        }

        fn escape<'a>(&mut self, rest: &'a str) -> &'a str {
            let rest = rest.strip_prefix('[').expect("a control sequence");
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap();
            let (number, rest) = rest.split_at(end);
            match (number, rest.chars().next().unwrap()) {
                ("", 'K') => self.erase_line(),
                ("", 'J') => {
                    self.erase_line();
                    self.lines[self.row + 1..].iter_mut().for_each(String::clear);
                }
                (up, 'A') => {
                    self.row = self.row.checked_sub(up.parse().unwrap()).expect("a row that is there")
                }
                other => panic!("{other:?} is no plain sequence"),
            }
            &rest[1..]
        }

        fn erase_line(&mut self) {
            self.lines[self.row] = self.lines[self.row].chars().take(self.column).collect();
        }

        fn put(&mut self, c: char) {
            assert!(!c.is_control() && self.column < self.columns, "{c:?} in column {}", self.column);
            self.lines[self.row].push(c);
            self.column += 1;
        }
    }

    fn panel(columns: u16, rows: u16) -> (TerminalPanel<Writes>, Writes, Screen) {
        let writes = Writes::default();
        let screen = Screen::new(columns.into(), rows.into());
        (TerminalPanel::new(writes.clone(), columns, rows), writes, screen)
    }

    fn feed(screen: &mut Screen, writes: &Writes) {
        writes.0.borrow_mut().drain(..).for_each(|update| screen.feed(&update));
    }

    fn canvas_with(x: u16) -> Canvas {
        let mut canvas = Canvas::default();
        canvas.set(x, 0, true);
        canvas
    }

    #[test]
    fn panel_and_log_fit_80_by_24_and_stay_in_place() {
        let (mut panel, writes, mut screen) = panel(80, 24);
        for step in 0..20u16 {
            panel.show(&canvas_with(2 * step)).unwrap();
            panel.log(&format!("line {step}")).unwrap();
        }
        feed(&mut screen, &writes);
        assert!(screen.scrolled.is_empty());
        assert_eq!(screen.lines[..16], braille::lines(&canvas_with(38)).collect::<Vec<_>>());
        assert_eq!(screen.lines[16..23], (13..20).map(|step| format!("line {step}")).collect::<Vec<_>>());
        assert_eq!((screen.row, screen.column), (23, 0));
    }

    #[test]
    fn what_was_on_the_screen_before_scrolls_up_whole() {
        let (mut panel, writes, mut screen) = panel(80, 24);
        let before: Vec<String> = (0..23).map(|line| format!("before {line}")).collect();
        before.iter().for_each(|line| screen.feed(&format!("{line}\n")));
        panel.show(&canvas_with(0)).unwrap();
        for step in 0..9 {
            panel.log(&format!("line {step}")).unwrap();
        }
        feed(&mut screen, &writes);
        assert_eq!(screen.scrolled, before);
        assert_eq!(screen.lines[22], "line 8");
    }

    #[test]
    fn each_update_is_one_write_and_no_change_is_none() {
        let (mut panel, writes, _) = panel(80, 24);
        panel.show(&canvas_with(0)).unwrap();
        panel.show(&canvas_with(0)).unwrap();
        assert_eq!(writes.0.borrow().len(), 1);
        panel.log("line").unwrap();
        panel.show(&canvas_with(2)).unwrap();
        panel.finish(&["a".into(), "b".into()], &["b".into()]).unwrap();
        assert_eq!(writes.0.borrow().len(), 4);
    }

    #[test]
    fn at_the_end_the_panel_stands_under_the_record_and_the_closing_lines_under_it() {
        let (mut panel, writes, mut screen) = panel(80, 40);
        panel.show(&canvas_with(0)).unwrap();
        panel.log("a line of the run").unwrap();
        let record = ["verdict PASS".to_owned(), "x".repeat(70)];
        panel.finish(&record, &record[..1]).unwrap();
        feed(&mut screen, &writes);
        assert_eq!(screen.lines[..2], record);
        assert_eq!(screen.lines[2..18], braille::lines(&canvas_with(0)).collect::<Vec<_>>());
        assert_eq!(screen.lines[18], record[0]);
        assert_eq!((screen.lines[19].as_str(), screen.row), ("", 19));
    }

    #[test]
    fn what_comes_after_the_end_begins_under_the_closing_lines() {
        let (mut panel, writes, mut screen) = panel(80, 40);
        panel.log("a line of the run").unwrap();
        panel.finish(&[], &["no network ports".into()]).unwrap();
        panel.log("another run").unwrap();
        feed(&mut screen, &writes);
        assert_eq!(screen.lines[..3], ["no network ports", "another run", ""]);
    }

    #[test]
    fn log_lines_before_the_first_panel_move_under_it() {
        let (mut panel, writes, mut screen) = panel(64, 20);
        for step in 0..5 {
            panel.log(&format!("line {step}")).unwrap();
        }
        panel.show(&canvas_with(0)).unwrap();
        feed(&mut screen, &writes);
        assert!(screen.scrolled.is_empty());
        assert_eq!(screen.lines[16..], ["line 2", "line 3", "line 4", ""]);
    }

    #[test]
    fn a_terminal_too_small_gets_the_log_alone() {
        for (columns, rows) in [(63, 24), (80, 19), (0, 0)] {
            let (mut panel, writes, _) = panel(columns, rows);
            panel.show(&canvas_with(0)).unwrap();
            panel.log("a line longer than the terminal is wide, which the terminal itself wraps").unwrap();
            panel.finish(&["tail".into()], &["tail".into()]).unwrap();
            let text = writes.0.borrow().concat();
            assert_eq!(
                text,
                "a line longer than the terminal is wide, which the terminal itself wraps\ntail\n"
            );
            assert!(!panel.shows_panel());
        }
    }

    #[test]
    fn a_larger_canvas_is_cut_to_the_terminal() {
        let (mut panel, writes, mut screen) = panel(64, 20);
        panel.log("line").unwrap();
        panel.show(&Canvas::new(320, 240)).unwrap();
        panel.show(&canvas_with(0)).unwrap();
        feed(&mut screen, &writes);
        assert!(screen.scrolled.is_empty());
    }

    #[test]
    fn control_characters_are_seen_and_not_obeyed() {
        assert_eq!(visible("a\tb\x1b[2J\x7f\u{9b}1m\u{202e}é"), "a^Ib^[[2J^?<9b>1m<202e>é");
        assert_eq!(visible("\n\0"), "^J^@");
    }

    #[test]
    fn only_plain_sequences_are_used() {
        let (mut panel, writes, _) = panel(80, 24);
        panel.show(&canvas_with(0)).unwrap();
        panel.log("line").unwrap();
        panel.finish(&[], &[]).unwrap();
        let text = writes.0.borrow().concat();
        let finals =
            text.split("\x1b[").skip(1).map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
        assert!(finals.into_iter().all(|part| part.starts_with(['A', 'K', 'J'])));
    }

    proptest! {
        #[test]
        fn no_line_breaks_the_block(
            lines in prop::collection::vec("(?s).{0,100}", 0..40), rows in 20..40u16, columns in 64..100u16,
        ) {
            let (mut panel, writes, mut screen) = panel(columns, rows);
            for (line, x) in lines.iter().zip(0..) {
                panel.show(&canvas_with(x)).unwrap();
                panel.log(line).unwrap();
            }
            feed(&mut screen, &writes);
            prop_assert!(screen.scrolled.is_empty());
            prop_assert!(screen.row < usize::from(rows));
        }
    }
}
