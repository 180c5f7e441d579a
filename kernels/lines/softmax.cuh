// Softmax and its logarithm. The largest element is subtracted first; a NaN makes all of its line
// NaN.
#pragma once

#include "launch.cuh"

// These are in `crates/compute/src/reduction/line_choice.rs` too: the most threads of a block where
// accesses have one element and in `long`, and of the others; how many elements of a `long` line a
// thread has under way, where accesses have several and where they have one.
constexpr u32 SOFTMAX_THREADS = 1024;
constexpr u32 HELD_THREADS = 512;
constexpr u32 SOFTMAX_LONG = 16;
constexpr u32 SOFTMAX_SINGLES = 8;

__device__ __forceinline__ float least(float) { return Least<float>::value(); }
__device__ __forceinline__ double least(double) { return Least<double>::value(); }
__device__ __forceinline__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double larger(double a, double b) { return fmax(a, b); }
__device__ __forceinline__ float exponential(float value) { return expf(value); }
__device__ __forceinline__ double exponential(double value) { return exp(value); }
__device__ __forceinline__ float logarithm(float value) { return logf(value); }
__device__ __forceinline__ double logarithm(double value) { return log(value); }

// What is subtracted from elements: of a line of negative infinity nothing, so that no difference
// is NaN before all elements are known.
template <typename F>
__device__ __forceinline__ F subtracted(F largest) {
  return largest == least(largest) ? F(0) : largest;
}

// Joins a value of each of `size` neighbouring threads, a power of two; all get the result.
template <bool IS_SUM, typename F>
__device__ __forceinline__ F join_lanes(F value, u32 size, F* of_warp) {
#pragma unroll 1
  for (u32 mask = size < 32 ? size / 2 : 16; mask > 0; mask /= 2) {
    const F other = from_lane_xor(value, mask);
    value = IS_SUM ? value + other : larger(value, other);
  }
  if (size <= 32) return value;
  // What an earlier exchange has left there has been read.
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  const u32 first = threadIdx.x / size * (size / 32);
  value = of_warp[first];
#pragma unroll 1
  for (u32 warp = 1; warp < size / 32; warp++) {
    const F other = of_warp[first + warp];
    value = IS_SUM ? value + other : larger(value, other);
  }
  return value;
}

// An element of the result.
template <typename T, typename F>
__device__ __forceinline__ T softmax_result(const Lines& l, F from_largest, F inverse,
                                            F logarithm_of_sum) {
  const F value =
      l.op == SOFTMAX ? exponential(from_largest) * inverse : from_largest - logarithm_of_sum;
  return narrow(value, T());
}

// Lines side by side that fit the registers of a group of threads, `HELD` elements each. Of softmax
// the exponentials stay there, so that each is calculated once.
template <typename T, u32 WIDTH, u32 HELD, u32 MOST_THREADS_OF_BLOCK>
__device__ __forceinline__ void softmax_held(const Lines& l) {
  typedef float F;
  typedef Group<T, WIDTH> Access;
  constexpr u32 ACCESSES = HELD / WIDTH;
  __shared__ F of_warp[MOST_THREADS_OF_BLOCK / 32];
  const u32 lanes = 1u << l.lanes_log2, rows = 1u << l.rows_log2;
  const u32 lane = threadIdx.x % lanes, length = (u32)l.length;
  const u64 row = (u64)blockIdx.x * rows + threadIdx.x / lanes;
  const bool is_line = row < l.lines;
  const Place place = is_line ? place_of(l.axes, l.axes_count, row) : Place{0, 0};
  const Access* from = (const Access*)((const T*)l.input + place.by_stride);
  Access* to = (Access*)((T*)l.output + place.by_other);
  const auto is_there = [&](u32 k) { return is_line && (lane + k * lanes) * WIDTH < length; };
  F values[HELD];
  {
    Access held[ACCESSES];
#pragma unroll
    for (u32 k = 0; k < ACCESSES; k++) {
      if (is_there(k)) held[k] = from[lane + k * lanes];
    }
    // What is not there adds nothing to a sum of exponentials.
#pragma unroll
    for (u32 k = 0; k < ACCESSES; k++) {
      const bool has_access = is_there(k);
#pragma unroll
      for (u32 i = 0; i < WIDTH; i++)
        values[k * WIDTH + i] = has_access ? (F)wide(held[k].of[i]) : least(F());
    }
  }
  F largest = least(F());
#pragma unroll
  for (u32 i = 0; i < HELD; i++) largest = larger(largest, values[i]);
  largest = subtracted(join_lanes<false>(largest, lanes, of_warp));
  F sum = 0;
  if (l.op == SOFTMAX) {
#pragma unroll
    for (u32 i = 0; i < HELD; i++) {
      values[i] = exponential(values[i] - largest);
      sum += values[i];
    }
  } else {
#pragma unroll
    for (u32 i = 0; i < HELD; i++) sum += exponential(values[i] - largest);
  }
  sum = join_lanes<true>(sum, lanes, of_warp);
  // Of nothing but negative infinity the sum is 0, and the results are NaN.
  const F inverse = sum == 0 ? sum / sum : 1 / sum,
          logarithm_of_sum = sum == 0 ? inverse : logarithm(sum);
#pragma unroll
  for (u32 k = 0; k < ACCESSES; k++) {
    if (is_there(k)) {
      Access results;
#pragma unroll
      for (u32 i = 0; i < WIDTH; i++) {
        const F value = values[k * WIDTH + i];
        results.of[i] =
            narrow(l.op == SOFTMAX ? value * inverse : value - largest - logarithm_of_sum, T());
      }
      to[lane + k * lanes] = results;
    }
  }
}

