//! Streams: the work on them. See `docs/design/stream.md`.

use std::ffi::c_void;

use crate::context::runtime;
use crate::driver::HostFunction;
use crate::ffi::handle::Handle;
use crate::ffi::{Out, guard, null, sconce_event, sconce_status, sconce_stream};
use crate::{event, stream};

/// A function that runs in stream order.
pub type sconce_host_function = Option<unsafe extern "C" fn(user: *mut c_void)>;

/// Tells whether all work queued on a stream has finished.
///
/// # Parameters
/// `stream`: any stream the library gave out. `out_idle` [out].
/// # Errors
/// INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. DRIVER: also for a
/// failure of earlier work on the device. INVALID_ARGUMENT: `out_idle` is NULL. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_idle` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.Stream.query()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_query(
    stream: sconce_stream,
    out_idle: *mut bool,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_idle = unsafe { Out::new(out_idle, "out_idle") }?;
        let runtime = runtime()?;
        out_idle.write(stream::query(runtime, stream.resolve(runtime)?)?);
        Ok(())
    })
}

/// Waits until all work queued on a stream has finished.
///
/// # Parameters
/// `stream`: any stream the library gave out.
/// # Errors
/// INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. DRIVER: also for a
/// failure of earlier work on the device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Blocks the calling thread.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.Stream.synchronize()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_stream_synchronize(stream: sconce_stream) -> sconce_status {
    guard(|| {
        let runtime = runtime()?;
        stream::synchronize(runtime, stream.resolve(runtime)?)
    })
}

/// Gives a stream's priority; lower is more urgent.
///
/// # Parameters
/// `stream`: any stream the library gave out. `out_priority` [out].
/// # Errors
/// INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_ARGUMENT:
/// `out_priority` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_priority` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.Stream.priority`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_get_priority(
    stream: sconce_stream,
    out_priority: *mut i32,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_priority = unsafe { Out::new(out_priority, "out_priority") }?;
        let runtime = runtime()?;
        out_priority.write(stream::priority(runtime, stream.resolve(runtime)?)?);
        Ok(())
    })
}

/// Gives the priorities that make a difference on the current device.
///
/// # Parameters
/// `out_least` [out]: 0. `out_greatest` [out]: negative; at the lowest -3, as many levels as pools
/// are kept for.
/// # Errors
/// INVALID_ARGUMENT: `out_least` or `out_greatest` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; makes the current device's context.
/// # Threads
/// Any.
/// # Safety
/// `out_least` and `out_greatest` are each NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.Stream.priority_range()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_get_priority_range(
    out_least: *mut i32,
    out_greatest: *mut i32,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_least = unsafe { Out::new(out_least, "out_least") }?;
        // SAFETY: the caller promises a writable place.
        let out_greatest = unsafe { Out::new(out_greatest, "out_greatest") }?;
        let (least, greatest) = stream::priority_range()?;
        out_least.write(least);
        out_greatest.write(greatest);
        Ok(())
    })
}

/// Tells whether a stream is being captured into a CUDA graph, or on the simulator into a simulated
/// capture (`sconce_sim_begin_capture`).
///
/// # Parameters
/// `stream`: any stream the library gave out. `out_capturing` [out]: true from the capture's beginning
/// to its end, also after the capture has become invalid.
/// # Errors
/// INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_ARGUMENT:
/// `out_capturing` is NULL. INVALID_STATE: `stream` is the default stream, and a capture of another stream
/// forbids its use. DRIVER: also for a failure of earlier work on the device. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_capturing` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.is_current_stream_capturing()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_is_capturing(
    stream: sconce_stream,
    out_capturing: *mut bool,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_capturing = unsafe { Out::new(out_capturing, "out_capturing") }?;
        let runtime = runtime()?;
        out_capturing.write(stream::is_capturing(runtime, stream.resolve(runtime)?)?);
        Ok(())
    })
}

/// Makes work queued on a stream from now on start after an event's newest record. Later records do
/// not move the wait; an event that was never recorded makes no wait.
///
/// # Parameters
/// `stream`: any stream the library gave out. `event`: a live event, of any device.
/// # Errors
/// INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_HANDLE:
/// `event` is NULL, destroyed or foreign. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block the host.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.Stream.wait_event()`, `CUDAEvent::block`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_stream_wait_event(
    stream: sconce_stream,
    event: *mut sconce_event,
) -> sconce_status {
    guard(|| {
        let runtime = runtime()?;
        event::wait(runtime, stream.resolve(runtime)?, sconce_event::key(event, "event")?)
    })
}

/// Makes work queued on `waiting` from now on start after the work queued on `waited` so far.
///
/// # Parameters
/// `waiting`, `waited`: streams the library gave out, of any device.
/// # Errors
/// INVALID_HANDLE or INVALID_DEVICE: one of them was not. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block the host.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.Stream.wait_stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_stream_wait_stream(
    waiting: sconce_stream,
    waited: sconce_stream,
) -> sconce_status {
    guard(|| {
        let runtime = runtime()?;
        event::wait_stream(runtime, waiting.resolve(runtime)?, waited.resolve(runtime)?)
    })
}

/// Runs a host function once all work queued on a stream so far has finished; work queued later
/// starts after it has returned.
///
/// # Parameters
/// `stream`: any stream the library gave out. `function`: called once, on a thread of the driver;
/// not called when earlier work of the stream fails. `user`: handed to it.
/// # Errors
/// INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_ARGUMENT:
/// `function` is NULL. DRIVER: also for a failure of earlier work on the device. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// `user` must live until the function has run.
/// # Ordering
/// Does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The function must not call the device: nothing
/// of this library but what calls no driver, and nothing of CUDA.
/// # Threads
/// Any.
/// # Safety
/// `function` is NULL or may be called with `user` on another thread, and does not unwind.
/// # Upstream
/// `cudaLaunchHostFunc`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_launch_host_function(
    stream: sconce_stream,
    function: sconce_host_function,
    user: *mut c_void,
) -> sconce_status {
    guard(|| {
        let function = function.ok_or_else(|| null("function"))?;
        let runtime = runtime()?;
        let stream = stream.resolve(runtime)?;
        // SAFETY: the caller's promise is the one asked for.
        let function = unsafe { HostFunction::new(function, user) };
        stream::launch_host_function(runtime, stream, function)
    })
}

/// Keeps a stream of a device busy for a time, with a kernel that does nothing else: for tests and
/// examples of overlap.
///
/// # Parameters
/// `stream`: any stream the library gave out. `duration_ns`: nanoseconds.
/// # Errors
/// INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. DRIVER: also for a
/// failure of earlier work on the device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block, unless `CUDA_LAUNCH_BLOCKING=1`.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda._sleep`, which counts cycles instead.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_stream_sleep(stream: sconce_stream, duration_ns: u64) -> sconce_status {
    guard(|| {
        let runtime = runtime()?;
        stream::sleep(runtime, stream.resolve(runtime)?, duration_ns)
    })
}
