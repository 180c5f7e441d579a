//! Host memory, copied and set by the calling thread.
//!
//! Through raw pointers, never references: other threads and devices may use the memory at the same
//! time, which is then the caller's race.
#![allow(unsafe_code, reason = "follows addresses that callers vouch for")]

use crate::driver::{HostRange, RawAddress};
use crate::error::Result;
use crate::host_memory;

/// New pinned memory. The caller frees it, after it has noted the streams that may still use it.
pub(super) fn pinned(bytes: usize) -> Result<HostRange> {
    let address = host_memory::alloc(bytes)?;
    // SAFETY: the block has so many bytes. Its owner frees it after the last use by the processor, and
    // the heap keeps it until the uses by streams that its owner notes have finished.
    Ok(unsafe { HostRange::new(address, bytes) })
}

/// Copies as many bytes as the shorter range has; the ranges may overlap.
pub(super) fn copy(dst: HostRange, src: HostRange) {
    let (to, from) = (dst.get() as *mut u8, src.get() as *const u8);
    // SAFETY: both ranges are valid and have so many bytes; `copy` allows overlap.
    unsafe { std::ptr::copy(from, to, dst.bytes().min(src.bytes())) }
}

/// Sets every byte.
pub(super) fn fill(range: HostRange, value: u8) {
    // SAFETY: the range is valid and has so many bytes.
    unsafe { std::ptr::write_bytes(range.get() as *mut u8, value, range.bytes()) }
}

/// Copies `count` elements of `width` bytes, each `strides` bytes from the one before.
pub(super) fn copy_each(
    dst: RawAddress,
    src: RawAddress,
    strides: [i64; 2],
    width: usize,
    count: u64,
) -> Result<()> {
    reached(dst, strides[0], width, count)?;
    reached(src, strides[1], width, count)?;
    let places = [dst.get(), src.get()];
    match width {
        // SAFETY: `reached` has checked both ranges.
        1 => unsafe { each::<u8>(places, strides, count) },
        // SAFETY: `reached` has checked both ranges.
        2 => unsafe { each::<u16>(places, strides, count) },
        // SAFETY: `reached` has checked both ranges.
        4 => unsafe { each::<u32>(places, strides, count) },
        // SAFETY: `reached` has checked both ranges.
        8 => unsafe { each::<u64>(places, strides, count) },
        // SAFETY: `reached` has checked both ranges.
        16 => unsafe { each::<u128>(places, strides, count) },
        _ => {
            for index in 0..count {
                let [to, from] = strides.map(|stride| (index as i64).wrapping_mul(stride) as usize);
                copy(dst.offset(to).host(width)?, src.offset(from).host(width)?);
            }
        }
    }
    Ok(())
}

/// The range of `count` elements, each `stride` bytes from the one before.
fn reached(first: RawAddress, stride: i64, width: usize, count: u64) -> Result<HostRange> {
    let last = stride.unsigned_abs().saturating_mul(count.saturating_sub(1)) as usize;
    let lowest = if stride < 0 { first.offset(last.wrapping_neg()) } else { first };
    lowest.host(last.saturating_add(width))
}

/// # Safety
/// All elements lie in ranges that callers vouch for.
unsafe fn each<T: Copy>([mut to, mut from]: [usize; 2], strides: [i64; 2], count: u64) {
    for _ in 0..count {
        // SAFETY: the element lies in a range that a caller vouches for.
        let value = unsafe { (from as *const T).read_unaligned() };
        // SAFETY: the element lies in a range that a caller vouches for.
        unsafe { (to as *mut T).write_unaligned(value) };
        to = to.wrapping_add_signed(strides[0] as isize);
        from = from.wrapping_add_signed(strides[1] as isize);
    }
}
