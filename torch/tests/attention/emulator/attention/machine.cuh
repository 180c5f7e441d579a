// The stand-in for torch/kernels/attention/machine.cuh: what the PTX manual states of each
// instruction, written out.
#pragma once

#include "element.cuh"

inline float exponential_of_two(float value) { return std::exp2(value); }

inline float from_lane(float value, u32 mask) { return __shfl_xor_sync(0xffffffff, value, mask); }

inline bool in_any_lane(bool holds) {
  together(&holds, [](void* const* brought) {
    bool any = false;
    for (u32 lane = 0; lane < 32; lane++) any = any || *(bool*)brought[lane];
    for (u32 lane = 0; lane < 32; lane++) *(bool*)brought[lane] = any;
  });
  return holds;
}

inline u32 address_in_shared(const void*) { return 0; }

inline void copy_chunk(u32 to, const void* from, bool is_there) {
  begin_copy(to, from, 16, is_there);
}

inline void store_word(u32 to, u32 value) { store_in_shared(to, &value, 4); }

inline Group<u32, 4> load_chunk(u32 from) {
  Group<u32, 4> chunk;
  std::memcpy(&chunk, in_shared(from, 16), 16);
  return chunk;
}

struct Matrices {
  u32 from;
  u32* of;
};

// Element `column` of row `row` of a matrix.
inline u16 element_of(void* const* brought, u32 matrix, u32 row, u32 column) {
  u16 element;
  const u32 from = ((const Matrices*)brought[matrix * 8 + row])->from;
  std::memcpy(&element, in_shared(from, 16) + column * 2, 2);
  return element;
}

template <bool EXCHANGED>
inline void load_all(void* const* brought) {
  for (u32 matrix = 0; matrix < 4; matrix++) {
    u32 banks = 0;
    for (u32 row = 0; row < 8; row++) {
      banks |= 1u << ((const Matrices*)brought[matrix * 8 + row])->from / 16 % 8;
    }
    if (banks != 0xff) fail("rows of a matrix are in the same banks");
    for (u32 lane = 0; lane < 32; lane++) {
      u32 pair = 0;
      for (u32 e = 0; e < 2; e++) {
        const u32 row = lane / 4, column = lane % 4 * 2 + e;
        const u16 element = EXCHANGED ? element_of(brought, matrix, column, row)
                                      : element_of(brought, matrix, row, column);
        pair |= (u32)element << 16 * e;
      }
      ((const Matrices*)brought[lane])->of[matrix] = pair;
    }
  }
}

inline void load_matrices(u32 from, u32 (&of)[4]) {
  Matrices mine = {from, of};
  together(&mine, load_all<false>);
}

inline void load_transposed(u32 from, u32 (&of)[4]) {
  Matrices mine = {from, of};
  together(&mine, load_all<true>);
}

struct Product {
  float* sums;
  const u32* a;
  u32 b[2];
};

template <typename T>
struct Fragments {
  static inline float element(u32 pair, u32 at) { return wide(T{(u16)(pair >> 16 * at)}); }

  static inline u32 pair(float low, float high) {
    return narrow<T>(low).bits | (u32)narrow<T>(high).bits << 16;
  }

  static inline void multiply_all(void* const* brought) {
    float a[16][16], b[16][8];
    for (u32 lane = 0; lane < 32; lane++) {
      const Product& of = *(const Product*)brought[lane];
      const u32 group = lane / 4, in_group = lane % 4;
      for (u32 at = 0; at < 2; at++) {
        for (u32 i = 0; i < 4; i++) {
          a[group + i % 2 * 8][in_group * 2 + at + i / 2 * 8] = element(of.a[i], at);
        }
        for (u32 i = 0; i < 2; i++) b[in_group * 2 + at + i * 8][group] = element(of.b[i], at);
      }
    }
    for (u32 lane = 0; lane < 32; lane++) {
      float* const sums = ((const Product*)brought[lane])->sums;
      for (u32 i = 0; i < 4; i++) {
        const u32 row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        double sum = sums[i];
        for (u32 k = 0; k < 16; k++) sum += (double)a[row][k] * b[k][column];
        sums[i] = (float)sum;
      }
    }
  }

  static inline void multiply(float (&sums)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    Product mine = {sums, a, {b0, b1}};
    together(&mine, multiply_all);
  }
};
