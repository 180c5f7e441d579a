// Operands joined along an axis, as rows that follow each other on both sides:
// docs/design/ordering.md.
//
// A block copies from one part, whose number is the block's y; blocks beyond a short part's end
// have nothing to do.

#include "types.cuh"

// These are in `kernels/ordering/join.rs` too: parts, a block's threads, and a thread's units.
constexpr u32 MOST_PARTS = 6;
constexpr u32 THREADS = 256;
constexpr u32 EACH = 4;

struct Part {
  char* dst;
  const char* src;
  i64 src_pitch;  // bytes from one row to the next
  u64 divisor;    // units of a row, and above them the factor that divides by them
  u64 n;          // units of all rows, below 2^31
};

struct Parts {
  Part of[MOST_PARTS];
};

template <typename T>
__device__ __forceinline__ void join(i64 dst_pitch, const Parts& parts) {
  const Part part = parts.of[blockIdx.y];
  const u32 first = blockIdx.x * (THREADS * EACH) + threadIdx.x, n = (u32)part.n;
  T values[EACH];
  u32 row[EACH];
  // All loads before all stores, so that they are under way together.
#pragma unroll
  for (u32 k = 0; k < EACH; k++) {
    const u32 at = first + k * THREADS;
    row[k] = quotient(at, part.divisor);
    const u32 column = at - row[k] * (u32)part.divisor;
    if (at < n) values[k] = *((const T*)(part.src + row[k] * part.src_pitch) + column);
  }
#pragma unroll
  for (u32 k = 0; k < EACH; k++) {
    const u32 at = first + k * THREADS;
    const u32 column = at - row[k] * (u32)part.divisor;
    if (at < n) *((T*)(part.dst + row[k] * dst_pitch) + column) = values[k];
  }
}

#define KERNEL(bytes, T)                                                        \
  extern "C" __global__ void __launch_bounds__(THREADS)                         \
      sconce_join_##bytes(i64 dst_pitch, const __grid_constant__ Parts parts) { \
    join<T>(dst_pitch, parts);                                                  \
  }

KERNEL(1, unsigned char)
KERNEL(2, unsigned short)
KERNEL(4, u32)
KERNEL(8, u64)
KERNEL(16, uint4)
