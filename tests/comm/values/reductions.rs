//! Calls that reduce.
#![allow(unsafe_code, reason = "calls the C API")]

use std::ptr::null_mut;

use sconce::*;

use super::*;

#[test]
fn reductions_equal_the_model() {
    devices(8);
    let mut random = Random(7);
    for ranks in [1, 2, 3, 4, 8] {
        let comms = init_all(ranks, &unwatched());
        let ranks = ranks as usize;
        for round in 0..30 {
            let dtype = random.pick(&REDUCED);
            let op = random.below(if dtype == SCONCE_DTYPE_BOOL { 4 } else { 6 }) as i32;
            // Averages are exact where the number of ranks is a power of two.
            let op = if op == SCONCE_COMM_AVG && ranks == 3 { SCONCE_COMM_SUM } else { op };
            // A product of eight threes is not exact in every type.
            let op = if op == SCONCE_COMM_PROD && ranks > 4 { SCONCE_COMM_MAX } else { op };
            let factors: Vec<f64> = (0..ranks).map(|_| random.number()).collect();
            let count = random.pick(&[0, 1, 2, 5, 17, 1000]);
            let root = random.below(ranks);
            let what =
                format!("{round}: {ranks} ranks, dtype {dtype}, op {op}, {count}, root {root}");
            let inputs = random_inputs(&mut random, ranks, count, dtype);
            let sums = reduced(&inputs, dtype, op, &factors);
            Case::new(dtype, &inputs, vec![count; ranks]).check(
                &comms,
                &format!("all_reduce {what}"),
                |rank, comm, from, to| {
                    let (from, to, on) = (at(from), at(to), stream(rank as i32));
                    // SAFETY: memory of the communicator's device.
                    unsafe {
                        sconce_comm_all_reduce(
                            comm,
                            from,
                            to,
                            count,
                            dtype,
                            op,
                            factors[rank],
                            on,
                            null_mut(),
                        )
                    }
                },
                |_| Some(sums.clone()),
            );
            Case::new(dtype, &inputs, vec![count; ranks]).check(
                &comms,
                &format!("reduce {what}"),
                |rank, comm, from, to| {
                    let (from, to, on) = (at(from), at(to), stream(rank as i32));
                    let (factor, root) = (factors[rank], root as i32);
                    // SAFETY: memory of the communicator's device.
                    unsafe {
                        sconce_comm_reduce(
                            comm,
                            from,
                            to,
                            count,
                            dtype,
                            op,
                            factor,
                            root,
                            on,
                            null_mut(),
                        )
                    }
                },
                |rank| (rank == root).then(|| sums.clone()),
            );
            let inputs = random_inputs(&mut random, ranks, ranks * count, dtype);
            let sums = reduced(&inputs, dtype, op, &factors);
            Case::new(dtype, &inputs, vec![count; ranks]).check(
                &comms,
                &format!("reduce_scatter {what}"),
                |rank, comm, from, to| {
                    let (from, to, on) = (at(from), at(to), stream(rank as i32));
                    let factor = factors[rank];
                    // SAFETY: memory of the communicator's device.
                    unsafe {
                        sconce_comm_reduce_scatter(
                            comm,
                            from,
                            to,
                            count,
                            dtype,
                            op,
                            factor,
                            on,
                            null_mut(),
                        )
                    }
                },
                |rank| Some(sums[rank * count..(rank + 1) * count].to_vec()),
            );
        }
        destroy_all(&comms);
    }
}
