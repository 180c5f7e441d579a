// Shared by the tests of copies: places of every kind, and their bytes.
#ifndef SCONCE_CPP_TESTS_COPY_SUPPORT_HPP
#define SCONCE_CPP_TESTS_COPY_SUPPORT_HPP

#include <cstdint>
#include <cstring>
#include <ostream>
#include <sconce/cuda/buffer.hpp>
#include <sconce/cuda/copy.hpp>
#include <sconce/cuda/guard.hpp>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "host_memory_support.hpp"

namespace support {

using Bytes = std::vector<std::uint8_t>;

/// Bytes that encode their position and the number of their pattern.
inline Bytes pattern(std::size_t size, unsigned seed) {
  Bytes bytes(size);
  unsigned state = seed * 2654435761U + 1;
  for (std::uint8_t& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  return bytes;
}

/// The kinds of memory that a copy distinguishes; `Second` is memory of device 1.
enum class Kind { Ordinary, Pinned, Device, Second };

inline const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::Ordinary:
      return "Ordinary";
    case Kind::Pinned:
      return "Pinned";
    case Kind::Device:
      return "Device";
    default:
      return "Second";
  }
}

inline void PrintTo(Kind kind, std::ostream* out) { *out << name_of(kind); }

inline bool is_on_a_device(Kind kind) { return kind == Kind::Device || kind == Kind::Second; }

inline std::int32_t device_of(Kind kind) { return kind == Kind::Second ? 1 : 0; }

/// Memory of a kind.
class Place {
 public:
  Place(Kind kind, std::size_t bytes) : kind_(kind), bytes_(bytes) {
    switch (kind) {
      case Kind::Ordinary:
        memory_ = Bytes(bytes);
        break;
      case Kind::Pinned:
        memory_ = sconce::cuda::PinnedBuffer(bytes);
        break;
      default:
        memory_ =
            sconce::cuda::DeviceBuffer(bytes, sconce::cuda::getDefaultCUDAStream(device_of(kind)));
    }
  }

  /// The address; the host can access only that of ordinary and pinned memory.
  void* get() {
    if (auto* const bytes = std::get_if<Bytes>(&memory_)) {
      return bytes->data();
    }
    auto* const pinned = std::get_if<sconce::cuda::PinnedBuffer>(&memory_);
    return pinned != nullptr ? pinned->get() : std::get<sconce::cuda::DeviceBuffer>(memory_).get();
  }

  std::size_t size() const { return bytes_; }

  /// Fills the memory, and returns when that is done.
  void put(const Bytes& bytes) {
    ASSERT_EQ(bytes.size(), bytes_);
    if (!is_on_a_device(kind_)) {
      std::memcpy(get(), bytes.data(), bytes.size());
    } else if (wants_cuda()) {
      sconce::cuda::copy_(get(), bytes.data(), bytes.size());
    } else {
      ASSERT_EQ(sconce_sim_memory_write(get(), bytes.size(), bytes.data()), SCONCE_OK)
          << sconce_last_error_message();
    }
  }

  /// Returns the contents once all work of the devices has finished. The simulator reads them
  /// itself, so that no copy is judged by another.
  Bytes take() {
    for (std::int32_t device = 0; device < sconce::cuda::device_count(); ++device) {
      sconce::cuda::device_synchronize(device);
    }
    Bytes bytes(bytes_);
    if (!is_on_a_device(kind_)) {
      std::memcpy(bytes.data(), get(), bytes.size());
    } else if (wants_cuda()) {
      sconce::cuda::copy_(bytes.data(), get(), bytes.size());
    } else {
      EXPECT_EQ(sconce_sim_memory_read(get(), bytes.size(), bytes.data()), SCONCE_OK)
          << sconce_last_error_message();
    }
    return bytes;
  }

 private:
  Kind kind_;
  std::size_t bytes_;
  std::variant<Bytes, sconce::cuda::PinnedBuffer, sconce::cuda::DeviceBuffer> memory_;
};

/// Every combination of source, destination and `non_blocking`, as a parameter of tests.
using Pairing = std::tuple<Kind, Kind, bool>;

inline auto every_pairing() {
  const auto kinds = testing::Values(Kind::Ordinary, Kind::Pinned, Kind::Device, Kind::Second);
  return testing::Combine(kinds, kinds, testing::Bool());
}

/// "PinnedToDeviceNonBlocking".
inline std::string name_of(const testing::TestParamInfo<Pairing>& info) {
  const auto [src, dst, non_blocking] = info.param;
  return std::string(name_of(src)) + "To" + name_of(dst) + (non_blocking ? "NonBlocking" : "");
}

/// A test of one combination; skipped without a second device.
class PairingFixture : public HostMemoryFixture, public testing::WithParamInterface<Pairing> {
 protected:
  void SetUp() override {
    HostMemoryFixture::SetUp();
    if (!IsSkipped() && (src() == Kind::Second || dst() == Kind::Second)) {
      SCONCE_NEED_DEVICES(2);
    }
  }

  static Kind src() { return std::get<0>(GetParam()); }
  static Kind dst() { return std::get<1>(GetParam()); }
  static bool non_blocking() { return std::get<2>(GetParam()); }
};

}  // namespace support

#endif  // SCONCE_CPP_TESTS_COPY_SUPPORT_HPP
