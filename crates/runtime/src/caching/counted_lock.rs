//! A lock that counts how often it was taken by calls that may change what it guards. The count is read without it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use sconce_base::lock::LockRank;

use super::biased_lock::{BiasedGuard, BiasedLock};

/// The word in which the calling thread announces that it is inside a lock that is biased to it, if it has one.
type ThreadWord = Option<&'static AtomicUsize>;

/// What is guarded, and the count, which lies beside the lock.
#[repr(C)]
pub(crate) struct CountedLock<R: LockRank, T> {
    changes: AtomicU64,
    lock: BiasedLock<R, T>,
}

impl<R: LockRank, T> CountedLock<R, T> {
    pub(crate) fn new(value: T) -> CountedLock<R, T> {
        CountedLock { changes: AtomicU64::new(0), lock: BiasedLock::new(value) }
    }

    /// Takes the lock, for a call that may change something.
    #[inline(always)]
    pub(crate) fn lock(&self, word: ThreadWord) -> BiasedGuard<'_, R, T> {
        let guard = self.lock.lock(word);
        self.count();
        guard
    }

    /// Takes the lock, unless another thread has it.
    #[inline]
    pub(crate) fn try_lock(&self, word: ThreadWord) -> Option<BiasedGuard<'_, R, T>> {
        let guard = self.lock.try_lock(word)?;
        self.count();
        Some(guard)
    }

    /// Takes the lock, for a call that changes nothing, or counts what it changes.
    #[inline]
    pub(crate) fn lock_to_read(&self, word: ThreadWord) -> BiasedGuard<'_, R, T> {
        self.lock.lock(word)
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
