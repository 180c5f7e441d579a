//! New tensors of random numbers. Without another type or device they are F32, whole numbers I64, on the CPU.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use super::{Handle, chosen};
use crate::abi::arguments::{NewTensor, numbers};
use crate::error::Result;
use crate::fallbacks::give;
use crate::operations::random::Distribution;
use crate::sconce::generator::Generator;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, operations};

/// A new tensor of random numbers.
///
/// # Safety
/// The pointers are NULL or valid for a read; the array has as many entries as is said beside it.
unsafe fn drawn(
    drawn: Distribution,
    size: *const i64,
    size_len: i64,
    generator: *const Handle,
    wanted: NewTensor,
) -> Result<Tensor> {
    // SAFETY: the ABI has the number of entries of `size` in `size_len`.
    let sizes = unsafe { numbers(size, size_len, "size") }?;
    // SAFETY: `generator` is an optional argument of the ABI: NULL, or the address of a generator's handle.
    let generator = unsafe { chosen(generator) };
    drawn.check()?;
    let default = match drawn {
        Distribution::Whole(..) => api::SCONCE_DTYPE_I64,
        _ => api::SCONCE_DTYPE_F32,
    };
    // SAFETY: the pointers of `wanted` are optional arguments of the ABI: NULL, or addresses of values.
    let options = unsafe { wanted.options(default, api::SCONCE_DEVICE_CPU) }?;
    let tensor = operations::empty(sizes, &options)?;
    drawn.fill(tensor.handle(), generator)?;
    Ok(tensor)
}

/// A function of the ABI that returns a new tensor of random numbers; its first arguments choose which.
macro_rules! factories {
    ($($(#[$doc:meta])* $cpu:ident | $cuda:ident (
        $($first:ident),* ; $($generator:ident)?) => $numbers:expr;)*) => {
        fallbacks! {
            $($(#[$doc])*
            $cpu | $cuda(
                $($first: i64,)*
                size: *const i64,
                size_len: i64,
                $($generator: *const Handle,)?
                dtype: *const i32,
                layout: *const i32,
                device: *const i32,
                device_index: i32,
                pin_memory: *const i32,
                ret0: *mut TensorHandle,
            ) {
                let wanted = NewTensor { dtype, layout, device, device_index, pin_memory };
                // The generator if one is an argument, else NULL.
                let generators: &[*const Handle] = &[$($generator,)? std::ptr::null()];
                // SAFETY: pointers of `wanted` and of generators are NULL or addresses of values; the sizes have
                // their count.
                let tensor = unsafe { drawn($numbers, size, size_len, generators[0], wanted) }?;
                give(ret0, tensor)
            })*
        }
    };
}

factories! {
    /// Returns numbers from 0 to 1, excluding 1.
    aoti_torch_cpu_rand | aoti_torch_cuda_rand(;) => Distribution::FROM_0_TO_1;

    /// As `aoti_torch_cpu_rand`, of a generator.
    aoti_torch_cpu_rand_generator | aoti_torch_cuda_rand_generator(; generator) => Distribution::FROM_0_TO_1;

    /// Returns normally distributed numbers.
    aoti_torch_cpu_randn | aoti_torch_cuda_randn(;) => Distribution::NORMAL;

    /// As `aoti_torch_cpu_randn`, of a generator.
    aoti_torch_cpu_randn_generator | aoti_torch_cuda_randn_generator(; generator) => Distribution::NORMAL;

    /// Returns whole numbers from 0 to `high`, excluding `high`.
    aoti_torch_cpu_randint | aoti_torch_cuda_randint(high;) => Distribution::Whole(0, high);

    /// As `aoti_torch_cpu_randint`, of a generator.
    aoti_torch_cpu_randint_generator | aoti_torch_cuda_randint_generator(high; generator)
        => Distribution::Whole(0, high);

    /// Returns whole numbers from `low` to `high`, excluding `high`.
    aoti_torch_cpu_randint_low | aoti_torch_cuda_randint_low(low, high;)
        => Distribution::Whole(low, high);
}

fallbacks! {
    /// Returns the numbers from 0 to `n - 1` in a random order.
    aoti_torch_cpu_randperm | aoti_torch_cuda_randperm(
        n: i64,
        dtype: *const i32,
        layout: *const i32,
        device: *const i32,
        device_index: i32,
        pin_memory: *const i32,
        ret0: *mut TensorHandle,
    ) {
        let wanted = NewTensor { dtype, layout, device, device_index, pin_memory };
        // SAFETY: the pointers of `wanted` are optional arguments of the ABI: NULL, or addresses of values.
        let options = unsafe { wanted.options(api::SCONCE_DTYPE_I64, api::SCONCE_DEVICE_CPU) }?;
        let generator = Generator::DEFAULT.handle_on(options.device)?;
        // SAFETY: NULL is the default generator; the options live during the call; the place is valid for a write.
        let tensor = Tensor::made(|made| unsafe {
            api::sconce_tensor_randperm(n, generator, &options, made)
        })?;
        give(ret0, tensor)
    }
}
