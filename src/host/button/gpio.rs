//! A button on a GPIO line.
//!
//! Edges wake its thread where the chip has interrupts; where it has none, or refuses edges for whatever reason, the
//! level is read every [`POLL`]. Either way the level has the last word: edges that were lost cost nothing but
//! a press that began and ended unseen.

use super::{ButtonWatch, Gesture};
use crate::board::GpioWire;
use crate::clock::Clock;
use crate::host::gpio::{Gpio, Input, LOOK_AGAIN, Missed};
use measure::units::Instant;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often a level is read where there are no edges.
pub const POLL: Duration = Duration::from_millis(10);

/// How often the level is looked at while a gesture is going on.
const BUSY_LOOK: Duration = Duration::from_millis(20);

/// How often a stop is noticed.
const IDLE_LOOK: Duration = Duration::from_secs(1);

/// A level that is believed once it was read twice in a row: what the kernel's debounce is to edges.
#[derive(Clone, Copy, Debug)]
struct Steady {
    believed: bool,
    last: bool,
}

impl Steady {
    fn see(&mut self, level: bool) -> bool {
        if level == self.last {
            self.believed = level;
        }
        self.last = level;
        self.believed
    }
}

/// The line while it is ours.
struct Open<I> {
    input: I,
    /// There where the level is polled.
    polled: Option<Steady>,
}

impl<I: Input> Open<I> {
    /// The line, and whether it is active.
    fn of<G: Gpio<Input = I>>(gpio: &mut G, wire: &GpioWire) -> io::Result<(Self, bool)> {
        let edges = gpio.edges(wire);
        let has_edges = edges.is_ok();
        let input = edges.or_else(|_| gpio.levels(wire))?;
        let level = input.is_active()?;
        let polled = (!has_edges).then_some(Steady { believed: level, last: level });
        Ok((Self { input, polled }, level))
    }

    /// The levels that the line has had since the last call, the present one last.
    fn levels(&mut self) -> io::Result<Vec<bool>> {
        let mut levels = self.input.edges()?;
        let level = self.input.is_active()?;
        levels.push(self.polled.as_mut().map_or(level, |steady| steady.see(level)));
        Ok(levels)
    }
}

/// The button, whether its chip is there or not.
pub struct GpioButton<G: Gpio> {
    gpio: G,
    wire: GpioWire,
    open: Option<Open<G::Input>>,
    watch: ButtonWatch,
    missed: Missed,
    told_polling: bool,
}

impl<G: Gpio> GpioButton<G> {
    /// The button on this line. Its chip need not be there yet: it is looked for until it is.
    #[must_use]
    pub fn new(gpio: G, wire: GpioWire) -> Self {
        let (watch, missed) = (ButtonWatch::new(false), Missed::default());
        Self { gpio, wire, open: None, watch, missed, told_polling: false }
    }

    /// Looks for the line where it is not there, and tells what has changed.
    pub fn look_for_line(&mut self) -> Option<String> {
        if self.open.is_some() {
            return None;
        }
        match Open::of(&mut self.gpio, &self.wire) {
            Ok((open, level)) => {
                self.watch = ButtonWatch::new(level);
                let is_polled = open.polled.is_some();
                self.open = Some(open);
                self.found(is_polled)
            }
            Err(error) => {
                self.missed.tell(format!("button on {}: {error}; looked for once a second", self.wire))
            }
        }
    }

    /// Tells that the line is there, if it was missed; and once that it is polled.
    fn found(&mut self, is_polled: bool) -> Option<String> {
        let was_missed = self.missed.clear();
        let news = is_polled && !std::mem::replace(&mut self.told_polling, is_polled);
        let how = if is_polled { "its level is read every 10 ms" } else { "its edges are told" };
        (was_missed || news).then(|| format!("button on {} is there: {how}", self.wire))
    }

    /// Waits until the line changes, or it is time to look again.
    pub fn wait(&self) {
        match &self.open {
            None => std::thread::sleep(LOOK_AGAIN),
            Some(Open { input, polled: Some(_) }) => input.wait(POLL),
            Some(Open { input, polled: None }) => {
                input.wait(if self.watch.is_busy() { BUSY_LOOK } else { IDLE_LOOK });
            }
        }
    }

