// Running sums and products. Long lines are cut into chunks, which blocks of grid y take; what is
// before each of them has been calculated by launches before. A block goes through its chunk tile
// by tile.
#pragma once

#include "launch.cuh"

constexpr u32 SCAN_THREADS = 256;
// How many elements a thread takes of a column, of the type of the kernel and of any.
constexpr u32 SCAN_STEPS = 8;
constexpr u32 SCAN_ANY_STEPS = 4;

template <typename A>
__device__ __forceinline__ A from_lane_below(A value, u32 distance) {
  constexpr u32 WORDS = sizeof(A) / 4;
  union Words {
    A value;
    u32 of[WORDS];
    __device__ Words() {}
  } words;
  words.value = value;
#pragma unroll
  for (u32 i = 0; i < WORDS; i++) words.of[i] = __shfl_up_sync(0xffffffffu, words.of[i], distance);
  return words.value;
}

template <typename A>
__device__ __forceinline__ A from_last_lane(A value) {
  constexpr u32 WORDS = sizeof(A) / 4;
  union Words {
    A value;
    u32 of[WORDS];
    __device__ Words() {}
  } words;
  words.value = value;
#pragma unroll
  for (u32 i = 0; i < WORDS; i++) words.of[i] = __shfl_sync(0xffffffffu, words.of[i], 31);
  return words.value;
}

template <typename T>
struct ScanSum {
  typedef float Type;
};
template <>
struct ScanSum<double> {
  typedef double Type;
};
template <>
struct ScanSum<i64> {
  typedef i64 Type;
};

// The running sums of a span: `WIDTH` elements of each lane of a warp. `total` is what is before
// it; the result is what is before the next span.
template <typename A, typename T, u32 WIDTH>
__device__ __forceinline__ A sums_of_span(const Group<T, WIDTH>& held, bool is_there, u32 lane,
                                          A total, A (&sums)[WIDTH]) {
  A sum = 0;
#pragma unroll
  for (u32 i = 0; i < WIDTH; i++) {
    if (is_there) sum += wide(held.of[i]);
    sums[i] = sum;
  }
  A inclusive = sum;
#pragma unroll
  for (u32 distance = 1; distance < 32; distance *= 2) {
    const A below = from_lane_below(inclusive, distance);
    if (lane >= distance) inclusive += below;
  }
  A below = from_lane_below(inclusive, 1);
  below = lane == 0 ? total : total + below;
#pragma unroll
  for (u32 i = 0; i < WIDTH; i++) sums[i] += below;
  return total + from_last_lane(inclusive);
}

// Sums of lines side by side. A line has one or several warps of a block; each warp takes some
// spans of a tile, which lie one behind the other, and a lane one access of each.
template <typename T, u32 WIDTH, u32 SPANS>
__device__ __forceinline__ void scan_rows(const Lines& l) {
  typedef typename ScanSum<T>::Type A;
  typedef Group<T, WIDTH> Access;
  __shared__ A of_warp[SCAN_THREADS / 32];
  const u32 lanes = 1u << l.lanes_log2, rows = 1u << l.rows_log2;
  const u32 lane = threadIdx.x % 32, warps = lanes / 32;
  const u32 warp = threadIdx.x / 32 % warps, of_row = threadIdx.x / 32 - warp;
  const u64 row = (u64)blockIdx.x * rows + threadIdx.x / lanes;
  const bool is_line = row < l.lines;
  const Place place = is_line ? place_of(l.axes, l.axes_count, row) : Place{0, 0};
  const T* from = (const T*)l.input + place.by_stride;
  T* to = (T*)l.output + place.by_other;
  // The last chunks first: the launch that added them up has left those in the cache.
  const u32 chunk = gridDim.y - 1 - blockIdx.y;
  const u64 begin = (u64)chunk * l.chunk;
  const u64 end = begin + l.chunk < l.length ? begin + l.chunk : l.length;
  A before = 0;
  if (is_line && chunk > 0) {
    before =
        ((const A*)l.offsets)[(i64)row * l.offset_of_line + ((i64)chunk - 1) * l.offset_of_chunk];
  }
  const u64 span = 32 * WIDTH, tile = warps * SPANS * span;
  // All threads of a block take as many tiles: they meet in each.
#pragma unroll 1
  for (u64 first = begin; first < end; first += tile) {
    const u64 own = first + warp * SPANS * span + lane * WIDTH;
    Access held[SPANS];
    A sums[SPANS][WIDTH];
#pragma unroll
    for (u32 k = 0; k < SPANS; k++) {
      // The host takes a width that the ends of lines and chunks are multiples of.
      if (is_line && own + k * span < end) held[k] = *(const Access*)(from + own + k * span);
    }
    A total = 0;
#pragma unroll
    for (u32 k = 0; k < SPANS; k++) {
      const bool is_there = is_line && own + k * span < end;
      total = sums_of_span(held[k], is_there, lane, total, sums[k]);
    }
    A preceding = before;
    if (warps > 1) {
      if (lane == 0) of_warp[threadIdx.x / 32] = total;
      __syncthreads();
#pragma unroll 1
      for (u32 w = 0; w < warps; w++) {
        if (w == warp) preceding = before;
        before += of_warp[of_row + w];
      }
      // The next tile writes where this one reads.
      __syncthreads();
    } else {
      before += total;
    }
#pragma unroll
    for (u32 k = 0; k < SPANS; k++) {
      if (is_line && own + k * span < end) {
#pragma unroll
        for (u32 i = 0; i < WIDTH; i++) held[k].of[i] = narrow(preceding + sums[k][i], T());
        *(Access*)(to + own + k * span) = held[k];
      }
    }
  }
}

