//! Copies and fills of contiguous bytes. See `docs/design/copy.md`.

use std::ffi::c_void;

use sconce_compute::copy;
use sconce_driver::RawAddress;

use crate::{CBool, guard, sconce_status, sconce_stream};

/// Copies bytes between any two places: ordinary, pinned or managed host memory, and the memory of
/// any two devices, peers or not. The addresses determine the kinds of memory.
///
/// - `dst`, `src`: addresses, also inside allocations; they may be NULL for 0 bytes.
/// - `bytes`: how many.
/// - `non_blocking`: whether the call may return before the copy is done, where that is safe.
/// - Errors: INVALID_ARGUMENT: pinned memory was freed, or a range leaves its allocation: the block
///   of this library that contains its first byte, or the driver allocation if the memory is of
///   other code. INVALID_STATE: a stream involved is being captured, and the copy uses ordinary
///   memory or has to wait; use pinned memory and `non_blocking`. INVALID_STATE: a copy between
///   devices involves one stream that is being captured and one that is not.
/// - Ordering: *Host to host*: done when the call returns. *Between host and device*: on the
///   device's current stream. The call returns when the copy is done. With `non_blocking` it
///   returns once the copy is queued if the host memory is pinned, once the source may be changed
///   if the source is ordinary memory, and when the copy is done if the destination is ordinary
///   memory. *Within a device*: queued on its current stream. *Between devices*: queued on the
///   source device's current stream, after the work queued on the destination device's current
///   stream; later work of the latter waits for the copy. If the hardware supports it, the call
///   enables peer access from the source device to the destination's memory. Pinned memory of this
///   library may be freed while copies use it. `CUDA_LAUNCH_BLOCKING=1` makes every call wait.
/// - Safety: host ranges are valid for the access, do not overlap, and stay as they are until the
///   copy is done. Device ranges are checked.
/// - torch: `torch.Tensor.copy_(src, non_blocking)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_copy(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    non_blocking: CBool,
) -> sconce_status {
    guard(|| {
        // SAFETY: if `dst` is an address of the host, its `bytes` bytes stay valid until the copy is done: the
        // function's comment in the header demands it of both ranges.
        let dst = unsafe { RawAddress::from_caller_within(dst as usize, 0, bytes) };
        // SAFETY: if `src` is an address of the host, its `bytes` bytes stay valid until the copy is done: the
        // function's comment in the header demands it of both ranges.
        let src = unsafe { RawAddress::from_caller_within(src as usize, 0, bytes) };
        copy::copy(dst, src, bytes, non_blocking.is_true())
    })
}

/// Sets bytes of device or host memory.
///
/// - `ptr`: an address, also inside an allocation; it may be NULL for 0 bytes.
/// - `value`: the new value of each byte.
/// - `bytes`: how many.
/// - Errors: INVALID_ARGUMENT: the range leaves its allocation. CROSS_DEVICE: the memory is of a
///   device to which the current device has no peer access; the message names both. A copy from the
///   current device to the other one, or `sconce_device_enable_peer_access`, enables it.
/// - Ordering: *device memory*: queued on the current device's current stream. *Host memory*: done
///   when the call returns.
/// - Safety: a host range is valid for writing. Device ranges are checked.
/// - torch: `torch.Tensor.fill_` of bytes, `cudaMemsetAsync`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_set(
    ptr: *mut c_void,
    value: u8,
    bytes: usize,
) -> sconce_status {
    guard(|| {
        // SAFETY: if `ptr` is an address of the host, its `bytes` bytes may be written: the function's comment
        // in the header demands it.
        let ptr = unsafe { RawAddress::from_caller_within(ptr as usize, 0, bytes) };
        copy::set(ptr, value, bytes)
    })
}

/// Copies bytes between any two places on a stream, which is used instead of the current stream of
/// its device. Otherwise as `sconce_copy`.
///
/// - `stream`: the stream on which the copy is queued. It is of the device whose memory is
///   involved; between two devices, of the source's device. A copy from host to host does not use
///   it.
/// - Errors: CROSS_DEVICE: the stream is of another device. Otherwise as `sconce_copy`.
/// - Ordering: as `sconce_copy`. Between two devices the destination's side is ordered with the
///   calling thread's current stream there, which is the default stream unless the thread set it.
/// - Threads: any; the calling thread's device and streams do not change.
/// - Safety: as `sconce_copy`.
/// - torch: `torch.Tensor.copy_(src, non_blocking)` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_copy_on(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    non_blocking: CBool,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| {
        // SAFETY: if `dst` is an address of the host, its `bytes` bytes stay valid until the copy is done: the
        // function's comment in the header demands it of both ranges.
        let dst = unsafe { RawAddress::from_caller_within(dst as usize, 0, bytes) };
        // SAFETY: if `src` is an address of the host, its `bytes` bytes stay valid until the copy is done: the
        // function's comment in the header demands it of both ranges.
        let src = unsafe { RawAddress::from_caller_within(src as usize, 0, bytes) };
        stream.run(|| copy::copy(dst, src, bytes, non_blocking.is_true()))
    })
}

/// Sets bytes of device or host memory on a stream. The stream and its device are used instead of
/// the current ones. Otherwise as `sconce_memory_set`.
///
/// - `stream`: the stream on which the fill is queued. For host memory it is not used.
/// - Threads: any; the calling thread's device and streams have no effect and do not change.
/// - Safety: as `sconce_memory_set`.
/// - torch: `cudaMemsetAsync` with a stream.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_set_on(
    ptr: *mut c_void,
    value: u8,
    bytes: usize,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| {
        // SAFETY: if `ptr` is an address of the host, its `bytes` bytes may be written: the function's comment
        // in the header demands it.
        let ptr = unsafe { RawAddress::from_caller_within(ptr as usize, 0, bytes) };
        stream.run(|| copy::set(ptr, value, bytes))
    })
}
