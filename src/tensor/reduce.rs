//! Reductions over dimensions; softmax and running sums along one.

use sconce_compute::reduction::{LineOp, ReduceOp};
use sconce_tensors::tensor::Tensor;
use sconce_tensors::tensor::operations::{self, Reduction};

use super::handle::{defined, defined_in, sconce_tensor};
use super::options::optional_dtype;
use super::pointwise::operation_of;
use crate::{CBool, sconce_status};

pub use sconce_math::folding::numbers::*;

/// Reduces dimensions of a tensor.
///
/// - `operation`: `SCONCE_REDUCE_…`.
/// - `dims`: the dimensions to reduce; NULL for all. ARGMAX and ARGMIN accept one or all.
/// - `count`: number of entries of `dims`.
/// - `keep_dims`: whether the result keeps these dimensions, with one element.
/// - `dtype`: for sums, means and products, the type to which elements are converted first, and the
///   type of the result; else `SCONCE_DTYPE_DEFAULT`.
/// - `out_tensor`: receives the new tensor.
/// - Errors: INVALID_ARGUMENT: a dimension is named twice, or there are no elements of which to
///   find the largest or smallest. NOT_SUPPORTED: the operation is not defined for the type; the
///   message is torch's. OUT_OF_MEMORY: for the result.
/// - Ownership: as `sconce_tensor_unary`.
/// - Ordering: as `sconce_tensor_unary`. Results are reproducible: the same sizes and strides on
///   the same device produce the same bits.
/// - torch: the functions of the same names, such as `torch.sum`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_reduce(
    operation: i32,
    tensor: *mut sconce_tensor,
    dims: *const i64,
    count: usize,
    keep_dims: CBool,
    dtype: i32,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let op = operation_of(operation, &ReduceOp::IN_C, "SCONCE_REDUCE")?;
        let dims = entries!(dims, count);
        let dtype = optional_dtype(dtype, "dtype")?;
        let reduction = Reduction { op, dims, keep: keep_dims.is_true(), dtype };
        let mut place = Tensor::default();
        operations::reduce(defined_in(&mut place, tensor, "tensor")?, reduction, None)?
    })
}

/// Computes softmax or a running sum or product along a dimension. The result has the tensor's
/// sizes.
///
/// - `operation`: `SCONCE_LINE_…`.
/// - `dtype`: the type to which elements are converted first, and the type of the result.
///   `SCONCE_DTYPE_DEFAULT`: the tensor's type, or I64 for running sums and products of integers.
/// - `out_tensor`: receives the new tensor.
/// - Errors: NOT_SUPPORTED: softmax of a type that is not a real floating-point type.
///   OUT_OF_MEMORY: for the result.
/// - Ownership: as `sconce_tensor_unary`.
/// - Ordering: as `sconce_tensor_unary`.
/// - torch: `torch.softmax`, `torch.log_softmax`, `torch.cumsum`, `torch.cumprod`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_along(
    operation: i32,
    tensor: *mut sconce_tensor,
    dim: i64,
    dtype: i32,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let operation = operation_of(operation, &LineOp::IN_C, "SCONCE_LINE")?;
        let dtype = optional_dtype(dtype, "dtype")?;
        let input = defined(tensor, "tensor")?;
        operations::along(operation, &input, dim, dtype, None)?
    })
}
