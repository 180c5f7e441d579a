/// \file
/// Generators of random numbers: a seed and an offset in its sequence, as torch's.
#ifndef SCONCE_CUDA_GENERATOR_HPP
#define SCONCE_CUDA_GENERATOR_HPP

#include <sconce/c/device.h>
#include <sconce/c/library.h>
#include <sconce/c/random.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <sconce/cuda/device.hpp>
#include <sconce/cuda/span.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// A generator's state in torch's bytes: seed, then offset, little-endian.
using GeneratorState = std::array<std::uint8_t, SCONCE_GENERATOR_STATE_BYTES>;

/// The state of a generator of the CPU in torch's bytes.
using CPUGeneratorState = std::array<std::uint8_t, SCONCE_GENERATOR_CPU_STATE_BYTES>;

/// A generator of random numbers. Corresponds to `at::Generator` with an `at::CUDAGeneratorImpl`,
/// and with an `at::CPUGeneratorImpl` if `getDefaultCPUGenerator` or `createCPUGenerator` made it.
///
/// Copies share one state, as torch's do; `clone` makes a separate one. The last copy destroys the
/// state, except that of a default generator. A moved-from generator may only be assigned to or
/// destroyed.
///
/// Threads: any number of threads at once; reserved ranges of the sequence never overlap.
class [[nodiscard]] CUDAGenerator {
 public:
  /// Takes ownership of a generator of `sconce_generator_create` or `sconce_generator_clone`.
  static CUDAGenerator adopt(sconce_generator* generator) {
    return CUDAGenerator({generator, [](sconce_generator* owned) {
                            detail::log_failure(::sconce_generator_destroy(owned),
                                                "destroying a CUDAGenerator");
                          }});
  }

  /// Refers to a generator that other code owns, such as a default generator.
  static CUDAGenerator borrow(sconce_generator* generator) {
    return CUDAGenerator({generator, [](sconce_generator*) {}});
  }

  /// The C API's handle. This object keeps its ownership.
  [[nodiscard]] sconce_generator* get() const noexcept { return generator_.get(); }

  /// The device of the generator.
  /// \throws Error `SCONCE_ERROR_CROSS_DEVICE` for a generator of the CPU
  [[nodiscard]] Device device() const {
    const std::int32_t device = device_number();
    if (device == SCONCE_DEVICE_CPU) {
      throw Error(SCONCE_ERROR_CROSS_DEVICE,
                  "the generator belongs to the CPU, which is no device; ask is_cpu() first");
    }
    return Device(device);
  }

  /// Whether it is a generator of the CPU.
  [[nodiscard]] bool is_cpu() const { return device_number() == SCONCE_DEVICE_CPU; }

  /// Sets the seed, and the offset to 0.
  void set_current_seed(std::uint64_t seed) {
    detail::check(::sconce_generator_set_seed(get(), seed));
  }

  /// The seed.
  [[nodiscard]] std::uint64_t current_seed() const {
    std::uint64_t seed = 0;
    detail::check(::sconce_generator_get_initial_seed(get(), &seed));
    return seed;
  }

  /// Sets a seed from the operating system, and returns it.
  std::uint64_t seed() {
    std::uint64_t seed = 0;
    detail::check(::sconce_generator_seed(get(), &seed));
    return seed;
  }

  /// Sets the offset in the sequence.
  /// \throws Error unless `offset` is a multiple of 4
  void set_offset(std::uint64_t offset) {
    detail::check(::sconce_generator_set_offset(get(), offset));
  }

  /// The offset in the sequence.
  [[nodiscard]] std::uint64_t get_offset() const {
    std::uint64_t offset = 0;
    detail::check(::sconce_generator_get_offset(get(), &offset));
    return offset;
  }

  /// The state, in the bytes of `torch.cuda.get_rng_state()`.
  [[nodiscard]] GeneratorState get_state() const {
    GeneratorState state{};
    detail::check(::sconce_generator_get_state(get(), state.data()));
    return state;
  }

  /// The state of a generator of the CPU, in the bytes of `torch.get_rng_state()`.
  /// \throws Error `SCONCE_ERROR_CROSS_DEVICE` for a generator of a device
  [[nodiscard]] CPUGeneratorState get_cpu_state() const {
    CPUGeneratorState state{};
    detail::check(::sconce_generator_get_cpu_state(get(), state.data()));
    return state;
  }

  /// Sets the state.
  void set_state(const GeneratorState& state) { set_state(state.data(), state.size()); }

  /// Sets the state from bytes that come from elsewhere, e.g. a checkpoint.
  /// \throws Error unless there are 16, or 8 for the seed alone; for the CPU 5056
  void set_state(const std::uint8_t* state, std::size_t length) {
    detail::check(::sconce_generator_set_state(get(), state, length));
  }

  /// Sets the state from the bytes of a view, e.g. of a vector.
  /// \throws Error unless there are 16, or 8 for the seed alone
  void set_state(Span<const std::uint8_t> state) { set_state(state.data(), state.size()); }

