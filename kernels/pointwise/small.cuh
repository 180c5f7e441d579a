// The kernels of small launches of frequent operations in single precision. A small launch takes as
// long as its instructions, so a thread has one element, and operands that are contiguous elements
// of F32 are known by one comparison. Others lie along any axes.
#pragma once

#include "flat.cuh"

// This is in `crates/kernels/src/pointwise.rs` too.
constexpr u32 SMALL_THREADS = 128;

// How many bytes an element of the output and of each input is away from the first.
template <int OPERANDS, class L>
SCONCE_INLINE void small_places(const L& launch, u32 index, i64* place) {
  const u32 rank = (u32)(launch.code >> 16) & 255;
#pragma unroll
  for (int k = 0; k < OPERANDS; k++) place[k] = 0;
    // The outermost axis takes what is left.
#pragma unroll 1
  for (u32 a = 0; a + 1 < rank; a++) {
    const u64 divisor = launch.axes[a].divisor;
    const u32 next = quotient(index, divisor);
    const i64 here = (i64)(index - next * (u32)divisor);
#pragma unroll
    for (int k = 0; k < OPERANDS; k++) place[k] += here * launch.axes[a].strides[k];
    index = next;
  }
#pragma unroll
  for (int k = 0; k < OPERANDS; k++) place[k] += (i64)index * launch.axes[rank - 1].strides[k];
}

// The bits of an input's element, of 16 or 32 bits.
template <int OPERAND, class L>
SCONCE_INLINE u32 small_bits(const L& launch, i64 place) {
  const u32 kind = kind_of<OPERAND>(launch);
  if (kind & CONSTANT) return 0;
  const char* at = (const char*)launch.inputs[OPERAND - 1].words[0] + place;
  return (kind & 255) == F32 ? *(const u32*)at : *(const u16*)at;
}

template <int OPERAND, class L>
SCONCE_INLINE float small_number(const L& launch, u32 bits) {
  const u32 kind = kind_of<OPERAND>(launch);
  if (kind & CONSTANT) return (float)__longlong_as_double((i64)launch.inputs[OPERAND - 1].words[0]);
  if ((kind & 255) == F32) return __uint_as_float(bits);
  return (kind & 255) == F16 ? half_float(bits) : brain_float(bits);
}

template <class L>
SCONCE_INLINE void small_store(const L& launch, i64 place, float value) {
  char* at = (char*)launch.output + place;
  switch ((u32)launch.kinds & 255) {
    case F32:
      *(float*)at = value;
      return;
    case F16:
      *(u16*)at = (u16)half_bits(value);
      return;
    case BF16:
      *(u16*)at = (u16)brain_bits(value);
      return;
    default:  // BOOL, of predicates
      *(u8*)at = value != 0;
  }
}

// The frequent operations, and others that need little code for one element. They are in
// `crates/kernels/src/flat.rs` too.
SCONCE_INLINE float small_operation(const Launch<1>& launch, const float* v) {
  const u32 operation = (u32)launch.code & 255;
  switch (operation) {
    case SIGN:
      return (float)((v[0] > 0) - (v[0] < 0));
    case IS_NAN:
      return (float)(v[0] != v[0]);
    case IS_FINITE:
      return (float)is_finite(v[0]);
    case FLOOR:
      return real_floor(v[0]);
    case CEIL:
      return real_ceil(v[0]);
    case ROUND:
      return real_round(v[0]);
    case TRUNC:
      return real_trunc(v[0]);
    default:
      float result[1] = {v[0]};
      flat_operation<1>(operation, result, is_short(launch));
      return result[0];
  }
}

SCONCE_INLINE float small_operation(const Launch<2>& launch, const float* v) {
  const u32 operation = (u32)launch.code & 255;
  switch (operation) {
    case EQ:
      return (float)(v[0] == v[1]);
    case NE:
      return (float)(v[0] != v[1]);
    case LT:
      return (float)(v[0] < v[1]);
    case LE:
      return (float)(v[0] <= v[1]);
    default:
      float result[1] = {v[0]};
      const float alpha = (float)__longlong_as_double((i64)launch.parameters[0]);
      flat_operation<1>(operation, result, v + 1, alpha);
      return result[0];
  }
}

template <int INPUTS>
SCONCE_INLINE void run_small(const Launch<INPUTS>& launch) {
  const u32 index = blockIdx.x * SMALL_THREADS + threadIdx.x;
  if (index >= (u32)launch.n) return;
  const bool is_line = is_all_f32<INPUTS>(launch.kinds) && ((launch.code >> 16) & 255) == 1;
  float v[INPUTS];
  i64 place[INPUTS + 1];
  if (is_line) {
#pragma unroll
    for (int i = 0; i < INPUTS; i++) v[i] = ((const float*)launch.inputs[i].words[0])[index];
  } else {
    small_places<INPUTS + 1>(launch, index, place);
    const u32 bits[2] = {small_bits<1>(launch, place[1]),
                         INPUTS == 2 ? small_bits<INPUTS>(launch, place[INPUTS]) : 0};
    v[0] = small_number<1>(launch, bits[0]);
    if (INPUTS == 2) v[INPUTS - 1] = small_number<INPUTS>(launch, bits[1]);
  }
  const float result = small_operation(launch, v);
  if (is_line)
    ((float*)launch.output)[index] = result;
  else
    small_store(launch, place[0], result);
}
