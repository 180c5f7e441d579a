/// \file
/// Names of ATen around tensors: lists of them, arguments that are checked together, guards of
/// modes that do not exist here, loops on the host. For code written for ATen; part of
/// `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_TENSOR_ARGUMENTS_HPP
#define SCONCE_COMPAT_TENSOR_ARGUMENTS_HPP

#include <sconce/c/library.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <sconce/compat/core/macros.hpp>
#include <sconce/tensor/base.hpp>
#include <sconce/tensor/class.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace c10 {

/// \cond
// A view of elements of any type but int64_t.
template <class T>
class AnyArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;

  constexpr AnyArrayRef() noexcept = default;
  constexpr AnyArrayRef(const T& one) noexcept : data_(&one), size_(1) {}  // NOLINT: as c10's
  constexpr AnyArrayRef(const T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  AnyArrayRef(const std::vector<T>& values) noexcept  // NOLINT: as c10's
      : data_(values.data()), size_(values.size()) {}
  template <std::size_t N>
  constexpr AnyArrayRef(const std::array<T, N>& values) noexcept  // NOLINT: as c10's
      : data_(values.data()), size_(N) {}
  template <std::size_t N>
  constexpr AnyArrayRef(const T (&values)[N]) noexcept : data_(values), size_(N) {}  // NOLINT
  constexpr AnyArrayRef(const std::initializer_list<T>& values) noexcept  // NOLINT: as c10's
      : size_(values.size()) {
    // Not in the list of initialisers: GCC warns there that the view may outlive the list.
    data_ = values.begin();
  }

  constexpr const T* begin() const noexcept { return data_; }
  constexpr const T* end() const noexcept { return data_ + size_; }
  constexpr const T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr const T& operator[](std::size_t index) const noexcept { return data_[index]; }
  const T& at(std::size_t index) const {
    check(index < size_);
    return data_[index];
  }
  const T& front() const { return at(0); }
  const T& back() const { return at(size_ - 1); }
  AnyArrayRef slice(std::size_t from, std::size_t count) const {
    check(from <= size_ && count <= size_ - from);
    return {data_ + from, count};
  }
  AnyArrayRef slice(std::size_t from) const {
    check(from <= size_);
    return {data_ + from, size_ - from};
  }
  std::vector<T> vec() const { return {begin(), end()}; }
  operator std::vector<T>() const { return vec(); }  // NOLINT: where the library takes a vector

 private:
  void check(bool inside) const {
    if (!inside) {
      throw IndexError(
          SCONCE_ERROR_INVALID_ARGUMENT,
          "an index is out of the " + std::to_string(size_) + " elements of an ArrayRef");
    }
  }

  const T* data_ = nullptr;
  std::size_t size_ = 0;
};
/// \endcond

/// A view of elements. Corresponds to `c10::ArrayRef`.
template <class T>
using ArrayRef = std::conditional_t<std::is_same_v<T, std::int64_t>, IntArrayRef, AnyArrayRef<T>>;

/// A vector. Corresponds to `c10::SmallVector`, whose second argument is the number of elements it
/// holds without heap memory; here elements are always on the heap.
template <class T, unsigned = 0>
using SmallVector = std::vector<T>;

/// Sizes that grow. Corresponds to `c10::DimVector`.
using DimVector = SmallVector<std::int64_t, 5>;

/// The arguments one after another as text. Corresponds to `c10::str`.
template <class... Arguments>
[[nodiscard]] std::string str(const Arguments&... arguments) {
  return compat::detail::joined(arguments...);
}

/// The name of a kind of device, `CPU` or `CUDA`. Corresponds to `c10::DeviceTypeName`.
[[nodiscard]] inline std::string DeviceTypeName(DeviceType type, bool lower_case = false) {
  if (type == DeviceType::CUDA) {
    return lower_case ? "cuda" : "CUDA";
  }
  return lower_case ? "cpu" : "CPU";
}

/// The product of numbers. Corresponds to `c10::multiply_integers`.
[[nodiscard]] inline std::int64_t multiply_integers(IntArrayRef numbers) noexcept {
  std::int64_t product = 1;
  for (const std::int64_t number : numbers) {
    product *= number;
  }
  return product;
}

/// Does nothing: there are no gradients. Corresponds to `c10::InferenceMode`.
struct InferenceMode {
  /// Changes nothing.
  explicit InferenceMode(bool = true) noexcept {}
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  ~InferenceMode() {}  // NOLINT: so that a guard is no unused variable
};

}  // namespace c10

