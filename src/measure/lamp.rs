//! Lamps and beeper: what they show of what the box is doing, as one table.
//!
//! | doing | PASS lamp | FAIL lamp | busy lamp | beeper, once |
//! |---|---|---|---|---|
//! | waiting for a cable | off | off | off | – |
//! | checking, or frames flow | off | off | on | – |
//! | frames flow, and the cable has failed | off | on | on | – |
//! | PASS | on | off | off | one short |
//! | MARGINAL | off | blinks slowly | off | two short |
//! | FAIL | off | on | off | three short |
//! | INVALID | off | off | blinks slowly | two long |
//! | the box cannot work | off | off | blinks fast | three long |
//!
//! The PASS lamp is lit for a PASS and for nothing else, and goes out with its cable: a lamp has no run number
//! beside it, so one that stayed lit would speak for the next cable. INVALID judges no cable, so it lights
//! neither of the two lamps that do.

use crate::screen::Screen;
use crate::units::Instant;
use crate::verdict::Verdict;
use core::time::Duration;

/// How long a lamp that blinks slowly is lit, and then dark.
pub const SLOW: Duration = Duration::from_secs(1);

/// How long a lamp that blinks fast is lit, and then dark.
pub const FAST: Duration = Duration::from_millis(200);

/// A short beep.
pub const SHORT: Duration = Duration::from_millis(100);

/// A long beep.
pub const LONG: Duration = Duration::from_millis(600);

/// Silence between two beeps.
pub const PAUSE: Duration = Duration::from_millis(150);

/// What the box is doing, as far as lamps can tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doing {
    /// Waiting for a cable.
    Waiting,
    /// Something is checked, or frames flow.
    Busy,
    /// Frames flow, and the cable has failed already.
    Failed,
    /// A verdict stands.
    Judged {
        /// The verdict.
        verdict: Verdict,
        /// Run number: each run's verdict is heard once.
        run: u32,
    },
    /// The box itself cannot work.
    Fault,
}

impl Doing {
    /// What the box is doing while it shows this page; none for a page that may stand beside a verdict's.
    #[must_use]
    pub const fn of(screen: &Screen) -> Option<Self> {
        match screen {
            Screen::PlugCable { .. } => Some(Self::Waiting),
            Screen::Checking { .. } | Screen::Running { failed: false, .. } => Some(Self::Busy),
            Screen::Running { failed: true, .. } => Some(Self::Failed),
            Screen::Verdict { verdict, run, .. } => Some(Self::Judged { verdict: *verdict, run: *run }),
            Screen::Fault { .. } => Some(Self::Fault),
            Screen::Figures { .. } | Screen::Qr { .. } => None,
        }
    }

    /// The table's row.
    #[must_use]
    pub const fn row(self) -> Row {
        use Light::{Fast, Off, On, Slow};
        match self {
            Self::Waiting => Row::new(Off, Off, Off, Beeps::NONE),
            Self::Busy => Row::new(Off, Off, On, Beeps::NONE),
            Self::Failed => Row::new(Off, On, On, Beeps::NONE),
            Self::Judged { verdict: Verdict::Pass, .. } => Row::new(On, Off, Off, Beeps::new(1, SHORT)),
            Self::Judged { verdict: Verdict::Marginal, .. } => Row::new(Off, Slow, Off, Beeps::new(2, SHORT)),
            Self::Judged { verdict: Verdict::Fail, .. } => Row::new(Off, On, Off, Beeps::new(3, SHORT)),
            Self::Judged { verdict: Verdict::Invalid, .. } => Row::new(Off, Off, Slow, Beeps::new(2, LONG)),
            Self::Fault => Row::new(Off, Off, Fast, Beeps::new(3, LONG)),
        }
    }
}

/// What a lamp does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Light {
    /// Dark.
    #[default]
    Off,
    /// Lit.
    On,
    /// Lit for [`SLOW`], dark for as long, and so on.
    Slow,
    /// Lit for [`FAST`], dark for as long, and so on.
    Fast,
}

impl Light {
    /// Whether it is lit so long after it began.
    const fn is_lit(self, after: Duration) -> bool {
        match self {
            Self::Off => false,
            Self::On => true,
            Self::Slow => is_first_half(after, SLOW),
            Self::Fast => is_first_half(after, FAST),
        }
    }
}

const fn is_first_half(after: Duration, half: Duration) -> bool {
    (after.as_millis() / half.as_millis()).is_multiple_of(2)
}

