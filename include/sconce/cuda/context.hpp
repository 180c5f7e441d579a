/// \file
/// The settings of the whole process: TF32, cuDNN's benchmark mode, determinism.
#ifndef SCONCE_CUDA_CONTEXT_HPP
#define SCONCE_CUDA_CONTEXT_HPP

#include <sconce/c/context.h>
#include <sconce/c/library.h>

#include <cstdint>
#include <optional>
#include <sconce/cuda/backend.hpp>
#include <sconce/cuda/device.hpp>
#include <string>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// The precision of matrix products of 32-bit floats. Corresponds to `at::Float32MatmulPrecision`.
enum class Float32MatmulPrecision : std::int32_t {
  HIGHEST = SCONCE_FLOAT32_MATMUL_PRECISION_HIGHEST,  ///< full precision, no TF32
  HIGH = SCONCE_FLOAT32_MATMUL_PRECISION_HIGH,        ///< TF32
  MEDIUM = SCONCE_FLOAT32_MATMUL_PRECISION_MEDIUM,    ///< TF32 on CUDA
};

/// The settings of the process. Objects of this class have no state of their own.
///
/// Corresponds to `at::Context`. Any thread may use it. Library handles requested after a change
/// follow it.
class Context {
 public:
  /// Whether cuBLAS may use TF32 for products of 32-bit floats; true by default.
  [[nodiscard]] bool allowTF32CuBLAS() const noexcept {
    return ::sconce_context_get_allow_tf32_cublas();
  }
  /// Sets `allowTF32CuBLAS`, and `float32MatmulPrecision` with it. Also applies to compiled models
  /// and kernel libraries, whose default is false.
  void setAllowTF32CuBLAS(bool allow) noexcept { ::sconce_context_set_allow_tf32_cublas(allow); }
  /// What was set for `allowTF32CuBLAS`; nothing if the defaults apply.
  [[nodiscard]] std::optional<bool> allowTF32CuBLASSetting() const noexcept {
    const std::int32_t setting = ::sconce_context_get_allow_tf32_cublas_setting();
    return setting < 0 ? std::nullopt : std::optional<bool>(setting != 0);
  }

  /// Whether cuDNN may use TF32 in convolutions; true by default.
  [[nodiscard]] bool allowTF32CuDNN() const noexcept {
    return ::sconce_context_get_allow_tf32_cudnn();
  }
  /// Sets `allowTF32CuDNN`.
  void setAllowTF32CuDNN(bool allow) noexcept { ::sconce_context_set_allow_tf32_cudnn(allow); }

  /// Whether convolutions measure cuDNN's engines and keep the fastest; false by default.
  [[nodiscard]] bool benchmarkCuDNN() const noexcept {
    return ::sconce_context_get_benchmark_cudnn();
  }
  /// Sets `benchmarkCuDNN`.
  void setBenchmarkCuDNN(bool on) noexcept { ::sconce_context_set_benchmark_cudnn(on); }

  /// The largest number of cuDNN's engines that are measured for a shape; 0 means all of them, and
  /// 10 is the default.
  [[nodiscard]] int benchmarkLimitCuDNN() const noexcept {
    return ::sconce_context_get_benchmark_limit_cudnn();
  }
  /// Sets `benchmarkLimitCuDNN`.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for a negative number
  void setBenchmarkLimitCuDNN(int limit) {
    detail::check(::sconce_context_set_benchmark_limit_cudnn(limit));
  }

  /// Whether cuDNN uses only deterministic algorithms; false by default.
  [[nodiscard]] bool deterministicCuDNN() const noexcept {
    return ::sconce_context_get_deterministic_cudnn();
  }
  /// Sets `deterministicCuDNN`.
  void setDeterministicCuDNN(bool on) noexcept { ::sconce_context_set_deterministic_cudnn(on); }

  /// Whether all libraries use only deterministic algorithms; false by default.
  [[nodiscard]] bool deterministicAlgorithms() const noexcept {
    return ::sconce_context_get_deterministic_algorithms();
  }
  /// Sets `deterministicAlgorithms`.
  void setDeterministicAlgorithms(bool on) noexcept {
    ::sconce_context_set_deterministic_algorithms(on);
  }

  /// Refuses an operation whose results differ from run to run.
  /// \param caller the operation
  /// \throws NotSupportedError if `deterministicAlgorithms` is set
  void alertNotDeterministic(const std::string& caller) const {
    if (deterministicAlgorithms()) {
      throw NotSupportedError(SCONCE_ERROR_NOT_SUPPORTED,
                              caller +
                                  " has no deterministic algorithm, and only those are allowed; "
                                  "see setDeterministicAlgorithms");
    }
  }

  /// The precision of matrix products of 32-bit floats.
  [[nodiscard]] Float32MatmulPrecision float32MatmulPrecision() const noexcept {
    return static_cast<Float32MatmulPrecision>(::sconce_context_get_float32_matmul_precision());
  }
  /// Sets `float32MatmulPrecision`, and `allowTF32CuBLAS` with it.
  void setFloat32MatmulPrecision(Float32MatmulPrecision precision) {
    detail::check(
        ::sconce_context_set_float32_matmul_precision(static_cast<std::int32_t>(precision)));
  }
  /// Sets `float32MatmulPrecision` by name: `"highest"`, `"high"` or `"medium"`.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for another name
  void setFloat32MatmulPrecision(const std::string& precision) {
    if (precision == "highest") {
      setFloat32MatmulPrecision(Float32MatmulPrecision::HIGHEST);
    } else if (precision == "high") {
      setFloat32MatmulPrecision(Float32MatmulPrecision::HIGH);
    } else if (precision == "medium") {
      setFloat32MatmulPrecision(Float32MatmulPrecision::MEDIUM);
    } else {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  "setFloat32MatmulPrecision: \"" + precision +
                      "\" is not one of \"highest\", \"high\", \"medium\"");
    }
  }

  /// Initialises the library now. Corresponds to `at::Context::lazyInitCUDA`.
  void lazyInitCUDA() { init(); }

  /// Whether there is a device. Corresponds to `at::Context::hasCUDA`.
  [[nodiscard]] bool hasCUDA() const noexcept { return is_available(); }
};

/// Returns the settings of this process. Corresponds to `at::globalContext`.
[[nodiscard]] inline Context& globalContext() noexcept {
  static Context context;
  return context;
}

}  // namespace cuda

using cuda::Context;        ///< \copybrief cuda::Context
using cuda::globalContext;  ///< \copybrief cuda::globalContext

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_CONTEXT_HPP
