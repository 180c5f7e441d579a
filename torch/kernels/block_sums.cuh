// Sums over the threads of a block.
#pragma once

#include "types.cuh"

// The sum of the values of lower threads, and that of all.
template <typename T>
struct Sums {
  T before, all;
};

// For blocks of this many threads, all of which take part. It may be called any number of times.
template <u32 THREADS, typename T>
SCONCE_INLINE Sums<T> block_sums(const T own) {
  constexpr u32 WARPS = THREADS / 32;
  __shared__ T of_warp[WARPS];
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  T up_to = own;
#pragma unroll
  for (u32 step = 1; step < 32; step *= 2) {
    const T other = __shfl_up_sync(~0u, up_to, step);
    if (lane >= step) up_to += other;
  }
  // What an earlier call wrote has been read.
  __syncthreads();
  if (lane == 31) of_warp[warp] = up_to;
  __syncthreads();
  Sums<T> found = {up_to - own, 0};
#pragma unroll
  for (u32 w = 0; w < WARPS; ++w) {
    if (w < warp) found.before += of_warp[w];
    found.all += of_warp[w];
  }
  return found;
}
