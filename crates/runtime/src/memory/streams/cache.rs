//! One stream's cache: its heap under a lock, and what other threads may do without the lock.

use std::sync::atomic::{AtomicUsize, Ordering};

use once_cell::race::OnceRef;
use sconce_base::lock::rank;
use sconce_base::thread_state::{self, ThreadUser};
use sconce_base::types::{DeviceIndex, MAX_DEVICES};
use sconce_driver::StreamRef;

use super::device::DeviceMemory;
use super::identity::CacheIdentity;
use super::policy::CachePolicy;
use super::quarantine::Quarantine;
use super::remote_frees::RemoteFrees;
use super::uses::BlockUses;
use crate::caching::size_class::TOO_LARGE;
use crate::caching::{BiasedGuard, BlockId, CountedLock, DeferredFrees, DelayCounters};
use crate::memory::addresses::address_map;
use crate::memory::addresses::block_numbers::NumberChunk;
use crate::memory::addresses::entry::{EntryContent, MapEntry};
use crate::memory::figures::refill;
use crate::memory::heap::block::RecordState;
use crate::memory::heap::request::{BlockRequest, HandedOut};
use crate::memory::heap::stream_heap::{DEFAULT_POOL, StreamHeap};
use crate::memory::history;
use crate::memory::snapshot::Action;

/// Cache lines of its own: data that one thread writes all the time must not lie beside data that
/// others read.
#[repr(align(128))]
struct OwnLines<T>(T);

