//! Allocating and freeing: the short way, and where the long one begins.

use std::sync::atomic::Ordering;

use super::cache::{Cache, Inner, Rules};
use super::deferred_frees;
use super::drain;
use super::grow;
use super::heap::block::{BlockId, State};
use super::heap::rounding::{Kind, round};
use super::parked;
use crate::caching::settings;
use crate::context::{Runtime, is_initialized, opened, runtime};
use crate::driver::{PointerKind, RelaxedCapture};
use crate::error::{Error, Result, Status};
use crate::stream::Stream;

/// Pinned memory; address 0 for 0 bytes.
#[inline]
pub fn alloc(bytes: usize) -> Result<usize> {
    let cache = Cache::get();
    if cache.waiting.load(Ordering::Relaxed) == 0 && is_initialized() {
        let mut inner = cache.inner.lock();
        if inner.rules.are_current() && bytes <= inner.rules.most_cached {
            if let Some(address) = inner.heap.hot.take(bytes) {
                return Ok(address);
            }
            inner.heap.cool();
            if bytes != 0
                && let Some(address) = inner.heap.take_same(bytes)
            {
                return Ok(address);
            }
        }
    }
    the_long_way(cache, bytes)
}

#[cold]
#[inline(never)]
fn the_long_way(cache: &'static Cache, bytes: usize) -> Result<usize> {
    let runtime = runtime()?;
    if bytes == 0 {
        return Ok(0);
    }
    let rules = rules(cache);
    let Some(rounded) = round(bytes) else {
        return Err(Error::new(
            Status::OutOfMemory,
            format!("bytes is {bytes}, more than any machine can pin"),
        ));
    };
    if rules.drained {
        drain::start();
    } else {
        deferred_frees::poll(runtime, cache);
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
            && deferred_frees::poll(runtime, cache)
            && let Some(address) = cache.enter().heap.take(bytes)
        {
            return Ok(address);
        }
    }
    grow::grow(runtime, cache, bytes, rounded, keep)
}

/// The rules in force, which hits go by from now on.
fn rules(cache: &Cache) -> Rules {
    let known = cache.enter().rules;
    if known.are_current() {
        return known;
    }
    // Without the lock: reading the settings may say something to a log.
    let read = Rules::read();
    cache.enter().rules = read;
    read
}

/// Frees pinned memory; address 0 is nothing. Any thread may.
#[inline]
pub fn free(address: usize) -> Result<()> {
    if is_initialized() {
        let cache = Cache::get();
        let mut inner = cache.inner.lock();
        if inner.heap.hot.give_back(address) {
            return Ok(());
        }
        inner.heap.cool();
        if let Some(id) = inner.heap.index.whole_at(address)
            && inner.heap.blocks[id].state == State::Held
        {
            if !inner.heap.blocks[id].used
                && inner.heap.blocks[id].kind != Kind::Alone
                && inner.heap.give_back(id).is_none()
            {
                return Ok(());
            }
            return free_slowly(cache, inner, id);
        }
    }
    not_freed(address)
}

