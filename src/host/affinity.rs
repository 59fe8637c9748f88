//! Which processors a thread may run on.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::io;

/// The calling thread itself, to the kernel.
const SELF: Pid = Pid::from_raw(0);

/// The processors that the calling thread may run on, lowest number first.
///
/// # Errors
/// The kernel's.
pub fn allowed() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(SELF)?;
    Ok((0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).collect())
}

/// Keeps the calling thread on processor `cpu`.
///
/// # Errors
/// The kernel's: `EINVAL` where there is no such processor for this process.
pub fn pin(cpu: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu)?;
    Ok(sched_setaffinity(SELF, &set)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_has_one_processor() {
        std::thread::spawn(|| {
            let last = *allowed().unwrap().last().unwrap();
            pin(last).unwrap();
            assert_eq!(allowed().unwrap(), [last]);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_processor_that_is_not_there_is_refused() {
        assert!(pin(CpuSet::count() - 1).is_err());
        assert!(pin(CpuSet::count()).is_err());
    }
}
