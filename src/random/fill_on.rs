//! Random numbers: fills on a stream that the call names. See `docs/design/random.md`.

use std::ffi::c_void;

use sconce_base::error::Result;
use sconce_compute::random::FillRequest;

use crate::{guard, sconce_generator, sconce_status, sconce_stream};

fn fill(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    request: FillRequest,
    generator: *mut sconce_generator,
    stream: sconce_stream,
) -> Result<()> {
    stream.run(|| super::fill::fill(ptr, n, dtype, request, generator))
}

/// Fills device memory with numbers from `low` to `high` on a stream. The stream and its device are
/// used instead of the current ones. Otherwise as `sconce_random_uniform`.
///
/// - `ptr`: memory of the stream's device for `n` elements, or of a peer of that device.
/// - `generator`: a generator of the stream's device; NULL for its default generator.
/// - `stream`: the stream on which the fill is queued.
/// - Threads: any; the calling thread's device and streams have no effect and do not change.
/// - torch: `torch.Tensor.uniform_()` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_uniform_on(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    low: f64,
    high: f64,
    generator: *mut sconce_generator,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::Uniform(low, high), generator, stream))
}

/// Fills device memory with normally distributed numbers on a stream, as `sconce_random_uniform_on`
/// does. Otherwise as `sconce_random_normal`.
///
/// - `stream`: the stream on which the fill is queued.
/// - torch: `torch.Tensor.normal_()` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_normal_on(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    mean: f64,
    stddev: f64,
    generator: *mut sconce_generator,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::Normal(mean, stddev), generator, stream))
}

/// Fills device memory with log-normally distributed numbers on a stream, as
/// `sconce_random_uniform_on` does. Otherwise as `sconce_random_log_normal`.
///
/// - `stream`: the stream on which the fill is queued.
/// - torch: `torch.Tensor.log_normal_()` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_log_normal_on(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    mean: f64,
    stddev: f64,
    generator: *mut sconce_generator,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::LogNormal(mean, stddev), generator, stream))
}

/// Fills device memory with exponentially distributed numbers on a stream, as
/// `sconce_random_uniform_on` does. Otherwise as `sconce_random_exponential`.
///
/// - `stream`: the stream on which the fill is queued.
/// - torch: `torch.Tensor.exponential_()` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_exponential_on(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    rate: f64,
    generator: *mut sconce_generator,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::Exponential(rate), generator, stream))
}

/// Fills device memory with Cauchy-distributed numbers on a stream, as `sconce_random_uniform_on`
/// does. Otherwise as `sconce_random_cauchy`.
///
/// - `stream`: the stream on which the fill is queued.
/// - torch: `torch.Tensor.cauchy_()` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_cauchy_on(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    median: f64,
    sigma: f64,
    generator: *mut sconce_generator,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::Cauchy(median, sigma), generator, stream))
}

/// Fills device memory with geometrically distributed numbers on a stream, as
/// `sconce_random_uniform_on` does. Otherwise as `sconce_random_geometric`.
///
/// - `stream`: the stream on which the fill is queued.
/// - torch: `torch.Tensor.geometric_()` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_geometric_on(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    p: f64,
    generator: *mut sconce_generator,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::Geometric(p), generator, stream))
}

/// Fills device memory with ones and zeros on a stream, as `sconce_random_uniform_on` does.
/// Otherwise as `sconce_random_bernoulli`.
///
/// - `stream`: the stream on which the fill is queued.
/// - torch: `torch.Tensor.bernoulli_()` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_bernoulli_on(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    p: f64,
    generator: *mut sconce_generator,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::Bernoulli(p), generator, stream))
}

/// Fills device memory with integers from `low` to `high`, excluding `high` on a stream, as
/// `sconce_random_uniform_on` does. Otherwise as `sconce_random_integers`.
///
/// - `stream`: the stream on which the fill is queued.
/// - torch: `torch.Tensor.random_()` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_integers_on(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    low: i64,
    high: i64,
    generator: *mut sconce_generator,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::Integers(low, high), generator, stream))
}

/// Fills device memory with integers from the type's whole range on a stream, as
/// `sconce_random_uniform_on` does. Otherwise as `sconce_random_full_range`.
///
/// - `stream`: the stream on which the fill is queued.
/// - torch: `torch.Tensor.random_()` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_full_range_on(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    generator: *mut sconce_generator,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::FullRange, generator, stream))
}
