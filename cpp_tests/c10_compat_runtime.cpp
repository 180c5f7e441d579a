// The functions of the CUDA runtime that the lines of c10 code call, for a program that is compiled
// with CUDA's own headers and runs without the runtime.
#include "c10_compat_support.hpp"

extern "C" {

cudaError_t cudaGetLastError() { return std::exchange(c10_lines::last_error, cudaSuccess); }

const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorInvalidValue ? "invalid argument" : "another error";
}

cudaError_t cudaMemsetAsync(void* ptr, int value, std::size_t bytes, cudaStream_t stream) {
  sconce::cuda::memory_set(ptr, static_cast<std::uint8_t>(value), bytes,
                           sconce::cuda::getStreamFromExternal(stream));
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  sconce::cuda::getStreamFromExternal(stream).synchronize();
  return cudaSuccess;
}
}
