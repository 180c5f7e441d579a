//! Random fills of tensors on a stream that the call names.

use crate::stream::on;
use crate::{
    sconce_generator, sconce_status, sconce_stream, sconce_tensor, sconce_tensor_bernoulli,
    sconce_tensor_cauchy, sconce_tensor_exponential, sconce_tensor_geometric,
    sconce_tensor_log_normal, sconce_tensor_normal, sconce_tensor_options, sconce_tensor_random,
    sconce_tensor_random_integers, sconce_tensor_randperm, sconce_tensor_uniform,
};

/// Fills a tensor with uniformly distributed numbers on a stream. Otherwise as
/// `sconce_tensor_uniform`.
///
/// - torch: `torch.Tensor.uniform_` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_uniform_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    low: f64,
    high: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    on(stream, &mut || sconce_tensor_uniform(tensor, low, high, generator))
}

/// Fills a tensor with normally distributed numbers on a stream. Otherwise as
/// `sconce_tensor_normal`.
///
/// - torch: `torch.Tensor.normal_` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_normal_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    mean: f64,
    stddev: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    on(stream, &mut || sconce_tensor_normal(tensor, mean, stddev, generator))
}

/// Fills a tensor with log-normally distributed numbers on a stream. Otherwise as
/// `sconce_tensor_log_normal`.
///
/// - torch: `torch.Tensor.log_normal_` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_log_normal_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    mean: f64,
    stddev: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    on(stream, &mut || sconce_tensor_log_normal(tensor, mean, stddev, generator))
}

/// Fills a tensor with exponentially distributed numbers on a stream. Otherwise as
/// `sconce_tensor_exponential`.
///
/// - torch: `torch.Tensor.exponential_` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_exponential_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    lambda: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    on(stream, &mut || sconce_tensor_exponential(tensor, lambda, generator))
}

/// Fills a tensor with Cauchy-distributed numbers on a stream. Otherwise as `sconce_tensor_cauchy`.
///
/// - torch: `torch.Tensor.cauchy_` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_cauchy_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    median: f64,
    sigma: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    on(stream, &mut || sconce_tensor_cauchy(tensor, median, sigma, generator))
}

/// Fills a tensor with geometrically distributed numbers on a stream. Otherwise as
/// `sconce_tensor_geometric`.
///
/// - torch: `torch.Tensor.geometric_` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_geometric_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    p: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    on(stream, &mut || sconce_tensor_geometric(tensor, p, generator))
}

/// Fills a tensor with ones and zeros on a stream. Otherwise as `sconce_tensor_bernoulli`.
///
/// - torch: `torch.Tensor.bernoulli_` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_bernoulli_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    p: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    on(stream, &mut || sconce_tensor_bernoulli(tensor, p, generator))
}

/// Fills a tensor with integers from a range on a stream. Otherwise as
/// `sconce_tensor_random_integers`.
///
/// - torch: `torch.Tensor.random_` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_random_integers_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    low: i64,
    high: i64,
    generator: *mut sconce_generator,
) -> sconce_status {
    on(stream, &mut || sconce_tensor_random_integers(tensor, low, high, generator))
}

/// Fills a tensor with integers from 0 to the largest of its type on a stream. Otherwise as
/// `sconce_tensor_random`.
///
/// - torch: `torch.Tensor.random_` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_random_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    generator: *mut sconce_generator,
) -> sconce_status {
    on(stream, &mut || sconce_tensor_random(tensor, generator))
}

/// Creates a vector of the numbers 0 to `n - 1` in a random order on a stream. Otherwise as
/// `sconce_tensor_randperm`.
///
/// - torch: `torch.randperm` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_randperm_on(
    stream: sconce_stream,
    n: i64,
    generator: *mut sconce_generator,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_randperm(n, generator, options, out_tensor) }
    })
}
