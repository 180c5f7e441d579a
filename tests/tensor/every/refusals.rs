//! What operations refuse, one by one, with torch's texts: dimensions, shapes, types, and outputs that share memory.

use std::ptr::null_mut;

use sconce::ffi::*;
use testkit::places::alone;

use crate::api::{CPU, Failure, Handle, Outcome, integer, options, outcome, real, refusal};
use crate::create::{empty, from_f32, full};
use crate::operations::{self, Operand};
use crate::storage::figures::Figures;

const PLACES: [i32; 2] = [CPU, 0];

fn zeros(sizes: &[i64], dtype: i32, device: i32) -> Handle {
    full(sizes, integer(0), &options(dtype, device)).unwrap()
}

fn tensor(handle: &Handle) -> Operand<'_> {
    Operand::Tensor(handle)
}

/// Each refusal must have the text; `problems` collects those that do not.
fn says<T>(name: &str, outcome: Outcome<T>, text: &str, problems: &mut Vec<String>) {
    match outcome {
        Ok(_) => problems.push(format!("{name} works, but should say {text:?}")),
        Err(Failure { message, .. }) if message.contains(text) => {}
        Err(failure) => problems.push(format!("{name} says {failure:?}, not {text:?}")),
    }
}

#[track_caller]
fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

type OfDimension = fn(&Handle, i64) -> Outcome<()>;

fn done<T>(outcome: Outcome<T>) -> Outcome<()> {
    outcome.map(drop)
}

/// The functions that take a dimension of their tensor.
const OF_DIMENSION: &[(&str, OfDimension)] = &[
    ("narrow", |t, dim| done(t.narrow(dim, 0, 1))),
    ("slice", |t, dim| done(t.slice(dim, 0, 1, 1))),
    ("select", |t, dim| done(t.select(dim, 0))),
    ("transpose, first", |t, dim| done(t.transpose(dim, 0))),
    ("transpose, second", |t, dim| done(t.transpose(0, dim))),
    ("permute", |t, dim| done(t.permute(&[0, dim]))),
    ("squeeze", |t, dim| done(t.squeeze(&[dim]))),
    ("flatten, start", |t, dim| done(t.flatten(dim, -1))),
    ("flatten, end", |t, dim| done(t.flatten(0, dim))),
    ("unflatten", |t, dim| done(t.unflatten(dim, &[1, -1]))),
    ("diagonal, first", |t, dim| done(t.diagonal(0, dim, 0))),
    ("diagonal, second", |t, dim| done(t.diagonal(0, 0, dim))),
    ("chunk", |t, dim| done(t.chunk(2, dim))),
    ("split", |t, dim| done(t.split(1, dim))),
    ("split_with_sizes", |t, dim| done(t.split_with_sizes(&[1, 2], dim))),
    ("unbind", |t, dim| done(t.unbind(dim))),
    ("sum", |t, dim| done(operations::reduce(SCONCE_REDUCE_SUM, t, Some(dim), false))),
    ("mean", |t, dim| done(operations::reduce(SCONCE_REDUCE_MEAN, t, Some(dim), false))),
    ("prod", |t, dim| done(operations::reduce(SCONCE_REDUCE_PROD, t, Some(dim), false))),
    ("amax", |t, dim| done(operations::reduce(SCONCE_REDUCE_AMAX, t, Some(dim), true))),
    ("amin", |t, dim| done(operations::reduce(SCONCE_REDUCE_AMIN, t, Some(dim), true))),
    ("argmax", |t, dim| done(operations::reduce(SCONCE_REDUCE_ARGMAX, t, Some(dim), false))),
    ("argmin", |t, dim| done(operations::reduce(SCONCE_REDUCE_ARGMIN, t, Some(dim), false))),
    ("all", |t, dim| done(operations::reduce(SCONCE_REDUCE_ALL, t, Some(dim), false))),
    ("any", |t, dim| done(operations::reduce(SCONCE_REDUCE_ANY, t, Some(dim), false))),
    ("softmax", |t, dim| done(operations::along(SCONCE_LINE_SOFTMAX, t, dim))),
    ("log_softmax", |t, dim| done(operations::along(SCONCE_LINE_LOG_SOFTMAX, t, dim))),
    ("cumsum", |t, dim| done(operations::along(SCONCE_LINE_CUMSUM, t, dim))),
    ("cumprod", |t, dim| done(operations::along(SCONCE_LINE_CUMPROD, t, dim))),
    ("cat", |t, dim| done(operations::cat(&[t, t], dim))),
    ("index_select", |t, dim| {
        done(operations::index_select(t, dim, &zeros(&[2], SCONCE_DTYPE_I64, t.device())))
    }),
    ("sort", |t, dim| done(operations::sort(t, dim, false))),
];

