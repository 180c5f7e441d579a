// The instructions C++ has no word for. Everything that is not plain C++ in the random kernels is
// here, so that a host compiler can build the rest with a stand-in for this one file (it defines
// the guard itself: benches/random/emulator).
#ifndef SCONCE_RANDOM_MACHINE
#define SCONCE_RANDOM_MACHINE

#include "types.cuh"

#define SCONCE_INLINE_MEMBER __device__ __forceinline__

SCONCE_INLINE u32 float_bits(float value) { return __float_as_uint(value); }
SCONCE_INLINE float bits_float(u32 bits) { return __uint_as_float(bits); }
SCONCE_INLINE double bits_double(u64 bits) { return __longlong_as_double((i64)bits); }
SCONCE_INLINE u64 double_bits(double value) { return (u64)__double_as_longlong(value); }

SCONCE_INLINE u32 high_product(u32 a, u32 b) { return __umulhi(a, b); }
SCONCE_INLINE u64 high_product(u64 a, u64 b) { return __umul64hi(a, b); }

// One of the 4 bytes of `low` (0-3) and `high` (4-7) in each byte of the result.
SCONCE_INLINE u32 permute_bytes(u32 low, u32 high, u32 selector) {
  return __byte_perm(low, high, selector);
}

// Rounded to the nearest half, ties to even.
SCONCE_INLINE u16 half_bits(float value) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

SCONCE_INLINE float half_float(u32 bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((u16)bits));
  return value;
}

// 1/sqrt(x) to the precision of the special-function unit, for normal x.
SCONCE_INLINE float fast_reciprocal_root(float x) {
  float root;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}

// Approximations: instructions of the special-function unit.
SCONCE_INLINE float fast_log(float x) { return __logf(x); }
SCONCE_INLINE float fast_exp(float x) { return __expf(x); }
SCONCE_INLINE float fast_tan(float x) { return __tanf(x); }
SCONCE_INLINE void fast_sin_cos(float x, float* sine, float* cosine) { __sincosf(x, sine, cosine); }

// Conversions of reals to integers as the C cast has them for values in range, saturating beyond.
SCONCE_INLINE int to_int(float value) { return __float2int_rz(value); }
SCONCE_INLINE u32 to_unsigned(float value) { return __float2uint_rz(value); }
SCONCE_INLINE i64 to_long(float value) { return __float2ll_rz(value); }

struct alignas(8) Words2 {
  u32 w[2];
};
struct alignas(16) Words4 {
  u32 w[4];
};

// One store each, of an element or of 4, 8 or 16 bytes.
template <class Stored>
SCONCE_INLINE void store_one(Stored* address, Stored element) {
  *address = element;
}
SCONCE_INLINE void store_wide(void* address, u32 word) { *(u32*)address = word; }
SCONCE_INLINE void store_wide(void* address, const Words2& words) {
  *(uint2*)address = make_uint2(words.w[0], words.w[1]);
}
SCONCE_INLINE void store_wide(void* address, const Words4& words) {
  *(uint4*)address = make_uint4(words.w[0], words.w[1], words.w[2], words.w[3]);
}

#endif
