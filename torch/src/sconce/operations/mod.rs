//! Operations of libsconce.so on tensors, as far as operations of PyTorch's ABI are made of them. Here are those that
//! fill, read, copy, join and reduce tensors.
//!
//! | file | idea |
//! |---|---|
//! | `factories` | new tensors |
//! | `views` | views of a tensor |
//! | `elementwise` | operations on elements |

#![allow(unsafe_code, reason = "calls libsconce.so")]

mod elementwise;
mod factories;
mod views;

use super::properties::{device_of_tensor, dtype_of_tensor, numel_of, sizes_of};
use super::tensor::TensorHandle;
use super::values::{integer, options};
use super::{Tensor, api, check};
use crate::error::{Error, Result};

pub use super::products::{addmm, bmm, matmul, mm, mm_out};
pub use elementwise::{
    Operand, binary, binary_in_place, choose, clamped_from, combine, unary, unary_in_place,
};
pub use factories::{
    arange, empty, empty_like, empty_like_with, empty_strided, from_values, full, laid_out,
    linspace, randperm, undefined,
};
pub use views::{
    as_strided, expand, narrow, permute, reshape, select, slice, squeeze, transpose, unsqueeze,
    view_offset,
};

/// Sets all elements to a value.
pub fn fill(tensor: TensorHandle, value: &api::sconce_scalar) -> Result<()> {
    check(api::sconce_tensor_fill(tensor, Some(value)))
}

/// The value of a tensor of one element. Waits for its device.
pub fn item(tensor: TensorHandle) -> Result<api::sconce_scalar> {
    let mut value = integer(0);
    check(api::sconce_tensor_item(tensor, &mut value))?;
    Ok(value)
}

/// Lets `into` hold the tensor of `from`.
pub fn assign(into: TensorHandle, from: &Tensor) -> Result<()> {
    check(api::sconce_tensor_assign(into, from.handle()))
}

/// The tensor itself or a copy in another type.
pub fn to_dtype(tensor: TensorHandle, dtype: i32) -> Result<Tensor> {
    to(tensor, &options(dtype, -1))
}

/// The tensor itself where it is what the options say, else a copy.
pub fn to(tensor: TensorHandle, options: &api::sconce_tensor_options) -> Result<Tensor> {
    // SAFETY: the options live during the call; the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_to(tensor, options, false, false, made) })
}

/// The tensor in float32 if its type has 16 bits, else the tensor itself: what is calculated is then rounded once.
pub fn widened(tensor: TensorHandle) -> Result<Tensor> {
    match dtype_of_tensor(tensor)? {
        api::SCONCE_DTYPE_F16 | api::SCONCE_DTYPE_BF16 => to_dtype(tensor, api::SCONCE_DTYPE_F32),
        _ => Tensor::retained(tensor),
    }
}

/// Gives a tensor other sizes, and new memory where they need more.
pub fn resize(tensor: TensorHandle, sizes: &[i64]) -> Result<()> {
    // SAFETY: the sizes have the length that is passed; any number may be passed as a handle.
    check(unsafe { api::sconce_tensor_resize(tensor, sizes.as_ptr(), sizes.len()) })
}

/// `SCONCE_LINE_…` along a dimension.
pub fn along(operation: i32, tensor: TensorHandle, dim: i64, dtype: i32) -> Result<Tensor> {
    Tensor::made(|made| api::sconce_tensor_along(operation, tensor, dim, dtype, made))
}

/// `SCONCE_REDUCE_…` of dimensions, or of all if none is named. They stay with one element if `keep` is set.
pub fn reduce(
    operation: i32,
    tensor: TensorHandle,
    dims: &[i64],
    keep: bool,
    dtype: i32,
) -> Result<Tensor> {
    let pointer = if dims.is_empty() { std::ptr::null() } else { dims.as_ptr() };
    // SAFETY: there are as many dimensions; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_reduce(operation, tensor, pointer, dims.len(), keep, dtype, made)
    })
}

