//! The same memory on both sides, and what an export says.

use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use sconce_tensors::dlpack::*;
use testkit::places::alone;

use crate::support::*;

/// Sizes and strides of an exported struct.
fn dims(managed: *mut DlpackManagedVersioned) -> (Vec<i64>, Vec<i64>) {
    // SAFETY: a live struct.
    let DlpackTensor { ndim, shape, strides, .. } = unsafe { (*managed).dl_tensor };
    let array = |values: *mut i64| {
        assert!(!values.is_null());
        // SAFETY: a DLPack tensor with a shape has as many numbers there as dimensions.
        unsafe { std::slice::from_raw_parts(values, ndim as usize) }.to_vec()
    };
    (array(shape), array(strides))
}

#[test]
fn every_type_comes_back_as_itself_on_every_device() {
    let _alone = alone();
    for device in [SCONCE_DEVICE_CPU, 0, 1] {
        for dtype in 0..22 {
            let tensor = tensor(&[2, 3], dtype, device);
            let managed = export(tensor, NO_STREAM);
            // SAFETY: a live struct.
            let DlpackManagedVersioned { head, dl_tensor } = unsafe { *managed };
            assert_eq!((head.version.major, head.version.minor, head.flags), (1, 3, 0));
            let lanes = if dtype == SCONCE_DTYPE_F4_E2M1FN_X2 { 2 } else { 1 };
            assert_eq!(dl_tensor.dtype.lanes, lanes);
            let bits = usize::from(dl_tensor.dtype.bits) * usize::from(lanes);
            assert_eq!(bits, 8 * bytes_of(dtype));
            let expected = if device == SCONCE_DEVICE_CPU { (1, 0) } else { (2, device) };
            assert_eq!((dl_tensor.device.device_type, dl_tensor.device.device_id), expected);
            assert_eq!((dl_tensor.data as usize, dl_tensor.byte_offset), (address(tensor), 0));
            let back = import(managed, NO_STREAM);
            let (mut its_dtype, mut its_device) = (-1, -9);
            // SAFETY: good places.
            ok(unsafe { sconce_tensor_get_dtype(back, &raw mut its_dtype) });
            // SAFETY: a good place.
            ok(unsafe { sconce_tensor_get_device(back, &raw mut its_device) });
            assert_eq!((its_dtype, its_device), (dtype, device));
            assert_eq!((address(back), bytes(back)), (address(tensor), bytes(tensor)));
            release(tensor);
            release(back);
        }
    }
    assert_eq!(sconce_tensor_live_count(), 0);
}

#[test]
fn views_begin_at_their_first_element_and_keep_their_strides() {
    let _alone = alone();
    let whole = tensor(&[4, 6], SCONCE_DTYPE_I16, SCONCE_DEVICE_CPU);
    // SAFETY: good places.
    let turned = made(|out| unsafe { sconce_tensor_transpose(whole, 0, 1, out) });
    // SAFETY: a good place.
    let part = made(|out| unsafe { sconce_tensor_narrow(turned, 0, 2, 3, out) });
    let managed = export(part, NO_STREAM);
    assert_eq!(dims(managed), (vec![3, 4], vec![1, 6]));
    // PyTorch ignores `byte_offset`.
    // SAFETY: a live struct.
    let DlpackTensor { data, byte_offset, .. } = unsafe { (*managed).dl_tensor };
    assert_eq!((data as usize, byte_offset), (address(whole) + 4, 0));
    let back = import(managed, NO_STREAM);
    assert_eq!(bytes(back), bytes(part));
    // What is written on one side is there on the other.
    ok(filled(back));
    assert_eq!(bytes(part), [0; 24]);
    for tensor in [whole, turned, part, back] {
        release(tensor);
    }
}

