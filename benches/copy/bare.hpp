// The driver's own copies, without a library between, found at run time: nothing of CUDA is needed
// to build this.
#ifndef SCONCE_BENCHES_COPY_BARE_HPP
#define SCONCE_BENCHES_COPY_BARE_HPP

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace copy_bench {

/// The driver, with the primary contexts of up to two devices, which the library under test made.
class Bare {
 public:
  explicit Bare(int devices) {
    const char* chosen = std::getenv("SCONCE_LIBCUDA");
    library_ = dlopen(chosen != nullptr && *chosen != '\0' ? chosen : "libcuda.so.1",
                      RTLD_NOW | RTLD_LOCAL);
    int (*device_get)(int*, int) = nullptr;
    int (*retain)(void**, int) = nullptr;
    if (library_ == nullptr || !load("cuDeviceGet", device_get) ||
        !load("cuDevicePrimaryCtxRetain", retain) || !load("cuCtxSetCurrent", set_current_) ||
        !load("cuMemcpyAsync", copy_) || !load("cuMemcpyPeerAsync", copy_peer_) ||
        !load("cuMemsetD8Async", set_)) {
      return;
    }
    for (int i = 0; i < devices && i < 2; ++i) {
      int device = 0;
      if (device_get(&device, i) != 0 ||
          retain(&contexts_[static_cast<std::size_t>(i)], device) != 0) {
        return;
      }
    }
    usable_ = true;
  }

  [[nodiscard]] bool usable() const { return usable_; }

  /// Makes device 0's context current on this thread.
  void enter() const { must(set_current_(contexts_[0])); }
  void copy(const void* dst, const void* src, std::size_t bytes, void* stream) const {
    must(copy_(address(dst), address(src), bytes, stream));
  }
  /// From device 0 to device 1, on a stream of device 0.
  void copy_to_second(const void* dst, const void* src, std::size_t bytes, void* stream) const {
    must(copy_peer_(address(dst), contexts_[1], address(src), contexts_[0], bytes, stream));
  }
  void set(const void* dst, std::size_t bytes, void* stream) const {
    must(set_(address(dst), 7, bytes, stream));
  }

 private:
  using Address = std::uint64_t;

  static Address address(const void* pointer) { return reinterpret_cast<Address>(pointer); }
  static void must(int code) {
    if (code != 0) [[unlikely]] {
      std::fprintf(stderr, "a call of the driver failed with %d\n", code);
      std::exit(1);
    }
  }
  template <class Function>
  bool load(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    return function != nullptr;
  }

  bool usable_ = false;
  void* library_ = nullptr;
  std::array<void*, 2> contexts_{};
  int (*set_current_)(void*) = nullptr;
  int (*copy_)(Address, Address, std::size_t, void*) = nullptr;
  int (*copy_peer_)(Address, void*, Address, void*, std::size_t, void*) = nullptr;
  int (*set_)(Address, unsigned char, std::size_t, void*) = nullptr;
};

}  // namespace copy_bench

#endif  // SCONCE_BENCHES_COPY_BARE_HPP
