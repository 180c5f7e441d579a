//! Queries of a stream, waits for it, and host functions in it.

use super::device_waits::DeviceWait;
use super::pool;
use super::value::Stream;
use crate::context::{Runtime, runtime};
use crate::device::{self, parked};
use crate::driver::{CaptureStatus, HostFunction, RelaxedCapture};
use crate::error::{Error, Result};
use crate::types::DeviceIndex;

/// Whether all work queued on the stream has finished.
pub fn query(runtime: &Runtime, stream: Stream) -> Result<bool> {
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    runtime.driver().stream_query(stream.driver_ref())
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
/// thread: the driver would refuse it, too, but invalidate the capture.
pub fn synchronize_device(index: i32) -> Result<()> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
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
    runtime.driver().launch_host_function(stream.driver_ref(), function)?;
    after_enqueue(runtime, stream)
}

/// Ends every launch and copy: waits for the stream under `CUDA_LAUNCH_BLOCKING`.
#[inline]
pub(crate) fn after_enqueue(runtime: &Runtime, stream: Stream) -> Result<()> {
    if runtime.launch_blocking() { wait_unless_captured(runtime, stream) } else { Ok(()) }
}

#[cold]
#[inline(never)]
fn wait_unless_captured(runtime: &Runtime, stream: Stream) -> Result<()> {
    if is_capturing(runtime, stream)? { Ok(()) } else { synchronize(runtime, stream) }
}
