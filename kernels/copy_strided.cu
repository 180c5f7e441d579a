// Copies of elements that lie with strides on both sides: docs/design/copy.md, "Shapes".
//
// Axes go from the innermost to the outermost; strides are in bytes. The host chooses the order (so
// that a warp's stores are close together), joins axes, and sees that a launch has fewer than 2^31
// elements, so all of the index arithmetic is in 32 bits.

#include "types.cuh"

// These are in `kernels/strided.rs` too: axes, a block's threads, and a thread's elements.
constexpr u32 MOST_AXES = 9;
constexpr u32 THREADS = 128;
constexpr u32 EACH = 4;

struct Axis {
  u64 divisor;  // the axis's size, and above it the factor that divides by it
  i64 dst_stride, src_stride;
};

struct Axes {
  Axis of[MOST_AXES];
};

template <typename T>
__device__ __forceinline__ void copy(char* dst, const char* src, u32 n, u32 rank,
                                     const Axes& axes) {
  const u32 first = blockIdx.x * (THREADS * EACH) + threadIdx.x;
  u32 index[EACH];
  i64 to[EACH], from[EACH];
#pragma unroll
  for (u32 k = 0; k < EACH; k++) index[k] = first + k * THREADS, to[k] = 0, from[k] = 0;
    // The outermost axis takes what is left.
#pragma unroll 1
  for (u32 a = 0; a + 1 < rank; a++) {
    const Axis axis = axes.of[a];
    const u32 size = (u32)axis.divisor, factor = (u32)(axis.divisor >> 32);
    const u32 shift = 32 - __clz(size - 1);
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
      const u32 rest = quotient(index[k], factor, shift);
      const u32 here = index[k] - rest * size;
      to[k] += here * axis.dst_stride, from[k] += here * axis.src_stride;
      index[k] = rest;
    }
  }
  const Axis last = axes.of[rank - 1];
  T values[EACH];
  // All loads before all stores, so that they are under way together.
#pragma unroll
  for (u32 k = 0; k < EACH; k++) {
    if (first + k * THREADS < n)
      values[k] = *(const T*)(src + from[k] + index[k] * last.src_stride);
  }
#pragma unroll
  for (u32 k = 0; k < EACH; k++) {
    if (first + k * THREADS < n) *(T*)(dst + to[k] + index[k] * last.dst_stride) = values[k];
  }
}

#define KERNEL(bytes, T)                                                                \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_copy_strided_##bytes(    \
      char* dst, const char* src, u32 n, u32 rank, const __grid_constant__ Axes axes) { \
    copy<T>(dst, src, n, rank, axes);                                                   \
  }

KERNEL(1, unsigned char)
KERNEL(2, unsigned short)
KERNEL(4, u32)
KERNEL(8, u64)
KERNEL(16, uint4)
