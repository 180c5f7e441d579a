//! `to`, `clone`, `contiguous`, `pin_memory` and `item`: what is copied, what is the same tensor, and how
//! results lie in memory.

use sconce::*;
use testkit::places::alone;

use super::spot::SPOTS;
use crate::api::{self, CPU, Handle, options, refusal};
use crate::create::{from_bytes, from_f32, from_i32};
use crate::storage::figures::Figures;

fn counting(sizes: &[i64], device: i32) -> Handle {
    let count = sizes.iter().product::<i64>() as i32;
    from_i32(&(0..count).collect::<Vec<i32>>(), sizes, device)
}

fn with_format(device: i32, memory_format: i32) -> sconce_tensor_options {
    sconce_tensor_options { memory_format, ..options(SCONCE_DTYPE_DEFAULT, device) }
}

#[test]
fn a_conversion_to_the_same_is_the_same_handle() {
    let _one = alone();
    let start = Figures::now();
    for spot in SPOTS {
        let tensor = spot.holding(&counting(&[2, 3], CPU));
        let device = spot.device();
        for same in [options(-1, -1), options(SCONCE_DTYPE_I32, device)] {
            let result = tensor.to(&same, false).unwrap();
            assert_eq!(result.raw(), tensor.raw());
            let copy = tensor.to(&same, true).unwrap();
            assert_ne!(copy.raw(), tensor.raw());
            assert!(!copy.shares_storage(&tensor));
            assert_eq!((copy.i32s(), copy.device()), (tensor.i32s(), device));
            assert!(!copy.is_pinned());
        }
        let contiguous = tensor.contiguous(SCONCE_MEMORY_FORMAT_CONTIGUOUS).unwrap();
        assert_eq!(contiguous.raw(), tensor.raw());
        assert_eq!(tensor.clone_as(SCONCE_MEMORY_FORMAT_PRESERVE).unwrap().i32s(), tensor.i32s());
        drop(contiguous);
        assert_eq!(tensor.i32s(), [0, 1, 2, 3, 4, 5]);
    }
    start.assert_unchanged();
}

#[test]
fn tensors_move_between_all_places() {
    let _one = alone();
    let start = Figures::now();
    for (from, to) in SPOTS.into_iter().flat_map(|from| SPOTS.map(move |to| (from, to))) {
        let tensor = from.holding(&counting(&[4, 3], CPU)).transpose(0, 1).unwrap();
        let moved = tensor.to(&options(-1, to.device()), false).unwrap();
        assert_eq!((moved.device(), moved.i32s()), (to.device(), tensor.i32s()));
        // Dense tensors keep the order of their dimensions in memory.
        assert_eq!(moved.strides(), [1, 3]);
        assert_eq!(moved.raw() == tensor.raw(), from.device() == to.device());
        let gaps = tensor.narrow(0, 0, 2).unwrap();
        let moved = gaps.to(&options(-1, to.device()), true).unwrap();
        assert_eq!((moved.strides(), moved.i32s()), (vec![1, 2], gaps.i32s()));
    }
    start.assert_unchanged();
}

