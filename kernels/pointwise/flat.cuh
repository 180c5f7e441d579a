// The kernels of frequent operations on contiguous elements of F32, F16 and BF16. What the kernels
// of a domain can do beside that costs them registers and instructions; these have few of either,
// so that a multiprocessor has enough accesses under way.
#pragma once

#include "kernel.cuh"
#include "real.cuh"

// These are in `crates/kernels/src/pointwise.rs` too: threads of a block, and elements of a thread.
constexpr u32 FLAT_THREADS = 256;
constexpr int FLAT_EACH = 8;
// Blocks of a multiprocessor: the registers of a thread follow.
constexpr u32 FLAT_BLOCKS = 6;

// A thread's elements: one group of 8 neighbours, or two of 4, whichever is 16 bytes of the
// largest. Groups of the last tile that are not whole go element by element.
struct FlatTile {
  u64 base;
  u32 count;  // elements of the tile
  u32 shift;

  // An element's place in the tile.
  __device__ __forceinline__ u32 place(u32 element) const {
    const u32 group = (element >> shift) * FLAT_THREADS + threadIdx.x;
    return (group << shift) + (element & ((1u << shift) - 1));
  }

  // How many elements are in whole groups.
  __device__ __forceinline__ u32 grouped() const { return count >> shift << shift; }

  // Whether an element is there, outside of whole groups.
  __device__ __forceinline__ bool is_single(u32 at) const { return at >= grouped() && at < count; }
};

template <class L>
SCONCE_INLINE FlatTile flat_tile_of(const L& launch) {
  constexpr u32 ELEMENTS = FLAT_THREADS * FLAT_EACH;
  const u64 base = (u64)blockIdx.x * ELEMENTS, left = launch.n - base;
  return {base, left < ELEMENTS ? (u32)left : ELEMENTS, (u32)(launch.code >> 24) & 255};
}

// The elements of an input as they are: a word each, or two of 16 bits in a word.
SCONCE_INLINE void load_groups(u32* words, const char* from, bool is_word, const FlatTile& tile) {
  from += tile.base << (is_word ? 2 : 1);
  const u32 grouped = tile.grouped();
  if (is_word || tile.shift == 3) {
    // 16 bytes hold 4 words, or 8 elements of 16 bits.
#pragma unroll
    for (int k = 0; k < 2; k++) {
      if (k == 1 && !is_word) break;
      const u32 at = tile.place(4 * k);
      if (at >= grouped) continue;
      const uint4 of = *(const uint4*)(from + (at << (is_word ? 2 : 1)));
      words[4 * k] = of.x, words[4 * k + 1] = of.y, words[4 * k + 2] = of.z,
                words[4 * k + 3] = of.w;
    }
  } else {
#pragma unroll
    for (int k = 0; k < 2; k++) {
      const u32 at = tile.place(4 * k);
      if (at >= grouped) continue;
      const uint2 of = *(const uint2*)(from + at * 2);
      words[2 * k] = of.x, words[2 * k + 1] = of.y;
    }
  }
}

// What is behind the whole groups. Apart from those, so that the groups of all inputs are under way
// together.
SCONCE_INLINE void load_singles(u32* words, const char* from, bool is_word, const FlatTile& tile) {
  if (tile.grouped() == tile.count) return;
  from += tile.base << (is_word ? 2 : 1);
#pragma unroll
  for (int e = 0; e < FLAT_EACH; e++) {
    const u32 at = tile.place(e);
    if (!tile.is_single(at)) continue;
    const u32 bits = is_word ? ((const u32*)from)[at] : ((const u16*)from)[at];
    if (is_word)
      words[e] = bits;
    else
      words[e / 2] = e % 2 == 0 ? bits : words[e / 2] | bits << 16;
  }
}

SCONCE_INLINE void store_flat(const u32* words, char* to, bool is_word, const FlatTile& tile) {
  to += tile.base << (is_word ? 2 : 1);
  const u32 grouped = tile.grouped();
  if (is_word || tile.shift == 3) {
#pragma unroll
    for (int k = 0; k < 2; k++) {
      if (k == 1 && !is_word) break;
      const u32 at = tile.place(4 * k);
      if (at >= grouped) continue;
      *(uint4*)(to + (at << (is_word ? 2 : 1))) =
          make_uint4(words[4 * k], words[4 * k + 1], words[4 * k + 2], words[4 * k + 3]);
    }
  } else {
#pragma unroll
    for (int k = 0; k < 2; k++) {
      const u32 at = tile.place(4 * k);
      if (at < grouped) *(uint2*)(to + at * 2) = make_uint2(words[2 * k], words[2 * k + 1]);
    }
  }
  if (grouped == tile.count) return;
#pragma unroll
  for (int e = 0; e < FLAT_EACH; e++) {
    const u32 at = tile.place(e);
    if (!tile.is_single(at)) continue;
    if (is_word)
      ((u32*)to)[at] = words[e];
    else
      ((u16*)to)[at] = (u16)(words[e / 2] >> (e % 2 * 16));
  }
}

