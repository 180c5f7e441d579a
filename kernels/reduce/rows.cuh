// Reductions of elements that lie side by side: the innermost reduced axis has stride 1.
//
// A group of threads reduces a row: lanes along the innermost axis, in accesses of 16 bytes, and
// steps along the other reduced axes. A block has several groups, or one. A block of grid y takes a
// chunk: part of the innermost axis if that is the only one, otherwise some whole rounds of it.
#pragma once

#include "launch.cuh"

// Takes `length` elements that lie side by side, the first of which has `index`. A thread has
// `UNDER_WAY` accesses under way.
template <u32 UNDER_WAY, typename T, typename Op>
__device__ __forceinline__ void take_run(const Op& op, typename Op::Accumulator& into,
                                         const T* data, u64 length, u64 index, u32 lane,
                                         u32 lanes) {
  constexpr u32 COUNT = 16 / sizeof(T);
  const u64 skew = (16 - ((u64)data & 15)) % 16 / sizeof(T);
  const u64 head = skew < length ? skew : length;
  const Group<T, COUNT>* body = (const Group<T, COUNT>*)(data + head);
  const u64 accesses = (length - head) / COUNT;
#pragma unroll 1
  for (u64 first = lane; first < accesses; first += (u64)lanes * UNDER_WAY) {
    Group<T, COUNT> groups[UNDER_WAY];
#pragma unroll
    for (u32 k = 0; k < UNDER_WAY; k++) {
      if (first + k * lanes < accesses) groups[k] = body[first + k * lanes];
    }
#pragma unroll
    for (u32 k = 0; k < UNDER_WAY; k++) {
      if (first + k * lanes < accesses)
        op.take_group(into, groups[k], index + head + (first + k * lanes) * COUNT);
    }
  }
  // What is before and behind the accesses.
  const u64 singles = length - accesses * COUNT;
#pragma unroll 1
  for (u64 i = lane; i < singles; i += lanes) {
    const u64 at = i < head ? i : i + accesses * COUNT;
    op.take(into, data[at], index + at);
  }
}

// Joins the accumulators of groups of `size` neighbouring threads, a power of two; the first thread
// of each has the result.
template <typename Op>
__device__ __forceinline__ void join_group(const Op& op, typename Op::Accumulator& value,
                                           u32 size) {
  typedef typename Op::Accumulator Accumulator;
#pragma unroll 1
  for (u32 mask = size < 32 ? size / 2 : 16; mask > 0; mask /= 2)
    op.join(value, from_lane_xor(value, mask));
  if (size <= 32) return;
  __shared__ alignas(16) u8 bytes[MOST_THREADS / 32 * sizeof(Accumulator)];
  Accumulator* of_warp = (Accumulator*)bytes;
  // What the round before has left there has been read.
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x % size == 0) {
    for (u32 warp = 1; warp < size / 32; warp++) op.join(value, of_warp[threadIdx.x / 32 + warp]);
  }
}

template <typename T, typename Op, u32 UNDER_WAY>
__device__ __forceinline__ void reduce_rows(const Reduction& r) {
  typedef typename Op::Accumulator Accumulator;
  const Op op(r);
  const u32 lanes = 1u << r.lanes_log2, size = lanes << r.steps_log2, rows = 1u << r.rows_log2;
  const u32 lane = threadIdx.x % lanes, step = threadIdx.x % size / lanes;
  const Axis* reduced = r.axes + r.kept;
  const Part part = part_of(r);
  // A part of the innermost axis is one round.
  const bool is_line = r.reduced == 1;
  const u64 run = is_line ? r.chunk : reduced[0].size;
  const u64 begin = divided(part.begin, run), end = divided(part.end + run - 1, run);
#pragma unroll 1
  for (u64 base = (u64)blockIdx.x * rows; base < r.outputs; base += (u64)gridDim.x * rows) {
    const u64 row = base + threadIdx.x / size;
    Accumulator value = op.none();
    Place place{0, 0};
    if (row < r.outputs) {
      place = place_of(r.axes, r.kept, row);
      const T* data = (const T*)r.input + place.by_stride;
#pragma unroll 1
      for (u64 round = begin + step; round < end; round += size / lanes) {
        const u64 first = round * run, length = is_line ? part.end - first : run;
        const i64 further =
            is_line ? (i64)first : place_of(reduced + 1, r.reduced - 1, round).by_stride;
        take_run<UNDER_WAY>(op, value, data + further, length, first, lane, lanes);
      }
    }
    join_group(op, value, size);
    if (row < r.outputs && threadIdx.x % size == 0)
      op.write(r, place.by_other + (i64)blockIdx.y * r.split, value, part.end - part.begin);
  }
}
