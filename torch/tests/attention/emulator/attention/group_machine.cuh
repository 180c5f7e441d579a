// The stand-in for torch/kernels/attention/group_machine.cuh. Products are calculated when the
// group waits for them: what is read or written too early shows.
#pragma once

#include <vector>

#include "attention/machine.cuh"

template <u32 COUNT>
inline void keep_registers() {}
template <u32 COUNT>
inline void take_registers() {}

// Where a product's factor lies in shared memory.
inline u64 rows_at(u32 address) { return (u64)address; }
inline u64 columns_at(u32 address, u32 panel) {
  if (address % 1024 != 0 || panel % 1024 != 0) fail("columns begin in the middle of 8 rows");
  return (u64)panel << 32 | address;
}

// The chunks of 16 bytes of each 128 change places with the number of the 128 among 8.
inline u16 element_in_shared(u32 address) {
  u16 element;
  std::memcpy(&element, in_shared(address ^ (address >> 7 & 7) << 4, 2), 2);
  return element;
}

// Column `k` of 16 of row `row`.
inline u16 element_of_rows(u64 rows, u32 row, u32 k) {
  return element_in_shared((u32)rows + row / 8 * 1024 + row % 8 * 128 + k * 2);
}

// Row `k` of 16 of column `column`.
inline u16 element_of_columns(u64 columns, u32 column, u32 k) {
  const u32 panel = (u32)(columns >> 32), address = (u32)columns;
  return element_in_shared(address + column / 64 * panel + k / 8 * 1024 + k % 8 * 128 +
                           column % 64 * 2);
}

struct GroupProduct {
  float* sums;
  u32 columns;
  // Rows in shared memory, or registers.
  u64 rows;
  const u32* registers;
  u64 b;
  bool b_has_rows, adds;
  float (*element)(u16 bits);
  // Groups of products that were committed before.
  u32 committed;
};

// What a thread has begun. Threads of a program are contexts, and their numbers are below this.
struct Begun {
  std::vector<GroupProduct> products;
  u32 committed = 0;
  bool may_begin = false, may_read = true;
};
inline Begun& begun() {
  static std::vector<Begun> all(1024);
  return all[threadIdx.x];
}

inline void let_products_read() { begun().may_read = true; }
inline void begin_products() { begun().may_begin = true; }
inline void commit_products() { begun().committed++; }

// What others wrote before may be read by threads, and by products behind let_products_read.
inline void wait_for_phase(u32 barrier, u32 parity) {
  wait_until_phase_ends(barrier, parity);
  begun().may_read = false;
}

inline void multiply_oldest(void* const* brought) {
  const auto of = [&](u32 thread) -> const GroupProduct& {
    return ((const Begun*)brought[thread])->products.front();
  };
  const GroupProduct& first = of(0);
  const auto a = [&](u32 row, u32 k) {
    if (first.registers == nullptr) return first.element(element_of_rows(first.rows, row, k));
    const GroupProduct& there = of(row / 16 * 32 + row % 8 * 4 + k % 8 / 2);
    const u32 pair = there.registers[k / 8 * 2 + row % 16 / 8];
    return first.element((u16)(pair >> 16 * (k % 2)));
  };
  std::vector<float> left(64 * 16), right(16 * first.columns);
  for (u32 row = 0; row < 64; row++)
    for (u32 k = 0; k < 16; k++) left[row * 16 + k] = a(row, k);
  for (u32 column = 0; column < first.columns; column++)
    for (u32 k = 0; k < 16; k++) {
      right[column * 16 + k] =
          first.element(first.b_has_rows ? element_of_rows(first.b, column, k)
                                         : element_of_columns(first.b, column, k));
    }
  for (u32 thread = 0; thread < 128; thread++) {
    const GroupProduct& own = of(thread);
    if (own.b != first.b || own.columns != first.columns) fail("threads differ on a product");
    for (u32 i = 0; i < first.columns / 2; i++) {
      const u32 row = thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8;
      const u32 column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      double sum = own.adds ? own.sums[i] : 0.0;
      for (u32 k = 0; k < 16; k++) sum += (double)left[row * 16 + k] * right[column * 16 + k];
      own.sums[i] = (float)sum;
    }
  }
}

template <u32 EXCEPT, u32 COUNT>
inline void wait_for_products(float (&)[COUNT]) {
  Begun& own = begun();
  own.may_begin = false;
  while (!own.products.empty() && own.products.front().committed + EXCEPT < own.committed) {
    group_together(&own, multiply_oldest);
    own.products.erase(own.products.begin());
  }
}

template <typename T>
struct GroupProducts {
  static inline float element(u16 bits) { return wide(T{bits}); }

  static inline void begin(GroupProduct product) {
    Begun& own = begun();
    if (!own.may_begin) fail("a product begins without begin_products");
    if (!own.may_read) fail("a product reads what it may not see yet");
    product.element = element;
    product.committed = own.committed;
    own.products.push_back(product);
  }

  static inline void multiply(float (&sums)[64], u64 a, u64 b, u32 adds) {
    begin({sums, 128, a, nullptr, b, true, adds != 0, nullptr, 0});
  }

  static inline void multiply(float (&sums)[64], const u32 (&a)[4], u64 b) {
    begin({sums, 128, 0, a, b, false, true, nullptr, 0});
  }

  static inline void multiply(float (&sums)[32], const u32 (&a)[4], u64 b) {
    begin({sums, 64, 0, a, b, false, true, nullptr, 0});
  }
};
