//! Many threads on pinned memory: nobody writes into another's block, and the figures come out right.
//! `SCONCE_TEST_SECONDS` lets it run longer.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "writes into pinned memory, calls the C API")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sconce::*;
use sconce_compute::sleep_kernel;
use sconce_runtime::context::runtime;
use sconce_runtime::host_memory::{self, check};
use sconce_runtime::stream::{self, Stream};
use sconce_runtime::{device, memory};
use testkit::threads::{self, Run, Xorshift, seconds};

const THREADS: u64 = 8;

/// The size of a request.
fn bytes(random: &mut Xorshift) -> usize {
    match random.below(20) {
        0 => 1 + random.below(4 << 20),
        1..6 => 1 + random.below(100_000),
        6..12 => 64 << random.below(10),
        _ => 1 + random.below(4096),
    }
}

/// Memory that is held, with its owner's mark in every 64th byte.
struct Block {
    address: usize,
    bytes: usize,
    mark: u8,
}

impl Block {
    fn new(bytes: usize, mark: u8) -> Block {
        let block = Block { address: host_memory::alloc(bytes).unwrap(), bytes, mark };
        block.places().for_each(|place| {
            // SAFETY: inside the block.
            unsafe { place.write(mark) };
        });
        block
    }

    fn places(&self) -> impl Iterator<Item = *mut u8> {
        (self.address..self.address + self.bytes).step_by(64).map(|place| place as *mut u8)
    }

    fn free(self) {
        // SAFETY: inside the block.
        let untouched = self.places().all(|place| unsafe { place.read() } == self.mark);
        assert!(untouched, "somebody wrote into {:#x}+{}", self.address, self.bytes);
        host_memory::free(self.address).unwrap();
    }
}

/// The fewest allocations that put the cache to the test.
const LEAST: u64 = 1000;

/// One thread's part; `passed` takes blocks from thread to thread.
fn work(run: Run, number: u64, streams: &[Stream], passed: &Mutex<Vec<Block>>, count: &AtomicU64) {
    let mut random = Xorshift(0x9E37_79B9 + number * 77_777);
    let mut held: Vec<Block> = Vec::new();
    while run.goes_on(|| count.load(Ordering::Relaxed) > LEAST) {
        let stream = streams[random.below(streams.len())];
        match random.below(100) {
            0..45 => {
                count.fetch_add(1, Ordering::Relaxed);
                held.push(Block::new(bytes(&mut random), random.below(256) as u8));
            }
            45..70 if !held.is_empty() => held.swap_remove(random.below(held.len())).free(),
            70..80 if !held.is_empty() => {
                passed.lock().push(held.swap_remove(random.below(held.len())));
            }
            80..90 => {
                let block = passed.lock().pop();
                held.extend(block);
            }
            90..97 if !held.is_empty() => {
                let block = &held[random.below(held.len())];
                let inside = block.address + random.below(block.bytes);
                sleep_kernel::sleep(runtime().unwrap(), stream, 20_000).unwrap();
                host_memory::record_stream(inside, stream).unwrap();
            }
            97 if random.below(20) == 0 => host_memory::empty_cache().unwrap(),
            98 => assert!(host_memory::stats().unwrap().active_requests.current >= 0),
            _ => {}
        }
        while held.len() > 200 {
            held.swap_remove(0).free();
        }
    }
    held.into_iter().for_each(Block::free);
}

