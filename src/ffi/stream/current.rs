//! Streams: which there are, and which is current. See `docs/design/stream.md`.

use std::ffi::c_void;
use std::mem::size_of;

use crate::context::{Runtime, runtime};
use crate::device;
use crate::error::Result;
use crate::ffi::{Out, guard, guard_runtime, sconce_status};
use crate::stream::{self, Stream};

/// A stream: a value, owned by nobody. Streams are equal when `id` and `device` are.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct sconce_stream {
    /// Which stream of the device; 0 is the default stream. The numbers are torch's.
    pub id: i64,
    /// Index of the device.
    pub device: i32,
    /// 0.
    pub reserved: i32,
}

const _: () = assert!(size_of::<sconce_stream>() == 16);

impl sconce_stream {
    fn of(stream: Stream) -> Self {
        sconce_stream { id: stream.id(), device: stream.device().as_i32(), reserved: 0 }
    }

    /// The stream this value names, if there is one.
    #[inline(always)]
    pub(in crate::ffi) fn resolve(self, runtime: &Runtime) -> Result<Stream> {
        Stream::from_parts(runtime, self.id, self.device)
    }
}

/// Gives a device's default stream: CUDA's legacy one, handle NULL.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_stream` [out].
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_stream` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_stream` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.default_stream()`, `c10::cuda::getDefaultCUDAStream`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_get_default(
    device: i32,
    out_stream: *mut sconce_stream,
) -> sconce_status {
    guard_runtime(|| {
        // SAFETY: the caller promises a writable place.
        let out_stream = unsafe { Out::new(out_stream, "out_stream") }?;
        out_stream.write(sconce_stream::of(stream::default(device)?));
        Ok(())
    })
}

/// Gives the calling thread's current stream on a device; the default stream at thread start.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_stream` [out].
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_stream` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls no driver.
/// # Threads
/// Any; each thread has its own current streams.
/// # Safety
/// `out_stream` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.current_stream()`, `c10::cuda::getCurrentCUDAStream`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_get_current(
    device: i32,
    out_stream: *mut sconce_stream,
) -> sconce_status {
    guard_runtime(|| {
        // SAFETY: the caller promises a writable place.
        let out_stream = unsafe { Out::new(out_stream, "out_stream") }?;
        let (id, device) = stream::current(device)?;
        out_stream.write(sconce_stream { id, device: device.as_i32(), reserved: 0 });
        Ok(())
    })
}

/// Makes a stream the calling thread's current one on the stream's device. The current device
/// stays.
///
/// # Parameters
/// `stream`: any stream the library gave out.
/// # Errors
/// INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls no driver.
/// # Threads
/// Any; each thread has its own current streams.
/// # Safety
/// No requirements.
/// # Upstream
/// `c10::cuda::setCurrentCUDAStream`; unlike `torch.cuda.set_stream`, which also switches the
/// device.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_stream_set_current(stream: sconce_stream) -> sconce_status {
    guard_runtime(|| {
        let stream = stream.resolve(runtime()?)?;
        stream::set_current(stream);
        Ok(())
    })
}

/// Makes a stream current on its device and that device the current one: what stream guards begin
/// with.
///
/// # Parameters
/// `stream`: any stream the library gave out. `out_previous` [out]: the stream that was current on
/// the stream's device. `out_previous_device` [out]: the device that was current.
/// # Errors
/// INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_ARGUMENT:
/// `out_previous` or `out_previous_device` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// As `sconce_device_set_current`; on the current device it calls no driver.
/// # Threads
/// Any; each thread has its own current device and streams.
/// # Safety
/// `out_previous` and `out_previous_device` are each NULL or valid for writing one value.
/// # Upstream
/// Entering `torch.cuda.stream(s)` or a `c10::cuda::CUDAStreamGuard`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_exchange(
    stream: sconce_stream,
    out_previous: *mut sconce_stream,
    out_previous_device: *mut i32,
) -> sconce_status {
    guard_runtime(|| {
        // SAFETY: the caller promises a writable place.
        let out_previous = unsafe { Out::new(out_previous, "out_previous") }?;
        // SAFETY: the caller promises a writable place.
        let out_previous_device = unsafe { Out::new(out_previous_device, "out_previous_device") }?;
        let stream = stream.resolve(runtime()?)?;
        let (id, previous_device) = stream::exchange(stream)?;
        out_previous.write(sconce_stream { id, device: stream.device().as_i32(), reserved: 0 });
        out_previous_device.write(previous_device.as_i32());
        Ok(())
    })
}

