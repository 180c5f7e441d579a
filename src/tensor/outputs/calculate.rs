//! Elementwise operations, reductions and calculations along a dimension, into tensors of the caller's.

use sconce_compute::reduction::{LineOp, ReduceOp};
use sconce_tensors::tensor::operations::{self, Reduction};

use super::super::handle::{defined, sconce_tensor, written_to};
use super::super::options::optional_dtype;
use super::super::pointwise::{either, operand, operation_of};
use super::super::scalar::sconce_scalar;
use crate::{CBool, guard, null, sconce_status};

/// Reduces dimensions of a tensor, and writes the result to a tensor of the caller. Otherwise as
/// `sconce_tensor_reduce`.
///
/// - `into`: receives the result. A tensor of the result's shape keeps its memory and strides. A
///   tensor of another shape is resized and becomes contiguous. It keeps its memory if that is
///   large enough and is not the memory of `tensor`; otherwise it gets new memory. If it had
///   elements, a warning is logged, once in the process. An undefined tensor becomes a new one.
/// - `dtype`: with `SCONCE_DTYPE_DEFAULT`, sums, means and products are computed in the type of
///   `into`, and ALL and ANY write BOOL or U8. Any other value must be the type of `into`.
/// - Errors: INVALID_ARGUMENT: `into` has another type than the result, is read-only, has several
///   elements in one place, partly overlaps `tensor` in memory, or is memory of another owner that
///   is too small. CROSS_DEVICE: `into` is on another device. Otherwise as `sconce_tensor_reduce`.
/// - Ownership: `into` stays the caller's; all owners of the handle see the result. If its memory
///   is replaced, views keep the old memory.
/// - Ordering: as `sconce_tensor_unary`. If `into` uses the memory of `tensor`, the result is
///   computed in new memory and then copied.
/// - torch: `torch.sum(…, out=into)` and the other functions of the same names; `at::sum_out`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_reduce_out(
    operation: i32,
    tensor: *mut sconce_tensor,
    dims: *const i64,
    count: usize,
    keep_dims: CBool,
    dtype: i32,
    into: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let op = operation_of(operation, &ReduceOp::IN_C, "SCONCE_REDUCE")?;
        let dims = entries!(dims, count);
        let dtype = optional_dtype(dtype, "dtype")?;
        let reduction = Reduction { op, dims, keep: keep_dims.is_true(), dtype };
        let input = defined(tensor, "tensor")?;
        written_to(into, |into| operations::reduce(&input, reduction, Some(into)))
    })
}

/// Computes softmax or a running sum or product along a dimension, and writes the result to a
/// tensor of the caller. Otherwise as `sconce_tensor_along`.
///
/// - `dtype`: with `SCONCE_DTYPE_DEFAULT`, running sums and products are computed in the type of
///   `into`, and softmax in the type of `tensor`. Any other value must be the type of `into`.
/// - `into`: receives the result, as in `sconce_tensor_reduce_out`; it may be `tensor`.
/// - Errors: as `sconce_tensor_reduce_out`, and as `sconce_tensor_along`.
/// - Ownership: as `sconce_tensor_reduce_out`.
/// - Ordering: as `sconce_tensor_reduce_out`.
/// - torch: `torch.cumsum(…, out=into)` and the other functions of the same names; `at::cumsum_out`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_along_out(
    operation: i32,
    tensor: *mut sconce_tensor,
    dim: i64,
    dtype: i32,
    into: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let operation = operation_of(operation, &LineOp::IN_C, "SCONCE_LINE")?;
        let dtype = optional_dtype(dtype, "dtype")?;
        let input = defined(tensor, "tensor")?;
        written_to(into, |into| operations::along(operation, &input, dim, dtype, Some(into)))
    })
}

/// Clamps every element to bounds, and writes the result to a tensor of the caller. Otherwise as
/// `sconce_tensor_clamp`.
///
/// - `into`: receives the result, as in `sconce_tensor_unary`; it may be an operand.
/// - Errors: as `sconce_tensor_clamp`; for `into`, as `sconce_tensor_unary`.
/// - Ownership: as `sconce_tensor_reduce_out`.
/// - Ordering: as `sconce_tensor_binary`.
/// - torch: `torch.clamp(…, out=into)`, `torch.Tensor.clamp_`; `at::clamp_out`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_clamp_out(
    tensor: *mut sconce_tensor,
    least: *mut sconce_tensor,
    least_number: *const sconce_scalar,
    most: *mut sconce_tensor,
    most_number: *const sconce_scalar,
    into: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let input = defined(tensor, "tensor")?;
        let low = either(least, optional_scalar!(least_number), ["least", "least_number"])?;
        let high = either(most, optional_scalar!(most_number), ["most", "most_number"])?;
        let (low, high) = (low.as_ref().map(operand), high.as_ref().map(operand));
        written_to(into, |into| operations::clamp(&input, low, high, Some(into)))
    })
}

/// Selects elements of one operand where a condition is true, else those of another, and writes
/// them to a tensor of the caller. Otherwise as `sconce_tensor_where`.
///
/// - `into`: receives the result, as in `sconce_tensor_unary`; it may be an operand.
/// - Errors: as `sconce_tensor_where`; for `into`, as `sconce_tensor_unary`.
/// - Ownership: as `sconce_tensor_reduce_out`.
/// - Ordering: as `sconce_tensor_binary`.
/// - torch: `torch.where(…, out=into)`; `at::where_out`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_where_out(
    condition: *mut sconce_tensor,
    if_true: *mut sconce_tensor,
    true_number: *const sconce_scalar,
    if_false: *mut sconce_tensor,
    false_number: *const sconce_scalar,
    into: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let condition = defined(condition, "condition")?;
        let one = either(if_true, optional_scalar!(true_number), ["if_true", "true_number"])?;
        let other = either(if_false, optional_scalar!(false_number), ["if_false", "false_number"])?;
        let one = one.ok_or_else(|| null("if_true"))?;
        let other = other.ok_or_else(|| null("if_false"))?;
        let (one, other) = (operand(&one), operand(&other));
        written_to(into, |into| operations::select_where(&condition, one, other, Some(into)))
    })
}
