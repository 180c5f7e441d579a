// The driver's own calls, without this library between: what recording and querying are measured
// against, and memory for what needs some.
#ifndef SCONCE_BENCHES_BARE_DRIVER_HPP
#define SCONCE_BENCHES_BARE_DRIVER_HPP

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
#include <string>

/// `libcuda` with one event of its own. Check `error` before any call.
class BareDriver {
 public:
  explicit BareDriver(int device_index) {
    const char* chosen = std::getenv("SCONCE_LIBCUDA");
    const char* name = chosen != nullptr && *chosen != '\0' ? chosen : "libcuda.so.1";
    library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) {
      error_ = std::string(name) + " cannot be opened";
      return;
    }
    int (*init)(unsigned) = nullptr;
    int (*device_get)(int*, int) = nullptr;
    int (*retain)(void**, int) = nullptr;
    int (*set_current)(void*) = nullptr;
    int (*create)(void**, unsigned) = nullptr;
    void* context = nullptr;
    int device = 0;
    // Without timing, as torch's events and ours are by default.
    constexpr unsigned disable_timing = 2;
    if (!load("cuInit", init) || !load("cuDeviceGet", device_get) ||
        !load("cuDevicePrimaryCtxRetain", retain) || !load("cuCtxSetCurrent", set_current) ||
        !load("cuEventCreate", create) || !load("cuEventRecord", record_) ||
        !load("cuMemAlloc_v2", allocate_) || !load("cuEventQuery", query_) ||
        !load("cuStreamSynchronize", synchronize_) || !did("cuInit", init(0)) ||
        !did("cuDeviceGet", device_get(&device, device_index)) ||
        !did("cuDevicePrimaryCtxRetain", retain(&context, device)) ||
        !did("cuCtxSetCurrent", set_current(context))) {
      return;
    }
    did("cuEventCreate", create(&event_, disable_timing));
  }

  /// Why it cannot be used; empty when it can.
  [[nodiscard]] const std::string& error() const { return error_; }

  int record(void* stream) const { return record_(event_, stream); }
  int query() const { return query_(event_); }
  int synchronize(void* stream) const { return synchronize_(stream); }
  /// Device memory that is never freed; null when there is none.
  void* allocate(std::size_t bytes) const {
    void* memory = nullptr;
    return error_.empty() && allocate_(&memory, bytes) == 0 ? memory : nullptr;
  }

 private:
  template <class Function>
  bool load(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr) {
      error_ = std::string("libcuda has no ") + name;
    }
    return function != nullptr;
  }

  bool did(const char* call, int code) {
    if (code != 0) {
      error_ = std::string(call) + " failed with " + std::to_string(code);
    }
    return code == 0;
  }

  std::string error_;
  void* library_ = nullptr;
  void* event_ = nullptr;
  int (*record_)(void*, void*) = nullptr;
  int (*query_)(void*) = nullptr;
  int (*synchronize_)(void*) = nullptr;
  int (*allocate_)(void**, std::size_t) = nullptr;
};

#endif  // SCONCE_BENCHES_BARE_DRIVER_HPP
