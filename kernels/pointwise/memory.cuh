// Elements between memory and registers, without regard to what their bits mean.
#pragma once

#include "launch.cuh"

// A thread's elements, packed, whatever their size is.
struct Raw {
  u32 w[16];
};

// The bits of an element of SIZE bytes.
template <int SIZE>
SCONCE_INLINE u32 part(const Raw& raw, int element) {
  if (SIZE == 4) return raw.w[element];
  if (SIZE == 2) return (raw.w[element / 2] >> (element % 2 * 16)) & 0xffff;
  return (raw.w[element / 4] >> (element % 4 * 8)) & 0xff;
}

// Places the bits of an element into words that are 0.
template <int SIZE>
SCONCE_INLINE void put(Raw& raw, int element, u32 bits) {
  if (SIZE == 4) raw.w[element] = bits;
  if (SIZE == 2) raw.w[element / 2] |= (bits & 0xffff) << (element % 2 * 16);
  if (SIZE == 1) raw.w[element / 4] |= (bits & 0xff) << (element % 4 * 8);
}

SCONCE_INLINE void put_long(Raw& raw, int element, u64 bits) {
  raw.w[2 * element] = (u32)bits, raw.w[2 * element + 1] = (u32)(bits >> 32);
}

SCONCE_INLINE u64 part_long(const Raw& raw, int element) {
  return raw.w[2 * element] | (u64)raw.w[2 * element + 1] << 32;
}

template <int SIZE, int N>
SCONCE_INLINE void clear(Raw& raw) {
#pragma unroll
  for (int w = 0; w < (SIZE * N + 3) / 4; w++) raw.w[w] = 0;
}

// BYTES neighbouring bytes in one access, from or to the place of byte `at` among the words.
template <int BYTES>
SCONCE_INLINE void load_chunk(Raw& raw, int at, const char* from) {
  const int w = at / 4;
  if constexpr (BYTES == 16) {
    const uint4 of = *(const uint4*)from;
    raw.w[w] = of.x, raw.w[w + 1] = of.y, raw.w[w + 2] = of.z, raw.w[w + 3] = of.w;
  } else if constexpr (BYTES == 8) {
    const uint2 of = *(const uint2*)from;
    raw.w[w] = of.x, raw.w[w + 1] = of.y;
  } else if constexpr (BYTES == 4) {
    raw.w[w] = *(const u32*)from;
  } else if constexpr (BYTES == 2) {
    raw.w[w] |= (u32) * (const u16*)from << (at % 4 * 8);
  } else {
    raw.w[w] |= (u32) * (const u8*)from << (at % 4 * 8);
  }
}

template <int BYTES>
SCONCE_INLINE void store_chunk(const Raw& raw, int at, char* to) {
  const int w = at / 4;
  if constexpr (BYTES == 16)
    *(uint4*)to = make_uint4(raw.w[w], raw.w[w + 1], raw.w[w + 2], raw.w[w + 3]);
  else if constexpr (BYTES == 8)
    *(uint2*)to = make_uint2(raw.w[w], raw.w[w + 1]);
  else if constexpr (BYTES == 4)
    *(u32*)to = raw.w[w];
  else if constexpr (BYTES == 2)
    *(u16*)to = (u16)(raw.w[w] >> (at % 4 * 8));
  else
    *(u8*)to = (u8)(raw.w[w] >> (at % 4 * 8));
}

// Elements one by one: in any place, and in a tile that is not whole.
template <int SIZE, int N, bool STORES>
SCONCE_INLINE void move_each(Raw& raw, char* memory, const i64* place, const bool* is_there) {
#pragma unroll
  for (int e = 0; e < N; e++) {
    if (is_there[e]) {
      if (STORES)
        store_chunk<SIZE>(raw, e * SIZE, memory + place[e]);
      else
        load_chunk<SIZE>(raw, e * SIZE, memory + place[e]);
    }
  }
}

template <int SIZE, int WIDTH, int N, bool STORES>
SCONCE_INLINE void move_groups(Raw& raw, char* memory, const i64* place, const bool* is_there) {
  if constexpr (SIZE * WIDTH <= 16) {
#pragma unroll
    for (int g = 0; g < N / WIDTH; g++) {
      if (!is_there[g]) continue;
      if (STORES)
        store_chunk<SIZE * WIDTH>(raw, g * WIDTH * SIZE, memory + place[g]);
      else
        load_chunk<SIZE * WIDTH>(raw, g * WIDTH * SIZE, memory + place[g]);
    }
  }
}

template <int OPERAND, int WIDTH, int N, int LARGEST, bool STORES, class L>
SCONCE_INLINE void move_wide(Raw& raw, char* memory, u32 size, const L& launch, const Tile& tile) {
  i64 place[N / WIDTH];
  bool is_there[N / WIDTH];
  places<OPERAND, N / WIDTH, WIDTH>(launch, tile, place);
#pragma unroll
  for (int g = 0; g < N / WIDTH; g++) is_there[g] = tile.index(g * WIDTH) < launch.n;
  switch (size) {
    case 1:
      return move_groups<1, WIDTH, N, STORES>(raw, memory, place, is_there);
    case 2:
      return move_groups<2, WIDTH, N, STORES>(raw, memory, place, is_there);
    case 4:
      return move_groups<4, WIDTH, N, STORES>(raw, memory, place, is_there);
    case 8:
      if (LARGEST >= 8) move_groups<8, WIDTH, N, STORES>(raw, memory, place, is_there);
  }
}

// All of a thread's elements of one operand, each of `size` bytes of at most LARGEST. Elements that
// are loaded and do not exist are 0.
template <int OPERAND, int N, int LARGEST, bool STORES, class L>
SCONCE_INLINE void move(Raw& raw, char* memory, u32 size, u32 kind, const L& launch,
                        const Tile& tile) {
  if (!STORES) clear<LARGEST, N>(raw);
  if ((kind & WIDE) != 0 && tile.shift != 0) {
    if (tile.shift == 1)
      move_wide<OPERAND, 2, N, LARGEST, STORES>(raw, memory, size, launch, tile);
    else if (N >= 4 && tile.shift == 2)
      move_wide<OPERAND, N >= 4 ? 4 : 2, N, LARGEST, STORES>(raw, memory, size, launch, tile);
    else if (N >= 8)
      move_wide<OPERAND, N >= 8 ? 8 : 2, N, LARGEST, STORES>(raw, memory, size, launch, tile);
    return;
  }
  i64 place[N];
  bool is_there[N];
  places<OPERAND, N, 1>(launch, tile, place);
#pragma unroll
  for (int e = 0; e < N; e++) is_there[e] = tile.index(e) < launch.n;
  switch (size) {
    case 1:
      return move_each<1, N, STORES>(raw, memory, place, is_there);
    case 2:
      return move_each<2, N, STORES>(raw, memory, place, is_there);
    case 4:
      return move_each<4, N, STORES>(raw, memory, place, is_there);
    case 8:
      if (LARGEST >= 8) move_each<8, N, STORES>(raw, memory, place, is_there);
      return;
    case 16:
      if (LARGEST >= 16) move_each<16, N, STORES>(raw, memory, place, is_there);
  }
}
