//! New tensors and handles of tensors.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use std::cell::RefCell;
use std::ffi::c_void;

use super::constants::{device_of, dtype_of};
use super::tensors::{dtype_of_tensor, is_defined, offset_of, rank_of, storage_of, strides_of};
use crate::error::{Error, Result, shim, write_out};
use crate::sconce::operations::undefined;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, check};

/// Returns a new tensor to the caller.
///
/// # Safety
/// The place is NULL or valid for a write.
#[inline]
pub unsafe fn return_tensor(
    place: *mut TensorHandle,
    name: &str,
    tensor: impl FnOnce() -> Result<Tensor>,
) -> i32 {
    shim(|| {
        if place.is_null() {
            return Err(Error::invalid_argument(format!("{name} is NULL")));
        }
        let tensor = tensor()?;
        // SAFETY: the caller's promise.
        unsafe { write_out(place, name, tensor.handle()) }?;
        tensor.into_handle();
        Ok(())
    })
}

/// A count that a caller passes as a signed number.
fn count(ndim: i64) -> Result<usize> {
    usize::try_from(ndim).map_err(|_| Error::invalid_argument(format!("ndim is {ndim}")))
}

/// Gives up a handle.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_delete_tensor_object(tensor: TensorHandle) -> i32 {
    // SAFETY: any number may be passed as a handle.
    shim(|| check(unsafe { api::sconce_tensor_release(tensor) }))
}

/// Another view of the same memory: a handle of its own.
pub fn another_handle(tensor: TensorHandle) -> Result<Tensor> {
    if !is_defined(tensor)? {
        return undefined();
    }
    let rank = rank_of(tensor)?;
    let offset = offset_of(tensor)?;
    let sizes = super::tensors::sizes_of(tensor)?;
    let strides = strides_of(tensor)?;
    // SAFETY: sizes and strides have `rank` entries; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_as_strided(tensor, sizes.as_ptr(), strides.as_ptr(), rank, offset, made)
    })
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
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_new_tensor_handle(
    orig_handle: TensorHandle,
    new_handle: *mut TensorHandle,
) -> i32 {
    let make = || {
        let made = another_handle(orig_handle)?;
        RECORDED.with_borrow_mut(|recorded| {
            recorded.iter_mut().for_each(|recorded| recorded.push(made.handle()));
        });
        Ok(made)
    };
    // SAFETY: the caller's promise.
    unsafe { return_tensor(new_handle, "new_handle", make) }
}

/// Returns a tensor without memory, type or shape.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_new_uninitialized_tensor(ret: *mut TensorHandle) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { return_tensor(ret, "ret", undefined) }
}

/// Lets `dst` hold the tensor of `src`. Both are still deleted as before.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_assign_tensors(src: TensorHandle, dst: TensorHandle) -> i32 {
    // SAFETY: any number may be passed as a handle.
    shim(|| check(unsafe { api::sconce_tensor_assign(dst, src) }))
}

/// Returns a new handle that holds the tensor of `src`.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_assign_tensors_out(
    src: TensorHandle,
    ret_dst: *mut TensorHandle,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { return_tensor(ret_dst, "ret_dst", || another_handle(src)) }
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
    ret_new_tensor: *mut TensorHandle,
) -> i32 {
    let make = || {
        let rank = count(ndim)?;
        // SAFETY: the caller's promise for sizes and strides; the place is valid for a write.
        Tensor::made(|made| unsafe {
            api::sconce_tensor_as_strided(
                tensor,
                sizes_ptr,
                strides_ptr,
                rank,
                storage_offset,
                made,
            )
        })
    };
    // SAFETY: the caller's promise.
    unsafe { return_tensor(ret_new_tensor, "ret_new_tensor", make) }
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
    ret: *mut TensorHandle,
) -> i32 {
    let make = || {
        let (rank, offset) = (rank_of(tensor)?, offset_of(tensor)?);
        // SAFETY: the caller's promise for sizes and strides; the place is valid for a write.
        Tensor::made(|made| unsafe {
            api::sconce_tensor_as_strided(tensor, sizes_ptr, strides_ptr, rank, offset, made)
        })
    };
    // SAFETY: the caller's promise.
    unsafe { return_tensor(ret, "ret", make) }
}

