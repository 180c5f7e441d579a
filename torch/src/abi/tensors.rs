//! Functions of PyTorch's ABI that return what a tensor is.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use std::ffi::c_void;

use super::arguments::Out;
use super::constants::{DEVICE_TYPE_CPU, DEVICE_TYPE_CUDA, scalar_type_of};
use crate::error::{Error, Result, shim};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{api, check};

pub use crate::sconce::properties::{
    borrowed_sizes, borrowed_strides, data_of, device_of_tensor, dtype_of_tensor, is_contiguous,
    is_defined, numel_of, offset_of, rank_of, sizes_of, storage_of, strides_of,
};

/// An entry of sizes or strides; a negative dimension counts from the end.
fn entry(entries: &[i64], dim: i64) -> Result<i64> {
    let rank = entries.len() as i64;
    let at = if dim < 0 { dim + rank } else { dim };
    usize::try_from(at).ok().and_then(|at| entries.get(at).copied()).ok_or_else(|| {
        Error::invalid_argument(format!(
            "dimension {dim} is out of range: the tensor has {rank}, so it is from {} to {}",
            -rank,
            rank - 1
        ))
    })
}

/// c10's kind of device and index of Sconce's device.
#[inline]
pub fn c10_device(device: i32) -> (i32, i32) {
    match device {
        api::SCONCE_DEVICE_CPU => (DEVICE_TYPE_CPU, -1),
        index => (DEVICE_TYPE_CUDA, index),
    }
}

/// Getters of the ABI: the name, what they return, and how it is found.
macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident($result:ident: $kind:ty) = $get:expr;)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub extern "C" fn $name(tensor: TensorHandle, $result: Out<'_, $kind>) -> i32 {
                shim(|| {
                    let get: fn(TensorHandle) -> Result<$kind> = $get;
                    let value = get(tensor)?;
                    $result.write(stringify!($result), value)
                })
            }
        )*
    };
}

getters! {
    /// Returns the address of the first element.
    aoti_torch_get_data_ptr(ret_data_ptr: *mut c_void) = data_of;
    /// Returns the address of the first element.
    aoti_torch_get_mutable_data_ptr(ret_data_ptr: *mut c_void) = data_of;
    /// Returns the address of the first element.
    torch_get_mutable_data_ptr(ret_data_ptr: *mut c_void) = data_of;
    /// Returns the address of the first element.
    aoti_torch_get_const_data_ptr(ret_data_ptr: *const c_void) = |tensor| Ok(data_of(tensor)?.cast_const());
    /// Returns the address of the first element.
    torch_get_const_data_ptr(ret_data_ptr: *const c_void) = |tensor| Ok(data_of(tensor)?.cast_const());
    /// Returns the bytes of the memory.
    aoti_torch_get_storage_size(ret_size: i64) = |tensor| Ok(storage_of(tensor)?.1 as i64);
    /// Returns whether the tensor has memory.
    torch_has_storage(ret_has_storage: bool) = is_defined;
    /// Returns the number of dimensions.
    aoti_torch_get_dim(ret_dim: i64) = |tensor| Ok(rank_of(tensor)? as i64);
    /// Returns the number of elements.
    aoti_torch_get_numel(ret_numel: i64) = numel_of;
    /// Returns how many elements fit into the memory.
    aoti_torch_get_storage_numel(ret_numel: i64) = |tensor| {
        let mut bytes = 0;
        check(api::sconce_dtype_get_bytes(dtype_of_tensor(tensor)?, &mut bytes))?;
        Ok((storage_of(tensor)?.1 / bytes.max(1)) as i64)
    };
    /// Returns where the sizes lie, until the handle is deleted or assigned.
    aoti_torch_get_sizes(ret_sizes: *const i64) = borrowed_sizes;
    /// Returns where the strides lie, until the handle is deleted or assigned.
    aoti_torch_get_strides(ret_strides: *const i64) = borrowed_strides;
    /// Returns c10's number of the data type.
    aoti_torch_get_dtype(ret_dtype: i32) = |tensor| scalar_type_of(dtype_of_tensor(tensor)?);
    /// Returns c10's number of the kind of device.
    aoti_torch_get_device_type(ret_device_type: i32) = |tensor| Ok(c10_device(device_of_tensor(tensor)?).0);
    /// Returns the index of the device, -1 for the CPU.
    aoti_torch_get_device_index(ret_device_index: i32) = |tensor| Ok(c10_device(device_of_tensor(tensor)?).1);
    /// Returns c10's number of the layout: strided.
    aoti_torch_get_layout(ret_layout: i32) = |tensor| rank_of(tensor).map(|_| 0);
    /// Returns how many elements lie between the begin of the memory and the first element.
    aoti_torch_get_storage_offset(ret_storage_offset: i64) = offset_of;
    /// Returns whether elements lie one after another.
    aoti_torch_is_contiguous(ret_is_contiguous: bool) = |tensor| {
        is_contiguous(tensor, api::SCONCE_MEMORY_FORMAT_CONTIGUOUS)
    };
    /// Returns whether the tensor has memory, type and shape.
    aoti_torch_is_defined(ret_is_defined: bool) = is_defined;
}

/// Returns the size of a dimension.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_get_size(tensor: TensorHandle, d: i64, ret_size: Out<'_, i64>) -> i32 {
    shim(|| {
        let size = entry(&sizes_of(tensor)?, d)?;
        ret_size.write("ret_size", size)
    })
}

/// Returns the stride of a dimension, in elements.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_get_stride(
    tensor: TensorHandle,
    d: i64,
    ret_stride: Out<'_, i64>,
) -> i32 {
    shim(|| {
        let stride = entry(&strides_of(tensor)?, d)?;
        ret_stride.write("ret_stride", stride)
    })
}
