//! Outputs in the memory of operands, of others, and in one place.

use std::ptr::{null, null_mut, with_exposed_provenance_mut};

use sconce::*;
use testkit::places::alone;

use super::calls;
use super::forms::ALL;
use crate::api::{CPU, Handle, Outcome, integer, options, refusal, returned};
use crate::create;
use crate::every::operations::Tensors;
use crate::storage::figures::Figures;

const SHARED: &str =
    "some elements of the input tensor and the written-to tensor refer to a single memory location";

/// Tensors whose matrix is a view of a vector, with the matrix's usual elements.
fn within(device: i32, room: i64, strides: &[i64], offset: i64) -> (Tensors, Handle) {
    let mut tensors = Tensors::new(device, device);
    let memory = create::full(&[room], integer(7), &options(SCONCE_DTYPE_F32, device)).unwrap();
    let view = memory.as_strided(&[4, 4], strides, offset).unwrap();
    view.copy_from(&tensors.matrix, false).unwrap();
    tensors.turned = view.transpose(0, 1).unwrap();
    tensors.matrix = view;
    (tensors, memory)
}

fn packed(sizes: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; sizes.len()];
    for dim in (1..sizes.len()).rev() {
        strides[dim - 1] = strides[dim] * sizes[dim];
    }
    strides
}

/// The matrix itself as the output: in place, through new memory, or refused.
#[test]
fn an_operand_may_be_the_output_where_torch_allows_it() {
    let _one = alone();
    let start = Figures::now();
    let mut seen = 0;
    for device in [CPU, 0] {
        for form in ALL.iter().filter(|form| form.reads() && !form.refuses_operands()) {
            let tensors = Tensors::new(device, device);
            let results = (form.new)(&tensors).unwrap();
            if results[0].dtype() != SCONCE_DTYPE_F32 || results[0].sizes() != [4, 4] {
                continue;
            }
            seen += 1;
            let more = results[1..].iter().map(|_| calls::undefined());
            let outputs: Vec<Handle> = [tensors.matrix.again()].into_iter().chain(more).collect();
            let data = tensors.matrix.data();
            let written = (form.write)(&tensors, &outputs);
            if form.name == "clamp" {
                // Its other operand is the matrix turned, so that is a part in another order.
                assert!(refusal(written).contains(SHARED));
                continue;
            }
            written.unwrap_or_else(|failure| panic!("{}: {failure:?}", form.name));
            assert_eq!(tensors.matrix.data(), data, "{}", form.name);
            for (result, output) in results.iter().zip(&outputs) {
                assert_eq!(result.bytes().unwrap(), output.bytes().unwrap(), "{}", form.name);
            }
        }
    }
    assert_eq!(seen, 2 * 10);
    start.assert_unchanged();
}

#[test]
fn joins_and_selections_refuse_an_operand_as_output() {
    let _one = alone();
    for device in [CPU, 0] {
        let tensors = Tensors::new(device, device);
        let matrix = &tensors.matrix;
        let before = matrix.bytes().unwrap();
        let index = create::from_bytes(&[0_u8; 32], &[4], SCONCE_DTYPE_I64, device).unwrap();
        let row = matrix.unsqueeze(0).unwrap();
        for refused in [
            calls::cat(&[matrix], 0, matrix),
            calls::stack(&[matrix], 0, &row),
            calls::index_select(matrix, 0, &index, matrix),
            calls::index_select(&index, 0, &index, &index),
        ] {
            let message = refusal(refused);
            assert!(message.contains(SHARED), "{message}");
        }
        assert_eq!(matrix.bytes().unwrap(), before, "nothing is written");
    }
}

/// Four elements further than the operand.
#[test]
fn a_part_of_an_operand_is_refused() {
    let _one = alone();
    let start = Figures::now();
    for device in [CPU, 0] {
        for form in ALL.iter().filter(|form| form.reads_the_matrix()) {
            let (tensors, memory) = within(device, 64, &[4, 1], 0);
            let results = (form.new)(&tensors).unwrap();
            if results[0].dtype() != SCONCE_DTYPE_F32 {
                continue;
            }
            let sizes = results[0].sizes();
            let into = memory.as_strided(&sizes, &packed(&sizes), 4).unwrap();
            let more = results[1..].iter().map(|_| calls::undefined());
            let outputs: Vec<Handle> = [into].into_iter().chain(more).collect();
            let before = memory.bytes().unwrap();
            let message = refusal((form.write)(&tensors, &outputs));
            assert!(message.contains(SHARED), "{}: {message}", form.name);
            assert_eq!(memory.bytes().unwrap(), before, "{}: it wrote", form.name);
        }
    }
    start.assert_unchanged();
}

