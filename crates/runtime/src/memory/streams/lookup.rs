//! From a device and a stream to its cache.
//!
//! The library's own streams have places of their own, found by their id without a lock. Streams of
//! the program are found by the driver's handle. One handle has one cache at a time, by whichever name
//! it comes: free blocks are ordered by the driver's stream.
//!
//! When a handle is found to name another stream than before, its cache is *retired*: what the stream
//! before had queued may still be running, and nothing orders the new stream after it. The table does
//! not lead to a retired cache, so no request gets its memory; it goes back to the driver, which waits
//! for the device.
//!
//! Programs make streams without end, so the caches of their streams are used again: one that is empty,
//! retired or not, and that no call uses, becomes that of the next stream that has none. Memory and walks
//! over all caches are bounded by the streams that hold memory at one time. Calls use a cache from the
//! lookup in the table on ([`CacheInUse`]); caches of the library's own streams, and of the default stream,
//! are found without the table and keep their streams.

use std::collections::HashMap;

use once_cell::race::OnceRef;
use sconce_base::error::Result;
use sconce_base::lock::{RwLock, rank};
use sconce_base::types::{DeviceIndex, MAX_DEVICES};
use sconce_driver::{StreamHandle, StreamRef};

use super::cache::{CacheInUse, StreamCache};
use super::device::DeviceMemory;
use super::limit;
use crate::context::Runtime;
use crate::memory::history;
use crate::stream::{self, Maker, Named, OWN_INDICES, Stream};

/// The caches of the library's streams, by device and [`stream::own_index`].
static OWN: [[OnceRef<'static, StreamCache>; OWN_INDICES]; MAX_DEVICES] =
    [const { [const { OnceRef::new() }; OWN_INDICES] }; MAX_DEVICES];

/// How many caches are checked for an empty one before another is made.
const LOOKS: usize = 32;

static BY_HANDLE: RwLock<rank::StreamCaches, Option<StreamTable>> = RwLock::new(None);

/// The caches of all streams, by the driver's handle.
struct StreamTable {
    caches: HashMap<StreamRef, &'static StreamCache>,
    /// Those of default streams of threads, which have one handle.
    of_threads: HashMap<(DeviceIndex, Maker), &'static StreamCache>,
    /// How many replacements of streams by others of their handle the table has taken into account.
    replacements: u64,
    /// For each device, where the search for an empty cache goes on; `None`: at the first one.
    next: [Option<&'static StreamCache>; MAX_DEVICES],
}

impl Default for StreamTable {
    fn default() -> StreamTable {
        StreamTable {
            caches: HashMap::new(),
            of_threads: HashMap::new(),
            replacements: 0,
            next: [None; MAX_DEVICES],
        }
    }
}

/// The cache of a stream of the library's own that has allocated before. Whatever the id and the
/// device, what is found is right.
#[inline]
pub(crate) fn existing(device: i32, id: i64) -> Option<&'static StreamCache> {
    OWN.get(device as usize)?[stream::own_index(id)?].get()
}

/// The cache of a stream.
pub(crate) fn of_stream(runtime: &Runtime, stream: Stream) -> Result<CacheInUse> {
    let StreamRef { device, handle } = stream.driver_ref();
    let in_use = of_handle(runtime, device, handle)?;
    if let Some(place) = stream::own_index(stream.id()) {
        in_use.cache().identity().keep();
        let _ = OWN[device.as_usize()][place].set(in_use.cache());
    }
    Ok(in_use)
}

/// The cache of a driver's stream.
pub(crate) fn of_handle(
    runtime: &Runtime,
    device: DeviceIndex,
    handle: StreamHandle,
) -> Result<CacheInUse> {
    let stream = StreamRef { device, handle };
    if handle == StreamHandle::PER_THREAD {
        return of_thread(runtime, stream);
    }
    let replacements = stream::replacements();
    if let Some(table) = &*BY_HANDLE.read()
        && table.replacements == replacements
        && let Some(cache) = table.caches.get(&stream)
    {
        return Ok(cache.use_it());
    }
    limit::prepare(runtime, DeviceMemory::of(device), device)?;
    let mut by_handle = BY_HANDLE.write();
    let table = by_handle.get_or_insert_default();
    if table.replacements != replacements {
        table.retire_replaced();
        table.replacements = replacements;
    }
    // Another thread may have been quicker.
    let cache = match table.caches.get(&stream) {
        Some(cache) => cache,
        None => table.add(stream::last_named(stream)),
    };
    Ok(cache.use_it())
}

/// The cache of the calling thread's default stream.
#[cold]
fn of_thread(runtime: &Runtime, stream: StreamRef) -> Result<CacheInUse> {
    let named = stream::name(runtime, stream);
    let name = (stream.device, named.maker);
    if let Some(table) = &*BY_HANDLE.read()
        && let Some(cache) = table.of_threads.get(&name)
    {
        return Ok(cache.use_it());
    }
    limit::prepare(runtime, DeviceMemory::of(stream.device), stream.device)?;
    let mut by_handle = BY_HANDLE.write();
    Ok(by_handle.get_or_insert_default().add(named).use_it())
}

impl StreamTable {
    /// Retires the caches of streams whose handles name others by now.
    fn retire_replaced(&mut self) {
        self.caches.retain(|stream, cache| {
            let now = stream::last_named(*stream).maker;
            let stays = !cache.identity().maker().is_other_than(now);
            if stays {
                cache.identity().set_maker(now);
            }
            stays
        });
    }

    /// A cache for a stream that has none: an empty one of another stream, or a new one.
    fn add(&mut self, Named { stream, maker }: Named) -> &'static StreamCache {
        history::observe();
        // Under the lock of the table, which all caches are made under.
        let cache = self.take_empty(stream).unwrap_or_else(|| StreamCache::make(stream));
        cache.identity().set_maker(maker);
        if stream.handle == StreamHandle::PER_THREAD {
            self.of_threads.insert((stream.device, maker), cache);
        } else {
            self.caches.insert(stream, cache);
        }
        cache
    }

    /// An empty cache of the device that no call uses, among the next ones in turn.
    fn take_empty(&mut self, stream: StreamRef) -> Option<&'static StreamCache> {
        let next = &mut self.next[stream.device.as_usize()];
        for _ in 0..LOOKS {
            let Some(cache) = next.or_else(|| StreamCache::all_of(stream.device).next()) else {
                break;
            };
            *next = cache.next();
            let before = cache.stream();
            if cache.become_of(stream) {
                if before.handle == StreamHandle::PER_THREAD {
                    self.of_threads.retain(|_, other| !std::ptr::eq(*other, cache));
                }
                // A retired cache is not in the table, but its handle may be, with another cache.
                if self.caches.get(&before).is_some_and(|other| std::ptr::eq(*other, cache)) {
                    self.caches.remove(&before);
                }
                return Some(cache);
            }
        }
        None
    }
}
