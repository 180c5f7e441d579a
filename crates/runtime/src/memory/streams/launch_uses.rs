//! Streams on which a graph was launched use all memory of the graph's pool: a launch may use any address that the pool
//! had during the capture, in a block that is held now or not.
//!
//! While the graph holds the pool, its memory stays. When the graph lets go, launches may still be queued. Then the
//! streams become users of each block: a held block waits for them when it is freed, and every other block waits for
//! them from now on. So it is neither handed out nor given back to the driver, whatever happens to the pool.

use super::cache::{StreamCache, StreamMemory};
use super::{block_uses, deferred};
use crate::caching::BlockId;
use crate::context::Runtime;
use crate::memory::heap::block::RecordState;
use crate::stream::{self, Named};

/// Those of the streams whose work is not known to be done.
pub fn busy(runtime: &Runtime, launched: &[Named]) -> Vec<Named> {
    // A stream of the program must not be queried by a call that does not name it.
    let is_idle = |by: &&Named| !by.is_foreign() && stream::is_stream_idle(runtime, by.stream);
    launched.iter().filter(|by| !is_idle(by)).copied().collect()
}

/// Notes that streams use all memory of a pool. Called without a lock, in the relaxed mode of captures.
pub(crate) fn add(runtime: &Runtime, number: u64, streams: &[Named]) {
    if streams.is_empty() {
        return;
    }
    for cache in runtime.devices().flat_map(StreamCache::all_of) {
        cache.add_users(runtime, number, streams);
    }
}

/// Whether blocks of a pool wait for streams.
pub(crate) fn has_waiting(runtime: &Runtime, number: u64) -> bool {
    let waits = |cache: &&StreamCache| cache.delays().has_waiting() || cache.delays().has_parked();
    let mut caches = runtime.devices().flat_map(StreamCache::all_of).filter(waits);
    caches.any(|cache| {
        let inner = &mut *cache.visit();
        let blocks = inner.heap.finished().blocks_in(number);
        blocks.iter().any(|id| inner.deferred.contains(*id))
    })
}

/// Makes free memory of a pool that was destroyed wait for its own streams, too: they may run launches, and nothing is
/// allocated any more that their order would protect.
pub(crate) fn add_own_streams(runtime: &Runtime, number: u64) {
    for cache in runtime.devices().flat_map(StreamCache::all_of) {
        cache.add_own_stream(runtime, number);
    }
}

impl StreamCache {
    fn add_users(&'static self, runtime: &Runtime, number: u64, streams: &[Named]) {
        let inner = &mut *self.visit();
        // Its own stream uses the memory in its own order.
        let others: Vec<Named> =
            streams.iter().filter(|by| !self.identity().is_of(**by)).copied().collect();
        if others.is_empty() {
            return;
        }
        for id in inner.heap.finished().blocks_in(number) {
            let block = inner.heap.blocks[id];
            if block.state == RecordState::Allocated {
                for by in &others {
                    block_uses::note_stream(self, inner, block.address, id, *by);
                }
            } else {
                self.wait_for(runtime, inner, id, &others);
            }
        }
        self.take_back_complete(inner);
    }

    fn add_own_stream(&'static self, runtime: &Runtime, number: u64) {
        let inner = &mut *self.visit();
        let blocks = inner.heap.finished().blocks_in(number);
        let own = Named { stream: self.stream(), maker: self.identity().maker() };
        if blocks.is_empty() || busy(runtime, &[own]).is_empty() {
            return;
        }
        for id in blocks {
            if inner.heap.blocks[id].state != RecordState::Allocated {
                self.wait_for(runtime, inner, id, &[own]);
            }
        }
        self.take_back_complete(inner);
    }

    /// Makes a block that nobody holds wait for streams.
    fn wait_for(
        &'static self,
        runtime: &Runtime,
        inner: &mut StreamMemory,
        id: BlockId,
        streams: &[Named],
    ) {
        let block = &inner.heap.blocks[id];
        let (bytes, is_free) = (block.bytes as usize, block.state == RecordState::Free);
        if is_free && !inner.heap.finished().suspend_free(id) {
            self.refill(inner);
        }
        if streams.iter().any(|by| by.is_foreign()) {
            deferred::register();
        }
        inner.deferred.add_streams(runtime, self.delays(), (id, bytes), streams);
    }
}
