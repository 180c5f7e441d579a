//! Random fills of tensors, with torch's bits.

use sconce_base::element::Dtype;
use sconce_base::error::Result;
use sconce_compute::random::FillRequest;
use sconce_tensors::tensor::create;

use super::handle::{defined, sconce_tensor};
use super::options::sconce_tensor_options;
use crate::handle::OpaqueHandle;
use crate::{guard, sconce_generator, sconce_status};

fn fill(
    tensor: *mut sconce_tensor,
    request: FillRequest,
    generator: *mut sconce_generator,
) -> Result<()> {
    let generator = sconce_generator::optional(generator);
    create::fill_random(&defined(tensor, "tensor")?, request, generator)
}

/// Fills a tensor with numbers from `low` to `high`, excluding `high`. The bits are
/// torch's: elements are drawn in the order in which they lie in memory.
///
/// - `low`, `high`: bounds.
/// - `generator`: a generator of the tensor's device, or of the CPU for a tensor there; NULL for its default
///   generator.
/// - Errors: INVALID_ARGUMENT: the parameters, as in `sconce_random_uniform`; or several elements
///   of the tensor share a place in memory. NOT_SUPPORTED: the distribution is not defined for the
///   tensor's type. CROSS_DEVICE: `generator` belongs to another device.
/// - Ordering: queued on the current stream of the tensor's device; a tensor of the CPU is filled on return.
/// - torch: `torch.Tensor.uniform_`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_uniform(
    tensor: *mut sconce_tensor,
    low: f64,
    high: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(tensor, FillRequest::Uniform(low, high), generator))
}

/// Fills a tensor with normally distributed numbers. Otherwise as
/// `sconce_tensor_uniform`.
///
/// - `mean`, `stddev`: as in `sconce_random_normal`.
/// - torch: `torch.Tensor.normal_`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_normal(
    tensor: *mut sconce_tensor,
    mean: f64,
    stddev: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(tensor, FillRequest::Normal(mean, stddev), generator))
}

/// Fills a tensor with numbers whose logarithm is normally distributed. Otherwise as
/// `sconce_tensor_uniform`.
///
/// - `mean`, `stddev`: of the logarithm.
/// - torch: `torch.Tensor.log_normal_`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_log_normal(
    tensor: *mut sconce_tensor,
    mean: f64,
    stddev: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(tensor, FillRequest::LogNormal(mean, stddev), generator))
}

/// Fills a tensor with exponentially distributed numbers. Otherwise as
/// `sconce_tensor_uniform`.
///
/// - `lambda`: the rate, above 0.
/// - torch: `torch.Tensor.exponential_`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_exponential(
    tensor: *mut sconce_tensor,
    lambda: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(tensor, FillRequest::Exponential(lambda), generator))
}

/// Fills a tensor with numbers of a Cauchy distribution. Otherwise as
/// `sconce_tensor_uniform`.
///
/// - `median`, `sigma`: median and scale.
/// - torch: `torch.Tensor.cauchy_`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_cauchy(
    tensor: *mut sconce_tensor,
    median: f64,
    sigma: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(tensor, FillRequest::Cauchy(median, sigma), generator))
}

/// Fills a tensor with numbers of a geometric distribution. Otherwise as
/// `sconce_tensor_uniform`.
///
/// - `p`: the probability of success, between 0 and 1.
/// - torch: `torch.Tensor.geometric_`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_geometric(
    tensor: *mut sconce_tensor,
    p: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(tensor, FillRequest::Geometric(p), generator))
}

/// Fills a tensor with 1 or 0. Otherwise as
/// `sconce_tensor_uniform`.
///
/// - `p`: the probability of 1.
/// - torch: `torch.Tensor.bernoulli_`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_bernoulli(
    tensor: *mut sconce_tensor,
    p: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(tensor, FillRequest::Bernoulli(p), generator))
}

/// Fills a tensor with integers from `low` to `high`, excluding `high`. Otherwise as
/// `sconce_tensor_uniform`.
///
/// - `low`, `high`: bounds.
/// - torch: `torch.Tensor.random_`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_random_integers(
    tensor: *mut sconce_tensor,
    low: i64,
    high: i64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(tensor, FillRequest::Integers(low, high), generator))
}

/// Fills a tensor with integers from 0 to the largest of its type, as `sconce_random_full_range`
/// does. Otherwise as `sconce_tensor_uniform`.
///
/// - torch: `torch.Tensor.random_`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_random(
    tensor: *mut sconce_tensor,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(tensor, FillRequest::FullRange, generator))
}

/// Creates a vector of the numbers 0 to `n - 1` in a random order, with torch's bits.
///
/// - `n`: how many numbers, at least 0.
/// - `generator`: a generator of the tensor's device, or of the CPU for a tensor there; NULL for its default
///   generator.
/// - `options`: NULL or fields left at their defaults: I64, on the current device.
/// - `out_tensor`: receives the tensor.
/// - Errors: INVALID_ARGUMENT: `n` is negative, or the type cannot hold the numbers. NOT_SUPPORTED:
///   the type is neither an integer nor a real floating-point number. CROSS_DEVICE: `generator`
///   belongs to another device. OUT_OF_MEMORY: for the result or for work memory.
/// - Ownership: the caller releases the tensor with `sconce_tensor_release`.
/// - Ordering: queued on the current stream of the tensor's device; a tensor of the CPU is filled on return.
/// - torch: `torch.randperm`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_randperm(
    n: i64,
    generator: *mut sconce_generator,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let asked = asked!(options);
        let generator = sconce_generator::optional(generator);
        create::randperm(n, asked.or(Dtype::I64)?, generator, None)?
    })
}
