/// \file
/// New tensors. Without a device in the options they are on the current device, and so is their
/// memory's stream.
#ifndef SCONCE_TENSOR_FACTORIES_HPP
#define SCONCE_TENSOR_FACTORIES_HPP

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <sconce/tensor_body.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace detail {

template <class T>
inline constexpr bool is_std_complex_v = false;
template <class T>
inline constexpr bool is_std_complex_v<std::complex<T>> = true;

/// The type that holds values of a C++ type without loss, until they have the tensor's type.
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

/// A tensor of values that lie one after another in host memory and have the type of the options.
template <class Stored>
Tensor tensor_of_values(const std::vector<Stored>& values, IntArrayRef sizes,
                        const TensorOptions& options) {
  const sconce_tensor_options asked = options.get();
  return tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_from_values(values.data(), values.size() * sizeof(Stored), sizes.data(),
                                       sizes.size(), &asked, out);
  });
}

/// A tensor of values of a C++ type. Those of the usual types are converted on the way, others by
/// the library.
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

/// The C API's deleter of `from_blob`: what it calls, and with what.
struct BlobDeleter {
  std::function<void(void*)> call;
  void* data;

  static void run(void* context) noexcept {
    const std::unique_ptr<BlobDeleter> deleter(static_cast<BlobDeleter*>(context));
    deleter->call(deleter->data);
  }
};

/// Bytes from the first element to the end of the last.
inline std::size_t blob_bytes(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype) {
  std::int64_t last = 0;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] <= 0) {
      return 0;  // no elements, or a size that the library refuses
    }
    last += (sizes[dim] - 1) * strides[dim];
  }
  return static_cast<std::size_t>(last + 1) * cuda::elementSize(dtype);
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {

/// \name Empty tensors, and tensors of one value
/// @{

/// A tensor whose values are not set: `empty({2, 3}, device(1).dtype(kHalf))`.
[[nodiscard]] inline Tensor empty(IntArrayRef size, const TensorOptions& options = {}) {
  const sconce_tensor_options asked = options.get();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_empty(size.data(), size.size(), &asked, out);
  });
}
/// A tensor with strides of the caller's choice, whose values are not set.
[[nodiscard]] inline Tensor empty_strided(IntArrayRef size, IntArrayRef stride,
                                          const TensorOptions& options = {}) {
  if (size.size() != stride.size()) {
    detail::throw_other_rank(size.size(), stride.size());
  }
  const sconce_tensor_options asked = options.get();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_empty_strided(size.data(), stride.data(), size.size(), &asked, out);
  });
}
/// A tensor of one value; without a type in the options, of the value's kind.
[[nodiscard]] inline Tensor full(IntArrayRef size, const Scalar& fill_value,
                                 const TensorOptions& options = {}) {
  const sconce_tensor_options asked = options.get();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_full(size.data(), size.size(), fill_value.get(), &asked, out);
  });
}
/// A tensor of zeros.
[[nodiscard]] inline Tensor zeros(IntArrayRef size, const TensorOptions& options = {}) {
  return full(size, 0.0, options);
}
/// A tensor of ones.
[[nodiscard]] inline Tensor ones(IntArrayRef size, const TensorOptions& options = {}) {
  return full(size, 1.0, options);
}

/// @}
/// \name Tensors like another: its sizes, and its type and device unless `options` say otherwise
/// @{

/// A tensor whose values are not set.
[[nodiscard]] inline Tensor empty_like(const TensorBase& self, const TensorOptions& options = {}) {
  const sconce_tensor_options asked = options.get();
  return detail::tensor_of(
      [&](sconce_tensor** out) { return ::sconce_tensor_empty_like(self.get(), &asked, out); });
}
/// A tensor of one value.
[[nodiscard]] inline Tensor full_like(const TensorBase& self, const Scalar& fill_value,
                                      const TensorOptions& options = {}) {
  const sconce_tensor_options asked = options.get();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_full_like(self.get(), fill_value.get(), &asked, out);
  });
}
/// A tensor of zeros.
[[nodiscard]] inline Tensor zeros_like(const TensorBase& self, const TensorOptions& options = {}) {
  return full_like(self, 0, options);
}
/// A tensor of ones.
[[nodiscard]] inline Tensor ones_like(const TensorBase& self, const TensorOptions& options = {}) {
  return full_like(self, 1, options);
}

