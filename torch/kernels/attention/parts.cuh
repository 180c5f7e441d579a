// Where few queries meet many keys, blocks share the keys of a head. Each writes what it has of a
// query: the sums of values, the greatest score and the sum of exponentials. A second kernel adds
// them up.
#pragma once

#include "attention/arguments.cuh"

// The greatest score, and the sum of exponentials of scores less than it.
typedef Group<float, 2> Total;

// The number of a query's part among all.
__device__ __forceinline__ u64 part_of(const Attention& a, u32 pair, u32 row, u32 part) {
  return ((u64)pair * a.queries + row) * a.parts + part;
}

__device__ __forceinline__ float* sums_of(const Attention& a, u64 part) {
  return (float*)a.part_sums + part * a.value_width;
}

__device__ __forceinline__ void write_total(const Attention& a, u64 part, float greatest,
                                            float total) {
  ((Total*)a.part_totals)[part] = {{greatest, total}};
}

// A block adds up the parts of one query.
template <typename T, typename A>
__device__ __forceinline__ void combine(const A& a) {
  const u32 row = blockIdx.x % a.queries;
  const auto task = task_of_head(a, blockIdx.x / a.queries);
  if (row >= queries_of(a, task)) return;
  const u64 first = part_of(a, task.pair, row, 0);
  const Total* const totals = (const Total*)a.part_totals + first;
  float greatest = NEVER;
  for (u32 part = 0; part < a.parts; part++) greatest = fmaxf(greatest, totals[part].of[0]);
  // Where no part has met a key nothing is subtracted, so that no difference is NaN.
  const float subtracted = greatest == NEVER ? 0.0f : greatest;
  float total = 0.0f;
  for (u32 part = 0; part < a.parts; part++) {
    total += exponential_of_two(totals[part].of[0] - subtracted) * totals[part].of[1];
  }
  const float share = total == 0.0f ? 0.0f : 1.0f / total;
  T* const to = queries_at<T>(a, task, a.output) + (i64)row * a.output.position;
  for (u32 column = threadIdx.x; column < a.value_width; column += THREADS) {
    float sum = 0.0f;
#pragma unroll 4
    for (u32 part = 0; part < a.parts; part++) {
      sum += exponential_of_two(totals[part].of[0] - subtracted) * sums_of(a, first + part)[column];
    }
    to[column] = narrow<T>(sum * share);
  }
  if (a.log_sums != 0 && threadIdx.x == 0) write_log_sum(a, task, row, greatest, total);
}

#define COMBINE(suffix, T, A, way)                                                   \
  extern "C" __global__ void __launch_bounds__(THREADS)                              \
      sconce_torch_attention_##way##_##suffix(const __grid_constant__ A attention) { \
    combine<T>(attention);                                                           \
  }
