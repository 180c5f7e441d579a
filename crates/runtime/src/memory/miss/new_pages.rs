//! Step 3 where memory is made of pages: free pages are mapped side by side, and only what is missing comes from the
//! driver as new pages.
//!
//! Pages are taken from the cheapest source that has them:
//! 1. free pages of the stream that are mapped side by side already, from an earlier request: no driver call;
//! 2. free pages of the stream, mapped at one more address, at the end of a run or at a place of their own;
//! 3. free pages of other streams that have no work left;
//! 4. new pages.
//!
//! If a driver call fails, all pages go back to where they were.

use std::sync::atomic::Ordering;

use sconce_base::error::{Result, Status};
use sconce_driver::RelaxedCapture;

use super::lent_pages::{self, LentPages, own_stream};
use super::request::Miss;
use super::search::{note_alloc, search_locked};
use crate::caching::size_class::PoolKind;
use crate::memory::heap::block::BlockRecord;
use crate::memory::heap::idle_segment::IdleSegment;
use crate::memory::heap::request::BlockRequest;
use crate::memory::heap::runs::RunEnd;
use crate::memory::snapshot::Action;
use crate::memory::source::pages::{
    self, DevicePages, FreePage, MappingUse, PageId, SMALLEST_PAGE,
};
use crate::memory::streams::cache::{LockedCache, StreamCache};
use crate::memory::streams::device::gate::Passage;
use crate::memory::streams::live_blocks;
use crate::stream::{self, GivingBack};

/// Whether pages may move while the running call gets memory: not if a stream of the device may be captured,
/// since a graph names addresses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moves {
    Allowed,
    Forbidden,
}

impl Moves {
    /// Allowed if the calling thread may give memory back, so that no capture begins.
    pub(super) fn where_begun(begun: &Option<GivingBack<'_>>) -> Moves {
        if begun.is_some() { Moves::Allowed } else { Moves::Forbidden }
    }
}

/// Where new mappings go.
struct RunPlace {
    /// The end of the run that they make longer; `None` for a range of their own.
    end: Option<RunEnd>,
    /// How many bytes they must have.
    need: u64,
}

/// The pool that pages count in: there is one for small and large blocks.
const POOL_OF_PAGES: PoolKind = PoolKind::Large;

/// The outcome of an attempt.
enum Attempt {
    /// A block at this address.
    At(u64),
    NoMemory,
    /// The memory is there, but another thread has taken what it was to be joined with.
    Again,
}

/// Gets pages for a miss while the device's gate is held. Returns the address of a block for the request,
/// `None` when there is no memory, and an error when the driver refused for another reason.
pub(super) fn get(miss: &Miss<'_>, moves: Moves, _passage: &impl Passage) -> Result<Option<u64>> {
    if miss.request.rounded > device_bytes(miss) {
        return Ok(None);
    }
    let driver = miss.runtime.driver();
    pages::follow_peers();
    let mut pages = pages::lock(miss.device());
    DevicePages::check_unit(driver, miss.device())?;
    let _relaxed = RelaxedCapture::enter(driver)?;
    if moves == Moves::Allowed {
        // What fails here is tried again at the next miss.
        let _ = pages.evict(miss.runtime, own_stream(miss.cache));
    }
    let moves = moves == Moves::Allowed && miss.wanted.pool == 0;
    for may_extend in [true, false, false] {
        match attempt(miss, &mut pages, moves, may_extend)? {
            Attempt::At(address) => return Ok(Some(address)),
            Attempt::NoMemory => return Ok(None),
            Attempt::Again => {}
        }
    }
    Ok(None)
}

/// The memory of the device. No more is mapped for a request, so that a size that no device has costs nothing.
fn device_bytes(miss: &Miss<'_>) -> u64 {
    miss.home().total_bytes.load(Ordering::Acquire) as u64
}

