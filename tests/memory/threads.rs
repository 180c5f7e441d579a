//! Many threads on one allocator: no address is handed out twice at a time, and every figure comes
//! out right in the end. `SCONCE_TEST_SECONDS` lets it run longer than the second or two of CI.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "reaches into the fake driver")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use testkit::memory::structure;
use testkit::threads::{self, Run, Xorshift, seconds};

use parking_lot::Mutex;
use sconce_base::error::Status;
use sconce_compute::sleep_kernel;
use sconce_runtime::context::runtime;
use sconce_runtime::memory::pool::{self, Key};
use sconce_runtime::memory::{self, Stat};
use sconce_runtime::stream::{self, Stream};
use testkit::drivers::{self, Driver};

const THREADS: usize = 8;

/// The size of a request.
fn bytes(random: &mut Xorshift) -> usize {
    match random.below(20) {
        0 => 1 + random.below(24 << 20),
        1..4 => 1 + random.below(2 << 20),
        4..8 => 1 << random.below(20),
        _ => 1 + random.below(4096),
    }
}

/// What is handed out at the moment, and how much that is.
struct Ranges {
    /// Start and end, by windows of addresses to keep the threads apart.
    windows: Vec<Mutex<BTreeMap<usize, usize>>>,
    count: AtomicI64,
    bytes: AtomicI64,
    /// The most of each that was seen.
    most_count: AtomicI64,
    most_bytes: AtomicI64,
    /// The sums of all allocations.
    all_count: AtomicI64,
    all_bytes: AtomicI64,
    /// Requests for which there was no memory.
    refused: AtomicI64,
}

/// The fewest allocations that put the allocator to the test.
const LEAST: i64 = 1000;

/// Windows are larger than any block, so that a range is in one or two.
const WINDOW: usize = 32 << 20;

impl Ranges {
    fn new() -> Ranges {
        let none = || AtomicI64::new(0);
        Ranges {
            windows: (0..64).map(|_| Mutex::default()).collect(),
            count: none(),
            bytes: none(),
            most_count: none(),
            most_bytes: none(),
            all_count: none(),
            all_bytes: none(),
            refused: none(),
        }
    }

    /// The threads have met what the test is about.
    fn are_enough(&self, may_fail: bool) -> bool {
        self.all_count.load(Ordering::Relaxed) > LEAST
            && (!may_fail || self.refused.load(Ordering::Relaxed) > 0)
    }

    fn windows(
        &self,
        start: usize,
        end: usize,
    ) -> impl Iterator<Item = &Mutex<BTreeMap<usize, usize>>> {
        (start / WINDOW..=(end - 1) / WINDOW)
            .map(|window| &self.windows[window % self.windows.len()])
    }

    /// After an allocation.
    fn add(&self, block: &Block) {
        let (start, end) = (block.address, block.address + block.bytes);
        for window in self.windows(start, end) {
            let mut window = window.lock();
            let next = window.range(start..).next();
            let before = window.range(..start).next_back();
            let free = next.is_none_or(|(&next, _)| next >= end)
                && before.is_none_or(|(_, &before_end)| before_end <= start);
            assert!(free, "{start:#x}..{end:#x} overlaps {before:x?} or {next:x?}");
            window.insert(start, end);
        }
        let requested = block.bytes as i64;
        self.all_count.fetch_add(1, Ordering::Relaxed);
        self.all_bytes.fetch_add(requested, Ordering::Relaxed);
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_count.fetch_max(count, Ordering::Relaxed);
        let bytes = self.bytes.fetch_add(requested, Ordering::Relaxed) + requested;
        self.most_bytes.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Before a free.
    fn remove(&self, block: &Block) {
        let (start, end) = (block.address, block.address + block.bytes);
        for window in self.windows(start, end) {
            assert_eq!(window.lock().remove(&start), Some(end));
        }
        self.count.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(block.bytes as i64, Ordering::Relaxed);
    }
}

#[derive(Debug)]
struct Block {
    address: usize,
    bytes: usize,
}

struct Worker<'a> {
    ranges: &'a Ranges,
    random: Xorshift,
    own: Stream,
    shared: &'a [Stream],
    held: Vec<Block>,
    inbox: Receiver<Block>,
    neighbour: Sender<Block>,
    pool: Key,
    /// There is not memory enough for all.
    may_fail: bool,
    /// Streams can be kept busy.
    runs_work: bool,
}

