/// \file
/// A few numbers, one for each dimension: sizes, strides, paddings.
#ifndef SCONCE_DIM_VECTOR_HPP
#define SCONCE_DIM_VECTOR_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <sconce/span.hpp>
#include <string>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Up to 5 numbers, one for each dimension from the outermost to the innermost. Corresponds to
/// `c10::DimVector`.
class DimVector {
 public:
  /// The most numbers it holds.
  static constexpr std::size_t most = 5;

  /// No numbers.
  constexpr DimVector() noexcept = default;
  /// These numbers, e.g. `{28, 28}`.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for more than 5
  DimVector(std::initializer_list<std::int64_t> numbers)
      : DimVector(Span<const std::int64_t>(numbers.begin(), numbers.size())) {}
  /// The numbers of a view, for those that are known at run time.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for more than 5
  explicit DimVector(Span<const std::int64_t> numbers) : size_(numbers.size()) {
    if (size_ > most) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT, std::to_string(size_) +
                                                     " numbers: there are at most " +
                                                     std::to_string(most) + " dimensions");
    }
    std::copy(numbers.begin(), numbers.end(), numbers_.begin());
  }

  /// How many numbers there are.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  /// Whether there are none.
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  /// A number; not checked.
  [[nodiscard]] constexpr std::int64_t operator[](std::size_t index) const noexcept {
    return numbers_[index];
  }
  /// The same, to be changed.
  [[nodiscard]] constexpr std::int64_t& operator[](std::size_t index) noexcept {
    return numbers_[index];
  }
  /// The first number.
  [[nodiscard]] constexpr const std::int64_t* begin() const noexcept { return numbers_.data(); }
  /// Behind the last number.
  [[nodiscard]] constexpr const std::int64_t* end() const noexcept {
    return numbers_.data() + size_;
  }
  /// The same as `begin`.
  [[nodiscard]] constexpr const std::int64_t* data() const noexcept { return numbers_.data(); }

  /// As many, and the same.
  friend bool operator==(const DimVector& a, const DimVector& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  /// Other numbers, or more of them.
  friend bool operator!=(const DimVector& a, const DimVector& b) noexcept { return !(a == b); }

 private:
  std::array<std::int64_t, most> numbers_{};
  std::size_t size_ = 0;
};

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_DIM_VECTOR_HPP
