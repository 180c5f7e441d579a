//! Elements of host memory, read and written by the calling thread.
//!
//! Through raw pointers, never references: other threads and devices may use the memory at the same
//! time, which is then the caller's race.
#![allow(unsafe_code, reason = "follows addresses that callers vouch for")]

use crate::driver::RawAddress;
use crate::error::Result;

/// The address of the element `index` of a line whose elements are `stride` bytes apart.
pub(super) fn at(first: RawAddress, index: u64, stride: i64) -> RawAddress {
    first.offset((index as i64).wrapping_mul(stride) as usize)
}

/// The bits of an element of up to 8 bytes.
pub(super) fn read(address: RawAddress, width: usize) -> Result<u64> {
    let mut bytes = [0; 8];
    let range = address.host(width)?;
    let width = width.min(8);
    // SAFETY: a caller vouches for the range, and the array holds up to 8 bytes.
    unsafe { std::ptr::copy_nonoverlapping(range.get() as *const u8, bytes.as_mut_ptr(), width) };
    Ok(u64::from_le_bytes(bytes))
}

/// Writes an element of up to 8 bytes.
pub(super) fn write(address: RawAddress, width: usize, bits: u64) -> Result<()> {
    let bytes = bits.to_le_bytes();
    let range = address.host(width)?;
    let width = width.min(8);
    // SAFETY: a caller vouches for the range, and the array holds up to 8 bytes.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), range.get() as *mut u8, width) };
    Ok(())
}

/// Copies `count` elements of `width` bytes, each `strides` bytes from the one before.
pub(super) fn copy(
    dst: RawAddress,
    src: RawAddress,
    strides: [i64; 2],
    width: usize,
    count: u64,
) -> Result<()> {
    if strides == [width as i64; 2] {
        return copy_bytes(dst, src, width.saturating_mul(count as usize));
    }
    for index in 0..count {
        copy_bytes(at(dst, index, strides[0]), at(src, index, strides[1]), width)?;
    }
    Ok(())
}

fn copy_bytes(dst: RawAddress, src: RawAddress, bytes: usize) -> Result<()> {
    let (to, from) = (dst.host(bytes)?.get() as *mut u8, src.host(bytes)?.get() as *const u8);
    // SAFETY: a caller vouches for both ranges; `copy` allows overlap.
    unsafe { std::ptr::copy(from, to, bytes) };
    Ok(())
}

/// Memory of a test, which outlives its use.
#[cfg(all(test, not(loom)))]
pub(super) fn of_test<T>(memory: &mut [T]) -> RawAddress {
    let bytes = size_of_val(memory);
    // SAFETY: the test keeps the memory.
    unsafe { crate::driver::HostRange::new(memory.as_mut_ptr() as usize, bytes) }.raw()
}