fn attempt(
    miss: &Miss<'_>,
    pages: &mut DevicePages,
    moves: bool,
    may_extend: bool,
) -> Result<Attempt> {
    let &Miss { cache, wanted, .. } = miss;
    let mut inner = cache.enter();
    // Another thread may have freed a block, or got pages, since the cache was searched.
    if let Some(address) = search_locked(cache, &mut inner, wanted) {
        return Ok(Attempt::At(address));
    }
    let request = BlockRequest { pool: inner.heap.pool(wanted.pool), ..miss.request };
    let free = match moves {
        true => lent_pages::free_pages(pages, &mut inner, |pool| pool.number == 0),
        false => Vec::new(),
    };
    if moves && let Some(address) = from_mappings(miss, pages, &mut inner, &free) {
        return Ok(Attempt::At(address));
    }
    let place = choose_place(pages, &inner, &request, may_extend);
    let beside = |block: u64, bytes: u64| {
        place
            .end
            .is_some_and(|end| if end.is_low { block == end.at } else { block + bytes == end.at })
    };
    let free: Vec<FreePage> = free
        .into_iter()
        .filter(|(block, _)| !beside(block.address, block.bytes))
        .flat_map(|(_, pages)| pages)
        .collect();
    let mut lent = Vec::new();
    let mut chosen = lent_pages::choose(&free, place.need);
    if !pages.may_alias(chosen.len()) {
        chosen.clear();
    }
    lent.extend(lent_pages::take(pages, cache, &mut inner, &chosen));
    drop(inner);
    if moves {
        borrow_from_idle(miss, pages, &mut lent, place.need);
    }
    build(miss, pages, &place, lent)
}

/// Serves a request from mappings that pages have already and that lie side by side. Pages that are in their
/// place stay there.
fn from_mappings(
    miss: &Miss<'_>,
    pages: &mut DevicePages,
    inner: &mut LockedCache,
    free: &[(BlockRecord, Vec<FreePage>)],
) -> Option<u64> {
    let places = pages.table.free_pages(free.iter().flat_map(|(_, pages)| pages));
    let need = miss.request.rounded.next_multiple_of(SMALLEST_PAGE);
    let window = pages.table.find_window(&places, need)?;
    let (mut moved, mut chosen) = (Vec::new(), Vec::new());
    for page in window {
        if let Some(place) = places.of(page.page).filter(|it| *it != page.address) {
            moved.push(page);
            chosen.push(FreePage { address: place, ..page });
        }
    }
    chosen.sort_unstable_by_key(|page| page.address);
    let lent = lent_pages::take(pages, miss.cache, inner, &chosen);
    pages.count_hit();
    match adopt_run(miss, pages, inner, &moved, &lent, 0) {
        Attempt::At(address) => Some(address),
        // The window has the size of the request.
        Attempt::NoMemory | Attempt::Again => None,
    }
}

/// The end of a run at which the fewest bytes must be mapped, or a range of its own.
fn choose_place(
    pages: &DevicePages,
    inner: &LockedCache,
    request: &BlockRequest,
    may_extend: bool,
) -> RunPlace {
    let apart = RunPlace { end: None, need: request.rounded.next_multiple_of(SMALLEST_PAGE) };
    if !may_extend {
        return apart;
    }
    let mut best = apart;
    for end in inner.heap.run_ends(request.bins()) {
        if end.free >= request.rounded || (end.is_low && end.free == 0) {
            continue;
        }
        let need = (request.rounded - end.free).next_multiple_of(SMALLEST_PAGE);
        let better = need < best.need || (need == best.need && best.end.is_none());
        let from = if end.is_low { end.at.saturating_sub(need) } else { end.at };
        if better && pages.is_unused(from, need) {
            best = RunPlace { end: Some(end), need };
        }
    }
    best
}

/// Takes free pages of other streams that have no work left. No stream is made to wait for another: that could
/// close a circle of streams that wait.
fn borrow_from_idle(
    miss: &Miss<'_>,
    pages: &mut DevicePages,
    lent: &mut Vec<LentPages>,
    need: u64,
) {
    for other in StreamCache::all_of(miss.device()) {
        let have: u64 = lent.iter().map(|pages| pages.was.bytes).sum();
        if have >= need {
            return;
        }
        if std::ptr::eq(other, miss.cache) {
            continue;
        }
        let Some(own) = own_stream(other) else { continue };
        let Some(mut inner) = other.try_visit() else { continue };
        let free = lent_pages::free_pages(pages, &mut inner, |pool| pool.number == 0);
        let free: Vec<FreePage> = free.into_iter().flat_map(|(_, pages)| pages).collect();
        let chosen = lent_pages::choose(&free, need - have);
        if chosen.is_empty() || !pages.may_alias(chosen.len()) {
            continue;
        }
        // With the cache locked: what was free before is used by no later work.
        if stream::is_stream_idle(miss.runtime, own) {
            lent.extend(lent_pages::take(pages, other, &mut inner, &chosen));
        }
    }
}

