//! Calls run in stream order, on one communicator one after the other, and a missing wait shows.
#![allow(unsafe_code, reason = "calls the C API")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use sconce::*;

use crate::support::*;

/// Queues a fill on a stream.
fn fill(address: usize, byte: u8, bytes: usize, stream: sconce_stream) {
    // SAFETY: memory of the stream's device.
    ok(unsafe { sconce_memory_set_on(at(address), byte, bytes, stream) });
}

#[test]
fn a_call_sees_the_work_before_it_and_work_behind_it_sees_its_result() {
    devices(2);
    let comms = init_all(2, &unwatched());
    let memory = [allocate(0, 8), allocate(1, 8)];
    for (device, address) in memory.iter().enumerate() {
        write(*address, &floats(&[9.0, 9.0]));
        fill(*address, 0, 8, stream(device as i32));
    }
    ok(grouped(|| {
        for (rank, comm) in comms.iter().enumerate() {
            ok(all_reduce(*comm, memory[rank], 2, stream(rank as i32)));
        }
    }));
    for device in 0..2 {
        synchronize(device);
        assert_eq!(peek(memory[device as usize], 8), floats(&[0.0, 0.0]));
    }
    destroy_all(&comms);
}

#[test]
fn a_missing_wait_between_streams_gives_a_wrong_sum() {
    devices(2);
    let comms = init_all(2, &unwatched());
    let memory = [memory_of(0, &floats(&[1.0])), memory_of(1, &floats(&[1.0]))];
    let (filling, calling) = (pool_stream(0), pool_stream(0));
    for with_wait in [false, true] {
        write(memory[0], &floats(&[1.0]));
        write(memory[1], &floats(&[1.0]));
        // The stream that sets the memory to 0 is busy for some time.
        ok(sconce_stream_sleep(filling, 30_000_000));
        fill(memory[0], 0, 4, filling);
        if with_wait {
            ok(sconce_stream_wait_stream(calling, filling));
        }
        ok(grouped(|| {
            ok(all_reduce(comms[0], memory[0], 1, calling));
            ok(all_reduce(comms[1], memory[1], 1, stream(1)));
        }));
        synchronize(1);
        let expected = if with_wait { 1.0 } else { 2.0 };
        assert_eq!(peek(memory[1], 4), floats(&[expected]), "with a wait: {with_wait}");
        synchronize(0);
    }
    destroy_all(&comms);
}

#[test]
fn calls_of_one_communicator_run_in_the_order_in_which_they_were_made_on_any_stream() {
    devices(2);
    let comms = init_all(2, &unwatched());
    let memory = [memory_of(0, &floats(&[1.0])), memory_of(1, &floats(&[1.0]))];
    let streams = [pool_stream(0), pool_stream(0)];
    for round in 0..8 {
        ok(grouped(|| {
            ok(all_reduce(comms[0], memory[0], 1, streams[round % 2]));
            ok(all_reduce(comms[1], memory[1], 1, stream(1)));
        }));
    }
    synchronize(0);
    synchronize(1);
    assert_eq!(peek(memory[0], 4), floats(&[256.0]));
    assert_eq!(peek(memory[1], 4), floats(&[256.0]));
    destroy_all(&comms);
}

#[test]
fn memory_that_is_freed_while_a_call_runs_is_not_used_again_early() {
    devices(2);
    let comms = init_all(2, &unwatched());
    let other = memory_of(1, &floats(&[1.0]));
    let address = memory_of(0, &floats(&[1.0]));
    // The other rank comes late, so the call of rank 0 is under way for some time.
    ok(sconce_sim_comm_delay(comms[1].get(), 50_000_000));
    let mut works = Vec::new();
    ok(grouped(|| {
        works.push(all_reduce_async(comms[0], address, 1, stream(0)));
        works.push(all_reduce_async(comms[1], other, 1, stream(1)));
    }));
    ok(sconce_memory_free(at(address)));
    let again = allocate(0, 4);
    assert_ne!(again, address, "the call still uses the block");
    for work in works {
        ok(sconce_comm_work_synchronize(work, 10_000));
        ok(sconce_comm_work_destroy(work));
    }
    synchronize(0);
    // Now it may be.
    let reused = (0..8).any(|_| allocate(0, 4) == address);
    assert!(reused);
    assert_eq!(peek(other, 4), floats(&[2.0]));
    destroy_all(&comms);
}

#[test]
fn in_manual_mode_a_call_completes_when_all_ranks_have_come_to_it() {
    devices(2);
    let comms = init_all(2, &unwatched());
    let memory = [memory_of(0, &floats(&[1.0])), memory_of(1, &floats(&[2.0]))];
    ok(sconce_sim_set_manual(CBool::TRUE));
    ok(grouped(|| {
        ok(all_reduce(comms[0], memory[0], 1, stream(0)));
    }));
    let mut steps = 0;
    // SAFETY: a writable place.
    ok(unsafe { sconce_sim_run_until_idle(&mut steps) });
    assert_eq!(steps, 0, "rank 1 has not come");
    ok(grouped(|| {
        ok(all_reduce(comms[1], memory[1], 1, stream(1)));
    }));
    // SAFETY: a writable place.
    ok(unsafe { sconce_sim_run_until_idle(&mut steps) });
    assert_eq!(steps, 2);
    // Sends and receives that need each other.
    ok(grouped(|| {
        for rank in 0..2_usize {
            let (comm, on, peer) = (comms[rank].get(), stream(rank as i32), 1 - rank as i32);
            let (from, null) = (at(memory[rank]), std::ptr::null_mut());
            // SAFETY: memory of the communicator's device.
            ok(unsafe { sconce_comm_send(comm, from, 1, SCONCE_DTYPE_F32, peer, on, null) });
            // SAFETY: one number of this rank's memory, which is on the communicator's device.
            ok(unsafe { sconce_comm_recv(comm, from, 1, SCONCE_DTYPE_F32, peer, on, null) });
        }
    }));
    // SAFETY: a writable place.
    ok(unsafe { sconce_sim_run_until_idle(&mut steps) });
    assert_eq!(steps, 2);
    ok(sconce_sim_set_manual(CBool::FALSE));
    assert_eq!(peek(memory[0], 4), floats(&[3.0]));
    assert_eq!(peek(memory[1], 4), floats(&[3.0]));
    destroy_all(&comms);
}