  /// Reserves a range of the sequence for a kernel of the caller, and returns seed and offset.
  /// `increment` is rounded up to a multiple of 4. Not for kernels that are captured into a graph.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> philox_engine_inputs(
      std::uint64_t increment) {
    std::pair<std::uint64_t, std::uint64_t> inputs;
    detail::check(
        ::sconce_generator_reserve_philox(get(), increment, &inputs.first, &inputs.second));
    return inputs;
  }

  /// Reserves a range of the sequence for a kernel about to be launched on the current stream. In a
  /// graph, the kernel reads seed and offset from `device_state` at each replay.
  [[nodiscard]] sconce_philox_state philox_cuda_state(std::uint64_t increment) {
    sconce_philox_state state{};
    detail::check(::sconce_generator_reserve_philox_state(get(), increment, &state));
    return state;
  }

  /// Prepares the device for capturing fills into graphs, as the first fill does too. Call it if
  /// memory may be exhausted by then.
  void prepare_capture() { detail::check(::sconce_generator_prepare_capture(get())); }

  /// Returns a generator with the same device, seed and offset, and a separate state.
  [[nodiscard]] CUDAGenerator clone() const {
    sconce_generator* clone = nullptr;
    detail::check(::sconce_generator_clone(get(), &clone));
    return adopt(clone);
  }

  /// Whether both share one state.
  friend bool operator==(const CUDAGenerator& a, const CUDAGenerator& b) noexcept {
    return a.get() == b.get();
  }
  /// Whether the two have different states.
  friend bool operator!=(const CUDAGenerator& a, const CUDAGenerator& b) noexcept {
    return !(a == b);
  }

 private:
  explicit CUDAGenerator(std::shared_ptr<sconce_generator> generator)
      : generator_(std::move(generator)) {}

  [[nodiscard]] std::int32_t device_number() const {
    std::int32_t device = -1;
    detail::check(::sconce_generator_get_device(get(), &device));
    return device;
  }

  std::shared_ptr<sconce_generator> generator_;
};

/// Returns the default generator of a device; -1 is the current one. Corresponds to
/// `at::cuda::detail::getDefaultCUDAGenerator`.
[[nodiscard]] inline CUDAGenerator getDefaultCUDAGenerator(DeviceIndex device = -1) {
  sconce_generator* generator = nullptr;
  detail::check(::sconce_generator_get_default(device, &generator));
  return CUDAGenerator::borrow(generator);
}

/// Returns a new generator with torch's default seed. Corresponds to
/// `at::cuda::detail::createCUDAGenerator`.
[[nodiscard]] inline CUDAGenerator createCUDAGenerator(DeviceIndex device = -1) {
  sconce_generator* generator = nullptr;
  detail::check(::sconce_generator_create(device, &generator));
  return CUDAGenerator::adopt(generator);
}

/// The state of a device's default generator. Corresponds to `torch.cuda.get_rng_state`.
[[nodiscard]] inline GeneratorState get_rng_state(DeviceIndex device = -1) {
  return getDefaultCUDAGenerator(device).get_state();
}

/// Sets the state of a device's default generator. Corresponds to `torch.cuda.set_rng_state`.
inline void set_rng_state(const GeneratorState& state, DeviceIndex device = -1) {
  getDefaultCUDAGenerator(device).set_state(state);
}

/// The states of the default generators of all devices, by device; none without a device.
/// Corresponds to `torch.cuda.get_rng_state_all`.
[[nodiscard]] inline std::vector<GeneratorState> get_rng_state_all() {
  std::vector<GeneratorState> states;
  for (DeviceIndex device = 0; device < device_count(); ++device) {
    states.push_back(get_rng_state(device));
  }
  return states;
}

/// Sets the states of the default generators of the first `states.size()` devices. Corresponds to
/// `torch.cuda.set_rng_state_all`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if there are fewer devices; nothing changes then
inline void set_rng_state_all(const std::vector<GeneratorState>& states) {
  const auto devices = static_cast<std::size_t>(device_count());
  if (states.size() > devices) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "states has " + std::to_string(states.size()) +
                                                   " entries, but there are " +
                                                   std::to_string(devices) + " devices");
  }
  for (std::size_t device = 0; device < states.size(); ++device) {
    set_rng_state(states[device], static_cast<DeviceIndex>(device));
  }
}

/// The generator of a fill; without one, the current device's default generator.
using OptionalGenerator = std::optional<CUDAGenerator>;

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {

/// A generator of a device or of the CPU. Corresponds to `at::Generator`.
using Generator = cuda::CUDAGenerator;

/// Returns the default generator of the CPU. Corresponds to `at::detail::getDefaultCPUGenerator`.
[[nodiscard]] inline Generator getDefaultCPUGenerator() {
  sconce_generator* generator = nullptr;
  detail::check(::sconce_generator_get_default(SCONCE_DEVICE_CPU, &generator));
  return Generator::borrow(generator);
}

/// Returns a new generator of the CPU with torch's default seed. Corresponds to
/// `at::detail::createCPUGenerator`.
[[nodiscard]] inline Generator createCPUGenerator() {
  sconce_generator* generator = nullptr;
  detail::check(::sconce_generator_create(SCONCE_DEVICE_CPU, &generator));
  return Generator::adopt(generator);
}

/// Seeds the default generators of the CPU and of all devices. Needs no device: the seed is kept
/// until the first use. Corresponds to `torch.manual_seed`, `at::manual_seed`.
inline void manual_seed(std::uint64_t seed) {
  detail::check(::sconce_random_manual_seed_everywhere(seed));
}

namespace detail {

inline sconce_generator* handle(const cuda::OptionalGenerator& generator) noexcept {
  return generator ? generator->get() : nullptr;
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_GENERATOR_HPP
