/// \file
/// Controls of the simulated devices, for tests: the order of completion, faults, counts of driver
/// calls.
///
/// With another backend all of them throw `NotSupportedError`.
#ifndef SCONCE_SIM_SIMULATOR_HPP
#define SCONCE_SIM_SIMULATOR_HPP

#include <sconce/c/sim.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sconce/cuda/stream.hpp>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace simulator {

/// Turns manual mode on or off. In manual mode queued work completes only in `step` and
/// `run_until_idle`, and time advances only with what completes.
inline void set_manual(bool manual) { detail::check(::sconce_sim_set_manual(manual)); }

/// Manual mode for a scope.
class [[nodiscard]] ManualScope {
 public:
  /// Turns manual mode on.
  SCONCE_NODISCARD_CTOR ManualScope() { set_manual(true); }
  ManualScope(const ManualScope&) = delete;
  ManualScope& operator=(const ManualScope&) = delete;
  ManualScope(ManualScope&&) = delete;
  ManualScope& operator=(ManualScope&&) = delete;
  /// Turns manual mode off; queued work proceeds by itself.
  ~ManualScope() { detail::log_failure(::sconce_sim_set_manual(false), "ending a ManualScope"); }
};

/// Completes the stream's first pending operation, on this thread, if everything for which it waits
/// has happened.
/// \returns whether there was such an operation
inline bool step(const cuda::CUDAStream& stream) {
  bool stepped = false;
  detail::check(::sconce_sim_step(stream.get(), &stepped));
  return stepped;
}

/// Completes all operations that can complete: in manual mode on this thread, otherwise by waiting.
/// \returns the number of operations completed on this thread
inline std::size_t run_until_idle() {
  std::size_t steps = 0;
  detail::check(::sconce_sim_run_until_idle(&steps));
  return steps;
}

/// Returns how many operations of the stream have not completed.
[[nodiscard]] inline std::size_t pending(const cuda::CUDAStream& stream) {
  std::size_t count = 0;
  detail::check(::sconce_sim_get_pending(stream.get(), &count));
  return count;
}

/// Sets the duration of kernels, copies, fills and host functions that are queued from now on. The
/// default is the environment's `SCONCE_SIM_LATENCY_NS`, or 5 µs.
inline void set_latency(std::chrono::nanoseconds latency) {
  const auto count = latency.count();
  detail::check(::sconce_sim_set_latency_ns(count > 0 ? static_cast<std::uint64_t>(count) : 0));
}

/// Returns how many times a driver call, e.g. `"stream_create"`, has been made since the last
/// reset.
[[nodiscard]] inline std::uint64_t call_count(const char* call) {
  std::uint64_t count = 0;
  detail::check(::sconce_sim_get_call_count(call, &count));
  return count;
}

/// Sets the count of every driver call to 0.
inline void reset_call_counts() { detail::check(::sconce_sim_reset_call_counts()); }

/// Makes the `nth` driver call of a kind from now on (1 is the next) fail at once with CUDA's error
/// number `code`.
inline void inject_fault(const char* call, std::uint64_t nth, std::int32_t code) {
  detail::check(::sconce_sim_inject_fault(call, nth, code));
}

/// Makes the `nth` operation queued by driver calls of a kind fail when it runs. Its device then
/// fails as well, until `clear_device_error`.
inline void inject_async_fault(const char* call, std::uint64_t nth, std::int32_t code) {
  detail::check(::sconce_sim_inject_async_fault(call, nth, code));
}

/// Makes the `nth` event record, counted from now on, never complete. Later work of its stream does
/// not complete either.
inline void stick_event(std::uint64_t nth) { detail::check(::sconce_sim_stick_event(nth)); }

/// Removes all injected faults that have not taken effect, and lets stuck records complete.
inline void clear_faults() { detail::check(::sconce_sim_clear_faults()); }

/// Clears the asynchronous error of a device. Work that was queued at the time of the error is not
/// executed.
inline void clear_device_error(cuda::DeviceIndex device = -1) {
  detail::check(::sconce_sim_clear_device_error(device));
}

/// Sets whether kernels of `device` may use the memory of `peer`; true by default.
inline void set_peer_access(cuda::DeviceIndex device, cuda::DeviceIndex peer, bool allowed) {
  detail::check(::sconce_sim_set_peer_access(device, peer, allowed));
}

/// Turns the reuse of freed addresses and handles on or off. If it is on, the next allocation that
/// fits returns the memory freed last, as with CUDA drivers.
inline void set_address_reuse(bool reuse) { detail::check(::sconce_sim_set_address_reuse(reuse)); }

/// Makes the context of a device current on this thread as other code does with `cudaSetDevice`; -1
/// leaves none current.
inline void set_current_device(cuda::DeviceIndex device) {
  detail::check(::sconce_sim_set_current_device(device));
}

/// Returns the device whose context is current on this thread, as other code sees it; -1 without
/// one.
[[nodiscard]] inline cuda::DeviceIndex get_current_device() {
  std::int32_t device = -1;
  detail::check(::sconce_sim_get_current_device(&device));
  return device;
}

