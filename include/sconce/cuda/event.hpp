/// \file
/// Events: points in a stream's work, which other work can wait for and which measure time.
#ifndef SCONCE_CUDA_EVENT_HPP
#define SCONCE_CUDA_EVENT_HPP

#include <sconce/c/event.h>
#include <sconce/c/library.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <sconce/cuda/stream.hpp>
#include <string>
#include <type_traits>
#include <utility>

/// CUDA's own name for the target of `cudaEvent_t` and `CUevent`.
struct CUevent_st;

namespace sconce {
inline namespace v0 {
namespace detail {

/// A value that a move resets to its initial value.
template <class T>
struct ResetOnMove {
  T value{};

  ResetOnMove() = default;
  ResetOnMove(ResetOnMove&& other) noexcept : value(std::exchange(other.value, T{})) {}
  ResetOnMove& operator=(ResetOnMove&& other) noexcept {
    value = std::exchange(other.value, T{});
    return *this;
  }
  ~ResetOnMove() = default;
};

/// Whether a type is a number, or an enumeration that converts to one.
template <class T>
inline constexpr bool is_number_v = std::is_arithmetic_v<T> ||
                                    (std::is_enum_v<T> && std::is_convertible_v<T, long long>);

struct EventDeleter {
  void operator()(sconce_event* event) const noexcept {
    log_failure(::sconce_event_destroy(event), "destroying a CUDAEvent");
  }
};

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace cuda {

/// How an event is created. Values combine with `|`.
enum class EventFlags : std::uint32_t {
  None = 0,                                   ///< no time stamps; waiting spins; this process only
  Timing = SCONCE_EVENT_TIMING,               ///< records take a time stamp
  BlockingSync = SCONCE_EVENT_BLOCKING_SYNC,  ///< waiting on the host sleeps instead of spinning
  Interprocess = SCONCE_EVENT_INTERPROCESS,   ///< other processes may open it; excludes `Timing`
};

/// Both sets of flags.
constexpr EventFlags operator|(EventFlags a, EventFlags b) noexcept {
  return static_cast<EventFlags>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}

/// The flags that are in both sets.
constexpr EventFlags operator&(EventFlags a, EventFlags b) noexcept {
  return static_cast<EventFlags>(static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b));
}

/// Converts CUDA's flags (`cudaEventDefault`, `cudaEventBlockingSync`, `cudaEventDisableTiming`,
/// `cudaEventInterprocess`), e.g. `CUDAEvent(fromCUDAEventFlags(cudaEventDisableTiming))`. CUDA's
/// events take time stamps unless `cudaEventDisableTiming` is set; `EventFlags` is the opposite.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for a bit that CUDA does not define
[[nodiscard]] inline EventFlags fromCUDAEventFlags(unsigned int flags) {
  constexpr unsigned int blocking_sync = 1;
  constexpr unsigned int disable_timing = 2;
  constexpr unsigned int interprocess = 4;
  if ((flags & ~(blocking_sync | disable_timing | interprocess)) != 0) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                "flags is " + std::to_string(flags) +
                    "; CUDA's flags of events are cudaEventBlockingSync (1), "
                    "cudaEventDisableTiming (2) and cudaEventInterprocess (4)");
  }
  EventFlags result = EventFlags::None;
  if ((flags & disable_timing) == 0) {
    result = result | EventFlags::Timing;
  }
  if ((flags & blocking_sync) != 0) {
    result = result | EventFlags::BlockingSync;
  }
  if ((flags & interprocess) != 0) {
    result = result | EventFlags::Interprocess;
  }
  return result;
}

/// The 64 bytes with which another process opens an event.
using IpcEventHandle = std::array<std::uint8_t, 64>;

/// An event. Owns it; movable, not copyable. Corresponds to `at::cuda::CUDAEvent`.
///
/// The first record creates the event, on the device of its stream. Before that, `query` returns
/// true, and `synchronize` and `block` do nothing. A moved-from event is like one that was never
/// recorded.
///
/// Threads: several threads may call `query`, `synchronize` and `block` at once. `record`,
/// `ipc_handle` and moves need exclusive access.
class [[nodiscard]] CUDAEvent {
 public:
  /// An event without time stamps.
  SCONCE_NODISCARD_CTOR CUDAEvent() noexcept = default;

  /// An event with the given flags, e.g. `CUDAEvent(EventFlags::Timing)`.
  SCONCE_NODISCARD_CTOR explicit CUDAEvent(EventFlags flags) noexcept : flags_(flags) {}

  /// Numbers do not compile: CUDA's flags and those of the C API have the same values with
  /// different meanings. Use `EventFlags`, or convert CUDA's flags with `fromCUDAEventFlags`.
  template <class Number, std::enable_if_t<detail::is_number_v<Number>, int> = 0>
  explicit CUDAEvent(Number) = delete;  // use EventFlags, or fromCUDAEventFlags(flags)

  /// The event of another process, opened on `device`. Corresponds to the constructor from
  /// `cudaIpcEventHandle_t`.
  SCONCE_NODISCARD_CTOR CUDAEvent(DeviceIndex device, const IpcEventHandle& handle)
      : flags_(EventFlags::Interprocess) {
    sconce_event* event = nullptr;
    detail::check(::sconce_event_from_ipc_handle(device, handle.data(), &event));
    event_.reset(event);
  }

