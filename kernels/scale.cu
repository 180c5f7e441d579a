// Multiplication of real numbers in place: docs/design/fft.md.
//
// The host brings what is multiplied into one packed run, or into axes of units, from the innermost
// to the outermost: a unit is one number, or two where they come in pairs. Strides are in units.

#include "types.cuh"

// These are in `kernels/scale.rs` too: axes, a block's threads, and what each has under way at
// once.
constexpr u32 MOST_AXES = 4;
constexpr u32 THREADS = 256;
constexpr u32 EACH = 4;

struct Axis {
  u64 size;
  u64 factor;  // divides by the size below 2^31 units
  i64 stride;
};

struct Axes {
  Axis of[MOST_AXES];
};

__device__ __forceinline__ double times(double value, double factor) { return value * factor; }

__device__ __forceinline__ float times(float value, float factor) { return value * factor; }

// A half is multiplied in single precision and rounded once.
__device__ __forceinline__ u16 times(u16 value, float factor) {
  float wide;
  u16 result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value));
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(wide * factor));
  return result;
}

template <typename T>
constexpr u32 OF_ACCESS = 16 / sizeof(T);

// One packed run: whole accesses between a few numbers at both ends.
template <typename T, typename F>
__device__ __forceinline__ void packed(T* data, u64 n, F factor) {
  constexpr u32 COUNT = OF_ACCESS<T>;
  typedef Group<T, COUNT> Access;
  const u64 skew = (16 - ((u64)data & 15)) % 16 / sizeof(T);
  const u64 head = skew < n ? skew : n;
  const u64 accesses = (n - head) / COUNT;
  Access* body = (Access*)(data + head);
  const u64 step = (u64)gridDim.x * (THREADS * EACH);
  for (u64 first = (u64)blockIdx.x * (THREADS * EACH) + threadIdx.x; first < accesses;
       first += step) {
    Access values[EACH];
    // All loads before all stores, so that they are under way together.
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
      if (first + k * THREADS < accesses) values[k] = body[first + k * THREADS];
    }
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
#pragma unroll
      for (u32 i = 0; i < COUNT; i++) values[k].of[i] = times(values[k].of[i], factor);
      if (first + k * THREADS < accesses) body[first + k * THREADS] = values[k];
    }
  }
  if (blockIdx.x != 0) return;
  const u64 tail = head + accesses * COUNT;
  if (threadIdx.x < head) data[threadIdx.x] = times(data[threadIdx.x], factor);
  if (threadIdx.x < n - tail) data[tail + threadIdx.x] = times(data[tail + threadIdx.x], factor);
}

// How often a size goes into an index.
__device__ __forceinline__ u32 quotient(u32 n, const Axis& axis) {
  const u32 shift = 32 - __clz((u32)axis.size - 1);
  return quotient(n, (u32)axis.factor, shift);
}

__device__ __forceinline__ u64 quotient(u64 n, const Axis& axis) { return n / axis.size; }

template <typename Index, typename U, typename F>
__device__ __forceinline__ void strided(U* data, Index n, u32 rank, F factor, const Axes& axes) {
  const Index step = (Index)gridDim.x * (THREADS * EACH);
  for (Index first = (Index)blockIdx.x * (THREADS * EACH) + threadIdx.x; first < n; first += step) {
    Index index[EACH];
    i64 at[EACH];
#pragma unroll
    for (u32 k = 0; k < EACH; k++) index[k] = first + k * THREADS, at[k] = 0;
      // The outermost axis takes what is left.
#pragma unroll 1
    for (u32 a = 0; a + 1 < rank; a++) {
      const Axis axis = axes.of[a];
#pragma unroll
      for (u32 k = 0; k < EACH; k++) {
        const Index rest = quotient(index[k], axis);
        at[k] += (i64)(index[k] - rest * (Index)axis.size) * axis.stride;
        index[k] = rest;
      }
    }
    const i64 stride = axes.of[rank - 1].stride;
    U values[EACH];
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
      at[k] += (i64)index[k] * stride;
      if (first + k * THREADS < n) values[k] = data[at[k]];
    }
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
#pragma unroll
      for (u32 i = 0; i < sizeof(values[k].of) / sizeof(values[k].of[0]); i++)
        values[k].of[i] = times(values[k].of[i], factor);
      if (first + k * THREADS < n) data[at[k]] = values[k];
    }
  }
}

// Two numbers that need not be aligned as one.
template <typename T>
struct Pair {
  T of[2];
};

template <typename T, typename F>
__device__ __forceinline__ void scale(void* data, F factor, u64 n, u32 rank, u32 reals,
                                      const Axes& axes) {
  if (rank == 0) {
    packed((T*)data, n, factor);
  } else if (n >> 31) {
    if (reals == 2)
      strided<u64>((Pair<T>*)data, n, rank, factor, axes);
    else
      strided<u64>((Group<T, 1>*)data, n, rank, factor, axes);
  } else if (reals == 1) {
    strided<u32>((Group<T, 1>*)data, (u32)n, rank, factor, axes);
  } else if ((u64)data % (2 * sizeof(T)) == 0) {
    strided<u32>((Group<T, 2>*)data, (u32)n, rank, factor, axes);
  } else {
    strided<u32>((Pair<T>*)data, (u32)n, rank, factor, axes);
  }
}

#define KERNEL(name, T, F)                                                                        \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_scale_##name(                      \
      void* data, double factor, u64 n, u32 rank, u32 reals, const __grid_constant__ Axes axes) { \
    scale<T>(data, (F)factor, n, rank, reals, axes);                                              \
  }

KERNEL(f16, u16, float)
KERNEL(f32, float, float)
KERNEL(f64, double, double)
