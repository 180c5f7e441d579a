//! Random numbers of the device's default generator, with torch's bits.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use super::give;
use crate::abi::arguments::{NewTensor, numbers};
use crate::abi::tensors::sizes_of;
use crate::error::{Error, Result};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check, operations};

/// Fills a tensor from a generator; two numbers describe the distribution.
type Fill = unsafe extern "C" fn(TensorHandle, f64, f64, *mut api::sconce_generator) -> i32;

/// A new tensor, F32 and on the CPU unless others are named, filled from the default generator.
///
/// # Safety
/// The pointers are NULL or valid for a read.
unsafe fn filled(sizes: &[i64], wanted: NewTensor, fill: Fill, range: [f64; 2]) -> Result<Tensor> {
    // SAFETY: the caller's promise.
    let options = unsafe { wanted.options(api::SCONCE_DTYPE_F32, api::SCONCE_DEVICE_CPU) }?;
    let tensor = operations::empty(sizes, &options)?;
    // SAFETY: any number may be passed as a handle; NULL is the default generator.
    check(unsafe { fill(tensor.handle(), range[0], range[1], std::ptr::null_mut()) })?;
    Ok(tensor)
}

fallbacks! {
    /// Fills `out` with whole numbers from `low` to `high`, excluding `high`.
    aoti_torch_cpu_randint_low_out | aoti_torch_cuda_randint_low_out(
        out: TensorHandle,
        low: i64,
        high: i64,
        size: *const i64,
        size_len: i64,
    ) {
        // SAFETY: the caller's promise for the array.
        let size = unsafe { numbers(size, size_len, "size") }?;
        if sizes_of(out)? != size {
            // SAFETY: sizes are valid; any number may be passed as a handle.
            check(unsafe { api::sconce_tensor_resize(out, size.as_ptr(), size.len()) })?;
        }
        if low >= high {
            return Err(Error::invalid_argument(format!("low is {low}, and high is {high}")));
        }
        // SAFETY: any number may be passed as a handle; NULL is the default generator.
        check(unsafe { api::sconce_tensor_random_integers(out, low, high, std::ptr::null_mut()) })
    }

    /// Returns numbers from 0 to 1, excluding 1.
    aoti_torch_cpu_rand | aoti_torch_cuda_rand(
        size: *const i64,
        size_len: i64,
        dtype: *const i32,
        layout: *const i32,
        device: *const i32,
        device_index: i32,
        pin_memory: *const i32,
        ret0: *mut TensorHandle,
    ) {
        let wanted = NewTensor { dtype, layout, device, device_index, pin_memory };
        // SAFETY: the caller's promise for the array.
        let sizes = unsafe { numbers(size, size_len, "size") }?;
        // SAFETY: the caller's promise for the pointers.
        let tensor = unsafe { filled(sizes, wanted, api::sconce_tensor_uniform, [0.0, 1.0]) }?;
        // SAFETY: the caller's promise for the place.
        unsafe { give(ret0, tensor) }
    }

    /// Returns normally distributed numbers.
    aoti_torch_cpu_randn | aoti_torch_cuda_randn(
        size: *const i64,
        size_len: i64,
        dtype: *const i32,
        layout: *const i32,
        device: *const i32,
        device_index: i32,
        pin_memory: *const i32,
        ret0: *mut TensorHandle,
    ) {
        let wanted = NewTensor { dtype, layout, device, device_index, pin_memory };
        // SAFETY: the caller's promise for the array.
        let sizes = unsafe { numbers(size, size_len, "size") }?;
        // SAFETY: the caller's promise for the pointers.
        let tensor = unsafe { filled(sizes, wanted, api::sconce_tensor_normal, [0.0, 1.0]) }?;
        // SAFETY: the caller's promise for the place.
        unsafe { give(ret0, tensor) }
    }
}