SCONCE_INLINE void decode_flat(float* v, const u32* words, u32 kind, const Input& input) {
  if (kind & CONSTANT) {
    const float value = (float)__longlong_as_double((i64)input.words[0]);
#pragma unroll
    for (int e = 0; e < FLAT_EACH; e++) v[e] = value;
  } else if ((kind & 255) == F32) {
#pragma unroll
    for (int e = 0; e < FLAT_EACH; e++) v[e] = __uint_as_float(words[e]);
  } else if ((kind & 255) == F16) {
#pragma unroll
    for (int e = 0; e < FLAT_EACH; e++) v[e] = half_float(words[e / 2] >> (e % 2 * 16) & 0xffff);
  } else {
#pragma unroll
    for (int e = 0; e < FLAT_EACH; e++) v[e] = brain_float(words[e / 2] >> (e % 2 * 16) & 0xffff);
  }
}

// A number that is not NaN, whose upper half is the nearest bfloat16, ties to even.
SCONCE_INLINE u32 rounded_to_brain(float value) {
  const u32 bits = __float_as_uint(value);
  return bits + 0x7fff + (bits >> 16 & 1);
}

SCONCE_INLINE void encode_flat(u32* words, const float* v, u32 type) {
  if (type == F32) {
#pragma unroll
    for (int e = 0; e < FLAT_EACH; e++) words[e] = __float_as_uint(v[e]);
  } else if (type == F16) {
#pragma unroll
    for (int e = 0; e < FLAT_EACH; e += 2)
      words[e / 2] = half_bits(v[e]) | half_bits(v[e + 1]) << 16;
  } else {
    bool has_nan = false;
#pragma unroll
    for (int e = 0; e < FLAT_EACH; e++) has_nan |= v[e] != v[e];
#pragma unroll
    for (int e = 0; e < FLAT_EACH; e += 2)
      words[e / 2] = __byte_perm(rounded_to_brain(v[e]), rounded_to_brain(v[e + 1]), 0x7632);
    // All elements again, which is rare, rather than a choice for each.
    if (!has_nan) return;
#pragma unroll
    for (int e = 0; e < FLAT_EACH; e += 2)
      words[e / 2] = brain_bits(v[e]) | brain_bits(v[e + 1]) << 16;
  }
}

// Functions of numbers that are rounded to 16 bits: a few instructions of a part in a million,
// where those for singles take so many that memory waits for them.
SCONCE_INLINE float short_reciprocal(float a) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
}

SCONCE_INLINE float short_exp2(float a) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
}

// The normal distribution function at -|a| is exp(-a^2 / 2) times a polynomial of 1 / (1 + 0.31
// |a|) that is fitted to it with a relative error of 5e-6.
SCONCE_INLINE float short_gelu_erf(float a) {
  const float t = short_reciprocal(fmaf(fabsf(a), 0.31f, 1.0f));
  float tail = -0.07392915454968449f;
  tail = fmaf(tail, t, 0.18045037755483156f);
  tail = fmaf(tail, t, 0.015744688253402844f);
  tail = fmaf(tail, t, 0.13342978758729926f);
  tail = fmaf(tail, t, 0.12044127829189163f);
  tail = fmaf(tail, t, 0.12386070163371213f);
  tail *= t * short_exp2(a * (a * -0.72134752044448170368f));
  return a * (a >= 0.0f ? 1.0f - tail : tail);
}

// (1 + tanh(b)) / 2 is 1 / (1 + exp(-2 b)).
SCONCE_INLINE float short_gelu_tanh(float a) {
  const float scaled = a * fmaf(a * a, -0.10294324f, -2.3022082f);
  return a * short_reciprocal(1.0f + short_exp2(scaled));
}

// The operations are in `crates/kernels/src/flat.rs` too. `v`, and `u`, have N numbers; `is_short`
// ones are rounded to 16 bits afterwards.
template <int N>
SCONCE_INLINE void flat_operation(u32 operation, float* v, bool is_short) {
  switch (operation) {
    case NEG:
      EACH(float, N, -a)
    case ABS:
      EACH(float, N, real_abs(a))
    case RELU:
      EACH(float, N, relu(a))
    case SQRT:
      EACH(float, N, real_sqrt(a))
    case RSQRT:
      EACH(float, N, real_rsqrt(a))
    case RECIPROCAL:
      EACH(float, N, 1.0f / a)
    case EXP:
      EACH(float, N, real_exp(a))
    case LOG:
      EACH(float, N, real_log(a))
    case TANH:
      EACH(float, N, real_tanh(a))
    case SIGMOID:
      EACH(float, N, sigmoid(a))
    case SILU:
      EACH(float, N, silu(a))
    case GELU_ERF:
      if (is_short) EACH(float, N, short_gelu_erf(a))
      EACH(float, N, gelu_erf(a))
    case GELU_TANH:
      if (is_short) EACH(float, N, short_gelu_tanh(a))
      EACH(float, N, gelu_tanh(a))
  }
}

