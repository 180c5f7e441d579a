//! Unequal splits, sends and receives.
#![allow(unsafe_code, reason = "calls the C API")]

use std::ptr::{null, null_mut};

use sconce::*;

use super::*;

#[test]
fn unequal_splits_equal_the_model() {
    devices(5);
    let mut random = Random(3);
    for ranks in [2, 3, 5] {
        let comms = init_all(ranks, &unwatched());
        let ranks = ranks as usize;
        for round in 0..20 {
            let dtype = random.pick(&REDUCED);
            let counts: Vec<Vec<usize>> =
                (0..ranks).map(|_| (0..ranks).map(|_| random.below(6)).collect()).collect();
            let received = |rank: usize| counts.iter().map(|row| row[rank]).collect::<Vec<_>>();
            let offsets = |counts: &[usize]| {
                let mut next = 0;
                let place = |count: &usize| {
                    next += count;
                    next - count
                };
                counts.iter().map(place).collect::<Vec<_>>()
            };
            let inputs: Vec<Vec<f64>> = (0..ranks)
                .map(|rank| {
                    let total = counts[rank].iter().sum();
                    random_inputs(&mut random, 1, total, dtype).remove(0)
                })
                .collect();
            let totals = (0..ranks).map(|rank| received(rank).iter().sum()).collect();
            Case::new(dtype, &inputs, totals).check(
                &comms,
                &format!("all_to_all_v {round}, {counts:?}"),
                |rank, comm, from, to| {
                    let (from_offsets, to_counts) = (offsets(&counts[rank]), received(rank));
                    let to_offsets = offsets(&to_counts);
                    // SAFETY: memory of the communicator's device, and a number for each rank.
                    unsafe {
                        sconce_comm_all_to_all_v(
                            comm,
                            at(from),
                            counts[rank].as_ptr(),
                            from_offsets.as_ptr(),
                            at(to),
                            to_counts.as_ptr(),
                            to_offsets.as_ptr(),
                            dtype,
                            stream(rank as i32),
                            null_mut(),
                        )
                    }
                },
                |rank| {
                    let part = |from: usize| {
                        let at = offsets(&counts[from])[rank];
                        inputs[from][at..at + counts[from][rank]].to_vec()
                    };
                    Some((0..ranks).flat_map(part).collect())
                },
            );
        }
        destroy_all(&comms);
    }
}

#[test]
fn sends_reach_their_receivers_in_order() {
    devices(3);
    let comms = init_all(3, &unwatched());
    let inputs: Vec<usize> =
        (0..3).map(|rank| memory_of(rank, &floats(&[rank as f32, rank as f32 + 10.0]))).collect();
    let outputs: Vec<usize> = (0..3).map(|rank| allocate(rank, 16)).collect();
    // Each rank sends its two numbers to the next one, one after the other, and the first to itself.
    ok(grouped(|| {
        for rank in 0..3_usize {
            let (comm, on) = (comms[rank].get(), stream(rank as i32));
            let (next, before) = (((rank + 1) % 3) as i32, ((rank + 2) % 3) as i32);
            for part in 0..2 {
                let (from, to) = (at(inputs[rank] + 4 * part), at(outputs[rank] + 4 * part));
                // SAFETY: memory of the communicator's device.
                ok(unsafe {
                    sconce_comm_send(comm, from, 1, SCONCE_DTYPE_F32, next, on, null_mut())
                });
                // SAFETY: a number of the outputs, on the communicator's device.
                ok(unsafe {
                    sconce_comm_recv(comm, to, 1, SCONCE_DTYPE_F32, before, on, null_mut())
                });
            }
            let (own, to) = (rank as i32, at(outputs[rank] + 8));
            // SAFETY: a number of the inputs, on the communicator's device.
            ok(unsafe {
                sconce_comm_send(comm, at(inputs[rank]), 1, SCONCE_DTYPE_F32, own, on, null_mut())
            });
            // SAFETY: a number of the outputs, on the communicator's device.
            ok(unsafe { sconce_comm_recv(comm, to, 1, SCONCE_DTYPE_F32, own, on, null_mut()) });
        }
    }));
    for rank in 0..3_usize {
        synchronize(rank as i32);
        let before = ((rank + 2) % 3) as f32;
        assert_eq!(peek(outputs[rank], 12), floats(&[before, before + 10.0, rank as f32]));
        ok(async_error(comms[rank]));
    }
    destroy_all(&comms);
}

#[test]
fn calls_without_elements_need_no_addresses() {
    devices(2);
    let comms = init_all(2, &config());
    ok(grouped(|| {
        for (rank, comm) in (0..).zip(&comms) {
            let (comm, on, f32) = (*comm, stream(rank), SCONCE_DTYPE_F32);
            ok(all_reduce(comm, 0, 0, on));
            // SAFETY: no elements are sent.
            ok(unsafe { sconce_comm_send(comm.get(), null(), 0, f32, 1 - rank, on, null_mut()) });
            // SAFETY: no elements are received.
            ok(unsafe {
                sconce_comm_recv(comm.get(), null_mut(), 0, f32, 1 - rank, on, null_mut())
            });
        }
    }));
    for (rank, comm) in (0..).zip(&comms) {
        synchronize(rank);
        ok(async_error(*comm));
    }
    destroy_all(&comms);
}
