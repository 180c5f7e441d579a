//! From a device and a stream to its cache.
//!
//! The library's own streams have places of their own, found by their id without a lock. Streams of
//! the program are found by the driver's handle. One handle has one cache at a time, by whichever name
//! it comes: free blocks are ordered by the driver's stream.
//!
//! When a handle is found to name another stream than before, its cache is *retired*: what the stream
//! before had queued may still be running, and nothing orders the new stream after it. Nobody is
//! handed memory of a retired cache; it goes back to the driver, which waits for the device. A retired
//! cache that has become empty is used again for the next stream of its handle.

use std::collections::HashMap;

use once_cell::race::OnceRef;
use parking_lot::RwLock;

use super::cache::Cache;
use super::device_cache::DeviceCache;
use crate::context::Runtime;
use crate::driver::{StreamHandle, StreamRef};
use crate::error::Result;
use crate::stream::{self, Maker, Stream};
use crate::types::{DeviceIndex, MAX_DEVICES};

/// The default stream, and 32 for each of up to 15 priority levels.
const PLACES: usize = 512;

static OWN: [[OnceRef<'static, Cache>; PLACES]; MAX_DEVICES] =
    [const { [const { OnceRef::new() }; PLACES] }; MAX_DEVICES];

static BY_HANDLE: RwLock<Option<Table>> = RwLock::new(None);

/// The caches of all streams, by handle.
#[derive(Default)]
struct Table {
    entries: HashMap<(DeviceIndex, usize), Entry>,
    /// How many replacements of streams by others of their handle have been looked at.
    replacements: u64,
}

/// The caches of a handle.
struct Entry {
    current: &'static Cache,
    retired: Vec<&'static Cache>,
}

/// The place of a stream of the library's own; ids from outside the library have none.
#[inline]
fn place(id: i64) -> Option<usize> {
    if id == 0 {
        return Some(0);
    }
    // The bits of level and number, next to each other: `stream::id` tells the layout.
    let (level, number) = ((id >> 1) & 0xf, id >> 5);
    (id & 1 == 1 && level != 0 && (0..32).contains(&number))
        .then_some((level << 5 | number) as usize)
}

/// The cache of a stream of the library's own that has allocated before. Whatever the id and the
/// device, what is found is right.
#[inline]
pub(super) fn existing(device: i32, id: i64) -> Option<&'static Cache> {
    OWN.get(device as usize)?[place(id)?].get()
}

/// The cache of a stream.
pub(super) fn of_stream(runtime: &Runtime, stream: Stream) -> Result<&'static Cache> {
    let StreamRef { device, handle } = stream.driver_ref();
    let cache = of_handle(runtime, device, handle)?;
    if let Some(place) = place(stream.id()) {
        let _ = OWN[device.as_usize()][place].set(cache);
    }
    Ok(cache)
}

/// The cache of a driver's stream.
pub(super) fn of_handle(
    runtime: &Runtime,
    device: DeviceIndex,
    handle: StreamHandle,
) -> Result<&'static Cache> {
    let key = (device, handle.0);
    let replacements = stream::replacements();
    if let Some(table) = &*BY_HANDLE.read()
        && table.replacements == replacements
        && let Some(entry) = table.entries.get(&key)
    {
        return Ok(entry.current);
    }
    let home = DeviceCache::of(device);
    super::limit::prepare(runtime, home, device)?;
    let mut by_handle = BY_HANDLE.write();
    let table = by_handle.get_or_insert_default();
    if table.replacements != replacements {
        table.retire_replaced();
        table.replacements = replacements;
    }
    let stream = StreamRef { device, handle };
    let entry = table.entries.entry(key);
    let entry = entry.or_insert_with(|| Entry { current: new(stream), retired: Vec::new() });
    Ok(entry.current)
}

/// A new cache. Made under the lock of the table.
fn new(stream: StreamRef) -> &'static Cache {
    let home = DeviceCache::of(stream.device);
    let cache: &'static Cache = Box::leak(Box::new(Cache::new(home, stream)));
    cache.set_maker(stream::last_named(stream).maker);
    home.add(cache);
    cache
}

impl Table {
    /// Retires the caches of streams whose handles name others by now.
    fn retire_replaced(&mut self) {
        for entry in self.entries.values_mut() {
            let now = stream::last_named(entry.current.stream).maker;
            if entry.current.maker().is_other_than(now) {
                entry.replace(now);
            } else {
                entry.current.set_maker(now);
            }
        }
    }
}

impl Entry {
    /// Retires the current cache, for one that has no memory.
    fn replace(&mut self, maker: Maker) {
        self.retired.push(self.current);
        let empty = self.retired.iter().position(|cache| cache.is_empty());
        self.current = match empty {
            Some(place) => self.retired.swap_remove(place),
            None => new(self.current.stream),
        };
        self.current.set_maker(maker);
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn every_stream_of_the_library_has_a_place_of_its_own() {
        let mut seen = std::collections::HashSet::from([place(0)]);
        for level in 1..=4 {
            for number in 0..32 {
                let id = 1 | level << 1 | number << 5;
                assert!(place(id).is_some_and(|place| place < super::PLACES));
                assert!(seen.insert(place(id)), "{id:#x}");
            }
        }
        for id in [1, 0x7f00_1230, -1, 1 | 32 << 5, i64::MAX, i64::MIN] {
            assert_eq!(place(id), None, "{id:#x}");
        }
    }
}
