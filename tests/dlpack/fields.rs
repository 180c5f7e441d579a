//! What each field of a struct may be. A refusal leaves the struct to the caller, who can offer it again.

use std::ptr::{null_mut, without_provenance_mut};

use sconce::sconce_status::*;
use sconce::*;
use sconce_base::element::DlpackType;
use sconce_tensors::dlpack::*;
use testkit::places::{Kind, Place, alone};

use crate::support::*;

/// Offers a struct with a field changed, and sees a refusal; then the struct as it was, and sees it taken.
#[track_caller]
fn refuses(status: sconce_status, words: &str, change: impl FnOnce(&mut Producer)) {
    let producer = Producer::new();
    let before = producer.managed;
    change(producer);
    refused(producer.imported(0), status, words);
    assert_eq!(producer.deletions(), 0, "a refused struct is its caller's: {words}");
    producer.managed = before;
    (producer.sizes[0], producer.strides[0]) = (2, 3);
    (producer.sizes[1], producer.strides[1]) = (3, 1);
    ok(producer.imported(0));
    assert_eq!(producer.deletions(), 1);
}

#[test]
fn no_field_may_contradict_another() {
    let _alone = alone();
    use SCONCE_ERROR_INVALID_ARGUMENT as INVALID;
    use SCONCE_ERROR_NOT_SUPPORTED as UNSUPPORTED;
    refuses(INVALID, "ndim is -1", |p| p.managed.dl_tensor.ndim = -1);
    refuses(INVALID, "ndim is 2147483647", |p| p.managed.dl_tensor.ndim = i32::MAX);
    refuses(INVALID, "dl_tensor.shape is NULL", |p| p.managed.dl_tensor.shape = null_mut());
    refuses(INVALID, "dl_tensor.shape is not aligned", |p| {
        p.managed.dl_tensor.shape = without_provenance_mut(p.sizes.as_ptr() as usize + 1);
    });
    refuses(INVALID, "dl_tensor.strides is not aligned", |p| {
        p.managed.dl_tensor.strides = without_provenance_mut(p.strides.as_ptr() as usize + 4);
    });
    refuses(INVALID, "dl_tensor.shape[1] is -3", |p| p.sizes[1] = -3);
    refuses(INVALID, "overflowed", |p| (p.sizes[0], p.sizes[1]) = (i64::MAX, i64::MAX));
    refuses(INVALID, "further than memory", |p| p.strides[0] = i64::MAX);
    refuses(INVALID, "further than memory", |p| p.strides[0] = i64::MAX / 4);
    refuses(UNSUPPORTED, "dl_tensor.strides[0] is -3", |p| p.strides[0] = -3);
    refuses(INVALID, "dl_tensor.data is NULL", |p| p.managed.dl_tensor.data = null_mut());
    refuses(INVALID, "beyond the last address", |p| p.managed.dl_tensor.byte_offset = u64::MAX);
    refuses(UNSUPPORTED, "not a multiple of the 4 bytes", |p| p.managed.dl_tensor.byte_offset = 2);
    refuses(UNSUPPORTED, "flags is 0x9", |p| p.managed.head.flags = 9);
}

