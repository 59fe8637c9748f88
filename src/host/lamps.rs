//! Lamps and beeper on GPIO lines: their thread, which makes [`measure::lamp`]'s table of the pages that the display
//! shows.
//!
//! A chip that does not answer keeps this thread waiting and nobody else: pages come through a mailbox that
//! drops what finds no room, and the last one arrives at last.

use super::gpio::{Gpio, LOOK_AGAIN, Missed, Output};
use crate::board::{GpioWire, Wires};
use crate::clock::Clock;
use crate::journal::mailbox::Receiver;
use measure::lamp::{Doing, Lamps, Lit};
use measure::screen::Screen;
use measure::units::Instant;
use std::io;
use std::thread::JoinHandle;
use std::time::Duration;

/// How often pages are looked for: the shortest beep is five of these.
const LOOK: Duration = Duration::from_millis(20);

/// Picks one of the levels.
type Pick = fn(Lit) -> bool;

/// One lamp, whether its chip is there or not.
struct Lamp<O> {
    name: &'static str,
    pick: Pick,
    wire: GpioWire,
    open: Option<O>,
    /// The level that was last written or tried, and when.
    last: Option<(bool, Instant)>,
    missed: Missed,
}

impl<O: Output> Lamp<O> {
    /// Writes the level where it has changed, and every [`LOOK_AGAIN`]. Tells a line that is missed or found again.
    fn set(&mut self, gpio: &mut impl Gpio<Output = O>, now: Instant, lit: Lit) -> Option<String> {
        let active = (self.pick)(lit);
        let is_due = self.last.is_none_or(|(_, at)| now.since(at) >= LOOK_AGAIN);
        let is_new = self.last.is_none_or(|(last, _)| last != active);
        if !is_due && (!is_new || self.open.is_none()) {
            return None;
        }
        self.last = Some((active, now));
        match self.write(gpio, active) {
            Ok(()) => self.missed.clear().then(|| format!("{} on {} is there", self.name, self.wire)),
            Err(error) => {
                self.open = None;
                self.missed.tell(format!("{} on {}: {error}; looked for once a second", self.name, self.wire))
            }
        }
    }

    fn write(&mut self, gpio: &mut impl Gpio<Output = O>, active: bool) -> io::Result<()> {
        if let Some(open) = &mut self.open {
            return open.set(active);
        }
        self.open = Some(gpio.output(&self.wire, active)?);
        Ok(())
    }
}

/// All lamps of a box, and its beeper.
pub struct LampLines<G: Gpio> {
    gpio: G,
    lamps: Vec<Lamp<G::Output>>,
}

impl<G: Gpio> LampLines<G> {
    /// Those that the board has; none where it has none.
    #[must_use]
    pub fn new(gpio: G, wires: &Wires) -> Option<Self> {
        let all: [(&str, &Option<GpioWire>, Pick); 4] = [
            ("PASS lamp", &wires.pass, |lit| lit.pass),
            ("FAIL lamp", &wires.fail, |lit| lit.fail),
            ("busy lamp", &wires.busy, |lit| lit.busy),
            ("beeper", &wires.beeper, |lit| lit.beeper),
        ];
        let lamps = all.into_iter().filter_map(|(name, wire, pick)| {
            let (wire, missed) = (wire.clone()?, Missed::default());
            Some(Lamp { name, pick, wire, open: None, last: None, missed })
        });
        let lamps: Vec<_> = lamps.collect();
        (!lamps.is_empty()).then_some(Self { gpio, lamps })
    }

    /// Makes the lines what they are to be at `now`, and tells those that are missed or found again.
    pub fn set(&mut self, now: Instant, lit: Lit, mut note: impl FnMut(String)) {
        for lamp in &mut self.lamps {
            lamp.set(&mut self.gpio, now, lit).into_iter().for_each(&mut note);
        }
    }
}

