//! When something was last used, by a clock that goes on by one with each use of something else.
//!
//! Using what was used last costs two loads. Nobody's lock is needed: those who use an entry of a map
//! and hold on to it need not ask the map.

use crate::sync::{AtomicU64, Ordering, Shared};

/// When something was last used; 0 never.
#[derive(Default)]
pub(crate) struct Age(AtomicU64);

impl Age {
    /// The clock's time at the last use. No two ages of one clock are equal, unless never used.
    #[inline]
    pub(super) fn last_use(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What can be used, and knows when it was last.
pub(crate) trait Aged {
    /// When.
    fn age(&self) -> &Age;
}

/// A clock of uses; copies are the same clock.
#[derive(Clone)]
pub(crate) struct Clock(Shared<AtomicU64>);

impl Clock {
    pub(super) fn new() -> Clock {
        Clock(Shared::new(AtomicU64::new(1)))
    }

    /// Something is used now, and younger than all else from now on.
    #[inline]
    pub(crate) fn note_use(&self, age: &Age) {
        if age.last_use() != self.0.load(Ordering::Relaxed) {
            age.0.store(self.0.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }
}