/// A number of beeps of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Beeps {
    /// How many.
    pub count: u8,
    /// How long each is.
    pub length: Duration,
}

impl Beeps {
    /// Silence.
    pub const NONE: Self = Self::new(0, SHORT);

    const fn new(count: u8, length: Duration) -> Self {
        Self { count, length }
    }

    /// Whether one sounds so long after the first began.
    fn is_heard(self, after: Duration) -> bool {
        let (after, one) = (after.as_millis(), (self.length + PAUSE).as_millis());
        after / one < u128::from(self.count) && after % one < self.length.as_millis()
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// The PASS lamp.
    pub pass: Light,
    /// The FAIL lamp.
    pub fail: Light,
    /// The busy lamp.
    pub busy: Light,
    /// The beeper, once for each run.
    pub beeps: Beeps,
}

impl Row {
    const fn new(pass: Light, fail: Light, busy: Light, beeps: Beeps) -> Self {
        Self { pass, fail, busy, beeps }
    }
}

/// Which lines are active at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lit {
    /// The PASS lamp.
    pub pass: bool,
    /// The FAIL lamp.
    pub fail: bool,
    /// The busy lamp.
    pub busy: bool,
    /// The beeper.
    pub beeper: bool,
}

/// Makes levels of rows: blinks, and beeps once for each verdict.
#[derive(Clone, Copy, Debug)]
pub struct Lamps {
    doing: Doing,
    since: Instant,
    /// What was last beeped for.
    heard: Option<Doing>,
    /// What it is doing now began its beeps when it began; otherwise they have been heard.
    beeping: bool,
}

impl Lamps {
    /// Of a box that does nothing yet.
    #[must_use]
    pub const fn new(now: Instant) -> Self {
        Self { doing: Doing::Waiting, since: now, heard: None, beeping: false }
    }

    /// Takes what the box is doing from `now` on. Beeps that are not over end with what they were for.
    pub fn see(&mut self, now: Instant, doing: Doing) {
        if doing == self.doing {
            return;
        }
        (self.doing, self.since) = (doing, now);
        self.beeping = doing.row().beeps != Beeps::NONE && self.heard != Some(doing);
        if self.beeping {
            self.heard = Some(doing);
        }
    }

