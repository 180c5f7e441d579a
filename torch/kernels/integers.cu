// Operations on whole numbers that libsconce.so does not have: the greatest common divisor.

#include "types.cuh"

// This is in `operations/integers.rs` too: a block's threads, and the elements of a thread.
constexpr u32 THREADS = 256;
constexpr u32 EACH = 4;

// Euclid's way. The smallest number has no absolute value and stays, as in torch; its remainder by
// -1 is 0, which the processor would not return.
template <typename T>
SCONCE_INLINE T common_divisor(T a, T b) {
  constexpr bool HAS_SIGN = (T)-1 < (T)0;
  if (HAS_SIGN && a < 0) a = (T)(0 - (u64)a);
  if (HAS_SIGN && b < 0) b = (T)(0 - (u64)b);
#pragma unroll 1
  while (a != 0) {
    const T rest = HAS_SIGN && a == (T)-1 ? (T)0 : (T)(b % a);
    b = a;
    a = rest;
  }
  return b;
}

#define GCD(name, T)                                                                         \
  extern "C" __global__ void __launch_bounds__(THREADS)                                      \
      sconce_torch_gcd_##name(const T* first, const T* second, T* result, const i64 count) { \
    const i64 begin = (i64)blockIdx.x * THREADS * EACH + threadIdx.x;                        \
    _Pragma("unroll 1") for (u32 e = 0; e < EACH; ++e) {                                     \
      const i64 at = begin + (i64)e * THREADS;                                               \
      if (at < count) result[at] = common_divisor<T>(first[at], second[at]);                 \
    }                                                                                        \
  }

GCD(i8, i8)
GCD(i16, i16)
GCD(i32, i32)
GCD(i64, i64)
GCD(u8, u8)
