//! Elementwise operations, reductions and calculations along a dimension, on a stream that the call names.

use crate::stream::on;
use crate::{
    CBool, sconce_scalar, sconce_status, sconce_stream, sconce_tensor, sconce_tensor_along,
    sconce_tensor_binary, sconce_tensor_clamp, sconce_tensor_reduce, sconce_tensor_unary,
    sconce_tensor_where,
};

/// Applies an operation to every element on a stream. Otherwise as `sconce_tensor_unary`.
///
/// - torch: the functions of the same names, such as `torch.exp`; with `into` `torch.exp(…,
///   out=into)` and `torch.Tensor.exp_` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_unary_on(
    stream: sconce_stream,
    operation: i32,
    tensor: *mut sconce_tensor,
    into: *mut sconce_tensor,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_unary(operation, tensor, into, out_tensor) }
    })
}

/// Applies an operation to every pair of elements of two operands on a stream. Otherwise as
/// `sconce_tensor_binary`.
///
/// - torch: the functions of the same names, such as `torch.add`; with `into` `torch.add(…,
///   out=into)` and `torch.Tensor.add_` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_binary_on(
    stream: sconce_stream,
    operation: i32,
    first: *mut sconce_tensor,
    first_number: *const sconce_scalar,
    second: *mut sconce_tensor,
    second_number: *const sconce_scalar,
    alpha: *const sconce_scalar,
    into: *mut sconce_tensor,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe {
            sconce_tensor_binary(
                operation,
                first,
                first_number,
                second,
                second_number,
                alpha,
                into,
                out_tensor,
            )
        }
    })
}

/// Clamps every element to bounds on a stream. Otherwise as `sconce_tensor_clamp`.
///
/// - torch: `torch.clamp` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_clamp_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    least: *mut sconce_tensor,
    least_number: *const sconce_scalar,
    most: *mut sconce_tensor,
    most_number: *const sconce_scalar,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_clamp(tensor, least, least_number, most, most_number, out_tensor) }
    })
}

/// Selects elements of two operands by a condition on a stream. Otherwise as `sconce_tensor_where`.
///
/// - torch: `torch.where` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_where_on(
    stream: sconce_stream,
    condition: *mut sconce_tensor,
    if_true: *mut sconce_tensor,
    true_number: *const sconce_scalar,
    if_false: *mut sconce_tensor,
    false_number: *const sconce_scalar,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe {
            sconce_tensor_where(condition, if_true, true_number, if_false, false_number, out_tensor)
        }
    })
}

/// Reduces dimensions of a tensor on a stream. Otherwise as `sconce_tensor_reduce`.
///
/// - torch: the functions of the same names, such as `torch.sum` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_reduce_on(
    stream: sconce_stream,
    operation: i32,
    tensor: *mut sconce_tensor,
    dims: *const i64,
    count: usize,
    keep_dims: CBool,
    dtype: i32,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe {
            sconce_tensor_reduce(operation, tensor, dims, count, keep_dims, dtype, out_tensor)
        }
    })
}

/// Computes softmax or a running sum or product along a dimension on a stream. Otherwise as
/// `sconce_tensor_along`.
///
/// - torch: `torch.softmax`, `torch.log_softmax`, `torch.cumsum`, `torch.cumprod` inside
///   `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_along_on(
    stream: sconce_stream,
    operation: i32,
    tensor: *mut sconce_tensor,
    dim: i64,
    dtype: i32,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_along(operation, tensor, dim, dtype, out_tensor) }
    })
}
