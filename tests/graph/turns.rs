//! Threads that want the same locks for different reasons: all of them go on, whichever of them work side by side.
//! Memory that goes back to the driver and captures that begin wait for each other, so each must get its turn.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sconce_compute::{fft, graph};
use sconce_driver::CaptureMode;
use sconce_runtime::context::runtime;
use sconce_runtime::memory::{self, pool};
use sconce_runtime::sleep::{SleepPlace, WakeMode};
use sconce_runtime::{host_memory, sleep, stream};
use testkit::threads::Xorshift;

const MIB: usize = 1 << 20;

/// How often each thread must get through its work.
const ROUNDS: usize = 12;
/// How long a thread may wait for one round. A round takes milliseconds.
const STUCK: Duration = Duration::from_secs(20);

/// A thread's work, round after round. Any call may fail: memory is short, and streams are captured.
type Role = (&'static str, fn(&dyn Fn() -> bool));

/// Requests that fill the device, so that they give back what is cached.
fn run_out(goes_on: &dyn Fn() -> bool) {
    let (mut random, mut blocks) = (Xorshift(7), Vec::new());
    while goes_on() {
        match memory::alloc((1 + random.below(24)) * MIB) {
            Ok(block) => blocks.push(block),
            Err(_) => blocks.pop().map_or((), |block| memory::free(block).unwrap()),
        }
        if blocks.len() > 3 {
            memory::free(blocks.swap_remove(random.below(4))).unwrap();
        }
    }
    blocks.into_iter().for_each(|block| memory::free(block).unwrap());
}

fn empty(goes_on: &dyn Fn() -> bool) {
    while goes_on() {
        let _ = memory::empty_cache();
    }
}

fn empty_pinned(goes_on: &dyn Fn() -> bool) {
    let stream = stream::from_pool(0, 0).unwrap();
    while goes_on() {
        if let Ok(block) = host_memory::alloc(MIB) {
            host_memory::record_stream(block, stream).unwrap();
            host_memory::free(block).unwrap();
        }
        let _ = host_memory::empty_cache();
    }
}

fn trim(goes_on: &dyn Fn() -> bool) {
    while goes_on() {
        let pool = pool::create().unwrap();
        pool::begin(pool, 0).unwrap();
        let block = memory::alloc(MIB);
        pool::end(pool, 0).unwrap();
        if let Ok(block) = block {
            memory::free(block).unwrap();
        }
        let _ = pool::trim(pool);
        pool::destroy(pool).unwrap();
    }
}

fn fall_asleep(goes_on: &dyn Fn() -> bool) {
    let pool = pool::create().unwrap();
    while goes_on() {
        pool::begin(pool, 0).unwrap();
        let block = memory::alloc(MIB);
        pool::end(pool, 0).unwrap();
        let _ = sleep::sleep(Some(pool), 0, &SleepPlace::HostPinned);
        let _ = sleep::wake(Some(pool), 0, WakeMode::Restore);
        if let Ok(block) = block {
            memory::free(block).unwrap();
        }
    }
}

fn look(goes_on: &dyn Fn() -> bool) {
    while goes_on() {
        memory::stats(0).unwrap();
        drop(memory::snapshot().unwrap());
        fft::clear_cache(0).unwrap();
    }
}

fn capture(goes_on: &dyn Fn() -> bool) {
    let (runtime, stream) = (runtime().unwrap(), stream::from_pool(0, 0).unwrap());
    while goes_on() {
        let graph = graph::create(false).unwrap();
        graph::begin(runtime, graph, stream, None, CaptureMode::ThreadLocal).unwrap();
        let block = memory::alloc_on(1 << 10, stream);
        if let Ok(block) = block {
            memory::free(block).unwrap();
        }
        // Work of another thread may have invalidated it.
        let _ = graph::end(runtime, graph);
        graph::destroy(graph).unwrap();
    }
}

const ROLES: &[Role] = &[
    ("run out of memory", run_out),
    ("empty the cache", empty),
    ("empty the cache of pinned memory", empty_pinned),
    ("trim and destroy pools", trim),
    ("put a pool to sleep", fall_asleep),
    ("read figures", look),
    ("capture", capture),
];

/// Lets two threads of each role work until all have done their rounds.
fn side_by_side(roles: &[&Role]) {
    let rounds: Vec<AtomicUsize> = (0..2 * roles.len()).map(|_| AtomicUsize::new(0)).collect();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for (own, (_, role)) in rounds.iter().zip(roles.iter().flat_map(|role| [role, role])) {
            let is_over = &is_over;
            scope.spawn(move || {
                role(&|| {
                    own.fetch_add(1, Ordering::Relaxed);
                    !is_over.load(Ordering::Relaxed)
                });
            });
        }
        for (at, own) in rounds.iter().enumerate() {
            let (mut seen, mut since) = (0, Instant::now());
            while seen < ROUNDS {
                let now = own.load(Ordering::Relaxed);
                if now != seen {
                    (seen, since) = (now, Instant::now());
                }
                if since.elapsed() > STUCK {
                    let names: Vec<&str> = roles.iter().map(|role| role.0).collect();
                    let counts: Vec<usize> =
                        rounds.iter().map(|own| own.load(Ordering::Relaxed)).collect();
                    eprintln!(
                        "a thread that is to {} waits for ever; rounds of two threads each to {}: {counts:?}",
                        names[at / 2],
                        names.join(", "),
                    );
                    // The scope would wait for the threads.
                    std::process::abort();
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

/// Each role beside each, and all of them at once.
fn all_pairs() {
    for (at, one) in ROLES.iter().enumerate() {
        for other in &ROLES[at..] {
            side_by_side(&[one, other]);
        }
    }
    side_by_side(&ROLES.iter().collect::<Vec<_>>());
}

fn scenario(test: &str, settings: &str) {
    let environment = [
        ("SCONCE_BACKEND", "sim"),
        ("SCONCE_SIM_DEVICES", "1"),
        ("SCONCE_SIM_MEMORY", "128M"),
        ("SCONCE_LOG", "off"),
        ("SCONCE_ALLOC_CONF", settings),
    ];
    testkit::in_child(test, &environment, all_pairs);
}

#[test]
fn threads_of_two_kinds_go_on_side_by_side() {
    scenario("threads_of_two_kinds_go_on_side_by_side", "");
}

#[test]
fn threads_of_two_kinds_go_on_side_by_side_with_pages() {
    scenario("threads_of_two_kinds_go_on_side_by_side_with_pages", "policy:pages");
}

#[test]
fn threads_of_two_kinds_go_on_side_by_side_while_old_blocks_are_collected() {
    scenario(
        "threads_of_two_kinds_go_on_side_by_side_while_old_blocks_are_collected",
        "garbage_collection_threshold:0.5,per_process_memory_fraction:0.9,pinned_use_background_threads:True",
    );
}
