/// \file
/// The program's own kernels: modules of code, the kernels in them, and launches with arguments of
/// C++ types.
#ifndef SCONCE_CUDA_KERNEL_HPP
#define SCONCE_CUDA_KERNEL_HPP

#include <sconce/c/library.h>
#include <sconce/c/module.h>
#include <sconce/c/sanitizer.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <sconce/cuda/stream.hpp>
#include <sconce/detail/kernel_arguments.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Extents along x, y and z. Corresponds to `dim3`.
struct Dim3 {
  std::uint32_t x = 1;  ///< along x
  std::uint32_t y = 1;  ///< along y
  std::uint32_t z = 1;  ///< along z

  /// One.
  constexpr Dim3() noexcept = default;
  /// `x_extent` along x, `y_extent` along y and `z_extent` along z.
  constexpr Dim3(std::uint32_t x_extent, std::uint32_t y_extent = 1,  // NOLINT: as dim3
                 std::uint32_t z_extent = 1) noexcept
      : x(x_extent), y(y_extent), z(z_extent) {}

  /// How many there are.
  [[nodiscard]] constexpr std::uint64_t count() const noexcept { return std::uint64_t{x} * y * z; }
};

/// How a kernel is launched.
struct LaunchConfig {
  Dim3 grid;                           ///< blocks
  Dim3 block;                          ///< threads of a block
  std::uint32_t shared_bytes = 0;      ///< dynamic shared memory of a block; beyond 48 KiB as well
  std::optional<CUDAStream> stream{};  ///< the stream; none: the current one of the current device
  std::optional<Dim3> cluster{};       ///< blocks of a cluster; none: as the kernel declares
  bool cooperative = false;  ///< all blocks run at the same time and may wait for each other
};

/// Resources that a kernel needs on a device.
using KernelAttributes = ::sconce_kernel_attributes;

/// A block size, and the smallest number of blocks that fills the whole device.
struct BestBlock {
  std::uint32_t threads;     ///< threads of a block
  std::uint32_t min_blocks;  ///< blocks
};

/// A header for a source that is compiled at run time.
struct SourceHeader {
  std::string name;  ///< the name that the source includes
  std::string text;  ///< its text
};

