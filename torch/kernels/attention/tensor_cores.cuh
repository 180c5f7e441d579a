// Attention of 16-bit types in one pass over keys and values, on tensor cores of compute capability
// 8.0 and later: docs/design/attention.md.
//
// As in `tiles.cuh` a block has a tile of queries and goes through tiles of keys, of which the next
// is on its way while one is worked on. A warp has rows of its own. Products take 16 rows of
// queries and 8 keys or columns of values at a time; thread l has of the result the rows l / 4 and
// l / 4 + 8, and of each the columns 2 (l % 4) and the next. The four threads of a row share what
// is known of it.
#pragma once

#include "attention/parts.cuh"

constexpr u32 WARPS = THREADS / 32;
// Rows of a product, and columns of its result.
constexpr u32 TALL = 16, NARROW = 8;
// Elements and bytes of an access to memory.
constexpr u32 ELEMENTS = 8, CHUNK = 16;

// Where a chunk of a row is in shared memory. The chunks of a row change places, so that 8 rows of
// one column, and a whole row, are in different banks.
template <u32 WIDTH>
__device__ __forceinline__ u32 place(u32 row, u32 chunk) {
  return row * (WIDTH / ELEMENTS * CHUNK) + (chunk ^ row % 8) * CHUNK;
}

// Begins to copy ROWS positions of WIDTH elements to shared memory, zeros beyond those there are.
template <typename T, u32 ROWS, u32 WIDTH>
struct Copies {
  typedef T Element;
  static constexpr u32 POSITIONS = ROWS, CHUNKS = WIDTH / ELEMENTS, AT_ONCE = THREADS / CHUNKS;
  static_assert(ROWS % AT_ONCE == 0 && THREADS % CHUNKS == 0, "all threads copy alike");

  // Of positions that lie one behind the other.
  static __device__ __forceinline__ void rows(const T* from, i64 position, u32 rows, u32 width,
                                              u32 to) {
    const u32 chunk = threadIdx.x % CHUNKS, first = threadIdx.x / CHUNKS;
    const T* at = from + (i64)first * position + chunk * ELEMENTS;
#pragma unroll
    for (u32 i = 0; i < ROWS / AT_ONCE; i++) {
      const u32 row = first + i * AT_ONCE;
      const bool is_there = row < rows && chunk * ELEMENTS < width;
      copy_chunk(to + place<WIDTH>(row, chunk), is_there ? at : from, is_there);
      at += AT_ONCE * position;
    }
  }

  // Of groups of AT_ONCE positions that lie one behind the other. `find` returns where the next
  // group begins, or NULL if it is not there.
  template <typename Find>
  static __device__ __forceinline__ void groups(const T* any, Find& find, i64 position, u32 rows,
                                                u32 width, u32 to) {
    const u32 chunk = threadIdx.x % CHUNKS, first = threadIdx.x / CHUNKS;
    const i64 offset = (i64)first * position + chunk * ELEMENTS;
    // All are looked up before the first is copied, so that the look-ups do not wait for each
    // other.
    constexpr u32 COUNT = ROWS / AT_ONCE;
    const T* at[COUNT];
#pragma unroll
    for (u32 i = 0; i < COUNT; i++) at[i] = find();
#pragma unroll
    for (u32 i = 0; i < COUNT; i++) {
      const u32 row = first + i * AT_ONCE;
      const bool is_there = at[i] != nullptr && row < rows && chunk * ELEMENTS < width;
      copy_chunk(to + place<WIDTH>(row, chunk), is_there ? at[i] + offset : any, is_there);
    }
  }

  // Of positions that `find` finds: it returns NULL for those that are not there.
  template <typename Find>
  static __device__ __forceinline__ void each(const T* any, const Find& find, u32 width, u32 to) {
    const u32 chunk = threadIdx.x % CHUNKS, first = threadIdx.x / CHUNKS;
#pragma unroll
    for (u32 i = 0; i < ROWS / AT_ONCE; i++) {
      const u32 row = first + i * AT_ONCE;
      const T* const at = find(row);
      const bool is_there = at != nullptr && chunk * ELEMENTS < width;
      copy_chunk(to + place<WIDTH>(row, chunk), is_there ? at + chunk * ELEMENTS : any, is_there);
    }
  }
};

// What a mask adds to the scores of a thread.
template <typename M, u32 COUNT>
__device__ __forceinline__ void read_mask(const Attention& a, const M* mask, u32 row, u32 column,
                                          float (&added)[COUNT][4]) {
#pragma unroll
  for (u32 n = 0; n < COUNT; n++) {
#pragma unroll
    for (u32 e = 0; e < 4; e++) {
      const u32 y = row + e / 2 * 8, x = column + n * NARROW + e % 2;
      const bool is_there = y < a.queries && x < a.keys;
      added[n][e] =
          is_there ? added_by(mask, (i64)y * a.mask.position + (i64)x * a.mask.element) : 0.0f;
    }
  }
}