#[test]
fn dimensions_that_a_tensor_does_not_have() {
    let _one = alone();
    let start = Figures::now();
    let mut problems = Vec::new();
    for device in PLACES {
        let matrix = zeros(&[3, 3], SCONCE_DTYPE_F32, device);
        for (name, call) in OF_DIMENSION {
            for dim in [2, -3, i64::MAX, i64::MIN] {
                let text = format!(
                    "Dimension out of range (expected to be in range of [-2, 1], but got {dim})"
                );
                says(&format!("{name} {dim}"), call(&matrix, dim), &text, &mut problems);
            }
        }
        for dim in [3, -4] {
            let text = format!(
                "Dimension out of range (expected to be in range of [-3, 2], but got {dim})"
            );
            says("unsqueeze", matrix.unsqueeze(dim), &text, &mut problems);
            says("stack", operations::stack(&[&matrix, &matrix], dim), &text, &mut problems);
        }
    }
    assert_none(&problems);
    start.assert_unchanged();
}

#[test]
fn shapes_that_do_not_fit() {
    let _one = alone();
    let start = Figures::now();
    let mut problems = Vec::new();
    let text =
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1";
    for device in PLACES {
        let [a, b] = [[2, 3], [2, 4]].map(|sizes| zeros(&sizes, SCONCE_DTYPE_I32, device));
        for operation in SCONCE_BINARY_ADD..=SCONCE_BINARY_LOGICAL_XOR {
            let name = format!("binary {operation}");
            let result = operations::binary(operation, tensor(&a), tensor(&b));
            says(&name, result, text, &mut problems);
            says(
                &name,
                operations::binary_into(operation, &a, tensor(&b), &a),
                text,
                &mut problems,
            );
        }
        let output = zeros(&[2, 1], SCONCE_DTYPE_F32, device);
        let text_of_output = "output with shape [2, 1] doesn't match the broadcast shape [2, 3]";
        for operation in SCONCE_BINARY_ADD..=SCONCE_BINARY_MAXIMUM {
            let written =
                operations::binary_into(operation, &a, Operand::Number(integer(1)), &output);
            says(&format!("binary {operation} into"), written, text_of_output, &mut problems);
        }
        says(
            "unary",
            operations::unary_into(SCONCE_UNARY_NEG, &a, &output),
            text_of_output,
            &mut problems,
        );
        says("copy", output.copy_from(&a, false), text_of_output, &mut problems);
        says("clamp", operations::clamp(&a, tensor(&b), Operand::Missing), text, &mut problems);
        let condition = zeros(&[2, 3], SCONCE_DTYPE_BOOL, device);
        says("where", operations::choose(&condition, tensor(&b), tensor(&b)), text, &mut problems);
        says(
            "equal",
            operations::equal(&a, &b).map(|same| assert!(!same)).and(a.view(&[7])),
            "shape '[7]' is invalid for input of size 6",
            &mut problems,
        );
        let text_of_cat = "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 4 for tensor number 1 in the list.";
        says("cat", operations::cat(&[&a, &b], 0), text_of_cat, &mut problems);
        let text_of_stack = "stack expects each tensor to be equal size, but got [2, 3] at entry 0 and [2, 4] at entry 1";
        says("stack", operations::stack(&[&a, &b], 0), text_of_stack, &mut problems);
        let [m, n] = [[2, 3], [2, 4]].map(|sizes| zeros(&sizes, SCONCE_DTYPE_F32, device));
        let text_of_product = "shapes cannot be multiplied";
        says("matmul", operations::matmul(&m, &n), text_of_product, &mut problems);
        says(
            "addmm",
            operations::addmm(&m, &m, &n),
            "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x4)",
            &mut problems,
        );
        says("bmm", operations::bmm(&m, &n), "batch1 must be a 3D tensor", &mut problems);
        says(
            "expand",
            m.expand(&[3, 3]),
            "The expanded size of the tensor (3) must match the existing size (2) at non-singleton dimension 0",
            &mut problems,
        );
        let index = zeros(&[1, 1], SCONCE_DTYPE_I64, device);
        says(
            "index_select",
            operations::index_select(&m, 0, &index),
            "index_select(): Index is supposed to be a vector",
            &mut problems,
        );
        says(
            "item",
            m.item(),
            "a Tensor with 6 elements cannot be converted to Scalar",
            &mut problems,
        );
    }
    assert_none(&problems);
    start.assert_unchanged();
}

