//! Threads that allocate, free, copy, empty caches and take snapshots while others put pools to sleep and wake them; and
//! the end of a process with memory that sleeps.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use sconce_base::error::Status;
use sconce_runtime::memory::{self, pool};
use sconce_runtime::sleep::{self, SleepPlace, WakeMode};
use testkit::fork::forked;
use testkit::memory::structure;
use testkit::threads::{self, asked_seconds};

use super::{
    MIB, alloc, folder, free_bytes, holds, inside, places, pool_stream, state, with_pages,
};
use crate::queued::{fill, read};

/// Rounds of a thread that puts memory to sleep: 40, or a dozen and more for as long as is asked.
fn rounds() -> impl Iterator<Item = usize> {
    let (start, asked) = (Instant::now(), asked_seconds());
    (0..).take_while(move |round| match asked {
        None => *round < 40,
        Some(seconds) => *round < 12 || start.elapsed().as_secs_f64() < seconds,
    })
}

#[test]
fn other_threads_go_on_while_pools_sleep_and_wake() {
    with_pages("other_threads_go_on_while_pools_sleep_and_wake", "1G", || {
        let free_at_start = free_bytes();
        let over = AtomicBool::new(false);
        let [refusals, served] = [const { AtomicUsize::new(0) }; 2];
        let shared = pool::create().unwrap();
        threads::scope(|scope| {
            // Allocate from the pool that sleeps, and from the default pool.
            for seed in 0..2_usize {
                let (over, refusals, served) = (&over, &refusals, &served);
                scope.spawn(move || {
                    let own = pool_stream();
                    let mut held: Vec<usize> = Vec::new();
                    let mut step = seed;
                    while !over.load(Ordering::Relaxed) {
                        step += 1;
                        let bytes = (1 + step % 5) * MIB;
                        match inside(shared, || memory::alloc_on(bytes, own)) {
                            Ok(address) => {
                                held.push(address);
                                served.fetch_add(1, Ordering::Relaxed);
                            }
                            Err(error) => {
                                assert_eq!(error.status(), Status::InvalidState, "{error}");
                                refusals.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                        let outside = alloc(2 * MIB, own);
                        fill(outside, step as u8, 512, own);
                        assert!(holds(&read(outside, 512, own), step as u8));
                        memory::free(outside).unwrap();
                        // Also while the pool sleeps, falls asleep or wakes.
                        if held.len() > 4 {
                            memory::free(held.swap_remove(step % held.len())).unwrap();
                        }
                    }
                    held.into_iter().for_each(|block| memory::free(block).unwrap());
                });
            }
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    memory::empty_cache().unwrap();
                    pool::trim(shared).unwrap();
                    memory::snapshot().unwrap();
                    let _ = state(Some(shared));
                    std::thread::yield_now();
                }
            });
            // What sleeps keeps its bytes.
            let own = pool_stream();
            let kept = inside(shared, || alloc(7 * MIB, own));
            for round in rounds() {
                fill(kept, round as u8, 7 * MIB, own);
                let place = &places()[round % 3];
                sleep::sleep(Some(shared), 0, place).unwrap();
                if round % 4 == 0 {
                    std::thread::yield_now();
                }
                sleep::wake(Some(shared), 0, WakeMode::Restore).unwrap();
                let data = read(kept, 7 * MIB, own);
                assert!(holds(&data, round as u8), "round {round}");
            }
            over.store(true, Ordering::Relaxed);
            memory::free(kept).unwrap();
        });
        assert!(refusals.load(Ordering::Relaxed) > 0 && served.load(Ordering::Relaxed) > 0);
        pool::destroy(shared).unwrap();
        structure::assert_all_given_back(&[free_at_start]);
    });
}

