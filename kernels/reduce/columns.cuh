// Reductions of elements whose neighbours belong to neighbouring results: the innermost kept axis
// has stride 1 in the input.
//
// A block takes a tile of columns, of one or several rows of them: lanes along the innermost kept
// axis, each with a group of columns that one access moves, rows along the other kept axes, and
// steps along the reduced axes. The steps' accumulators meet in shared memory.
#pragma once

#include "launch.cuh"

constexpr u32 COLUMN_THREADS = 256;

template <typename T, typename Op, u32 WIDTH>
__device__ __forceinline__ void reduce_columns(const Reduction& r) {
  typedef typename Op::Accumulator Accumulator;
  typedef Group<T, WIDTH> Access;
  constexpr u32 ROWS_UNDER_WAY = WIDTH == 1 ? 8 : 4;
  __shared__ alignas(16) u8 bytes[COLUMN_THREADS * WIDTH * sizeof(Accumulator)];
  Accumulator* shared = (Accumulator*)bytes;
  const Op op(r);
  const u32 lanes = 1u << r.lanes_log2, steps = 1u << r.steps_log2, rows = 1u << r.rows_log2;
  const u32 columns = lanes * WIDTH, of_step = rows * columns;
  const u32 lane = threadIdx.x % lanes, row = threadIdx.x / lanes % rows;
  const u32 step = threadIdx.x / (lanes * rows);
  const Axis* reduced = r.axes + r.kept;
  const u64 width = r.axes[0].size, tiles = divided(width + columns - 1, columns);
  const u64 height = divided(r.outputs, width), block = divided(blockIdx.x, tiles);
  const u64 first = (blockIdx.x - block * tiles) * columns;
  const Part part = part_of(r);
  const Place place = place_of(r.axes + 1, r.kept - 1, block * rows + row);
  const T* data = (const T*)r.input + place.by_stride + (i64)(first + lane * WIDTH);

  Accumulator values[WIDTH];
#pragma unroll
  for (u32 i = 0; i < WIDTH; i++) values[i] = op.none();
  // The host takes a width that the number of columns is a multiple of.
  const bool is_there = first + lane * WIDTH < width && block * rows + row < height;
  const u64 run = reduced[0].size;
  const i64 stride = reduced[0].stride;
  // Along the innermost reduced axis, as often as the others say.
#pragma unroll 1
  for (u64 number = part.begin; is_there && number < part.end;) {
    const u64 round = r.reduced > 1 ? divided(number, run) : 0, skipped = number - round * run;
    const u64 rest = run - skipped, length = rest < part.end - number ? rest : part.end - number;
    const T* from = data + (i64)skipped * stride;
    if (r.reduced > 1) from += place_of(reduced + 1, r.reduced - 1, round).by_stride;
    const i64 jump = (i64)steps * stride;
#pragma unroll 1
    for (u64 begin = step; begin < length; begin += steps * ROWS_UNDER_WAY) {
      const u32 left = length - begin >> 32 ? ~0u : (u32)(length - begin);
      const T* at = from + (i64)begin * stride;
      Access groups[ROWS_UNDER_WAY];
#pragma unroll
      for (u32 k = 0; k < ROWS_UNDER_WAY; k++) {
        if (k * steps < left) groups[k] = *(const Access*)at;
        at += jump;
      }
#pragma unroll
      for (u32 k = 0; k < ROWS_UNDER_WAY; k++) {
        if (k * steps < left) {
#pragma unroll
          for (u32 i = 0; i < WIDTH; i++)
            op.take(values[i], groups[k].of[i], number + begin + k * steps);
        }
      }
    }
    number += length;
  }
  const u32 own = step * of_step + row * columns + lane * WIDTH;
#pragma unroll
  for (u32 i = 0; i < WIDTH; i++) shared[own + i] = values[i];
  __syncthreads();
#pragma unroll 1
  for (u32 i = threadIdx.x; i < of_step; i += blockDim.x) {
    const u64 column = first + i % columns, number = block * rows + i / columns;
    if (column >= width || number >= height) continue;
    Accumulator value = shared[i];
#pragma unroll 1
    for (u32 s = 1; s < steps; s++) op.join(value, shared[s * of_step + i]);
    const i64 to = place_of(r.axes + 1, r.kept - 1, number).by_other;
    const i64 at = to + (i64)column * r.axes[0].other + (i64)blockIdx.y * r.split;
    op.write(r, at, value, part.end - part.begin);
  }
}
