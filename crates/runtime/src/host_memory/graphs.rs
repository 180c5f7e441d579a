//! Pinned memory that graphs copy. A graph has the addresses of the memory that its captured work uses, so a block that
//! is freed meanwhile is not used again before the graph has let go and its launches are done.

use std::cell::Cell;

use super::cache::PinnedCache;
use super::deferred;
use super::heap::block::State;
use crate::context::Runtime;
use crate::stream::Named;

thread_local! {
    /// The captures of graphs that the thread has begun: the newest, and how many.
    static CAPTURES: Cell<(u64, u32)> = const { Cell::new((0, 0)) };
}

/// From now on blocks that captured work of the calling thread uses belong to the capture with this number.
pub fn begin_capture(number: u64) {
    CAPTURES.with(|captures| captures.set((number, captures.get().1 + 1)));
}

/// Undoes [`begin_capture`].
pub fn end_capture(_number: u64) {
    CAPTURES.with(|captures| captures.set((0, captures.get().1.saturating_sub(1))));
}

/// The capture that work of the calling thread belongs to; `None` if it is unknown, which it is too while the thread
/// makes several captures, or has ended one of them.
pub(super) fn current() -> Option<u64> {
    match CAPTURES.get() {
        (0, _) => None,
        (number, 1) => Some(number),
        _ => None,
    }
}

/// Lets go of the blocks of a capture. Those that were freed come back when the streams that used them, and those on
/// which launches of the graph may be queued, have done their work.
pub fn release_capture(runtime: &Runtime, number: u64, launched: &[Named]) {
    let cache = PinnedCache::get();
    let has_blocks = cache.enter().captured.contains_key(&number);
    if !has_blocks {
        return;
    }
    if launched.iter().any(|by| by.is_foreign()) {
        deferred::register();
    }
    let mut freed = Vec::new();
    {
        let mut inner = cache.enter();
        for id in inner.captured.remove(&number).unwrap_or_default() {
            let streams = inner.uses.entry(id).or_default();
            for by in launched {
                if !streams.contains(by) {
                    streams.push(*by);
                }
            }
            let block = &inner.heap.blocks[id];
            let waits = block.state == State::Waiting && !block.captured;
            let bytes = block.bytes;
            if waits && !inner.is_in_graph(id) {
                freed.push(((id, bytes), inner.uses.remove(&id).unwrap_or_default()));
            }
        }
    }
    for (block, streams) in freed {
        deferred::add(runtime, cache, block, streams);
    }
}