/// Returns a part of a tensor's memory as a tensor of another type: a pool of bytes holds several tensors.
///
/// # Safety
/// Sizes and strides have `ndim` entries; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch__alloc_from_pool(
    tensor: TensorHandle,
    offset_bytes: i64,
    dtype: i32,
    ndim: i64,
    sizes_ptr: *const i64,
    strides_ptr: *const i64,
    ret_new_tensor: *mut TensorHandle,
) -> i32 {
    let make = || {
        let (rank, dtype) = (count(ndim)?, dtype_of(dtype)?);
        if dtype != dtype_of_tensor(tensor)? {
            let owner = Tensor::retained(tensor)?;
            let device = super::tensors::device_of_tensor(tensor)?;
            let (begin, bytes) = storage_of(tensor)?;
            let offset = usize::try_from(offset_bytes).ok().filter(|offset| *offset <= bytes);
            let offset = offset.ok_or_else(|| {
                Error::invalid_argument(format!("offset_bytes is {offset_bytes} of {bytes} bytes"))
            })?;
            let address = begin.wrapping_byte_add(offset);
            let context = Box::into_raw(Box::new(owner)).cast();
            // SAFETY: the memory lives until the owner is dropped by the deleter; sizes and strides are the caller's
            // promise.
            let made = Tensor::made(|made| unsafe {
                api::sconce_tensor_from_memory(
                    address,
                    bytes - offset,
                    sizes_ptr,
                    strides_ptr,
                    rank,
                    dtype,
                    device,
                    Some(drop_tensor),
                    context,
                    made,
                )
            });
            if made.is_err() {
                // SAFETY: the call failed, so the deleter is not called.
                unsafe { drop_tensor(context) };
            }
            return made;
        }
        let mut bytes = 0;
        // SAFETY: the place is valid for a write.
        check(unsafe { api::sconce_dtype_get_bytes(dtype, &mut bytes) })?;
        let bytes = bytes as i64;
        if offset_bytes % bytes != 0 {
            return Err(Error::invalid_argument(format!(
                "offset_bytes is {offset_bytes}, which is no multiple of the {bytes} bytes of an element"
            )));
        }
        // SAFETY: the caller's promise for sizes and strides; the place is valid for a write.
        Tensor::made(|made| unsafe {
            let offset = offset_bytes / bytes;
            api::sconce_tensor_as_strided(tensor, sizes_ptr, strides_ptr, rank, offset, made)
        })
    };
    // SAFETY: the caller's promise.
    unsafe { return_tensor(ret_new_tensor, "ret_new_tensor", make) }
}

/// Drops the boxed tensor that owns a memory.
unsafe extern "C" fn drop_tensor(context: *mut c_void) {
    // SAFETY: the context is the box that was made beside the use of this function, and is dropped once.
    drop(unsafe { Box::from_raw(context.cast::<Tensor>()) });
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
    // SAFETY: the caller's promise for sizes and strides; the options and the place are valid.
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
    ret_new_tensor: *mut TensorHandle,
) -> i32 {
    let make = || {
        let device = device_of(device_type, device_index)?;
        // SAFETY: the caller's promise.
        unsafe { empty_strided(ndim, sizes_ptr, strides_ptr, dtype, device, false) }
    };
    // SAFETY: the caller's promise.
    unsafe { return_tensor(ret_new_tensor, "ret_new_tensor", make) }
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
    ret_new_tensor: *mut TensorHandle,
) -> i32 {
    let make = || {
        let device = device_of(device_type, device_index)?;
        // SAFETY: the caller's promise.
        unsafe { empty_strided(ndim, sizes_ptr, strides_ptr, dtype, device, true) }
    };
    // SAFETY: the caller's promise.
    unsafe { return_tensor(ret_new_tensor, "ret_new_tensor", make) }
}

/// A tensor over memory of the caller, who keeps it alive. `data` is where the memory begins.
struct Blob {
    data: *mut c_void,
    ndim: i64,
    sizes: *const i64,
    strides: *const i64,
    storage_offset: i64,
    dtype: i32,
    device: i32,
}

impl Blob {
    /// # Safety
    /// Sizes and strides have `ndim` entries, and the memory has the elements that they reach. If there is a deleter,
    /// the memory lives until it is called, else as long as all tensors over it.
    unsafe fn tensor(&self, deleter: api::sconce_deleter, context: *mut c_void) -> Result<Tensor> {
        let (rank, dtype) = (count(self.ndim)?, dtype_of(self.dtype)?);
        let mut element = 0;
        // SAFETY: the place is valid for a write.
        check(unsafe { api::sconce_dtype_get_bytes(dtype, &mut element) })?;
        let (sizes, strides): (&[i64], &[i64]) = match rank {
            0 => (&[], &[]),
            _ => {
                super::errors::not_null(self.sizes, "sizes_ptr")?;
                super::errors::not_null(self.strides, "strides_ptr")?;
                // SAFETY: not NULL, and the caller's promise.
                let sizes = unsafe { std::slice::from_raw_parts(self.sizes, rank) };
                // SAFETY: as above.
                (sizes, unsafe { std::slice::from_raw_parts(self.strides, rank) })
            }
        };
        let too_large = || Error::invalid_argument("the sizes are too large to be counted");
        let reach = reach(sizes, strides).ok_or_else(too_large)?;
        let elements = usize::try_from(self.storage_offset).map_err(|_| {
            Error::invalid_argument(format!("storage_offset is {}", self.storage_offset))
        })?;
        let first = elements.checked_mul(element).ok_or_else(too_large)?;
        let bytes = reach.checked_mul(element).ok_or_else(too_large)?;
        // SAFETY: the caller's promise; the place is valid for a write.
        Tensor::made(|made| unsafe {
            api::sconce_tensor_from_memory(
                self.data.wrapping_byte_add(first),
                bytes,
                sizes.as_ptr(),
                strides.as_ptr(),
                rank,
                dtype,
                self.device,
                deleter,
                context,
                made,
            )
        })
    }
}

