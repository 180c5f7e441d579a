//! What graphs kept, and queued launches may still use: it goes when they are done.
//!
//! Plans, workspaces and the like that a graph keeps ([`Share`]) are memory of libraries, or blocks that no pool of the
//! graph has, such as those of its static inputs. When the graph lets go while launches are queued, an event behind
//! them says when they are done. No call that concerns a graph waits for that: the next one asks, and so do waits for a
//! device and requests that run out of memory.

use std::collections::BTreeMap;

use sconce_base::lock::{Mutex, Once, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{RelaxedCapture, StreamRef};
use sconce_runtime::caching::{BlockId, DeferredFrees, DelayCounters};
use sconce_runtime::context::{Runtime, opened};
use sconce_runtime::device::parked::{self, ParkingAllocator};
use sconce_runtime::graph_shared::Share;
use sconce_runtime::memory::{pool, reclaim};
use sconce_runtime::stream::{self, KeptByCapture, Named};

/// What waits, by numbers of their own.
struct Late {
    waiting: DeferredFrees,
    kept: BTreeMap<BlockId, KeptByCapture>,
    next: BlockId,
}

static LATE: Mutex<rank::LateShares, Late> =
    Mutex::new(Late { waiting: DeferredFrees::new(), kept: BTreeMap::new(), next: 0 });

static COUNTERS: DelayCounters = DelayCounters::new(None);

impl Late {
    fn add(&mut self, runtime: &Runtime, kept: KeptByCapture, users: Vec<Named>) {
        while self.kept.contains_key(&self.next) {
            self.next = self.next.wrapping_add(1);
        }
        self.kept.insert(self.next, kept);
        self.waiting.add(runtime, &COUNTERS, (self.next, 0), users);
    }

    /// Takes out what no launch uses any more.
    fn take_done(&mut self) -> Vec<Share> {
        let mut done = Vec::new();
        while let Some(complete) = self.waiting.next_complete() {
            done.extend(self.kept.remove(&complete.id).into_iter().flat_map(BTreeMap::into_values));
            DeferredFrees::count_taken_back(&COUNTERS, complete);
        }
        done
    }
}

/// Lets go of what a capture kept, once the streams `users` have done the work that is queued now. Called with no lock
/// held.
pub(super) fn let_go(runtime: &Runtime, kept: KeptByCapture, users: Vec<Named>) {
    if kept.is_empty() {
        return;
    }
    if users.is_empty() {
        return drop_relaxed(runtime, kept.into_values().collect());
    }
    static ONCE: Once<rank::FirstTime> = Once::new();
    ONCE.call_once(|| {
        parked::register(ParkingAllocator { named, waited });
        parked::give_back_at_rest(at_rest);
    });
    reclaim::register(give_back);
    LATE.lock().add(runtime, kept, users);
}

/// Lets go of what no queued launch uses any more: of what graphs kept, and of the memory of their pools. Called with
/// no lock held.
pub(super) fn give_back_all(runtime: &Runtime) {
    pool::give_back_late(runtime);
    release_unused(runtime);
}

/// Lets go of what no queued launch uses any more; says of how much. Called with no lock held.
fn release_unused(runtime: &Runtime) -> usize {
    let done = {
        let mut late = LATE.lock();
        if late.kept.is_empty() {
            return 0;
        }
        let Ok(_relaxed) = RelaxedCapture::enter(runtime.driver()) else { return 0 };
        let _asks = runtime.driver().asks_for_itself();
        // Errors stay with the device, and show at the calls that use it.
        let _ = late.waiting.poll(runtime, &COUNTERS);
        late.take_done()
    };
    let count = done.len();
    drop_relaxed(runtime, done);
    count
}

/// The program has waited for a device.
fn at_rest(runtime: &Runtime) {
    release_unused(runtime);
}

/// Memory is short.
fn give_back(_: DeviceIndex, _: usize) -> usize {
    opened().map_or(0, release_unused)
}

/// Drops shares. That may destroy plans, which a capture under way must not forbid, nor be spoilt by.
fn drop_relaxed(runtime: &Runtime, shares: Vec<Share>) {
    if shares.is_empty() {
        return;
    }
    // If the mode cannot be changed, they go all the same.
    let _relaxed = RelaxedCapture::enter(runtime.driver());
    drop(shares);
}

/// The running call names a stream.
fn named(runtime: &Runtime, by: StreamRef) {
    if LATE.lock().waiting.has_parked_for(by) {
        let named = stream::name(runtime, by);
        LATE.lock().waiting.named(runtime, &COUNTERS, named);
    }
}

/// All work queued on a device before a moment has finished. Nothing is dropped here: the caller may be short of
/// memory.
fn waited(_: &Runtime, device: DeviceIndex, moment: u64) {
    LATE.lock().waiting.waited(&COUNTERS, device, moment);
}
