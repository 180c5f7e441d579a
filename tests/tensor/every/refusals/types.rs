//! Types that an operation does not have.

use sconce::*;
use testkit::places::alone;

use super::{PLACES, assert_none, says, tensor, zeros};
use crate::api::real;
use crate::operations::{self, Operand};
use crate::storage::figures::Figures;

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
        (SCONCE_UNARY_SIGN, &[&COMPLEX], "Unlike NumPy, sign doesn't allow complex tensors"),
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
            let text = "mean(): could not infer output dtype. Input dtype must be either a floating point \
                        or complex dtype.";
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
