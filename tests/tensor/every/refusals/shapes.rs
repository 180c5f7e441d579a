//! Dimensions that a tensor does not have, shapes that do not fit, operations that are not there.

use sconce::*;
use testkit::places::alone;

use super::{PLACES, assert_none, says, tensor, zeros};
use crate::api::{CPU, Handle, Outcome, integer, options, refusal};
use crate::create::empty;
use crate::operations::{self, Operand};
use crate::outputs::calls;
use crate::storage::figures::Figures;

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
            let written = operations::binary_into(operation, &output, tensor(&a), &output);
            says(&format!("binary {operation} into"), written, text_of_output, &mut problems);
        }
        let row = zeros(&[2, 3], SCONCE_DTYPE_F32, device);
        says(
            "clamp into",
            calls::clamp(&output, tensor(&row), Operand::Missing, &output),
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
        let text_of_cat = "Sizes of tensors must match except in dimension 0. Expected size 3 but got size \
                           4 for tensor number 1 in the list.";
        says("cat", operations::cat(&[&a, &b], 0), text_of_cat, &mut problems);
        let text_of_stack = "stack expects each tensor to be equal size, but got [2, 3] at entry 0 and [2, \
                             4] at entry 1";
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

/// Numbers that name no operation, and operands that are missing.
#[test]
fn operations_that_are_not_there() {
    let _one = alone();
    let start = Figures::now();
    let numbers = empty(&[2], &options(SCONCE_DTYPE_F32, CPU)).unwrap();
    let text = |outcome: Outcome<Handle>| refusal(outcome);
    let header = testkit::header::text();
    type Call<'a> = &'a dyn Fn(i32) -> Outcome<Handle>;
    let calls: [(&str, Call<'_>); 4] = [
        ("SCONCE_UNARY_", &|number| operations::unary(number, &numbers)),
        ("SCONCE_BINARY_", &|number| {
            operations::binary(number, tensor(&numbers), tensor(&numbers))
        }),
        ("SCONCE_REDUCE_", &|number| operations::reduce(number, &numbers, None, false)),
        ("SCONCE_LINE_", &|number| operations::along(number, &numbers, 0)),
    ];
    for (prefix, call) in calls {
        // What the library has beyond the header is not part of the C API.
        let listed = header.lines().filter(|line| line.trim().starts_with(prefix)).count() as i32;
        assert!(listed > 3, "{prefix}: {listed}");
        assert!(call(listed - 1).is_ok(), "{prefix}: {}", listed - 1);
        for number in [-1, listed, 99, i32::MAX] {
            let refused = text(call(number));
            let expected =
                format!("operation is {number}; it must be one of {prefix}… (0 to {})", listed - 1);
            assert!(refused.contains(&expected), "{refused}");
        }
    }
    let none = text(operations::binary(SCONCE_BINARY_ADD, Operand::Missing, tensor(&numbers)));
    assert!(none.contains("first"), "{none}");
    let none = text(operations::clamp(&numbers, Operand::Missing, Operand::Missing));
    assert!(none.contains("At least one of 'min' and 'max' must be given"), "{none}");
    let neither = Operand::Number(integer(1));
    let none = text(operations::binary(SCONCE_BINARY_ADD, neither, neither));
    assert!(none.contains("neither first nor second is a tensor"), "{none}");
    drop(numbers);
    start.assert_unchanged();
}
