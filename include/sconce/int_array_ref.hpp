/// \file
/// A view of sizes, strides or dimensions, where a function takes any number of them.
#ifndef SCONCE_INT_ARRAY_REF_HPP
#define SCONCE_INT_ARRAY_REF_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <sconce/dim_vector.hpp>
#include <sconce/span.hpp>
#include <vector>

namespace sconce {
inline namespace v0 {

/// Numbers that others own: a list in braces, one number, a vector, an array. For arguments only:
/// it is valid during the call. Corresponds to `c10::IntArrayRef`.
class IntArrayRef {
 public:
  /// No numbers.
  constexpr IntArrayRef() noexcept = default;
  /// `size` numbers from `data` on.
  constexpr IntArrayRef(const std::int64_t* data, std::size_t size) noexcept
      : data_(data), size_(size) {}
  /// The listed numbers, e.g. `{2, 3}`.
  constexpr IntArrayRef(std::initializer_list<std::int64_t> numbers) noexcept  // NOLINT: as c10's
      : size_(numbers.size()) {
    // Not in the list of initialisers: GCC warns there that the view may outlive the list.
    data_ = numbers.begin();
  }
  /// One number.
  constexpr IntArrayRef(const std::int64_t& number) noexcept  // NOLINT: as c10's
      : data_(&number), size_(1) {}
  /// The numbers of a vector.
  IntArrayRef(const std::vector<std::int64_t>& numbers) noexcept  // NOLINT: as c10's
      : data_(numbers.data()), size_(numbers.size()) {}
  /// The numbers of an array.
  template <std::size_t N>
  constexpr IntArrayRef(const std::array<std::int64_t, N>& numbers) noexcept  // NOLINT: as c10's
      : data_(numbers.data()), size_(N) {}
  /// The numbers of a view.
  constexpr IntArrayRef(cuda::Span<const std::int64_t> numbers) noexcept  // NOLINT: as c10's
      : data_(numbers.data()), size_(numbers.size()) {}
  /// The numbers of a `DimVector`.
  constexpr IntArrayRef(const cuda::DimVector& numbers) noexcept  // NOLINT: as c10's
      : data_(numbers.data()), size_(numbers.size()) {}

  /// The address of the first number.
  [[nodiscard]] constexpr const std::int64_t* data() const noexcept { return data_; }
  /// How many numbers there are.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  /// Whether there are none.
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  /// Returns a number; the index is not checked.
  [[nodiscard]] constexpr std::int64_t operator[](std::size_t index) const noexcept {
    return data_[index];
  }
  /// The beginning of the numbers.
  [[nodiscard]] constexpr const std::int64_t* begin() const noexcept { return data_; }
  /// The end of the numbers.
  [[nodiscard]] constexpr const std::int64_t* end() const noexcept { return data_ + size_; }
  /// A copy of the numbers.
  [[nodiscard]] std::vector<std::int64_t> vec() const { return {begin(), end()}; }

 private:
  const std::int64_t* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_INT_ARRAY_REF_HPP
