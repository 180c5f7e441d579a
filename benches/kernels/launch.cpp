// What a launch of the program's own kernel costs, beside the driver's `cuLaunchKernel` of the same
// kernel on the same stream, measured in turns. Prints a line a figure: name, unit, value.
#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sconce/sconce_all.hpp>
#include <string>

#include "../abi/measure.hpp"

namespace cc = sconce::cuda;
namespace sim = sconce::simulator;

namespace {

// One thread writes its two parameters' sum: little work, so that the queue never fills.
const char* const kCode = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry add_to(.param .u64 out, .param .u32 a, .param .u32 b)
{
  .reg .b32 %a, %b;
  .reg .b64 %out;
  ld.param.u64 %out, [out];
  ld.param.u32 %a, [a];
  ld.param.u32 %b, [b];
  add.u32 %a, %a, %b;
  st.global.u32 [%out], %a;
  ret;
}
)";

/// The driver's own calls on a kernel of its own. Makes the primary context current, which Sconce
/// uses, too.
class Driver {
 public:
  explicit Driver(void* stream) : stream_(stream) {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    int (*device_get)(int*, int) = nullptr;
    int (*retain)(void**, int) = nullptr;
    int (*load)(void**, const void*) = nullptr;
    int (*find)(void**, void*, const char*) = nullptr;
    void* module = nullptr;
    void* context = nullptr;
    int device = 0;
    has_all_ =
        symbol(library, "cuDeviceGet", device_get) &&
        symbol(library, "cuDevicePrimaryCtxRetain", retain) &&
        symbol(library, "cuCtxSetCurrent", set_current_) &&
        symbol(library, "cuModuleLoadData", load) && symbol(library, "cuModuleGetFunction", find) &&
        symbol(library, "cuLaunchKernel", launch_) &&
        symbol(library, "cuCtxGetCurrent", current_) &&
        symbol(library, "cuStreamIsCapturing", is_capturing_) && device_get(&device, 0) == 0 &&
        retain(&context, device) == 0 && set_current_(context) == 0 && load(&module, kCode) == 0 &&
        find(&function_, module, "add_to") == 0;
  }

  [[nodiscard]] bool has_all() const { return has_all_; }

  void launch(void** parameters) const {
    check("cuLaunchKernel", launch_(function_, 1, 1, 1, 1, 1, 1, 0, stream_, parameters, nullptr));
  }
  void get_current() const {
    void* context = nullptr;
    check("cuCtxGetCurrent", current_(&context));
  }
  void leave_context() const { check("cuCtxSetCurrent", set_current_(nullptr)); }
  void is_capturing() const {
    int status = 0;
    check("cuStreamIsCapturing", is_capturing_(stream_, &status));
  }

 private:
  template <class Function>
  static bool symbol(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }
  static void check(const char* call, int code) {
    if (code != 0) {
      std::fprintf(stderr, "%s failed with %d\n", call, code);
      std::exit(1);
    }
  }

  using Launch = int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, void*, void**, void**);
  void* stream_;
  void* function_ = nullptr;
  Launch launch_ = nullptr;
  int (*current_)(void**) = nullptr;
  int (*set_current_)(void*) = nullptr;
  int (*is_capturing_)(void*, int*) = nullptr;
  bool has_all_ = false;
};

void print(const char* name, double ns) { std::printf("%-44s %-3s %10.2f\n", name, "ns", ns); }

void run(const measure::Effort& effort) {
  sim::register_kernel<std::uint32_t*, std::uint32_t, std::uint32_t>(
      "add_to", [](const sim::Thread&, sim::DevicePointer<std::uint32_t> out, std::uint32_t a,
                   std::uint32_t b) { *out = a + b; });
  const bool cuda = sconce::active_backend() == sconce::Backend::Cuda;
  const cc::CUDAStream stream = cc::getStreamFromPool();
  const cc::CUDAStreamGuard guard(stream);
  const cc::Module module = cc::Module::load(kCode);
  const cc::Kernel kernel = module.kernel("add_to");
  auto memory = cc::DeviceBuffer::of<std::uint32_t>(1);

  void* out = memory.get();
  std::uint32_t a = 3;
  std::uint32_t b = 4;
  std::array<void*, 3> parameters{&out, &a, &b};
  const std::array<const void*, 3> arguments{&out, &a, &b};
  const std::array<std::size_t, 3> bytes{sizeof out, sizeof a, sizeof b};
  const sconce_launch_desc desc = SCONCE_LAUNCH_DESC_INIT;
  const auto drain = [&] { stream.synchronize(); };
  const auto current = [&] {
    sconce::detail::check(
        ::sconce_kernel_launch(kernel.get(), &desc, arguments.data(), bytes.data(), 3));
  };
  const auto named = [&] {
    sconce::detail::check(::sconce_kernel_launch_on(kernel.get(), &desc, arguments.data(),
                                                    bytes.data(), 3, stream.get()));
  };
  const auto typed = [&] { kernel.launch({1, 1}, memory, a, b); };

  const Driver driver(stream.stream());
  if (cuda && driver.has_all()) {
    const auto bare = [&] { driver.launch(parameters.data()); };
    const auto pair = [&](const char* name, const auto& call) {
      const auto [first, second] = measure::best_queued_pair_ns(bare, call, drain, effort);
      std::printf("%s\n", name);
      print("  cuLaunchKernel", first);
      print("  this library", second);
    };
    pair("kernel launch, current stream", current);
    pair("kernel launch, named stream", named);
    pair("kernel launch, C++", typed);
    print("cuCtxGetCurrent", measure::best_ns([&] { driver.get_current(); }, effort));
    print("cuStreamIsCapturing", measure::best_ns([&] { driver.is_capturing(); }, effort));
    // A launch makes the device's context current for its time where none is.
    driver.leave_context();
    std::printf("kernel launch, no context current on the thread\n");
    print("  this library", measure::best_queued_ns(named, drain, effort));
    return;
  }
  const auto alone = [&](const char* name, const auto& call) {
    std::printf("%s\n", name);
    print("  this library", measure::best_queued_ns(call, drain, effort));
  };
  alone("kernel launch, current stream", current);
  alone("kernel launch, named stream", named);
  alone("kernel launch, C++", typed);
}

}  // namespace

int main(int argc, char** argv) {
  const measure::Options options(argc, argv);
  if (!options.valid) return 2;
  try {
    run(options.effort);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
