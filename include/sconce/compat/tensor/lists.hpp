/// \file
/// Lists under c10's names: `ArrayRef`, `SmallVector`, `List`, and texts of several arguments. Part
/// of `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_TENSOR_LISTS_HPP
#define SCONCE_COMPAT_TENSOR_LISTS_HPP

#include <sconce/c/library.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <sconce/compat/core/macros.hpp>
#include <sconce/tensor/class.hpp>
#include <string>
#include <type_traits>
#include <utility>
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

/// An integer. Corresponds to `c10::SymInt`, which stands for a number that is not known yet.
using SymInt = std::int64_t;
/// Integers. Corresponds to `c10::SymIntArrayRef`.
using SymIntArrayRef = IntArrayRef;

/// A vector. Corresponds to `c10::SmallVector`, whose second argument is the number of elements it
/// holds without heap memory; here elements are always on the heap.
template <class T, unsigned = 0>
class SmallVector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  /// The elements of a view.
  explicit SmallVector(ArrayRef<T> values) : std::vector<T>(values.begin(), values.end()) {}
  /// Adds the elements of a range at the end.
  template <class Iterator, class = typename std::iterator_traits<Iterator>::iterator_category>
  void append(Iterator first, Iterator last) {
    this->insert(this->end(), first, last);
  }
  /// Adds an element several times at the end.
  void append(std::size_t count, const T& value) { this->insert(this->end(), count, value); }
  /// Adds elements at the end.
  void append(std::initializer_list<T> values) { this->insert(this->end(), values); }
  /// Removes the last element, of which there must be one, and returns it.
  [[nodiscard]] T pop_back_val() {
    T value = std::move(this->back());
    this->pop_back();
    return value;
  }
};

/// Sizes that grow. Corresponds to `c10::DimVector`.
using DimVector = SmallVector<std::int64_t, 5>;

/// A list that grows. Corresponds to `c10::List`, whose copies are the same list; here they are
/// lists of their own.
template <class T>
class List : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  /// The elements of a vector.
  List(std::vector<T> values) : std::vector<T>(std::move(values)) {}  // NOLINT: as c10's
  /// The element at an index. \throws std::out_of_range if there is none
  [[nodiscard]] T get(std::size_t index) const { return this->at(index); }
  /// Replaces the element at an index. \throws std::out_of_range if there is none
  void set(std::size_t index, T value) { this->at(index) = std::move(value); }
  /// A copy of the elements.
  [[nodiscard]] std::vector<T> vec() const { return *this; }
};

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

}  // namespace c10

namespace at {

using c10::ArrayRef;
using c10::List;

/// Tensors, as an argument. Corresponds to `at::TensorList`.
using TensorList = ArrayRef<Tensor>;
/// `IntArrayRef`, under its older name.
using IntList = IntArrayRef;
/// Numbers that may be left out. Corresponds to `at::OptionalIntArrayRef`.
using OptionalIntArrayRef = std::optional<IntArrayRef>;

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

}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_TENSOR_LISTS_HPP
