// This library's pinned memory and copies through the C ABI.
//
//   SCONCE_BACKEND=sim sconce_copy_bench --quick      shows on the simulator that it runs
#include <sconce/sconce_all.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "bare.hpp"
#include "program.hpp"

namespace {

using copy_bench::Bare;
using copy_bench::Effort;
using copy_bench::Figures;
using copy_bench::Shape;

void must(sconce_status status, const char* what) {
  if (status != SCONCE_OK) [[unlikely]] {
    std::fprintf(stderr, "%s: %s\n", what, sconce_last_error_message());
    std::exit(1);
  }
}

/// Throws where memory ran out; whatever else goes wrong ends the program.
void got(sconce_status status, const char* what) {
  if (status == SCONCE_ERROR_OUT_OF_MEMORY) [[unlikely]] {
    throw memory_bench::OutOfMemory();
  }
  must(status, what);
}

/// A pinned block, which goes back when this is destroyed.
class PinnedBlock {
 public:
  PinnedBlock() = default;
  explicit PinnedBlock(std::size_t bytes) {
    got(sconce_host_memory_alloc(bytes, &pointer_), "pinning");
  }
  PinnedBlock(PinnedBlock&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  PinnedBlock& operator=(PinnedBlock&& other) noexcept {
    release();
    pointer_ = std::exchange(other.pointer_, nullptr);
    return *this;
  }
  ~PinnedBlock() { release(); }

  [[nodiscard]] void* get() const { return pointer_; }

 private:
  void release() {
    if (pointer_ != nullptr) {
      must(sconce_host_memory_free(pointer_), "freeing a pinned block");
    }
  }

  void* pointer_ = nullptr;
};

struct Sconce {
  using Pinned = PinnedBlock;
  /// An address, and what owns the memory there, if it is the backend's.
  struct Memory {
    std::shared_ptr<void> owner;
    void* address = nullptr;
  };

  static std::string title() {
    char name[256] = "";
    must(sconce_device_get_name(0, name, sizeof name), "the device's name");
    const bool simulated = sconce_backend_get_active() == SCONCE_BACKEND_SIM;
    return std::string("Sconce ") + sconce_version() + " on " + std::to_string(devices()) + " x " +
           name + (simulated ? " (simulated)" : "");
  }
  static void enter_thread() { must(sconce_device_set_current(0), "making device 0 current"); }

  static PinnedBlock pin(std::size_t bytes) { return PinnedBlock(bytes); }
  static void start_over() {
    drain();
    must(sconce_host_memory_empty_cache(), "emptying the cache of pinned memory");
    must(sconce_host_memory_reset_peak_stats(), "resetting the peaks");
  }
  static copy_bench::PinnedFigures pinned_figures() {
    sconce_host_memory_stats stats;
    stats.struct_size = sizeof stats;
    must(sconce_host_memory_get_stats(&stats), "the figures of pinned memory");
    return {static_cast<std::size_t>(stats.allocated_bytes.current),
            static_cast<std::size_t>(stats.allocated_bytes.peak),
            static_cast<long>(stats.num_host_alloc)};
  }

  static int devices() { return sconce_device_count(); }
  static void drain() {
    for (int device = 0; device < std::min(devices(), 2); ++device) {
      must(sconce_device_synchronize(device), "waiting for a device");
    }
  }

  static Memory pinned(std::size_t bytes) {
    auto block = std::make_shared<PinnedBlock>(bytes);
    return {block, block->get()};
  }
  static Memory ordinary(void* address, std::size_t) { return {nullptr, address}; }
  static Memory on_device(std::size_t bytes, int device) {
    must(sconce_device_set_current(device), "making a device current");
    void* address = nullptr;
    got(sconce_memory_alloc(bytes, &address), "device memory");
    must(sconce_device_set_current(0), "making device 0 current");
    return {
        std::shared_ptr<void>(
            address, [](void* held) { must(sconce_memory_free(held), "freeing device memory"); }),
        address};
  }

  static auto copier(const Memory& dst, const Memory& src, std::size_t bytes, bool non_blocking) {
    return [dst = dst.address, src = src.address, bytes, non_blocking] {
      must(sconce_copy(dst, src, bytes, non_blocking), "copying");
    };
  }
  static auto setter(const Memory& dst, std::size_t bytes) {
    return [dst = dst.address, bytes] { must(sconce_memory_set(dst, 7, bytes), "setting"); };
  }
  static auto strided(const Memory& dst, const Memory& src, const Shape& shape) {
    sconce_strided_copy strided = {};
    strided.struct_size = sizeof strided;
    strided.rank = static_cast<std::int32_t>(shape.sizes.size());
    strided.element_bytes = sizeof(float);
    std::copy(shape.sizes.begin(), shape.sizes.end(), strided.sizes);
    std::copy(shape.dst_strides.begin(), shape.dst_strides.end(), strided.dst_strides);
    std::copy(shape.src_strides.begin(), shape.src_strides.end(), strided.src_strides);
    return [dst = dst.address, src = src.address, strided] {
      must(sconce_copy_strided(&strided, dst, src, true), "copying with strides");
    };
  }
};

/// Sconce on a GPU, where the driver can be called beside the library.
struct SconceOnCuda : Sconce {
  static const Bare& bare() {
    static const Bare driver(devices());
    return driver;
  }
  static void* stream() {
    sconce_stream current = {};
    void* native = nullptr;
    must(sconce_stream_get_current(0, &current), "the current stream");
    must(sconce_stream_get_native(current, &native), "the stream's handle");
    return native;
  }

  static void bare_costs(const Effort& effort) {
    const Memory host = pinned(4096);
    const Memory device = on_device(4096, 0);
    void* const on = stream();
    if (!bare().usable()) {
      Figures::leave_out("bare_h2d_4", "no-driver");
      return;
    }
    bare().enter();
    const auto each = [&](const std::string& key, auto call) {
      Figures::measure(key, "ns/call", [&] { return copy_bench::queued_ns<Sconce>(call, effort); });
    };
    each("bare_h2d_4", [&] { bare().copy(device.address, host.address, 4, on); });
    each("bare_d2h_4", [&] { bare().copy(host.address, device.address, 4, on); });
    each("bare_set_4", [&] { bare().set(device.address, 4, on); });
  }

  static auto staged(const Memory& dst, const Memory& src, std::size_t bytes) {
    return [dst = dst.address, src = src.address, bytes, on = stream()] {
      bare().enter();
      bare().copy_to_second(dst, src, bytes, on);
    };
  }
};

}  // namespace

int main(int argc, char** argv) {
  const memory_bench::Options options(argc, argv);
  if (!options.valid) {
    return 2;
  }
  must(sconce_init(), "starting up");
  switch (sconce_backend_get_active()) {
    case SCONCE_BACKEND_CUDA:
      return copy_bench::run<SconceOnCuda>(options);
    case SCONCE_BACKEND_SIM:
      return copy_bench::run<Sconce>(options);
    default:
      std::fprintf(stderr, "there is no device; SCONCE_BACKEND=sim measures on the simulator\n");
      return 1;
  }
}
