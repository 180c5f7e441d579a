//! Exchanges while a stream is current, on simulated devices that do nothing unless they are stepped.

use std::ffi::c_void;
use std::ptr::null_mut;

use sconce::*;
use sconce_tensors::dlpack::DlpackManaged;
use testkit::places::{Kind, Place, alone, own_stream, pending, pooled, under};

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
    let status = under(stream, || unsafe {
        sconce_tensor_to_dlpack_unversioned(tensor, consumer, &raw mut managed)
    });
    ok(status);
    managed
}

#[test]
fn the_current_stream_is_ordered_with_the_other_library() {
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
    ok(under(named, || unsafe {
        sconce_tensor_to_dlpack(tensor, native(other), &raw mut managed)
    }));
    work(other, &place);
    assert_waits(other, named);
    // The named stream waits for the producer.
    work(other, &place);
    let shared = made(|out| {
        // SAFETY: a live struct and stream, and a place that `made` passes.
        under(named, || unsafe { sconce_tensor_from_dlpack(managed, native(other), out) })
    });
    work(named, &place);
    assert_waits(named, other);
    // The same without a version.
    work(named, &place);
    let managed = export_on(named, tensor, native(other));
    work(other, &place);
    assert_waits(other, named);
    work(other, &place);
    let again = made(|out| {
        // SAFETY: a live struct and stream, and a place that `made` passes.
        under(named, || unsafe {
            sconce_tensor_from_dlpack_unversioned(managed, native(other), out)
        })
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
