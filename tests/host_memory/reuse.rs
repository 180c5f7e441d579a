//! Reuse of pinned memory through the C API, on the simulator: which requests pin and which take freed blocks.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::c_void;

use sconce::*;
use sconce_runtime::host_memory::{self, check};
use testkit::simulated::runtime;

/// Figures are the process's.
static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn turn() -> std::sync::MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

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
    let _turn = turn();
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

/// Pinning that waits for a device could wait for this thread itself.
#[test]
fn an_allocation_waits_for_no_device() {
    let _turn = turn();
    runtime();
    assert_eq!(host_memory::empty_cache(), Ok(()));
    free(alloc(8 << 20));
    let mut memory = std::ptr::null_mut();
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_memory_alloc(512, &mut memory) }, sconce_status::SCONCE_OK);
    let simulator = sconce_sim::Simulator::opened().unwrap();
    simulator.set_manual(true);
    // SAFETY: device memory.
    assert_eq!(unsafe { sconce_memory_set(memory, 1, 512) }, sconce_status::SCONCE_OK);
    let (send, received) = std::sync::mpsc::channel();
    std::thread::spawn(move || send.send(alloc(9 << 20) as usize));
    let address = received.recv_timeout(std::time::Duration::from_secs(20));
    simulator.set_manual(false);
    let address = address.expect("the allocation waited for the device");
    let pinned = || host_memory::stats().unwrap().allocated_bytes.current;
    assert!(pinned() >= 17 << 20, "nothing goes back while the device is busy");
    assert_eq!(sconce_device_synchronize(0), sconce_status::SCONCE_OK);
    // A miss in a pause gives back what nothing uses.
    let other = alloc(12 << 20);
    assert!(pinned() <= 22 << 20, "{}", pinned());
    for ptr in [other, std::ptr::with_exposed_provenance_mut(address)] {
        free(ptr);
    }
    assert_eq!(sconce_memory_free(memory), sconce_status::SCONCE_OK);
}

#[test]
fn use_that_goes_to_and_fro_settles() {
    let _turn = turn();
    runtime();
    assert_eq!(host_memory::empty_cache(), Ok(()));
    let pins = || host_memory::stats().unwrap().num_host_alloc;
    let round = || {
        for bytes in [700 << 10, 3 << 20, 64, 9 << 20] {
            free(alloc(bytes));
        }
    };
    (0..40).for_each(|_| round());
    let before = pins();
    (0..200).for_each(|_| round());
    assert_eq!(pins(), before, "what was given back is pinned again and again");
}