/// A block that streams use, or that is not kept.
#[cold]
#[inline(never)]
fn free_slowly(
    cache: &'static Cache,
    mut inner: crate::caching::Guard<'static, Inner>,
    id: BlockId,
) -> Result<()> {
    let runtime = runtime()?;
    if !inner.heap.blocks[id].used {
        let outgoing = inner.heap.give_back(id);
        drop(inner);
        grow::give_back(runtime, cache, outgoing.into_iter().collect());
        return Ok(());
    }
    let block = &mut inner.heap.blocks[id];
    block.state = State::Waiting;
    let (captured, bytes) = (block.captured, block.bytes);
    let streams = inner.uses.remove(&id).unwrap_or_default();
    drop(inner);
    if !captured {
        deferred_frees::add(runtime, cache, (id, bytes), streams);
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
    let cache = Cache::get();
    if let Some(error) = refusal(&cache.enter(), address) {
        return Err(error);
    }
    let foreign = runtime.driver().pointer_info(address)?;
    let is_start = foreign.base.0 == address as u64;
    if settings::current().pinned.free_catch_all
        && foreign.kind == PointerKind::PinnedHost
        && is_start
    {
        grow::refuse_capture(runtime)?;
        let _relaxed = RelaxedCapture::enter(runtime.driver())?;
        return runtime.driver().host_free(address);
    }
    Err(Error::invalid_argument(format!(
        "ptr {address:#x} is not pinned memory of this library; pass what \
         sconce_host_memory_alloc gave, and only once"
    )))
}

/// Why no held block begins at the address; `None` when the memory is somebody else's.
fn refusal(inner: &Inner, address: usize) -> Option<Error> {
    let block = &inner.heap.blocks[inner.heap.block_at(address)?];
    if block.state != State::Held || block.address == address {
        return Some(Error::invalid_argument(format!(
            "ptr {address:#x} was freed already; free memory once, and use it only before"
        )));
    }
    Some(Error::invalid_argument(format!(
        "ptr {address:#x} points {} bytes into the block at {:#x}; pass the address that the \
         allocation gave",
        address - block.address,
        block.address
    )))
}

/// Notes that a stream uses the live block that holds an address. Memory of others is ignored.
pub fn record_stream(address: usize, stream: Stream) -> Result<()> {
    let runtime = runtime()?;
    if address == 0 || record_use(runtime, address, stream) {
        return Ok(());
    }
    refusal(&Cache::get().enter(), address).map_or(Ok(()), Err)
}

/// The same for a queued copy; `false` when no live block holds the address.
pub(crate) fn record_use(runtime: &Runtime, address: usize, stream: Stream) -> bool {
    let cache = Cache::get();
    let held = |inner: &Inner| {
        let id = inner.heap.block_at(address)?;
        (inner.heap.blocks[id].state == State::Held).then_some(id)
    };
    if held(&cache.enter()).is_none() {
        return false;
    }
    // Work that is captured runs when the graph is launched: no event tells when it has.
    // Nothing is captured where the driver refuses to tell: by a stream that is gone, by the legacy
    // stream beside a capture, or on a device that has failed.
    let captured = runtime.driver().stream_is_capturing(stream.driver_ref()).unwrap_or(false);
    let by = stream.named(runtime);
    if by.is_foreign() {
        parked::register();
        stream.note_named(runtime);
    }
    let mut inner = cache.enter();
    let Some(id) = held(&inner) else { return false };
    let block = &mut inner.heap.blocks[id];
    block.used = true;
    block.captured |= captured;
    let streams = inner.uses.entry(id).or_default();
    if !streams.contains(&by) {
        streams.push(by);
    }
    true
}

/// What is known of an address of pinned memory.
pub(crate) enum Known {
    /// In a block that a caller holds; so many bytes from there are the block's.
    Held(usize),
    /// In memory of the cache that nobody holds.
    Freed,
    /// Not in the cache's memory.
    Nothing,
}

/// Looks an address up without asking the driver.
pub(crate) fn look_up(address: usize) -> Known {
    let inner = Cache::get().enter();
    let Some(id) = inner.heap.block_at(address) else { return Known::Nothing };
    let block = &inner.heap.blocks[id];
    if block.state == State::Held { Known::Held(block.end() - address) } else { Known::Freed }
}

/// The bytes of freed blocks that wait for work to finish, as far as anybody has looked.
pub(crate) fn waiting_bytes() -> usize {
    Cache::get().waiting_bytes.load(Ordering::Relaxed)
}

/// Whether an address is page-locked host memory, whoever locked it. Opens no backend: without one, and
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
    let runtime = runtime()?;
    let cache = Cache::get();
    deferred_frees::poll(runtime, cache);
    grow::refuse_capture(runtime)?;
    parked::wait(runtime, cache);
    let outgoing = {
        let mut inner = cache.enter();
        inner.heap.forget_most_used();
        inner.heap.take_whole(&Kind::GIVEN_BACK, usize::MAX)
    };
    grow::unpin_all(runtime, cache, outgoing)
}

/// All figures.
pub fn stats() -> Result<super::HostMemoryStats> {
    runtime()?;
    Ok(Cache::get().enter().heap.figures)
}

/// Peaks become the values of now.
pub fn reset_peak_stats() -> Result<()> {
    runtime()?;
    Cache::get().enter().heap.figures.reset_peaks();
    Ok(())
}

/// Sums and counts begin again.
pub fn reset_accumulated_stats() -> Result<()> {
    runtime()?;
    Cache::get().enter().heap.figures.reset_accumulated();
    Ok(())
}
