//! What the box does next: its state and what just happened, as one table.
//!
//! | | press | hold, or press twice | links up | run over | both down for 2 s |
//! |---|---|---|---|---|---|
//! | waiting | run, 25 s for a link | next duration | run | – | – |
//! | running | stop | – | – | show the verdict | waiting: the cable was taken out before anything was sent |
//! | verdict | run again | next duration | – | – | waiting |
//!
//! Power-off works in every state. A verdict is not followed by a run by itself: the cable has to be unplugged
//! first, both ends of it, so that a flapping one cannot talk itself into a PASS.

use crate::link::Rearm;
use crate::units::Instant;

/// What the box is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Waiting for a cable or for the button.
    Waiting,
    /// A cable is being judged.
    Running,
    /// A verdict stands, and its cable may still be plugged in.
    Verdict,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The button was pressed.
    Press,
    /// The button was held for 2 s, or pressed twice.
    Next,
    /// Power-off was asked for.
    PowerOff,
    /// Both ports have link.
    LinksUp,
    /// The run has ended.
    RunOver,
    /// Both ports have been down for 2 s; in a run only while nothing has been sent.
    Unplugged,
}

/// What to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// Nothing.
    Nothing,
    /// Begin a run and give up on a link after 25 s: somebody asked for a verdict.
    RunNow,
    /// Begin a run: a cable was plugged in.
    RunByItself,
    /// Stop the run: "stopped early".
    Stop,
    /// Go on to the next duration: quick, standard, proof.
    NextDuration,
    /// Show the verdict.
    ShowVerdict,
    /// Wait for the next cable; the last verdict stays readable.
    Wait,
    /// Switch off.
    PowerOff,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Waiting, Self::Running, Self::Verdict];

    /// The table: what follows from `input`, and what to do.
    #[must_use]
    pub const fn on(self, input: Input) -> (Self, Act) {
        match (self, input) {
            (_, Input::PowerOff) => (self, Act::PowerOff),
            (Self::Waiting | Self::Verdict, Input::Press) => (Self::Running, Act::RunNow),
            (Self::Waiting | Self::Verdict, Input::Next) => (self, Act::NextDuration),
            (Self::Waiting, Input::LinksUp) => (Self::Running, Act::RunByItself),
            (Self::Running, Input::Press) => (Self::Running, Act::Stop),
            (Self::Running, Input::RunOver) => (Self::Verdict, Act::ShowVerdict),
            (Self::Running | Self::Verdict, Input::Unplugged) => (Self::Waiting, Act::Wait),
            (Self::Waiting, Input::RunOver | Input::Unplugged)
            | (Self::Running, Input::Next | Input::LinksUp)
            | (Self::Verdict, Input::LinksUp | Input::RunOver) => (self, Act::Nothing),
        }
    }
}

impl Input {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Press, Self::Next, Self::PowerOff, Self::LinksUp, Self::RunOver, Self::Unplugged];
}

/// Makes inputs of the links while no run goes on.
#[derive(Clone, Debug, Default)]
pub struct Plug {
    rearm: Option<Rearm>,
}

impl Plug {
    /// What the carriers of both ports say at `now` to a box in `state`.
    pub fn see(&mut self, now: Instant, state: State, up: [bool; 2]) -> Option<Input> {
        let [a, b] = up;
        match state {
            State::Waiting => (a && b).then_some(Input::LinksUp),
            State::Running => None,
            State::Verdict => {
                let rearmed = self.rearm.get_or_insert_with(Rearm::new).see(now, !a && !b);
                rearmed.then(|| {
                    self.rearm = None;
                    Input::Unplugged
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_table_of_the_design() {
        use Act::*;
        use State::*;
        let rows = [
            (Waiting, [RunNow, NextDuration, PowerOff, RunByItself, Nothing, Nothing]),
            (Running, [Stop, Nothing, PowerOff, Nothing, ShowVerdict, Wait]),
            (Verdict, [RunNow, NextDuration, PowerOff, Nothing, Nothing, Wait]),
        ];
        for (state, acts) in rows {
            assert_eq!(Input::ALL.map(|input| state.on(input).1), acts, "{state:?}");
        }
    }

    #[test]
    fn only_a_run_that_is_over_gives_a_verdict() {
        for state in State::ALL {
            for input in Input::ALL {
                let (next, act) = state.on(input);
                let becomes = state != State::Verdict && next == State::Verdict;
                assert_eq!(becomes, act == Act::ShowVerdict, "{state:?} {input:?}");
            }
        }
    }

    #[test]
    fn a_flapping_cable_does_not_start_a_run_by_itself() {
        let mut plug = Plug::default();
        // Down for 1.9 s, up for 0.1 s, again and again: never unplugged.
        for millis in (0..20_000).step_by(100) {
            let up = millis % 2000 >= 1900;
            let seen = plug.see(Instant::from_millis(millis), State::Verdict, [up, up]);
            assert_eq!(seen, None, "{millis} ms");
        }
    }

    #[test]
    fn a_cable_that_was_out_for_two_seconds_is_a_new_cable() {
        let mut plug = Plug::default();
        let at = |plug: &mut Plug, millis| plug.see(Instant::from_millis(millis), State::Verdict, [false; 2]);
        assert_eq!(at(&mut plug, 0), None);
        assert_eq!(at(&mut plug, 1_900), None);
        assert_eq!(at(&mut plug, 2_000), Some(Input::Unplugged));
        assert_eq!(plug.see(Instant::from_millis(2_100), State::Waiting, [true, false]), None);
        assert_eq!(plug.see(Instant::from_millis(2_200), State::Waiting, [true; 2]), Some(Input::LinksUp));
    }
}