template <u32 COUNT>
__device__ __forceinline__ void read_mask(const Attention& a, i64 head, u32 row, u32 column,
                                          float (&added)[COUNT][4]) {
  const u64 address = a.mask.address;
  switch (a.mask_kind) {
    case MASK_BOOL:
      return read_mask(a, (const u8*)address + head, row, column, added);
    case MASK_F32:
      return read_mask(a, (const float*)address + head, row, column, added);
    case MASK_F16:
      return read_mask(a, (const Half*)address + head, row, column, added);
    default:
      return read_mask(a, (const Brain*)address + head, row, column, added);
  }
}

// WIDTH: of a position, or less. TIMES: how many products a warp has below each other. KEYS of a
// tile. Only warps with one product take masks and scales that are not positive: the others have no
// registers for them.
template <typename T, u32 WIDTH, u32 TIMES, u32 KEYS, typename A>
__device__ __forceinline__ void attend(const A& a) {
  constexpr u32 OF_WARP = TIMES * TALL, QUERIES = WARPS * OF_WARP;
  constexpr u32 STEPS = WIDTH / 16, ACROSS = KEYS / NARROW, COLUMNS = WIDTH / NARROW;
  constexpr u32 TILE = KEYS * WIDTH * sizeof(T);
  constexpr bool CHANGES_SCORES = TIMES == 1;
  // Whether the queries stay in registers.
  constexpr bool ARE_KEPT = TIMES * WIDTH <= 128;
  typedef Fragments<T> F;
  extern __shared__ __align__(128) u8 shared[];
  const u32 query = address_in_shared(shared);
  // Two tiles of keys, and two of values.
  const u32 key = query + QUERIES * WIDTH * sizeof(T), value = key + 2 * TILE;

  const auto task = task_of(a, blockIdx.x, QUERIES, KEYS);
  const u32 queries = queries_of(a, task);
  if (A::HAS_LENGTHS && task.first >= queries) return;
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // The thread's first row and column of a product's result.
  const u32 y = lane / 4, x = lane % 4 * 2;
  const u32 top = warp * OF_WARP, lowest = task.first + top, highest = lowest + OF_WARP - 1;
  const auto copy_tile = [&](u32 begin, u32 stage) {
    typedef Copies<T, KEYS, WIDTH> OfTile;
    copy_keys<OfTile>(a, task, a.key, begin, a.width, key + stage * TILE);
    copy_keys<OfTile>(a, task, a.value, begin, a.value_width, value + stage * TILE);
  };

  float sums[TIMES][COLUMNS][4] = {};
  float greatest[TIMES][2], total[TIMES][2];
#pragma unroll
  for (u32 m = 0; m < TIMES; m++) {
    greatest[m][0] = greatest[m][1] = NEVER;
    total[m][0] = total[m][1] = 0.0f;
  }

  // Matrices of the queries: rows 0 to 7, rows 8 to 15, and both again for the next 8 columns.
  const auto load_queries = [&](u32 m, u32 step, u32(&of)[4]) {
    load_matrices(query + place<WIDTH>(top + m * TALL + lane % 16, step * 2 + lane / 16), of);
  };
  u32 kept[TIMES][ARE_KEPT ? STEPS : 1][4];
  if (task.begin < task.end) {
    Copies<T, QUERIES, WIDTH>::rows(
        queries_at<const T>(a, task, a.query) + (i64)task.first * a.query.position,
        a.query.position, queries - task.first, a.width, query);
    copy_tile(task.begin, 0);
    wait_for_copies();
    __syncthreads();
    if (ARE_KEPT) {
#pragma unroll
      for (u32 m = 0; m < TIMES; m++) {
#pragma unroll
        for (u32 step = 0; step < STEPS; step++) {
          load_queries(m, step, kept[m][ARE_KEPT ? step : 0]);
        }
      }
    }
  }

  u32 stage = 0;
  for (u32 begin = task.begin; begin < task.end; begin += KEYS, stage ^= 1) {
    if (begin + KEYS < task.end) copy_tile(begin + KEYS, stage ^ 1);
    const u32 key_tile = key + stage * TILE, value_tile = value + stage * TILE;
    // Warps whose queries are not there, or meet none of the keys, only copy.
    if (lowest < queries && meet_any(a, task, lowest, highest, begin, KEYS)) {
      constexpr bool MAY_HAVE_MASK = CHANGES_SCORES && A::MAY_HAVE_MASK;
      const bool is_masked = MAY_HAVE_MASK && a.mask_kind != NO_MASK;
      // The mask is on its way while the products are calculated.
      float added[MAY_HAVE_MASK ? ACROSS : 1][4] = {};
      if (is_masked) {
        read_mask(a, task.batch * a.mask.batch + task.head * a.mask.head, lowest + y, begin + x,
                  added);
      }

      float scores[TIMES][ACROSS][4] = {};
#pragma unroll
      for (u32 step = 0; step < STEPS; step++) {
        u32 q[TIMES][4];
#pragma unroll
        for (u32 m = 0; m < TIMES; m++) {
          if (ARE_KEPT) {
#pragma unroll
            for (u32 e = 0; e < 4; e++) q[m][e] = kept[m][ARE_KEPT ? step : 0][e];
          } else {
            load_queries(m, step, q[m]);
          }
        }
#pragma unroll
        for (u32 n = 0; n < ACROSS; n += 2) {
          // Matrices of keys: 8 keys, the next 8 columns of these, and both of the next 8 keys.
          u32 k[4];
          load_matrices(key_tile + place<WIDTH>(n * NARROW + lane / 16 * 8 + lane % 8,
                                                step * 2 + lane / 8 % 2),
                        k);
#pragma unroll
          for (u32 m = 0; m < TIMES; m++) {
            F::multiply(scores[m][n], q[m], k[0], k[1]);
            F::multiply(scores[m][n + 1], q[m], k[2], k[3]);
          }
        }
      }

      // What makes a score one in units of the binary logarithm.
      float unit = a.scale;
      if (is_masked || (CHANGES_SCORES && !(a.scale > 0.0f))) {
        unit = 1.0f;
#pragma unroll
        for (u32 n = 0; n < ACROSS; n++) {
#pragma unroll
          for (u32 e = 0; e < 4; e++) {
            scores[0][n][e] = __fmaf_rn(scores[0][n][e], a.scale, added[MAY_HAVE_MASK ? n : 0][e]);
          }
        }
      }
      if (!meet_all(a, task, lowest, highest, begin, KEYS)) {
#pragma unroll
        for (u32 m = 0; m < TIMES; m++) {
#pragma unroll
          for (u32 n = 0; n < ACROSS; n++) {
#pragma unroll
            for (u32 e = 0; e < 4; e++) {
              const u32 row = lowest + m * TALL + y + e / 2 * 8;
              const u32 column = begin + n * NARROW + x + e % 2;
              if (!meets(a, task, row, column)) scores[m][n][e] = NEVER;
            }
          }
        }
      }

      float most[TIMES][2];
      bool grows = false;
#pragma unroll
      for (u32 m = 0; m < TIMES; m++) {
#pragma unroll
        for (u32 h = 0; h < 2; h++) {
          float row = NEVER;
#pragma unroll
          for (u32 n = 0; n < ACROSS; n++) {
            row = fmaxf(row, fmaxf(scores[m][n][2 * h], scores[m][n][2 * h + 1]));
          }
          row = fmaxf(row, from_lane(row, 1));
          row = fmaxf(row, from_lane(row, 2));
          most[m][h] = fmaxf(greatest[m][h], row * unit);
          grows = grows || most[m][h] > greatest[m][h];
        }
      }
      if (in_any_lane(grows)) {
#pragma unroll
        for (u32 m = 0; m < TIMES; m++) {
#pragma unroll
          for (u32 h = 0; h < 2; h++) {
            // Of queries that have met no key yet nothing is subtracted, so that no difference is
            // NaN.
            const float subtracted = most[m][h] == NEVER ? 0.0f : most[m][h];
            const float rescale = exponential_of_two(greatest[m][h] - subtracted);
            greatest[m][h] = most[m][h];
            total[m][h] *= rescale;
#pragma unroll
            for (u32 n = 0; n < COLUMNS; n++) {
              sums[m][n][2 * h] *= rescale;
              sums[m][n][2 * h + 1] *= rescale;
            }
          }
        }
      }
#pragma unroll
      for (u32 m = 0; m < TIMES; m++) {
#pragma unroll
        for (u32 h = 0; h < 2; h++) {
          const float subtracted = greatest[m][h] == NEVER ? 0.0f : greatest[m][h];
#pragma unroll
          for (u32 n = 0; n < ACROSS; n++) {
#pragma unroll
            for (u32 e = 2 * h; e < 2 * h + 2; e++) {
              const float less = __fmaf_rn(scores[m][n][e], unit, -subtracted);
              scores[m][n][e] = exponential_of_two(less);
              // Of the keys that this thread has; the four of a row are added up at the end.
              total[m][h] += scores[m][n][e];
            }
          }
        }
      }

#pragma unroll
      for (u32 j = 0; j < KEYS / 16; j++) {
        // The weights of 16 keys are where the product takes its left side.
        u32 w[TIMES][4];
#pragma unroll
        for (u32 m = 0; m < TIMES; m++) {
#pragma unroll
          for (u32 e = 0; e < 4; e++) {
            const float(&pair)[4] = scores[m][2 * j + e / 2];
            w[m][e] = F::pair(pair[e % 2 * 2], pair[e % 2 * 2 + 1]);
          }
        }
#pragma unroll
        for (u32 n = 0; n < COLUMNS; n += 2) {
          // Matrices of values: 8 keys, the next 8 keys, and both for the next 8 columns.
          u32 v[4];
          load_transposed(value_tile + place<WIDTH>(j * 16 + lane % 16, n + lane / 16), v);
#pragma unroll
          for (u32 m = 0; m < TIMES; m++) {
            F::multiply(sums[m][n], w[m], v[0], v[1]);
            F::multiply(sums[m][n + 1], w[m], v[2], v[3]);
          }
        }
      }
    }
    // The next tile is there, and no warp reads this one any more.
    wait_for_copies();
    __syncthreads();
  }

#pragma unroll
  for (u32 m = 0; m < TIMES; m++) {
#pragma unroll
    for (u32 h = 0; h < 2; h++) {
      total[m][h] += from_lane(total[m][h], 1);
      total[m][h] += from_lane(total[m][h], 2);
    }
  }
  if (a.parts > 1) {
#pragma unroll
    for (u32 m = 0; m < TIMES; m++) {
#pragma unroll
      for (u32 h = 0; h < 2; h++) {
        const u32 row = lowest + m * TALL + y + h * 8;
        if (row >= queries) continue;
        const u64 part = part_of(a, task.pair, row, task.part);
        float* const to = sums_of(a, part);
#pragma unroll
        for (u32 n = 0; n < COLUMNS; n++) {
          const u32 column = n * NARROW + x;
          if (column < a.value_width) {
            *(Group<float, 2>*)(to + column) = {{sums[m][n][2 * h], sums[m][n][2 * h + 1]}};
          }
        }
        if (x == 0) write_total(a, part, greatest[m][h], total[m][h]);
      }
    }
    return;
  }

  // Results go through the warp's rows of shared memory, so that whole chunks are written.
#pragma unroll
  for (u32 m = 0; m < TIMES; m++) {
#pragma unroll
    for (u32 h = 0; h < 2; h++) {
      // A query that meets no key has zeros.
      const float share = total[m][h] == 0.0f ? 0.0f : 1.0f / total[m][h];
#pragma unroll
      for (u32 n = 0; n < COLUMNS; n++) {
        store_word(query + place<WIDTH>(top + m * TALL + y + h * 8, n) + x * sizeof(T),
                   F::pair(sums[m][n][2 * h] * share, sums[m][n][2 * h + 1] * share));
      }
      const u32 row = lowest + m * TALL + y + h * 8;
      if (a.log_sums != 0 && x == 0 && row < queries) {
        write_log_sum(a, task, row, greatest[m][h], total[m][h]);
      }
    }
  }
  __syncwarp();
  T* const to = queries_at<T>(a, task, a.output);
  constexpr u32 CHUNKS = WIDTH / ELEMENTS;
#pragma unroll
  for (u32 i = 0; i < OF_WARP * CHUNKS / 32; i++) {
    const u32 at = lane + i * 32, row = at / CHUNKS, chunk = at % CHUNKS;
    if (lowest + row < queries && chunk * ELEMENTS < a.value_width) {
      *(Group<u32, 4>*)(to + (i64)(lowest + row) * a.output.position + chunk * ELEMENTS) =
          load_chunk(query + place<WIDTH>(top + row, chunk));
    }
  }
}

// The kernels of a type, whose names have `way`: the most elements of a position, queries of a
// tile, products of a warp below each other, and keys of a tile.
#define KERNEL(suffix, T, A, way, width, queries, times, keys)       \
  extern "C" __global__ void __launch_bounds__(THREADS)              \
      sconce_torch_attention_##way##_##width##_##queries##_##suffix( \
          const __grid_constant__ A attention) {                     \
    attend<T, width, times, keys>(attention);                        \
  }

#define KERNELS_OF(suffix, T, A, way)        \
  KERNEL(suffix, T, A, way, 64, 64, 1, 64)   \
  KERNEL(suffix, T, A, way, 64, 128, 2, 64)  \
  KERNEL(suffix, T, A, way, 128, 64, 1, 64)  \
  KERNEL(suffix, T, A, way, 128, 128, 2, 64) \
  KERNEL(suffix, T, A, way, 256, 64, 1, 32)
