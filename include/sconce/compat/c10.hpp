/// \file
/// Names of c10 and ATen that this library's own headers lack, for code that was written for them.
/// Opt-in: no other header includes it.
///
/// ```cpp
/// #include <sconce/compat/c10.hpp>
/// namespace c10 = sconce::compat::c10;
/// namespace at = sconce::compat::at;
/// namespace torch = sconce::compat::torch;
/// ```
///
/// This header declares nothing in the namespaces of libtorch, so that a program may link libtorch
/// as well. A translation unit uses only one of the two. The guide's page "Code written for c10"
/// lists the names that have no counterpart.
#ifndef SCONCE_COMPAT_C10_HPP
#define SCONCE_COMPAT_C10_HPP

#include <sconce/c/stream.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <sconce/compat/core/dispatch.hpp>
#include <sconce/compat/core/guard.hpp>
#include <sconce/compat/core/macros.hpp>
#include <sconce/compat/core/names.hpp>
#include <sconce/compat/cuda/graph.hpp>
#include <sconce/compat/cuda/memory.hpp>
#include <sconce/compat/cuda/properties.hpp>
#include <sconce/compat/cuda/random.hpp>
#include <sconce/compat/numbers/types.hpp>
#include <sconce/compat/tensor/tensor.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// The target of a `cublasLtHandle_t`.
struct cublasLtContext;

namespace sconce {
inline namespace v0 {

namespace compat {
namespace c10 {

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
  /// The end, after the last.
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

/// `ExchangeDevice`, which makes no context when returning to device 0.
inline DeviceIndex MaybeExchangeDevice(DeviceIndex device) { return ExchangeDevice(device); }
/// `set_device`.
inline void MaybeSetDevice(DeviceIndex device) { ::sconce::cuda::set_device(device); }

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

/// Waits for a stream. Corresponds to `c10::cuda::stream_synchronize`.
inline void stream_synchronize(CUstream_st* stream) {
  ::sconce::cuda::getStreamFromExternal(stream).synchronize();
}

/// Whether the current stream is captured.
[[nodiscard]] inline CaptureStatus currentStreamCaptureStatusMayInitCtx() {
  return getCurrentCUDAStream().capture_status();
}

}  // namespace cuda

}  // namespace c10

namespace at {

using namespace c10;

/// The natural logarithm. In `sconce` the name is that of the namespace of messages.
[[nodiscard]] inline Tensor log(const Tensor& tensor) { return tensor.log(); }

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

/// Whether the current stream is captured.
[[nodiscard]] inline CaptureStatus currentStreamCaptureStatus() {
  return currentStreamCaptureStatusMayInitCtx();
}
/// Refuses to go on while the current stream is captured.
/// \param attempt what would not be allowed then
inline void assertNotCapturing(const std::string& attempt) {
  TORCH_CHECK(currentStreamCaptureStatus() == CaptureStatus::None, attempt,
              " is not possible while the current stream is captured into a CUDA graph");
}

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

namespace cuda {

/// Waits for a device, -1 for the current one. Corresponds to `torch::cuda::synchronize`.
inline void synchronize(std::int64_t device = -1) {
  ::sconce::cuda::device_synchronize(static_cast<DeviceIndex>(device));
}

}  // namespace cuda

}  // namespace torch
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_C10_HPP
