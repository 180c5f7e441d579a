// Runs the kernels of attention on the CPU, and compares them with sums in doubles.
#include <algorithm>
#include <limits>
#include <vector>

#include "cases.hpp"

#define KERNEL(name) extern "C" void sconce_torch_attention_##name(const Attention);
#define OF_TENSOR_CORES(suffix)   \
  KERNEL(tensor_64_64_##suffix)   \
  KERNEL(tensor_64_128_##suffix)  \
  KERNEL(tensor_128_64_##suffix)  \
  KERNEL(tensor_128_128_##suffix) \
  KERNEL(tensor_256_64_##suffix)  \
  KERNEL(groups_64_192_##suffix)  \
  KERNEL(groups_128_128_##suffix) \
  KERNEL(combine_##suffix)
OF_TENSOR_CORES(f16)
OF_TENSOR_CORES(bf16)
KERNEL(32_16_f32)
KERNEL(64_64_f32)
KERNEL(128_64_f32)
KERNEL(combine_f32)
#undef KERNEL

namespace {

typedef void Kernel(const Attention);

struct Form {
  const char* name;
  Kernel* kernel;
  Kernel* combine;
  u32 width, queries, keys;
  // Masks, and scales that are not positive.
  bool takes_masks;
  u32 threads = THREADS;

  // Those of warp groups leave parts to others.
  bool has_groups() const { return threads != THREADS; }
};

#define FORM(way, width, queries, keys, suffix, takes_masks)                       \
  Form {                                                                           \
#way #width "_" #queries "_" #suffix,                                          \
        sconce_torch_attention_##way##width##_##queries##_##suffix,                \
        sconce_torch_attention_combine_##suffix, width, queries, keys, takes_masks \
  }
#define OF_GROUPS(width, queries, suffix)                                                      \
  Form {                                                                                       \
    "groups_" #width "_" #queries "_" #suffix,                                                 \
        sconce_torch_attention_groups_##width##_##queries##_##suffix, nullptr, width, queries, \
        128, false, queries / 64 * 128 + 128                                                   \
  }
#define FORMS(suffix)                                                                       \
  FORM(tensor_, 64, 64, 64, suffix, true), FORM(tensor_, 64, 128, 64, suffix, false),       \
      FORM(tensor_, 128, 64, 64, suffix, true), FORM(tensor_, 128, 128, 64, suffix, false), \
      FORM(tensor_, 256, 64, 32, suffix, true), OF_GROUPS(64, 192, suffix),                 \
      OF_GROUPS(128, 128, suffix)
const Form HALVES[] = {FORMS(f16)}, BRAINS[] = {FORMS(bf16)};
const Form SINGLES[] = {FORM(, 32, 16, 64, f32, true), FORM(, 64, 64, 32, f32, true),
                        FORM(, 128, 64, 32, f32, true)};

// A tensor of batch, heads, positions and width, in memory with gaps that hold NaN.
template <typename T>
struct Tensor {
  Positions positions;
  std::vector<T> memory;
  T* data;

  Tensor(u32 batch, u32 heads, u32 count, u32 width, u32 multiple) {
    const i64 row = (width + multiple - 1) / multiple * multiple + multiple * drawn(0, 2);
    i64 head, position, of_batch;
    if (one_in(2)) {
      position = row, head = row * count + multiple * drawn(0, 2), of_batch = head * heads;
    } else {
      head = row, position = row * heads, of_batch = position * count;
    }
    const T nan = narrow<T>(std::numeric_limits<float>::quiet_NaN());
    const u32 front = 64;
    memory.assign(of_batch * batch + 2 * front + 16, nan);
    data = memory.data() + front;
    while ((std::uintptr_t)data % 16 != 0) data++;
    positions = {(u64)data, of_batch, head, position, 1};
  }

  T& at(u32 batch, u32 head, u32 position, u32 element) {
    return data[batch * positions.batch + head * positions.head + position * positions.position +
                element * positions.element];
  }
};

template <typename T>
struct Case {
  u32 batch, heads, key_heads, queries, keys, width, value_width;
  Tensor<T> query, key, value, output;

  Case(const Form& form, u32 multiple)
      : batch(drawn(1, 2)),
        heads(drawn(1, 4)),
        key_heads(one_in(2)    ? heads
                  : heads == 4 ? 2
                               : 1),
        queries(one_in(3) ? drawn(1, 5) : form.queries * drawn(0, 1) + drawn(1, form.queries)),
        keys(one_in(2) ? form.keys * drawn(1, 3) + drawn(0, 2) - 1 : drawn(1, 3 * form.keys + 9)),
        width(multiple * drawn(1, form.width / multiple)),
        value_width(one_in(2) ? width : multiple * drawn(1, form.width / multiple)),
        query(batch, heads, queries, width, multiple),
        key(batch, key_heads, keys, width, multiple),
        value(batch, key_heads, keys, value_width, multiple),
        output(batch, heads, queries, value_width, multiple) {}
};

template <typename T>
void fill(Tensor<T>& tensor, u32 batch, u32 heads, u32 positions, u32 width) {
  std::normal_distribution<float> normal;
  for (u32 b = 0; b < batch; b++)
    for (u32 h = 0; h < heads; h++)
      for (u32 p = 0; p < positions; p++)
        for (u32 e = 0; e < width; e++) tensor.at(b, h, p, e) = narrow<T>(normal(generator));
}

// Dynamic shared memory as `fallbacks/attention` calculates it.
template <typename T>
u32 shared_bytes(const Form& form) {
  // Three tiles of keys and of values with two barriers each, or two.
  if (form.has_groups()) return (form.queries + 6 * form.keys) * form.width * sizeof(T) + 12 * 8;
  return (form.queries + 4 * form.keys) * form.width * sizeof(T);
}
template <>
u32 shared_bytes<float>(const Form& form) {
  const bool both = form.queries == 16 || form.width <= 64;
  return 4 * ((form.queries + form.keys * (both ? 2 : 1)) * (form.width + 4) +
              form.queries * (form.keys + 4));
}

template <typename T>
void check(const Form& form, u32 number) {
  // Elements of singles may lie anywhere.
  const u32 multiple = sizeof(T) == 2 ? elements_of_chunk<T>() : 1;
  Case<T> c(form, multiple);
  fill(c.query, c.batch, c.heads, c.queries, c.width);
  fill(c.key, c.batch, c.key_heads, c.keys, c.width);
  fill(c.value, c.batch, c.key_heads, c.keys, c.value_width);

  const u32 kind = form.takes_masks && one_in(2) ? drawn(MASK_BOOL, MASK_BF16) : (u32)NO_MASK;
  const bool is_causal = one_in(3);
  float scale = one_in(3) ? 0.3f : 1.0f / std::sqrt((float)c.width);
  if (form.takes_masks && one_in(6)) scale = one_in(3) ? 0.0f : -scale;
  // A mask of each type, of the same values.
  const bool of_heads = one_in(2);
  const i64 rows = (i64)(of_heads ? c.batch * c.heads : 1) * c.queries;
  std::vector<u8> bools(rows * c.keys);
  std::vector<float> singles(bools.size());
  std::vector<Half> halves(bools.size());
  std::vector<Brain> brains(bools.size());
  std::normal_distribution<float> normal;
  for (i64 row = 0; row < rows; row++) {
    const bool is_empty = one_in(16);
    for (u32 at = 0; at < c.keys; at++) {
      const i64 i = row * c.keys + at;
      const bool meets = !is_empty && !one_in(4);
      bools[i] = meets;
      singles[i] = meets ? normal(generator) : NEVER;
      halves[i] = to_half(singles[i]);
      brains[i] = to_brain(singles[i]);
    }
  }
  const u64 addresses[] = {0, (u64)bools.data(), (u64)singles.data(), (u64)halves.data(),
                           (u64)brains.data()};
  const auto added = [&](u32 b, u32 h, u32 q, u32 k) -> double {
    const i64 i = ((of_heads ? (i64)(b * c.heads + h) : 0) * c.queries + q) * c.keys + k;
    switch (kind) {
      case NO_MASK:
        return 0;
      case MASK_BOOL:
        return bools[i] ? 0 : -INFINITY;
      case MASK_F32:
        return singles[i];
      case MASK_F16:
        return wide(halves[i]);
      default:
        return wide(brains[i]);
    }
  };

  const i64 of_head = (i64)c.queries * c.keys;
  const u32 tiles = (c.queries + form.queries - 1) / form.queries;
  const u32 key_tiles = (c.keys + form.keys - 1) / form.keys;
  const u32 of_part = form.has_groups() ? key_tiles : drawn(1, key_tiles);
  const u32 parts = (key_tiles + of_part - 1) / of_part;
  const u32 lines = c.batch * c.heads * c.queries;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> part_sums((u64)lines * parts * c.value_width, nan);
  std::vector<float> part_totals((u64)lines * parts * 2, nan), log_sums(lines, nan);
  const Attention attention = {
      c.query.positions,
      c.key.positions,
      c.value.positions,
      c.output.positions,
      {addresses[kind], of_heads ? of_head * c.heads : 0, of_heads ? of_head : 0, c.keys, 1},
      (u64)log_sums.data(),
      (i64)c.heads * c.queries,
      c.queries,
      1,
      (u64)part_sums.data(),
      (u64)part_totals.data(),
      c.heads,
      c.key_heads,
      c.queries,
      c.keys,
      c.width,
      c.value_width,
      tiles,
      parts,
      of_part * form.keys,
      kind,
      is_causal,
      scale * PER_LN};
  launch(form.kernel, attention, tiles * c.batch * c.heads * parts, form.threads,
         shared_bytes<T>(form));
  if (parts > 1) launch(form.combine, attention, lines, THREADS, 0);

  const std::string what = std::string(form.name) + " case " + std::to_string(number) + ": " +
                           std::to_string(c.batch) + " x " + std::to_string(c.heads) + " / " +
                           std::to_string(c.key_heads) + ", " + std::to_string(c.queries) + " x " +
                           std::to_string(c.keys) + ", width " + std::to_string(c.width) + " / " +
                           std::to_string(c.value_width) + ", parts " + std::to_string(parts) +
                           ", mask " + std::to_string(kind) + (is_causal ? ", causal" : "");
  for (u32 b = 0; b < c.batch; b++) {
    for (u32 h = 0; h < c.heads; h++) {
      const u32 of_keys = h / (c.heads / c.key_heads);
      for (u32 q = 0; q < c.queries; q++) {
        std::vector<double> scores(c.keys, -INFINITY);
        double most = -INFINITY;
        for (u32 k = 0; k < (is_causal ? std::min(c.keys, q + 1) : c.keys); k++) {
          double sum = 0;
          for (u32 e = 0; e < c.width; e++) {
            sum += (double)wide(c.query.at(b, h, q, e)) * wide(c.key.at(b, of_keys, k, e));
          }
          scores[k] = sum * scale + added(b, h, q, k);
          most = std::max(most, scores[k]);
        }
        double total = 0;
        for (double& score : scores) {
          score = most == -INFINITY ? 0 : std::exp(score - most);
          total += score;
        }
        const double expected_log = most == -INFINITY ? -INFINITY : most + std::log(total);
        const double log = log_sums[(b * c.heads + h) * c.queries + q];
        if (!(log == expected_log || std::abs(log - expected_log) < 2e-5)) {
          differs(what + ", log sum", log, expected_log);
        }
        for (u32 e = 0; e < c.value_width; e++) {
          double sum = 0, sizes = 0;
          for (u32 k = 0; k < c.keys; k++) {
            const double of = wide(c.value.at(b, of_keys, k, e));
            sum += scores[k] * of, sizes += scores[k] * std::abs(of);
          }
          const double expected = total == 0 ? 0 : sum / total;
          // Weights and results are rounded once.
          const double unit = rounding(T());
          const double within =
              total == 0 ? 0 : 1.01 * unit * (sizes / total + std::abs(expected)) + 2e-5;
          const double found = wide(c.output.at(b, h, q, e));
          if (!(std::abs(found - expected) <= within)) {
            differs(what + ", query " + std::to_string(q) + ", column " + std::to_string(e), found,
                    expected);
          }
          c.output.at(b, h, q, e) = narrow<T>(nan);
        }
      }
    }
  }
  // Nothing else was written.
  for (const T& element : c.output.memory) {
    if (wide(element) == wide(element)) differs(what + ", beyond the result", wide(element), nan);
  }
}

}  // namespace

int main(int, char** arguments) {
  const u32 cases = (u32)std::atoi(arguments[1]);
  u32 count = 0;
  for (u32 number = 0; number < cases; number++) {
    for (const Form& form : HALVES) check<Half>(form, number), count++;
    for (const Form& form : BRAINS) check<Brain>(form, number), count++;
    for (const Form& form : SINGLES) check<float>(form, number), count++;
  }
  std::printf("%u cases\n", count);
}
