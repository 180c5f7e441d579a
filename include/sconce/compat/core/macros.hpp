/// \file
/// c10's macros for code written for c10: checks, and marks of the compiler. Part of
/// `<sconce/compat/c10.hpp>`.
///
/// Each macro is defined only if it is not defined yet. Their meaning is that of c10's documents;
/// the guide's page "Code written for c10" lists them.
#ifndef SCONCE_COMPAT_CORE_MACROS_HPP
#define SCONCE_COMPAT_CORE_MACROS_HPP

#include <sconce/c/library.h>

#include <cstdint>
#include <cstdio>
#include <sconce/cuda/error.hpp>
#include <sstream>
#include <string>

/// \cond
// The program's calls of the CUDA runtime use the types and the error texts of its header. A
// program without the runtime defines SCONCE_C10_COMPAT_NO_CUDA_RUNTIME, or its own replacements.
#if !defined(SCONCE_C10_COMPAT_NO_CUDA_RUNTIME) && defined(__has_include)
#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#define SCONCE_C10_COMPAT_HAS_CUDA_RUNTIME
#define SCONCE_C10_COMPAT_WORDS(code) ::cudaGetErrorString(code)
#endif
#endif
#ifndef SCONCE_C10_COMPAT_WORDS
#define SCONCE_C10_COMPAT_WORDS(code) nullptr
#endif

namespace sconce {
inline namespace v0 {
namespace compat {
namespace c10 {

/// An index that is out of range. Corresponds to `c10::IndexError`.
class IndexError : public ::sconce::Error {
 public:
  using ::sconce::Error::Error;
};
/// A value of another type than is expected. Corresponds to `c10::TypeError`.
class TypeError : public ::sconce::Error {
 public:
  using ::sconce::Error::Error;
};
/// A value that is not allowed. Corresponds to `c10::ValueError`.
class ValueError : public ::sconce::Error {
 public:
  using ::sconce::Error::Error;
};

}  // namespace c10
namespace detail {

/// The concatenated arguments, as c10 builds messages.
template <class... Arguments>
std::string joined(const Arguments&... arguments) {
  std::ostringstream text;
  (void)(text << ... << arguments);
  return text.str();
}

/// Throws for the number of a failed call of a CUDA library.
[[noreturn]] inline void throw_cuda_error(int code, const char* words, const char* library,
                                          const char* call, const char* file, int line) {
  throw Error(SCONCE_ERROR_DRIVER,
              joined(library, " error ", code, words != nullptr ? ": " : "",
                     words != nullptr ? words : "", " in ", call, " (", file, ":", line, ")"),
              code);
}

/// Throws for a condition that does not hold.
template <class... Arguments>
[[noreturn]] void throw_failed_check(Status status, const char* condition, const char* file,
                                     int line, const Arguments&... arguments) {
  const std::string text = joined(arguments...);
  throw Error(status, text.empty() ? joined("Expected ", condition, " to be true, but got false. (",
                                            file, ":", line, ")")
                                   : text);
}

/// Throws an exception of a kind for a condition that does not hold.
template <class Kind, class... Arguments>
[[noreturn]] void throw_kind(const char* condition, const char* file, int line,
                             const Arguments&... arguments) {
  const std::string text = joined(arguments...);
  throw Kind(SCONCE_ERROR_INVALID_ARGUMENT,
             text.empty() ? joined("Expected ", condition, " to be true, but got false. (", file,
                                   ":", line, ")")
                          : text);
}

/// Writes a warning to standard error, as c10 does without Python.
template <class... Arguments>
void warn(const char* file, int line, const Arguments&... arguments) {
  const std::string text = joined("[W ", file, ":", line, "] Warning: ", arguments..., "\n");
  std::fputs(text.c_str(), stderr);
}

}  // namespace detail
}  // namespace compat
}  // namespace v0
}  // namespace sconce

// Checks of conditions.

// The first of the arguments, its text, and the others with an empty text behind them.
#define SCONCE_C10_COMPAT_HEAD(head, ...) head
#define SCONCE_C10_COMPAT_TAIL(head, ...) __VA_ARGS__
#define SCONCE_C10_COMPAT_TEXT_OF(head, ...) #head
// Each is a statement without a semicolon, like c10's: code for c10 sometimes omits it.
#define SCONCE_C10_COMPAT_CHECK(status, ...)                                    \
  if (!(SCONCE_C10_COMPAT_HEAD(__VA_ARGS__, ""))) {                             \
    ::sconce::compat::detail::throw_failed_check(                               \
        status, SCONCE_C10_COMPAT_TEXT_OF(__VA_ARGS__, ""), __FILE__, __LINE__, \
        SCONCE_C10_COMPAT_TAIL(__VA_ARGS__, ""));                               \
  }
