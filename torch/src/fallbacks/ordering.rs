//! Sorted lines, searches in them, histograms, joined tensors.

#![allow(unsafe_code, reason = "functions of C over handles and texts")]

use std::ffi::c_char;

use super::{give, give_both, operation};
use crate::abi::arguments::{array, numbers, optional, optional_tensor};
use crate::abi::errors::text_of;
use crate::error::{Error, Result};
use crate::operations::histograms::bins_of_rows::RowCounting;
use crate::operations::histograms::counting;
use crate::operations::ordering;
use crate::operations::search::{self, Search};
use crate::sconce::operations;
use crate::sconce::tensor::TensorHandle;

/// How a search counts, from PyTorch's arguments.
///
/// # Safety
/// `side` is NULL, or points to NULL or to a text that ends with NUL.
unsafe fn search_of(out_int32: i32, right: i32, side: *const *const c_char) -> Result<Search> {
    // SAFETY: `side` is an optional argument of the ABI: NULL, or the address of a value.
    let side = unsafe { optional(side) }.filter(|text| !text.is_null());
    // SAFETY: `text` is a text of the ABI: NULL, or bytes that end with NUL.
    let side = side.map(|text| unsafe { text_of(text) });
    Search::new(right != 0, side.as_deref(), out_int32 != 0)
}

/// The range of a histogram: no entries if it is missing.
///
/// # Safety
/// `range` is NULL, or points to NULL or to `count` entries, which stay as they are.
unsafe fn range_of<'a>(range: *const *const f64, count: i64) -> Result<&'a [f64]> {
    // SAFETY: `range` is an optional argument of the ABI: NULL, or the address of a value.
    let range = unsafe { optional(range) }.filter(|range| !range.is_null());
    let count = usize::try_from(count)
        .map_err(|_| Error::invalid_argument(format!("range has {count} entries")))?;
    match range {
        None => Ok(&[]),
        // SAFETY: the ABI gives `range` as many entries as `count` says.
        Some(range) => unsafe { array(range, count, "range") },
    }
}

fallbacks! {
    /// Returns the sorted elements along a dimension, and where each was.
    aoti_torch_cpu_sort | aoti_torch_cuda_sort(
        tensor: TensorHandle,
        dim: i64,
        descending: i32,
        ret0: *mut TensorHandle,
        ret1: *mut TensorHandle,
    ) {
        give_both([ret0, ret1], ordering::sort_any(tensor, dim, descending != 0)?)
    }

    /// As `sort`; equal elements keep their order if `stable` is set.
    aoti_torch_cpu_sort_stable | aoti_torch_cuda_sort_stable(
        tensor: TensorHandle,
        stable: *const i32,
        dim: i64,
        descending: i32,
        ret0: *mut TensorHandle,
        ret1: *mut TensorHandle,
    ) {
        // SAFETY: `stable` is an optional argument of the ABI: NULL, or the address of a value.
        let stable = unsafe { optional(stable) };
        let sorted = match stable.is_some_and(|stable| stable != 0) {
            true => ordering::sort(tensor, dim, descending != 0)?,
            false => ordering::sort_any(tensor, dim, descending != 0)?,
        };
        give_both([ret0, ret1], sorted)
    }

    /// Returns the `k` largest or smallest elements along a dimension, and where each was.
    aoti_torch_cpu_topk | aoti_torch_cuda_topk(
        tensor: TensorHandle,
        k: i64,
        dim: i64,
        largest: i32,
        sorted: i32,
        ret0: *mut TensorHandle,
        ret1: *mut TensorHandle,
    ) {
        let top = ordering::topk(tensor, k, dim, largest != 0, sorted != 0)?;
        give_both([ret0, ret1], top)
    }

    /// Returns the `k`-th smallest element along a dimension, counted from 1, and where it was.
    aoti_torch_cpu_kthvalue | aoti_torch_cuda_kthvalue(
        tensor: TensorHandle,
        k: i64,
        dim: i64,
        keepdim: i32,
        ret0: *mut TensorHandle,
        ret1: *mut TensorHandle,
    ) {
        give_both([ret0, ret1], ordering::kthvalue(tensor, k, dim, keepdim != 0)?)
    }

    /// Returns the element that occurs most often along a dimension, and its last place.
    aoti_torch_cpu_mode | aoti_torch_cuda_mode(
        tensor: TensorHandle,
        dim: i64,
        keepdim: i32,
        ret0: *mut TensorHandle,
        ret1: *mut TensorHandle,
    ) {
        give_both([ret0, ret1], ordering::mode(tensor, dim, keepdim != 0)?)
    }

    /// Returns the median of all elements.
    aoti_torch_cpu_median | aoti_torch_cuda_median(tensor: TensorHandle, ret0: *mut TensorHandle) {
        give(ret0, ordering::median(tensor)?)
    }

    /// Returns the median of all elements that are no NaN.
    aoti_torch_cpu_nanmedian | aoti_torch_cuda_nanmedian(tensor: TensorHandle, ret0: *mut TensorHandle) {
        give(ret0, ordering::nanmedian(tensor)?)
    }

    /// Returns where values belong in sorted lines.
    aoti_torch_cpu_searchsorted_Tensor | aoti_torch_cuda_searchsorted_Tensor(
        sorted_sequence: TensorHandle,
        tensor: TensorHandle,
        out_int32: i32,
        right: i32,
        side: *const *const c_char,
        sorter: *const TensorHandle,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: `side` is an optional text of the ABI: NULL, or the address of a text.
        let search = unsafe { search_of(out_int32, right, side) }?;
        // SAFETY: `sorter` is an optional tensor of the ABI: NULL, or the address of a handle.
        let sorter = unsafe { optional_tensor(sorter) };
        let found = search::search_sorted(sorted_sequence, tensor, sorter, search)?;
        give(ret0, found)
    }

    /// Returns where a number belongs in a sorted line.
    aoti_torch_cpu_searchsorted_Scalar | aoti_torch_cuda_searchsorted_Scalar(
        sorted_sequence: TensorHandle,
        value: f64,
        out_int32: i32,
        right: i32,
        side: *const *const c_char,
        sorter: *const TensorHandle,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: `side` is an optional text of the ABI: NULL, or the address of a text.
        let search = unsafe { search_of(out_int32, right, side) }?;
        // SAFETY: `sorter` is an optional tensor of the ABI: NULL, or the address of a handle.
        let sorter = unsafe { optional_tensor(sorter) };
        let found = search::search_sorted_number(sorted_sequence, value, sorter, search)?;
        give(ret0, found)
    }

    /// Returns the bucket of each value, whose boundaries are sorted.
    aoti_torch_cpu_bucketize_Tensor | aoti_torch_cuda_bucketize_Tensor(
        tensor: TensorHandle,
        boundaries: TensorHandle,
        out_int32: i32,
        right: i32,
        ret0: *mut TensorHandle,
    ) {
        let search = Search::new(right != 0, None, out_int32 != 0)?;
        give(ret0, search::search_sorted(boundaries, tensor, None, search)?)
    }

    /// Returns each index as often as `repeats` says.
    aoti_torch_cpu_repeat_interleave_Tensor | aoti_torch_cuda_repeat_interleave_Tensor(
        repeats: TensorHandle,
        output_size: *const i64,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: `output_size` is an optional argument of the ABI: NULL, or the address of a value.
        let size = unsafe { optional(output_size) };
        give(ret0, search::repeat_interleave(repeats, size)?)
    }

    /// Returns how many elements are in each of the bins.
    aoti_torch_cpu_histc | aoti_torch_cuda_histc(
        tensor: TensorHandle,
        bins: i64,
        min: f64,
        max: f64,
        ret0: *mut TensorHandle,
    ) {
        give(ret0, counting::histc(tensor, bins, min, max)?)
    }

    /// Returns tensors joined along a dimension.
    aoti_torch_cpu_cat | aoti_torch_cuda_cat(
        tensors: *const TensorHandle,
        tensors_len: i64,
        dim: i64,
        ret0: *mut TensorHandle,
    ) {
        let count = usize::try_from(tensors_len)
            .map_err(|_| Error::invalid_argument(format!("tensors has {tensors_len} entries")))?;
        // SAFETY: the ABI gives `tensors` as many entries as `count` says.
        let tensors = unsafe { array(tensors, count, "tensors") }?;
        give(ret0, operations::cat(tensors, dim)?)
    }
}

