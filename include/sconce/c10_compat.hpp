/// \file
/// Names of c10 and ATen beyond this library's own, for code that was written for them. Opt-in: no
/// other header includes it.
///
/// ```cpp
/// #include <sconce/c10_compat.hpp>
/// namespace c10 = sconce::compat::c10;
/// namespace at = sconce::compat::at;
/// namespace torch = sconce::compat::torch;
/// ```
///
/// The namespaces are this library's, so that a program may link libtorch as well; a unit uses the
/// one or the other. The guide's page "Code written for c10" lists what has no counterpart.
#ifndef SCONCE_C10_COMPAT_HPP
#define SCONCE_C10_COMPAT_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <mutex>
#include <optional>
#include <sconce/c10_compat_macros.hpp>
#include <sconce/c10_compat_memory.hpp>
#include <sconce/c10_compat_random.hpp>
#include <sconce/sconce.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// The target of a `cublasLtHandle_t`.
struct cublasLtContext;

namespace sconce {
inline namespace v0 {

/// The device of a tensor; none if the tensor is undefined. Corresponds to `at::device_of`, which
/// code calls without a namespace.
[[nodiscard]] inline std::optional<Device> device_of(const TensorBase& tensor) {
  return tensor.defined() ? std::optional<Device>(tensor.device()) : std::nullopt;
}

namespace compat {
/// \cond
namespace detail {

/// The index of a CUDA device.
inline cuda::DeviceIndex cuda_index(const Device& device) {
  if (!device.is_cuda()) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "expected a CUDA device, not " + device.str());
  }
  return device.index();
}

}  // namespace detail
/// \endcond

namespace c10 {

using namespace ::sconce;
using ::sconce::cuda::BFloat16;
using ::sconce::cuda::elementSize;
using ::sconce::cuda::Half;
using ::sconce::cuda::MemoryFormat;
using ::sconce::cuda::ScalarType;
using ::sconce::cuda::StreamData3;
using ::sconce::cuda::StreamId;
using ::sconce::cuda::toString;
/// `sconce::NotSupportedError` under c10's name.
using NotImplementedError = ::sconce::NotSupportedError;
using std::nullopt;
using std::nullopt_t;
using std::optional;
using std::string_view;

/// The integers from `begin_` to `end_`, excluding it, for range loops. Corresponds to
/// `c10::irange`.
template <class Integer>
class IntegerRange {
 public:
  /// \cond
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Integer;
    using difference_type = std::ptrdiff_t;
    using pointer = const Integer*;
    using reference = Integer;
    explicit constexpr iterator(Integer value) noexcept : value_(value) {}
    constexpr Integer operator*() const noexcept { return value_; }
    constexpr iterator& operator++() noexcept {
      ++value_;
      return *this;
    }
    constexpr bool operator==(const iterator& other) const noexcept {
      return value_ == other.value_;
    }
    constexpr bool operator!=(const iterator& other) const noexcept {
      return value_ != other.value_;
    }

   private:
    Integer value_;
  };
  /// \endcond

  /// The integers from `begin` to `end`; none if `end` is less.
  constexpr IntegerRange(Integer begin, Integer end) noexcept
      : begin_(begin), end_(end < begin ? begin : end) {}
  /// The first.
  [[nodiscard]] constexpr iterator begin() const noexcept { return iterator(begin_); }
  /// Behind the last.
  [[nodiscard]] constexpr iterator end() const noexcept { return iterator(end_); }

