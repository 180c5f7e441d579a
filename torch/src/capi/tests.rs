//! What messages call a wrong argument: as the header does.

#![allow(unsafe_code, reason = "calls functions of the C API")]

use std::ptr::{from_ref, null, null_mut};

use super::operator::{
    sconce_op, sconce_op_call, sconce_op_define, sconce_op_find, sconce_torch_unload,
};
use super::operator_values::{
    NOTHING, SCONCE_OP_VALUE_DEVICE, SCONCE_OP_VALUE_DTYPE, SCONCE_OP_VALUE_GENERATOR,
    SCONCE_OP_VALUE_LIST, SCONCE_OP_VALUE_TENSOR, SCONCE_OP_VALUE_TEXT, sconce_op_value,
};
use crate::abi::arguments::{CText, Out};
use crate::abi::copies::{aoti_torch_copy_, aoti_torch_tensor_copy_, aoti_torch_zero_};
use crate::abi::handles::{aoti_torch_assign_tensors, aoti_torch_new_tensor_handle};
use crate::error::newest;
use crate::fallbacks::ordering::aoti_torch_cpu_cat;
use crate::fallbacks::products::aoti_torch_cpu_mm_out;
use crate::sconce::Tensor;
use crate::sconce::api::{SCONCE_DTYPE_F32, sconce_tensor};
use crate::testing::Dense;

const NO_TENSOR: *mut sconce_tensor = 0x7ff_fff0 as *mut sconce_tensor;

fn text(text: &std::ffi::CStr) -> CText<'_> {
    CText::from(text)
}

fn refused(status: i32, words: &str) {
    let why = newest().unwrap_or_default();
    assert!(status != 0 && why.contains(words), "expected {words:?} in {status} {why:?}");
}

fn operator() -> *mut sconce_op {
    let mut op = null_mut();
    assert_eq!(sconce_op_define(text(c"words::mix(Tensor x, int[] y) -> Tensor")), 0);
    assert_eq!(sconce_op_find(text(c"words::mix"), CText::none(), Out::from(&mut op)), 0);
    op
}

#[test]
fn values_of_operators_are_named_by_their_fields() {
    let op = operator();
    let value = |kind| sconce_op_value { kind, ..NOTHING };
    let wrong = value(77);
    let list = sconce_op_value { items: from_ref(&wrong), count: 1, ..value(SCONCE_OP_VALUE_LIST) };
    for (given, words) in [
        (wrong, "words::mix: arguments[1].kind is 77, "),
        (value(SCONCE_OP_VALUE_TENSOR), "arguments[1].tensor is NULL"),
        (
            sconce_op_value { tensor: NO_TENSOR, ..value(SCONCE_OP_VALUE_TENSOR) },
            "arguments[1].tensor is not a tensor: it was released",
        ),
        (value(SCONCE_OP_VALUE_TEXT), "arguments[1].text is NULL"),
        (
            sconce_op_value { integer: 99, ..value(SCONCE_OP_VALUE_DTYPE) },
            "arguments[1].integer is 99, which is no data type; use",
        ),
        (
            sconce_op_value { integer: 1 << 40, ..value(SCONCE_OP_VALUE_DTYPE) },
            "arguments[1].integer is 1099511627776, which is no data type; use",
        ),
        (
            sconce_op_value { integer: -7, ..value(SCONCE_OP_VALUE_DEVICE) },
            "arguments[1].integer is -7, which is no device; use",
        ),
        (
            sconce_op_value { generator: 0x7ff_fff0 as *mut _, ..value(SCONCE_OP_VALUE_GENERATOR) },
            "arguments[1].generator is ",
        ),
        (list, "arguments[1].items[0].kind is 77, "),
        (sconce_op_value { items: null(), ..list }, "arguments[1].items is NULL"),
    ] {
        let (arguments, mut results) = ([NOTHING, given], [NOTHING]);
        // SAFETY: so many arguments and results.
        let status = unsafe {
            sconce_op_call(op, arguments.as_ptr(), 2, results.as_mut_ptr(), 1, Out::none())
        };
        refused(status, words);
    }
}

#[test]
fn calls_of_operators_name_their_parameters() {
    let op = operator();
    let arguments = [NOTHING; 3];
    let call = |op, arguments, argument_count, results, result_capacity| {
        // SAFETY: all numbers of entries that are not refused are right.
        unsafe {
            sconce_op_call(op, arguments, argument_count, results, result_capacity, Out::none())
        }
    };
    let mut results = [NOTHING];
    let place = results.as_mut_ptr();
    refused(call(null_mut(), null(), 0, null_mut(), 0), "op is no operator; use a handle of");
    refused(call(op, arguments.as_ptr(), 3, place, 1), "argument_count is 3; words::mix takes 2");
    refused(call(op, null(), 1, place, 1), "arguments is NULL");
    refused(call(op, arguments.as_ptr(), 2, place, 0), "result_capacity is 0; words::mix has 1");
    refused(call(op, arguments.as_ptr(), 2, null_mut(), 1), "results is NULL");
    refused(sconce_op_define(text(c"mix(Tensor x) -> Tensor")), "schema: ");
    refused(sconce_op_define(CText::none()), "schema is NULL");
    let mut found = null_mut();
    let status = sconce_op_find(text(c"words::mux"), CText::none(), Out::from(&mut found));
    refused(status, "name: there is no operator words::mux");
    refused(sconce_op_find(text(c"words::mix"), CText::none(), Out::none()), "out_op is NULL");
    refused(sconce_torch_unload(null_mut()), "library is no open kernel library; use");
}

#[test]
fn functions_of_the_abi_name_the_tensor_that_is_none() {
    let tensor: Tensor = Dense { sizes: vec![2, 2], values: vec![1.0; 4] }.tensor(SCONCE_DTYPE_F32);
    let good = tensor.handle();
    let mut made = null_mut();
    refused(aoti_torch_assign_tensors(NO_TENSOR, good), "src is not a tensor: it was released");
    refused(aoti_torch_assign_tensors(good, NO_TENSOR), "dst is not a tensor: it was released");
    refused(aoti_torch_copy_(good, null_mut(), 0), "src is NULL; ");
    refused(aoti_torch_copy_(NO_TENSOR, good, 0), "self is not a tensor");
    refused(aoti_torch_tensor_copy_(good, NO_TENSOR), "dst is not a tensor");
    refused(aoti_torch_zero_(NO_TENSOR), "self is not a tensor");
    let status = aoti_torch_new_tensor_handle(NO_TENSOR, Out::from(&mut made));
    refused(status, "orig_handle is not a tensor");
    for (out, own, second, words) in [
        (NO_TENSOR, good, good, "mm_out: out is not a tensor"),
        (good, NO_TENSOR, good, "mm_out: self is not a tensor"),
        (good, good, NO_TENSOR, "mm_out: mat2 is not a tensor"),
        (good, good, null_mut(), "mm_out: mat2 is NULL; "),
    ] {
        // SAFETY: handles may be wrong.
        refused(unsafe { aoti_torch_cpu_mm_out(out, own, second) }, words);
    }
    let list = [good, NO_TENSOR];
    // SAFETY: a list of two handles, and a place for a result.
    refused(
        unsafe { aoti_torch_cpu_cat(list.as_ptr(), 2, 0, &mut made) },
        "cat: tensors[1] is not a tensor",
    );
}
