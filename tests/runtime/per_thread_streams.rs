//! The default stream of a thread (`cudaStreamPerThread`, handle 2): a stream of its own for each thread, which the
//! legacy default stream is ordered with. On simulated devices.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::mpsc::{Receiver, Sender, channel};

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::places::{
    Kind, Place, alone, copy, default_stream, pending, run_until_idle, set, step_all,
};
use testkit::statuses::{ok, refused};

const BYTES: usize = 4 << 20;

fn manual(on: bool) {
    ok(sconce_sim_set_manual(on.into()));
}

/// The calling thread's default stream of a device.
fn own_default(device: i32) -> sconce_stream {
    let mut stream = sconce_stream { id: -1, device: -1, reserved: -1 };
    // SAFETY: 2 names a stream of every thread; a good place.
    let status = unsafe {
        sconce_stream_get_from_external(without_provenance_mut(2), device, &raw mut stream)
    };
    assert_eq!(status, SCONCE_OK, "{}", last_message());
    stream
}

fn allocate() -> *mut c_void {
    let mut address = null_mut();
    // SAFETY: a good place.
    ok(unsafe { sconce_memory_alloc(BYTES, &raw mut address) });
    address
}

/// A thread that makes the calls that it receives, and returns their results.
struct Helper {
    tasks: Sender<Box<dyn FnOnce() -> usize + Send>>,
    results: Receiver<usize>,
}

impl Helper {
    fn new() -> Helper {
        let (tasks, asked) = channel::<Box<dyn FnOnce() -> usize + Send>>();
        let (done, results) = channel();
        std::thread::spawn(move || {
            for task in asked {
                done.send(task()).unwrap();
            }
        });
        Helper { tasks, results }
    }

    fn call(&self, task: impl FnOnce() -> usize + Send + 'static) -> usize {
        self.tasks.send(Box::new(task)).unwrap();
        self.results.recv().unwrap()
    }
}

#[test]
fn each_thread_and_device_has_one() {
    let _alone = alone();
    let helper = Helper::new();
    let stream = own_default(0);
    assert_eq!(own_default(0).id, stream.id);
    let mut native = null_mut();
    // SAFETY: a good place.
    ok(unsafe { sconce_stream_get_native(stream, &raw mut native) });
    assert_eq!(native as usize, 2);
    manual(true);
    ok(sconce_stream_sleep(stream, 1000));
    assert_eq!((pending(stream), pending(own_default(1))), (1, 0));
    // The same handle is another stream there.
    assert_eq!(helper.call(move || pending(own_default(0))), 0);
    let stepped = helper.call(move || {
        let stream = own_default(0);
        ok(sconce_stream_sleep(stream, 1000));
        step_all(stream)
    });
    assert_eq!((stepped, pending(stream)), (1, 1));
    assert_eq!(step_all(stream), 1);
    manual(false);
    let destroyed = sconce_sim_stream_destroy(without_provenance_mut(2));
    refused(destroyed, SCONCE_ERROR_INVALID_HANDLE, "cannot be destroyed");
    ok(sconce_stream_synchronize(stream));
}

#[test]
fn the_legacy_default_stream_waits_for_it_and_it_for_that() {
    let _alone = alone();
    let (stream, legacy) = (own_default(0), default_stream(0));
    manual(true);
    for [first, second] in [[stream, legacy], [legacy, stream]] {
        ok(sconce_stream_sleep(first, 1000));
        ok(sconce_stream_sleep(second, 1000));
        assert_eq!(step_all(second), 0, "it comes behind the other");
        assert_eq!((step_all(first), step_all(second)), (1, 1));
    }
    manual(false);
}

#[test]
fn it_may_be_current_and_captured() {
    let _alone = alone();
    let stream = own_default(0);
    ok(sconce_stream_set_current(stream));
    let [device, back] = [Kind::Device(0), Kind::Pinned].map(|kind| Place::new(kind, 64));
    manual(true);
    ok(set(device.start(), 7, 64));
    ok(copy(back.start(), device.start(), 64, true));
    assert_eq!((pending(stream), pending(default_stream(0))), (2, 0));
    run_until_idle();
    manual(false);
    assert_eq!(back.read(), [7; 64]);
    let mut graph = null_mut();
    // SAFETY: good places and a graph that lives.
    unsafe {
        ok(sconce_graph_create(false.into(), &raw mut graph));
        ok(sconce_graph_capture_begin(graph, stream, null_mut(), SCONCE_CAPTURE_THREAD_LOCAL));
        ok(set(device.start(), 9, 64));
        ok(sconce_graph_capture_end(graph));
        assert_eq!(device.read(), [7; 64]);
        ok(sconce_graph_replay(graph, stream));
        ok(sconce_stream_synchronize(stream));
        assert_eq!(device.read(), [9; 64]);
        ok(sconce_graph_destroy(graph));
    }
    ok(sconce_stream_set_current(default_stream(0)));
}

/// A block of one thread's stream is not handed out for the stream of another while work uses it, however it is freed.
#[test]
fn memory_of_one_threads_stream_is_not_another_threads() {
    let _alone = alone();
    let helper = Helper::new();
    let stream = own_default(0);
    ok(sconce_stream_set_current(stream));
    for freed_here in [true, false] {
        ok(sconce_device_synchronize(0));
        ok(sconce_memory_empty_cache());
        manual(true);
        let block = allocate() as usize;
        let at = |address: usize| std::ptr::with_exposed_provenance_mut::<c_void>(address);
        ok(set(at(block), 1, BYTES));
        if freed_here {
            ok(sconce_memory_free(at(block)));
        }
        let other = helper.call(move || {
            ok(sconce_stream_set_current(own_default(0)));
            if !freed_here {
                ok(sconce_memory_free(std::ptr::with_exposed_provenance_mut(block)));
            }
            allocate() as usize
        });
        assert_ne!(other, block, "the fill of the first thread is still to come");
        assert_eq!(pending(stream), 1);
        run_until_idle();
        manual(false);
        helper.call(move || {
            ok(sconce_memory_free(std::ptr::with_exposed_provenance_mut(other)));
            0
        });
        // The thread that has the stream has its memory again.
        ok(sconce_device_synchronize(0));
        let again = allocate();
        ok(set(again, 2, BYTES));
        ok(sconce_memory_free(again));
    }
    // A use of memory by a thread's stream is waited for as a use of that stream.
    ok(sconce_stream_set_current(default_stream(0)));
    ok(sconce_device_synchronize(0));
    ok(sconce_memory_empty_cache());
    let block = allocate() as usize;
    manual(true);
    ok(sconce_stream_sleep(stream, 1000));
    ok(sconce_memory_record_stream(std::ptr::with_exposed_provenance_mut(block), stream));
    helper.call(move || {
        ok(sconce_memory_free(std::ptr::with_exposed_provenance_mut(block)));
        0
    });
    let next = allocate();
    assert_ne!(next as usize, block, "the stream of this thread still uses it");
    run_until_idle();
    manual(false);
    ok(sconce_memory_free(next));
}