#[test]
fn strides_that_mean_nothing_are_1_and_all_are_given() {
    let _alone = alone();
    let whole = tensor(&[4, 6], SCONCE_DTYPE_F32, SCONCE_DEVICE_CPU);
    // SAFETY: a good place.
    let column = made(|out| unsafe { sconce_tensor_narrow(whole, 1, 2, 1, out) });
    let managed = export(column, NO_STREAM);
    assert_eq!(dims(managed), (vec![4, 1], vec![6, 1]));
    delete(managed);
    // SAFETY: a good place.
    let row = made(|out| unsafe { sconce_tensor_narrow(column, 0, 1, 1, out) });
    let managed = export(row, NO_STREAM);
    assert_eq!(dims(managed).0, [1, 1]);
    delete(managed);
    let block = tensor(&[4, 5, 6], SCONCE_DTYPE_F32, SCONCE_DEVICE_CPU);
    // SAFETY: a good place.
    let slab = made(|out| unsafe { sconce_tensor_narrow(block, 1, 2, 1, out) });
    let managed = export(slab, NO_STREAM);
    assert_eq!(dims(managed), (vec![4, 1, 6], vec![30, 1, 1]));
    delete(managed);
    let scalar = tensor(&[], SCONCE_DTYPE_F64, SCONCE_DEVICE_CPU);
    let managed = export(scalar, NO_STREAM);
    // SAFETY: a live struct.
    assert_eq!(unsafe { (*managed).dl_tensor.ndim }, 0);
    let back = import(managed, NO_STREAM);
    assert_eq!(bytes(back), bytes(scalar));
    let many = tensor(&[1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2], SCONCE_DTYPE_U8, SCONCE_DEVICE_CPU);
    let managed = export(many, NO_STREAM);
    assert_eq!(dims(managed).0.len(), 12);
    let again = import(managed, NO_STREAM);
    assert_eq!(bytes(again), bytes(many));
}

#[test]
fn tensors_without_elements_have_no_data() {
    let _alone = alone();
    for device in [SCONCE_DEVICE_CPU, 0] {
        let empty = tensor(&[2, 0, 3], SCONCE_DTYPE_F32, device);
        let managed = export(empty, NO_STREAM);
        // SAFETY: a live struct.
        assert!(unsafe { (*managed).dl_tensor.data }.is_null());
        let back = import(managed, NO_STREAM);
        assert_eq!((bytes(back), address(back)), (Vec::new(), 0));
        release(empty);
        release(back);
    }
    // Nor is a producer's looked at, wherever it points to.
    let producer = Producer::new();
    producer.sizes[0] = 0;
    producer.managed.dl_tensor.data = std::ptr::without_provenance_mut(0xdead_beef);
    producer.managed.dl_tensor.byte_offset = u64::MAX;
    producer.managed.dl_tensor.device.device_type = 2;
    ok(producer.imported(0));
    assert_eq!(producer.deletions(), 1);
}

#[test]
fn offsets_and_missing_strides_of_producers_are_accepted() {
    let _alone = alone();
    let producer = Producer::new();
    producer.managed.dl_tensor.byte_offset = 16;
    producer.managed.dl_tensor.strides = null_mut();
    let tensor = import(producer.offered(), NO_STREAM);
    assert_eq!(address(tensor), producer.values.as_ptr() as usize + 16);
    let mut strides = [0; 2];
    // SAFETY: room for both.
    ok(unsafe { sconce_tensor_get_strides(tensor, strides.as_mut_ptr(), 2) });
    assert_eq!(strides, [3, 1]);
    let expected: Vec<u8> = producer.values[4..10].iter().flat_map(|v| v.to_ne_bytes()).collect();
    assert_eq!(bytes(tensor), expected);
    release(tensor);
    let producer = Producer::new();
    producer.strides[0] = 0;
    producer.managed.head.flags = 2;
    let repeated = import(producer.offered(), NO_STREAM);
    assert_eq!(bytes(repeated)[..12], bytes(repeated)[12..]);
    assert!(!is_read_only(repeated), "a copy may be written to");
    release(repeated);
}