    /// Takes what has come and tells the gestures complete at `now`. Never waits.
    pub fn see(&mut self, now: Instant) -> Vec<Gesture> {
        let Some(open) = &mut self.open else { return Vec::new() };
        let Ok(levels) = open.levels() else {
            self.open = None;
            self.watch.forget();
            return Vec::new();
        };
        levels.into_iter().filter_map(|pressed| self.watch.see(now, pressed)).collect()
    }
}

/// Starts the thread that hands gestures to `tell` and news of the chip to `note` until `stop` is set.
///
/// # Errors
/// The thread could not be started.
pub fn start<G>(
    mut button: GpioButton<G>,
    clock: impl Clock + Send + 'static,
    stop: Arc<AtomicBool>,
    mut tell: impl FnMut(Gesture) + Send + 'static,
    mut note: impl FnMut(String) + Send + 'static,
) -> io::Result<JoinHandle<()>>
where
    G: Gpio + Send + 'static,
    G::Input: Send,
{
    std::thread::Builder::new().name("gpio button".to_owned()).spawn(move || {
        while !stop.load(Ordering::Acquire) {
            button.look_for_line().into_iter().for_each(&mut note);
            button.wait();
            button.see(clock.now()).into_iter().for_each(&mut tell);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Monotonic;
    use crate::host::gpio::fake::FakeChip;
    use std::sync::mpsc;

    const LINE: u32 = 17;

    fn wire() -> GpioWire {
        GpioWire { chip: "gpiochip0".to_owned(), line: LINE, active_low: false }
    }

    /// A button on a chip that tells edges, and its chip.
    fn button() -> (GpioButton<FakeChip>, FakeChip) {
        let chip = FakeChip::default();
        let mut button = GpioButton::new(chip.clone(), wire());
        assert_eq!(button.look_for_line(), None);
        (button, chip)
    }

    /// A button on a chip without interrupts, and its chip.
    fn polled() -> (GpioButton<FakeChip>, FakeChip) {
        let chip = FakeChip::default();
        chip.refuse_edges(libc::ENXIO);
        let mut button = GpioButton::new(chip.clone(), wire());
        assert!(button.look_for_line().is_some());
        (button, chip)
    }

    /// The gestures of looks every 10 ms in a span of milliseconds.
    fn looks(button: &mut GpioButton<FakeChip>, millis: std::ops::Range<u64>) -> Vec<Gesture> {
        millis.step_by(10).flat_map(|millis| button.see(Instant::from_millis(millis))).collect()
    }

    #[test]
    fn a_press_is_told_with_edges_and_without() {
        for (mut button, chip) in [button(), polled()] {
            chip.bounce(LINE, &[true]);
            assert_eq!(looks(&mut button, 0..100), []);
            chip.bounce(LINE, &[false]);
            assert_eq!(looks(&mut button, 100..1000), [Gesture::Press]);
        }
    }

    #[test]
    fn a_hold_of_six_seconds_switches_off_with_edges_and_without() {
        for (mut button, chip) in [button(), polled()] {
            chip.bounce(LINE, &[true]);
            assert_eq!(looks(&mut button, 0..6000), []);
            assert_eq!(looks(&mut button, 6000..9000), [Gesture::PowerOff]);
        }
    }

    #[test]
    fn each_way_of_refusing_edges_is_answered_by_polling_and_said_once() {
        for errno in [libc::ENXIO, libc::EINVAL, libc::EOPNOTSUPP] {
            let chip = FakeChip::default();
            chip.refuse_edges(errno);
            let mut button = GpioButton::new(chip.clone(), wire());
            let note = button.look_for_line();
            let expected = "button on gpiochip0:17 is there: its level is read every 10 ms";
            assert_eq!(note.as_deref(), Some(expected), "{errno}");
            assert_eq!(button.look_for_line(), None);
        }
    }

    #[test]
    fn a_bouncing_contact_is_one_press_with_edges_and_without() {
        for (mut button, chip) in [button(), polled()] {
            chip.bounce(LINE, &[true, false, true, false, true]);
            assert_eq!(looks(&mut button, 0..100), []);
            chip.bounce(LINE, &[false, true, false]);
            assert_eq!(looks(&mut button, 100..2000), [Gesture::Press]);
        }
    }

    #[test]
    fn a_press_between_two_looks_is_told_by_its_edges() {
        let (mut button, chip) = button();
        chip.bounce(LINE, &[true, false]);
        assert_eq!(looks(&mut button, 0..2000), [Gesture::Press]);
    }

    #[test]
    fn edges_that_were_lost_leave_nothing_pressed() {
        let (mut button, chip) = button();
        chip.bounce(LINE, &[true]);
        assert_eq!(looks(&mut button, 0..20), []);
        // The kernel's buffer was full: the release is no event, but the level shows it.
        chip.bounce(LINE, &[true, true, false]);
        assert_eq!(looks(&mut button, 40..2000), [Gesture::Press]);
        assert!(!button.watch.is_busy());
    }

    #[test]
    fn a_disturbance_of_one_look_is_no_press() {
        let (mut button, chip) = polled();
        for start in [0, 100, 200] {
            chip.bounce(LINE, &[true]);
            assert_eq!(looks(&mut button, start..start + 10), []);
            chip.bounce(LINE, &[false]);
            assert_eq!(looks(&mut button, start + 10..start + 100), []);
        }
        assert_eq!(looks(&mut button, 300..2000), []);
    }

    #[test]
    fn a_contact_that_is_closed_at_first_means_nothing_until_it_opens() {
        let chip = FakeChip::default();
        chip.bounce(LINE, &[true]);
        let mut button = GpioButton::new(chip.clone(), wire());
        button.look_for_line();
        assert_eq!(looks(&mut button, 0..9000), []);
        chip.bounce(LINE, &[false]);
        assert_eq!(looks(&mut button, 9000..10_000), []);
    }

    #[test]
    fn a_chip_that_goes_and_comes_back_is_told_once_each_and_takes_no_press_with_it() {
        let (mut button, chip) = button();
        chip.bounce(LINE, &[true]);
        assert_eq!(looks(&mut button, 0..100), []);
        chip.unplug();
        assert_eq!(looks(&mut button, 100..8000), []);
        let missed =
            "button on gpiochip0:17: No such file or directory (os error 2); looked for once a second";
        assert_eq!(button.look_for_line().as_deref(), Some(missed));
        assert!((0..100).all(|_| button.look_for_line().is_none()));
        chip.plug();
        let found = "button on gpiochip0:17 is there: its edges are told";
        assert_eq!(button.look_for_line().as_deref(), Some(found));
        chip.bounce(LINE, &[true]);
        assert_eq!(looks(&mut button, 20_000..20_100), []);
        chip.bounce(LINE, &[false]);
        assert_eq!(looks(&mut button, 20_100..21_000), [Gesture::Press]);
    }

    #[test]
    fn a_chip_that_is_there_again_at_once_is_opened_anew() {
        let (mut button, chip) = button();
        chip.unplug();
        chip.plug();
        assert_eq!(looks(&mut button, 0..10), [], "the old line is dead");
        assert_eq!(button.look_for_line(), None, "nobody has missed it");
        chip.bounce(LINE, &[true, false]);
        assert_eq!(looks(&mut button, 100..2000), [Gesture::Press]);
    }

    #[test]
    fn the_thread_tells_presses_and_notes_until_it_is_stopped() {
        let (button, chip) = button();
        let (tell, told) = mpsc::channel();
        let (note, notes) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let gesture = move |gesture| tell.send(gesture).unwrap();
        let line = move |line| note.send(line).unwrap();
        let thread = start(button, Monotonic::start(), Arc::clone(&stop), gesture, line).unwrap();
        chip.bounce(LINE, &[true, false]);
        assert_eq!(told.recv(), Ok(Gesture::Press));
        chip.unplug();
        assert!(notes.recv().unwrap().contains("looked for once a second"));
        stop.store(true, Ordering::Release);
        thread.join().unwrap();
    }
}
