/// \file
/// Streams: in-order queues of work on a device, with torch's names and rules.
///
/// A stream is a value; the library owns the native stream, and callers never destroy it. Every
/// thread has a current stream on each device, initially the device's default stream. A new thread
/// does not inherit the current streams of the thread that started it.
#ifndef SCONCE_CUDA_STREAM_HPP
#define SCONCE_CUDA_STREAM_HPP

#include <sconce/c/stream.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <memory>
#include <optional>
#include <sconce/cuda/device.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

/// CUDA's own name for the target of `cudaStream_t` and `CUstream`; declared here, so that a stream
/// converts to them without any header of CUDA.
struct CUstream_st;

namespace sconce {
inline namespace v0 {
namespace cuda {

class CUDAEvent;

/// A stream in three numbers, for code that keeps streams without their class. Corresponds to
/// `c10::StreamData3`.
struct StreamData3 {
  std::int64_t stream_id;    ///< `CUDAStream::id`
  DeviceIndex device_index;  ///< `CUDAStream::device_index`
  DeviceType device_type;    ///< always `DeviceType::CUDA`
};

/// Whether a stream is being captured. Corresponds to `c10::cuda::CaptureStatus`; the values are
/// those of `cudaStreamCaptureStatus`.
enum class CaptureStatus : std::int32_t {
  None = SCONCE_CAPTURE_STATUS_NONE,                ///< not being captured
  Active = SCONCE_CAPTURE_STATUS_ACTIVE,            ///< being captured, and the capture is valid
  Invalidated = SCONCE_CAPTURE_STATUS_INVALIDATED,  ///< being captured, but the capture is invalid
};

/// How strictly calls are checked while a stream is captured. Corresponds to
/// `cudaStreamCaptureMode`, and to torch's `capture_error_mode`.
enum class CaptureMode : std::int32_t {
  /// Unsafe calls are refused on every thread that has not relaxed its own mode.
  Global = SCONCE_CAPTURE_GLOBAL,
  /// Unsafe calls are refused on the thread that began the capture.
  ThreadLocal = SCONCE_CAPTURE_THREAD_LOCAL,
  /// Unsafe calls are refused on no thread.
  Relaxed = SCONCE_CAPTURE_RELAXED,
};

/// The id of a stream; unique together with its device. Corresponds to `c10::StreamId`.
using StreamId = std::int64_t;

/// A stream. Copies name the same stream. Corresponds to `c10::cuda::CUDAStream`.
///
/// Threads: a stream may be used from any thread, also at the same time.
class CUDAStream {
 public:
  /// Constructs the stream that the C API calls `stream`. Owns nothing.
  explicit constexpr CUDAStream(sconce_stream stream) noexcept : stream_(stream) {}

  /// Marks a constructor that does not check whether a stream is one of CUDA.
  enum Unchecked { UNCHECKED };
  /// The stream of a `c10::Stream`, or of another class with its methods. Corresponds to
  /// `CUDAStream(CUDAStream::UNCHECKED, stream)`.
  template <class Stream>
  constexpr CUDAStream(Unchecked, const Stream& stream) noexcept
      : stream_{stream.id(), stream.device_index(), 0} {}

  /// The C API's value.
  [[nodiscard]] constexpr sconce_stream get() const noexcept { return stream_; }
  /// The C API's value; corresponds to `CUDAStream::unwrap`.
  [[nodiscard]] constexpr sconce_stream unwrap() const noexcept { return stream_; }

  /// The stream in three numbers.
  [[nodiscard]] constexpr StreamData3 pack3() const noexcept {
    return {stream_.id, stream_.device, static_cast<DeviceType>(1)};
  }
  /// The stream with the numbers that `pack3` returned.
  [[nodiscard]] static constexpr CUDAStream unpack3(std::int64_t stream_id,
                                                    DeviceIndex device_index, DeviceType) noexcept {
    return CUDAStream(sconce_stream{stream_id, device_index, 0});
  }

  /// The id; the default stream's is 0.
  [[nodiscard]] constexpr StreamId id() const noexcept { return stream_.id; }
  /// The index of the device that the stream belongs to.
  [[nodiscard]] constexpr DeviceIndex device_index() const noexcept { return stream_.device; }
  /// The device that the stream belongs to.
  [[nodiscard]] constexpr Device device() const noexcept { return Device(stream_.device); }

  /// The driver's handle: a `cudaStream_t` or `CUstream` on CUDA; null is the legacy default
  /// stream.
  [[nodiscard]] CUstream_st* stream() const {
    void* native = nullptr;
    detail::check(::sconce_stream_get_native(stream_, &native));
    return static_cast<CUstream_st*>(native);
  }
  /// Converts to the driver's handle, a `cudaStream_t` or `CUstream`.
  operator CUstream_st*() const { return stream(); }
  /// Conditions do not compile: the handle of a default stream is null, so that `if (stream)` would
  /// be false for a valid stream. Compare with `getDefaultCUDAStream()` instead.
  explicit operator bool() const = delete;  // compare with getDefaultCUDAStream()

  /// Whether all work queued so far has finished. Does not block.
  /// \throws Error the failure of earlier work, if it failed
  [[nodiscard]] bool query() const {
    bool idle = false;
    detail::check(::sconce_stream_query(stream_, &idle));
    return idle;
  }

  /// Waits on the host until all work queued so far has finished.
  /// \throws Error the failure of earlier work, if it failed
  void synchronize() const { detail::check(::sconce_stream_synchronize(stream_)); }

  /// The priority: 0, or negative for a stream whose work runs first.
  [[nodiscard]] int priority() const {
    std::int32_t priority = 0;
    detail::check(::sconce_stream_get_priority(stream_, &priority));
    return priority;
  }

  /// The lowest priority (0) and the highest one (a negative number), in this order.
  [[nodiscard]] static std::tuple<int, int> priority_range() {
    std::int32_t least = 0;
    std::int32_t greatest = 0;
    detail::check(::sconce_stream_get_priority_range(&least, &greatest));
    return {least, greatest};
  }

  /// Whether the stream is being captured into a graph.
  [[nodiscard]] bool is_capturing() const {
    bool capturing = false;
    detail::check(::sconce_stream_is_capturing(stream_, &capturing));
    return capturing;
  }

  /// Whether the stream is being captured into a graph, and whether that capture is valid.
  [[nodiscard]] CaptureStatus capture_status() const {
    std::int32_t status = 0;
    detail::check(::sconce_stream_get_capture_status(stream_, &status));
    return static_cast<CaptureStatus>(status);
  }

  /// Makes later work of this stream wait for all work queued on `other` so far. Does not block.
  ///
  /// Corresponds to `torch.cuda.Stream.wait_stream`.
  void wait_stream(const CUDAStream& other) const {
    detail::check(::sconce_stream_wait_stream(stream_, other.stream_));
  }

  /// Makes later work of this stream wait for the event's most recent record. An event without a
  /// record has no effect.
  ///
  /// Corresponds to `torch.cuda.Stream.wait_event`. Defined in `<sconce/cuda/event.hpp>`.
  void wait_event(const CUDAEvent& event) const;

  /// Records `event` on this stream.
  ///
  /// Corresponds to `torch.cuda.Stream.record_event(event)`. Defined in `<sconce/cuda/event.hpp>`.
  void record_event(CUDAEvent& event) const;

  /// Records a new event on this stream and returns it.
  ///
  /// Corresponds to `torch.cuda.Stream.record_event()`. Defined in `<sconce/cuda/event.hpp>`.
  [[nodiscard]] CUDAEvent record_event() const;

  /// Runs `function(user)` on a thread of the driver once all work queued so far has finished. It
  /// does not run if earlier work failed. In a capture it becomes a node of the graph.
  ///
  /// The function must not use devices, and must not throw. Calls of this library fail inside the
  /// function, except those that release something, such as destructors of buffers, tensors and
  /// events.
  void launch_host_function(void (*function)(void*), void* user) const {
    detail::check(::sconce_stream_launch_host_function(stream_, function, user));
  }

  /// Runs `function()` on a thread of the driver once all work queued so far has finished. If
  /// earlier work of the device fails, `otherwise()` runs instead, some time later. Exactly one of
  /// the two runs, once, unless the process ends first; both are destroyed afterwards. The rules
  /// are those for functions with a pointer.
  ///
  /// Corresponds to `cudaStreamAddCallback`.
  /// \throws Error `SCONCE_ERROR_INVALID_STATE` if the stream is being captured; nothing runs then
  template <
      class Function, class Otherwise,
      std::enable_if_t<std::is_invocable_v<Function&> && std::is_invocable_v<Otherwise&>, int> = 0>
  void launch_host_function(Function function, Otherwise otherwise) const {
    struct Both {
      Function function;
      Otherwise otherwise;
    };
    auto both = std::make_unique<Both>(Both{std::move(function), std::move(otherwise)});
    detail::check(::sconce_stream_launch_host_function_or(
        stream_,
        [](void* user) noexcept { std::unique_ptr<Both>(static_cast<Both*>(user))->function(); },
        [](void* user) noexcept { std::unique_ptr<Both>(static_cast<Both*>(user))->otherwise(); },
        both.get()));
    (void)both.release();
  }

  /// Same device and same id.
  friend constexpr bool operator==(const CUDAStream& a, const CUDAStream& b) noexcept {
    return a.stream_.id == b.stream_.id && a.stream_.device == b.stream_.device;
  }
  /// Another device or another id.
  friend constexpr bool operator!=(const CUDAStream& a, const CUDAStream& b) noexcept {
    return !(a == b);
  }
  /// By device, then by id: an arbitrary order, for `std::set` and `std::map`.
  friend constexpr bool operator<(const CUDAStream& a, const CUDAStream& b) noexcept {
    return a.stream_.device != b.stream_.device ? a.stream_.device < b.stream_.device
                                                : a.stream_.id < b.stream_.id;
  }
  /// The order of `operator<`.
  friend constexpr bool operator>(const CUDAStream& a, const CUDAStream& b) noexcept {
    return b < a;
  }
  /// The order of `operator<`.
  friend constexpr bool operator<=(const CUDAStream& a, const CUDAStream& b) noexcept {
    return !(b < a);
  }
  /// The order of `operator<`.
  friend constexpr bool operator>=(const CUDAStream& a, const CUDAStream& b) noexcept {
    return !(a < b);
  }

 private:
  sconce_stream stream_;
};

/// Writes c10's spelling of a stream, e.g. `stream 0 on device cuda:0`.
template <class Char, class Traits>
std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                             const CUDAStream& stream) {
  return out << "stream " << stream.id() << " on device " << stream.device();
}

/// Returns the device's default stream: CUDA's legacy default stream.
///
/// Corresponds to `c10::cuda::getDefaultCUDAStream`.
[[nodiscard]] inline CUDAStream getDefaultCUDAStream(DeviceIndex device = -1) {
  sconce_stream stream{};
  detail::check(::sconce_stream_get_default(device, &stream));
  return CUDAStream(stream);
}

/// Returns this thread's current stream on the device.
///
/// Corresponds to `c10::cuda::getCurrentCUDAStream`.
[[nodiscard]] inline CUDAStream getCurrentCUDAStream(DeviceIndex device = -1) {
  sconce_stream stream{};
  detail::check(::sconce_stream_get_current(device, &stream));
  return CUDAStream(stream);
}

/// Makes `stream` this thread's current stream on its own device. Does not change the current
/// device. Prefer `CUDAStreamGuard`.
///
/// Corresponds to `c10::cuda::setCurrentCUDAStream`.
inline void setCurrentCUDAStream(const CUDAStream& stream) {
  detail::check(::sconce_stream_set_current(stream.get()));
}

/// Returns a stream from the pool of a device and priority. Each pool has 32 streams and returns
/// them in turn: requests n and n + 32 return the same stream. Pooled streams do not synchronize
/// with the default stream.
///
/// Corresponds to `c10::cuda::getStreamFromPool(int priority, DeviceIndex)`.
///
/// \param priority the priority: 0 is the lowest, and lower numbers mean higher priorities. Values
///   outside `CUDAStream::priority_range()` are clamped.
/// \param device the device, -1 for the current one
[[nodiscard]] inline CUDAStream getStreamFromPool(int priority, DeviceIndex device = -1) {
  sconce_stream stream{};
  // The C API clamps low numbers and refuses positive ones.
  detail::check(::sconce_stream_get_from_pool(device, priority > 0 ? 0 : priority, &stream));
  return CUDAStream(stream);
}

/// Returns a stream from the pool of the lowest or of the highest priority of a device, as
/// `CUDAStream::priority_range()` returns them.
///
/// Corresponds to `c10::cuda::getStreamFromPool(bool isHighPriority, DeviceIndex)`.
[[nodiscard]] inline CUDAStream getStreamFromPool(bool isHighPriority = false,
                                                  DeviceIndex device = -1) {
  return getStreamFromPool(isHighPriority ? std::numeric_limits<int>::min() : 0, device);
}

/// Returns the stream for a handle that other code made (a `cudaStream_t` or `CUstream`; null is
/// the legacy default stream). The native stream must outlive every use of the result; the library
/// never destroys it.
///
/// Corresponds to `c10::cuda::getStreamFromExternal`.
[[nodiscard]] inline CUDAStream getStreamFromExternal(void* native, DeviceIndex device = -1) {
  sconce_stream stream{};
  detail::check(::sconce_stream_get_from_external(native, device, &stream));
  return CUDAStream(stream);
}

/// A stream that this object owns, beside those of the pools, which all callers share. Movable, not
/// copyable. Its destructor destroys the stream, whose work goes on: nothing may use the stream
/// afterwards, and no thread may have it as its current stream.
class [[nodiscard]] OwnedStream {
 public:
  /// Creates a stream.
  /// \param device the device; -1 is the current one
  /// \param priority 0 is low, -1 is high; lower numbers mean still higher priorities
  /// \param non_blocking whether the default stream does not order the stream's work
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if `priority` is above 0
  SCONCE_NODISCARD_CTOR explicit OwnedStream(DeviceIndex device = -1, int priority = 0,
                                             bool non_blocking = true) {
    detail::check(::sconce_stream_create(device, non_blocking ? SCONCE_STREAM_NON_BLOCKING : 0,
                                         priority, &stream_));
    owned_ = true;
  }
  /// Takes the stream of `other`, which has none then.
  OwnedStream(OwnedStream&& other) noexcept
      : stream_(other.stream_), owned_(std::exchange(other.owned_, false)) {}
  /// Destroys the stream, and takes that of `other`.
  OwnedStream& operator=(OwnedStream&& other) noexcept {
    if (this != &other) {
      reset();
      stream_ = other.stream_;
      owned_ = std::exchange(other.owned_, false);
    }
    return *this;
  }
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  ~OwnedStream() { reset(); }

  /// The stream, for calls and guards.
  [[nodiscard]] CUDAStream stream() const noexcept { return CUDAStream(stream_); }
  /// The stream, for calls and guards.
  operator CUDAStream() const noexcept { return stream(); }  // NOLINT: it is one

 private:
  void reset() noexcept {
    if (std::exchange(owned_, false)) {
      detail::log_failure(::sconce_stream_destroy(stream_), "destroying an OwnedStream");
    }
  }

  sconce_stream stream_{};
  bool owned_ = false;
};

/// The stream of a call; without one the call uses the current stream.
///
/// A call with a stream does not depend on the current device and stream of its thread. Goroutines
/// and tasks of an async runtime, which change threads between calls, need such calls.
using OptionalStream = std::optional<CUDAStream>;

/// Keeps `stream` busy on the device for `duration`; returns at once. For tests and measurements.
///
/// Corresponds to `at::cuda::sleep` and `torch.cuda._sleep`, in time rather than clock cycles.
inline void sleep(std::chrono::nanoseconds duration, const CUDAStream& stream) {
  const auto count = duration.count();
  detail::check(
      ::sconce_stream_sleep(stream.get(), count > 0 ? static_cast<std::uint64_t>(count) : 0));
}

/// Keeps the current stream busy for `duration`.
inline void sleep(std::chrono::nanoseconds duration) { sleep(duration, getCurrentCUDAStream()); }

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace detail {

/// Calls the `_on` form of a C function if there is a stream, else the form without a stream.
template <class Function, class FunctionOn, class... Arguments>
void call_on(const cuda::OptionalStream& stream, Function function, FunctionOn function_on,
             const Arguments&... arguments) {
  check(stream ? function_on(arguments..., stream->get()) : function(arguments...));
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

// Doxygen 1.9 cannot place a specialisation of std.
/// \cond
/// Hashes a stream by its device and id.
template <>
struct std::hash<sconce::cuda::CUDAStream> {
  /// The hash.
  std::size_t operator()(const sconce::cuda::CUDAStream& stream) const noexcept {
    const auto id = static_cast<std::uint64_t>(stream.id());
    const auto device = static_cast<std::uint64_t>(stream.device_index());
    return std::hash<std::uint64_t>()(id ^ (device << 56));
  }
};
/// \endcond

#endif  // SCONCE_CUDA_STREAM_HPP
