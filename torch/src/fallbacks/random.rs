//! Random numbers of the device's default generator, with torch's bits.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use super::{give, numbers, optional};
use crate::abi::constants::{device_of, dtype_of};
use crate::abi::handles::options;
use crate::abi::tensors::sizes_of;
use crate::error::{Error, Result};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check};

/// A tensor for random numbers: what the ABI says of it.
struct Asked {
    size: *const i64,
    size_len: i64,
    dtype: *const i32,
    device: *const i32,
    device_index: i32,
}

impl Asked {
    /// # Safety
    /// The array has its entries, the other pointers are NULL or valid.
    unsafe fn tensor(&self, usual: i32) -> Result<Tensor> {
        // SAFETY: the caller's promise.
        let size = unsafe { numbers(self.size, self.size_len, "size") }?;
        // SAFETY: as above.
        let dtype = unsafe { optional(self.dtype) }.map_or(Ok(usual), dtype_of)?;
        // SAFETY: as above.
        let device = match unsafe { optional(self.device) } {
            Some(kind) => device_of(kind, self.device_index)?,
            None => api::SCONCE_DEVICE_CPU,
        };
        let options = options(dtype, device);
        // SAFETY: sizes, options and the place are valid.
        Tensor::made(|made| unsafe {
            api::sconce_tensor_empty(size.as_ptr(), size.len(), &options, made)
        })
    }
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
        _layout: *const i32,
        device: *const i32,
        device_index: i32,
        _pin_memory: *const i32,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: the caller's promise.
        let tensor = unsafe { Asked { size, size_len, dtype, device, device_index }.tensor(api::SCONCE_DTYPE_F32) }?;
        // SAFETY: any number may be passed as a handle; NULL is the default generator.
        check(unsafe { api::sconce_tensor_uniform(tensor.handle(), 0.0, 1.0, std::ptr::null_mut()) })?;
        // SAFETY: the caller's promise for the place.
        unsafe { give(ret0, tensor) }
    }

    /// Returns normally distributed numbers.
    aoti_torch_cpu_randn | aoti_torch_cuda_randn(
        size: *const i64,
        size_len: i64,
        dtype: *const i32,
        _layout: *const i32,
        device: *const i32,
        device_index: i32,
        _pin_memory: *const i32,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: the caller's promise.
        let tensor = unsafe { Asked { size, size_len, dtype, device, device_index }.tensor(api::SCONCE_DTYPE_F32) }?;
        // SAFETY: any number may be passed as a handle; NULL is the default generator.
        check(unsafe { api::sconce_tensor_normal(tensor.handle(), 0.0, 1.0, std::ptr::null_mut()) })?;
        // SAFETY: the caller's promise for the place.
        unsafe { give(ret0, tensor) }
    }
}
