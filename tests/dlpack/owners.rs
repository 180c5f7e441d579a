//! Who deletes what, how often, on which thread.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce::*;
use sconce_tensors::dlpack::*;
use testkit::in_child;
use testkit::places::{allocated, alone, inject};

use crate::support::*;

/// A pointer that another thread may use.
#[derive(Clone, Copy)]
struct Moved(usize);

impl Moved {
    fn of<T>(pointer: *mut T) -> Moved {
        Moved(pointer as usize)
    }

    fn get<T>(self) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.0)
    }
}

#[test]
fn exported_memory_lives_until_its_deleter_is_called_on_any_thread() {
    let _alone = alone();
    let tensor = tensor(&[1000], SCONCE_DTYPE_F32, 0);
    let [first, second] = [export(tensor, NO_STREAM), export(tensor, NO_STREAM)];
    assert_ne!(first, second);
    release(tensor);
    assert_eq!(sconce_tensor_live_count(), 0);
    let first = Moved::of(first);
    std::thread::spawn(move || delete(first.get())).join().unwrap();
    assert!(allocated(0) >= 4000, "the second struct still has the memory");
    let back = import(second, NO_STREAM);
    assert_eq!(bytes(back)[..4], [0, 1, 2, 3]);
    release(back);
    assert_eq!(allocated(0), 0);
}

/// Without a backend: memory of the host needs none.
#[test]
fn a_producers_deleter_is_called_once_by_the_last_view_on_its_thread() {
    let producer = Producer::new();
    let tensor = import(producer.offered(), NO_STREAM);
    // SAFETY: a good place.
    let view = made(|out| unsafe { sconce_tensor_select(tensor, 0, 1, out) });
    let managed = export(view, NO_STREAM);
    release(tensor);
    release(view);
    assert_eq!(producer.deletions(), 0, "an exported struct still uses the memory");
    let again = Moved::of(import(managed, NO_STREAM));
    std::thread::spawn(move || release(again.get())).join().unwrap();
    assert_eq!(producer.deletions(), 1);
    // A producer without a deleter keeps its memory.
    let producer = Producer::new();
    producer.managed.head.deleter = None;
    release(import(producer.offered(), NO_STREAM));
}

static DELETIONS: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn count(_: *mut std::ffi::c_void) {
    DELETIONS.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn threads_that_exchange_leave_nothing() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 200;
    let _alone = alone();
    let shared = tensor(&[64], SCONCE_DTYPE_F32, 0);
    let handle = Moved::of(shared);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let managed = export(handle.get(), NO_STREAM);
                    if (round + thread) % 3 == 0 {
                        delete(managed);
                    } else {
                        release(import(managed, NO_STREAM));
                    }
                    let producer = Producer::new();
                    producer.managed.head.deleter = Some(count);
                    let tensor = import(producer.offered(), NO_STREAM);
                    let managed = export(tensor, NO_STREAM);
                    release(tensor);
                    delete(managed);
                }
            });
        }
    });
    assert_eq!(DELETIONS.load(Ordering::SeqCst), THREADS * ROUNDS);
    release(shared);
    assert_eq!((allocated(0), sconce_tensor_live_count()), (0, 0));
}

/// Failing driver calls leave the struct to the caller, and one more try succeeds.
#[test]
fn an_import_that_fails_in_the_driver_takes_nothing() {
    let _alone = alone();
    let place = testkit::places::Place::new(testkit::places::Kind::Device(0), 64);
    let stream = testkit::places::pooled(0);
    let stream = native(stream) as usize;
    for call in ["pointer_info", "event_record", "stream_wait_event"] {
        let producer = Producer::on_device(&place);
        inject(call, 1, 1);
        assert_ne!(producer.imported(stream), sconce_status::SCONCE_OK, "{call}");
        assert_eq!((producer.deletions(), sconce_tensor_live_count()), (0, 0), "{call}");
        ok(sconce_sim_clear_faults());
        ok(producer.imported(stream));
        assert_eq!(producer.deletions(), 1, "{call}");
    }
    // What fails at the end does not keep the memory.
    let producer = Producer::on_device(&place);
    let tensor = import(producer.offered(), std::ptr::with_exposed_provenance_mut(stream));
    inject("stream_wait_event", 1, 1);
    release(tensor);
    assert_eq!(producer.deletions(), 1);
    ok(sconce_sim_clear_faults());
}

static LEFT: AtomicUsize = AtomicUsize::new(0);

extern "C" fn delete_at_exit() {
    delete(std::ptr::with_exposed_provenance_mut(LEFT.load(Ordering::SeqCst)));
}

#[test]
fn deleters_may_run_at_exit() {
    in_child("deleters_may_run_at_exit", &[("SCONCE_BACKEND", "sim")], || {
        // SAFETY: registered before the library's own functions, so that it runs after them.
        assert_eq!(unsafe { libc::atexit(delete_at_exit) }, 0);
        let tensor = tensor(&[1000], SCONCE_DTYPE_F32, 0);
        LEFT.store(export(tensor, NO_STREAM) as usize, Ordering::SeqCst);
        release(tensor);
        // Another one is never deleted, and neither is an imported tensor.
        import(export(self::tensor(&[3], SCONCE_DTYPE_I8, 0), NO_STREAM), NO_STREAM);
    });
}

#[test]
fn deleters_do_nothing_in_a_forked_child() {
    let _alone = alone();
    let on_device = tensor(&[1000], SCONCE_DTYPE_F32, 0);
    let managed = export(on_device, NO_STREAM);
    let code = testkit::fork::forked(libc::_exit, || {
        delete(managed);
        0
    });
    assert_eq!(code, 0);
    delete(managed);
    release(on_device);
    assert_eq!(allocated(0), 0);
}

#[test]
fn a_deleter_takes_null() {
    let _alone = alone();
    let tensor = tensor(&[1], SCONCE_DTYPE_F32, SCONCE_DEVICE_CPU);
    let managed = export(tensor, NO_STREAM);
    // SAFETY: a live struct.
    let deleter = unsafe { (*managed).head.deleter }.unwrap();
    // SAFETY: NULL is nothing.
    unsafe { deleter(null_mut()) };
    let mut unversioned: *mut DlpackManaged = null_mut();
    // SAFETY: a good place.
    ok(unsafe { sconce_tensor_to_dlpack_unversioned(tensor, NO_STREAM, &raw mut unversioned) });
    // SAFETY: a live struct.
    let other = unsafe { (*unversioned).deleter }.unwrap();
    // SAFETY: NULL is nothing.
    unsafe { other(null_mut()) };
    delete(managed);
    // SAFETY: called once, with its struct.
    unsafe { other(unversioned.cast()) };
    release(tensor);
}
