//! The button: a key of an input device or a GPIO line, and what its presses mean.
//!
//! | gesture | means |
//! |---|---|
//! | one press | [`Gesture::Press`] |
//! | two presses within [`TWICE`] of each other, or one held for [`HOLD`] | [`Gesture::NextDuration`] |
//! | one held for [`OFF`] | [`Gesture::PowerOff`], at once |
//!
//! A power button of ACPI reports press and release together, however long it is held: it has the second
//! press only.

mod evdev;
pub mod gpio;

pub use evdev::{Buttons, start};

use measure::units::Instant;
use std::time::Duration;

/// A contact may bounce for so long after it has changed.
pub const BOUNCE: Duration = Duration::from_millis(30);

/// How soon a second press has to follow.
pub const TWICE: Duration = Duration::from_millis(400);

/// How long a press is held for the next duration.
pub const HOLD: Duration = Duration::from_secs(2);

/// How long a press is held to switch off.
pub const OFF: Duration = Duration::from_secs(6);

/// What presses mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gesture {
    /// Start, stop, or run again.
    Press,
    /// The next duration.
    NextDuration,
    /// Switch the box off.
    PowerOff,
}

/// Makes gestures of a key that is up or down.
#[derive(Clone, Debug)]
pub struct ButtonWatch {
    pressed: bool,
    /// When that last changed.
    changed: Option<Instant>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing is going on.
    Idle,
    /// Pressed for the first time.
    Down { since: Instant },
    /// Released after a short press: another may follow.
    Between { since: Instant },
    /// The gesture was told; a release ends it.
    Told,
}

impl ButtonWatch {
    /// A watch of a key that is now up or down. A key that is down at first means nothing until it is
    /// released: it may be the press that switched the box on.
    #[must_use]
    pub const fn new(pressed: bool) -> Self {
        let state = if pressed { State::Told } else { State::Idle };
        Self { pressed, changed: None, state }
    }

    /// Takes the key's state at `now`, and tells the gesture that is complete with it.
    ///
    /// Has to be called at every change, and while [`ButtonWatch::is_busy`] every 20 ms or so without one.
    pub fn see(&mut self, now: Instant, pressed: bool) -> Option<Gesture> {
        let bouncing = self.changed.is_some_and(|changed| now.since(changed) < BOUNCE);
        if pressed != self.pressed && !bouncing {
            self.pressed = pressed;
            self.changed = Some(now);
        }
        let (state, gesture) = self.state.next(now, self.pressed);
        self.state = state;
        gesture
    }

    /// Whether something is going on that time alone can complete.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.pressed || self.state != State::Idle
    }

    /// Forgets what is going on: the device has gone, or has lost events.
    pub const fn forget(&mut self) {
        *self = Self::new(false);
    }
}

impl State {
    fn next(self, now: Instant, pressed: bool) -> (Self, Option<Gesture>) {
        match self {
            Self::Idle if pressed => (Self::Down { since: now }, None),
            Self::Told if !pressed => (Self::Idle, None),
            Self::Down { since } => after_press(since, now, pressed),
            Self::Between { since } if now.since(since) >= TWICE => {
                let next = if pressed { Self::Down { since: now } } else { Self::Idle };
                (next, Some(Gesture::Press))
            }
            Self::Between { .. } if pressed => (Self::Told, Some(Gesture::NextDuration)),
            Self::Idle | Self::Told | Self::Between { .. } => (self, None),
        }
    }
}

