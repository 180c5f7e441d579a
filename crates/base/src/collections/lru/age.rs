//! The time of an entry's last use, by a clock that advances by one with each use of another entry.
//!
//! Using the newest entry again costs two loads. No lock is needed: a thread that holds an entry of
//! a map can note its use without the map.

use crate::sync::{AtomicU64, Ordering, Shared};

/// The time of the last use; 0 if there was none.
#[derive(Default)]
pub struct Age(AtomicU64);

impl Age {
    /// The clock's time at the last use. Ages of one clock differ, except those of entries that were never used.
    #[inline]
    pub(super) fn last_use(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// An entry that has an [`Age`].
pub trait Aged {
    /// The entry's age.
    fn age(&self) -> &Age;
}

/// A clock of uses; clones share the time.
#[derive(Clone)]
pub struct UseClock(Shared<AtomicU64>);

impl UseClock {
    pub(super) fn new() -> UseClock {
        UseClock(Shared::new(AtomicU64::new(1)))
    }

    /// Notes a use: the entry becomes the newest.
    #[inline]
    pub fn note_use(&self, age: &Age) {
        if age.last_use() != self.0.load(Ordering::Relaxed) {
            age.0.store(self.0.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }
}
