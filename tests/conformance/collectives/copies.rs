//! Calls that copy: which bytes arrive where, for every type, root and size.

use sconce_base::element::Dtype;
use sconce_base::types::DevicePtr;
use sconce_driver::{CommCall, CommParts};

use super::{Ranks, TYPES, with_ranks};
use crate::support::stage::{Outcome, Stage, pattern};

crate::support::runner::tests![
    a_broadcast_gives_all_ranks_the_elements_of_the_root,
    an_all_gather_joins_the_elements_of_all_ranks,
    a_gather_joins_them_on_the_root_alone,
    a_scatter_gives_each_rank_its_part_of_the_root,
    an_all_to_all_transposes_parts,
    parts_of_an_all_to_all_may_differ_in_size_and_leave_gaps,
    sends_reach_the_rank_that_receives,
    copies_may_be_made_in_place,
];

const BYTES: usize = 8 * 8 * 1029;
/// Numbers of elements: one, odd ones, and more than a block of threads has.
const COUNTS: [usize; 3] = [1, 33, 1029];

/// Bytes of each rank that no other rank has.
fn given(ranks: &Ranks<'_>, bytes: usize) -> Vec<Vec<u8>> {
    (0..ranks.count()).map(|rank| pattern(bytes, rank as u8 + 1)).collect()
}

/// Calls `body` for every type and number of elements.
fn each_case(mut body: impl FnMut(Dtype, usize) -> Outcome) -> Outcome {
    TYPES.iter().try_for_each(|dtype| COUNTS.iter().try_for_each(|count| body(*dtype, *count)))
}

/// The first rank, one in the middle, and the last.
fn roots(count: usize) -> Vec<usize> {
    let mut roots = vec![0, count / 2, count - 1];
    roots.dedup();
    roots
}

fn a_broadcast_gives_all_ranks_the_elements_of_the_root(stage: &Stage<'_>) -> Outcome {
    with_ranks(stage, BYTES, |ranks| {
        each_case(|dtype, count| {
            let given = given(ranks, count * dtype.bytes());
            for root in roots(ranks.count()) {
                let expected = vec![given[root].clone(); ranks.count()];
                ranks.check(
                    &given,
                    |_, rank| {
                        let (send, recv) = (rank.send(), rank.recv());
                        CommCall::Broadcast { send, recv, count, dtype, root }
                    },
                    &expected,
                )?;
            }
            Ok(())
        })
    })
}

fn an_all_gather_joins_the_elements_of_all_ranks(stage: &Stage<'_>) -> Outcome {
    with_ranks(stage, BYTES, |ranks| {
        each_case(|dtype, count| {
            let given = given(ranks, count * dtype.bytes());
            let expected = vec![given.concat(); ranks.count()];
            ranks.check(
                &given,
                |_, rank| {
                    let (send, recv) = (rank.send(), rank.recv());
                    CommCall::AllGather { send, recv, count, dtype }
                },
                &expected,
            )
        })
    })
}

fn a_gather_joins_them_on_the_root_alone(stage: &Stage<'_>) -> Outcome {
    with_ranks(stage, BYTES, |ranks| {
        each_case(|dtype, count| {
            let given = given(ranks, count * dtype.bytes());
            for root in roots(ranks.count()) {
                let mut expected = vec![Vec::new(); ranks.count()];
                expected[root] = given.concat();
                ranks.check(
                    &given,
                    |number, rank| {
                        // Other ranks have no place to receive in.
                        let recv = if number == root { rank.recv() } else { DevicePtr(0) };
                        CommCall::Gather { send: rank.send(), recv, count, dtype, root }
                    },
                    &expected,
                )?;
            }
            Ok(())
        })
    })
}

fn a_scatter_gives_each_rank_its_part_of_the_root(stage: &Stage<'_>) -> Outcome {
    with_ranks(stage, BYTES, |ranks| {
        each_case(|dtype, count| {
            let bytes = count * dtype.bytes();
            let given = given(ranks, bytes * ranks.count());
            for root in roots(ranks.count()) {
                let expected: Vec<Vec<u8>> =
                    given[root].chunks_exact(bytes).map(<[u8]>::to_vec).collect();
                ranks.check(
                    &given,
                    |number, rank| {
                        let send = if number == root { rank.send() } else { DevicePtr(0) };
                        CommCall::Scatter { send, recv: rank.recv(), count, dtype, root }
                    },
                    &expected,
                )?;
            }
            Ok(())
        })
    })
}

/// Parts of one size, one behind the other.
fn even(base: DevicePtr, ranks: usize, count: usize) -> CommParts {
    CommParts { base, parts: (0..ranks).map(|rank| (rank * count, count)).collect() }
}

