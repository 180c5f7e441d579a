// What all kernels of attention take, and what of it a block calculates: docs/design/torch.md.
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

// The last tile of queries comes first: under a causal mask it meets the most keys.
__device__ __forceinline__ Task task_of(const Attention& a, u32 block, u32 queries) {
  Task task;
  task.first = (a.tiles - 1 - block % a.tiles) * queries;
  const u32 rest = block / a.tiles;
  task.part = rest % a.parts;
  task.pair = rest / a.parts;
  task.batch = task.pair / a.heads;
  task.head = task.pair % a.heads;
  task.key_head = task.head / (a.heads / a.key_heads);
  const u32 end = a.is_causal ? min(a.keys, task.first + queries) : a.keys;
  task.begin = task.part * a.part_keys;
  task.end = min(end, task.begin + a.part_keys);
  return task;
}

__device__ __forceinline__ void write_log_sum(const Attention& a, u32 batch, u32 head, u32 row,
                                              float greatest, float total) {
  ((float*)a.log_sums)[batch * a.log_batch + head * a.log_head + row * a.log_query] =
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
