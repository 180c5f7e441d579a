//! What an allocation that finds a free block may never do: call the driver.
//!
//! The simulator counts every call of the driver. After a warm-up, no number of allocations and
//! frees of sizes that the cache has makes one, whatever their order, stream and thread.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use sconce::sconce_status::*;
use sconce::*;
use sconce_sim::Call;
use std::ffi::{CString, c_void};
use testkit::{in_child, last_message};

const PAIRS: usize = 100_000;
/// The check of the device asks the driver for the thread's context each time.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("SCONCE_BACKEND", "sim"),
    ("SCONCE_LOG", "off"),
    ("SCONCE_SIM_MEMORY", "8G"),
    ("SCONCE_CHECK_DEVICE", "0"),
];

fn pool_stream() -> sconce_stream {
    let mut stream = sconce_stream { id: 0, device: 0, reserved: 0 };
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_stream_get_from_pool(0, 0, &raw mut stream) }, SCONCE_OK);
    stream
}

fn alloc_on(bytes: usize, stream: sconce_stream) -> *mut c_void {
    let mut block = std::ptr::null_mut();
    // SAFETY: a good place.
    let status = unsafe { sconce_memory_alloc_on(bytes, stream, &raw mut block) };
    assert_eq!(status, SCONCE_OK, "{}", last_message());
    assert!(!block.is_null());
    block
}

fn alloc(bytes: usize) -> *mut c_void {
    let mut block = std::ptr::null_mut();
    // SAFETY: a good place.
    let status = unsafe { sconce_memory_alloc(bytes, &raw mut block) };
    assert_eq!(status, SCONCE_OK, "{}", last_message());
    assert!(!block.is_null());
    block
}

fn free(block: *mut c_void) {
    assert_eq!(sconce_memory_free(block), SCONCE_OK, "{}", last_message());
}

/// Every driver call since the last reset, with how often it was made.
fn driver_calls() -> Vec<(&'static str, u64)> {
    let mut made = Vec::new();
    for call in Call::ALL {
        let name = CString::new(call.name()).unwrap();
        let mut count = 0;
        // SAFETY: a NUL-terminated name and a good place.
        let status = unsafe { sconce_sim_get_call_count(name.as_ptr(), &raw mut count) };
        assert_eq!(status, SCONCE_OK, "{}", last_message());
        if count != 0 {
            made.push((call.name(), count));
        }
    }
    made
}

fn reset_driver_calls() {
    assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
}

/// The next of a sequence of sizes from 1 byte to 4 MiB, each power of two as likely as the next.
fn any_size(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let power = (*state >> 33) % 22;
    (1 << power) + ((*state >> 40) as usize) % (1 << power)
}

/// Replaces the oldest of sixteen blocks by one of another size, so many times; the same sequence
/// each time, so that the second time every size is there.
fn replace_blocks(pairs: usize, mut take: impl FnMut(usize) -> *mut c_void) {
    let mut state = 7;
    let mut held = [std::ptr::null_mut(); 16];
    for i in 0..pairs {
        let place = &mut held[i % 16];
        free(*place);
        *place = take(any_size(&mut state));
    }
    for block in held {
        free(block);
    }
}

#[test]
fn blocks_of_one_size_come_and_go_without_the_driver() {
    in_child("blocks_of_one_size_come_and_go_without_the_driver", ENVIRONMENT, || {
        for bytes in [1, 512, 4096, 1 << 20, (1 << 20) + 1, 2 << 20, 32 << 20] {
            reset_driver_calls();
            free(alloc(bytes));
            let stream = pool_stream();
            free(alloc_on(bytes, stream));
            // Else the counters would prove nothing: each stream's first block came from there, unless
            // another size's segment has room for it.
            if bytes == 32 << 20 {
                let made = driver_calls();
                assert!(made.contains(&("memory_alloc", 2)), "{bytes} bytes: {made:?}");
            }
            reset_driver_calls();
            for _ in 0..PAIRS / 2 {
                free(alloc(bytes));
                free(alloc_on(bytes, stream));
            }
            assert_eq!(driver_calls(), [], "{bytes} bytes");
        }
    });
}