    /// Which lines are active at `now`.
    #[must_use]
    pub fn lit(&self, now: Instant) -> Lit {
        let (row, after) = (self.doing.row(), now.since(self.since));
        Lit {
            pass: row.pass.is_lit(after),
            fail: row.fail.is_lit(after),
            busy: row.busy.is_lit(after),
            beeper: self.beeping && row.beeps.is_heard(after),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Classes, text};
    use proptest::prelude::*;
    use std::vec::Vec;

    const VERDICTS: [Verdict; 4] = [Verdict::Pass, Verdict::Fail, Verdict::Marginal, Verdict::Invalid];

    fn judged(verdict: Verdict, run: u32) -> Doing {
        Doing::Judged { verdict, run }
    }

    fn everything() -> Vec<Doing> {
        let verdicts = VERDICTS.map(|verdict| judged(verdict, 7));
        [Doing::Waiting, Doing::Busy, Doing::Failed, Doing::Fault].into_iter().chain(verdicts).collect()
    }

    /// Beginnings and ends of beeps, in milliseconds.
    fn heard(lamps: &Lamps, until: u64) -> Vec<u64> {
        let sounds = |millis| lamps.lit(Instant::from_millis(millis)).beeper;
        (0..until).filter(|&millis| sounds(millis) != (millis > 0 && sounds(millis - 1))).collect()
    }

    fn running(failed: bool) -> Screen {
        let (errors, left) = (Classes::default(), None);
        Screen::Running { rates: [None; 2], progress: 500, errors, left, failed, settling: false }
    }

    #[test]
    fn the_pass_lamp_is_lit_for_a_pass_and_nothing_else() {
        for doing in everything() {
            let is_pass = doing == judged(Verdict::Pass, 7);
            assert_eq!(doing.row().pass, if is_pass { Light::On } else { Light::Off }, "{doing:?}");
        }
    }

    #[test]
    fn invalid_lights_neither_of_the_lamps_that_judge_a_cable() {
        let row = judged(Verdict::Invalid, 1).row();
        assert_eq!((row.pass, row.fail, row.busy), (Light::Off, Light::Off, Light::Slow));
    }

    #[test]
    fn no_two_rows_are_the_same() {
        let rows: Vec<_> = everything().into_iter().map(Doing::row).collect();
        for (at, row) in rows.iter().enumerate() {
            assert!(!rows.iter().take(at).any(|other| other == row), "{row:?}");
        }
    }

    #[test]
    fn each_page_says_what_the_box_is_doing() {
        let (reason, hint) = (text("no link"), text(""));
        let fail = Screen::Verdict { verdict: Verdict::Fail, reason, run: 3, unsaved: false };
        let last = Some((Verdict::Pass, 2));
        for (screen, doing) in [
            (Screen::PlugCable { last, hint }, Doing::Waiting),
            (Screen::Checking { what: "loop" }, Doing::Busy),
            (running(false), Doing::Busy),
            (running(true), Doing::Failed),
            (fail, judged(Verdict::Fail, 3)),
            (Screen::Fault { text: text("x") }, Doing::Fault),
        ] {
            assert_eq!(Doing::of(&screen), Some(doing));
        }
    }

    #[test]
    fn the_figures_change_nothing_that_the_verdict_has_lit() {
        let errors = Classes::default();
        let verdict = Verdict::Pass;
        let page = Screen::Figures { verdict, run: 1, rates: [None; 2], errors, bounds: [None; 2] };
        assert_eq!(Doing::of(&page), None);
    }

    #[test]
    fn the_fail_lamp_is_lit_while_frames_still_flow() {
        let mut lamps = Lamps::new(Instant::ZERO);
        lamps.see(Instant::ZERO, Doing::Busy);
        assert!(!lamps.lit(Instant::ZERO).fail);
        lamps.see(Instant::from_millis(40), Doing::Failed);
        let lit = lamps.lit(Instant::from_millis(40));
        assert!(lit.fail && lit.busy && !lit.pass && !lit.beeper);
    }

    #[test]
    fn what_blinks_begins_lit() {
        let mut lamps = Lamps::new(Instant::ZERO);
        lamps.see(Instant::from_millis(300), judged(Verdict::Invalid, 1));
        let lit = [300, 1299, 1300, 2299, 2300].map(|millis| lamps.lit(Instant::from_millis(millis)).busy);
        assert_eq!(lit, [true, true, false, false, true]);
    }

    #[test]
    fn verdicts_sound_different() {
        let beeps = |doing| {
            let mut lamps = Lamps::new(Instant::ZERO);
            lamps.see(Instant::ZERO, doing);
            heard(&lamps, 5000)
        };
        assert_eq!(beeps(judged(Verdict::Pass, 1)), [0, 100]);
        assert_eq!(beeps(judged(Verdict::Marginal, 1)), [0, 100, 250, 350]);
        assert_eq!(beeps(judged(Verdict::Fail, 1)), [0, 100, 250, 350, 500, 600]);
        assert_eq!(beeps(judged(Verdict::Invalid, 1)), [0, 600, 750, 1350]);
        assert_eq!(beeps(Doing::Fault), [0, 600, 750, 1350, 1500, 2100]);
        assert_eq!(beeps(Doing::Failed), [0; 0]);
    }

    #[test]
    fn a_verdict_that_is_shown_again_is_heard_once_and_the_next_runs_anew() {
        let mut lamps = Lamps::new(Instant::ZERO);
        lamps.see(Instant::ZERO, judged(Verdict::Pass, 1));
        lamps.see(Instant::ZERO, Doing::Waiting);
        lamps.see(Instant::ZERO, judged(Verdict::Pass, 1));
        assert!(lamps.lit(Instant::ZERO).pass);
        assert_eq!(heard(&lamps, 5000), [0; 0]);
        lamps.see(Instant::ZERO, judged(Verdict::Pass, 2));
        assert_eq!(heard(&lamps, 5000), [0, 100]);
    }

    proptest! {
        #[test]
        fn the_pass_lamp_is_lit_only_while_a_pass_stands(
            steps in prop::collection::vec((0..5000_u64, 0..8_usize, 1..4_u32), 1..40),
        ) {
            let (mut lamps, mut now) = (Lamps::new(Instant::ZERO), Instant::ZERO);
            for (pause, which, run) in steps {
                let doing = match everything()[which] {
                    Doing::Judged { verdict, .. } => judged(verdict, run),
                    doing => doing,
                };
                lamps.see(now, doing);
                now = now + Duration::from_millis(pause);
                let lit = lamps.lit(now);
                prop_assert_eq!(lit.pass, matches!(doing, Doing::Judged { verdict: Verdict::Pass, .. }));
                prop_assert!(!(lit.pass && lit.fail));
            }
        }
    }
}