/// The first cache of each device; each cache leads to the one made after it.
static FIRST: [OnceRef<'static, StreamCache>; MAX_DEVICES] =
    [const { OnceRef::new() }; MAX_DEVICES];

/// The memory of one stream.
pub(crate) struct StreamCache {
    /// The state that the caches of the device share.
    pub(crate) home: &'static DeviceMemory,
    identity: CacheIdentity,
    /// The device's next cache.
    next: OnceRef<'static, StreamCache>,
    /// The thread that allocated here last: its frees take the lock, others' go by the remote list.
    last_user: AtomicUsize,
    /// How many freed blocks wait here.
    delays: DelayCounters,
    remote: RemoteFrees,
    inner: OwnLines<CountedLock<rank::Cache, StreamMemory>>,
}

/// What the lock of a cache guards.
pub(crate) struct StreamMemory {
    pub(crate) heap: StreamHeap,
    pub(crate) policy: CachePolicy,
    pub(crate) uses: BlockUses,
    pub(crate) deferred: DeferredFrees,
    pub(crate) quarantine: Quarantine,
}

impl StreamMemory {
    /// Whether freed blocks wait for an event, are parked, or are in quarantine.
    pub(crate) fn has_delayed(&self) -> bool {
        self.deferred.has_delayed() || !self.quarantine.is_empty()
    }
}

/// A cache that a call uses: it stays its stream's.
pub(crate) struct CacheInUse(&'static StreamCache);

impl CacheInUse {
    pub(crate) fn cache(&self) -> &'static StreamCache {
        self.0
    }
}

impl Drop for CacheInUse {
    fn drop(&mut self) {
        self.0.identity.end_use();
    }
}

/// The lock is held, and what other threads have freed is taken up.
pub(crate) type LockedCache = BiasedGuard<'static, rank::Cache, StreamMemory>;

impl StreamCache {
    fn new(stream: StreamRef) -> StreamCache {
        let home = DeviceMemory::of(stream.device);
        StreamCache {
            home,
            identity: CacheIdentity::new(stream),
            next: OnceRef::new(),
            last_user: AtomicUsize::new(0),
            delays: DelayCounters::new(Some(home.waiting())),
            remote: RemoteFrees::new(),
            inner: OwnLines(CountedLock::new(StreamMemory {
                heap: StreamHeap::new(),
                policy: CachePolicy::unread(),
                uses: BlockUses::new(),
                deferred: DeferredFrees::new(),
                quarantine: Quarantine::new(),
            })),
        }
    }

    /// A new cache of a stream. It stays for ever. One thread at a time makes caches.
    pub(crate) fn make(stream: StreamRef) -> &'static StreamCache {
        let cache: &'static StreamCache = Box::leak(Box::new(StreamCache::new(stream)));
        let last = StreamCache::all_of(stream.device).last();
        let end = last.map_or(&FIRST[stream.device.as_usize()], |last| &last.next);
        let _ = end.set(cache);
        cache
    }

    /// Every cache of a device, in the order they were made. Needs no lock, since caches stay.
    pub(crate) fn all_of(device: DeviceIndex) -> impl Iterator<Item = &'static StreamCache> {
        std::iter::successors(FIRST[device.as_usize()].get(), |cache| cache.next.get())
    }

    /// The cache that was made after this one on the device.
    pub(crate) fn next(&self) -> Option<&'static StreamCache> {
        self.next.get()
    }

    /// The stream. Sure to stay the same while the cache is in use, or locked and not empty.
    pub(crate) fn stream(&self) -> StreamRef {
        self.identity.stream()
    }

    /// The device.
    pub(crate) fn device(&self) -> DeviceIndex {
        self.identity.device()
    }

    /// Which stream it belongs to.
    pub(crate) fn identity(&self) -> &CacheIdentity {
        &self.identity
    }

    /// Keeps the cache its stream's until the result is dropped. Called with the table's lock or the
    /// cache's lock held.
    pub(crate) fn use_it(&'static self) -> CacheInUse {
        self.identity.begin_use();
        CacheInUse(self)
    }

    /// Makes an empty cache that no call uses that of another stream of the device; `false` when it is
    /// not that, or another thread is in it. The table is locked for writing, so no call finds the cache.
    pub(crate) fn become_of(&'static self, stream: StreamRef) -> bool {
        let Some(inner) = self.try_visit() else { return false };
        self.identity.change_to(stream, || {
            inner.heap.is_empty()
                && inner.uses.is_empty()
                && inner.deferred.is_empty()
                && self.remote.is_empty()
        })
    }

    /// How many freed blocks wait here.
    pub(crate) fn delays(&self) -> &DelayCounters {
        &self.delays
    }

    /// Locks the cache, as the thread that uses it.
    #[inline]
    pub(crate) fn enter(&'static self) -> LockedCache {
        self.note_user(thread_state::token());
        self.lock()
    }

    /// The thread with the token uses the cache.
    #[inline(always)]
    fn note_user(&self, token: usize) {
        if self.last_user.load(Ordering::Relaxed) != token {
            self.last_user.store(token, Ordering::Relaxed);
        }
    }

    /// Locks the cache, and puts its heap into a state that can be inspected.
    #[inline]
    pub(crate) fn visit(&'static self) -> LockedCache {
        let mut inner = self.lock();
        inner.heap.finished();
        inner
    }

    /// Locks the cache for what may go on where the last call left off.
    #[inline]
    fn lock(&'static self) -> LockedCache {
        let mut inner = self.inner.0.lock(thread_state::owner_word());
        self.take_up(&mut inner);
        inner
    }

    /// Does what [`StreamCache::visit`] does, unless another thread holds the lock.
    pub(crate) fn try_visit(&'static self) -> Option<LockedCache> {
        let mut inner = self.inner.0.try_lock(thread_state::owner_word())?;
        self.take_up(&mut inner);
        inner.heap.finished();
        Some(inner)
    }

    /// Whether this thread is the one that allocated here last.
    #[inline]
    pub(crate) fn is_used_by(&self, token: usize) -> bool {
        self.last_user.load(Ordering::Relaxed) == token
    }

    /// Hands out a block of the default pool if one fits; `None` leaves the rest to the slow path.
    #[inline(always)]
    pub(crate) fn hit(&'static self, user: ThreadUser, bytes: usize) -> Option<u64> {
        let mut inner = self.inner.0.lock(user.owner_word);
        self.note_user(user.token);
        if self.remote.is_empty()
            && inner.policy.are_current()
            && let Some(address) = inner.heap.take_same(bytes)
        {
            return Some(address);
        }
        self.find(inner, bytes)
    }

    #[inline(never)]
    fn find(&'static self, mut inner: LockedCache, bytes: usize) -> Option<u64> {
        self.take_up(&mut inner);
        if bytes == 0 || bytes >= TOO_LARGE {
            return None;
        }
        let inner = &mut *inner;
        if inner.policy.refresh() {
            inner.heap.finished();
        }
        let request = inner.policy.request(DEFAULT_POOL, bytes);
        let handed = inner.heap.take(self, &request)?;
        self.handed_out(inner, &request, &handed);
        Some(handed.address)
    }

    /// What follows when a block was handed out.
    #[inline]
    pub(crate) fn handed_out(
        &'static self,
        inner: &mut StreamMemory,
        request: &BlockRequest,
        handed: &HandedOut,
    ) {
        if !handed.within_quota {
            self.refill(inner);
        }
        if handed.bytes >= request.fit.max_split {
            inner.heap.block_to_mark(handed.id).oversize = true;
            self.home.accounting.lock().oversize_allocations.increase(1);
        }
    }

    /// Frees the block that a word of the address map was seen to name. `false` when it is not live
    /// any more.
    #[inline(always)]
    pub(crate) fn free(
        &'static self,
        owner_word: Option<&'static AtomicUsize>,
        id: BlockId,
        word: &MapEntry,
        seen: EntryContent,
    ) -> bool {
        let mut inner = self.inner.0.lock(owner_word);
        if word.load() != seen || seen.is_claimed() {
            return false;
        }
        word.clear();
        let plain = self.remote.is_empty() && !history::is_on();
        if plain && inner.heap.give_back_same(id, self.home.requests()) {
            return true;
        }
        self.free_any(inner, id);
        true
    }

    #[inline(never)]
    fn free_any(&'static self, mut inner: LockedCache, id: BlockId) {
        self.take_up(&mut inner);
        self.take_back(&mut inner, id);
    }

    /// Frees the block that a word of the address map was seen to name, for the next thread that locks the cache to
    /// take up; `false` when it is not live any more.
    #[inline]
    pub(crate) fn leave(&self, word: &MapEntry, seen: EntryContent) -> bool {
        self.remote.claim(word, seen)
    }

    /// Takes back a block that a caller has freed.
    #[inline(always)]
    fn take_back(&'static self, inner: &mut StreamMemory, id: BlockId) {
        let block = &inner.heap.blocks[id];
        if block.oversize || block.used_elsewhere || history::is_on() {
            inner.heap.finished();
            return self.take_back_slowly(inner, id);
        }
        let now = self.home.requests();
        if !inner.heap.give_back(id, now) {
            self.refill(inner);
        }
    }

    #[cold]
    #[inline(never)]
    fn take_back_slowly(&'static self, inner: &mut StreamMemory, id: BlockId) {
        self.note(Action::FreeRequested, inner, id);
        if std::mem::take(&mut inner.heap.block_to_mark(id).oversize) {
            self.home.accounting.lock().oversize_allocations.decrease(1);
        }
        if inner.heap.blocks[id].used_elsewhere {
            self.defer(inner, id);
        } else if self.has_quarantine_for(inner, id) {
            inner.heap.finished().suspend(id);
            self.complete_unless_used(inner, id);
        } else {
            self.report_unused(inner, id);
            self.complete(inner, id, true);
        }
    }

    /// A block that nothing uses any more becomes free. `held`: it still counts as a caller's.
    pub(super) fn complete(&'static self, inner: &mut StreamMemory, id: BlockId, held: bool) {
        // Nobody has freed a block that was free when streams began to use it.
        if held || inner.heap.blocks[id].requested != 0 {
            self.note(Action::FreeCompleted, inner, id);
        }
        let now = self.home.requests();
        let heap = &mut inner.heap;
        if !if held { heap.give_back(id, now) } else { heap.finished().give_back_late(id, now) } {
            self.refill(inner);
        }
    }

    /// Reports that nothing uses a freed block any more, if somebody observes blocks.
    pub(super) fn report_unused(&self, inner: &StreamMemory, id: BlockId) {
        if history::is_on() {
            let block = &inner.heap.blocks[id];
            history::report_unused(self.stream(), block.address, block.requested);
        }
    }

    fn note(&self, action: Action, inner: &StreamMemory, id: BlockId) {
        if history::is_on() {
            let block = &inner.heap.blocks[id];
            let pool = inner.heap.pools[usize::from(block.bins >> 1)].number;
            self.note_memory(action, block.address, block.requested, pool);
        }
    }

    /// Adds to the history, if it is on.
    pub(crate) fn note_memory(&self, action: Action, address: u64, bytes: u64, pool: u64) {
        if history::is_on() {
            history::note(self.stream(), action, address, bytes, pool);
        }
    }

    /// Takes up what other threads have freed.
    #[inline]
    pub(super) fn take_up(&'static self, inner: &mut StreamMemory) {
        if !self.remote.is_empty() {
            self.take_up_all(inner);
        }
    }

    /// Takes up every block of the list.
    #[cold]
    #[inline(never)]
    fn take_up_all(&'static self, inner: &mut StreamMemory) {
        self.inner.0.count(); // Readers of figures lock without a count.
        if !self.remote.take_all(|number| self.take_up_one(inner, number)) {
            self.take_up_lost(inner);
        }
    }

    /// Takes up every claimed block, in a list or not. One that is in a list is no longer claimed when that is taken
    /// up, which leads here again.
    #[cold]
    #[inline(never)]
    fn take_up_lost(&'static self, inner: &mut StreamMemory) {
        for id in 0..inner.heap.blocks.len() as BlockId {
            let Some(block) = inner.heap.blocks.get(id) else { continue };
            let Some(content) = address_map::look_up(block.address) else { continue };
            if content.is_claimed()
                && inner.heap.finished().numbers.of(self, id).number == content.number()
            {
                let _ = self.take_up_one(inner, content.number());
            }
        }
    }

    /// Takes back a block that another thread has claimed. Nothing that is not live is ever taken back.
    fn take_up_one(&'static self, inner: &mut StreamMemory, number: u32) -> Option<EntryContent> {
        let id = NumberChunk::of(number)?.block(number);
        let block = inner.heap.blocks.get(id)?;
        if block.state != RecordState::Allocated {
            return None;
        }
        let content = address_map::withdraw_claimed(block.address, number)?;
        self.take_back(inner, id);
        Some(content)
    }

    /// Refills the quotas of the stream's statistics.
    #[cold]
    #[inline(never)]
    pub(super) fn refill(&'static self, inner: &mut StreamMemory) {
        refill::refill(&self.home.accounting, inner.heap.stats_to_refill(), self);
    }

    /// Whether other threads have freed blocks that no thread has taken up yet.
    pub(super) fn has_remote_frees(&self) -> bool {
        !self.remote.is_empty()
    }

    /// The lock alone.
    pub(super) fn memory(&'static self) -> &'static CountedLock<rank::Cache, StreamMemory> {
        &self.inner.0
    }
}
