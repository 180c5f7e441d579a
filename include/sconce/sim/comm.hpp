/// \file
/// Faults of communicators of simulated devices, for tests.
#ifndef SCONCE_SIM_COMM_HPP
#define SCONCE_SIM_COMM_HPP

#include <sconce/c/sim.h>

#include <chrono>
#include <cstdint>
#include <sconce/comm/base.hpp>

namespace sconce {
inline namespace v0 {
namespace simulator {

/// Ends a communicator's rank as if its process had died: the calls that it has queued end without
/// a result, its later calls fail with `SCONCE_ERROR_ABORTED`, and calls of ranks that wait for it
/// fail with `_REMOTE`.
inline void kill_comm(const distributed::CommunicatorBase& comm) {
  detail::check(::sconce_sim_comm_kill(comm.get()));
}
/// Delays each later call of a communicator's rank, as on a slow machine.
inline void delay_comm(const distributed::CommunicatorBase& comm, std::chrono::nanoseconds delay) {
  const auto count = delay.count();
  detail::check(
      ::sconce_sim_comm_delay(comm.get(), count > 0 ? static_cast<std::uint64_t>(count) : 0));
}
/// Makes a communicator's rank fail asynchronously with an `ncclResult_t`, such as 6 for
/// `ncclRemoteError`.
inline void fail_comm(const distributed::CommunicatorBase& comm, std::int32_t code) {
  detail::check(::sconce_sim_comm_fail(comm.get(), code));
}
/// Sets how long simulated ranks wait for each other. After that time the communicator breaks, with
/// a message that names what is missing. The default is 60 seconds.
inline void set_comm_patience(std::chrono::milliseconds patience) {
  const auto count = patience.count();
  detail::check(
      ::sconce_sim_set_comm_patience_ms(count > 0 ? static_cast<std::uint64_t>(count) : 0));
}

}  // namespace simulator
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_SIM_COMM_HPP
