/// \file
/// Marks and ranges for profilers. They take hardly any time while no tool is attached.
///
/// Threads: any; pushed ranges nest within a thread.
#ifndef SCONCE_CUDA_NVTX_HPP
#define SCONCE_CUDA_NVTX_HPP

#include <sconce/c/nvtx.h>

#include <cstdint>
#include <sconce/cuda/error.hpp>
#include <string>

namespace sconce {
inline namespace v0 {
namespace cuda::nvtx {

/// Marks this moment. Corresponds to `torch.cuda.nvtx.mark`.
inline void mark(const char* message) { detail::check(::sconce_nvtx_mark(message)); }

/// Marks this moment.
inline void mark(const std::string& message) { mark(message.c_str()); }

/// Opens a range on this thread and returns its depth, 0 for the outermost; negative without a
/// tool.
///
/// Corresponds to `torch.cuda.nvtx.range_push`.
inline int range_push(const char* message) {
  std::int32_t depth = 0;
  detail::check(::sconce_nvtx_range_push(message, &depth));
  return depth;
}

/// Opens a range on this thread.
inline int range_push(const std::string& message) { return range_push(message.c_str()); }

/// Closes this thread's innermost range and returns its depth; negative when none is open.
///
/// Corresponds to `torch.cuda.nvtx.range_pop`.
inline int range_pop() {
  std::int32_t depth = 0;
  detail::check(::sconce_nvtx_range_pop(&depth));
  return depth;
}

/// Names a range that may end on another thread.
using RangeId = std::uint64_t;

/// Starts a range that may end on another thread. Corresponds to `torch.cuda.nvtx.range_start`.
[[nodiscard]] inline RangeId range_start(const char* message) {
  RangeId id = 0;
  detail::check(::sconce_nvtx_range_start(message, &id));
  return id;
}

/// Starts a range that may end on another thread.
[[nodiscard]] inline RangeId range_start(const std::string& message) {
  return range_start(message.c_str());
}

/// Ends a range that `range_start` started. Corresponds to `torch.cuda.nvtx.range_end`.
inline void range_end(RangeId id) { detail::check(::sconce_nvtx_range_end(id)); }

/// A range for a scope, on this thread. Corresponds to `torch.cuda.nvtx.range`.
class [[nodiscard]] Range {
 public:
  /// Opens the range.
  SCONCE_NODISCARD_CTOR explicit Range(const char* message) { range_push(message); }
  /// Opens the range.
  SCONCE_NODISCARD_CTOR explicit Range(const std::string& message) : Range(message.c_str()) {}

  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  Range(Range&&) = delete;
  Range& operator=(Range&&) = delete;

  /// Closes the range.
  ~Range() {
    std::int32_t depth = 0;
    detail::log_failure(::sconce_nvtx_range_pop(&depth), "ending an nvtx::Range");
  }
};

}  // namespace cuda::nvtx
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_NVTX_HPP
