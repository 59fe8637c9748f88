//! Sparing a display that shows the same for long: it is dimmed, and the picture moves by a pixel.
//!
//! An OLED's pixels wear by being lit. A verdict stays until somebody comes, which may be on Monday.

use core::time::Duration;
use measure::screen::Screen;

/// Time from one move to the next.
const STEP: Duration = Duration::from_secs(60);

/// The places that the picture goes round, in pixels to the right and down.
const ROUND: [(u16, u16); 4] = [(0, 0), (1, 0), (1, 1), (0, 1)];

/// How a display is spared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// As dark as can still be read.
    pub dim: bool,
    /// Pixels to the right and down by which the picture is moved.
    pub shift: (u16, u16),
}

/// How a display is spared that nothing has happened on for `idle`; none of it before `dim_after`, nor where there
/// is none.
#[must_use]
pub fn after(idle: Duration, dim_after: Option<Duration>) -> Rest {
    let Some(resting) = dim_after.and_then(|after| idle.checked_sub(after)) else { return Rest::default() };
    let steps = usize::try_from(resting.as_secs() / STEP.as_secs()).unwrap_or(0);
    Rest { dim: true, shift: ROUND.get(steps % ROUND.len()).copied().unwrap_or_default() }
}

/// Whether `next` after `last` means that something has happened, and not only that pages take turns.
#[must_use]
pub fn is_news(last: &Screen, next: &Screen) -> bool {
    match (run_shown(last), run_shown(next)) {
        (Some(last), Some(next)) => last != next,
        (None, None) => last != next || matches!(next, Screen::Running { .. }),
        _ => true,
    }
}

/// The run that a page is the result of.
const fn run_shown(screen: &Screen) -> Option<u32> {
    match screen {
        Screen::Verdict { run, .. } | Screen::Figures { run, .. } | Screen::Qr { run, .. } => Some(*run),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::record::{Classes, text};
    use measure::verdict::Verdict;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn nothing_is_spared_before_its_time_or_without_one() {
        assert_eq!(after(9 * MINUTE, Some(10 * MINUTE)), Rest::default());
        assert_eq!(after(Duration::MAX, None), Rest::default());
    }

    #[test]
    fn a_resting_picture_goes_round_a_pixel_a_minute() {
        let shift = |minutes: u32| after((10 + minutes) * MINUTE, Some(10 * MINUTE)).shift;
        assert_eq!([0, 1, 2, 3, 4].map(shift), [(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)]);
        assert!(after(Duration::MAX, Some(MINUTE)).dim);
    }

    fn verdict(run: u32) -> Screen {
        Screen::Verdict { verdict: Verdict::Pass, reason: text("no errors"), run, unsaved: false }
    }

    fn figures(run: u32) -> Screen {
        let (verdict, errors) = (Verdict::Pass, Classes::default());
        Screen::Figures { verdict, run, rates: [None; 2], errors, bounds: [None; 2] }
    }

    #[test]
    fn pages_that_take_turns_are_no_news_and_a_new_run_is() {
        assert!(!is_news(&verdict(3), &figures(3)));
        assert!(!is_news(&figures(3), &verdict(3)));
        assert!(is_news(&verdict(3), &verdict(4)));
        assert!(is_news(&verdict(3), &Screen::Checking { what: "loop" }));
    }

    #[test]
    fn a_page_again_is_no_news_but_while_frames_flow() {
        let plug = |hint| Screen::PlugCable { last: None, hint: text(hint) };
        assert!(!is_news(&plug("no link"), &plug("no link")));
        assert!(is_news(&plug("no link"), &plug("port B has no link")));
        let running = Screen::Running {
            rates: [None; 2],
            progress: 0,
            errors: Classes::default(),
            left: None,
            failed: false,
            settling: true,
        };
        assert!(is_news(&running, &running));
    }
}
