//! Allocating and freeing: the fast path, and where the slow one begins.

use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::rank;
use sconce_driver::{PointerKind, RelaxedCapture};

use super::cache::{PinnedCache, PinnedMemory, Policy};
use super::heap::block::State;
use super::heap::rounding::{Kind, round};
use super::{deferred, drain, give_back, graphs, grow, observed};
use crate::caching::{BlockId, Guard, settings};
use crate::context::{
    Runtime, is_initialized, nothing_to_check, opened, runtime, runtime_if_any, runtime_to_release,
};
use crate::stream::Stream;

/// Pinned memory; address 0 for 0 bytes.
#[inline]
pub fn alloc(bytes: usize) -> Result<usize> {
    let cache = PinnedCache::get();
    if !cache.delays.has_waiting() && nothing_to_check() {
        let mut inner = cache.inner.lock();
        if inner.rules.are_current() && bytes <= inner.rules.most_fast {
            if let Some(address) = inner.heap.last.take(bytes) {
                return Ok(address);
            }
            if let Some(address) = find(inner, bytes) {
                return Ok(address);
            }
        }
    }
    slow_path(cache, bytes)
}

/// Hands out another block than the last one, if any fits.
#[inline(never)]
fn find(mut inner: Guard<'static, rank::PinnedHeap, PinnedMemory>, bytes: usize) -> Option<usize> {
    inner.heap.finish_last();
    if bytes == 0 { None } else { inner.heap.take(bytes) }
}

#[cold]
#[inline(never)]
fn slow_path(cache: &'static PinnedCache, bytes: usize) -> Result<usize> {
    let runtime = runtime()?;
    if bytes == 0 {
        return Ok(0);
    }
    observed::begin(runtime);
    let address = find_or_grow(runtime, cache, bytes)?;
    if observed::is_on() {
        observed::handed_out(runtime, address, bytes);
    }
    Ok(address)
}

fn find_or_grow(runtime: &Runtime, cache: &'static PinnedCache, bytes: usize) -> Result<usize> {
    let rules = rules(cache);
    let Some(rounded) = round(bytes) else {
        return Err(Error::new(
            Status::OutOfMemory,
            format!("bytes is {bytes}, more than any machine can pin"),
        ));
    };
    if rules.drained {
        drain::start(deferred::poll);
    } else {
        deferred::poll_to_allocate(runtime, cache);
    }
    let keep = bytes <= rules.most_cached;
    if rules.reserve != 0 {
        grow::reserve(runtime, cache, rules.reserve)?;
    }
    if keep {
        if let Some(address) = cache.enter().heap.take(bytes) {
            return Ok(address);
        }
        if rules.drained
            && deferred::poll_to_allocate(runtime, cache)
            && let Some(address) = cache.enter().heap.take(bytes)
        {
            return Ok(address);
        }
    }
    grow::grow(runtime, cache, bytes, rounded, keep)
}

/// The rules in force, which hits go by from now on.
fn rules(cache: &PinnedCache) -> Policy {
    let known = cache.enter().rules;
    if known.are_current() {
        return known;
    }
    // Without the lock: reading the settings may say something to a log.
    let read = Policy::read();
    cache.enter().rules = read;
    read
}

/// Frees pinned memory; address 0 is nothing. Any thread may.
#[inline]
pub fn free(address: usize) -> Result<()> {
    // Before the block is free: afterwards it may be another thread's.
    if observed::is_on() {
        observed::taken_back(address);
    }
    if is_initialized() {
        let cache = PinnedCache::get();
        let mut inner = cache.inner.lock();
        if inner.heap.last.give_back(address) {
            return Ok(());
        }
        return free_any(cache, inner, address);
    }
    not_freed(address)
}

/// Frees another block than the last one.
#[inline(never)]
fn free_any(
    cache: &'static PinnedCache,
    mut inner: Guard<'static, rank::PinnedHeap, PinnedMemory>,
    address: usize,
) -> Result<()> {
    let heap = &mut inner.heap;
    heap.finish_last();
    let Some(id) = heap.held_at(address) else {
        drop(inner);
        return not_freed(address);
    };
    if heap.blocks[id].used || heap.blocks[id].kind == Kind::Alone {
        return free_slowly(cache, inner, id);
    }
    let outgoing = heap.give_back(id);
    debug_assert_eq!(outgoing, None);
    Ok(())
}

/// A block that streams use, or that is not kept.
#[cold]
#[inline(never)]
fn free_slowly(
    cache: &'static PinnedCache,
    mut inner: Guard<'static, rank::PinnedHeap, PinnedMemory>,
    id: BlockId,
) -> Result<()> {
    let runtime = runtime_to_release()?;
    if !inner.heap.blocks[id].used {
        let outgoing = inner.heap.give_back(id);
        drop(inner);
        give_back::give_back(runtime, cache, outgoing.into_iter().collect());
        return Ok(());
    }
    let block = &mut inner.heap.blocks[id];
    block.state = State::Waiting;
    let (captured, bytes) = (block.captured, block.bytes);
    if inner.is_in_graph(id) {
        return Ok(());
    }
    let streams = inner.uses.remove(&id).unwrap_or_default();
    drop(inner);
    if !captured {
        deferred::add(runtime, cache, (id, bytes), streams);
    }
    Ok(())
}

