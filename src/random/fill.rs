//! Random numbers: fills. See `docs/design/random.md`.

use std::ffi::c_void;

use sconce_base::element::Dtype;
use sconce_base::error::Result;
use sconce_compute::random::{self, FillRequest};

use crate::handle::OpaqueHandle;
use crate::{guard, sconce_generator, sconce_status};

pub(super) fn fill(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    request: FillRequest,
    generator: *mut sconce_generator,
) -> Result<()> {
    let generator = sconce_generator::optional(generator);
    random::fill(ptr as usize, n, Dtype::try_from(dtype)?, request, generator)
}

/// Fills device memory with numbers from `low` to `high`, excluding `high`. The bits are torch's.
///
/// - `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL if `n` is 0.
/// - `n`: number of elements.
/// - `dtype`: `SCONCE_DTYPE_` F32, F64, F16, BF16, C64 or C128 (both parts are drawn).
/// - `low`, `high`: bounds.
/// - `generator`: a generator of the current device; NULL for its default generator.
/// - Errors: INVALID_ARGUMENT: `low > high`, a bound or their difference is out of the range of the
///   type, `dtype` is unknown, `ptr` is not device memory, or `n` elements reach beyond its block.
///   NOT_SUPPORTED: the distribution is not defined for `dtype`. CROSS_DEVICE: `generator` belongs
///   to another device, or `ptr` to a device to which the current device has no peer access.
///   OUT_OF_MEMORY: the stream is being captured, and the device has not enough memory left for the
///   generator state of graphs (`sconce_generator_prepare_capture`).
/// - Ownership: the memory must stay allocated until the fill is done.
/// - Ordering: queued on the current stream. A device's first fill with a distribution takes
///   longer, since it loads the kernels. In a graph every replay draws new numbers.
/// - torch: `torch.Tensor.uniform_()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_uniform(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    low: f64,
    high: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::Uniform(low, high), generator))
}

/// Fills device memory with normally distributed numbers. The bits are torch's on a GPU. Otherwise
/// as `sconce_random_uniform`.
///
/// - `dtype`: `SCONCE_DTYPE_` F32, F64, F16, BF16, C64 or C128.
/// - `mean`: mean value.
/// - `stddev`: standard deviation, of a complex number as a whole; not negative, else
///   INVALID_ARGUMENT. torch and the messages call it `std`.
/// - torch: `torch.Tensor.normal_()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_normal(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    mean: f64,
    stddev: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::Normal(mean, stddev), generator))
}

/// Fills device memory with numbers whose logarithms are normally distributed. The bits are torch's
/// on a GPU. Otherwise as `sconce_random_uniform`.
///
/// - `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16.
/// - `mean`: mean value of the logarithm.
/// - `stddev`: standard deviation of the logarithm; positive, else INVALID_ARGUMENT. torch and the
///   messages call it `std`.
/// - torch: `torch.Tensor.log_normal_()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_log_normal(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    mean: f64,
    stddev: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::LogNormal(mean, stddev), generator))
}

/// Fills device memory with exponentially distributed numbers. The bits are torch's on a GPU.
/// Otherwise as `sconce_random_uniform`.
///
/// - `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16.
/// - `rate`: positive, else INVALID_ARGUMENT. torch and the messages call it `lambda`.
/// - torch: `torch.Tensor.exponential_()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_exponential(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    rate: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::Exponential(rate), generator))
}

/// Fills device memory with Cauchy distributed numbers. The bits are torch's on a GPU. Otherwise as
/// `sconce_random_uniform`.
///
/// - `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16.
/// - `median`: median.
/// - `sigma`: half the width of the density at half its height; positive, else INVALID_ARGUMENT.
/// - torch: `torch.Tensor.cauchy_()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_cauchy(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    median: f64,
    sigma: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::Cauchy(median, sigma), generator))
}

/// Fills device memory with geometrically distributed numbers: numbers of trials up to the first
/// success. The bits are torch's on a GPU. Otherwise as `sconce_random_uniform`.
///
/// - `dtype`: `SCONCE_DTYPE_` of any real number.
/// - `p`: probability of success, between 0 and 1, else INVALID_ARGUMENT.
/// - torch: `torch.Tensor.geometric_()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_geometric(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    p: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::Geometric(p), generator))
}

/// Fills device memory with ones and zeros. The bits are torch's. Otherwise as
/// `sconce_random_uniform`.
///
/// - `dtype`: `SCONCE_DTYPE_` of any real number, or BOOL.
/// - `p`: probability of a one, from 0 to 1, else INVALID_ARGUMENT.
/// - torch: `torch.Tensor.bernoulli_()` with a number.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_bernoulli(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    p: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::Bernoulli(p), generator))
}

/// Fills device memory with integers from `low` to `high`, excluding `high`. The bits are torch's.
/// Otherwise as `sconce_random_uniform`.
///
/// - `dtype`: `SCONCE_DTYPE_` of any real number, or BOOL.
/// - `low`, `high`: bounds; INVALID_ARGUMENT if `low >= high`, or if a bound is beyond the type.
/// - torch: `torch.Tensor.random_(from, to)`, `torch.randint()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_integers(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    low: i64,
    high: i64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::Integers(low, high), generator))
}

/// Fills device memory with integers from 0 to the largest of an integer type, or to the largest up
/// to which a floating-point type represents every integer. The bits are torch's. Otherwise as
/// `sconce_random_uniform`.
///
/// - `dtype`: `SCONCE_DTYPE_` of any real number, or BOOL.
/// - torch: `torch.Tensor.random_()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_full_range(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, FillRequest::FullRange, generator))
}
