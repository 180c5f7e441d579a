/// \file
/// Random numbers: seeds, and fills of device memory with PyTorch's bits.
///
/// Fills write elements on the current stream, as torch's tensor methods of the same names fill a
/// contiguous tensor. Their argument is a `DeviceSpan`, which has size and type; or a buffer and a
/// `ScalarType`; or an address, a number of elements and a `ScalarType`. In a graph, every replay
/// draws new numbers. Const elements, elements without a `ScalarType` and temporary buffers do not
/// compile.
#ifndef SCONCE_CUDA_RANDOM_HPP
#define SCONCE_CUDA_RANDOM_HPP

#include <sconce/c/random.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <sconce/cuda/generator.hpp>
#include <sconce/cuda/scalar_type.hpp>
#include <sconce/cuda/span.hpp>
#include <sconce/cuda/stream.hpp>
#include <sconce/detail/operand.hpp>
#include <type_traits>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Seeds the current device's default generator. Needs no device: the seed is kept until the first
/// use.
inline void manual_seed(std::uint64_t seed) { detail::check(::sconce_random_manual_seed(seed)); }

/// Seeds the default generators of all devices. Needs no device: the seed is kept until the first
/// use.
inline void manual_seed_all(std::uint64_t seed) {
  detail::check(::sconce_random_manual_seed_all(seed));
}

/// Seeds the current device's default generator from the operating system, and returns the seed.
inline std::uint64_t seed() {
  std::uint64_t seed = 0;
  detail::check(::sconce_random_seed(&seed));
  return seed;
}

/// Seeds all default generators with one seed from the operating system, and returns it.
inline std::uint64_t seed_all() {
  std::uint64_t seed = 0;
  detail::check(::sconce_random_seed_all(&seed));
  return seed;
}

