//! Blocks of a stream that other threads have freed: a list that anyone may push to without the
//! lock, and that whoever holds the lock takes as a whole.
//!
//! The links lie beside the numbers of the blocks, not in their records, which belong to the lock.

use std::sync::atomic::{AtomicU32, Ordering};

use super::numbers::Chunk;

/// The list; on a cache line of its own, since other threads write it.
#[repr(align(64))]
pub(super) struct RemoteFrees {
    /// The newest block's number and one more; 0 when there is none.
    head: AtomicU32,
}

impl RemoteFrees {
    pub(super) const fn new() -> RemoteFrees {
        RemoteFrees { head: AtomicU32::new(0) }
    }

    /// Whether the list is empty. Sees every push that happened before.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.head.load(Ordering::Relaxed) == 0
    }

    /// Adds a block that the calling thread has claimed.
    #[inline]
    pub(super) fn push(&self, chunk: &Chunk, number: u32) {
        let link = chunk.link(number);
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            link.store(head, Ordering::Relaxed);
            match self.head.compare_exchange_weak(
                head,
                number + 1,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Takes every block out and hands each to `each`, until that says `false`.
    pub(super) fn take_all(&self, mut each: impl FnMut(&'static Chunk, u32) -> bool) {
        let mut head = self.head.swap(0, Ordering::Acquire);
        while let Some(number) = head.checked_sub(1)
            && let Some(chunk) = Chunk::of(number)
        {
            head = chunk.link(number).load(Ordering::Relaxed);
            if !each(chunk, number) {
                return;
            }
        }
    }
}
