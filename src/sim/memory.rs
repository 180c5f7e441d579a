//! The simulator's memory, for tests: allocating, reading, writing. See `docs/design/simulator.md`.

use std::ffi::c_void;

use sconce_base::types::DevicePtr;
use sconce_driver::RawAddress;

use crate::sim::controls as sim;
use crate::{guard, null, sconce_status};

/// Allocates memory of a simulated device directly from the device, without a cache. The contents
/// are undefined.
///
/// - `bytes`: more than 0, else INVALID_ARGUMENT.
/// - `out_ptr`: receives a device address that the host cannot access.
/// - Errors: OUT_OF_MEMORY.
/// - Ownership: the caller frees the memory with `sconce_sim_memory_free`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_memory_alloc(
    device: i32,
    bytes: usize,
    out_ptr: *mut *mut c_void,
) -> sconce_status {
    guard(|| {
        let out_ptr = out!(out_ptr);
        let ptr = sim::memory_alloc(device, bytes)?;
        out_ptr.write(std::ptr::without_provenance_mut(ptr.0 as usize));
        Ok(())
    })
}

/// Frees memory that `sconce_sim_memory_alloc` returned.
///
/// - `ptr`: the address; NULL is a no-op.
/// - Errors: INVALID_ARGUMENT or INVALID_HANDLE: `ptr` is not such memory, or was freed before.
/// - Ordering: blocks until the device has finished all work.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_memory_free(ptr: *mut c_void) -> sconce_status {
    guard(|| {
        if ptr.is_null() {
            return Ok(());
        }
        sim::memory_free(ptr as usize)
    })
}

/// Copies from simulated device memory to the host.
///
/// - `ptr`: a device address, also inside an allocation.
/// - `bytes`: how many.
/// - `out_data`: receives the bytes.
/// - Errors: INVALID_ARGUMENT: `ptr` is not simulated memory, or holds fewer bytes.
/// - Ordering: on the device's default stream; blocks until it is done.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_memory_read(
    ptr: *const c_void,
    bytes: usize,
    out_data: *mut c_void,
) -> sconce_status {
    guard(|| {
        if out_data.is_null() {
            return Err(null("out_data"));
        }
        // SAFETY: `out_data` receives `bytes` bytes, and the call does not return before the copy is done.
        let data = unsafe { RawAddress::from_caller_within(out_data as usize, 0, bytes) };
        let device = RawAddress::from(DevicePtr(ptr as u64));
        sim::memory_copy(data, device, ptr as usize, bytes)
    })
}

/// Copies from the host to simulated device memory.
///
/// - `ptr`: a device address, also inside an allocation.
/// - `bytes`: how many.
/// - `data`: the bytes, in host memory.
/// - Errors: INVALID_ARGUMENT: `ptr` is not simulated memory, or holds fewer bytes.
/// - Ordering: on the device's default stream; blocks until it is done.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_memory_write(
    ptr: *mut c_void,
    bytes: usize,
    data: *const c_void,
) -> sconce_status {
    guard(|| {
        if data.is_null() {
            return Err(null("data"));
        }
        // SAFETY: `data` has `bytes` bytes, and the call does not return before the copy is done.
        let data = unsafe { RawAddress::from_caller_within(data as usize, 0, bytes) };
        let device = RawAddress::from(DevicePtr(ptr as u64));
        sim::memory_copy(device, data, ptr as usize, bytes)
    })
}
