//! The lock of a device's ledger, which counts how often it was taken by calls that may change the ledger.

use sconce_base::lock::{Mutex, MutexGuard, rank};
use std::sync::atomic::{AtomicU64, Ordering};

use super::ledger::Ledger;

/// A ledger and its lock.
pub(crate) struct LedgerLock {
    ledger: Mutex<rank::Ledger, Ledger>,
    changes: AtomicU64,
}

impl LedgerLock {
    pub(crate) const fn new() -> LedgerLock {
        LedgerLock { ledger: Mutex::new(Ledger::new()), changes: AtomicU64::new(0) }
    }

    /// Locks the ledger for a call that may change it.
    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, rank::Ledger, Ledger> {
        let ledger = self.ledger.lock();
        let changes = self.changes.load(Ordering::Relaxed);
        self.changes.store(changes + 1, Ordering::Relaxed);
        ledger
    }

    /// Passes the ledger to a reader, with the number of changes so far.
    pub(crate) fn read<R>(&self, reader: impl FnOnce(&Ledger, u64) -> R) -> R {
        let ledger = self.ledger.lock();
        reader(&ledger, self.changes.load(Ordering::Relaxed))
    }

    /// The number of changes so far: not less than that of those which the calling thread knows of.
    #[inline]
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }
}
