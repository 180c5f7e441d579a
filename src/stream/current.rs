//! Streams: current streams, pools, and streams of other code. See `docs/design/stream.md`.

use std::ffi::c_void;
use std::mem::size_of;

use sconce_base::error::Result;
use sconce_driver::StreamHandle;
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::device;
use sconce_runtime::stream::{self, Stream};

use crate::{guard, guard_runtime, sconce_status};

/// A stream: a value without an owner. Two streams are equal if `id` and `device` are.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct sconce_stream {
    /// Number of the stream on its device; 0 is the default stream. The numbers are torch's.
    pub id: i64,
    /// Index of the device.
    pub device: i32,
    /// 0.
    pub reserved: i32,
}

const _: () = assert!(size_of::<sconce_stream>() == 16);

impl sconce_stream {
    pub(crate) fn of(stream: Stream) -> Self {
        sconce_stream { id: stream.id(), device: stream.device().as_i32(), reserved: 0 }
    }

    /// The stream this value names, if there is one.
    #[inline(always)]
    pub(crate) fn resolve(self, runtime: &Runtime) -> Result<Stream> {
        Stream::from_parts(runtime, self.id, self.device)
    }

    /// Runs the body of a call that ends in `_on` with the stream current.
    #[inline]
    pub(crate) fn run<T>(self, body: impl FnOnce() -> Result<T>) -> Result<T> {
        stream::on(self.resolve(runtime()?)?, body)
    }
}

/// Returns a device's default stream: CUDA's legacy default stream, whose native handle is NULL.
///
/// - `out_stream`: receives the stream.
/// - torch: `torch.cuda.default_stream()`, `c10::cuda::getDefaultCUDAStream`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_get_default(
    device: i32,
    out_stream: *mut sconce_stream,
) -> sconce_status {
    guard_runtime(|| {
        let out_stream = out!(out_stream);
        out_stream.write(sconce_stream::of(stream::default(device)?));
        Ok(())
    })
}

/// Returns the calling thread's current stream on a device. It is the default stream when a thread
/// starts. Each thread has its own current streams.
///
/// Makes no driver call, except for the check of the device.
///
/// - `out_stream`: receives the stream.
/// - torch: `torch.cuda.current_stream()`, `c10::cuda::getCurrentCUDAStream`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_get_current(
    device: i32,
    out_stream: *mut sconce_stream,
) -> sconce_status {
    guard_runtime(|| {
        let out_stream = out!(out_stream);
        let (id, device) = stream::current(device)?;
        out_stream.write(sconce_stream { id, device: device.as_i32(), reserved: 0 });
        Ok(())
    })
}

/// Makes a stream the calling thread's current one on the stream's device. Does not change the
/// current device.
///
/// Makes no driver call.
///
/// - torch: `c10::cuda::setCurrentCUDAStream`; `torch.cuda.set_stream` also switches the device.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_stream_set_current(stream: sconce_stream) -> sconce_status {
    guard_runtime(|| {
        let stream = stream.resolve(runtime()?)?;
        stream::set_current(stream);
        Ok(())
    })
}

/// Makes a stream current on its device and makes that device current. Stream guards begin with it
/// and end with `sconce_stream_restore`.
///
/// Blocks as `sconce_device_set_current`. Makes no driver call if the device is current already,
/// except for the check of the device.
///
/// - `out_previous`: receives the stream that was current on the stream's device.
/// - `out_previous_device`: receives the index of the device that was current.
/// - torch: entering `torch.cuda.stream(s)` or a `c10::cuda::CUDAStreamGuard`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_exchange(
    stream: sconce_stream,
    out_previous: *mut sconce_stream,
    out_previous_device: *mut i32,
) -> sconce_status {
    guard_runtime(|| {
        let out_previous = out!(out_previous);
        let out_previous_device = out!(out_previous_device);
        let runtime = runtime()?;
        let stream = stream.resolve(runtime)?;
        let (id, previous_device) = stream::exchange(runtime, stream)?;
        out_previous.write(sconce_stream { id, device: stream.device().as_i32(), reserved: 0 });
        out_previous_device.write(previous_device.as_i32());
        Ok(())
    })
}

