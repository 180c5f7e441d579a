//! The global switches (`at::globalContext()`). They hold for the process and need no device.

use super::{CBool, guard_lockless, guard_value, sconce_status};
use crate::context::precision::{self, MatmulPrecision};

/// Precision of float32 matrix products.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_float32_matmul_precision {
    /// IEEE float32.
    SCONCE_FLOAT32_MATMUL_PRECISION_HIGHEST = 0,
    /// TF32 inputs.
    SCONCE_FLOAT32_MATMUL_PRECISION_HIGH = 1,
    /// As high on CUDA.
    SCONCE_FLOAT32_MATMUL_PRECISION_MEDIUM = 2,
}

numbers_of!(sconce_float32_matmul_precision as i32: SCONCE_FLOAT32_MATMUL_PRECISION_HIGHEST, SCONCE_FLOAT32_MATMUL_PRECISION_HIGH, SCONCE_FLOAT32_MATMUL_PRECISION_MEDIUM);

const _: () = {
    assert!(SCONCE_FLOAT32_MATMUL_PRECISION_HIGHEST == MatmulPrecision::Highest as i32);
    assert!(SCONCE_FLOAT32_MATMUL_PRECISION_HIGH == MatmulPrecision::High as i32);
    assert!(SCONCE_FLOAT32_MATMUL_PRECISION_MEDIUM == MatmulPrecision::Medium as i32);
};

/// Sets whether products of float32 matrices use TF32. True by default; false under `NVIDIA_TF32_OVERRIDE=0`, whatever is set.
///
/// # Parameters
/// `allow`: on or off.
/// # Errors
/// None.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls that start later see it.
/// # Threads
/// Any; the switch is the whole process's.
/// # Safety
/// No requirements.
/// # Upstream
/// `at::globalContext().setAllowTF32CuBLAS`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_set_allow_tf32_cublas(allow: CBool) {
    guard_value((), || precision::set_allow_tf32_cublas(allow.is_true()));
}

/// Tells whether products of float32 matrices use TF32.
///
/// # Parameters
/// None.
/// # Errors
/// None.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls that start later see it.
/// # Threads
/// Any; the switch is the whole process's.
/// # Safety
/// No requirements.
/// # Upstream
/// `at::globalContext().allowTF32CuBLAS`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_get_allow_tf32_cublas() -> bool {
    guard_value(false, precision::allow_tf32_cublas)
}

/// Sets whether convolutions use TF32. True by default; false under `NVIDIA_TF32_OVERRIDE=0`, whatever is set.
///
/// # Parameters
/// `allow`: on or off.
/// # Errors
/// None.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls that start later see it.
/// # Threads
/// Any; the switch is the whole process's.
/// # Safety
/// No requirements.
/// # Upstream
/// `at::globalContext().setAllowTF32CuDNN`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_set_allow_tf32_cudnn(allow: CBool) {
    guard_value((), || precision::set_allow_tf32_cudnn(allow.is_true()));
}

/// Tells whether convolutions use TF32.
///
/// # Parameters
/// None.
/// # Errors
/// None.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls that start later see it.
/// # Threads
/// Any; the switch is the whole process's.
/// # Safety
/// No requirements.
/// # Upstream
/// `at::globalContext().allowTF32CuDNN`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_get_allow_tf32_cudnn() -> bool {
    guard_value(false, precision::allow_tf32_cudnn)
}

/// Sets whether cuDNN times its algorithms and keeps the fastest. False by default.
///
/// # Parameters
/// `benchmark`: on or off.
/// # Errors
/// None.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls that start later see it.
/// # Threads
/// Any; the switch is the whole process's.
/// # Safety
/// No requirements.
/// # Upstream
/// `at::globalContext().setBenchmarkCuDNN`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_set_benchmark_cudnn(benchmark: CBool) {
    guard_value((), || precision::set_benchmark_cudnn(benchmark.is_true()));
}

/// Tells whether cuDNN times its algorithms and keeps the fastest.
///
/// # Parameters
/// None.
/// # Errors
/// None.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls that start later see it.
/// # Threads
/// Any; the switch is the whole process's.
/// # Safety
/// No requirements.
/// # Upstream
/// `at::globalContext().benchmarkCuDNN`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_get_benchmark_cudnn() -> bool {
    guard_value(false, precision::benchmark_cudnn)
}

