//! The settings of the process (`at::globalContext()`). They need no device.

use sconce_base::error::Error;
use sconce_runtime::context::precision::{self, MatmulPrecision};

use super::{CBool, guard_lockless, guard_value, sconce_status};

/// Precision of float32 matrix products.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_float32_matmul_precision {
    /// IEEE float32.
    SCONCE_FLOAT32_MATMUL_PRECISION_HIGHEST = 0,
    /// TF32 inputs.
    SCONCE_FLOAT32_MATMUL_PRECISION_HIGH = 1,
    /// The same as `HIGH` on CUDA.
    SCONCE_FLOAT32_MATMUL_PRECISION_MEDIUM = 2,
}

numbers_of!(sconce_float32_matmul_precision as i32: SCONCE_FLOAT32_MATMUL_PRECISION_HIGHEST, SCONCE_FLOAT32_MATMUL_PRECISION_HIGH, SCONCE_FLOAT32_MATMUL_PRECISION_MEDIUM);

const _: () = {
    assert!(SCONCE_FLOAT32_MATMUL_PRECISION_HIGHEST == MatmulPrecision::Highest as i32);
    assert!(SCONCE_FLOAT32_MATMUL_PRECISION_HIGH == MatmulPrecision::High as i32);
    assert!(SCONCE_FLOAT32_MATMUL_PRECISION_MEDIUM == MatmulPrecision::Medium as i32);
};

/// Sets whether products of float32 matrices use TF32. True by default; products of compiled models and
/// kernel libraries (libsconce_torch) do not use TF32 by default, as in torch since 1.12, and follow
/// this setting once it is set. `NVIDIA_TF32_OVERRIDE=0` in the environment overrides the setting with
/// false.
///
/// This setting and the other `sconce_context_…` settings hold for the whole process. Calls that
/// start later see a change.
///
/// - torch: `at::globalContext().setAllowTF32CuBLAS`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_set_allow_tf32_cublas(allow: CBool) {
    guard_value((), || precision::set_allow_tf32_cublas(allow.is_true()));
}

/// Returns whether products of float32 matrices use TF32 on the calling thread: the setting of the
/// thread if it has one, else the setting of the process.
///
/// - torch: `at::globalContext().allowTF32CuBLAS`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_get_allow_tf32_cublas() -> bool {
    guard_value(false, precision::allow_tf32_cublas)
}

/// Returns what was set for products of float32 matrices on the calling thread: 1 or 0 if the thread,
/// the process or the environment has a setting, and -1 if nothing was set, so that each library
/// follows its default.
///
/// - torch: no equivalent.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_get_allow_tf32_cublas_setting() -> i32 {
    guard_value(-1, || precision::tf32_cublas_setting().map_or(-1, i32::from))
}

/// Sets whether products of float32 matrices use TF32 on the calling thread, regardless of the
/// setting of the process. `NVIDIA_TF32_OVERRIDE=0` in the environment overrides the setting with
/// false.
///
/// - `allow`: 0 or 1; -1 follows the setting of the process, which is the default.
/// - `out_before`: receives the previous setting, with the same values as `allow`.
/// - Errors: INVALID_ARGUMENT: `allow` is another number.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_context_set_thread_allow_tf32_cublas(
    allow: i32,
    out_before: *mut i32,
) -> sconce_status {
    guard_lockless(|| {
        let before_place = out!(out_before);
        let allow = match allow {
            -1 => None,
            0 => Some(false),
            1 => Some(true),
            other => {
                return Err(Error::invalid_argument(format!(
                    "allow is {other}; it must be 0, 1, or -1 to follow the process"
                )));
            }
        };
        let before = precision::set_thread_allow_tf32_cublas(allow);
        before_place.write(before.map_or(-1, i32::from));
        Ok(())
    })
}

/// Sets whether convolutions use TF32. True by default. `NVIDIA_TF32_OVERRIDE=0` in the environment
/// overrides the setting with false.
///
/// - torch: `at::globalContext().setAllowTF32CuDNN`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_set_allow_tf32_cudnn(allow: CBool) {
    guard_value((), || precision::set_allow_tf32_cudnn(allow.is_true()));
}

/// Returns whether convolutions use TF32.
///
/// - torch: `at::globalContext().allowTF32CuDNN`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_get_allow_tf32_cudnn() -> bool {
    guard_value(false, precision::allow_tf32_cudnn)
}

/// Sets whether convolutions measure cuDNN's engines and keep the fastest. False by default.
///
/// - torch: `at::globalContext().setBenchmarkCuDNN`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_set_benchmark_cudnn(benchmark: CBool) {
    guard_value((), || precision::set_benchmark_cudnn(benchmark.is_true()));
}

/// Returns whether convolutions measure cuDNN's engines and keep the fastest.
///
/// - torch: `at::globalContext().benchmarkCuDNN`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_get_benchmark_cudnn() -> bool {
    guard_value(false, precision::benchmark_cudnn)
}

/// Sets the largest number of cuDNN's engines that are measured for a shape. 10 by default.
///
/// - `limit`: the number of engines, in the order in which cuDNN recommends them; 0 means all. A
///   negative number is INVALID_ARGUMENT.
/// - torch: `torch.backends.cudnn.benchmark_limit`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_set_benchmark_limit_cudnn(limit: i32) -> sconce_status {
    guard_lockless(|| precision::set_benchmark_limit_cudnn(limit))
}

/// Returns the largest number of cuDNN's engines that are measured for a shape; 0 means all.
///
/// - torch: `torch.backends.cudnn.benchmark_limit`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_get_benchmark_limit_cudnn() -> i32 {
    guard_value(0, precision::benchmark_limit_cudnn)
}

/// Sets whether convolutions use only deterministic engines of cuDNN. False by default.
///
/// - torch: `at::globalContext().setDeterministicCuDNN`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_set_deterministic_cudnn(deterministic: CBool) {
    guard_value((), || precision::set_deterministic_cudnn(deterministic.is_true()));
}

/// Returns whether convolutions use only deterministic engines of cuDNN.
///
/// - torch: `at::globalContext().deterministicCuDNN`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_get_deterministic_cudnn() -> bool {
    guard_value(false, precision::deterministic_cudnn)
}

/// Sets whether all libraries use only deterministic algorithms. False by default.
///
/// - torch: `at::globalContext().setDeterministicAlgorithms`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_set_deterministic_algorithms(deterministic: CBool) {
    guard_value((), || precision::set_deterministic_algorithms(deterministic.is_true()));
}

/// Returns whether all libraries use only deterministic algorithms.
///
/// - torch: `at::globalContext().deterministicAlgorithms`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_get_deterministic_algorithms() -> bool {
    guard_value(false, precision::deterministic_algorithms)
}

/// Sets the precision of float32 matrix products. HIGHEST disables TF32 in them, the other two
/// enable it.
///
/// - `precision`: one of `SCONCE_FLOAT32_MATMUL_PRECISION_…`; another number is INVALID_ARGUMENT.
/// - torch: `torch.set_float32_matmul_precision`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_set_float32_matmul_precision(precision: i32) -> sconce_status {
    guard_lockless(|| {
        precision::set_matmul_precision(MatmulPrecision::try_from(precision)?);
        Ok(())
    })
}

/// Returns the precision of float32 matrix products, one of `SCONCE_FLOAT32_MATMUL_PRECISION_…`.
///
/// - torch: `torch.get_float32_matmul_precision`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_get_float32_matmul_precision() -> i32 {
    guard_value(SCONCE_FLOAT32_MATMUL_PRECISION_HIGHEST, || precision::matmul_precision() as i32)
}
