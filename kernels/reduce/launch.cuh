// What a launch is given, and where elements lie: docs/design/reduction.md.
#pragma once

#include "machine.cuh"

// These are in `crates/kernels/src/reduction/reduce.rs` too: axes, a block's most threads, and the
// flags.
constexpr u32 MOST_AXES = 7;
constexpr u32 MOST_THREADS = 512;
constexpr u32 PAIRS = 1;
constexpr u32 KEPT_FIRST = 2;

enum : u32 { SUM, MEAN, PROD, AMAX, AMIN, ARGMAX, ARGMIN, ALL, ANY, COUNT };

// A kept axis has strides in elements of input and result; a reduced one its stride in the input,
// and what a step along it adds to an element's index.
struct Axis {
  u64 size;
  i64 stride;
  i64 other;
};

struct Reduction {
  u64 input, output;
  u8 op, input_type, compute, output_type, flags, kept, reduced, unused;
  u64 outputs;    // results
  u64 count;      // reduced elements of a result
  u64 chunk;      // of which each block of grid y takes so many
  i64 split;      // results from those of one block of grid y to those of the next
  double factor;  // of a mean: what the sum is multiplied by
  u64 mask;       // what `extreme.cuh` and `count.cuh` turn bits with
  u8 lanes_log2, steps_log2, rows_log2, unused2[5];
  Axis axes[MOST_AXES];  // the kept ones, then the reduced ones, each from the innermost
  u64 start;             // the value of nothing for extremes, an index to add for indices
};

__device__ __forceinline__ u64 divided(u64 n, u64 by) {
  return (n | by) >> 32 ? n / by : (u64)((u32)n / (u32)by);
}

// How far a number along some axes is from the first, by strides and by others.
struct Place {
  i64 by_stride, by_other;
};

// Not inlined: a division of 64 bits is long, and few threads calculate many places.
__device__ __noinline__ Place place_along_axes(const Axis* axes, u32 count, u64 number) {
  Place place{0, 0};
#pragma unroll 1
  for (u32 a = 0; a < count; a++) {
    const u64 rest = a + 1 == count ? 0 : divided(number, axes[a].size);
    const i64 here = (i64)(number - rest * axes[a].size);
    place.by_stride += here * axes[a].stride;
    place.by_other += here * axes[a].other;
    number = rest;
  }
  return place;
}

// Of at most one axis, which most launches have, without a call.
__device__ __forceinline__ Place place_of(const Axis* axes, u32 count, u64 number) {
  if (count == 0) return Place{0, 0};
  if (count == 1) return Place{(i64)number * axes[0].stride, (i64)number * axes[0].other};
  return place_along_axes(axes, count, number);
}

// The part of the reduced elements that a block of grid y takes.
struct Part {
  u64 begin, end;
};

__device__ __forceinline__ Part part_of(const Reduction& r) {
  Part part;
  part.begin = (u64)blockIdx.y * r.chunk;
  part.end = part.begin + r.chunk < r.count ? part.begin + r.chunk : r.count;
  return part;
}

// Writes a float result of 32 bits in one of the types that it is accumulated for.
__device__ __forceinline__ void write_float(void* output, u32 type, i64 at, float value) {
  if (type == F32)
    ((float*)output)[at] = value;
  else if (type == F16)
    ((Half*)output)[at] = to_half(value);
  else
    ((Brain*)output)[at] = to_brain(value);
}