/// @}
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

/// Numbers from `start` up to, excluding, `end` in steps of `step`. The default type is `kLong` if
/// all three are integers.
[[nodiscard]] inline Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
                                   const TensorOptions& options = {}) {
  const sconce_tensor_options asked = options.get();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_arange(start.get(), end.get(), step.get(), &asked, out);
  });
}
/// Numbers from `start` up to, excluding, `end`.
[[nodiscard]] inline Tensor arange(const Scalar& start, const Scalar& end,
                                   const TensorOptions& options = {}) {
  return arange(start, end, 1, options);
}
/// Numbers from 0 up to, excluding, `end`.
[[nodiscard]] inline Tensor arange(const Scalar& end, const TensorOptions& options = {}) {
  return arange(0, end, 1, options);
}
/// `steps` numbers from `start` to `end`, both included.
[[nodiscard]] inline Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps,
                                     const TensorOptions& options = {}) {
  const sconce_tensor_options asked = options.get();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_linspace(start.get(), end.get(), steps, &asked, out);
  });
}
/// A matrix with ones on its main diagonal, and zeros elsewhere.
[[nodiscard]] inline Tensor eye(std::int64_t n, std::int64_t m, const TensorOptions& options = {}) {
  const sconce_tensor_options asked = options.get();
  return detail::tensor_of(
      [&](sconce_tensor** out) { return ::sconce_tensor_eye(n, m, &asked, out); });
}
/// A square matrix with ones on its main diagonal, and zeros elsewhere.
[[nodiscard]] inline Tensor eye(std::int64_t n, const TensorOptions& options = {}) {
  return eye(n, n, options);
}

/// @}
/// \name Random tensors, with torch's bits
/// @{

/// Numbers from 0 to 1, excluding 1.
[[nodiscard]] inline Tensor rand(IntArrayRef size, const cuda::OptionalGenerator& generator,
                                 const TensorOptions& options = {}) {
  return empty(size, options).uniform_(0.0, 1.0, generator);
}
/// Numbers from 0 to 1, excluding 1.
[[nodiscard]] inline Tensor rand(IntArrayRef size, const TensorOptions& options = {}) {
  return rand(size, std::nullopt, options);
}
/// Normally distributed numbers.
[[nodiscard]] inline Tensor randn(IntArrayRef size, const cuda::OptionalGenerator& generator,
                                  const TensorOptions& options = {}) {
  return empty(size, options).normal_(0.0, 1.0, generator);
}
/// Normally distributed numbers.
[[nodiscard]] inline Tensor randn(IntArrayRef size, const TensorOptions& options = {}) {
  return randn(size, std::nullopt, options);
}
/// Whole numbers from `low` to `high`, excluding `high`; the default type is `kLong`.
[[nodiscard]] inline Tensor randint(std::int64_t low, std::int64_t high, IntArrayRef size,
                                    const cuda::OptionalGenerator& generator,
                                    const TensorOptions& options = {}) {
  const TensorOptions typed = options.dtype(options.dtype_opt().value_or(ScalarType::Long));
  return empty(size, typed).random_(low, high, generator);
}
/// Whole numbers from `low` to `high`, excluding `high`; the default type is `kLong`.
[[nodiscard]] inline Tensor randint(std::int64_t low, std::int64_t high, IntArrayRef size,
                                    const TensorOptions& options = {}) {
  return randint(low, high, size, std::nullopt, options);
}
/// Whole numbers from 0 to `high`, excluding `high`; the default type is `kLong`.
[[nodiscard]] inline Tensor randint(std::int64_t high, IntArrayRef size,
                                    const TensorOptions& options = {}) {
  return randint(0, high, size, std::nullopt, options);
}
/// Numbers from 0 to 1, excluding 1, in a tensor like another.
[[nodiscard]] inline Tensor rand_like(const TensorBase& self, const TensorOptions& options = {}) {
  return empty_like(self, options).uniform_();
}
/// Normally distributed numbers in a tensor like another.
[[nodiscard]] inline Tensor randn_like(const TensorBase& self, const TensorOptions& options = {}) {
  return empty_like(self, options).normal_();
}
/// Whole numbers from `low` to `high`, excluding `high`, in a tensor like another.
[[nodiscard]] inline Tensor randint_like(const TensorBase& self, std::int64_t low,
                                         std::int64_t high, const TensorOptions& options = {}) {
  return empty_like(self, options).random_(low, high);
}
/// Whole numbers from 0 to `high`, excluding `high`, in a tensor like another.
[[nodiscard]] inline Tensor randint_like(const TensorBase& self, std::int64_t high,
                                         const TensorOptions& options = {}) {
  return randint_like(self, 0, high, options);
}

