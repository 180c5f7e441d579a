// Reductions of few short rows whose elements lie side by side. Such a launch takes as long as its
// instructions: a warp or a block reduces a row, an element an access, and a row is not split.
#pragma once

#include "launch.cuh"

// This is in `crates/kernels/src/reduction/reduce.rs` too.
constexpr u32 SHORT_THREADS = 256;
constexpr u32 SHORT_UNDER_WAY = 8;

template <typename T, typename Op>
__device__ __forceinline__ void reduce_short(const Reduction& r) {
  typedef typename Op::Accumulator Accumulator;
  const Op op(r);
  const u32 lanes = 1u << r.lanes_log2, lane = threadIdx.x & (lanes - 1);
  const u32 row = (blockIdx.x * blockDim.x + threadIdx.x) >> r.lanes_log2, count = (u32)r.count;
  const bool is_row = row < (u32)r.outputs;
  Accumulator value = op.none();
  Place place{0, 0};
  if (is_row) {
    place = place_of(r.axes, r.kept, row);
    const T* data = (const T*)r.input + place.by_stride;
#pragma unroll 1
    for (u32 first = lane; first < count; first += lanes * SHORT_UNDER_WAY) {
      T held[SHORT_UNDER_WAY];
#pragma unroll
      for (u32 k = 0; k < SHORT_UNDER_WAY; k++) {
        if (first + k * lanes < count) held[k] = data[first + k * lanes];
      }
#pragma unroll
      for (u32 k = 0; k < SHORT_UNDER_WAY; k++) {
        if (first + k * lanes < count) op.take(value, held[k], first + k * lanes);
      }
    }
  }
#pragma unroll
  for (u32 mask = 16; mask > 0; mask /= 2) op.join(value, from_lane_xor(value, mask));
  if (lanes > 32) {
    __shared__ alignas(16) u8 bytes[SHORT_THREADS / 32 * sizeof(Accumulator)];
    Accumulator* of_warp = (Accumulator*)bytes;
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    if (lane == 0) {
      for (u32 warp = 1; warp < lanes / 32; warp++)
        op.join(value, of_warp[threadIdx.x / 32 + warp]);
    }
  }
  if (is_row && lane == 0) op.write(r, place.by_other, value, count);
}
