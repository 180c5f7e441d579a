//! What NCCL hangs on is named, and faults on demand reach all ranks.
#![allow(unsafe_code, reason = "calls the C API")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::ptr::null_mut;
use std::time::{Duration, Instant};

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;

use crate::support::*;

#[test]
fn calls_that_do_not_match_are_quoted_on_all_ranks() {
    devices(2);
    let comms = init_all(2, &unwatched());
    let memory = [memory_of(0, &floats(&[1.0, 2.0])), memory_of(1, &floats(&[1.0, 2.0]))];
    ok(grouped(|| {
        ok(all_reduce(comms[0], memory[0], 2, stream(0)));
        ok(broadcast(comms[1], memory[1], 1, stream(1)));
    }));
    for (rank, comm) in comms.iter().enumerate() {
        synchronize(rank as i32);
        let status = await_failure(|| async_error(*comm));
        assert!(status == SCONCE_ERROR_INVALID_STATE || status == SCONCE_ERROR_REMOTE);
        if status == SCONCE_ERROR_INVALID_STATE {
            let words = last_message();
            assert!(words.contains("rank 0 calls all_reduce(2 elements of F32, sum)"), "{words}");
            assert!(words.contains("rank 1 calls broadcast(1 elements of F32, root 0)"), "{words}");
        }
        // The device goes on.
        assert_eq!(peek(memory[rank], 8), floats(&[1.0, 2.0]));
    }
    assert_eq!(async_error(comms[0]), SCONCE_ERROR_INVALID_STATE, "{}", last_message());
    destroy_all(&comms);
}

#[test]
fn each_part_of_a_call_must_match() {
    devices(2);
    let calls: [fn(*mut sconce_comm, usize, sconce_stream) -> Status; 4] = [
        |comm, memory, on| {
            let at = at(memory);
            // SAFETY: memory of the communicator's device.
            unsafe {
                sconce_comm_all_reduce(comm, at, at, 2, SCONCE_DTYPE_F32, 0, 0.0, on, null_mut())
            }
        },
        |comm, memory, on| {
            let at = at(memory);
            // SAFETY: memory of the communicator's device.
            unsafe {
                sconce_comm_all_reduce(comm, at, at, 1, SCONCE_DTYPE_F32, 0, 0.0, on, null_mut())
            }
        },
        |comm, memory, on| {
            let at = at(memory);
            // SAFETY: memory of the communicator's device.
            unsafe {
                sconce_comm_all_reduce(comm, at, at, 2, SCONCE_DTYPE_I32, 0, 0.0, on, null_mut())
            }
        },
        |comm, memory, on| {
            let at = at(memory);
            // SAFETY: memory of the communicator's device.
            unsafe {
                sconce_comm_all_reduce(comm, at, at, 2, SCONCE_DTYPE_F32, 3, 0.0, on, null_mut())
            }
        },
    ];
    for other in &calls[1..] {
        let comms = init_all(2, &unwatched());
        let memory = [memory_of(0, &floats(&[1.0, 2.0])), memory_of(1, &floats(&[1.0, 2.0]))];
        ok(grouped(|| {
            ok(calls[0](comms[0].get(), memory[0], stream(0)));
            ok(other(comms[1].get(), memory[1], stream(1)));
        }));
        let status = await_failure(|| async_error(comms[0]));
        assert_eq!(status, SCONCE_ERROR_INVALID_STATE, "{}", last_message());
        // Until it knows of the failure, the end of a rank is an error.
        await_failure(|| async_error(comms[1]));
        destroy_all(&comms);
    }
}

#[test]
fn a_send_without_a_receive_is_named() {
    devices(2);
    ok(sconce_sim_set_comm_patience_ms(200));
    let comms = init_all(2, &unwatched());
    let memory = memory_of(0, &floats(&[1.0]));
    // SAFETY: memory of the communicator's device.
    ok(unsafe {
        sconce_comm_send(comms[0].get(), at(memory), 1, SCONCE_DTYPE_F32, 1, stream(0), null_mut())
    });
    synchronize(0);
    let words = "rank 0 sends 4 bytes to rank 1, and not all of that has been received";
    await_failure(|| async_error(comms[0]));
    refused(async_error(comms[0]), SCONCE_ERROR_TIMEOUT, words);
    destroy_all(&comms);
}

#[test]
fn a_send_of_another_size_than_its_receive_is_named() {
    devices(2);
    let comms = init_all(2, &unwatched());
    let memory = [memory_of(0, &[0; 8]), memory_of(1, &[0; 8])];
    ok(grouped(|| {
        let (sender, receiver) = (comms[0].get(), comms[1].get());
        let (from, to, f32) = (at(memory[0]), at(memory[1]), SCONCE_DTYPE_F32);
        // SAFETY: memory of the communicator's device.
        ok(unsafe { sconce_comm_send(sender, from, 2, f32, 1, stream(0), null_mut()) });
        // SAFETY: memory of the receiver's device, with two numbers.
        ok(unsafe { sconce_comm_recv(receiver, to, 1, f32, 0, stream(1), null_mut()) });
    }));
    await_failure(|| async_error(comms[1]));
    let words = "rank 0 sends 8 bytes to rank 1, which receives 4";
    refused(async_error(comms[1]), SCONCE_ERROR_INVALID_STATE, words);
    await_failure(|| async_error(comms[0]));
    refused(async_error(comms[0]), SCONCE_ERROR_REMOTE, "rank 1 has failed");
    destroy_all(&comms);
}