/// Sets how many algorithms cuDNN times at most for a shape. 10 by default.
///
/// # Parameters
/// `limit`: how many of those that cuDNN thinks best; 0 for all.
/// # Errors
/// INVALID_ARGUMENT: `limit` is negative.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls that start later see it.
/// # Threads
/// Any; the switch is the whole process's.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.backends.cudnn.benchmark_limit`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_set_benchmark_limit_cudnn(limit: i32) -> sconce_status {
    guard_lockless(|| precision::set_benchmark_limit_cudnn(limit))
}

/// Gives how many algorithms cuDNN times at most for a shape; 0 is all.
///
/// # Parameters
/// None.
/// # Errors
/// None.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls that start later see it.
/// # Threads
/// Any; the switch is the whole process's.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.backends.cudnn.benchmark_limit`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_get_benchmark_limit_cudnn() -> i32 {
    guard_value(0, precision::benchmark_limit_cudnn)
}

/// Sets whether cuDNN is kept to deterministic algorithms. False by default.
///
/// # Parameters
/// `deterministic`: on or off.
/// # Errors
/// None.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls that start later see it.
/// # Threads
/// Any; the switch is the whole process's.
/// # Safety
/// No requirements.
/// # Upstream
/// `at::globalContext().setDeterministicCuDNN`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_set_deterministic_cudnn(deterministic: CBool) {
    guard_value((), || precision::set_deterministic_cudnn(deterministic.is_true()));
}

/// Tells whether cuDNN is kept to deterministic algorithms.
///
/// # Parameters
/// None.
/// # Errors
/// None.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls that start later see it.
/// # Threads
/// Any; the switch is the whole process's.
/// # Safety
/// No requirements.
/// # Upstream
/// `at::globalContext().deterministicCuDNN`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_get_deterministic_cudnn() -> bool {
    guard_value(false, precision::deterministic_cudnn)
}

/// Sets whether every library is kept to deterministic algorithms. False by default.
///
/// # Parameters
/// `deterministic`: on or off.
/// # Errors
/// None.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls that start later see it.
/// # Threads
/// Any; the switch is the whole process's.
/// # Safety
/// No requirements.
/// # Upstream
/// `at::globalContext().setDeterministicAlgorithms`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_set_deterministic_algorithms(deterministic: CBool) {
    guard_value((), || precision::set_deterministic_algorithms(deterministic.is_true()));
}

/// Tells whether every library is kept to deterministic algorithms.
///
/// # Parameters
/// None.
/// # Errors
/// None.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls that start later see it.
/// # Threads
/// Any; the switch is the whole process's.
/// # Safety
/// No requirements.
/// # Upstream
/// `at::globalContext().deterministicAlgorithms`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_get_deterministic_algorithms() -> bool {
    guard_value(false, precision::deterministic_algorithms)
}

/// Sets the precision of float32 matrix products; HIGHEST is the same as not allowing TF32 there.
///
/// # Parameters
/// `precision`: one of `SCONCE_FLOAT32_MATMUL_PRECISION_…`.
/// # Errors
/// INVALID_ARGUMENT: another value.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls that start later see it.
/// # Threads
/// Any; the switch is the whole process's.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.set_float32_matmul_precision`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_set_float32_matmul_precision(precision: i32) -> sconce_status {
    guard_lockless(|| {
        precision::set_matmul_precision(MatmulPrecision::try_from(precision)?);
        Ok(())
    })
}

/// Gives the precision of float32 matrix products, one of `SCONCE_FLOAT32_MATMUL_PRECISION_…`.
///
/// # Parameters
/// None.
/// # Errors
/// None.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls that start later see it.
/// # Threads
/// Any; the switch is the whole process's.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.get_float32_matmul_precision`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_context_get_float32_matmul_precision() -> i32 {
    guard_value(SCONCE_FLOAT32_MATMUL_PRECISION_HIGHEST, || precision::matmul_precision() as i32)
}
