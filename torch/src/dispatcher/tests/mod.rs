//! Operations called by name, as kernel libraries call them: beside loops that are written out, and with arguments
//! that are refused.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls functions of C")]

mod attention;
mod elements;
mod named;
mod offered;
mod order;
mod random;
mod reductions;
mod scalars;
mod words;

use std::ffi::CString;

use super::exports::torch_call_dispatcher;
use super::table::operation;
use crate::error::newest;
use crate::registry::call::complete;
use crate::registry::value::Value;
use crate::registry::word::{self, values_of, words_of};
use crate::sconce::Tensor;
use crate::testing::{Dense, live};

/// Calls an operation through the ABI with values; defaults fill those that are left out. Nothing may be left alive
/// but its results.
fn call(name: &str, overload: &str, values: Vec<Value>) -> Result<Vec<Value>, String> {
    let whole = crate::dispatcher::table::with_namespace(name);
    let schema = &operation(&whole, overload).unwrap().schema;
    let values = complete(schema, values).unwrap();
    let mut stack = vec![0; schema.arguments.len().max(schema.results.len())];
    word::write(words_of(values, &schema.arguments).unwrap(), &mut stack);
    let (name, overload) = (CString::new(whole).unwrap(), CString::new(overload).unwrap());
    let version = 2 << 56 | 11 << 48;
    // SAFETY: the stack has a word for each argument.
    let status = unsafe {
        torch_call_dispatcher(
            name.as_c_str().into(),
            overload.as_c_str().into(),
            stack.as_mut_ptr(),
            version,
        )
    };
    if status != 0 {
        return Err(newest().unwrap());
    }
    // SAFETY: the call has written a word of each result.
    Ok(unsafe { values_of(&stack, &schema.results) }.unwrap())
}

/// Another owned handle of a tensor, as an argument.
fn word(tensor: &Tensor) -> Value {
    Value::Tensor(Tensor::retained(tensor.handle()).unwrap())
}

fn ints(values: &[i64]) -> Value {
    Value::List(values.iter().map(|value| Value::Int(*value)).collect())
}

/// The tensors of results, in order.
fn tensors(results: Vec<Value>) -> Vec<Tensor> {
    let tensor = |value| match value {
        Value::Tensor(tensor) => tensor,
        other => panic!("{other:?} is no tensor"),
    };
    results.into_iter().map(tensor).collect()
}

/// The only result of a call that must succeed.
fn one(name: &str, overload: &str, values: Vec<Value>) -> Tensor {
    let results = call(name, overload, values);
    tensors(results.unwrap_or_else(|why| panic!("{name}.{overload}: {why}"))).pop().unwrap()
}

/// Checks that a call is refused with a text that contains words.
fn refused(name: &str, overload: &str, values: Vec<Value>, words: &str) {
    let why = call(name, overload, values).unwrap_err();
    assert!(why.contains(words), "{why}");
    assert!(why.starts_with(&format!("aten::{name}: ")), "{why}");
}

/// Runs a test, after which no more tensors may be alive than before.
fn counted(test: impl FnOnce()) {
    let before = live();
    test();
    assert_eq!(live(), before, "tensors are left");
}

#[test]
fn products_are_returned_and_written_where_the_caller_wants_them() {
    use crate::sconce::api::SCONCE_DTYPE_F32 as F32;
    counted(|| {
        let first =
            Dense { sizes: vec![2, 3], values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] }.tensor(F32);
        let second = Dense { sizes: vec![3, 1], values: vec![1.0, 10.0, 100.0] }.tensor(F32);
        let expected = Dense { sizes: vec![2, 1], values: vec![321.0, 654.0] };
        for name in ["mm", "matmul"] {
            let product = one(name, "", vec![word(&first), word(&second)]);
            expected.assert_near(product.handle(), 0.0, name);
        }
        let into = Dense { sizes: vec![2, 1], values: vec![0.0; 2] }.tensor(F32);
        let returned = one("mm", "out", vec![word(&first), word(&second), word(&into)]);
        assert_eq!(returned.handle(), into.handle());
        expected.assert_near(into.handle(), 0.0, "mm.out");
        let line = Dense { sizes: vec![3], values: vec![1.0; 3] }.tensor(F32);
        refused(
            "mm",
            "",
            vec![word(&first), word(&line)],
            "mat2 must be a matrix, but has 1 dimensions",
        );
    });
}