/// How a source is compiled at run time.
struct CompileOptions {
  /// Expressions that name kernels: `scale<float>`. Kernels that are `extern "C"` need none.
  std::vector<std::string> kernels{};
  /// Options of NVRTC: `--use_fast_math`, `-DN=4`.
  std::vector<std::string> options{};
  /// Headers besides `sconce/cuda/device.cuh` and those of the CUDA toolkit.
  std::vector<SourceHeader> headers{};
  /// The name in the compiler's messages.
  std::string name = "source.cu";
  /// The device; -1 for the current one.
  DeviceIndex device = -1;
  /// Make PTX, which later architectures accept too, instead of machine code.
  bool ptx = false;
};

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace detail {

struct DestroySource {
  void operator()(sconce_kernel_source* source) const noexcept {
    log_failure(::sconce_kernel_source_destroy(source), "destroying a source");
  }
};

inline void set_extents(std::uint32_t (&to)[3], const cuda::Dim3& from) noexcept {
  to[0] = from.x;
  to[1] = from.y;
  to[2] = from.z;
}

inline ::sconce_launch_desc launch_desc(const cuda::LaunchConfig& config) noexcept {
  ::sconce_launch_desc desc = SCONCE_LAUNCH_DESC_INIT;
  set_extents(desc.grid, config.grid);
  set_extents(desc.block, config.block);
  if (config.cluster) {
    set_extents(desc.cluster, *config.cluster);
  }
  desc.shared_bytes = config.shared_bytes;
  desc.cooperative = config.cooperative;
  return desc;
}

/// Launches a kernel with values that stay in place during the call.
template <class... Values>
void launch_kernel(sconce_kernel* kernel, const cuda::LaunchConfig& config,
                   const Values&... values) {
  constexpr std::size_t count = sizeof...(Values);
  const std::array<const void*, count + 1> addresses{static_cast<const void*>(&values)..., nullptr};
  static constexpr std::array<std::size_t, count + 1> bytes{sizeof(Values)..., 0};
  const ::sconce_launch_desc desc = launch_desc(config);
  call_on(config.stream, ::sconce_kernel_launch, ::sconce_kernel_launch_on, kernel, &desc,
          addresses.data(), bytes.data(), count);
}

/// The bytes of a parameter's element; 1 for `void`.
template <class Pointee>
constexpr std::size_t element_bytes() noexcept {
  if constexpr (std::is_void_v<Pointee>) {
    return 1;
  } else {
    return sizeof(Pointee);
  }
}

/// How many bytes a kernel uses of an argument for sure: those of a view or of a contiguous tensor,
/// otherwise the first element, since nothing says how far a pointer reaches.
template <class Pointee, class Argument>
std::size_t bytes_of_argument(const Argument& argument) {
  if constexpr (is_device_view_v<Argument>) {
    return argument.size_bytes();
  } else if constexpr (is_tensor<Argument>()) {
    return argument.is_contiguous() ? static_cast<std::size_t>(argument.nbytes())
                                    : element_bytes<Pointee>();
  } else {
    static_cast<void>(argument);
    return element_bytes<Pointee>();
  }
}

/// What a kernel does to the memory of a parameter: what a pointer to const points to is read. A
/// parameter that is no memory uses no address.
template <class Param, class Argument>
::sconce_sanitizer_range use_of(Argument& argument) {
  if constexpr (std::is_pointer_v<Param> && !std::is_function_v<std::remove_pointer_t<Param>>) {
    const void* const address = kernel_argument_as<Param>(argument);
    using Pointee = std::remove_pointer_t<Param>;
    const std::size_t bytes = bytes_of_argument<std::remove_cv_t<Pointee>>(argument);
    const auto mode = std::is_const_v<Pointee> ? SCONCE_SANITIZER_READ : SCONCE_SANITIZER_WRITE;
    // No bytes are none, not all up to the end of the block.
    return {bytes == 0 ? nullptr : address, bytes, mode, 0};
  } else {
    static_cast<void>(argument);
    return {nullptr, 0, SCONCE_SANITIZER_READ, 0};
  }
}

/// Tells the sanitizer what the launch behind it uses, as far as the types of the parameters say
/// it. The destructor takes that back: a launch that failed has not used it.
template <class... Params>
class DeclaredLaunch {
 public:
  template <class... Args>
  explicit DeclaredLaunch(Args&... args) : is_told_(::sconce_sanitizer_is_enabled()) {
    if (is_told_) {
      const std::array<::sconce_sanitizer_range, sizeof...(Params) + 1> ranges{
          use_of<Params>(args)..., {nullptr, 0, SCONCE_SANITIZER_READ, 0}};
      check(::sconce_sanitizer_declare_launch(ranges.data(), ranges.size()));
    }
  }
  DeclaredLaunch(const DeclaredLaunch&) = delete;
  DeclaredLaunch& operator=(const DeclaredLaunch&) = delete;
  DeclaredLaunch(DeclaredLaunch&&) = delete;
  DeclaredLaunch& operator=(DeclaredLaunch&&) = delete;
  ~DeclaredLaunch() {
    if (is_told_) {
      log_failure(::sconce_sanitizer_declare_launch(nullptr, 0), "ending a declaration");
    }
  }

 private:
  bool is_told_;
};

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace cuda {

/// A kernel of a module; a value that owns nothing. It is valid as long as its module; later uses
/// throw.
class Kernel {
 public:
  /// No kernel; every use throws.
  constexpr Kernel() noexcept = default;
  /// The kernel of a handle.
  constexpr explicit Kernel(sconce_kernel* kernel) noexcept : kernel_(kernel) {}

  /// The handle for the C API.
  [[nodiscard]] constexpr sconce_kernel* get() const noexcept { return kernel_; }

  /// Queues a launch on the stream of `config`, or on the current one. Pass the arguments in the
  /// order of the kernel's parameters, each with the size of its parameter: a tensor, a buffer or a
  /// `DeviceSpan` for a pointer, otherwise a trivially copyable value of the parameter's own type.
  ///
  /// The memory must stay allocated until the launch is done, as for all queued work.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if the number or a size of the arguments differs
  ///   from the kernel's parameters, or the device does not accept the configuration
  template <class... Args>
  void launch(const LaunchConfig& config, Args&&... args) const {
    detail::launch_kernel(kernel_, config, detail::kernel_argument(args)...);
  }

  /// Resources that the kernel needs on a device.
  [[nodiscard]] KernelAttributes attributes(DeviceIndex device = -1) const {
    KernelAttributes attributes = SCONCE_KERNEL_ATTRIBUTES_INIT;
    detail::check(::sconce_kernel_get_attributes(kernel_, device, &attributes));
    return attributes;
  }

  /// Raises the dynamic shared memory that launches may have. A launch raises it by itself.
  void allow_shared(std::uint32_t bytes, DeviceIndex device = -1) const {
    detail::check(::sconce_kernel_allow_shared(kernel_, device, bytes));
  }

  /// Blocks of `threads` threads that a multiprocessor runs at the same time.
  [[nodiscard]] std::uint32_t occupancy(std::uint32_t threads, std::uint32_t shared_bytes = 0,
                                        DeviceIndex device = -1) const {
    std::uint32_t blocks = 0;
    detail::check(::sconce_kernel_get_occupancy(kernel_, device, threads, shared_bytes, &blocks));
    return blocks;
  }

  /// The block size with which a multiprocessor runs the largest number of threads at the same
  /// time; at most `most_threads`, unless that is 0.
  [[nodiscard]] BestBlock best_block(std::uint32_t shared_bytes = 0, std::uint32_t most_threads = 0,
                                     DeviceIndex device = -1) const {
    BestBlock best{};
    detail::check(::sconce_kernel_get_best_block(kernel_, device, shared_bytes, most_threads,
                                                 &best.threads, &best.min_blocks));
    return best;
  }

 private:
  sconce_kernel* kernel_ = nullptr;
};

/// A kernel with the types of its parameters. Arguments are converted to these types, and a tensor
/// for a pointer parameter must have the pointer's element type.
template <class... Params>
class TypedKernel : public Kernel {
  static_assert((std::is_trivially_copyable_v<Params> && ...),
                "the parameters of a kernel are trivially copyable");

 public:
  using Kernel::Kernel;

  /// Queues a launch. As `Kernel::launch`. The sanitizer takes it that the kernel reads what is
  /// behind a pointer to const, and writes what is behind another pointer: the elements of a
  /// `DeviceSpan` or of a contiguous tensor, otherwise the first element, since nothing says how
  /// many there are.
  /// \throws Error as `Kernel::launch`, and if a tensor has another type than its parameter
  template <class... Args>
  void launch(const LaunchConfig& config, Args&&... args) const {
    static_assert(sizeof...(Args) == sizeof...(Params),
                  "the kernel has another number of parameters");
    const detail::DeclaredLaunch<Params...> declared(args...);
    detail::launch_kernel(get(), config, detail::kernel_argument_as<Params>(args)...);
  }
};

/// Code with kernels. Owns it; movable, not copyable. Each device loads it at its first use there.
///
/// The destructor waits for the devices that have loaded the code, and unloads it. If a launch was
/// captured into a graph, the code stays loaded.
class [[nodiscard]] Module {
 public:
  /// Loads code in memory: PTX, machine code or a fat binary. Copies it.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if it is none of these, or is cut off
  static Module load(const void* image, std::size_t bytes) {
    sconce_module* module = nullptr;
    detail::check(::sconce_module_load(image, bytes, &module));
    return Module(module);
  }

  /// Loads code in a text or a string of bytes.
  static Module load(std::string_view image) { return load(image.data(), image.size()); }

  /// Loads the code in a file.
  /// \throws Error `SCONCE_ERROR_IO` if the file cannot be read
  static Module load_file(const std::string& path) {
    sconce_module* module = nullptr;
    detail::check(::sconce_module_load_file(path.c_str(), &module));
    return Module(module);
  }

  /// Compiles CUDA C++ with an installed NVRTC. On simulated devices nothing is compiled: functions
  /// that are registered under the kernels' names run instead.
  ///
  ///     const Module module = Module::compile(text, {{"scale<float>"}});
  ///     const auto scale = module.kernel<float*, float>("scale<float>");
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if the source does not compile, with the
  ///   compiler's messages; `SCONCE_ERROR_LIBRARY_NOT_FOUND` if NVRTC is not installed
  static Module compile(const std::string& source, const CompileOptions& options = {}) {
    sconce_kernel_source* made = nullptr;
    detail::check(::sconce_kernel_source_create(source.c_str(), options.name.c_str(), &made));
    const std::unique_ptr<sconce_kernel_source, detail::DestroySource> owner(made);
    for (const SourceHeader& header : options.headers) {
      detail::check(
          ::sconce_kernel_source_add_header(made, header.name.c_str(), header.text.c_str()));
    }
    for (const std::string& option : options.options) {
      detail::check(::sconce_kernel_source_add_option(made, option.c_str()));
    }
    for (const std::string& kernel : options.kernels) {
      detail::check(::sconce_kernel_source_add_kernel(made, kernel.c_str()));
    }
    sconce_module* module = nullptr;
    detail::check(::sconce_kernel_source_compile(made, options.device, options.ptx, &module));
    Module compiled(module);
    char* log = nullptr;
    detail::check(::sconce_kernel_source_get_log(made, &log));
    const std::unique_ptr<char, void (*)(char*)> text(log, &::sconce_string_free);
    compiled.compile_log_ = log;
    return compiled;
  }

  /// The compiler's warnings about the source; empty for code that was not compiled here.
  [[nodiscard]] const std::string& compile_log() const noexcept { return compile_log_; }

  /// The handle for the C API.
  [[nodiscard]] sconce_module* get() const noexcept { return module_.get(); }

  /// Finds a kernel by the name of its entry point, or by the expression with which it was
  /// compiled. The current device loads the code.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if there is no such kernel, or the device cannot
  ///   load the code
  [[nodiscard]] Kernel kernel(const std::string& name) const { return Kernel(find(name)); }

  /// Finds a kernel, and states the types of its parameters:
  /// `module.kernel<float*, std::int64_t>("scale")`.
  template <class First, class... Rest>
  [[nodiscard]] TypedKernel<First, Rest...> kernel(const std::string& name) const {
    return TypedKernel<First, Rest...>(find(name));
  }

  /// Unloads the code now.
  /// \throws Error if a driver call fails; the handle is invalid all the same
  void unload() { detail::check(::sconce_module_unload(module_.release())); }

 private:
  explicit Module(sconce_module* module) noexcept : module_(module) {}

  sconce_kernel* find(const std::string& name) const {
    sconce_kernel* kernel = nullptr;
    detail::check(::sconce_kernel_get(get(), name.c_str(), &kernel));
    return kernel;
  }

  struct Unload {
    void operator()(sconce_module* module) const noexcept {
      detail::log_failure(::sconce_module_unload(module), "unloading a Module");
    }
  };
  std::unique_ptr<sconce_module, Unload> module_;
  std::string compile_log_;
};

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_KERNEL_HPP