#define SCONCE_C10_COMPAT_CHECK_KIND(kind, ...)                         \
  if (!(SCONCE_C10_COMPAT_HEAD(__VA_ARGS__, ""))) {                     \
    ::sconce::compat::detail::throw_kind<::sconce::compat::c10::kind>(  \
        SCONCE_C10_COMPAT_TEXT_OF(__VA_ARGS__, ""), __FILE__, __LINE__, \
        SCONCE_C10_COMPAT_TAIL(__VA_ARGS__, ""));                       \
  }

#ifndef TORCH_CHECK
#define TORCH_CHECK(...) SCONCE_C10_COMPAT_CHECK(SCONCE_ERROR_INVALID_ARGUMENT, __VA_ARGS__)
#endif
#ifndef TORCH_CHECK_VALUE
#define TORCH_CHECK_VALUE(...) SCONCE_C10_COMPAT_CHECK_KIND(ValueError, __VA_ARGS__)
#endif
#ifndef TORCH_CHECK_INDEX
#define TORCH_CHECK_INDEX(...) SCONCE_C10_COMPAT_CHECK_KIND(IndexError, __VA_ARGS__)
#endif
#ifndef TORCH_CHECK_TYPE
#define TORCH_CHECK_TYPE(...) SCONCE_C10_COMPAT_CHECK_KIND(TypeError, __VA_ARGS__)
#endif
#ifndef TORCH_CHECK_NOT_IMPLEMENTED
#define TORCH_CHECK_NOT_IMPLEMENTED(...)                                            \
  if (!(SCONCE_C10_COMPAT_HEAD(__VA_ARGS__, ""))) {                                 \
    throw ::sconce::NotSupportedError(                                              \
        SCONCE_ERROR_NOT_SUPPORTED,                                                 \
        ::sconce::compat::detail::joined(SCONCE_C10_COMPAT_TAIL(__VA_ARGS__, ""))); \
  }
#endif
#ifndef TORCH_CHECK_WITH
#define TORCH_CHECK_WITH(kind, ...) SCONCE_C10_COMPAT_CHECK_KIND(kind, __VA_ARGS__)
#endif
#ifndef TORCH_CHECK_ARG
#define TORCH_CHECK_ARG(condition, place, ...) \
  TORCH_CHECK(condition, "invalid argument ", place, ": ", __VA_ARGS__)
#endif
#ifndef C10_THROW_ERROR
#define C10_THROW_ERROR(kind, message) \
  throw ::sconce::compat::c10::kind(SCONCE_ERROR_INVALID_ARGUMENT, message)
#endif
#ifndef TORCH_INTERNAL_ASSERT
#define TORCH_INTERNAL_ASSERT(...) SCONCE_C10_COMPAT_CHECK(SCONCE_ERROR_INTERNAL, __VA_ARGS__)
#endif
#ifndef TORCH_INTERNAL_ASSERT_DEBUG_ONLY
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  while (false) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif
#endif
#ifndef TORCH_CHECK_EQ
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b), "Check failed: " #a " == " #b)
#define TORCH_CHECK_NE(a, b) TORCH_CHECK((a) != (b), "Check failed: " #a " != " #b)
#define TORCH_CHECK_LT(a, b) TORCH_CHECK((a) < (b), "Check failed: " #a " < " #b)
#define TORCH_CHECK_LE(a, b) TORCH_CHECK((a) <= (b), "Check failed: " #a " <= " #b)
#define TORCH_CHECK_GT(a, b) TORCH_CHECK((a) > (b), "Check failed: " #a " > " #b)
#define TORCH_CHECK_GE(a, b) TORCH_CHECK((a) >= (b), "Check failed: " #a " >= " #b)
#endif
#ifndef AT_ASSERT
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif
#ifndef AT_ASSERTM
#define AT_ASSERTM(...) TORCH_CHECK(__VA_ARGS__)
#endif
#ifndef AT_ERROR
#define AT_ERROR(...) TORCH_CHECK(false, __VA_ARGS__)
#endif
#ifndef TORCH_WARN
#define TORCH_WARN(...) ::sconce::compat::detail::warn(__FILE__, __LINE__, __VA_ARGS__)
#endif
#ifndef TORCH_WARN_ONCE
#define TORCH_WARN_ONCE(...)                                           \
  do {                                                                 \
    [[maybe_unused]] static const bool warned = [&] {                  \
      ::sconce::compat::detail::warn(__FILE__, __LINE__, __VA_ARGS__); \
      return true;                                                     \
    }();                                                               \
  } while (false)
#endif

// Checks of CUDA's calls. The expression is evaluated once; success is 0 for every status type.

