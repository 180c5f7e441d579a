//! Operations with functions of their own, `aoti_torch_aten_…`, which headers of PyTorch call instead of the
//! dispatcher. Handles that are passed stay the caller's.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use crate::abi::arguments::{NewTensor, Out, list, with_tensors};
use crate::abi::handles::return_tensor;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor};
use crate::error::shim;
use crate::sconce::operations::Operand;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{integer, real};
use crate::sconce::{api, operations};

/// Returns the largest elements over dimensions.
///
/// # Safety
/// `dim` has `dim_len` entries; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_aten_amax(
    this: TensorHandle,
    dim: *const i64,
    dim_len: i64,
    keepdim: i32,
    ret0: Out<'_, TensorHandle>,
) -> i32 {
    let make = || {
        // SAFETY: C passed an array of `dim_len` dimensions.
        let dims = unsafe { list(dim, dim_len, "dim") }?;
        let (operation, dtype) = (api::SCONCE_REDUCE_AMAX, api::SCONCE_DTYPE_DEFAULT);
        with_tensors(&[("self", this)], || {
            operations::reduce(operation, this, dims, keepdim != 0, dtype)
        })
    };
    return_tensor(ret0, "ret0", make)
}

/// Sets all elements to a number.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_aten_fill__Scalar(this: TensorHandle, value: f64) -> i32 {
    shim(|| with_tensors(&[("self", this)], || operations::fill(this, &real(value))))
}

/// Returns a part of a dimension.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_aten_narrow(
    this: TensorHandle,
    dim: i64,
    start: i64,
    length: i64,
    ret0: Out<'_, TensorHandle>,
) -> i32 {
    let make = || with_tensors(&[("self", this)], || operations::narrow(this, dim, start, length));
    return_tensor(ret0, "ret0", make)
}

/// Returns `self - alpha * other`.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_aten_subtract_Tensor(
    this: TensorHandle,
    other: TensorHandle,
    alpha: f64,
    ret0: Out<'_, TensorHandle>,
) -> i32 {
    let (first, second) = (Operand::Handle(this), Operand::Handle(other));
    let make = || {
        with_tensors(&[("self", this), ("other", other)], || {
            operations::combine(api::SCONCE_BINARY_SUB, first, second, alpha)
        })
    };
    return_tensor(ret0, "ret0", make)
}

/// Returns a tensor of one value; on the CPU unless a device is named.
///
/// # Safety
/// `size` has `size_len` entries; pointers are NULL or valid for a read; the result's place for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_aten_full(
    size: *const i64,
    size_len: i64,
    fill_value: f64,
    dtype: *const i32,
    layout: *const i32,
    device: *const i32,
    device_index: i32,
    pin_memory: *const i32,
    ret0: Out<'_, TensorHandle>,
) -> i32 {
    // SAFETY: each pointer is an optional argument of the ABI: NULL, or the address of a value.
    let wanted = unsafe { NewTensor::of_c([dtype, layout, device, pin_memory], device_index) };
    let make = || {
        // SAFETY: C passed an array of `size_len` sizes.
        let sizes = unsafe { list(size, size_len, "size") }?;
        let options = wanted.options(api::SCONCE_DTYPE_DEFAULT, api::SCONCE_DEVICE_CPU)?;
        operations::full(sizes, &real(fill_value), &options)
    };
    return_tensor(ret0, "ret0", make)
}

/// Functions that make a tensor with the type and device of another unless others are named.
macro_rules! new_functions {
    ($($name:ident, $zero:literal;)*) => {
        $(
            /// Returns a tensor with the type and device of another unless others are named.
            ///
            /// # Safety
            /// `size` has `size_len` entries; pointers are NULL or valid for a read; the result's place for a write.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                this: TensorHandle,
                size: *const i64,
                size_len: i64,
                dtype: *const i32,
                layout: *const i32,
                device: *const i32,
                device_index: i32,
                pin_memory: *const i32,
                ret0: Out<'_, TensorHandle>,
            ) -> i32 {
                let pointers = [dtype, layout, device, pin_memory];
                // SAFETY: each pointer is an optional argument of the ABI: NULL, or the address of a value.
                let wanted = unsafe { NewTensor::of_c(pointers, device_index) };
                let make = || {
                    // SAFETY: C passed an array of `size_len` sizes.
                    let sizes = unsafe { list(size, size_len, "size") }?;
                    let options =
                        wanted.options(dtype_of_tensor(this)?, device_of_tensor(this)?)?;
                    let made = operations::empty(sizes, &options)?;
                    if $zero {
                        operations::fill(made.handle(), &integer(0))?;
                    }
                    Ok(made)
                };
                return_tensor(ret0, "ret0", make)
            }
        )*
    };
}

new_functions! {
    aoti_torch_aten_new_empty, false;
    aoti_torch_aten_new_zeros, true;
}
