//! Reductions: the value of every operation on every type.
//!
//! The order in which elements are added is the library's choice. Two ranks leave none, so any two numbers are added
//! exactly as IEEE 754 says. With more ranks small whole numbers are used, whose sums and products are exact.

use sconce_base::element::Dtype;
use sconce_base::error::Status;
use sconce_driver::{CommCall, CommOp};

use super::{Ranks, TYPES, decode, encode, is_float, is_signed, with_ranks};
use crate::libraries::{drawn, rounding, smallest_rounding};
use crate::support::stage::{Outcome, Stage, Stop, fails_with};

crate::support::runner::tests![
    an_all_reduce_has_the_exact_value_for_every_type_and_operation,
    a_reduce_has_it_on_the_root_alone,
    a_reduce_scatter_gives_each_rank_its_part,
    reductions_may_be_made_in_place,
    two_ranks_add_any_numbers_as_the_type_rounds,
    inexact_sums_are_near_and_have_the_same_bits_on_all_ranks,
    no_elements_are_a_call_as_well,
    types_that_nobody_adds_are_refused,
];

const BYTES: usize = 8 * 8 * 1031;
const COUNTS: [usize; 2] = [5, 1031];

const OPS: [CommOp; 6] = [
    CommOp::Sum,
    CommOp::Prod,
    CommOp::Min,
    CommOp::Max,
    CommOp::Avg,
    // Each rank has a factor of its own; see `factor_of`.
    CommOp::PremulSum(0.0),
];

/// The factor of a rank: exact in every type.
fn factor_of(rank: usize, dtype: Dtype) -> f64 {
    let whole = (rank % 3 + 1) as f64;
    if is_float(dtype) { whole / 2.0 } else { whole }
}

fn op_of(op: CommOp, rank: usize, dtype: Dtype) -> CommOp {
    match op {
        CommOp::PremulSum(_) => CommOp::PremulSum(factor_of(rank, dtype)),
        op => op,
    }
}

/// Small whole numbers. In a product only two ranks give others than 1 or -1, so that it stays small.
fn numbers(rank: usize, count: usize, dtype: Dtype, op: CommOp) -> Vec<f64> {
    let lowest = if is_signed(dtype) { -3.0 } else { 0.0 };
    let one = |index: usize| {
        let number = ((index * 7 + rank * 5 + index / 13) % 7) as f64;
        match op {
            CommOp::Prod if rank < 2 => number + lowest,
            CommOp::Prod if is_signed(dtype) => [1.0, -1.0][(index + rank) % 2],
            CommOp::Prod => 1.0,
            _ => number + lowest,
        }
    };
    (0..count).map(one).collect()
}

fn reduced(inputs: &[Vec<f64>], dtype: Dtype, op: CommOp) -> Vec<f64> {
    let at = |index: usize| {
        let values = inputs.iter().map(|input| input[index]);
        match op {
            CommOp::Sum => values.sum(),
            CommOp::Prod => values.product(),
            CommOp::Min => values.fold(f64::INFINITY, f64::min),
            CommOp::Max => values.fold(f64::NEG_INFINITY, f64::max),
            CommOp::Avg => (values.sum::<f64>() / inputs.len() as f64).trunc(),
            CommOp::PremulSum(_) => {
                let scaled = |(rank, value)| value * factor_of(rank, dtype);
                values.enumerate().map(scaled).sum()
            }
        }
    };
    (0..inputs[0].len()).map(at).collect()
}