template <int N>
SCONCE_INLINE void flat_operation(u32 operation, float* v, const float* u, float alpha) {
  switch (operation) {
    case ADD:
      EACH_OF_TWO(float, N, real_fma(alpha, b, a))
    case MUL:
      EACH_OF_TWO(float, N, a* b)
    case DIV:
      EACH_OF_TWO(float, N, a / b)
    case MINIMUM:
      EACH_OF_TWO(float, N, minimum(a, b))
    case MAXIMUM:
      EACH_OF_TWO(float, N, maximum(a, b))
  }
}

// The kind of an operand.
template <int OPERAND, class L>
SCONCE_INLINE u32 kind_of(const L& launch) {
  return (u32)(launch.kinds >> (16 * OPERAND)) & 0xffff;
}

// Whether results are rounded to 16 bits.
template <class L>
SCONCE_INLINE bool is_short(const L& launch) {
  const u32 type = kind_of<0>(launch) & 255;
  return type == F16 || type == BF16;
}

// The kinds of operands that are all F32 in memory: what most programs have.
template <int INPUTS>
SCONCE_INLINE bool is_all_f32(u64 kinds) {
  constexpr u64 KIND = F32 | WIDE;
  return kinds == (KIND | KIND << 16 | (INPUTS == 2 ? KIND << 32 : 0));
}

// The inputs' elements as they are. Where operands are known to be F32, nothing is chosen: a small
// launch takes as long as its instructions.
template <bool IS_F32, class L>
SCONCE_INLINE void load_all_groups(u32 (*words)[FLAT_EACH], const L& launch, const FlatTile& tile) {
  constexpr int INPUTS = sizeof(launch.inputs) / sizeof(Input);
  const u32 kinds[2] = {kind_of<1>(launch), kind_of<2>(launch)};
#pragma unroll
  for (int i = 0; i < INPUTS; i++) {
    if (IS_F32 || !(kinds[i] & CONSTANT))
      load_groups(words[i], (const char*)launch.inputs[i].words[0],
                  IS_F32 || (kinds[i] & 255) == F32, tile);
  }
#pragma unroll
  for (int i = 0; i < INPUTS; i++) {
    if (IS_F32 || !(kinds[i] & CONSTANT))
      load_singles(words[i], (const char*)launch.inputs[i].words[0],
                   IS_F32 || (kinds[i] & 255) == F32, tile);
  }
}

// The numbers of all inputs.
template <bool IS_F32, class L>
SCONCE_INLINE void load_numbers(float (*v)[FLAT_EACH], const L& launch, const FlatTile& tile) {
  constexpr int INPUTS = sizeof(launch.inputs) / sizeof(Input);
  const u32 kinds[2] = {kind_of<1>(launch), kind_of<2>(launch)};
  u32 words[INPUTS][FLAT_EACH];
  load_all_groups<IS_F32>(words, launch, tile);
#pragma unroll
  for (int i = 0; i < INPUTS; i++)
    decode_flat(v[i], words[i], IS_F32 ? (u32)F32 : kinds[i], launch.inputs[i]);
}

template <bool IS_F32, class L>
SCONCE_INLINE void store_numbers(const float* v, const L& launch, const FlatTile& tile) {
  const u32 type = IS_F32 ? (u32)F32 : (u32)launch.kinds & 255;
  u32 words[FLAT_EACH];
  encode_flat(words, v, type);
  store_flat(words, (char*)launch.output, type == F32, tile);
}

SCONCE_INLINE void run_flat(const Launch<1>& launch) {
  const FlatTile tile = flat_tile_of(launch);
  if (tile.place(0) >= tile.count) return;
  float v[1][FLAT_EACH];
  const bool is_f32 = is_all_f32<1>(launch.kinds);
  if (is_f32)
    load_numbers<true>(v, launch, tile);
  else
    load_numbers<false>(v, launch, tile);
  flat_operation<FLAT_EACH>((u32)launch.code & 255, v[0], is_short(launch));
  if (is_f32)
    store_numbers<true>(v[0], launch, tile);
  else
    store_numbers<false>(v[0], launch, tile);
}

template <bool IS_F32>
SCONCE_INLINE void run_flat_of(const Launch<2>& launch, const FlatTile& tile) {
  float v[2][FLAT_EACH];
  load_numbers<IS_F32>(v, launch, tile);
  const float alpha = (float)__longlong_as_double((i64)launch.parameters[0]);
  flat_operation<FLAT_EACH>((u32)launch.code & 255, v[0], v[1], alpha);
  store_numbers<IS_F32>(v[0], launch, tile);
}

SCONCE_INLINE void run_flat(const Launch<2>& launch) {
  const FlatTile tile = flat_tile_of(launch);
  if (tile.place(0) >= tile.count) return;
  if (is_all_f32<2>(launch.kinds))
    run_flat_of<true>(launch, tile);
  else
    run_flat_of<false>(launch, tile);
}
