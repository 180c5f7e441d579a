// Attention in one pass over keys and values: docs/design/attention.md.
//
// A block has a tile of queries of one head, and goes through tiles of keys. Each query keeps the
// greatest score so far, the sum of exponentials of scores less than it, and the sum of values with
// these weights; a greater score rescales both sums. All arithmetic is in singles. Scores are in
// units of the binary logarithm, so that an exponential is one instruction.

#pragma once

#include "attention/parts.cuh"

// Threads that share a query: each has some of the keys' scores and some of the values' columns.
constexpr u32 ACROSS = 16;
constexpr u32 DOWN = THREADS / ACROSS;
// Elements of one access to shared memory, and what separates the banks of two lines.
constexpr u32 ACCESS = 4;
constexpr u32 PAD = 4;

// The greatest value of the threads that share a query, and the sum of their values.
__device__ __forceinline__ float greatest_across(float value) {
#pragma unroll
  for (u32 mask = ACROSS / 2; mask > 0; mask /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, mask));
  }
  return value;
}

__device__ __forceinline__ float sum_across(float value) {
#pragma unroll
  for (u32 mask = ACROSS / 2; mask > 0; mask /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, mask);
  }
  return value;
}

// Copies ROWS positions to shared memory as singles, WIDTH of each, zeros beyond those that are
// there.
template <typename T, u32 ROWS, u32 WIDTH, u32 STRIDE>
__device__ __forceinline__ void load(const T* from, i64 position, i64 element, u32 rows, u32 width,
                                     float* to) {
  constexpr u32 ACCESSES = ROWS * WIDTH / ACCESS;
  const bool grouped = element == 1 && width % ACCESS == 0 && position % ACCESS == 0 &&
                       (u64)from % (ACCESS * sizeof(T)) == 0;
  if (grouped) {
#pragma unroll
    for (u32 i = 0; i < (ACCESSES + THREADS - 1) / THREADS; i++) {
      const u32 at = threadIdx.x + i * THREADS;
      if (ACCESSES % THREADS != 0 && at >= ACCESSES) break;
      const u32 row = at / (WIDTH / ACCESS), column = at % (WIDTH / ACCESS) * ACCESS;
      Group<T, ACCESS> group = {};
      if (row < rows && column < width) {
        group = *(const Group<T, ACCESS>*)(from + (i64)row * position + column);
      }
      Group<float, ACCESS> singles;
#pragma unroll
      for (u32 e = 0; e < ACCESS; e++) singles.of[e] = wide(group.of[e]);
      *(Group<float, ACCESS>*)(to + row * STRIDE + column) = singles;
    }
  } else {
    for (u32 at = threadIdx.x; at < ROWS * WIDTH; at += THREADS) {
      const u32 row = at / WIDTH, column = at % WIDTH;
      to[row * STRIDE + column] = row < rows && column < width
                                      ? wide(from[(i64)row * position + (i64)column * element])
                                      : 0.0f;
    }
  }
}

// What the mask adds to a score, in units of the binary logarithm.
__device__ __forceinline__ float masked(const Attention& a, i64 at) {
  const u64 address = a.mask.address;
  switch (a.mask_kind) {
    case MASK_BOOL:
      return added_by((const u8*)address, at);
    case MASK_F32:
      return added_by((const float*)address, at);
    case MASK_F16:
      return added_by((const Half*)address, at);
    default:
      return added_by((const Brain*)address, at);
  }
}

