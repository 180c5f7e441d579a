/// \file
/// Where the library's own messages go. Without a callback they go to standard error; `SCONCE_LOG`
/// (`off`, `error`, `warn`, `info`, `debug`) chooses how many.
#ifndef SCONCE_LOG_HPP
#define SCONCE_LOG_HPP

#include <cstdint>
#include <sconce/error.hpp>

namespace sconce {
inline namespace v0 {
namespace log {

/// How much a message matters.
enum class Level : std::int32_t {
  Error = SCONCE_LOG_ERROR,  ///< something failed that no status reports
  Warn = SCONCE_LOG_WARN,    ///< probably not what the user wants
  Info = SCONCE_LOG_INFO,    ///< a rare event of interest
  Debug = SCONCE_LOG_DEBUG,  ///< everything else
};

/// What takes messages: a `Level`, the text (borrowed for the call), and the pointer given with it.
using Callback = void (*)(std::int32_t level, const char* message, void* user);

/// Sends later messages to `callback`; null sends them to standard error again.
///
/// The callback may be called from any thread, also at the same time, and must not throw; it may
/// call the library. `user` must live until it has been replaced and every call has returned.
inline void set_callback(Callback callback, void* user = nullptr) noexcept {
  ::sconce_log_set_callback(callback, user);
}

}  // namespace log
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_LOG_HPP