#[test]
fn nothing_writes_to_read_only_memory() {
    let _alone = alone();
    let producer = Producer::new();
    producer.managed.head.flags = 1;
    let read_only = import(producer.offered(), NO_STREAM);
    // SAFETY: a good place.
    let view = made(|out| unsafe { sconce_tensor_narrow(read_only, 0, 1, 1, out) });
    // SAFETY: a good place.
    let copy = made(|out| unsafe { sconce_tensor_clone(read_only, 0, out) });
    assert_eq!([read_only, view, copy].map(is_read_only), [true, true, false]);
    use SCONCE_ERROR_INVALID_ARGUMENT as INVALID;
    let words = "the written-to tensor is read-only";
    for tensor in [read_only, view] {
        refused(filled(tensor), INVALID, words);
        refused(sconce_tensor_copy(tensor, copy, false.into()), INVALID, "");
        // SAFETY: `out_tensor` may be NULL beside `into`.
        let status = unsafe { sconce_tensor_unary(SCONCE_UNARY_NEG, tensor, tensor, null_mut()) };
        refused(status, INVALID, words);
    }
    refused(sconce_tensor_copy(read_only, copy, false.into()), INVALID, words);
    ok(filled(copy));
    ok(sconce_tensor_copy(copy, read_only, false.into()));
    assert_eq!(bytes(copy), bytes(read_only));
    assert_eq!(producer.values[..3], [0.0, 1.0, 2.0]);
    // Who gets it next learns it, too.
    let managed = export(view, NO_STREAM);
    // SAFETY: a live struct.
    assert_eq!(unsafe { (*managed).head.flags }, 1);
    delete(managed);
    let mut unversioned = null_mut();
    // SAFETY: a good place.
    let status =
        unsafe { sconce_tensor_to_dlpack_unversioned(view, NO_STREAM, &raw mut unversioned) };
    refused(status, INVALID, "the unversioned struct cannot say");
    release(read_only);
    release(view);
    assert_eq!(producer.deletions(), 1);
}

#[test]
fn the_unversioned_struct_goes_both_ways() {
    let _alone = alone();
    for device in [SCONCE_DEVICE_CPU, 1] {
        let first = tensor(&[3, 2], SCONCE_DTYPE_C64, device);
        let mut managed: *mut DlpackManaged = null_mut();
        // SAFETY: a good place.
        ok(unsafe { sconce_tensor_to_dlpack_unversioned(first, NO_STREAM, &raw mut managed) });
        let expected = bytes(first);
        release(first);
        // SAFETY: a live struct.
        assert_eq!(unsafe { (*managed).dl_tensor.ndim }, 2);
        let back =
            // SAFETY: a live struct and a good place.
            made(|out| unsafe { sconce_tensor_from_dlpack_unversioned(managed, NO_STREAM, out) });
        assert_eq!(bytes(back), expected);
        release(back);
    }
    assert_eq!([0, 1].map(testkit::places::allocated), [0, 0]);
}

#[test]
fn pinned_memory_is_memory_of_the_host_to_consumers() {
    let _alone = alone();
    let (sizes, options) = ([5_i64], options(SCONCE_DTYPE_F32, SCONCE_DEVICE_CPU, true));
    // SAFETY: an array of one number, and good places.
    let pinned =
        made(|out| unsafe { sconce_tensor_empty(sizes.as_ptr(), 1, &raw const options, out) });
    let managed = export(pinned, NO_STREAM);
    // SAFETY: a live struct.
    assert_eq!(unsafe { (*managed).dl_tensor.device.device_type }, 1);
    let back = import(managed, NO_STREAM);
    let mut is_pinned = false;
    // SAFETY: a good place.
    ok(unsafe { sconce_tensor_is_pinned(back, &raw mut is_pinned) });
    assert!(is_pinned, "the driver knows the memory, whatever the struct says");
}