 private:
  Integer begin_;
  Integer end_;
};
/// The integers from 0 to `end`, excluding it.
template <class Integer>
[[nodiscard]] constexpr IntegerRange<Integer> irange(Integer end) noexcept {
  return {Integer{}, end};
}
/// The integers from `begin` to `end`, excluding it.
template <class First, class Last>
[[nodiscard]] constexpr IntegerRange<Last> irange(First begin, Last end) noexcept {
  return {static_cast<Last>(begin), end};
}

namespace cuda {

using namespace ::sconce::cuda;
using ::sconce::DeviceIndex;

/// `ExchangeDevice`, which makes no context on the way back to device 0.
inline DeviceIndex MaybeExchangeDevice(DeviceIndex device) { return ExchangeDevice(device); }
/// `set_device`.
inline void MaybeSetDevice(DeviceIndex device) { ::sconce::cuda::set_device(device); }

/// A `CUDAGuard` that also takes a `c10::Device`, as that of a tensor.
class [[nodiscard]] CUDAGuard : public ::sconce::cuda::CUDAGuard {
 public:
  /// Makes the device with this index current; -1 switches nothing.
  SCONCE_NODISCARD_CTOR explicit CUDAGuard(DeviceIndex index) : ::sconce::cuda::CUDAGuard(index) {}
  /// Makes a CUDA device current.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for the CPU
  SCONCE_NODISCARD_CTOR explicit CUDAGuard(const ::sconce::Device& device)
      : ::sconce::cuda::CUDAGuard(compat::detail::cuda_index(device)) {}
  /// Makes another device current.
  void set_device(const ::sconce::Device& device) { set_index(compat::detail::cuda_index(device)); }
  /// Another name of `set_device`.
  void reset_device(const ::sconce::Device& device) { set_device(device); }
};

/// An `OptionalCUDAGuard` that also takes a `c10::Device`, as that of a tensor.
class [[nodiscard]] OptionalCUDAGuard : public ::sconce::cuda::OptionalCUDAGuard {
 public:
  /// Guards nothing.
  SCONCE_NODISCARD_CTOR OptionalCUDAGuard() noexcept = default;
  /// Makes the device with this index current.
  SCONCE_NODISCARD_CTOR explicit OptionalCUDAGuard(DeviceIndex index)
      : ::sconce::cuda::OptionalCUDAGuard(index) {}
  /// Makes a CUDA device current if there is one.
  SCONCE_NODISCARD_CTOR explicit OptionalCUDAGuard(std::optional<::sconce::Device> device) {
    if (device) {
      set_device(*device);
    }
  }
  /// Makes a device current.
  void set_device(const ::sconce::Device& device) { set_index(compat::detail::cuda_index(device)); }
  /// Another name of `set_device`.
  void reset_device(const ::sconce::Device& device) { set_device(device); }
};

/// Sets how strictly this thread's calls are checked against captures, for a scope. Takes the
/// numbers of `cudaStreamCaptureMode`.
class [[nodiscard]] CUDAStreamCaptureModeGuard {
 public:
  /// Sets the mode: 0 is global, 1 thread-local, 2 relaxed.
  template <class Mode>
  SCONCE_NODISCARD_CTOR explicit CUDAStreamCaptureModeGuard(Mode mode) {
    ::sconce::detail::check(
        ::sconce_stream_exchange_capture_mode(static_cast<std::int32_t>(mode), &previous_));
  }
  CUDAStreamCaptureModeGuard(const CUDAStreamCaptureModeGuard&) = delete;
  CUDAStreamCaptureModeGuard& operator=(const CUDAStreamCaptureModeGuard&) = delete;
  /// Restores the mode.
  ~CUDAStreamCaptureModeGuard() {
    std::int32_t ignored = 0;
    ::sconce::detail::log_failure(::sconce_stream_exchange_capture_mode(previous_, &ignored),
                                  "restoring the mode of a CUDAStreamCaptureModeGuard");
  }