#[test]
fn devices_are_those_that_the_library_has() {
    let _alone = alone();
    for device_type in [0, 4, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, -1, i32::MAX, i32::MIN] {
        let words = format!("dl_tensor.device.device_type is {device_type}");
        refuses(SCONCE_ERROR_NOT_SUPPORTED, &words, |p| {
            p.managed.dl_tensor.device.device_type = device_type;
        });
    }
    for (device_type, device_id) in [(2, -1), (2, 99), (13, 99), (2, i32::MIN)] {
        refuses(SCONCE_ERROR_INVALID_DEVICE, "dl_tensor.device.device_id", |p| {
            p.managed.dl_tensor.device = DlpackDevice { device_type, device_id };
        });
    }
    // The host's memory is no GPU's, and the other GPU's is not the one that is named.
    refuses(SCONCE_ERROR_INVALID_ARGUMENT, "is memory of the host", |p| {
        p.managed.dl_tensor.device.device_type = 2;
    });
    // Nor is a GPU's memory the host's, which the processor reads.
    let near = Place::new(Kind::Device(0), 64);
    for device_type in [1, 3] {
        refuses(SCONCE_ERROR_INVALID_ARGUMENT, "memory of the host is expected", |p| {
            p.managed.dl_tensor.device.device_type = device_type;
            p.managed.dl_tensor.data = near.start();
        });
    }
    let other = Place::new(Kind::Device(1), 64);
    refuses(SCONCE_ERROR_INVALID_ARGUMENT, "is memory of device 1", |p| {
        p.managed.dl_tensor.device.device_type = 2;
        p.managed.dl_tensor.data = other.start();
    });
    let short = Place::new(Kind::Device(0), 1024);
    refuses(SCONCE_ERROR_INVALID_ARGUMENT, "less than", |p| {
        p.managed.dl_tensor.device.device_type = 2;
        p.managed.dl_tensor.data = short.start();
        p.sizes[0] = 1 << 40;
    });
    // The index of memory of the host means nothing.
    for device_type in [1, 3] {
        let producer = Producer::new();
        producer.managed.dl_tensor.device = DlpackDevice { device_type, device_id: 77 };
        let tensor = import(producer.offered(), NO_STREAM);
        let mut device = 0;
        // SAFETY: a good place.
        ok(unsafe { sconce_tensor_get_device(tensor, &raw mut device) });
        assert_eq!(device, SCONCE_DEVICE_CPU);
        release(tensor);
        assert_eq!(producer.deletions(), 1);
    }
}

#[test]
fn types_of_several_lanes_and_unknown_ones_are_refused_with_words() {
    let lanes = DlpackType { code: 2, bits: 32, lanes: 4 };
    refuses(SCONCE_ERROR_NOT_SUPPORTED, "one lane with one dimension more", |p| {
        p.managed.dl_tensor.dtype = lanes;
    });
    for (code, bits, lanes) in [
        (3, 64, 1),
        (2, 8, 1),
        (2, 32, 0),
        (6, 1, 1),
        (7, 8, 1),
        (15, 6, 1),
        (17, 4, 1),
        (255, 255, 1),
    ] {
        let words = format!("code {code}, {bits} bits and {lanes} lanes");
        refuses(SCONCE_ERROR_NOT_SUPPORTED, &words, |p| {
            p.managed.dl_tensor.dtype = DlpackType { code, bits, lanes };
        });
    }
    // Two values of four bits in a byte; each with a byte of its own is another layout.
    let packed = DlpackType { code: 17, bits: 4, lanes: 2 };
    refuses(SCONCE_ERROR_NOT_SUPPORTED, "have a byte each", |p| {
        p.managed.dl_tensor.dtype = packed;
        p.managed.head.flags = 4;
    });
    let producer = Producer::new();
    producer.managed.dl_tensor.dtype = packed;
    ok(producer.imported(0));
}

#[test]
fn a_struct_of_another_major_version_is_deleted_and_refused() {
    let _alone = alone();
    for major in [2, 0, u32::MAX] {
        let producer = Producer::new();
        producer.managed.head.version.major = major;
        let words = format!("managed.version is {major}.0, but this library knows DLPack 1");
        refused(producer.imported(0), SCONCE_ERROR_NOT_SUPPORTED, &words);
        assert_eq!(producer.deletions(), 1);
        producer.managed.head.deleter = None;
        refused(producer.imported(0), SCONCE_ERROR_NOT_SUPPORTED, &words);
    }
    // Another minor version has other values, which are checked one by one.
    let producer = Producer::new();
    producer.managed.head.version.minor = 99;
    ok(producer.imported(0));
    assert_eq!(producer.deletions(), 1);
}

