// What the tests of typical lines of c10 and ATen code share: names of CUDA's own headers, and the
// fixture. With SCONCE_TEST_CUDA_HEADERS the headers are there, and the compat header includes them
// by itself, as in a program for CUDA; otherwise stand-ins have their names.
#pragma once

#ifndef SCONCE_TEST_CUDA_HEADERS
#define SCONCE_C10_COMPAT_NO_CUDA_RUNTIME
#endif
#include <cstdint>
#include <sconce/compat/c10.hpp>
#include <type_traits>
#include <utility>

#include "fixture.hpp"

namespace c10 = sconce::compat::c10;
namespace at = sconce::compat::at;
namespace torch = sconce::compat::torch;

// What such code has from CUDA's own headers, on top of this library.
#ifndef SCONCE_TEST_CUDA_HEADERS
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;
using cudaGraph_t = CUgraph_st*;
using cudaGraphExec_t = CUgraphExec_st*;
enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorLaunchFailure = 719 };
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};
enum : unsigned { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
struct cudaIpcEventHandle_t {
  char reserved[64];
};
struct dim3 {
  explicit dim3(unsigned x_) : x(x_) {}
  unsigned x;
};
#endif
using cublasLtHandle_t = cublasLtContext*;
using cublasHandle_t = cublasContext*;

namespace c10_lines {

inline cudaError_t last_error = cudaSuccess;
#ifndef SCONCE_TEST_CUDA_HEADERS
inline cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
inline cudaError_t cudaMemsetAsync(void* ptr, int value, std::size_t bytes, cudaStream_t stream) {
  sconce::cuda::memory_set(ptr, static_cast<std::uint8_t>(value), bytes,
                           sconce::cuda::getStreamFromExternal(stream));
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  sconce::cuda::getStreamFromExternal(stream).synchronize();
  return cudaSuccess;
}
#endif

using support::contains;
using support::error_of;
using support::status_of;

static_assert(std::is_base_of_v<sconce::cuda::CUDAGraph, at::cuda::CUDAGraph>);

class C10CompatTest : public support::WorkFixture {};

using support::status_or_ok;

/// A line of such code: its number in the guide's list, and a title.
#define LINE(number, title) TEST_F(C10CompatTest, Line##number##_##title)

inline torch::Tensor ones(std::initializer_list<std::int64_t> sizes) {
  return torch::full(sizes, 1.0,
                     torch::TensorOptions().dtype(torch::kFloat32).device(torch::kCUDA));
}

}  // namespace c10_lines
