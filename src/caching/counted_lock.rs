//! A lock that counts how often it was taken by calls that may change what it guards. The count is read without it.

use std::sync::atomic::{AtomicU64, Ordering};

use super::lock::{Guard, Lock};

/// What is guarded, and the count, which lies beside the lock.
#[repr(C)]
pub(crate) struct CountedLock<T> {
    changes: AtomicU64,
    lock: Lock<T>,
}

impl<T> CountedLock<T> {
    pub(crate) fn new(value: T) -> CountedLock<T> {
        CountedLock { changes: AtomicU64::new(0), lock: Lock::new(value) }
    }

    /// Takes the lock, for a call that may change something.
    #[inline(always)]
    pub(crate) fn lock(&self) -> Guard<'_, T> {
        let guard = self.lock.lock();
        self.count();
        guard
    }

    /// Takes the lock, unless another thread has it.
    #[inline]
    pub(crate) fn try_lock(&self) -> Option<Guard<'_, T>> {
        let guard = self.lock.try_lock()?;
        self.count();
        Some(guard)
    }

    /// Takes the lock, for a call that changes nothing, or counts what it changes.
    #[inline]
    pub(crate) fn lock_to_read(&self) -> Guard<'_, T> {
        self.lock.lock()
    }

    /// Counts a change. The lock is held.
    #[inline(always)]
    pub(crate) fn count(&self) {
        let changes = self.changes.load(Ordering::Relaxed);
        self.changes.store(changes.wrapping_add(1), Ordering::Relaxed);
    }

    /// The number of changes so far: not less than that of those which the calling thread knows of.
    #[inline]
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }
}
