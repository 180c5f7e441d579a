//! What no program should pass, with tensors that are alive: a status that tells, and nothing written. The
//! program `boundary` passes what is not a tensor.

use std::ptr::{null, null_mut};

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::numbers::Random;
use testkit::places::alone;

use crate::api::{CPU, Handle, Outcome, options, outcome, real, refusal, returned};
use crate::create::{empty, from_i32, full};
use crate::operations::{self, Operand};
use crate::storage::figures::Figures;

const BYTES: usize = size_of::<sconce_tensor_options>();

/// The options with one byte changed, at the start of a page of zeros.
#[repr(C, align(8))]
struct Page([u8; 4096]);

fn page(place: usize, byte: u8) -> Page {
    let good = options(SCONCE_DTYPE_I32, CPU);
    let mut page = Page([0; 4096]);
    // SAFETY: plain data of that size.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const good).cast::<u8>(), BYTES) };
    page.0[..BYTES].copy_from_slice(bytes);
    page.0[place] = byte;
    page
}

#[test]
fn any_byte_in_options() {
    let _one = alone();
    let start = Figures::now();
    let tensor = from_i32(&[1, 2], &[2], 0);
    for place in 0..BYTES {
        for byte in 0..=255 {
            let page = page(place, byte);
            let size = u32::from_le_bytes(page.0[..4].try_into().unwrap());
            if size as usize > page.0.len() {
                continue;
            }
            let asked = page.0.as_ptr().cast::<sconce_tensor_options>();
            let dtype = i32::from_le_bytes(page.0[4..8].try_into().unwrap());
            let device = i32::from_le_bytes(page.0[8..12].try_into().unwrap());
            // SAFETY: as many readable bytes as the first field says, and writable places.
            let made = [
                returned(|out| unsafe { sconce_tensor_empty([2].as_ptr(), 1, asked, out) }),
                // SAFETY: `asked` has as many readable bytes as its first field says; `out` is a writable place.
                returned(|out| unsafe { sconce_tensor_empty_like(tensor.raw(), asked, out) }),
                // SAFETY: `asked` has as many readable bytes as its first field says; `out` is a writable place.
                returned(|out| unsafe {
                    let no = CBool::FALSE;
                    sconce_tensor_to(tensor.raw(), asked, no, no, out)
                }),
            ];
            for (call, made) in made.into_iter().enumerate() {
                match made {
                    Ok(made) => {
                        // `pinned` is 0 or 1, and nothing of the CPU and a device is both.
                        assert!(place != 16 || byte < 2, "pinned is {byte}");
                        let defaults = [SCONCE_DTYPE_F32, SCONCE_DTYPE_I32, SCONCE_DTYPE_I32];
                        let dtype = if dtype == -1 { defaults[call] } else { dtype };
                        let device = if device == -1 { 0 } else { device };
                        assert_eq!((made.dtype(), made.device()), (dtype, device));
                    }
                    Err(failure) => {
                        let expected = [
                            SCONCE_ERROR_INVALID_ARGUMENT,
                            SCONCE_ERROR_INVALID_DEVICE,
                            SCONCE_ERROR_NOT_SUPPORTED,
                        ];
                        assert!(expected.contains(&failure.status), "{place}, {byte}: {failure:?}");
                    }
                }
            }
        }
    }
    drop(tensor);
    start.assert_unchanged();
}

#[test]
fn any_kind_of_number() {
    let _one = alone();
    let tensor = from_i32(&[1, 2], &[2], CPU);
    for kind in (-300..300).chain([i32::MIN, i32::MAX]) {
        let number = sconce_scalar { kind, ..real(1.0) };
        let filled = tensor.fill(number);
        let sum = operations::binary(
            SCONCE_BINARY_ADD,
            Operand::Tensor(&tensor),
            Operand::Number(number),
        );
        if (0..4).contains(&kind) {
            filled.unwrap();
            sum.unwrap();
        } else {
            let text = format!("value.kind is {kind}; it must be one of SCONCE_SCALAR_");
            assert!(refusal(filled).contains(&text));
            assert!(refusal(sum).contains(&format!("second_number.kind is {kind}")));
        }
    }
}

