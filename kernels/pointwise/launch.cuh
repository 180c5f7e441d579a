// What a launch consists of, and where its elements are: docs/design/pointwise.md.
//
// Strides are in bytes. Axes go from the innermost to the outermost; launches of more than one axis
// have fewer than 2^31 elements.
#pragma once

#include "types.cuh"

// These are in `kernels/pointwise.rs` too.
constexpr u32 THREADS = 128;
constexpr u32 MOST_AXES_OF_ONE = 8;
constexpr u32 MOST_AXES_OF_MANY = 7;

// The strides of the output and of each input.
template <int STRIDES>
struct Axis {
  u64 divisor;  // the axis's size, and above it the factor that divides by it
  int strides[STRIDES];
};

// A constant's bits, or an address in the first word.
struct Input {
  u64 words[2];
};

template <int INPUTS>
struct Launch;

template <>
struct Launch<1> {
  u64 n;
  u64 code;   // operation, type of the computation, axes, logarithm of the width: a byte each
  u64 kinds;  // of output and inputs, 16 bits each
  u64 output;
  Input inputs[1];
  u64 first;  // the index of the first element
  u64 total;  // how many elements all launches of the operation have
  u64 parameters[6];
  Axis<2> axes[MOST_AXES_OF_ONE];
};

template <>
struct Launch<2> {
  u64 n, code, kinds, output;
  Input inputs[2];
  u64 parameters[2];
  Axis<4> axes[MOST_AXES_OF_MANY];
};

template <>
struct Launch<3> {
  u64 n, code, kinds, output;
  Input inputs[3];
  Axis<4> axes[MOST_AXES_OF_MANY];
};

// A kind: the number of the type, and these.
constexpr u32 CONSTANT = 1 << 8;
constexpr u32 WIDE = 1 << 9;  // moved by whole groups

// The elements of a block. Each thread has `N`, in groups of 2^shift neighbours; neighbouring
// threads have neighbouring groups.
struct Tile {
  u64 base;
  u32 shift;

  __device__ __forceinline__ u64 index(u32 element) const {
    const u32 group = (element >> shift) * THREADS + threadIdx.x;
    return base + (group << shift) + (element & ((1u << shift) - 1));
  }
};

// How many bytes every STEP-th element of a thread is away from the first of the operand.
template <int OPERAND, int COUNT, int STEP, class L>
SCONCE_INLINE void places(const L& launch, const Tile& tile, i64* place) {
  const u32 rank = (u32)(launch.code >> 16) & 255;
  if (rank <= 1) {
    const i64 stride = launch.axes[0].strides[OPERAND];
#pragma unroll
    for (int k = 0; k < COUNT; k++) place[k] = (i64)tile.index(k * STEP) * stride;
    return;
  }
  u32 rest[COUNT];
#pragma unroll
  for (int k = 0; k < COUNT; k++) rest[k] = (u32)tile.index(k * STEP), place[k] = 0;
    // The outermost axis takes what is left.
#pragma unroll 1
  for (u32 a = 0; a + 1 < rank; a++) {
    const u64 divisor = launch.axes[a].divisor;
    const u32 size = (u32)divisor, factor = (u32)(divisor >> 32);
    const u32 shift = 32 - __clz(size - 1);
    const int stride = launch.axes[a].strides[OPERAND];
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
      const u32 next = quotient(rest[k], factor, shift);
      place[k] += (i64)(int)(rest[k] - next * size) * stride;
      rest[k] = next;
    }
  }
  const int stride = launch.axes[rank - 1].strides[OPERAND];
#pragma unroll
  for (int k = 0; k < COUNT; k++) place[k] += (i64)(int)rest[k] * stride;
}
