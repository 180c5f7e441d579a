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
  u32 count;    // elements
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
  return {address, (u32)count, (u32)threads, offset / 4, {(u32)seed, (u32)(seed >> 32)}};
}

// A fill in which every subsequence gives one element, the first it draws.
template <class Element, class Distribution>
SCONCE_INLINE void fill_first_draws(const Span& span, const Distribution& distribution, u32 thread,
                                    u32 threads) {
  typename Element::Stored* const out = (typename Element::Stored*)span.address;
#pragma unroll 1
  for (u32 t = thread; t < span.count; t += threads) {
    typename Element::Lane lanes[Distribution::DRAWS];
    distribution.draw(philox(span.block, t, span.key), lanes);
    store_one(out + t, Element::stored(lanes[0]));
  }
}

// The first `blocks` blocks of the subsequences that wide stores reach: `columns` times LANES from
// `head` on.
template <class Element, class Distribution>
SCONCE_INLINE void fill_wide(const Span& span, const Distribution& distribution, u32 head,
                             u32 columns, u32 blocks) {
  constexpr u32 DRAWS = Distribution::DRAWS, LANES = Element::LANES;
  constexpr u32 SIZE = sizeof(typename Element::Stored);
  const u32 row = span.threads * SIZE, period = row * DRAWS;
  u8* const out = (u8*)span.address;
#pragma unroll 1
  for (u32 column = blockIdx.x * blockDim.x + threadIdx.x; column < columns;
       column += gridDim.x * blockDim.x) {
    const u32 t = head + column * LANES;
    u32 k = blockIdx.y;
    // Once, or twice where the low word of the block number comes round.
    while (k < blocks) {
      const u64 block = span.block + k;
      u32 low = (u32)block;
      SubsequencePart subsequences[LANES];
#pragma unroll
      for (u32 v = 0; v < LANES; ++v) {
        subsequences[v] = subsequence_part(t + v, (u32)(block >> 32), span.key);
      }
      const u32 end = low != 0 && blocks - k > 0 - low ? k - low : blocks;
      u32 at = k * period + t * SIZE;
      do {
        const BlockPart part = block_part(low, span.key);
        typename Element::Lane rows[DRAWS][LANES];
#pragma unroll
        for (u32 v = 0; v < LANES; ++v) {
          typename Element::Lane lanes[DRAWS];
          distribution.draw(philox(subsequences[v], part, span.key), lanes);
#pragma unroll
          for (u32 j = 0; j < DRAWS; ++j) rows[j][v] = lanes[j];
        }
#pragma unroll
        for (u32 j = 0; j < DRAWS; ++j) {
          store_wide(out + (u64)j * row + at, Element::pack(rows[j]));
        }
        low += gridDim.y;
        k += gridDim.y;
        at += gridDim.y * period;
      } while (k < end);
    }
  }
}

// The rest, element by element: all of block number `blocks`, of which not every draw may be an
// element, and the column that goes round the end of a row when the address is not aligned for wide
// stores: the last subsequences and the first `head`.
template <class Element, class Distribution>
SCONCE_INLINE void fill_rest(const Span& span, const Distribution& distribution, u32 head,
                             u32 blocks, u32 thread, u32 threads) {
  constexpr u32 DRAWS = Distribution::DRAWS, LANES = Element::LANES;
  typename Element::Stored* const out = (typename Element::Stored*)span.address;
  const u32 items = span.threads + (head != 0 ? blocks * LANES : 0);
#pragma unroll 1
  for (u32 item = thread; item < items; item += threads) {
    u32 t = item, k = blocks;
    if (item >= span.threads) {
      k = (item - span.threads) / LANES;
      t = span.threads - LANES + head + (item - span.threads) % LANES;
      if (t >= span.threads) t -= span.threads;
    }
    typename Element::Lane lanes[DRAWS];
    distribution.draw(philox(span.block + k, t, span.key), lanes);
    const u32 first = k * DRAWS * span.threads + t;
#pragma unroll
    for (u32 j = 0; j < DRAWS; ++j) {
      const u32 i = first + j * span.threads;
      if (i < span.count) store_one(out + i, Element::stored(lanes[j]));
    }
  }
}

template <class Element, class Distribution>
SCONCE_INLINE void fill(const Span& span, const Distribution& distribution) {
  constexpr u32 LANES = Element::LANES, SIZE = sizeof(typename Element::Stored);
  // From the last block of the grid to the first: the first have most of the wide work.
  const u32 grid = gridDim.x * gridDim.y;
  const u32 thread = (grid - 1 - blockIdx.y * gridDim.x - blockIdx.x) * blockDim.x + threadIdx.x;
  if (span.count <= span.threads) {
    fill_first_draws<Element>(span, distribution, thread, grid * blockDim.x);
    return;
  }
  const u32 blocks = span.count / (span.threads * Distribution::DRAWS);
  // Elements before the first address that a wide store may have.
  const u32 head = (u32)(-span.address % (LANES * SIZE)) / SIZE;
  fill_wide<Element>(span, distribution, head, span.threads / LANES - (head != 0), blocks);
  fill_rest<Element>(span, distribution, head, blocks, thread, grid * blockDim.x);
}
