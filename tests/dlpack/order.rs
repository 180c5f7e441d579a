//! The order of streams, on simulated devices that do nothing unless they are stepped.

use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};

use sconce::*;
use testkit::places::{
    Kind, Place, alone, calls, captured, default_stream, own_stream, pending, pooled,
    run_until_idle, set, step_all,
};

use crate::support::*;

pub(crate) fn manual(on: bool) {
    ok(sconce_sim_set_manual(on.into()));
}

/// Queues work on a stream, and leaves `current` current.
fn work(stream: sconce_stream, current: sconce_stream, place: &Place) {
    ok(sconce_stream_set_current(stream));
    ok(set(place.start(), 7, 16));
    ok(sconce_stream_set_current(current));
}

/// Whether `stream` can do nothing before `other`'s work is done, and all then.
#[track_caller]
pub(crate) fn assert_waits(stream: sconce_stream, other: sconce_stream) {
    let queued = pending(stream);
    assert!(queued > 0 && pending(other) > 0);
    step_all(stream);
    assert!(pending(stream) > 0, "the stream does not wait");
    step_all(other);
    step_all(stream);
    assert_eq!((pending(stream), pending(other)), (0, 0));
}

#[test]
fn an_export_makes_the_consumers_stream_wait_for_the_current_one() {
    let _alone = alone();
    let place = Place::new(Kind::Device(0), 16);
    let (current, consumer) = (own_stream(0), pooled(0));
    let tensor = tensor(&[8], SCONCE_DTYPE_F32, 0);
    ok(sconce_device_synchronize(0));
    manual(true);
    work(current, current, &place);
    let managed = export(tensor, native(consumer));
    work(consumer, current, &place);
    assert_waits(consumer, current);
    delete(managed);
    // Without a stream nobody waits, and nothing is recorded.
    let before = calls("event_record");
    for stream in [null_mut(), without_provenance_mut(usize::MAX), native(current)] {
        delete(export(tensor, stream));
    }
    assert_eq!(calls("event_record"), before);
    manual(false);
}

#[test]
fn default_streams_have_numbers() {
    let _alone = alone();
    let place = Place::new(Kind::Device(0), 16);
    let current = own_stream(0);
    let tensor = tensor(&[8], SCONCE_DTYPE_F32, 0);
    ok(sconce_device_synchronize(0));
    manual(true);
    work(current, current, &place);
    let managed = export(tensor, without_provenance_mut(1));
    work(default_stream(0), current, &place);
    assert_waits(default_stream(0), current);
    delete(managed);
    run_until_idle();
    // The default stream of the calling thread.
    let mut of_thread = sconce_stream { id: -1, device: -1, reserved: -1 };
    let two = without_provenance_mut(2);
    // SAFETY: 2 names a stream of every thread; a good place.
    ok(unsafe { sconce_stream_get_from_external(two, 0, &raw mut of_thread) });
    work(current, current, &place);
    let managed = export(tensor, two);
    work(of_thread, current, &place);
    assert_waits(of_thread, current);
    delete(managed);
    manual(false);
    let mut managed = null_mut();
    use sconce_status::{SCONCE_ERROR_INVALID_ARGUMENT, SCONCE_ERROR_INVALID_HANDLE};
    for (number, expected) in [
        (3, SCONCE_ERROR_INVALID_ARGUMENT),
        (4, SCONCE_ERROR_INVALID_HANDLE),
        (0x1001, SCONCE_ERROR_INVALID_ARGUMENT),
    ] {
        let stream = without_provenance_mut(number);
        // SAFETY: the number is no stream.
        let status = unsafe { sconce_tensor_to_dlpack(tensor, stream, &raw mut managed) };
        refused(status, expected, "consumer_stream: ");
    }
    release(tensor);
}

#[test]
fn exported_memory_is_not_used_again_before_the_consumers_work_is_done() {
    let _alone = alone();
    let scratch = Place::new(Kind::Device(0), 16);
    let (current, consumer) = (own_stream(0), pooled(0));
    let (sizes, options) = ([3_000_000_i64], options(SCONCE_DTYPE_F32, 0, false));
    let empty = || {
        // SAFETY: an array of one number, and good places.
        made(|out| unsafe { sconce_tensor_empty(sizes.as_ptr(), 1, &raw const options, out) })
    };
    let tensor = empty();
    let first = address(tensor);
    manual(true);
    let managed = export(tensor, native(consumer));
    release(tensor);
    work(consumer, current, &scratch);
    delete(managed);
    let other = empty();
    assert_ne!(address(other), first, "the consumer still uses it");
    run_until_idle();
    let again = empty();
    assert_eq!(address(again), first);
    manual(false);
}

