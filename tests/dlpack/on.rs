//! Exchanges on a stream that the call names, on simulated devices that do nothing unless they are stepped.

use std::ffi::c_void;
use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use sconce_tensors::dlpack::DlpackManaged;
use testkit::places::{Kind, Place, alone, own_stream, pending, pooled};

use crate::order::{assert_waits, manual};
use crate::support::*;

/// Queues work on a stream.
fn work(stream: sconce_stream, place: &Place) {
    // SAFETY: memory of a device is checked.
    ok(unsafe { sconce_memory_set_on(place.start(), 7, 16, stream) });
}

fn export_on(stream: sconce_stream, tensor: Handle, consumer: *mut c_void) -> *mut DlpackManaged {
    let mut managed = null_mut();
    // SAFETY: a good place, and a live stream.
    let status = unsafe {
        sconce_tensor_to_dlpack_unversioned_on(stream, tensor, consumer, &raw mut managed)
    };
    ok(status);
    managed
}

#[test]
fn the_named_stream_is_ordered_with_the_other_library() {
    let _alone = alone();
    let place = Place::new(Kind::Device(0), 64);
    let (current, [named, other]) = (own_stream(0), [pooled(0), pooled(0)]);
    let tensor = tensor(&[8], SCONCE_DTYPE_F32, 0);
    ok(sconce_device_synchronize(0));
    manual(true);
    // The consumer waits for the named stream.
    work(named, &place);
    let mut managed = null_mut();
    // SAFETY: a good place, and a live stream.
    ok(unsafe { sconce_tensor_to_dlpack_on(named, tensor, native(other), &raw mut managed) });
    work(other, &place);
    assert_waits(other, named);
    // The named stream waits for the producer.
    work(other, &place);
    // SAFETY: a live struct and stream.
    let shared =
        made(|out| unsafe { sconce_tensor_from_dlpack_on(named, managed, native(other), out) });
    work(named, &place);
    assert_waits(named, other);
    // The same without a version.
    work(named, &place);
    let managed = export_on(named, tensor, native(other));
    work(other, &place);
    assert_waits(other, named);
    work(other, &place);
    // SAFETY: a live struct and stream.
    let again = made(|out| unsafe {
        sconce_tensor_from_dlpack_unversioned_on(named, managed, native(other), out)
    });
    work(named, &place);
    assert_waits(named, other);
    assert_eq!(pending(current), 0);
    assert_eq!([address(shared), address(again)], [address(tensor); 2]);
    manual(false);
    for tensor in [shared, again, tensor] {
        release(tensor);
    }
}

#[test]
fn a_stream_of_another_device_is_refused_and_the_struct_stays_the_callers() {
    let _alone = alone();
    let place = Place::new(Kind::Device(0), 64);
    let (tensor, wrong) = (tensor(&[8], SCONCE_DTYPE_F32, 0), pooled(1));
    let consumer = native(pooled(0));
    let words = "stream is of device 1, but the memory of this call belongs to device 0";
    let (mut managed, mut old) = (null_mut(), null_mut());
    // SAFETY: a good place, and a live stream.
    let status = unsafe { sconce_tensor_to_dlpack_on(wrong, tensor, consumer, &raw mut managed) };
    refused(status, SCONCE_ERROR_CROSS_DEVICE, words);
    // SAFETY: a good place, and a live stream.
    let status =
        unsafe { sconce_tensor_to_dlpack_unversioned_on(wrong, tensor, consumer, &raw mut old) };
    refused(status, SCONCE_ERROR_CROSS_DEVICE, words);
    assert!(managed.is_null() && old.is_null());
    let producer = Producer::on_device(&place);
    let mut out = null_mut();
    // SAFETY: a live struct and a good place.
    let status =
        unsafe { sconce_tensor_from_dlpack_on(wrong, producer.offered(), NO_STREAM, &raw mut out) };
    refused(status, SCONCE_ERROR_CROSS_DEVICE, words);
    assert!(out.is_null());
    assert_eq!(producer.deletions(), 0);
    release(tensor);
}
