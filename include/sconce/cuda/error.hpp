/// \file
/// How the C++ side reports failures: one exception type that carries the C API's status.
#ifndef SCONCE_CUDA_ERROR_HPP
#define SCONCE_CUDA_ERROR_HPP

#include <sconce/c/library.h>

#include <cstdint>
#include <cstring>
#include <sconce/fwd.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace sconce {
inline namespace v0 {

/// The outcome of a call: `SCONCE_OK` or one of `SCONCE_ERROR_…`.
using Status = ::sconce_status;

/// Returns the spelling of a status, e.g. `SCONCE_ERROR_INVALID_DEVICE`. Never null, even
/// for unknown numbers.
inline const char* status_name(Status status) noexcept {
  return ::sconce_status_name(static_cast<std::int32_t>(status));
}

/// Any failure of the library.
///
/// Corresponds to `c10::Error`. `what()` is the name of the status followed by the library's
/// message, which names the argument or the driver call and the remedy.
class Error : public std::runtime_error {
 public:
  /// Constructs a failure with a status; `backend_code` is the driver's number, 0 if no driver call
  /// caused the failure.
  Error(Status status, const std::string& message, std::int32_t backend_code = 0)
      : std::runtime_error(std::string(status_name(status)) + ": " + message),
        status_(status),
        backend_code_(backend_code) {}

  /// The library's message, without the name of the status. Corresponds to `c10::Error::msg`.
  [[nodiscard]] std::string msg() const { return what_without_backtrace(); }

  /// `msg`, valid as long as this object. Corresponds to `c10::Error::what_without_backtrace`;
  /// there is no backtrace.
  [[nodiscard]] const char* what_without_backtrace() const noexcept {
    return what() + std::strlen(status_name(status_)) + 2;
  }

  /// The status of the failed call.
  [[nodiscard]] Status status() const noexcept { return status_; }

  /// The driver's own number (a `CUresult` on CUDA), 0 if no driver call caused the failure.
  [[nodiscard]] std::int32_t backend_code() const noexcept { return backend_code_; }

 private:
  Status status_;
  std::int32_t backend_code_;
};

/// Device or host memory is exhausted. Corresponds to `c10::OutOfMemoryError`.
class OutOfMemoryError : public Error {
 public:
  using Error::Error;
};

/// The device, the driver or the backend cannot do this. Corresponds to `c10::NotImplementedError`.
class NotSupportedError : public Error {
 public:
  using Error::Error;
};

/// Helpers that the headers of this library share; not for callers.
namespace detail {

#if defined(__GNUC__)
#define SCONCE_DETAIL_COLD [[gnu::cold, gnu::noinline]]
#else
#define SCONCE_DETAIL_COLD
#endif

/// Throws the exception for `status`.
[[noreturn]] SCONCE_DETAIL_COLD inline void throw_error(Status status, const std::string& message,
                                                        std::int32_t backend_code = 0) {
  switch (status) {
    case SCONCE_ERROR_OUT_OF_MEMORY:
      throw OutOfMemoryError(status, message, backend_code);
    case SCONCE_ERROR_NOT_SUPPORTED:
      throw NotSupportedError(status, message, backend_code);
    default:
      throw Error(status, message, backend_code);
  }
}

/// Throws the exception for `status`, with the message of this thread's last failure.
[[noreturn]] SCONCE_DETAIL_COLD inline void throw_error(Status status) {
  throw_error(status, ::sconce_last_error_message(), ::sconce_last_error_backend_code());
}

#undef SCONCE_DETAIL_COLD

/// Turns a status that is not `SCONCE_OK` into an exception.
inline void check(Status status) {
#if defined(__GNUC__)
  if (__builtin_expect(status != SCONCE_OK, 0)) {
#else
  if (status != SCONCE_OK) {
#endif
    throw_error(status);
  }
}

/// Logs the failure of a call whose status a destructor cannot return; `what` is the operation that
/// failed.
inline void log_failure(Status status, const char* what) noexcept {
#if defined(__GNUC__)
  if (__builtin_expect(status != SCONCE_OK, 0)) {
#else
  if (status != SCONCE_OK) {
#endif
    ::sconce_log_failure(static_cast<std::int32_t>(status), what);
  }
}

/// Returns the text that `call` returns through its `char**`, if `checked` accepts its status, and
/// frees the original.
template <class Call, class Checked>
std::string text_of(Call&& call, Checked&& checked, void (*release)(char*)) {
  struct Text {
    void (*release)(char*);
    char* chars = nullptr;
    ~Text() { release(chars); }
  } text{release};
  checked(call(&text.chars));
  return text.chars;
}

/// As above, of a function of libsconce.
template <class Call>
std::string text_of(Call&& call) {
  return text_of(
      std::forward<Call>(call), [](Status status) { check(status); }, ::sconce_string_free);
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_ERROR_HPP
