//! Elements at indices.

#![allow(unsafe_code, reason = "functions of C over handles and texts")]

use super::{Place, give, name_tensor, operation};
use crate::abi::arguments::{CText, GivenTensors, array};
use crate::abi::bits::CBool;
use crate::operations::{advanced_indexing, indexed};
use crate::sconce::tensor::TensorHandle;

abi_functions! {
    /// Returns the elements of `tensor` at indices, one list a dimension; NULL takes a whole dimension.
    aoti_torch_cpu_index_Tensor | aoti_torch_cuda_index_Tensor(
        tensor as self: TensorHandle, indices: [Option<TensorHandle>], ret0: Place,
    ) {
        give(ret0, advanced_indexing::index(tensor, &indices)?)
    }

    /// Returns a copy of `tensor` with values at the indices, or with values added there.
    aoti_torch_cpu_index_put | aoti_torch_cuda_index_put(
        tensor as self: TensorHandle, indices: [Option<TensorHandle>], values: TensorHandle, accumulate: bool,
        ret0: Place,
    ) {
        give(ret0, advanced_indexing::index_put(tensor, &indices, values, accumulate)?)
    }

    /// Makes `out` a copy of `tensor` with elements of `src` at the indices along a dimension.
    aoti_torch_cpu_scatter_src_out | aoti_torch_cuda_scatter_src_out(
        out: TensorHandle, tensor as self: TensorHandle, dim: i64, index: TensorHandle, src: TensorHandle,
    ) {
        indexed::scatter(out, tensor, dim, index, src)
    }

    /// Makes `out` a copy of `tensor` with one value at the indices along a dimension.
    aoti_torch_cpu_scatter_value_out | aoti_torch_cuda_scatter_value_out(
        out: TensorHandle, tensor as self: TensorHandle, dim: i64, index: TensorHandle, value: f64,
    ) {
        indexed::scatter_value(out, tensor, dim, index, value)
    }

    /// Makes `out` a copy of `tensor` in which elements of `src` are combined at the indices along a dimension.
    aoti_torch_cpu_scatter_reduce_two_out | aoti_torch_cuda_scatter_reduce_two_out(
        out: TensorHandle, tensor as self: TensorHandle, dim: i64, index: TensorHandle, src: TensorHandle,
        reduce: CText, include_self: bool,
    ) {
        let reduce = reduce.required("reduce")?.to_string_lossy();
        indexed::scatter_reduce(out, tensor, [index, src], dim, &reduce, include_self)
    }

    /// Returns a copy of `tensor` in which parts of `source` are combined at the indices along a dimension.
    aoti_torch_cpu_index_reduce | aoti_torch_cuda_index_reduce(
        tensor as self: TensorHandle, dim: i64, index: TensorHandle, source: TensorHandle, reduce: CText,
        include_self: bool, ret0: Place,
    ) {
        let reduce = reduce.required("reduce")?.to_string_lossy();
        let result = indexed::index_reduce(tensor, dim, [index, source], &reduce, include_self)?;
        give(ret0, result)
    }

    /// As `aoti_torch_cuda_scatter_src_out`, for models of older versions.
    aoti_torch_scatter_out(
        out: TensorHandle, tensor as self: TensorHandle, dim: i64, index: TensorHandle, src: TensorHandle,
    ) {
        indexed::scatter(out, tensor, dim, index, src)
    }

    /// As `aoti_torch_cuda_scatter_reduce_two_out`, for models of older versions.
    aoti_torch_scatter_reduce_out(
        out: TensorHandle, tensor as self: TensorHandle, dim: i64, index: TensorHandle, src: TensorHandle,
        reduce: CText, include_self: bool,
    ) {
        indexed::scatter_reduce(out, tensor, [index, src], dim, &reduce.text(), include_self)
    }
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
    accumulate: CBool,
) -> i32 {
    operation("aoti_torch_index_put_out", || {
        // SAFETY: the ABI has the number of entries of `indices` in `num_indices`.
        let given = unsafe { array(indices, num_indices as usize, "indices") }?;
        let indices: Vec<_> =
            given.iter().map(|index| Some(*index).filter(|index| !index.is_null())).collect();
        let put =
            advanced_indexing::index_put_out(out, tensor, &indices, values, accumulate.is_true());
        put.map_err(|error| {
            name_tensor(error, || {
                let indices = indices.iter().enumerate();
                let indices = indices.filter_map(|(at, index)| index.map(|index| (at, index)));
                GivenTensors::of(&[("out", out), ("self", tensor), ("values", values)])
                    .and_list("indices", indices.collect())
            })
        })
    })
}
