//! Elementwise operations, reductions and calculations along a dimension, into tensors of the caller's, on a stream
//! that the call names.

use crate::stream::on;
use crate::{
    CBool, sconce_scalar, sconce_status, sconce_stream, sconce_tensor, sconce_tensor_along_out,
    sconce_tensor_clamp_out, sconce_tensor_reduce_out, sconce_tensor_where_out,
};

/// Reduces dimensions of a tensor on a stream, and writes the result to a tensor of the caller.
/// Otherwise as `sconce_tensor_reduce_out`.
///
/// - torch: `torch.sum(…, out=into)` and the other functions of the same names; `at::sum_out`
///   inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_reduce_out_on(
    stream: sconce_stream,
    operation: i32,
    tensor: *mut sconce_tensor,
    dims: *const i64,
    count: usize,
    keep_dims: CBool,
    dtype: i32,
    into: *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_reduce_out(operation, tensor, dims, count, keep_dims, dtype, into) }
    })
}

/// Computes softmax or a running sum or product along a dimension on a stream, and writes the
/// result to a tensor of the caller. Otherwise as `sconce_tensor_along_out`.
///
/// - torch: `torch.cumsum(…, out=into)` and the other functions of the same names; `at::cumsum_out`
///   inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_along_out_on(
    stream: sconce_stream,
    operation: i32,
    tensor: *mut sconce_tensor,
    dim: i64,
    dtype: i32,
    into: *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_along_out(operation, tensor, dim, dtype, into) }
    })
}

/// Clamps every element to bounds on a stream, and writes the result to a tensor of the caller.
/// Otherwise as `sconce_tensor_clamp_out`.
///
/// - torch: `torch.clamp(…, out=into)`, `torch.Tensor.clamp_`; `at::clamp_out` inside
///   `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_clamp_out_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    least: *mut sconce_tensor,
    least_number: *const sconce_scalar,
    most: *mut sconce_tensor,
    most_number: *const sconce_scalar,
    into: *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_clamp_out(tensor, least, least_number, most, most_number, into) }
    })
}

/// Selects elements of two operands by a condition on a stream, and writes them to a tensor of the
/// caller. Otherwise as `sconce_tensor_where_out`.
///
/// - torch: `torch.where(…, out=into)`; `at::where_out` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_where_out_on(
    stream: sconce_stream,
    condition: *mut sconce_tensor,
    if_true: *mut sconce_tensor,
    true_number: *const sconce_scalar,
    if_false: *mut sconce_tensor,
    false_number: *const sconce_scalar,
    into: *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe {
            sconce_tensor_where_out(condition, if_true, true_number, if_false, false_number, into)
        }
    })
}
