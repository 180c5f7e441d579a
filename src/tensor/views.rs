//! Tensors that share the memory of another: no element is copied.
//!
//! torch's rules and messages; a dimension counts from the end if it is negative.

use sconce_tensors::tensor::{transfer, views};

use super::handle::{defined, look, sconce_tensor, viewed, viewed_directly};
use crate::sconce_status;

/// Returns the elements of a tensor with other sizes, without a copy.
///
/// - `sizes`: one may be -1, and is then computed from the others.
/// - `rank`: number of sizes.
/// - `out_tensor`: receives the view, which shares the memory.
/// - Errors: INVALID_ARGUMENT: the sizes have another number of elements, or the elements cannot be
///   addressed with strides in that shape (`sconce_tensor_reshape` then makes a copy).
/// - Ownership: the caller releases the view with `sconce_tensor_release`; it keeps the memory alive.
/// - torch: `torch.Tensor.view(sizes)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_view(
    tensor: *mut sconce_tensor,
    sizes: *const i64,
    rank: usize,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_handle!(out_tensor, {
        let sizes = entries!(sizes, rank);
        viewed_directly(
            tensor,
            "tensor",
            |from, to| views::view_directly(from, to, sizes),
            |view| views::view_in_place(view, sizes),
        )
    })
}

/// Returns the elements of a tensor with other sizes: a view where possible, else a copy. Otherwise as
/// `sconce_tensor_view`.
///
/// - `out_tensor`: receives the view or the copy.
/// - Ordering: a copy is queued on the current stream of the tensor's device.
/// - torch: `torch.Tensor.reshape`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_reshape(
    tensor: *mut sconce_tensor,
    sizes: *const i64,
    rank: usize,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let sizes = entries!(sizes, rank);
        transfer::reshape(&defined(tensor, "tensor")?, sizes)?
    })
}

/// Returns a view of the memory of a tensor with the given sizes, strides and offset.
///
/// - `sizes`: elements along each dimension.
/// - `strides`: in elements, at least 0.
/// - `rank`: number of sizes and of strides.
/// - `storage_offset`: elements from the beginning of the memory to the first element; -1 for the
///   tensor's own.
/// - `out_tensor`: receives the view.
/// - Errors: INVALID_ARGUMENT: an element lies outside of the memory.
/// - Ownership: as `sconce_tensor_view`.
/// - torch: `torch.Tensor.as_strided`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_as_strided(
    tensor: *mut sconce_tensor,
    sizes: *const i64,
    strides: *const i64,
    rank: usize,
    storage_offset: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let (sizes, strides) = (entries!(sizes, rank), entries!(strides, rank));
        let offset = (storage_offset != -1).then_some(storage_offset);
        look(tensor, "tensor", |tensor| views::as_strided(tensor, sizes, strides, offset))?
    })
}

/// Returns a part of a dimension.
///
/// - `start`: the first index; counts from the end if it is negative.
/// - `length`: the number of indices.
/// - `out_tensor`: receives the view.
/// - Errors: INVALID_ARGUMENT: the part reaches beyond the dimension.
/// - Ownership: as `sconce_tensor_view`.
/// - torch: `torch.Tensor.narrow`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_narrow(
    tensor: *mut sconce_tensor,
    dim: i64,
    start: i64,
    length: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_handle!(out_tensor, {
        viewed(tensor, "tensor", |view| views::narrow_in_place(view, dim, start, length))
    })
}

/// Returns every `step`-th index of a dimension from `start` up to, but excluding, `end`.
///
/// - `start`, `end`: count from the end if they are negative, and are clamped to the dimension.
///   INT64_MAX as `end` means the end of the dimension.
/// - `step`: at least 1.
/// - `out_tensor`: receives the view.
/// - Errors: INVALID_ARGUMENT: `step` is less than 1.
/// - Ownership: as `sconce_tensor_view`.
/// - torch: `tensor[start:end:step]`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_slice(
    tensor: *mut sconce_tensor,
    dim: i64,
    start: i64,
    end: i64,
    step: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_handle!(out_tensor, {
        viewed(tensor, "tensor", |view| {
            views::slice_in_place(view, dim, Some(start), Some(end), step)
        })
    })
}

/// Returns one index of a dimension, without that dimension.
///
/// - `index`: counts from the end if it is negative.
/// - `out_tensor`: receives the view.
/// - Errors: INVALID_ARGUMENT: the dimension has no such index.
/// - Ownership: as `sconce_tensor_view`.
/// - torch: `torch.Tensor.select`, `tensor[index]`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_select(
    tensor: *mut sconce_tensor,
    dim: i64,
    index: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_handle!(out_tensor, {
        viewed_directly(
            tensor,
            "tensor",
            |from, to| views::select_directly(from, to, dim, index),
            |view| views::select_in_place(view, dim, index),
        )
    })
}

