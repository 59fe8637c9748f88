//! A worker's totals, published for others to read without a lock.
//!
//! One writer, any number of readers. The writer never waits; a reader that catches the writer in
//! the middle tries again a few times and then goes without (a reading is due in 16 ms anyway).

use measure::tally::Tally;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// How often a reader tries before it goes without.
const TRIES: usize = 64;

/// The published totals: a sequence lock over plain words.
#[derive(Debug)]
pub struct Published {
    /// Odd while the writer is at it.
    version: AtomicU64,
    words: [AtomicU64; Tally::WORDS],
}

impl Default for Published {
    fn default() -> Self {
        Self { version: AtomicU64::new(0), words: [const { AtomicU64::new(0) }; Tally::WORDS] }
    }
}

impl Published {
    /// Publishes `tally`. Only the one writer calls this.
    pub fn write(&self, tally: &Tally) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        for (word, value) in self.words.iter().zip(tally.to_words()) {
            word.store(value, Ordering::Relaxed);
        }
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// The totals of one moment; none where the writer was at it each time.
    #[must_use]
    pub fn read(&self) -> Option<Tally> {
        (0..TRIES).find_map(|_| self.try_read())
    }

    fn try_read(&self) -> Option<Tally> {
        let before = self.version.load(Ordering::Acquire);
        let mut words = [0; Tally::WORDS];
        for (value, word) in words.iter_mut().zip(&self.words) {
            *value = word.load(Ordering::Relaxed);
        }
        fence(Ordering::Acquire);
        let after = self.version.load(Ordering::Relaxed);
        (before == after && before.is_multiple_of(2)).then(|| Tally::from_words(&words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn uniform(value: u64) -> Tally {
        Tally::from_words(&[value; Tally::WORDS])
    }

    #[test]
    fn what_was_written_is_read() {
        let published = Published::default();
        assert_eq!(published.read(), Some(Tally::default()));
        published.write(&uniform(7));
        assert_eq!(published.read(), Some(uniform(7)));
    }

    #[test]
    fn a_reading_is_never_torn() {
        let published = Arc::new(Published::default());
        let writer = {
            let published = Arc::clone(&published);
            std::thread::spawn(move || (0..20_000).for_each(|value| published.write(&uniform(value))))
        };
        let mut seen = 0;
        while !writer.is_finished() {
            if let Some(tally) = published.read() {
                let words = tally.to_words();
                assert!(words.iter().all(|&word| word == words[0]), "torn: {words:?}");
                assert!(words[0] >= seen, "went back from {seen} to {}", words[0]);
                seen = words[0];
            }
        }
        assert_eq!(published.read(), Some(uniform(19_999)));
    }
}
