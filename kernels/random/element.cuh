// Element types: how a value becomes the bits of one, and how neighbours are packed into one store.
// A lane is an element in a register: its bits are the low ones, except for BF16, whose lane is the
// float it is the upper half of (what lies below is cut off when it is packed).
#pragma once

#include "machine.cuh"

// Four lanes of 32 bits to one store.
struct Lane32 {
  typedef u32 Lane;
  static constexpr u32 LANES = 4;
};
struct Lane64 {
  typedef u64 Lane;
  static constexpr u32 LANES = 2;
};

struct Bytes1 : Lane32 {
  typedef u8 Stored;
  SCONCE_INLINE_MEMBER static Stored stored(u32 lane) { return (u8)lane; }
  SCONCE_INLINE_MEMBER static u32 pack(const u32* x) {
    return permute_bytes(permute_bytes(x[0], x[1], 0x0040), permute_bytes(x[2], x[3], 0x0040),
                         0x5410);
  }
};
struct Bytes2 : Lane32 {
  typedef u16 Stored;
  SCONCE_INLINE_MEMBER static Stored stored(u32 lane) { return (u16)lane; }
  SCONCE_INLINE_MEMBER static Words2 pack(const u32* x) {
    return {{permute_bytes(x[0], x[1], 0x5410), permute_bytes(x[2], x[3], 0x5410)}};
  }
};
struct Bytes4 : Lane32 {
  typedef u32 Stored;
  SCONCE_INLINE_MEMBER static Stored stored(u32 lane) { return lane; }
  SCONCE_INLINE_MEMBER static Words4 pack(const u32* x) { return {{x[0], x[1], x[2], x[3]}}; }
};
struct Bytes8 : Lane64 {
  typedef u64 Stored;
  SCONCE_INLINE_MEMBER static Stored stored(u64 lane) { return lane; }
  SCONCE_INLINE_MEMBER static Words4 pack(const u64* x) {
    return {{(u32)x[0], (u32)(x[0] >> 32), (u32)x[1], (u32)(x[1] >> 32)}};
  }
};

// Reals. `Real` is the type torch computes in; `encode` rounds, `encode_finite` may get NaN wrong.
struct F32 : Bytes4 {
  typedef float Real;
  SCONCE_INLINE_MEMBER static u32 encode(float value) { return float_bits(value); }
  SCONCE_INLINE_MEMBER static u32 encode_finite(float value) { return encode(value); }
  SCONCE_INLINE_MEMBER static float decode(u32 lane) { return bits_float(lane); }
};
struct F16 : Bytes2 {
  typedef float Real;
  SCONCE_INLINE_MEMBER static u32 encode(float value) { return half_bits(value); }
  SCONCE_INLINE_MEMBER static u32 encode_finite(float value) { return encode(value); }
  SCONCE_INLINE_MEMBER static float decode(u32 lane) { return half_float(lane); }
};
struct BF16 : Lane32 {
  typedef float Real;
  typedef u16 Stored;
  // To nearest, ties to even, in integers: the instruction for it came only with sm_80.
  SCONCE_INLINE_MEMBER static u32 encode_finite(float value) {
    const u32 bits = float_bits(value);
    return bits + (bits >> 16 & 1) + 0x7fff;
  }
  SCONCE_INLINE_MEMBER static u32 encode(float value) {
    return value == value ? encode_finite(value) : 0x7fff0000u;
  }
  SCONCE_INLINE_MEMBER static float decode(u32 lane) { return bits_float(lane & 0xffff0000u); }
  SCONCE_INLINE_MEMBER static Stored stored(u32 lane) { return (u16)(lane >> 16); }
  SCONCE_INLINE_MEMBER static Words2 pack(const u32* x) {
    return {{permute_bytes(x[0], x[1], 0x7632), permute_bytes(x[2], x[3], 0x7632)}};
  }
};
struct F64 : Bytes8 {
  typedef double Real;
  SCONCE_INLINE_MEMBER static u64 encode(double value) { return double_bits(value); }
  SCONCE_INLINE_MEMBER static u64 encode_finite(double value) { return encode(value); }
  SCONCE_INLINE_MEMBER static double decode(u64 lane) { return bits_double(lane); }
};

// Integers. torch computes in float what is not double; the casts are those nvcc gives the C cast.
struct I8 : Bytes1 {
  SCONCE_INLINE_MEMBER static u32 encode(float value) { return (u32)to_int(value); }
};
struct U8 : Bytes1 {
  SCONCE_INLINE_MEMBER static u32 encode(float value) { return to_unsigned(value); }
};
struct Bool : Bytes1 {
  SCONCE_INLINE_MEMBER static u32 encode(float value) { return value != 0; }
};
struct I16 : Bytes2 {
  SCONCE_INLINE_MEMBER static u32 encode(float value) { return (u32)to_int(value); }
};
struct I32 : Bytes4 {
  SCONCE_INLINE_MEMBER static u32 encode(float value) { return (u32)to_int(value); }
};
struct I64 : Bytes8 {
  SCONCE_INLINE_MEMBER static u64 encode(float value) { return (u64)to_long(value); }
};

// An integer as an element: integers keep the low bits, reals round.
template <class Element>
SCONCE_INLINE typename Element::Lane encode_integer(i64 value) {
  return (typename Element::Lane)value;
}
template <>
__device__ __forceinline__ u32 encode_integer<Bool>(i64 value) {
  return value != 0;
}
template <>
__device__ __forceinline__ u32 encode_integer<F32>(i64 value) {
  return F32::encode((float)value);
}
template <>
__device__ __forceinline__ u32 encode_integer<F16>(i64 value) {
  return F16::encode((float)value);
}
template <>
__device__ __forceinline__ u32 encode_integer<BF16>(i64 value) {
  return BF16::encode_finite((float)value);
}
template <>
__device__ __forceinline__ u64 encode_integer<F64>(i64 value) {
  return F64::encode((double)value);
}
