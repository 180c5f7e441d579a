//! Tensors joined, selected and sorted, into tensors of the caller's.

use sconce_tensors::tensor::operations;

use super::super::handle::{defined, sconce_tensor, two_written_to, written_to};
use crate::{CBool, guard, sconce_status};

/// Joins tensors along an existing dimension, and writes the result to a tensor of the caller.
/// Otherwise as `sconce_tensor_cat`.
///
/// - `into`: receives the result, as in `sconce_tensor_reduce_out`. It may have any type to which
///   the tensors' common type can be cast.
/// - Errors: INVALID_ARGUMENT: `into` shares memory with one of the tensors. Otherwise as
///   `sconce_tensor_cat`; for `into`, as `sconce_tensor_unary`.
/// - Ownership: as `sconce_tensor_reduce_out`.
/// - Ordering: as `sconce_tensor_unary`.
/// - torch: `torch.cat(…, out=into)`; `at::cat_out`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_cat_out(
    tensors: *const *mut sconce_tensor,
    count: usize,
    dim: i64,
    into: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let tensors = tensors!(tensors, count);
        written_to(into, |into| operations::cat(&tensors, dim, Some(into)))
    })
}

/// Joins tensors of one shape along a new dimension, and writes the result to a tensor of the
/// caller. Otherwise as `sconce_tensor_cat_out`.
///
/// - `into`: receives the result, as in `sconce_tensor_cat_out`.
/// - torch: `torch.stack(…, out=into)`; `at::stack_out`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_stack_out(
    tensors: *const *mut sconce_tensor,
    count: usize,
    dim: i64,
    into: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let tensors = tensors!(tensors, count);
        written_to(into, |into| operations::stack(&tensors, dim, Some(into)))
    })
}

/// Writes the elements at the given indices of a dimension to a tensor of the caller. Otherwise as
/// `sconce_tensor_index_select`.
///
/// - `into`: receives the result, as in `sconce_tensor_reduce_out`; has the type of `tensor`.
/// - Errors: INVALID_ARGUMENT: `into` shares memory with `tensor` or `index`. Otherwise as
///   `sconce_tensor_index_select`, and as `sconce_tensor_reduce_out`.
/// - Ownership: as `sconce_tensor_reduce_out`.
/// - Ordering: as `sconce_tensor_unary`.
/// - torch: `torch.index_select(…, out=into)`; `at::index_select_out`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_index_select_out(
    tensor: *mut sconce_tensor,
    dim: i64,
    index: *mut sconce_tensor,
    into: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let (input, index) = (defined(tensor, "tensor")?, defined(index, "index")?);
        written_to(into, |into| operations::index_select(&input, dim, &index, Some(into)))
    })
}

/// Sorts along a dimension, and writes the results to tensors of the caller. Otherwise as
/// `sconce_tensor_sort`.
///
/// - `into_values`: receives the sorted elements, as in `sconce_tensor_reduce_out`; has the type of
///   `tensor`, and may be `tensor`.
/// - `into_indices`: receives the original index of each element along the dimension, as in
///   `sconce_tensor_reduce_out`; has the type I64.
/// - Errors: INVALID_ARGUMENT: the two share memory. Otherwise as `sconce_tensor_sort`, and as
///   `sconce_tensor_reduce_out`.
/// - Ownership: as `sconce_tensor_reduce_out`.
/// - Ordering: as `sconce_tensor_reduce_out`.
/// - torch: `torch.sort(stable=True, out=(into_values, into_indices))`; `at::sort_out`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_sort_out(
    tensor: *mut sconce_tensor,
    dim: i64,
    descending: CBool,
    into_values: *mut sconce_tensor,
    into_indices: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let input = defined(tensor, "tensor")?;
        let names = ["into_values", "into_indices"];
        two_written_to([into_values, into_indices], names, |[values, indices]| {
            operations::sort(&input, dim, descending.is_true(), [Some(values), Some(indices)])
        })
    })
}
