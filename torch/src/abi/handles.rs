//! New tensors and handles of tensors.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use std::cell::RefCell;

use super::arguments::{Out, with_tensors};
use super::bits::CBool;
use super::constants::{device_of, dtype_of};
use super::live;
use super::tensors::{is_defined, offset_of, rank_of, strides_of};
use crate::error::{Error, Result, shim};
use crate::sconce::operations::{as_strided, undefined, view_offset};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, check};

/// Returns a new tensor to the caller.
#[inline]
pub fn return_tensor(
    place: Out<'_, TensorHandle>,
    name: &str,
    tensor: impl FnOnce() -> Result<Tensor>,
) -> i32 {
    shim(|| {
        place.check(name)?;
        let tensor = tensor()?;
        place.write(name, tensor.handle())?;
        live::made(tensor.into_handle());
        Ok(())
    })
}

/// Returns a view of the memory of another tensor to the caller.
fn return_view(
    place: Out<'_, TensorHandle>,
    name: &str,
    view: impl FnOnce() -> Result<Tensor>,
) -> i32 {
    shim(|| {
        place.check(name)?;
        let view = view()?;
        place.write(name, view.handle())?;
        live::viewed(view.into_handle());
        Ok(())
    })
}

/// More dimensions than any tensor has: a larger number is one that was not set.
const MOST_DIMENSIONS: i64 = 1 << 10;

/// A number of dimensions that a caller passes as a signed number.
pub(super) fn count(ndim: i64) -> Result<usize> {
    if !(0..=MOST_DIMENSIONS).contains(&ndim) {
        return Err(Error::invalid_argument(format!(
            "ndim is {ndim}; it must be from 0 to {MOST_DIMENSIONS}"
        )));
    }
    Ok(ndim as usize)
}

/// Gives up a handle.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_delete_tensor_object(tensor: TensorHandle) -> i32 {
    live::gone(tensor);
    shim(|| check(api::sconce_tensor_release(tensor)))
}

/// Another view of the same memory: a handle of its own.
pub fn another_handle(tensor: TensorHandle) -> Result<Tensor> {
    if !is_defined(tensor)? {
        return undefined();
    }
    let (sizes, strides) = (super::tensors::sizes_of(tensor)?, strides_of(tensor)?);
    as_strided(tensor, &sizes, &strides, Some(offset_of(tensor)?))
}

thread_local! {
    /// Handles that `aoti_torch_new_tensor_handle` returned, while they are recorded.
    static RECORDED: RefCell<Option<Vec<TensorHandle>>> = const { RefCell::new(None) };
}

/// Runs a function and returns the handles that the thread was given meanwhile by `aoti_torch_new_tensor_handle`.
pub fn recorded<R>(function: impl FnOnce() -> R) -> (R, Vec<TensorHandle>) {
    let before = RECORDED.replace(Some(Vec::new()));
    let result = function();
    (result, RECORDED.replace(before).unwrap_or_default())
}

/// Returns another handle of the same tensor: assignments to one do not change the other.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_new_tensor_handle(
    orig_handle: TensorHandle,
    new_handle: Out<'_, TensorHandle>,
) -> i32 {
    let make = || {
        let made = with_tensors(&[("orig_handle", orig_handle)], || another_handle(orig_handle))?;
        RECORDED.with_borrow_mut(|recorded| {
            recorded.iter_mut().for_each(|recorded| recorded.push(made.handle()));
        });
        Ok(made)
    };
    return_view(new_handle, "new_handle", make)
}

/// Returns a tensor without memory, type or shape.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_new_uninitialized_tensor(ret: Out<'_, TensorHandle>) -> i32 {
    return_tensor(ret, "ret", undefined)
}

/// Accepts that a tensor takes no part in gradients, which none does here; refuses the contrary.
#[unsafe(no_mangle)]
pub extern "C" fn torch_set_requires_grad(tensor: TensorHandle, requires_grad: CBool) -> i32 {
    shim(|| {
        is_defined(tensor)?;
        if requires_grad.is_true() {
            return Err(Error::not_supported(
                "requires_grad cannot be set: Sconce records no gradients; train with PyTorch, or call backward \
                 operators of the library directly",
            ));
        }
        Ok(())
    })
}

