//! Random numbers: fills. See `docs/design/random.md`.

use std::ffi::c_void;

use crate::element::Dtype;
use crate::error::Result;
use crate::ffi::handle::Handle;
use crate::ffi::{guard, sconce_generator, sconce_status};
use crate::random::{self, Request};

fn fill(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    request: Request,
    generator: *mut sconce_generator,
) -> Result<()> {
    let generator = sconce_generator::optional(generator);
    random::fill(ptr as usize, n, Dtype::try_from(dtype)?, request, generator)
}

/// Fills memory with numbers from `low` to `high`, the latter excluded.
///
/// # Parameters
/// `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is 0.
/// `n`: elements. `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16, C64 or C128 (both parts). `low`,
/// `high`: bounds. `generator`: of the current device; NULL for its default one.
/// # Errors
/// INVALID_ARGUMENT: `low > high`, a bound or their difference beyond the type, `dtype` is
/// unknown, or `ptr` is NULL, misaligned, no memory of a device, or `n` elements run beyond its
/// block. NOT_SUPPORTED: this is not drawn for `dtype`. CROSS_DEVICE: `generator` belongs to
/// another device, or `ptr` to one that the current device has no peer access to. INVALID_HANDLE:
/// `generator` is destroyed or foreign. OUT_OF_MEMORY: the stream is being captured and the
/// device has no room for what a graph needs (`sconce_generator_prepare_capture`). DRIVER.
/// NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// `ptr` must stay until the fill is done.
/// # Ordering
/// On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
/// distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
/// anew.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.Tensor.uniform_()`, in its bits.
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
    guard(|| fill(ptr, n, dtype, Request::Uniform(low, high), generator))
}

/// Fills memory with normally distributed numbers.
///
/// # Parameters
/// `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is
/// 0. `n`: elements. `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16, C64 or C128. `mean`;
/// `stddev`: standard deviation, of a complex number as a whole; torch and the messages call it
/// `std`. `generator`: of the current device; NULL for its default one.
/// # Errors
/// INVALID_ARGUMENT: `stddev < 0`, `dtype` is unknown, or `ptr` is NULL, misaligned, no memory of
/// a device, or `n` elements run beyond its block. NOT_SUPPORTED: this is not drawn for `dtype`.
/// CROSS_DEVICE: `generator` belongs to another device, or `ptr` to one that the current device
/// has no peer access to. INVALID_HANDLE: `generator` is destroyed or foreign. OUT_OF_MEMORY: the
/// stream is being captured and the device has no room for what a graph needs
/// (`sconce_generator_prepare_capture`). DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// `ptr` must stay until the fill is done.
/// # Ordering
/// On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
/// distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
/// anew.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.Tensor.normal_()`, in its bits on a GPU.
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
    guard(|| fill(ptr, n, dtype, Request::Normal(mean, stddev), generator))
}

/// Fills memory with numbers whose logarithms are normally distributed.
///
/// # Parameters
/// `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is
/// 0. `n`: elements. `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16. `mean`, `stddev`: mean and
/// standard deviation of the logarithm, the latter called `std` in messages. `generator`: of the current device; NULL for its default
/// one.
/// # Errors
/// INVALID_ARGUMENT: `stddev <= 0`, `dtype` is unknown, or `ptr` is NULL, misaligned, no memory
/// of a device, or `n` elements run beyond its block. NOT_SUPPORTED: this is not drawn for
/// `dtype`. CROSS_DEVICE: `generator` belongs to another device, or `ptr` to one that the current
/// device has no peer access to. INVALID_HANDLE: `generator` is destroyed or foreign.
/// OUT_OF_MEMORY: the stream is being captured and the device has no room for what a graph needs
/// (`sconce_generator_prepare_capture`). DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// `ptr` must stay until the fill is done.
/// # Ordering
/// On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
/// distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
/// anew.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.Tensor.log_normal_()`, in its bits on a GPU.
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
    guard(|| fill(ptr, n, dtype, Request::LogNormal(mean, stddev), generator))
}

/// Fills memory with exponentially distributed numbers.
///
/// # Parameters
/// `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is
/// 0. `n`: elements. `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16. `rate`: what torch
/// and the messages call `lambda`. `generator`: of the current device; NULL for its default one.
/// # Errors
/// INVALID_ARGUMENT: `rate <= 0`, `dtype` is unknown, or `ptr` is NULL, misaligned, no memory of
/// a device, or `n` elements run beyond its block. NOT_SUPPORTED: this is not drawn for `dtype`.
/// CROSS_DEVICE: `generator` belongs to another device, or `ptr` to one that the current device
/// has no peer access to. INVALID_HANDLE: `generator` is destroyed or foreign. OUT_OF_MEMORY: the
/// stream is being captured and the device has no room for what a graph needs
/// (`sconce_generator_prepare_capture`). DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// `ptr` must stay until the fill is done.
/// # Ordering
/// On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
/// distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
/// anew.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.Tensor.exponential_()`, in its bits on a GPU.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_exponential(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    rate: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, Request::Exponential(rate), generator))
}