  /// The C API's handle, null before creation. This object keeps its ownership.
  [[nodiscard]] sconce_event* get() const noexcept { return event_.get(); }

  /// The driver's handle, a `cudaEvent_t` or `CUevent`; null while the event does not exist. Valid
  /// as long as this object, which keeps its ownership.
  [[nodiscard]] CUevent_st* event() const {
    void* native = nullptr;
    if (event_) {
      detail::check(::sconce_event_get_native(event_.get(), &native));
    }
    return static_cast<CUevent_st*>(native);
  }
  /// Converts to the driver's handle, a `cudaEvent_t` or `CUevent`.
  operator CUevent_st*() const { return event(); }
  /// Conditions do not compile: ask `isCreated()` or `query()`.
  explicit operator bool() const = delete;  // ask isCreated() or query()

  /// Whether the event exists: whether it has been recorded, exported or opened.
  [[nodiscard]] bool isCreated() const noexcept { return event_ != nullptr; }

  /// The index of the event's device; -1 while it has none.
  [[nodiscard]] DeviceIndex device_index() const {
    std::int32_t device = -1;
    if (event_) {
      detail::check(::sconce_event_get_device(event_.get(), &device));
    }
    return device;
  }

  /// The device of the event; none before it is recorded, exported or opened.
  [[nodiscard]] std::optional<Device> device() const {
    const DeviceIndex index = device_index();
    return index == -1 ? std::nullopt : std::optional<Device>(Device(index));
  }

  /// The flags with which the event was created.
  [[nodiscard]] EventFlags flags() const noexcept { return flags_; }

  /// Whether all work before the most recent record has finished; true without a record.
  [[nodiscard]] bool query() const {
    bool complete = true;
    if (event_) {
      detail::check(::sconce_event_query(event_.get(), &complete));
    }
    return complete;
  }

  /// Records the event on the current stream of the current device.
  void record() { record(getCurrentCUDAStream()); }

  /// Records the event on `stream`: it is complete once the work queued so far has finished.
  /// Replaces an earlier record.
  /// \throws Error `SCONCE_ERROR_CROSS_DEVICE` if the event belongs to another device
  void record(const CUDAStream& stream) {
    create();
    detail::check(::sconce_event_record(event_.get(), stream.get()));
    recorded_.value = true;
  }

  /// Records the event unless it has been recorded before.
  void recordOnce(const CUDAStream& stream) {
    if (!recorded_.value) {
      record(stream);
    }
  }

  /// Makes later work of `stream` wait for the most recent record, also across devices. Does not
  /// block the host.
  void block(const CUDAStream& stream) const {
    if (event_) {
      detail::check(::sconce_stream_wait_event(stream.get(), event_.get()));
    }
  }

  /// Milliseconds from this event's record to `other`'s.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` unless both take time stamps,
  ///         `SCONCE_ERROR_INVALID_STATE` unless both are recorded, `SCONCE_ERROR_NOT_READY` unless
  ///         both are complete, `SCONCE_ERROR_CROSS_DEVICE` unless both are of one device
  [[nodiscard]] float elapsed_time(const CUDAEvent& other) const {
    if (!event_ || !other.event_) {
      throw_not_measurable(takes_time() && other.takes_time());
    }
    float milliseconds = 0.0F;
    detail::check(::sconce_event_elapsed_ms(event_.get(), other.event_.get(), &milliseconds));
    return milliseconds;
  }

  /// Waits on the host for the most recent record; returns at once without one.
  void synchronize() const {
    if (event_) {
      detail::check(::sconce_event_synchronize(event_.get()));
    }
  }

  /// Returns the handle with which another process opens this event. Creates the event on the
  /// current device if it does not exist.
  /// \throws Error unless created with `EventFlags::Interprocess`
  [[nodiscard]] IpcEventHandle ipc_handle() {
    create();
    IpcEventHandle handle{};
    detail::check(::sconce_event_get_ipc_handle(event_.get(), handle.data()));
    return handle;
  }

 private:
  void create() {
    if (!event_) {
      sconce_event* event = nullptr;
      detail::check(::sconce_event_create(static_cast<std::uint32_t>(flags_), &event));
      event_.reset(event);
    }
  }

  [[nodiscard]] bool takes_time() const noexcept {
    return (flags_ & EventFlags::Timing) == EventFlags::Timing;
  }

  // The message of sconce_event_elapsed_ms, for events that do not exist yet.
  [[noreturn]] static void throw_not_measurable(bool timed) {
    if (!timed) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  "Both events must be created with timing: the flag SCONCE_EVENT_TIMING (C++ "
                  "EventFlags::Timing)");
    }
    throw Error(SCONCE_ERROR_INVALID_STATE,
                "Both events must be recorded before calculating elapsed time.");
  }

  EventFlags flags_ = EventFlags::None;
  detail::ResetOnMove<bool> recorded_;
  std::unique_ptr<sconce_event, detail::EventDeleter> event_;
};

inline void CUDAStream::wait_event(const CUDAEvent& event) const { event.block(*this); }

inline void CUDAStream::record_event(CUDAEvent& event) const { event.record(*this); }

inline CUDAEvent CUDAStream::record_event() const {
  CUDAEvent event;
  event.record(*this);
  return event;
}

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_EVENT_HPP
