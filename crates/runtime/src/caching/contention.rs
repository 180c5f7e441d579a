//! Counts contended lock acquisitions and refills of quotas. Tests use the counts to prove that a cache hit takes no
//! shared lock.

use std::sync::atomic::{AtomicU64, Ordering};

static WAITS: AtomicU64 = AtomicU64::new(0);
static REFILLS: AtomicU64 = AtomicU64::new(0);

/// What was counted since the process began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contention {
    /// How often a thread found a stream's cache locked by another, and waited.
    pub waits: u64,
    /// How often the quotas of a stream were refilled.
    pub refills: u64,
}

/// The counts of all devices.
pub fn contention() -> Contention {
    Contention { waits: WAITS.load(Ordering::Relaxed), refills: REFILLS.load(Ordering::Relaxed) }
}

/// A thread waits for a cache.
pub(crate) fn count_wait() {
    WAITS.fetch_add(1, Ordering::Relaxed);
}

/// The quotas of a stream are refilled.
pub(crate) fn count_refill() {
    REFILLS.fetch_add(1, Ordering::Relaxed);
}
