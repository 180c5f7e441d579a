//! A value's gate: threads that use the value pass it with plain stores and loads, unless a thread is changing it.

use super::fence_here;
use crate::sync::{AtomicUsize, Ordering};

/// Open, or closed by a thread that changes the value.
#[derive(Default)]
pub(super) struct Gate {
    closed: AtomicUsize,
}

impl Gate {
    /// What a thread announces that is inside.
    #[inline(always)]
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Passes the gate, if it is open and the calling thread, whose word this is, uses nothing else. It leaves by
    /// writing 0 with release.
    #[inline(always)]
    pub(super) fn pass(&self, word: &AtomicUsize) -> bool {
        if word.load(Ordering::Relaxed) != 0 {
            return false;
        }
        word.store(self.address(), Ordering::Release);
        fence_here();
        if self.closed.load(Ordering::Acquire) == 0 {
            return true;
        }
        word.store(0, Ordering::Release);
        false
    }

    /// Closes the gate. A thread that has passed it is inside until its word, read behind a fence of all threads, has
    /// another address.
    pub(super) fn close(&self) {
        self.closed.store(1, Ordering::Relaxed);
    }

    /// Opens the gate. What was done before is seen by those who pass.
    pub(super) fn open(&self) {
        self.closed.store(0, Ordering::Release);
    }
}
