//! The heap with its lock, and beside it what waits for events.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::lock::Mutex;

use super::deferred_frees::Queues;
use super::heap::block::BlockId;
use super::heap::pinned_heap::Heap;
use crate::caching::{Guard, Lock, settings};
use crate::stream::Named;

static CACHE: Cache = Cache::new();

/// Pinned memory of the process. Order of locks: `queues`, then `inner`; no driver call that can
/// block is made with either.
pub(super) struct Cache {
    pub(super) inner: Lock<Inner>,
    pub(super) queues: Mutex<Queues>,
    /// Held by the thread that waits for all events; taken before `queues`.
    pub(super) turn: Mutex<()>,
    /// How many blocks wait for events.
    pub(super) waiting: AtomicUsize,
    /// And how many bytes.
    pub(super) waiting_bytes: AtomicUsize,
}

/// What the lock guards.
pub(super) struct Inner {
    pub(super) heap: Heap,
    /// The streams that use a block.
    pub(super) uses: BTreeMap<BlockId, Vec<Named>>,
    pub(super) rules: Rules,
}

/// What of the settings a hit needs to know.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    generation: u64,
    /// Larger requests get memory of their own, which goes back when it is freed.
    pub(super) most_cached: usize,
    /// A thread of its own looks after the events.
    pub(super) drained: bool,
    /// Bytes that are pinned with the first request and kept.
    pub(super) reserve: usize,
}

impl Rules {
    /// Whether the settings are those that were read last.
    #[inline]
    pub(super) fn are_current(&self) -> bool {
        self.generation == settings::generation()
    }

    /// The rules as the settings are now.
    pub(super) fn read() -> Rules {
        // The first question for the settings makes them, which changes their number.
        drop(settings::current());
        let generation = settings::generation();
        let pinned = settings::current().pinned;
        Rules {
            generation,
            most_cached: pinned.max_cached_size_mb.saturating_mul(1 << 20),
            drained: pinned.use_background_threads,
            reserve: pinned.reserve_segment_size_mb.saturating_mul(1 << 20),
        }
    }
}

impl Cache {
    const fn new() -> Cache {
        let rules =
            Rules { generation: u64::MAX, most_cached: usize::MAX, drained: false, reserve: 0 };
        Cache {
            inner: Lock::new(Inner { heap: Heap::new(), uses: BTreeMap::new(), rules }),
            queues: Mutex::new(Queues::new()),
            turn: Mutex::new(()),
            waiting: AtomicUsize::new(0),
            waiting_bytes: AtomicUsize::new(0),
        }
    }

    /// Locks the heap, for anything but another turn of the block that was handed out last.
    pub(super) fn enter(&self) -> Guard<'_, Inner> {
        let mut inner = self.inner.lock();
        inner.heap.cool();
        inner
    }

    /// One more block of so many bytes waits for events.
    pub(super) fn waits(&self, bytes: usize) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// So many blocks with so many bytes wait no more.
    pub(super) fn waits_no_more(&self, blocks: usize, bytes: usize) {
        self.waiting.fetch_sub(blocks, Ordering::Relaxed);
        self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The cache of the process.
    #[inline]
    pub(super) fn get() -> &'static Cache {
        &CACHE
    }
}
