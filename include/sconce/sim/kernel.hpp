/// \file
/// Functions that run in place of the program's kernels on simulated devices.
///
/// A function computes one thread, or one block, and is called for each thread or block of a
/// launch. It receives the kernel's parameters. A pointer is passed as a `DevicePointer`, which
/// checks accesses as a device does; all other parameters are passed unchanged. Registering needs
/// no backend and has no effect on CUDA.
#ifndef SCONCE_SIM_KERNEL_HPP
#define SCONCE_SIM_KERNEL_HPP

#include <sconce/c/library.h>
#include <sconce/c/random.h>
#include <sconce/c/sim.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <sconce/cuda/kernel.hpp>
#include <sconce/cuda/span.hpp>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace detail {

/// Thrown through the function of a launch that has failed; caught by its caller.
struct LaunchFailed {};

inline void check_launch(Status status) {
  if (status != SCONCE_OK) {
    throw LaunchFailed();
  }
}

inline void check_alignment(std::uint64_t address, std::size_t alignment) {
  constexpr std::int32_t misaligned = 716;
  if (address % alignment != 0) {
    const std::string words = "it uses address " + std::to_string(address) +
                              ", which is not a multiple of " + std::to_string(alignment);
    (void)::sconce_sim_kernel_fail(misaligned, words.c_str());
    throw LaunchFailed();
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace simulator {

/// An element of device memory in a simulated kernel: reads when it is converted to its value, and
/// writes when it is assigned to.
template <class T>
class Element {
 public:
  /// The element at an address.
  explicit Element(std::uint64_t address) noexcept : address_(address) {}
  /// Refers to the same element.
  Element(const Element&) noexcept = default;

  /// Reads the element.
  operator T() const { return get(); }  // NOLINT: stands for the element
  /// Reads the element.
  [[nodiscard]] T get() const {
    detail::check_alignment(address_, alignof(T));
    T value;
    detail::check_launch(::sconce_sim_kernel_read(address_, sizeof(T), &value));
    return value;
  }

  /// Writes the element.
  const Element& operator=(const T& value) const {  // NOLINT: a reference is const
    detail::check_alignment(address_, alignof(T));
    detail::check_launch(::sconce_sim_kernel_write(address_, sizeof(T), &value));
    return *this;
  }
  /// Copies another element's value.
  Element& operator=(const Element& other) {  // NOLINT: copies the value, also of itself
    *this = other.get();
    return *this;
  }
  /// Adds to the element; not atomic with respect to other streams.
  const Element& operator+=(const T& value) const { return *this = static_cast<T>(get() + value); }
  /// Subtracts from the element.
  const Element& operator-=(const T& value) const { return *this = static_cast<T>(get() - value); }
  /// Multiplies the element.
  const Element& operator*=(const T& value) const { return *this = static_cast<T>(get() * value); }

 private:
  std::uint64_t address_;
};

/// A pointer parameter of a simulated kernel: a device address, with checked accesses. An address
/// that the device may not use fails the launch with CUDA's error 700, and one that is not aligned
/// with 716.
template <class T>
class DevicePointer {
  using Value = std::remove_const_t<T>;
  static_assert(std::is_trivially_copyable_v<Value>, "device memory holds trivial values");

 public:
  /// The pointer with an address.
  explicit DevicePointer(std::uint64_t address) noexcept : address_(address) {}

  /// The address.
  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
  /// Whether it is not null.
  explicit operator bool() const noexcept { return address_ != 0; }

  /// The element at an index: its value if `T` is const, else an `Element`.
  auto operator[](std::int64_t index) const {
    const Element<Value> element(address_ + static_cast<std::uint64_t>(index) * sizeof(T));
    if constexpr (std::is_const_v<T>) {
      return element.get();
    } else {
      return element;
    }
  }
  /// The first element.
  auto operator*() const { return (*this)[0]; }
  /// The pointer `count` elements further on.
  DevicePointer operator+(std::int64_t count) const noexcept {
    return DevicePointer(address_ + static_cast<std::uint64_t>(count) * sizeof(T));
  }

  /// Reads `count` elements from `index` on, which is faster than reading them one by one.
  void read(std::int64_t index, std::size_t count, Value* to) const {
    const std::uint64_t from = address_ + static_cast<std::uint64_t>(index) * sizeof(T);
    detail::check_alignment(from, alignof(T));
    if (count != 0) {
      detail::check_launch(::sconce_sim_kernel_read(from, count * sizeof(T), to));
    }
  }
  /// Writes `count` elements from `index` on.
  template <class U = T, std::enable_if_t<!std::is_const_v<U>, int> = 0>
  void write(std::int64_t index, std::size_t count, const Value* from) const {
    const std::uint64_t to = address_ + static_cast<std::uint64_t>(index) * sizeof(T);
    detail::check_alignment(to, alignof(T));
    if (count != 0) {
      detail::check_launch(::sconce_sim_kernel_write(to, count * sizeof(T), from));
    }
  }

 private:
  std::uint64_t address_;
};

/// A thread of a launch, with the names of CUDA C++.
struct Thread {
  cuda::Dim3 blockIdx;   ///< its block
  cuda::Dim3 threadIdx;  ///< its place in the block
  cuda::Dim3 gridDim;    ///< blocks of the grid
  cuda::Dim3 blockDim;   ///< threads of a block

  /// Its index along x in the whole grid.
  [[nodiscard]] std::int64_t x() const noexcept {
    return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  }
  /// Its index along y in the whole grid.
  [[nodiscard]] std::int64_t y() const noexcept {
    return std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
  }
  /// Its index along z in the whole grid.
  [[nodiscard]] std::int64_t z() const noexcept {
    return std::int64_t{blockIdx.z} * blockDim.z + threadIdx.z;
  }
};

/// A block of a launch. A kernel with barriers is written as loops over the threads of a block, one
/// for the code between two barriers.
class Block {
 public:
  cuda::Dim3 blockIdx;  ///< its place in the grid
  cuda::Dim3 gridDim;   ///< blocks of the grid
  cuda::Dim3 blockDim;  ///< threads of a block

  /// Calls `body` for each thread of the block: the code up to the next barrier.
  template <class Body>
  void for_each_thread(Body&& body) const {
    Thread thread{blockIdx, {}, gridDim, blockDim};
    for (std::uint32_t z = 0; z < blockDim.z; ++z) {
      for (std::uint32_t y = 0; y < blockDim.y; ++y) {
        for (std::uint32_t x = 0; x < blockDim.x; ++x) {
          thread.threadIdx = cuda::Dim3(x, y, z);
          detail::set_extents(launch_->thread_index, thread.threadIdx);
          body(static_cast<const Thread&>(thread));
        }
      }
    }
  }

  /// The dynamic shared memory of the block, with as many elements as fit.
  template <class T>
  [[nodiscard]] cuda::Span<T> shared() const noexcept {
    return cuda::Span<T>(static_cast<T*>(static_cast<void*>(shared_->data())),
                         launch_->shared_bytes / sizeof(T));
  }

 private:
  template <class... Params, class Body>
  friend void run_blocks(sconce_sim_launch* launch, Body& body);

  sconce_sim_launch* launch_ = nullptr;
  std::vector<std::max_align_t>* shared_ = nullptr;
};

/// \cond
// What a function receives for a parameter.
template <class T>
struct ParameterOf {
  static_assert(std::is_trivially_copyable_v<T>,
                "the parameters of a kernel are trivially copyable");
  static T read(const void* argument) noexcept {
    T value;
    std::memcpy(&value, argument, sizeof value);
    return value;
  }
};
template <class T>
struct ParameterOf<T*> {
  static auto read(const void* argument) noexcept {
    std::uint64_t address = 0;
    std::memcpy(&address, argument, sizeof address);
    if constexpr (std::is_void_v<T>) {
      return address;
    } else {
      return DevicePointer<T>(address);
    }
  }
};

template <class... Params, std::size_t... I>
auto read_parameters(const sconce_sim_launch& launch, std::index_sequence<I...> /*all*/) {
  return std::make_tuple(ParameterOf<Params>::read(launch.arguments[I])...);
}

// Calls `body` for each block of a launch.
template <class... Params, class Body>
void run_blocks(sconce_sim_launch* launch, Body& body) {
  const auto extents = [](const std::uint32_t(&from)[3]) {
    return cuda::Dim3(from[0], from[1], from[2]);
  };
  const auto parameters = read_parameters<Params...>(*launch, std::index_sequence_for<Params...>());
  std::vector<std::max_align_t> shared;
  Block block;
  block.launch_ = launch;
  block.shared_ = &shared;
  block.gridDim = extents(launch->grid);
  block.blockDim = extents(launch->block);
  const std::size_t words =
      (launch->shared_bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
  for (std::uint32_t z = 0; z < block.gridDim.z; ++z) {
    for (std::uint32_t y = 0; y < block.gridDim.y; ++y) {
      for (std::uint32_t x = 0; x < block.gridDim.x; ++x) {
        block.blockIdx = cuda::Dim3(x, y, z);
        detail::set_extents(launch->block_index, block.blockIdx);
        // What a block finds there is not what another has left.
        shared.resize(words);
        if (words != 0) {
          std::memset(static_cast<void*>(shared.data()), 0xFF, words * sizeof(std::max_align_t));
        }
        std::apply(
            [&](const auto&... values) { body(static_cast<const Block&>(block), values...); },
            parameters);
      }
    }
  }
}

// The C function of a registered body: nothing is thrown out of it.
template <class Body, class... Params>
void run_body(sconce_sim_launch* launch, void* user) noexcept {
  constexpr std::int32_t launch_failed = 719;
  try {
    run_blocks<Params...>(launch, *static_cast<Body*>(user));
  } catch (const detail::LaunchFailed&) {
    // The failure is noted.
  } catch (const std::exception& error) {
    (void)::sconce_sim_kernel_fail(launch_failed, error.what());
  } catch (...) {
    (void)::sconce_sim_kernel_fail(launch_failed, "an exception");
  }
}
/// \endcond

/// Properties of a simulated kernel, from which its attributes and occupancy are computed.
struct KernelFigures {
  std::uint32_t registers = 32;           ///< registers of a thread
  std::uint32_t static_shared_bytes = 0;  ///< shared memory of a block that the kernel declares
};

/// Registers a function that computes one block of the kernel `name` with parameters of the types
/// `Params`. It is called as `body(const Block&, values...)` for each block of a launch, one after
/// the other, on a thread of the simulator; launches on several streams call it at the same time.
///
/// A function of the same name is replaced for kernels that are found later. An exception that
/// leaves the function fails the launch.
template <class... Params, class Body>
void register_block_kernel(const std::string& name, Body body, KernelFigures figures = {}) {
  const std::array<std::size_t, sizeof...(Params) + 1> bytes{sizeof(Params)..., 0};
  auto owned = std::make_unique<Body>(std::move(body));
  detail::check(::sconce_sim_register_kernel(name.c_str(), bytes.data(), sizeof...(Params),
                                             figures.registers, figures.static_shared_bytes,
                                             &run_body<Body, Params...>, owned.get(),
                                             [](void* user) { delete static_cast<Body*>(user); }));
  (void)owned.release();
}

/// Registers a function that computes one thread of the kernel `name` with parameters of the types
/// `Params`. It is called as `body(const Thread&, values...)` for each thread. Otherwise as
/// `register_block_kernel`.
///
///     register_kernel<float*, float>("scale", [](const Thread& t, DevicePointer<float> x, float a)
///     {
///       x[t.x()] *= a;
///     });
template <class... Params, class Body>
void register_kernel(const std::string& name, Body body, KernelFigures figures = {}) {
  register_block_kernel<Params...>(
      name,
      [body = std::move(body)](const Block& block, const auto&... values) {
        block.for_each_thread([&](const Thread& thread) { body(thread, values...); });
      },
      figures);
}

/// Returns the seed and the offset of a kernel's `sconce_philox_state`; in a graph, they are read
/// from device memory. For a function that runs in place of a kernel; device code uses
/// `sconce::philox::unpack`.
[[nodiscard]] inline std::pair<std::uint64_t, std::uint64_t> unpack(
    const ::sconce_philox_state& state) {
  const DevicePointer<const std::uint64_t> words(
      reinterpret_cast<std::uintptr_t>(state.device_state));
  return words ? std::make_pair(words[0], words[1]) : std::make_pair(state.seed, state.offset);
}

/// Removes a registered function. Kernels that were found before keep it.
inline void unregister_kernel(const std::string& name) {
  detail::check(::sconce_sim_unregister_kernel(name.c_str()));
}

}  // namespace simulator
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_SIM_KERNEL_HPP
