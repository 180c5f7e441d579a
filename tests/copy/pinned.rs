//! Copies and the library's own pinned memory: a block that a copy uses is not handed out before the
//! copy is done, whenever it is freed.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::c_void;

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::places::{Kind, Place, alone, copy, inject, own_stream, pattern, run_until_idle};

const BYTES: usize = 100_000;

fn alloc() -> *mut c_void {
    let mut ptr = std::ptr::null_mut();
    // SAFETY: a good place.
    let status = unsafe { sconce_host_memory_alloc(BYTES, &raw mut ptr) };
    assert_eq!(status, SCONCE_OK, "{}", last_message());
    ptr
}

fn free(ptr: *mut c_void) {
    assert_eq!(sconce_host_memory_free(ptr), SCONCE_OK, "{}", last_message());
}

/// Frees a block and says whether the next request gets it.
fn comes_back(block: *mut c_void) -> bool {
    free(block);
    let next = alloc();
    let same = next == block;
    free(next);
    same
}

fn at(block: *mut c_void, distance: usize) -> *mut c_void {
    block.cast::<u8>().wrapping_add(distance).cast()
}

#[test]
fn a_block_waits_for_the_copies_that_use_it() {
    let _alone = alone();
    own_stream(0);
    let device = Place::new(Kind::Device(0), BYTES);
    let warm = alloc();
    assert!(comes_back(warm), "a block that nothing uses is handed out again");
    // Also by an address inside it, and in both directions.
    for (distance, bytes, upload) in [(0, BYTES, true), (777, 1, true), (BYTES - 1, 1, false)] {
        let block = alloc();
        assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
        let host = at(block, distance);
        let (dst, src) = if upload { (device.start(), host) } else { (host, device.start()) };
        assert_eq!(copy(dst, src, bytes, true), SCONCE_OK);
        assert!(!comes_back(block), "a queued copy uses it: {distance}, {upload}");
        run_until_idle();
        assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
        assert_eq!(sconce_host_memory_empty_cache(), SCONCE_OK);
    }
}

#[test]
fn the_bytes_arrive_though_the_block_is_freed_at_once() {
    let _alone = alone();
    own_stream(0);
    let device = Place::new(Kind::Device(0), BYTES);
    let block = alloc();
    // SAFETY: a block of that size.
    unsafe { block.cast::<u8>().copy_from(pattern(6, BYTES).as_ptr(), BYTES) };
    assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
    assert_eq!(copy(device.start(), block, BYTES, true), SCONCE_OK);
    free(block);
    let other = alloc();
    // SAFETY: a block of that size.
    unsafe { other.cast::<u8>().write_bytes(0xEE, BYTES) };
    run_until_idle();
    assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
    assert!(device.read() == pattern(6, BYTES));
    free(other);
}

#[test]
fn a_blocking_copy_leaves_nothing_to_wait_for() {
    let _alone = alone();
    let stream = own_stream(0);
    let device = Place::new(Kind::Device(0), BYTES);
    for upload in [true, false] {
        let block = alloc();
        let (dst, src) = if upload { (device.start(), block) } else { (block, device.start()) };
        assert_eq!(copy(dst, src, BYTES, false), SCONCE_OK);
        // What the stream does later is no use of the block.
        assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
        assert_eq!(sconce_stream_sleep(stream, 1000), SCONCE_OK);
        let back = comes_back(block);
        assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
        assert!(back, "{upload}");
    }
}

#[test]
fn a_copy_that_could_not_be_queued_is_no_use_but_one_that_could_not_be_awaited_is() {
    let _alone = alone();
    own_stream(0);
    let device = Place::new(Kind::Device(0), BYTES);
    let block = alloc();
    inject("copy_async", 1, 999);
    assert_eq!(copy(device.start(), block, BYTES, true), SCONCE_ERROR_DRIVER);
    assert!(comes_back(block));

    let block = alloc();
    assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
    inject("stream_synchronize", 1, 999);
    assert_eq!(copy(device.start(), block, BYTES, false), SCONCE_ERROR_DRIVER);
    assert!(!comes_back(block), "the copy is still to come");
    assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
}
