/// \file
/// Arguments of the calls of cuBLAS, cuDNN and cuFFT: device memory with an element type, passed as
/// a pointer or as a view that knows its size. Not for callers.
#ifndef SCONCE_DETAIL_OPERAND_HPP
#define SCONCE_DETAIL_OPERAND_HPP

#include <sconce/c/library.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <sconce/cuda/dim_vector.hpp>
#include <sconce/cuda/scalar_type.hpp>
#include <sconce/cuda/span.hpp>
#include <string>
#include <type_traits>
#include <utility>

namespace sconce {
inline namespace v0 {
namespace detail {

/// The scalar type of a C++ type; none if it has none.
template <class T, class = void>
inline constexpr std::optional<cuda::ScalarType> scalar_type_v = std::nullopt;
template <class T>
inline constexpr std::optional<cuda::ScalarType>
    scalar_type_v<T, std::void_t<decltype(cuda::CppTypeToScalarType<T>::value)>> =
        cuda::CppTypeToScalarType<T>::value;

/// Whether a type is one of the libraries' real types: of half, single or double precision.
template <class T>
constexpr bool is_real() noexcept {
  constexpr std::optional<cuda::ScalarType> type = scalar_type_v<T>;
  constexpr bool half = type == cuda::ScalarType::Half || type == cuda::ScalarType::BFloat16;
  constexpr bool single = type == cuda::ScalarType::Float;
  constexpr bool real = half || single || type == cuda::ScalarType::Double;
  if constexpr (real) {
    static_assert(sizeof(T) == (half     ? 2
                                : single ? 4
                                         : 8),
                  "CppTypeToScalarType names a type of another size");
  }
  return real;
}
template <class T>
inline constexpr bool is_real_v = is_real<T>();

template <class T>
using RealOf = typename cuda::scalar_value_type<T>::type;
/// Whether a type is complex, of two parts of a real type.
template <class T>
constexpr bool is_complex() noexcept {
  constexpr bool complex = !std::is_same_v<RealOf<T>, T> && is_real_v<RealOf<T>>;
  if constexpr (complex) {
    static_assert(sizeof(T) == 2 * sizeof(RealOf<T>),
                  "scalar_value_type names a type of another size");
  }
  return complex;
}
template <class T>
inline constexpr bool is_complex_v = is_complex<T>();

/// Address of an operand, and the number of elements that may be used; unknown for a pointer.
template <class T>
struct Operand {
  using element = T;
  using value = std::remove_cv_t<T>;

  static constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();

  T* data;
  std::size_t size;
};

/// Returns the operand for an argument.
template <class T>
constexpr auto operand_of(const T& argument) noexcept {
  using Argument = std::remove_cv_t<std::decay_t<const T>>;
  constexpr bool usable = std::is_pointer_v<Argument> || is_device_view_v<Argument>;
  static_assert(!is_tensor_v<Argument>,
                "tensors have functions of their own: a.matmul(b), conv2d(a, b), fft::rfft(a)");
  static_assert(usable || is_tensor_v<Argument>,
                "libraries work on device memory of a type: a pointer, a DeviceSpan, or "
                "buffer.span<T>()");
  if constexpr (std::is_pointer_v<Argument>) {
    using Element = std::remove_pointer_t<Argument>;
    return Operand<Element>{argument, Operand<Element>::unknown};
  } else if constexpr (usable) {
    using Element = typename Argument::element_type;
    return Operand<Element>{argument.data(), argument.size()};
  } else {
    return Operand<float>{nullptr, 0};
  }
}

template <class T>
using OperandOf = decltype(operand_of(std::declval<const T&>()));

/// Checks that all operands have one type, and the last one can be written. Returns true.
template <class A, class B, class Result>
constexpr bool have_one_type() noexcept {
  using Written = typename OperandOf<Result>::element;
  using Value = typename OperandOf<Result>::value;
  static_assert(!std::is_const_v<Written>, "the destination is const");
  static_assert(std::is_same_v<typename OperandOf<A>::value, Value> &&
                    std::is_same_v<typename OperandOf<B>::value, Value>,
                "the elements have different types: convert them");
  return true;
}

/// Checks that all operands have one real type, and returns it.
template <class A, class B, class Result>
constexpr cuda::ScalarType common_real_type() noexcept {
  using Value = typename OperandOf<Result>::value;
  static_assert(have_one_type<A, B, Result>());
  static_assert(is_real_v<Value>,
                "the elements are of neither half, single nor double precision; for a type "
                "that is, specialise CppTypeToScalarType");
  return scalar_type_v<Value>.value_or(cuda::ScalarType::Float);
}

/// Checks that all operands have one type whose matrices are multiplied, and returns it.
template <class A, class B, class Result>
constexpr cuda::ScalarType common_product_type() noexcept {
  using Value = typename OperandOf<Result>::value;
  if constexpr (is_complex_v<Value>) {
    constexpr bool is_double = std::is_same_v<RealOf<Value>, double>;
    static_assert(have_one_type<A, B, Result>());
    static_assert(is_double || std::is_same_v<RealOf<Value>, float>,
                  "complex numbers of half precision are not multiplied");
    return is_double ? cuda::ScalarType::ComplexDouble : cuda::ScalarType::ComplexFloat;
  } else {
    return common_real_type<A, B, Result>();
  }
}

/// Returns `a * b`, or the largest number if the product overflows.
constexpr std::size_t times(std::size_t a, std::size_t b) noexcept {
  constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();
  return b != 0 && a > largest / b ? largest : a * b;
}

/// Returns the number of elements up to the last one that sizes and strides reach. Without strides,
/// elements are packed. Returns 0 for sizes and strides that the library refuses (negative numbers,
/// too few strides).
inline std::size_t extent_of(const cuda::DimVector& sizes, const cuda::DimVector& strides) {
  constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();
  bool packed = true;
  for (const std::int64_t stride : strides) {
    packed = packed && stride == 0;
  }
  if (!packed && strides.size() != sizes.size()) {
    return 0;
  }
  std::size_t extent = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] <= 0 || (!packed && strides[i] < 0)) {
      return 0;
    }
    const auto size = static_cast<std::size_t>(sizes[i]);
    if (packed) {
      extent = times(extent, size);
    } else {
      const std::size_t reach = times(size - 1, static_cast<std::size_t>(strides[i]));
      extent = reach > largest - extent ? largest : extent + reach;
    }
  }
  return extent;
}

/// \throws Error unless a view has the number of elements that a call reaches
template <class T>
void check_size(const Operand<T>& operand, const char* name, std::size_t reached) {
  if (operand.size < reached) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                std::string(name) + " has " + std::to_string(operand.size) +
                    " elements, and the description reaches " + std::to_string(reached));
  }
}

/// Writes strides into a field of a C struct.
/// \throws Error unless there are `count` of them, or none
inline void store(const cuda::DimVector& numbers, std::size_t count, const char* name,
                  std::int64_t* field) {
  if (!numbers.empty() && numbers.size() != count) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                std::string(name) + " has " + std::to_string(numbers.size()) +
                    " numbers; it needs " + std::to_string(count) + ", or none where packed");
  }
  std::copy(numbers.begin(), numbers.end(), field);
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_DETAIL_OPERAND_HPP