impl Worker<'_> {
    fn alloc(&mut self) {
        let bytes = bytes(&mut self.random);
        let pooled = self.random.below(8) == 0;
        if pooled {
            pool::begin(self.pool, 0).unwrap();
        }
        let stream = match self.random.below(3) {
            0 => self.shared[self.random.below(self.shared.len())],
            _ => self.own,
        };
        let address = memory::alloc_on(bytes, stream);
        if pooled {
            pool::end(self.pool, 0).unwrap();
        }
        let address = match address {
            Err(error) if self.may_fail && error.status() == Status::OutOfMemory => {
                self.ranges.refused.fetch_add(1, Ordering::Relaxed);
                return;
            }
            address => address.unwrap(),
        };
        let block = Block { address, bytes };
        assert_eq!(block.address % 512, 0);
        self.ranges.add(&block);
        self.held.push(block);
    }

    fn free(&self, block: &Block) {
        self.ranges.remove(block);
        memory::free(block.address).unwrap();
    }

    fn pick(&mut self) -> Option<Block> {
        let place = self.random.below(usize::MAX >> 17).checked_rem(self.held.len())?;
        Some(self.held.swap_remove(place))
    }

    fn step(&mut self) {
        match self.random.below(1000) {
            0..430 if self.held.len() < 60 => self.alloc(),
            0..780 => {
                if let Some(block) = self.pick() {
                    self.free(&block);
                }
            }
            780..880 => {
                if let Some(block) = self.pick() {
                    // The other side may be gone already.
                    if let Err(back) = self.neighbour.send(block) {
                        self.free(&back.0);
                    }
                }
            }
            880..940 => {
                while let Ok(block) = self.inbox.try_recv() {
                    self.free(&block);
                }
            }
            940..990 => {
                if let Some(block) = self.held.last() {
                    let stream = self.shared[self.random.below(self.shared.len())];
                    memory::record_stream(block.address, stream).unwrap();
                    if self.runs_work && self.random.below(4) == 0 {
                        sleep_kernel::sleep(runtime().unwrap(), stream, 50_000).unwrap();
                    }
                    assert!(memory::usable_bytes(block.address).unwrap() >= block.bytes);
                }
            }
            990..998 => {
                let stats = memory::stats(0).unwrap();
                for stat in [stats.allocation.all, stats.active_bytes.all, stats.segment.all] {
                    assert!(stat.current >= 0 && stat.peak >= stat.current, "{stat:?}");
                    assert_eq!(stat.allocated - stat.freed, stat.current, "{stat:?}");
                }
            }
            998 => {
                let wrong = structure::faults(&memory::snapshot().unwrap());
                assert!(wrong.is_empty(), "{wrong:?}");
            }
            _ => {
                if self.random.below(4) == 0 {
                    memory::empty_cache().unwrap();
                } else {
                    pool::trim(self.pool).unwrap();
                }
            }
        }
    }
}

/// Runs the threads for a time, longer if they have not met enough; gives what was handed out.
fn stress(driver: Driver, time: Duration, may_fail: bool) -> Ranges {
    let ranges = Ranges::new();
    let shared: Vec<Stream> = (0..2)
        .map(|_| stream::from_pool(0, 0).unwrap())
        .chain([stream::default(0).unwrap()])
        .collect();
    let (senders, inboxes): (Vec<_>, Vec<_>) = (0..THREADS).map(|_| channel()).unzip();
    let failed = AtomicBool::new(false);
    let left: Mutex<Vec<Receiver<Block>>> = Mutex::default();
    let run = Run::of(time);
    threads::scope(|scope| {
        for (number, inbox) in inboxes.into_iter().enumerate() {
            let mut worker = Worker {
                ranges: &ranges,
                random: Xorshift(7000 + number as u64 + 1),
                own: stream::from_pool(0, 0).unwrap(),
                shared: &shared,
                held: Vec::new(),
                inbox,
                neighbour: senders[(number + 1) % THREADS].clone(),
                pool: pool::create().unwrap(),
                may_fail,
                runs_work: driver.runs_work(),
            };
            let (failed, left) = (&failed, &left);
            scope.spawn(move || {
                let guard = Alarm(failed);
                while !failed.load(Ordering::Relaxed)
                    && run.goes_on(|| worker.ranges.are_enough(may_fail))
                {
                    for _ in 0..50 {
                        worker.step();
                    }
                }
                for block in std::mem::take(&mut worker.held) {
                    worker.free(&block);
                }
                pool::destroy(worker.pool).unwrap();
                left.lock().push(worker.inbox);
                std::mem::forget(guard);
            });
        }
    });
    for inbox in left.into_inner() {
        for block in inbox.try_iter() {
            ranges.remove(&block);
            memory::free(block.address).unwrap();
        }
    }
    assert!(!failed.load(Ordering::Relaxed));
    ranges
}

