//! One stream's cache: its heap under a lock, and what other threads may do without the lock.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use once_cell::race::OnceRef;

use super::deferred_frees::{Delay, Pending};
use super::device::DeviceCache;
use super::policy::Rules;
use super::remote_frees::RemoteFrees;
use crate::caching::size_class::TOO_LARGE;
use crate::caching::{Guard, Lock};
use crate::device::parked;
use crate::driver::{StreamHandle, StreamRef};
use crate::memory::addresses::address_map;
use crate::memory::addresses::block_ids::Chunk;
use crate::memory::addresses::entry::{Content, Word};
use crate::memory::heap::block::{BlockId, State};
use crate::memory::heap::request::{Handed, Request};
use crate::memory::heap::stream_heap::Heap;
use crate::memory::history;
use crate::memory::snapshot::Action;
use crate::stream::{Maker, Named};
use crate::thread_state;
use crate::types::DeviceIndex;

/// A cache line, or some, of its own: what one thread writes all the time must not lie beside what
/// others read.
#[repr(align(128))]
struct Apart<T>(T);

/// The memory of one stream.
pub(crate) struct Cache {
    /// The device's part.
    pub(crate) home: &'static DeviceCache,
    device: DeviceIndex,
    /// The driver's handle of the stream. It changes only while no call uses the cache and its lock is
    /// held ([`Cache::become_of`]).
    handle: AtomicUsize,
    /// How many calls use the cache, locked or not.
    users: AtomicUsize,
    /// Calls find it without the table, by a stream of the library's own: it keeps its stream for ever.
    kept: AtomicBool,
    /// The device's next cache.
    pub(crate) next: OnceRef<'static, Cache>,
    /// The thread that allocated here last: its frees take the lock, others' go by the remote list.
    last_user: AtomicUsize,
    /// Which of the streams that had the handle it belongs to: the bits of a [`Maker`].
    maker: AtomicU64,
    /// How many blocks wait for events here.
    waiting: AtomicUsize,
    /// How many blocks are parked here.
    parked: AtomicUsize,
    remote: RemoteFrees,
    inner: Apart<Lock<Inner>>,
}

/// What the lock guards.
pub(crate) struct Inner {
    pub(crate) heap: Heap,
    pub(crate) rules: Rules,
    pub(crate) pending: Pending,
}

/// A cache that a call uses: it stays its stream's.
pub(crate) struct InUse(&'static Cache);

impl InUse {
    pub(crate) fn cache(&self) -> &'static Cache {
        self.0
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.0.users.fetch_sub(1, Ordering::Release);
    }
}

/// The lock is held, and what other threads have freed is taken up.
pub(crate) type Entered = Guard<'static, Inner>;

impl Cache {
    pub(crate) fn new(home: &'static DeviceCache, stream: StreamRef) -> Cache {
        Cache {
            home,
            device: stream.device,
            handle: AtomicUsize::new(stream.handle.0),
            users: AtomicUsize::new(0),
            kept: AtomicBool::new(stream.handle == StreamHandle::DEFAULT),
            next: OnceRef::new(),
            last_user: AtomicUsize::new(0),
            maker: AtomicU64::new(Maker::LIBRARY.to_bits()),
            waiting: AtomicUsize::new(0),
            parked: AtomicUsize::new(0),
            remote: RemoteFrees::new(),
            inner: Apart(Lock::new(Inner {
                heap: Heap::new(),
                rules: Rules::unread(),
                pending: Pending::new(),
            })),
        }
    }

    /// The stream. Sure to stay the same while the cache is in use, or locked and not empty.
    pub(crate) fn stream(&self) -> StreamRef {
        StreamRef { device: self.device, handle: StreamHandle(self.handle.load(Ordering::Relaxed)) }
    }

    /// Keeps the cache its stream's until the result is dropped. Called with the table's lock or the
    /// cache's lock held.
    pub(crate) fn use_it(&'static self) -> InUse {
        self.users.fetch_add(1, Ordering::Relaxed);
        InUse(self)
    }

    /// From now on it stays its stream's. Called while the cache is in use.
    pub(crate) fn keep(&self) {
        self.kept.store(true, Ordering::Relaxed);
    }

