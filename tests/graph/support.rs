//! Graphs, streams and memory for the tests, each of which runs in a process of its own.
#![allow(unsafe_code, reason = "calls the C API")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::c_void;
use std::ptr::null_mut;

use sconce::*;
use sconce_base::types::DeviceIndex;
use testkit::places;
pub(crate) use testkit::places::{calls, inject, set};
use testkit::simulated::runtime;
pub(crate) use testkit::statuses::{ok, refused};

/// A stream of the pool of device 0.
pub(crate) fn pool_stream() -> sconce_stream {
    runtime();
    places::pooled(0)
}

/// A stream of the pool that is current on this thread.
pub(crate) fn current_stream() -> sconce_stream {
    runtime();
    places::own_stream(0)
}

pub(crate) fn graph(keep: bool) -> *mut sconce_graph {
    let mut graph = null_mut();
    // SAFETY: a writable place.
    ok(unsafe { sconce_graph_create(keep.into(), &mut graph) });
    graph
}

pub(crate) fn begin(graph: *mut sconce_graph, stream: sconce_stream) -> sconce_status {
    sconce_graph_capture_begin(graph, stream, null_mut(), SCONCE_CAPTURE_GLOBAL)
}

pub(crate) fn allocate(bytes: usize) -> *mut c_void {
    let mut address = null_mut();
    // SAFETY: a writable place.
    ok(unsafe { sconce_memory_alloc(bytes, &mut address) });
    address
}

/// Memory that work of any stream may use at once.
pub(crate) fn allocate_for_all(bytes: usize) -> *mut c_void {
    let address = allocate(bytes);
    ok(sconce_device_synchronize(0));
    address
}

pub(crate) fn free(address: *mut c_void) {
    ok(sconce_memory_free(address));
}

/// The bytes of device memory, after all work of the device.
pub(crate) fn read(address: *const c_void, bytes: usize) -> Vec<u8> {
    ok(sconce_device_synchronize(0));
    let mut data = vec![0_u8; bytes];
    // SAFETY: memory of a device, and a writable place of this size.
    ok(unsafe { sconce_sim_memory_read(address, bytes, data.as_mut_ptr().cast()) });
    data
}

pub(crate) fn is_capturing(stream: sconce_stream) -> bool {
    let mut capturing = false;
    // SAFETY: a writable place.
    ok(unsafe { sconce_stream_is_capturing(stream, &mut capturing) });
    capturing
}

/// Bytes of device 0 that nothing has got from the driver.
pub(crate) fn free_bytes() -> u64 {
    runtime().driver().memory_info(DeviceIndex::ZERO).unwrap().free_bytes as u64
}

/// Pinned memory.
pub(crate) fn pinned(bytes: usize) -> *mut u8 {
    let mut address = null_mut();
    // SAFETY: a writable place.
    ok(unsafe { sconce_host_memory_alloc(bytes, &mut address) });
    address.cast()
}

/// Copies on the current stream without waiting.
pub(crate) fn copy(to: *mut c_void, from: *const c_void, bytes: usize) -> sconce_status {
    places::copy(to, from.cast_mut(), bytes, true)
}
