//! Tensors joined, sorted and selected, into tensors of the caller's, on a stream that the call names.

use crate::stream::on;
use crate::{
    CBool, sconce_status, sconce_stream, sconce_tensor, sconce_tensor_cat_out,
    sconce_tensor_index_select_out, sconce_tensor_sort_out, sconce_tensor_stack_out,
};

/// Joins tensors along a dimension on a stream, and writes the result to a tensor of the caller.
/// Otherwise as `sconce_tensor_cat_out`.
///
/// - torch: `torch.cat(…, out=into)`; `at::cat_out` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_cat_out_on(
    stream: sconce_stream,
    tensors: *const *mut sconce_tensor,
    count: usize,
    dim: i64,
    into: *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_cat_out(tensors, count, dim, into) }
    })
}

/// Joins tensors along a new dimension on a stream, and writes the result to a tensor of the
/// caller. Otherwise as `sconce_tensor_stack_out`.
///
/// - torch: `torch.stack(…, out=into)`; `at::stack_out` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_stack_out_on(
    stream: sconce_stream,
    tensors: *const *mut sconce_tensor,
    count: usize,
    dim: i64,
    into: *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_stack_out(tensors, count, dim, into) }
    })
}

/// Selects entries of a dimension by their indices on a stream, and writes them to a tensor of the
/// caller. Otherwise as `sconce_tensor_index_select_out`.
///
/// - torch: `torch.index_select(…, out=into)`; `at::index_select_out` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_index_select_out_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    dim: i64,
    index: *mut sconce_tensor,
    into: *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_index_select_out(tensor, dim, index, into) }
    })
}

/// Sorts along a dimension on a stream, and writes the results to tensors of the caller. Otherwise
/// as `sconce_tensor_sort_out`.
///
/// - torch: `torch.sort(stable=True, out=(into_values, into_indices))`; `at::sort_out` inside
///   `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_sort_out_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    dim: i64,
    descending: CBool,
    into_values: *mut sconce_tensor,
    into_indices: *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || sconce_tensor_sort_out(tensor, dim, descending, into_values, into_indices))
}
