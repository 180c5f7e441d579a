// Conversion of elements whose neighbours lie along one axis in the input and along another in the
// output: tiles pass through shared memory, so that both sides are read and written in rows.
#pragma once

#include "complex_domain.cuh"
#include "integer_domain.cuh"

// These are in `kernels/transposed.rs` too: a tile's elements along the output's rows and along the
// input's.
constexpr u32 TILE_OUT = 64;
constexpr u32 TILE_IN = 32;
constexpr u32 MOST_OUTER = 6;

// Strides are in bytes.
struct OuterAxis {
  u64 divisor;
  i64 out, in;
};

struct Transposed {
  u64 output, input;
  u64 kinds;     // of output and input, 16 bits each; type of the computation; axes
  u64 sizes;     // elements along the output's rows, and above them along the input's
  u64 tiles_in;  // divisors: tiles along the input's rows, and along the output's
  u64 tiles_out;
  i64 along_out[2];  // strides of output and input along the output's rows
  i64 along_in[2];   // and along the input's
  OuterAxis outer[MOST_OUTER];
};

// The quotient, and what is left in `n`.
SCONCE_INLINE u32 divide(u32& n, u64 divisor) {
  const u32 size = (u32)divisor;
  const u32 result = quotient(n, (u32)(divisor >> 32), 32 - __clz(size - 1));
  n -= result * size;
  return result;
}

template <int SIZE, int N, bool STORES>
SCONCE_INLINE void move_line(Raw& raw, char* memory, i64 step, u32 count) {
#pragma unroll
  for (int e = 0; e < N; e++) {
    if (e < count) {
      if (STORES)
        store_chunk<SIZE>(raw, e * SIZE, memory + e * step);
      else
        load_chunk<SIZE>(raw, e * SIZE, memory + e * step);
    }
  }
}

// The first `count` of a thread's elements, each `step` bytes from the one before.
template <int N, int LARGEST, bool STORES>
SCONCE_INLINE void move_line(Raw& raw, char* memory, u32 size, i64 step, u32 count) {
  if (!STORES) clear<LARGEST, N>(raw);
  switch (size) {
    case 1:
      return move_line<1, N, STORES>(raw, memory, step, count);
    case 2:
      return move_line<2, N, STORES>(raw, memory, step, count);
    case 4:
      return move_line<4, N, STORES>(raw, memory, step, count);
    case 8:
      if (LARGEST >= 8) move_line<8, N, STORES>(raw, memory, step, count);
      return;
    case 16:
      if (LARGEST >= 16) move_line<16, N, STORES>(raw, memory, step, count);
  }
}

// How many of a thread's elements, `step` apart from `first` on, are below `size`.
SCONCE_INLINE u32 how_many(u32 first, u32 step, u32 size) {
  return first < size ? (size - first + step - 1) / step : 0;
}

template <class D>
constexpr u32 THREADS_OF_TILE = TILE_OUT* TILE_IN / D::N;

template <class D>
SCONCE_INLINE void transpose(const Transposed& launch) {
  typedef typename D::Value Value;
  constexpr u32 TOGETHER = THREADS_OF_TILE<D>;
  __shared__ Value tile[TILE_IN][TILE_OUT + 1];
  const u32 output_type = (u32)launch.kinds & 255, input_type = (u32)(launch.kinds >> 16) & 255;
  const u32 compute = (u32)(launch.kinds >> 32) & 255, outer = (u32)(launch.kinds >> 48);
  u32 rest = blockIdx.x;
  u32 in_tile = rest;
  rest = divide(in_tile, launch.tiles_in);
  u32 out_tile = rest;
  rest = divide(out_tile, launch.tiles_out);
  char* output = (char*)launch.output;
  char* input = (char*)launch.input;
#pragma unroll 1
  for (u32 a = 0; a < outer; a++) {
    u32 here = rest;
    rest = divide(here, launch.outer[a].divisor);
    output += here * launch.outer[a].out, input += here * launch.outer[a].in;
  }
  const u32 size_out = (u32)launch.sizes, size_in = (u32)(launch.sizes >> 32);
  Raw raw;
  Value v[D::N];
  {
    // Neighbouring threads are neighbours in the input.
    constexpr u32 STEP = TOGETHER / TILE_IN;
    const u32 i = threadIdx.x % TILE_IN, o = threadIdx.x / TILE_IN;
    const u32 at_in = in_tile * TILE_IN + i, at_out = out_tile * TILE_OUT + o;
    const u32 count = at_in < size_in ? how_many(at_out, STEP, size_out) : 0;
    input += at_in * launch.along_in[1] + at_out * launch.along_out[1];
    move_line<D::N, D::LARGEST, false>(raw, input, bytes_of(input_type), launch.along_out[1] * STEP,
                                       count);
    D::decode(v, raw, input_type, compute);
#pragma unroll
    for (int e = 0; e < D::N; e++) tile[i][o + e * STEP] = v[e];
  }
  __syncthreads();
  constexpr u32 STEP = TOGETHER / TILE_OUT;
  const u32 o = threadIdx.x % TILE_OUT, i = threadIdx.x / TILE_OUT;
  const u32 at_in = in_tile * TILE_IN + i, at_out = out_tile * TILE_OUT + o;
  const u32 count = at_out < size_out ? how_many(at_in, STEP, size_in) : 0;
#pragma unroll
  for (int e = 0; e < D::N; e++) v[e] = tile[i + e * STEP][o];
  D::finish(v, COPY, compute);
  D::encode(raw, v, output_type, compute);
  output += at_in * launch.along_in[0] + at_out * launch.along_out[0];
  move_line<D::N, D::LARGEST_STORED, true>(raw, output, bytes_of(output_type),
                                           launch.along_in[0] * STEP, count);
}

#define TRANSPOSED(name, D)                                                           \
  extern "C" __global__ void __launch_bounds__(THREADS_OF_TILE<D>)                    \
      sconce_pointwise_transposed_##name(const __grid_constant__ Transposed launch) { \
    transpose<D>(launch);                                                             \
  }
