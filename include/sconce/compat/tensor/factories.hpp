/// \file
/// New tensors as ATen makes them: without a device in the options they are on the CPU, whereas
/// `sconce::empty` and the others make tensors on the current device. Part of
/// `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_TENSOR_FACTORIES_HPP
#define SCONCE_COMPAT_TENSOR_FACTORIES_HPP

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <sconce/tensor/factories.hpp>
#include <utility>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace detail {

/// Options on the CPU where they set no device.
[[nodiscard]] inline TensorOptions on_host(const TensorOptions& options) {
  return options.device_opt() ? options : options.device(Device(DeviceType::CPU));
}
/// Options of four values that may be left out, as ATen's functions take them.
[[nodiscard]] inline TensorOptions options_of(std::optional<cuda::ScalarType> dtype,
                                              std::optional<Device> device,
                                              std::optional<bool> pinned) {
  return TensorOptions().dtype(dtype).device(device).pinned_memory(pinned.value_or(false));
}

}  // namespace detail

namespace at {

/// \name New tensors, of the CPU unless the options name a device
/// @{

/// A tensor whose values are not set.
[[nodiscard]] inline Tensor empty(IntArrayRef size, const TensorOptions& options = {}) {
  return ::sconce::empty(size, detail::on_host(options));
}
/// A tensor in a memory format, whose values are not set.
[[nodiscard]] inline Tensor empty(IntArrayRef size, const TensorOptions& options,
                                  MemoryFormat format) {
  return ::sconce::empty(size, detail::on_host(options), format);
}
/// A tensor in a memory format that may be left out, whose values are not set.
[[nodiscard]] inline Tensor empty(IntArrayRef size, const TensorOptions& options,
                                  std::optional<MemoryFormat> format) {
  return format ? empty(size, options, *format) : empty(size, options);
}
/// A tensor whose values are not set.
[[nodiscard]] inline Tensor empty(IntArrayRef size, std::optional<ScalarType> dtype,
                                  std::optional<Layout>, std::optional<Device> device,
                                  std::optional<bool> pin_memory,
                                  std::optional<MemoryFormat> format = std::nullopt) {
  const TensorOptions options = detail::options_of(dtype, device, pin_memory);
  return format ? empty(size, options, *format) : empty(size, options);
}
/// A tensor with the given strides, whose values are not set.
[[nodiscard]] inline Tensor empty_strided(IntArrayRef size, IntArrayRef stride,
                                          const TensorOptions& options = {}) {
  return ::sconce::empty_strided(size, stride, detail::on_host(options));
}
/// A tensor of one value; without a type in the options, of the value's kind.
[[nodiscard]] inline Tensor full(IntArrayRef size, const Scalar& fill_value,
                                 const TensorOptions& options = {}) {
  return ::sconce::full(size, fill_value, detail::on_host(options));
}
/// A tensor of zeros.
[[nodiscard]] inline Tensor zeros(IntArrayRef size, const TensorOptions& options = {}) {
  return ::sconce::zeros(size, detail::on_host(options));
}
/// A tensor of zeros.
[[nodiscard]] inline Tensor zeros(IntArrayRef size, std::optional<ScalarType> dtype,
                                  std::optional<Layout>, std::optional<Device> device,
                                  std::optional<bool> pin_memory) {
  return zeros(size, detail::options_of(dtype, device, pin_memory));
}
/// A tensor of ones.
[[nodiscard]] inline Tensor ones(IntArrayRef size, const TensorOptions& options = {}) {
  return ::sconce::ones(size, detail::on_host(options));
}
/// A tensor without dimensions; without a type in the options it is `kFloat`.
[[nodiscard]] inline Tensor scalar_tensor(const Scalar& value, const TensorOptions& options = {}) {
  const TensorOptions typed = options.dtype(options.dtype_opt().value_or(ScalarType::Float));
  return ::sconce::full({}, value, detail::on_host(typed));
}
/// Numbers from `start` up to, excluding, `end` in steps of `step`.
[[nodiscard]] inline Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
                                   const TensorOptions& options = {}) {
  return ::sconce::arange(start, end, step, detail::on_host(options));
}
/// Numbers from `start` up to, excluding, `end`.
[[nodiscard]] inline Tensor arange(const Scalar& start, const Scalar& end,
                                   const TensorOptions& options = {}) {
  return ::sconce::arange(start, end, detail::on_host(options));
}
/// Numbers from 0 up to, excluding, `end`.
[[nodiscard]] inline Tensor arange(const Scalar& end, const TensorOptions& options = {}) {
  return ::sconce::arange(end, detail::on_host(options));
}
/// `steps` numbers from `start` to `end`, both included.
[[nodiscard]] inline Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps,
                                     const TensorOptions& options = {}) {
  return ::sconce::linspace(start, end, steps, detail::on_host(options));
}
/// A matrix with ones on its main diagonal, and zeros elsewhere.
[[nodiscard]] inline Tensor eye(std::int64_t n, std::int64_t m, const TensorOptions& options = {}) {
  return ::sconce::eye(n, m, detail::on_host(options));
}
/// A square matrix with ones on its main diagonal, and zeros elsewhere.
[[nodiscard]] inline Tensor eye(std::int64_t n, const TensorOptions& options = {}) {
  return ::sconce::eye(n, detail::on_host(options));
}
/// Numbers from 0 to 1, excluding 1.
[[nodiscard]] inline Tensor rand(IntArrayRef size,
                                 const ::sconce::cuda::OptionalGenerator& generator,
                                 const TensorOptions& options = {}) {
  return ::sconce::rand(size, generator, detail::on_host(options));
}
/// Numbers from 0 to 1, excluding 1.
[[nodiscard]] inline Tensor rand(IntArrayRef size, const TensorOptions& options = {}) {
  return ::sconce::rand(size, detail::on_host(options));
}
/// Normally distributed numbers.
[[nodiscard]] inline Tensor randn(IntArrayRef size,
                                  const ::sconce::cuda::OptionalGenerator& generator,
                                  const TensorOptions& options = {}) {
  return ::sconce::randn(size, generator, detail::on_host(options));
}
/// Normally distributed numbers.
[[nodiscard]] inline Tensor randn(IntArrayRef size, const TensorOptions& options = {}) {
  return ::sconce::randn(size, detail::on_host(options));
}
/// Integers from `low` to `high`, excluding `high`; the default type is `kLong`.
[[nodiscard]] inline Tensor randint(std::int64_t low, std::int64_t high, IntArrayRef size,
                                    const TensorOptions& options = {}) {
  return ::sconce::randint(low, high, size, detail::on_host(options));
}
/// Integers from 0 to `high`, excluding `high`; the default type is `kLong`.
[[nodiscard]] inline Tensor randint(std::int64_t high, IntArrayRef size,
                                    const TensorOptions& options = {}) {
  return ::sconce::randint(high, size, detail::on_host(options));
}
/// The numbers from 0 to `n - 1` in a random order; the default type is `kLong`.
[[nodiscard]] inline Tensor randperm(std::int64_t n, const TensorOptions& options = {}) {
  return ::sconce::randperm(n, detail::on_host(options));
}
/// The listed values, as `sconce::tensor`.
template <class T>
[[nodiscard]] Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = {}) {
  return ::sconce::tensor(values, detail::on_host(options));
}
/// A matrix of the listed rows, as `sconce::tensor`.
template <class T>
[[nodiscard]] Tensor tensor(std::initializer_list<std::initializer_list<T>> rows,
                            const TensorOptions& options = {}) {
  return ::sconce::tensor(rows, detail::on_host(options));
}
/// Values of a vector or a view, or one value without dimensions, as `sconce::tensor`.
template <class Values>
[[nodiscard]] Tensor tensor(const Values& values, const TensorOptions& options = {}) {
  return ::sconce::tensor(values, detail::on_host(options));
}

/// @}

}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_TENSOR_FACTORIES_HPP