/// The seed of the current device's default generator.
[[nodiscard]] inline std::uint64_t initial_seed() {
  std::uint64_t seed = 0;
  detail::check(::sconce_random_get_initial_seed(&seed));
  return seed;
}

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace detail {

/// The elements of a fill.
struct Filled {
  void* data;
  std::size_t size;
  cuda::ScalarType type;
};

/// The elements of a view.
template <class Target>
Filled filled(const Target& target) {
  constexpr bool buffer = has_bytes_v<const Target>;
  constexpr bool pointer = std::is_pointer_v<std::decay_t<const Target>>;
  constexpr bool view = is_device_view_v<Target>;
  static_assert(!buffer,
                "a buffer has no element type: pass buffer.span<T>(), or add a "
                "ScalarType");
  static_assert(!pointer, "a pointer has no size: pass DeviceSpan(ptr, n)");
  constexpr bool tensor = is_tensor_v<std::decay_t<Target>>;
  static_assert(!tensor, "a tensor is filled by its own functions: a.normal_(), a.uniform_()");
  static_assert(buffer || pointer || view || tensor, "fills write device memory: a DeviceSpan");
  if constexpr (view) {
    using Value = typename Target::value_type;
    constexpr std::optional<cuda::ScalarType> type = scalar_type_v<Value>;
    static_assert(!std::is_const_v<typename Target::element_type>, "the destination is const");
    static_assert(type.has_value(),
                  "the elements have no ScalarType; for a type that is one, specialise "
                  "CppTypeToScalarType");
    static_assert(!type.has_value() || sizeof(Value) == elementSize(*type),
                  "CppTypeToScalarType names a type of another size");
    return {target.data(), target.size(), *type};
  } else {
    return {};
  }
}

/// The elements of a buffer.
/// \throws Error if bytes remain
template <class Buffer>
Filled filled(Buffer& buffer, cuda::ScalarType type) {
  const auto bytes = buffer.template span<std::byte>();
  using Byte = typename decltype(bytes)::element_type;
  static_assert(!std::is_const_v<Byte>, "the destination is const");
  const std::size_t element = elementSize(type);
  if (element != 0 && bytes.size() % element != 0) {
    throw_not_divisible(bytes.size(), element);
  }
  if constexpr (!std::is_const_v<Byte>) {
    // The library refuses an unknown type.
    return {bytes.data(), element == 0 ? 0 : bytes.size() / element, type};
  } else {
    return {};
  }
}

/// Whether a type is a buffer of device memory.
template <class Buffer, class = void>
inline constexpr bool is_device_buffer_v = false;
template <class Buffer>
inline constexpr bool is_device_buffer_v<
    Buffer,
    std::enable_if_t<has_bytes_v<Buffer>,
                     std::void_t<decltype(std::declval<Buffer&>().template span<std::byte>())>>> =
    is_device_view_v<decltype(std::declval<Buffer&>().template span<std::byte>())>;

/// Restricts an overload to buffers of device memory that outlive the call.
template <class Buffer>
using IfFillable = std::enable_if_t<
    std::is_lvalue_reference_v<Buffer> && is_device_buffer_v<std::remove_reference_t<Buffer>>, int>;

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Fills with numbers from `from` to `to`, excluding `to`.
inline void uniform_(void* ptr, std::size_t n, ScalarType type, double from = 0, double to = 1,
                     const OptionalGenerator& generator = std::nullopt,
                     const OptionalStream& stream = std::nullopt) {
  detail::call_on(stream, ::sconce_random_uniform, ::sconce_random_uniform_on, ptr, n,
                  static_cast<std::int32_t>(type), from, to, detail::handle(generator));
}
/// Fills a `DeviceSpan`.
template <class Target>
void uniform_(const Target& target, double from = 0, double to = 1,
              const OptionalGenerator& generator = std::nullopt,
              const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(target);
  uniform_(filled.data, filled.size, filled.type, from, to, generator, stream);
}
/// Fills a buffer, as elements of a type that is known at run time.
template <class Buffer, detail::IfFillable<Buffer> = 0>
void uniform_(Buffer&& buffer, ScalarType type, double from = 0, double to = 1,
              const OptionalGenerator& generator = std::nullopt,
              const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(buffer, type);
  uniform_(filled.data, filled.size, type, from, to, generator, stream);
}

/// Fills with normally distributed numbers.
inline void normal_(void* ptr, std::size_t n, ScalarType type, double mean = 0, double stddev = 1,
                    const OptionalGenerator& generator = std::nullopt,
                    const OptionalStream& stream = std::nullopt) {
  detail::call_on(stream, ::sconce_random_normal, ::sconce_random_normal_on, ptr, n,
                  static_cast<std::int32_t>(type), mean, stddev, detail::handle(generator));
}
/// Fills a `DeviceSpan`.
template <class Target>
void normal_(const Target& target, double mean = 0, double stddev = 1,
             const OptionalGenerator& generator = std::nullopt,
             const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(target);
  normal_(filled.data, filled.size, filled.type, mean, stddev, generator, stream);
}
/// Fills a buffer, as elements of a type that is known at run time.
template <class Buffer, detail::IfFillable<Buffer> = 0>
void normal_(Buffer&& buffer, ScalarType type, double mean = 0, double stddev = 1,
             const OptionalGenerator& generator = std::nullopt,
             const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(buffer, type);
  normal_(filled.data, filled.size, type, mean, stddev, generator, stream);
}

/// Fills with numbers whose logarithms are normally distributed.
inline void log_normal_(void* ptr, std::size_t n, ScalarType type, double mean = 1,
                        double stddev = 2, const OptionalGenerator& generator = std::nullopt,
                        const OptionalStream& stream = std::nullopt) {
  detail::call_on(stream, ::sconce_random_log_normal, ::sconce_random_log_normal_on, ptr, n,
                  static_cast<std::int32_t>(type), mean, stddev, detail::handle(generator));
}
/// Fills a `DeviceSpan`.
template <class Target>
void log_normal_(const Target& target, double mean = 1, double stddev = 2,
                 const OptionalGenerator& generator = std::nullopt,
                 const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(target);
  log_normal_(filled.data, filled.size, filled.type, mean, stddev, generator, stream);
}
/// Fills a buffer, as elements of a type that is known at run time.
template <class Buffer, detail::IfFillable<Buffer> = 0>
void log_normal_(Buffer&& buffer, ScalarType type, double mean = 1, double stddev = 2,
                 const OptionalGenerator& generator = std::nullopt,
                 const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(buffer, type);
  log_normal_(filled.data, filled.size, type, mean, stddev, generator, stream);
}

/// Fills with exponentially distributed numbers; `rate` is torch's `lambd`.
inline void exponential_(void* ptr, std::size_t n, ScalarType type, double rate = 1,
                         const OptionalGenerator& generator = std::nullopt,
                         const OptionalStream& stream = std::nullopt) {
  detail::call_on(stream, ::sconce_random_exponential, ::sconce_random_exponential_on, ptr, n,
                  static_cast<std::int32_t>(type), rate, detail::handle(generator));
}
/// Fills a `DeviceSpan`.
template <class Target>
void exponential_(const Target& target, double rate = 1,
                  const OptionalGenerator& generator = std::nullopt,
                  const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(target);
  exponential_(filled.data, filled.size, filled.type, rate, generator, stream);
}
/// Fills a buffer, as elements of a type that is known at run time.
template <class Buffer, detail::IfFillable<Buffer> = 0>
void exponential_(Buffer&& buffer, ScalarType type, double rate = 1,
                  const OptionalGenerator& generator = std::nullopt,
                  const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(buffer, type);
  exponential_(filled.data, filled.size, type, rate, generator, stream);
}

/// Fills with Cauchy distributed numbers.
inline void cauchy_(void* ptr, std::size_t n, ScalarType type, double median = 0, double sigma = 1,
                    const OptionalGenerator& generator = std::nullopt,
                    const OptionalStream& stream = std::nullopt) {
  detail::call_on(stream, ::sconce_random_cauchy, ::sconce_random_cauchy_on, ptr, n,
                  static_cast<std::int32_t>(type), median, sigma, detail::handle(generator));
}
/// Fills a `DeviceSpan`.
template <class Target>
void cauchy_(const Target& target, double median = 0, double sigma = 1,
             const OptionalGenerator& generator = std::nullopt,
             const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(target);
  cauchy_(filled.data, filled.size, filled.type, median, sigma, generator, stream);
}
/// Fills a buffer, as elements of a type that is known at run time.
template <class Buffer, detail::IfFillable<Buffer> = 0>
void cauchy_(Buffer&& buffer, ScalarType type, double median = 0, double sigma = 1,
             const OptionalGenerator& generator = std::nullopt,
             const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(buffer, type);
  cauchy_(filled.data, filled.size, type, median, sigma, generator, stream);
}

/// Fills with geometrically distributed numbers: numbers of trials up to the first success.
inline void geometric_(void* ptr, std::size_t n, ScalarType type, double p,
                       const OptionalGenerator& generator = std::nullopt,
                       const OptionalStream& stream = std::nullopt) {
  detail::call_on(stream, ::sconce_random_geometric, ::sconce_random_geometric_on, ptr, n,
                  static_cast<std::int32_t>(type), p, detail::handle(generator));
}
/// Fills a `DeviceSpan`.
template <class Target>
void geometric_(const Target& target, double p, const OptionalGenerator& generator = std::nullopt,
                const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(target);
  geometric_(filled.data, filled.size, filled.type, p, generator, stream);
}
/// Fills a buffer, as elements of a type that is known at run time.
template <class Buffer, detail::IfFillable<Buffer> = 0>
void geometric_(Buffer&& buffer, ScalarType type, double p,
                const OptionalGenerator& generator = std::nullopt,
                const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(buffer, type);
  geometric_(filled.data, filled.size, type, p, generator, stream);
}

/// Fills with ones, with a given probability, and zeros.
inline void bernoulli_(void* ptr, std::size_t n, ScalarType type, double p = 0.5,
                       const OptionalGenerator& generator = std::nullopt,
                       const OptionalStream& stream = std::nullopt) {
  detail::call_on(stream, ::sconce_random_bernoulli, ::sconce_random_bernoulli_on, ptr, n,
                  static_cast<std::int32_t>(type), p, detail::handle(generator));
}
/// Fills a `DeviceSpan`.
template <class Target>
void bernoulli_(const Target& target, double p = 0.5,
                const OptionalGenerator& generator = std::nullopt,
                const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(target);
  bernoulli_(filled.data, filled.size, filled.type, p, generator, stream);
}
/// Fills a buffer, as elements of a type that is known at run time.
template <class Buffer, detail::IfFillable<Buffer> = 0>
void bernoulli_(Buffer&& buffer, ScalarType type, double p = 0.5,
                const OptionalGenerator& generator = std::nullopt,
                const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(buffer, type);
  bernoulli_(filled.data, filled.size, type, p, generator, stream);
}

/// Fills with integers from `from` to `to`, excluding `to`.
inline void random_(void* ptr, std::size_t n, ScalarType type, std::int64_t from, std::int64_t to,
                    const OptionalGenerator& generator = std::nullopt,
                    const OptionalStream& stream = std::nullopt) {
  detail::call_on(stream, ::sconce_random_integers, ::sconce_random_integers_on, ptr, n,
                  static_cast<std::int32_t>(type), from, to, detail::handle(generator));
}
/// Fills a `DeviceSpan`.
template <class Target>
void random_(const Target& target, std::int64_t from, std::int64_t to,
             const OptionalGenerator& generator = std::nullopt,
             const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(target);
  random_(filled.data, filled.size, filled.type, from, to, generator, stream);
}
/// Fills a buffer, as elements of a type that is known at run time.
template <class Buffer, detail::IfFillable<Buffer> = 0>
void random_(Buffer&& buffer, ScalarType type, std::int64_t from, std::int64_t to,
             const OptionalGenerator& generator = std::nullopt,
             const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(buffer, type);
  random_(filled.data, filled.size, type, from, to, generator, stream);
}

/// Fills with integers from 0 to `to`, excluding `to`.
inline void random_(void* ptr, std::size_t n, ScalarType type, std::int64_t to,
                    const OptionalGenerator& generator = std::nullopt,
                    const OptionalStream& stream = std::nullopt) {
  random_(ptr, n, type, 0, to, generator, stream);
}
/// Fills a `DeviceSpan`.
template <class Target>
void random_(const Target& target, std::int64_t to,
             const OptionalGenerator& generator = std::nullopt,
             const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(target);
  random_(filled.data, filled.size, filled.type, to, generator, stream);
}
/// Fills a buffer, as elements of a type that is known at run time.
template <class Buffer, detail::IfFillable<Buffer> = 0>
void random_(Buffer&& buffer, ScalarType type, std::int64_t to,
             const OptionalGenerator& generator = std::nullopt,
             const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(buffer, type);
  random_(filled.data, filled.size, type, to, generator, stream);
}

/// Fills with integers from 0 to the largest of an integer type, or to the largest up to which a
/// floating-point type represents every integer.
inline void random_(void* ptr, std::size_t n, ScalarType type,
                    const OptionalGenerator& generator = std::nullopt,
                    const OptionalStream& stream = std::nullopt) {
  detail::call_on(stream, ::sconce_random_full_range, ::sconce_random_full_range_on, ptr, n,
                  static_cast<std::int32_t>(type), detail::handle(generator));
}
/// Fills a `DeviceSpan`.
template <class Target>
void random_(const Target& target, const OptionalGenerator& generator = std::nullopt,
             const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(target);
  random_(filled.data, filled.size, filled.type, generator, stream);
}
/// Fills a buffer, as elements of a type that is known at run time.
template <class Buffer, detail::IfFillable<Buffer> = 0>
void random_(Buffer&& buffer, ScalarType type, const OptionalGenerator& generator = std::nullopt,
             const OptionalStream& stream = std::nullopt) {
  const detail::Filled filled = detail::filled(buffer, type);
  random_(filled.data, filled.size, type, generator, stream);
}

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_RANDOM_HPP
