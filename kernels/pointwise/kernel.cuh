// The kernel of a domain: loads, one choice of operation for all of a thread's elements, stores.
//
// A domain has `Value`, `N` (elements of a thread), `LARGEST` (bytes of its largest element), and
// the functions that are called below.
#pragma once

#include "element.cuh"
#include "operations.cuh"

// Loads the elements of an input, as they are.
template <class D, int OPERAND, class L>
SCONCE_INLINE void load(Raw& raw, u32& kind, const L& launch, const Tile& tile) {
  kind = (u32)(launch.kinds >> (16 * OPERAND)) & 0xffff;
  if (kind & CONSTANT) return;
  const u32 size = bytes_of(kind & 255);
  const char* memory = (const char*)launch.inputs[OPERAND - 1].words[0];
  if (D::LARGEST < 8 && size == 8) {
    // Converted at once: such an element takes more room than the domain's numbers.
    i64 place[D::N];
    places<OPERAND, D::N, 1>(launch, tile, place);
#pragma unroll
    for (int e = 0; e < D::N; e++) {
      const bool is_there = tile.index(e) < launch.n;
      const u64 bits = is_there ? *(const u64*)(memory + place[e]) : 0;
      raw.w[e] = __float_as_uint(D::of_long(bits, kind & 255));
    }
    return;
  }
  move<OPERAND, D::N, D::LARGEST, false>(raw, (char*)memory, size, kind, launch, tile);
}

// The numbers of an input.
template <class D>
SCONCE_INLINE void decode(typename D::Value* v, const Raw& raw, u32 kind, const Input& input,
                          u32 compute) {
  if (kind & CONSTANT) {
    const typename D::Value value = D::constant(input.words);
#pragma unroll
    for (int e = 0; e < D::N; e++) v[e] = value;
    return;
  }
  D::decode(v, raw, kind & 255, compute);
}

template <class D, class L>
SCONCE_INLINE void store(const typename D::Value* v, u32 compute, const L& launch,
                         const Tile& tile) {
  const u32 kind = (u32)launch.kinds & 0xffff, type = kind & 255;
  Raw raw;
  D::encode(raw, v, type, compute);
  move<0, D::N, D::LARGEST_STORED, true>(raw, (char*)launch.output, bytes_of(type), kind, launch,
                                         tile);
}

template <class L>
SCONCE_INLINE Tile tile_of(const L& launch, u32 elements) {
  const u64 base = (u64)blockIdx.x * (THREADS * elements);
  const u32 shift = (u32)(launch.code >> 24) & 255;
  // Groups are whole or missing, but for the last tile of elements that are no whole groups.
  const bool has_groups =
      base + THREADS * elements <= launch.n || (launch.n & ((1u << shift) - 1)) == 0;
  return {base, has_groups ? shift : 0};
}

template <class D>
SCONCE_INLINE void run(const Launch<1>& launch) {
  const Tile tile = tile_of(launch, D::N);
  if (tile.index(0) >= launch.n) return;
  const u32 operation = (u32)launch.code & 255, compute = (u32)(launch.code >> 8) & 255;
  typename D::Value v[D::N];
  if (operation == RANGE || operation == LINSPACE) {
#pragma unroll
    for (int e = 0; e < D::N; e++)
      v[e] = D::at_index(launch.first + tile.index(e), operation, launch, compute);
  } else {
    Raw raw;
    u32 kind;
    load<D, 1>(raw, kind, launch, tile);
    decode<D>(v, raw, kind, launch.inputs[0], compute);
    D::unary(operation, v, compute);
  }
  D::finish(v, operation, compute);
  store<D>(v, compute, launch, tile);
}