/// Maps what was taken, and new pages for what is missing, and hands out a block.
fn build(
    miss: &Miss<'_>,
    pages: &mut DevicePages,
    place: &RunPlace,
    lent: Vec<LentPages>,
) -> Result<Attempt> {
    let &Miss { runtime, cache, .. } = miss;
    let (driver, device, home) = (runtime.driver(), miss.device(), cache.home);
    let have: u64 = lent.iter().map(|pages| pages.was.bytes).sum();
    let fresh_bytes = place.need.saturating_sub(have).next_multiple_of(SMALLEST_PAGE);
    if fresh_bytes != 0 && !home.accounting.lock().set_aside(fresh_bytes) {
        lent_pages::put_back(pages, lent);
        return Ok(Attempt::NoMemory);
    }
    let sizes = pages.sizes(fresh_bytes);
    let made = pages.create(driver, device, &sizes).and_then(|fresh| {
        let moved = lent.iter().flat_map(|lent| &lent.pages).map(|page| page.page);
        let all: Vec<PageId> = moved.chain(fresh.iter().copied()).collect();
        let total = have + fresh_bytes;
        let at = place.end.map(|end| if end.is_low { end.at - total.min(end.at) } else { end.at });
        let base = pages.map(runtime, device, &all, at, device_bytes(miss));
        base.map(|base| (base, all)).inspect_err(|_| pages.release(driver, &fresh))
    });
    let (base, all) = match made {
        Ok(made) => made,
        Err(error) => {
            if fresh_bytes != 0 {
                home.accounting.lock().cancel(fresh_bytes);
            }
            lent_pages::put_back(pages, lent);
            return match error.status() {
                Status::OutOfMemory => Ok(Attempt::NoMemory),
                _ => Err(error),
            };
        }
    };
    let aliases = lent.iter().map(|lent| lent.pages.len()).sum();
    pages.count_aliases(aliases);
    pages.count_bytes(fresh_bytes as i64);
    let mut address = base;
    let mut run = Vec::with_capacity(all.len());
    for page in all {
        let bytes = pages.table.page(page).map_or(0, |page| page.bytes);
        run.push(FreePage { address, bytes, page });
        address += bytes;
    }
    let mut inner = cache.enter();
    let attempt = adopt_run(miss, pages, &mut inner, &run, &lent, fresh_bytes);
    drop(inner);
    for lent in &lent {
        lent.of.cache().visit().heap.finished().shrink_if_empty();
    }
    Ok(attempt)
}

/// Makes mapped pages part of the cache, which is locked, and hands out a block of them.
fn adopt_run(
    miss: &Miss<'_>,
    pages: &mut DevicePages,
    inner: &mut LockedCache,
    run: &[FreePage],
    lent: &[LentPages],
    fresh_bytes: u64,
) -> Attempt {
    let &Miss { cache, wanted, .. } = miss;
    let request = BlockRequest { pool: inner.heap.pool(wanted.pool), ..miss.request };
    if fresh_bytes != 0 {
        cache.home.accounting.lock().gained_pages(POOL_OF_PAGES, fresh_bytes);
    }
    for page in lent.iter().flat_map(|lent| &lent.pages) {
        pages.table.set_spare(page.address);
    }
    for page in run {
        pages.table.set_used(page.address, MappingUse::Present, own_stream(cache));
    }
    let mut joined = None;
    for group in run.chunk_by(|one, next| one.address + one.bytes == next.address) {
        let Some(first) = group.first() else { continue };
        let segment = IdleSegment {
            address: first.address,
            bytes: group.iter().map(|page| page.bytes).sum(),
            kind: POOL_OF_PAGES,
            pool: wanted.pool,
            abandoned: false,
            oversize: false,
            paged: true,
        };
        if let Some(before) = joined {
            inner.heap.finished().keep(before);
        }
        let (id, change) = inner.heap.finished().adopt_pages(segment);
        live_blocks::replace(&change, cache);
        cache.note_memory(Action::SegmentMap, segment.address, segment.bytes, segment.pool);
        joined = Some(id);
    }
    let Some(id) = joined else { return Attempt::Again };
    if inner.heap.blocks[id].bytes < request.rounded {
        inner.heap.finished().keep(id);
        return Attempt::Again;
    }
    // Handed out under the same lock, so no other thread can take it.
    let handed = inner.heap.hand_out(cache, id, &request);
    cache.handed_out(inner, &request, &handed);
    note_alloc(cache, handed.address, wanted);
    Attempt::At(handed.address)
}
