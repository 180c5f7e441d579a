/// \file
/// Views of contiguous elements: `Span` in host memory, `DeviceSpan` in device memory, which the
/// host cannot access. Views own nothing.
#ifndef SCONCE_CUDA_SPAN_HPP
#define SCONCE_CUDA_SPAN_HPP

#include <sconce/c/library.h>

#include <cstddef>
#include <sconce/cuda/error.hpp>
#include <sconce/fwd.hpp>
#include <string>  // also std::data, at a fraction of what <iterator> costs
#include <type_traits>
#include <utility>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// The count that means "all that follow".
inline constexpr std::size_t dynamic_extent = static_cast<std::size_t>(-1);

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace detail {

[[noreturn]] inline void throw_out_of_span(std::size_t offset, std::size_t count,
                                           std::size_t size) {
  const bool all = count == cuda::dynamic_extent;
  throw Error(SCONCE_ERROR_INVALID_ARGUMENT, (all ? "the" : std::to_string(count)) +
                                                 " elements from " + std::to_string(offset) +
                                                 " on leave a span of " + std::to_string(size));
}

/// Returns the number of elements of a part that begins at `offset` of `size` elements.
/// \throws Error if the part leaves them
inline std::size_t part_of(std::size_t size, std::size_t offset, std::size_t count) {
  if (offset > size || (count != cuda::dynamic_extent && count > size - offset)) {
    throw_out_of_span(offset, count, size);
  }
  return count == cuda::dynamic_extent ? size - offset : count;
}

/// Whether a pointer to `From` converts to one to `To` by adding const only.
template <class From, class To>
inline constexpr bool adds_only_const_v = std::is_convertible_v<From (*)[], To (*)[]>;

template <class T>
inline constexpr bool is_view_v = false;
template <class T>
inline constexpr bool is_view_v<cuda::Span<T>> = true;
template <class T>
inline constexpr bool is_view_v<cuda::DeviceSpan<T>> = true;

template <class T>
inline constexpr bool is_device_view_v = false;
template <class T>
inline constexpr bool is_device_view_v<cuda::DeviceSpan<T>> = true;

/// Whether a type is a tensor, which has operations of its own.
template <class T>
constexpr bool is_tensor() noexcept {
  if constexpr (std::is_class_v<T>) {
    return std::is_base_of_v<TensorBase, std::remove_cv_t<T>>;
  } else {
    return false;
  }
}
template <class T>
inline constexpr bool is_tensor_v = is_tensor<T>();

/// Whether a type is a buffer: it has a size in bytes, and no type of elements.
template <class T, class = void>
inline constexpr bool has_bytes_v = false;
template <class T>
inline constexpr bool
    has_bytes_v<T, std::void_t<decltype(std::declval<T&>().bytes()),
                               decltype(static_cast<const void*>(std::declval<T&>().get()))>> =
        true;

[[noreturn]] inline void throw_not_divisible(std::size_t bytes, std::size_t element) {
  throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
              std::to_string(bytes) + " bytes are not a whole number of elements of " +
                  std::to_string(element) + " bytes; view a part with span(offset, count)");
}

/// The element type of a container, or of anything with `data()` and `size()`.
template <class Container>
using ElementOf = std::remove_pointer_t<decltype(std::data(std::declval<Container&>()))>;

/// Whether a `Span<T>` may be made from a `Container` that is not a view of this library.
template <class Container, class T, class = void>
struct IsViewableAs : std::false_type {};
template <class Container, class T>
struct IsViewableAs<Container, T,
                    std::void_t<ElementOf<Container>, decltype(std::declval<Container&>().size())>>
    : std::bool_constant<!is_view_v<std::remove_cv_t<Container>> &&
                         adds_only_const_v<ElementOf<Container>, T>> {};

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Elements in host memory. Copies view the same elements. Corresponds to `c10::ArrayRef`, whose
/// elements are const, and to `std::span` of C++20.
template <class T>
class Span {
 public:
  /// The type of the elements, with its const.
  using element_type = T;
  /// The type of the elements without const.
  using value_type = std::remove_cv_t<T>;

  /// No elements.
  constexpr Span() noexcept = default;

