/// \file
/// c10's marks of the compiler that kernels use, the shuffles of a warp, and older names of checks.
/// Part of `<sconce/compat/c10.hpp>`. Each macro is defined only if it is not defined yet.
#ifndef SCONCE_COMPAT_CORE_MARKS_HPP
#define SCONCE_COMPAT_CORE_MARKS_HPP

#include <sconce/compat/core/macros.hpp>

/// \cond
// The size of a warp is the same on every device that CUDA has.
#ifndef C10_WARP_SIZE
#define C10_WARP_SIZE 32
#endif
#ifndef C10_CONCATENATE
#define C10_CONCATENATE_IMPL(a, b) a##b
#define C10_CONCATENATE(a, b) C10_CONCATENATE_IMPL(a, b)
#endif
#ifndef C10_UID
#define C10_UID __COUNTER__
#define C10_ANONYMOUS_VARIABLE(text) C10_CONCATENATE(text, __COUNTER__)
#endif
#ifndef C10_STRINGIZE
#define C10_STRINGIZE_IMPL(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_IMPL(x)
#endif
#ifndef C10_NODISCARD
#define C10_NODISCARD [[nodiscard]]
#endif
#ifndef C10_ALWAYS_INLINE
#define C10_ALWAYS_INLINE inline __attribute__((always_inline))
#define C10_NOINLINE __attribute__((noinline))
#define C10_COLD __attribute__((cold))
#define C10_USED __attribute__((used))
#define C10_FALLTHROUGH [[fallthrough]]
#endif
#ifndef C10_ALWAYS_INLINE_ATTRIBUTE
#define C10_ALWAYS_INLINE_ATTRIBUTE __attribute__((always_inline))
#endif
#ifndef C10_HOST_CONSTEXPR
#define C10_HOST_CONSTEXPR constexpr
#endif
#ifndef C10_MIN_BLOCKS_PER_SM
#define C10_MIN_BLOCKS_PER_SM(threads, blocks) \
  ((((threads) * (blocks) <= 2048) ? (blocks) : ((2048 + (threads)-1) / (threads))))
#define C10_MAX_THREADS_PER_BLOCK(threads) (((threads) <= 1024) ? (threads) : 256)
#endif
#ifndef C10_IMPORT
#define C10_IMPORT
#define C10_HIDDEN __attribute__((visibility("hidden")))
#define C10_EXPORT_CAFFE2_OP_TO_C10_CUDA(...)
#define C10_CUDA_API
#define C10_CUDA_EXPORT
#define C10_CUDA_IMPORT
#define TORCH_CUDA_CPP_EXPORT
#define TORCH_CUDA_CU_EXPORT
#define TORCH_PYTHON_API
#endif
#ifndef C10_DEFINE_DEPRECATED_USING
#define C10_DEFINE_DEPRECATED_USING(name, type) using name [[deprecated]] = type
#define C10_DEPRECATED [[deprecated]]
#define C10_DEPRECATED_MESSAGE(message) [[deprecated(message)]]
#endif
#ifndef CUDA_KERNEL_ASSERT
#define CUDA_KERNEL_ASSERT(condition) assert(condition)
#define CUDA_KERNEL_ASSERT_MSG(condition, message) assert((condition) && (message))
#define CUDA_KERNEL_ASSERT_PRINTF(condition, message, ...) assert((condition) && (message))
#define SYCL_KERNEL_ASSERT(condition) assert(condition)
#endif
#ifndef THCudaCheck
#define THCudaCheck(expression) C10_CUDA_CHECK(expression)
#define THArgCheck(condition, place, ...) TORCH_CHECK_ARG(condition, place, __VA_ARGS__)
#endif
#ifndef TORCH_CUSPARSE_CHECK
#define TORCH_CUSPARSE_CHECK(expression) SCONCE_C10_COMPAT_LIBRARY_CHECK("cuSPARSE", expression)
#define TORCH_CUSOLVER_CHECK(expression) SCONCE_C10_COMPAT_LIBRARY_CHECK("cuSOLVER", expression)
#endif
#ifndef AT_CUDA_NVRTC_CHECK
#define AT_CUDA_NVRTC_CHECK(expression) SCONCE_C10_COMPAT_LIBRARY_CHECK("NVRTC", expression)
#endif
#ifndef TORCH_CHECK_IF_NOT_ON_CUDA
#define TORCH_CHECK_IF_NOT_ON_CUDA(condition, ...) TORCH_CHECK(condition, __VA_ARGS__)
#endif
#ifndef TORCH_WARN_DEPRECATION
#define TORCH_WARN_DEPRECATION(...) TORCH_WARN(__VA_ARGS__)
#define TORCH_WARN_WITH(kind, ...) TORCH_WARN(__VA_ARGS__)
#endif
#ifndef AT_WARN
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
#endif
#ifndef AT_CHECK
#define AT_CHECK(...) TORCH_CHECK(__VA_ARGS__)
#endif
#ifndef AT_INDEX_ERROR
#define AT_INDEX_ERROR(...) TORCH_CHECK_INDEX(false, __VA_ARGS__)
#endif
#ifndef AT_CUDA_ENABLED
#define AT_CUDA_ENABLED() true
#define AT_CUDNN_ENABLED() true
#endif
// There is no profiler that would record them; the guide's page names the marks that there are.
#ifndef RECORD_FUNCTION
#define RECORD_FUNCTION(...) static_cast<void>(0)
#define RECORD_USER_SCOPE(...) static_cast<void>(0)
#endif
#ifndef C10_LOG_API_USAGE_ONCE
#define C10_LOG_API_USAGE_ONCE(...) static_cast<void>(0)
#endif

#ifdef __CUDACC__
namespace sconce {
inline namespace v0 {

// PyTorch has these in the global namespace, so the macros below bring the names there.
namespace compat {
namespace warp {

template <class T>
__device__ __forceinline__ T WARP_SHFL(T value, int from, int width = warpSize,
                                       unsigned mask = 0xffffffff) {
  return __shfl_sync(mask, value, from, width);
}
template <class T>
__device__ __forceinline__ T WARP_SHFL_XOR(T value, int with, int width = warpSize,
                                           unsigned mask = 0xffffffff) {
  return __shfl_xor_sync(mask, value, with, width);
}
template <class T>
__device__ __forceinline__ T WARP_SHFL_UP(T value, unsigned by, int width = warpSize,
                                          unsigned mask = 0xffffffff) {
  return __shfl_up_sync(mask, value, by, width);
}
template <class T>
__device__ __forceinline__ T WARP_SHFL_DOWN(T value, unsigned by, int width = warpSize,
                                            unsigned mask = 0xffffffff) {
  return __shfl_down_sync(mask, value, by, width);
}
__device__ __forceinline__ unsigned WARP_BALLOT(int predicate, unsigned mask = 0xffffffff) {
  return __ballot_sync(mask, predicate);
}
__device__ __forceinline__ unsigned ACTIVE_MASK() { return __activemask(); }
__device__ __forceinline__ void WARP_SYNC(unsigned mask = 0xffffffff) { __syncwarp(mask); }
/// The lane of the thread in its warp.
__device__ __forceinline__ int getLaneId() {
  int lane = 0;
  asm("mov.s32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

}  // namespace warp
}  // namespace compat
}  // namespace v0
}  // namespace sconce
#endif  // __CUDACC__
/// \endcond

#endif  // SCONCE_COMPAT_CORE_MARKS_HPP