    /// Makes an empty cache that no call uses that of another stream of the device; `false` when it is
    /// not that, or another thread is in it. The table is locked for writing, so no call finds the cache.
    pub(crate) fn become_of(&'static self, stream: StreamRef) -> bool {
        let Some(inner) = self.try_visit() else { return false };
        // No use begins, and what ended uses have written is seen.
        let free = self.users.load(Ordering::Acquire) == 0
            && !self.kept.load(Ordering::Relaxed)
            && stream.device == self.device
            && inner.heap.is_empty()
            && inner.pending.is_empty()
            && !self.has_remote_frees();
        if free {
            self.handle.store(stream.handle.0, Ordering::Relaxed);
        }
        free
    }

    /// Who made its stream.
    pub(crate) fn maker(&self) -> Maker {
        Maker::from_bits(self.maker.load(Ordering::Relaxed))
    }

    /// Notes who made its stream.
    pub(crate) fn set_maker(&self, maker: Maker) {
        self.maker.store(maker.to_bits(), Ordering::Relaxed);
    }

    /// Whether a stream is the cache's own, as far as is known.
    pub(crate) fn is_of(&self, stream: Named) -> bool {
        stream.stream == self.stream() && !stream.maker.is_other_than(self.maker())
    }

    /// Whether blocks wait for events here.
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) != 0
    }

    /// Whether blocks are parked here.
    pub(crate) fn has_parked(&self) -> bool {
        self.parked.load(Ordering::Relaxed) != 0
    }

    /// Counts a freed block by what delays it now instead of what did before.
    pub(crate) fn count(&self, before: Delay, now: Delay) {
        if before == now {
            return;
        }
        match now {
            Delay::None => {}
            Delay::Waiting => {
                self.waiting.fetch_add(1, Ordering::Relaxed);
                self.home.add_waiting();
            }
            Delay::Parked => {
                self.parked.fetch_add(1, Ordering::Relaxed);
                parked::add();
            }
        }
        match before {
            Delay::None => {}
            Delay::Waiting => {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
                self.home.remove_waiting();
            }
            Delay::Parked => {
                self.parked.fetch_sub(1, Ordering::Relaxed);
                parked::remove(1);
            }
        }
    }

    /// Locks the cache, as the thread that uses it.
    #[inline]
    pub(crate) fn enter(&'static self) -> Entered {
        let token = thread_state::token();
        if self.last_user.load(Ordering::Relaxed) != token {
            self.last_user.store(token, Ordering::Relaxed);
        }
        self.lock()
    }

    /// Locks the cache, to look or to tidy up.
    #[inline]
    pub(crate) fn visit(&'static self) -> Entered {
        let mut inner = self.lock();
        inner.heap.cool();
        inner
    }

    /// Locks the cache for what may go on where the last call left off.
    #[inline]
    fn lock(&'static self) -> Entered {
        let mut inner = self.inner.0.lock();
        self.take_up(&mut inner);
        inner
    }

    /// The same as [`Cache::visit`], unless another thread is in the cache.
    pub(crate) fn try_visit(&'static self) -> Option<Entered> {
        let mut inner = self.inner.0.try_lock()?;
        self.take_up(&mut inner);
        inner.heap.cool();
        Some(inner)
    }

    /// Whether this thread is the one that allocated here last.
    #[inline]
    pub(crate) fn is_used_by(&self, token: usize) -> bool {
        self.last_user.load(Ordering::Relaxed) == token
    }

    /// Hands out a block of the default pool if one fits; `None` leaves the rest to the long way.
    #[inline(always)]
    pub(crate) fn hit(&'static self, token: usize, bytes: usize) -> Option<u64> {
        let mut inner = self.inner.0.lock();
        if self.last_user.load(Ordering::Relaxed) != token {
            self.last_user.store(token, Ordering::Relaxed);
        }
        if self.remote.is_empty()
            && inner.rules.are_current()
            && let Some(address) = inner.heap.take_same(bytes)
        {
            return Some(address);
        }
        self.find(inner, bytes)
    }

    #[inline(never)]
    fn find(&'static self, mut inner: Entered, bytes: usize) -> Option<u64> {
        self.take_up(&mut inner);
        if bytes == 0 || bytes >= TOO_LARGE {
            return None;
        }
        let inner = &mut *inner;
        if inner.rules.refresh() {
            inner.heap.cool();
        }
        let request = inner.rules.request(crate::memory::heap::stream_heap::DEFAULT_POOL, bytes);
        let handed = inner.heap.take(self, &request)?;
        self.handed_out(inner, &request, &handed);
        Some(handed.address)
    }

    /// What follows when a block was handed out.
    #[inline]
    pub(crate) fn handed_out(&'static self, inner: &mut Inner, request: &Request, handed: &Handed) {
        if !handed.settled {
            self.settle(inner);
        }
        if handed.bytes >= request.fit.max_split {
            inner.heap.blocks[handed.id].oversize = true;
            self.home.ledger.lock().oversize_allocations.increase(1);
        }
    }

    /// Frees the block that a word of the address map was seen to name. `false` when it is not live
    /// any more.
    #[inline(always)]
    pub(crate) fn free(&'static self, id: BlockId, word: &Word, seen: Content) -> bool {
        let mut inner = self.inner.0.lock();
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
    fn free_any(&'static self, mut inner: Entered, id: BlockId) {
        self.take_up(&mut inner);
        self.take_back(&mut inner, id);
    }

    /// Leaves a block that the calling thread has claimed to whoever enters next.
    #[inline]
    pub(crate) fn leave(&self, chunk: &Chunk, number: u32) {
        self.remote.push(chunk.link(number), number);
    }

    /// Takes back a block that a caller has freed.
    #[inline]
    fn take_back(&'static self, inner: &mut Inner, id: BlockId) {
        let block = &inner.heap.blocks[id];
        if block.oversize || block.used_elsewhere || history::is_on() {
            inner.heap.cool();
            return self.take_back_slowly(inner, id);
        }
        let now = self.home.requests();
        if !inner.heap.give_back(id, now) {
            self.settle(inner);
        }
    }

    #[cold]
    #[inline(never)]
    fn take_back_slowly(&'static self, inner: &mut Inner, id: BlockId) {
        self.note(Action::FreeRequested, inner, id);
        if std::mem::take(&mut inner.heap.blocks[id].oversize) {
            self.home.ledger.lock().oversize_allocations.decrease(1);
        }
        if inner.heap.blocks[id].used_elsewhere {
            super::deferred_frees::suspend(self, inner, id);
        } else {
            self.complete(inner, id, true);
        }
    }

    /// A block that nothing uses any more becomes free. `held`: it still counts as a caller's.
    pub(crate) fn complete(&'static self, inner: &mut Inner, id: BlockId, held: bool) {
        self.note(Action::FreeCompleted, inner, id);
        let now = self.home.requests();
        let heap = &mut inner.heap;
        if !if held { heap.give_back(id, now) } else { heap.give_back_late(id, now) } {
            self.settle(inner);
        }
    }

    fn note(&self, action: Action, inner: &Inner, id: BlockId) {
        if history::is_on() {
            let block = &inner.heap.blocks[id];
            let pool = inner.heap.pools[usize::from(block.bins >> 1)].number;
            self.note_memory(action, block.address, block.requested, pool);
        }
    }

    /// Adds to the history, if there is one.
    pub(crate) fn note_memory(&self, action: Action, address: u64, bytes: u64, pool: u64) {
        if history::is_on() {
            let StreamRef { device, handle } = self.stream();
            history::record(device, action, address, bytes, handle.0 as u64, (0, pool));
        }
    }

    /// Takes up what other threads have freed.
    #[inline]
    fn take_up(&'static self, inner: &mut Inner) {
        if !self.remote.is_empty() {
            self.take_up_all(inner);
        }
    }

    #[cold]
    #[inline(never)]
    fn take_up_all(&'static self, inner: &mut Inner) {
        let link_of = |number| Chunk::of(number).map(|chunk| chunk.link(number));
        self.remote.take_all(link_of, |number| {
            let Some(chunk) = Chunk::of(number) else { return };
            let id = chunk.block(number);
            // It was claimed, so it is live until here; nothing that is not is ever taken back.
            let block = inner.heap.blocks.get(id).filter(|block| block.state == State::Allocated);
            if block.is_some_and(|block| address_map::withdraw(block.address, number, true)) {
                self.take_back(inner, id);
            }
        });
    }

    /// Gets room for the account from the device's ledger.
    #[cold]
    #[inline(never)]
    pub(crate) fn settle(&'static self, inner: &mut Inner) {
        self.home.settle(self, &mut inner.heap.account);
    }

    /// Whether other threads have freed blocks that nobody has taken up yet.
    pub(crate) fn has_remote_frees(&self) -> bool {
        !self.remote.is_empty()
    }

    /// The lock alone, for the ledger, which must not wait.
    pub(crate) fn try_lock(&'static self) -> Option<Entered> {
        self.inner.0.try_lock()
    }
}