/// Starts the thread that shows what the box is doing by its `pages` until no more come, and then darkness. From the
/// moment on when `is_broken` says so it shows a fault, whatever comes. Missed of a chip goes to `note`.
///
/// # Errors
/// The thread could not be started.
pub fn start<G>(
    mut lines: LampLines<G>,
    clock: impl Clock + Send + 'static,
    mut pages: Receiver<Screen>,
    is_broken: impl Fn() -> bool + Send + 'static,
    mut note: impl FnMut(String) + Send + 'static,
) -> io::Result<JoinHandle<()>>
where
    G: Gpio + Send + 'static,
    G::Output: Send,
{
    std::thread::Builder::new().name("lamps".to_owned()).spawn(move || {
        let mut lamps = Lamps::new(clock.now());
        while !pages.finished() {
            let now = clock.now();
            look(&mut lamps, now, &mut pages, is_broken());
            lines.set(now, lamps.lit(now), &mut note);
            clock.sleep_until(now + LOOK);
        }
        lines.set(clock.now(), Lit::default(), &mut note);
    })
}

/// Takes the pages that have come.
fn look(lamps: &mut Lamps, now: Instant, pages: &mut Receiver<Screen>, is_broken: bool) {
    let doing = std::iter::from_fn(|| pages.take()).filter_map(|page| Doing::of(&page)).last();
    let doing = if is_broken { Some(Doing::Fault) } else { doing };
    if let Some(doing) = doing {
        lamps.see(now, doing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Monotonic;
    use crate::host::gpio::fake::FakeChip;
    use crate::journal::mailbox::screen_mailbox;
    use measure::record::text;
    use measure::verdict::Verdict;
    use std::sync::mpsc;

    const PASS: u32 = 1;
    const BUSY: u32 = 3;

    fn wire(line: u32) -> Option<GpioWire> {
        Some(GpioWire { chip: "gpiochip0".to_owned(), line, active_low: false })
    }

    /// A PASS lamp and a busy lamp, and their chip.
    fn lines() -> (LampLines<FakeChip>, FakeChip) {
        let chip = FakeChip::default();
        let wires = Wires { pass: wire(PASS), busy: wire(BUSY), ..Wires::default() };
        (LampLines::new(chip.clone(), &wires).unwrap(), chip)
    }

    /// Sets the lines at a millisecond, and gives what was told.
    fn set(lines: &mut LampLines<FakeChip>, millis: u64, lit: Lit) -> Vec<String> {
        let mut notes = Vec::new();
        lines.set(Instant::from_millis(millis), lit, |note| notes.push(note));
        notes
    }

    fn busy() -> Lit {
        Lit { busy: true, ..Lit::default() }
    }

    fn verdict(verdict: Verdict) -> Screen {
        Screen::Verdict { verdict, reason: text("no error"), run: 1, unsaved: false }
    }

    #[test]
    fn a_board_without_lamps_has_no_lines() {
        let only_a_button = Wires { button: wire(1), ..Wires::default() };
        assert!(LampLines::new(FakeChip::default(), &only_a_button).is_none());
    }

    #[test]
    fn a_level_is_written_when_it_changes_and_again_every_second() {
        let (mut lines, chip) = lines();
        assert_eq!(set(&mut lines, 0, Lit::default()), [""; 0]);
        assert_eq!(chip.take_written(), [(PASS, false), (BUSY, false)], "dark at first");
        set(&mut lines, 20, busy());
        assert_eq!(chip.take_written(), [(BUSY, true)]);
        set(&mut lines, 40, busy());
        assert_eq!(chip.take_written(), []);
        set(&mut lines, 1000, busy());
        assert_eq!(chip.take_written(), [(PASS, false)]);
        set(&mut lines, 1020, busy());
        assert_eq!(chip.take_written(), [(BUSY, true)]);
    }

    #[test]
    fn each_lamp_that_is_missed_is_told_once_and_once_when_it_is_back() {
        let (mut lines, chip) = lines();
        chip.unplug();
        let missing = |name, line| {
            format!(
                "{name} on gpiochip0:{line}: No such file or directory (os error 2); looked for once a second"
            )
        };
        let notes = set(&mut lines, 0, busy());
        assert_eq!(notes, [missing("PASS lamp", PASS), missing("busy lamp", BUSY)]);
        let later: Vec<_> = (1..100).flat_map(|look| set(&mut lines, 100 * look, busy())).collect();
        assert_eq!(later, [""; 0]);
        chip.plug();
        let notes = set(&mut lines, 11_000, busy());
        assert_eq!(notes, ["PASS lamp on gpiochip0:1 is there", "busy lamp on gpiochip0:3 is there"]);
        assert_eq!((chip.level(PASS), chip.level(BUSY)), (Some(false), Some(true)));
    }

    #[test]
    fn a_chip_that_is_gone_is_asked_for_once_a_second_however_fast_lamps_blink() {
        let (mut lines, chip) = lines();
        chip.unplug();
        for look in 0..500 {
            set(&mut lines, 20 * look, if look % 2 == 0 { busy() } else { Lit::default() });
        }
        assert_eq!(chip.requests(), 2 * 10, "two lines, ten seconds");
    }

    #[test]
    fn a_chip_that_went_in_mid_run_has_the_lamps_as_they_should_be_when_it_is_back() {
        let (mut lines, chip) = lines();
        set(&mut lines, 0, busy());
        chip.unplug();
        let notes = set(&mut lines, 1000, busy());
        assert!(notes[0].starts_with("PASS lamp on gpiochip0:1: No such device"), "{notes:?}");
        chip.plug();
        set(&mut lines, 2000, Lit { pass: true, ..Lit::default() });
        assert_eq!((chip.level(PASS), chip.level(BUSY)), (Some(true), Some(false)));
    }

    #[test]
    fn the_thread_lights_what_the_pages_say_and_leaves_darkness() {
        let (lines, chip) = lines();
        let (mut screens, pages) = screen_mailbox();
        screens.post(&Screen::Checking { what: "loop" });
        screens.post(&verdict(Verdict::Pass));
        let (note, notes) = mpsc::channel();
        let line = move |line| note.send(line).unwrap();
        let thread = start(lines, Monotonic::start(), pages, || false, line).unwrap();
        while chip.level(PASS) != Some(true) {
            std::thread::yield_now();
        }
        screens.close();
        thread.join().unwrap();
        assert_eq!((chip.level(PASS), chip.level(BUSY)), (Some(false), Some(false)));
        assert_eq!(notes.try_recv().ok(), None);
    }

    #[test]
    fn a_box_that_is_broken_shows_no_pass_whatever_page_it_shows() {
        let (mut screens, mut pages) = screen_mailbox();
        let mut lamps = Lamps::new(Instant::ZERO);
        screens.post(&verdict(Verdict::Pass));
        look(&mut lamps, Instant::ZERO, &mut pages, false);
        assert!(lamps.lit(Instant::ZERO).pass);
        screens.post(&verdict(Verdict::Fail));
        screens.post(&verdict(Verdict::Pass));
        look(&mut lamps, Instant::ZERO, &mut pages, true);
        let lit = lamps.lit(Instant::ZERO);
        assert!(!lit.pass && !lit.fail && lit.busy);
    }

    #[test]
    fn a_page_that_comes_late_is_never_lit_for_longer_than_it_stands() {
        let (mut screens, mut pages) = screen_mailbox();
        let mut lamps = Lamps::new(Instant::ZERO);
        screens.post(&verdict(Verdict::Pass));
        screens.post(&Screen::PlugCable { last: None, hint: text("") });
        look(&mut lamps, Instant::ZERO, &mut pages, false);
        assert_eq!(lamps.lit(Instant::ZERO), Lit::default());
    }
}
