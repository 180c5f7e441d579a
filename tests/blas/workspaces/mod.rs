//! Workspaces of cuBLAS handles: how large they are, who shares them, and when they go back.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

mod sharing;
mod shortage;

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use testkit::libraries::handles::{
    WORKSPACE, capture, clear, in_process, in_thread, make_current, set,
};
use testkit::libraries::products::{Block, handle, multiply, plain, synchronize, try_handle};
use testkit::places::{allocated, calls, default_stream, own_stream};

/// Two numbers on the device, and the place of their product.
struct Operands([Block; 3]);

// SAFETY: they are addresses, which any thread may use.
unsafe impl Sync for Operands {}

impl Operands {
    fn new(factors: [f64; 2]) -> Operands {
        let numbers = [factors[0], factors[1], 0.0];
        Operands(numbers.map(|number| Block::of(SCONCE_DTYPE_F32, &[number])))
    }

    /// Multiplies on the calling thread's current stream, and waits: other streams write the product, too.
    fn multiply(&self) {
        self.try_multiply().unwrap();
        synchronize(0);
    }

    fn try_multiply(&self) -> Result<(), (sconce_status, String)> {
        let [a, b, c] = &self.0;
        multiply(&plain(1, 1, 1, 1), a.0, b.0, c.0)
    }

    fn result(&self) -> f64 {
        self.0[2].read(SCONCE_DTYPE_F32, 1)[0]
    }
}

fn figures(device: i32) -> sconce_blas_workspace_stats {
    let size = size_of::<sconce_blas_workspace_stats>();
    // SAFETY: a struct of numbers.
    let mut stats: sconce_blas_workspace_stats = unsafe { std::mem::zeroed() };
    stats.struct_size = size as u32;
    // SAFETY: a good place of this size.
    let status = unsafe { sconce_blas_get_workspace_stats(device, &raw mut stats) };
    assert_eq!(status, SCONCE_OK, "{}", testkit::last_message());
    stats
}

/// How many workspaces there are; the figures must agree with the allocator's, which counts the
/// workspaces besides `others` bytes.
#[track_caller]
fn count(others: i64) -> u64 {
    let stats = figures(0);
    assert_eq!(stats.bytes as i64, allocated(0) - others);
    assert_eq!(stats.bytes as i64, stats.count as i64 * WORKSPACE);
    stats.count
}

#[test]
fn workspaces_that_are_asked_back_go_when_their_threads_come_or_end() {
    let test = "workspaces_that_are_asked_back_go_when_their_threads_come_or_end";
    in_process(test, &[], || {
        let turn = Barrier::new(3);
        std::thread::scope(|scope| {
            let comes = scope.spawn(|| {
                let before = handle();
                turn.wait();
                turn.wait();
                assert_eq!(allocated(0), 2 * WORKSPACE, "both threads still have theirs");
                assert_eq!(set(), [0; 3]);
                assert_eq!(handle(), before);
                assert_eq!(allocated(0), 2 * WORKSPACE, "an old one was exchanged for a new one");
                // None, then everything.
                assert_eq!(set(), [1, 2, 1]);
                turn.wait();
            });
            let ends = scope.spawn(|| {
                handle();
                turn.wait();
                turn.wait();
                turn.wait();
            });
            turn.wait();
            handle();
            in_thread(handle);
            assert_eq!(allocated(0), 3 * WORKSPACE);
            clear();
            set();
            turn.wait();
            turn.wait();
            ends.join().unwrap();
            comes.join().unwrap();
        });
        assert_eq!(allocated(0), 0);
    });
}

fn configured(test: &str, text: &str, bytes: i64, warned: bool) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn note(_: i32, text: *const std::ffi::c_char, _: *mut std::ffi::c_void) {
        // SAFETY: a text that lives for the call.
        let text = unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy();
        if text.contains("CUBLAS_WORKSPACE_CONFIG") {
            assert!(!WARNED.swap(true, Ordering::Relaxed), "warned twice");
        }
    }
    in_process(test, &[("CUBLAS_WORKSPACE_CONFIG", text)], || {
        // SAFETY: a function of this type.
        unsafe { sconce_log_set_callback(Some(note), std::ptr::null_mut()) };
        handle();
        assert_eq!(allocated(0), bytes);
        assert_eq!(set(), [1, 1, 1]);
        own_stream(0);
        handle();
        assert_eq!(set(), [1, 1, 0]);
        assert_eq!(allocated(0), 2 * bytes);
        in_thread(handle);
        assert_eq!(figures(0).num_without, 0);
        assert_eq!(WARNED.load(Ordering::Relaxed), warned);
        clear();
        assert_eq!(allocated(0), 0);
    });
}

#[test]
fn workspaces_have_the_size_that_the_environment_says() {
    let test = "workspaces_have_the_size_that_the_environment_says";
    configured(test, ":4096:2:16:8", 8_519_680, false);
}

#[test]
fn workspaces_can_be_none() {
    configured("workspaces_can_be_none", ":0:0", 0, false);
}

#[test]
fn what_cannot_be_read_is_warned_of_once() {
    configured("what_cannot_be_read_is_warned_of_once", "4096:2", WORKSPACE, true);
}

/// A private pool that the thread's allocations come from while `act` runs.
fn with_pool(pool: *mut sconce_memory_pool, act: impl FnOnce()) {
    assert_eq!(sconce_memory_pool_begin(pool, 0), SCONCE_OK);
    act();
    assert_eq!(sconce_memory_pool_end(pool, 0), SCONCE_OK);
}