/// `SCONCE_REDUCE_…` of the last dimension, which stays with one element.
pub fn reduce_last(operation: i32, tensor: &Tensor) -> Result<Tensor> {
    reduce(operation, tensor.handle(), &[-1], true, api::SCONCE_DTYPE_DEFAULT)
}

/// Whether all elements are true. Waits for the tensor's device.
pub fn all_true(tensor: &Tensor) -> Result<bool> {
    let (operation, dtype) = (api::SCONCE_REDUCE_ALL, api::SCONCE_DTYPE_DEFAULT);
    let all = reduce(operation, tensor.handle(), &[], false, dtype)?;
    Ok(item(all.handle())?.integer != 0)
}

/// Copies elements, converted and repeated as needed.
pub fn copy(into: &Tensor, from: TensorHandle) -> Result<()> {
    check(api::sconce_tensor_copy(into.handle(), from, true))
}

/// Tensors joined along a dimension.
pub fn cat(tensors: &[TensorHandle], dim: i64) -> Result<Tensor> {
    // SAFETY: there are as many tensors; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_cat(tensors.as_ptr(), tensors.len(), dim, made)
    })
}

/// The parts of a dimension that a vector of integers names.
pub fn index_select(tensor: TensorHandle, dim: i64, index: TensorHandle) -> Result<Tensor> {
    Tensor::made(|made| api::sconce_tensor_index_select(tensor, dim, index, made))
}

/// A copy with the parts of a dimension in reverse order.
pub fn flip(tensor: TensorHandle, dim: i64) -> Result<Tensor> {
    let size =
        match usize::try_from(dim).ok().and_then(|dim| Some(*sizes_of(tensor).ok()?.get(dim)?)) {
            Some(size) if size > 1 => size,
            _ => return contiguous_copy(tensor),
        };
    let options = options(api::SCONCE_DTYPE_I64, device_of_tensor(tensor)?);
    let index = arange(size - 1, -1, -1, &options)?;
    index_select(tensor, dim, index.handle())
}

/// The elements of a tensor of I32, in the order of its dimensions. The host waits for a device.
pub fn whole_numbers(tensor: TensorHandle) -> Result<Vec<i32>> {
    let mut numbers = vec![0_i32; numel_of(tensor)? as usize];
    let (place, bytes) = (numbers.as_mut_ptr().cast(), size_of_val(numbers.as_slice()));
    // SAFETY: the vector has that many bytes.
    check(unsafe { api::sconce_tensor_to_values(tensor, place, bytes) })?;
    Ok(numbers)
}

/// A copy whose elements lie one after another.
pub fn contiguous_copy(tensor: TensorHandle) -> Result<Tensor> {
    let format = api::SCONCE_MEMORY_FORMAT_CONTIGUOUS;
    Tensor::made(|made| api::sconce_tensor_clone(tensor, format, made))
}

/// The tensor itself if its elements lie one after another, else a copy in which they do.
pub fn contiguous(tensor: TensorHandle) -> Result<Tensor> {
    let format = api::SCONCE_MEMORY_FORMAT_CONTIGUOUS;
    Tensor::made(|made| api::sconce_tensor_contiguous(tensor, format, made))
}

/// The place of a dimension, whose number may count from the end; `None` if there is no such dimension. A tensor without
/// dimensions has one here, as in torch.
pub fn dimension_place(dim: i64, rank: usize) -> Option<usize> {
    let count = rank.max(1) as i64;
    let place = if dim < 0 { dim.saturating_add(count) } else { dim };
    usize::try_from(place).ok().filter(|_| place < count)
}

/// As [`dimension_place`]; an error if there is no such dimension.
pub fn dim_in(dim: i64, rank: usize) -> Result<i64> {
    let count = rank.max(1) as i64;
    dimension_place(dim, rank).map(|place| place as i64).ok_or_else(|| {
        Error::invalid_argument(format!(
            "dim is {dim}, but must be from {} to {}",
            -count,
            count - 1
        ))
    })
}
