/// \file
/// Copies between any two places: ordinary, pinned and managed host memory, and memory of any
/// device. The address of a place determines its kind.
///
/// A side of a copy is any object that knows its size: a buffer, a view, a `std::vector`, a
/// `std::array`, an array. Sizes must be equal, and so must the types of elements; a buffer, and
/// elements of `std::byte`, are bytes and match every type.
#ifndef SCONCE_CUDA_COPY_HPP
#define SCONCE_CUDA_COPY_HPP

#include <sconce/c/copy.h>
#include <sconce/c/library.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <sconce/cuda/span.hpp>
#include <sconce/cuda/stream.hpp>
#include <string>
#include <type_traits>
#include <utility>

namespace sconce {
inline namespace v0 {
namespace detail {

/// Address and size of a side of a copy. `T` may be const; bytes are `std::byte`.
template <class T>
struct CopySide {
  static_assert(std::is_trivially_copyable_v<T>, "the elements cannot be copied byte by byte");
  using element = T;

  T* data;
  std::size_t size;
};

/// The role of a type in a copy.
enum class SideKind { None, Pointer, Array, Elements, Bytes };

template <class T, class = void>
inline constexpr bool has_elements_v = false;
template <class T>
inline constexpr bool
    has_elements_v<T, std::void_t<ElementOf<T>, decltype(std::declval<T&>().size())>> = true;

template <class T>
constexpr SideKind kind_of_side() {
  if constexpr (std::is_pointer_v<T> || std::is_null_pointer_v<T>) {
    return SideKind::Pointer;
  } else if constexpr (std::is_array_v<T>) {
    return SideKind::Array;
  } else if constexpr (has_elements_v<T>) {
    return SideKind::Elements;
  } else if constexpr (has_bytes_v<T>) {
    return SideKind::Bytes;
  } else {
    return SideKind::None;
  }
}

/// Whether the elements have the const of their object, as those of a vector and unlike those of a
/// view.
template <class T>
constexpr bool owns_elements() {
  if constexpr (kind_of_side<T>() == SideKind::Elements) {
    return !std::is_same_v<ElementOf<T>, ElementOf<const T>>;
  } else {
    return kind_of_side<T>() != SideKind::None;
  }
}

/// Returns the address and size of `place`, as one side of a copy.
template <class T>
auto side_of(T& place) {
  constexpr SideKind kind = kind_of_side<T>();
  static_assert(kind != SideKind::Pointer,
                "a pointer has no size: pass Span(ptr, n) or DeviceSpan(ptr, n), "
                "or call copy_(dst, src, bytes) for bytes");
  static_assert(!is_tensor_v<T>,
                "a tensor is copied and set by its own functions: a.copy_(b), a.fill_(0); or pass "
                "DeviceSpan(a.data_ptr<float>(), a.numel()), which knows no strides");
  static_assert(kind != SideKind::None || is_tensor_v<T>,
                "a side of a copy needs data() and size(), as a vector has");
  if constexpr (kind == SideKind::Array) {
    using Element = std::remove_all_extents_t<T>;
    return CopySide<Element>{reinterpret_cast<Element*>(&place), sizeof(T) / sizeof(Element)};
  } else if constexpr (kind == SideKind::Elements) {
    return CopySide<ElementOf<T>>{std::data(place), place.size()};
  } else if constexpr (kind == SideKind::Bytes) {
    constexpr bool read_only = std::is_same_v<decltype(place.get()), const void*>;
    using Byte = std::conditional_t<read_only, const std::byte, std::byte>;
    return CopySide<Byte>{static_cast<Byte*>(place.get()), place.bytes()};
  } else {
    return CopySide<std::byte>{nullptr, 0};
  }
}

/// Returns the side of a copy that is written.
template <class T>
auto written_side_of(T&& place) {
  using Place = std::remove_reference_t<T>;
  const auto side = side_of(place);
  using Element = typename decltype(side_of(place))::element;
  static_assert(!std::is_const_v<Element>, "the destination is const");
  static_assert(std::is_lvalue_reference_v<T> || !owns_elements<Place>(),
                "the destination is a temporary, destroyed after the call");
  return side;
}

/// Whether elements of two types, const aside, may be copied into each other.
template <class Dst, class Src>
inline constexpr bool same_elements_v =
    std::is_same_v<std::remove_cv_t<Dst>, std::remove_cv_t<Src>> ||
    std::is_same_v<std::remove_cv_t<Dst>, std::byte> ||
    std::is_same_v<std::remove_cv_t<Src>, std::byte>;

/// Whether a number after a pointer to this type can only count bytes.
template <class T>
constexpr bool points_to_bytes() {
  if constexpr (std::is_void_v<T>) {
    return true;
  } else {
    return sizeof(T) == 1;
  }
}

/// "1 byte", "2 bytes".
inline std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// "25 elements of 4 bytes (100 bytes)".
inline std::string words_of(std::size_t count, std::size_t element) {
  const std::string bytes = counted(count * element, "byte");
  return element == 1 ? bytes
                      : counted(count, "element") + " of " + std::to_string(element) + " bytes (" +
                            bytes + ")";
}

[[noreturn]] inline void throw_sizes_differ(const std::string& dst, const std::string& src) {
  throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
              "dst has " + dst + ", src has " + src +
                  "; both must have the same size: take the first(n) of "
                  "the larger one");
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Copies all of `src` over all of `dst`.
///
/// Corresponds to `torch.Tensor.copy_(src, non_blocking)`. Without `non_blocking` a copy between
/// the host and a device is done when the call returns. With it the call returns once the copy is
/// queued, if the host's side is pinned. Ordinary memory may always be changed, or read, at once. A
/// pinned buffer may be destroyed while copies use it. The comments of `sconce_copy` and
/// `sconce_copy_on` state on which streams copies run without and with a `stream`.
///
/// These do not compile: a const or temporary destination, different types of elements, a pointer
/// without a size.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` unless both sides have the same size
template <class Dst, class Src, class Flag = bool,
          std::enable_if_t<std::is_same_v<Flag, bool> || !(std::is_pointer_v<std::decay_t<Dst>> &&
                                                           std::is_pointer_v<std::decay_t<Src>>),
                           int> = 0>
void copy_(Dst&& dst, const Src& src, Flag non_blocking = false,
           const OptionalStream& stream = std::nullopt) {
  static_assert(
      std::is_same_v<Flag, bool>,
      "the third argument is non_blocking, a bool, and the fourth is the stream: the sides "
      "determine the size");
  const auto to = detail::written_side_of<Dst>(static_cast<Dst&&>(dst));
  const auto from = detail::side_of(src);
  using To = typename decltype(detail::side_of(dst))::element;
  using From = typename decltype(detail::side_of(src))::element;
  static_assert(detail::same_elements_v<To, From>,
                "the elements have different types: convert them, or copy std::byte");
  if (to.size * sizeof(To) != from.size * sizeof(From)) {
    detail::throw_sizes_differ(detail::words_of(to.size, sizeof(To)),
                               detail::words_of(from.size, sizeof(From)));
  }
  detail::call_on(stream, ::sconce_copy, ::sconce_copy_on, to.data, from.data, to.size * sizeof(To),
                  non_blocking);
}

/// Copies bytes from address to address. They may be null for 0 bytes.
///
/// Pointers to elements of several bytes do not compile, since the number after them could count
/// elements or bytes; `Span` and `DeviceSpan` count elements.
template <class Dst, class Src, class Flag = bool>
void copy_(Dst* dst, Src* src, std::size_t bytes, Flag non_blocking = false,
           const OptionalStream& stream = std::nullopt) {
  static_assert(std::is_same_v<Flag, bool>,
                "the fourth argument is non_blocking, a bool, and the fifth is the stream");
  static_assert(
      detail::points_to_bytes<Dst>() && detail::points_to_bytes<Src>(),
      "a number after a typed pointer could count bytes or elements: pass Span(ptr, n) or "
      "DeviceSpan(ptr, n) for elements, or a void* for bytes");
  static_assert(!std::is_const_v<Dst>, "the destination is const");
  detail::call_on(stream, ::sconce_copy, ::sconce_copy_on, dst, src, bytes, non_blocking);
}

/// Sets every byte of `dst` to `value`. Device memory is set on `stream`, else on the current
/// device's current stream, host memory before the call returns.
template <class Dst>
void memory_set(Dst&& dst, std::uint8_t value, const OptionalStream& stream = std::nullopt) {
  const auto to = detail::written_side_of<Dst>(static_cast<Dst&&>(dst));
  using To = typename decltype(detail::side_of(dst))::element;
  detail::call_on(stream, ::sconce_memory_set, ::sconce_memory_set_on, to.data, value,
                  to.size * sizeof(To));
}

/// Numbers with a fraction do not compile as the value of a byte.
template <class Dst, class Value, std::enable_if_t<std::is_floating_point_v<Value>, int> = 0>
void memory_set(Dst&&, Value) {
  static_assert(!std::is_floating_point_v<Value>,
                "memory_set sets bytes, not elements: pass an integer from 0 to 255");
}

/// Sets `bytes` bytes from an address on; it may be null for 0 bytes.
template <class Dst>
void memory_set(Dst* dst, std::uint8_t value, std::size_t bytes,
                const OptionalStream& stream = std::nullopt) {
  static_assert(
      detail::points_to_bytes<Dst>(),
      "a number after a typed pointer could count bytes or elements: pass Span(ptr, n) or "
      "DeviceSpan(ptr, n) for elements, or a void* for bytes");
  static_assert(!std::is_const_v<Dst>, "the destination is const");
  detail::call_on(stream, ::sconce_memory_set, ::sconce_memory_set_on, dst, value, bytes);
}

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_COPY_HPP
