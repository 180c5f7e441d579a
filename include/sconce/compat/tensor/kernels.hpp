/// \file
/// How kernels of ATen take tensors and how many threads they have: `TensorInfo`, `IndexToOffset`,
/// `GET_BLOCKS`. Part of `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_TENSOR_KERNELS_HPP
#define SCONCE_COMPAT_TENSOR_KERNELS_HPP

#include <sconce/c/library.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <sconce/compat/core/macros.hpp>
#include <sconce/tensor/base.hpp>
#include <type_traits>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace at {
namespace cuda {
namespace detail {

/// Whether an index of 32 bits reaches every element. Corresponds to the function of that name.
[[nodiscard]] inline bool canUse32BitIndexMath(const TensorBase& tensor,
                                               std::int64_t max_elem = INT32_MAX) {
  const std::int64_t elements = tensor.numel();
  if (elements >= max_elem) {
    return false;
  }
  std::int64_t last = 0;
  for (std::int64_t dim = 0; elements > 0 && dim < tensor.dim(); ++dim) {
    last += (tensor.size(dim) - 1) * tensor.stride(dim);
  }
  return last < max_elem;
}

/// Threads of a block of a kernel with one thread for each element.
constexpr int CUDA_NUM_THREADS = 1024;

/// Blocks of a kernel with one thread for each element. Corresponds to `GET_BLOCKS`.
[[nodiscard]] inline int GET_BLOCKS(std::int64_t elements,
                                    std::int64_t threads = CUDA_NUM_THREADS) {
  TORCH_CHECK(elements > 0, "CUDA kernel launch blocks must be positive, but got N=", elements);
  const std::int64_t blocks = (elements - 1) / threads + 1;
  TORCH_CHECK(blocks <= INT32_MAX, "Can't schedule too many blocks on CUDA device");
  return static_cast<int>(blocks);
}

/// The dimensions that a `TensorInfo` has room for.
constexpr int MAX_TENSORINFO_DIMS = 25;

/// The address, sizes and strides of a tensor, which is passed to a kernel by value. Corresponds to
/// `at::cuda::detail::TensorInfo`.
template <class T, class IndexType>
struct TensorInfo {
  /// No dimensions.
  TensorInfo() : data(nullptr), dims(0) {}
  /// A tensor with `dim` sizes and strides.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for more than 25 dimensions
  TensorInfo(T* p, int dim, const IndexType* sz, const IndexType* st) : data(p), dims(dim) {
    TORCH_CHECK(dim >= 0 && dim <= MAX_TENSORINFO_DIMS,
                "CUDA Tensors cannot have more than 25 dimensions");
    for (int i = 0; i < dim; ++i) {
      sizes[i] = sz[i];
      strides[i] = st[i];
    }
  }

  /// Makes a dimension one of a single element.
  void reduceDim(int dim) {
    TORCH_CHECK(dim >= 0 && dim < dims, "expected dim between 0 and dims - 1");
    sizes[dim] = 1;
  }
  /// Joins dimensions whose elements follow each other, and drops those of one element, so that
  /// indices need fewer divisions. No elements move.
  /// \param excludeDim a dimension that stays as it is; -1 for none
  /// \returns where that dimension is then; -1 for none, and 0 if one dimension of one element is left
  int collapseDims(int excludeDim = -1) {
    TORCH_CHECK(excludeDim >= -1 && excludeDim < dims,
                "expected excluded dim between -1 and dims - 1");
    // From the last dimension to the first: `kept` is how many are kept so far, at the end.
    int kept = 0;
    int excluded = -1;
    bool joinable = false;
    for (int dim = dims - 1; dim >= 0; --dim) {
      const bool is_excluded = dim == excludeDim;
      if (!is_excluded && sizes[dim] == 1) {
        continue;
      }
      const int last = dims - kept;
      if (!is_excluded && joinable && strides[dim] == sizes[last] * strides[last]) {
        sizes[last] = sizes[last] * sizes[dim];
        continue;
      }
      ++kept;
      sizes[dims - kept] = sizes[dim];
      strides[dims - kept] = strides[dim];
      joinable = !is_excluded;
      if (is_excluded) {
        excluded = kept;
      }
    }
    if (kept == 0 || (kept == 1 && sizes[dims - 1] == 1)) {
      dims = 1;
      sizes[0] = 1;
      strides[0] = 1;
      return 0;
    }
    const int first = dims - kept;
    for (int dim = 0; dim < kept; ++dim) {
      sizes[dim] = sizes[first + dim];
      strides[dim] = strides[first + dim];
    }
    dims = kept;
    return excluded < 0 ? -1 : kept - excluded;
  }
  /// Whether the elements follow each other: after `collapseDims` there is one dimension then.
  C10_HOST_DEVICE bool isContiguous() const { return dims == 1 && strides[0] == 1; }

  T* data;                                 ///< the first element
  IndexType sizes[MAX_TENSORINFO_DIMS];    ///< the sizes
  IndexType strides[MAX_TENSORINFO_DIMS];  ///< the strides, in elements
  int dims;                                ///< the number of dimensions
};

/// The offset of an element from the first one by its number in row-major order. Corresponds to
/// `at::cuda::detail::IndexToOffset`.
/// \tparam Dims the number of dimensions, or -1 for the one in the `TensorInfo`
template <class T, class IndexType, int Dims>
struct IndexToOffset {
  /// The offset, in elements.
  static C10_HOST_DEVICE IndexType get(IndexType linearId, const TensorInfo<T, IndexType>& info) {
    IndexType offset = 0;
    const int dims = Dims == -1 ? info.dims : Dims;
    for (int dim = dims - 1; dim > 0; --dim) {
      offset += linearId % info.sizes[dim] * info.strides[dim];
      linearId /= info.sizes[dim];
    }
    return dims == 0 ? 0 : offset + linearId * info.strides[0];
  }
};

/// The `TensorInfo` of a tensor. Corresponds to `at::cuda::detail::getTensorInfo`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for more than 25 dimensions, or elements of another
///         type
template <class T, class IndexType>
[[nodiscard]] TensorInfo<T, IndexType> getTensorInfo(const TensorBase& tensor) {
  IndexType sizes[MAX_TENSORINFO_DIMS] = {};
  IndexType strides[MAX_TENSORINFO_DIMS] = {};
  const std::int64_t dims = tensor.dim();
  TORCH_CHECK(dims <= MAX_TENSORINFO_DIMS, "CUDA Tensors cannot have more than 25 dimensions");
  for (std::int64_t dim = 0; dim < dims; ++dim) {
    sizes[dim] = static_cast<IndexType>(tensor.size(dim));
    strides[dim] = static_cast<IndexType>(tensor.stride(dim));
  }
  // An address of constant elements is that of elements.
  T* data = tensor.template data_ptr<std::remove_const_t<T>>();
  return TensorInfo<T, IndexType>(data, static_cast<int>(dims), sizes, strides);
}

}  // namespace detail
}  // namespace cuda
}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_TENSOR_KERNELS_HPP