// The largest element so far, and the sum of exponentials that belongs to it.
template <typename F>
struct Running {
  F largest, sum;

  __device__ __forceinline__ void grow(F other) {
    if (!(other > largest)) return;
    sum *= exponential(largest - other);
    largest = other;
  }

  __device__ __forceinline__ void take(F value) {
    grow(value);
    sum += exponential(value - subtracted(largest));
  }
};

// Longer lines side by side, a block a line: read twice, the second time partly from the cache.
template <typename T, u32 WIDTH>
__device__ __forceinline__ void softmax_long(const Lines& l) {
  typedef float F;
  typedef Group<T, WIDTH> Access;
  constexpr u32 ACCESSES = WIDTH == 1 ? SOFTMAX_SINGLES : SOFTMAX_LONG / WIDTH;
  __shared__ F of_warp[SOFTMAX_THREADS / 32];
  const Place place = place_of(l.axes, l.axes_count, blockIdx.x);
  const Access* from = (const Access*)((const T*)l.input + place.by_stride);
  Access* to = (Access*)((T*)l.output + place.by_other);
  const u64 accesses = l.length / WIDTH;
  Running<F> running{least(F()), 0};
#pragma unroll 1
  for (u64 first = threadIdx.x; first < accesses; first += blockDim.x * ACCESSES) {
    Access held[ACCESSES];
    F largest = least(F());
#pragma unroll
    for (u32 k = 0; k < ACCESSES; k++) {
      if (first + k * blockDim.x < accesses) held[k] = from[first + k * blockDim.x];
    }
#pragma unroll
    for (u32 k = 0; k < ACCESSES; k++) {
      if (first + k * blockDim.x < accesses) {
#pragma unroll
        for (u32 i = 0; i < WIDTH; i++) largest = larger(largest, (F)wide(held[k].of[i]));
      }
    }
    running.grow(largest);
    const F less = subtracted(running.largest);
#pragma unroll
    for (u32 k = 0; k < ACCESSES; k++) {
      if (first + k * blockDim.x < accesses) {
#pragma unroll
        for (u32 i = 0; i < WIDTH; i++) running.sum += exponential((F)wide(held[k].of[i]) - less);
      }
    }
  }
  const F largest = subtracted(join_lanes<false>(running.largest, blockDim.x, of_warp));
  F sum = running.sum;
  if (running.largest != least(F())) sum *= exponential(running.largest - largest);
  sum = join_lanes<true>(sum, blockDim.x, of_warp);
  const F inverse = sum == 0 ? sum / sum : 1 / sum,
          logarithm_of_sum = sum == 0 ? inverse : logarithm(sum);
#pragma unroll 1
  for (u64 first = threadIdx.x; first < accesses; first += blockDim.x * ACCESSES) {
    Access held[ACCESSES];
#pragma unroll
    for (u32 k = 0; k < ACCESSES; k++) {
      if (first + k * blockDim.x < accesses) held[k] = from[first + k * blockDim.x];
    }
#pragma unroll
    for (u32 k = 0; k < ACCESSES; k++) {
      if (first + k * blockDim.x < accesses) {
#pragma unroll
        for (u32 i = 0; i < WIDTH; i++) {
          held[k].of[i] =
              softmax_result<T>(l, (F)wide(held[k].of[i]) - largest, inverse, logarithm_of_sum);
        }
        to[first + k * blockDim.x] = held[k];
      }
    }
  }
}

// Any types and strides: neighbouring threads belong to neighbouring lines, or to one if there is
// one.
template <typename F>
__device__ __forceinline__ void softmax_general(const Lines& l) {
  __shared__ Running<F> shared[GENERAL_THREADS];
  const u32 lanes = 1u << l.lanes_log2, rows = 1u << l.rows_log2;
  const u32 lane = threadIdx.x / rows;
  const u64 row = (u64)blockIdx.x * rows + threadIdx.x % rows;
  const bool is_line = row < l.lines;
  const Place place = is_line ? place_of(l.axes, l.axes_count, row) : Place{0, 0};
  Running<F> running{least(F()), 0};
  if (is_line) {
#pragma unroll 1
    for (u64 i = lane; i < l.length; i += lanes) {
      const i64 at = place.by_stride + (i64)i * l.input_stride;
      running.take(load_any<F>(l, at));
    }
  }
  shared[threadIdx.x] = running;
  __syncthreads();
  F largest = least(F()), sum = 0;
  for (u32 i = 0; i < lanes; i++) {
    largest = larger(largest, shared[i * rows + threadIdx.x % rows].largest);
  }
  largest = subtracted(largest);
  for (u32 i = 0; i < lanes; i++) {
    const Running<F> other = shared[i * rows + threadIdx.x % rows];
    sum +=
        other.largest == least(F()) ? other.sum : other.sum * exponential(other.largest - largest);
  }
  if (!is_line) return;
  const F inverse = sum == 0 ? sum / sum : 1 / sum,
          logarithm_of_sum = sum == 0 ? inverse : logarithm(sum);
#pragma unroll 1
  for (u64 i = lane; i < l.length; i += lanes) {
    const i64 at = place.by_stride + (i64)i * l.input_stride;
    const F value = load_any<F>(l, at) - largest;
    const F result = l.op == SOFTMAX ? exponential(value) * inverse : value - logarithm_of_sum;
    write_any(l, place.by_other + (i64)i * l.output_stride, result);
  }
}
