//! Repeated transforms and the cache of plans, which they pass by: figures, the order in which plans
//! leave, and limits.

use std::sync::mpsc;
use std::thread::Scope;

use proptest::prelude::*;
use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::libraries::fft::{free_bytes, fresh, rows, run, stats};
use testkit::libraries::repeats::{Block, Call, large};
use testkit::places::alone;

/// Hits, misses, evictions and plans.
fn figures() -> [u64; 4] {
    let stats = stats(0);
    [stats.hits, stats.misses, stats.evictions, stats.size]
}

#[test]
fn hits_are_counted_exactly_wherever_plans_go() {
    let _alone = alone();
    fresh(0);
    let blocks = [0, 1].map(|_| Block::new(4096));
    let shapes: Vec<Call> = (0..3).map(|at| Call::new(rows(16 + at, 2), at as u64)).collect();
    let goes = |shape: usize, times: usize| {
        for _ in 0..times {
            shapes[shape].goes(0, blocks[0].start(), blocks[1].start(), "counted");
        }
    };
    goes(0, 10);
    assert_eq!(figures(), [9, 1, 0, 1]);
    assert_eq!(sconce_fft_cache_reset_stats(0), SCONCE_OK);
    assert_eq!(figures(), [0, 0, 0, 1]);
    goes(0, 5);
    assert_eq!(figures(), [5, 0, 0, 1]);
    // What was counted stays when the plan goes, and none is counted twice when it comes again.
    assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
    assert_eq!(figures(), [5, 0, 0, 0]);
    goes(0, 4);
    assert_eq!(figures(), [8, 1, 0, 1]);
    assert_eq!(sconce_fft_cache_set_max_size(0, 1), SCONCE_OK);
    goes(1, 3);
    assert_eq!(figures(), [10, 2, 1, 1]);
    goes(0, 3);
    assert_eq!(figures(), [12, 3, 2, 1]);
    assert_eq!(sconce_fft_cache_reset_stats(0), SCONCE_OK);
    goes(1, 2);
    assert_eq!(figures(), [1, 1, 1, 1]);
    // By a limit in bytes.
    assert_eq!(sconce_fft_cache_set_max_size(0, 8), SCONCE_OK);
    goes(2, 3);
    goes(1, 3);
    assert_eq!(figures(), [6, 2, 1, 2]);
    assert_eq!(sconce_fft_cache_set_max_bytes(0, stats(0).bytes as i64 - 1), SCONCE_OK);
    assert_eq!(figures(), [6, 2, 2, 1]);
    goes(1, 2);
    assert_eq!(figures(), [8, 2, 2, 1]);
    goes(2, 2);
    assert_eq!(figures(), [9, 3, 3, 1]);
    assert_eq!(sconce_fft_cache_set_max_bytes(0, 0), SCONCE_OK);
    assert_eq!(figures(), [9, 3, 4, 0]);
    goes(2, 2);
    assert_eq!(figures(), [9, 5, 6, 0]);
    fresh(0);
}

/// A thread that transforms on request, and remembers what it did.
struct Worker(mpsc::Sender<(usize, usize)>, mpsc::Receiver<()>);

impl Worker {
    fn new<'scope>(scope: &'scope Scope<'scope, '_>) -> Worker {
        let (sender, orders) = mpsc::channel();
        let (done, receiver) = mpsc::channel();
        scope.spawn(move || {
            let block = Block::new(4096);
            while let Ok((shape, times)) = orders.recv() {
                for _ in 0..times {
                    let status = run(&rows(16 + shape as i64, 1), block.start(), block.start());
                    assert_eq!(status, SCONCE_OK, "{}", last_message());
                }
                assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
                done.send(()).unwrap();
            }
        });
        Worker(sender, receiver)
    }

    fn repeats(&self, shape: usize, times: usize) {
        self.0.send((shape, times)).unwrap();
        self.1.recv().unwrap();
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// Thread, shape, how often.
    Repeat(usize, usize, usize),
    SetMaxSize(usize),
    Clear,
    ResetStats,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => (0..2_usize, 0..7_usize, 1..4_usize).prop_map(|(t, s, n)| Step::Repeat(t, s, n)),
        2 => (1..7_usize).prop_map(Step::SetMaxSize),
        1 => Just(Step::Clear),
        1 => Just(Step::ResetStats),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_longest_unused_leaves_however_it_was_used(
        most in 1..7_usize,
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let _alone = alone();
        fresh(0);
        assert_eq!(sconce_fft_cache_set_max_size(0, most as i64), SCONCE_OK);
        // Shapes, the newest first.
        let (mut kept, mut most, mut counts) = (Vec::new(), most, [0, 0, 0]);
        std::thread::scope(|scope| {
            let workers = [Worker::new(scope), Worker::new(scope)];
            for step in steps {
                match step {
                    Step::Repeat(thread, shape, times) => {
                        workers[thread].repeats(shape, times);
                        counts[0] += times as u64;
                        match kept.iter().position(|other| *other == shape) {
                            Some(at) => drop(kept.remove(at)),
                            None => {
                                (counts[0], counts[1]) = (counts[0] - 1, counts[1] + 1);
                            }
                        }
                        kept.insert(0, shape);
                    }
                    Step::SetMaxSize(limit) => {
                        most = limit;
                        assert_eq!(sconce_fft_cache_set_max_size(0, limit as i64), SCONCE_OK);
                    }
                    Step::Clear => {
                        kept.clear();
                        assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
                    }
                    Step::ResetStats => {
                        counts = [0; 3];
                        assert_eq!(sconce_fft_cache_reset_stats(0), SCONCE_OK);
                    }
                }
                counts[2] += kept.len().saturating_sub(most) as u64;
                kept.truncate(most);
                let [hits, misses, evictions] = counts;
                assert_eq!(figures(), [hits, misses, evictions, kept.len() as u64]);
            }
            // Those that are left, the newest first, are found.
            let found = figures();
            for (count, shape) in kept.iter().enumerate() {
                workers[0].repeats(*shape, 1);
                assert_eq!(figures()[..2], [found[0] + count as u64 + 1, found[1]]);
            }
        });
        fresh(0);
    }
}

