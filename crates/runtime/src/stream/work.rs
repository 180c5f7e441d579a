//! Queries of streams and devices, waits for them, and host functions in a stream.
//!
//! A query of a captured stream makes the capture invalid. So where the caller does not name the stream, no capture
//! begins between the question whether there is one and the query.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::{CaptureStatus, HostFunction, RelaxedCapture, StreamHandle, StreamRef};

use super::captures::{is_under_capture, usable};
use super::device_waits::DeviceWait;
use super::giving_back::try_hold_back_captures;
use super::pool;
use super::value::Stream;
use crate::context::{Runtime, runtime};
use crate::device::{self, parked};

/// Whether all work queued on the stream has finished.
pub fn query(runtime: &Runtime, stream: Stream) -> Result<bool> {
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    runtime.driver().stream_query(stream.driver_ref())
}

/// Whether work may have been queued that waits for a thread of the program, or of another process: a collective call,
/// which waits for the other ranks, a host function, or a wait for another process's event.
static MAY_NEED_THREADS: AtomicBool = AtomicBool::new(false);

/// Notes that work is queued from now on that may wait for a thread of the program.
pub fn note_work_may_need_threads() {
    MAY_NEED_THREADS.store(true, Relaxed);
}

/// Whether work may need threads, so that a wait for the devices may never end.
pub(crate) fn work_may_need_threads() -> bool {
    MAY_NEED_THREADS.load(Relaxed)
}

/// Whether the driver gives memory back without a wait that may never end. It waits for all work of the devices, also
/// for what another thread queues between a look at the streams and the call. So it is not enough that the devices
/// are idle: such work must not need the calling thread either. A kernel of the program that waits for a thread by
/// itself is not known of.
pub(crate) fn may_give_back_unasked(
    runtime: &Runtime,
    mut devices: impl Iterator<Item = DeviceIndex>,
) -> bool {
    if work_may_need_threads() {
        return false;
    }
    let Some(_no_capture_begins) = try_hold_back_captures() else { return false };
    let Ok(_relaxed) = RelaxedCapture::enter(runtime.driver()) else { return false };
    devices.all(|device| is_idle(runtime, device))
}

/// Whether a stream is idle that the running call does not name; it is none of the program's. Does not wait. A captured
/// stream counts as busy, and so does every one while a capture begins. Called in the relaxed mode of captures.
pub(crate) fn is_stream_idle(runtime: &Runtime, stream: StreamRef) -> bool {
    let Some(_no_capture_begins) = try_hold_back_captures() else { return false };
    let driver = runtime.driver();
    let _asks = driver.asks_for_itself();
    driver.stream_is_capturing(stream).is_ok_and(|is_captured| !is_captured)
        && driver.stream_query(stream).unwrap_or(false)
}

/// Whether a device is idle: its default stream, pooled streams and the calling thread's current stream. Does not wait.
/// A device under capture counts as busy, since its streams must not be queried.
fn is_idle(runtime: &Runtime, device: DeviceIndex) -> bool {
    let driver = runtime.driver();
    let _asks = driver.asks_for_itself();
    match driver.context_is_active(device) {
        Ok(false) => true,
        Ok(true) => {
            let known = usable(device, None).chain([StreamHandle::DEFAULT]);
            !is_under_capture(runtime, device)
                && known
                    .map(|handle| driver.stream_query(StreamRef { device, handle }))
                    .all(|idle| idle.unwrap_or(false))
        }
        Err(_) => false,
    }
}

/// Waits for all work queued on the stream.
pub fn synchronize(runtime: &Runtime, stream: Stream) -> Result<()> {
    {
        // Captures of other streams have nothing to do with it.
        let _relaxed = RelaxedCapture::enter(runtime.driver())?;
        runtime.driver().stream_synchronize(stream.driver_ref())?;
    }
    stream.note_named(runtime);
    Ok(())
}

/// Waits for all work of a device (-1: the current one). Refused while one of its streams is captured, by whatever
/// thread: the driver would refuse it, too, but invalidate the capture. The current device has a context afterwards, as
/// after `cudaDeviceSynchronize`.
pub fn synchronize_device(index: i32) -> Result<()> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    device::make_context_if_current(runtime, device)?;
    if try_synchronize_device(runtime, device)? {
        return Ok(());
    }
    Err(Error::invalid_state(format!(
        "a stream of device {device} is being captured, so the device cannot be waited for; wait for a stream or an \
         event, or wait until the capture has ended"
    )))
}

/// Waits for all work of a device, unless one of its streams is captured. Returns whether it has waited.
pub fn try_synchronize_device(runtime: &Runtime, device: DeviceIndex) -> Result<bool> {
    {
        let Some(_wait) = DeviceWait::begin(runtime, device) else { return Ok(false) };
        parked::wait(runtime, device)?;
    }
    parked::give_back_after_wait(runtime);
    Ok(true)
}

/// The stream's priority.
pub fn priority(runtime: &Runtime, stream: Stream) -> Result<i32> {
    runtime.driver().stream_priority(stream.driver_ref())
}

/// Whether the stream is being captured into a graph.
pub fn is_capturing(runtime: &Runtime, stream: Stream) -> Result<bool> {
    runtime.driver().stream_is_capturing(stream.driver_ref())
}

/// Whether the stream is being captured into a graph, and whether that capture is valid.
pub fn capture_status(runtime: &Runtime, stream: Stream) -> Result<CaptureStatus> {
    runtime.driver().stream_capture_status(stream.driver_ref())
}

/// The least and the greatest priority of the pools; numerically the least is the larger one.
pub fn priority_range() -> Result<(i32, i32)> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, -1)?;
    let (least, greatest) = runtime.driver().stream_priority_range(device)?;
    Ok((least, greatest.max(pool::greatest_priority())))
}

/// Runs a host function once all earlier work of the stream has finished.
pub fn launch_host_function(
    runtime: &Runtime,
    stream: Stream,
    function: HostFunction,
) -> Result<()> {
    if function.has_alternative() && is_capturing(runtime, stream)? {
        return Err(Error::invalid_state(
            "a host function with an alternative cannot be captured: each launch of the graph would run it once \
             more; queue it beside the graph, or without the alternative",
        ));
    }
    note_work_may_need_threads();
    runtime.driver().launch_host_function(stream.driver_ref(), function)?;
    after_enqueue(runtime, stream)
}

/// Ends every launch and copy: waits for the stream under `CUDA_LAUNCH_BLOCKING`.
#[inline]
pub fn after_enqueue(runtime: &Runtime, stream: Stream) -> Result<()> {
    if runtime.launch_blocking() { wait_unless_captured(runtime, stream) } else { Ok(()) }
}

#[cold]
#[inline(never)]
fn wait_unless_captured(runtime: &Runtime, stream: Stream) -> Result<()> {
    if is_capturing(runtime, stream)? { Ok(()) } else { synchronize(runtime, stream) }
}
