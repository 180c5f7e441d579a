// Runs the kernels of attention of sequences on the CPU, and compares them with sums in doubles.
#include <algorithm>
#include <limits>
#include <vector>

#include "attention/sequences.cuh"
#include "cases.hpp"

#define KERNEL(name) extern "C" void sconce_torch_attention_##name(const SequencedAttention);
#define DECLARE(suffix)                     \
  KERNEL(sequences_64_64_##suffix)          \
  KERNEL(sequences_64_128_##suffix)         \
  KERNEL(sequences_128_64_##suffix)         \
  KERNEL(sequences_128_128_##suffix)        \
  KERNEL(sequences_256_64_##suffix)         \
  KERNEL(sequences_groups_64_192_##suffix)  \
  KERNEL(sequences_groups_128_128_##suffix) \
  KERNEL(sequences_combine_##suffix)
DECLARE(f16)
DECLARE(bf16)
#undef KERNEL

namespace {

struct Form {
  const char* name;
  void (*kernel)(const SequencedAttention);
  void (*combine)(const SequencedAttention);
  u32 width, queries, keys;
  // Whether scales need not be positive.
  bool takes_scales;
  u32 threads, shared_bytes;
};

#define FORM(width, queries, keys, suffix, takes_scales)                                       \
  Form {                                                                                       \
#width "_" #queries "_" #suffix,                                                           \
        sconce_torch_attention_sequences_##width##_##queries##_##suffix,                       \
        sconce_torch_attention_sequences_combine_##suffix, width, queries, keys, takes_scales, \
        THREADS, 2 * width*(queries + 4 * keys)                                                \
  }
// Blocks of warp groups share no keys.
#define OF_GROUPS(width, queries, suffix)                                                       \
  Form {                                                                                        \
    "groups_" #width "_" #queries "_" #suffix,                                                  \
        sconce_torch_attention_sequences_groups_##width##_##queries##_##suffix, nullptr, width, \
        queries, 128, false, queries / 64 * 128 + 128, 2 * width*(queries + 6 * 128) + 12 * 8   \
  }
#define FORMS(suffix)                                                     \
  FORM(64, 64, 64, suffix, true), FORM(64, 128, 64, suffix, false),       \
      FORM(128, 64, 64, suffix, true), FORM(128, 128, 64, suffix, false), \
      FORM(256, 64, 32, suffix, true), OF_GROUPS(64, 192, suffix), OF_GROUPS(128, 128, suffix)
const Form HALVES[] = {FORMS(f16)}, BRAINS[] = {FORMS(bf16)};

// Numbers in memory whose gaps hold NaN.
template <typename T>
struct Memory {
  std::vector<T> numbers;
  T* data;

  explicit Memory(u64 count) : numbers(count + 80, narrow<T>(NAN)), data(numbers.data() + 64) {
    while ((std::uintptr_t)data % 16 != 0) data++;
  }
};

// Bounds of sequences of the lengths.
std::vector<i32> bounds_of(const std::vector<u32>& lengths) {
  std::vector<i32> bounds = {0};
  for (const u32 length : lengths) bounds.push_back(bounds.back() + (i32)length);
  return bounds;
}

template <typename T>
void check(const Form& form, u32 number) {
  const u32 count = drawn(1, 3), key_heads = drawn(1, 2), group = one_in(2) ? 1 : drawn(2, 3);
  const u32 heads = key_heads * group, multiple = elements_of_chunk<T>();
  const u32 width = multiple * drawn(1, form.width / multiple);
  const u32 value_width = one_in(2) ? width : multiple * drawn(1, form.width / multiple);
  const bool in_pages = one_in(2), has_counts = in_pages || one_in(3), ends_meet = !one_in(3);
  // One query each, whose heads are rows.
  const bool are_heads = one_in(4);
  const i32 before = one_in(2) ? FAR : (i32)drawn(0, 200);
  const i32 behind = one_in(3) ? FAR : one_in(2) ? 0 : (i32)drawn(0, 100);
  float scale = one_in(3) ? 0.3f : 1.0f / std::sqrt((float)width);
  if (form.takes_scales && one_in(6)) scale = one_in(3) ? 0.0f : -scale;

  // Pages of all sequences are in an order that is drawn; some belong to none.
  const u32 page_keys = one_in(2) ? form.keys * drawn(1, 2) : drawn(1, 3) == 1 ? 16 : drawn(1, 40);
  std::vector<u32> query_lengths(count), key_lengths(count), rooms(count);
  u32 most_queries = 1, most_keys = 0;
  for (u32 i = 0; i < count; i++) {
    query_lengths[i] = are_heads ? drawn(0, 1) : one_in(5) ? 0 : drawn(1, form.queries + 20);
    rooms[i] = one_in(6) ? 0 : drawn(1, 3 * form.keys + 5);
    key_lengths[i] = has_counts && rooms[i] != 0 && one_in(2) ? drawn(0, rooms[i]) : rooms[i];
    most_queries = std::max(most_queries, query_lengths[i]);
    most_keys = std::max(most_keys, key_lengths[i]);
  }
  // The caller may say too little: all keys count.
  if (one_in(8)) most_keys = (most_keys + 1) / 2;
  const std::vector<i32> query_bounds = bounds_of(query_lengths), key_bounds = bounds_of(rooms);
  const std::vector<i32> counts(key_lengths.begin(), key_lengths.end());
  const u32 all_queries = query_bounds.back(), all_keys = key_bounds.back();
  const u32 pages_of_sequence =
      (*std::max_element(rooms.begin(), rooms.end()) + page_keys - 1) / page_keys + drawn(0, 1);
  const u32 page_count = count * pages_of_sequence + drawn(0, 2);
  std::vector<i32> order(page_count);
  for (u32 i = 0; i < page_count; i++) order[i] = (i32)i;
  std::shuffle(order.begin(), order.end(), generator);
  const i64 next_pages = pages_of_sequence + drawn(0, 2);
  // What no sequence needs is no page.
  std::vector<i32> pages(count * next_pages + 1, 1 << 30);
  for (u32 i = 0; i < count; i++) {
    for (u32 p = 0; p * page_keys < key_lengths[i]; p++) {
      pages[i * next_pages + p] = order[i * pages_of_sequence + p];
    }
  }

  // Positions come before heads.
  const i64 row = width + multiple * drawn(0, 1), value_row = value_width + multiple * drawn(0, 1);
  const i64 key_position = row * key_heads, value_position = value_row * key_heads;
  const u64 positions = in_pages ? (u64)page_count * page_keys : all_keys;
  Memory<T> query(all_queries * heads * row), key(positions * key_position);
  Memory<T> value(positions * value_position), output(all_queries * heads * value_row);
  std::normal_distribution<float> normal;
  const auto fill = [&](T* at, u32 elements) {
    for (u32 e = 0; e < elements; e++) at[e] = narrow<T>(normal(generator));
  };
  const auto query_at = [&](u32 q, u32 h) { return query.data + (q * heads + h) * row; };
  const auto output_at = [&](u32 q, u32 h) { return output.data + (q * heads + h) * value_row; };
  const auto place_of = [&](u32 sequence, u32 k) -> u64 {
    if (!in_pages) return key_bounds[sequence] + k;
    return (u64)pages[sequence * next_pages + k / page_keys] * page_keys + k % page_keys;
  };
  for (u32 q = 0; q < all_queries; q++)
    for (u32 h = 0; h < heads; h++) fill(query_at(q, h), width);
  for (u32 i = 0; i < count; i++) {
    for (u32 k = 0; k < key_lengths[i]; k++) {
      for (u32 h = 0; h < key_heads; h++) {
        fill(key.data + place_of(i, k) * key_position + h * row, width);
        fill(value.data + place_of(i, k) * value_position + h * value_row, value_width);
      }
    }
  }

  const u32 rows = are_heads ? group : most_queries, blocks_of = are_heads ? key_heads : heads;
  const u32 tiles = (rows + form.queries - 1) / form.queries;
  const u32 key_tiles = std::max(1u, (most_keys + form.keys - 1) / form.keys);
  const u32 of_part = form.combine ? drawn(1, key_tiles) : key_tiles;
  const u32 parts = (key_tiles + of_part - 1) / of_part;
  const u32 lines = count * blocks_of * rows;
  const bool logs_of_batches = one_in(2);
  const u32 log_length = most_queries + drawn(0, 3);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> part_sums((u64)lines * parts * value_width, nan);
  std::vector<float> part_totals((u64)lines * parts * 2, nan);
  std::vector<float> log_sums((u64)heads * std::max(count * log_length, all_queries) + 1, nan);
  SequencedAttention a = {};
  const i64 query_position = heads * row, output_position = heads * value_row;
  a.query = {(u64)query.data, query_position, are_heads ? row * group : row,
             are_heads ? row : query_position, 1};
  a.output = {(u64)output.data, output_position, are_heads ? value_row * group : value_row,
              are_heads ? value_row : output_position, 1};
  a.key = {(u64)key.data, in_pages ? page_keys * key_position : key_position, row, key_position, 1};
  a.value = {(u64)value.data, in_pages ? page_keys * value_position : value_position, value_row,
             value_position, 1};
  a.log_sums = (u64)log_sums.data();
  // Sequence, head, query; or head, query.
  const i64 log_head = logs_of_batches ? log_length : all_queries;
  a.log_batch = logs_of_batches ? heads * log_length : 1;
  a.log_head = are_heads ? log_head * group : log_head;
  a.log_query = are_heads ? log_head : 1;
  a.part_sums = (u64)part_sums.data(), a.part_totals = (u64)part_totals.data();
  a.heads = blocks_of, a.key_heads = key_heads, a.queries = rows, a.keys = most_keys;
  a.width = width, a.value_width = value_width, a.tiles = tiles;
  a.parts = parts, a.part_keys = of_part * form.keys, a.mask_kind = NO_MASK;
  a.scale = scale * PER_LN;
  a.sequences = {(u64)query_bounds.data(),
                 in_pages ? 0 : (u64)key_bounds.data(),
                 has_counts ? (u64)counts.data() : 0,
                 in_pages ? (u64)pages.data() : 0,
                 next_pages,
                 pages_of_sequence,
                 page_count,
                 page_keys,
                 all_queries,
                 all_keys,
                 before,
                 behind,
                 ends_meet,
                 are_heads,
                 logs_of_batches};
  launch(form.kernel, a, tiles * count * blocks_of * parts, form.threads, form.shared_bytes);
  if (parts > 1) launch(form.combine, a, lines, THREADS, 0);

  const std::string what =
      std::string(form.name) + " case " + std::to_string(number) + ": " + std::to_string(count) +
      " sequences, heads " + std::to_string(heads) + " / " + std::to_string(key_heads) +
      ", width " + std::to_string(width) + " / " + std::to_string(value_width) + ", parts " +
      std::to_string(parts) + (in_pages ? ", pages of " + std::to_string(page_keys) : "") +
      (are_heads ? ", rows are heads" : "") + ", limits " + std::to_string(before) + " and " +
      std::to_string(behind);
  for (u32 i = 0; i < count; i++) {
    const i32 shift = ends_meet ? (i32)key_lengths[i] - (i32)query_lengths[i] : 0;
    for (u32 q = 0; q < query_lengths[i]; q++) {
      for (u32 h = 0; h < heads; h++) {
        const u32 place = query_bounds[i] + q, of_keys = h / group;
        std::vector<double> scores(key_lengths[i], -INFINITY);
        double most = -INFINITY;
        for (u32 k = 0; k < key_lengths[i]; k++) {
          const i32 ahead = (i32)k - (i32)q - shift;
          if ((before != FAR && ahead < -before) || (behind != FAR && ahead > behind)) continue;
          const T* const at = key.data + place_of(i, k) * key_position + of_keys * row;
          double sum = 0;
          for (u32 e = 0; e < width; e++) sum += (double)wide(query_at(place, h)[e]) * wide(at[e]);
          scores[k] = sum * scale;
          most = std::max(most, scores[k]);
        }
        double total = 0;
        for (double& score : scores) {
          score = most == -INFINITY ? 0 : std::exp(score - most);
          total += score;
        }
        const double expected_log = total == 0 ? INFINITY : most + std::log(total);
        float& log =
            log_sums[logs_of_batches ? (i * heads + h) * log_length + q : h * all_queries + place];
        if (!(log == expected_log || std::abs(log - expected_log) < 2e-5)) {
          differs(what + ", log sum", log, expected_log);
        }
        log = nan;
        for (u32 e = 0; e < value_width; e++) {
          double sum = 0, sizes = 0;
          for (u32 k = 0; k < key_lengths[i]; k++) {
            if (scores[k] == 0) continue;
            const double of =
                wide(value.data[place_of(i, k) * value_position + of_keys * value_row + e]);
            sum += scores[k] * of, sizes += scores[k] * std::abs(of);
          }
          const double expected = total == 0 ? 0 : sum / total;
          // Weights and results are rounded once.
          const double unit = rounding(T());
          const double within =
              total == 0 ? 0 : 1.01 * unit * (sizes / total + std::abs(expected)) + 2e-5;
          const double found = wide(output_at(place, h)[e]);
          if (!(std::abs(found - expected) <= within)) {
            differs(what + ", sequence " + std::to_string(i) + ", query " + std::to_string(q) +
                        " of " + std::to_string(query_lengths[i]) + ", keys " +
                        std::to_string(key_lengths[i]) + ", column " + std::to_string(e),
                    found, expected);
          }
          output_at(place, h)[e] = narrow<T>(nan);
        }
      }
    }
  }
  // Nothing else was written.
  for (const T& element : output.numbers) {
    if (wide(element) == wide(element)) differs(what + ", beyond the result", wide(element), nan);
  }
  for (const float log : log_sums) {
    if (log == log) differs(what + ", beyond the log sums", log, nan);
  }
}

}  // namespace

int main(int, char** arguments) {
  const u32 cases = (u32)std::atoi(arguments[1]);
  u32 count = 0;
  for (u32 number = 0; number < cases; number++) {
    for (const Form& form : HALVES) check<Half>(form, number), count++;
    for (const Form& form : BRAINS) check<Brain>(form, number), count++;
  }
  std::printf("%u cases\n", count);
}