/// @}
/// \name Memory of others
/// @{

/// A tensor over memory of others. Without a device in the options it is the CPU's, as in torch.
/// \param data the first element
/// \param sizes elements along each dimension
/// \param strides elements from one index of each dimension to the next
/// \param options type and device of the elements
/// \param deleter called once with `data` when no tensor uses the memory any more, on the thread
///        that gives up the last one; it must not throw, and is not called if this function does
[[nodiscard]] inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                                      std::function<void(void*)> deleter,
                                      const TensorOptions& options = {}) {
  if (sizes.size() != strides.size()) {
    detail::throw_other_rank(sizes.size(), strides.size());
  }
  const ScalarType dtype = options.dtype_opt().value_or(ScalarType::Float);
  const Device device = options.device_opt().value_or(Device(DeviceType::CPU));
  auto context =
      deleter ? std::make_unique<detail::BlobDeleter>(detail::BlobDeleter{std::move(deleter), data})
              : nullptr;
  Tensor tensor = detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_from_memory(
        data, detail::blob_bytes(sizes, strides, dtype), sizes.data(), strides.data(), sizes.size(),
        static_cast<std::int32_t>(dtype), detail::number_of(device),
        context ? &detail::BlobDeleter::run : nullptr, context.get(), out);
  });
  static_cast<void>(context.release());  // the memory owns it now
  return tensor;
}
/// A tensor over memory of others, with a deleter, whose elements lie one after another.
[[nodiscard]] inline Tensor from_blob(void* data, IntArrayRef sizes,
                                      std::function<void(void*)> deleter,
                                      const TensorOptions& options = {}) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t next = 1;
  for (std::size_t dim = sizes.size(); dim-- > 0;) {
    strides[dim] = next;
    next *= std::max<std::int64_t>(sizes[dim], 1);
  }
  return from_blob(data, sizes, strides, std::move(deleter), options);
}
/// A tensor over memory that outlives it.
[[nodiscard]] inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                                      const TensorOptions& options = {}) {
  return from_blob(data, sizes, strides, nullptr, options);
}
/// A tensor over memory that outlives it, whose elements lie one after another.
[[nodiscard]] inline Tensor from_blob(void* data, IntArrayRef sizes,
                                      const TensorOptions& options = {}) {
  return from_blob(data, sizes, std::function<void(void*)>(), options);
}

/// @}

template <class T>
Tensor Tensor::new_tensor(std::initializer_list<T> values, const TensorOptions& options) const {
  return tensor(values, like(options));
}
template <class T>
Tensor Tensor::new_tensor(std::initializer_list<std::initializer_list<T>> values,
                          const TensorOptions& options) const {
  return tensor(values, like(options));
}
template <class Values>
Tensor Tensor::new_tensor(const Values& values, const TensorOptions& options) const {
  return tensor(values, like(options));
}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_FACTORIES_HPP