const INTEGERS: [i32; 5] =
    [SCONCE_DTYPE_U8, SCONCE_DTYPE_I8, SCONCE_DTYPE_I16, SCONCE_DTYPE_I32, SCONCE_DTYPE_I64];
const COMPLEX: [i32; 2] = [SCONCE_DTYPE_C64, SCONCE_DTYPE_C128];
const BOOL: [i32; 1] = [SCONCE_DTYPE_BOOL];

#[test]
fn types_that_an_operation_does_not_have() {
    let _one = alone();
    let start = Figures::now();
    let mut problems = Vec::new();
    let unary: [(i32, &[&[i32]], &str); 12] = [
        (
            SCONCE_UNARY_NEG,
            &[&BOOL],
            "Negation, the `-` operator, on a bool tensor is not supported.",
        ),
        (SCONCE_UNARY_SIGN, &[&COMPLEX], "Unlike NumPy, torch.sign doesn't allow complex tensors"),
        (SCONCE_UNARY_RELU, &[&BOOL], "Boolean inputs not supported for relu"),
        (SCONCE_UNARY_GELU, &[&BOOL, &INTEGERS, &COMPLEX], "\"gelu\" not implemented for '"),
        (SCONCE_UNARY_GELU_TANH, &[&BOOL, &INTEGERS, &COMPLEX], "\"gelu\" not implemented for '"),
        (SCONCE_UNARY_SILU, &[&BOOL, &INTEGERS], "\"silu\" not implemented for '"),
        (SCONCE_UNARY_ERF, &[&COMPLEX], "\"erf\" not implemented for '"),
        (SCONCE_UNARY_FLOOR, &[&BOOL, &COMPLEX], "\"floor\" not implemented for '"),
        (SCONCE_UNARY_CEIL, &[&BOOL, &COMPLEX], "\"ceil\" not implemented for '"),
        (SCONCE_UNARY_ROUND, &[&BOOL, &COMPLEX], "\"round\" not implemented for '"),
        (SCONCE_UNARY_TRUNC, &[&BOOL, &COMPLEX], "\"trunc\" not implemented for '"),
        (
            SCONCE_UNARY_BITWISE_NOT,
            &[&[SCONCE_DTYPE_F32], &COMPLEX],
            "\"bitwise_not\" not implemented for '",
        ),
    ];
    for device in PLACES {
        for (operation, types, text) in unary {
            for dtype in types.concat() {
                let result = operations::unary(operation, &zeros(&[2], dtype, device));
                says(&format!("unary {operation} of {dtype}"), result, text, &mut problems);
            }
        }
        let same = |operation, dtype| {
            let operand = zeros(&[2], dtype, device);
            operations::binary(operation, tensor(&operand), tensor(&operand))
        };
        let not_complex = [
            SCONCE_BINARY_FLOOR_DIVIDE,
            SCONCE_BINARY_TRUNC_DIVIDE,
            SCONCE_BINARY_REMAINDER,
            SCONCE_BINARY_MINIMUM,
            SCONCE_BINARY_MAXIMUM,
            SCONCE_BINARY_LT,
            SCONCE_BINARY_LE,
            SCONCE_BINARY_GT,
            SCONCE_BINARY_GE,
            SCONCE_BINARY_BITWISE_AND,
            SCONCE_BINARY_BITWISE_OR,
            SCONCE_BINARY_BITWISE_XOR,
        ];
        for (operation, dtype) in not_complex.into_iter().flat_map(|op| COMPLEX.map(|c| (op, c))) {
            let name = format!("binary {operation} of {dtype}");
            says(&name, same(operation, dtype), "not implemented for 'Complex", &mut problems);
        }
        for operation in
            [SCONCE_BINARY_BITWISE_AND, SCONCE_BINARY_BITWISE_OR, SCONCE_BINARY_BITWISE_XOR]
        {
            let result = same(operation, SCONCE_DTYPE_F32);
            says(
                &format!("bits {operation}"),
                result,
                "not implemented for 'Float'",
                &mut problems,
            );
        }
        let text = "Subtraction, the `-` operator, with two bool tensors is not supported.";
        says("sub", same(SCONCE_BINARY_SUB, SCONCE_DTYPE_BOOL), text, &mut problems);
        for operation in
            [SCONCE_REDUCE_AMAX, SCONCE_REDUCE_AMIN, SCONCE_REDUCE_ARGMAX, SCONCE_REDUCE_ARGMIN]
        {
            let result =
                operations::reduce(operation, &zeros(&[2], SCONCE_DTYPE_C64, device), None, false);
            says(
                &format!("reduce {operation}"),
                result,
                "does not support complex input",
                &mut problems,
            );
        }
        for dtype in [&BOOL[..], &INTEGERS].concat() {
            let numbers = zeros(&[2], dtype, device);
            let mean = operations::reduce(SCONCE_REDUCE_MEAN, &numbers, None, false);
            let text = "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype.";
            says("mean", mean, text, &mut problems);
            let softmax = operations::along(SCONCE_LINE_SOFTMAX, &numbers, 0);
            says("softmax", softmax, "softmax\" not implemented for '", &mut problems);
            let product = operations::matmul(&numbers, &numbers);
            says("matmul", product, "not implemented for '", &mut problems);
        }
        for dtype in COMPLEX {
            let numbers = zeros(&[2], dtype, device);
            let text = "Sort currently does not support complex dtypes";
            says("sort", operations::sort(&numbers, 0, false), text, &mut problems);
            let bound = operations::clamp(&numbers, Operand::Number(real(1.0)), Operand::Missing);
            says("clamp", bound, "clamp is not supported for complex types", &mut problems);
        }
        let [singles, doubles] =
            [SCONCE_DTYPE_F32, SCONCE_DTYPE_F64].map(|dtype| zeros(&[2, 2], dtype, device));
        let text = "expected m1 and m2 to have the same dtype, but got: Float != Double";
        says("matmul", operations::matmul(&singles, &doubles), text, &mut problems);
        let text =
            "where expected condition to be a boolean tensor, but got a tensor with dtype Float";
        says(
            "where",
            operations::choose(&singles, tensor(&singles), tensor(&singles)),
            text,
            &mut problems,
        );
        let text = "index_select(): Expected dtype int32 or int64 for index";
        says(
            "index_select",
            operations::index_select(&singles, 0, &zeros(&[1], SCONCE_DTYPE_F32, device)),
            text,
            &mut problems,
        );
    }
    assert_none(&problems);
    start.assert_unchanged();
}

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

