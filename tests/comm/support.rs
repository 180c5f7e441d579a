//! Communicators, streams and memory for the tests, each of which runs in a process of its own.
#![allow(unsafe_code, reason = "calls the C API")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use sconce::sconce_status::*;
use sconce::*;
pub(crate) use testkit::statuses::{ok, refused};

pub(crate) type Status = sconce_status;

/// A handle that threads of a test share.
#[derive(Clone, Copy)]
pub(crate) struct Comm(pub(crate) usize);

impl Comm {
    pub(crate) fn get(self) -> *mut sconce_comm {
        std::ptr::with_exposed_provenance_mut(self.0)
    }
}

/// Simulated devices.
pub(crate) fn devices(count: i32) {
    let options = sconce_options {
        struct_size: size_of::<sconce_options>() as u32,
        backend: sconce_backend::SCONCE_BACKEND_SIM as i32,
        sim_devices: count,
        sim_sms: 0,
        sim_memory_bytes: 0,
    };
    // SAFETY: a complete struct.
    ok(unsafe { sconce_init_with(&options) });
    // A test that waits for another rank in vain ends soon.
    ok(sconce_sim_set_comm_patience_ms(20_000));
}

pub(crate) fn config() -> sconce_comm_config {
    sconce_comm_config {
        struct_size: size_of::<sconce_comm_config>() as u32,
        min_ctas: 0,
        max_ctas: 0,
        cga_cluster_size: 0,
        timeout_ms: 20_000,
        split_share: CBool::FALSE,
        high_priority: CBool::FALSE,
        reserved: [0; 6],
    }
}

/// A configuration without a watchdog.
pub(crate) fn unwatched() -> sconce_comm_config {
    sconce_comm_config { timeout_ms: 0, ..config() }
}

/// One communicator with a rank on each of the first devices.
pub(crate) fn init_all(count: i32, config: &sconce_comm_config) -> Vec<Comm> {
    let mut comms = vec![null_mut(); count as usize];
    // SAFETY: places for `count` handles.
    ok(unsafe { sconce_comm_init_all(null(), count, config, comms.as_mut_ptr()) });
    comms.into_iter().map(|comm: *mut sconce_comm| Comm(comm.expose_provenance())).collect()
}

pub(crate) fn unique_id() -> sconce_comm_id {
    let mut id = sconce_comm_id { bytes: [0; 128] };
    // SAFETY: a writable place.
    ok(unsafe { sconce_comm_get_unique_id(&mut id) });
    id
}

/// The default stream of a device.
pub(crate) fn stream(device: i32) -> sconce_stream {
    let mut stream = sconce_stream { id: 0, device: 0, reserved: 0 };
    // SAFETY: a writable place.
    ok(unsafe { sconce_stream_get_default(device, &mut stream) });
    stream
}

/// A stream of the pool.
pub(crate) fn pool_stream(device: i32) -> sconce_stream {
    let mut stream = sconce_stream { id: 0, device: 0, reserved: 0 };
    // SAFETY: a writable place.
    ok(unsafe { sconce_stream_get_from_pool(device, 0, &mut stream) });
    stream
}

/// Memory of a device, for its default stream.
pub(crate) fn allocate(device: i32, bytes: usize) -> usize {
    let mut address = null_mut();
    // SAFETY: a writable place.
    ok(unsafe { sconce_memory_alloc_on(bytes.max(1), stream(device), &mut address) });
    address.expose_provenance()
}

pub(crate) fn at(address: usize) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address)
}

/// Memory of a device with this content.
pub(crate) fn memory_of(device: i32, bytes: &[u8]) -> usize {
    let address = allocate(device, bytes.len());
    write(address, bytes);
    address
}

pub(crate) fn write(address: usize, bytes: &[u8]) {
    if !bytes.is_empty() {
        // SAFETY: memory of a device of this size.
        ok(unsafe { sconce_sim_memory_write(at(address), bytes.len(), bytes.as_ptr().cast()) });
    }
}

/// The content of device memory, without waiting for anything.
pub(crate) fn peek(address: usize, bytes: usize) -> Vec<u8> {
    let mut data = vec![0; bytes];
    if bytes > 0 {
        // SAFETY: memory of a device, and a writable place of this size.
        ok(unsafe { sconce_sim_memory_read(at(address), bytes, data.as_mut_ptr().cast()) });
    }
    data
}

pub(crate) fn synchronize(device: i32) {
    ok(sconce_device_synchronize(device));
}

pub(crate) fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Adds up floats of all ranks on the given stream.
pub(crate) fn all_reduce(
    comm: Comm,
    address: usize,
    count: usize,
    stream: sconce_stream,
) -> Status {
    // SAFETY: memory of the communicator's device.
    unsafe {
        sconce_comm_all_reduce(
            comm.get(),
            at(address),
            at(address),
            count,
            SCONCE_DTYPE_F32,
            SCONCE_COMM_SUM,
            0.0,
            stream,
            null_mut(),
        )
    }
}

/// [`all_reduce`] as an asynchronous call.
pub(crate) fn all_reduce_async(
    comm: Comm,
    address: usize,
    count: usize,
    stream: sconce_stream,
) -> *mut sconce_comm_work {
    let mut work = null_mut();
    // SAFETY: memory of the communicator's device, and a writable place.
    ok(unsafe {
        sconce_comm_all_reduce(
            comm.get(),
            at(address),
            at(address),
            count,
            SCONCE_DTYPE_F32,
            SCONCE_COMM_SUM,
            0.0,
            stream,
            &mut work,
        )
    });
    work
}

pub(crate) fn broadcast(comm: Comm, address: usize, count: usize, stream: sconce_stream) -> Status {
    // SAFETY: memory of the communicator's device.
    unsafe {
        sconce_comm_broadcast(
            comm.get(),
            at(address),
            at(address),
            count,
            SCONCE_DTYPE_F32,
            0,
            stream,
            null_mut(),
        )
    }
}

/// Makes calls in one group.
pub(crate) fn grouped(body: impl FnOnce()) -> Status {
    ok(sconce_comm_group_start());
    body();
    sconce_comm_group_end()
}

pub(crate) fn async_error(comm: Comm) -> Status {
    sconce_comm_get_async_error(comm.get())
}

pub(crate) fn destroy_all(comms: &[Comm]) {
    for comm in comms {
        ok(sconce_comm_destroy(comm.get()));
    }
}

/// Waits until a status is not OK; fails after some seconds.
#[track_caller]
pub(crate) fn await_failure(status: impl Fn() -> Status) -> Status {
    let began = std::time::Instant::now();
    while began.elapsed().as_secs() < 15 {
        let status = status();
        if status != SCONCE_OK {
            return status;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("nothing failed")
}
