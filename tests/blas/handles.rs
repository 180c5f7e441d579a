//! cuBLAS handles: whose they are, what they are set to, and where their workspaces come from.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, mpsc};

use sconce::sconce_status::*;
use sconce::*;
use testkit::fork::forked;
use testkit::libraries::handles::{MIB, capture, clear, in_process, in_thread, make_current, set};
use testkit::libraries::products::{Block, handle, multiply, plain, synchronize, try_handle};
use testkit::places::{allocated, calls, inject, own_stream};

#[test]
fn a_thread_has_one_handle_a_device_and_the_next_thread_gets_it() {
    in_process("a_thread_has_one_handle_a_device_and_the_next_thread_gets_it", &[], || {
        let mine = handle();
        assert_eq!((handle(), calls("blas_create")), (mine, 1));
        assert_eq!(sconce_device_set_current(1), SCONCE_OK);
        let on_other_device = handle();
        assert_ne!(on_other_device, mine);
        assert_eq!(sconce_device_set_current(0), SCONCE_OK);
        assert_eq!((handle(), calls("blas_create")), (mine, 2));

        let others = in_thread(handle);
        assert!(![mine, on_other_device].contains(&others));
        assert_eq!((in_thread(handle), calls("blas_create")), (others, 3));
        let (first, second) = in_thread(|| (handle(), in_thread(handle)));
        assert_eq!((first, calls("blas_create")), (others, 4));
        let again = in_thread(|| [handle(), in_thread(handle)]);
        assert_eq!(HashSet::from(again), HashSet::from([first, second]));
        assert_eq!((handle(), calls("blas_create")), (mine, 4));
    });
}

#[test]
fn a_handle_is_set_to_what_has_changed_and_to_no_more() {
    in_process("a_handle_is_set_to_what_has_changed_and_to_no_more", &[], || {
        handle();
        assert_eq!(set(), [1, 1, 1]);
        handle();
        assert_eq!((set(), calls("stream_is_capturing")), ([0; 3], 0), "nothing has changed");
        let stream = own_stream(0);
        handle();
        assert_eq!(set(), [1, 1, 0], "a stream takes the workspace away");
        let other = own_stream(0);
        handle();
        assert_eq!(set(), [1, 1, 0]);
        make_current(stream);
        handle();
        assert_eq!(set(), [1, 1, 0]);
        sconce_context_set_allow_tf32_cublas(false.into());
        handle();
        assert_eq!(set(), [0, 0, 1]);
        sconce_context_set_allow_tf32_cublas(true.into());
        sconce_context_set_allow_tf32_cublas(false.into());
        handle();
        assert_eq!(set(), [0; 3]);
        clear();
        assert_eq!(set(), [0, 1, 0], "its owner may still use it");
        handle();
        assert_eq!(set(), [1, 1, 1]);
        // Other devices' handles are not concerned.
        assert_eq!(sconce_device_set_current(1), SCONCE_OK);
        handle();
        assert_eq!(set(), [1, 1, 1]);
        assert_eq!(sconce_device_set_current(0), SCONCE_OK);
        handle();
        assert_eq!(set(), [0; 3]);
        in_thread(handle);
        assert_eq!(set(), [1, 1, 1]);
        in_thread(|| {
            make_current(other);
            handle();
        });
        assert_eq!(set(), [1, 1, 1], "who had it before may have done anything");
    });
}

#[test]
fn what_a_caller_has_changed_is_set_again() {
    in_process("what_a_caller_has_changed_is_set_again", &[], || {
        let blocks = [[3.0], [5.0], [0.0]].map(|number| Block::of(SCONCE_DTYPE_F32, &number));
        let product =
            || multiply(&plain(1, 1, 1, 1), blocks[0].0, blocks[1].0, blocks[2].0).unwrap();
        product();
        set();
        product();
        assert_eq!((set(), calls("blas_is_set")), ([0; 3], 0), "nobody was given the handle");
        handle();
        set();
        product();
        assert_eq!(set(), [0, 1, 0], "a workspace of the caller's may be gone by now");
        inject("blas_is_set", 1, 1);
        product();
        assert_eq!(set(), [1, 1, 1]);
        inject("blas_is_set", 1, 1);
        handle();
        assert_eq!(set(), [1, 1, 1]);
        handle();
        assert_eq!((calls("blas_is_set"), set()), (1, [0; 3]));
        synchronize(0);
        assert_eq!(blocks[2].read(SCONCE_DTYPE_F32, 1), [15.0]);
    });
}

