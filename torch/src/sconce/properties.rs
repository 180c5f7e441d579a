//! What a tensor is.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use std::ffi::c_void;

use super::tensor::TensorHandle;
use super::{api, check};
use crate::error::Result;

/// A word of a tensor that a function of libsconce.so writes.
#[inline]
fn word<T: Default>(get: impl FnOnce(&mut T) -> i32) -> Result<T> {
    let mut value = T::default();
    check(get(&mut value))?;
    Ok(value)
}

/// The number of dimensions.
#[inline]
pub fn rank_of(tensor: TensorHandle) -> Result<usize> {
    word(|rank| api::sconce_tensor_get_rank(tensor, rank))
}

/// Sconce's device of a tensor.
#[inline]
pub fn device_of_tensor(tensor: TensorHandle) -> Result<i32> {
    word(|device| api::sconce_tensor_get_device(tensor, device))
}

/// Sconce's data type of a tensor.
#[inline]
pub fn dtype_of_tensor(tensor: TensorHandle) -> Result<i32> {
    word(|dtype| api::sconce_tensor_get_dtype(tensor, dtype))
}

/// The number of elements.
#[inline]
pub fn numel_of(tensor: TensorHandle) -> Result<i64> {
    word(|numel| api::sconce_tensor_get_numel(tensor, numel))
}

/// Elements between the begin of the memory and the first one.
#[inline]
pub fn offset_of(tensor: TensorHandle) -> Result<i64> {
    word(|offset| api::sconce_tensor_get_storage_offset(tensor, offset))
}

/// Whether the tensor has memory, type and shape.
#[inline]
pub fn is_defined(tensor: TensorHandle) -> Result<bool> {
    word(|defined| api::sconce_tensor_is_defined(tensor, defined))
}

/// The address of the first element.
#[inline]
pub fn data_of(tensor: TensorHandle) -> Result<*mut c_void> {
    let mut address = std::ptr::null_mut();
    check(api::sconce_tensor_get_data(tensor, &mut address))?;
    Ok(address)
}

/// Where the memory begins, and its bytes.
#[inline]
pub fn storage_of(tensor: TensorHandle) -> Result<(*mut c_void, usize)> {
    let (mut address, mut bytes) = (std::ptr::null_mut(), 0);
    check(api::sconce_tensor_get_storage(tensor, &mut address, &mut bytes))?;
    Ok((address, bytes))
}

/// Where the sizes lie; see `sconce_tensor_borrow_sizes`.
#[inline]
pub fn borrowed_sizes(tensor: TensorHandle) -> Result<*const i64> {
    let mut sizes = std::ptr::null();
    check(api::sconce_tensor_borrow_sizes(tensor, &mut sizes))?;
    Ok(sizes)
}

/// Where the strides lie; see `sconce_tensor_borrow_strides`.
#[inline]
pub fn borrowed_strides(tensor: TensorHandle) -> Result<*const i64> {
    let mut strides = std::ptr::null();
    check(api::sconce_tensor_borrow_strides(tensor, &mut strides))?;
    Ok(strides)
}

/// The sizes, copied.
pub fn sizes_of(tensor: TensorHandle) -> Result<Vec<i64>> {
    let mut sizes = vec![0; rank_of(tensor)?];
    // SAFETY: the array has `sizes.len()` entries.
    check(unsafe { api::sconce_tensor_get_sizes(tensor, sizes.as_mut_ptr(), sizes.len()) })?;
    Ok(sizes)
}

/// The strides, copied.
pub fn strides_of(tensor: TensorHandle) -> Result<Vec<i64>> {
    let mut strides = vec![0; rank_of(tensor)?];
    // SAFETY: the array has `strides.len()` entries.
    check(unsafe { api::sconce_tensor_get_strides(tensor, strides.as_mut_ptr(), strides.len()) })?;
    Ok(strides)
}

/// Appends the sizes and the strides of a tensor to lists, and returns how many there are.
#[inline]
pub fn append_layout(
    tensor: TensorHandle,
    all_sizes: &mut Vec<i64>,
    all_strides: &mut Vec<i64>,
) -> Result<usize> {
    let rank = rank_of(tensor)?;
    let (first, begin) = (all_sizes.len(), all_strides.len());
    all_sizes.resize(first + rank, 0);
    all_strides.resize(begin + rank, 0);
    let sizes = all_sizes[first..].as_mut_ptr();
    // SAFETY: the array has `rank` entries.
    check(unsafe { api::sconce_tensor_get_sizes(tensor, sizes, rank) })?;
    let strides = all_strides[begin..].as_mut_ptr();
    // SAFETY: the array has `rank` entries.
    check(unsafe { api::sconce_tensor_get_strides(tensor, strides, rank) })?;
    Ok(rank)
}

/// Whether elements lie one after another in an order of the dimensions, `SCONCE_MEMORY_FORMAT_…`.
pub fn is_contiguous(tensor: TensorHandle, format: i32) -> Result<bool> {
    word(|contiguous| api::sconce_tensor_is_contiguous(tensor, format, contiguous))
}