fn eight_threads() {
    let streams: Vec<Stream> = [0, 0, 1].map(|on| stream::from_pool(on, 0).unwrap()).into();
    let passed = Mutex::new(Vec::new());
    let count = AtomicU64::new(0);
    let run = Run::of(seconds(1.0));
    threads::scope(|scope| {
        for number in 0..THREADS {
            let (streams, passed, count) = (&streams, &passed, &count);
            scope.spawn(move || work(run, number, streams, passed, count));
        }
    });
    passed.into_inner().into_iter().for_each(Block::free);
    device::synchronize(0).unwrap();
    device::synchronize(1).unwrap();
    // Allocations look, and so does the thread in the background, perhaps just now.
    let begin = Instant::now();
    while host_memory::stats().unwrap().active_requests.current != 0 {
        assert!(begin.elapsed() < Duration::from_secs(20), "a block is lost");
        host_memory::empty_cache().unwrap();
    }
    check::walk().unwrap();
    host_memory::empty_cache().unwrap();
    let stats = host_memory::stats().unwrap();
    assert_eq!(stats.active_requests.allocated, count.load(Ordering::Relaxed) as i64);
    assert_eq!(stats.active_requests.freed, stats.active_requests.allocated);
    assert_eq!(stats.active_bytes.freed, stats.active_bytes.allocated);
    assert_eq!((stats.active_bytes.current, stats.requested_bytes.current), (0, 0));
    assert_eq!((stats.allocations.current, stats.allocated_bytes.current), (0, 0));
    assert_eq!(stats.num_host_alloc, stats.num_host_free);
    assert!(stats.active_requests.allocated > LEAST as i64, "{:?}", stats.active_requests);
}

const ENVIRONMENT: [(&str, &str); 3] =
    [("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off"), ("SCONCE_SIM_DEVICES", "2")];

#[test]
fn threads_do_not_touch_each_others_blocks() {
    testkit::in_child("threads_do_not_touch_each_others_blocks", &ENVIRONMENT, eight_threads);
}

#[test]
fn nor_with_a_thread_that_looks_after_blocks() {
    testkit::in_child("nor_with_a_thread_that_looks_after_blocks", &ENVIRONMENT, || {
        memory::configure("pinned_use_background_threads:True,pinned_max_cached_size_mb:2")
            .unwrap();
        eight_threads();
    });
}

fn has_context(index: i32) -> bool {
    let mut active = true;
    // SAFETY: a writable place.
    let status = unsafe { sconce_device_has_context(index, &mut active) };
    assert_eq!(status, sconce_status::SCONCE_OK);
    active
}

/// Everything that pinned memory does, from this thread, whose device is `current`.
fn everything(current: i32, user: i32) {
    let stream = stream::from_pool(user, 0).unwrap();
    let block = host_memory::alloc(3 << 20).unwrap();
    assert!(host_memory::is_pinned(block + 1).unwrap());
    host_memory::record_stream(block, stream).unwrap();
    host_memory::free(block).unwrap();
    stream::synchronize(runtime().unwrap(), stream).unwrap();
    host_memory::free(host_memory::alloc(3 << 20).unwrap()).unwrap();
    host_memory::empty_cache().unwrap();
    memory::configure("pinned_use_cuda_host_register:True").unwrap();
    host_memory::free(host_memory::alloc(100).unwrap()).unwrap();
    host_memory::empty_cache().unwrap();
    assert_eq!(device::current().unwrap().as_i32(), current, "the current device stays");
}

#[test]
fn using_device_1_alone_makes_no_context_on_device_0() {
    testkit::in_child("using_device_1_alone_makes_no_context_on_device_0", &ENVIRONMENT, || {
        runtime().unwrap();
        assert_eq!(host_memory::is_pinned(0x1000), Ok(false));
        assert!(!has_context(0) && !has_context(1));
        device::set_current(1).unwrap();
        everything(1, 1);
        assert!(has_context(1) && !has_context(0));
        // Another thread's device is 0, but memory is pinned where a context is.
        std::thread::spawn(|| everything(0, 1)).join().unwrap();
        assert!(!has_context(0));
    });
}

#[test]
fn without_any_context_the_current_device_gets_one() {
    testkit::in_child("without_any_context_the_current_device_gets_one", &ENVIRONMENT, || {
        device::set_current(1).unwrap();
        host_memory::free(host_memory::alloc(100).unwrap()).unwrap();
        assert!(has_context(1) && !has_context(0));
    });
}
