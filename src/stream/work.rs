//! Streams: queries, waits, priorities, host functions. See `docs/design/stream.md`.

use std::ffi::c_void;

use sconce_base::lock::refuse_held;
use sconce_compute::sleep_kernel;
use sconce_driver::HostFunction;
use sconce_runtime::context::runtime;
use sconce_runtime::{event, stream};

use super::capture_mode::{capture_mode, number_of_status};
use crate::{guard, null, sconce_status, sconce_stream};

/// A function that `sconce_stream_launch_host_function` queues on a stream.
pub type sconce_host_function = Option<unsafe extern "C" fn(user: *mut c_void)>;

/// A function that `sconce_stream_run` calls.
pub type sconce_scoped_function = Option<unsafe extern "C" fn(user: *mut c_void)>;

/// Reports whether all work queued on a stream has finished.
///
/// - `out_idle`: receives the answer.
/// - torch: `torch.cuda.Stream.query()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_query(
    stream: sconce_stream,
    out_idle: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_idle = out!(out_idle);
        let runtime = runtime()?;
        out_idle.write(stream::query(runtime, stream.resolve(runtime)?)?);
        Ok(())
    })
}

/// Waits until all work queued on a stream has finished.
///
/// - Ordering: blocks the calling thread.
/// - torch: `torch.cuda.Stream.synchronize()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_stream_synchronize(stream: sconce_stream) -> sconce_status {
    guard(|| {
        let runtime = runtime()?;
        stream::synchronize(runtime, stream.resolve(runtime)?)
    })
}

/// Reports the priority of a stream; lower is more urgent.
///
/// - `out_priority`: receives the priority.
/// - torch: `torch.cuda.Stream.priority`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_get_priority(
    stream: sconce_stream,
    out_priority: *mut i32,
) -> sconce_status {
    guard(|| {
        let out_priority = out!(out_priority);
        let runtime = runtime()?;
        out_priority.write(stream::priority(runtime, stream.resolve(runtime)?)?);
        Ok(())
    })
}

/// Reports the range of priorities that the current device distinguishes. Makes the device's
/// context.
///
/// - `out_least`: receives 0.
/// - `out_greatest`: receives a negative number, not below -3, the highest priority that has a
///   pool.
/// - torch: `torch.cuda.Stream.priority_range()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_get_priority_range(
    out_least: *mut i32,
    out_greatest: *mut i32,
) -> sconce_status {
    guard(|| {
        let out_least = out!(out_least);
        let out_greatest = out!(out_greatest);
        let (least, greatest) = stream::priority_range()?;
        out_least.write(least);
        out_greatest.write(greatest);
        Ok(())
    })
}

/// Reports whether a stream is being captured into a CUDA graph, by this library or by other code.
///
/// - `out_capturing`: receives true from the beginning of the capture to its end, also after the
///   capture has become invalid.
/// - Errors: INVALID_STATE: `stream` is the default stream, and the capture of another stream
///   forbids its use.
/// - torch: `torch.cuda.is_current_stream_capturing()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_is_capturing(
    stream: sconce_stream,
    out_capturing: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_capturing = out!(out_capturing);
        let runtime = runtime()?;
        out_capturing.write(stream::is_capturing(runtime, stream.resolve(runtime)?)?);
        Ok(())
    })
}

/// Reports whether a stream is being captured into a CUDA graph, by this library or by other code, and
/// whether that capture is valid.
///
/// - `out_status`: receives one of `SCONCE_CAPTURE_STATUS_NONE`, `_ACTIVE` and `_INVALIDATED`.
/// - Errors: as `sconce_stream_is_capturing`.
/// - torch: `c10::cuda::currentStreamCaptureStatusMayInitCtx`, `cudaStreamIsCapturing`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_get_capture_status(
    stream: sconce_stream,
    out_status: *mut i32,
) -> sconce_status {
    guard(|| {
        let out_status = out!(out_status);
        let runtime = runtime()?;
        out_status
            .write(number_of_status(stream::capture_status(runtime, stream.resolve(runtime)?)?));
        Ok(())
    })
}

/// Sets how strictly calls of the calling thread are checked against captures that are under way,
/// and reports the previous mode. The mode applies to all driver calls of the thread, including
/// those of other code.
///
/// - `mode`: With `SCONCE_CAPTURE_GLOBAL`, the initial mode of a thread, calls that are unsafe in a
///   capture fail during the thread's own captures and during global captures of other threads.
///   With `_THREAD_LOCAL` they fail only during the thread's own captures, and with `_RELAXED`
///   never. Another number is INVALID_ARGUMENT.
/// - `out_previous`: receives the previous mode.
/// - torch: `c10::cuda::CUDAStreamCaptureModeGuard`, `cudaThreadExchangeStreamCaptureMode`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_exchange_capture_mode(
    mode: i32,
    out_previous: *mut i32,
) -> sconce_status {
    guard(|| {
        let out_previous = out!(out_previous);
        let mode = capture_mode(mode)?;
        out_previous.write(runtime()?.driver().exchange_capture_mode(mode)?.number());
        Ok(())
    })
}

