//! Outputs that cannot hold a result, or whose memory is not theirs alone.

use std::ptr::null_mut;

use sconce::*;
use testkit::places::alone;

use super::{PLACES, assert_none, says, tensor, zeros};
use crate::api::{CPU, Handle, Outcome, integer, options, outcome, real};
use crate::create::{from_f32, full};
use crate::operations::{self, Operand};
use crate::storage::figures::Figures;

#[test]
fn results_that_an_output_cannot_hold() {
    let _one = alone();
    let start = Figures::now();
    let mut problems = Vec::new();
    for device in PLACES {
        let of = |dtype| zeros(&[2], dtype, device);
        for (from, to, text) in [
            (
                SCONCE_DTYPE_F32,
                SCONCE_DTYPE_I64,
                "result type Float can't be cast to the desired output type Long",
            ),
            (
                SCONCE_DTYPE_I64,
                SCONCE_DTYPE_BOOL,
                "result type Long can't be cast to the desired output type Bool",
            ),
            (
                SCONCE_DTYPE_C64,
                SCONCE_DTYPE_F64,
                "result type ComplexFloat can't be cast to the desired output type Double",
            ),
        ] {
            let operand = of(from);
            let written =
                operations::binary_into(SCONCE_BINARY_ADD, &operand, tensor(&operand), &of(to));
            says("add", written, text, &mut problems);
            says(
                "neg",
                operations::unary_into(SCONCE_UNARY_NEG, &operand, &of(to)),
                text,
                &mut problems,
            );
        }
    }
    assert_none(&problems);
    start.assert_unchanged();
}

/// Kernels of real numbers write no complex ones, so the result is converted.
#[test]
fn a_real_result_is_written_to_a_complex_output() {
    let _one = alone();
    let start = Figures::now();
    for device in PLACES {
        let numbers = from_f32(&[1.5, -2.0], &[2], device);
        let output = full(&[2], real(9.0), &options(SCONCE_DTYPE_C64, device)).unwrap();
        let values = |tensor: &Handle| -> Vec<f32> {
            let bytes = tensor.bytes().unwrap();
            bytes.chunks_exact(4).map(|part| f32::from_le_bytes(part.try_into().unwrap())).collect()
        };
        operations::binary_into(SCONCE_BINARY_ADD, &numbers, tensor(&numbers), &output).unwrap();
        assert_eq!(values(&output), [3.0, 0.0, -4.0, 0.0]);
        operations::unary_into(SCONCE_UNARY_ABS, &numbers, &output).unwrap();
        assert_eq!(values(&output), [1.5, 0.0, 2.0, 0.0]);
        operations::binary_into(SCONCE_BINARY_LT, &numbers, Operand::Number(integer(0)), &output)
            .unwrap();
        assert_eq!(values(&output), [0.0, 0.0, 1.0, 0.0]);
    }
    start.assert_unchanged();
}

/// What writes to a tensor of the caller's.
fn writers(into: &Handle, source: &Handle, device: i32) -> Vec<(String, Outcome<()>)> {
    let mut all: Vec<(String, Outcome<()>)> = Vec::new();
    for operation in SCONCE_BINARY_ADD..=SCONCE_BINARY_MAXIMUM {
        let written = operations::binary_into(operation, source, tensor(source), into);
        all.push((format!("binary {operation}"), written));
    }
    for operation in [SCONCE_UNARY_NEG, SCONCE_UNARY_EXP, SCONCE_UNARY_FLOOR] {
        all.push((format!("unary {operation}"), operations::unary_into(operation, source, into)));
    }
    all.push(("copy".to_owned(), into.copy_from(source, false)));
    all.push(("fill".to_owned(), into.fill(real(1.0))));
    if device != CPU {
        let raw = into.raw();
        for (name, status) in [
            ("uniform", sconce_tensor_uniform(raw, 0.0, 1.0, null_mut())),
            ("normal", sconce_tensor_normal(raw, 0.0, 1.0, null_mut())),
            ("random", sconce_tensor_random(raw, null_mut())),
        ] {
            all.push((name.to_owned(), outcome(status)));
        }
    }
    all
}

const SHARED: &str = "unsupported operation: more than one element of the written-to tensor refers to a \
                      single memory location. Please clone() the tensor before performing the operation.";
const PARTLY: &str = "unsupported operation: some elements of the input tensor and the written-to tensor \
                      refer to a single memory location. Please clone() the tensor before performing the operation.";

#[test]
fn outputs_whose_elements_share_memory() {
    let _one = alone();
    let start = Figures::now();
    let mut problems = Vec::new();
    for device in PLACES {
        let row = from_f32(&[1.0, 2.0, 3.0], &[3], device);
        let repeated = row.expand(&[2, 3]).unwrap();
        let source = full(&[2, 3], real(5.0), &options(SCONCE_DTYPE_F32, device)).unwrap();
        for (name, result) in writers(&repeated, &source, device) {
            says(&name, result, SHARED, &mut problems);
        }
        assert_eq!(row.f32s(), [1.0, 2.0, 3.0], "nothing is written");
    }
    assert_none(&problems);
    start.assert_unchanged();
}

#[test]
fn outputs_that_share_part_of_their_memory_with_an_input() {
    let _one = alone();
    let start = Figures::now();
    let mut problems = Vec::new();
    for device in PLACES {
        let memory = from_f32(&[0.0, 1.0, 2.0, 3.0, 4.0], &[5], device);
        let [first, second] = [0, 1].map(|at| memory.narrow(0, at, 4).unwrap());
        for (into, source) in [(&first, &second), (&second, &first)] {
            let both = [
                operations::binary_into(
                    SCONCE_BINARY_ADD,
                    source,
                    Operand::Number(integer(1)),
                    into,
                ),
                operations::binary_into(SCONCE_BINARY_MUL, into, tensor(source), into),
                operations::unary_into(SCONCE_UNARY_NEG, source, into),
                into.copy_from(source, false),
            ];
            for (at, result) in both.into_iter().enumerate() {
                says(&format!("way {at}"), result, PARTLY, &mut problems);
            }
        }
        let square = memory.narrow(0, 0, 4).unwrap().view(&[2, 2]).unwrap();
        let turned = square.transpose(0, 1).unwrap();
        says(
            "turned",
            operations::unary_into(SCONCE_UNARY_NEG, &turned, &square),
            PARTLY,
            &mut problems,
        );
        assert_eq!(memory.f32s(), [0.0, 1.0, 2.0, 3.0, 4.0], "nothing is written");
        // All of it in the same order is the operation in place.
        operations::unary_into(SCONCE_UNARY_NEG, &first, &first.again()).unwrap();
        assert_eq!(memory.f32s(), [-0.0, -1.0, -2.0, -3.0, 4.0]);
    }
    assert_none(&problems);
    start.assert_unchanged();
}
