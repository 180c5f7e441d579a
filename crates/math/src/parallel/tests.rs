use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

use parking_lot::Mutex;

use super::*;

/// Tests that change the number of threads, or wait for several, run one after another.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn each_part_is_calculated_once() {
    let _alone = ALONE.lock();
    set_count(3).unwrap();
    for parts in [0, 1, 2, 3, 7, 500] {
        let calls: Vec<AtomicUsize> = (0..parts).map(|_| AtomicUsize::new(0)).collect();
        for_each(parts, &|part| {
            calls[part].fetch_add(1, SeqCst);
        });
        assert!(calls.iter().all(|count| count.load(SeqCst) == 1), "{parts} parts");
    }
}

#[test]
fn as_many_threads_work_as_may() {
    let _alone = ALONE.lock();
    for threads in [1, 2, 4] {
        set_count(threads).unwrap();
        let threads = threads as usize;
        let (seen, barrier) = (Mutex::new(HashSet::new()), Barrier::new(threads));
        // Each part waits for the others: without so many threads this would never end.
        for_each(threads, &|_| {
            barrier.wait();
            seen.lock().insert(thread::current().id());
        });
        assert_eq!(seen.lock().len(), threads);
        let seen = Mutex::new(HashSet::new());
        for_each(1000, &|_| {
            seen.lock().insert(thread::current().id());
        });
        assert!(seen.lock().len() <= threads);
    }
}

#[test]
fn a_call_within_a_part_stays_on_its_thread() {
    let _alone = ALONE.lock();
    set_count(3).unwrap();
    for_each(6, &|_| {
        let own = thread::current().id();
        assert_eq!(available(), 1);
        for_each(5, &|_| assert_eq!(thread::current().id(), own));
        assert!(is_within());
    });
    assert!(!is_within());
    assert_eq!(available(), 3);
}

#[test]
fn a_panic_of_any_part_reaches_the_caller_after_all_have_returned() {
    let _alone = ALONE.lock();
    set_count(2).unwrap();
    for guilty in 0..2 {
        let (barrier, running) = (Barrier::new(2), AtomicUsize::new(0));
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            for_each(2, &|part| {
                running.fetch_add(1, SeqCst);
                barrier.wait();
                assert!(part != guilty, "part {part}");
                thread::sleep(std::time::Duration::from_millis(20));
                running.fetch_sub(1, SeqCst);
            });
        }));
        let text = *outcome.unwrap_err().downcast::<String>().unwrap();
        assert_eq!(text, format!("part {guilty}"));
        // The guilty part never counted itself off; the other had done so before the call returned.
        assert_eq!(running.load(SeqCst), 1);
        assert!(!is_within());
    }
    // The threads go on.
    let barrier = Barrier::new(2);
    for_each(2, &|_| {
        barrier.wait();
    });
}

#[test]
fn many_callers_share_the_threads() {
    let _alone = ALONE.lock();
    set_count(2).unwrap();
    let working = AtomicUsize::new(0);
    let most = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for round in 0..200 {
                    let sum = AtomicUsize::new(0);
                    for_each(5 + round % 3, &|part| {
                        most.fetch_max(working.fetch_add(1, SeqCst) + 1, SeqCst);
                        sum.fetch_add(part, SeqCst);
                        working.fetch_sub(1, SeqCst);
                    });
                    let parts = 5 + round % 3;
                    assert_eq!(sum.into_inner(), parts * (parts - 1) / 2);
                }
            });
        }
    });
    // Six callers, and one thread of the pool.
    assert!(most.into_inner() <= 7);
}

#[test]
fn helpers_leave_when_other_callers_come() {
    let _alone = ALONE.lock();
    set_count(2).unwrap();
    let helped = AtomicBool::new(false);
    let (owner, barrier) = (thread::current().id(), Barrier::new(2));
    let others = AtomicUsize::new(0);
    for_each(2 + 100, &|part| {
        if part < 2 {
            barrier.wait();
            if thread::current().id() != owner {
                helped.store(true, SeqCst);
                return;
            }
            // Another caller, while this part runs. The helper has nothing to do with it but to leave.
            thread::scope(|scope| {
                scope.spawn(|| {
                    for_each(2, &|_| thread::sleep(std::time::Duration::from_millis(100)));
                });
            });
            return;
        }
        if thread::current().id() != owner {
            others.fetch_add(1, SeqCst);
            thread::sleep(std::time::Duration::from_millis(2));
        }
    });
    assert!(helped.into_inner());
    assert!(others.into_inner() < 50, "the helper stayed for most of 100 parts of 2 ms");
}

#[test]
fn a_number_of_threads_below_one_is_refused() {
    let _alone = ALONE.lock();
    set_count(2).unwrap();
    for threads in [0, -1, i32::MIN] {
        let text = set_count(threads).unwrap_err().to_string();
        assert!(text.contains("num_threads") && text.contains("at least 1"), "{text}");
    }
    assert_eq!(count(), 2);
}

#[test]
fn parts_of_a_range_are_the_range() {
    let _alone = ALONE.lock();
    set_count(3).unwrap();
    for (begin, end, grain, parts) in [
        (0, 0, 1, 0),
        (5, 3, 1, 0),
        (0, 1, 1, 1),
        (-4, 5, 0, 3),
        (0, 100, 60, 2),
        (0, 100, 100, 1),
        (0, 101, 50, 3),
        (i64::MIN, i64::MAX, 1, 3),
        (i64::MAX - 7, i64::MAX, 3, 3),
        (0, 4, u64::MAX, 1),
    ] {
        let seen = Mutex::new(Vec::new());
        for_range(begin, end, grain, &|first, last| seen.lock().push((part(), first, last)));
        let mut seen = seen.into_inner();
        seen.sort_unstable();
        assert_eq!(seen.len(), parts, "{begin} to {end} by {grain}: {seen:?}");
        let mut next = begin;
        for (index, (part, first, last)) in seen.into_iter().enumerate() {
            assert_eq!((part, first), (index, next));
            assert!(last > first && (last == end || last.abs_diff(first) >= grain));
            next = last;
        }
        assert!(next == end || parts == 0);
    }
    assert_eq!(part(), 0);
}