/// Tensors with gaps in the same range of memory: torch does not look at them; here the result is right all the same.
#[test]
fn outputs_with_gaps_in_the_range_of_an_operand_have_the_right_values() {
    let _one = alone();
    let start = Figures::now();
    for device in [CPU, 0] {
        for form in ALL.iter().filter(|form| form.reads()) {
            // The first element of the output is another one of the matrix, or lies between two of them.
            for offset in [1, 2, 6, 7] {
                let (tensors, memory) = within(device, 400, &[8, 2], 0);
                let results = (form.new)(&tensors).unwrap();
                let result = &results[0];
                if result.dtype() != SCONCE_DTYPE_F32 {
                    continue;
                }
                let sizes = result.sizes();
                let strides: Vec<i64> = packed(&sizes).iter().map(|stride| 2 * stride).collect();
                let into = memory.as_strided(&sizes, &strides, offset).unwrap();
                let more = results[1..].iter().map(|_| calls::undefined());
                let outputs: Vec<Handle> = [into].into_iter().chain(more).collect();
                let written = (form.write)(&tensors, &outputs);
                written.unwrap_or_else(|failure| panic!("{}: {failure:?}", form.name));
                for (result, output) in results.iter().zip(&outputs) {
                    let same = result.bytes().unwrap() == output.bytes().unwrap();
                    assert!(same, "{} at {offset} on {device}", form.name);
                }
            }
        }
    }
    start.assert_unchanged();
}

/// An output of another shape in the memory of an operand gets memory of its own.
#[test]
fn a_resized_output_does_not_write_to_an_operand() {
    let _one = alone();
    for device in [CPU, 0] {
        let (tensors, memory) = within(device, 64, &[4, 1], 0);
        let before = memory.bytes().unwrap();
        let into = memory.narrow(0, 20, 30).unwrap();
        calls::reduce(SCONCE_REDUCE_SUM, &tensors.matrix, &[0], false, SCONCE_DTYPE_DEFAULT, &into)
            .unwrap();
        assert!(!into.shares_storage(&memory));
        assert_eq!(memory.bytes().unwrap(), before);
    }
}

fn lent(values: &mut [f32], sizes: &[i64]) -> Outcome<Handle> {
    let address = with_exposed_provenance_mut(values.as_mut_ptr().expose_provenance());
    let (bytes, rank) = (size_of_val(values), sizes.len());
    // SAFETY: the values outlive the tensor.
    returned(|out| unsafe {
        let (sizes, dtype, device) = (sizes.as_ptr(), SCONCE_DTYPE_F32, CPU);
        sconce_tensor_from_memory(
            address,
            bytes,
            sizes,
            null(),
            rank,
            dtype,
            device,
            None,
            null_mut(),
            out,
        )
    })
}

#[test]
fn memory_of_others_is_used_as_far_as_it_reaches() {
    let mut values = [0.0_f32; 4];
    let into = lent(&mut values, &[4]).unwrap();
    let message = refusal(calls::eye(3, 3, &into));
    assert!(message.contains("Trying to resize storage that is not resizable"), "{message}");
    assert_eq!(into.sizes(), [4]);
    calls::eye(2, 2, &into).unwrap();
    drop(into);
    assert_eq!(values, [1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn outputs_in_one_place_and_equal_outputs_are_refused() {
    let _one = alone();
    for device in [CPU, 0] {
        let tensors = Tensors::new(device, device);
        for form in ALL {
            let results = (form.new)(&tensors).unwrap();
            let repeated = |result: &Handle| {
                let one = create::full(&[1], integer(0), &options(result.dtype(), device)).unwrap();
                let sizes = [2, 3];
                one.expand(&sizes).unwrap()
            };
            let outputs: Vec<Handle> = results.iter().map(repeated).collect();
            let message = refusal((form.write)(&tensors, &outputs));
            assert!(
                message.contains("more than one element of the written-to tensor"),
                "{}: {message}",
                form.name
            );
        }
        let values = create::from_f32(&[0.0], &[1], device);
        let message = refusal(calls::sort(&tensors.matrix, 0, false, [&values, &values]));
        assert!(message.contains("into_values and into_indices are one tensor"), "{message}");
        let numbers = create::empty(&[40], &options(SCONCE_DTYPE_I64, device)).unwrap();
        let [first, second] = [0, 2].map(|at| numbers.narrow(0, at, 16).unwrap());
        let input = numbers.narrow(0, 20, 16).unwrap();
        assert!(refusal(calls::sort(&input, 0, false, [&first, &second])).contains(SHARED));
    }
}
