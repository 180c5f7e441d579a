//! Copies and sets. See `docs/design/copy.md`.

use std::ffi::c_void;

use crate::copy;
use crate::driver::RawAddress;
use crate::ffi::{CBool, guard, sconce_status};

/// Copies bytes between any two places: ordinary, pinned or managed host memory and the memory of
/// any device, found from the addresses; any two devices will do, peers or not.
///
/// # Parameters
/// `dst`, `src`: addresses, also inside allocations; they may be NULL for 0 bytes. `bytes`: how
/// many. `non_blocking`: return before the copy is done where that is safe.
/// # Errors
/// INVALID_ARGUMENT: an address is NULL, pinned memory was freed, or a range leaves its allocation: the
/// block of this library that its first byte lies in, or for memory of others the driver's allocation.
/// INVALID_STATE: a stream concerned is being captured, and the copy needs ordinary memory or has to
/// wait; copy pinned memory with `non_blocking`. Also when a copy between devices concerns a
/// captured stream and one that is not. DRIVER: also for a failure of earlier work on a device.
/// NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Host memory to host memory: done when the call returns. Between the host and a device: on the
/// device's current stream; the call returns when the copy is done, or with `non_blocking` once it
/// is queued if the host's side is pinned, once the source may be changed if it is ordinary memory;
/// into ordinary memory it is always done. Within a device: queued on its current stream. Between
/// devices: queued on the source device's current stream, after the work that the destination
/// device's current stream has, whose later work waits for it; where the hardware can, this enables
/// peer access from the source device to the destination's memory. Pinned memory of this library may
/// be freed while copies use it. `CUDA_LAUNCH_BLOCKING` makes each call wait.
/// # Threads
/// Any.
/// # Safety
/// Host ranges are valid for the access, do not overlap, and stay as they are until the copy is
/// done; ranges of devices are checked.
/// # Upstream
/// `torch.Tensor.copy_(src, non_blocking)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_copy(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    non_blocking: CBool,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller's promise is the one asked for.
        let dst = unsafe { RawAddress::from_caller_within(dst as usize, 0, bytes) };
        // SAFETY: the caller's promise is the one asked for.
        let src = unsafe { RawAddress::from_caller_within(src as usize, 0, bytes) };
        copy::copy(dst, src, bytes, non_blocking.is_true())
    })
}

/// Sets bytes of a device, or of host memory.
///
/// # Parameters
/// `ptr`: address, also inside an allocation; it may be NULL for 0 bytes. `value`: what each byte
/// becomes. `bytes`: how many.
/// # Errors
/// INVALID_ARGUMENT: `ptr` is NULL, or the range leaves its allocation. CROSS_DEVICE: it is
/// memory of another device than the current one, which has no peer access to it (a copy from the
/// current device to the other enables it, or `sconce_device_enable_peer_access`); the message names
/// both.
/// DRIVER: also for a failure of earlier work on the device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED
/// as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Device memory: queued on the current device's current stream. Host memory: done when the call
/// returns. `CUDA_LAUNCH_BLOCKING` makes the call wait.
/// # Threads
/// Any.
/// # Safety
/// A host range is valid for writing; ranges of devices are checked.
/// # Upstream
/// `torch.Tensor.fill_` of bytes, `cudaMemsetAsync`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_set(
    ptr: *mut c_void,
    value: u8,
    bytes: usize,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller's promise is the one asked for.
        let ptr = unsafe { RawAddress::from_caller_within(ptr as usize, 0, bytes) };
        copy::set(ptr, value, bytes)
    })
}