#[test]
fn an_import_makes_the_current_stream_wait_for_the_producers() {
    let _alone = alone();
    let place = Place::new(Kind::Device(0), 64);
    let (current, other) = (own_stream(0), pooled(0));
    manual(true);
    work(other, current, &place);
    let producer = Producer::on_device(&place);
    let tensor = import(producer.offered(), native(other));
    work(current, current, &place);
    assert_waits(current, other);
    // At the end the producer's stream waits, and the deleter does not.
    work(current, current, &place);
    release(tensor);
    assert_eq!(producer.deletions(), 1);
    work(other, current, &place);
    assert_waits(other, current);
    manual(false);
}

#[test]
fn without_a_producers_stream_the_current_one_is_home() {
    let _alone = alone();
    let place = Place::new(Kind::Device(0), 64);
    let (home, user) = (own_stream(0), pooled(0));
    manual(true);
    let producer = Producer::on_device(&place);
    let before = calls("event_record");
    let tensor = import(producer.offered(), null_mut());
    work(home, home, &place);
    release(tensor);
    assert_eq!((calls("event_record"), producer.deletions()), (before, 1));
    run_until_idle();
    let tensor = import(producer.offered(), null_mut());
    ok(sconce_tensor_record_stream(tensor, user));
    ok(sconce_tensor_record_stream(tensor, user));
    work(user, home, &place);
    release(tensor);
    assert_eq!((calls("event_record"), producer.deletions()), (before + 1, 2));
    work(home, home, &place);
    assert_waits(home, user);
    manual(false);
}

#[test]
fn a_producer_that_allocates_here_does_not_get_its_memory_back_too_early() {
    let _alone = alone();
    let scratch = Place::new(Kind::Device(0), 16);
    let (home, user) = (own_stream(0), pooled(0));
    let (sizes, options) = ([3_000_000_i64], options(SCONCE_DTYPE_F32, 0, false));
    let empty = || {
        // SAFETY: an array of one number, and good places.
        made(|out| unsafe { sconce_tensor_empty(sizes.as_ptr(), 1, &raw const options, out) })
    };
    let tensor = empty();
    let first = address(tensor);
    let managed = export(tensor, null_mut());
    release(tensor);
    manual(true);
    ok(sconce_stream_set_current(user));
    let imported = import(managed, null_mut());
    work(user, user, &scratch);
    release(imported);
    ok(sconce_stream_set_current(home));
    assert_ne!(address(empty()), first, "the importing stream still uses it");
    manual(false);
}

#[test]
fn a_producers_stream_may_be_gone_at_the_end() {
    let _alone = alone();
    let place = Place::new(Kind::Device(0), 64);
    let current = own_stream(0);
    let mut theirs: *mut c_void = null_mut();
    // SAFETY: a good place.
    ok(unsafe { sconce_sim_stream_create(0, 1, 0, &raw mut theirs) });
    let producer = Producer::on_device(&place);
    let tensor = import(producer.offered(), theirs);
    // The simulator ends the process if anybody uses the handle from now on.
    ok(sconce_sim_stream_destroy(theirs));
    ok(sconce_stream_sleep(current, 30_000_000));
    assert!(pending(current) > 0);
    release(tensor);
    assert_eq!((pending(current), producer.deletions()), (0, 1), "the host waits instead");
}

#[test]
fn exchange_works_within_a_capture() {
    let _alone = alone();
    let place = Place::new(Kind::Device(0), 64);
    let tensor = tensor(&[8], SCONCE_DTYPE_F32, 0);
    let producer = Producer::on_device(&place);
    let other = pooled(0);
    captured(|_| {
        delete(export(tensor, null_mut()));
        release(import(producer.offered(), null_mut()));
        let imported = import(producer.offered(), null_mut());
        ok(sconce_tensor_record_stream(imported, other));
        release(imported);
    });
    assert_eq!(producer.deletions(), 2);
}
