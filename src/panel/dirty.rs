//! What has changed along a row, in pieces that are worth an address of their own.

/// The next piece at `from` or after, below `end`: neighbours of which `differs` is true, and those with at most
/// `slack` others between them. First and one past the last.
pub fn next_run(
    from: usize,
    end: usize,
    slack: usize,
    differs: impl Fn(usize) -> bool,
) -> Option<(usize, usize)> {
    let first = (from..end).find(|at| differs(*at))?;
    let mut past = first + 1;
    while let Some(next) = (past..end.min(past + slack + 1)).find(|at| differs(*at)) {
        past = next + 1;
    }
    Some((first, past))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_close_together_is_one_piece() {
        let differs = |at| [3, 11, 20].contains(&at);
        assert_eq!(next_run(0, 40, 7, differs), Some((3, 12)), "seven between");
        assert_eq!(next_run(12, 40, 7, differs), Some((20, 21)), "eight between");
        assert_eq!(next_run(21, 40, 7, differs), None);
        assert_eq!(next_run(0, 11, 7, differs), Some((3, 4)));
    }
}
