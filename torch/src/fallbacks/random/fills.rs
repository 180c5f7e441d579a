//! Random numbers in a tensor that is there, or in a new one with its sizes, type and order in memory.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use super::factories::Distribution;
use super::{Generator, chosen};
use crate::abi::arguments::numbers;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::fallbacks::give;
use crate::sconce::operations::{Operand, all_true, binary, copy, empty_like, expand, resize};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check};

/// Returns a tensor like another one that is filled from a generator.
///
/// # Safety
/// The generator's pointer is NULL or valid for a read; the result's place is valid for a write.
unsafe fn like(
    tensor: TensorHandle,
    generator: *const Generator,
    ret0: *mut TensorHandle,
    fill: impl FnOnce(TensorHandle, Generator) -> i32,
) -> Result<()> {
    let filled = empty_like(tensor, api::SCONCE_DTYPE_DEFAULT)?;
    // SAFETY: the caller's promise.
    check(fill(filled.handle(), unsafe { chosen(generator) }))?;
    // SAFETY: the caller's promise.
    unsafe { give(ret0, filled) }
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
        let drawn = Distribution::Whole(low, high);
        drawn.check()?;
        if sizes_of(out)? != size {
            resize(out, size)?;
        }
        drawn.fill(out, std::ptr::null_mut())
    }

    /// Returns numbers from `from` to `to`, excluding `to`.
    aoti_torch_cpu_uniform | aoti_torch_cuda_uniform(
        tensor: TensorHandle,
        from: f64,
        to: f64,
        generator: *const Generator,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: any number may be passed as a handle; `like` passes the caller's generator.
        let fill = |filled, generator| unsafe {
            api::sconce_tensor_uniform(filled, from, to, generator)
        };
        // SAFETY: the caller's promise for the pointers.
        unsafe { like(tensor, generator, ret0, fill) }
    }

    /// Returns normally distributed numbers.
    aoti_torch_cpu_normal_functional | aoti_torch_cuda_normal_functional(
        tensor: TensorHandle,
        mean: f64,
        std: f64,
        generator: *const Generator,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: any number may be passed as a handle; `like` passes the caller's generator.
        let fill = |filled, generator| unsafe {
            api::sconce_tensor_normal(filled, mean, std, generator)
        };
        // SAFETY: the caller's promise for the pointers.
        unsafe { like(tensor, generator, ret0, fill) }
    }

    /// Returns exponentially distributed numbers of rate `lambd`.
    aoti_torch_cpu_exponential | aoti_torch_cuda_exponential(
        tensor: TensorHandle,
        lambd: f64,
        generator: *const Generator,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: any number may be passed as a handle; `like` passes the caller's generator.
        let fill = |filled, generator| unsafe {
            api::sconce_tensor_exponential(filled, lambd, generator)
        };
        // SAFETY: the caller's promise for the pointers.
        unsafe { like(tensor, generator, ret0, fill) }
    }

    /// Fills a tensor with ones of probability `p`, else zeros.
    aoti_torch_cpu_bernoulli__float | aoti_torch_cuda_bernoulli__float(
        tensor: TensorHandle,
        p: f64,
        generator: *const Generator,
    ) {
        // SAFETY: the caller's promise for the pointer.
        let generator = unsafe { chosen(generator) };
        // SAFETY: any number may be passed as a handle.
        check(unsafe { api::sconce_tensor_bernoulli(tensor, p, generator) })
    }

    /// Fills a tensor with ones whose probabilities are the elements of `p`, else zeros.
    aoti_torch_cpu_bernoulli__Tensor | aoti_torch_cuda_bernoulli__Tensor(
        tensor: TensorHandle,
        p: TensorHandle,
        generator: *const Generator,
    ) {
        // SAFETY: the caller's promise for the pointer.
        bernoulli(tensor, p, unsafe { chosen(generator) })
    }
}

/// Each element draws a number from 0 to 1, of 24 bits, or of 53 where the probabilities are F64, and is one where that
/// is below its probability. These are torch's bits on the CPU; its kernel for devices draws others.
fn bernoulli(
    tensor: TensorHandle,
    probabilities: TensorHandle,
    generator: Generator,
) -> Result<()> {
    let dtype = match dtype_of_tensor(probabilities)? {
        api::SCONCE_DTYPE_F64 => api::SCONCE_DTYPE_F64,
        api::SCONCE_DTYPE_F32 | api::SCONCE_DTYPE_F16 | api::SCONCE_DTYPE_BF16 => {
            api::SCONCE_DTYPE_F32
        }
        _ => return Err(Error::invalid_argument("p has no floating-point numbers")),
    };
    // On a device the host cannot know the values without waiting.
    if device_of_tensor(probabilities)? == api::SCONCE_DEVICE_CPU {
        check_probabilities(probabilities)?;
    }
    let wanted = expand(probabilities, &sizes_of(tensor)?)?;
    let drawn = empty_like(tensor, dtype)?;
    // SAFETY: any number may be passed as a handle.
    check(unsafe { api::sconce_tensor_uniform(drawn.handle(), 0.0, 1.0, generator) })?;
    let ones = binary(api::SCONCE_BINARY_LT, &drawn, Operand::Tensor(&wanted))?;
    copy(&Tensor::retained(tensor)?, ones.handle())
}

/// Refuses numbers below 0 or above 1, and NaN.
fn check_probabilities(probabilities: TensorHandle) -> Result<()> {
    let given = Tensor::retained(probabilities)?;
    let bounds = |comparison, bound| binary(comparison, &given, Operand::Number(bound));
    let (low, high) = (bounds(api::SCONCE_BINARY_GE, 0.0)?, bounds(api::SCONCE_BINARY_LE, 1.0)?);
    let within = binary(api::SCONCE_BINARY_MUL, &low, Operand::Tensor(&high))?;
    if all_true(&within)? {
        return Ok(());
    }
    Err(Error::invalid_argument("p must have numbers from 0 to 1"))
}