#ifndef C10_CUDA_CHECK
#define C10_CUDA_CHECK(expression)                                                                 \
  do {                                                                                             \
    const auto c10_compat_code = (expression);                                                     \
    if (static_cast<int>(c10_compat_code) != 0) {                                                  \
      ::sconce::compat::detail::throw_cuda_error(static_cast<int>(c10_compat_code),                \
                                                 SCONCE_C10_COMPAT_WORDS(c10_compat_code), "CUDA", \
                                                 #expression, __FILE__, __LINE__);                 \
    }                                                                                              \
  } while (false)
#endif
#ifndef C10_CUDA_CHECK_WARN
#define C10_CUDA_CHECK_WARN(expression)                                                  \
  do {                                                                                   \
    const auto c10_compat_code = (expression);                                           \
    if (static_cast<int>(c10_compat_code) != 0) {                                        \
      TORCH_WARN("CUDA error ", static_cast<int>(c10_compat_code), " in ", #expression); \
    }                                                                                    \
  } while (false)
#endif
#ifndef C10_CUDA_ERROR_HANDLED
#define C10_CUDA_ERROR_HANDLED(expression) (expression)
#endif
#ifndef C10_CUDA_IGNORE_ERROR
#define C10_CUDA_IGNORE_ERROR(expression)    \
  do {                                       \
    if (static_cast<int>(expression) != 0) { \
      (void)cudaGetLastError();              \
    }                                        \
  } while (false)
#endif
#ifndef C10_CUDA_CLEAR_ERROR
#define C10_CUDA_CLEAR_ERROR() (void)cudaGetLastError()
#endif
#ifndef C10_CUDA_KERNEL_LAUNCH_CHECK
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#endif
#ifndef AT_CUDA_CHECK
#define AT_CUDA_CHECK(expression) C10_CUDA_CHECK(expression)
#endif
#ifndef SCONCE_C10_COMPAT_LIBRARY_CHECK
#define SCONCE_C10_COMPAT_LIBRARY_CHECK(library, expression)                                     \
  do {                                                                                           \
    const int c10_compat_code = static_cast<int>(expression);                                    \
    if (c10_compat_code != 0) {                                                                  \
      ::sconce::compat::detail::throw_cuda_error(c10_compat_code, nullptr, library, #expression, \
                                                 __FILE__, __LINE__);                            \
    }                                                                                            \
  } while (false)
#endif
#ifndef C10_CUDA_DRIVER_CHECK
#define C10_CUDA_DRIVER_CHECK(expression) SCONCE_C10_COMPAT_LIBRARY_CHECK("CUDA driver", expression)
#endif
#ifndef AT_CUDA_DRIVER_CHECK
#define AT_CUDA_DRIVER_CHECK(expression) C10_CUDA_DRIVER_CHECK(expression)
#endif
#ifndef TORCH_CUDABLAS_CHECK
#define TORCH_CUDABLAS_CHECK(expression) SCONCE_C10_COMPAT_LIBRARY_CHECK("cuBLAS", expression)
#endif
#ifndef AT_CUDNN_CHECK
#define AT_CUDNN_CHECK(expression) SCONCE_C10_COMPAT_LIBRARY_CHECK("cuDNN", expression)
#endif
#ifndef CUFFT_CHECK
#define CUFFT_CHECK(expression) SCONCE_C10_COMPAT_LIBRARY_CHECK("cuFFT", expression)
#endif

#ifndef LEGACY_CONTIGUOUS_MEMORY_FORMAT
#define LEGACY_CONTIGUOUS_MEMORY_FORMAT ::sconce::cuda::MemoryFormat::Contiguous
#endif

// Marks.

#ifndef C10_HOST_DEVICE
#ifdef __CUDACC__
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#else
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_HOST
#endif
#endif
#ifndef C10_LAUNCH_BOUNDS_1
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(threads)
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__(threads, blocks)
#endif
#ifndef C10_LIKELY
#ifdef __GNUC__
#define C10_LIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 1))
#define C10_UNLIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 0))
#else
#define C10_LIKELY(condition) (condition)
#define C10_UNLIKELY(condition) (condition)
#endif
#endif
#ifndef C10_UNUSED
#define C10_UNUSED [[maybe_unused]]
#endif
#ifndef C10_RESTRICT
#define C10_RESTRICT __restrict
#endif
#ifndef C10_EXPORT
#define C10_EXPORT
#define C10_API
#define TORCH_API
#define TORCH_CUDA_CU_API
#define TORCH_CUDA_CPP_API
#endif
#ifndef CUDA_KERNEL_LOOP_TYPE
#define CUDA_KERNEL_LOOP_TYPE(i, n, type)                                          \
  for (type i = static_cast<type>(blockIdx.x) * blockDim.x + threadIdx.x; i < (n); \
       i += static_cast<type>(blockDim.x) * gridDim.x)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)
#endif
/// \endcond

#endif  // SCONCE_COMPAT_CORE_MACROS_HPP
