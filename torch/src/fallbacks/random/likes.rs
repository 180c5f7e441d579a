//! New tensors of random numbers with the sizes of another tensor: without another choice they have its type, its device
//! and its order in memory.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use crate::abi::arguments::NewTensor;
use crate::abi::constants::memory_format_of;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor};
use crate::error::Result;
use crate::fallbacks::{Place, give};
use crate::operations::random::Distribution;
use crate::sconce::Tensor;
use crate::sconce::generator::Generator;
use crate::sconce::operations::empty_like_with;
use crate::sconce::tensor::TensorHandle;

/// A new tensor of random numbers like another one.
fn drawn_like(
    numbers: Distribution,
    tensor: TensorHandle,
    generator: Generator,
    wanted: NewTensor,
    memory_format: Option<i32>,
) -> Result<Tensor> {
    numbers.check()?;
    let mut options = wanted.options(dtype_of_tensor(tensor)?, device_of_tensor(tensor)?)?;
    if let Some(format) = memory_format {
        options.memory_format = memory_format_of(format)?;
    }
    let drawn = empty_like_with(tensor, &options)?;
    numbers.fill(drawn.handle(), generator)?;
    Ok(drawn)
}

/// A function of the ABI that returns random numbers like a tensor; its arguments after that choose which.
macro_rules! likes {
    ($($(#[$doc:meta])* $cpu:ident | $cuda:ident (
        $($number:ident),* ; $($generator:ident)?) => $numbers:expr;)*) => {
        abi_functions! {
            $($(#[$doc])*
            $cpu | $cuda(
                tensor: TensorHandle, $($number: i64,)* $($generator: Generator,)?
                wanted: NewTensor, memory_format: Option<i32>, ret0: Place,
            ) {
                // The generator if one is an argument, else the default one.
                let generators = [$($generator,)? Generator::DEFAULT];
                let drawn = drawn_like($numbers, tensor, generators[0], wanted, memory_format)?;
                give(ret0, drawn)
            })*
        }
    };
}

likes! {
    /// Returns numbers from 0 to 1, excluding 1.
    aoti_torch_cpu_rand_like | aoti_torch_cuda_rand_like(;) => Distribution::FROM_0_TO_1;

    /// As `aoti_torch_cpu_rand_like`, of a generator.
    aoti_torch_cpu_rand_like_generator | aoti_torch_cuda_rand_like_generator(; generator) => Distribution::FROM_0_TO_1;

    /// Returns normally distributed numbers.
    aoti_torch_cpu_randn_like | aoti_torch_cuda_randn_like(;) => Distribution::NORMAL;

    /// As `aoti_torch_cpu_randn_like`, of a generator.
    aoti_torch_cpu_randn_like_generator | aoti_torch_cuda_randn_like_generator(; generator) => Distribution::NORMAL;

    /// Returns whole numbers from 0 to `high`, excluding `high`.
    aoti_torch_cpu_randint_like | aoti_torch_cuda_randint_like(high;) => Distribution::Whole(0, high);

    /// Returns whole numbers from `low` to `high`, excluding `high`.
    aoti_torch_cpu_randint_like_low_dtype | aoti_torch_cuda_randint_like_low_dtype(low, high;)
        => Distribution::Whole(low, high);
}