// WIDTH: of a position, or less. QUERIES and KEYS of a tile. BOTH: keys and values have memory of
// their own, so that both are on their way at the same time.
template <typename T, u32 WIDTH, u32 QUERIES, u32 KEYS, bool BOTH>
__device__ __forceinline__ void attend(const Attention& a) {
  constexpr u32 STRIDE = WIDTH + PAD, WEIGHTS = KEYS + PAD;
  constexpr u32 ROWS = QUERIES / DOWN, COLUMNS = KEYS / ACROSS;
  // Neighbouring columns of values of a thread, and how many times it has so many.
  constexpr u32 NEAR = WIDTH / ACROSS < ACCESS ? WIDTH / ACROSS : ACCESS;
  constexpr u32 TIMES = WIDTH / ACROSS / NEAR;
  extern __shared__ float shared[];
  float* const query = shared;
  float* const key = query + QUERIES * STRIDE;
  float* const value = BOTH ? key + KEYS * STRIDE : key;
  float* const weight = value + KEYS * STRIDE;

  const auto task = task_of(a, blockIdx.x, QUERIES, KEYS);
  const u32 batch = task.batch, head = task.head, key_head = task.key_head, first = task.first;
  const u32 rows = min(QUERIES, a.queries - first);
  const u32 x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
  const T* const keys_from = (const T*)a.key.address + batch * a.key.batch + key_head * a.key.head;
  const T* const values_from =
      (const T*)a.value.address + batch * a.value.batch + key_head * a.value.head;
  const i64 mask_from = batch * a.mask.batch + head * a.mask.head;

  load<T, QUERIES, WIDTH, STRIDE>((const T*)a.query.address + batch * a.query.batch +
                                      head * a.query.head + (i64)first * a.query.position,
                                  a.query.position, a.query.element, rows, a.width, query);

  float sums[ROWS][TIMES][NEAR] = {};
  float greatest[ROWS], total[ROWS];
#pragma unroll
  for (u32 r = 0; r < ROWS; r++) greatest[r] = NEVER, total[r] = 0.0f;

  for (u32 begin = task.begin; begin < task.end; begin += KEYS) {
    const u32 there = min(KEYS, a.keys - begin);
    __syncthreads();
    load<T, KEYS, WIDTH, STRIDE>(keys_from + (i64)begin * a.key.position, a.key.position,
                                 a.key.element, there, a.width, key);
    if (BOTH) {
      load<T, KEYS, WIDTH, STRIDE>(values_from + (i64)begin * a.value.position, a.value.position,
                                   a.value.element, there, a.value_width, value);
    }
    __syncthreads();
    // The mask is on its way while the products are calculated.
    float added[ROWS][COLUMNS] = {};
    if (a.mask_kind != NO_MASK) {
#pragma unroll
      for (u32 r = 0; r < ROWS; r++) {
#pragma unroll
        for (u32 c = 0; c < COLUMNS; c++) {
          const u32 row = first + y + r * DOWN, column = begin + x + c * ACROSS;
          if (row < a.queries && column < a.keys) {
            added[r][c] =
                masked(a, mask_from + (i64)row * a.mask.position + (i64)column * a.mask.element);
          }
        }
      }
    }
    float scores[ROWS][COLUMNS] = {};
#pragma unroll(WIDTH >= 64 ? 4 : 8)
    for (u32 d = 0; d < WIDTH; d += ACCESS) {
      Group<float, ACCESS> k[COLUMNS];
#pragma unroll
      for (u32 c = 0; c < COLUMNS; c++) {
        k[c] = *(const Group<float, ACCESS>*)(key + (x + c * ACROSS) * STRIDE + d);
      }
#pragma unroll
      for (u32 r = 0; r < ROWS; r++) {
        const Group<float, ACCESS> q =
            *(const Group<float, ACCESS>*)(query + (y + r * DOWN) * STRIDE + d);
#pragma unroll
        for (u32 c = 0; c < COLUMNS; c++) {
#pragma unroll
          for (u32 e = 0; e < ACCESS; e++) {
            scores[r][c] = __fmaf_rn(q.of[e], k[c].of[e], scores[r][c]);
          }
        }
      }
    }
#pragma unroll
    for (u32 r = 0; r < ROWS; r++) {
      const u32 row = first + y + r * DOWN;
      float most = NEVER;
#pragma unroll
      for (u32 c = 0; c < COLUMNS; c++) {
        const u32 column = begin + x + c * ACROSS;
        const float score =
            meets(a, task, row, column) ? scores[r][c] * a.scale + added[r][c] : NEVER;
        scores[r][c] = score;
        most = fmaxf(most, score);
      }
      most = fmaxf(greatest[r], greatest_across(most));
      // Of queries that have met no key yet nothing is subtracted, so that no difference is NaN.
      const float subtracted = most == NEVER ? 0.0f : most;
      const float rescale = exponential_of_two(greatest[r] - subtracted);
      float sum = 0.0f;
#pragma unroll
      for (u32 c = 0; c < COLUMNS; c++) {
        const float power = exponential_of_two(scores[r][c] - subtracted);
        weight[(y + r * DOWN) * WEIGHTS + x + c * ACROSS] = power;
        sum += power;
      }
      total[r] = total[r] * rescale + sum_across(sum);
      greatest[r] = most;
#pragma unroll
      for (u32 t = 0; t < TIMES; t++) {
#pragma unroll
        for (u32 e = 0; e < NEAR; e++) sums[r][t][e] *= rescale;
      }
    }
    if (BOTH) {
      // A query's weights are read by the threads of its warp alone.
      __syncwarp();
    } else {
      __syncthreads();
      load<T, KEYS, WIDTH, STRIDE>(values_from + (i64)begin * a.value.position, a.value.position,
                                   a.value.element, there, a.value_width, value);
      __syncthreads();
    }
#pragma unroll(KEYS >= 32 ? 2 : 4)
    for (u32 k = 0; k < KEYS; k += ACCESS) {
      Group<float, ACCESS> w[ROWS];
#pragma unroll
      for (u32 r = 0; r < ROWS; r++) {
        w[r] = *(const Group<float, ACCESS>*)(weight + (y + r * DOWN) * WEIGHTS + k);
      }
#pragma unroll
      for (u32 e = 0; e < ACCESS; e++) {
#pragma unroll
        for (u32 t = 0; t < TIMES; t++) {
          const Group<float, NEAR> v =
              *(const Group<float, NEAR>*)(value + (k + e) * STRIDE + (t * ACROSS + x) * NEAR);
#pragma unroll
          for (u32 r = 0; r < ROWS; r++) {
#pragma unroll
            for (u32 n = 0; n < NEAR; n++) {
              sums[r][t][n] = __fmaf_rn(w[r].of[e], v.of[n], sums[r][t][n]);
            }
          }
        }
      }
    }
  }

  if (a.parts > 1) {
#pragma unroll
    for (u32 r = 0; r < ROWS; r++) {
      const u32 row = first + y + r * DOWN;
      if (row >= a.queries) continue;
      const u64 part = part_of(a, task.pair, row, task.part);
#pragma unroll
      for (u32 t = 0; t < TIMES; t++) {
#pragma unroll
        for (u32 e = 0; e < NEAR; e++) {
          const u32 column = (t * ACROSS + x) * NEAR + e;
          if (column < a.value_width) sums_of(a, part)[column] = sums[r][t][e];
        }
      }
      if (x == 0) write_total(a, part, greatest[r], total[r]);
    }
    return;
  }

  T* const to = (T*)a.output.address + batch * a.output.batch + head * a.output.head;
#pragma unroll
  for (u32 r = 0; r < ROWS; r++) {
    const u32 row = first + y + r * DOWN;
    if (row >= a.queries) continue;
    // A query that meets no key has zeros.
    const float share = total[r] == 0.0f ? 0.0f : 1.0f / total[r];
#pragma unroll
    for (u32 t = 0; t < TIMES; t++) {
#pragma unroll
      for (u32 e = 0; e < NEAR; e++) {
        const u32 column = (t * ACROSS + x) * NEAR + e;
        if (column < a.value_width) {
          to[(i64)row * a.output.position + column] = narrow<T>(sums[r][t][e] * share);
        }
      }
    }
    if (a.log_sums != 0 && x == 0) write_log_sum(a, task, row, greatest[r], total[r]);
  }
}

// The kernels of a type: the most numbers of a position, queries and keys of a tile.
#define KERNEL(suffix, T, width, queries, keys, both)        \
  extern "C" __global__ void __launch_bounds__(THREADS)      \
      sconce_torch_attention_##width##_##queries##_##suffix( \
          const __grid_constant__ Attention attention) {     \
    attend<T, width, queries, keys, both>(attention);        \
  }

#define KERNELS(suffix, T)              \
  KERNEL(suffix, T, 32, 16, 64, true)   \
  KERNEL(suffix, T, 32, 64, 64, true)   \
  KERNEL(suffix, T, 64, 16, 64, true)   \
  KERNEL(suffix, T, 64, 64, 32, true)   \
  KERNEL(suffix, T, 128, 16, 32, true)  \
  KERNEL(suffix, T, 128, 64, 32, false) \
  KERNEL(suffix, T, 256, 32, 16, false) \
  COMBINE(suffix, T, Attention, combine)