/// Calls `body` with a type, an operation, a number of elements of each part, the inputs of all ranks and the result.
fn each_case(
    ranks: &mut Ranks<'_>,
    parts: usize,
    body: impl Fn(&mut Ranks<'_>, Dtype, CommOp, usize, &[Vec<u8>], Vec<u8>) -> Outcome,
) -> Outcome {
    for dtype in TYPES {
        for op in OPS {
            for count in COUNTS {
                let all = ranks.count();
                let mut inputs: Vec<Vec<f64>> =
                    (0..all).map(|rank| numbers(rank, count * parts, dtype, op)).collect();
                if op == CommOp::Avg && is_float(dtype) {
                    if !all.is_power_of_two() {
                        // Whether a library divides or multiplies is seen in the bits: `inexact_sums…` compares these.
                        continue;
                    }
                    // Multiples of the number of ranks: their average is whole.
                    inputs.iter_mut().flatten().for_each(|value| *value *= all as f64);
                }
                let values = reduced(&inputs, dtype, op);
                let given: Vec<Vec<u8>> = inputs.iter().map(|input| encode(dtype, input)).collect();
                let result = encode(dtype, &values);
                body(ranks, dtype, op, count, &given, result).map_err(|stop| match stop {
                    Stop::Failed(why) => Stop::Failed(format!("{dtype:?} {op:?} {count}: {why}")),
                    skip => skip,
                })?;
            }
        }
    }
    Ok(())
}

fn an_all_reduce_has_the_exact_value_for_every_type_and_operation(stage: &Stage<'_>) -> Outcome {
    with_ranks(stage, BYTES, |ranks| {
        each_case(ranks, 1, |ranks, dtype, op, count, given, result| {
            let expected = vec![result; ranks.count()];
            ranks.check(
                given,
                |number, rank| {
                    let op = op_of(op, number, dtype);
                    let (send, recv) = (rank.send(), rank.recv());
                    CommCall::AllReduce { send, recv, count, dtype, op }
                },
                &expected,
            )
        })
    })
}

fn a_reduce_has_it_on_the_root_alone(stage: &Stage<'_>) -> Outcome {
    with_ranks(stage, BYTES, |ranks| {
        let root = ranks.count() / 2;
        each_case(ranks, 1, |ranks, dtype, op, count, given, result| {
            let mut expected = vec![Vec::new(); ranks.count()];
            expected[root] = result;
            ranks.check(
                given,
                |number, rank| {
                    let op = op_of(op, number, dtype);
                    let (send, recv) = (rank.send(), rank.recv());
                    CommCall::Reduce { send, recv, count, dtype, op, root }
                },
                &expected,
            )
        })
    })
}

fn a_reduce_scatter_gives_each_rank_its_part(stage: &Stage<'_>) -> Outcome {
    with_ranks(stage, BYTES, |ranks| {
        let all = ranks.count();
        each_case(ranks, all, |ranks, dtype, op, count, given, result| {
            let parts = result.chunks_exact(count * dtype.bytes()).map(<[u8]>::to_vec);
            let expected: Vec<Vec<u8>> = parts.collect();
            ranks.check(
                given,
                |number, rank| {
                    let op = op_of(op, number, dtype);
                    let (send, recv) = (rank.send(), rank.recv());
                    CommCall::ReduceScatter { send, recv, count, dtype, op }
                },
                &expected,
            )
        })
    })
}

fn reductions_may_be_made_in_place(stage: &Stage<'_>) -> Outcome {
    with_ranks(stage, BYTES, |ranks| {
        let (dtype, count, all, op) = (Dtype::I32, 77, ranks.count(), CommOp::Sum);
        let inputs: Vec<Vec<f64>> =
            (0..all).map(|rank| numbers(rank, count * all, dtype, op)).collect();
        let given: Vec<Vec<u8>> = inputs.iter().map(|input| encode(dtype, input)).collect();
        let result = encode(dtype, &reduced(&inputs, dtype, op));
        let nothing = vec![Vec::new(); all];
        ranks.check(
            &given,
            |_, rank| {
                let (send, recv) = (rank.send(), rank.send());
                CommCall::AllReduce { send, recv, count: count * all, dtype, op }
            },
            &nothing,
        )?;
        for rank in 0..all {
            assert!(ranks.sent(rank)?[..result.len()] == result, "all_reduce, rank {rank}");
        }
        let bytes = count * dtype.bytes();
        ranks.check(
            &given,
            |number, rank| CommCall::ReduceScatter {
                send: rank.send(),
                recv: rank.send().offset((number * bytes) as u64),
                count,
                dtype,
                op,
            },
            &nothing,
        )?;
        for rank in 0..all {
            let part = rank * bytes..(rank + 1) * bytes;
            assert!(ranks.sent(rank)?[part.clone()] == result[part], "rank {rank}");
        }
        Ok(())
    })
}

const FLOATS: [Dtype; 4] = [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64];

fn two_ranks_add_any_numbers_as_the_type_rounds(stage: &Stage<'_>) -> Outcome {
    let machine = stage.machine(2)?;
    let stage = Stage { driver: machine.driver(), subject: stage.subject };
    let count = 1031;
    let mut ranks = Ranks::new(&stage, 2, BYTES)?;
    for dtype in FLOATS {
        let inputs = [drawn(dtype, count, 3), drawn(dtype, count, 4)];
        let given: Vec<Vec<u8>> = inputs.iter().map(|input| encode(dtype, input)).collect();
        let sums: Vec<f64> = inputs[0].iter().zip(&inputs[1]).map(|(a, b)| a + b).collect();
        let expected = vec![encode(dtype, &sums); 2];
        ranks.check(
            &given,
            |_, rank| {
                let (send, recv) = (rank.send(), rank.recv());
                CommCall::AllReduce { send, recv, count, dtype, op: CommOp::Sum }
            },
            &expected,
        )?;
    }
    Ok(())
}

fn inexact_sums_are_near_and_have_the_same_bits_on_all_ranks(stage: &Stage<'_>) -> Outcome {
    with_ranks(stage, BYTES, |ranks| {
        let (all, count) = (ranks.count(), 1031);
        for (dtype, op) in FLOATS.into_iter().flat_map(|t| [(t, CommOp::Sum), (t, CommOp::Avg)]) {
            let inputs: Vec<Vec<f64>> =
                (0..all).map(|rank| drawn(dtype, count, 10 + rank as u64)).collect();
            let given: Vec<Vec<u8>> = inputs.iter().map(|input| encode(dtype, input)).collect();
            ranks.write(&given)?;
            ranks.queue(|_, rank| {
                let (send, recv) = (rank.send(), rank.recv());
                CommCall::AllReduce { send, recv, count, dtype, op }
            })?;
            ranks.finish()?;
            let bytes = count * dtype.bytes();
            let result = ranks.result(0, bytes)?;
            let divisor = if op == CommOp::Avg { all as f64 } else { 1.0 };
            for (index, seen) in decode(dtype, &result).into_iter().enumerate() {
                let sum: f64 = inputs.iter().map(|input| input[index]).sum();
                let size: f64 = inputs.iter().map(|input| input[index].abs()).sum();
                // A rounding for each addition, one for the factor and one for the product with it.
                let most = (all + 2) as f64
                    * (rounding(dtype) * size / divisor + smallest_rounding(dtype));
                let error = (seen - sum / divisor).abs();
                assert!(error <= most, "{dtype:?} {op:?} {index}: {error:e} > {most:e}");
            }
            for rank in 1..all {
                assert!(ranks.result(rank, bytes)? == result, "{dtype:?} {op:?}: rank {rank}");
            }
        }
        Ok(())
    })
}

fn no_elements_are_a_call_as_well(stage: &Stage<'_>) -> Outcome {
    with_ranks(stage, 64, |ranks| {
        let given = vec![vec![1; 64]; ranks.count()];
        let nothing = vec![Vec::new(); ranks.count()];
        let (count, dtype, op, root) = (0, Dtype::F32, CommOp::Sum, 0);
        ranks.check(
            &given,
            |_, rank| {
                let (send, recv) = (rank.send(), rank.recv());
                CommCall::AllReduce { send, recv, count, dtype, op }
            },
            &nothing,
        )?;
        ranks.check(
            &given,
            |_, rank| {
                let (send, recv) = (rank.send(), rank.recv());
                CommCall::Broadcast { send, recv, count, dtype, root }
            },
            &nothing,
        )
    })
}

fn types_that_nobody_adds_are_refused(stage: &Stage<'_>) -> Outcome {
    let mut ranks = Ranks::new(stage, 1, 64)?;
    for dtype in [Dtype::Bool, Dtype::I16, Dtype::C64] {
        let rank = &mut ranks.ranks[0];
        let (send, recv) = (rank.send(), rank.recv());
        let call = CommCall::AllReduce { send, recv, count: 1, dtype, op: CommOp::Sum };
        let error = fails_with(rank.end.queue(&call, rank.stream.at), Status::NotSupported);
        assert!(error.message().contains(dtype.name()), "{error}");
    }
    // The communicator is as it was.
    ranks.check(
        &[vec![7; 8]],
        |_, rank| {
            let (send, recv) = (rank.send(), rank.recv());
            CommCall::AllReduce { send, recv, count: 8, dtype: Dtype::U8, op: CommOp::Sum }
        },
        &[vec![7; 8]],
    )
}
