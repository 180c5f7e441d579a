/// \file
/// Views of a tensor's elements by their indices, for loops on the host and for kernels.
#ifndef SCONCE_TENSOR_ACCESSOR_HPP
#define SCONCE_TENSOR_ACCESSOR_HPP

#include <sconce/c/library.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <sconce/cuda/error.hpp>
#include <sconce/tensor/int_array_ref.hpp>
#include <string>

/// \cond
#ifdef __CUDACC__
#define SCONCE_HOST_DEVICE __host__ __device__
#else
#define SCONCE_HOST_DEVICE
#endif
/// \endcond

namespace sconce {
inline namespace v0 {

/// The plain pointer of an accessor. Corresponds to `at::DefaultPtrTraits`.
template <class T>
struct DefaultPtrTraits {
  typedef T* PtrType;  ///< the pointer
};
/// The pointer of an accessor; its elements are accessed only through it. Corresponds to
/// `at::RestrictPtrTraits`.
template <class T>
struct RestrictPtrTraits {
  typedef T* __restrict PtrType;  ///< the pointer
};

/// Elements of a tensor of `N` dimensions by their indices: `a[i][j]`. Owns nothing; the tensor
/// must outlive it, and keep its sizes. Indices are not checked. Corresponds to
/// `at::TensorAccessor`.
template <class T, std::size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class Index = std::int64_t>
class TensorAccessor {
  static_assert(N > 0, "a tensor without dimensions has no indices: use data_ptr() or item()");

 public:
  /// The pointer to elements.
  typedef typename PtrTraits<T>::PtrType PtrType;

  /// Elements at an address, with the given sizes and strides.
  SCONCE_HOST_DEVICE constexpr TensorAccessor(PtrType data, const Index* sizes,
                                              const Index* strides) noexcept
      : data_(data), sizes_(sizes), strides_(strides) {}

  /// The element of a vector, or the part at an index of the first dimension.
  SCONCE_HOST_DEVICE constexpr decltype(auto) operator[](Index index) const noexcept {
    if constexpr (N == 1) {
      return (data_[strides_[0] * index]);
    } else {
      return TensorAccessor<T, N - 1, PtrTraits, Index>(data_ + strides_[0] * index, sizes_ + 1,
                                                        strides_ + 1);
    }
  }
  /// The size of a dimension.
  SCONCE_HOST_DEVICE constexpr Index size(Index dim) const noexcept { return sizes_[dim]; }
  /// The stride of a dimension.
  SCONCE_HOST_DEVICE constexpr Index stride(Index dim) const noexcept { return strides_[dim]; }
  /// The first element.
  SCONCE_HOST_DEVICE constexpr PtrType data() const noexcept { return data_; }

 private:
  PtrType data_;
  const Index* sizes_;
  const Index* strides_;
};

/// A `TensorAccessor` with sizes and strides of its own, which is passed to a kernel by value.
/// Corresponds to `at::GenericPackedTensorAccessor`.
template <class T, std::size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class Index = std::int64_t>
class GenericPackedTensorAccessor {
  static_assert(N > 0, "a tensor without dimensions has no indices: pass data_ptr()");

 public:
  /// The pointer to elements.
  typedef typename PtrTraits<T>::PtrType PtrType;

  /// Elements from `data` on, with `N` sizes and `N` strides.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if a number does not fit the type of indices
  GenericPackedTensorAccessor(PtrType data, const std::int64_t* sizes, const std::int64_t* strides)
      : data_(data) {
    for (std::size_t dim = 0; dim < N; ++dim) {
      sizes_[dim] = fitting(sizes[dim]);
      strides_[dim] = fitting(strides[dim]);
    }
  }

  /// The element of a vector, or the part at an index of the first dimension.
  SCONCE_HOST_DEVICE constexpr decltype(auto) operator[](Index index) const noexcept {
    return TensorAccessor<T, N, PtrTraits, Index>(data_, sizes_, strides_)[index];
  }
  /// The size of a dimension.
  SCONCE_HOST_DEVICE constexpr Index size(Index dim) const noexcept { return sizes_[dim]; }
  /// The stride of a dimension.
  SCONCE_HOST_DEVICE constexpr Index stride(Index dim) const noexcept { return strides_[dim]; }
  /// The first element.
  SCONCE_HOST_DEVICE constexpr PtrType data() const noexcept { return data_; }

 private:
  static Index fitting(std::int64_t number) {
    if (static_cast<std::uint64_t>(number) >
        static_cast<std::uint64_t>(std::numeric_limits<Index>::max())) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  std::to_string(number) +
                      " is too large for an accessor of 32-bit indices; use packed_accessor64");
    }
    return static_cast<Index>(number);
  }

  PtrType data_;
  Index sizes_[N];
  Index strides_[N];
};

/// A packed accessor with indices of 32 bits. Corresponds to `at::PackedTensorAccessor32`.
template <class T, std::size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, std::int32_t>;
/// A packed accessor with indices of 64 bits. Corresponds to `at::PackedTensorAccessor64`.
template <class T, std::size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, std::int64_t>;

namespace detail {

[[noreturn]] inline void throw_other_dims(std::size_t expected, std::int64_t found) {
  throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "TensorAccessor expected " + std::to_string(expected) +
                                                 " dims but tensor has " + std::to_string(found));
}

[[noreturn]] inline void throw_not_on_host(const std::string& device) {
  throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
              "the host cannot access elements of " + device +
                  "; copy the tensor with cpu(), or pass packed_accessor64() to a kernel");
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_ACCESSOR_HPP
