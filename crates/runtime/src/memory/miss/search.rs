//! Step 1: a free block of the stream's cache, if one fits.

use super::request::Wanted;
use crate::caching::size_class::PoolKind;
use crate::memory::snapshot::Action;
use crate::memory::streams::cache::{StreamCache, StreamMemory};

/// Locks a cache and hands out a free block, if one fits.
pub(crate) fn search(cache: &'static StreamCache, wanted: Wanted) -> Option<u64> {
    search_locked(cache, &mut cache.enter(), wanted)
}

/// Hands out a free block of a cache that is locked, if one fits.
pub(super) fn search_locked(
    cache: &'static StreamCache,
    inner: &mut StreamMemory,
    wanted: Wanted,
) -> Option<u64> {
    let request = wanted.request(inner);
    if cache.home.collects() && wanted.pool == 0 && request.kind == PoolKind::Large {
        cache.home.count_request();
    }
    let handed = inner.heap.take(cache, &request)?;
    cache.handed_out(inner, &request, &handed);
    note_alloc(cache, handed.address, wanted);
    Some(handed.address)
}

/// Adds an allocation to the history, if it is on.
pub(super) fn note_alloc(cache: &StreamCache, address: u64, wanted: Wanted) {
    cache.note_memory(Action::Alloc, address, wanted.bytes as u64, wanted.pool);
}
