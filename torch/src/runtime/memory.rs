//! Memory and copies.

use std::ffi::{c_int, c_uint, c_void};

use super::devices::write;
use super::driver::{Address, Object};
use super::runtime;
use super::state::{check, codes, ready};

/// The directions of a copy, `cudaMemcpyHostToHost` to `cudaMemcpyDefault`: the driver sees from the addresses which one
/// it is.
const DIRECTIONS: std::ops::RangeInclusive<c_int> = 0..=4;
/// `cudaErrorInvalidMemcpyDirection`.
const INVALID_DIRECTION: i32 = 21;

pub(super) fn check_direction(kind: c_int) -> Result<(), i32> {
    if DIRECTIONS.contains(&kind) { Ok(()) } else { Err(INVALID_DIRECTION) }
}

runtime! {
    /// Memory of the device; NULL for no bytes.
    fn cudaMalloc(pointer: *mut Address, bytes: usize) {
        let driver = ready()?;
        let mut address = 0;
        if bytes > 0 {
            // SAFETY: the place is valid for a write.
            check(unsafe { (driver.allocate)(&mut address, bytes) })?;
        }
        // SAFETY: the caller's promise.
        unsafe { write(pointer, address) }
    }

    /// Frees memory of the device. NULL only starts the runtime.
    fn cudaFree(pointer: Address) {
        let driver = ready()?;
        if pointer == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        check(unsafe { (driver.free)(pointer) })
    }

    /// Memory from the device's pool.
    fn cudaMallocAsync(pointer: *mut Address, bytes: usize, stream: Object) {
        let driver = ready()?;
        let mut address = 0;
        if bytes > 0 {
            // SAFETY: the place is valid for a write; the stream is the caller's promise.
            check(unsafe { (driver.allocate_async)(&mut address, bytes, stream) })?;
        }
        // SAFETY: the caller's promise.
        unsafe { write(pointer, address) }
    }

    /// Gives memory back to the device's pool.
    fn cudaFreeAsync(pointer: Address, stream: Object) {
        let driver = ready()?;
        if pointer == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        check(unsafe { (driver.free_async)(pointer, stream) })
    }

    /// Page-locked memory of the host.
    fn cudaMallocHost(pointer: *mut *mut c_void, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { pinned(pointer, bytes, 0) }
    }

    /// Page-locked memory of the host; the flags are the driver's.
    fn cudaHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint) {
        // SAFETY: the caller's promise.
        unsafe { pinned(pointer, bytes, flags) }
    }

    /// Frees page-locked memory.
    fn cudaFreeHost(pointer: *mut c_void) {
        let driver = ready()?;
        if pointer.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        check(unsafe { (driver.free_host)(pointer) })
    }

    /// Free and total bytes of the device.
    fn cudaMemGetInfo(free: *mut usize, total: *mut usize) {
        let (mut is_free, mut of_all) = (0, 0);
        // SAFETY: both places are valid for a write.
        check(unsafe { (ready()?.memory_info)(&mut is_free, &mut of_all) })?;
        // SAFETY: the caller's promise.
        unsafe { write(free, is_free) }?;
        // SAFETY: as above.
        unsafe { write(total, of_all) }
    }

    /// Copies, and waits.
    fn cudaMemcpy(into: Address, from: Address, bytes: usize, kind: c_int) {
        check_direction(kind)?;
        let driver = ready()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        check(unsafe { (driver.copy)(into, from, bytes) })
    }

    /// Copies in the order of a stream.
    fn cudaMemcpyAsync(into: Address, from: Address, bytes: usize, kind: c_int, stream: Object) {
        check_direction(kind)?;
        let driver = ready()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        check(unsafe { (driver.copy_async)(into, from, bytes, stream) })
    }

    /// Fills bytes of a device.
    fn cudaMemset(into: Address, value: c_int, bytes: usize) {
        let driver = ready()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        check(unsafe { (driver.fill)(into, value as u8, bytes) })
    }

    /// Fills bytes of a device in the order of a stream.
    fn cudaMemsetAsync(into: Address, value: c_int, bytes: usize, stream: Object) {
        let driver = ready()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        check(unsafe { (driver.fill_async)(into, value as u8, bytes, stream) })
    }
}

/// # Safety
/// The place is NULL or valid for a write.
unsafe fn pinned(pointer: *mut *mut c_void, bytes: usize, flags: c_uint) -> Result<(), i32> {
    if pointer.is_null() {
        return Err(codes::INVALID_VALUE);
    }
    let driver = ready()?;
    let mut address = std::ptr::null_mut();
    if bytes > 0 {
        // SAFETY: the place is valid for a write.
        check(unsafe { (driver.allocate_host)(&mut address, bytes, flags) })?;
    }
    // SAFETY: the caller's promise.
    unsafe { write(pointer, address) }
}
