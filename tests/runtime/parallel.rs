//! Work on several threads of the CPU: forks and ends of the process while there are such threads.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "passes functions to C functions")]

use std::ffi::c_void;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sconce::sconce_status::*;
use sconce::*;
use testkit::fork::forked;
use testkit::{in_child, last_message};

const SIM: (&str, &str) = ("SCONCE_BACKEND", "sim");

/// What a part does.
struct Work<'a>(&'a (dyn Fn(i64, i64) + Sync));

fn parallel_for(end: i64, grain: i64, body: &(dyn Fn(i64, i64) + Sync)) -> sconce_status {
    unsafe extern "C" fn call(begin: i64, end: i64, context: *mut c_void) {
        // SAFETY: the value that `parallel_for` passes.
        let work = unsafe { &*context.cast::<Work<'_>>() };
        (work.0)(begin, end);
    }
    let work = Work(body);
    // SAFETY: the function takes any part, on any thread, and what it gets lives until all calls have ended.
    unsafe { sconce_parallel_for(0, end, grain, Some(call), (&raw const work).cast_mut().cast()) }
}

/// Work that ends only if so many threads do it at the same time.
fn together(threads: usize) {
    let barrier = Barrier::new(threads);
    let status = parallel_for(threads as i64, 1, &|_, _| {
        barrier.wait();
    });
    assert_eq!(status, SCONCE_OK);
}

#[test]
fn a_child_gets_threads_of_its_own() {
    in_child("a_child_gets_threads_of_its_own", &[SIM], || {
        assert_eq!(sconce_parallel_set_num_threads(3), SCONCE_OK);
        together(3);
        let code = forked(libc::exit, || {
            together(3);
            // A child of a child, too.
            forked(libc::_exit, || {
                together(3);
                0
            })
        });
        assert_eq!(code, 0);
        together(3);
    });
}

#[test]
fn a_child_that_is_forked_while_others_work_is_not_stopped_by_them() {
    let name = "a_child_that_is_forked_while_others_work_is_not_stopped_by_them";
    in_child(name, &[SIM], || {
        assert_eq!(sconce_parallel_set_num_threads(2), SCONCE_OK);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let sum = AtomicUsize::new(0);
                        let status = parallel_for(8, 1, &|begin, end| {
                            sum.fetch_add((end - begin) as usize, Ordering::Relaxed);
                        });
                        assert_eq!((status, sum.into_inner()), (SCONCE_OK, 8));
                    }
                });
            }
            let codes: Vec<i32> = (0..40)
                .map(|_| {
                    forked(libc::_exit, || {
                        together(2);
                        0
                    })
                })
                .collect();
            stop.store(true, Ordering::Relaxed);
            assert!(codes.iter().all(|code| *code == 0), "{codes:?}");
        });
    });
}

#[test]
fn a_child_of_a_user_of_devices_works_on_its_own_thread() {
    in_child("a_child_of_a_user_of_devices_works_on_its_own_thread", &[SIM], || {
        assert_eq!(sconce_parallel_set_num_threads(3), SCONCE_OK);
        assert_eq!(sconce_init(), SCONCE_OK);
        together(3);
        let code = forked(libc::_exit, || {
            let calls = AtomicUsize::new(0);
            let status = parallel_for(9, 1, &|begin, end| {
                assert_eq!((begin, end), (0, 9));
                calls.fetch_add(1, Ordering::Relaxed);
            });
            i32::from(status != SCONCE_OK || calls.into_inner() != 1)
        });
        assert_eq!(code, 0);
    });
}

#[test]
fn the_process_ends_while_parts_run() {
    in_child("the_process_ends_while_parts_run", &[SIM], || {
        for _ in 0..10 {
            let code = forked(libc::_exit, || {
                assert_eq!(sconce_parallel_set_num_threads(2), SCONCE_OK);
                for _ in 0..2 {
                    std::thread::spawn(|| {
                        loop {
                            let _ = parallel_for(2, 1, &|_, _| std::hint::spin_loop());
                        }
                    });
                }
                std::thread::sleep(Duration::from_millis(3));
                // SAFETY: nothing of this child is needed any more.
                unsafe { libc::exit(7) }
            });
            assert_eq!(code, 7);
        }
    });
}

/// Threads that wait for work take no time of a processor.
#[test]
fn threads_without_work_sleep() {
    in_child("threads_without_work_sleep", &[SIM], || {
        assert_eq!(sconce_parallel_set_num_threads(4), SCONCE_OK);
        together(4);
        std::thread::sleep(Duration::from_millis(20));
        let before = time_of_process();
        let start = Instant::now();
        std::thread::sleep(Duration::from_millis(300));
        let (used, passed) = (time_of_process() - before, start.elapsed());
        assert!(used < passed / 10, "{used:?} of {passed:?}");
    });
}

/// What all threads of the process have used of processors.
fn time_of_process() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a good place.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) }, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn variables_of_openmp_say_how_many_threads_there_are() {
    let name = "variables_of_openmp_say_how_many_threads_there_are";
    let variables =
        [SIM, ("OMP_NUM_THREADS", "5,2"), ("MKL_NUM_THREADS", "7"), ("OMP_THREAD_LIMIT", "6")];
    in_child(name, &variables, || {
        assert_eq!(sconce_parallel_get_num_threads(), 5);
        assert_eq!(sconce_parallel_set_num_threads(8), SCONCE_OK);
        assert_eq!(sconce_parallel_get_num_threads(), 6);
        assert_eq!(sconce_parallel_set_num_threads(0), SCONCE_ERROR_INVALID_ARGUMENT);
        assert!(last_message().contains("num_threads is 0"), "{}", last_message());
        assert_eq!(sconce_parallel_get_num_threads(), 6);
        assert_eq!(parallel_for(1, -1, &|_, _| {}), SCONCE_ERROR_INVALID_ARGUMENT);
        assert!(last_message().contains("grain_size is -1"), "{}", last_message());
    });
}
