//! An allocation is refused only if at some moment of the call live memory and its segment did not fit.
//!
//! Threads take and free blocks such that live blocks and requests never exceed the device (or the
//! limit): not one request may be refused, whatever other streams cache, whoever frees, and however
//! long the driver takes. `SCONCE_TEST_SECONDS` lets each test run longer.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "reaches into the fake driver")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Instant;
use testkit::memory::structure;
use testkit::threads::{Xorshift, seconds};

use sconce_compute::sleep_kernel;
use sconce_runtime::context::runtime;
use sconce_runtime::stream::{self, Stream};
use sconce_runtime::{device, memory};
use testkit::drivers::{self, Driver};

const MIB: usize = 1 << 20;

/// The threads go on until they have made so many allocations, however slow the machine is.
const LEAST: usize = 400;

/// The device's memory.
const DEVICE_MIB: usize = 480;

/// What the threads do.
#[derive(Clone, Copy)]
struct Case {
    driver: Driver,
    threads: usize,
    /// The share of the device that the limit allows, in per cent.
    percent: usize,
    /// Every block has this size; `None`: any size up to an equal share for each thread.
    block_mib: Option<usize>,
    /// Blocks are left to whichever thread comes next, instead of being freed by their own.
    others_free: bool,
    /// Another stream uses each block at its free, and is busy.
    used_elsewhere: bool,
}

const PLAIN: Case = Case {
    driver: Driver::Simulator,
    threads: 4,
    percent: 100,
    block_mib: None,
    others_free: false,
    used_elsewhere: false,
};

/// The threads' common state.
struct Stage {
    case: Case,
    /// MiB that no live block and no request has; counted where all blocks have one size.
    spare: AtomicI64,
    /// Blocks to be freed by any thread: address and MiB.
    left: Mutex<Vec<(usize, usize)>>,
    count: AtomicUsize,
}

impl Stage {
    fn free(&self, (address, mib): (usize, usize), random: &mut Xorshift) {
        if self.case.used_elsewhere {
            let other = stream::from_pool(0, 0).unwrap();
            if random.below(2) == 0 {
                sleep_kernel::sleep(runtime().unwrap(), other, 50_000).unwrap();
            }
            memory::record_stream(address, other).unwrap();
        }
        memory::free(address).unwrap();
        self.spare.fetch_add(mib as i64, Ordering::Relaxed);
    }

    /// Takes so much of what is spare, if there is enough.
    fn reserve(&self, mib: usize) -> bool {
        let mib = mib as i64;
        let before = self.spare.fetch_sub(mib, Ordering::Relaxed);
        if before < mib {
            self.spare.fetch_add(mib, Ordering::Relaxed);
        }
        before >= mib
    }

    /// Sizes are even and at least 10 MiB: each has a segment of its own, without a rest.
    fn mib(&self, share: usize, random: &mut Xorshift) -> usize {
        self.case.block_mib.unwrap_or_else(|| 10 + 2 * random.below((share - 10) / 2 + 1))
    }

    fn work(&self, number: usize, share: usize, streams: &[Stream], deadline: Instant) {
        let mut random = Xorshift(number as u64 * 7919 + 1);
        let mut held = Vec::new();
        while Instant::now() < deadline || self.count.load(Ordering::Relaxed) < LEAST {
            let mib = self.mib(share, &mut random);
            // A block may lie in a larger segment: with sizes that differ, each thread has one share.
            if self.case.block_mib.is_some() && !self.reserve(mib) {
                if !self.free_one(&mut held, &mut random) {
                    std::thread::yield_now();
                }
                continue;
            }
            let on = streams[random.below(streams.len())];
            let address = memory::alloc_on(mib * MIB, on).unwrap_or_else(|error| {
                panic!("{mib} MiB, and each thread may have {share}: {error}")
            });
            self.count.fetch_add(1, Ordering::Relaxed);
            if self.case.others_free {
                self.left.lock().unwrap().push((address, mib));
            } else {
                held.push((address, mib));
            }
            if self.case.block_mib.is_none() || random.below(4) == 0 {
                self.free_one(&mut held, &mut random);
            }
        }
        while self.free_one(&mut held, &mut random) {}
    }

