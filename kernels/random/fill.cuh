// Which element comes from which counter, and which thread writes it.
//
// torch lays its counters out over a virtual grid of T threads: element i has t = i mod T and
// q = i div T, and is draw q mod U of block offset/4 + q div U in subsequence t, where a block
// gives U draws (4 of 32 bits, 2 of 64). So a block's draws lie T elements apart, and the elements
// of neighbouring subsequences lie side by side. A thread here takes LANES neighbouring
// subsequences, always at the same block, and turns U rows of LANES draws into U wide stores. T is
// a multiple of 256, so every row is aligned alike.
//
// The real grid is free: x strides over subsequences, y over blocks.
#pragma once

#include "element.cuh"
#include "philox.cuh"

struct Span {
  u64 address;  // of element 0, aligned to the element
  u64 count;    // elements
  u32 threads;  // T
  u64 block;    // the first block
  Key key;
};

// Seed and offset of a fill. `state` is 0, or the address of {seed, offset} in device memory, which
// holds what a captured graph's replay starts from; `offset` then counts from there.
SCONCE_INLINE Span make_span(u64 address, u64 count, u64 seed, u64 offset, u64 threads, u64 state) {
  if (state != 0) {
    const u64* words = (const u64*)state;
    seed = words[0];
    offset += words[1];
  }
  return {address, count, (u32)threads, offset / 4, {(u32)seed, (u32)(seed >> 32)}};
}

// The column that goes round the end of a row when the address is not aligned for wide stores: the
// last subsequences and the first ones.
template <class Element, class Distribution>
SCONCE_INLINE void fill_split_column(const Span& span, const Distribution& distribution,
                                     u32 first) {
  constexpr u32 DRAWS = Distribution::DRAWS;
  typename Element::Stored* const out = (typename Element::Stored*)span.address;
  const u64 period = (u64)span.threads * DRAWS;
  u64 block = span.block + blockIdx.y;
  for (u64 begin = blockIdx.y * period; begin < span.count; begin += gridDim.y * period) {
#pragma unroll 1
    for (u32 v = 0; v < Element::LANES; ++v) {
      const u32 t = first + v < span.threads ? first + v : first + v - span.threads;
      typename Element::Lane lanes[DRAWS];
      distribution.draw(philox(block, t, span.key), lanes);
#pragma unroll
      for (u32 j = 0; j < DRAWS; ++j) {
        const u64 i = begin + (u64)j * span.threads + t;
        if (i < span.count) store_one(out + i, Element::stored(lanes[j]));
      }
    }
    block += gridDim.y;
  }
}

template <class Element, class Distribution>
SCONCE_INLINE void fill(const Span& span, const Distribution& distribution) {
  constexpr u32 DRAWS = Distribution::DRAWS, LANES = Element::LANES;
  constexpr u32 SIZE = sizeof(typename Element::Stored);
  typename Element::Stored* const out = (typename Element::Stored*)span.address;
  // Elements before the first address that a wide store may have.
  const u32 head = (u32)(-span.address % (LANES * SIZE)) / SIZE;
  const u64 period = (u64)span.threads * DRAWS;

  for (u32 column = blockIdx.x * blockDim.x + threadIdx.x; column < span.threads / LANES;
       column += gridDim.x * blockDim.x) {
    const u32 t = head + column * LANES;
    if (t + LANES > span.threads) {
      fill_split_column<Element>(span, distribution, t);
      continue;
    }
    u64 block = span.block + blockIdx.y;
    for (u64 i = blockIdx.y * period + t; i < span.count; i += gridDim.y * period) {
      typename Element::Lane rows[DRAWS][LANES];
#pragma unroll
      for (u32 v = 0; v < LANES; ++v) {
        typename Element::Lane lanes[DRAWS];
        distribution.draw(philox(block, t + v, span.key), lanes);
#pragma unroll
        for (u32 j = 0; j < DRAWS; ++j) rows[j][v] = lanes[j];
      }
      block += gridDim.y;

      if (i + (DRAWS - 1) * (u64)span.threads + LANES <= span.count) {
#pragma unroll
        for (u32 j = 0; j < DRAWS; ++j) {
          store_wide(out + i + (u64)j * span.threads, Element::pack(rows[j]));
        }
        continue;
      }
#pragma unroll
      for (u32 j = 0; j < DRAWS; ++j) {
        const u64 row = i + (u64)j * span.threads;
        if (row + LANES <= span.count) {
          store_wide(out + row, Element::pack(rows[j]));
        } else {
#pragma unroll
          for (u32 v = 0; v < LANES; ++v) {
            if (row + v < span.count) store_one(out + row + v, Element::stored(rows[j][v]));
          }
        }
      }
    }
  }
}
