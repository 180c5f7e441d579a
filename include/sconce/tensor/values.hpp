/// \file
/// Tensors of given values. `<sconce/tensor/tensor.hpp>` includes all headers of tensors.
#ifndef SCONCE_TENSOR_VALUES_HPP
#define SCONCE_TENSOR_VALUES_HPP

#include <sconce/c/library.h>
#include <sconce/c/tensor.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <sconce/cuda/span.hpp>
#include <sconce/detail/tensor_calls.hpp>
#include <sconce/tensor/copies.hpp>
#include <sconce/tensor/fills.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace detail {

template <class T>
inline constexpr bool is_std_complex_v = false;
template <class T>
inline constexpr bool is_std_complex_v<std::complex<T>> = true;

/// The type that holds values of a C++ type without loss, until they are converted to the tensor's
/// type.
template <class T>
using HeldAs =
    std::conditional_t<std::is_same_v<T, bool>, unsigned char,
                       std::conditional_t<std::is_integral_v<T>, std::int64_t,
                                          std::conditional_t<std::is_floating_point_v<T>, double,
                                                             std::complex<double>>>>;

/// The scalar type of `HeldAs<T>`.
template <class T>
constexpr ScalarType held_type() noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return ScalarType::Bool;
  } else {
    return cuda::CppTypeToScalarType<HeldAs<T>>::value;
  }
}

/// The type of a tensor of values of a C++ type: torch's default for their kind.
template <class T>
constexpr ScalarType default_type() noexcept {
  static_assert(std::is_arithmetic_v<T> || is_std_complex_v<T>,
                "values of a tensor are numbers of C++; for other elements use from_blob");
  if constexpr (std::is_same_v<T, bool>) {
    return ScalarType::Bool;
  } else if constexpr (std::is_integral_v<T>) {
    return ScalarType::Long;
  } else {
    return std::is_floating_point_v<T> ? ScalarType::Float : ScalarType::ComplexFloat;
  }
}

/// A tensor of values that are contiguous in host memory and have the type of the options.
template <class Stored>
Tensor tensor_of_values(const std::vector<Stored>& values, IntArrayRef sizes,
                        const TensorOptions& options) {
  const sconce_tensor_options asked = options.get();
  return tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_from_values(values.data(), values.size() * sizeof(Stored), sizes.data(),
                                       sizes.size(), &asked, out);
  });
}

/// A tensor of values of a C++ type. Values for the usual types are converted here, and values for
/// other types by the library.
template <class T>
Tensor tensor_of_held(const std::vector<HeldAs<T>>& values, IntArrayRef sizes,
                      const TensorOptions& options) {
  const ScalarType dtype = options.dtype_opt().value_or(default_type<T>());
  const TensorOptions typed = options.dtype(dtype);
  if (dtype == held_type<T>()) {
    return tensor_of_values(values, sizes, typed);
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (dtype == ScalarType::Float) {
      std::vector<float> floats;
      floats.reserve(values.size());
      for (const double value : values) {
        floats.push_back(static_cast<float>(value));
      }
      return tensor_of_values(floats, sizes, typed);
    }
  }
  const Tensor held = tensor_of_values(
      values, sizes, TensorOptions(held_type<T>()).device(Device(DeviceType::CPU)));
  const sconce_tensor_options asked = typed.get();
  const Tensor result = tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_empty(sizes.data(), sizes.size(), &asked, out);
  });
  return result.copy_(held);
}

/// Appends numbers of a C++ type.
template <class T, class Numbers>
void hold(std::vector<HeldAs<T>>& values, const Numbers& numbers) {
  for (const T number : numbers) {
    if constexpr (is_std_complex_v<T>) {
      values.emplace_back(number.real(), number.imag());
    } else {
      values.push_back(static_cast<HeldAs<T>>(number));
    }
  }
}

[[noreturn]] inline void throw_uneven(std::size_t dim, std::size_t expected, std::size_t found) {
  throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
              "expected sequence of length " + std::to_string(expected) + " at dim " +
                  std::to_string(dim) + " (got " + std::to_string(found) + ")");
}

}  // namespace detail

/// \name Tensors of given values
/// @{