/// Elements from the first to behind the last one that sizes and strides reach.
fn reach(sizes: &[i64], strides: &[i64]) -> Option<usize> {
    let mut last: i64 = 0;
    for (&size, &stride) in sizes.iter().zip(strides) {
        if size == 0 {
            return Some(0);
        }
        last = last.checked_add(size.checked_sub(1)?.checked_mul(stride)?)?;
    }
    usize::try_from(last.checked_add(1)?).ok()
}

/// Returns a tensor over memory of the caller, who keeps it alive as long as any tensor over it.
///
/// # Safety
/// Sizes and strides have `ndim` entries, and the memory has the elements that they reach.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_create_tensor_from_blob(
    data: *mut c_void,
    ndim: i64,
    sizes_ptr: *const i64,
    strides_ptr: *const i64,
    storage_offset: i64,
    dtype: i32,
    device_type: i32,
    device_index: i32,
    ret: *mut TensorHandle,
) -> i32 {
    let make = || {
        let device = device_of(device_type, device_index)?;
        let (sizes, strides) = (sizes_ptr, strides_ptr);
        let blob = Blob { data, ndim, sizes, strides, storage_offset, dtype, device };
        // SAFETY: the caller's promise.
        unsafe { blob.tensor(None, std::ptr::null_mut()) }
    };
    // SAFETY: the caller's promise.
    unsafe { return_tensor(ret, "ret", make) }
}

/// As [`aoti_torch_create_tensor_from_blob`], for the layout strided.
///
/// # Safety
/// As [`aoti_torch_create_tensor_from_blob`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_create_tensor_from_blob_v2(
    data: *mut c_void,
    ndim: i64,
    sizes_ptr: *const i64,
    strides_ptr: *const i64,
    storage_offset: i64,
    dtype: i32,
    device_type: i32,
    device_index: i32,
    ret: *mut TensorHandle,
    layout: i32,
    _opaque_metadata: *const u8,
    _opaque_metadata_size: i64,
) -> i32 {
    if layout != 0 {
        return shim(|| {
            Err(Error::not_supported(format!(
                "the layout {layout} is not offered; tensors are strided (0). Export the model for the CPU with \
                 torch._inductor.config.freezing off if it packs weights for MKL-DNN"
            )))
        });
    }
    // SAFETY: the caller's promise.
    unsafe {
        aoti_torch_create_tensor_from_blob(
            data,
            ndim,
            sizes_ptr,
            strides_ptr,
            storage_offset,
            dtype,
            device_type,
            device_index,
            ret,
        )
    }
}

/// Returns a tensor over memory of the caller, which `deleter` gives up when no tensor uses it any more.
///
/// # Safety
/// As [`aoti_torch_create_tensor_from_blob`]; the deleter is a function of C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_from_blob(
    data: *mut c_void,
    ndim: i64,
    sizes_ptr: *const i64,
    strides_ptr: *const i64,
    storage_offset: i64,
    dtype: i32,
    device_type: i32,
    device_index: i32,
    ret: *mut TensorHandle,
    layout: i32,
    _opaque_metadata: *const u8,
    _opaque_metadata_size: i64,
    deleter: api::sconce_deleter,
    context: *mut c_void,
) -> i32 {
    let make = || {
        if layout != 0 {
            return Err(Error::not_supported(format!("the layout {layout} is not offered")));
        }
        let device = device_of(device_type, device_index)?;
        let (sizes, strides) = (sizes_ptr, strides_ptr);
        let blob = Blob { data, ndim, sizes, strides, storage_offset, dtype, device };
        // SAFETY: the caller's promise.
        unsafe { blob.tensor(deleter, context) }
    };
    // SAFETY: the caller's promise.
    unsafe { return_tensor(ret, "ret", make) }
}
