//! The cache: the heap with its lock, and beside it the freed blocks that wait for events.

use std::collections::{BTreeMap, BTreeSet};

use sconce_base::lock::{Mutex, rank};

use super::heap::pinned_heap::PinnedHeap;
use super::observed;
use crate::caching::{BlockId, CompleteFree, DeferredFrees, DelayCounters, Guard, Lock, settings};
use crate::stream::Named;

static CACHE: PinnedCache = PinnedCache::new();

/// Pinned memory of the process. The locks are taken in the order `turn`, `deferred`, `inner`; no driver call that can
/// block is made with either of the last two.
pub(super) struct PinnedCache {
    pub(super) inner: Lock<rank::PinnedHeap, PinnedMemory>,
    /// Freed blocks that streams use. Their events have a lock of their own, so that allocations need not
    /// wait for driver calls.
    pub(super) deferred: Mutex<rank::PinnedDeferred, DeferredFrees>,
    /// How many blocks wait in `deferred`.
    pub(super) delays: DelayCounters,
    /// Held by the thread that waits for all events.
    pub(super) turn: Mutex<rank::PinnedTurn, ()>,
}

/// What the lock guards.
pub(super) struct PinnedMemory {
    pub(super) heap: PinnedHeap,
    /// The streams that use a block.
    pub(super) uses: BTreeMap<BlockId, Vec<Named>>,
    /// The blocks that graphs copy, by the numbers of the captures.
    pub(super) captured: BTreeMap<u64, BTreeSet<BlockId>>,
    /// Freed blocks alone in their segments that no stream uses any more, until a call that may wait unpins them.
    pub(super) to_unpin: Vec<CompleteFree>,
    pub(super) rules: Policy,
}

impl PinnedMemory {
    /// Whether a graph has the block's address.
    pub(super) fn is_in_graph(&self, id: BlockId) -> bool {
        self.captured.values().any(|blocks| blocks.contains(&id))
    }
}

/// What of the settings a hit needs to know.
#[derive(Clone, Copy)]
pub(super) struct Policy {
    generation: u64,
    /// Larger requests get memory of their own, which goes back when it is freed.
    pub(super) most_cached: usize,
    /// The most that the fast path hands out: nothing, if a driver observes blocks.
    pub(super) most_fast: usize,
    /// A background thread polls the events.
    pub(super) drained: bool,
    /// Bytes that are pinned with the first request and kept.
    pub(super) reserve: usize,
}

impl Policy {
    /// Whether the settings are those that were read last.
    #[inline]
    pub(super) fn are_current(&self) -> bool {
        self.generation == settings::generation()
    }

    /// The rules as the settings are now.
    pub(super) fn read() -> Policy {
        // The first question for the settings makes them, which changes their number.
        drop(settings::current());
        let generation = settings::generation();
        let pinned = settings::current().pinned;
        let most_cached = pinned.max_cached_size_mb.saturating_mul(1 << 20);
        Policy {
            generation,
            most_cached,
            most_fast: if observed::is_on() { 0 } else { most_cached },
            drained: pinned.use_background_threads,
            reserve: pinned.reserve_segment_size_mb.saturating_mul(1 << 20),
        }
    }
}

impl PinnedCache {
    const fn new() -> PinnedCache {
        let rules = Policy {
            generation: u64::MAX,
            most_cached: usize::MAX,
            most_fast: usize::MAX,
            drained: false,
            reserve: 0,
        };
        PinnedCache {
            inner: Lock::new(PinnedMemory {
                heap: PinnedHeap::new(),
                uses: BTreeMap::new(),
                captured: BTreeMap::new(),
                to_unpin: Vec::new(),
                rules,
            }),
            deferred: Mutex::new(DeferredFrees::new()),
            delays: DelayCounters::new(None),
            turn: Mutex::new(()),
        }
    }

    /// Locks the heap, for anything but another turn of the block that was handed out last.
    #[inline]
    pub(super) fn enter(&self) -> Guard<'_, rank::PinnedHeap, PinnedMemory> {
        let mut inner = self.inner.lock();
        inner.heap.finish_last();
        inner
    }

    /// The cache of the process.
    #[inline]
    pub(super) fn get() -> &'static PinnedCache {
        &CACHE
    }
}
