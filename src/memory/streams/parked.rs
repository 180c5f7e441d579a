//! Freed blocks that wait until a stream of the program is named again, or its device has been waited
//! for; see `device::parked`.

use std::sync::Once;

use super::cache::Cache;
use super::deferred_frees;
use super::device::DeviceCache;
use crate::context::Runtime;
use crate::device::parked::{self, ParkingAllocator};
use crate::driver::{RelaxedCapture, StreamRef};
use crate::error::Result;
use crate::stream;
use crate::types::DeviceIndex;

/// Has the allocator told of named streams and of waits, from the first block on that may be parked.
pub(crate) fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| parked::register(ParkingAllocator { named, waited }));
}

/// Every cache that has parked blocks. A stream of one device may use memory of another.
fn all(runtime: &Runtime) -> impl Iterator<Item = &'static Cache> {
    let caches = runtime.devices().flat_map(|device| DeviceCache::of(device).caches());
    caches.filter(|cache| cache.has_parked())
}

/// The running call names a stream: records the events that parked blocks lack on it, if it is still
/// the stream that used them. A cache that another thread is using at the moment is left for the next
/// call.
fn named(runtime: &Runtime, by: StreamRef) {
    if all(runtime).next().is_none() {
        return;
    }
    let Ok(_relaxed) = RelaxedCapture::enter(runtime.driver()) else { return };
    let argument = Some(stream::name(runtime, by));
    for cache in all(runtime) {
        if let Some(mut inner) = cache.try_visit() {
            for id in inner.pending.take_parked_for(by) {
                deferred_frees::record(cache, &mut inner, id, argument);
            }
        }
    }
}

/// All work queued on a device before a moment has finished.
fn waited(runtime: &Runtime, device: DeviceIndex, moment: u64) {
    for cache in all(runtime) {
        let mut inner = cache.visit();
        for id in inner.pending.forget_streams_until(device, moment) {
            deferred_frees::settle(cache, &mut inner, id);
        }
    }
}

/// Waits for the devices whose streams parked blocks of a device wait for.
pub(crate) fn wait(runtime: &Runtime, home: &DeviceCache) -> Result<()> {
    let mut devices = Vec::new();
    for cache in home.caches().filter(|cache| cache.has_parked()) {
        devices.extend(cache.visit().pending.parked_on());
    }
    if devices.is_empty() {
        return Ok(());
    }
    devices.sort_unstable();
    devices.dedup();
    // A capture of another device does not mind, though it holds this thread back.
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    devices.into_iter().try_for_each(|device| parked::wait(runtime, device))
}
