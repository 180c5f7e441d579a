//! Counts contended lock acquisitions and settlements. Tests use the counts to prove that a cache hit takes
//! no shared lock.

use std::sync::atomic::{AtomicU64, Ordering};

static WAITS: AtomicU64 = AtomicU64::new(0);
static SETTLEMENTS: AtomicU64 = AtomicU64::new(0);

/// What was counted since the process began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contention {
    /// How often a thread found a stream's cache locked by another, and waited.
    pub waits: u64,
    /// How often a stream asked its device's ledger for room.
    pub settlements: u64,
}

/// The counts of all devices.
pub fn contention() -> Contention {
    Contention {
        waits: WAITS.load(Ordering::Relaxed),
        settlements: SETTLEMENTS.load(Ordering::Relaxed),
    }
}

/// A thread waits for a cache.
pub(crate) fn count_wait() {
    WAITS.fetch_add(1, Ordering::Relaxed);
}

/// A stream asks for room.
pub(crate) fn count_settlement() {
    SETTLEMENTS.fetch_add(1, Ordering::Relaxed);
}