/// Undoes `sconce_stream_exchange`: what stream guards end with. `previous` becomes current on its
/// device, then `previous_device` becomes the current device.
///
/// # Parameters
/// `previous`, `previous_device`: what the exchange gave.
/// # Errors
/// INVALID_HANDLE or INVALID_DEVICE: not what an exchange gave. NO_DEVICE, LIBRARY_NOT_FOUND,
/// FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// As `sconce_device_set_current`; on the current device it calls no driver.
/// # Threads
/// The thread that called the exchange.
/// # Safety
/// No requirements.
/// # Upstream
/// Leaving `torch.cuda.stream(s)` or a `c10::cuda::CUDAStreamGuard`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_stream_restore(
    previous: sconce_stream,
    previous_device: i32,
) -> sconce_status {
    guard_runtime(|| {
        let runtime = runtime()?;
        let previous_device = device::resolve(runtime, previous_device)?;
        stream::restore(previous.resolve(runtime)?, previous_device)
    })
}

/// Gives the next of the 32 pooled streams of a device and priority, in turn: request n and request
/// n + 32 get the same stream. Each is made at its first request and never destroyed.
///
/// # Parameters
/// `device`: index, -1 for the current device. `priority`: 0 low, -1 high; lower values are still
/// higher, down to -3. `out_stream` [out].
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `priority` is above 0, or `out_stream` is NULL. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// The library owns what the stream names.
/// # Ordering
/// Does not block. Pooled streams are non-blocking: nothing orders them with the default stream but
/// events.
/// # Threads
/// Any.
/// # Safety
/// `out_stream` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.Stream(device, priority)`, `c10::cuda::getStreamFromPool`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_get_from_pool(
    device: i32,
    priority: i32,
    out_stream: *mut sconce_stream,
) -> sconce_status {
    guard_runtime(|| {
        // SAFETY: the caller promises a writable place.
        let out_stream = unsafe { Out::new(out_stream, "out_stream") }?;
        out_stream.write(sconce_stream::of(stream::from_pool(device, priority)?));
        Ok(())
    })
}

/// Gives the stream behind a `cudaStream_t` (`CUstream`) that somebody else made.
///
/// # Parameters
/// `native`: the handle; NULL is the default stream. `device`: index, -1 for the current device.
/// `out_stream` [out].
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `native` cannot be a stream handle, or `out_stream` is NULL.
/// INVALID_HANDLE: the simulator knows all its streams and this is none. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// The maker keeps the stream, and may destroy it once no call names it any more: passes it, or runs
/// while it is the calling thread's current stream. Memory that was allocated for it, or noted with
/// `record_stream`, may still be held then. A handle that the driver uses again for another stream must
/// be passed to this function again.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_stream` is NULL or valid for writing one value. `native` is NULL or a live stream of the
/// device.
/// # Upstream
/// `torch.cuda.ExternalStream`, `c10::cuda::getStreamFromExternal`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_get_from_external(
    native: *mut c_void,
    device: i32,
    out_stream: *mut sconce_stream,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_stream = unsafe { Out::new(out_stream, "out_stream") }?;
        let stream = stream::from_external(native as usize, device)?;
        out_stream.write(sconce_stream::of(stream));
        Ok(())
    })
}

/// Gives the `cudaStream_t` (`CUstream`) of a stream, for kernel launches and other libraries.
///
/// # Parameters
/// `stream`: any stream the library gave out. `out_native` [out]: NULL for a default stream.
/// # Errors
/// INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_ARGUMENT:
/// `out_native` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// Borrowed: never destroy it.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_native` is NULL or valid for writing one value.
/// # Upstream
/// `c10::cuda::CUDAStream::stream()`, `torch.cuda.Stream.cuda_stream`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_get_native(
    stream: sconce_stream,
    out_native: *mut *mut c_void,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_native = unsafe { Out::new(out_native, "out_native") }?;
        let stream = stream.resolve(runtime()?)?;
        out_native.write(std::ptr::with_exposed_provenance_mut(stream.driver_ref().handle.0));
        Ok(())
    })
}