#[test]
fn any_number_of_an_operation() {
    let _one = alone();
    for device in [CPU, 0] {
        let tensor = from_i32(&[1, 2], &[2], device);
        let own = Operand::Tensor(&tensor);
        for number in [-1, 100, 255, i32::MIN, i32::MAX] {
            for outcome in [
                operations::unary(number, &tensor),
                operations::binary(number, own, own),
                operations::reduce(number, &tensor, None, false),
                operations::along(number, &tensor, 0),
            ] {
                let text = refusal(outcome);
                assert!(text.contains(&format!("operation is {number}")), "{text}");
            }
            let text = refusal(tensor.clone_as(number));
            assert!(text.contains(&format!("memory_format is {number}")), "{text}");
        }
    }
}

#[test]
fn operands_that_are_missing_or_given_twice() {
    let _one = alone();
    let tensor = from_i32(&[1, 2], &[2], CPU);
    let own = Operand::Tensor(&tensor);
    let add = SCONCE_BINARY_ADD;
    assert!(refusal(operations::binary(add, own, Operand::Missing)).contains("second"));
    assert!(refusal(operations::binary(add, Operand::Missing, own)).contains("first"));
    let text = refusal(operations::clamp(&tensor, Operand::Missing, Operand::Missing));
    assert!(text.contains("At least one of 'min' and 'max' must be given"), "{text}");
    let number = real(1.0);
    // SAFETY: numbers or NULL, and a writable place.
    let both = returned(|out| unsafe {
        let (own, none) = (tensor.raw(), null_mut());
        sconce_tensor_binary(add, own, &raw const number, own, null(), null(), none, out)
    });
    assert!(refusal(both).contains("first"));
    // SAFETY: NULL is refused.
    let nowhere = outcome(unsafe {
        sconce_tensor_unary(SCONCE_UNARY_NEG, tensor.raw(), null_mut(), null_mut())
    });
    assert!(refusal(nowhere).contains("out_tensor"));
    assert!(refusal(operations::cat(&[], 0)).contains("non-empty list of tensors"));
    assert!(refusal(operations::stack(&[], 0)).contains("non-empty TensorList"));
}

#[test]
fn null_and_misaligned_arrays() {
    let _one = alone();
    let tensor = from_i32(&[1, 2], &[2], CPU);
    let wild = std::ptr::without_provenance::<i64>(9);
    for (pointer, text) in [(null(), "sizes is NULL"), (wild, "sizes")] {
        // SAFETY: NULL and misaligned pointers are refused.
        let made = returned(|out| unsafe { sconce_tensor_empty(pointer, 1, null(), out) });
        assert!(refusal(made).contains(text));
        // SAFETY: NULL and misaligned pointers are refused before they are read.
        let made = returned(|out| unsafe { sconce_tensor_view(tensor.raw(), pointer, 1, out) });
        assert!(refusal(made).contains(text));
        // SAFETY: NULL and misaligned pointers are refused before they are read.
        let made = returned(|out| unsafe { sconce_tensor_cat(pointer.cast(), 1, 0, out) });
        assert!(refusal(made).contains("tensors"));
        for count in [usize::MAX, 1 << 40, (1 << 20) + 1] {
            let sizes = [1_i64];
            // SAFETY: so many entries are refused before they are read.
            let made =
                returned(|out| unsafe { sconce_tensor_empty(sizes.as_ptr(), count, null(), out) });
            assert!(refusal(made).contains("entries; at most 1048576 are taken"));
        }
    }
    let mut room = [7_i64; 1];
    // SAFETY: no entry is written where there is room for none.
    let status = unsafe { sconce_tensor_get_sizes(tensor.raw(), room.as_mut_ptr(), 0) };
    assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains("capacity"), "{}", last_message());
    assert_eq!(room, [7]);
    let mut views = [null_mut(); 1];
    let mut count = 9;
    // SAFETY: the call is passed the room's size.
    let status =
        unsafe { sconce_tensor_unbind(tensor.raw(), 0, views.as_mut_ptr(), 1, &raw mut count) };
    assert_eq!((status, views[0], count), (SCONCE_ERROR_INVALID_ARGUMENT, null_mut(), 9));
    assert_eq!(sconce_tensor_live_count(), 1);
}