#[test]
fn copies_have_the_order_in_memory_that_was_asked_for() {
    let _one = alone();
    for device in [CPU, 0] {
        let image = counting(&[2, 3, 4, 5], device);
        let last = image.clone_as(SCONCE_MEMORY_FORMAT_CHANNELS_LAST).unwrap();
        assert_eq!(last.strides(), [60, 1, 15, 3]);
        assert_eq!(last.i32s(), image.i32s());
        assert!(last.is_contiguous(SCONCE_MEMORY_FORMAT_CHANNELS_LAST));
        assert!(!last.is_contiguous(SCONCE_MEMORY_FORMAT_CONTIGUOUS));
        assert!(last.is_contiguous(SCONCE_MEMORY_FORMAT_PRESERVE));
        assert!(!image.is_contiguous(SCONCE_MEMORY_FORMAT_CHANNELS_LAST));
        let same = last.contiguous(SCONCE_MEMORY_FORMAT_CHANNELS_LAST).unwrap();
        assert_eq!(same.raw(), last.raw());
        let preserved = last.clone_as(SCONCE_MEMORY_FORMAT_PRESERVE).unwrap();
        assert_eq!(preserved.strides(), [60, 1, 15, 3]);
        let back = last.contiguous(SCONCE_MEMORY_FORMAT_CONTIGUOUS).unwrap();
        assert_eq!((back.strides(), back.i32s()), (vec![60, 20, 5, 1], image.i32s()));
        let moved = image.to(&with_format(1, SCONCE_MEMORY_FORMAT_CHANNELS_LAST), false).unwrap();
        assert_eq!((moved.strides(), moved.i32s()), (vec![60, 1, 15, 3], image.i32s()));
        let other = with_format(-1, SCONCE_MEMORY_FORMAT_CHANNELS_LAST);
        assert_eq!(last.to(&other, false).unwrap().raw(), last.raw());
        assert_ne!(image.to(&other, false).unwrap().raw(), image.raw());
        let video = counting(&[1, 2, 2, 2, 2], device);
        let last = video.clone_as(SCONCE_MEMORY_FORMAT_CHANNELS_LAST_3D).unwrap();
        assert_eq!(last.strides(), [16, 1, 8, 4, 2]);
        let text = refusal(video.clone_as(SCONCE_MEMORY_FORMAT_CHANNELS_LAST));
        assert!(text.contains("required rank 4 tensor to use channels_last format"), "{text}");
        let text = refusal(image.contiguous(SCONCE_MEMORY_FORMAT_PRESERVE));
        assert!(text.contains("preserve memory format is unsupported by the contiguous operator"));
        // Repeated elements become elements of their own.
        let wide = counting(&[3, 1], device).expand(&[3, 2]).unwrap();
        let copy = wide.clone_as(SCONCE_MEMORY_FORMAT_PRESERVE).unwrap();
        assert_eq!((copy.i32s(), copy.storage().1), (vec![0, 0, 1, 1, 2, 2], 24));
    }
}

#[test]
fn pinned_copies() {
    let _one = alone();
    let start = Figures::now();
    let turned = counting(&[2, 3], CPU).transpose(0, 1).unwrap();
    let pinned = turned.pin_memory().unwrap();
    assert!(pinned.is_pinned() && !turned.is_pinned());
    assert_eq!((pinned.i32s(), pinned.strides()), (turned.i32s(), vec![1, 3]));
    let again = pinned.narrow(0, 1, 2).unwrap();
    assert_eq!(again.pin_memory().unwrap().raw(), again.raw());
    let device = counting(&[2], 1);
    assert!(!device.is_pinned());
    let text = refusal(device.pin_memory());
    assert!(text.contains("cannot pin") && text.contains("only dense CPU tensors can be pinned"));
    // A copy to the CPU that does not wait lands in pinned memory.
    // SAFETY: options and a writable place.
    let landed = api::returned(|out| unsafe {
        let options = options(-1, CPU);
        sconce_tensor_to(device.raw(), &raw const options, CBool::TRUE, CBool::FALSE, out)
    })
    .unwrap();
    sconce_runtime::device::synchronize(1).unwrap();
    assert_eq!((landed.is_pinned(), landed.i32s()), (true, vec![0, 1]));
    // Without a device, pinned memory is the CPU's; a conversion keeps its device.
    let anywhere = sconce_tensor_options { pinned: CBool::TRUE, ..options(-1, -1) };
    let ones = crate::create::full(&[2], crate::api::integer(1), &anywhere).unwrap();
    let like = crate::create::empty_like(&device, &anywhere).unwrap();
    for tensor in [&ones, &like] {
        assert_eq!((tensor.device(), tensor.is_pinned()), (CPU, true));
    }
    assert_eq!(device.to(&anywhere, false).unwrap().raw(), device.raw());
    drop((ones, like));
    let on_device = sconce_tensor_options { pinned: CBool::TRUE, ..options(-1, 0) };
    let text = refusal(crate::create::empty(&[2], &on_device));
    assert!(text.contains("Only dense CPU tensors can be pinned"), "{text}");
    drop((turned, pinned, again, device, landed));
    start.assert_unchanged();
}

