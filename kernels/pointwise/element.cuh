// From the bits of elements to numbers of the computation, and back: conversion between types as
// torch has it on CUDA.
#pragma once

#include "dtype.cuh"
#include "memory.cuh"

SCONCE_INLINE u32 bytes_of(u32 type) {
  switch (type) {
    case F64:
    case I64:
    case U64:
    case C64:
      return 8;
    case F32:
    case I32:
    case U32:
    case C32:
      return 4;
    case F16:
    case BF16:
    case I16:
    case U16:
      return 2;
    case C128:
      return 16;
    default:
      return 1;
  }
}

SCONCE_INLINE float half_float(u32 bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((u16)bits));
  return value;
}

// To the nearest half, ties to even.
SCONCE_INLINE u32 half_bits(float value) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

SCONCE_INLINE float brain_float(u32 bits) { return __uint_as_float(bits << 16); }

// To the nearest bfloat16, ties to even.
SCONCE_INLINE u32 brain_bits(float value) {
  const u32 bits = __float_as_uint(value);
  return value != value ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// The 8-bit floating-point types: `crates/base/src/element/narrow_float.rs` has the same in
// words.
struct Narrow {
  int fraction_bits, bias;
  u32 past_finite, overflow, nan;
  bool is_unsigned_zero;
};

SCONCE_INLINE Narrow narrow_of(u32 type) {
  const bool is_wide = type == F8_E5M2 || type == F8_E5M2FNUZ;
  const bool is_fnuz = type == F8_E4M3FNUZ || type == F8_E5M2FNUZ;
  const u32 end = is_fnuz ? 0x80 : is_wide ? 0x7c : 0x7f;
  return {is_wide ? 2 : 3, (is_wide ? 15 : 7) + is_fnuz, end, end, is_fnuz ? 0x80u : 0x7fu,
          is_fnuz};
}

// 2^exponent for exponents of normal singles.
SCONCE_INLINE float power_of_two(int exponent) {
  return __uint_as_float((u32)(exponent + 127) << 23);
}

static __device__ __noinline__ float narrow_float(u32 bits, u32 type) {
  if (type == F8_E8M0FNU)
    return __uint_as_float(bits == 255 ? 0x7fffffff : bits == 0 ? 0x400000 : bits << 23);
  const Narrow as = narrow_of(type);
  const u32 code = bits & 0x7f;
  float size;
  if (as.is_unsigned_zero && bits == 0x80) {
    size = __uint_as_float(0x7fffffff);
  } else if (code >= as.past_finite) {
    size = __uint_as_float(code == 0x7c ? 0x7f800000 : 0x7fffffff);
  } else {
    const int exponent = (int)(code >> as.fraction_bits);
    const u32 hidden = exponent > 0 ? 1u << as.fraction_bits : 0;
    const u32 steps = (code & ((1u << as.fraction_bits) - 1)) | hidden;
    size = (float)steps * power_of_two((exponent > 0 ? exponent : 1) - as.bias - as.fraction_bits);
  }
  return bits & 0x80 ? -size : size;
}

static __device__ __noinline__ u32 narrow_bits(float value, u32 type) {
  const u32 bits = __float_as_uint(value);
  if (type == F8_E8M0FNU) {
    const u32 exponent = bits >> 23 & 255;
    const bool half = bits & 0x400000, rest = bits & 0x3fffff;
    return exponent == 255 ? 255 : exponent + (half && (rest || exponent > 0));
  }
  const Narrow as = narrow_of(type);
  const float size = fabsf(value);
  u32 code;
  if (value != value) {
    code = as.nan;
  } else if (size > 1e6f) {
    code = as.overflow;
  } else {
    const int own = (int)(bits >> 23 & 255) - 127;
    const int exponent = own > 1 - as.bias ? own : 1 - as.bias;
    const u32 steps = __float2uint_rn(size * power_of_two(as.fraction_bits - exponent));
    code = ((u32)(exponent + as.bias - 1) << as.fraction_bits) + steps;
    if (code >= as.past_finite) code = as.overflow;
  }
  if (as.is_unsigned_zero && (code == 0 || code == 0x80)) return code;
  return (bits >> 24 & 0x80) | code;
}

// What an integer type makes of a real number: instructions convert to 32 or 64 bits, and the lower
// bits are taken. torch converts to bytes by way of 64 bits.
template <class R>
SCONCE_INLINE u32 small_integer(R value, u32 type) {
  switch (type) {
    case BOOL:
      return value != 0;
    case U8:
      return (u32)(i64)value;
    case U16:
    case U32:
      return (u32)value;
    default:
      return (u32)(int)value;
  }
}
