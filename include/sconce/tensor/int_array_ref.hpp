/// \file
/// A view of sizes, strides or dimensions, and an owner of some.
#ifndef SCONCE_TENSOR_INT_ARRAY_REF_HPP
#define SCONCE_TENSOR_INT_ARRAY_REF_HPP

#include <sconce/c/library.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <ostream>
#include <sconce/cuda/dim_vector.hpp>
#include <sconce/cuda/span.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// \cond
// With this attribute, Clang warns of a view that outlives its object. GCC has no such attribute.
#if defined(__has_cpp_attribute)
#if __has_cpp_attribute(clang::lifetimebound)
#define SCONCE_LIFETIMEBOUND [[clang::lifetimebound]]
#endif
#endif
#ifndef SCONCE_LIFETIMEBOUND
#define SCONCE_LIFETIMEBOUND
#endif
/// \endcond

namespace sconce {
inline namespace v0 {

/// A view of numbers that another object owns: a list in braces, one number, a vector, an array,
/// the sizes of a tensor. As an argument it is valid during the call, and otherwise as long as the
/// numbers. Do not keep a view of a list in braces or of a temporary vector. Corresponds to
/// `c10::IntArrayRef`.
class IntArrayRef {
 public:
  using value_type = std::int64_t;                                       ///< a number
  using size_type = std::size_t;                                         ///< how many there are
  using difference_type = std::ptrdiff_t;                                ///< between two iterators
  using const_iterator = const std::int64_t*;                            ///< reads the numbers
  using iterator = const_iterator;                                       ///< `const_iterator`
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;  ///< from the last on
  using reverse_iterator = const_reverse_iterator;                       ///< from the last on

  /// No numbers.
  constexpr IntArrayRef() noexcept = default;
  /// `size` numbers from `data` on.
  constexpr IntArrayRef(const std::int64_t* data, std::size_t size) noexcept
      : data_(data), size_(size) {}
  /// The listed numbers, e.g. `{2, 3}`.
  constexpr IntArrayRef(std::initializer_list<std::int64_t> numbers
                            SCONCE_LIFETIMEBOUND) noexcept  // NOLINT: as c10's
      : size_(numbers.size()) {
    // Not in the list of initialisers: GCC warns there that the view may outlive the list.
    data_ = numbers.begin();
  }
  /// One number.
  constexpr IntArrayRef(
      const std::int64_t& number SCONCE_LIFETIMEBOUND) noexcept  // NOLINT: as c10's
      : data_(&number), size_(1) {}
  /// The numbers of a vector.
  IntArrayRef(
      const std::vector<std::int64_t>& numbers SCONCE_LIFETIMEBOUND) noexcept  // NOLINT: as c10's
      : data_(numbers.data()), size_(numbers.size()) {}
  /// The numbers of an array.
  template <std::size_t N>
  constexpr IntArrayRef(
      const std::array<std::int64_t, N>& numbers SCONCE_LIFETIMEBOUND) noexcept  // NOLINT: as c10's
      : data_(numbers.data()), size_(N) {}
  /// The numbers of an array of C.
  template <std::size_t N>
  constexpr IntArrayRef(  // NOLINT: as c10's
      const std::int64_t (&numbers)[N] SCONCE_LIFETIMEBOUND) noexcept
      : data_(numbers), size_(N) {}
  /// The numbers from one address to another. A template, so that 0 is no address.
  template <class Pointer, std::enable_if_t<std::is_same_v<Pointer, const std::int64_t*> ||
                                                std::is_same_v<Pointer, std::int64_t*>,
                                            int> = 0>
  constexpr IntArrayRef(const std::int64_t* begin, Pointer end) noexcept
      : data_(begin), size_(static_cast<std::size_t>(end - begin)) {}
  /// The numbers of a view.
  constexpr IntArrayRef(cuda::Span<const std::int64_t> numbers) noexcept  // NOLINT: as c10's
      : data_(numbers.data()), size_(numbers.size()) {}
  /// The numbers of a `DimVector`.
  constexpr IntArrayRef(
      const cuda::DimVector& numbers SCONCE_LIFETIMEBOUND) noexcept  // NOLINT: as c10's
      : data_(numbers.data()), size_(numbers.size()) {}

  /// The address of the first number.
  [[nodiscard]] constexpr const std::int64_t* data() const noexcept { return data_; }
  /// How many numbers there are.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  /// Whether there are none.
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  /// Returns a number; the index is not checked.
  [[nodiscard]] constexpr const std::int64_t& operator[](std::size_t index) const noexcept {
    return data_[index];
  }
  /// Returns a number.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if there are fewer
  [[nodiscard]] const std::int64_t& at(std::size_t index) const {
    check_range(index, 1);
    return data_[index];
  }
  /// The first number, of which there must be one.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if there is none
  [[nodiscard]] const std::int64_t& front() const { return at(0); }
  /// The last number.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if there is none
  [[nodiscard]] const std::int64_t& back() const { return at(size_ == 0 ? 0 : size_ - 1); }
  /// The beginning of the numbers.
  [[nodiscard]] constexpr const_iterator begin() const noexcept { return data_; }
  /// The end of the numbers.
  [[nodiscard]] constexpr const_iterator end() const noexcept { return data_ + size_; }
  /// Another name of `begin`.
  [[nodiscard]] constexpr const_iterator cbegin() const noexcept { return begin(); }
  /// Another name of `end`.
  [[nodiscard]] constexpr const_iterator cend() const noexcept { return end(); }
  /// The last number, and from there to the first.
  [[nodiscard]] constexpr const_reverse_iterator rbegin() const noexcept {
    return const_reverse_iterator(end());
  }
  /// Before the first number, the end of the reverse order.
  [[nodiscard]] constexpr const_reverse_iterator rend() const noexcept {
    return const_reverse_iterator(begin());
  }

  /// A view of `count` numbers from `start` on.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if there are fewer
  [[nodiscard]] IntArrayRef slice(std::size_t start, std::size_t count) const {
    check_range(start, count);
    return {data_ + start, count};
  }
  /// A view of all but the first `start` numbers.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if there are fewer
  [[nodiscard]] IntArrayRef slice(std::size_t start) const {
    check_range(start, 0);
    return {data_ + start, size_ - start};
  }
  /// Whether both have the same numbers.
  [[nodiscard]] bool equals(IntArrayRef other) const noexcept {
    return std::equal(begin(), end(), other.begin(), other.end());
  }
  /// A copy of the numbers.
  [[nodiscard]] std::vector<std::int64_t> vec() const { return {begin(), end()}; }
  /// A copy of the numbers, as `vec`.
  operator std::vector<std::int64_t>() const {
    return vec();
  }  // NOLINT: of a tensor without a name, too

  /// Whether both have the same numbers.
  friend bool operator==(IntArrayRef a, IntArrayRef b) noexcept { return a.equals(b); }
  /// Whether the two differ in a number, or in the number of entries.
  friend bool operator!=(IntArrayRef a, IntArrayRef b) noexcept { return !a.equals(b); }
  /// Writes the numbers as torch does, e.g. `[2, 3]`.
  friend std::ostream& operator<<(std::ostream& out, IntArrayRef numbers) {
    out << '[';
    for (std::size_t index = 0; index < numbers.size(); ++index) {
      out << (index == 0 ? "" : ", ") << numbers[index];
    }
    return out << ']';
  }

 private:
  void check_range(std::size_t start, std::size_t count) const {
    if (start > size_ || count > size_ - start) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  std::to_string(count) + " numbers from number " + std::to_string(start) +
                      " on: there are only " + std::to_string(size_));
    }
  }