/// Fills memory with Cauchy distributed numbers.
///
/// # Parameters
/// `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is 0.
/// `n`: elements. `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16. `median`; `sigma`: half the width
/// at half the height. `generator`: of the current device; NULL for its default one.
/// # Errors
/// INVALID_ARGUMENT: `sigma <= 0`, `dtype` is unknown, or `ptr` is NULL, misaligned, no memory of
/// a device, or `n` elements run beyond its block. NOT_SUPPORTED: this is not drawn for `dtype`.
/// CROSS_DEVICE: `generator` belongs to another device, or `ptr` to one that the current device
/// has no peer access to. INVALID_HANDLE: `generator` is destroyed or foreign. OUT_OF_MEMORY: the
/// stream is being captured and the device has no room for what a graph needs
/// (`sconce_generator_prepare_capture`). DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// `ptr` must stay until the fill is done.
/// # Ordering
/// On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
/// distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
/// anew.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.Tensor.cauchy_()`, in its bits on a GPU.
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
    guard(|| fill(ptr, n, dtype, Request::Cauchy(median, sigma), generator))
}

/// Fills memory with the numbers of trials up to the first success.
///
/// # Parameters
/// `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is 0.
/// `n`: elements. `dtype`: `SCONCE_DTYPE_` of any real number. `p`: probability of success.
/// `generator`: of the current device; NULL for its default one.
/// # Errors
/// INVALID_ARGUMENT: `p` is not between 0 and 1, `dtype` is unknown, or `ptr` is NULL,
/// misaligned, no memory of a device, or `n` elements run beyond its block. NOT_SUPPORTED: this
/// is not drawn for `dtype`. CROSS_DEVICE: `generator` belongs to another device, or `ptr` to one
/// that the current device has no peer access to. INVALID_HANDLE: `generator` is destroyed or
/// foreign. OUT_OF_MEMORY: the stream is being captured and the device has no room for what a
/// graph needs (`sconce_generator_prepare_capture`). DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED
/// as `sconce_init`.
/// # Ownership
/// `ptr` must stay until the fill is done.
/// # Ordering
/// On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
/// distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
/// anew.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.Tensor.geometric_()`, in its bits on a GPU.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_geometric(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    p: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, Request::Geometric(p), generator))
}

/// Fills memory with ones and zeros.
///
/// # Parameters
/// `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is 0.
/// `n`: elements. `dtype`: `SCONCE_DTYPE_` of any real number, or BOOL. `p`: probability of a one.
/// `generator`: of the current device; NULL for its default one.
/// # Errors
/// INVALID_ARGUMENT: `p` is not from 0 to 1, `dtype` is unknown, or `ptr` is NULL, misaligned, no
/// memory of a device, or `n` elements run beyond its block. NOT_SUPPORTED: this is not drawn for
/// `dtype`. CROSS_DEVICE: `generator` belongs to another device, or `ptr` to one that the current
/// device has no peer access to. INVALID_HANDLE: `generator` is destroyed or foreign.
/// OUT_OF_MEMORY: the stream is being captured and the device has no room for what a graph needs
/// (`sconce_generator_prepare_capture`). DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// `ptr` must stay until the fill is done.
/// # Ordering
/// On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
/// distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
/// anew.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.Tensor.bernoulli_()` with a number, in its bits.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_bernoulli(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    p: f64,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, Request::Bernoulli(p), generator))
}

/// Fills memory with whole numbers from `low` to `high`, the latter excluded.
///
/// # Parameters
/// `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is 0.
/// `n`: elements. `dtype`: `SCONCE_DTYPE_` of any real number, or BOOL. `low`, `high`: bounds.
/// `generator`: of the current device; NULL for its default one.
/// # Errors
/// INVALID_ARGUMENT: `low >= high`, a bound beyond the type, `dtype` is unknown, or `ptr` is
/// NULL, misaligned, no memory of a device, or `n` elements run beyond its block. NOT_SUPPORTED:
/// this is not drawn for `dtype`. CROSS_DEVICE: `generator` belongs to another device, or `ptr`
/// to one that the current device has no peer access to. INVALID_HANDLE: `generator` is destroyed
/// or foreign. OUT_OF_MEMORY: the stream is being captured and the device has no room for what a
/// graph needs (`sconce_generator_prepare_capture`). DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED
/// as `sconce_init`.
/// # Ownership
/// `ptr` must stay until the fill is done.
/// # Ordering
/// On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
/// distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
/// anew.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.Tensor.random_(from, to)`, `torch.randint()`, in its bits.
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
    guard(|| fill(ptr, n, dtype, Request::Integers(low, high), generator))
}

/// Fills memory with whole numbers from 0 to the largest of an integer type, or up to the last that
/// a floating-point type tells apart from its neighbours.
///
/// # Parameters
/// `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is 0.
/// `n`: elements. `dtype`: `SCONCE_DTYPE_` of any real number, or BOOL. `generator`: of the current
/// device; NULL for its default one.
/// # Errors
/// INVALID_ARGUMENT: `dtype` is unknown, or `ptr` is NULL, misaligned, no memory of a device, or
/// `n` elements run beyond its block. NOT_SUPPORTED: this is not drawn for `dtype`. CROSS_DEVICE:
/// `generator` belongs to another device, or `ptr` to one that the current device has no peer
/// access to. INVALID_HANDLE: `generator` is destroyed or foreign. OUT_OF_MEMORY: the stream is
/// being captured and the device has no room for what a graph needs
/// (`sconce_generator_prepare_capture`). DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// `ptr` must stay until the fill is done.
/// # Ordering
/// On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
/// distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
/// anew.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.Tensor.random_()`, in its bits.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_full_range(
    ptr: *mut c_void,
    n: usize,
    dtype: i32,
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| fill(ptr, n, dtype, Request::FullRange, generator))
}
