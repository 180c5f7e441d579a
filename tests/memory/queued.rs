//! Bytes of blocks that are filled, copied and read in the order of a stream.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "gives addresses of buffers to copies")]

use sconce_base::types::DevicePtr;
use sconce_driver::{RawAddress, StreamFlags, StreamHandle};
use sconce_runtime::context::runtime;
use sconce_runtime::stream::{self, Stream};

pub(crate) fn fill(address: usize, value: u8, bytes: usize, on: Stream) {
    let driver = runtime().unwrap().driver();
    driver.fill_async(DevicePtr(address as u64), value, bytes, on.driver_ref()).unwrap();
}

pub(crate) fn copy(to: usize, from: usize, bytes: usize, on: Stream) {
    let (to, from) = (DevicePtr(to as u64).into(), DevicePtr(from as u64).into());
    runtime().unwrap().driver().copy_async(to, from, bytes, on.driver_ref()).unwrap();
}

/// Copies to pinned memory, which stays until the copy has ended.
pub(crate) fn copy_to_host(to: usize, from: usize, bytes: usize, on: Stream) {
    let driver = runtime().unwrap().driver();
    // SAFETY: what this function asks for.
    let to = unsafe { RawAddress::from_caller(to) };
    driver.copy_async(to, DevicePtr(from as u64).into(), bytes, on.driver_ref()).unwrap();
}

/// What pinned memory holds that no work uses any more.
pub(crate) fn host_bytes(address: usize, bytes: usize) -> Vec<u8> {
    // SAFETY: what this function asks for; the simulator's pinned memory is initialised.
    unsafe { std::slice::from_raw_parts(address as *const u8, bytes) }.to_vec()
}

pub(crate) fn read(address: usize, bytes: usize, on: Stream) -> Vec<u8> {
    let driver = runtime().unwrap().driver();
    let mut data = vec![0_u8; bytes];
    // SAFETY: the buffer outlives the wait.
    let to = unsafe { RawAddress::from_caller(data.as_mut_ptr() as usize) };
    driver.copy_async(to, DevicePtr(address as u64).into(), bytes, on.driver_ref()).unwrap();
    driver.stream_synchronize(on.driver_ref()).unwrap();
    data
}

pub(crate) fn pool_stream() -> Stream {
    stream::from_pool(0, 0).unwrap()
}

/// A stream of the program, which the library does not own.
pub(crate) fn foreign_stream() -> Stream {
    let flags = StreamFlags { non_blocking: true };
    let native = sconce::sim_controls::external_stream_create(0, flags, 0).unwrap();
    // SAFETY: a stream that stays until the process ends.
    stream::from_external(unsafe { StreamHandle::from_native(native) }, 0).unwrap()
}