 private:
  std::int32_t previous_ = 0;
};

/// Whether a stream is captured. Corresponds to `c10::cuda::CaptureStatus`.
enum class CaptureStatus : int {
  None = 0,    ///< it is not
  Active = 1,  ///< it is
};
/// Whether the current stream is captured.
[[nodiscard]] inline CaptureStatus currentStreamCaptureStatusMayInitCtx() {
  return getCurrentCUDAStream().is_capturing() ? CaptureStatus::Active : CaptureStatus::None;
}

/// The number of a memory pool, as c10's pair.
using MempoolId_t = std::pair<std::uint64_t, std::uint64_t>;

/// Serves the calling thread's allocations on its current device from a pool for a scope. c10's
/// class only names the active pool; here it is used, too.
class [[nodiscard]] MemPoolContext {
 public:
  /// Begins.
  SCONCE_NODISCARD_CTOR explicit MemPoolContext(MemPool* pool)
      : guard_(*pool), pool_(pool), previous_(std::exchange(active(), this)) {}
  MemPoolContext(const MemPoolContext&) = delete;
  MemPoolContext& operator=(const MemPoolContext&) = delete;
  /// Ends.
  ~MemPoolContext() { active() = previous_; }
  /// The pool of the innermost scope of the thread; null outside.
  [[nodiscard]] static MemPool* getActiveMemPool() {
    return active() == nullptr ? nullptr : active()->pool_;
  }

 private:
  static MemPoolContext*& active() {
    thread_local MemPoolContext* innermost = nullptr;
    return innermost;
  }

  MemPoolGuard guard_;
  MemPool* pool_;
  MemPoolContext* previous_;
};

}  // namespace cuda

/// `CUDAGuard` under the name for any device.
using DeviceGuard = cuda::CUDAGuard;
/// `OptionalCUDAGuard` under the name for any device.
using OptionalDeviceGuard = cuda::OptionalCUDAGuard;

}  // namespace c10

namespace at {

using namespace c10;
using ::sconce::device_of;
using ::sconce::cuda::Context;
using ::sconce::cuda::globalContext;

/// `a` divided by `b`, rounded up. Corresponds to `at::ceil_div`.
template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
[[nodiscard]] C10_HOST_DEVICE constexpr Integer ceil_div(Integer a, Integer b) {
  return static_cast<Integer>((a + b - 1) / b);
}
/// `a` rounded up to a multiple of `b`. Corresponds to `at::round_up`.
template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
[[nodiscard]] C10_HOST_DEVICE constexpr Integer round_up(Integer a, Integer b) {
  return static_cast<Integer>(ceil_div(a, b) * b);
}

namespace cuda {

using namespace c10::cuda;
using compat::at::ceil_div;
namespace CUDACachingAllocator = c10::cuda::CUDACachingAllocator;

/// `ceil_div` under its older name.
template <class Integer>
[[nodiscard]] C10_HOST_DEVICE constexpr Integer ATenCeilDiv(Integer a, Integer b) {
  return ceil_div(a, b);
}

/// A `CUDAEvent` made with CUDA's flags. Corresponds to `at::cuda::CUDAEvent`.
class [[nodiscard]] CUDAEvent : public ::sconce::cuda::CUDAEvent {
 public:
  /// An event without time stamps (`cudaEventDisableTiming`).
  SCONCE_NODISCARD_CTOR CUDAEvent() noexcept = default;
  /// An event with CUDA's flags: `CUDAEvent(cudaEventDefault)` takes time stamps.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for a bit that CUDA does not define
  SCONCE_NODISCARD_CTOR explicit CUDAEvent(unsigned int flags)
      : ::sconce::cuda::CUDAEvent(fromCUDAEventFlags(flags)) {}
  /// The event of another process, by the 64 bytes of a `cudaIpcEventHandle_t`.
  template <class Handle>
  SCONCE_NODISCARD_CTOR CUDAEvent(DeviceIndex device, const Handle* handle)
      : ::sconce::cuda::CUDAEvent(device, bytes_of(handle)) {}

  using ::sconce::cuda::CUDAEvent::ipc_handle;
  /// Stores the 64 bytes of a `cudaIpcEventHandle_t`.
  template <class Handle>
  void ipc_handle(Handle* handle) {
    static_assert(sizeof(Handle) == sizeof(IpcEventHandle));
    const IpcEventHandle bytes = ipc_handle();
    std::memcpy(handle, bytes.data(), bytes.size());
  }

