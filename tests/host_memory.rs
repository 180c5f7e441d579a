//! Pinned host memory through the C API, on the simulator.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

#[path = "common/simulated.rs"]
mod simulated;

use std::ffi::c_void;

use sconce::ffi::*;
use sconce::host_memory::{self, check};
use simulated::runtime;

fn alloc(bytes: usize) -> *mut c_void {
    runtime();
    let mut ptr = std::ptr::null_mut();
    // SAFETY: a writable place.
    let status = unsafe { sconce_host_memory_alloc(bytes, &mut ptr) };
    assert_eq!(status, sconce_status::SCONCE_OK);
    ptr
}

fn free(ptr: *mut c_void) {
    assert_eq!(sconce_host_memory_free(ptr), sconce_status::SCONCE_OK);
    check::walk().unwrap();
}

#[test]
fn what_was_freed_is_handed_out_again() {
    let first = alloc(1 << 20);
    assert_eq!(first as usize % 64, 0);
    // SAFETY: host memory of so many bytes.
    unsafe { std::slice::from_raw_parts_mut(first.cast::<u8>(), 1 << 20) }.fill(7);
    free(first);
    let second = alloc(1 << 20);
    assert_eq!(first, second);
    let third = alloc(100);
    free(second);
    free(third);
    assert_eq!(host_memory::empty_cache(), Ok(()));
    check::walk().unwrap();
    assert_eq!(host_memory::stats().unwrap().allocated_bytes.current, 0);
}
