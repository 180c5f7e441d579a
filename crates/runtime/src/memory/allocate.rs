//! Allocating and freeing: the fast path, and where it branches off to the slow one.

use sconce_base::error::Result;
use sconce_base::thread_state::{self, ForAllocation};
use sconce_base::types::DeviceIndex;
use sconce_driver::{StreamHandle, StreamRef};

use super::addresses::address_map::{self, Nearest};
use super::addresses::block_ref::BlockRef;
use super::history;
use super::miss::request::{Wanted, check_size};
use super::miss::{self, release, uncached_request};
use super::pool;
use super::shared_pages;
use super::sleep;
use super::source::{pages, uncached};
use super::streams::cache::CacheInUse;
use super::streams::device::DeviceMemory;
use super::streams::lookup;
use super::streams::{all_caches, block_uses, deferred, limit, live_blocks, owners, sleepers};
use crate::context::{
    Runtime, checks_device, is_initialized, nothing_to_check, refuse_forked_child, runtime,
    runtime_if_any, runtime_to_release, without_device,
};
use crate::device::{self, parked};
use crate::stream::{self, Maker, Stream};

/// Memory on the current device for its current stream; address 0 for 0 bytes.
#[inline(always)]
pub fn alloc(bytes: usize) -> Result<usize> {
    if !checks_device() {
        let thread = thread_state::for_allocation();
        if let Some(address) = hit(thread.device.as_i32(), thread.stream_id, &thread, bytes) {
            return Ok(address as usize);
        }
    }
    alloc_behind_other_code(bytes)
}

/// [`alloc`] on the device that is current once other code of the thread has been looked at: with the check, and at
/// the call that opens the backend.
#[cold]
#[inline(never)]
fn alloc_behind_other_code(bytes: usize) -> Result<usize> {
    let device = device::current_of_thread(runtime()?)?.as_i32();
    let thread = thread_state::for_allocation();
    if checks_device()
        && let Some(address) = hit(device, thread.stream_id, &thread, bytes)
    {
        return Ok(address as usize);
    }
    slow_path(thread.stream_id, device, bytes)
}

/// Memory for a stream, on its device.
#[inline]
pub fn alloc_on(bytes: usize, stream: Stream) -> Result<usize> {
    alloc_on_named(bytes, stream.id(), stream.device().as_i32())
}

/// Memory for the stream that an id and a device of the C API name, on that device.
#[inline(always)]
pub fn alloc_on_named(bytes: usize, id: i64, device: i32) -> Result<usize> {
    let thread = thread_state::for_allocation();
    match hit(device, id, &thread, bytes) {
        Some(address) => Ok(address as usize),
        None => slow_path(id, device, bytes),
    }
}

/// The way that most requests go: a block of the default pool that was freed before. A stream that
/// has a cache has been checked, and means that caching is not turned off.
#[inline(always)]
fn hit(device: i32, id: i64, thread: &ForAllocation, bytes: usize) -> Option<u64> {
    let cache = lookup::existing(device, id)?;
    let plain = !thread.diverted && cache.home.allows_fast_path() && !history::is_on();
    if plain && nothing_to_check() { cache.hit(thread.user, bytes) } else { None }
}

/// Everything else: the first request of a stream, a miss, blocks that wait for events, private
/// pools, a history, old blocks to collect, and what is refused.
#[cold]
#[inline(never)]
fn slow_path(id: i64, device: i32, bytes: usize) -> Result<usize> {
    let runtime = runtime()?;
    let stream = Stream::from_parts(runtime, id, device)?;
    if bytes == 0 {
        return Ok(0);
    }
    if uncached::is_on() {
        return uncached_request::serve(runtime, bytes, stream);
    }
    on_cache(runtime, &lookup::of_stream(runtime, stream)?, bytes)
}

/// Memory for a driver's stream on a device (-1: the current one), for programs that know no other.
pub fn alloc_native(bytes: usize, index: i32, handle: StreamHandle) -> Result<usize> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    if bytes == 0 {
        return Ok(0);
    }
    if handle != StreamHandle::DEFAULT {
        stream::name(runtime, StreamRef { device, handle });
    }
    if uncached::is_on() {
        let stream = crate::stream::from_external(handle, device.as_i32())?;
        return uncached_request::serve(runtime, bytes, stream);
    }
    on_cache(runtime, &lookup::of_handle(runtime, device, handle)?, bytes)
}