#[test]
fn blocks_of_any_size_come_and_go_without_the_driver() {
    in_child("blocks_of_any_size_come_and_go_without_the_driver", ENVIRONMENT, || {
        let stream = pool_stream();
        reset_driver_calls();
        replace_blocks(PAIRS, |bytes| alloc_on(bytes, stream));
        assert!(!driver_calls().is_empty(), "the warm-up must have got memory");
        reset_driver_calls();
        replace_blocks(PAIRS, |bytes| alloc_on(bytes, stream));
        assert_eq!(driver_calls(), []);
    });
}

#[test]
fn reading_the_figures_asks_the_driver_nothing() {
    in_child("reading_the_figures_asks_the_driver_nothing", ENVIRONMENT, || {
        let block = alloc(1 << 20);
        reset_driver_calls();
        let mut usable = 0;
        let mut allocated = 0;
        for _ in 0..1000 {
            // SAFETY: good places.
            let status = unsafe { sconce_memory_get_usable_bytes(block, &raw mut usable) };
            assert_eq!((status, usable), (SCONCE_OK, 1 << 20));
            // SAFETY: a good place.
            let status = unsafe { sconce_memory_get_allocated(0, &raw mut allocated) };
            assert_eq!((status, allocated), (SCONCE_OK, 1 << 20));
        }
        assert_eq!(driver_calls(), []);
        free(block);
    });
}

#[test]
fn threads_with_streams_of_their_own_and_blocks_handed_over_need_no_driver() {
    in_child(
        "threads_with_streams_of_their_own_and_blocks_handed_over_need_no_driver",
        ENVIRONMENT,
        || {
            let streams: Vec<sconce_stream> = (0..4).map(|_| pool_stream()).collect();
            let round = |pairs: usize| {
                std::thread::scope(|scope| {
                    for &stream in &streams {
                        scope.spawn(move || replace_blocks(pairs, |bytes| alloc_on(bytes, stream)));
                    }
                });
            };
            // Freed by another thread than the one that allocated. No more than 64 are on their way,
            // else the warm-up would have to meet the worst case.
            let hand_over = |blocks: usize| {
                let (send, receive) = std::sync::mpsc::sync_channel::<usize>(64);
                std::thread::scope(|scope| {
                    scope.spawn(move || {
                        for block in receive {
                            free(std::ptr::with_exposed_provenance_mut(block));
                        }
                    });
                    for _ in 0..blocks {
                        send.send(alloc_on(4096, streams[0]).expose_provenance()).unwrap();
                    }
                    drop(send);
                });
            };
            let warm_up = || {
                // All that can be on its way at once: in the channel, and in both hands.
                let blocks: Vec<_> = (0..66).map(|_| alloc_on(4096, streams[0])).collect();
                blocks.into_iter().for_each(free);
                round(PAIRS / 4);
                hand_over(100);
            };
            warm_up();
            reset_driver_calls();
            round(PAIRS / 4);
            hand_over(PAIRS / 4);
            assert_eq!(driver_calls(), []);
        },
    );
}

#[test]
fn threads_with_streams_of_their_own_never_wait_for_each_other() {
    in_child("threads_with_streams_of_their_own_never_wait_for_each_other", ENVIRONMENT, || {
        let streams: Vec<sconce_stream> = (0..4).map(|_| pool_stream()).collect();
        let round = || {
            std::thread::scope(|scope| {
                for &stream in &streams {
                    scope.spawn(move || {
                        replace_blocks(PAIRS / 4, |bytes| alloc_on(bytes, stream));
                    });
                }
            });
        };
        let begin = sconce_runtime::memory::contention();
        // Each thread's blocks are at their most in each round: when they were, nothing is asked
        // of the device any more.
        for _ in 0..3 {
            round();
        }
        let warm = sconce_runtime::memory::contention();
        assert!(warm.refills > begin.refills, "the first rounds must have been counted");
        round();
        let after = sconce_runtime::memory::contention();
        let (asked, waits) = (after.refills - warm.refills, after.waits - warm.waits);
        // Of 100,000 pairs. How far the threads' highest moments coincide differs each round; who
        // asks for quota looks into the other caches, and their threads may meet it there.
        assert!(asked <= 500, "{asked} refills of quotas");
        assert!(waits <= asked, "{waits} waits");

        // That the counter counts: eight threads in one cache do meet.
        std::thread::scope(|scope| {
            for _ in 0..8 {
                let stream = streams[0];
                scope.spawn(move || replace_blocks(PAIRS, |bytes| alloc_on(bytes, stream)));
            }
        });
        assert!(sconce_runtime::memory::contention().waits > after.waits);
    });
}