/// A stream of a simulated device that other code of the process would have made through CUDA. Owns
/// it; movable, not copyable. A driver call that receives the handle after the destruction ends the
/// process.
class ExternalStream {
 public:
  /// Creates a stream on the device (-1: the current one).
  explicit ExternalStream(bool non_blocking = true, int priority = 0,
                          cuda::DeviceIndex device = -1) {
    void* native = nullptr;
    const std::uint32_t flags = non_blocking ? SCONCE_SIM_STREAM_NON_BLOCKING : 0U;
    detail::check(::sconce_sim_stream_create(device, flags, priority, &native));
    native_.reset(native);
  }

  /// The handle, for `cuda::getStreamFromExternal`.
  [[nodiscard]] void* get() const noexcept { return native_.get(); }

  /// Destroys the stream; work already queued still runs.
  void destroy() noexcept { native_.reset(); }

 private:
  struct Destroy {
    void operator()(void* native) const noexcept { (void)::sconce_sim_stream_destroy(native); }
  };
  std::unique_ptr<void, Destroy> native_;
};

/// An event of a simulated device that other code of the process would have made through CUDA. Owns
/// it; movable, not copyable.
class ExternalEvent {
 public:
  /// Creates an event on the device (-1: the current one); `flags` as for `sconce_event_create`.
  explicit ExternalEvent(std::uint32_t flags = 0, cuda::DeviceIndex device = -1) {
    void* native = nullptr;
    detail::check(::sconce_sim_event_create(device, flags, &native));
    native_.reset(native);
  }

  /// The handle.
  [[nodiscard]] void* get() const noexcept { return native_.get(); }

  /// Records the event on the stream with this handle (null: the default stream).
  void record(void* stream) const { detail::check(::sconce_sim_event_record(get(), stream)); }

  /// Whether the most recent record has completed.
  [[nodiscard]] bool query() const {
    bool done = false;
    detail::check(::sconce_sim_event_query(get(), &done));
    return done;
  }

  /// Waits for the most recent record.
  void synchronize() const { detail::check(::sconce_sim_event_synchronize(get())); }

  /// Destroys the event.
  void destroy() noexcept { native_.reset(); }

 private:
  struct Destroy {
    void operator()(void* native) const noexcept { (void)::sconce_sim_event_destroy(native); }
  };
  std::unique_ptr<void, Destroy> native_;
};

/// The modes of captures, also in this namespace.
using cuda::CaptureMode;

/// Begins a capture on the stream, as other code does with `cudaStreamBeginCapture` on a real one.
/// Work queued there until `end_capture` never runs: the graph is discarded. `cuda::CUDAGraph`
/// makes graphs that can be launched.
inline void begin_capture(const cuda::CUDAStream& stream, CaptureMode mode = CaptureMode::Global) {
  detail::check(::sconce_sim_begin_capture(stream.get(), static_cast<std::int32_t>(mode)));
}

/// Ends the capture that began on the stream.
/// \throws Error `SCONCE_ERROR_INVALID_STATE` if a call invalidated the capture (backend code 901),
///         or if a stream that joined it was not waited for (904)
inline void end_capture(const cuda::CUDAStream& stream) {
  detail::check(::sconce_sim_end_capture(stream.get()));
}

/// Memory of a simulated device, whose contents a test can read. Owns it; movable, not copyable.
class [[nodiscard]] DeviceMemory {
 public:
  /// Allocates `bytes` of the device (-1: the current one) with undefined contents.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for 0 bytes
  SCONCE_NODISCARD_CTOR explicit DeviceMemory(std::size_t bytes, cuda::DeviceIndex device = -1) {
    void* ptr = nullptr;
    detail::check(::sconce_sim_memory_alloc(device, bytes, &ptr));
    ptr_.reset(ptr);
  }

  /// The device address; the host cannot access it.
  [[nodiscard]] void* get() const noexcept { return ptr_.get(); }

  /// Returns the first `count` elements, once the work of the default stream has finished.
  template <class T>
  [[nodiscard]] std::vector<T> read(std::size_t count) const {
    std::vector<T> data(count);
    if (count != 0) {
      detail::check(::sconce_sim_memory_read(ptr_.get(), count * sizeof(T), data.data()));
    }
    return data;
  }

  /// Writes elements from the beginning on.
  template <class T>
  void write(const std::vector<T>& data) const {
    if (!data.empty()) {
      detail::check(::sconce_sim_memory_write(ptr_.get(), data.size() * sizeof(T), data.data()));
    }
  }

 private:
  struct Free {
    void operator()(void* ptr) const noexcept {
      detail::log_failure(::sconce_sim_memory_free(ptr), "freeing a simulator::DeviceMemory");
    }
  };
  std::unique_ptr<void, Free> ptr_;
};

}  // namespace simulator
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_SIM_SIMULATOR_HPP
