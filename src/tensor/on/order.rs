//! Tensors joined, sorted, selected and compared on a stream that the call names.

use crate::stream::on;
use crate::{
    CBool, sconce_status, sconce_stream, sconce_tensor, sconce_tensor_allclose, sconce_tensor_cat,
    sconce_tensor_equal, sconce_tensor_index_select, sconce_tensor_nonzero, sconce_tensor_sort,
    sconce_tensor_stack,
};

/// Joins tensors along a dimension on a stream. Otherwise as `sconce_tensor_cat`.
///
/// - torch: `torch.cat` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_cat_on(
    stream: sconce_stream,
    tensors: *const *mut sconce_tensor,
    count: usize,
    dim: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_cat(tensors, count, dim, out_tensor) }
    })
}

/// Joins tensors along a new dimension on a stream. Otherwise as `sconce_tensor_stack`.
///
/// - torch: `torch.stack` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_stack_on(
    stream: sconce_stream,
    tensors: *const *mut sconce_tensor,
    count: usize,
    dim: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_stack(tensors, count, dim, out_tensor) }
    })
}

/// Selects entries of a dimension by their indices on a stream. Otherwise as
/// `sconce_tensor_index_select`.
///
/// - torch: `torch.index_select` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_index_select_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    dim: i64,
    index: *mut sconce_tensor,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_index_select(tensor, dim, index, out_tensor) }
    })
}

/// Returns the indices of all elements that are not 0, after the earlier work of a stream. Otherwise as
/// `sconce_tensor_nonzero`.
///
/// - torch: `torch.nonzero` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_nonzero_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_nonzero(tensor, out_tensor) }
    })
}

/// Sorts along a dimension on a stream. Otherwise as `sconce_tensor_sort`.
///
/// - torch: `torch.sort(stable=True)` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_sort_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    dim: i64,
    descending: CBool,
    out_values: *mut *mut sconce_tensor,
    out_indices: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_sort(tensor, dim, descending, out_values, out_indices) }
    })
}

/// Reports whether two tensors have the same sizes and elements, after the earlier work of a
/// stream. Otherwise as `sconce_tensor_equal`.
///
/// - torch: `torch.equal` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_equal_on(
    stream: sconce_stream,
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    out_equal: *mut bool,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_equal(first, second, out_equal) }
    })
}

/// Reports whether all elements of two tensors are close to each other, after the earlier work of a
/// stream. Otherwise as `sconce_tensor_allclose`.
///
/// - torch: `torch.allclose`, whose tolerances are 1e-5 and 1e-8 unless named inside
///   `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_allclose_on(
    stream: sconce_stream,
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    rtol: f64,
    atol: f64,
    equal_nan: CBool,
    out_close: *mut bool,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_allclose(first, second, rtol, atol, equal_nan, out_close) }
    })
}