fn new_pool() -> *mut sconce_memory_pool {
    let mut pool = std::ptr::null_mut();
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_memory_pool_create(&raw mut pool) }, SCONCE_OK);
    pool
}

#[test]
fn captures_have_workspaces_of_their_own() {
    in_process("captures_have_workspaces_of_their_own", &[], || {
        let blocks = [[1.0], [2.0], [0.0]].map(|number| Block::of(SCONCE_DTYPE_F32, &number));
        let product =
            || multiply(&plain(1, 1, 1, 1), blocks[0].0, blocks[1].0, blocks[2].0).unwrap();
        let before = allocated(0);
        let workspaces = || (allocated(0) - before) / WORKSPACE;
        let stream = own_stream(0);
        product();
        assert_eq!((workspaces(), set()), (1, [1, 1, 1]));
        // Without a pool the memory stays what it is, and only captures use it.
        capture(stream, product);
        assert_eq!((workspaces(), set()), (2, [0, 1, 0]));
        handle();
        assert_eq!((workspaces(), set()), (2, [0, 1, 0]));
        capture(stream, product);
        assert_eq!((workspaces(), set()), (2, [0, 1, 0]));
        product();
        assert_eq!((workspaces(), set()), (2, [0, 1, 0]));
        // From a pool it goes back when the thread allocates from another.
        for _ in 0..3 {
            let pool = new_pool();
            with_pool(pool, || {
                capture(stream, || {
                    product();
                    product();
                    // Twice, since the handle was given out.
                    assert_eq!((workspaces(), set()), (3, [0, 2, 0]));
                });
            });
            // The handle has none until it is asked for again.
            assert_eq!((workspaces(), set()), (2, [0, 1, 0]));
            product();
            assert_eq!((workspaces(), set()), (2, [1, 1, 1]));
            assert_eq!(sconce_memory_pool_destroy(pool), SCONCE_OK);
        }
        // A handle that is asked for in a capture with a pool, which tells that there is one.
        let pool = new_pool();
        with_pool(pool, || {
            capture(stream, || {
                handle();
                assert_eq!((workspaces(), set()), (3, [0, 1, 0]));
                handle();
                assert_eq!((workspaces(), set()), (3, [0, 0, 0]));
            });
        });
        assert_eq!((workspaces(), set()), (2, [0, 1, 0]));
        handle();
        assert_eq!((workspaces(), set()), (2, [1, 1, 1]));
        assert_eq!(sconce_memory_pool_destroy(pool), SCONCE_OK);
        // A graph that was captured without a pool may use its workspace at any time.
        assert_eq!(sconce_memory_empty_cache(), SCONCE_OK);
        assert_eq!((workspaces(), figures(0).idle_bytes), (2, 0));
        make_current(default_stream(0));
        handle();
        assert_eq!(sconce_memory_empty_cache(), SCONCE_OK);
        assert_eq!(workspaces(), 2, "that of the graph and that of the default stream");
        clear();
        assert_eq!(workspaces(), 0);
        synchronize(0);
    });
}

#[test]
fn a_workspace_of_a_pool_goes_back_when_the_thread_that_used_it_leaves_the_pool() {
    let test = "a_workspace_of_a_pool_goes_back_when_the_thread_that_used_it_leaves_the_pool";
    in_process(test, &[], || {
        let pool = in_thread(|| {
            let (pool, stream) = (new_pool(), own_stream(0));
            handle();
            with_pool(pool, || {
                capture(stream, || {
                    handle();
                });
                assert_eq!(allocated(0), 2 * WORKSPACE);
            });
            assert_eq!(allocated(0), WORKSPACE);
            pool.expose_provenance()
        });
        let pool = std::ptr::with_exposed_provenance_mut(pool);
        assert_eq!(allocated(0), 0, "the next thread may never come");
        assert_eq!(sconce_memory_pool_destroy(pool), SCONCE_OK);
        assert_eq!(allocated(0), 0);
    });
}

/// Asks again for what is being complained about.
unsafe extern "C" fn multiply_again(
    _: i32,
    _: *const std::ffi::c_char,
    again: *mut std::ffi::c_void,
) {
    // SAFETY: the scenario's function, which lives as long as this may be called.
    unsafe { (*again.cast::<fn()>())() }
}

#[test]
fn a_configuration_that_cannot_be_read_is_complained_about_with_nothing_held() {
    let test = "a_configuration_that_cannot_be_read_is_complained_about_with_nothing_held";
    in_process(test, &[("CUBLAS_WORKSPACE_CONFIG", "nonsense")], || {
        fn product() {
            let blocks = [[1.0], [2.0], [0.0]].map(|number| Block::of(SCONCE_DTYPE_F32, &number));
            let [a, b, c] = &blocks;
            let (_, message) = multiply(&plain(1, 1, 1, 1), a.0, b.0, c.0).unwrap_err();
            assert!(message.contains("CUBLAS_WORKSPACE_CONFIG"), "{message}");
        }
        sconce_context_set_deterministic_algorithms(true.into());
        let mut again: fn() = product;
        // SAFETY: a function of this type and what it is to be given, which outlives its use.
        unsafe { sconce_log_set_callback(Some(multiply_again), (&raw mut again).cast()) };
        product();
        // SAFETY: none is given.
        unsafe { sconce_log_set_callback(None, std::ptr::null_mut()) };
    });
}
