/// \file
/// New tensors. Without a device in the options, they are on the current device, with memory for
/// its current stream. Tensors of given values are in `tensor/values.hpp`, and tensors over memory
/// of other owners in `tensor/blob.hpp`; this header includes both.
#ifndef SCONCE_TENSOR_FACTORIES_HPP
#define SCONCE_TENSOR_FACTORIES_HPP

#include <sconce/c/tensor.h>

#include <cstdint>
#include <optional>
#include <sconce/detail/tensor_calls.hpp>
#include <sconce/tensor/blob.hpp>
#include <sconce/tensor/fills.hpp>
#include <sconce/tensor/values.hpp>

namespace sconce {
inline namespace v0 {

// Functions that make a tensor like no other are templates without a parameter to choose: where
// <sconce/compat/tensor/factories.hpp> declares functions of the same parameters, which make
// tensors of the CPU, calls without a namespace prefer those.

/// \name Empty tensors, and tensors of one value
/// @{

/// A tensor whose values are not set: `empty({2, 3}, device(1).dtype(kHalf))`.
template <class = void>
[[nodiscard]] Tensor empty(IntArrayRef size, const TensorOptions& options = {}) {
  const sconce_tensor_options asked = options.get();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_empty(size.data(), size.size(), &asked, out);
  });
}
/// A tensor in a memory format, whose values are not set.
template <class = void>
[[nodiscard]] Tensor empty(IntArrayRef size, const TensorOptions& options, MemoryFormat format) {
  return empty(size, options.memory_format(format));
}
/// A tensor with the given strides, whose values are not set.
template <class = void>
[[nodiscard]] Tensor empty_strided(IntArrayRef size, IntArrayRef stride,
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
template <class = void>
[[nodiscard]] Tensor full(IntArrayRef size, const Scalar& fill_value,
                          const TensorOptions& options = {}) {
  const sconce_tensor_options asked = options.get();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_full(size.data(), size.size(), fill_value.get(), &asked, out);
  });
}
/// A tensor of zeros.
template <class = void>
[[nodiscard]] Tensor zeros(IntArrayRef size, const TensorOptions& options = {}) {
  return full(size, 0.0, options);
}
/// A tensor of ones.
template <class = void>
[[nodiscard]] Tensor ones(IntArrayRef size, const TensorOptions& options = {}) {
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
/// A tensor whose values are not set, in an order in memory.
[[nodiscard]] inline Tensor empty_like(const TensorBase& self, const TensorOptions& options,
                                       MemoryFormat format) {
  return empty_like(self, options.memory_format(format));
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
/// \name Numbers in steps, and ones on a diagonal
/// @{

/// Numbers from `start` up to, excluding, `end` in steps of `step`. The default type is `kLong` if
/// all three are integers.
template <class = void>
[[nodiscard]] Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
                            const TensorOptions& options = {}) {
  const sconce_tensor_options asked = options.get();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_arange(start.get(), end.get(), step.get(), &asked, out);
  });
}
/// Numbers from `start` up to, excluding, `end`.
template <class = void>
[[nodiscard]] Tensor arange(const Scalar& start, const Scalar& end,
                            const TensorOptions& options = {}) {
  return arange(start, end, 1, options);
}
/// Numbers from 0 up to, excluding, `end`.
template <class = void>
[[nodiscard]] Tensor arange(const Scalar& end, const TensorOptions& options = {}) {
  return arange(0, end, 1, options);
}
/// `steps` numbers from `start` to `end`, both included.
template <class = void>
[[nodiscard]] Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps,
                              const TensorOptions& options = {}) {
  const sconce_tensor_options asked = options.get();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_linspace(start.get(), end.get(), steps, &asked, out);
  });
}
/// A matrix with ones on its main diagonal, and zeros elsewhere.
template <class = void>
[[nodiscard]] Tensor eye(std::int64_t n, std::int64_t m, const TensorOptions& options = {}) {
  const sconce_tensor_options asked = options.get();
  return detail::tensor_of(
      [&](sconce_tensor** out) { return ::sconce_tensor_eye(n, m, &asked, out); });
}
/// A square matrix with ones on its main diagonal, and zeros elsewhere.
template <class = void>
[[nodiscard]] Tensor eye(std::int64_t n, const TensorOptions& options = {}) {
  return eye(n, n, options);
}

