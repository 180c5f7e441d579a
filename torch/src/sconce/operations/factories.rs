//! New tensors.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use super::views::check_lengths;
use crate::error::Result;
use crate::sconce::properties::{device_of_tensor, dtype_of_tensor, sizes_of, strides_of};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{integer, options, real};
use crate::sconce::{Tensor, api, check};

/// A tensor without memory, type or shape.
pub fn undefined() -> Result<Tensor> {
    Tensor::made(|made| api::sconce_tensor_undefined(made))
}

/// A tensor whose values are not set.
pub fn empty(sizes: &[i64], options: &api::sconce_tensor_options) -> Result<Tensor> {
    // SAFETY: the sizes have the length that is passed; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_empty(sizes.as_ptr(), sizes.len(), options, made)
    })
}

/// A tensor of one value.
pub fn full(
    sizes: &[i64],
    value: &api::sconce_scalar,
    options: &api::sconce_tensor_options,
) -> Result<Tensor> {
    // SAFETY: the sizes have the length that is passed; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_full(sizes.as_ptr(), sizes.len(), value, options, made)
    })
}

/// A tensor with the sizes of another and its order in memory, whose values are not set.
pub fn empty_like(tensor: TensorHandle, dtype: i32) -> Result<Tensor> {
    empty_like_with(tensor, &options(dtype, -1))
}

/// As [`empty_like`], with all options.
pub fn empty_like_with(
    tensor: TensorHandle,
    options: &api::sconce_tensor_options,
) -> Result<Tensor> {
    // SAFETY: the options live during the call; the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_empty_like(tensor, options, made) })
}

/// A tensor with strides, whose values are not set.
pub fn empty_strided(
    sizes: &[i64],
    strides: &[i64],
    options: &api::sconce_tensor_options,
) -> Result<Tensor> {
    check_lengths(sizes, strides)?;
    let (rank, sizes, strides) = (sizes.len(), sizes.as_ptr(), strides.as_ptr());
    // SAFETY: there are as many strides as sizes, as was checked; options and place are valid.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_empty_strided(sizes, strides, rank, options, made)
    })
}

/// The whole numbers below `n` in a random order; the default generator draws it if none is passed.
pub fn randperm(
    n: i64,
    generator: *mut api::sconce_generator,
    options: &api::sconce_tensor_options,
) -> Result<Tensor> {
    // SAFETY: any number may be passed as a generator; the options live during the call; the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_randperm(n, generator, options, made) })
}

/// Whole numbers from `start` up or down to `end`, which is left out.
pub fn arange(
    start: i64,
    end: i64,
    step: i64,
    options: &api::sconce_tensor_options,
) -> Result<Tensor> {
    let (start, end, step) = (integer(start), integer(end), integer(step));
    // SAFETY: the numbers are valid; the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_arange(&start, &end, &step, options, made) })
}

/// So many numbers at equal distances, from `first` to `last`.
pub fn linspace(
    first: f64,
    last: f64,
    count: i64,
    options: &api::sconce_tensor_options,
) -> Result<Tensor> {
    let (first, last) = (real(first), real(last));
    // SAFETY: the numbers and options live during the call; the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_linspace(&first, &last, count, options, made) })
}

/// A vector of values of the host, whose type has their size.
pub fn from_values<T: Copy>(values: &[T], options: &api::sconce_tensor_options) -> Result<Tensor> {
    let length = values.len() as i64;
    // SAFETY: the values have that many bytes, and there is one size; the place is valid for a write.
    Tensor::made(|made| unsafe {
        let (pointer, bytes) = (values.as_ptr().cast(), size_of_val(values));
        api::sconce_tensor_from_values(pointer, bytes, &length, 1, options, made)
    })
}

/// A tensor on a device, with strides, of which there are as many as it has sizes: itself where it is that, else a copy.
pub fn laid_out(tensor: TensorHandle, place: i32, wanted: &[i64]) -> Result<Tensor> {
    let (sizes, strides) = (sizes_of(tensor)?, strides_of(tensor)?);
    let mut each = sizes.iter().zip(strides.iter().zip(wanted));
    // The stride of a single element, or of none, reaches nothing.
    if device_of_tensor(tensor)? == place
        && (sizes.contains(&0) || each.all(|(&size, (given, wanted))| size == 1 || given == wanted))
    {
        return Tensor::retained(tensor);
    }
    let options = options(dtype_of_tensor(tensor)?, place);
    let made = empty_strided(&sizes, wanted, &options)?;
    check(api::sconce_tensor_copy(made.handle(), tensor, false))?;
    Ok(made)
}
