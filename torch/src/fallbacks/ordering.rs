//! Sorted lines, searches in them, histograms, joined tensors.

#![allow(unsafe_code, reason = "functions of C over handles and texts")]

use super::{Place, give, give_both};
use crate::abi::arguments::CText;
use crate::error::Result;
use crate::operations::histograms::bins_of_rows::RowCounting;
use crate::operations::histograms::counting;
use crate::operations::ordering;
use crate::operations::search::{self, Search};
use crate::sconce::operations;
use crate::sconce::tensor::TensorHandle;

/// How a search counts, from PyTorch's arguments.
fn search_of(out_int32: bool, right: bool, side: Option<CText<'_>>) -> Result<Search> {
    let side = side.map(CText::text);
    Search::new(right, side.as_deref(), out_int32)
}

abi_functions! {
    /// Returns the sorted elements along a dimension, and where each was.
    aoti_torch_cpu_sort | aoti_torch_cuda_sort(
        tensor as self: TensorHandle, dim: i64, descending: bool, ret0: Place, ret1: Place,
    ) {
        give_both([ret0, ret1], ordering::sort_any(tensor, dim, descending)?)
    }

    /// As `sort`; equal elements keep their order if `stable` is set.
    aoti_torch_cpu_sort_stable | aoti_torch_cuda_sort_stable(
        tensor as self: TensorHandle, stable: Option<bool>, dim: i64, descending: bool, ret0: Place, ret1: Place,
    ) {
        let sorted = match stable == Some(true) {
            true => ordering::sort(tensor, dim, descending)?,
            false => ordering::sort_any(tensor, dim, descending)?,
        };
        give_both([ret0, ret1], sorted)
    }

    /// Returns the `k` largest or smallest elements along a dimension, and where each was.
    aoti_torch_cpu_topk | aoti_torch_cuda_topk(
        tensor as self: TensorHandle, k: i64, dim: i64, largest: bool, sorted: bool, ret0: Place, ret1: Place,
    ) {
        let top = ordering::topk(tensor, k, dim, largest, sorted)?;
        give_both([ret0, ret1], top)
    }

    /// Returns the `k`-th smallest element along a dimension, counted from 1, and where it was.
    aoti_torch_cpu_kthvalue | aoti_torch_cuda_kthvalue(
        tensor as self: TensorHandle, k: i64, dim: i64, keepdim: bool, ret0: Place, ret1: Place,
    ) {
        give_both([ret0, ret1], ordering::kthvalue(tensor, k, dim, keepdim)?)
    }

    /// Returns the element that occurs most often along a dimension, and its last place.
    aoti_torch_cpu_mode | aoti_torch_cuda_mode(
        tensor as self: TensorHandle, dim: i64, keepdim: bool, ret0: Place, ret1: Place,
    ) {
        give_both([ret0, ret1], ordering::mode(tensor, dim, keepdim)?)
    }

    /// Returns the median of all elements.
    aoti_torch_cpu_median | aoti_torch_cuda_median(tensor as self: TensorHandle, ret0: Place) {
        give(ret0, ordering::median(tensor)?)
    }

    /// Returns the median of all elements that are no NaN.
    aoti_torch_cpu_nanmedian | aoti_torch_cuda_nanmedian(tensor as self: TensorHandle, ret0: Place) {
        give(ret0, ordering::nanmedian(tensor)?)
    }

    /// Returns where values belong in sorted lines.
    aoti_torch_cpu_searchsorted_Tensor | aoti_torch_cuda_searchsorted_Tensor(
        sorted_sequence: TensorHandle, tensor as self: TensorHandle, out_int32: bool, right: bool, side: Option<CText>,
        sorter: Option<TensorHandle>, ret0: Place,
    ) {
        let search = search_of(out_int32, right, side)?;
        let found = search::search_sorted(sorted_sequence, tensor, sorter, search)?;
        give(ret0, found)
    }

    /// Returns where a number belongs in a sorted line.
    aoti_torch_cpu_searchsorted_Scalar | aoti_torch_cuda_searchsorted_Scalar(
        sorted_sequence: TensorHandle, value: f64, out_int32: bool, right: bool, side: Option<CText>,
        sorter: Option<TensorHandle>, ret0: Place,
    ) {
        let search = search_of(out_int32, right, side)?;
        let found = search::search_sorted_number(sorted_sequence, value, sorter, search)?;
        give(ret0, found)
    }

    /// Returns the bucket of each value, whose boundaries are sorted.
    aoti_torch_cpu_bucketize_Tensor | aoti_torch_cuda_bucketize_Tensor(
        tensor as self: TensorHandle, boundaries: TensorHandle, out_int32: bool, right: bool, ret0: Place,
    ) {
        let search = Search::new(right, None, out_int32)?;
        give(ret0, search::search_sorted(boundaries, tensor, None, search)?)
    }

    /// Returns each index as often as `repeats` says.
    aoti_torch_cpu_repeat_interleave_Tensor | aoti_torch_cuda_repeat_interleave_Tensor(
        repeats: TensorHandle, output_size: Option<i64>, ret0: Place,
    ) {
        give(ret0, search::repeat_interleave(repeats, output_size)?)
    }

    /// Returns how many elements are in each of the bins.
    aoti_torch_cpu_histc | aoti_torch_cuda_histc(
        tensor as self: TensorHandle, bins: i64, min: f64, max: f64, ret0: Place,
    ) {
        give(ret0, counting::histc(tensor, bins, min, max)?)
    }

    /// Returns tensors joined along a dimension.
    aoti_torch_cpu_cat | aoti_torch_cuda_cat(
        tensors: &[TensorHandle], dim: i64, ret0: Place,
    ) {
        give(ret0, operations::cat(tensors, dim)?)
    }

    /// Returns the counts of elements between equally distant edges, and the edges. PyTorch has this for the CPU alone.
    aoti_torch_cpu_histogram_bin_ct(
        tensor as self: TensorHandle, bins: i64, range: Option<&[f64]>, weight: Option<TensorHandle>, density: bool,
        ret0: Place, ret1: Place,
    ) {
        let range = range.unwrap_or_default();
        let bins = counting::Bins { bins, range, weight, is_density: density };
        give_both([ret0, ret1], bins.count(tensor)?)
    }

    /// Returns how many rows are in each of the bins that all dimensions make.
    aoti_torch_cpu__histogramdd_from_bin_cts(
        tensor as self: TensorHandle, bins: &[i64], range: Option<&[f64]>, weight: Option<TensorHandle>, density: bool,
        ret0: Place,
    ) {
        let range = range.unwrap_or_default();
        let rows = RowCounting { bins, range, weight, is_density: density };
        give(ret0, rows.count(tensor)?)
    }
}
