//! Host memory, copied and set by the calling thread.
//!
//! Through raw pointers, never references: other threads and devices may use the memory at the same
//! time, which is then the caller's race.
#![allow(unsafe_code, reason = "follows addresses that callers vouch for")]

use crate::driver::RawAddress;

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
