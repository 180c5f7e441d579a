//! Step 3: a new segment from the driver.

use sconce_base::error::{Result, Status};

use super::new_pages::{self, Moves};
use super::request::Miss;
use super::search::note_alloc;
use crate::memory::heap::idle_segment::IdleSegment;
use crate::memory::heap::request::{BlockRequest, kind_of};
use crate::memory::snapshot::Action;
use crate::memory::source;
use crate::memory::streams::device::gate::Passage;
use crate::memory::streams::live_blocks;
use crate::memory::streams::sleepers;

/// Gets a segment for a miss, beside other threads that do the same. Returns the address of its first
/// block, and `None` when there is no memory.
pub(super) fn get_shared(miss: &Miss<'_>) -> Result<Option<u64>> {
    // Before the gate, as everywhere.
    let begun = if miss.paged { miss.give_back() } else { None };
    get_shared_as(miss, Moves::where_begun(&begun))
}

/// The same where the calling thread knows whether a stream of the device is being captured.
pub(super) fn get_shared_as(miss: &Miss<'_>, moves: Moves) -> Result<Option<u64>> {
    let address = get(miss, moves, &miss.home().gate.shared())?;
    crate::memory::check::in_debug(miss.cache);
    Ok(address)
}

/// Gets a segment for a miss while the device's gate is held.
pub(super) fn get(miss: &Miss<'_>, moves: Moves, passage: &impl Passage) -> Result<Option<u64>> {
    // While the gate is held the pool does not begin to fall asleep.
    sleepers::refuse(miss.device(), miss.wanted.pool)?;
    if miss.paged {
        match new_pages::get(miss, moves, passage) {
            Ok(found) => return Ok(found),
            // A segment may do.
            Err(error) => miss.refusal.set(Some(error)),
        }
    }
    let &Miss { runtime, cache, wanted, segment_bytes, .. } = miss;
    let bytes = segment_bytes as u64;
    if !cache.home.accounting.lock().set_aside(bytes) {
        return Ok(None);
    }
    let address = match source::plain::obtain(runtime, miss.device(), segment_bytes) {
        Ok(address) => address.0,
        Err(error) => {
            cache.home.accounting.lock().cancel(bytes);
            return match error.status() {
                Status::OutOfMemory => Ok(None),
                _ => Err(error),
            };
        }
    };
    let mut inner = cache.enter();
    cache.note_memory(Action::SegmentAlloc, address, bytes, wanted.pool);
    let request = BlockRequest { pool: inner.heap.pool(wanted.pool), ..miss.request };
    // In place of pages it serves small requests, too, and counts as the pool whose bins they look in.
    let kind = kind_of(request.bins());
    let oversize = bytes >= request.fit.max_split;
    {
        let mut accounting = cache.home.accounting.lock();
        accounting.gained(kind, bytes);
        if oversize {
            accounting.oversize_segments.increase(1);
        }
    }
    live_blocks::add(address, bytes, cache);
    let pool = wanted.pool;
    let segment =
        IdleSegment { address, bytes, kind, pool, abandoned: false, oversize, paged: false };
    let id = inner.heap.finished().adopt(segment);
    // Handed out under the same lock, so no other thread can take it.
    let handed = inner.heap.hand_out(cache, id, &request);
    cache.handed_out(&mut inner, &request, &handed);
    note_alloc(cache, handed.address, wanted);
    Ok(Some(handed.address))
}
