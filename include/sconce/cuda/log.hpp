/// \file
/// The destination of the library's own messages. Without a callback it is standard error.
/// `SCONCE_LOG` (`off`, `error`, `warn`, `info`, `debug`) selects the messages.
#ifndef SCONCE_CUDA_LOG_HPP
#define SCONCE_CUDA_LOG_HPP

#include <sconce/c/library.h>

#include <cstdint>
#include <sconce/cuda/error.hpp>

namespace sconce {
inline namespace v0 {
namespace log {

/// The importance of a message.
enum class Level : std::int32_t {
  Error = SCONCE_LOG_ERROR,  ///< a failure that no status reports
  Warn = SCONCE_LOG_WARN,    ///< something that the user probably does not want
  Info = SCONCE_LOG_INFO,    ///< a rare event of interest
  Debug = SCONCE_LOG_DEBUG,  ///< everything else
};

/// A function that receives messages: a `Level`, the text (borrowed for the call), and the pointer
/// of `set_callback`.
using Callback = void (*)(std::int32_t level, const char* message, void* user);

/// Sends later messages to `callback`; null sends them to standard error again.
///
/// Several threads may call the callback at once. It must not throw, and it may call the library.
/// `user` must live until it has been replaced and every call has returned.
inline void set_callback(Callback callback, void* user = nullptr) noexcept {
  ::sconce_log_set_callback(callback, user);
}

}  // namespace log
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_LOG_HPP
