// Types, conversions and exchanges between the threads of a warp.
#pragma once

#include "dtype.cuh"

constexpr u64 NO_INDEX = ~0ull;

// 16-bit floats and complex numbers as they lie in memory.
struct Half {
  u16 bits;
};

struct Brain {
  u16 bits;
};

struct alignas(8) Complex32 {
  float re, im;
};

struct alignas(16) Complex64 {
  double re, im;
};

__device__ __forceinline__ float wide(Half value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
}

__device__ __forceinline__ float wide(Brain value) {
  return __uint_as_float((u32)value.bits << 16);
}

template <typename T>
__device__ __forceinline__ T wide(T value) {
  return value;
}

__device__ __forceinline__ Half to_half(float value) {
  Half result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
}

// To nearest, ties to even; the instruction for it came after the target.
__device__ __forceinline__ Brain to_brain(float value) {
  const u32 bits = __float_as_uint(value);
  Brain result;
  result.bits = value != value ? 0x7fff : (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  return result;
}

// A value of another thread of the warp, in words of 32 bits.
template <typename A>
__device__ __forceinline__ A from_lane_xor(A value, u32 mask) {
  constexpr u32 WORDS = sizeof(A) / 4;
  static_assert(sizeof(A) % 4 == 0, "whole words");
  union Words {
    A value;
    u32 of[WORDS];
    __device__ Words() {}
  } words;
  words.value = value;
#pragma unroll
  for (u32 i = 0; i < WORDS; i++) words.of[i] = __shfl_xor_sync(0xffffffffu, words.of[i], mask);
  return words.value;
}
