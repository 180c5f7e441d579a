//! Host memory, copied and set by the calling thread.
//!
//! Through raw pointers, never references: other threads and devices may use the memory at the same
//! time, which is then the caller's race.
#![allow(unsafe_code, reason = "follows addresses that callers vouch for")]

use crate::driver::RawAddress;

/// The address of pinned memory that this library has allocated.
pub(super) fn of_pinned(address: usize) -> RawAddress {
    // SAFETY: whoever holds the memory frees it only then, and the heap waits for noted uses.
    unsafe { RawAddress::from_caller(address) }
}

/// Copies `bytes`; the ranges may overlap.
pub(super) fn copy(dst: RawAddress, src: RawAddress, bytes: usize) {
    let (to, from) = (dst.get() as *mut u8, src.get() as *const u8);
    // SAFETY: `RawAddress` carries the promise that both ranges are valid; `copy` allows overlap.
    unsafe { std::ptr::copy(from, to, bytes) }
}

/// Sets `bytes`.
pub(super) fn fill(ptr: RawAddress, value: u8, bytes: usize) {
    // SAFETY: `RawAddress` carries the promise that the range is valid for writing.
    unsafe { std::ptr::write_bytes(ptr.get() as *mut u8, value, bytes) }
}

/// Copies `count` elements of `width` bytes, each so many bytes from the one before.
pub(super) fn copy_each(
    dst: RawAddress,
    src: RawAddress,
    strides: [i64; 2],
    width: usize,
    count: u64,
) {
    match width {
        1 => each::<u8>(dst, src, strides, count),
        2 => each::<u16>(dst, src, strides, count),
        4 => each::<u32>(dst, src, strides, count),
        8 => each::<u64>(dst, src, strides, count),
        16 => each::<u128>(dst, src, strides, count),
        _ => {
            for index in 0..count {
                let [to, from] = strides.map(|stride| (index as i64).wrapping_mul(stride) as usize);
                copy(dst.offset(to), src.offset(from), width);
            }
        }
    }
}

fn each<T: Copy>(dst: RawAddress, src: RawAddress, strides: [i64; 2], count: u64) {
    let (mut to, mut from) = (dst.get(), src.get());
    for _ in 0..count {
        // SAFETY: `RawAddress` carries the promise that the element can be read.
        let value = unsafe { (from as *const T).read_unaligned() };
        // SAFETY: and that this one can be written.
        unsafe { (to as *mut T).write_unaligned(value) };
        to = to.wrapping_add_signed(strides[0] as isize);
        from = from.wrapping_add_signed(strides[1] as isize);
    }
}
