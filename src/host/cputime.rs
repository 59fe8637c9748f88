//! CPU time of the whole machine, interrupts included: what a datapath really costs.

use std::io;
use std::path::Path;
use std::time::Duration;

/// CPU time that all processors together have been busy for since boot: in programs, in the kernel and in
/// interrupts. Time that a hypervisor took away is nobody's work here and is left out.
///
/// # Errors
/// That of reading `/proc/stat`; `InvalidData` where it has no line of totals.
pub fn busy() -> io::Result<Duration> {
    busy_in(Path::new("/proc"))
}

fn busy_in(proc: &Path) -> io::Result<Duration> {
    let text = std::fs::read_to_string(proc.join("stat"))?;
    let ticks = ticks_a_second().ok_or_else(|| invalid("the kernel tells no clock tick"))?;
    parse(&text, ticks).ok_or_else(|| invalid("/proc/stat has no line of totals"))
}

/// The unit of `/proc/stat` (proc_stat(5)), 100 nearly everywhere.
fn ticks_a_second() -> Option<u64> {
    let ticks = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok()??;
    u64::try_from(ticks).ok()
}

/// Busy time in the text of `/proc/stat`; none where its line of totals is missing, short or not numbers.
///
/// The columns are user, nice, system, idle, iowait, irq, softirq, steal and two of guests, which user and
/// nice have in them already (proc_stat(5)).
fn parse(text: &str, ticks_a_second: u64) -> Option<Duration> {
    let mut words = text.lines().next()?.split_ascii_whitespace();
    if words.next()? != "cpu" {
        return None;
    }
    let mut column = || words.next()?.parse::<u64>().ok();
    let [user, nice, system] = [column()?, column()?, column()?];
    let [_idle, _iowait] = [column()?, column()?];
    let [irq, softirq] = [column()?, column()?];
    let ticks = [user, nice, system, irq, softirq].into_iter().try_fold(0, u64::checked_add)?;
    let nanos = (u128::from(ticks) * 1_000_000_000).checked_div(u128::from(ticks_a_second))?;
    Some(Duration::from_nanos(u64::try_from(nanos).ok()?))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn interrupts_count_as_busy_and_waiting_and_stolen_time_do_not() {
        let text = "cpu  1 20 300 4000 50000 600000 7000000 80000000 5 5\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        let ticks = 1 + 20 + 300 + 600_000 + 7_000_000;
        assert_eq!(parse(text, 100), Some(Duration::from_millis(ticks * 10)));
    }

    #[test]
    fn the_first_line_has_to_be_that_of_totals() {
        assert_eq!(parse("cpu0 1 2 3 4 5 6 7 8 9 10\n", 100), None);
        assert_eq!(parse("", 100), None);
    }

    #[test]
    fn a_line_that_is_short_or_odd_is_none() {
        assert_eq!(parse("cpu 1 2 3 4 5 6", 100), None, "softirq is missing");
        assert_eq!(parse("cpu 1 2 3 4 5 6 x", 100), None);
        assert_eq!(parse("cpu -1 2 3 4 5 6 7", 100), None);
        assert_eq!(parse("cpu 1 2 3 4 5 6 7", 0), None, "no ticks in a second");
        assert_eq!(parse(&format!("cpu {0} {0} 3 4 5 6 7", u64::MAX), 100), None, "no such sum");
    }

    #[test]
    fn busy_time_never_goes_back() {
        let first = busy().unwrap();
        assert!(first > Duration::ZERO);
        assert!(busy().unwrap() >= first);
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd_to_read(text in "(cpu )?[cpu0-9 \\-x]{0,80}", ticks in any::<u64>()) {
            let _ = parse(&text, ticks);
        }
    }
}
