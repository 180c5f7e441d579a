//! Random numbers in a tensor that is there, or in a new one with its sizes, type and order in memory.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use crate::abi::tensors::sizes_of;
use crate::error::Result;
use crate::fallbacks::{Place, give};
use crate::operations::random::{Distribution, bernoulli};
use crate::sconce::api;
use crate::sconce::generator::Generator;
use crate::sconce::operations::{empty_like, resize};
use crate::sconce::tensor::TensorHandle;

/// Returns a tensor like another one that is filled from a generator.
fn like(
    tensor: TensorHandle,
    generator: Generator,
    ret0: Place<'_>,
    numbers: Distribution,
) -> Result<()> {
    let filled = empty_like(tensor, api::SCONCE_DTYPE_DEFAULT)?;
    numbers.fill(filled.handle(), generator)?;
    give(ret0, filled)
}

abi_functions! {
    /// Fills `out` with whole numbers from `low` to `high`, excluding `high`.
    aoti_torch_cpu_randint_low_out | aoti_torch_cuda_randint_low_out(
        out: TensorHandle, low: i64, high: i64, size: &[i64],
    ) {
        let drawn = Distribution::Whole(low, high);
        drawn.check()?;
        if sizes_of(out)? != size {
            resize(out, size)?;
        }
        drawn.fill(out, Generator::DEFAULT)
    }

    /// Returns numbers from `from` to `to`, excluding `to`.
    aoti_torch_cpu_uniform | aoti_torch_cuda_uniform(
        tensor as self: TensorHandle, from: f64, to: f64, generator: Generator, ret0: Place,
    ) {
        like(tensor, generator, ret0, Distribution::Uniform(from, to))
    }

    /// Returns normally distributed numbers.
    aoti_torch_cpu_normal_functional | aoti_torch_cuda_normal_functional(
        tensor as self: TensorHandle, mean: f64, std: f64, generator: Generator, ret0: Place,
    ) {
        like(tensor, generator, ret0, Distribution::Normal(mean, std))
    }

    /// Returns exponentially distributed numbers of rate `lambd`.
    aoti_torch_cpu_exponential | aoti_torch_cuda_exponential(
        tensor as self: TensorHandle, lambd: f64, generator: Generator, ret0: Place,
    ) {
        like(tensor, generator, ret0, Distribution::Exponential(lambd))
    }

    /// Fills a tensor with ones of probability `p`, else zeros.
    aoti_torch_cpu_bernoulli__float | aoti_torch_cuda_bernoulli__float(
        tensor as self: TensorHandle, p: f64, generator: Generator,
    ) {
        Distribution::Bernoulli(p).fill(tensor, generator)
    }

    /// Fills a tensor with ones whose probabilities are the elements of `p`, else zeros.
    aoti_torch_cpu_bernoulli__Tensor | aoti_torch_cuda_bernoulli__Tensor(
        tensor as self: TensorHandle, p: TensorHandle, generator: Generator,
    ) {
        bernoulli(tensor, p, generator)
    }
}
