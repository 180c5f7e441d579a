//! The simulator's memory, for tests: to get some, to look into it. See `docs/design/simulator.md`.

use std::ffi::c_void;

use crate::driver::RawAddress;
use crate::ffi::{Out, guard, null, sconce_status};
use crate::sim;
use crate::types::DevicePtr;

/// Gives memory of a simulated device, straight from the device: no cache, contents undefined.
///
/// # Parameters
/// `device`: index, -1 for the current device. `bytes`: more than 0. `out_ptr` [out]: device
/// address; the host cannot follow it.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `bytes` is 0, or `out_ptr` is NULL. OUT_OF_MEMORY.
/// NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// The caller frees it with `sconce_sim_memory_free`.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_ptr` is NULL or valid for writing one value.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_memory_alloc(
    device: i32,
    bytes: usize,
    out_ptr: *mut *mut c_void,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_ptr = unsafe { Out::new(out_ptr, "out_ptr") }?;
        let ptr = sim::memory_alloc(device, bytes)?;
        out_ptr.write(std::ptr::without_provenance_mut(ptr.0 as usize));
        Ok(())
    })
}

/// Frees memory that `sconce_sim_memory_alloc` gave.
///
/// # Parameters
/// `ptr`: what it gave; NULL is a no-op.
/// # Errors
/// INVALID_ARGUMENT or INVALID_HANDLE: not such memory, or freed before. NOT_SUPPORTED: the backend
/// is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// Takes the memory back.
/// # Ordering
/// Blocks until the device has finished all work.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// None: torch has no such backend.
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
/// # Parameters
/// `ptr`: device address, also inside an allocation. `bytes`: how many. `out_data` [out]: host
/// memory for them.
/// # Errors
/// INVALID_ARGUMENT: `ptr` is not simulated memory or holds fewer bytes, or `out_data` is NULL.
/// NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// On the device's default stream; blocks until it is done.
/// # Threads
/// Any.
/// # Safety
/// `out_data` is NULL or valid for writing `bytes` bytes.
/// # Upstream
/// None: torch has no such backend.
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
        // SAFETY: the caller promises `bytes` writable bytes; the call waits for the copy.
        let data = unsafe { RawAddress::from_caller_within(out_data as usize, 0, bytes) };
        let device = RawAddress::from(DevicePtr(ptr as u64));
        sim::memory_copy(data, device, ptr as usize, bytes)
    })
}

/// Copies from the host to simulated device memory.
///
/// # Parameters
/// `ptr`: device address, also inside an allocation. `bytes`: how many. `data`: host memory that
/// holds them.
/// # Errors
/// INVALID_ARGUMENT: `ptr` is not simulated memory or holds fewer bytes, or `data` is NULL.
/// NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// On the device's default stream; blocks until it is done.
/// # Threads
/// Any.
/// # Safety
/// `data` is NULL or valid for reading `bytes` bytes.
/// # Upstream
/// None: torch has no such backend.
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
        // SAFETY: the caller promises `bytes` readable bytes; the call waits for the copy.
        let data = unsafe { RawAddress::from_caller_within(data as usize, 0, bytes) };
        let device = RawAddress::from(DevicePtr(ptr as u64));
        sim::memory_copy(device, data, ptr as usize, bytes)
    })
}