#[test]
fn tensors_of_many_dimensions() {
    let _one = alone();
    let start = Figures::now();
    for device in [CPU, 0] {
        let ones = from_i32(&[5], &vec![1; 3000], device);
        assert_eq!((ones.rank(), ones.i32s()), (3000, vec![5]));
        let sum =
            operations::binary(SCONCE_BINARY_ADD, Operand::Tensor(&ones), Operand::Tensor(&ones));
        assert_eq!(sum.unwrap().i32s(), [10]);
        let cube = from_i32(&(0..4096).collect::<Vec<i32>>(), &[2; 12], device);
        let order: Vec<i64> = (0..12).map(|dim| dim * 5 % 12).collect();
        let turned = cube.permute(&order).unwrap();
        let back: Vec<i64> = (0..12).map(|dim| dim * 5 % 12).collect();
        let again =
            turned.contiguous(SCONCE_MEMORY_FORMAT_CONTIGUOUS).unwrap().permute(&back).unwrap();
        assert!(again.i32s() == cube.i32s());
        let same = operations::binary(
            SCONCE_BINARY_SUB,
            Operand::Tensor(&turned.clone_as(SCONCE_MEMORY_FORMAT_PRESERVE).unwrap()),
            Operand::Tensor(&turned),
        );
        assert!(same.unwrap().i32s().iter().all(|value| *value == 0));
        let every_other: Vec<i64> = (0..12).step_by(2).collect();
        // SAFETY: the call is passed the slice's length.
        let sum = returned(|out| unsafe {
            let (dims, count) = (every_other.as_ptr(), every_other.len());
            let (tensor, keep) = (turned.raw(), CBool::FALSE);
            sconce_tensor_reduce(SCONCE_REDUCE_SUM, tensor, dims, count, keep, -1, out)
        })
        .unwrap();
        let total: i64 = sum
            .bytes()
            .unwrap()
            .chunks_exact(8)
            .map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap()))
            .sum();
        assert_eq!((sum.rank(), total), (6, 4095 * 4096 / 2));
    }
    start.assert_unchanged();
}

/// More views than memory could hold are refused before any is made.
#[test]
fn more_pieces_than_there_is_room_for() {
    let _one = alone();
    let start = Figures::now();
    let wide = from_i32(&[1], &[1], CPU).expand(&[1 << 50]).unwrap();
    let none = from_i32(&[], &[0], CPU);
    let text = format!("capacity is 64, but there are {} pieces", 1_u64 << 50);
    assert!(refusal(wide.unbind(0)).contains(&text));
    assert!(refusal(wide.split(1, 0)).contains(&text));
    assert!(refusal(wide.chunk(1 << 50, 0)).contains(&text));
    assert!(refusal(none.chunk(1 << 50, 0)).contains(&text));
    assert!(refusal(none.split_with_sizes(&[0; 65], 0)).contains("but there are 65 pieces"));
    assert_eq!(none.split_with_sizes(&[0; 64], 0).unwrap().len(), 64);
    drop((wide, none));
    start.assert_unchanged();
}

#[test]
fn sizes_that_no_memory_has() {
    let _one = alone();
    let start = Figures::now();
    for device in [CPU, 0] {
        let options = options(SCONCE_DTYPE_F64, device);
        for sizes in [&[i64::MAX][..], &[1 << 61], &[1 << 40, 1 << 40], &[i64::MAX, i64::MAX, 3]] {
            assert!(
                refusal(empty(sizes, &options)).contains("Storage size calculation overflowed")
            );
        }
        for outcome in [empty(&[1 << 57], &options), full(&[1 << 48, 1 << 9], real(0.0), &options)]
        {
            let failure = outcome.unwrap_err();
            assert_eq!(failure.status, SCONCE_ERROR_OUT_OF_MEMORY, "{}", failure.message);
        }
        assert_eq!(empty(&[i64::MAX, 0, i64::MAX], &options).unwrap().numel(), 0);
        let one = from_i32(&[1], &[1], device);
        let wide = one.expand(&[1 << 60]).unwrap();
        let failure = wide.clone_as(SCONCE_MEMORY_FORMAT_PRESERVE).unwrap_err();
        assert!(matches!(
            failure.status,
            SCONCE_ERROR_OUT_OF_MEMORY | SCONCE_ERROR_INVALID_ARGUMENT
        ));
    }
    start.assert_unchanged();
}

