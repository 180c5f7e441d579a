//! What threads may never do to each other through the allocator: make an allocation fail that could
//! be served, or lose blocks by a mistake of theirs.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use testkit::memory::structure;
use testkit::threads;

use sconce_base::error::Status;
use sconce_compute::sleep_kernel;
use sconce_runtime::context::runtime;
use sconce_runtime::{device, memory, stream};

const MIB: usize = 1 << 20;

/// Two blocks that fill a device of 96 MiB are free or about to be, but not given back yet; two
/// threads then want 36 MiB each on streams of their own. There is enough for both, whichever of
/// them gives memory back first, and however long the driver takes.
#[track_caller]
fn serve_two(test: &str, pending: bool) {
    let environment =
        [("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off"), ("SCONCE_SIM_MEMORY", "96M")];
    testkit::in_child(test, &environment, || {
        let free_at_start = device::memory_info(0).unwrap().free_bytes;
        let runtime = runtime().unwrap();
        let streams = [(); 3].map(|()| stream::from_pool(0, 0).unwrap());
        let busy = stream::from_pool(0, 0).unwrap();
        for round in 0..8 {
            let blocks = [(); 2].map(|()| memory::alloc_on(40 * MIB, streams[0]).unwrap());
            // The driver waits for the device before it takes memory back.
            sleep_kernel::sleep(runtime, busy, 10_000_000).unwrap();
            for block in blocks {
                if pending {
                    memory::record_stream(block, busy).unwrap();
                }
                memory::free(block).unwrap();
            }
            let both = Barrier::new(2);
            threads::scope(|scope| {
                for on in &streams[1..] {
                    let both = &both;
                    scope.spawn(move || {
                        both.wait();
                        let block = memory::alloc_on(36 * MIB, *on);
                        both.wait();
                        let block = block.unwrap_or_else(|error| panic!("round {round}: {error}"));
                        memory::free(block).unwrap();
                    });
                }
            });
            structure::assert_sound();
            memory::empty_cache().unwrap();
        }
        assert_eq!(memory::stats(0).unwrap().num_ooms, 0);
        structure::assert_all_given_back(&[free_at_start]);
    });
}

#[test]
fn two_threads_both_get_memory_that_is_cached_elsewhere() {
    serve_two("two_threads_both_get_memory_that_is_cached_elsewhere", false);
}

#[test]
fn two_threads_both_get_memory_that_waits_for_events() {
    serve_two("two_threads_both_get_memory_that_waits_for_events", true);
}

/// Two threads free one block at the same time, and go on allocating. That is a mistake, but one
/// that may only hurt those two: at least one free succeeds, and no other block is lost.
#[test]
fn a_block_that_two_threads_free_at_once_is_freed_and_nothing_else_is() {
    testkit::in_child(
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
            threads::scope(|scope| {
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
            structure::assert_all_given_back(&[free_at_start]);
        },
    );
}

/// A thread frees whatever address it last saw in another's hands, live or not, at any moment. The
/// two may take each other's memory away, but the allocator keeps its books, and loses no block.
#[test]
fn a_thread_that_frees_what_is_anothers_makes_the_allocator_lose_nothing() {
    testkit::in_child(
        "a_thread_that_frees_what_is_anothers_makes_the_allocator_lose_nothing",
        &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")],
        || {
            let free_at_start = device::memory_info(0).unwrap().free_bytes;
            let own = stream::from_pool(0, 0).unwrap();
            let seen: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];
            let done = AtomicBool::new(false);
            let stolen = AtomicUsize::new(0);
            threads::scope(|scope| {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        for place in &seen {
                            let address = place.load(Ordering::Relaxed);
                            if address != 0 && memory::free(address).is_ok() {
                                stolen.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    }
                });
                let (start, mut round) = (Instant::now(), 0_usize);
                while (round < 20_000 || stolen.load(Ordering::Relaxed) < 500)
                    && start.elapsed() < Duration::from_secs(10)
                {
                    round += 1;
                    let place = &seen[round % 4];
                    // Its own, unless the other thread was faster.
                    let before = place.load(Ordering::Relaxed);
                    if before != 0 {
                        let _ = memory::free(before);
                    }
                    let bytes = if round % 8 < 6 { 2000 } else { 3 * MIB };
                    place.store(memory::alloc_on(bytes, own).unwrap(), Ordering::Relaxed);
                }
                done.store(true, Ordering::Relaxed);
            });
            for place in &seen {
                let _ = memory::free(place.load(Ordering::Relaxed));
            }
            // A busy machine, or a sanitizer, leaves time for a few.
            assert!(stolen.into_inner() > 0, "the other thread was never in the way");
            assert_eq!(memory::stats(0).unwrap().allocation.all.current, 0, "blocks were lost");
            structure::assert_all_given_back(&[free_at_start]);
        },
    );
}