/// Memory that the cache does not have; and why it cannot be freed.
#[cold]
#[inline(never)]
fn not_freed(address: usize) -> Result<()> {
    if address == 0 {
        return Ok(());
    }
    let runtime = runtime()?;
    let cache = PinnedCache::get();
    if let Some(error) = refusal(&cache.enter(), address) {
        return Err(error);
    }
    let foreign = runtime.driver().pointer_info(address)?;
    let is_start = foreign.base.0 == address as u64;
    if settings::current().pinned.free_catch_all
        && foreign.kind == PointerKind::PinnedHost
        && is_start
    {
        let _no_capture_begins = give_back::begin(runtime)?;
        let _relaxed = RelaxedCapture::enter(runtime.driver())?;
        return runtime.driver().host_free(address);
    }
    Err(Error::invalid_argument(format!(
        "ptr {address:#x} is not pinned memory of this library; pass an \
         address that sconce_host_memory_alloc returned, and free it only once"
    )))
}

/// Why no held block begins at the address; `None` when the memory is not the cache's.
fn refusal(inner: &PinnedMemory, address: usize) -> Option<Error> {
    let block = &inner.heap.blocks[inner.heap.block_at(address)?];
    if block.state != State::Held || block.address == address {
        return Some(Error::invalid_argument(format!(
            "ptr {address:#x} was freed already; free memory only once, and do not use it afterwards"
        )));
    }
    Some(Error::invalid_argument(format!(
        "ptr {address:#x} points {} bytes into the block at {:#x}; pass the address that the \
         allocating function returned",
        address - block.address,
        block.address
    )))
}

/// Notes that a stream uses the live block that holds an address. Memory of others is ignored; returns whether it is
/// the cache's.
pub fn record_stream(address: usize, stream: Stream) -> Result<bool> {
    let runtime = runtime()?;
    if address == 0 {
        return Ok(false);
    }
    if record_use(runtime, address, stream) {
        return Ok(true);
    }
    refusal(&PinnedCache::get().enter(), address).map_or(Ok(false), Err)
}

/// Notes that a queued copy uses the live block that holds an address; `false` when none does.
pub fn record_use(runtime: &Runtime, address: usize, stream: Stream) -> bool {
    let cache = PinnedCache::get();
    let held = |inner: &PinnedMemory| {
        let id = inner.heap.block_at(address)?;
        (inner.heap.blocks[id].state == State::Held).then_some(id)
    };
    if held(&cache.enter()).is_none() {
        return false;
    }
    // Work that is captured runs when the graph is launched: no event shows when it has. A graph of this library says
    // when it lets go.
    // Where the driver cannot say, because the stream is gone, the device has failed, or the stream is the legacy one
    // beside a capture, nothing is captured. But if this thread makes a graph, the block may be the graph's.
    let captured = runtime
        .driver()
        .stream_is_capturing(stream.driver_ref())
        .unwrap_or_else(|_| graphs::current().is_some());
    let by = stream.named(runtime);
    if by.is_foreign() {
        deferred::register();
        stream.note_named(runtime);
    }
    let mut inner = cache.enter();
    let Some(id) = held(&inner) else { return false };
    let block = &mut inner.heap.blocks[id];
    block.used = true;
    block.captured |= captured && graphs::current().is_none();
    if let Some(graph) = graphs::current().filter(|_| captured) {
        inner.captured.entry(graph).or_default().insert(id);
    }
    let streams = inner.uses.entry(id).or_default();
    if !streams.contains(&by) {
        streams.push(by);
    }
    let start = inner.heap.blocks[id].address;
    drop(inner);
    if observed::is_on() {
        observed::used(runtime, stream.driver_ref(), start);
    }
    true
}

/// What is known of an address of pinned memory.
pub enum PinnedAddress {
    /// In a block that a caller holds; the bytes from the address to the block's end.
    Held(usize),
    /// In memory of the cache that no caller holds.
    Freed,
    /// Not in the cache's memory.
    Nothing,
}

/// Looks an address up without asking the driver.
pub fn look_up(address: usize) -> PinnedAddress {
    let inner = PinnedCache::get().enter();
    let Some(id) = inner.heap.block_at(address) else { return PinnedAddress::Nothing };
    let block = &inner.heap.blocks[id];
    if block.state == State::Held {
        PinnedAddress::Held(block.end() - address)
    } else {
        PinnedAddress::Freed
    }
}

/// The bytes of freed blocks that wait for work to finish, as of the last poll.
pub fn waiting_bytes() -> usize {
    PinnedCache::get().delays.waiting_bytes()
}

/// Whether an address is page-locked host memory, whichever library locked it. Opens no backend: without one, and
/// in a forked child of a process that had one, nothing is pinned.
pub fn is_pinned(address: usize) -> Result<bool> {
    match opened() {
        Some(runtime) if address != 0 => {
            Ok(runtime.driver().pointer_info(address)?.kind == PointerKind::PinnedHost)
        }
        _ => Ok(false),
    }
}

/// Gives all memory that nothing uses back to the system.
pub fn empty_cache() -> Result<()> {
    let Some(runtime) = runtime_if_any()? else { return Ok(()) };
    let cache = PinnedCache::get();
    deferred::poll(runtime, cache);
    let _no_capture_begins = give_back::begin(runtime)?;
    deferred::wait_for_parked(runtime, cache);
    let outgoing = {
        let mut inner = cache.enter();
        inner.heap.forget_most_used();
        inner.heap.take_idle(&Kind::GIVEN_BACK, usize::MAX)
    };
    give_back::unpin_all(runtime, cache, outgoing)
}

/// All figures.
pub fn stats() -> Result<super::HostMemoryStats> {
    runtime_if_any()?;
    Ok(PinnedCache::get().enter().heap.figures.stats())
}

/// Peaks become the values of now.
pub fn reset_peak_stats() -> Result<()> {
    runtime_if_any()?;
    PinnedCache::get().enter().heap.figures.reset_peaks();
    Ok(())
}

/// Sums and counts begin again.
pub fn reset_accumulated_stats() -> Result<()> {
    runtime_if_any()?;
    PinnedCache::get().enter().heap.figures.reset_accumulated();
    Ok(())
}
