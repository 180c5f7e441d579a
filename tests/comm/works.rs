//! Asynchronous calls.
#![allow(unsafe_code, reason = "calls the C API")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;

use crate::support::*;

fn is_done(work: *mut sconce_comm_work) -> bool {
    let mut done = false;
    // SAFETY: a writable place.
    ok(unsafe { sconce_comm_work_query(work, &mut done) });
    done
}

fn sequence(work: *mut sconce_comm_work) -> u64 {
    let mut number = 0;
    // SAFETY: a writable place.
    ok(unsafe { sconce_comm_work_get_sequence(work, &mut number) });
    number
}

#[test]
fn a_work_is_ordered_behind_the_callers_stream_and_before_a_stream_that_waits() {
    devices(2);
    let comms = init_all(2, &unwatched());
    let memory = [memory_of(0, &floats(&[9.0])), memory_of(1, &floats(&[1.0]))];
    let (first, second) = (pool_stream(0), pool_stream(0));
    // The value is written late on the caller's stream.
    ok(sconce_stream_sleep(first, 30_000_000));
    // SAFETY: memory of the stream's device.
    ok(unsafe { sconce_memory_set_on(at(memory[0]), 0, 4, first) });
    let mut works = Vec::new();
    ok(grouped(|| {
        works.push(all_reduce_async(comms[0], memory[0], 1, first));
        works.push(all_reduce_async(comms[1], memory[1], 1, stream(1)));
        let status = sconce_comm_work_wait(works[0], second);
        refused(status, SCONCE_ERROR_INVALID_STATE, "group that has not ended");
    }));
    assert!(!is_done(works[0]));
    assert_eq!((sequence(works[0]), sequence(works[1])), (1, 1));
    let result = memory_of(0, &floats(&[0.0]));
    ok(sconce_comm_work_wait(works[0], second));
    // SAFETY: memory of the stream's device.
    ok(unsafe { sconce_copy_on(at(result), at(memory[0]), 4, CBool::TRUE, second) });
    ok(sconce_stream_synchronize(second));
    assert_eq!(peek(result, 4), floats(&[1.0]));
    assert!(is_done(works[0]));
    for work in works {
        ok(sconce_comm_work_synchronize(work, -1));
        ok(sconce_comm_work_destroy(work));
        refused(
            sconce_comm_work_destroy(work),
            SCONCE_ERROR_INVALID_HANDLE,
            "not a live work handle",
        );
    }
    destroy_all(&comms);
}

#[test]
fn a_wait_with_a_limit_ends_and_may_be_repeated() {
    devices(2);
    let comms = init_all(2, &unwatched());
    let memory = [memory_of(0, &floats(&[1.0])), memory_of(1, &floats(&[2.0]))];
    let work = all_reduce_async(comms[0], memory[0], 1, stream(0));
    let status = sconce_comm_work_synchronize(work, 50);
    refused(status, SCONCE_ERROR_TIMEOUT, "call 1 (all_reduce) is not done after 50ms");
    refused(
        sconce_comm_work_synchronize(work, -2),
        SCONCE_ERROR_INVALID_ARGUMENT,
        "timeout_ms is -2",
    );
    let other = all_reduce_async(comms[1], memory[1], 1, stream(1));
    ok(sconce_comm_work_synchronize(work, 10_000));
    ok(sconce_comm_work_synchronize(other, 10_000));
    assert_eq!(peek(memory[0], 4), floats(&[3.0]));
    ok(sconce_comm_work_destroy(work));
    ok(sconce_comm_work_destroy(other));
    destroy_all(&comms);
}

#[test]
fn an_abort_ends_a_wait_for_a_work() {
    devices(2);
    let comms = init_all(2, &unwatched());
    let memory = memory_of(0, &floats(&[1.0]));
    let work = all_reduce_async(comms[0], memory, 1, stream(0));
    let comm = comms[0];
    let aborting = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        ok(sconce_comm_abort(comm.get()));
    });
    let status = sconce_comm_work_synchronize(work, 10_000);
    refused(status, SCONCE_ERROR_ABORTED, "call 1 (all_reduce)");
    refused(sconce_comm_work_wait(work, stream(0)), SCONCE_ERROR_ABORTED, "aborted");
    aborting.join().unwrap();
    ok(sconce_comm_work_destroy(work));
    destroy_all(&comms);
}

#[test]
fn a_work_keeps_tensors_until_it_is_waited_for() {
    devices(2);
    let comms = init_all(2, &unwatched());
    let other = memory_of(1, &floats(&[2.0]));
    let options = sconce_tensor_options {
        struct_size: size_of::<sconce_tensor_options>() as u32,
        dtype: SCONCE_DTYPE_F32,
        device: 0,
        memory_format: 0,
        pinned: CBool::FALSE,
        reserved: [0; 7],
    };
    let mut tensor = null_mut();
    // SAFETY: one size, a complete struct, a writable place.
    ok(unsafe { sconce_tensor_empty([1_i64].as_ptr(), 1, &options, &mut tensor) });
    let mut data = null_mut();
    // SAFETY: a writable place.
    ok(unsafe { sconce_tensor_get_data(tensor, &mut data) });
    let address = data as usize;
    write(address, &floats(&[1.0]));
    let work = all_reduce_async(comms[0], address, 1, stream(0));
    ok(sconce_comm_work_keep(work, tensor));
    ok(sconce_tensor_release(tensor));
    // The memory is still the tensor's.
    let mut base = null_mut();
    let mut bytes = 0;
    // SAFETY: writable places.
    ok(unsafe { sconce_memory_get_base(at(address), &mut base, &mut bytes) });
    ok(all_reduce(comms[1], other, 1, stream(1)));
    ok(sconce_comm_work_synchronize(work, 10_000));
    // SAFETY: writable places.
    let status = unsafe { sconce_memory_get_base(at(address), &mut base, &mut bytes) };
    assert_ne!(status, SCONCE_OK, "the tensor was let go");
    assert_eq!(peek(other, 4), floats(&[3.0]));
    ok(sconce_comm_work_destroy(work));
    destroy_all(&comms);
}

#[test]
fn a_barrier_orders_the_ranks() {
    devices(2);
    let comms = init_all(2, &unwatched());
    let mut work = null_mut();
    // SAFETY: a writable place.
    ok(unsafe { sconce_comm_barrier(comms[0].get(), stream(0), &mut work) });
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert!(!is_done(work), "rank 1 has not reached it");
    // SAFETY: no work.
    ok(unsafe { sconce_comm_barrier(comms[1].get(), stream(1), null_mut()) });
    ok(sconce_comm_work_synchronize(work, 10_000));
    ok(sconce_comm_work_destroy(work));
    destroy_all(&comms);
}
