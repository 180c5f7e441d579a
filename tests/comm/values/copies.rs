//! Calls that copy.
#![allow(unsafe_code, reason = "calls the C API")]

use std::ptr::null_mut;

use sconce::*;

use super::*;

#[test]
fn copies_equal_the_model() {
    devices(8);
    let mut random = Random(11);
    for ranks in [1, 2, 3, 5, 8] {
        let comms = init_all(ranks, &unwatched());
        let ranks = ranks as usize;
        for round in 0..20 {
            let dtype = random.pick(&REDUCED);
            let count = random.pick(&[0, 1, 3, 64, 777]);
            let root = random.below(ranks);
            let what = format!("{round}: {ranks} ranks, dtype {dtype}, {count}, root {root}");
            let inputs = random_inputs(&mut random, ranks, count, dtype);
            Case::new(dtype, &inputs, vec![count; ranks]).check(
                &comms,
                &format!("broadcast {what}"),
                |rank, comm, from, to| {
                    let (from, to, on) = (at(from), at(to), stream(rank as i32));
                    // SAFETY: memory of the communicator's device.
                    unsafe {
                        sconce_comm_broadcast(
                            comm,
                            from,
                            to,
                            count,
                            dtype,
                            root as i32,
                            on,
                            null_mut(),
                        )
                    }
                },
                |_| Some(inputs[root].clone()),
            );
            Case::new(dtype, &inputs, vec![ranks * count; ranks]).check(
                &comms,
                &format!("all_gather {what}"),
                |rank, comm, from, to| {
                    let (from, to, on) = (at(from), at(to), stream(rank as i32));
                    // SAFETY: memory of the communicator's device.
                    unsafe { sconce_comm_all_gather(comm, from, to, count, dtype, on, null_mut()) }
                },
                |_| Some(inputs.concat()),
            );
            Case::new(dtype, &inputs, vec![ranks * count; ranks]).check(
                &comms,
                &format!("gather {what}"),
                |rank, comm, from, to| {
                    let (from, to, on) = (at(from), at(to), stream(rank as i32));
                    // SAFETY: memory of the communicator's device.
                    unsafe {
                        sconce_comm_gather(
                            comm,
                            from,
                            to,
                            count,
                            dtype,
                            root as i32,
                            on,
                            null_mut(),
                        )
                    }
                },
                |rank| (rank == root).then(|| inputs.concat()),
            );
            let inputs = random_inputs(&mut random, ranks, ranks * count, dtype);
            Case::new(dtype, &inputs, vec![count; ranks]).check(
                &comms,
                &format!("scatter {what}"),
                |rank, comm, from, to| {
                    let (from, to, on) = (at(from), at(to), stream(rank as i32));
                    // SAFETY: memory of the communicator's device.
                    unsafe {
                        sconce_comm_scatter(
                            comm,
                            from,
                            to,
                            count,
                            dtype,
                            root as i32,
                            on,
                            null_mut(),
                        )
                    }
                },
                |rank| Some(inputs[root][rank * count..(rank + 1) * count].to_vec()),
            );
            Case::new(dtype, &inputs, vec![ranks * count; ranks]).check(
                &comms,
                &format!("all_to_all {what}"),
                |rank, comm, from, to| {
                    let (from, to, on) = (at(from), at(to), stream(rank as i32));
                    // SAFETY: memory of the communicator's device.
                    unsafe { sconce_comm_all_to_all(comm, from, to, count, dtype, on, null_mut()) }
                },
                |rank| {
                    let part = |input: &Vec<f64>| input[rank * count..(rank + 1) * count].to_vec();
                    Some(inputs.iter().flat_map(part).collect())
                },
            );
        }
        destroy_all(&comms);
    }
}

#[test]
fn complex_numbers_and_odd_types_travel() {
    devices(2);
    let comms = init_all(2, &unwatched());
    let memory: Vec<usize> = (0..2).map(|rank| memory_of(rank, &floats(&[1.5, -2.0]))).collect();
    ok(grouped(|| {
        for (rank, comm) in comms.iter().enumerate() {
            let (address, on) = (at(memory[rank]), stream(rank as i32));
            // SAFETY: memory of the communicator's device.
            ok(unsafe {
                sconce_comm_all_reduce(
                    comm.get(),
                    address,
                    address,
                    1,
                    SCONCE_DTYPE_C64,
                    SCONCE_COMM_SUM,
                    0.0,
                    on,
                    null_mut(),
                )
            });
        }
    }));
    for rank in 0..2 {
        synchronize(rank);
        assert_eq!(peek(memory[rank as usize], 8), floats(&[3.0, -4.0]));
    }
    // 16-bit integers have no sum, but can be copied.
    write(memory[0], &[1, 2, 3, 4]);
    ok(grouped(|| {
        for (rank, comm) in comms.iter().enumerate() {
            let (address, on) = (at(memory[rank]), stream(rank as i32));
            // SAFETY: memory of the communicator's device.
            ok(unsafe {
                sconce_comm_broadcast(
                    comm.get(),
                    address,
                    address,
                    2,
                    SCONCE_DTYPE_I16,
                    0,
                    on,
                    null_mut(),
                )
            });
        }
    }));
    synchronize(1);
    assert_eq!(peek(memory[1], 4), [1, 2, 3, 4]);
    destroy_all(&comms);
}