/// Makes work that is queued on `waiting` from now on wait for the work queued on `waited` so far.
///
/// - `waiting`, `waited`: streams of any devices.
/// - torch: `torch.cuda.Stream.wait_stream()`.
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

/// Queues a host function on a stream: the function runs after all work queued so far, and work
/// queued later starts after it has returned.
///
/// The function must not use a device. It must not call CUDA. Of this library, it may only call
/// functions that need no backend, and those that release something: `sconce_memory_free`,
/// `sconce_host_memory_free`, `sconce_event_destroy`, `sconce_tensor_release`. All other functions
/// return DRIVER with the code 800, on both backends. The function must not dereference device
/// addresses; on the simulator that ends the process, with a message that names the address.
///
/// - `function`: called once, on a thread of the driver; not called if earlier work of the stream
///   fails. If the stream is being captured, the function is called at each launch of the graph.
/// - `user`: passed to `function`.
/// - Ownership: `user` must live until `function` has run; after a capture, as long as the graph.
/// - Safety: `function` may be called with `user` on another thread, and does not unwind.
/// - torch: `cudaLaunchHostFunc`.
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
        // SAFETY: the function's comment demands that `function` may be called with `user` on another thread,
        // at each launch if it is captured, and that it does not unwind.
        let function = unsafe { HostFunction::new(function, user) };
        stream::launch_host_function(runtime, stream, function)
    })
}

/// Queues a host function on a stream, and a second one that is called instead if the first one
/// will not run. Exactly one of the two is called, once, unless the process ends first. Otherwise
/// as `sconce_stream_launch_host_function`.
///
/// - `function`: called after all work queued so far, if that succeeds.
/// - `otherwise`: called on a thread of the driver, some time after work of the device has failed.
///   The same rules apply to it as to `function`.
/// - `user`: passed to whichever is called.
/// - Errors: INVALID_STATE: the stream is being captured: a graph would run the function any number
///   of times. NOT_SUPPORTED: the driver has no `cuStreamAddCallback`. If the call fails, neither
///   function is called.
/// - Ownership: `user` must live until one of the two has run.
/// - Safety: `function` or `otherwise` may be called with `user` on another thread, and does not
///   unwind.
/// - torch: `cudaStreamAddCallback`, whose function receives the status.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_launch_host_function_or(
    stream: sconce_stream,
    function: sconce_host_function,
    otherwise: sconce_host_function,
    user: *mut c_void,
) -> sconce_status {
    guard(|| {
        let function = function.ok_or_else(|| null("function"))?;
        let otherwise = otherwise.ok_or_else(|| null("otherwise"))?;
        let runtime = runtime()?;
        let stream = stream.resolve(runtime)?;
        // SAFETY: the function's comment demands that `function` and `otherwise` may be called with `user` on
        // another thread, at each launch if they are captured, and that they do not unwind.
        let function = unsafe { HostFunction::with_alternative(function, otherwise, user) };
        stream::launch_host_function(runtime, stream, function)
    })
}

/// Makes a stream and its device current on the calling thread, calls a function, and restores the
/// previous stream and device.
///
/// Calls without a `stream` parameter that `function` makes on this thread use the stream. Use it for
/// tensors, for sequences of calls, and for work on several devices: `function`
/// may call `sconce_stream_run` again, with a stream of another device. A task that moves between
/// threads, such as a goroutine or a task of an async runtime, does not do so during the call.
///
/// - `function`: called once, on the calling thread, before this call returns. It may call this
///   library.
/// - `user`: passed to `function`.
/// - Errors: as `sconce_stream_exchange`, in which case `function` is not called; as
///   `sconce_stream_restore`.
/// - Ordering: the calls of `function` block as they do elsewhere; this call does not wait for the
///   work that they queue.
/// - Safety: `function` may be called with `user`, and does not unwind.
/// - torch: a block of `with torch.cuda.stream(s)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_run(
    stream: sconce_stream,
    function: sconce_scoped_function,
    user: *mut c_void,
) -> sconce_status {
    guard(|| {
        let function = function.ok_or_else(|| null("function"))?;
        let runtime = runtime()?;
        stream::run(runtime, stream.resolve(runtime)?, || {
            refuse_held("the function of a scope");
            // SAFETY: the comment of `sconce_stream_run` demands that `function` may be called with `user` and
            // does not unwind; this is the thread of the call, which has not returned yet.
            unsafe { function(user) };
        })
    })
}

/// Queues a kernel that keeps a stream busy for a given time, for tests and examples of overlap.
///
/// - `duration_ns`: nanoseconds.
/// - torch: `torch.cuda._sleep`, which counts cycles instead.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_stream_sleep(stream: sconce_stream, duration_ns: u64) -> sconce_status {
    guard(|| {
        let runtime = runtime()?;
        sleep_kernel::sleep(runtime, stream.resolve(runtime)?, duration_ns)
    })
}
