/// \file
/// A few numbers, one for each dimension, such as sizes, strides or paddings.
#ifndef SCONCE_CUDA_DIM_VECTOR_HPP
#define SCONCE_CUDA_DIM_VECTOR_HPP

#include <sconce/c/library.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <sconce/cuda/span.hpp>
#include <string>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Up to 5 numbers, one for each dimension from the outermost to the innermost. Corresponds to
/// `c10::DimVector`.
class DimVector {
 public:
  /// The largest number of entries.
  static constexpr std::size_t most = 5;

  /// No numbers.
  constexpr DimVector() noexcept = default;
  /// The listed numbers, e.g. `{28, 28}`.
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

  /// The number of entries.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  /// Whether there are no entries.
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  /// Returns an entry; the index is not checked.
  [[nodiscard]] constexpr std::int64_t operator[](std::size_t index) const noexcept {
    return numbers_[index];
  }
  /// Returns an entry that can be changed; the index is not checked.
  [[nodiscard]] constexpr std::int64_t& operator[](std::size_t index) noexcept {
    return numbers_[index];
  }
  /// The beginning of the numbers.
  [[nodiscard]] constexpr const std::int64_t* begin() const noexcept { return numbers_.data(); }
  /// The end of the numbers.
  [[nodiscard]] constexpr const std::int64_t* end() const noexcept {
    return numbers_.data() + size_;
  }
  /// Another name of `begin`.
  [[nodiscard]] constexpr const std::int64_t* data() const noexcept { return numbers_.data(); }

  /// Whether both have the same numbers.
  friend bool operator==(const DimVector& a, const DimVector& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  /// Whether the two differ in a number, or in the number of entries.
  friend bool operator!=(const DimVector& a, const DimVector& b) noexcept { return !(a == b); }

 private:
  std::array<std::int64_t, most> numbers_{};
  std::size_t size_ = 0;
};

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_DIM_VECTOR_HPP
