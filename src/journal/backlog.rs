//! Lines that wait for a slow reader: as many as there is room for, the least important dropped first and
//! all of them counted.

use measure::record::{Event, Stamped};
use std::collections::VecDeque;

/// Waiting lines.
pub struct Backlog {
    lines: VecDeque<Stamped>,
    most: usize,
    dropped: u64,
}

impl Backlog {
    /// Room for `most` lines, at least one.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { lines: VecDeque::new(), most: most.max(1), dropped: 0 }
    }

    /// Adds a line. Where there is no room the oldest of the least important gives way: rate lines first,
    /// a verdict only to later verdicts.
    pub fn push(&mut self, line: Stamped) {
        self.lines.push_back(line);
        if self.lines.len() <= self.most {
            return;
        }
        let importance = self.lines.iter().map(|line| importance(&line.event)).enumerate();
        let least = importance.min_by_key(|&(_, importance)| importance).map(|(at, _)| at);
        if let Some(line) = least.and_then(|at| self.lines.remove(at)) {
            self.dropped = self.dropped.saturating_add(lines_in(&line.event));
        }
    }

    /// The oldest line; before it, once, how many were dropped.
    pub fn pop(&mut self) -> Option<Stamped> {
        let at = self.lines.front()?.at;
        match std::mem::take(&mut self.dropped) {
            0 => self.lines.pop_front(),
            lines => Some(Stamped { at, event: Event::LogDropped { lines } }),
        }
    }

    /// Nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

const fn importance(event: &Event) -> u8 {
    match event {
        Event::Rate { .. } => 0,
        Event::Verdict { .. } => 2,
        _ => 1,
    }
}

/// Lines that are lost with this one: it may itself tell of some.
fn lines_in(event: &Event) -> u64 {
    if let Event::LogDropped { lines } = event { *lines } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::record::{Classes, words};
    use measure::units::Instant;
    use measure::verdict::Verdict;
    use proptest::prelude::*;

    /// A line of importance `kind` with its number as its time.
    fn line(number: usize, kind: u8) -> Stamped {
        let event = match kind {
            0 => Event::Rate { rates: [None; 2], errors: Classes::default(), left: None },
            1 => Event::Note(words("note")),
            _ => Event::Verdict { verdict: Verdict::Pass, run: 1, basis: None, of: None },
        };
        Stamped { at: Instant::from_nanos(u64::try_from(number).unwrap()), event }
    }

    fn drain(backlog: &mut Backlog) -> Vec<Stamped> {
        std::iter::from_fn(|| backlog.pop()).collect()
    }

    #[test]
    fn rate_lines_go_first_and_the_oldest_of_them() {
        let mut backlog = Backlog::new(3);
        [1, 0, 0, 1].into_iter().enumerate().for_each(|(number, kind)| backlog.push(line(number, kind)));
        let lines = drain(&mut backlog);
        assert_eq!(lines[0].event, Event::LogDropped { lines: 1 });
        assert_eq!(lines[1..], [line(0, 1), line(2, 0), line(3, 1)]);
    }

    #[test]
    fn lines_that_an_earlier_queue_dropped_stay_counted() {
        let mut backlog = Backlog::new(1);
        backlog.push(Stamped { at: Instant::ZERO, event: Event::LogDropped { lines: 70 } });
        backlog.push(line(1, 2));
        assert_eq!(drain(&mut backlog)[0].event, Event::LogDropped { lines: 70 });
    }

    proptest! {
        #[test]
        fn every_line_is_written_in_order_or_counted_and_no_verdict_is_lost(
            kinds in prop::collection::vec((0..3_u8, any::<bool>()), 0..200),
            most in 100..120_usize,
        ) {
            let mut backlog = Backlog::new(most);
            let mut out = Vec::new();
            for (number, &(kind, reads)) in kinds.iter().enumerate() {
                backlog.push(line(number, kind));
                if reads && number % 3 == 0 {
                    out.extend(backlog.pop());
                }
            }
            out.extend(drain(&mut backlog));
            let dropped = |line: &&Stamped| matches!(line.event, Event::LogDropped { .. });
            let counted: u64 = out.iter().filter(dropped).map(|line| lines_in(&line.event)).sum();
            let written: Vec<_> = out.iter().filter(|line| !dropped(line)).collect();
            prop_assert_eq!(written.len() + usize::try_from(counted).unwrap(), kinds.len());
            prop_assert!(written.is_sorted_by_key(|line| line.at));
            let verdicts = kinds.iter().filter(|(kind, _)| *kind == 2).count();
            let kept = written.iter().filter(|line| importance(&line.event) == 2).count();
            prop_assert!(verdicts > most || kept == verdicts);
        }
    }
}