/// @}
/// \name Random tensors, with torch's bits
/// @{

/// Numbers from 0 to 1, excluding 1.
template <class = void>
[[nodiscard]] Tensor rand(IntArrayRef size, const cuda::OptionalGenerator& generator,
                          const TensorOptions& options = {}) {
  return empty(size, options).uniform_(0.0, 1.0, generator);
}
/// Numbers from 0 to 1, excluding 1.
template <class = void>
[[nodiscard]] Tensor rand(IntArrayRef size, const TensorOptions& options = {}) {
  return rand(size, std::nullopt, options);
}
/// Normally distributed numbers.
template <class = void>
[[nodiscard]] Tensor randn(IntArrayRef size, const cuda::OptionalGenerator& generator,
                           const TensorOptions& options = {}) {
  return empty(size, options).normal_(0.0, 1.0, generator);
}
/// Normally distributed numbers.
template <class = void>
[[nodiscard]] Tensor randn(IntArrayRef size, const TensorOptions& options = {}) {
  return randn(size, std::nullopt, options);
}
/// Integers from `low` to `high`, excluding `high`; the default type is `kLong`.
template <class = void>
[[nodiscard]] Tensor randint(std::int64_t low, std::int64_t high, IntArrayRef size,
                             const cuda::OptionalGenerator& generator,
                             const TensorOptions& options = {}) {
  const TensorOptions typed = options.dtype(options.dtype_opt().value_or(ScalarType::Long));
  return empty(size, typed).random_(low, high, generator);
}
/// Integers from `low` to `high`, excluding `high`; the default type is `kLong`.
template <class = void>
[[nodiscard]] Tensor randint(std::int64_t low, std::int64_t high, IntArrayRef size,
                             const TensorOptions& options = {}) {
  return randint(low, high, size, std::nullopt, options);
}
/// Integers from 0 to `high`, excluding `high`; the default type is `kLong`.
template <class = void>
[[nodiscard]] Tensor randint(std::int64_t high, IntArrayRef size,
                             const TensorOptions& options = {}) {
  return randint(0, high, size, std::nullopt, options);
}
/// The numbers from 0 to `n - 1` in a random order; the default type is `kLong`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if `n` is negative, or the type cannot hold them
template <class = void>
[[nodiscard]] Tensor randperm(std::int64_t n, const cuda::OptionalGenerator& generator,
                              const TensorOptions& options = {}) {
  const sconce_tensor_options asked = options.get();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_randperm(n, detail::handle(generator), &asked, out);
  });
}
/// The numbers from 0 to `n - 1` in a random order; the default type is `kLong`.
template <class = void>
[[nodiscard]] Tensor randperm(std::int64_t n, const TensorOptions& options = {}) {
  return randperm(n, std::nullopt, options);
}
/// Numbers from 0 to 1, excluding 1, in a tensor like another.
[[nodiscard]] inline Tensor rand_like(const TensorBase& self, const TensorOptions& options = {}) {
  return empty_like(self, options).uniform_();
}
/// Normally distributed numbers in a tensor like another.
[[nodiscard]] inline Tensor randn_like(const TensorBase& self, const TensorOptions& options = {}) {
  return empty_like(self, options).normal_();
}
/// Integers from `low` to `high`, excluding `high`, in a tensor like another.
[[nodiscard]] inline Tensor randint_like(const TensorBase& self, std::int64_t low,
                                         std::int64_t high, const TensorOptions& options = {}) {
  return empty_like(self, options).random_(low, high);
}
/// Integers from 0 to `high`, excluding `high`, in a tensor like another.
[[nodiscard]] inline Tensor randint_like(const TensorBase& self, std::int64_t high,
                                         const TensorOptions& options = {}) {
  return randint_like(self, 0, high, options);
}

