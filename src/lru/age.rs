//! The last use of an entry, by a clock that advances with each use of another entry.
//!
//! To use the entry that was used last costs two loads. No lock is needed: a thread that has a reference to
//! an entry notes its use without the map.

use crate::sync::{AtomicU64, Ordering, Shared};

/// The time of the last use; 0 for never.
#[derive(Default)]
pub(crate) struct Age(AtomicU64);

impl Age {
    /// The clock's time at the last use. Ages of one clock differ, except those of entries that were never used.
    #[inline]
    pub(super) fn last_use(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// An entry with an age.
pub(crate) trait Aged {
    /// The age.
    fn age(&self) -> &Age;
}

/// A clock of uses. Clones are the same clock.
#[derive(Clone)]
pub(crate) struct UseClock(Shared<AtomicU64>);

impl UseClock {
    pub(super) fn new() -> UseClock {
        UseClock(Shared::new(AtomicU64::new(1)))
    }

    /// Notes a use: the entry is the most recently used one from now on.
    #[inline]
    pub(crate) fn note_use(&self, age: &Age) {
        if age.last_use() != self.0.load(Ordering::Relaxed) {
            age.0.store(self.0.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }
}