#[test]
fn with_no_room_each_repeat_makes_its_plan_and_leaves_nothing() {
    let _alone = alone();
    fresh(0);
    let blocks = [0, 1].map(|_| Block::new(64 << 10));
    let all = [Call::new(rows(16, 2), 1), Call::new(large(), 2)];
    let goes = |call: &Call| call.goes(0, blocks[0].start(), blocks[1].start(), "with no room");
    all.iter().for_each(|call| (0..2).for_each(|_| goes(call)));
    assert_eq!(sconce_fft_cache_set_max_size(0, 0), SCONCE_OK);
    let before = free_bytes(0);
    assert_eq!(figures(), [2, 2, 2, 0]);
    for turn in 1..4 {
        for call in &all {
            (0..2).for_each(|_| goes(call));
            assert_eq!(free_bytes(0), before);
        }
        assert_eq!(figures(), [2, 2 + 4 * turn, 2, 0]);
    }
    assert_eq!(sconce_fft_cache_set_max_size(0, 1), SCONCE_OK);
    all.iter().for_each(|call| (0..2).for_each(|_| goes(call)));
    assert_eq!(figures(), [4, 16, 3, 1]);
    fresh(0);
    assert_eq!(free_bytes(0), before);
}

#[test]
fn plans_that_leave_go_though_threads_remember_them() {
    let _alone = alone();
    fresh(0);
    let block = Block::new(4096);
    let before = free_bytes(0);
    std::thread::scope(|scope| {
        let workers = [Worker::new(scope), Worker::new(scope)];
        for shape in 0..3 {
            workers.iter().for_each(|worker| worker.repeats(shape, 3));
        }
        // What workers' blocks took is not plans'.
        let taken = stats(0).plan_bytes as usize;
        let held = before - free_bytes(0) - taken;
        assert_eq!(sconce_fft_cache_set_max_size(0, 1), SCONCE_OK);
        assert_eq!(before - free_bytes(0) - held, stats(0).plan_bytes as usize);
        assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
        assert_eq!(before - free_bytes(0), held);
        assert_eq!(sconce_fft_cache_set_max_size(0, 4096), SCONCE_OK);
        workers.iter().for_each(|worker| worker.repeats(1, 3));
        assert_eq!(stats(0).size, 1);
        // Want of memory takes them as well.
        assert_eq!(sconce_fft_cache_set_max_bytes(0, 0), SCONCE_OK);
        assert_eq!(before - free_bytes(0), held);
    });
    fresh(0);
    drop(block);
}

#[test]
fn a_thread_that_has_ended_leaves_its_plans_to_others() {
    let _alone = alone();
    fresh(0);
    // Rounds of many threads; each is one that remembers.
    let call = Call::new(rows(16, 2), 1);
    for round in 0..20 {
        let ran = || {
            let [from, to] = [0, 1].map(|_| Block::new(4096));
            (0..3).for_each(|_| call.goes(0, from.start(), to.start(), "of a short thread"));
        };
        let threads = [(); 4];
        std::thread::scope(|scope| {
            let threads = threads.map(|()| scope.spawn(ran));
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        let all = 12 * (round + 1);
        assert_eq!(figures(), [all - 1, 1, 0, 1]);
    }
    let taken = stats(0).plan_bytes as usize;
    let before = free_bytes(0);
    assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
    assert_eq!(free_bytes(0) - before, taken);
    fresh(0);
}
