//! What plans cost while others take memory of the same device.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::libraries::fft::{fresh, rows, run, stats};
use testkit::libraries::repeats::Block;
use testkit::places::{Kind, Place, alone};

/// Primes, whose plans have large tables and workspaces.
const SIZES: [i64; 8] = [997, 1009, 1013, 1019, 1021, 1031, 1033, 1039];
/// The smallest block that is a segment of its own.
const SEGMENT: usize = 10 << 20;

/// Makes the plans of some sizes.
fn make(sizes: &[i64], memory: &Place) {
    for n in sizes {
        assert_eq!(
            run(&rows(*n, 1), memory.start(), memory.start()),
            SCONCE_OK,
            "{}",
            last_message()
        );
    }
}

/// What the plans of all sizes cost for themselves, made by `work`.
fn cost_of(work: impl FnOnce(&[Place])) -> u64 {
    let memory: Vec<Place> = SIZES.iter().map(|_| Place::new(Kind::Device(0), 1 << 14)).collect();
    fresh(0);
    work(&memory);
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    let stats = stats(0);
    assert_eq!(stats.size, SIZES.len() as u64);
    fresh(0);
    stats.plan_bytes
}

fn alone_cost() -> u64 {
    let cost = cost_of(|memory| make(&SIZES, &memory[0]));
    assert!(cost >= SIZES.len() as u64 * (64 << 10), "{cost}");
    cost
}

/// Ends the other thread's loop, also when the test fails.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn what_the_allocator_gets_meanwhile_is_not_the_plans() {
    const MOST_BLOCKS: usize = 200;
    let _alone = alone();
    let expected = alone_cost();
    for _ in 0..20 {
        let cost = cost_of(|memory| {
            let (done, taken) = (AtomicBool::new(false), AtomicUsize::new(0));
            std::thread::scope(|scope| {
                let _done = Done(&done);
                let other = scope.spawn(|| {
                    let mut blocks = Vec::new();
                    while !done.load(Ordering::Relaxed) {
                        if blocks.len() < MOST_BLOCKS {
                            blocks.push(Block::new(SEGMENT));
                            taken.store(blocks.len(), Ordering::Relaxed);
                        } else {
                            std::thread::yield_now();
                        }
                    }
                });
                for n in SIZES {
                    // The other thread gets a segment before each plan, and goes on while it is made.
                    let before = taken.load(Ordering::Relaxed);
                    while taken.load(Ordering::Relaxed) == before
                        && before < MOST_BLOCKS
                        && !other.is_finished()
                    {
                        std::thread::yield_now();
                    }
                    make(&[n], &memory[0]);
                }
                assert!(taken.load(Ordering::Relaxed) >= SIZES.len());
            });
        });
        assert_eq!(cost, expected);
        assert_eq!(sconce_memory_empty_cache(), SCONCE_OK);
    }
}

#[test]
fn of_plans_that_are_made_at_once_each_byte_counts_once() {
    let _alone = alone();
    let expected = alone_cost();
    for _ in 0..20 {
        let cost = cost_of(|memory| {
            let start = Barrier::new(SIZES.len());
            std::thread::scope(|scope| {
                for (n, memory) in SIZES.iter().zip(memory) {
                    let start = &start;
                    scope.spawn(move || {
                        start.wait();
                        make(&[*n], memory);
                    });
                }
            });
        });
        assert_eq!(cost, expected);
    }
}
