// The kernels of frequent operations on contiguous elements of F32, F16 and BF16. What the kernels
// of a domain can do beside that costs them registers and instructions; these have few of either,
// so that a multiprocessor has enough accesses under way.
#pragma once

#include "kernel.cuh"
#include "real.cuh"

// These are in `src/kernels/pointwise.rs` too: threads of a block, and elements of a thread.
constexpr u32 FLAT_THREADS = 256;
constexpr int FLAT_EACH = 8;
// Blocks of a multiprocessor: the registers of a thread follow.
constexpr u32 FLAT_BLOCKS = 6;

// A thread's elements: one group of 8 neighbours, or two of 4, whichever is 16 bytes of the
// largest.
struct FlatTile {
  u64 base, n;
  u32 shift;
  bool is_whole;

  __device__ __forceinline__ u64 index(u32 element) const {
    const u32 group = (element >> shift) * FLAT_THREADS + threadIdx.x;
    return base + (group << shift) + (element & ((1u << shift) - 1));
  }
};

template <class L>
SCONCE_INLINE FlatTile flat_tile_of(const L& launch) {
  const u64 base = (u64)blockIdx.x * (FLAT_THREADS * FLAT_EACH);
  const bool is_whole = base + FLAT_THREADS * FLAT_EACH <= launch.n;
  return {base, launch.n, (u32)(launch.code >> 24) & 255, is_whole};
}

// The elements of an input as they are: a word each, or two of 16 bits in a word.
SCONCE_INLINE void load_flat(u32* words, const char* from, bool is_word, const FlatTile& tile) {
  if (!tile.is_whole) {
#pragma unroll
    for (int e = 0; e < FLAT_EACH; e++) {
      const u64 at = tile.index(e);
      u32 bits = 0;
      if (at < tile.n) bits = is_word ? ((const u32*)from)[at] : ((const u16*)from)[at];
      if (is_word)
        words[e] = bits;
      else
        words[e / 2] = e % 2 == 0 ? bits : words[e / 2] | bits << 16;
    }
  } else if (is_word || tile.shift == 3) {
    // 16 bytes hold 4 words, or 8 elements of 16 bits.
#pragma unroll
    for (int k = 0; k < 2; k++) {
      if (k == 1 && !is_word) break;
      const uint4 of = *(const uint4*)(from + (tile.index(4 * k) << (is_word ? 2 : 1)));
      words[4 * k] = of.x, words[4 * k + 1] = of.y, words[4 * k + 2] = of.z,
                words[4 * k + 3] = of.w;
    }
  } else {
#pragma unroll
    for (int k = 0; k < 2; k++) {
      const uint2 of = *(const uint2*)(from + tile.index(4 * k) * 2);
      words[2 * k] = of.x, words[2 * k + 1] = of.y;
    }
  }
}

SCONCE_INLINE void store_flat(const u32* words, char* to, bool is_word, const FlatTile& tile) {
  if (!tile.is_whole) {
#pragma unroll
    for (int e = 0; e < FLAT_EACH; e++) {
      const u64 at = tile.index(e);
      if (at >= tile.n) continue;
      if (is_word)
        ((u32*)to)[at] = words[e];
      else
        ((u16*)to)[at] = (u16)(words[e / 2] >> (e % 2 * 16));
    }
  } else if (is_word || tile.shift == 3) {
#pragma unroll
    for (int k = 0; k < 2; k++) {
      if (k == 1 && !is_word) break;
      *(uint4*)(to + (tile.index(4 * k) << (is_word ? 2 : 1))) =
          make_uint4(words[4 * k], words[4 * k + 1], words[4 * k + 2], words[4 * k + 3]);
    }
  } else {
#pragma unroll
    for (int k = 0; k < 2; k++)
      *(uint2*)(to + tile.index(4 * k) * 2) = make_uint2(words[2 * k], words[2 * k + 1]);
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

SCONCE_INLINE void encode_flat(u32* words, const float* v, u32 type) {
  if (type == F32) {
#pragma unroll
    for (int e = 0; e < FLAT_EACH; e++) words[e] = __float_as_uint(v[e]);
  } else if (type == F16) {
#pragma unroll
    for (int e = 0; e < FLAT_EACH; e += 2)
      words[e / 2] = half_bits(v[e]) | half_bits(v[e + 1]) << 16;
  } else {
#pragma unroll
    for (int e = 0; e < FLAT_EACH; e += 2)
      words[e / 2] = brain_bits(v[e]) | brain_bits(v[e + 1]) << 16;
  }
}

// The operations are in `src/kernels/flat.rs` too.
SCONCE_INLINE void flat_operation(u32 operation, float* v) {
  constexpr int N = FLAT_EACH;
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
      EACH(float, N, gelu_erf(a))
    case GELU_TANH:
      EACH(float, N, gelu_tanh(a))
  }
}

SCONCE_INLINE void flat_operation(u32 operation, float* v, const float* u, float alpha) {
  constexpr int N = FLAT_EACH;
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

template <int OPERAND, class L>
SCONCE_INLINE u32 load_flat_input(u32* words, const L& launch, const FlatTile& tile) {
  const u32 kind = (u32)(launch.kinds >> (16 * OPERAND)) & 0xffff;
  const char* from = (const char*)launch.inputs[OPERAND - 1].words[0];
  if (!(kind & CONSTANT)) load_flat(words, from, (kind & 255) == F32, tile);
  return kind;
}

template <class L>
SCONCE_INLINE void store_flat_output(const float* v, const L& launch, const FlatTile& tile) {
  const u32 type = (u32)launch.kinds & 255;
  u32 words[FLAT_EACH];
  encode_flat(words, v, type);
  store_flat(words, (char*)launch.output, type == F32, tile);
}

SCONCE_INLINE void run_flat(const Launch<1>& launch) {
  const FlatTile tile = flat_tile_of(launch);
  u32 words[FLAT_EACH];
  float v[FLAT_EACH];
  const u32 kind = load_flat_input<1>(words, launch, tile);
  decode_flat(v, words, kind, launch.inputs[0]);
  flat_operation((u32)launch.code & 255, v);
  store_flat_output(v, launch, tile);
}

SCONCE_INLINE void run_flat(const Launch<2>& launch) {
  const FlatTile tile = flat_tile_of(launch);
  u32 words[FLAT_EACH], next[FLAT_EACH];
  float v[FLAT_EACH], u[FLAT_EACH];
  const u32 kind = load_flat_input<1>(words, launch, tile);
  const u32 next_kind = load_flat_input<2>(next, launch, tile);
  decode_flat(v, words, kind, launch.inputs[0]);
  decode_flat(u, next, next_kind, launch.inputs[1]);
  const float alpha = (float)__longlong_as_double((i64)launch.parameters[0]);
  flat_operation((u32)launch.code & 255, v, u, alpha);
  store_flat_output(v, launch, tile);
}
