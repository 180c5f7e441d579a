//! How many freed blocks of a cache wait, for calls that must not take the cache's lock to find out.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::device::parked;

/// The counters of one cache.
pub struct DelayCounters {
    /// Blocks that wait for events, or for streams on which any call may record one.
    waiting: AtomicUsize,
    /// The bytes of those blocks.
    waiting_bytes: AtomicUsize,
    /// Blocks that lack only events of streams of the program.
    parked: AtomicUsize,
    /// Counts the waiting blocks of several caches together.
    of_all: Option<&'static AtomicUsize>,
}

impl DelayCounters {
    /// Counters of a cache. `of_all` counts its waiting blocks together with those of other caches.
    pub const fn new(of_all: Option<&'static AtomicUsize>) -> DelayCounters {
        DelayCounters {
            waiting: AtomicUsize::new(0),
            waiting_bytes: AtomicUsize::new(0),
            parked: AtomicUsize::new(0),
            of_all,
        }
    }

    /// Whether blocks wait for events.
    #[inline]
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) != 0
    }

    /// Whether blocks are parked.
    pub(crate) fn has_parked(&self) -> bool {
        self.parked.load(Ordering::Relaxed) != 0
    }

    /// The bytes of the blocks that wait for events.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.waiting_bytes.load(Ordering::Relaxed)
    }

    /// A block begins to wait.
    pub(crate) fn begin_wait(&self, bytes: usize) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        if let Some(all) = self.of_all {
            all.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A block no longer waits.
    pub(crate) fn end_wait(&self, bytes: usize) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(all) = self.of_all {
            all.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// A block is parked.
    pub(super) fn park(&self) {
        self.parked.fetch_add(1, Ordering::Relaxed);
        parked::add();
    }

    /// Some blocks are parked no longer.
    pub(super) fn unpark(&self, blocks: usize) {
        self.parked.fetch_sub(blocks, Ordering::Relaxed);
        parked::remove(blocks);
    }
}