/// Lets `dst` hold the tensor of `src`. Both are still deleted as before.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_assign_tensors(src: TensorHandle, dst: TensorHandle) -> i32 {
    shim(|| {
        live::gone(dst);
        with_tensors(&[("src", src), ("dst", dst)], || check(api::sconce_tensor_assign(dst, src)))?;
        live::viewed(dst);
        Ok(())
    })
}

/// Returns a new handle that holds the tensor of `src`.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_assign_tensors_out(
    src: TensorHandle,
    ret_dst: Out<'_, TensorHandle>,
) -> i32 {
    let make = || with_tensors(&[("src", src)], || another_handle(src));
    return_view(ret_dst, "ret_dst", make)
}

/// Returns the memory of a tensor, seen through other sizes and strides from an offset of the memory's begin.
///
/// # Safety
/// Sizes and strides have `ndim` entries; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch__reinterpret_tensor(
    tensor: TensorHandle,
    ndim: i64,
    sizes_ptr: *const i64,
    strides_ptr: *const i64,
    storage_offset: i64,
    ret_new_tensor: Out<'_, TensorHandle>,
) -> i32 {
    let make = || {
        let (rank, offset) = (count(ndim)?, view_offset(Some(storage_offset))?);
        // SAFETY: the ABI demands that sizes and strides have as many entries; libsconce.so refuses NULL.
        Tensor::made(|made| unsafe {
            api::sconce_tensor_as_strided(tensor, sizes_ptr, strides_ptr, rank, offset, made)
        })
    };
    let make = || with_tensors(&[("self", tensor)], make);
    return_view(ret_new_tensor, "ret_new_tensor", make)
}

/// Returns the memory of a tensor, seen through other sizes and strides from its own offset.
///
/// # Safety
/// Sizes and strides have as many entries as the tensor has dimensions; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_as_strided(
    tensor: TensorHandle,
    sizes_ptr: *const i64,
    strides_ptr: *const i64,
    ret: Out<'_, TensorHandle>,
) -> i32 {
    let make = || {
        let (rank, offset) = (rank_of(tensor)?, offset_of(tensor)?);
        // SAFETY: the ABI demands that sizes and strides have as many entries; libsconce.so refuses NULL.
        Tensor::made(|made| unsafe {
            api::sconce_tensor_as_strided(tensor, sizes_ptr, strides_ptr, rank, offset, made)
        })
    };
    let make = || with_tensors(&[("self", tensor)], make);
    return_view(ret, "ret", make)
}

/// # Safety
/// Sizes and strides have `ndim` entries.
unsafe fn empty_strided(
    ndim: i64,
    sizes: *const i64,
    strides: *const i64,
    dtype: i32,
    device: i32,
    pinned: bool,
) -> Result<Tensor> {
    let rank = count(ndim)?;
    let mut options = options(dtype_of(dtype)?, device);
    options.pinned = pinned;
    // SAFETY: sizes and strides have `ndim` entries, which the functions below demand of C; the options are valid.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_empty_strided(sizes, strides, rank, &options, made)
    })
}

/// Returns a tensor whose values are not set.
///
/// # Safety
/// Sizes and strides have `ndim` entries; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_empty_strided(
    ndim: i64,
    sizes_ptr: *const i64,
    strides_ptr: *const i64,
    dtype: i32,
    device_type: i32,
    device_index: i32,
    ret_new_tensor: Out<'_, TensorHandle>,
) -> i32 {
    let make = || {
        let device = device_of(device_type, device_index)?;
        // SAFETY: the ABI demands that sizes and strides have `ndim` entries.
        unsafe { empty_strided(ndim, sizes_ptr, strides_ptr, dtype, device, false) }
    };
    return_tensor(ret_new_tensor, "ret_new_tensor", make)
}

/// Returns a tensor in page-locked memory of the host whose values are not set.
///
/// # Safety
/// As [`aoti_torch_empty_strided`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_empty_strided_pinned(
    ndim: i64,
    sizes_ptr: *const i64,
    strides_ptr: *const i64,
    dtype: i32,
    device_type: i32,
    device_index: i32,
    ret_new_tensor: Out<'_, TensorHandle>,
) -> i32 {
    let make = || {
        let device = device_of(device_type, device_index)?;
        // SAFETY: the ABI demands that sizes and strides have `ndim` entries.
        unsafe { empty_strided(ndim, sizes_ptr, strides_ptr, dtype, device, true) }
    };
    return_tensor(ret_new_tensor, "ret_new_tensor", make)
}
