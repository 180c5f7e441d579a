//! From a device and a stream to its cache.
//!
//! The library's own streams have places of their own, found by their id without a lock. Streams
//! from outside are found by the driver's handle. One handle has one cache, by whichever name it
//! comes: free blocks are ordered by the driver's stream.

use std::collections::HashMap;

use crate::lock::RwLock;
use once_cell::race::OnceRef;

use super::cache::Cache;
use super::device_cache::DeviceCache;
use crate::context::Runtime;
use crate::driver::{StreamHandle, StreamRef};
use crate::error::Result;
use crate::stream::Stream;
use crate::types::{DeviceIndex, MAX_DEVICES};

/// The default stream, and 32 for each of up to 15 priority levels.
const PLACES: usize = 512;

static OWN: [[OnceRef<'static, Cache>; PLACES]; MAX_DEVICES] =
    [const { [const { OnceRef::new() }; PLACES] }; MAX_DEVICES];

static BY_HANDLE: RwLock<Option<HashMap<(DeviceIndex, usize), &'static Cache>>> = RwLock::new(None);

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
    if let Some(cache) = BY_HANDLE.read().as_ref().and_then(|caches| caches.get(&key)) {
        return Ok(cache);
    }
    let home = DeviceCache::of(device);
    super::limit::prepare(runtime, home, device)?;
    let mut by_handle = BY_HANDLE.write();
    let caches = by_handle.get_or_insert_default();
    let cache = caches.entry(key).or_insert_with(|| {
        let cache: &'static Cache =
            Box::leak(Box::new(Cache::new(home, StreamRef { device, handle })));
        // Under the lock of the table, which all caches are made under.
        home.add(cache);
        cache
    });
    Ok(cache)
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
