//! New tensors of random numbers. Without another type or device they are F32, whole numbers I64, on the CPU.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use crate::abi::arguments::NewTensor;
use crate::error::Result;
use crate::fallbacks::{Place, give};
use crate::operations::random::Distribution;
use crate::sconce::generator::Generator;
use crate::sconce::{Tensor, api, operations};

/// A new tensor of random numbers.
fn drawn(
    drawn: Distribution,
    sizes: &[i64],
    generator: Generator,
    wanted: NewTensor,
) -> Result<Tensor> {
    drawn.check()?;
    let default = match drawn {
        Distribution::Whole(..) => api::SCONCE_DTYPE_I64,
        _ => api::SCONCE_DTYPE_F32,
    };
    let options = wanted.options(default, api::SCONCE_DEVICE_CPU)?;
    let tensor = operations::empty(sizes, &options)?;
    drawn.fill(tensor.handle(), generator)?;
    Ok(tensor)
}

/// A function of the ABI that returns a new tensor of random numbers; its first arguments choose which.
macro_rules! factories {
    ($($(#[$doc:meta])* $cpu:ident | $cuda:ident (
        $($first:ident),* ; $($generator:ident)?) => $numbers:expr;)*) => {
        abi_functions! {
            $($(#[$doc])*
            $cpu | $cuda(
                $($first: i64,)* size: &[i64], $($generator: Generator,)? wanted: NewTensor,
                ret0: Place,
            ) {
                // The generator if one is an argument, else the default one.
                let generators = [$($generator,)? Generator::DEFAULT];
                let tensor = drawn($numbers, size, generators[0], wanted)?;
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

abi_functions! {
    /// Returns the numbers from 0 to `n - 1` in a random order.
    aoti_torch_cpu_randperm | aoti_torch_cuda_randperm(
        n: i64, wanted: NewTensor, ret0: Place,
    ) {
        let options = wanted.options(api::SCONCE_DTYPE_I64, api::SCONCE_DEVICE_CPU)?;
        let generator = Generator::DEFAULT.handle_on(options.device)?;
        give(ret0, operations::randperm(n, generator, &options)?)
    }
}
