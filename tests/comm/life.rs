//! Communicators made, split, finalized, aborted and destroyed.
#![allow(unsafe_code, reason = "calls the C API")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::ptr::{null, null_mut};

use sconce::sconce_status::*;
use sconce::*;

use crate::support::*;

/// Makes one rank on a thread of its own.
fn init_rank(
    id: sconce_comm_id,
    ranks: i32,
    rank: i32,
    device: i32,
) -> Result<Comm, (Status, String)> {
    let mut comm = null_mut();
    // SAFETY: readable bytes and a writable place.
    let status =
        unsafe { sconce_comm_init_rank(&id, ranks, rank, device, &unwatched(), &mut comm) };
    match status {
        SCONCE_OK => Ok(Comm(comm.expose_provenance())),
        status => Err((status, testkit::last_message())),
    }
}

fn number(get: unsafe extern "C" fn(*mut sconce_comm, *mut i32) -> Status, comm: Comm) -> i32 {
    let mut number = -1;
    // SAFETY: a writable place.
    ok(unsafe { get(comm.get(), &mut number) });
    number
}

#[test]
fn ranks_on_threads_find_each_other_by_the_id() {
    devices(4);
    let id = unique_id();
    let ranks = (0..4).map(|rank| {
        std::thread::spawn(move || {
            let comm = init_rank(id, 4, rank, rank).unwrap();
            assert_eq!(number(sconce_comm_get_rank, comm), rank);
            assert_eq!(number(sconce_comm_get_size, comm), 4);
            assert_eq!(number(sconce_comm_get_device, comm), rank);
            let address = memory_of(rank, &floats(&[rank as f32]));
            for _ in 0..20 {
                ok(all_reduce(comm, address, 1, stream(rank)));
            }
            synchronize(rank);
            let sum = peek(address, 4);
            ok(sconce_comm_finalize(comm.get()));
            refused(
                all_reduce(comm, address, 1, stream(rank)),
                SCONCE_ERROR_INVALID_STATE,
                "finalized",
            );
            ok(sconce_comm_destroy(comm.get()));
            refused(sconce_comm_destroy(comm.get()), SCONCE_ERROR_INVALID_HANDLE, "not a live");
            sum
        })
    });
    let ranks: Vec<_> = ranks.collect();
    let sums: Vec<_> = ranks.into_iter().map(|rank| rank.join().unwrap()).collect();
    // 0 + 1 + 2 + 3, times 4 nineteen times more.
    assert!(sums.iter().all(|sum| *sum == floats(&[6.0 * 4_f32.powi(19)])));
}

#[test]
fn a_rank_that_aborts_once_it_is_made_does_not_undo_the_others() {
    devices(2);
    for round in 0..50 {
        let id = unique_id();
        let first = std::thread::spawn(move || init_rank(id, 2, 0, 0));
        let second = init_rank(id, 2, 1, 1).unwrap();
        ok(sconce_comm_abort(second.get()));
        let first = first.join().unwrap().unwrap_or_else(|why| panic!("round {round}: {why:?}"));
        let memory = memory_of(0, &floats(&[1.0]));
        ok(all_reduce(first, memory, 1, stream(0)));
        synchronize(0);
        refused(async_error(first), SCONCE_ERROR_REMOTE, "rank 1 has aborted");
        destroy_all(&[first, second]);
    }
}

#[test]
fn a_rank_that_does_not_come_ends_the_wait_of_the_others() {
    devices(2);
    let mut comm = null_mut();
    let config = sconce_comm_config { timeout_ms: 200, ..config() };
    let id = unique_id();
    // SAFETY: readable structs and a writable place.
    let status = unsafe { sconce_comm_init_rank(&id, 2, 0, 0, &config, &mut comm) };
    refused(status, SCONCE_ERROR_TIMEOUT, "200ms");
    assert!(comm.is_null());
}

#[test]
fn ids_that_are_none_and_wrong_places_are_refused() {
    devices(2);
    let damaged = sconce_comm_id { bytes: [7; 128] };
    let (status, why) = init_rank(damaged, 2, 0, 0).err().unwrap();
    assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT, "{why}");
    let id = unique_id();
    for (ranks, rank, words) in [(0, 0, "ranks is 0"), (2, 2, "rank is 2"), (2, -1, "rank is -1")] {
        let (status, why) = init_rank(id, ranks, rank, 0).err().unwrap();
        assert!(status == SCONCE_ERROR_INVALID_ARGUMENT && why.contains(words), "{why}");
    }
    let mut comms = [null_mut(); 2];
    let twice = [1, 1];
    // SAFETY: two devices and two places.
    let status = unsafe { sconce_comm_init_all(twice.as_ptr(), 2, null(), comms.as_mut_ptr()) };
    refused(status, SCONCE_ERROR_INVALID_ARGUMENT, "devices[0] and devices[1] are both 1");
}

