//! Getting pinned memory, and giving it back.

use std::time::Instant;

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_driver::RelaxedCapture;

use super::cache::PinnedCache;
use super::heap::rounding::Kind;
use super::heap::segments::{PinnedBy, Segment};
use super::pages;
use crate::caching::settings;
use crate::context::Runtime;
use crate::device;

/// Pins memory, and counts the time. The caller holds no lock.
pub(super) fn pin(
    runtime: &Runtime,
    cache: &PinnedCache,
    kind: Kind,
    bytes: usize,
) -> Result<Segment> {
    let device = device_for_pinning(runtime)?;
    let pinned = settings::current().pinned;
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    let begin = Instant::now();
    let (address, source) = if pinned.use_cuda_host_register {
        let threads = pinned.num_register_threads;
        (register(runtime, device, bytes, threads)?, PinnedBy::Registered)
    } else {
        (runtime.driver().host_alloc(device, bytes)?, PinnedBy::Driver)
    };
    let took = begin.elapsed().as_micros() as i64;
    let mut inner = cache.enter();
    inner.heap.figures.host_alloc_time.add(took);
    inner.heap.figures.num_host_alloc += 1;
    Ok(Segment { address, bytes, kind, source })
}

fn register(runtime: &Runtime, device: DeviceIndex, bytes: usize, threads: usize) -> Result<usize> {
    let pages = pages::Pages::new(bytes).ok_or_else(|| {
        Error::new(Status::OutOfMemory, format!("the system has no {bytes} bytes of memory left"))
    })?;
    pages.touch(threads);
    runtime.driver().host_register(device, pages.raw(), bytes)?;
    Ok(pages.keep())
}

/// Unpins a segment that has left the heap, and counts the time. Waits for the devices in use.
pub(super) fn unpin(runtime: &Runtime, cache: &PinnedCache, segment: Segment) -> Result<()> {
    let Segment { address, bytes, source, .. } = segment;
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    let begin = Instant::now();
    match source {
        PinnedBy::Driver => runtime.driver().host_free(address)?,
        PinnedBy::Registered => {
            runtime.driver().host_unregister(address)?;
            pages::Pages::of(address, bytes).release();
        }
    }
    let took = begin.elapsed().as_micros() as i64;
    let mut inner = cache.enter();
    inner.heap.figures.host_free_time.add(took);
    inner.heap.figures.num_host_free += 1;
    Ok(())
}

/// The current device if it has a context, else any that has one, else the current device: pinning
/// must make no context where another one serves.
fn device_for_pinning(runtime: &Runtime) -> Result<DeviceIndex> {
    let current = device::current_of_thread(runtime)?;
    if runtime.driver().context_is_active(current)? {
        return Ok(current);
    }
    for device in runtime.devices() {
        if runtime.driver().context_is_active(device)? {
            return Ok(device);
        }
    }
    Ok(current)
}