 private:
  template <class Handle>
  static IpcEventHandle bytes_of(const Handle* handle) {
    static_assert(sizeof(Handle) == sizeof(IpcEventHandle));
    IpcEventHandle bytes;
    std::memcpy(bytes.data(), handle, bytes.size());
    return bytes;
  }
};

/// Properties of a device by the names of `cudaDeviceProp`.
struct DeviceProp {
  char name[256];                          ///< name of the device
  std::size_t totalGlobalMem;              ///< bytes of memory
  std::size_t sharedMemPerBlock;           ///< bytes of shared memory of a block
  std::size_t sharedMemPerBlockOptin;      ///< the same after opting in
  std::size_t sharedMemPerMultiprocessor;  ///< bytes of shared memory of a multiprocessor
  int regsPerMultiprocessor;               ///< registers of a multiprocessor
  int warpSize;                            ///< threads of a warp
  int maxThreadsPerBlock;                  ///< threads of a block
  int maxThreadsPerMultiProcessor;         ///< threads of a multiprocessor
  int multiProcessorCount;                 ///< multiprocessors
  int major;                               ///< compute capability
  int minor;                               ///< compute capability, minor part
  int l2CacheSize;                         ///< bytes of the L2 cache
  int memoryBusWidth;                      ///< bits of the memory bus
  int pciDomainID;                         ///< PCI domain
  int pciBusID;                            ///< PCI bus
  int pciDeviceID;                         ///< PCI device
  int integrated;                          ///< whether the memory is the host's
  int isMultiGpuBoard;                     ///< whether the board has several devices
};

/// The properties of a device (-1: the current one); the same object each time.
[[nodiscard]] inline DeviceProp* getDeviceProperties(DeviceIndex device = -1) {
  static std::array<DeviceProp, 64> all;
  static std::array<std::once_flag, 64> known;
  const DeviceIndex index = device == -1 ? current_device() : device;
  const auto at = static_cast<std::size_t>(index);
  if (at >= all.size()) {
    (void)::sconce::cuda::getDeviceProperties(index);  // throws: there is no such device
  }
  std::call_once(known.at(at), [&] {
    const auto from = ::sconce::cuda::getDeviceProperties(index);
    DeviceProp& to = all[at];
    std::memcpy(to.name, from.name, sizeof to.name);
    to.totalGlobalMem = from.total_memory_bytes;
    to.sharedMemPerBlock = from.shared_memory_per_block_bytes;
    to.sharedMemPerBlockOptin = from.shared_memory_per_block_optin_bytes;
    to.sharedMemPerMultiprocessor = from.shared_memory_per_multi_processor_bytes;
    to.regsPerMultiprocessor = from.registers_per_multi_processor;
    to.warpSize = from.warp_size;
    to.maxThreadsPerBlock = from.max_threads_per_block;
    to.maxThreadsPerMultiProcessor = from.max_threads_per_multi_processor;
    to.multiProcessorCount = from.multi_processor_count;
    to.major = from.major;
    to.minor = from.minor;
    to.l2CacheSize = static_cast<int>(from.l2_cache_bytes);
    to.memoryBusWidth = from.memory_bus_width_bits;
    to.pciDomainID = from.pci_domain_id;
    to.pciBusID = from.pci_bus_id;
    to.pciDeviceID = from.pci_device_id;
    to.integrated = from.integrated;
    to.isMultiGpuBoard = from.is_multi_gpu_board;
  });
  return &all[at];
}
/// The properties of the current device.
[[nodiscard]] inline DeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(); }

/// This thread's cuBLAS handle as a `cublasLtHandle_t`, which it is, too.
[[nodiscard]] inline cublasLtContext* getCurrentCUDABlasLtHandle() {
  return reinterpret_cast<cublasLtContext*>(getCurrentCUDABlasHandle());
}

}  // namespace cuda

namespace native {

/// This thread's cuDNN handle. Corresponds to `at::native::getCudnnHandle`.
[[nodiscard]] inline cudnnContext* getCudnnHandle() {
  return ::sconce::cuda::getCurrentCUDADnnHandle();
}

}  // namespace native
}  // namespace at

namespace torch {

using namespace at;
namespace cuda = ::sconce::cuda;

}  // namespace torch
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_C10_COMPAT_HPP