#[test]
fn a_rank_that_never_calls_is_named() {
    devices(2);
    ok(sconce_sim_set_comm_patience_ms(200));
    let comms = init_all(2, &unwatched());
    let memory = memory_of(0, &floats(&[1.0]));
    ok(all_reduce(comms[0], memory, 1, stream(0)));
    synchronize(0);
    await_failure(|| async_error(comms[0]));
    let words =
        "rank 0 is at call 1, all_reduce(1 elements of F32, sum), which rank 1 has not made";
    refused(async_error(comms[0]), SCONCE_ERROR_TIMEOUT, words);
    destroy_all(&comms);
}

#[test]
fn a_rank_that_dies_between_call_and_run_is_named() {
    devices(3);
    let comms = init_all(3, &unwatched());
    let memory: Vec<_> = (0..3).map(|device| memory_of(device, &floats(&[1.0]))).collect();
    // Rank 1 has made its call, but its stream is busy when it dies.
    ok(sconce_stream_sleep(stream(1), 30_000_000));
    ok(grouped(|| {
        for (rank, comm) in comms.iter().enumerate() {
            ok(all_reduce(*comm, memory[rank], 1, stream(rank as i32)));
        }
    }));
    ok(sconce_sim_comm_kill(comms[1].get()));
    for rank in [0, 2] {
        await_failure(|| async_error(comms[rank]));
        let status = async_error(comms[rank]);
        assert_eq!(status, SCONCE_ERROR_REMOTE, "{}", last_message());
    }
    for (rank, address) in memory.iter().enumerate() {
        synchronize(rank as i32);
        assert_eq!(peek(*address, 4), floats(&[1.0]));
    }
    destroy_all(&comms);
}

#[test]
fn a_slow_rank_delays_the_others_and_harms_nothing() {
    devices(2);
    let comms = init_all(2, &unwatched());
    let memory = [memory_of(0, &floats(&[1.0])), memory_of(1, &floats(&[2.0]))];
    ok(sconce_sim_comm_delay(comms[1].get(), 60_000_000));
    let began = Instant::now();
    ok(grouped(|| {
        for (rank, comm) in comms.iter().enumerate() {
            ok(all_reduce(*comm, memory[rank], 1, stream(rank as i32)));
        }
    }));
    synchronize(0);
    assert!(began.elapsed() >= Duration::from_millis(60));
    assert_eq!(peek(memory[0], 4), floats(&[3.0]));
    destroy_all(&comms);
}

#[test]
fn an_asynchronous_error_reaches_its_rank_and_the_others() {
    devices(2);
    let comms = init_all(2, &unwatched());
    let memory = memory_of(1, &floats(&[1.0]));
    ok(sconce_sim_comm_fail(comms[0].get(), 3));
    refused(async_error(comms[0]), SCONCE_ERROR_DRIVER, "ncclInternalError (3)");
    ok(all_reduce(comms[1], memory, 1, stream(1)));
    await_failure(|| async_error(comms[1]));
    refused(async_error(comms[1]), SCONCE_ERROR_REMOTE, "rank 0 has failed");
    destroy_all(&comms);
}

#[test]
fn the_watchdog_aborts_a_communicator_whose_call_takes_too_long() {
    devices(2);
    let comms = init_all(2, &sconce_comm_config { timeout_ms: 150, ..config() });
    let memory = memory_of(0, &floats(&[1.0]));
    ok(all_reduce(comms[0], memory, 1, stream(0)));
    let began = Instant::now();
    synchronize(0);
    assert!(began.elapsed() < Duration::from_secs(10), "the call ended with the communicator");
    refused(
        async_error(comms[0]),
        SCONCE_ERROR_TIMEOUT,
        "call 1 (all_reduce) was not done 150ms after",
    );
    destroy_all(&comms);
}

#[test]
fn driver_calls_that_fail_leave_communicators_usable() {
    devices(2);
    for call in ["comm_create", "comm_unique_id", "comm_version"] {
        let name = std::ffi::CString::new(call).unwrap();
        // SAFETY: a NUL-terminated name.
        ok(unsafe { sconce_sim_inject_fault(name.as_ptr(), 1, 3) });
        let mut comms = [null_mut(); 2];
        let mut version = 0;
        let status = if call == "comm_version" {
            // SAFETY: a writable place.
            unsafe { sconce_comm_get_version(&mut version) }
        } else {
            // SAFETY: two places.
            unsafe { sconce_comm_init_all(std::ptr::null(), 2, &config(), comms.as_mut_ptr()) }
        };
        refused(status, SCONCE_ERROR_DRIVER, "ncclInternalError");
    }
    let comms = init_all(2, &unwatched());
    let memory = [memory_of(0, &floats(&[1.0])), memory_of(1, &floats(&[2.0]))];
    for call in ["comm_group_start", "comm_queue", "comm_split"] {
        let name = std::ffi::CString::new(call).unwrap();
        // SAFETY: a NUL-terminated name.
        ok(unsafe { sconce_sim_inject_fault(name.as_ptr(), 1, 3) });
        let mut part = null_mut();
        let status = match call {
            "comm_split" => {
                // SAFETY: a writable place.
                unsafe { sconce_comm_split(comms[0].get(), 0, 0, std::ptr::null(), &mut part) }
            }
            "comm_queue" => all_reduce(comms[0], memory[0], 1, stream(0)),
            _ => grouped(|| {
                for (rank, comm) in comms.iter().enumerate() {
                    ok(all_reduce(*comm, memory[rank], 1, stream(rank as i32)));
                }
            }),
        };
        refused(status, SCONCE_ERROR_DRIVER, "ncclInternalError");
    }
    ok(grouped(|| {
        for (rank, comm) in comms.iter().enumerate() {
            ok(all_reduce(*comm, memory[rank], 1, stream(rank as i32)));
        }
    }));
    synchronize(0);
    assert_eq!(peek(memory[0], 4), floats(&[3.0]));
    destroy_all(&comms);
}