#[test]
fn one_device_twice_is_named() {
    devices(2);
    let id = unique_id();
    let other = std::thread::spawn(move || init_rank(id, 2, 1, 0).err());
    let here = init_rank(id, 2, 0, 0).err();
    for found in [here, other.join().unwrap()] {
        let (status, why) = found.unwrap();
        // The first to find out leaves, which the other may see before it has looked itself.
        let named = status == SCONCE_ERROR_INVALID_ARGUMENT && why.contains("both on device 0")
            || why.contains("on device 0");
        assert!(named || status == SCONCE_ERROR_REMOTE, "{why}");
    }
}

#[test]
fn split_makes_communicators_by_colour_in_the_order_of_the_keys() {
    devices(5);
    let id = unique_id();
    let ranks = (0..5).map(|rank| {
        std::thread::spawn(move || {
            let comm = init_rank(id, 5, rank, rank).unwrap();
            // Ranks 0, 2, 4 backwards; ranks 1, 3 in their order; then rank 2 in none.
            let mut part = null_mut();
            let key = if rank % 2 == 0 { -rank } else { 0 };
            // SAFETY: a writable place.
            ok(unsafe { sconce_comm_split(comm.get(), rank % 2, key, null(), &mut part) });
            let part = Comm(part.expose_provenance());
            let address = memory_of(rank, &floats(&[rank as f32]));
            ok(all_reduce(part, address, 1, stream(rank)));
            synchronize(rank);
            let sum = peek(address, 4);
            let place = (number(sconce_comm_get_rank, part), number(sconce_comm_get_size, part));
            let mut none = null_mut();
            let color = if rank == 2 { -1 } else { 0 };
            // SAFETY: a writable place.
            ok(unsafe { sconce_comm_split(comm.get(), color, 0, null(), &mut none) });
            assert_eq!(none.is_null(), rank == 2);
            ok(sconce_comm_destroy(none));
            destroy_all(&[part, comm]);
            (sum, place)
        })
    });
    let ranks: Vec<_> = ranks.collect();
    let found: Vec<_> = ranks.into_iter().map(|rank| rank.join().unwrap()).collect();
    let expected = [(2, 3), (0, 2), (1, 3), (1, 2), (0, 3)];
    for (rank, (sum, place)) in found.into_iter().enumerate() {
        assert_eq!(sum, floats(&[if rank % 2 == 0 { 6.0 } else { 4.0 }]));
        assert_eq!(place, expected[rank], "rank {rank}");
    }
}

#[test]
fn after_an_abort_the_process_goes_on_with_a_new_communicator() {
    devices(2);
    for round in 0..3 {
        let comms = init_all(2, &unwatched());
        let memory = [memory_of(0, &floats(&[1.0])), memory_of(1, &floats(&[2.0]))];
        // Rank 0 waits for rank 1, which does not come; an abort from another thread ends that.
        ok(all_reduce(comms[0], memory[0], 1, stream(0)));
        let comm = comms[0];
        let aborting = std::thread::spawn(move || ok(sconce_comm_abort(comm.get())));
        synchronize(0);
        aborting.join().unwrap();
        refused(async_error(comms[0]), SCONCE_ERROR_ABORTED, "aborted by this process");
        let status = all_reduce(comms[0], memory[0], 1, stream(0));
        refused(status, SCONCE_ERROR_ABORTED, "make a new one");
        ok(sconce_comm_abort(comms[1].get()));
        destroy_all(&comms);
        assert_eq!(peek(memory[0], 4), floats(&[1.0]), "round {round}");
        let comms = init_all(2, &unwatched());
        ok(grouped(|| {
            for (rank, comm) in comms.iter().enumerate() {
                ok(all_reduce(*comm, memory[rank], 1, stream(rank as i32)));
            }
        }));
        synchronize(0);
        assert_eq!(peek(memory[0], 4), floats(&[3.0]), "round {round}");
        destroy_all(&comms);
    }
}