/// The listed values: `tensor({1, 2, 3})`. Without a type in the options, real numbers are
/// `kFloat`, integers `kLong`, truth values `kBool`, complex numbers `kComplexFloat`.
template <class T>
[[nodiscard]] Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = {}) {
  std::vector<detail::HeldAs<T>> held;
  detail::hold<T>(held, values);
  return detail::tensor_of_held<T>(held, static_cast<std::int64_t>(values.size()), options);
}
/// A matrix of the listed rows: `tensor({{1, 2}, {3, 4}})`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if rows have different lengths
template <class T>
[[nodiscard]] Tensor tensor(std::initializer_list<std::initializer_list<T>> rows,
                            const TensorOptions& options = {}) {
  const std::size_t columns = rows.size() == 0 ? 0 : rows.begin()->size();
  std::vector<detail::HeldAs<T>> held;
  for (const std::initializer_list<T>& row : rows) {
    if (row.size() != columns) {
      detail::throw_uneven(1, columns, row.size());
    }
    detail::hold<T>(held, row);
  }
  return detail::tensor_of_held<T>(
      held, {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns)}, options);
}
/// Three dimensions of listed values: `tensor({{{1}, {2}}})`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if lists of a dimension have different lengths
template <class T>
[[nodiscard]] Tensor tensor(
    std::initializer_list<std::initializer_list<std::initializer_list<T>>> matrices,
    const TensorOptions& options = {}) {
  const std::size_t rows = matrices.size() == 0 ? 0 : matrices.begin()->size();
  const std::size_t columns = rows == 0 ? 0 : matrices.begin()->begin()->size();
  std::vector<detail::HeldAs<T>> held;
  for (const auto& matrix : matrices) {
    if (matrix.size() != rows) {
      detail::throw_uneven(1, rows, matrix.size());
    }
    for (const std::initializer_list<T>& row : matrix) {
      if (row.size() != columns) {
        detail::throw_uneven(2, columns, row.size());
      }
      detail::hold<T>(held, row);
    }
  }
  return detail::tensor_of_held<T>(
      held,
      {static_cast<std::int64_t>(matrices.size()), static_cast<std::int64_t>(rows),
       static_cast<std::int64_t>(columns)},
      options);
}
/// The values of a vector. The type is chosen as for a list.
template <class T>
[[nodiscard]] Tensor tensor(const std::vector<T>& values, const TensorOptions& options = {}) {
  std::vector<detail::HeldAs<T>> held;
  held.reserve(values.size());
  detail::hold<T>(held, values);
  return detail::tensor_of_held<T>(held, static_cast<std::int64_t>(values.size()), options);
}
/// The values of a view. The type is chosen as for a list.
template <class T>
[[nodiscard]] Tensor tensor(cuda::Span<T> values, const TensorOptions& options = {}) {
  using Value = std::remove_cv_t<T>;
  std::vector<detail::HeldAs<Value>> held;
  held.reserve(values.size());
  detail::hold<Value>(held, values);
  return detail::tensor_of_held<Value>(held, static_cast<std::int64_t>(values.size()), options);
}
/// One value, without dimensions: `tensor(3.5)`. The type is chosen as for a list.
template <class T,
          std::enable_if_t<std::is_arithmetic_v<T> || detail::is_std_complex_v<T>, int> = 0>
[[nodiscard]] Tensor tensor(T value, const TensorOptions& options = {}) {
  std::vector<detail::HeldAs<T>> held;
  detail::hold<T>(held, std::initializer_list<T>{value});
  return detail::tensor_of_held<T>(held, IntArrayRef(), options);
}

/// @}

template <class T>
Tensor Tensor::new_tensor(std::initializer_list<T> values, const TensorOptions& options) const {
  return tensor(values, detail::options_like(*this, options));
}
template <class T>
Tensor Tensor::new_tensor(std::initializer_list<std::initializer_list<T>> values,
                          const TensorOptions& options) const {
  return tensor(values, detail::options_like(*this, options));
}
template <class Values>
Tensor Tensor::new_tensor(const Values& values, const TensorOptions& options) const {
  return tensor(values, detail::options_like(*this, options));
}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_VALUES_HPP
