//! Transforms of many threads, and a cache that is emptied and shrunk under them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use testkit::simulated;

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::libraries::fft::{self, Complex, Side, desc, rows, run, stats};
use testkit::places::{self, Kind, Place, alone, calls, inject, own_stream};

const THREADS: usize = 8;

/// A transform with memory of its own, and what it must give.
struct Task {
    desc: sconce_fft_desc,
    input: Place,
    output: Place,
    expected: Vec<Complex>,
}

impl Task {
    fn new(desc: sconce_fft_desc, seed: u64, device: i32) -> Task {
        let (from, to) = (Side::of(&desc, false), Side::of(&desc, true));
        let given: Vec<Complex> =
            fft::numbers(seed, 2 * from.elements()).chunks(2).map(|two| (two[0], two[1])).collect();
        let mut bytes = vec![0; from.bytes(desc.dtype)];
        fft::scatter(&given, &from, desc.dtype, &mut bytes);
        let expected = fft::expected(&desc, &fft::gather(&bytes, &from, desc.dtype));
        let input = Place::holding(Kind::Device(device), &bytes);
        let output = Place::holding(Kind::Device(device), &vec![0; to.bytes(desc.dtype)]);
        Task { desc, input, output, expected }
    }

    fn run(&self) {
        let status = run(&self.desc, self.input.start(), self.output.start());
        assert_eq!(status, SCONCE_OK, "{}", last_message());
    }

    /// Compares what the work of a stream has left, and forgets it.
    fn check(&self, stream: sconce_stream) {
        assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
        let dtype = self.desc.dtype;
        let found = self.output.read();
        fft::assert_near(
            &fft::gather(&found, &Side::of(&self.desc, true), dtype),
            &self.expected,
            dtype,
            "of a thread",
        );
        self.output.fill(0xFF);
    }
}

fn fresh() {
    [0, 1].into_iter().for_each(fft::fresh);
}

#[test]
fn of_threads_that_want_a_plan_one_makes_it() {
    let _alone = alone();
    for round in 0..20 {
        fresh();
        let made = calls("fft_plan");
        let barrier = Barrier::new(THREADS);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let barrier = &barrier;
                scope.spawn(move || {
                    let task = Task::new(rows(32 + round, 2), thread as u64, 0);
                    let stream = own_stream(0);
                    barrier.wait();
                    task.run();
                    task.check(stream);
                });
            }
        });
        assert_eq!(calls("fft_plan"), made + 1);
        let stats = stats(0);
        assert_eq!((stats.size, stats.misses, stats.hits), (1, 1, THREADS as u64 - 1));
    }
    fresh();
}

