//! When calls run: streams, groups, threads, captures.

use sconce_base::element::Dtype;
use sconce_driver::{CaptureMode, CommCall, CommOp};

use super::{Rank, Ranks, encode};
use crate::graphs::{Graph, instantiate_on};
use crate::support::stage::{Outcome, Stage};

crate::support::runner::tests![
    a_call_runs_between_what_its_stream_holds_before_and_after,
    ranks_on_threads_of_their_own_need_no_group,
    calls_of_a_group_may_need_each_other_in_any_order,
    a_group_may_hold_many_calls_of_each_rank,
    communicators_are_independent_and_number_their_own_ranks,
    a_captured_call_runs_at_each_launch,
];

const COUNT: usize = 1000;
const BYTES: usize = 4 * COUNT * 4;

fn sum(rank: &Rank<'_>) -> CommCall {
    let (send, recv) = (rank.send(), rank.recv());
    CommCall::AllReduce { send, recv, count: COUNT, dtype: Dtype::I32, op: CommOp::Sum }
}

/// The same number in all elements.
fn filled(value: i32) -> Vec<u8> {
    encode(Dtype::I32, &[f64::from(value); COUNT])
}

/// Two ranks, on devices of their own. A call of each kind that the test makes was made before: the first one may
/// wait for the other ranks.
fn two_ranks<'a>(stage: &Stage<'a>) -> Outcome<Ranks<'a>> {
    stage.two_devices()?;
    let mut ranks = Ranks::new(stage, 2, BYTES)?;
    ranks.check(&[filled(1), filled(2)], |_, rank| sum(rank), &[filled(3), filled(3)])?;
    Ok(ranks)
}

fn a_call_runs_between_what_its_stream_holds_before_and_after(stage: &Stage<'_>) -> Outcome {
    let mut ranks = two_ranks(stage)?;
    let first = ranks.ranks[0].device;
    ranks.write(&[filled(0), filled(5)])?;
    let before = stage.pinned(first, BYTES / 4, 0)?;
    before.write(&filled(70));
    let after = stage.pinned(first, BYTES / 4, 0)?;
    let done = stage.event(ranks.ranks[1].device)?;
    let gate = ranks.ranks[0].stream.gate()?;
    let (stream, send, recv) = {
        let rank = &ranks.ranks[0];
        (rank.stream.at, rank.send(), rank.recv())
    };
    stage.driver.copy_async(send.into(), before.raw(), before.bytes(), stream)?;
    ranks.queue(|_, rank| sum(rank))?;
    stage.driver.copy_async(after.raw(), recv.into(), after.bytes(), stream)?;
    ranks.ranks[1].stream.record(&done)?;
    done.assert_stays_pending("the stream of the other rank stands still")?;
    gate.open();
    done.assert_completes("all ranks have come")?;
    ranks.finish()?;
    assert!(after.read() == filled(75), "what follows on the stream came too early");
    ranks.received(&[filled(75), filled(75)])
}

