/// \file
/// Handles of cuSPARSE and cuSOLVER, and products by cuBLAS's names, for code written for ATen.
/// Part of `<sconce/compat/torch.hpp>`; each is there if the toolkit's header is. Programs that
/// use them link the library of the toolkit.
#ifndef SCONCE_COMPAT_CUDA_HANDLES_HPP
#define SCONCE_COMPAT_CUDA_HANDLES_HPP

#include <cstdint>
#include <map>
#include <sconce/compat/c10.hpp>
#include <sconce/compat/core/marks.hpp>

/// \cond
#if !defined(SCONCE_C10_COMPAT_NO_CUDA_RUNTIME) && __has_include(<cuda_runtime_api.h>)
#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#define SCONCE_COMPAT_CUBLAS
#endif
#if __has_include(<cusparse.h>)
#include <cusparse.h>
#define SCONCE_COMPAT_CUSPARSE
#endif
#if __has_include(<cusolverDn.h>)
#include <cusolverDn.h>
#define SCONCE_COMPAT_CUSOLVER
#endif
#endif

namespace sconce {
inline namespace v0 {
namespace compat {
namespace at {
namespace cuda {
namespace detail {

/// A thread's handles of a library, one for each device. They are not destroyed: at the end of a
/// thread the library may be closed already.
template <class Handle, class Make>
Handle handle_of_thread(Make&& make) {
  static thread_local std::map<DeviceIndex, Handle> handles;
  const DeviceIndex device = ::sconce::cuda::current_device();
  const auto found = handles.find(device);
  return found != handles.end() ? found->second : handles.emplace(device, make()).first->second;
}

}  // namespace detail

#ifdef SCONCE_COMPAT_CUSPARSE
/// This thread's cuSPARSE handle of the current device, for its current stream.
[[nodiscard]] inline cusparseHandle_t getCurrentCUDASparseHandle() {
  const auto handle = detail::handle_of_thread<cusparseHandle_t>([] {
    cusparseHandle_t made = nullptr;
    TORCH_CUSPARSE_CHECK(cusparseCreate(&made));
    return made;
  });
  TORCH_CUSPARSE_CHECK(cusparseSetStream(handle, getCurrentCUDAStream().stream()));
  return handle;
}
#endif
#ifdef SCONCE_COMPAT_CUSOLVER
/// This thread's cuSOLVER handle of the current device, for its current stream.
[[nodiscard]] inline cusolverDnHandle_t getCurrentCUDASolverDnHandle() {
  const auto handle = detail::handle_of_thread<cusolverDnHandle_t>([] {
    cusolverDnHandle_t made = nullptr;
    TORCH_CUSOLVER_CHECK(cusolverDnCreate(&made));
    return made;
  });
  TORCH_CUSOLVER_CHECK(cusolverDnSetStream(handle, getCurrentCUDAStream().stream()));
  return handle;
}
#endif

#ifdef SCONCE_COMPAT_CUBLAS
namespace blas {

/// The operation that a letter of BLAS names.
[[nodiscard]] inline cublasOperation_t operation_of(char letter) {
  switch (letter) {
    case 'n':
    case 'N':
      return CUBLAS_OP_N;
    case 't':
    case 'T':
      return CUBLAS_OP_T;
    case 'c':
    case 'C':
      return CUBLAS_OP_C;
    default:
      TORCH_CHECK(false, "trans must be one of: N, T, C, but got ", letter);
  }
  return CUBLAS_OP_N;
}

template <class T>
struct TypeOf;
template <>
struct TypeOf<float> {
  static constexpr cudaDataType_t type = CUDA_R_32F;
  static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  using Scale = float;
};
template <>
struct TypeOf<double> {
  static constexpr cudaDataType_t type = CUDA_R_64F;
  static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_64F;
  using Scale = double;
};
template <>
struct TypeOf<c10::Half> {
  static constexpr cudaDataType_t type = CUDA_R_16F;
  static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  using Scale = float;
};
template <>
struct TypeOf<c10::BFloat16> {
  static constexpr cudaDataType_t type = CUDA_R_16BF;
  static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  using Scale = float;
};

/// `c = alpha a b + beta c` in columns, on the current stream; adds up in `float` or `double`.
/// Corresponds to `at::cuda::blas::gemm`.
template <class T>
void gemm(char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k,
          typename TypeOf<T>::Scale alpha, const T* a, std::int64_t lda, const T* b,
          std::int64_t ldb, typename TypeOf<T>::Scale beta, T* c, std::int64_t ldc) {
  TORCH_CUDABLAS_CHECK(cublasGemmEx(
      getCurrentCUDABlasHandle(), operation_of(transa), operation_of(transb), static_cast<int>(m),
      static_cast<int>(n), static_cast<int>(k), &alpha, a, TypeOf<T>::type, static_cast<int>(lda),
      b, TypeOf<T>::type, static_cast<int>(ldb), &beta, c, TypeOf<T>::type, static_cast<int>(ldc),
      TypeOf<T>::compute, CUBLAS_GEMM_DEFAULT));
}
/// `count` such products, of matrices that lie `stride…` elements apart. Corresponds to
/// `at::cuda::blas::bgemm`.
template <class T>
void bgemm(char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k,
           typename TypeOf<T>::Scale alpha, const T* a, std::int64_t lda, std::int64_t stridea,
           const T* b, std::int64_t ldb, std::int64_t strideb, typename TypeOf<T>::Scale beta, T* c,
           std::int64_t ldc, std::int64_t stridec, std::int64_t count) {
  TORCH_CUDABLAS_CHECK(cublasGemmStridedBatchedEx(
      getCurrentCUDABlasHandle(), operation_of(transa), operation_of(transb), static_cast<int>(m),
      static_cast<int>(n), static_cast<int>(k), &alpha, a, TypeOf<T>::type, static_cast<int>(lda),
      stridea, b, TypeOf<T>::type, static_cast<int>(ldb), strideb, &beta, c, TypeOf<T>::type,
      static_cast<int>(ldc), stridec, static_cast<int>(count), TypeOf<T>::compute,
      CUBLAS_GEMM_DEFAULT));
}

}  // namespace blas
#endif

}  // namespace cuda
}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce
/// \endcond

#endif  // SCONCE_COMPAT_CUDA_HANDLES_HPP