/// Undoes `sconce_stream_exchange`: makes `previous` current on its device, then `previous_device`
/// the current device.
///
/// Blocks as `sconce_device_set_current`. Makes no driver call if the device is current already,
/// except for the check of the device.
///
/// - `previous`, `previous_device`: the two results of `sconce_stream_exchange`.
/// - Threads: the thread that called `sconce_stream_exchange`.
/// - torch: leaving `torch.cuda.stream(s)` or a `c10::cuda::CUDAStreamGuard`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_stream_restore(
    previous: sconce_stream,
    previous_device: i32,
) -> sconce_status {
    guard_runtime(|| {
        let runtime = runtime()?;
        let previous_device = device::resolve(runtime, previous_device)?;
        stream::restore(runtime, previous.resolve(runtime)?, previous_device)
    })
}

/// Returns the next of the 32 pooled streams of a device and priority, in turn: requests n and n +
/// 32 return the same stream. A pooled stream is made when it is first requested, and never
/// destroyed.
///
/// Pooled streams are non-blocking: only events order their work with that of the default stream.
///
/// - `priority`: 0 is low, -1 is high; lower numbers mean still higher priorities, down to -3.
/// - `out_stream`: receives the stream.
/// - Errors: INVALID_ARGUMENT: `priority` is above 0.
/// - torch: `torch.cuda.Stream(device, priority)`, `c10::cuda::getStreamFromPool`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_get_from_pool(
    device: i32,
    priority: i32,
    out_stream: *mut sconce_stream,
) -> sconce_status {
    guard_runtime(|| {
        let out_stream = out!(out_stream);
        out_stream.write(sconce_stream::of(stream::from_pool(device, priority)?));
        Ok(())
    })
}

/// Returns the stream for a `cudaStream_t` (`CUstream`) that other code made.
///
/// - `native`: the handle; NULL and 1 are the default stream. 2 (`cudaStreamPerThread`) is the default stream of
///   whichever thread makes a call.
/// - `out_stream`: receives the stream.
/// - Errors: INVALID_ARGUMENT: `native` cannot be a stream handle. INVALID_HANDLE: the simulator,
///   which knows all its streams, does not know `native`.
/// - Ownership: the other code keeps the native stream. It may destroy the stream once no call uses
///   it, as an argument or as the calling thread's current stream. Memory that was allocated for
///   the stream, or noted with a `…_record_stream` function, may still be held at that time. If the
///   driver reuses the handle for another stream, pass the handle to this function again.
/// - Safety: `native` is NULL or a live stream of the device.
/// - torch: `torch.cuda.ExternalStream`, `c10::cuda::getStreamFromExternal`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_get_from_external(
    native: *mut c_void,
    device: i32,
    out_stream: *mut sconce_stream,
) -> sconce_status {
    guard(|| {
        let out_stream = out!(out_stream);
        // SAFETY: `native` is a live stream of the device or a number that stands for one: the function's
        // comment demands it.
        let handle = unsafe { StreamHandle::from_native(native as usize) };
        let stream = stream::from_external(handle, device)?;
        out_stream.write(sconce_stream::of(stream));
        Ok(())
    })
}

/// Returns the `cudaStream_t` (`CUstream`) of a stream, for kernel launches and other libraries.
///
/// - `out_native`: receives the handle; NULL for a default stream.
/// - Ownership: borrowed; never destroy it.
/// - torch: `c10::cuda::CUDAStream::stream()`, `torch.cuda.Stream.cuda_stream`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_get_native(
    stream: sconce_stream,
    out_native: *mut *mut c_void,
) -> sconce_status {
    guard(|| {
        let out_native = out!(out_native);
        let stream = stream.resolve(runtime()?)?;
        out_native
            .write(std::ptr::with_exposed_provenance_mut(stream.driver_ref().handle.native()));
        Ok(())
    })
}