fn after_press(since: Instant, now: Instant, pressed: bool) -> (State, Option<Gesture>) {
    let held = now.since(since);
    let told = if pressed { State::Told } else { State::Idle };
    if held >= OFF {
        (told, Some(Gesture::PowerOff))
    } else if pressed {
        (State::Down { since }, None)
    } else if held >= HOLD {
        (told, Some(Gesture::NextDuration))
    } else {
        (State::Between { since: now }, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Gesture::{NextDuration, PowerOff, Press};
    use proptest::prelude::*;

    /// What comes of a key that changes at these milliseconds, first to down, looked at every 20 ms as well
    /// until `end`: each gesture and its time.
    fn gestures(changes: &[u64], end: u64) -> Vec<(u64, Gesture)> {
        let mut watch = ButtonWatch::new(false);
        let mut found = Vec::new();
        let mut pressed = false;
        for millis in 0..=end {
            let changed = changes.iter().filter(|&&change| change == millis).count();
            for _ in 0..changed {
                pressed = !pressed;
                found.extend(watch.see(Instant::from_millis(millis), pressed).map(|found| (millis, found)));
            }
            if changed == 0 && millis % 20 == 0 {
                found.extend(watch.see(Instant::from_millis(millis), pressed).map(|found| (millis, found)));
            }
        }
        found
    }

    #[test]
    fn a_press_is_told_when_no_second_can_follow() {
        assert_eq!(gestures(&[1000, 1100], 5000), [(1500, Press)]);
        assert_eq!(gestures(&[1000, 2980], 5000), [(3380, Press)]);
    }

    #[test]
    fn a_second_press_is_the_next_duration_at_once() {
        assert_eq!(gestures(&[1000, 1100, 1300, 1400], 5000), [(1300, NextDuration)]);
        assert_eq!(gestures(&[1000, 1100, 1510, 1600], 5000), [(1500, Press), (2000, Press)]);
    }

    #[test]
    fn a_press_held_for_two_seconds_is_the_next_duration_when_released() {
        assert_eq!(gestures(&[1000, 3000], 9000), [(3000, NextDuration)]);
        assert_eq!(gestures(&[1000, 6999], 9000), [(6999, NextDuration)]);
    }

    #[test]
    fn a_press_held_for_six_seconds_switches_off_while_it_is_held() {
        assert_eq!(gestures(&[1000], 20_000), [(7000, PowerOff)]);
        assert_eq!(gestures(&[1000, 8000, 9000, 9100], 20_000), [(7000, PowerOff), (9500, Press)]);
    }

    #[test]
    fn press_and_release_in_the_same_moment_are_a_press() {
        assert_eq!(gestures(&[1000, 1000], 5000), [(1440, Press)], "released is believed after the bounce");
        assert_eq!(gestures(&[1000, 1000, 1200, 1200], 5000), [(1200, NextDuration)]);
    }

    #[test]
    fn a_bouncing_contact_is_one_press() {
        let bounces = [1000, 1004, 1009, 1010, 1015, 1500, 1502, 1503, 1510, 1511];
        assert_eq!(gestures(&bounces, 5000), [(1900, Press)]);
    }

    #[test]
    fn a_long_press_that_nobody_looked_at_meanwhile_still_counts() {
        let mut watch = ButtonWatch::new(false);
        assert_eq!(watch.see(Instant::from_millis(0), true), None);
        assert_eq!(watch.see(Instant::from_millis(7000), false), Some(PowerOff));
        assert!(!watch.is_busy());
    }

    #[test]
    fn a_key_that_is_down_at_first_means_nothing_until_it_is_released() {
        let mut watch = ButtonWatch::new(true);
        let seen = (0..100).find_map(|tenths| watch.see(Instant::from_millis(tenths * 100), true));
        assert_eq!(seen, None);
        assert_eq!(watch.see(Instant::from_millis(10_000), false), None);
        assert!(!watch.is_busy());
    }

    #[test]
    fn what_is_forgotten_is_never_told() {
        let mut watch = ButtonWatch::new(false);
        watch.see(Instant::from_millis(0), true);
        assert!(watch.is_busy());
        watch.forget();
        assert_eq!(watch.see(Instant::from_millis(9000), false), None);
    }

    proptest! {
        #[test]
        fn no_press_under_six_seconds_switches_off(
            times in prop::collection::vec((0..5900_u64, 40..3000_u64), 1..12),
        ) {
            let mut at = 100;
            let mut changes = Vec::new();
            for (held, pause) in times {
                changes.extend([at, at + held]);
                at += held + pause;
            }
            prop_assert!(gestures(&changes, at + 1000).iter().all(|(_, gesture)| *gesture != PowerOff));
        }

        #[test]
        fn each_press_is_part_of_exactly_one_gesture(
            times in prop::collection::vec((40..9000_u64, 40..3000_u64), 1..12),
        ) {
            let (mut at, mut changes) = (100, Vec::new());
            for (held, pause) in &times {
                changes.extend([at, at + held]);
                at += held + pause;
            }
            let found = gestures(&changes, at + 1000);
            prop_assert!(found.len() <= times.len());
            prop_assert!(2 * found.len() >= times.len(), "at most two presses a gesture");
        }

        #[test]
        fn whatever_is_seen_it_ends_idle(seen in prop::collection::vec((any::<u64>(), any::<bool>()), 0..40)) {
            let mut watch = ButtonWatch::new(false);
            for (nanos, pressed) in seen {
                watch.see(Instant::from_nanos(nanos), pressed);
            }
            watch.forget();
            prop_assert!(!watch.is_busy());
        }
    }
}