template <class D>
SCONCE_INLINE void run(const Launch<2>& launch) {
  const Tile tile = tile_of(launch, D::N);
  if (tile.index(0) >= launch.n) return;
  const u32 operation = (u32)launch.code & 255, compute = (u32)(launch.code >> 8) & 255;
  Raw raw, next;
  u32 kind, next_kind;
  load<D, 1>(raw, kind, launch, tile);
  load<D, 2>(next, next_kind, launch, tile);
  typename D::Value v[2][D::N];
  // One copy of the code for both inputs; the second one's loads are under way.
#pragma unroll 1
  for (int i = 0; i < 2; i++) {
#pragma unroll
    for (int e = 0; e < D::N; e++) v[0][e] = v[1][e];
    decode<D>(v[1], raw, kind, launch.inputs[i], compute);
    raw = next, kind = next_kind;
  }
  D::binary(operation, v[0], v[1], launch.parameters, compute);
  D::finish(v[0], operation, compute);
  store<D>(v[0], compute, launch, tile);
}

template <class D>
SCONCE_INLINE void run(const Launch<3>& launch) {
  const Tile tile = tile_of(launch, D::N);
  if (tile.index(0) >= launch.n) return;
  const u32 operation = (u32)launch.code & 255, compute = (u32)(launch.code >> 8) & 255;
  Raw raw, next, last;
  u32 kind, next_kind, last_kind;
  load<D, 1>(raw, kind, launch, tile);
  load<D, 2>(next, next_kind, launch, tile);
  load<D, 3>(last, last_kind, launch, tile);
  // Set, since the first numbers that go round would be no values otherwise, and compilers may take
  // any for them.
  typename D::Value v[3][D::N];
#pragma unroll
  for (int e = 0; e < D::N; e++) v[0][e] = v[1][e] = v[2][e] = typename D::Value();
#pragma unroll 1
  for (int i = 0; i < 3; i++) {
#pragma unroll
    for (int e = 0; e < D::N; e++) v[0][e] = v[1][e], v[1][e] = v[2][e];
    decode<D>(v[2], raw, kind, launch.inputs[i], compute);
    raw = next, kind = next_kind, next = last, next_kind = last_kind;
  }
  D::ternary(operation, v[0], v[1], v[2], compute);
  D::finish(v[0], operation, compute);
  store<D>(v[0], compute, launch, tile);
}

// Replaces all of a thread's numbers `a` (and `b`) by an expression of them: written out for each,
// or, where that would be much code, as a loop. Registers have no index, so numbers go round.
#define EACH(T, N, expression)                      \
  {                                                 \
    _Pragma("unroll") for (int e = 0; e < N; e++) { \
      const T a = v[e];                             \
      v[e] = expression;                            \
    }                                               \
    return;                                         \
  }
#define EACH_OF_TWO(T, N, expression)               \
  {                                                 \
    _Pragma("unroll") for (int e = 0; e < N; e++) { \
      const T a = v[e], b = u[e];                   \
      v[e] = expression;                            \
    }                                               \
    return;                                         \
  }
#define LOOP(T, N, expression)                                           \
  {                                                                      \
    _Pragma("unroll 1") for (int i = 0; i < N; i++) {                    \
      const T a = v[0];                                                  \
      _Pragma("unroll") for (int e = 0; e < N - 1; e++) v[e] = v[e + 1]; \
      v[N - 1] = expression;                                             \
    }                                                                    \
    return;                                                              \
  }
#define LOOP_OF_TWO(T, N, expression)                                                     \
  {                                                                                       \
    _Pragma("unroll 1") for (int i = 0; i < N; i++) {                                     \
      const T a = v[0], b = u[0];                                                         \
      _Pragma("unroll") for (int e = 0; e < N - 1; e++) v[e] = v[e + 1], u[e] = u[e + 1]; \
      v[N - 1] = expression;                                                              \
    }                                                                                     \
    return;                                                                               \
  }

#define KERNELS(name, D)                                                    \
  extern "C" __global__ void __launch_bounds__(THREADS)                     \
      sconce_pointwise_1_##name(const __grid_constant__ Launch<1> launch) { \
    run<D>(launch);                                                         \
  }                                                                         \
  extern "C" __global__ void __launch_bounds__(THREADS)                     \
      sconce_pointwise_2_##name(const __grid_constant__ Launch<2> launch) { \
    run<D>(launch);                                                         \
  }                                                                         \
  extern "C" __global__ void __launch_bounds__(THREADS)                     \
      sconce_pointwise_3_##name(const __grid_constant__ Launch<3> launch) { \
    run<D>(launch);                                                         \
  }
