// What all kernels of attention take, and what of it a block calculates: docs/design/attention.md.
#pragma once

#include "attention/machine.cuh"

// This is in `attention/fused` too.
constexpr u32 THREADS = 128;
constexpr float PER_LN = 1.44269504088896340736f;
constexpr float LN_PER = 0.69314718055994530942f;
// Negative infinity: the score of a key that a query does not meet.
#define NEVER __int_as_float(0xff800000)

enum MaskKind : u32 { NO_MASK, MASK_BOOL, MASK_F32, MASK_F16, MASK_BF16 };

// Batches of heads of positions; elements of a position lie side by side unless `element` is not 1.
struct Positions {
  u64 address;
  // In elements.
  i64 batch, head, position, element;
};

struct Attention {
  // Whether there may be masks, and whether the numbers of queries and keys differ between batches.
  static constexpr bool MAY_HAVE_MASK = true, HAS_LENGTHS = false;

  Positions query, key, value, output;
  // Batch, head, query, key.
  Positions mask;
  // A single for each query, or no address.
  u64 log_sums;
  // In elements: from one batch, from one head and from one query to the next.
  i64 log_batch, log_head, log_query;
  // Where the results of parts of the keys go if there are several (`parts.cuh`).
  u64 part_sums, part_totals;
  u32 heads, key_heads, queries, keys, width, value_width, tiles;
  // Parts of the keys, and keys of a part: those of whole tiles.
  u32 parts, part_keys;
  u32 mask_kind, is_causal;
  // In units of the binary logarithm.
  float scale;
};

// A tile of the queries of a head, and a part of its keys.
struct Task {
  // The head's number among those of all batches.
  u32 pair, batch, head, key_head;
  u32 part;
  // The first query, the first key, and the one behind the last.
  u32 first, begin, end;
};

__device__ __forceinline__ void set_head(const Attention& a, u32 pair, Task& task) {
  task.pair = pair;
  task.batch = pair / a.heads;
  task.head = pair % a.heads;
  task.key_head = task.head / (a.heads / a.key_heads);
}

// Sets the tile, part and head of a block. The last tile of queries comes first: under a causal
// mask it meets the most keys.
__device__ __forceinline__ void divide(const Attention& a, u32 block, u32 queries, Task& task) {
  task.first = (a.tiles - 1 - block % a.tiles) * queries;
  const u32 rest = block / a.tiles;
  task.part = rest % a.parts;
  set_head(a, rest / a.parts, task);
}

// What the kernels ask about attention whose batches have the same numbers of queries and keys.
// `sequences.cuh` has the same functions for sequences of several lengths.

__device__ __forceinline__ Task task_of_head(const Attention& a, u32 pair) {
  Task task;
  set_head(a, pair, task);
  return task;
}

// The task of a block, for tiles of so many queries and keys.
__device__ __forceinline__ Task task_of(const Attention& a, u32 block, u32 queries, u32) {
  Task task;
  divide(a, block, queries, task);
  const u32 end = a.is_causal ? min(a.keys, task.first + queries) : a.keys;
  task.begin = task.part * a.part_keys;
  task.end = min(end, task.begin + a.part_keys);
  return task;
}

__device__ __forceinline__ u32 queries_of(const Attention& a, const Task&) { return a.queries; }

// Whether any of some neighbouring queries meets a key of a tile.
__device__ __forceinline__ bool meet_any(const Attention& a, const Task&, u32, u32 highest,
                                         u32 begin, u32) {
  return !a.is_causal || begin <= highest;
}

// Whether all of some neighbouring queries meet all keys of a tile.
__device__ __forceinline__ bool meet_all(const Attention& a, const Task&, u32 lowest, u32,
                                         u32 begin, u32 keys) {
  return begin + keys <= a.keys && (!a.is_causal || begin + keys - 1 <= lowest);
}

__device__ __forceinline__ bool meets(const Attention& a, const Task&, u32 row, u32 column) {
  return column < a.keys && (!a.is_causal || column <= row);
}

template <typename T>
__device__ __forceinline__ T* queries_at(const Attention&, const Task& task, const Positions& p) {
  return (T*)p.address + task.batch * p.batch + task.head * p.head;
}

// Begins to copy the keys of a tile, or their values, as `Copies` does it.
template <typename Copies>
__device__ __forceinline__ void copy_keys(const Attention& a, const Task& task, const Positions& p,
                                          u32 begin, u32 width, u32 to) {
  typedef typename Copies::Element T;
  const T* const from = (const T*)p.address + task.batch * p.batch + task.key_head * p.head;
  Copies::rows(from + (i64)begin * p.position, p.position, a.keys - begin, width, to);
}

__device__ __forceinline__ void write_log_sum(const Attention& a, const Task& task, u32 row,
                                              float greatest, float total) {
  ((float*)a.log_sums)[task.batch * a.log_batch + task.head * a.log_head + row * a.log_query] =
      (greatest + log2f(total)) * LN_PER;
}

// What a mask adds to a score, in units of the binary logarithm.
__device__ __forceinline__ float added_by(const u8* mask, i64 at) {
  return mask[at] ? 0.0f : NEVER;
}

template <typename M>
__device__ __forceinline__ float added_by(const M* mask, i64 at) {
  return wide(mask[at]) * PER_LN;
}
