//! Reductions over dimensions; softmax and running sums along one.

use sconce_base::error::{Error, Result};
use sconce_compute::reduction::ReduceOp;
use sconce_tensors::tensor::Tensor;
use sconce_tensors::tensor::operations::{self, LineOperation, Reduction};

use super::handle::{defined, defined_in, sconce_tensor};
use super::options::optional_dtype;
use crate::{CBool, sconce_status};

/// A reduction, with torch's name.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_reduction {
    /// The sum; 0 if there are no elements. Integers are added as I64.
    SCONCE_REDUCE_SUM = 0,
    /// The mean of floating-point or complex numbers; NaN if there are no elements.
    SCONCE_REDUCE_MEAN = 1,
    /// The product; 1 if there are no elements.
    SCONCE_REDUCE_PROD = 2,
    /// The largest element; NaN if any element is NaN.
    SCONCE_REDUCE_AMAX = 3,
    /// The smallest element; NaN if any element is NaN.
    SCONCE_REDUCE_AMIN = 4,
    /// The index of the first largest element, as I64.
    SCONCE_REDUCE_ARGMAX = 5,
    /// The index of the first smallest element, as I64.
    SCONCE_REDUCE_ARGMIN = 6,
    /// Whether all elements are nonzero.
    SCONCE_REDUCE_ALL = 7,
    /// Whether any element is nonzero.
    SCONCE_REDUCE_ANY = 8,
}

numbers_of!(sconce_reduction as i32: SCONCE_REDUCE_SUM, SCONCE_REDUCE_MEAN, SCONCE_REDUCE_PROD, SCONCE_REDUCE_AMAX, SCONCE_REDUCE_AMIN, SCONCE_REDUCE_ARGMAX, SCONCE_REDUCE_ARGMIN, SCONCE_REDUCE_ALL, SCONCE_REDUCE_ANY);

/// A calculation along a dimension, with torch's name.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_line_operation {
    /// The softmax: `exp(x)` divided by the sum of `exp(x)`.
    SCONCE_LINE_SOFTMAX = 0,
    /// The logarithm of the softmax.
    SCONCE_LINE_LOG_SOFTMAX = 1,
    /// The running sum: for each element, the sum of the elements up to it.
    SCONCE_LINE_CUMSUM = 2,
    /// The running product: for each element, the product of the elements up to it.
    SCONCE_LINE_CUMPROD = 3,
}

numbers_of!(sconce_line_operation as i32: SCONCE_LINE_SOFTMAX, SCONCE_LINE_LOG_SOFTMAX, SCONCE_LINE_CUMSUM, SCONCE_LINE_CUMPROD);

pub(super) const LINES: [LineOperation; 4] = [
    LineOperation::Softmax,
    LineOperation::LogSoftmax,
    LineOperation::Cumsum,
    LineOperation::Cumprod,
];

pub(super) fn op_of<T: Copy>(number: i32, all: &[T], prefix: &str) -> Result<T> {
    usize::try_from(number).ok().and_then(|index| all.get(index).copied()).ok_or_else(|| {
        Error::invalid_argument(format!(
            "operation is {number}; it must be one of {prefix}_… (0 to {})",
            all.len() - 1
        ))
    })
}

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
        let op = op_of(operation, &ReduceOp::ALL, "SCONCE_REDUCE")?;
        let dims = numbers!(dims, count);
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
        let operation = op_of(operation, &LINES, "SCONCE_LINE")?;
        let dtype = optional_dtype(dtype, "dtype")?;
        let input = defined(tensor, "tensor")?;
        operations::along(operation, &input, dim, dtype, None)?
    })
}
