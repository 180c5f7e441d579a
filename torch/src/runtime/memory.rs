//! Memory and copies.

use std::ffi::{c_int, c_uint, c_void};

use super::arguments::CudaPlace;
use super::driver::{Address, Stream};
use super::runtime;
use super::state::{Outcome, check, ready};
use crate::abi::arguments::Out;

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
    fn cudaMalloc(pointer: Out<Address>, bytes: usize) {
        let driver = ready()?;
        pointer.fill(0, |address| match bytes {
            0 => Ok(()),
            bytes => check((driver.allocate)(address, bytes)),
        })
    }

    /// Frees memory of the device. NULL only starts the runtime.
    fn cudaFree(pointer: Address) {
        let driver = ready()?;
        if pointer == 0 {
            return Ok(());
        }
        // SAFETY: `cudaFree` demands an address of `cudaMalloc` that the caller uses no more.
        check(unsafe { (driver.free)(pointer) })
    }

    /// Memory from the device's pool.
    fn cudaMallocAsync(pointer: Out<Address>, bytes: usize, stream: Stream) {
        let driver = ready()?;
        pointer.fill(0, |address| match bytes {
            0 => Ok(()),
            bytes => check((driver.allocate_async)(address, bytes, stream)),
        })
    }

    /// Frees memory of the device's pool in the order of a stream.
    fn cudaFreeAsync(pointer: Address, stream: Stream) {
        let driver = ready()?;
        if pointer == 0 {
            return Ok(());
        }
        // SAFETY: `cudaFreeAsync` demands an address of the pool whose use ends in front of this place of the stream.
        check(unsafe { (driver.free_async)(pointer, stream) })
    }

    /// Page-locked memory of the host.
    fn cudaMallocHost(pointer: Out<*mut c_void>, bytes: usize) {
        pinned(pointer, bytes, 0)
    }

    /// Page-locked memory of the host; the flags are the driver's.
    fn cudaHostAlloc(pointer: Out<*mut c_void>, bytes: usize, flags: c_uint) {
        pinned(pointer, bytes, flags)
    }

    /// Frees page-locked memory.
    fn cudaFreeHost(pointer: *mut c_void) {
        let driver = ready()?;
        if pointer.is_null() {
            return Ok(());
        }
        // SAFETY: `cudaFreeHost` demands an address of `cudaMallocHost` or `cudaHostAlloc` that the caller uses no more.
        check(unsafe { (driver.free_host)(pointer) })
    }

    /// Free and total bytes of the device.
    fn cudaMemGetInfo(free: Out<usize>, total: Out<usize>) {
        let driver = ready()?;
        free.fill(0, |free| total.fill(0, |total| check((driver.memory_info)(free, total))))
    }

    /// Copies, and waits.
    fn cudaMemcpy(into: Address, from: Address, bytes: usize, kind: c_int) {
        check_direction(kind)?;
        let driver = ready()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: `cudaMemcpy` demands so many bytes of memory, of any kind, at both addresses.
        check(unsafe { (driver.copy)(into, from, bytes) })
    }

    /// Copies in the order of a stream.
    fn cudaMemcpyAsync(into: Address, from: Address, bytes: usize, kind: c_int, stream: Stream) {
        check_direction(kind)?;
        let driver = ready()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: `cudaMemcpyAsync` demands so many bytes at both addresses until the stream has copied them.
        check(unsafe { (driver.copy_async)(into, from, bytes, stream) })
    }

    /// Fills bytes of a device.
    fn cudaMemset(into: Address, value: c_int, bytes: usize) {
        let driver = ready()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: `cudaMemset` demands so many bytes of device memory at the address.
        check(unsafe { (driver.fill)(into, value as u8, bytes) })
    }

    /// Fills bytes of a device in the order of a stream.
    fn cudaMemsetAsync(into: Address, value: c_int, bytes: usize, stream: Stream) {
        let driver = ready()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: `cudaMemsetAsync` demands so many bytes of device memory until the stream has filled them.
        check(unsafe { (driver.fill_async)(into, value as u8, bytes, stream) })
    }
}

fn pinned(pointer: Out<'_, *mut c_void>, bytes: usize, flags: c_uint) -> Outcome {
    pointer.fill(std::ptr::null_mut(), |address| match bytes {
        0 => ready().map(drop),
        bytes => check((ready()?.allocate_host)(address, bytes, flags)),
    })
}
