/// \file
/// Controls of the simulated devices, for tests: what completes when, what fails, what was called.
#ifndef SCONCE_SIMULATOR_HPP
#define SCONCE_SIMULATOR_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <sconce/stream.hpp>

namespace sconce::simulator {

/// In manual mode nothing queued runs until `step` lets it.
/// \throws Error `SCONCE_ERROR_INVALID_STATE` unless the simulator is the backend in use
inline void set_manual(bool manual) { detail::check(::sconce_sim_set_manual(manual)); }

/// Lets the stream's next operation run, and waits for it.
/// \returns whether there was one that could run
inline bool step(const cuda::CUDAStream& stream) {
  bool stepped = false;
  detail::check(::sconce_sim_step(stream.get(), &stepped));
  return stepped;
}

/// How many operations of the stream have not finished.
[[nodiscard]] inline std::size_t pending(const cuda::CUDAStream& stream) {
  std::size_t count = 0;
  detail::check(::sconce_sim_get_pending(stream.get(), &count));
  return count;
}

/// How long every operation takes on top of its own work.
inline void set_latency(std::chrono::nanoseconds latency) {
  const auto count = latency.count();
  detail::check(::sconce_sim_set_latency_ns(count > 0 ? static_cast<std::uint64_t>(count) : 0));
}

/// How often the driver call has been made, e.g. `"stream_create"`.
[[nodiscard]] inline std::uint64_t call_count(const char* call) {
  std::uint64_t count = 0;
  detail::check(::sconce_sim_get_call_count(call, &count));
  return count;
}

/// Makes the `nth` call of the kind from now (1 is the next) fail with the driver's error `code`.
inline void inject_fault(const char* call, std::uint64_t nth, std::int32_t code) {
  detail::check(::sconce_sim_inject_fault(call, nth, code));
}

/// Forgets all faults that have not struck.
inline void clear_faults() { detail::check(::sconce_sim_clear_faults()); }

/// Manual mode for a scope.
class ManualScope {
 public:
  /// Turns manual mode on.
  ManualScope() { set_manual(true); }
  ManualScope(const ManualScope&) = delete;
  ManualScope& operator=(const ManualScope&) = delete;
  ManualScope(ManualScope&&) = delete;
  ManualScope& operator=(ManualScope&&) = delete;
  /// Turns manual mode off; what is queued runs.
  ~ManualScope() { (void)::sconce_sim_set_manual(false); }
};

}  // namespace sconce::simulator

#endif  // SCONCE_SIMULATOR_HPP