#[test]
fn a_handle_can_be_made_while_a_stream_is_captured() {
    in_process("a_handle_can_be_made_while_a_stream_is_captured", &[], || {
        let stream = own_stream(0);
        capture(stream, || {
            handle();
        });
        clear();
    });
}

#[test]
fn a_handle_that_has_no_memory_is_tried_again_with_an_empty_cache() {
    let test = "a_handle_that_has_no_memory_is_tried_again_with_an_empty_cache";
    in_process(test, &[], || {
        drop(Block::new(64 << 20));
        let reserved = || sconce_runtime::memory::stats(0).unwrap().reserved_bytes.all.current;
        assert_eq!(reserved(), 64 * MIB);
        inject("blas_create", 1, 3);
        inject("blas_create", 2, 3);
        let (status, message) = try_handle().unwrap_err();
        assert_eq!(status, SCONCE_ERROR_OUT_OF_MEMORY, "{message}");
        assert!(message.contains("CUBLAS_STATUS_ALLOC_FAILED"), "{message}");
        assert_eq!((reserved(), calls("blas_create")), (0, 2));
        inject("blas_create", 1, 3);
        handle();
        assert_eq!(calls("blas_create"), 4);
    });
}

#[test]
fn a_missing_library_is_named_and_found_later() {
    in_process("a_missing_library_is_named_and_found_later", &[], || {
        inject("blas_create", 1, -1);
        let (status, message) = try_handle().unwrap_err();
        assert_eq!(status, SCONCE_ERROR_LIBRARY_NOT_FOUND);
        assert!(message.contains("cuBLAS") && message.contains("searched"), "{message}");
        assert_eq!(allocated(0), 0);
        handle();
    });
}

static FROM_CALLBACK: std::sync::Mutex<Option<Result<usize, (sconce_status, String)>>> =
    std::sync::Mutex::new(None);

unsafe extern "C" fn ask(_: i32, _: usize, _: usize, _: usize, _: *mut std::ffi::c_void) {
    assert_eq!(sconce_blas_clear_workspaces(), SCONCE_OK);
    *FROM_CALLBACK.lock().unwrap() = Some(try_handle());
}

#[test]
fn a_callback_cannot_have_the_handle_that_is_being_set() {
    let test = "a_callback_cannot_have_the_handle_that_is_being_set";
    in_process(test, &[("SCONCE_SIM_MEMORY", "80M")], || {
        let mut id = 0;
        // SAFETY: a function of this type, and a good place.
        let status = unsafe {
            sconce_memory_attach_oom_observer(Some(ask), std::ptr::null_mut(), &raw mut id)
        };
        assert_eq!(status, SCONCE_OK);
        handle();
        clear();
        let rest = Block::new(60 << 20);
        own_stream(0);
        let (status, _) = try_handle().unwrap_err();
        assert_eq!(status, SCONCE_ERROR_OUT_OF_MEMORY);
        let (status, message) = FROM_CALLBACK.lock().unwrap().take().unwrap().unwrap_err();
        assert_eq!(status, SCONCE_ERROR_INVALID_STATE);
        assert!(message.contains("callback"), "{message}");
        drop(rest);
        handle();
        clear();
        assert_eq!(allocated(0), 0);
    });
}