fn on_cache(runtime: &Runtime, in_use: &CacheInUse, bytes: usize) -> Result<usize> {
    let cache = in_use.cache();
    check_size(bytes)?;
    cache.home.wait_until_open();
    if cache.identity().maker() != Maker::LIBRARY {
        // The call names the stream, so what was parked for it can have its event now.
        parked::named(runtime, cache.stream());
        if thread_state::has_diversions() {
            pool::note_capture(runtime, cache.stream());
        }
    }
    if cache.home.has_waiting() {
        deferred::poll(runtime, cache)?;
    }
    let wanted = Wanted { pool: pool::current(cache.stream().device), bytes };
    sleepers::refuse(cache.device(), wanted.pool)?;
    match miss::search(cache, wanted) {
        Some(address) => Ok(address as usize),
        None => miss::serve(runtime, cache, wanted).map(|address| address as usize),
    }
}

/// Frees memory; address 0 is nothing. Any thread may.
#[inline(always)]
pub fn free(address: usize) -> Result<()> {
    if let Some((word, seen)) = address_map::find_to_change(address as u64)
        && let Some((cache, chunk)) = owners::of(seen.number())
        && is_initialized()
    {
        let id = chunk.block(seen.number());
        let user = thread_state::user();
        let freed = if cache.is_used_by(user.token) || seen.is_used_elsewhere() || history::is_on()
        {
            cache.free(user.owner_word, id, word, seen)
        } else {
            cache.leave(word, seen)
        };
        if freed {
            return Ok(());
        }
    }
    not_freed(address)
}

/// Memory that no cache has; and why it cannot be freed.
#[cold]
#[inline(never)]
fn not_freed(address: usize) -> Result<()> {
    if address == 0 {
        return Ok(());
    }
    let runtime = runtime_to_release()?;
    // A use of the block by another stream may have been noted since it was looked up.
    if let Some((word, seen)) = address_map::find(address as u64)
        && let Some((cache, chunk)) = owners::of(seen.number())
        && cache.free(thread_state::owner_word(), chunk.block(seen.number()), word, seen)
    {
        return Ok(());
    }
    if uncached::is_on()
        && let Some(outcome) = uncached::free(runtime, address)
    {
        return outcome;
    }
    Err(live_blocks::refusal(address))
}

/// Notes that a stream uses the live block that holds an address, so that the block is not used again
/// before that stream's work at the time of its free is done. Nothing happens for the memory's own
/// stream, for address 0 and for memory of others; memory that was freed already is refused.
pub fn record_stream(address: usize, stream: Stream) -> Result<()> {
    let runtime = runtime()?;
    if address != 0 {
        block_uses::record_stream(address as u64, stream.named(runtime))?;
    }
    // What was parked for an earlier use by the stream can have its event now.
    stream.note_named(runtime);
    Ok(())
}

/// Gives all cached memory of all devices back to the driver, once pending events are complete.
pub fn empty_cache() -> Result<()> {
    let Some(runtime) = runtime_if_any()? else { return Ok(()) };
    let mut outcome = Ok(());
    for device in runtime.devices() {
        outcome = outcome.and(empty_cache_of(runtime, device));
    }
    outcome
}

/// Gives the cached memory of a device back to the driver.
pub fn empty_cache_of(runtime: &Runtime, device: DeviceIndex) -> Result<()> {
    let home = DeviceMemory::of(device);
    if home.total_bytes.load(std::sync::atomic::Ordering::Acquire) == 0 {
        return Ok(());
    }
    let emptied = release::everything(runtime, device);
    sleep::drop_free(runtime, device);
    emptied
}

/// Where the driver's allocation that holds a live block begins, and its bytes. Any address in the
/// block will do.
pub fn base_of(address: usize) -> Result<(usize, usize)> {
    runtime()?;
    if let Some((base, bytes, _)) = uncached::find(address) {
        return Ok((base, bytes));
    }
    let (segment, block, owner) = live_blocks::live(address)?;
    let (start, end) = (block.address, block.address + block.bytes);
    let of_pages = || shared_pages::extent_on(owner.device(), start, end);
    let of_segment = (segment.address as usize, segment.bytes as usize);
    Ok(segment.paged.then(of_pages).flatten().unwrap_or(of_segment))
}

