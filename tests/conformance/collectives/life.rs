//! How communicators begin and end.

use std::time::{Duration, Instant};

use sconce_base::element::Dtype;
use sconce_driver::{CommCall, CommMember, CommOp, CommOptions};

use super::{Rank, Ranks, encode, new_id, settle};
use crate::libraries::installed;
use crate::support::stage::{A_WHILE, Outcome, SOON, Stage, fails};

crate::support::runner::tests![
    the_version_is_known_and_ids_differ,
    an_end_knows_its_place_and_has_a_handle,
    an_end_is_pending_until_all_ranks_have_called,
    a_pending_end_can_be_given_up,
    a_split_orders_the_ranks_of_a_colour_by_their_keys,
    a_rank_without_a_colour_has_no_end_of_a_split,
    a_parent_may_end_before_what_was_split_off,
    what_is_finalized_has_done_its_work,
    an_abort_ends_a_call_that_waits_for_another_rank,
    an_aborted_end_takes_no_calls_and_a_second_abort_does_nothing,
    an_end_may_be_dropped_with_work_queued,
];

const COUNT: usize = 100;
const BYTES: usize = 4 * COUNT;

fn filled(value: i32) -> Vec<u8> {
    encode(Dtype::I32, &[f64::from(value); COUNT])
}

fn sum(rank: &Rank<'_>) -> CommCall {
    let (send, recv) = (rank.send(), rank.recv());
    CommCall::AllReduce { send, recv, count: COUNT, dtype: Dtype::I32, op: CommOp::Sum }
}

/// Sees that a communicator of two ranks works.
fn works(ranks: &mut Ranks<'_>) -> Outcome {
    ranks.check(&[filled(20), filled(3)], |_, rank| sum(rank), &[filled(23), filled(23)])
}

fn the_version_is_known_and_ids_differ(stage: &Stage<'_>) -> Outcome {
    let version = installed(stage.driver.comm_version())?;
    assert!((21_800..100_000).contains(&version), "{version}");
    assert_ne!(new_id(stage)?, new_id(stage)?);
    Ok(())
}

fn an_end_knows_its_place_and_has_a_handle(stage: &Stage<'_>) -> Outcome {
    let count = stage.devices().len();
    let mut ranks = Ranks::new(stage, count, BYTES)?;
    let mut handles = Vec::new();
    for (number, rank) in ranks.ranks.iter_mut().enumerate() {
        assert_eq!(rank.end.place()?, (number, count));
        handles.push(rank.end.native());
    }
    handles.sort_unstable();
    handles.dedup();
    assert!(handles.len() == count && handles[0] != 0, "{handles:?}");
    Ok(())
}

fn an_end_is_pending_until_all_ranks_have_called(stage: &Stage<'_>) -> Outcome {
    let (first, second) = stage.two_devices()?;
    let (id, options) = (new_id(stage)?, CommOptions::default());
    let member = |rank, device| [CommMember { rank, device }];
    let mut ends = stage.driver.comm_create(&id, 2, &member(0, first), &options)?;
    let start = Instant::now();
    while start.elapsed() < A_WHILE {
        assert!(!ends[0].poll()?, "the other rank has not called");
        std::thread::sleep(Duration::from_millis(2));
    }
    ends.extend(stage.driver.comm_create(&id, 2, &member(1, second), &options)?);
    works(&mut Ranks::of(stage, ends, &[first, second], BYTES)?)
}

fn a_pending_end_can_be_given_up(stage: &Stage<'_>) -> Outcome {
    let (first, second) = stage.two_devices()?;
    let (id, options) = (new_id(stage)?, CommOptions::default());
    let member = [CommMember { rank: 0, device: first }];
    let mut ends = stage.driver.comm_create(&id, 2, &member, &options)?;
    assert!(!ends[0].poll()?, "the other rank has not called");
    ends[0].aborter().abort()?;
    let start = Instant::now();
    drop(ends);
    assert!(start.elapsed() < SOON, "giving up waited for the other rank");
    works(&mut Ranks::on(stage, &[first, second], BYTES)?)
}

/// Splits all ranks; waits for what has been split off.
fn split<'a>(
    ranks: &mut Ranks<'a>,
    color_and_key: impl Fn(usize) -> (Option<i32>, i32),
) -> Outcome<Vec<Option<Box<dyn sconce_driver::CommEndpoint>>>> {
    let options = CommOptions::default();
    let mut children = Vec::new();
    for (number, rank) in ranks.ranks.iter_mut().enumerate() {
        let (color, key) = color_and_key(number);
        children.push(rank.end.split(color, key, &options)?);
    }
    settle(children.iter_mut().flatten())?;
    ranks.settle()?;
    Ok(children)
}

