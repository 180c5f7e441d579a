//! What threads may never do to each other through the allocator: make an allocation fail that could
//! be served, or lose blocks by a mistake of theirs.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;
#[path = "common/memory_structure.rs"]
mod memory_structure;

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce::context::runtime;
use sconce::error::Status;
use sconce::{device, memory, stream};

const MIB: usize = 1 << 20;

/// Four threads hold one block of at most 32 MiB each, on a device of 224 MiB, and only one thread's
/// blocks wait for events: whatever is cached where, giving it back is always enough. Requests
/// differ, so that caches seldom fit and the driver seldom has anything left.
#[test]
fn threads_at_the_limit_never_run_out_without_need() {
    common::in_child(
        "threads_at_the_limit_never_run_out_without_need",
        &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off"), ("SCONCE_SIM_MEMORY", "224M")],
        || {
            let free_at_start = device::memory_info(0).unwrap().free_bytes;
            let runtime = runtime().unwrap();
            sconce::sim::set_latency_ns(50_000).unwrap();
            let shared = stream::from_pool(0, 0).unwrap();
            std::thread::scope(|scope| {
                for thread in 0..4 {
                    let own = [(); 3].map(|()| stream::from_pool(0, 0).unwrap());
                    scope.spawn(move || {
                        for round in 0..100_usize {
                            let bytes = (10 + (round * 7 + thread * 5) % 22) * MIB;
                            let block = memory::alloc_on(bytes, own[round % 3])
                                .unwrap_or_else(|error| panic!("round {round}: {error}"));
                            if thread == 0 && round % 4 == 0 {
                                memory::record_stream(block, shared).unwrap();
                                stream::sleep(runtime, shared, 100_000).unwrap();
                            }
                            std::thread::yield_now();
                            memory::free(block).unwrap();
                        }
                    });
                }
            });
            device::synchronize(0).unwrap();
            let stats = memory::stats(0).unwrap();
            assert_eq!(stats.num_ooms, 0);
            assert!(stats.num_alloc_retries > 20, "the limit was hardly met: {stats:?}");
            memory_structure::assert_all_given_back(&[free_at_start]);
        },
    );
}

/// Two threads free one block at the same time, and go on allocating. That is a mistake, but one
/// that may only hurt those two: at least one free succeeds, and no other block is lost.
#[test]
fn a_block_that_two_threads_free_at_once_is_freed_and_nothing_else_is() {
    common::in_child(
        "a_block_that_two_threads_free_at_once_is_freed_and_nothing_else_is",
        &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")],
        || {
            let free_at_start = device::memory_info(0).unwrap().free_bytes;
            let own = stream::from_pool(0, 0).unwrap();
            let shared = AtomicUsize::new(0);
            let (both, freed) = (Barrier::new(2), AtomicUsize::new(0));
            let rounds = 5000;
            let free = |address: usize| match memory::free(address) {
                Ok(()) => {
                    freed.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => assert_eq!(error.status(), Status::InvalidArgument, "{error}"),
            };
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        both.wait();
                        free(shared.load(Ordering::Relaxed));
                        both.wait();
                    }
                });
                let mut twice = 0;
                for round in 0..rounds {
                    let others: Vec<usize> =
                        (0..3).map(|_| memory::alloc_on(2000, own).unwrap()).collect();
                    shared.store(memory::alloc_on(2000, own).unwrap(), Ordering::Relaxed);
                    both.wait();
                    for _ in 0..round % 50 {
                        std::hint::spin_loop();
                    }
                    free(shared.load(Ordering::Relaxed));
                    both.wait();
                    let frees = freed.swap(0, Ordering::Relaxed);
                    assert!(frees >= 1, "round {round}: nobody freed it");
                    twice += frees - 1;
                    for block in others {
                        memory::free(block).unwrap();
                    }
                }
                println!("{twice} of {rounds} were told twice that they freed it");
            });
            assert_eq!(memory::stats(0).unwrap().allocation.all.current, 0);
            memory_structure::assert_all_given_back(&[free_at_start]);
        },
    );
}