#[test]
fn who_waits_for_a_plan_that_fails_fails_and_the_next_makes_it() {
    let _alone = alone();
    for _ in 0..20 {
        fresh();
        assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
        inject("fft_plan", 1, 5);
        let (barrier, failed) = (Barrier::new(THREADS), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    let memory = Place::new(Kind::Device(0), 4096);
                    own_stream(0);
                    barrier.wait();
                    let status = run(&rows(64, 1), memory.start(), memory.start());
                    if status != SCONCE_OK {
                        assert_eq!(status, SCONCE_ERROR_DRIVER);
                        assert!(
                            last_message().contains("CUFFT_INTERNAL_ERROR"),
                            "{}",
                            last_message()
                        );
                        failed.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        let failed = failed.load(Ordering::Relaxed);
        assert!((1..=THREADS).contains(&failed), "{failed}");
        assert_eq!(calls("fft_plan"), if failed == THREADS { 1 } else { 2 });
        assert_eq!(stats(0).size, u64::from(failed < THREADS));
    }
    fresh();
}

#[test]
fn a_cache_that_changes_under_transforms_changes_no_result() {
    let _alone = alone();
    fresh();
    let done = AtomicBool::new(false);
    let running = AtomicUsize::new(THREADS);
    let free = |device: i32| {
        let device = sconce_base::types::DeviceIndex::new(device).unwrap();
        simulated::runtime().driver().memory_info(device).unwrap().free_bytes
    };
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (done, running) = (&done, &running);
            scope.spawn(move || {
                let device = (thread % 2) as i32;
                let stream = own_stream(device);
                let mut turned = desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[4, 8], 2);
                (turned.in_batch_stride, turned.in_strides) = (32, [1, 4, 0]);
                turned.normalization = SCONCE_FFT_NORM_BY_N;
                let tasks: Vec<Task> = [16, 30, 64, 100, 4098]
                    .map(|n| rows(n, 1))
                    .into_iter()
                    .chain([turned])
                    .enumerate()
                    // The long one is slow to check.
                    .filter(|(index, _)| *index != 4 || thread < 2)
                    .map(|(index, desc)| Task::new(desc, (thread * 10 + index) as u64, device))
                    .collect();
                for round in 0..40 {
                    let task = &tasks[(round * 7 + thread) % tasks.len()];
                    task.run();
                    task.check(stream);
                }
                if running.fetch_sub(1, Ordering::AcqRel) == 1 {
                    done.store(true, Ordering::Release);
                }
            });
        }
        scope.spawn(|| {
            let mut turn = 0_i64;
            while !done.load(Ordering::Acquire) {
                let device = (turn % 2) as i32;
                assert_eq!(sconce_fft_cache_set_max_size(device, turn / 2 % 4), SCONCE_OK);
                assert_eq!(sconce_fft_cache_set_max_bytes(device, (turn / 3 % 5) << 16), SCONCE_OK);
                if turn % 5 == 0 {
                    assert_eq!(sconce_fft_cache_clear(device), SCONCE_OK);
                }
                let stats = stats(device);
                assert_eq!(stats.bytes, stats.plan_bytes + stats.workspace_bytes);
                turn += 1;
                std::thread::yield_now();
            }
        });
    });
    for device in [0, 1] {
        assert_eq!(sconce_device_synchronize(device), SCONCE_OK);
        assert_eq!(sconce_fft_cache_clear(device), SCONCE_OK);
        let (stats, before) = (stats(device), free(device));
        assert_eq!((stats.size, stats.bytes), (0, 0));
        // One more leaves nothing behind: none was forgotten.
        let memory = Place::new(Kind::Device(device), 4096);
        let held = before - free(device);
        assert_eq!(run(&rows(64, 1), memory.start(), memory.start()), SCONCE_OK);
        assert_eq!(sconce_device_synchronize(device), SCONCE_OK);
        assert_eq!(sconce_fft_cache_clear(device), SCONCE_OK);
        assert_eq!(free(device), before - held);
    }
    fresh();
}

#[test]
fn a_workspace_is_for_one_stream_at_a_time() {
    let _alone = alone();
    fresh();
    // What is written on the second stream while the first one's transform waits must not be in that
    // one's workspace, which the simulator writes over.
    let task = Task::new(rows(4098, 1), 1, 0);
    let streams = [own_stream(0), places::default_stream(0)];
    let bytes = stats_of(&task);
    let mut other = std::ptr::null_mut();
    for first in [0, 1] {
        assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
        assert_eq!(sconce_stream_set_current(streams[first]), SCONCE_OK);
        task.run();
        assert_eq!(sconce_stream_set_current(streams[1 - first]), SCONCE_OK);
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_memory_alloc(bytes, &raw mut other) }, SCONCE_OK);
        assert_eq!(places::set(other, 7, bytes), SCONCE_OK);
        assert!(places::step_all(streams[1 - first]) > 0);
        assert_eq!(places::pending(streams[first]), 1);
        assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
        task.check(streams[first]);
        let mut found = vec![0_u8; bytes];
        assert_eq!(places::copy(found.as_mut_ptr().cast(), other, bytes, false), SCONCE_OK);
        assert!(found.iter().all(|byte| *byte == 7), "the workspace had it");
        assert_eq!(sconce_memory_free(other), SCONCE_OK);
    }
    assert_eq!(sconce_stream_set_current(places::default_stream(0)), SCONCE_OK);
    fresh();
}

/// The workspace of a transform, which is made for it.
fn stats_of(task: &Task) -> usize {
    let before = stats(0).workspace_bytes;
    task.run();
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    (stats(0).workspace_bytes - before) as usize
}
