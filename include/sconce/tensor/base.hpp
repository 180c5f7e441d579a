/// \file
/// What a tensor is: its owner, its type, its shape and its memory. `<sconce/tensor/tensor.hpp>`
/// includes all headers of tensors.
#ifndef SCONCE_TENSOR_BASE_HPP
#define SCONCE_TENSOR_BASE_HPP

#include <sconce/c/device.h>
#include <sconce/c/dtype.h>
#include <sconce/c/library.h>
#include <sconce/c/tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sconce/cuda/stream.hpp>
#include <sconce/detail/operand.hpp>
#include <sconce/tensor/accessor.hpp>
#include <sconce/tensor/int_array_ref.hpp>
#include <sconce/tensor/options.hpp>
#include <sconce/tensor/scalar.hpp>
#include <string>
#include <type_traits>
#include <utility>

namespace sconce {
inline namespace v0 {
namespace detail {

[[noreturn]] inline void throw_other_type(ScalarType expected, ScalarType found) {
  throw Error(SCONCE_ERROR_INVALID_ARGUMENT, std::string("expected scalar type ") +
                                                 cuda::toString(expected) + " but found " +
                                                 cuda::toString(found));
}

[[noreturn]] inline void throw_other_rank(std::size_t sizes, std::size_t strides) {
  throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
              "mismatch in length of strides and shape: " + std::to_string(sizes) + " sizes, but " +
                  std::to_string(strides) + " strides");
}

[[noreturn]] inline void throw_no_such_dim(std::int64_t dim, std::size_t rank) {
  const auto most = static_cast<std::int64_t>(rank == 0 ? 1 : rank);
  throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
              "Dimension out of range (expected to be in range of [" + std::to_string(-most) +
                  ", " + std::to_string(most - 1) + "], but got " + std::to_string(dim) + ")");
}

/// The memory format that strides imply: channels last if the channels vary fastest and the images
/// slowest, else contiguous.
inline cuda::MemoryFormat suggested_format(IntArrayRef sizes, IntArrayRef strides) {
  const std::size_t rank = sizes.size();
  if ((rank != 4 && rank != 5) || strides[1] == 0) {
    return cuda::MemoryFormat::Contiguous;
  }
  std::int64_t least = 0;
  const auto follows = [&](std::size_t dim) {
    // Of images of one channel and one pixel both orders have the same strides.
    const bool clear = dim != 0 || least != strides[1];
    const bool fits = sizes[dim] != 0 && strides[dim] >= least && clear;
    least = strides[dim] * std::max<std::int64_t>(sizes[dim], 1);
    return fits;
  };
  bool last = follows(1);
  for (std::size_t dim = rank - 1; dim >= 2; --dim) {
    last = last && follows(dim);
  }
  last = last && follows(0);
  if (!last) {
    return cuda::MemoryFormat::Contiguous;
  }
  return rank == 4 ? cuda::MemoryFormat::ChannelsLast : cuda::MemoryFormat::ChannelsLast3d;
}

/// Whether some order of the dimensions makes each stride the product of the sizes before it.
inline bool is_dense(IntArrayRef sizes, IntArrayRef strides) {
  std::int64_t next = 1;
  std::size_t left = 0;
  for (const std::int64_t size : sizes) {
    if (size == 0) {
      return true;
    }
    left += size != 1;
  }
  while (left > 0) {
    std::int64_t grown = 0;
    for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
      if (sizes[dim] != 1 && strides[dim] == next) {
        grown = next * sizes[dim];
      }
    }
    if (grown == 0) {
      return false;
    }
    next = grown;
    --left;
  }
  return true;
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {

/// Owns a tensor, and describes it. Copies are further owners of the same tensor. The last owner
/// releases the tensor, and the last tensor of a memory frees that memory. The default is the
/// undefined tensor. Corresponds to `at::TensorBase`.
///
/// Threads: several threads may use one tensor at the same time; assigning to an object, or moving
/// from it, needs exclusive access, as for a `std::shared_ptr`.
class TensorBase {
 public:
  /// The undefined tensor.
  constexpr TensorBase() noexcept = default;
  /// Becomes another owner of the tensor of `other`.
  TensorBase(const TensorBase& other) : tensor_(other.tensor_) {
    if (tensor_ != nullptr) {
      detail::check(::sconce_tensor_retain(tensor_));
    }
  }
  /// Takes the tensor of `other`, which is undefined then.
  TensorBase(TensorBase&& other) noexcept : tensor_(std::exchange(other.tensor_, nullptr)) {}
  /// Releases its tensor, and becomes another owner of that of `other`.
  TensorBase& operator=(const TensorBase& other) {
    TensorBase(other).swap(*this);
    return *this;
  }
  /// Releases its tensor, and takes that of `other`.
  TensorBase& operator=(TensorBase&& other) noexcept {
    TensorBase(std::move(other)).swap(*this);
    return *this;
  }
  ~TensorBase() { reset(); }

  /// The C API's handle, null for an undefined tensor. This object keeps its ownership.
  [[nodiscard]] sconce_tensor* get() const noexcept { return tensor_; }
  /// Returns the C API's handle, which the caller must release; this object is undefined
  /// afterwards.
  [[nodiscard]] sconce_tensor* release() noexcept { return std::exchange(tensor_, nullptr); }
  /// Releases its tensor; this object is undefined afterwards.
  void reset() noexcept {
    if (tensor_ != nullptr) {
      detail::log_failure(::sconce_tensor_release(std::exchange(tensor_, nullptr)),
                          "releasing a Tensor");
    }
  }
  /// Exchanges the tensors of two objects.
  void swap(TensorBase& other) noexcept { std::swap(tensor_, other.tensor_); }

  /// Whether there is a tensor, rather than the undefined one.
  [[nodiscard]] bool defined() const {
    bool defined = false;
    if (tensor_ != nullptr) {
      detail::check(::sconce_tensor_is_defined(tensor_, &defined));
    }
    return defined;
  }
  /// Whether both are the same tensor, rather than equal ones.
  [[nodiscard]] bool is_same(const TensorBase& other) const noexcept {
    return tensor_ == other.tensor_;
  }
  /// Whether both are parts of the same memory, even if the parts do not overlap.
  [[nodiscard]] bool is_alias_of(const TensorBase& other) const {
    bool shares = false;
    detail::check(::sconce_tensor_shares_storage(tensor_, other.tensor_, &shares));
    return shares;
  }

  /// The number of dimensions.
  [[nodiscard]] std::int64_t dim() const { return static_cast<std::int64_t>(rank()); }
  /// Another name of `dim`.
  [[nodiscard]] std::int64_t ndimension() const { return dim(); }
  /// The size of each dimension: a view of the tensor's own numbers. It is valid until the tensor
  /// is destroyed or resized, or another tensor is assigned to it.
  [[nodiscard]] IntArrayRef sizes() const& SCONCE_LIFETIMEBOUND {
    const std::int64_t* numbers = nullptr;
    detail::check(::sconce_tensor_borrow_sizes(tensor_, &numbers));
    return {numbers, rank()};
  }
  /// The size of each dimension of a temporary tensor: a copy, because the tensor is destroyed at
  /// the end of the expression. `auto sizes = x.t().sizes();` stays valid; an `IntArrayRef` of it
  /// does not.
  [[nodiscard]] IntArray sizes() const&& {
    const TensorBase& self = *this;
    return IntArray(self.sizes());
  }
  /// Elements from one index of each dimension to the next: a view, as `sizes`.
  [[nodiscard]] IntArrayRef strides() const& SCONCE_LIFETIMEBOUND {
    const std::int64_t* numbers = nullptr;
    detail::check(::sconce_tensor_borrow_strides(tensor_, &numbers));
    return {numbers, rank()};
  }
  /// The strides of a temporary tensor: a copy, as `sizes`.
  [[nodiscard]] IntArray strides() const&& {
    const TensorBase& self = *this;
    return IntArray(self.strides());
  }
  /// The size of a dimension; a negative one counts from the end.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if there is no such dimension
  [[nodiscard]] std::int64_t size(std::int64_t dim) const { return at(sizes(), dim); }
  /// The stride of a dimension; a negative one counts from the end.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if there is no such dimension
  [[nodiscard]] std::int64_t stride(std::int64_t dim) const { return at(strides(), dim); }
  /// The number of elements from the beginning of the memory to the first element of the tensor.
  [[nodiscard]] std::int64_t storage_offset() const {
    std::int64_t offset = 0;
    detail::check(::sconce_tensor_get_storage_offset(tensor_, &offset));
    return offset;
  }
  /// The number of elements.
  [[nodiscard]] std::int64_t numel() const {
    std::int64_t numel = 0;
    detail::check(::sconce_tensor_get_numel(tensor_, &numel));
    return numel;
  }
  /// The bytes of an element.
  [[nodiscard]] std::int64_t element_size() const {
    return static_cast<std::int64_t>(cuda::elementSize(dtype()));
  }
  /// Another name of `element_size`.
  [[nodiscard]] std::int64_t itemsize() const { return element_size(); }
  /// The bytes of all elements.
  [[nodiscard]] std::int64_t nbytes() const { return numel() * element_size(); }

  /// The type of the elements.
  [[nodiscard]] ScalarType dtype() const {
    std::int32_t dtype = SCONCE_DTYPE_DEFAULT;
    detail::check(::sconce_tensor_get_dtype(tensor_, &dtype));
    return static_cast<ScalarType>(dtype);
  }
  /// Another name of `dtype`.
  [[nodiscard]] ScalarType scalar_type() const { return dtype(); }
  /// Whether the elements are real numbers with fractions.
  [[nodiscard]] bool is_floating_point() const { return cuda::isFloatingType(dtype()); }
  /// Whether the elements are complex numbers.
  [[nodiscard]] bool is_complex() const { return cuda::isComplexType(dtype()); }
  /// Where the memory is.
  [[nodiscard]] Device device() const { return detail::device_of(device_number()); }
  /// The index of its device; -1 for the CPU.
  [[nodiscard]] DeviceIndex get_device() const { return device().index(); }
  /// Whether the memory is a CUDA device's.
  [[nodiscard]] bool is_cuda() const { return device_number() != SCONCE_DEVICE_CPU; }
  /// Whether the memory is the host's, pinned or not.
  [[nodiscard]] bool is_cpu() const { return !is_cuda(); }
  /// Type and device, as options of new tensors.
  [[nodiscard]] TensorOptions options() const { return TensorOptions(dtype()).device(device()); }

  /// Whether the elements are contiguous in memory, in a given order of the dimensions.
  [[nodiscard]] bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    bool contiguous = false;
    detail::check(::sconce_tensor_is_contiguous(tensor_, detail::number_of(format), &contiguous));
    return contiguous;
  }
  /// The memory format that a result of this tensor's shape should have: channels last if the
  /// strides of four or five dimensions imply it. Corresponds to
  /// `at::Tensor::suggest_memory_format`.
  [[nodiscard]] MemoryFormat suggest_memory_format() const {
    const TensorBase& self = *this;
    return detail::suggested_format(self.sizes(), self.strides());
  }
  /// How the elements are stored.
  [[nodiscard]] Layout layout() const noexcept { return Layout::Strided; }
  /// False: all tensors are strided.
  [[nodiscard]] bool is_sparse() const noexcept { return false; }
  /// False: every tensor has memory, also one without elements.
  [[nodiscard]] bool is_meta() const noexcept { return false; }
  /// False: elements are numbers of C++.
  [[nodiscard]] bool is_quantized() const noexcept { return false; }
  /// False: tensors are the CPU's or a CUDA device's.
  [[nodiscard]] bool is_privateuseone() const noexcept { return false; }
  /// Whether the elements fill a part of the memory without a gap, each once, in any order of the
  /// dimensions.
  [[nodiscard]] bool is_non_overlapping_and_dense() const {
    const TensorBase& self = *this;
    return detail::is_dense(self.sizes(), self.strides());
  }
  /// False: there are no gradients.
  [[nodiscard]] bool requires_grad() const noexcept { return false; }
  /// Whether the memory is page-locked memory of the host.
  [[nodiscard]] bool is_pinned() const {
    bool pinned = false;
    detail::check(::sconce_tensor_is_pinned(tensor_, &pinned));
    return pinned;
  }

  /// The address of the first element, of a device or of the host.
  [[nodiscard]] void* data_ptr() const {
    void* address = nullptr;
    detail::check(::sconce_tensor_get_data(tensor_, &address));
    return address;
  }
  /// `data_ptr`, under ATen's name for memory that is written.
  [[nodiscard]] void* mutable_data_ptr() const { return data_ptr(); }
  /// `data_ptr`, under ATen's name for memory that is only read.
  [[nodiscard]] const void* const_data_ptr() const { return data_ptr(); }
  /// `data_ptr`, under ATen's name for memory that is written.
  template <class T>
  [[nodiscard]] T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  /// `data_ptr`, under ATen's name for memory that is only read.
  template <class T>
  [[nodiscard]] const T* const_data_ptr() const {
    return data_ptr<std::remove_const_t<T>>();
  }
  /// `data_ptr`, under ATen's older name.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if the elements are of another type
  template <class T>
  [[nodiscard]] T* data() const {
    return data_ptr<T>();
  }
  /// The address of the first element.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if the elements are of another type
  template <class T>
  [[nodiscard]] T* data_ptr() const {
    constexpr std::optional<ScalarType> expected = detail::scalar_type_v<std::remove_const_t<T>>;
    static_assert(expected.has_value(),
                  "the type has no ScalarType; for one that is, specialise CppTypeToScalarType");
    if (const ScalarType found = dtype(); found != *expected) {
      detail::throw_other_type(*expected, found);
    }
    return static_cast<T*>(data_ptr());
  }

  /// Elements of a tensor of the CPU by their indices: `a[i][j]`.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if the elements are of another type or on a
  ///         device, or there are not `N` dimensions
  template <class T, std::size_t N>
  [[nodiscard]] TensorAccessor<T, N> accessor() const& SCONCE_LIFETIMEBOUND {
    if (!is_cpu()) {
      detail::throw_not_on_host(device().str());
    }
    check_dims<N>();
    return {data_ptr<T>(), sizes().data(), strides().data()};
  }
  template <class T, std::size_t N>
  TensorAccessor<T, N> accessor() const&& = delete;  // the tensor would be gone
  /// Elements by their indices, for a kernel that takes them by value.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if the elements are of another type, or there are
  ///         not `N` dimensions
  template <class T, std::size_t N, template <class> class PtrTraits = DefaultPtrTraits,
            class Index = std::int64_t>
  [[nodiscard]] GenericPackedTensorAccessor<T, N, PtrTraits, Index> packed_accessor() const {
    check_dims<N>();
    const TensorBase& self = *this;
    return {data_ptr<T>(), self.sizes().data(), self.strides().data()};
  }
  /// `packed_accessor` with indices of 32 bits.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` also if a size or a stride is larger
  template <class T, std::size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  [[nodiscard]] PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() const {
    return packed_accessor<T, N, PtrTraits, std::int32_t>();
  }
  /// `packed_accessor` with indices of 64 bits.
  template <class T, std::size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  [[nodiscard]] PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() const {
    return packed_accessor<T, N, PtrTraits, std::int64_t>();
  }

  /// Notes that a stream uses the memory. After its release, the memory is not reused before the
  /// work that is queued on that stream at that time has finished.
  void record_stream(const cuda::CUDAStream& stream) const {
    detail::check(::sconce_tensor_record_stream(tensor_, stream.get()));
  }

 protected:
  /// Takes ownership of a handle.
  explicit constexpr TensorBase(sconce_tensor* tensor) noexcept : tensor_(tensor) {}

 private:
  template <std::size_t N>
  void check_dims() const {
    if (rank() != N) {
      detail::throw_other_dims(N, dim());
    }
  }
  [[nodiscard]] std::size_t rank() const {
    std::size_t rank = 0;
    detail::check(::sconce_tensor_get_rank(tensor_, &rank));
    return rank;
  }
  [[nodiscard]] std::int32_t device_number() const {
    std::int32_t device = -1;
    detail::check(::sconce_tensor_get_device(tensor_, &device));
    return device;
  }
  static std::int64_t at(IntArrayRef numbers, std::int64_t dim) {
    const auto rank = static_cast<std::int64_t>(numbers.size());
    if (dim < -rank || dim >= rank) {
      detail::throw_no_such_dim(dim, numbers.size());
    }
    return numbers[static_cast<std::size_t>(dim < 0 ? dim + rank : dim)];
  }

  sconce_tensor* tensor_ = nullptr;
};

/// A tensor or a number, where an operation takes either. It is valid during the call.
class TensorOrScalar {
 public:
  /// A tensor.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if it is undefined
  TensorOrScalar(const TensorBase& tensor) : tensor_(tensor.get()) {  // NOLINT: stands for both
    if (tensor_ == nullptr) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  "an operand is an undefined tensor; pass one that has memory");
    }
  }
  /// A number.
  TensorOrScalar(const Scalar& number) : number_(number) {}  // NOLINT: stands for both
  /// A number.
  template <class Number, std::enable_if_t<std::is_constructible_v<Scalar, Number> &&
                                               !std::is_convertible_v<Number, const TensorBase&> &&
                                               !std::is_same_v<Number, Scalar>,
                                           int> = 0>
  TensorOrScalar(Number number) : number_(number) {}  // NOLINT: stands for both

  /// The handle of the tensor; null for a number.
  [[nodiscard]] sconce_tensor* tensor() const noexcept { return tensor_; }
  /// The number; null for a tensor.
  [[nodiscard]] const sconce_scalar* number() const noexcept {
    return tensor_ == nullptr ? number_.get() : nullptr;
  }

 private:
  sconce_tensor* tensor_ = nullptr;
  Scalar number_;
};

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_BASE_HPP
