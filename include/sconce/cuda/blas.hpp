/// \file
/// Matrix products, and handles of cuBLAS.
#ifndef SCONCE_CUDA_BLAS_HPP
#define SCONCE_CUDA_BLAS_HPP

#include <sconce/c/blas.h>

#include <cstdint>
#include <optional>
#include <sconce/cuda/stream.hpp>
#include <sconce/detail/operand.hpp>

/// The target of a `cublasHandle_t`; declared so that no header of cuBLAS is needed.
struct cublasContext;

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Returns this thread's cuBLAS handle for the current device, a `cublasHandle_t`, set to the
/// current stream and the current settings. Call it again after the device, the stream or a setting
/// has changed. Only this library can use the simulator's handle.
///
/// Corresponds to `at::cuda::getCurrentCUDABlasHandle`.
/// \throws Error `SCONCE_ERROR_LIBRARY_NOT_FOUND` if there is no cuBLAS
[[nodiscard]] inline cublasContext* getCurrentCUDABlasHandle() {
  void* handle = nullptr;
  detail::check(::sconce_blas_get_handle(&handle));
  return static_cast<cublasContext*>(handle);
}

/// Frees the cuBLAS workspaces: their memory returns to the allocator's cache. Graphs that
/// other code captured without a private memory pool must not be launched afterwards. What a
/// `CUDAGraph` uses stays.
///
/// Corresponds to `torch._C._cuda_clearCublasWorkspaces`.
inline void clearCublasWorkspaces() { detail::check(::sconce_blas_clear_workspaces()); }

/// Returns the statistics of a device's cuBLAS workspaces (-1: the current device).
[[nodiscard]] inline ::sconce_blas_workspace_stats cublas_workspace_stats(DeviceIndex device = -1) {
  ::sconce_blas_workspace_stats stats{};
  stats.struct_size = static_cast<std::uint32_t>(sizeof stats);
  detail::check(::sconce_blas_get_workspace_stats(device, &stats));
  return stats;
}

/// Limits the total size of the cuBLAS workspaces of a device; `INT64_MAX` means no limit. A handle
/// whose workspace would exceed the limit has none.
inline void set_cublas_workspace_max_bytes(std::int64_t max_bytes, DeviceIndex device = -1) {
  detail::check(::sconce_blas_set_workspace_max_bytes(device, max_bytes));
}

/// A product of matrices: `c = alpha * op(a) @ op(b) + beta * c`, row-major as in torch. Fields
/// have the usual defaults: `Matmul{m, n, k}` is one product of packed matrices. For a linear
/// layer's `x @ w.T`, pass `w` as it is stored and set `transpose_b`.
///
/// Strides count elements: from matrix to matrix, from row to row, from column to column, as the
/// matrix is stored. Without them (or with three zeros) the matrices of a batch are packed. The
/// heads of queries in a packed `[sequence][3][heads][size]` have the strides `{size, 3 * heads *
/// size, 1}`.
/// `{size, 3 * heads * size, 1}`.
struct Matmul {
  std::int64_t m = 0;        ///< rows of `op(a)` and of `c`
  std::int64_t n = 0;        ///< columns of `op(b)` and of `c`
  std::int64_t k = 0;        ///< columns of `op(a)`, rows of `op(b)`
  std::int64_t batch = 1;    ///< number of products
  double alpha = 1;          ///< factor of the product
  double beta = 0;           ///< factor of `c` before the product is added
  bool transpose_a = false;  ///< whether `a` is stored as `k` rows of `m`
  bool transpose_b = false;  ///< whether `b` is stored as `n` rows of `k`
  DimVector a_strides = {};  ///< strides of `a`; 0 repeats
  DimVector b_strides = {};  ///< strides of `b`; 0 repeats
  DimVector c_strides = {};  ///< strides of `c`, whose elements do not overlap

  /// The C API's description.
  /// \throws Error unless there are three strides, or none
  [[nodiscard]] sconce_matmul_desc desc(ScalarType type) const {
    sconce_matmul_desc desc{};
    desc.struct_size = static_cast<std::uint32_t>(sizeof(desc));
    desc.dtype = static_cast<std::int32_t>(type);
    desc.m = m;
    desc.n = n;
    desc.k = k;
    desc.batch = batch;
    desc.alpha = alpha;
    desc.beta = beta;
    desc.transpose_a = transpose_a;
    desc.transpose_b = transpose_b;
    detail::store(a_strides, 3, "a_strides", desc.a_strides);
    detail::store(b_strides, 3, "b_strides", desc.b_strides);
    detail::store(c_strides, 3, "c_strides", desc.c_strides);
    return desc;
  }
};

/// Multiplies matrices of a type that is known at run time: `Half`, `BFloat16`, `Float`, `Double`,
/// `ComplexFloat`, `ComplexDouble`. Each argument is an address, such as `buffer.get()`. Runs on
/// `stream`, else on the current stream of their device; does not block.
///
/// `Float` and `ComplexFloat` may be rounded to TF32, as in torch before 1.12:
/// `Context::setAllowTF32CuBLAS`.
///
/// Corresponds to `at::cuda::blas::gemm` and `bgemm`.
inline void matmul(const Matmul& what, ScalarType type, const void* a, const void* b, void* c,
                   const OptionalStream& stream = std::nullopt) {
  const sconce_matmul_desc desc = what.desc(type);
  detail::call_on(stream, ::sconce_matmul, ::sconce_matmul_on, &desc, a, b, c);
}

/// Multiplies matrices of `Half`, `BFloat16`, `float`, `double`, `std::complex<float>` or
/// `std::complex<double>`, or of a type that `CppTypeToScalarType` maps to one of these, such as
/// `__half`. Each argument is a pointer, or a `DeviceSpan` (`buffer.span<float>()`), which must
/// have every element that `what` reaches.
///
/// Matrices of different types do not compile, nor does a const `c`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for a `DeviceSpan` that is too small
template <class A, class B, class C>
void matmul(const Matmul& what, const A& a, const B& b, const C& c,
            const OptionalStream& stream = std::nullopt) {
  constexpr ScalarType type = detail::common_product_type<A, B, C>();
  const auto left = detail::operand_of(a);
  const auto right = detail::operand_of(b);
  const auto product = detail::operand_of(c);
  const DimVector a_sizes = what.transpose_a ? DimVector{what.batch, what.k, what.m}
                                             : DimVector{what.batch, what.m, what.k};
  const DimVector b_sizes = what.transpose_b ? DimVector{what.batch, what.n, what.k}
                                             : DimVector{what.batch, what.k, what.n};
  detail::check_size(left, "a", detail::extent_of(a_sizes, what.a_strides));
  detail::check_size(right, "b", detail::extent_of(b_sizes, what.b_strides));
  detail::check_size(product, "c", detail::extent_of({what.batch, what.m, what.n}, what.c_strides));
  matmul(what, type, left.data, right.data, product.data, stream);
}

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_BLAS_HPP