// How elements are read and written: of the type of the kernel, or of any.
template <typename T>
struct TypedElements {
  typedef typename ScanSum<T>::Type A;
  static constexpr u32 STEPS = SCAN_STEPS;

  static __device__ __forceinline__ A load(const Lines& l, i64 at) {
    return wide(((const T*)l.input)[at]);
  }

  static __device__ __forceinline__ void write(const Lines& l, i64 at, A value) {
    ((T*)l.output)[at] = narrow(value, T());
  }

  static __device__ __forceinline__ A none(const Lines&) { return 0; }

  static __device__ __forceinline__ A join(const Lines&, A a, A b) { return a + b; }
};

template <typename Sum>
struct AnyElements {
  typedef Sum A;
  static constexpr u32 STEPS = SCAN_ANY_STEPS;

  static __device__ __forceinline__ A load(const Lines& l, i64 at) { return load_any<A>(l, at); }

  static __device__ __forceinline__ void write(const Lines& l, i64 at, A value) {
    write_any(l, at, value);
  }

  static __device__ __forceinline__ A none(const Lines& l) {
    return Constant<A>::of(l.op == CUMPROD);
  }

  static __device__ __forceinline__ A join(const Lines& l, A a, A b) {
    return l.op == CUMPROD ? product_of(a, b) : sum_of(a, b);
  }
};

// Lines of any strides: neighbouring threads belong to neighbouring lines, and a thread takes some
// elements of its line that follow each other.
template <typename Elements>
__device__ __forceinline__ void scan_columns(const Lines& l) {
  typedef typename Elements::A A;
  constexpr u32 STEPS = Elements::STEPS;
  __shared__ alignas(16) u8 bytes[SCAN_THREADS * sizeof(A)];
  A* shared = (A*)bytes;
  const u32 lanes = 1u << l.lanes_log2, rows = 1u << l.rows_log2;
  const u32 lane = threadIdx.x / rows, column = threadIdx.x % rows;
  const u64 row = (u64)blockIdx.x * rows + column;
  const bool is_line = row < l.lines;
  const Place place = is_line ? place_of(l.axes, l.axes_count, row) : Place{0, 0};
  // The last chunks first: the launch that added them up has left those in the cache.
  const u32 chunk = gridDim.y - 1 - blockIdx.y;
  const u64 begin = (u64)chunk * l.chunk;
  const u64 end = begin + l.chunk < l.length ? begin + l.chunk : l.length;
  A before = Elements::none(l);
  if (is_line && chunk > 0) {
    before =
        ((const A*)l.offsets)[(i64)row * l.offset_of_line + ((i64)chunk - 1) * l.offset_of_chunk];
  }
#pragma unroll 1
  for (u64 first = begin; first < end; first += lanes * STEPS) {
    const u64 own = first + lane * STEPS;
    A values[STEPS];
#pragma unroll
    for (u32 k = 0; k < STEPS; k++) {
      values[k] = Elements::none(l);
      if (is_line && own + k < end)
        values[k] = Elements::load(l, place.by_stride + (i64)(own + k) * l.input_stride);
    }
#pragma unroll
    for (u32 k = 1; k < STEPS; k++) values[k] = Elements::join(l, values[k - 1], values[k]);
    shared[threadIdx.x] = values[STEPS - 1];
    __syncthreads();
    A preceding = before;
#pragma unroll 1
    for (u32 other = 0; other < lanes; other++) {
      if (other == lane) preceding = before;
      before = Elements::join(l, before, shared[other * rows + column]);
    }
    // The next tile writes where this one reads.
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < STEPS; k++) {
      if (is_line && own + k < end) {
        const i64 at = place.by_other + (i64)(own + k) * l.output_stride;
        Elements::write(l, at, Elements::join(l, preceding, values[k]));
      }
    }
  }
}