/// The bytes that may be used of the block that starts at an address: all, unless what was not asked for is guarded.
pub fn usable_bytes(address: usize) -> Result<usize> {
    runtime()?;
    if let Some((base, bytes, _)) = uncached::find(address)
        && base == address
    {
        return Ok(bytes);
    }
    match live_blocks::live(address)? {
        (_, block, _) if block.address == address as u64 => match history::guard_bytes() {
            0 => Ok(block.bytes as usize),
            _ => Ok(block.requested as usize),
        },
        _ => Err(live_blocks::refusal(address)),
    }
}

/// The device of the live block that holds an address, and the bytes from there to the block's end: 0 while the block
/// is asleep.
/// A block that begins at the address is found without a search and without a lock.
#[inline]
pub fn block_at(address: usize) -> Option<(DeviceIndex, usize)> {
    match BlockRef::of(address) {
        Some((_, device, bytes)) => Some((device, bytes)),
        None => block_around(address),
    }
}

/// [`block_at`] for an address inside a block.
#[inline(never)]
fn block_around(address: usize) -> Option<(DeviceIndex, usize)> {
    if let Some(device) = sleep::device_asleep_at(address) {
        return Some((device, 0));
    }
    let Some(base) = live_blocks::segment_of(address as u64) else {
        let (base, bytes, device) = uncached::find(address)?;
        return Some((device, base + bytes - address));
    };
    let reaching = |start: u64| {
        let (_, device, bytes) = BlockRef::of(start as usize)?;
        let rest = (start as usize + bytes).checked_sub(address).filter(|rest| *rest > 0)?;
        Some((device, rest))
    };
    // Most segments are one block, or small.
    reaching(base).or_else(|| match address_map::nearest_below(address as u64, base) {
        Nearest::At(start) => reaching(start),
        Nearest::None => None,
        Nearest::TooFar => {
            let (_, block, owner) = live_blocks::live(address).ok()?;
            Some((owner.stream().device, (block.address + block.bytes) as usize - address))
        }
    })
}

/// Replaces the configuration.
pub fn configure(text: &str) -> Result<()> {
    refuse_forked_child()?;
    crate::caching::settings::configure(text)?;
    for index in 0..sconce_base::types::MAX_DEVICES as i32 {
        if let Some(device) = DeviceIndex::new(index) {
            limit::follow_settings(DeviceMemory::of(device));
        }
    }
    Ok(())
}

/// The device of an index of the C API, for figures, which need no device to have been used; `None` if there is no
/// device, whatever the index.
#[inline]
fn device_of(index: i32) -> Result<Option<DeviceIndex>> {
    match runtime() {
        Ok(runtime) => device::resolve(runtime, index).map(Some),
        Err(failure) => without_device(failure).map(|()| None),
    }
}

/// The figures of no device.
#[cold]
#[inline(never)]
fn no_stats() -> super::MemoryStats {
    super::MemoryStats { max_split_size: -1, ..Default::default() }
}

/// All figures of a device (-1: the current one).
pub fn stats(index: i32) -> Result<super::MemoryStats> {
    with_stats(index, |stats| *stats)
}

/// Passes all figures of a device (-1: the current one) to a function that copies what it needs of them, with a lock
/// held.
#[inline]
pub fn with_stats<R>(index: i32, copy: impl FnOnce(&super::MemoryStats) -> R) -> Result<R> {
    let Some(device) = device_of(index)? else { return Ok(copy(&no_stats())) };
    let sleeping_bytes = sleep::sleeping_bytes(device) as i64;
    Ok(all_caches::with_stats(device, sleeping_bytes, copy))
}

/// What the pages of a device are doing (-1: the current one). All 0 unless memory is made of pages.
pub fn page_figures(index: i32) -> Result<super::PageFigures> {
    Ok(device_of(index)?.map(pages::figures).unwrap_or_default())
}

/// A device's peaks become the current values.
pub fn reset_peak_stats(index: i32) -> Result<()> {
    if let Some(device) = device_of(index)? {
        all_caches::reset_peaks(device);
    }
    Ok(())
}

/// A device's sums of rises and falls, and its counts, begin again.
pub fn reset_accumulated_stats(index: i32) -> Result<()> {
    if let Some(device) = device_of(index)? {
        all_caches::reset_accumulated(device);
    }
    Ok(())
}
