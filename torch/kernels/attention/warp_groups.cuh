// Attention of 16-bit types for many queries on compute capability 9.0: docs/design/attention.md.
//
// One group of four warps copies keys and values to shared memory, tile by tile; each of the others
// has 64 queries. Such a group has two products under way: the scores of a tile, and the sums of
// the values of the tile before. While its scores become weights, the products of another group
// run.
#pragma once

#include "attention/group_machine.cuh"
#include "attention/parts.cuh"

constexpr u32 GROUP = 128, ROWS_OF_GROUP = 64;
// Keys of a tile, and tiles of keys and of values that shared memory has room for.
constexpr u32 KEYS = 128, STAGES = 3;
// Elements and bytes of an access to memory, and bytes of a row of a panel.
constexpr u32 ELEMENTS = 8, CHUNK = 16, LINE = 128;
// A panel has 64 elements of each row: four steps of 16, and eight parts of 8 columns.
constexpr u32 STEP = 16, NARROW = 8, STEPS_OF_PANEL = 4;
constexpr u32 BARRIER = 8;

// The first 64 elements of all rows are in the first panel, the next 64 in the next one. The chunks
// of a row change places, so that 8 rows of one column are in different banks.
template <u32 ROWS>
__device__ __forceinline__ u32 place(u32 row, u32 chunk) {
  return chunk / 8 * (ROWS * LINE) + row * LINE + (chunk % 8 ^ row % 8) * CHUNK;
}

// Where the rows of a step of 16 columns begin.
template <u32 ROWS>
__device__ __forceinline__ u32 place_of_step(u32 step) {
  return step / STEPS_OF_PANEL * (ROWS * LINE) + step % STEPS_OF_PANEL * (STEP * 2);
}

// Tiles of keys, or of values, in shared memory, with two barriers each: the tile is there, and it
// has been read.
struct Tiles {
  u32 memory, tile_bytes, barriers;

  __device__ __forceinline__ u32 at(u32 tile) const { return memory + tile % STAGES * tile_bytes; }
  __device__ __forceinline__ u32 is_there(u32 tile) const {
    return barriers + tile % STAGES * (2 * BARRIER);
  }
  __device__ __forceinline__ u32 is_read(u32 tile) const { return is_there(tile) + BARRIER; }
  // That of the phase in which a tile arrives, or is read.
  static __device__ __forceinline__ u32 parity(u32 tile) { return tile / STAGES % 2; }

  __device__ __forceinline__ void wait_for_room(u32 tile) const {
    if (tile >= STAGES) wait_for_phase(is_read(tile), parity(tile - STAGES));
  }
  __device__ __forceinline__ void wait_until_there(u32 tile) const {
    wait_for_phase(is_there(tile), parity(tile));
    let_products_read();
  }
};

// Begins to copy ROWS positions of WIDTH elements, zeros beyond those there are.
template <typename T, u32 ROWS, u32 WIDTH>
struct Copies {
  typedef T Element;
  static constexpr u32 POSITIONS = ROWS, CHUNKS = WIDTH / ELEMENTS, AT_ONCE = GROUP / CHUNKS;
  static_assert(ROWS % AT_ONCE == 0 && GROUP % CHUNKS == 0, "all threads copy alike");

  // Of positions that lie one behind the other.
  static __device__ __forceinline__ void rows(const T* from, i64 position, u32 rows, u32 width,
                                              u32 to) {
    const u32 thread = threadIdx.x % GROUP, chunk = thread % CHUNKS, first = thread / CHUNKS;
    const T* at = from + (i64)first * position + chunk * ELEMENTS;
#pragma unroll 8
    for (u32 i = 0; i < ROWS / AT_ONCE; i++) {
      const u32 row = first + i * AT_ONCE;
      const bool is_there = row < rows && chunk * ELEMENTS < width;
      copy_chunk(to + place<ROWS>(row, chunk), is_there ? at : from, is_there);
      at += AT_ONCE * position;
    }
  }