#[test]
fn many_threads_have_handles_at_once() {
    in_process("many_threads_have_handles_at_once", &[], || {
        let turn = Barrier::new(8);
        let work = |number: usize| {
            let mut seen = HashSet::new();
            let blocks: Vec<_> = [[3.0], [number as f64], [0.0]]
                .iter()
                .map(|number| Block::of(SCONCE_DTYPE_F32, number))
                .collect();
            for round in 0..100 {
                if round % 10 == 0 {
                    synchronize(0);
                    own_stream(0);
                }
                if round % 25 == number {
                    clear();
                }
                seen.insert(handle());
                multiply(&plain(1, 1, 1, 1), blocks[0].0, blocks[1].0, blocks[2].0).unwrap();
            }
            synchronize(0);
            assert_eq!(blocks[2].read(SCONCE_DTYPE_F32, 1), [3.0 * number as f64]);
            turn.wait();
            seen
        };
        for _ in 0..2 {
            let seen: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> =
                    (0..8).map(|number| scope.spawn(move || work(number))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(seen.iter().all(|handles| handles.len() == 1), "{seen:?}");
            let all: HashSet<usize> = seen.into_iter().flatten().collect();
            assert_eq!((all.len(), calls("blas_create")), (8, 8));
        }
        clear();
        assert_eq!(allocated(0), 0);
    });
}

#[test]
fn a_process_ends_while_threads_have_handles() {
    in_process("a_process_ends_while_threads_have_handles", &[], || {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..4 {
            let sender = sender.clone();
            std::thread::spawn(move || {
                sender.send(handle()).unwrap();
                loop {
                    let _ = try_handle();
                    std::thread::yield_now();
                }
            });
        }
        let handles: HashSet<usize> = (0..4).map(|_| receiver.recv().unwrap()).collect();
        assert_eq!(handles.len(), 4);
        handle();
    });
}

/// What a child forked here ends with that asks for a handle, and then ends the ordinary way.
fn status_of_forked_child() -> i32 {
    forked(libc::exit, || {
        let refused = matches!(try_handle(), Err((SCONCE_ERROR_FORKED, _)))
            && sconce_blas_clear_workspaces() == SCONCE_ERROR_FORKED;
        i32::from(!refused)
    })
}

#[test]
fn a_forked_child_is_refused_and_ends() {
    in_process("a_forked_child_is_refused_and_ends", &[], || {
        handle();
        assert_eq!(status_of_forked_child(), 0);
        handle();
    });
}

#[test]
fn a_child_ends_that_was_forked_while_the_pool_was_locked() {
    in_process("a_child_ends_that_was_forked_while_the_pool_was_locked", &[], || {
        handle();
        // Handles in the pool, which clearing looks through under its lock.
        let turn = Barrier::new(100);
        std::thread::scope(|scope| {
            for _ in 0..100 {
                scope.spawn(|| (handle(), turn.wait()));
            }
        });
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    clear();
                }
            });
            let ended: Vec<i32> = (0..20).map(|_| status_of_forked_child()).collect();
            done.store(true, Ordering::Relaxed);
            assert_eq!(ended, [0; 20]);
        });
    });
}

#[test]
fn a_thread_that_is_ending_is_refused() {
    in_process("a_thread_that_is_ending_is_refused", &[], || {
        struct AtExit(mpsc::Sender<Result<usize, (sconce_status, String)>>);
        impl Drop for AtExit {
            fn drop(&mut self) {
                self.0.send(try_handle()).unwrap();
            }
        }
        thread_local! {
            static AT_EXIT: std::cell::RefCell<Option<AtExit>> =
                const { std::cell::RefCell::new(None) };
        }
        let (sender, receiver) = mpsc::channel();
        in_thread(move || {
            // Destroyed after what is made later.
            AT_EXIT.with(|at_exit| *at_exit.borrow_mut() = Some(AtExit(sender)));
            handle();
        });
        let (status, message) = receiver.recv().unwrap().unwrap_err();
        assert_eq!(status, SCONCE_ERROR_INVALID_STATE);
        assert!(message.contains("thread is ending"), "{message}");
        assert_eq!(calls("blas_create"), 1);
        in_thread(handle);
        assert_eq!(calls("blas_create"), 1);
    });
}
