// Memory of every kind for programs that copy, on a GPU or the simulator, and a way to read device
// memory that does not use the tested functions.
#ifndef SCONCE_CPP_TESTS_GPU_PLACES_HPP
#define SCONCE_CPP_TESTS_GPU_PLACES_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sconce/sconce_all.hpp>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"

namespace gpu {

using Bytes = std::vector<unsigned char>;

constexpr std::size_t kMiB = std::size_t{1} << 20;
/// How long a stream is kept busy; a call that returns earlier has not waited for it.
constexpr auto kBusy = std::chrono::milliseconds(100);

inline void keep_busy(const sconce::cuda::CUDAStream& stream) {
  sconce::cuda::sleep(kBusy, stream);
}

inline bool simulated() { return sconce::active_backend() == sconce::Backend::Sim; }

/// SCONCE_TEST_BACKEND=cuda runs on a GPU; otherwise there are three simulated devices.
inline sconce::Options either_backend() {
  const char* const name = std::getenv("SCONCE_TEST_BACKEND");
  sconce::Options options;
  if (name != nullptr && std::string(name) == "cuda") {
    options.backend = sconce::Backend::Cuda;
  } else {
    options.backend = sconce::Backend::Sim;
    options.sim_devices = 3;
  }
  return options;
}

inline void wait_for_all() {
  for (std::int32_t device = 0; device < sconce::cuda::device_count(); ++device) {
    check(sconce_device_synchronize(device));
  }
}

/// Performs the first work of the process: on a GPU loading takes longer than `kBusy`.
inline void warm_up() {
  for (std::int32_t device = 0; device < sconce::cuda::device_count(); ++device) {
    sconce::cuda::sleep(std::chrono::microseconds(1), sconce::cuda::getDefaultCUDAStream(device));
  }
  wait_for_all();
}

enum class Kind { Ordinary, Pinned, Device };

/// Memory that this object owns.
class Place {
 public:
  Place(Kind kind, std::size_t bytes, sconce::cuda::DeviceIndex device = 0)
      : kind_(kind), device_(kind == Kind::Device ? device : -1), bytes_(bytes) {
    switch (kind) {
      case Kind::Ordinary:
        own_.resize(bytes);
        address_ = own_.data();
        break;
      case Kind::Pinned:
        check(sconce_host_memory_alloc(bytes, &address_));
        break;
      case Kind::Device: {
        const sconce::cuda::CUDAGuard guard(device);
        check(sconce_memory_alloc(bytes, &address_));
        break;
      }
    }
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  Place(Place&& other) noexcept
      : kind_(other.kind_),
        device_(other.device_),
        bytes_(other.bytes_),
        own_(std::move(other.own_)),
        address_(std::exchange(other.address_, nullptr)) {}
  Place& operator=(Place&&) = delete;
  ~Place() { (void)release(); }

  /// Frees the memory at once, even if work still uses it.
  void free() { check(release()); }

  [[nodiscard]] unsigned char* get(std::size_t at = 0) const {
    return static_cast<unsigned char*>(address_) + at;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] sconce::cuda::DeviceIndex device() const { return device_; }
  [[nodiscard]] bool overlaps(const void* other, std::size_t bytes) const {
    const auto first = reinterpret_cast<std::uintptr_t>(address_);
    const auto second = reinterpret_cast<std::uintptr_t>(other);
    return first < second + bytes && second < first + bytes_;
  }
  [[nodiscard]] std::string name() const {
    switch (kind_) {
      case Kind::Ordinary:
        return "ordinary";
      case Kind::Pinned:
        return "pinned";
      default:
        return "device " + std::to_string(device_);
    }
  }

  /// Returns the contents once all work has finished.
  [[nodiscard]] Bytes read() const {
    wait_for_all();
    if (kind_ != Kind::Device) {
      return Bytes(get(), get() + bytes_);
    }
    Bytes data(bytes_);
    if (simulated()) {
      check(sconce_sim_memory_read(address_, bytes_, data.data()));
    } else {
      call("cuMemcpyDtoH_v2", kCopyOut, static_cast<void*>(data.data()),
           reinterpret_cast<Pointer>(address_), bytes_);
    }
    return data;
  }

  /// Writes the contents once all work has finished.
  void write(const Bytes& data) const {
    wait_for_all();
    if (kind_ != Kind::Device) {
      std::copy(data.begin(), data.end(), get());
    } else if (simulated()) {
      check(sconce_sim_memory_write(address_, data.size(), data.data()));
    } else {
      call("cuMemcpyHtoD_v2", kCopyIn, reinterpret_cast<Pointer>(address_),
           static_cast<const void*>(data.data()), data.size());
      wait_for_all();
    }
  }

 private:
  sconce_status release() {
    void* const address = std::exchange(address_, nullptr);
    switch (kind_) {
      case Kind::Pinned:
        return sconce_host_memory_free(address);
      case Kind::Device:
        return sconce_memory_free(address);
      default:
        return SCONCE_OK;
    }
  }

  Kind kind_;
  sconce::cuda::DeviceIndex device_;
  std::size_t bytes_;
  Bytes own_;
  void* address_ = nullptr;
};

/// Bytes that differ from place to place and from seed to seed.
inline Bytes pattern(std::size_t bytes, unsigned seed) {
  Bytes data(bytes);
  std::uint32_t state = seed * 2654435761U + 1;
  for (unsigned char& byte : data) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<unsigned char>(state >> 24);
  }
  return data;
}

inline void copy(void* dst, const void* src, std::size_t bytes, bool non_blocking) {
  check(sconce_copy(dst, src, bytes, non_blocking));
}

}  // namespace gpu

#endif  // SCONCE_CPP_TESTS_GPU_PLACES_HPP
