//! Functions that do with fewer arguments, or under another name, what another function does.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::{Kind, Place, alone};

use crate::api::{CPU, Handle, Outcome, options, refusal, returned};

unsafe extern "C" fn count(calls: *mut c_void) {
    // SAFETY: the tests pass a counter that outlives the tensor.
    unsafe { &*calls.cast::<AtomicUsize>() }.fetch_add(1, Ordering::Relaxed);
}

fn from_blob(
    data: *mut c_void,
    sizes: &[i64],
    strides: Option<&[i64]>,
    asked: Option<&sconce_tensor_options>,
    calls: &AtomicUsize,
) -> Outcome<Handle> {
    let strides = strides.map_or(null(), <[i64]>::as_ptr);
    let asked = asked.map_or(null(), std::ptr::from_ref);
    let user = std::ptr::from_ref(calls).cast_mut().cast();
    // SAFETY: the memory and the counter outlive the tensor.
    returned(|out| unsafe {
        let (sizes, dims) = (sizes.as_ptr(), sizes.len());
        sconce_tensor_from_blob(data, sizes, strides, dims, asked, Some(count), user, out)
    })
}

#[test]
fn a_blob_is_where_its_memory_is() {
    let _one = alone();
    let numbers: Vec<u8> = (0..6).flat_map(i32::to_le_bytes).collect();
    let calls = AtomicUsize::new(0);
    let places = [Kind::Ordinary, Kind::Pinned, Kind::Device(0), Kind::Device(1)];
    for (made, kind) in places.into_iter().enumerate() {
        let memory = Place::holding(kind, &numbers);
        let device = if let Kind::Device(device) = kind { device } else { CPU };
        for asked in [options(SCONCE_DTYPE_I32, -1), options(SCONCE_DTYPE_I32, device)] {
            let blob = |sizes: &[i64], strides| {
                from_blob(memory.start(), sizes, strides, Some(&asked), &calls).unwrap()
            };
            let (whole, every_other) = (blob(&[2, 3], None), blob(&[3], Some(&[2])));
            assert_eq!((whole.device(), whole.data()), (device, memory.start() as usize));
            assert_eq!(whole.i32s(), [0, 1, 2, 3, 4, 5]);
            assert_eq!(every_other.storage(), (memory.start() as usize, 20));
            assert_eq!(every_other.i32s(), [0, 2, 4]);
        }
        assert_eq!(calls.load(Ordering::Relaxed), 4 * (made + 1));
    }
    // Without options: floats.
    let memory = Place::holding(Kind::Ordinary, &1.5_f32.to_le_bytes());
    assert_eq!(from_blob(memory.start(), &[], None, None, &calls).unwrap().f32s(), [1.5]);
    // Without elements: no memory.
    let none = from_blob(null_mut(), &[0, 5], None, None, &calls).unwrap();
    assert_eq!((none.device(), none.numel()), (CPU, 0));
}

#[test]
fn a_blob_that_is_refused_keeps_its_owner() {
    let _one = alone();
    let (host, device) = (Place::new(Kind::Ordinary, 64), Place::new(Kind::Device(1), 64));
    let calls = AtomicUsize::new(0);
    let text = |data, sizes: &[i64], strides, asked: Option<&sconce_tensor_options>| {
        refusal(from_blob(data, sizes, strides, asked, &calls))
    };
    for (found, expected) in [
        (text(null_mut(), &[4], None, None), "data is NULL, but the size is 16 bytes"),
        (text(host.start(), &[-1], None, None), "negative dimension"),
        (text(host.start(), &[1 << 62, 8], None, None), "overflow"),
        (text(host.start(), &[4], Some(&[-1]), None), "Negative strides"),
        (text(host.start(), &[4], Some(&[i64::MAX]), None), "out of bounds"),
        (text(host.start(), &[4], None, Some(&options(-1, 0))), "data 0x"),
        (text(device.start(), &[1 << 40], None, None), "points into an allocation"),
    ] {
        assert!(found.contains(expected), "{expected}: {found}");
    }
    let pinned = sconce_tensor_options { pinned: CBool::TRUE, ..options(-1, CPU) };
    let ordered = sconce_tensor_options {
        memory_format: SCONCE_MEMORY_FORMAT_CHANNELS_LAST,
        ..options(-1, CPU)
    };
    for asked in [pinned, ordered] {
        let found = text(host.start(), &[1, 2, 2, 2], None, Some(&asked));
        assert!(found.contains("leave both at their defaults"), "{found}");
    }
    let elsewhere = from_blob(device.start(), &[4], None, Some(&options(-1, 0)), &calls);
    assert_eq!(elsewhere.unwrap_err().status, SCONCE_ERROR_CROSS_DEVICE);
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}

#[test]
fn zeros_and_ones_are_floats_unless_another_type_is_named() {
    let _one = alone();
    let sizes = [2_i64, 2];
    for device in [0, CPU] {
        for (make, value) in [
            (sconce_tensor_zeros as unsafe extern "C" fn(_, _, _, _) -> _, 0_i32),
            (sconce_tensor_ones, 1),
        ] {
            let made = |asked: sconce_tensor_options| {
                // SAFETY: sizes, options and a writable place.
                returned(|out| unsafe { make(sizes.as_ptr(), 2, &raw const asked, out) }).unwrap()
            };
            assert_eq!(made(options(-1, device)).f32s(), [value as f32; 4]);
            assert_eq!(made(options(SCONCE_DTYPE_I32, device)).i32s(), [value; 4]);
        }
    }
}