fn a_split_orders_the_ranks_of_a_colour_by_their_keys(stage: &Stage<'_>) -> Outcome {
    stage.two_devices()?;
    let count = stage.devices().len().min(4);
    let machine = stage.machine(count as i32)?;
    let stage = Stage { driver: machine.driver(), subject: stage.subject };
    let mut ranks = Ranks::new(&stage, count, BYTES)?;
    // All have one colour, the last one comes first.
    let mut children = split(&mut ranks, |rank| (Some(7), -(rank as i32)))?;
    for (number, child) in children.iter_mut().enumerate() {
        let child = child.as_mut().expect("each rank has a colour");
        assert_eq!(child.place()?, (count - 1 - number, count));
    }
    let devices: Vec<_> = ranks.ranks.iter().map(|rank| rank.device).collect();
    let ends = children.into_iter().flatten().collect();
    let mut children = Ranks::of(&stage, ends, &devices, BYTES)?;
    // Rank 0 of the new communicator is the last one of the old.
    let given: Vec<Vec<u8>> = (0..count).map(|rank| filled(rank as i32)).collect();
    let expected = vec![filled(count as i32 - 1); count];
    children.check(
        &given,
        |_, rank| CommCall::Broadcast {
            send: rank.send(),
            recv: rank.recv(),
            count: COUNT,
            dtype: Dtype::I32,
            root: 0,
        },
        &expected,
    )?;
    // The old one takes calls as before, after the new one has gone as well.
    let sums = vec![filled((count * (count - 1) / 2) as i32); count];
    ranks.check(&given, |_, rank| sum(rank), &sums)?;
    drop(children);
    ranks.check(&given, |_, rank| sum(rank), &sums)
}

fn a_rank_without_a_colour_has_no_end_of_a_split(stage: &Stage<'_>) -> Outcome {
    stage.two_devices()?;
    let mut ranks = Ranks::new(stage, 2, BYTES)?;
    let mut children = split(&mut ranks, |rank| ((rank == 1).then_some(0), 0))?;
    assert!(children[0].is_none());
    let child = children[1].as_mut().expect("rank 1 has a colour");
    assert_eq!(child.place()?, (0, 1));
    works(&mut ranks)
}

fn a_parent_may_end_before_what_was_split_off(stage: &Stage<'_>) -> Outcome {
    let (first, second) = stage.two_devices()?;
    let mut ranks = Ranks::new(stage, 2, BYTES)?;
    let children = split(&mut ranks, |rank| (Some(0), rank as i32))?;
    for rank in &mut ranks.ranks {
        rank.end.finalize()?;
    }
    ranks.settle()?;
    drop(ranks);
    let ends = children.into_iter().flatten().collect();
    works(&mut Ranks::of(stage, ends, &[first, second], BYTES)?)
}

fn what_is_finalized_has_done_its_work(stage: &Stage<'_>) -> Outcome {
    stage.two_devices()?;
    let mut ranks = Ranks::new(stage, 2, BYTES)?;
    works(&mut ranks)?;
    ranks.write(&[filled(1), filled(2)])?;
    ranks.queue(|_, rank| sum(rank))?;
    for rank in &mut ranks.ranks {
        rank.end.finalize()?;
    }
    ranks.settle()?;
    ranks.received(&[filled(3), filled(3)])
}

fn an_abort_ends_a_call_that_waits_for_another_rank(stage: &Stage<'_>) -> Outcome {
    let (first, second) = stage.two_devices()?;
    let mut ranks = Ranks::new(stage, 2, BYTES)?;
    works(&mut ranks)?;
    {
        let rank = &mut ranks.ranks[0];
        let call = sum(rank);
        rank.end.queue(&call, rank.stream.at)?;
        let done = stage.event(first)?;
        rank.stream.record(&done)?;
        done.assert_stays_pending("the other rank has not made the call")?;
        let aborter = rank.end.aborter();
        // From another thread than the one that made the call.
        std::thread::scope(|scope| scope.spawn(|| aborter.abort()).join()).unwrap()?;
        done.assert_completes("the communicator was aborted")?;
        fails(rank.end.poll());
    }
    // The other rank has nothing queued; it ends by itself.
    ranks.ranks[1].end.aborter().abort()?;
    // Device and streams go on, and so do new communicators.
    stage.driver.device_synchronize(first)?;
    drop(ranks);
    works(&mut Ranks::on(stage, &[first, second], BYTES)?)
}

fn an_aborted_end_takes_no_calls_and_a_second_abort_does_nothing(stage: &Stage<'_>) -> Outcome {
    let mut ranks = Ranks::new(stage, 1, BYTES)?;
    let aborter = ranks.ranks[0].end.aborter();
    aborter.abort()?;
    aborter.abort()?;
    let rank = &mut ranks.ranks[0];
    let call = sum(rank);
    fails(rank.end.queue(&call, rank.stream.at));
    fails(rank.end.poll());
    fails(rank.end.finalize());
    fails(rank.end.split(Some(0), 0, &CommOptions::default()).map(|_| ()));
    aborter.abort()?;
    drop(ranks);
    // What holds the aborter longer than the end lives harms nothing.
    Ok(aborter.abort()?)
}

fn an_end_may_be_dropped_with_work_queued(stage: &Stage<'_>) -> Outcome {
    let (first, second) = stage.two_devices()?;
    let mut ranks = Ranks::new(stage, 2, BYTES)?;
    works(&mut ranks)?;
    let rank = &mut ranks.ranks[0];
    let call = sum(rank);
    rank.end.queue(&call, rank.stream.at)?;
    let start = Instant::now();
    drop(ranks);
    assert!(start.elapsed() < SOON, "dropping waited for the other rank");
    stage.driver.device_synchronize(first)?;
    works(&mut Ranks::on(stage, &[first, second], BYTES)?)
}