#[test]
fn groups_are_the_threads_and_end_once() {
    devices(2);
    refused(sconce_comm_group_end(), SCONCE_ERROR_INVALID_STATE, "in no group");
    let comms = init_all(2, &unwatched());
    let memory = [memory_of(0, &floats(&[1.0])), memory_of(1, &floats(&[2.0]))];
    ok(sconce_comm_group_start());
    ok(sconce_comm_group_start());
    ok(all_reduce(comms[0], memory[0], 1, stream(0)));
    ok(sconce_comm_group_end());
    let mut comm = null_mut();
    // SAFETY: a writable place.
    let status = unsafe { sconce_comm_split(comms[0].get(), 0, 0, null(), &mut comm) };
    refused(status, SCONCE_ERROR_INVALID_STATE, "inside of a group");
    ok(all_reduce(comms[1], memory[1], 1, stream(1)));
    ok(sconce_comm_group_end());
    synchronize(0);
    assert_eq!(peek(memory[0], 4), floats(&[3.0]));
    // Two streams of one communicator leave the order open.
    let status = grouped(|| {
        ok(all_reduce(comms[0], memory[0], 1, stream(0)));
        ok(all_reduce(comms[0], memory[0], 1, pool_stream(0)));
    });
    refused(status, SCONCE_ERROR_INVALID_ARGUMENT, "several streams");
    ok(async_error(comms[0]));
    destroy_all(&comms);
}

#[test]
fn wrong_arguments_are_named() {
    devices(2);
    let comms = init_all(2, &unwatched());
    let (comm, on) = (comms[0].get(), stream(0));
    let (here, there) = (at(memory_of(0, &[0; 64])), at(memory_of(1, &[0; 64])));
    let all = |send, recv, count, dtype, op, on| {
        // SAFETY: the call checks its memory.
        unsafe { sconce_comm_all_reduce(comm, send, recv, count, dtype, op, 0.0, on, null_mut()) }
    };
    let f32 = SCONCE_DTYPE_F32;
    refused(all(here, here, 1, f32, 9, on), SCONCE_ERROR_INVALID_ARGUMENT, "op is 9");
    refused(all(here, here, 1, 99, 0, on), SCONCE_ERROR_INVALID_ARGUMENT, "dtype");
    refused(all(here, there, 1, f32, 0, on), SCONCE_ERROR_CROSS_DEVICE, "recv is on device 1");
    refused(
        all(here, here, 1, f32, 0, stream(1)),
        SCONCE_ERROR_CROSS_DEVICE,
        "the stream is of device 1",
    );
    refused(all(null_mut(), here, 1, f32, 0, on), SCONCE_ERROR_INVALID_ARGUMENT, "send is NULL");
    refused(
        all(here, here, 10_000, f32, 0, on),
        SCONCE_ERROR_INVALID_ARGUMENT,
        "less than 40000 bytes",
    );
    refused(all(here, here, usize::MAX, f32, 0, on), SCONCE_ERROR_INVALID_ARGUMENT, "too large");
    let next = at(here as usize + 4);
    refused(all(here, next, 2, f32, 0, on), SCONCE_ERROR_INVALID_ARGUMENT, "overlap");
    refused(all(here, here, 1, SCONCE_DTYPE_I16, 0, on), SCONCE_ERROR_NOT_SUPPORTED, "I16");
    let avg = SCONCE_COMM_AVG;
    let words = "Cannot use ReduceOp.AVG with boolean inputs";
    refused(all(here, here, 1, SCONCE_DTYPE_BOOL, avg, on), SCONCE_ERROR_INVALID_ARGUMENT, words);
    let max = SCONCE_COMM_MAX;
    refused(
        all(here, here, 1, SCONCE_DTYPE_C64, max, on),
        SCONCE_ERROR_INVALID_ARGUMENT,
        "complex",
    );
    // SAFETY: the call checks its memory.
    let status = unsafe { sconce_comm_broadcast(comm, here, here, 1, f32, 2, on, null_mut()) };
    refused(status, SCONCE_ERROR_INVALID_ARGUMENT, "root is 2; it must be from 0 to 1");
    // SAFETY: the call checks its memory, and refuses the peer first.
    let status = unsafe { sconce_comm_send(comm, here, 1, f32, -1, on, null_mut()) };
    refused(status, SCONCE_ERROR_INVALID_ARGUMENT, "peer is -1");
    let mut host = [0_u64; 4];
    let host = host.as_mut_ptr().cast();
    refused(all(host, host, 1, f32, 0, on), SCONCE_ERROR_INVALID_ARGUMENT, "host memory");
    ok(async_error(comms[0]));
    destroy_all(&comms);
}