  // Of groups of AT_ONCE positions that lie one behind the other. `find` returns where the next
  // group begins, or NULL if it is not there.
  template <typename Find>
  static __device__ __forceinline__ void groups(const T* any, Find& find, i64 position, u32 rows,
                                                u32 width, u32 to) {
    const u32 thread = threadIdx.x % GROUP, chunk = thread % CHUNKS, first = thread / CHUNKS;
    const i64 offset = (i64)first * position + chunk * ELEMENTS;
    // Some are looked up before the first of them is copied, so that the look-ups do not wait for
    // each other. The threads that copy have few registers.
    constexpr u32 TOGETHER = 4;
#pragma unroll 1
    for (u32 i = 0; i < ROWS / AT_ONCE; i += TOGETHER) {
      const T* at[TOGETHER];
#pragma unroll
      for (u32 j = 0; j < TOGETHER; j++) at[j] = find();
#pragma unroll
      for (u32 j = 0; j < TOGETHER; j++) {
        const u32 row = first + (i + j) * AT_ONCE;
        const bool is_there = at[j] != nullptr && row < rows && chunk * ELEMENTS < width;
        copy_chunk(to + place<ROWS>(row, chunk), is_there ? at[j] + offset : any, is_there);
      }
    }
  }

  // Of positions that `find` finds: it returns NULL for those that are not there.
  template <typename Find>
  static __device__ __forceinline__ void each(const T* any, const Find& find, u32 width, u32 to) {
    const u32 thread = threadIdx.x % GROUP, chunk = thread % CHUNKS, first = thread / CHUNKS;
#pragma unroll 4
    for (u32 i = 0; i < ROWS / AT_ONCE; i++) {
      const u32 row = first + i * AT_ONCE;
      const T* const at = find(row);
      const bool is_there = at != nullptr && chunk * ELEMENTS < width;
      copy_chunk(to + place<ROWS>(row, chunk), is_there ? at + chunk * ELEMENTS : any, is_there);
    }
  }
};

// What the group that copies does. The queries are announced with the first keys.
template <typename T, u32 WIDTH, u32 QUERIES, typename A, typename TaskOf>
__device__ __forceinline__ void copy_all(const A& a, const TaskOf& task, u32 tiles, u32 query,
                                         const Tiles& keys, const Tiles& values) {
  typedef Copies<T, KEYS, WIDTH> OfTile;
  // Nobody waits for queries that meet no key; their results take the same place.
  if (tiles == 0) return;
  Copies<T, QUERIES, WIDTH>::rows(
      queries_at<const T>(a, task, a.query) + (i64)task.first * a.query.position, a.query.position,
      queries_of(a, task) - task.first, a.width, query);
  const auto copy_tile = [&](u32 tile) {
    keys.wait_for_room(tile);
    copy_keys<OfTile>(a, task, a.key, task.begin + tile * KEYS, a.width, keys.at(tile));
    arrive_behind_copies(keys.is_there(tile));
  };
  // In the order in which there is room: that of keys is free before that of values.
  copy_tile(0);
  for (u32 tile = 0; tile < tiles; tile++) {
    if (tile + 1 < tiles) copy_tile(tile + 1);
    values.wait_for_room(tile);
    copy_keys<OfTile>(a, task, a.value, task.begin + tile * KEYS, a.value_width, values.at(tile));
    arrive_behind_copies(values.is_there(tile));
  }
  wait_for_copies();
}