#[test]
fn items_of_every_kind_and_place() {
    let _one = alone();
    let start = Figures::now();
    let cases: [(i32, Vec<u8>, sconce_scalar); 9] = [
        (SCONCE_DTYPE_I8, vec![0xfe], api::integer(-2)),
        (SCONCE_DTYPE_U8, vec![0xfe], api::integer(254)),
        (SCONCE_DTYPE_I64, i64::MIN.to_le_bytes().to_vec(), api::integer(i64::MIN)),
        (SCONCE_DTYPE_BOOL, vec![1], api::truth(true)),
        (SCONCE_DTYPE_F32, 1.5_f32.to_le_bytes().to_vec(), api::real(1.5)),
        (SCONCE_DTYPE_F64, (-0.1_f64).to_le_bytes().to_vec(), api::real(-0.1)),
        (SCONCE_DTYPE_F16, vec![0x00, 0x3e], api::real(1.5)),
        (SCONCE_DTYPE_BF16, vec![0xc0, 0x3f], api::real(1.5)),
        (
            SCONCE_DTYPE_C64,
            [0.5_f32, -2.0].iter().flat_map(|part| part.to_le_bytes()).collect(),
            sconce_scalar {
                kind: SCONCE_SCALAR_COMPLEX,
                real: 0.5,
                imaginary: -2.0,
                ..api::real(0.0)
            },
        ),
    ];
    for (dtype, bytes, expected) in &cases {
        for spot in SPOTS {
            for sizes in [&[][..], &[1, 1]] {
                let tensor = spot.holding(&from_bytes(bytes, sizes, *dtype, CPU).unwrap());
                assert_eq!(tensor.item().unwrap(), *expected, "{spot:?}");
            }
        }
    }
    for device in [CPU, 0] {
        let text = refusal(from_f32(&[1.0, 2.0], &[2], device).item());
        assert!(text.contains("a Tensor with 2 elements cannot be converted to Scalar"), "{text}");
        let text = refusal(from_f32(&[], &[0], device).item());
        assert!(text.contains("a Tensor with 0 elements cannot be converted to Scalar"), "{text}");
        let last = from_i32(&[4, 5, 6], &[3], device).select(0, -1).unwrap();
        assert_eq!(last.item().unwrap(), api::integer(6));
    }
    start.assert_unchanged();
}

#[test]
fn values_of_the_host() {
    let _one = alone();
    for device in [CPU, 0, 1] {
        let mut values = [1_i32, 2, 3, 4];
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let tensor = from_bytes(&bytes, &[2, 2], SCONCE_DTYPE_I32, device).unwrap();
        values.fill(0);
        assert_eq!(tensor.transpose(0, 1).unwrap().i32s(), [1, 3, 2, 4]);
        for length in [0, 15, 17] {
            let bytes = vec![0; length];
            let text = refusal(from_bytes(&bytes, &[2, 2], SCONCE_DTYPE_I32, device));
            assert!(text.contains(&format!("values has {length} bytes")), "{text}");
            let mut room = [7_u8; 17];
            // SAFETY: the call is passed the number of bytes.
            let status =
                unsafe { sconce_tensor_to_values(tensor.raw(), room.as_mut_ptr().cast(), length) };
            assert_eq!(status, sconce_status::SCONCE_ERROR_INVALID_ARGUMENT);
            assert_eq!(room, [7; 17]);
        }
    }
}

#[test]
fn conversions_between_types_and_places_at_once() {
    let _one = alone();
    let start = Figures::now();
    for (from, to) in SPOTS.into_iter().flat_map(|from| SPOTS.map(move |to| (from, to))) {
        let tensor = from.holding(&from_f32(&[1.5, -2.75, 3.0, 1e9], &[2, 2], CPU));
        let result = tensor.to(&options(SCONCE_DTYPE_I64, to.device()), false).unwrap();
        let numbers: Vec<u8> =
            [1_i64, -2, 3, 1_000_000_000].iter().flat_map(|number| number.to_le_bytes()).collect();
        assert_eq!((result.device(), result.bytes().unwrap()), (to.device(), numbers));
    }
    start.assert_unchanged();
}
