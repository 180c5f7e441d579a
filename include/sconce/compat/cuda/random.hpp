/// \file
/// ATen's generators for code written for ATen: `PhiloxCudaState`, `CUDAGeneratorImpl`,
/// `Generator`. Part of `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_CUDA_RANDOM_HPP
#define SCONCE_COMPAT_CUDA_RANDOM_HPP

#include <sconce/c/random.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <sconce/compat/core/macros.hpp>
#include <sconce/cuda/generator.hpp>
#include <sconce/tensor/options.hpp>
#include <tuple>
#include <utility>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace at {

/// Seed and offset for a kernel, by value or, in a graph, by address. Passed to kernels by value.
/// Corresponds to `at::PhiloxCudaState`.
struct PhiloxCudaState {
  std::uint64_t seed_ = 0;                ///< the seed, unless `captured_`
  std::uint64_t offset_ = 0;              ///< the offset, unless `captured_`
  const std::uint64_t* state_ = nullptr;  ///< if `captured_`: the device's seed and offset
  bool captured_ = false;                 ///< whether the kernel is captured into a graph
};

/// A generator of a CUDA device with its lock. Corresponds to `at::CUDAGeneratorImpl`.
class CUDAGeneratorImpl {
 public:
  /// Wraps a generator, whose state it shares.
  explicit CUDAGeneratorImpl(::sconce::cuda::CUDAGenerator generator)
      : generator_(std::move(generator)) {}

  /// Reserves `increment` numbers a thread for the next kernel on the current stream.
  [[nodiscard]] PhiloxCudaState philox_cuda_state(std::uint64_t increment) {
    const ::sconce_philox_state state = generator_.philox_cuda_state(increment);
    return {state.seed, state.offset, state.device_state, state.device_state != nullptr};
  }
  /// Reserves `increment` numbers a thread; returns seed and offset. Not in captures.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> philox_engine_inputs(
      std::uint64_t increment) {
    return generator_.philox_engine_inputs(increment);
  }
  /// Sets the seed, and the offset to 0.
  void set_current_seed(std::uint64_t seed) { generator_.set_current_seed(seed); }
  /// The seed.
  [[nodiscard]] std::uint64_t current_seed() const { return generator_.current_seed(); }
  /// Sets a seed from the operating system, and returns it.
  std::uint64_t seed() { return generator_.seed(); }
  /// Sets the offset, a multiple of 4.
  void set_offset(std::uint64_t offset) { generator_.set_offset(offset); }
  /// The offset.
  [[nodiscard]] std::uint64_t get_offset() const { return generator_.get_offset(); }
  /// Sets the offset, a multiple of 4.
  void set_philox_offset_per_thread(std::uint64_t offset) { generator_.set_offset(offset); }
  /// The offset.
  [[nodiscard]] std::uint64_t philox_offset_per_thread() const { return generator_.get_offset(); }
  /// The device.
  [[nodiscard]] ::sconce::Device device() const { return generator_.device(); }
  /// The generator of this library.
  [[nodiscard]] const ::sconce::cuda::CUDAGenerator& get() const noexcept { return generator_; }

  /// The lock that ATen's callers take. The library needs no lock: reserved ranges never overlap.
  std::mutex mutex_;

 private:
  ::sconce::cuda::CUDAGenerator generator_;
};

/// A handle of a generator; copies share it. Corresponds to `at::Generator`.
class Generator {
 public:
  /// Undefined.
  Generator() = default;
  /// A generator of this library.
  Generator(const ::sconce::cuda::CUDAGenerator& generator)  // NOLINT: the same by another name
      : impl_(std::make_shared<CUDAGeneratorImpl>(generator)) {}

  /// Whether there is a generator.
  [[nodiscard]] bool defined() const noexcept { return impl_ != nullptr; }
  /// The implementation; `Impl` is `CUDAGeneratorImpl`.
  template <class Impl>
  [[nodiscard]] Impl* get() const {
    static_assert(std::is_same_v<Impl, CUDAGeneratorImpl>, "there are generators of CUDA only");
    return impl_.get();
  }
  /// The lock of the implementation.
  [[nodiscard]] std::mutex& mutex() const { return impl_->mutex_; }
  /// Sets the seed, and the offset to 0.
  void set_current_seed(std::uint64_t seed) { impl_->set_current_seed(seed); }
  /// The seed.
  [[nodiscard]] std::uint64_t current_seed() const { return impl_->current_seed(); }
  /// Sets a seed from the operating system, and returns it.
  std::uint64_t seed() { return impl_->seed(); }
  /// The device.
  [[nodiscard]] ::sconce::Device device() const { return impl_->device(); }
  /// Converts to what this library's fills take.
  operator ::sconce::cuda::OptionalGenerator() const {
    return impl_ ? ::sconce::cuda::OptionalGenerator(impl_->get()) : std::nullopt;
  }

 private:
  std::shared_ptr<CUDAGeneratorImpl> impl_;
};

/// The implementation of a generator, or of the default one if there is none. Corresponds to
/// `at::get_generator_or_default`.
template <class Impl>
[[nodiscard]] Impl* get_generator_or_default(const std::optional<Generator>& generator,
                                             const Generator& otherwise) {
  return generator && generator->defined() ? generator->template get<Impl>()
                                           : otherwise.template get<Impl>();
}
/// The implementation of a generator, which must be one of CUDA. Corresponds to
/// `at::check_generator`.
template <class Impl>
[[nodiscard]] Impl* check_generator(const std::optional<Generator>& generator) {
  TORCH_CHECK(generator && generator->defined(), "Expected Generator but received nullopt");
  return generator->template get<Impl>();
}

namespace cuda {

namespace philox {

/// Seed and offset of a state, on the host or in a kernel. Corresponds to
/// `at::cuda::philox::unpack`.
C10_HOST_DEVICE inline std::tuple<std::uint64_t, std::uint64_t> unpack(PhiloxCudaState state) {
  if (state.captured_) {
    return std::make_tuple(state.state_[0], state.state_[1]);
  }
  return std::make_tuple(state.seed_, state.offset_);
}

}  // namespace philox

namespace detail {

/// The default generator of a device (-1: the current one). The same object each time.
[[nodiscard]] inline const Generator& getDefaultCUDAGenerator(
    ::sconce::cuda::DeviceIndex device = -1) {
  static std::array<Generator, 64> generators;
  static std::mutex mutex;
  const auto index = device == -1 ? ::sconce::cuda::current_device() : device;
  const ::sconce::cuda::CUDAGenerator generator = ::sconce::cuda::getDefaultCUDAGenerator(index);
  const std::lock_guard<std::mutex> lock(mutex);
  Generator& place = generators.at(static_cast<std::size_t>(index));
  if (!place.defined()) {
    place = Generator(generator);
  }
  return place;
}
/// A new generator.
[[nodiscard]] inline Generator createCUDAGenerator(::sconce::cuda::DeviceIndex device = -1) {
  return ::sconce::cuda::createCUDAGenerator(device);
}

}  // namespace detail
}  // namespace cuda
}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_CUDA_RANDOM_HPP