/// Returns a tensor with two dimensions exchanged.
///
/// - `first`, `second`: the two dimensions.
/// - `out_tensor`: receives the view.
/// - Ownership: as `sconce_tensor_view`.
/// - torch: `torch.Tensor.transpose`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_transpose(
    tensor: *mut sconce_tensor,
    first: i64,
    second: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_handle!(out_tensor, {
        viewed(tensor, "tensor", |view| views::transpose_in_place(view, first, second))
    })
}

/// Returns a tensor with its dimensions in another order.
///
/// - `dims`: the dimensions in their new order, each once.
/// - `count`: number of entries of `dims`.
/// - `out_tensor`: receives the view.
/// - Ownership: as `sconce_tensor_view`.
/// - torch: `torch.Tensor.permute`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_permute(
    tensor: *mut sconce_tensor,
    dims: *const i64,
    count: usize,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_handle!(out_tensor, {
        let dims = entries!(dims, count);
        viewed(tensor, "tensor", |view| views::permute_in_place(view, dims))
    })
}

/// Returns a tensor with dimensions of one element repeated, without memory for the repetitions.
///
/// - `sizes`: -1 keeps a size; dimensions that the tensor does not have come first.
/// - `rank`: number of sizes.
/// - `out_tensor`: receives the view.
/// - Errors: INVALID_ARGUMENT: a dimension of more than one element would have another size.
/// - Ownership: as `sconce_tensor_view`.
/// - torch: `torch.Tensor.expand`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_expand(
    tensor: *mut sconce_tensor,
    sizes: *const i64,
    rank: usize,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_handle!(out_tensor, {
        let sizes = entries!(sizes, rank);
        viewed(tensor, "tensor", |view| views::expand_in_place(view, sizes))
    })
}

/// Returns a tensor without the given dimensions, as far as they have one element.
///
/// - `dims`: NULL for all dimensions.
/// - `count`: number of entries of `dims`.
/// - `out_tensor`: receives the view.
/// - Ownership: as `sconce_tensor_view`.
/// - torch: `torch.Tensor.squeeze`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_squeeze(
    tensor: *mut sconce_tensor,
    dims: *const i64,
    count: usize,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_handle!(out_tensor, {
        let dims = if dims.is_null() && count == 0 { None } else { Some(entries!(dims, count)) };
        viewed(tensor, "tensor", |view| match dims {
            None => {
                views::squeeze_all_in_place(view);
                Ok(())
            }
            Some(dims) => views::squeeze_in_place(view, dims),
        })
    })
}

/// Returns a tensor with one more dimension, of one element, before dimension `dim`.
///
/// - `out_tensor`: receives the view.
/// - Ownership: as `sconce_tensor_view`.
/// - torch: `torch.Tensor.unsqueeze`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_unsqueeze(
    tensor: *mut sconce_tensor,
    dim: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_handle!(out_tensor, {
        viewed(tensor, "tensor", |view| views::unsqueeze_in_place(view, dim))
    })
}

/// Returns a tensor with the dimensions from `start` to `end`, both included, joined into one: a
/// view where possible, else a copy.
///
/// - `out_tensor`: receives the view or the copy.
/// - Ownership: as `sconce_tensor_view`.
/// - Ordering: as `sconce_tensor_reshape`.
/// - torch: `torch.Tensor.flatten`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_flatten(
    tensor: *mut sconce_tensor,
    start: i64,
    end: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let found = defined(tensor, "tensor")?;
        match views::flatten(&found, start, end)? {
            None => found,
            Some(sizes) => transfer::reshape(&found, &sizes)?,
        }
    })
}

/// Returns a tensor with one dimension replaced by several.
///
/// - `sizes`: their product is the size of the dimension; one may be -1.
/// - `count`: number of sizes.
/// - `out_tensor`: receives the view.
/// - Errors: INVALID_ARGUMENT: the sizes have another product.
/// - Ownership: as `sconce_tensor_view`.
/// - torch: `torch.Tensor.unflatten`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_unflatten(
    tensor: *mut sconce_tensor,
    dim: i64,
    sizes: *const i64,
    count: usize,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_handle!(out_tensor, {
        let sizes = entries!(sizes, count);
        viewed(tensor, "tensor", |view| views::unflatten_in_place(view, dim, sizes))
    })
}

/// Returns the diagonal of two dimensions, as the last dimension.
///
/// - `offset`: how far above the main diagonal; negative: below.
/// - `first`, `second`: the two dimensions.
/// - `out_tensor`: receives the view.
/// - Errors: INVALID_ARGUMENT: the two dimensions are the same.
/// - Ownership: as `sconce_tensor_view`.
/// - torch: `torch.Tensor.diagonal`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_diagonal(
    tensor: *mut sconce_tensor,
    offset: i64,
    first: i64,
    second: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_handle!(out_tensor, {
        viewed(tensor, "tensor", |view| views::diagonal_in_place(view, offset, first, second))
    })
}