/// @}

/// \name Values in a tensor of the caller
/// The values have the type of `out`. `arange_out`, `linspace_out` and `randperm_out` keep the
/// shape of an `out` that has the right number of elements; the others resize it without a warning.
/// An undefined `out` becomes a tensor of the current device.
/// @{

/// Any values, of the given size.
inline Tensor& empty_out(Tensor& out, IntArrayRef size) {
  if (!out.defined()) {
    return out = empty(size);
  }
  out.resize_(size);
  return out;
}
/// One value.
inline Tensor& full_out(Tensor& out, IntArrayRef size, const Scalar& fill_value) {
  empty_out(out, size).fill_(fill_value);
  return out;
}
/// Zeros.
inline Tensor& zeros_out(Tensor& out, IntArrayRef size) { return full_out(out, size, 0); }
/// Ones.
inline Tensor& ones_out(Tensor& out, IntArrayRef size) { return full_out(out, size, 1); }
/// Numbers from `start` up to, but excluding, `end`, in steps of `step`.
inline Tensor& arange_out(Tensor& out, const Scalar& start, const Scalar& end,
                          const Scalar& step = 1) {
  return detail::write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_arange_out(start.get(), end.get(), step.get(), into);
  });
}
/// The numbers from 0 up to, but excluding, `end`.
inline Tensor& arange_out(Tensor& out, const Scalar& end) { return arange_out(out, 0, end); }
/// `steps` numbers at equal distances from `start` to `end`, both included.
inline Tensor& linspace_out(Tensor& out, const Scalar& start, const Scalar& end,
                            std::int64_t steps) {
  return detail::write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_linspace_out(start.get(), end.get(), steps, into);
  });
}
/// A matrix with ones on the main diagonal, and zeros elsewhere.
inline Tensor& eye_out(Tensor& out, std::int64_t n, std::int64_t m) {
  return detail::write_to(out,
                          [&](sconce_tensor* into) { return ::sconce_tensor_eye_out(n, m, into); });
}
/// A square matrix with ones on the main diagonal, and zeros elsewhere.
inline Tensor& eye_out(Tensor& out, std::int64_t n) { return eye_out(out, n, n); }
/// Random numbers from 0 to 1, excluding 1.
inline Tensor& rand_out(Tensor& out, IntArrayRef size,
                        const cuda::OptionalGenerator& generator = std::nullopt) {
  empty_out(out, size).uniform_(0, 1, generator);
  return out;
}
/// Normally distributed random numbers.
inline Tensor& randn_out(Tensor& out, IntArrayRef size,
                         const cuda::OptionalGenerator& generator = std::nullopt) {
  empty_out(out, size).normal_(0, 1, generator);
  return out;
}
/// Random integers from `low` to `high`, excluding `high`.
inline Tensor& randint_out(Tensor& out, std::int64_t low, std::int64_t high, IntArrayRef size,
                           const cuda::OptionalGenerator& generator = std::nullopt) {
  empty_out(out, size).random_(low, high, generator);
  return out;
}
/// Random integers from 0 to `high`, excluding `high`.
inline Tensor& randint_out(Tensor& out, std::int64_t high, IntArrayRef size,
                           const cuda::OptionalGenerator& generator = std::nullopt) {
  return randint_out(out, 0, high, size, generator);
}
/// The numbers from 0 to `n - 1` in a random order.
inline Tensor& randperm_out(Tensor& out, std::int64_t n,
                            const cuda::OptionalGenerator& generator = std::nullopt) {
  return detail::write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_randperm_out(n, detail::handle(generator), into);
  });
}

/// @}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_FACTORIES_HPP