#[test]
fn pointers_and_streams_are_checked() {
    let _alone = alone();
    let producer = Producer::new();
    let managed = producer.offered();
    let odd = without_provenance_mut(managed as usize + 1);
    let mut out = null_mut();
    for (managed, place, words) in [
        (null_mut(), &raw mut out, "managed is NULL"),
        (odd, &raw mut out, "managed is not aligned"),
        (managed, null_mut(), "out_tensor is NULL"),
    ] {
        // SAFETY: NULL and misaligned pointers are allowed.
        let status = unsafe { sconce_tensor_from_dlpack(managed, NO_STREAM, place) };
        refused(status, SCONCE_ERROR_INVALID_ARGUMENT, words);
        // SAFETY: NULL and misaligned pointers are allowed.
        let status =
            unsafe { sconce_tensor_from_dlpack_unversioned(managed.cast(), NO_STREAM, place) };
        refused(status, SCONCE_ERROR_INVALID_ARGUMENT, words);
    }
    for stream in [1, 2, 0x1000] {
        refused(producer.imported(stream), SCONCE_ERROR_INVALID_ARGUMENT, "producer_stream is 0x");
    }
    assert_eq!(producer.deletions(), 0);
    ok(producer.imported(usize::MAX));

    let tensor = tensor(&[2], SCONCE_DTYPE_F32, SCONCE_DEVICE_CPU);
    let mut exported = null_mut();
    let one = without_provenance_mut(1);
    // SAFETY: good places.
    let status = unsafe { sconce_tensor_to_dlpack(tensor, one, &raw mut exported) };
    refused(status, SCONCE_ERROR_INVALID_ARGUMENT, "consumer_stream is 0x0, but the tensor is on");
    // SAFETY: NULL is allowed.
    let status = unsafe { sconce_tensor_to_dlpack(tensor, NO_STREAM, null_mut()) };
    refused(status, SCONCE_ERROR_INVALID_ARGUMENT, "out_managed is NULL");
    assert!(exported.is_null());
    release(tensor);
    // SAFETY: a dead handle is recognised.
    let status = unsafe { sconce_tensor_to_dlpack(tensor, NO_STREAM, &raw mut exported) };
    refused(status, SCONCE_ERROR_INVALID_HANDLE, "tensor is not a tensor");
    // SAFETY: a good place.
    let undefined = made(|out| unsafe { sconce_tensor_undefined(out) });
    // SAFETY: a good place.
    let status = unsafe { sconce_tensor_to_dlpack(undefined, NO_STREAM, &raw mut exported) };
    refused(status, SCONCE_ERROR_INVALID_ARGUMENT, "undefined tensor");
}

#[test]
fn types_have_a_number_of_each_side() {
    for dtype in 0..=SCONCE_DTYPE_F4_E2M1FN_X2 {
        let [mut code, mut bits, mut lanes, mut back] = [-1; 4];
        // SAFETY: the places are valid for a write.
        ok(unsafe { sconce_dlpack_get_type(dtype, &raw mut code, &raw mut bits, &raw mut lanes) });
        let mut bytes = 0;
        // SAFETY: the place is valid for a write.
        ok(unsafe { sconce_dtype_get_bytes(dtype, &raw mut bytes) });
        assert_eq!(bits * lanes, 8 * bytes as i32, "{dtype}");
        // SAFETY: the place is valid for a write.
        ok(unsafe { sconce_dlpack_get_dtype(code, bits, lanes, &raw mut back) });
        assert_eq!(back, dtype);
    }
    for (code, bits, lanes) in [(2, 32, 4), (3, 64, 1), (2, 288, 1), (-1, 32, 1), (258, 32, 1)] {
        let mut dtype = 7;
        // SAFETY: the place is valid for a write.
        let status = unsafe { sconce_dlpack_get_dtype(code, bits, lanes, &raw mut dtype) };
        assert_eq!((status, dtype), (SCONCE_ERROR_NOT_SUPPORTED, 7), "{code} {bits} {lanes}");
    }
}
