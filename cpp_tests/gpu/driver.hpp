// The few driver calls that these programs make themselves, found at run time: memory to fill, and
// graphs. Nothing of CUDA is needed to build them.
#ifndef SCONCE_CPP_TESTS_GPU_DRIVER_HPP
#define SCONCE_CPP_TESTS_GPU_DRIVER_HPP

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace gpu {

/// The exit status of a program that the machine cannot serve.
constexpr int kSkipped = 77;

/// A function of libcuda.
template <class Function>
Function* symbol(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  void* const address = library == nullptr ? nullptr : dlsym(library, name);
  if (address == nullptr) {
    throw std::runtime_error(std::string("libcuda has no ") + name);
  }
  return reinterpret_cast<Function*>(address);
}

/// Calls a function of libcuda that returns a status.
template <class... Parameters, class... Arguments>
void call(const char* name, int (*)(Parameters...), Arguments... arguments) {
  const int status = symbol<int(Parameters...)>(name)(arguments...);
  if (status != 0) {
    throw std::runtime_error(std::string(name) + " failed: " + std::to_string(status));
  }
}

// The signatures of the calls, as null pointers that only carry a type.
using Pointer = std::uint64_t;
constexpr int (*kAlloc)(Pointer*, std::size_t) = nullptr;
constexpr int (*kFree)(Pointer) = nullptr;
constexpr int (*kCopyOut)(void*, Pointer, std::size_t) = nullptr;
constexpr int (*kCopyIn)(Pointer, const void*, std::size_t) = nullptr;
constexpr int (*kSet)(Pointer, unsigned char, std::size_t, void*) = nullptr;
constexpr int (*kCopy)(Pointer, Pointer, std::size_t, void*) = nullptr;
constexpr int (*kRetain)(void**, int) = nullptr;
constexpr int (*kHandle)(void*) = nullptr;
constexpr int (*kBegin)(void*, int) = nullptr;
constexpr int (*kEnd)(void*, void**) = nullptr;
constexpr int (*kInstantiate)(void**, void*, unsigned long long) = nullptr;
constexpr int (*kLaunch)(void*, void*) = nullptr;
constexpr int (*kNothing)() = nullptr;

/// Makes device 0's primary context current on this thread.
inline void enter() {
  void* context = nullptr;
  call("cuDevicePrimaryCtxRetain", kRetain, &context, 0);
  call("cuCtxSetCurrent", kHandle, context);
}

inline void synchronize() { call("cuCtxSynchronize", kNothing); }

/// Memory of device 0.
class Memory {
 public:
  explicit Memory(std::size_t bytes) { call("cuMemAlloc_v2", kAlloc, &pointer_, bytes); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory(Memory&&) = delete;
  Memory& operator=(Memory&&) = delete;
  ~Memory() { (void)symbol<int(Pointer)>("cuMemFree_v2")(pointer_); }

  void* get() const { return reinterpret_cast<void*>(pointer_); }

  /// Returns the contents once all work has finished.
  void read(void* to, std::size_t bytes, std::size_t from = 0) const {
    synchronize();
    call("cuMemcpyDtoH_v2", kCopyOut, to, pointer_ + from, bytes);
  }

 private:
  Pointer pointer_ = 0;
};

/// Modes of captures: the global mode also restricts other threads.
constexpr int kGlobal = 0;
constexpr int kThreadLocal = 1;

/// A captured graph, ready for launches.
class Graph {
 public:
  /// Captures what `work` queues on `stream`.
  template <class Work>
  Graph(void* stream, Work&& work, int mode = kGlobal) {
    call("cuStreamBeginCapture_v2", kBegin, stream, mode);
    void* graph = nullptr;
    try {
      work();
    } catch (...) {
      (void)symbol<int(void*, void**)>("cuStreamEndCapture")(stream, &graph);
      throw;
    }
    call("cuStreamEndCapture", kEnd, stream, &graph);
    call("cuGraphInstantiateWithFlags", kInstantiate, &executable_, graph, 0ULL);
    call("cuGraphDestroy", kHandle, graph);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  Graph(Graph&&) = delete;
  Graph& operator=(Graph&&) = delete;
  ~Graph() { (void)symbol<int(void*)>("cuGraphExecDestroy")(executable_); }

  void launch(void* stream) const { call("cuGraphLaunch", kLaunch, executable_, stream); }

 private:
  void* executable_ = nullptr;
};

}  // namespace gpu

#endif  // SCONCE_CPP_TESTS_GPU_DRIVER_HPP
