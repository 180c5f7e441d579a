/// \file
/// Guards of ATen's modes, of which there is one here, and marks of its profiler. Part of
/// `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_TENSOR_MODES_HPP
#define SCONCE_COMPAT_TENSOR_MODES_HPP

#include <cstdint>
#include <sconce/cuda/nvtx.hpp>
#include <string>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace c10 {

/// Does nothing: there are no gradients. Corresponds to `c10::InferenceMode`.
struct InferenceMode {
  /// Changes nothing.
  explicit InferenceMode(bool = true) noexcept {}
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  ~InferenceMode() {}  // NOLINT: so that a guard is no unused variable
};

/// Does nothing: there are no gradients. Corresponds to `c10::AutoGradMode`.
struct AutoGradMode {
  /// Changes nothing.
  explicit AutoGradMode(bool) noexcept {}
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;
  ~AutoGradMode() {}  // NOLINT: so that a guard is no unused variable
};

/// Whether operations are recorded: never, unless the program records them on a tape. Corresponds
/// to `c10::GradMode`.
struct GradMode {
  /// False.
  [[nodiscard]] static bool is_enabled() noexcept { return false; }
  /// Changes nothing.
  static void set_enabled(bool) noexcept {}
};

}  // namespace c10

namespace at {

using c10::AutoGradMode;
using c10::GradMode;

/// Does nothing: there are no gradients. Corresponds to `at::NoGradGuard`.
struct NoGradGuard {
  NoGradGuard() noexcept = default;
  NoGradGuard(const NoGradGuard&) = delete;
  NoGradGuard& operator=(const NoGradGuard&) = delete;
  ~NoGradGuard() {}  // NOLINT: so that a guard is no unused variable
};
/// Does nothing: there is no dispatcher. Corresponds to the guard of that name.
using AutoDispatchBelowADInplaceOrView = NoGradGuard;
/// Does nothing: there is no dispatcher. Corresponds to the guard of that name.
using AutoDispatchBelowAutograd = NoGradGuard;

namespace internal {

/// Elements of a part of a loop that one thread takes at least.
inline constexpr std::int64_t GRAIN_SIZE = 32768;

}  // namespace internal

/// A range of a profiler for a scope, which shows in tools that read NVTX. Corresponds to
/// `at::RecordFunction`.
class [[nodiscard]] RecordFunction {
 public:
  /// Opens the range.
  SCONCE_NODISCARD_CTOR explicit RecordFunction(const std::string& name) : range_(name) {}

 private:
  ::sconce::cuda::nvtx::Range range_;
};

/// Calls `body(begin, end)` once for all of a range, on the calling thread. Corresponds to
/// `at::parallel_for`, which may call it on several threads.
template <class Body>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t, const Body& body) {
  if (begin < end) {
    body(begin, end);
  }
}

}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

/// \cond
#ifndef RECORD_FUNCTION
#define SCONCE_C10_COMPAT_JOIN_LINE(name, line) name##line
#define SCONCE_C10_COMPAT_AT_LINE(name, line) SCONCE_C10_COMPAT_JOIN_LINE(name, line)
// What the arguments are is not recorded, so they are not evaluated.
#define RECORD_FUNCTION(name, ...)                                                    \
  const ::sconce::compat::at::RecordFunction SCONCE_C10_COMPAT_AT_LINE(sconce_range_, \
                                                                       __LINE__)(name)
#define RECORD_USER_SCOPE(name) RECORD_FUNCTION(name, )
#define RECORD_FUNCTION_WITH_SCOPE(scope, name, ...) RECORD_FUNCTION(name, __VA_ARGS__)
#endif
/// \endcond

#endif  // SCONCE_COMPAT_TENSOR_MODES_HPP
