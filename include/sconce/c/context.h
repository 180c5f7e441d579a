/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * The global context: TF32 and determinism, as in torch.backends.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_CONTEXT_H_
#define SCONCE_C_CONTEXT_H_

#include <sconce/c/library.h>

/**
 * Precision of float32 matrix products.
 */
#ifdef __cplusplus
enum sconce_float32_matmul_precision : int32_t {
#else
typedef int32_t sconce_float32_matmul_precision;
enum {
#endif
  /**
   * IEEE float32.
   */
  SCONCE_FLOAT32_MATMUL_PRECISION_HIGHEST = 0,
  /**
   * TF32 inputs.
   */
  SCONCE_FLOAT32_MATMUL_PRECISION_HIGH = 1,
  /**
   * The same as `HIGH` on CUDA.
   */
  SCONCE_FLOAT32_MATMUL_PRECISION_MEDIUM = 2,
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Sets whether products of float32 matrices use TF32. True by default; products of compiled models and
 * kernel libraries (libsconce_torch) do not use TF32 by default, as in torch since 1.12, and follow
 * this setting once it is set. `NVIDIA_TF32_OVERRIDE=0` in the environment overrides the setting with
 * false.
 *
 * This setting and the other `sconce_context_…` settings hold for the whole process. Calls that
 * start later see a change.
 *
 * - torch: `at::globalContext().setAllowTF32CuBLAS`.
 */
void sconce_context_set_allow_tf32_cublas(bool allow);

/**
 * Returns whether products of float32 matrices use TF32 on the calling thread: the setting of the
 * thread if it has one, else the setting of the process.
 *
 * - torch: `at::globalContext().allowTF32CuBLAS`.
 */
bool sconce_context_get_allow_tf32_cublas(void);

/**
 * Returns what was set for products of float32 matrices on the calling thread: 1 or 0 if the thread,
 * the process or the environment has a setting, and -1 if nothing was set, so that each library
 * follows its default.
 *
 * - torch: no equivalent.
 */
int32_t sconce_context_get_allow_tf32_cublas_setting(void);

/**
 * Sets whether products of float32 matrices use TF32 on the calling thread, regardless of the
 * setting of the process. `NVIDIA_TF32_OVERRIDE=0` in the environment overrides the setting with
 * false.
 *
 * - `allow`: 0 or 1; -1 follows the setting of the process, which is the default.
 * - `out_before`: receives the previous setting, with the same values as `allow`.
 * - Errors: INVALID_ARGUMENT: `allow` is another number.
 */
SCONCE_NODISCARD
sconce_status sconce_context_set_thread_allow_tf32_cublas(int32_t allow,
                                                          int32_t *out_before);

/**
 * Sets whether convolutions use TF32. True by default. `NVIDIA_TF32_OVERRIDE=0` in the environment
 * overrides the setting with false.
 *
 * - torch: `at::globalContext().setAllowTF32CuDNN`.
 */
void sconce_context_set_allow_tf32_cudnn(bool allow);

/**
 * Returns whether convolutions use TF32.
 *
 * - torch: `at::globalContext().allowTF32CuDNN`.
 */
bool sconce_context_get_allow_tf32_cudnn(void);

/**
 * Sets whether convolutions measure cuDNN's engines and keep the fastest. False by default.
 *
 * - torch: `at::globalContext().setBenchmarkCuDNN`.
 */
void sconce_context_set_benchmark_cudnn(bool benchmark);

/**
 * Returns whether convolutions measure cuDNN's engines and keep the fastest.
 *
 * - torch: `at::globalContext().benchmarkCuDNN`.
 */
bool sconce_context_get_benchmark_cudnn(void);

/**
 * Sets the largest number of cuDNN's engines that are measured for a shape. 10 by default.
 *
 * - `limit`: the number of engines, in the order in which cuDNN recommends them; 0 means all. A
 *   negative number is INVALID_ARGUMENT.
 * - torch: `torch.backends.cudnn.benchmark_limit`.
 */
SCONCE_NODISCARD sconce_status sconce_context_set_benchmark_limit_cudnn(int32_t limit);

/**
 * Returns the largest number of cuDNN's engines that are measured for a shape; 0 means all.
 *
 * - torch: `torch.backends.cudnn.benchmark_limit`.
 */
int32_t sconce_context_get_benchmark_limit_cudnn(void);

/**
 * Sets whether convolutions use only deterministic engines of cuDNN. False by default.
 *
 * - torch: `at::globalContext().setDeterministicCuDNN`.
 */
void sconce_context_set_deterministic_cudnn(bool deterministic);

/**
 * Returns whether convolutions use only deterministic engines of cuDNN.
 *
 * - torch: `at::globalContext().deterministicCuDNN`.
 */
bool sconce_context_get_deterministic_cudnn(void);

/**
 * Sets whether all libraries use only deterministic algorithms. False by default.
 *
 * - torch: `at::globalContext().setDeterministicAlgorithms`.
 */
void sconce_context_set_deterministic_algorithms(bool deterministic);

/**
 * Returns whether all libraries use only deterministic algorithms.
 *
 * - torch: `at::globalContext().deterministicAlgorithms`.
 */
bool sconce_context_get_deterministic_algorithms(void);

/**
 * Sets the precision of float32 matrix products. HIGHEST disables TF32 in them, the other two
 * enable it.
 *
 * - `precision`: one of `SCONCE_FLOAT32_MATMUL_PRECISION_…`; another number is INVALID_ARGUMENT.
 * - torch: `torch.set_float32_matmul_precision`.
 */
SCONCE_NODISCARD sconce_status sconce_context_set_float32_matmul_precision(int32_t precision);

/**
 * Returns the precision of float32 matrix products, one of `SCONCE_FLOAT32_MATMUL_PRECISION_…`.
 *
 * - torch: `torch.get_float32_matmul_precision`.
 */
int32_t sconce_context_get_float32_matmul_precision(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_CONTEXT_H_ */