fn an_all_to_all_transposes_parts(stage: &Stage<'_>) -> Outcome {
    with_ranks(stage, BYTES, |ranks| {
        let all = ranks.count();
        each_case(|dtype, count| {
            let bytes = count * dtype.bytes();
            let given = given(ranks, bytes * all);
            let part = |from: usize, to: usize| given[from][to * bytes..(to + 1) * bytes].to_vec();
            let received = |to: usize| (0..all).flat_map(|from| part(from, to)).collect();
            let expected: Vec<Vec<u8>> = (0..all).map(received).collect();
            ranks.check(
                &given,
                |_, rank| {
                    let (send, recv) =
                        (even(rank.send(), all, count), even(rank.recv(), all, count));
                    CommCall::AllToAll { send, recv, dtype }
                },
                &expected,
            )
        })
    })
}

/// How many elements go from a rank to another: none on some ways, as many as fit on others.
fn elements_between(from: usize, to: usize) -> usize {
    [0, 7, 300, 1][(3 * from + to) % 4]
}

fn parts_of_an_all_to_all_may_differ_in_size_and_leave_gaps(stage: &Stage<'_>) -> Outcome {
    const PLACE: usize = 310;
    with_ranks(stage, BYTES, |ranks| {
        let all = ranks.count();
        for dtype in [Dtype::U8, Dtype::Bf16, Dtype::F32, Dtype::I64] {
            let width = dtype.bytes();
            let given = given(ranks, PLACE * width * all);
            let offset = |rank: usize| (all - 1 - rank) * PLACE;
            // What is received lies in the order of the ranks, reversed, with gaps that nobody writes.
            let received = |to: usize| {
                let mut bytes = vec![super::UNTOUCHED; PLACE * width * all];
                for (from, given) in given.iter().enumerate() {
                    let length = elements_between(from, to) * width;
                    let (source, target) = (to * PLACE * width, offset(from) * width);
                    bytes[target..target + length].copy_from_slice(&given[source..source + length]);
                }
                bytes
            };
            let expected: Vec<Vec<u8>> = (0..all).map(received).collect();
            ranks.check(
                &given,
                |number, rank| {
                    let to = |to: usize| (to * PLACE, elements_between(number, to));
                    let from = |from: usize| (offset(from), elements_between(from, number));
                    CommCall::AllToAll {
                        send: CommParts { base: rank.send(), parts: (0..all).map(to).collect() },
                        recv: CommParts { base: rank.recv(), parts: (0..all).map(from).collect() },
                        dtype,
                    }
                },
                &expected,
            )?;
        }
        Ok(())
    })
}

fn sends_reach_the_rank_that_receives(stage: &Stage<'_>) -> Outcome {
    with_ranks(stage, BYTES, |ranks| {
        let all = ranks.count();
        each_case(|dtype, count| {
            let bytes = count * dtype.bytes();
            let given = given(ranks, bytes);
            let expected: Vec<Vec<u8>> =
                (0..all).map(|rank| given[(rank + all - 1) % all].clone()).collect();
            ranks.write(&given)?;
            // A ring: each rank sends to the next, and receives the same bytes as another type.
            let driver = ranks.stage.driver;
            driver.comm_group_start()?;
            for (number, rank) in ranks.ranks.iter_mut().enumerate() {
                let (next, before) = ((number + 1) % all, (number + all - 1) % all);
                let send = CommCall::Send { send: rank.send(), count, dtype, peer: next };
                let recv = CommCall::Recv {
                    recv: rank.recv(),
                    count: bytes,
                    dtype: Dtype::U8,
                    peer: before,
                };
                rank.end.queue(&send, rank.stream.at)?;
                rank.end.queue(&recv, rank.stream.at)?;
            }
            driver.comm_group_end()?;
            ranks.finish()?;
            ranks.received(&expected)
        })
    })
}

fn copies_may_be_made_in_place(stage: &Stage<'_>) -> Outcome {
    with_ranks(stage, BYTES, |ranks| {
        let (dtype, count, all) = (Dtype::F32, 257, ranks.count());
        let bytes = count * dtype.bytes();
        let whole = given(ranks, bytes * all);
        // Nobody writes to where the others receive.
        let nothing = vec![Vec::new(); all];
        let root = all - 1;
        ranks.check(
            &whole,
            |_, rank| {
                let (send, recv) = (rank.send(), rank.send());
                CommCall::Broadcast { send, recv, count, dtype, root }
            },
            &nothing,
        )?;
        for rank in 0..all {
            assert!(ranks.sent(rank)?[..bytes] == whole[root][..bytes], "rank {rank}");
        }
        ranks.check(
            &whole,
            |number, rank| CommCall::AllGather {
                send: rank.send().offset((number * bytes) as u64),
                recv: rank.send(),
                count,
                dtype,
            },
            &nothing,
        )?;
        let part = |rank: usize| whole[rank][rank * bytes..(rank + 1) * bytes].to_vec();
        let joined: Vec<u8> = (0..all).flat_map(part).collect();
        for rank in 0..all {
            assert!(ranks.sent(rank)?[..joined.len()] == joined, "rank {rank}");
        }
        Ok(())
    })
}
