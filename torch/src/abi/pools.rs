//! Parts of a tensor's memory as tensors of other types: several constants or buffers share one allocation.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use std::ffi::c_void;

use super::arguments::{Out, with_tensors};
use super::constants::dtype_of;
use super::handles::{count, return_tensor};
use super::tensors::{device_of_tensor, dtype_of_tensor, storage_of};
use crate::error::{Error, Result};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check};

/// A part of a tensor's memory, from an offset in bytes, as a tensor of Sconce's type `dtype`. It keeps the memory.
///
/// # Safety
/// Sizes and strides have `rank` entries.
pub unsafe fn typed_part(
    tensor: TensorHandle,
    offset: usize,
    dtype: i32,
    [sizes, strides]: [*const i64; 2],
    rank: usize,
) -> Result<Tensor> {
    let owner = Tensor::retained(tensor)?;
    let device = device_of_tensor(tensor)?;
    let (begin, bytes) = storage_of(tensor)?;
    if offset > bytes {
        return Err(Error::invalid_argument(format!(
            "the part begins at byte {offset} of {bytes} bytes"
        )));
    }
    let address = begin.wrapping_byte_add(offset);
    let context = Box::into_raw(Box::new(owner)).cast();
    // SAFETY: the memory lives until the deleter drops the owner. Sizes and strides have `rank` entries, which this
    // function demands.
    let made = Tensor::made(|made| unsafe {
        let deleter = Some(drop_tensor as unsafe extern "C" fn(*mut c_void));
        let bytes = bytes - offset;
        api::sconce_tensor_from_memory(
            address, bytes, sizes, strides, rank, dtype, device, deleter, context, made,
        )
    });
    if made.is_err() {
        // SAFETY: the call failed, so the deleter is not called.
        unsafe { drop_tensor(context) };
    }
    made
}

/// Drops the boxed tensor that owns a memory.
unsafe extern "C" fn drop_tensor(context: *mut c_void) {
    // SAFETY: the context is the box that was made beside the use of this function, and is dropped once.
    drop(unsafe { Box::from_raw(context.cast::<Tensor>()) });
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
    ret_new_tensor: Out<'_, TensorHandle>,
) -> i32 {
    let make = || {
        let (rank, dtype) = (count(ndim)?, dtype_of(dtype)?);
        if dtype != dtype_of_tensor(tensor)? {
            let offset = usize::try_from(offset_bytes)
                .map_err(|_| Error::invalid_argument(format!("offset_bytes is {offset_bytes}")))?;
            // SAFETY: the ABI demands that sizes and strides have `ndim` entries.
            return unsafe { typed_part(tensor, offset, dtype, [sizes_ptr, strides_ptr], rank) };
        }
        let mut bytes = 0;
        check(api::sconce_dtype_get_bytes(dtype, &mut bytes))?;
        let bytes = bytes as i64;
        if offset_bytes % bytes != 0 {
            return Err(Error::invalid_argument(format!(
                "offset_bytes is {offset_bytes}, which is no multiple of the {bytes} bytes of an element"
            )));
        }
        // SAFETY: the ABI demands that sizes and strides have `ndim` entries.
        Tensor::made(|made| unsafe {
            let offset = offset_bytes / bytes;
            api::sconce_tensor_as_strided(tensor, sizes_ptr, strides_ptr, rank, offset, made)
        })
    };
    let make = || with_tensors(&[("self", tensor)], make);
    return_tensor(ret_new_tensor, "ret_new_tensor", make)
}
