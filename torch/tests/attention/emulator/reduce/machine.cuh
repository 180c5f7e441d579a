// The stand-in for kernels/reduce/machine.cuh.
#pragma once

#include "dtype.cuh"

struct Half {
  u16 bits;
};

struct Brain {
  u16 bits;
};

inline float wide(Half value) {
  const int exponent = value.bits >> 10 & 31, mantissa = value.bits & 1023;
  float size = std::ldexp((float)(1024 + mantissa), exponent - 25);
  if (exponent == 0) size = std::ldexp((float)mantissa, -24);
  if (exponent == 31) size = mantissa == 0 ? INFINITY : NAN;
  return value.bits >> 15 ? -size : size;
}

inline float wide(Brain value) { return __int_as_float((u32)value.bits << 16); }
inline float wide(float value) { return value; }
// To nearest, ties to even.
inline Half to_half(float value) {
  const u32 sign = std::signbit(value) ? 1u << 15 : 0;
  const float size = std::fabs(value);
  if (value != value) return {0x7fff};
  if (size >= 65520.0f) return {(u16)(sign | 31 << 10)};
  if (size < 0x1p-14f) return {(u16)(sign | (u32)std::nearbyint(std::ldexp(size, 24)))};
  int exponent;
  std::frexp(size, &exponent);
  const u32 mantissa = (u32)std::nearbyint(std::ldexp(size, 11 - exponent));
  return {(u16)(sign | (((u32)(exponent + 14) << 10) + mantissa - 1024))};
}

inline Brain to_brain(float value) {
  const u32 bits = same_bits<u32>(value);
  return {value != value ? (u16)0x7fff : (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