// WIDTH: of a position, or less. GROUPS of 64 queries. Masks, scales that are not positive, and
// parts of the keys are left to other kernels.
template <typename T, u32 WIDTH, u32 GROUPS, u32 FEW, u32 MANY, typename A>
__device__ __forceinline__ void attend(const A& a) {
  constexpr u32 QUERIES = GROUPS * ROWS_OF_GROUP, TILE = KEYS * WIDTH * sizeof(T);
  constexpr u32 SCORES = KEYS / 2, SUMS = WIDTH / 2;
  typedef Fragments<T> F;
  typedef GroupProducts<T> Products;
  extern __shared__ __align__(1024) u8 shared[];
  const u32 query = address_in_shared(shared);
  const u32 barriers = query + QUERIES * WIDTH * sizeof(T) + 2 * STAGES * TILE;
  const Tiles keys = {query + QUERIES * WIDTH * (u32)sizeof(T), TILE, barriers};
  const Tiles values = {keys.memory + STAGES * TILE, TILE, barriers + STAGES * 2 * BARRIER};

  const auto task = task_of(a, blockIdx.x, QUERIES, KEYS);
  const u32 queries = queries_of(a, task);
  if (A::HAS_LENGTHS && task.first >= queries) return;
  const u32 tiles = (task.end - task.begin + KEYS - 1) / KEYS;
  if (threadIdx.x < 2 * STAGES) {
    make_barrier(barriers + threadIdx.x * (2 * BARRIER), GROUP);
    // One thread of each warp says that it has read a tile.
    make_barrier(barriers + threadIdx.x * (2 * BARRIER) + BARRIER, GROUPS * 4);
  }
  __syncthreads();
  const u32 group = threadIdx.x / GROUP;
  if (group == GROUPS) {
    keep_registers<FEW>();
    copy_all<T, WIDTH, QUERIES>(a, task, tiles, query, keys, values);
    return;
  }
  take_registers<MANY>();

  const u32 lane = threadIdx.x % 32, warp = threadIdx.x % GROUP / 32;
  // The thread's first row and column of a product's result, its second row being 8 below.
  const u32 y = group * ROWS_OF_GROUP + warp * 16 + lane / 4, x = lane % 4 * 2;
  const u32 lowest = task.first + group * ROWS_OF_GROUP + warp * 16;
  // Groups take turns to begin products: each waits at its own number, and then calls the next.
  const u32 turn = 1 + group, turn_of_next = 1 + (group + 1) % GROUPS;
  if (group == GROUPS - 1) pass(turn_of_next, 2 * GROUP);

  float scores[SCORES], sums[SUMS] = {};
  float greatest[2] = {NEVER, NEVER}, total[2] = {0.0f, 0.0f}, rescale[2];
  u32 weights[KEYS / STEP][4];
  bool grows;

  const auto multiply_keys = [&](u32 tile) {
#pragma unroll
    for (u32 step = 0; step < WIDTH / STEP; step++) {
      const u64 rows =
          rows_at(query + group * (ROWS_OF_GROUP * LINE) + place_of_step<QUERIES>(step));
      Products::multiply(scores, rows, rows_at(keys.at(tile) + place_of_step<KEYS>(step)),
                         step != 0);
    }
    commit_products();
  };
  const auto multiply_values = [&](u32 tile) {
#pragma unroll
    for (u32 step = 0; step < KEYS / STEP; step++) {
      const u32 rows = values.at(tile) + step * (STEP * LINE);
      Products::multiply(sums, weights[step], columns_at(rows, KEYS * LINE));
    }
    commit_products();
  };
  const auto has_read = [&](u32 barrier) {
    if (lane == 0) arrive(barrier);
  };
  // Makes scores exponentials. Values that were added up before have to be multiplied by `rescale`.
  const auto make_exponentials = [&](u32 tile) {
    const u32 begin = task.begin + tile * KEYS;
    if (!meet_all(a, task, lowest, lowest + 15, begin, KEYS)) {
#pragma unroll
      for (u32 i = 0; i < SCORES; i++) {
        const u32 row = task.first + y + i % 4 / 2 * 8, column = begin + i / 4 * NARROW + x + i % 2;
        if (!meets(a, task, row, column)) scores[i] = NEVER;
      }
    }
    grows = false;
#pragma unroll
    for (u32 h = 0; h < 2; h++) {
      float row = NEVER;
#pragma unroll
      for (u32 n = 0; n < SCORES / 4; n++) {
        row = fmaxf(row, fmaxf(scores[n * 4 + 2 * h], scores[n * 4 + 2 * h + 1]));
      }
      row = fmaxf(row, from_lane(row, 1));
      row = fmaxf(row, from_lane(row, 2));
      const float most = fmaxf(greatest[h], row * a.scale);
      grows = grows || most > greatest[h];
      // Of queries that have met no key yet nothing is subtracted, so that no difference is NaN.
      const float subtracted = most == NEVER ? 0.0f : most;
      rescale[h] = exponential_of_two(greatest[h] - subtracted);
      greatest[h] = most;
      // Of the keys that this thread has; the four of a row are added up at the end.
      total[h] *= rescale[h];
#pragma unroll
      for (u32 n = 0; n < SCORES / 4; n++) {
#pragma unroll
        for (u32 e = 2 * h; e < 2 * h + 2; e++) {
          float& score = scores[n * 4 + e];
          score = exponential_of_two(__fmaf_rn(score, a.scale, -subtracted));
          total[h] += score;
        }
      }
    }
  };
  const auto make_weights = [&] {
#pragma unroll
    for (u32 step = 0; step < KEYS / STEP; step++) {
#pragma unroll
      for (u32 e = 0; e < 4; e++) {
        weights[step][e] = F::pair(scores[step * 8 + e * 2], scores[step * 8 + e * 2 + 1]);
      }
    }
  };

  if (tiles != 0) {
    keys.wait_until_there(0);
    begin_products();
    multiply_keys(0);
    wait_for_products<0>(scores);
    has_read(keys.is_read(0));
    make_exponentials(0);
    make_weights();
    for (u32 tile = 1; tile < tiles; tile++) {
      keys.wait_until_there(tile);
      meet(turn, 2 * GROUP);
      begin_products();
      multiply_keys(tile);
      values.wait_until_there(tile - 1);
      multiply_values(tile - 1);
      pass(turn_of_next, 2 * GROUP);
      wait_for_products<1>(scores);
      has_read(keys.is_read(tile));
      make_exponentials(tile);
      wait_for_products<0>(sums);
      has_read(values.is_read(tile - 1));
      if (in_any_lane(grows)) {
#pragma unroll
        for (u32 i = 0; i < SUMS; i++) sums[i] *= rescale[i % 4 / 2];
      }
      make_weights();
    }
    values.wait_until_there(tiles - 1);
    begin_products();
    multiply_values(tiles - 1);
    wait_for_products<0>(sums);
  }

#pragma unroll
  for (u32 h = 0; h < 2; h++) {
    total[h] += from_lane(total[h], 1);
    total[h] += from_lane(total[h], 2);
  }
  // Results go through the rows of the group's queries, so that whole chunks are written. All its
  // warps have read them then.
  meet(1 + GROUPS + group, GROUP);
#pragma unroll
  for (u32 h = 0; h < 2; h++) {
    // A query that meets no key has zeros.
    const float share = total[h] == 0.0f ? 0.0f : 1.0f / total[h];
#pragma unroll
    for (u32 n = 0; n < SUMS / 4; n++) {
      store_word(query + place<QUERIES>(y + h * 8, n) + x * sizeof(T),
                 F::pair(sums[n * 4 + 2 * h] * share, sums[n * 4 + 2 * h + 1] * share));
    }
    const u32 row = task.first + y + h * 8;
    if (a.log_sums != 0 && x == 0 && row < queries) {
      write_log_sum(a, task, row, greatest[h], total[h]);
    }
  }
  __syncwarp();
  T* const to = queries_at<T>(a, task, a.output);
  constexpr u32 CHUNKS = WIDTH / ELEMENTS;
#pragma unroll
  for (u32 i = 0; i < 16 * CHUNKS / 32; i++) {
    const u32 at = lane + i * 32, row = at / CHUNKS, chunk = at % CHUNKS;
    if (lowest + row < queries && chunk * ELEMENTS < a.value_width) {
      *(Group<u32, 4>*)(to + (i64)(lowest + row) * a.output.position + chunk * ELEMENTS) =
          load_chunk(query + place<QUERIES>(lowest - task.first + row, chunk));
    }
  }
}

// The kernels of a type, whose names have `way`: the most elements of a position, queries of a
// tile, groups of these, and registers of a thread that copies and of one that calculates.
#define KERNEL(suffix, T, A, way, width, queries, groups, few, many)    \
  extern "C" __global__ void __launch_bounds__((groups + 1) * GROUP, 1) \
      sconce_torch_attention_##way##_##width##_##queries##_##suffix(    \
          const __grid_constant__ A attention) {                        \
    attend<T, width, groups, few, many>(attention);                     \
  }

#define KERNELS_OF(suffix, T, A, way)            \
  KERNEL(suffix, T, A, way, 64, 192, 3, 32, 160) \
  KERNEL(suffix, T, A, way, 128, 128, 2, 24, 240)
