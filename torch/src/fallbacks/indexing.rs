//! Elements at indices.

#![allow(unsafe_code, reason = "functions of C over handles and texts")]

use std::ffi::c_char;

use super::{give, operation};
use crate::abi::arguments::array;
use crate::abi::errors::{not_null, text_of};
use crate::error::{Error, Result};
use crate::operations::{advanced_indexing, indexed};
use crate::sconce::tensor::TensorHandle;

/// Indices of which some are NULL.
///
/// # Safety
/// The array has that many entries, each NULL or valid for a read.
unsafe fn indices_of(
    indices: *const *const TensorHandle,
    count: i64,
) -> Result<Vec<Option<TensorHandle>>> {
    let count = usize::try_from(count)
        .map_err(|_| Error::invalid_argument(format!("indices has {count} entries")))?;
    // SAFETY: the ABI gives `indices` as many entries as `count` says.
    let indices = unsafe { array(indices, count, "indices") }?;
    // SAFETY: each entry is an optional tensor of the ABI: NULL, or the address of a handle.
    let read = |index: &*const TensorHandle| unsafe { index.as_ref() }.copied();
    Ok(indices.iter().map(read).collect())
}

fallbacks! {
    /// Returns the elements of `tensor` at indices, one list a dimension; NULL takes a whole dimension.
    aoti_torch_cpu_index_Tensor | aoti_torch_cuda_index_Tensor(
        tensor: TensorHandle,
        indices: *const *const TensorHandle,
        indices_len: i64,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: the ABI has the number of entries of `indices` in `indices_len`.
        let indices = unsafe { indices_of(indices, indices_len) }?;
        give(ret0, advanced_indexing::index(tensor, &indices)?)
    }

    /// Returns a copy of `tensor` with values at the indices, or with values added there.
    aoti_torch_cpu_index_put | aoti_torch_cuda_index_put(
        tensor: TensorHandle,
        indices: *const *const TensorHandle,
        indices_len: i64,
        values: TensorHandle,
        accumulate: i32,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: the ABI has the number of entries of `indices` in `indices_len`.
        let indices = unsafe { indices_of(indices, indices_len) }?;
        give(ret0, advanced_indexing::index_put(tensor, &indices, values, accumulate != 0)?)
    }

    /// Makes `out` a copy of `tensor` with elements of `src` at the indices along a dimension.
    aoti_torch_cpu_scatter_src_out | aoti_torch_cuda_scatter_src_out(
        out: TensorHandle,
        tensor: TensorHandle,
        dim: i64,
        index: TensorHandle,
        src: TensorHandle,
    ) {
        indexed::scatter(out, tensor, dim, index, src)
    }

    /// Makes `out` a copy of `tensor` with one value at the indices along a dimension.
    aoti_torch_cpu_scatter_value_out | aoti_torch_cuda_scatter_value_out(
        out: TensorHandle,
        tensor: TensorHandle,
        dim: i64,
        index: TensorHandle,
        value: f64,
    ) {
        indexed::scatter_value(out, tensor, dim, index, value)
    }

    /// Makes `out` a copy of `tensor` in which elements of `src` are combined at the indices along a dimension.
    aoti_torch_cpu_scatter_reduce_two_out | aoti_torch_cuda_scatter_reduce_two_out(
        out: TensorHandle,
        tensor: TensorHandle,
        dim: i64,
        index: TensorHandle,
        src: TensorHandle,
        reduce: *const c_char,
        include_self: i32,
    ) {
        not_null(reduce, "reduce")?;
        // SAFETY: `reduce` is a text of the ABI: NULL, or bytes that end with NUL.
        let reduce = unsafe { text_of(reduce) };
        indexed::scatter_reduce(out, tensor, [index, src], dim, &reduce, include_self != 0)
    }

    /// Returns a copy of `tensor` in which parts of `source` are combined at the indices along a dimension.
    aoti_torch_cpu_index_reduce | aoti_torch_cuda_index_reduce(
        tensor: TensorHandle,
        dim: i64,
        index: TensorHandle,
        source: TensorHandle,
        reduce: *const c_char,
        include_self: i32,
        ret0: *mut TensorHandle,
    ) {
        not_null(reduce, "reduce")?;
        // SAFETY: `reduce` is a text of the ABI: NULL, or bytes that end with NUL.
        let reduce = unsafe { text_of(reduce) };
        let result = indexed::index_reduce(tensor, dim, [index, source], &reduce, include_self != 0)?;
        give(ret0, result)
    }
}

/// As `aoti_torch_cuda_scatter_src_out`, for models of older versions.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_scatter_out(
    out: TensorHandle,
    tensor: TensorHandle,
    dim: i64,
    index: TensorHandle,
    src: TensorHandle,
) -> i32 {
    operation("aoti_torch_scatter_out", || indexed::scatter(out, tensor, dim, index, src))
}

/// As `aoti_torch_cuda_scatter_reduce_two_out`, for models of older versions.
///
/// # Safety
/// The text ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_scatter_reduce_out(
    out: TensorHandle,
    tensor: TensorHandle,
    dim: i64,
    index: TensorHandle,
    src: TensorHandle,
    reduce: *const c_char,
    include_self: i32,
) -> i32 {
    // SAFETY: `reduce` is a text of the ABI: NULL, or bytes that end with NUL.
    let reduce = unsafe { text_of(reduce) };
    operation("aoti_torch_scatter_reduce_out", || {
        indexed::scatter_reduce(out, tensor, [index, src], dim, &reduce, include_self != 0)
    })
}

/// As `aoti_torch_cuda_index_put`, into `out`, for models of older versions. A NULL among the indices takes a whole
/// dimension.
///
/// # Safety
/// The array has that many entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_index_put_out(
    out: TensorHandle,
    tensor: TensorHandle,
    indices: *const TensorHandle,
    num_indices: u32,
    values: TensorHandle,
    accumulate: bool,
) -> i32 {
    operation("aoti_torch_index_put_out", || {
        // SAFETY: the ABI has the number of entries of `indices` in `num_indices`.
        let indices = unsafe { array(indices, num_indices as usize, "indices") }?;
        let indices: Vec<_> =
            indices.iter().map(|index| Some(*index).filter(|index| !index.is_null())).collect();
        advanced_indexing::index_put_out(out, tensor, &indices, values, accumulate)
    })
}