/// Returns the counts of elements between equally distant edges, and the edges. PyTorch has this for the CPU alone.
///
/// # Safety
/// `range` is NULL or points to as many numbers as `range_len` says, or to NULL; other pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cpu_histogram_bin_ct(
    tensor: TensorHandle,
    bins: i64,
    range: *const *const f64,
    range_len: i64,
    weight: *const TensorHandle,
    density: i32,
    ret0: *mut TensorHandle,
    ret1: *mut TensorHandle,
) -> i32 {
    places!(ret0, ret1);
    operation("aoti_torch_cpu_histogram_bin_ct", || {
        // SAFETY: `range` is NULL, or points to NULL or to as many entries as `range_len` says.
        let range = unsafe { range_of(range, range_len) }?;
        // SAFETY: `weight` is an optional tensor of the ABI: NULL, or the address of a handle.
        let weight = unsafe { optional_tensor(weight) };
        let bins = counting::Bins { bins, range, weight, is_density: density != 0 };
        give_both([ret0, ret1], bins.count(tensor)?)
    })
}

/// Returns how many rows are in each of the bins that all dimensions make.
///
/// # Safety
/// `bins` has `bins_len` entries; `range` is NULL or points to NULL or to `range_len` entries; the other pointers are
/// NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cpu__histogramdd_from_bin_cts(
    tensor: TensorHandle,
    bins: *const i64,
    bins_len: i64,
    range: *const *const f64,
    range_len: i64,
    weight: *const TensorHandle,
    density: i32,
    ret0: *mut TensorHandle,
) -> i32 {
    places!(ret0);
    operation("aoti_torch_cpu__histogramdd_from_bin_cts", || {
        // SAFETY: the ABI has the number of entries of `bins` in `bins_len`.
        let bins = unsafe { numbers(bins, bins_len, "bins") }?;
        // SAFETY: `range` is NULL, or points to NULL or to as many entries as `range_len` says.
        let range = unsafe { range_of(range, range_len) }?;
        // SAFETY: `weight` is an optional tensor of the ABI: NULL, or the address of a handle.
        let weight = unsafe { optional_tensor(weight) };
        let rows = RowCounting { bins, range, weight, is_density: density != 0 };
        give(ret0, rows.count(tensor)?)
    })
}
