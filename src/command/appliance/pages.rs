//! What the display shows in turn while a verdict stands: the word, the figures behind it, and both as a QR code.

use crate::session::Report;
use measure::screen::Screen;
use measure::ticket::{Outcome, Ticket};
use measure::units::Instant;
use std::time::Duration;

/// How long each of them is shown. The word comes first and stays longest.
const TURNS: [Duration; 3] = [Duration::from_secs(6), Duration::from_secs(4), Duration::from_secs(5)];

/// The pages of one verdict.
#[derive(Default)]
pub(super) struct Pages {
    since: Instant,
    pages: Vec<Screen>,
}

impl Pages {
    /// The pages of a run that was judged at `since`, on the box and of the cable named; `unsaved` where it was to be
    /// kept, and is not.
    pub(super) fn new(report: &Report, box_id: &str, label: &str, unsaved: bool, since: Instant) -> Self {
        let (verdict, run) = (report.verdict(), report.run);
        let rates = report.directions.each_ref().map(|account| account.steady);
        let bounds = report.ber.map(|ber| ber.bound);
        let errors = report.classes;
        let outcome = Outcome { verdict, run, box_id, label, rates, errors, bounds };
        let figures = Screen::Figures { verdict, run, rates, errors, bounds };
        let pages =
            vec![report.page(unsaved), figures, Screen::Qr { verdict, run, ticket: Ticket::new(&outcome) }];
        Self { since, pages }
    }

    /// The run is kept after all.
    pub(super) fn saved(&mut self) {
        for page in &mut self.pages {
            if let Screen::Verdict { unsaved, .. } = page {
                *unsaved = false;
            }
        }
    }

    /// The page whose turn it is at `now`; none where there was no run.
    pub(super) fn at(&self, now: Instant) -> Option<&Screen> {
        let round: Duration = TURNS.iter().sum();
        let nanos = now.since(self.since).as_nanos() % round.as_nanos();
        let mut end = 0;
        let turn = TURNS.iter().position(|turn| {
            end += turn.as_nanos();
            nanos < end
        });
        self.pages.get(turn?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_has_its_turn_and_the_word_the_first_and_longest() {
        let page = |what| Screen::Checking { what };
        let pages = Pages {
            since: Instant::from_millis(1000),
            pages: ["word", "figures", "code"].map(page).to_vec(),
        };
        let shown = |millis| pages.at(Instant::from_millis(millis)).cloned();
        for (millis, what) in [
            (1000, "word"),
            (6999, "word"),
            (7000, "figures"),
            (11_000, "code"),
            (15_999, "code"),
            (16_000, "word"),
        ] {
            assert_eq!(shown(millis), Some(page(what)), "{millis} ms");
        }
        assert_eq!(Pages::default().at(Instant::ZERO), None);
    }
}
