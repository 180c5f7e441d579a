/// \file
/// Work on several threads of the CPU.
///
/// Threads: any; calls of several threads share the threads of the library.
#ifndef SCONCE_TENSOR_PARALLEL_HPP
#define SCONCE_TENSOR_PARALLEL_HPP

#include <sconce/c/parallel.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <sconce/cuda/error.hpp>
#include <type_traits>

namespace sconce {
inline namespace v0 {

/// Sets the most threads that work on one call of the CPU, the calling one included, for the whole
/// process. Corresponds to `at::set_num_threads`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for a number below 1
inline void set_num_threads(int threads) {
  detail::check(::sconce_parallel_set_num_threads(threads));
}

/// The most threads that work on one call of the CPU: what `set_num_threads` has set, else
/// `OMP_NUM_THREADS` or `MKL_NUM_THREADS`, else the processors that the process may use.
/// Corresponds to `at::get_num_threads`.
[[nodiscard]] inline int get_num_threads() noexcept { return ::sconce_parallel_get_num_threads(); }

/// Which part of a `parallel_for` this thread works on; 0 outside of one. Corresponds to
/// `at::get_thread_num`.
[[nodiscard]] inline int get_thread_num() noexcept { return ::sconce_parallel_get_thread_num(); }

/// Whether this thread works on a part of a call on several threads. Corresponds to
/// `at::in_parallel_region`.
[[nodiscard]] inline bool in_parallel_region() noexcept { return ::sconce_parallel_in_region(); }

namespace detail {

/// What the parts of a `parallel_for` share.
template <class F>
struct RangeCall {
  F* function;
  std::atomic_flag has_thrown = ATOMIC_FLAG_INIT;
  std::exception_ptr thrown = nullptr;

  static void part(std::int64_t begin, std::int64_t end, void* context) noexcept {
    auto* call = static_cast<RangeCall*>(context);
    try {
      (*call->function)(begin, end);
    } catch (...) {
      if (!call->has_thrown.test_and_set()) call->thrown = std::current_exception();
    }
  }
};

}  // namespace detail

/// Calls `function(begin, end)` for parts of a range that together are the range, on several
/// threads at the same time if it has more than `grain_size` numbers. Returns when all calls have.
///
/// An exception of one of them is thrown here, after the others have ended. A call within a part
/// has one part. Corresponds to `at::parallel_for`.
template <class F>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain_size, F&& function) {
  using Function = std::remove_reference_t<F>;
  detail::RangeCall<Function> call{std::addressof(function)};
  detail::check(
      ::sconce_parallel_for(begin, end, grain_size, &detail::RangeCall<Function>::part, &call));
  if (call.thrown) std::rethrow_exception(call.thrown);
}

}  // namespace v0
}  // namespace sconce

#endif