const SHARED: &str = "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation.";
const PARTLY: &str = "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation.";

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

/// Numbers that name no operation, and operands that are missing.
#[test]
fn operations_that_are_not_there() {
    let _one = alone();
    let start = Figures::now();
    let numbers = empty(&[2], &options(SCONCE_DTYPE_F32, CPU)).unwrap();
    let text = |outcome: Outcome<Handle>| refusal(outcome);
    for number in [-1, 99, i32::MAX] {
        assert!(text(operations::unary(number, &numbers)).contains("must be one of SCONCE_UNARY_"));
        let pair = (tensor(&numbers), tensor(&numbers));
        assert!(
            text(operations::binary(number, pair.0, pair.1))
                .contains("must be one of SCONCE_BINARY_")
        );
        assert!(
            text(operations::reduce(number, &numbers, None, false))
                .contains("must be one of SCONCE_REDUCE_")
        );
        assert!(
            text(operations::along(number, &numbers, 0)).contains("must be one of SCONCE_LINE_")
        );
    }
    let none = text(operations::binary(SCONCE_BINARY_ADD, Operand::Missing, tensor(&numbers)));
    assert!(none.contains("first"), "{none}");
    let none = text(operations::clamp(&numbers, Operand::Missing, Operand::Missing));
    assert!(none.contains("At least one of 'min' or 'max' must not be None"), "{none}");
    let neither = Operand::Number(integer(1));
    let none = text(operations::binary(SCONCE_BINARY_ADD, neither, neither));
    assert!(none.contains("neither first nor second is a tensor"), "{none}");
    drop(numbers);
    start.assert_unchanged();
}
