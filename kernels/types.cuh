// The integer types of all kernels, division by an axis's size, and accesses of several elements.
#pragma once

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

#define SCONCE_INLINE static __device__ __forceinline__

// How often a size goes into n < 2^31: a multiplication and a shift (Granlund and Montgomery,
// "Division by invariant integers using multiplication"). `crates/kernels/src/divisor.rs` makes the
// factor.
SCONCE_INLINE u32 quotient(u32 n, u32 factor, u32 shift) {
  return (__umulhi(n, factor) + n) >> shift;
}

// The same for a divisor as launches hold it: the size, and above it the factor.
SCONCE_INLINE u32 quotient(u32 n, u64 divisor) {
  const u32 size = (u32)divisor, factor = (u32)(divisor >> 32);
  return (__umulhi(n, factor) + n) >> (32 - __clz(size - 1));
}

// `COUNT` elements that one access moves.
template <typename T, u32 COUNT>
struct alignas(sizeof(T) * COUNT) Group {
  T of[COUNT];
};
