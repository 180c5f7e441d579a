//! Freed blocks that wait until a stream of the program is named again, or its device has been waited
//! for; see `device::parked`.

use std::sync::Once;

use super::device_cache::DeviceCache;
use super::pending;
use crate::context::Runtime;
use crate::device::parked::{self, Owner};
use crate::driver::{RelaxedCapture, StreamRef};
use crate::error::Result;
use crate::stream;
use crate::types::DeviceIndex;

/// Has the allocator told of named streams and of waits, from the first block on that may be parked.
pub(super) fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| parked::register(Owner { named, waited }));
}

/// The running call names a stream: records the events that parked blocks lack on it, if it is still
/// the stream that used them. A cache that another thread is using at the moment is left for the next
/// call.
fn named(runtime: &Runtime, by: StreamRef) {
    let home = DeviceCache::of(by.device);
    let has_parked = || home.caches().filter(|cache| cache.has_parked());
    if has_parked().next().is_none() {
        return;
    }
    let Ok(_relaxed) = RelaxedCapture::enter(runtime.driver()) else { return };
    let argument = Some(stream::name(runtime, by));
    for cache in has_parked() {
        if let Some(mut inner) = cache.try_visit() {
            for id in inner.pending.take_parked_for(by) {
                pending::record(cache, &mut inner, id, argument);
            }
        }
    }
}

/// All work queued on a device before a moment has finished.
fn waited(_: &Runtime, device: DeviceIndex, moment: u64) {
    for cache in DeviceCache::of(device).caches().filter(|cache| cache.has_parked()) {
        let mut inner = cache.visit();
        for id in inner.pending.forget_streams_until(moment) {
            pending::settle(cache, &mut inner, id);
        }
    }
}

/// Waits for the device if blocks of it are parked.
pub(super) fn wait(runtime: &Runtime, home: &DeviceCache) -> Result<()> {
    match home.caches().find(|cache| cache.has_parked()) {
        Some(cache) => {
            // A capture of another device does not mind, though it holds this thread back.
            let _relaxed = RelaxedCapture::enter(runtime.driver())?;
            parked::wait(runtime, cache.stream.device)
        }
        None => Ok(()),
    }
}
