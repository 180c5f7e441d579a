// Attention of sequences of several lengths, which lie one behind the other and are known on the
// device alone: docs/design/attention.md. The number of a batch is that of a sequence. Tensors have
// no batch: the `batch` of queries and results is what leads from one position of all sequences to
// the next, and that of keys and values, too, unless these lie in pages, where it leads from one
// page to the next.
#pragma once

#include "attention/arguments.cuh"

// No limit of the distance between a query and a key. Positions are below 2^28, so that no sum of a
// position and distances overflows. This is in `attention/fused` too.
constexpr i32 FAR = 1 << 29;

struct Sequences {
  // Of int32. Where the queries of each sequence begin, and where the last one ends; the same of
  // keys; how many keys each has; its pages. Keys have bounds or pages, and with bounds there may
  // be no counts.
  u64 query_bounds, key_bounds, key_counts, pages;
  // From the pages of one sequence to those of the next, in elements.
  i64 next_pages;
  // Pages of a sequence, all pages, and keys of a page.
  u32 pages_of_sequence, page_count, page_keys;
  // Positions of all sequences.
  u32 all_queries, all_keys;
  // The keys that a query meets: those no further before its position, and no further behind it.
  i32 before, behind;
  // Whether the last query has the position of the last key; else the first of both have one.
  u32 ends_meet;
  // Whether the rows of a task are heads of one position.
  u32 are_heads;
  // Whether the log sums of each sequence are a batch.
  u32 logs_of_batches;
};

struct SequencedAttention : Attention {
  static constexpr bool MAY_HAVE_MASK = false, HAS_LENGTHS = true;

  Sequences sequences;
};

// A task, and where its sequence lies.
struct SequenceTask : Task {
  u32 queries, keys;
  // The first of both.
  u32 query_begin, key_begin;
  // Row r meets columns from r + lowest to r + highest.
  i32 lowest, highest;
};

__device__ __forceinline__ i32 position_of(const SequencedAttention& a, u32 row) {
  return a.sequences.are_heads ? 0 : (i32)row;
}

// Where a sequence begins, and how long it is: never beyond what there is.
__device__ __forceinline__ void set_span(u64 bounds, u32 sequence, u32 all, u32& begin,
                                         u32& length) {
  const i32* const at = (const i32*)bounds + sequence;
  begin = min((u32)max(at[0], 0), all);
  length = min((u32)max(at[1], 0), all);
  length = length > begin ? length - begin : 0;
}

__device__ __forceinline__ void set_sequence(const SequencedAttention& a, SequenceTask& task) {
  const Sequences& s = a.sequences;
  set_span(s.query_bounds, task.batch, s.all_queries, task.query_begin, task.queries);
  u32 room = 0;
  task.key_begin = 0;
  if (s.pages != 0) {
    room = s.pages_of_sequence * s.page_keys;
  } else {
    set_span(s.key_bounds, task.batch, s.all_keys, task.key_begin, room);
  }
  task.keys = room;
  if (s.key_counts != 0) {
    const i32 count = ((const i32*)s.key_counts)[task.batch];
    task.keys = min((u32)max(count, 0), s.pages != 0 ? room : s.all_keys - task.key_begin);
  }
  const i32 shift = s.ends_meet ? (i32)task.keys - (i32)task.queries : 0;
  task.lowest = s.before == FAR ? -FAR : shift - s.before;
  task.highest = s.behind == FAR ? FAR : shift + s.behind;
  // The rows are heads only where no sequence has more than one query.
  if (s.are_heads && task.queries != 0) task.queries = a.queries;
}

__device__ __forceinline__ SequenceTask task_of_head(const SequencedAttention& a, u32 pair) {
  SequenceTask task;
  set_head(a, pair, task);
  set_sequence(a, task);
  return task;
}

__device__ __forceinline__ SequenceTask task_of(const SequencedAttention& a, u32 block, u32 queries,
                                                u32 keys) {
  SequenceTask task;
  divide(a, block, queries, task);
  set_sequence(a, task);
  task.begin = task.end = 0;
  if (task.first >= task.queries) return task;
  const i32 from = position_of(a, task.first) + task.lowest;
  const i32 last = position_of(a, min(task.first + queries, task.queries) - 1) + task.highest;
  // The last part also has keys beyond those that the longest sequence is said to have.
  const u32 begin = task.part * a.part_keys;
  const u32 end = task.part + 1 == a.parts ? task.keys : min(task.keys, begin + a.part_keys);
  task.begin = max(begin, (u32)max(from, 0) / keys * keys);
  task.end = min(end, (u32)max(last + 1, 0));
  if (task.begin >= task.end) task.begin = task.end = 0;
  return task;
}