    /// Frees one of the thread's own blocks, or one that was left to any thread.
    fn free_one(&self, held: &mut Vec<(usize, usize)>, random: &mut Xorshift) -> bool {
        let own =
            random.below(1 << 20).checked_rem(held.len()).map(|place| held.swap_remove(place));
        let block = own.or_else(|| self.left.lock().unwrap().pop());
        block.map(|block| self.free(block, random)).is_some()
    }
}

#[track_caller]
fn check(test: &str, case: Case) {
    drivers::in_child(test, case.driver, DEVICE_MIB, &[], || {
        if case.driver == Driver::Simulator {
            sconce::sim_controls::set_latency_ns(1000).unwrap();
        }
        let free_at_start = device::memory_info(0).unwrap().free_bytes;
        memory::set_fraction(case.percent as f64 / 100.0, 0).unwrap();
        let budget = DEVICE_MIB * case.percent / 100;
        // Blocks that wait for another thread to free them are one more for each thread.
        let holders = case.threads * (1 + usize::from(case.others_free));
        let share = budget / holders / 2 * 2;
        // A block that does not fill the budget would leave a rest that no request may have.
        let whole = case.block_mib.map_or(budget, |mib| budget / mib * mib);
        let stage = Stage {
            case,
            spare: AtomicI64::new(whole as i64),
            left: Mutex::default(),
            count: AtomicUsize::new(0),
        };
        let streams: Vec<Stream> = (0..16).map(|_| stream::from_pool(0, 0).unwrap()).collect();
        let deadline = Instant::now() + seconds(0.8);
        std::thread::scope(|scope| {
            for number in 0..case.threads {
                let (stage, streams) = (&stage, &streams);
                scope.spawn(move || stage.work(number, share, streams, deadline));
            }
        });
        let stats = memory::stats(0).unwrap();
        assert_eq!(stats.num_ooms, 0);
        let count = stage.count.into_inner();
        assert!(stats.num_alloc_retries > 0, "memory never ran short");
        structure::assert_sound();
        structure::assert_all_given_back(&[free_at_start]);
        println!("{count} allocations, {} retries", stats.num_alloc_retries);
    });
}

#[test]
fn blocks_cached_by_other_streams_are_given_back() {
    check("blocks_cached_by_other_streams_are_given_back", PLAIN);
}

#[test]
fn eight_threads_fill_the_device_to_the_last_block() {
    let case = Case { threads: 8, block_mib: Some(20), ..PLAIN };
    check("eight_threads_fill_the_device_to_the_last_block", case);
}

#[test]
fn blocks_that_other_threads_free_count_at_once() {
    let case = Case { block_mib: Some(30), others_free: true, ..PLAIN };
    check("blocks_that_other_threads_free_count_at_once", case);
}

#[test]
fn blocks_that_wait_for_other_streams_are_waited_for() {
    let case = Case { used_elsewhere: true, ..PLAIN };
    check("blocks_that_wait_for_other_streams_are_waited_for", case);
}

#[test]
fn blocks_that_other_threads_free_while_streams_use_them_are_waited_for() {
    let case =
        Case { threads: 6, block_mib: Some(24), others_free: true, used_elsewhere: true, ..PLAIN };
    check("blocks_that_other_threads_free_while_streams_use_them_are_waited_for", case);
}

#[test]
fn a_limit_counts_only_what_is_live() {
    check("a_limit_counts_only_what_is_live", Case { percent: 75, threads: 3, ..PLAIN });
}

#[test]
fn a_limit_is_filled_to_the_last_block_by_threads_that_free_for_each_other() {
    let case = Case { percent: 50, block_mib: Some(16), others_free: true, ..PLAIN };
    check("a_limit_is_filled_to_the_last_block_by_threads_that_free_for_each_other", case);
}

#[test]
fn the_same_on_a_driver_that_reuses_addresses_at_once() {
    let driver = Driver::Fake { delay_us: 0 };
    let case = Case { driver, block_mib: Some(20), others_free: true, ..PLAIN };
    check("the_same_on_a_driver_that_reuses_addresses_at_once", case);
}

#[test]
fn the_same_on_a_slow_driver() {
    let driver = Driver::Fake { delay_us: 100 };
    check("the_same_on_a_slow_driver", Case { driver, threads: 8, percent: 75, ..PLAIN });
}
