//! Freed blocks that wait until a stream of the program is named again, or its device has been waited
//! for; see `device::parked`.

use std::sync::Once;

pub(super) use crate::device::parked::{add, remove};

use super::cache::Cache;
use super::deferred_frees;
use crate::context::Runtime;
use crate::device::parked::{self, ParkingAllocator};
use crate::driver::{RelaxedCapture, StreamRef};
use crate::stream;
use crate::types::DeviceIndex;

/// Has the allocator told of named streams and of waits, from the first block on that may be parked.
pub(super) fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| parked::register(ParkingAllocator { named, waited }));
}

/// The running call names a stream: records the events that parked blocks lack on it, if it is still
/// the stream that used them.
fn named(runtime: &Runtime, by: StreamRef) {
    let cache = Cache::get();
    let complete: Vec<_> = {
        let mut queues = cache.queues.lock();
        let due = queues.take_parked_for(by);
        if due.is_empty() {
            return;
        }
        let argument = Some(stream::name(runtime, by));
        due.into_iter().filter(|id| queues.record(runtime, cache, *id, argument)).collect()
    };
    super::drain::wake();
    deferred_frees::finish(runtime, cache, &complete);
}

/// All work queued on a device before a moment has finished.
fn waited(runtime: &Runtime, device: DeviceIndex, moment: u64) {
    let cache = Cache::get();
    let complete = cache.queues.lock().forget_streams_until(runtime, cache, device, moment);
    deferred_frees::finish(runtime, cache, &complete);
}

/// Waits for the devices whose streams parked blocks wait for, unless one is under capture. What cannot
/// be waited for stays parked.
pub(super) fn wait(runtime: &Runtime, cache: &Cache) {
    let devices = cache.queues.lock().parked_on();
    if devices.is_empty() || stream::device_under_capture(runtime).is_some() {
        return;
    }
    let Ok(_relaxed) = RelaxedCapture::enter(runtime.driver()) else { return };
    for device in devices {
        if let Err(error) = parked::wait(runtime, device) {
            crate::log::debug(format_args!("pinned memory stays parked: {}", error.message()));
        }
    }
}
