// Selections by index, and copies with strides of what is joined: docs/design/ordering.md.
//
// Axes go from the innermost to the outermost; strides are in bytes. The host sees that a launch
// has fewer than 2^31 elements.

#include "types.cuh"

// These are in `kernels/ordering/select.rs` too: axes, a block's threads, and a thread's elements.
constexpr u32 MOST_AXES = 5;
constexpr u32 THREADS = 128;
constexpr u32 EACH = 4;

struct Axis {
  u64 divisor;  // the axis's size, and above it the factor that divides by it
  i64 dst, src, index;
};

struct Axes {
  Axis of[MOST_AXES];
};

// What an index selects from.
struct Selected {
  u64 index;  // 0: nothing is selected
  u64 size;   // an index is less than this
  i64 step;   // bytes from one index's elements to those of the next
};

// The driver's: prints the text and ends the context with CUDA_ERROR_ASSERT, as in torch.
extern "C" __device__ void __assertfail(const char* assertion, const char* file, u32 line,
                                        const char* function, size_t char_bytes);

template <typename T>
__device__ __forceinline__ void select(char* dst, const char* src, u32 n, u32 rank, u32 wide,
                                       const Selected& selected, const Axes& axes) {
  const u32 first = blockIdx.x * (THREADS * EACH) + threadIdx.x;
  u32 rest[EACH];
  i64 to[EACH], from[EACH], at[EACH];
#pragma unroll
  for (u32 k = 0; k < EACH; k++) {
    rest[k] = first + k * THREADS, to[k] = 0, from[k] = 0, at[k] = (i64)selected.index;
  }
#pragma unroll 1
  for (u32 a = 0; a < rank; a++) {
    const Axis axis = axes.of[a];
    const u32 size = (u32)axis.divisor, factor = (u32)(axis.divisor >> 32);
    const u32 shift = 32 - __clz(size - 1);
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
      // The outermost axis takes what is left.
      const u32 next = a + 1 == rank ? 0 : quotient(rest[k], factor, shift);
      const u32 here = rest[k] - next * size;
      to[k] += here * axis.dst, from[k] += here * axis.src, at[k] += here * axis.index;
      rest[k] = next;
    }
  }
  if (selected.index != 0) {
    i64 index[EACH];
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
      index[k] = 0;
      if (first + k * THREADS < n) index[k] = wide ? *(const i64*)at[k] : *(const int*)at[k];
    }
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
      // Negative indices are large ones here. Nothing outside of the input is read.
      if ((u64)index[k] >= selected.size) {
        if (first + k * THREADS < n) {
          __assertfail("0 <= index && index < size", "gather_select.cu", __LINE__, "index_select",
                       1);
        }
        return;
      }
      from[k] += index[k] * selected.step;
    }
  }
  T values[EACH];
  // All loads before all stores, so that they are under way together.
#pragma unroll
  for (u32 k = 0; k < EACH; k++) {
    if (first + k * THREADS < n) values[k] = *(const T*)(src + from[k]);
  }
#pragma unroll
  for (u32 k = 0; k < EACH; k++) {
    if (first + k * THREADS < n) *(T*)(dst + to[k]) = values[k];
  }
}

#define KERNEL(bytes, T)                                                              \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_select_##bytes(        \
      char* dst, const char* src, u32 n, u32 rank, u32 wide,                          \
      const __grid_constant__ Selected selected, const __grid_constant__ Axes axes) { \
    select<T>(dst, src, n, rank, wide, selected, axes);                               \
  }

KERNEL(1, unsigned char)
KERNEL(2, unsigned short)
KERNEL(4, u32)
KERNEL(8, u64)
KERNEL(16, uint4)