namespace at {

using c10::ArrayRef;

/// Tensors, as an argument. Corresponds to `at::TensorList`.
using TensorList = ArrayRef<Tensor>;
/// Numbers that may be left out. Corresponds to `at::OptionalIntArrayRef`.
using OptionalIntArrayRef = std::optional<IntArrayRef>;

/// Does nothing: there are no gradients. Corresponds to `at::NoGradGuard`.
struct NoGradGuard {
  NoGradGuard() noexcept = default;
  NoGradGuard(const NoGradGuard&) = delete;
  NoGradGuard& operator=(const NoGradGuard&) = delete;
  ~NoGradGuard() {}  // NOLINT: so that a guard is no unused variable
};
/// Does nothing: there is no dispatcher. Corresponds to the guard of that name.
using AutoDispatchBelowADInplaceOrView = NoGradGuard;
/// Does nothing: there is no dispatcher. Corresponds to the guard of that name.
using AutoDispatchBelowAutograd = NoGradGuard;

/// A dimension counted from the front; negative ones count from the end. Corresponds to
/// `at::maybe_wrap_dim`.
/// \throws IndexError if there is no such dimension
[[nodiscard]] inline std::int64_t maybe_wrap_dim(std::int64_t dim, std::int64_t dims) {
  const std::int64_t most = dims > 0 ? dims : 1;
  if (dim < -most || dim >= most) {
    throw c10::IndexError(
        SCONCE_ERROR_INVALID_ARGUMENT,
        compat::detail::joined("Dimension out of range (expected to be in range of [", -most, ", ",
                               most - 1, "], but got ", dim, ")"));
  }
  return dim < 0 ? dim + most : dim;
}

/// The type in which elements are added up. Corresponds to `at::toAccumulateType`.
[[nodiscard]] inline ScalarType toAccumulateType(ScalarType type, bool is_cuda) {
  switch (type) {
    case ScalarType::Half:
    case ScalarType::BFloat16:
      return ScalarType::Float;
    case ScalarType::Float:
      return is_cuda ? ScalarType::Float : ScalarType::Double;
    case ScalarType::ComplexFloat:
      return is_cuda ? ScalarType::ComplexFloat : ScalarType::ComplexDouble;
    default:
      return ::sconce::cuda::isIntegralType(type, false) ? ScalarType::Long : type;
  }
}

/// A tensor with the name and the place of the argument that it is. The tensor must outlive it.
/// Corresponds to `at::TensorArg`.
struct TensorArg {
  const Tensor& tensor;  ///< the tensor
  const char* name;      ///< the name of the argument
  int pos;               ///< its place, from 1

  /// An argument.
  TensorArg(const Tensor& tensor_, const char* name_, int pos_)
      : tensor(tensor_), name(name_), pos(pos_) {}
  TensorArg(Tensor&&, const char*, int) = delete;  // the tensor would be gone
  /// The tensor.
  const Tensor* operator->() const noexcept { return &tensor; }
  /// The tensor.
  const Tensor& operator*() const noexcept { return tensor; }
};
/// The name of the function that checks. Corresponds to `at::CheckedFrom`.
using CheckedFrom = const char*;

/// \cond
inline std::ostream& operator<<(std::ostream& out, const TensorArg& argument) {
  return out << "argument #" << argument.pos << " '" << argument.name << "'";
}
// Compares each defined argument with the first one.
template <class Same>
void check_all_same(ArrayRef<TensorArg> arguments, Same&& same) {
  const TensorArg* first = nullptr;
  for (const TensorArg& argument : arguments) {
    if (!argument->defined()) {
      continue;
    }
    if (first != nullptr) {
      same(*first, argument);
    }
    first = first != nullptr ? first : &argument;
  }
}
/// \endcond

/// Refuses arguments that are not on one CUDA device. Corresponds to `at::checkAllSameGPU`.
inline void checkAllSameGPU(CheckedFrom from, ArrayRef<TensorArg> arguments) {
  for (const TensorArg& argument : arguments) {
    TORCH_CHECK(!argument->defined() || argument->is_cuda(), "Expected tensor for ", argument,
                " to be on GPU, but it is on CPU (while checking arguments for ", from, ")");
  }
  check_all_same(arguments, [&](const TensorArg& a, const TensorArg& b) {
    TORCH_CHECK(a->get_device() == b->get_device(), "Expected tensor for ", a,
                " to have the same device as tensor for ", b, "; but device ", a->get_device(),
                " does not equal ", b->get_device(), " (while checking arguments for ", from, ")");
  });
}
/// Refuses arguments of several types. Corresponds to `at::checkAllSameType`.
inline void checkAllSameType(CheckedFrom from, ArrayRef<TensorArg> arguments) {
  check_all_same(arguments, [&](const TensorArg& a, const TensorArg& b) {
    TORCH_CHECK(a->scalar_type() == b->scalar_type(), "Expected tensor for ", a,
                " to have the same type as tensor for ", b, "; but type ",
                toString(a->scalar_type()), " does not equal ", toString(b->scalar_type()),
                " (while checking arguments for ", from, ")");
  });
}
/// Refuses arguments of several shapes. Corresponds to `at::checkAllSameSize`.
inline void checkAllSameSize(CheckedFrom from, ArrayRef<TensorArg> arguments) {
  check_all_same(arguments, [&](const TensorArg& a, const TensorArg& b) {
    TORCH_CHECK(a->sizes() == b->sizes(), "Expected tensor for ", a,
                " to have same size as tensor for ", b, "; but ", a->sizes(), " does not equal ",
                b->sizes(), " (while checking arguments for ", from, ")");
  });
}
/// Refuses an argument that is not contiguous. Corresponds to `at::checkContiguous`.
inline void checkContiguous(CheckedFrom from, const TensorArg& argument) {
  TORCH_CHECK(argument->is_contiguous(),
              "Expected contiguous tensor, but got non-contiguous tensor for ", argument,
              " (while checking arguments for ", from, ")");
}
/// Refuses an argument with another number of dimensions. Corresponds to `at::checkDim`.
inline void checkDim(CheckedFrom from, const TensorArg& argument, std::int64_t dim) {
  TORCH_CHECK(argument->dim() == dim, "Expected ", dim, "-dimensional tensor, but got ",
              argument->dim(), "-dimensional tensor for ", argument,
              " (while checking arguments for ", from, ")");
}

/// Calls `body(begin, end)` once for all of a range, on the calling thread. Corresponds to
/// `at::parallel_for`, which may call it on several threads.
template <class Body>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t, const Body& body) {
  if (begin < end) {
    body(begin, end);
  }
}

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

}  // namespace detail
}  // namespace cuda
}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_TENSOR_ARGUMENTS_HPP