  const std::int64_t* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A vector of numbers with the methods of `IntArrayRef`. `sizes` and `strides` of a temporary
/// tensor return it, because the tensor's own numbers are destroyed at the end of the expression.
class IntArray : public std::vector<std::int64_t> {
 public:
  /// The constructors of a vector.
  using std::vector<std::int64_t>::vector;
  /// A copy of the numbers of a view.
  explicit IntArray(IntArrayRef numbers)
      : std::vector<std::int64_t>(numbers.begin(), numbers.end()) {}

  /// `IntArrayRef::slice`; valid as long as this object is.
  [[nodiscard]] IntArrayRef slice(std::size_t start, std::size_t count) const SCONCE_LIFETIMEBOUND {
    return IntArrayRef(*this).slice(start, count);
  }
  /// `IntArrayRef::slice`; valid as long as this object is.
  [[nodiscard]] IntArrayRef slice(std::size_t start) const SCONCE_LIFETIMEBOUND {
    return IntArrayRef(*this).slice(start);
  }
  /// Whether both have the same numbers.
  [[nodiscard]] bool equals(IntArrayRef other) const noexcept {
    return IntArrayRef(*this).equals(other);
  }
  /// A copy of the numbers.
  [[nodiscard]] std::vector<std::int64_t> vec() const& { return *this; }
  /// Moves the numbers out of this object.
  [[nodiscard]] std::vector<std::int64_t> vec() && { return std::move(*this); }

  /// Writes the numbers as torch does, e.g. `[2, 3]`.
  friend std::ostream& operator<<(std::ostream& out, const IntArray& numbers) {
    return out << IntArrayRef(numbers);
  }
};

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_INT_ARRAY_REF_HPP
