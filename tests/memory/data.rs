//! What programs are about: data. What is written in a block stays until the block's free is ordered
//! after it, on its own stream and on every stream that `record_stream` named, while other requests
//! get the memory again as early as they may.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use sconce_compute::sleep_kernel;
use sconce_runtime::context::runtime;
use sconce_runtime::event;
use sconce_runtime::memory;
use sconce_runtime::stream::Stream;
use testkit::memory::structure;

use crate::queued::{copy, fill, pool_stream, read};

/// A block's bytes taken to a place of its own before it is freed.
struct Taken {
    sink: usize,
    bytes: usize,
    value: u8,
    on: Stream,
}

impl Taken {
    #[track_caller]
    fn check(self) {
        let data = read(self.sink, self.bytes, self.on);
        let wrong = data.iter().position(|byte| *byte != self.value);
        assert_eq!(wrong, None, "byte is {:#x}, not {:#x}", data[wrong.unwrap()], self.value);
        memory::free(self.sink).unwrap();
    }
}

const SIZES: [usize; 6] = [512, 700, 4096, 60_000, 512, 1 << 20];

/// One user: blocks are filled on `own`, read on `own` or, late, on `other`, and freed at once.
fn use_blocks(own: Stream, other: Stream, rounds: usize, mark: u8) -> Vec<Taken> {
    let mut taken = Vec::new();
    let runtime = runtime().unwrap();
    for round in 0..rounds {
        let bytes = SIZES[round % SIZES.len()];
        let value = mark.wrapping_add(round as u8).wrapping_mul(7);
        let block = memory::alloc_on(bytes, own).unwrap();
        fill(block, value, bytes, own);
        let on = if round % 3 == 0 { other } else { own };
        let sink = memory::alloc_on(bytes, on).unwrap();
        if on == other {
            // The use is named before it is queued, and is queued behind something slow.
            memory::record_stream(block, other).unwrap();
            event::wait_stream(runtime, other, own).unwrap();
            sleep_kernel::sleep(runtime, other, 300_000).unwrap();
        }
        copy(sink, block, bytes, on);
        memory::free(block).unwrap();
        taken.push(Taken { sink, bytes, value, on });
    }
    taken
}

#[test]
fn data_lives_until_its_free_is_ordered() {
    testkit::in_child(
        "data_lives_until_its_free_is_ordered",
        &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")],
        || {
            let free_at_start = sconce_runtime::device::memory_info(0).unwrap().free_bytes;
            sconce::sim_controls::set_latency_ns(20_000).unwrap();
            std::thread::scope(|scope| {
                for number in 0..4_u8 {
                    scope.spawn(move || {
                        for taken in use_blocks(pool_stream(), pool_stream(), 60, number * 50) {
                            taken.check();
                        }
                    });
                }
            });
            sconce_runtime::device::synchronize(0).unwrap();
            // Few segments: blocks were used again, or nothing was put to the test.
            let reserved = memory::stats(0).unwrap().reserved_bytes.all.peak;
            let asked = memory::stats(0).unwrap().requested_bytes.all.allocated;
            assert!(reserved < asked, "{reserved} bytes reserved for {asked}");
            structure::assert_all_given_back(&[free_at_start]);
        },
    );
}

/// In manual mode: nothing completes before the test says so.
#[test]
fn a_block_in_use_elsewhere_is_not_handed_out_before_the_event_of_its_free() {
    testkit::in_child(
        "a_block_in_use_elsewhere_is_not_handed_out_before_the_event_of_its_free",
        &[("SCONCE_BACKEND", "sim")],
        || {
            sconce::sim_controls::set_manual(true).unwrap();
            let runtime = runtime().unwrap();
            let (own, other, third) = (pool_stream(), pool_stream(), pool_stream());
            let active = || memory::stats(0).unwrap().active.all.current;
            let alloc = || memory::alloc_on(3 << 20, own).unwrap();
            let block = alloc();
            memory::record_stream(block, other).unwrap();
            memory::record_stream(block, third).unwrap();
            // Its own stream and NULL are no reason to wait.
            memory::record_stream(block, own).unwrap();
            memory::record_stream(0, other).unwrap();
            // Queued after the call that names the stream, before the free: must be waited for too.
            sleep_kernel::sleep(runtime, other, 1000).unwrap();
            memory::free(block).unwrap();
            // Queued after the free: not waited for.
            sleep_kernel::sleep(runtime, other, 1000).unwrap();
            assert_eq!(sconce::sim_controls::pending(runtime, own).unwrap(), 0);
            let pending = sconce::sim_controls::pending(runtime, other).unwrap();
            assert_eq!((pending, sconce::sim_controls::pending(runtime, third).unwrap()), (3, 1));
            let mut others = vec![alloc()];
            assert!(sconce::sim_controls::step(runtime, other).unwrap());
            others.push(alloc());
            assert!(sconce::sim_controls::step(runtime, other).unwrap());
            others.push(alloc());
            assert!(!others.contains(&block), "handed out before the third stream's event");
            assert_eq!(active(), 4, "three held, one waiting");
            assert!(sconce::sim_controls::step(runtime, third).unwrap());
            assert_eq!(alloc(), block, "free, and the lowest of the first segment");
            assert_eq!(sconce::sim_controls::pending(runtime, other).unwrap(), 1);
            assert_eq!(active(), 4);
            others.push(block);
            // A new life begins without the old one's streams.
            for block in others {
                memory::free(block).unwrap();
            }
            assert_eq!(active(), 0);
            sconce::sim_controls::run_until_idle().unwrap();
            structure::assert_sound();
        },
    );
}

/// Neighbours of a block that waits do not take it in.
#[test]
fn a_waiting_block_is_not_merged() {
    testkit::in_child("a_waiting_block_is_not_merged", &[("SCONCE_BACKEND", "sim")], || {
        sconce::sim_controls::set_manual(true).unwrap();
        let runtime = runtime().unwrap();
        let (own, other) = (pool_stream(), pool_stream());
        let blocks: Vec<usize> =
            (0..4).map(|_| memory::alloc_on(512 << 10, own).unwrap()).collect();
        memory::record_stream(blocks[1], other).unwrap();
        memory::free(blocks[1]).unwrap();
        memory::free(blocks[0]).unwrap();
        memory::free(blocks[2]).unwrap();
        memory::free(blocks[3]).unwrap();
        structure::assert_sound();
        let inactive = || memory::stats(0).unwrap().inactive_split.all.current;
        assert_eq!(inactive(), 2);
        assert!(sconce::sim_controls::step(runtime, other).unwrap());
        // Any allocation looks; this one is served from elsewhere.
        let elsewhere = memory::alloc_on(512, other).unwrap();
        assert_eq!(inactive(), 1, "only what is left of the other stream's segment");
        assert_eq!(memory::alloc_on(1 << 20, own).unwrap(), blocks[0], "one piece again");
        memory::free(blocks[0]).unwrap();
        memory::free(elsewhere).unwrap();
        structure::assert_sound();
    });
}