/// A call with live tensors and any numbers.
fn any_call(random: &mut Random, tensors: &[Handle]) -> Outcome<Handle> {
    let tensor = &tensors[random.below(tensors.len() as u64) as usize];
    let other = &tensors[random.below(tensors.len() as u64) as usize];
    let mut number = || {
        random.one_of(&[
            0,
            0,
            1,
            1,
            2,
            3,
            5,
            -1,
            -1,
            -2,
            -5,
            1 << 33,
            i64::MAX,
            i64::MIN,
            i64::MAX - 1,
        ])
    };
    let (a, b, c, d) = (number(), number(), number(), number());
    let list = [a, b, c];
    let operation = (d.unsigned_abs() % 26) as i32;
    let some = &list[..(c.unsigned_abs() % 4) as usize];
    let pair = (Operand::Tensor(tensor), Operand::Tensor(other));
    match random.below(24) {
        0 => tensor.narrow(a, b, c),
        1 => tensor.slice(a, b, c, d),
        2 => tensor.select(a, b),
        3 => tensor.transpose(a, b),
        4 => tensor.unsqueeze(a),
        5 => tensor.flatten(a, b),
        6 => tensor.diagonal(a, b, c),
        7 => tensor.view(some),
        8 => tensor.reshape(some),
        9 => tensor.permute(some),
        10 => tensor.expand(some),
        11 => tensor.squeeze(some),
        12 => tensor.unflatten(a, &[b, c]),
        13 => tensor.as_strided(&[a, b], &[c, d], a),
        14 => Ok(tensor.split(a, b)?.remove(0)),
        15 => tensor.chunk(a, b).map(|mut pieces| pieces.remove(0)),
        16 => tensor.split_with_sizes(some, d)?.pop().map_or_else(|| tensor.view(&[-1]), Ok),
        17 => operations::unary(operation, tensor),
        18 => operations::binary(operation, pair.0, pair.1),
        19 => operations::reduce(operation % 10, tensor, Some(a), true),
        20 => operations::along(operation % 5, tensor, a),
        21 => operations::cat(&[tensor, other], a),
        22 => Ok(operations::sort(tensor, a, true)?.into_iter().next_back().unwrap()),
        // On a device an index out of range makes the device fail, as in torch.
        _ if other.device() == CPU => operations::index_select(tensor, a, other),
        _ => tensor.squeeze_all(),
    }
}

/// Whatever is called, the library answers, and has no defect.
#[test]
fn any_call_with_any_numbers() {
    let _one = alone();
    let start = Figures::now();
    let mut random = Random(11);
    let (mut worked, mut refused) = (0, 0);
    for _ in 0..60 {
        let mut tensors: Vec<Handle> = [CPU, 0]
            .into_iter()
            .flat_map(|device| {
                [
                    from_i32(&(0..24).collect::<Vec<i32>>(), &[2, 3, 4], device),
                    from_i32(&[1], &[], device),
                    from_i32(&[], &[3, 0, 2], device),
                    full(&[3], real(1.0), &options(SCONCE_DTYPE_I64, device)).unwrap(),
                ]
            })
            .collect();
        for _ in 0..200 {
            match any_call(&mut random, &tensors) {
                Ok(tensor) => {
                    worked += 1;
                    // What is large cannot be read; what has elements can.
                    if tensor.numel() < 10_000 {
                        tensor.bytes().unwrap();
                        tensors.push(tensor);
                    }
                }
                Err(failure) => {
                    let defect = [SCONCE_ERROR_INTERNAL, SCONCE_ERROR_DRIVER];
                    assert!(!defect.contains(&failure.status), "{failure:?}");
                    assert!(!failure.message.is_empty());
                    refused += 1;
                }
            }
        }
    }
    assert!(worked > 2000 && refused > 3000, "{worked} worked, {refused} did not");
    start.assert_unchanged();
}
