//! Threads that launch, find, and unload at the same time.

use std::sync::atomic::{AtomicBool, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::pooled;
use testkit::simulated::Memory;

use crate::support::{FILL, filler, get, launch_fill, load, numbers, ptx, register_fill};

/// A handle for other threads.
struct Shared<T>(*mut T);
// SAFETY: handles are numbers.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: handles are numbers.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}

#[test]
fn threads_launch_one_kernel_on_streams_of_their_own() {
    let (_, kernel) = filler();
    let kernel = &Shared(kernel);
    std::thread::scope(|scope| {
        for thread in 0..6_u32 {
            scope.spawn(move || {
                let (memory, stream) = (Memory::new(4096), pooled(0));
                for round in 0..50 {
                    let value = thread * 1000 + round;
                    let status = launch_fill(kernel.get(), &memory, 300, value, Some(stream));
                    assert_eq!(status, SCONCE_OK);
                }
                assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
                assert_eq!(numbers(&memory, 300), [thread * 1000 + 49; 300]);
            });
        }
    });
}

#[test]
fn a_module_is_unloaded_under_threads_that_launch_its_kernel() {
    register_fill();
    let memory = Memory::new(64);
    for _ in 0..30 {
        let module = load(ptx(&[FILL]).as_bytes()).unwrap();
        let kernel = Shared(get(module, FILL).unwrap());
        let begun = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let stream = pooled(0);
                    loop {
                        match launch_fill(kernel.get(), &memory, 1, 4, Some(stream)) {
                            SCONCE_OK => begun.store(true, Ordering::SeqCst),
                            SCONCE_ERROR_INVALID_HANDLE => return,
                            other => panic!("{other:?}: {}", testkit::last_message()),
                        }
                    }
                });
            }
            while !begun.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            assert_eq!(sconce_module_unload(module), SCONCE_OK);
        });
    }
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
}

#[test]
fn threads_that_look_for_one_kernel_find_the_same() {
    register_fill();
    for _ in 0..20 {
        let module = &Shared(load(ptx(&[FILL]).as_bytes()).unwrap());
        let found: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(move || get(module.get(), FILL).map(|it| it as usize)))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
        });
        assert!(found.iter().all(|kernel| *kernel == found[0]), "{found:?}");
        assert_eq!(sconce_module_unload(module.get()), SCONCE_OK);
    }
}
