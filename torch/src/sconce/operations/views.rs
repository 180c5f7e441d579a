//! Views of a tensor.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use crate::error::{Error, Result};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// A part of a dimension.
pub fn narrow(tensor: TensorHandle, dim: i64, start: i64, length: i64) -> Result<Tensor> {
    Tensor::made(|made| api::sconce_tensor_narrow(tensor, dim, start, length, made))
}

/// A view of other sizes, or a copy where no view has them.
pub fn reshape(tensor: TensorHandle, sizes: &[i64]) -> Result<Tensor> {
    // SAFETY: the sizes have the length that is passed; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_reshape(tensor, sizes.as_ptr(), sizes.len(), made)
    })
}

/// A view with dimensions repeated.
pub fn expand(tensor: TensorHandle, sizes: &[i64]) -> Result<Tensor> {
    // SAFETY: the sizes have the length that is passed; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_expand(tensor, sizes.as_ptr(), sizes.len(), made)
    })
}

/// A view with two dimensions exchanged.
pub fn transpose(tensor: TensorHandle, first: i64, second: i64) -> Result<Tensor> {
    Tensor::made(|made| api::sconce_tensor_transpose(tensor, first, second, made))
}

/// A view with one more dimension of one element.
pub fn unsqueeze(tensor: TensorHandle, dim: i64) -> Result<Tensor> {
    Tensor::made(|made| api::sconce_tensor_unsqueeze(tensor, dim, made))
}

/// A view with the dimensions in another order.
pub fn permute(tensor: TensorHandle, dims: &[i64]) -> Result<Tensor> {
    // SAFETY: the dimensions have the length that is passed; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_permute(tensor, dims.as_ptr(), dims.len(), made)
    })
}

/// A view of one part of a dimension, without the dimension.
pub fn select(tensor: TensorHandle, dim: i64, at: i64) -> Result<Tensor> {
    Tensor::made(|made| api::sconce_tensor_select(tensor, dim, at, made))
}

/// A view of every `step`-th part of a dimension, from `start` to `end`, which is left out.
pub fn slice(
    tensor: TensorHandle,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<Tensor> {
    let (start, end) = (start.unwrap_or(0), end.unwrap_or(i64::MAX));
    Tensor::made(|made| api::sconce_tensor_slice(tensor, dim, start, end, step, made))
}

/// A view without a dimension, if that has one element.
pub fn squeeze(tensor: TensorHandle, dim: i64) -> Result<Tensor> {
    // SAFETY: there is one dimension; the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_squeeze(tensor, &dim, 1, made) })
}

/// What libsconce.so takes for the tensor's own offset.
const OWN_OFFSET: i64 = -1;

/// The offset of a view as libsconce.so takes it. -1 of a caller is none, although libsconce.so gives it a meaning.
pub fn view_offset(offset: Option<i64>) -> Result<i64> {
    match offset {
        None => Ok(OWN_OFFSET),
        Some(offset) if offset < 0 => Err(Error::invalid_argument(format!(
            "Tensor: invalid storage offset {offset}; it must be at least 0"
        ))),
        Some(offset) => Ok(offset),
    }
}

/// Refuses strides that are not as many as the sizes.
pub(super) fn check_lengths(sizes: &[i64], strides: &[i64]) -> Result<()> {
    if sizes.len() == strides.len() {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "mismatch in length of strides and shape: there are {} sizes, but {} strides",
        sizes.len(),
        strides.len()
    )))
}

/// A view of the same memory with other sizes and strides, from an offset of its begin; the tensor's own if there is
/// none.
pub fn as_strided(
    tensor: TensorHandle,
    sizes: &[i64],
    strides: &[i64],
    offset: Option<i64>,
) -> Result<Tensor> {
    check_lengths(sizes, strides)?;
    let offset = view_offset(offset)?;
    // SAFETY: there are as many strides as sizes, as was checked; the place is valid for a write.
    Tensor::made(|made| unsafe {
        let (sizes, rank) = (sizes.as_ptr(), sizes.len());
        api::sconce_tensor_as_strided(tensor, sizes, strides.as_ptr(), rank, offset, made)
    })
}