fn ranks_on_threads_of_their_own_need_no_group(stage: &Stage<'_>) -> Outcome {
    stage.two_devices()?;
    let mut ranks = Ranks::new(stage, 2, BYTES)?;
    ranks.write(&[filled(3), filled(4)])?;
    // Also the first calls, which may wait for each other.
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let work = |rank: &mut Rank<'_>| -> Outcome {
            for _ in 0..20 {
                let call = sum(rank);
                rank.end.queue(&call, rank.stream.at)?;
            }
            Ok(rank.stream.synchronize()?)
        };
        let threads: Vec<_> =
            ranks.ranks.iter_mut().map(|rank| scope.spawn(move || work(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    outcomes.into_iter().collect::<Outcome<()>>()?;
    ranks.received(&[filled(7), filled(7)])
}

fn calls_of_a_group_may_need_each_other_in_any_order(stage: &Stage<'_>) -> Outcome {
    let mut ranks = two_ranks(stage)?;
    ranks.write(&[filled(11), filled(12)])?;
    let (count, dtype) = (COUNT, Dtype::I32);
    let driver = stage.driver;
    driver.comm_group_start()?;
    for (number, rank) in ranks.ranks.iter_mut().enumerate() {
        let peer = 1 - number;
        let send = CommCall::Send { send: rank.send(), count, dtype, peer };
        let recv = CommCall::Recv { recv: rank.recv(), count, dtype, peer };
        // Both send first: alone, neither send would end before its receive.
        rank.end.queue(&send, rank.stream.at)?;
        rank.end.queue(&recv, rank.stream.at)?;
    }
    driver.comm_group_end()?;
    ranks.finish()?;
    ranks.received(&[filled(12), filled(11)])
}

fn a_group_may_hold_many_calls_of_each_rank(stage: &Stage<'_>) -> Outcome {
    let mut ranks = two_ranks(stage)?;
    ranks.write(&[filled(1), filled(1)])?;
    let driver = stage.driver;
    driver.comm_group_start()?;
    // Rank by rank: a rank's second call stands before the other rank's first one.
    for rank in &mut ranks.ranks {
        for round in 0..4 {
            let recv = rank.recv().offset(round * 4 * COUNT as u64);
            let (send, count, dtype) = (rank.send(), COUNT, Dtype::I32);
            let call = match round % 2 {
                0 => CommCall::AllReduce { send, recv, count, dtype, op: CommOp::Sum },
                _ => CommCall::Broadcast { send: recv, recv, count, dtype, root: 1 },
            };
            rank.end.queue(&call, rank.stream.at)?;
        }
    }
    driver.comm_group_end()?;
    ranks.finish()?;
    let untouched = vec![super::UNTOUCHED; 4 * COUNT];
    let expected = [filled(2), untouched.clone(), filled(2), untouched].concat();
    ranks.received(&[expected.clone(), expected])
}

fn communicators_are_independent_and_number_their_own_ranks(stage: &Stage<'_>) -> Outcome {
    let (first, second) = stage.two_devices()?;
    let mut forth = Ranks::on(stage, &[first, second], BYTES)?;
    let mut back = Ranks::on(stage, &[second, first], BYTES)?;
    let from_first = |_: usize, rank: &Rank<'_>| CommCall::Broadcast {
        send: rank.send(),
        recv: rank.recv(),
        count: COUNT,
        dtype: Dtype::I32,
        root: 0,
    };
    for _ in 0..3 {
        forth.check(&[filled(1), filled(2)], from_first, &[filled(1), filled(1)])?;
        // Its rank 0 is on the second device.
        back.check(&[filled(3), filled(4)], from_first, &[filled(3), filled(3)])?;
    }
    drop(forth);
    back.check(&[filled(5), filled(6)], from_first, &[filled(5), filled(5)])
}

fn a_captured_call_runs_at_each_launch(stage: &Stage<'_>) -> Outcome {
    let mut ranks = two_ranks(stage)?;
    ranks.write(&[filled(0), filled(0)])?;
    // Each rank captures on a thread of its own, as each process of a job does.
    let driver = stage.driver;
    let graphs: Vec<Outcome<Graph<'_>>> = std::thread::scope(|scope| {
        let work = |rank: &mut Rank<'_>| -> Outcome<Graph<'_>> {
            driver.capture_begin(rank.stream.at, CaptureMode::ThreadLocal)?;
            let call = sum(rank);
            let queued = rank.end.queue(&call, rank.stream.at);
            let ended = driver.capture_end(rank.stream.at);
            queued?;
            Ok(Graph { driver, handle: ended? })
        };
        let threads: Vec<_> =
            ranks.ranks.iter_mut().map(|rank| scope.spawn(move || work(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let graphs: Vec<Graph<'_>> = graphs.into_iter().collect::<Outcome<_>>()?;
    ranks.received(&[Vec::new(), Vec::new()])?;
    let mut launches = Vec::new();
    for (graph, rank) in graphs.iter().zip(&ranks.ranks) {
        launches.push(instantiate_on(stage, graph, rank.device)?);
    }
    for round in 1..=3 {
        ranks.write(&[filled(10 * round), filled(round)])?;
        for (exec, rank) in launches.iter().zip(&ranks.ranks) {
            exec.launch(&rank.stream)?;
        }
        ranks.finish()?;
        ranks.received(&[filled(11 * round), filled(11 * round)])?;
    }
    // Calls outside of graphs go on as before.
    ranks.check(&[filled(8), filled(9)], |_, rank| sum(rank), &[filled(17), filled(17)])?;
    drop((launches, graphs));
    Ok(())
}
