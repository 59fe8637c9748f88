//! Sets of processors, as the kernel lists them.

use crate::host::files::whole;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;

/// Highest processor number there can be: `NR_CPUS` is at most 8192 (arch/x86/Kconfig).
const MOST: u32 = 8191;

/// Processors by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuList(BTreeSet<u32>);

impl CpuList {
    /// Reads the form "0-3,8" (`%*pbl` in Documentation/core-api/printk-formats.rst); an empty line is no
    /// processor. None where a part is not a number or a range, comes out of order, or is above 8191.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_ascii();
        let mut list = BTreeSet::new();
        for part in text.split(',').filter(|_| !text.is_empty()) {
            let range = range(part)?;
            // The order bounds the work that a text can ask for.
            if list.last().is_some_and(|last| last >= range.start()) {
                return None;
            }
            list.extend(range);
        }
        Some(Self(list))
    }

    /// Adds one.
    pub fn insert(&mut self, cpu: u32) {
        self.0.insert(cpu);
    }

    /// Whether `cpu` is among them.
    #[must_use]
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.contains(&cpu)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their numbers, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }

    /// Those that are not in `others`.
    #[must_use]
    pub fn without(&self, others: &Self) -> Self {
        Self(self.0.difference(&others.0).copied().collect())
    }
}

impl FromIterator<u32> for CpuList {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        Self(cpus.into_iter().collect())
    }
}

fn range(text: &str) -> Option<RangeInclusive<u32>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (whole(first)?, whole(last)?);
    (first <= last && last <= MOST).then_some(first..=last)
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        let mut rest = self.iter().peekable();
        while let Some(first) = rest.next() {
            let mut last = first;
            while let Some(next) = rest.next_if(|next| last.checked_add(1) == Some(*next)) {
                last = next;
            }
            write!(f, "{comma}{first}")?;
            if last > first {
                write!(f, "-{last}")?;
            }
            comma = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(cpus: &[u32]) -> CpuList {
        cpus.iter().copied().collect()
    }

    #[test]
    fn ranges_and_single_numbers_are_read() {
        assert_eq!(CpuList::parse("0-3,5,7-8\n"), Some(list(&[0, 1, 2, 3, 5, 7, 8])));
        assert_eq!(CpuList::parse("0\n"), Some(list(&[0])));
        assert_eq!(CpuList::parse("\n"), Some(list(&[])));
    }

    #[test]
    fn what_the_kernel_never_prints_is_refused() {
        for text in
            [",", "0,", "3-1", "-1", "0-", "a", "0-1:2/4", "0 1", "1,0", "0-3,3", "0-4294967295", "8192"]
        {
            assert_eq!(CpuList::parse(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_list_reads_back_as_it_is_shown(cpus in prop::collection::btree_set(0..=MOST, 0..200)) {
            let list = CpuList(cpus);
            prop_assert_eq!(CpuList::parse(&list.to_string()), Some(list));
        }

        #[test]
        fn no_text_is_too_odd_to_read(text in "[0-9,\\- \n]{0,4096}|\\PC{0,200}") {
            if let Some(list) = CpuList::parse(&text) {
                prop_assert!(list.iter().all(|cpu| cpu <= MOST));
            }
        }
    }
}