/// Stops the other threads when one panics.
struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[track_caller]
fn assert_over(stat: Stat, name: &str) {
    assert_eq!((stat.current, stat.allocated), (0, stat.freed), "{name}: {stat:?}");
}

/// Runs the threads on a device with so many MiB, and looks at what is left.
#[track_caller]
fn check(test: &str, driver: Driver, mib: usize, time: Duration, may_fail: bool) {
    check_policy("policy:segments", test, driver, mib, time, may_fail);
}

/// [`check`] with a policy of the allocator.
#[track_caller]
fn check_policy(
    policy: &str,
    test: &str,
    driver: Driver,
    mib: usize,
    time: Duration,
    may_fail: bool,
) {
    let pages = policy == PAGES;
    drivers::in_child(test, driver, mib, &[("SCONCE_ALLOC_CONF", policy)], || {
        let free_at_start = sconce_runtime::device::memory_info(0).unwrap().free_bytes;
        let ranges = stress(driver, time, may_fail);
        assert_eq!((ranges.count.into_inner(), ranges.bytes.into_inner()), (0, 0));
        sconce_runtime::device::synchronize(0).unwrap();
        structure::assert_sound();
        let (count, bytes) = (ranges.all_count.into_inner(), ranges.all_bytes.into_inner());
        assert!(count > LEAST, "only {count} allocations");
        structure::assert_all_given_back(&[free_at_start]);
        let stats = memory::stats(0).unwrap();
        assert_eq!(stats.allocation.all.allocated, count);
        assert_eq!(stats.requested_bytes.all.allocated, bytes);
        for (name, pools) in [
            ("allocation", stats.allocation),
            ("segment", stats.segment),
            ("active", stats.active),
            ("inactive_split", stats.inactive_split),
            ("allocated_bytes", stats.allocated_bytes),
            ("reserved_bytes", stats.reserved_bytes),
            ("active_bytes", stats.active_bytes),
            ("inactive_split_bytes", stats.inactive_split_bytes),
            ("requested_bytes", stats.requested_bytes),
        ] {
            for stat in [pools.all, pools.small_pool, pools.large_pool] {
                assert_over(stat, name);
            }
            let sum = pools.small_pool.allocated + pools.large_pool.allocated;
            assert_eq!(pools.all.allocated, sum, "{name}");
        }
        if pages {
            // Runs of pages are no segments, and one call gives back what several got.
            assert_eq!(stats.segment.all.allocated, 0);
            assert!(stats.num_device_free > 0 && stats.reserved_bytes.all.allocated > 0);
        } else {
            assert_eq!(stats.num_device_alloc, stats.num_device_free);
            assert_eq!(stats.num_device_alloc, stats.segment.all.allocated);
        }
        // What the threads held at one time, by their own count, was in use at that time.
        assert!(stats.allocation.all.peak >= ranges.most_count.into_inner());
        assert!(stats.requested_bytes.all.peak >= ranges.most_bytes.into_inner());
        assert_eq!(stats.num_ooms > 0, may_fail, "{stats:?}");
        println!("{count} allocations, {bytes} bytes, {} failed", stats.num_ooms);
    });
}

#[test]
fn threads_never_get_the_same_memory_and_the_figures_come_out_right() {
    let test = "threads_never_get_the_same_memory_and_the_figures_come_out_right";
    check(test, Driver::Simulator, 4096, seconds(2.0), false);
}

#[test]
fn threads_short_of_memory_never_get_the_same_either() {
    let test = "threads_short_of_memory_never_get_the_same_either";
    check(test, Driver::Simulator, 192, seconds(2.0) / 2, true);
}

#[test]
fn nor_do_threads_on_a_driver_that_reuses_addresses() {
    let test = "nor_do_threads_on_a_driver_that_reuses_addresses";
    check(test, Driver::Fake { delay_us: 0 }, 4096, seconds(2.0) / 2, false);
}

#[test]
fn nor_do_threads_short_of_memory_on_a_slow_driver_that_reuses_addresses() {
    let test = "nor_do_threads_short_of_memory_on_a_slow_driver_that_reuses_addresses";
    check(test, Driver::Fake { delay_us: 20 }, 192, seconds(2.0) / 2, true);
}

const PAGES: &str = "policy:pages";

#[test]
fn nor_do_threads_whose_memory_is_pages() {
    let test = "nor_do_threads_whose_memory_is_pages";
    check_policy(PAGES, test, Driver::Simulator, 4096, seconds(2.0) / 2, false);
}

#[test]
fn nor_do_threads_short_of_pages() {
    let test = "nor_do_threads_short_of_pages";
    check_policy(PAGES, test, Driver::Simulator, 192, seconds(2.0) / 2, true);
}
