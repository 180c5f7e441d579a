//! Operations called by name, as kernel libraries call them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls functions of C")]

use std::ffi::CString;

use super::exports::torch_call_dispatcher;
use crate::abi::tensors::sizes_of;
use crate::error::newest;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, check};

fn tensor(sizes: &[i64], values: &[f32]) -> Tensor {
    let options = options(api::SCONCE_DTYPE_F32, api::SCONCE_DEVICE_CPU);
    // SAFETY: the values have that many bytes; sizes, options and the place are valid.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_from_values(
            values.as_ptr().cast(),
            size_of_val(values),
            sizes.as_ptr(),
            sizes.len(),
            &options,
            made,
        )
    })
    .unwrap()
}

fn values<const N: usize>(tensor: &Tensor) -> [f32; N] {
    let mut values = [0.0; N];
    let bytes = size_of_val(&values);
    // SAFETY: there is room for that many bytes.
    check(unsafe {
        api::sconce_tensor_to_values(tensor.handle(), values.as_mut_ptr().cast(), bytes)
    })
    .unwrap();
    values
}

fn live() -> usize {
    // SAFETY: no preconditions.
    unsafe { api::sconce_tensor_live_count() }
}

/// Calls an operation that owns its tensors and returns one.
fn call(name: &str, overload: &str, tensors: Vec<Tensor>) -> Option<Tensor> {
    let (name, overload) = (CString::new(name).unwrap(), CString::new(overload).unwrap());
    let mut stack: Vec<u64> =
        tensors.into_iter().map(|tensor| tensor.into_handle().addr() as u64).collect();
    let version = 2 << 56 | 11 << 48;
    // SAFETY: the stack has a word for each argument.
    let status = unsafe {
        torch_call_dispatcher(name.as_ptr(), overload.as_ptr(), stack.as_mut_ptr(), version)
    };
    (status == 0).then(|| {
        let handle = usize::try_from(stack[0]).unwrap();
        Tensor::from_handle(std::ptr::with_exposed_provenance_mut::<api::sconce_tensor>(handle))
    })
}

fn again(tensor: &Tensor) -> Tensor {
    let handle: TensorHandle = tensor.handle();
    Tensor::retained(handle).unwrap()
}

#[test]
fn products_are_returned_and_written_where_the_caller_wants_them() {
    let before = live();
    let first = tensor(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let second = tensor(&[3, 1], &[1.0, 10.0, 100.0]);
    let product = call("aten::mm", "", vec![again(&first), again(&second)]).unwrap();
    assert_eq!(sizes_of(product.handle()).unwrap(), [2, 1]);
    assert_eq!(values::<2>(&product), [321.0, 654.0]);

    let into = tensor(&[2, 1], &[0.0; 2]);
    let tensors = vec![again(&first), again(&second), again(&into)];
    let returned = call("aten::mm", "out", tensors).unwrap();
    assert_eq!(returned.handle(), into.handle());
    assert_eq!(values::<2>(&into), [321.0, 654.0]);

    let line = tensor(&[3], &[1.0; 3]);
    assert!(call("aten::mm", "", vec![again(&first), again(&line)]).is_none());
    assert!(newest().unwrap().contains("mat2 must be a matrix, but has 1 dimensions"));
    drop((first, second, product, into, returned, line));
    assert_eq!(live(), before);
}
