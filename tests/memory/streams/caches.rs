//! The caches of streams from outside: a program that makes streams without end does not grow for ever,
//! and no block ever becomes another stream's while a call uses it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Instant;
use testkit::memory::structure;
use testkit::threads::seconds;

use sconce_base::types::DeviceIndex;
use sconce_driver::{StreamFlags, StreamHandle};
use sconce_runtime::memory::{self, check};

const THREADS: usize = 4;

fn make_streams(count: usize) -> Vec<StreamHandle> {
    let runtime = sconce_runtime::context::runtime().unwrap();
    let flags = StreamFlags { non_blocking: true };
    let make = || runtime.driver().stream_create(DeviceIndex::ZERO, flags, 0).unwrap();
    (0..count).map(|_| make()).collect()
}

fn caches() -> usize {
    check::cache_count(DeviceIndex::ZERO)
}

/// The driver's handle of the stream whose segment holds an address.
fn stream_of(address: usize) -> usize {
    let snapshot = memory::snapshot().unwrap();
    let holds = |start: u64, bytes: u64| (address as u64).wrapping_sub(start) < bytes;
    let found = snapshot.segments.iter().find(|segment| holds(segment.address, segment.bytes));
    found.unwrap().stream as usize
}

const ENVIRONMENT: [(&str, &str); 3] =
    [("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off"), ("SCONCE_SIM_DEVICES", "1")];

#[test]
fn caches_of_streams_that_hold_nothing_are_used_again() {
    let test = "caches_of_streams_that_hold_nothing_are_used_again";
    testkit::in_child(test, &ENVIRONMENT, || {
        // What is in use stays where it is.
        let own = memory::alloc(1000).unwrap();
        let streams = make_streams(10);
        let held: Vec<usize> =
            streams.iter().map(|on| memory::alloc_native(1000, 0, *on).unwrap()).collect();
        let before = caches();
        assert_eq!(before, 11);
        for round in 0..40 {
            for on in make_streams(20) {
                let block = memory::alloc_native(1000, 0, on).unwrap();
                assert_eq!(stream_of(block), on.native(), "round {round}");
                memory::free(block).unwrap();
            }
            memory::empty_cache().unwrap();
        }
        assert!(caches() <= before + 20, "{before} caches became {}", caches());
        for (on, block) in streams.iter().zip(held) {
            assert_eq!(stream_of(block), on.native());
            memory::free(block).unwrap();
            // The stream's cached block, not one of the streams that came since.
            assert_eq!(memory::alloc_native(1000, 0, *on).unwrap(), block);
            memory::free(block).unwrap();
        }
        // The cache of the default stream has been empty, too, and is found without the table.
        memory::free(own).unwrap();
        memory::empty_cache().unwrap();
        for on in make_streams(50) {
            memory::free(memory::alloc_native(1000, 0, on).unwrap()).unwrap();
        }
        assert_eq!(stream_of(memory::alloc(1000).unwrap()), 0);
        structure::assert_sound();
    });
}

#[test]
fn blocks_stay_their_streams_while_threads_come_with_new_streams_and_empty_the_cache() {
    let test = "blocks_stay_their_streams_while_threads_come_with_new_streams_and_empty_the_cache";
    testkit::in_child(test, &ENVIRONMENT, || {
        let deadline = Instant::now() + seconds(1.0);
        std::thread::scope(|scope| {
            for number in 0..THREADS {
                scope.spawn(move || {
                    let mut rounds = 0;
                    while Instant::now() < deadline {
                        for on in make_streams(3) {
                            let bytes = if rounds % 2 == 0 { 1000 } else { 12 << 20 };
                            let block = memory::alloc_native(bytes, 0, on).unwrap();
                            assert_eq!(stream_of(block), on.native());
                            memory::free(block).unwrap();
                        }
                        rounds += 1;
                        if (rounds + number) % 3 == 0 {
                            memory::empty_cache().unwrap();
                        }
                    }
                });
            }
        });
        assert!(caches() < 200, "{} caches", caches());
        memory::empty_cache().unwrap();
        structure::assert_sound();
    });
}