#[test]
fn several_threads_put_one_pool_to_sleep_and_wake_it() {
    with_pages("several_threads_put_one_pool_to_sleep_and_wake_it", "512M", || {
        let own = pool_stream();
        let block = alloc(9 * MIB, own);
        fill(block, 77, 9 * MIB, own);
        threads::scope(|scope| {
            for seed in 0..3_usize {
                scope.spawn(move || {
                    for round in rounds() {
                        let outcome = match (seed + round) % 2 {
                            0 => sleep::sleep(None, 0, &places()[round % 3]),
                            _ => sleep::wake(None, 0, WakeMode::Restore),
                        };
                        if let Err(error) = outcome {
                            assert_eq!(error.status(), Status::InvalidState, "{error}");
                        }
                    }
                });
            }
        });
        sleep::wake_device(0, WakeMode::Restore).unwrap();
        assert!(holds(&read(block, 9 * MIB, own), 77));
        memory::free(block).unwrap();
        structure::assert_sound();
    });
}

#[test]
fn a_process_ends_with_memory_asleep_and_leaves_no_file() {
    with_pages("a_process_ends_with_memory_asleep_and_leaves_no_file", "512M", || {
        let home = folder().join(format!("sconce-sleep-test-{}", std::process::id()));
        std::fs::create_dir(&home).unwrap();
        for place in
            [SleepPlace::HostPinned, SleepPlace::HostPageable, SleepPlace::File(home.clone())]
        {
            // `exit` runs what is registered for it.
            let code = forked(libc::exit, || {
                let own = pool_stream();
                let block = alloc(9 * MIB, own);
                fill(block, 1, 9 * MIB, own);
                sleep::sleep(None, 0, &place).map_or(7, |()| 0)
            });
            assert_eq!(code, 0, "{place:?}");
            assert_eq!(std::fs::read_dir(&home).unwrap().count(), 0, "{place:?}");
        }
        std::fs::remove_dir(&home).unwrap();
    });
}

#[test]
fn folders_that_cannot_be_used_are_named_and_the_pool_stays_awake() {
    with_pages("folders_that_cannot_be_used_are_named_and_the_pool_stays_awake", "512M", || {
        let own = pool_stream();
        let block = alloc(3 * MIB, own);
        fill(block, 1, 3 * MIB, own);
        for path in ["/nowhere/at/all", "/proc/self/status", "/proc", "", "\0"] {
            let error = sleep::sleep(None, 0, &SleepPlace::File(path.into())).unwrap_err();
            assert_eq!(error.status(), Status::Io, "{error}");
            assert!(error.message().starts_with("path: no file could be made in"), "{error}");
            assert!(error.message().contains(path), "{error}");
            assert_eq!(state(None), None);
        }
        assert!(holds(&read(block, 3 * MIB, own), 1));
        memory::free(block).unwrap();
        structure::assert_sound();
    });
}

#[test]
fn threads_that_put_a_device_to_sleep_or_wake_it_at_once_all_succeed() {
    let test = "threads_that_put_a_device_to_sleep_or_wake_it_at_once_all_succeed";
    with_pages(test, "1G", || {
        let own = pool_stream();
        let pools: Vec<_> = (0..8).map(|_| pool::create().unwrap()).collect();
        for pool in &pools {
            inside(*pool, || alloc(2 * MIB, own));
        }
        let place = SleepPlace::HostPinned;
        for _ in rounds() {
            let all = |each: &(dyn Fn() -> sconce_base::error::Result<()> + Sync)| {
                let start = std::sync::Barrier::new(2);
                std::thread::scope(|scope| {
                    let run = || {
                        start.wait();
                        each()
                    };
                    let other = scope.spawn(run);
                    run().unwrap();
                    other.join().unwrap().unwrap();
                });
            };
            all(&|| sleep::sleep_device(0, &place));
            assert!(pools.iter().all(|pool| state(Some(*pool)).is_some()));
            all(&|| sleep::wake_device(0, WakeMode::Restore));
            assert!(pools.iter().all(|pool| state(Some(*pool)).is_none()));
        }
    });
}