  /// `size` elements from `data` on.
  constexpr Span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}

  /// The elements of an array.
  template <std::size_t N>
  constexpr Span(T (&array)[N]) noexcept  // NOLINT: as std::span
      : data_(array), size_(N) {}

  /// The elements of a `std::vector`, a `std::array`, or another object with contiguous elements.
  /// The object must outlive the view, so temporaries do not compile.
  template <class Container, std::enable_if_t<detail::IsViewableAs<Container, T>::value, int> = 0>
  constexpr Span(Container& container)  // NOLINT: as std::span
      : data_(std::data(container)), size_(std::size(container)) {}

  /// The same elements, read-only.
  template <class U, std::enable_if_t<!std::is_same_v<U, T> && detail::adds_only_const_v<U, T>,
                                      int> = 0>
  constexpr Span(const Span<U>& other) noexcept  // NOLINT: as std::span
      : data_(other.data()), size_(other.size()) {}

  /// The address of the first element.
  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  /// The number of elements.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  /// The number of bytes.
  [[nodiscard]] constexpr std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  /// Whether there are no elements.
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }

  /// Returns an element; the index is not checked.
  [[nodiscard]] constexpr T& operator[](std::size_t index) const noexcept { return data_[index]; }
  /// The beginning of the elements.
  [[nodiscard]] constexpr T* begin() const noexcept { return data_; }
  /// The end of the elements.
  [[nodiscard]] constexpr T* end() const noexcept { return data_ + size_; }

  /// Returns `count` elements from the `offset`-th on; all that follow without a count.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if they leave the view
  [[nodiscard]] Span subspan(std::size_t offset, std::size_t count = dynamic_extent) const {
    count = detail::part_of(size_, offset, count);
    return Span(data_ + offset, count);
  }
  /// Returns the first elements.
  /// \throws Error if there are fewer
  [[nodiscard]] Span first(std::size_t count) const { return subspan(0, count); }
  /// Returns the last elements.
  /// \throws Error if there are fewer
  [[nodiscard]] Span last(std::size_t count) const {
    return subspan(size_ - detail::part_of(size_, 0, count), count);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// `Span(array)` views its elements.
template <class T, std::size_t N>
Span(T (&)[N]) -> Span<T>;
/// `Span(vector)` views its elements, with the const of the vector.
template <class Container>
Span(Container&) -> Span<detail::ElementOf<Container>>;

/// Elements in device memory. The host cannot access them: an element is reached by a copy, and
/// kernels receive the address.
template <class T>
class DeviceSpan {
 public:
  /// The type of the elements, with its const.
  using element_type = T;
  /// The type of the elements without const.
  using value_type = std::remove_cv_t<T>;

  /// No elements.
  constexpr DeviceSpan() noexcept = default;

  /// `size` elements from the device address `data` on.
  constexpr DeviceSpan(T* data, std::size_t size) noexcept : data_(data), size_(size) {}

  /// The same elements, read-only.
  template <class U, std::enable_if_t<!std::is_same_v<U, T> && detail::adds_only_const_v<U, T>,
                                      int> = 0>
  constexpr DeviceSpan(const DeviceSpan<U>& other) noexcept  // NOLINT: as std::span
      : data_(other.data()), size_(other.size()) {}

  /// The device address of the first element; the host cannot access it.
  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  /// The number of elements.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  /// The number of bytes.
  [[nodiscard]] constexpr std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  /// Whether there are no elements.
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }

  /// Returns `count` elements from the `offset`-th on; all that follow without a count.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if they leave the view
  [[nodiscard]] DeviceSpan subspan(std::size_t offset, std::size_t count = dynamic_extent) const {
    count = detail::part_of(size_, offset, count);
    return DeviceSpan(data_ + offset, count);
  }
  /// Returns the first elements.
  /// \throws Error if there are fewer
  [[nodiscard]] DeviceSpan first(std::size_t count) const { return subspan(0, count); }
  /// Returns the last elements.
  /// \throws Error if there are fewer
  [[nodiscard]] DeviceSpan last(std::size_t count) const {
    return subspan(size_ - detail::part_of(size_, 0, count), count);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_SPAN_HPP