__device__ __forceinline__ u32 queries_of(const SequencedAttention&, const SequenceTask& task) {
  return task.queries;
}

__device__ __forceinline__ bool meet_any(const SequencedAttention& a, const SequenceTask& task,
                                         u32 lowest, u32 highest, u32 begin, u32 keys) {
  return (i32)begin <= position_of(a, highest) + task.highest &&
         (i32)(begin + keys) > position_of(a, lowest) + task.lowest;
}

__device__ __forceinline__ bool meet_all(const SequencedAttention& a, const SequenceTask& task,
                                         u32 lowest, u32 highest, u32 begin, u32 keys) {
  return begin + keys <= task.keys &&
         (i32)(begin + keys - 1) <= position_of(a, lowest) + task.highest &&
         (i32)begin >= position_of(a, highest) + task.lowest;
}

__device__ __forceinline__ bool meets(const SequencedAttention& a, const SequenceTask& task,
                                      u32 row, u32 column) {
  const i32 position = position_of(a, row);
  return column < task.keys && (i32)column <= position + task.highest &&
         (i32)column >= position + task.lowest;
}

template <typename T>
__device__ __forceinline__ T* queries_at(const SequencedAttention&, const SequenceTask& task,
                                         const Positions& p) {
  return (T*)p.address + (i64)task.query_begin * p.batch + task.head * p.head;
}

template <typename Copies>
__device__ __forceinline__ void copy_keys(const SequencedAttention& a, const SequenceTask& task,
                                          const Positions& p, u32 begin, u32 width, u32 to) {
  typedef typename Copies::Element T;
  const Sequences& s = a.sequences;
  const T* const head = (const T*)p.address + task.key_head * p.head;
  if (s.pages == 0) {
    Copies::rows(head + (i64)task.key_begin * p.batch + (i64)begin * p.position, p.position,
                 task.keys - begin, width, to);
    return;
  }
  const i32* const pages = (const i32*)s.pages + task.batch * s.next_pages;
  const auto page_at = [&](u32 key) { return head + (i64)pages[key / s.page_keys] * p.batch; };
  const auto is_page = [&](u32 key) { return (u32)pages[key / s.page_keys] < s.page_count; };
  if (s.page_keys % Copies::POSITIONS == 0) {
    // The tile is within a page.
    const bool is_there = is_page(begin);
    Copies::rows(is_there ? page_at(begin) + (i64)(begin % s.page_keys) * p.position : head,
                 p.position, is_there ? task.keys - begin : 0, width, to);
    return;
  }
  if (s.page_keys % Copies::AT_ONCE == 0) {
    // So is each group of positions that are copied at once.
    u32 key = begin, place = begin % s.page_keys;
    const i32* page = pages + begin / s.page_keys;
    const auto next = [&]() -> const T* {
      const bool is_there = key < task.keys && (u32)*page < s.page_count;
      const T* const at =
          is_there ? head + (i64)*page * p.batch + (i64)place * p.position : nullptr;
      key += Copies::AT_ONCE, place += Copies::AT_ONCE;
      if (place == s.page_keys) place = 0, page++;
      return at;
    };
    Copies::groups(head, next, p.position, task.keys - begin, width, to);
    return;
  }
  const auto find = [&](u32 row) -> const T* {
    const u32 key = begin + row;
    if (key >= task.keys || !is_page(key)) return nullptr;
    return page_at(key) + (i64)(key % s.page_keys) * p.position;
  };
  Copies::each(head, find, width, to);
}

// A query that meets no key has infinity, as in PyTorch's flash attention.
__device__ __forceinline__ void write_log_sum(const SequencedAttention& a, const SequenceTask& task,
                                              u32 row, float greatest, float total) {
  const i64 batch = a.sequences.logs_of_batches ? task.batch : task.query_begin;
  ((float*)a.log_sums)[batch * a.log_batch + task.head * a.log_head + row * a.log_query] =
      total == 0.0f ? -NEVER : (greatest + log2f(total)) * LN_PER;
}
