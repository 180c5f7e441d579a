// Ranks of a tile's elements by one digit, in the order in which the elements came.
//
// A warp holds consecutive elements: item k of a lane is element 32 * k + lane of the warp's.
#pragma once

#include "ordering/sides.cuh"

constexpr u32 DIGIT_BITS = 8;
constexpr u32 BINS = 1 << DIGIT_BITS;
constexpr u32 WHOLE_WARP = 0xffffffff;

// These are in `kernels/ordering/radix.rs` too: threads of a block, and the most items of a thread.
constexpr u32 THREADS = 384;
template <typename T>
constexpr u32 ITEMS = sizeof(T) == 8 ? 12 : 16;

template <typename T>
__device__ __forceinline__ u32 digit_of(T key, u32 pass) {
  return (u32)(key >> (DIGIT_BITS * pass)) & (BINS - 1);
}

// The lanes of a warp that have the same digit.
__device__ __forceinline__ u32 lanes_with(u32 digit) {
  u32 lanes = WHOLE_WARP;
#pragma unroll
  for (u32 bit = 0; bit < DIGIT_BITS; bit++) {
    const bool is_set = digit >> bit & 1;
    const u32 set = __ballot_sync(WHOLE_WARP, is_set);
    lanes &= is_set ? set : ~set;
  }
  return lanes;
}

// Counts one item of each lane into the warp's row of bins. The result is how many of the warp's
// elements before this one have the same digit.
__device__ __forceinline__ u32 rank_in_warp(u32* bins, u32 digit, u32 lane) {
  const u32 lanes = lanes_with(digit);
  const u32 lower = lanes & ((1u << lane) - 1);
  const u32 before = bins[digit];
  // All lanes have read before one of each digit writes, and it has written before the next item.
  __syncwarp();
  if (lower == 0) bins[digit] = before + __popc(lanes);
  __syncwarp();
  return before + __popc(lower);
}

// The sum of the values of lower threads, for the first BINS threads of a block; all threads take
// part. `sums` holds a number for each 32 bins, and may be used again after the next barrier.
__device__ __forceinline__ u32 sum_below(u32 value, u32* sums) {
  const u32 thread = threadIdx.x, lane = thread % 32;
  u32 sum = value;
  if (thread < BINS) {
#pragma unroll
    for (u32 distance = 1; distance < 32; distance *= 2) {
      const u32 other = __shfl_up_sync(WHOLE_WARP, sum, distance);
      if (lane >= distance) sum += other;
    }
    if (lane == 31) sums[thread / 32] = sum;
  }
  __syncthreads();
  if (thread < BINS) {
#pragma unroll
    for (u32 warp = 0; warp < BINS / 32; warp++) {
      if (warp < thread / 32) sum += sums[warp];
    }
  }
  return sum - value;
}
