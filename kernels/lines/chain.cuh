// Sums along few long lines side by side, in one pass: each tile waits for the sum of what is
// before it. Sums are added in an order that the line alone decides, so they have the same bits at
// every run.
//
// Tiles form groups. A tile publishes its sum; the last tile of a group, the sum of all until
// there. What is before a tile is the sum of all groups before its own, and those of its group's
// tiles, in their order. A tile's number comes from a counter, so every tile that is waited for is
// running.
#pragma once

#include "scan.cuh"

// These are in `crates/kernels/src/reduction/lines.rs` too: a block's threads, and the tiles of a
// group.
constexpr u32 CHAIN_THREADS = 256;
constexpr u32 CHAIN_GROUP = 128;

// A published word has 32 bits of a sum, and says that they are there; so no fence orders two
// writes.
constexpr u64 IS_THERE = 1ull << 32;

template <typename A>
constexpr u32 WORDS_OF = sizeof(A) / 4;

template <typename A>
union SumWords {
  A sum;
  u32 of[WORDS_OF<A>];
};

template <typename A>
__device__ __forceinline__ void publish(u64* at, A sum) {
  SumWords<A> words;
  words.sum = sum;
#pragma unroll
  for (u32 i = 0; i < WORDS_OF<A>; i++)
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at + i), "l"(IS_THERE | words.of[i])
                 : "memory");
}

template <typename A>
__device__ __forceinline__ A wait_for(const u64* at) {
  SumWords<A> words;
#pragma unroll
  for (u32 i = 0; i < WORDS_OF<A>; i++) {
    u64 word;
    do {
      asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at + i) : "memory");
    } while (!(word & IS_THERE));
    words.of[i] = (u32)word;
  }
  return words.sum;
}

// The sum of what is before a tile, for the first warp, which publishes what others wait for.
template <typename A>
__device__ __forceinline__ A before_tile(u64* sums, u64* prefixes, u32 tile, A of_tile) {
  const u32 lane = threadIdx.x % 32, group = tile / CHAIN_GROUP, of_group = tile % CHAIN_GROUP;
  if (lane == 0) publish(sums + tile * WORDS_OF<A>, of_tile);
  A before = 0;
#pragma unroll
  for (u32 k = 0; k < CHAIN_GROUP; k += 32) {
    if (k + lane < of_group)
      before += wait_for<A>(sums + (group * CHAIN_GROUP + k + lane) * WORDS_OF<A>);
  }
#pragma unroll
  for (u32 mask = 16; mask > 0; mask /= 2) before += from_lane_xor(before, mask);
  if (lane == 0) {
    if (group > 0) before = wait_for<A>(prefixes + (group - 1) * WORDS_OF<A>) + before;
    if (of_group == CHAIN_GROUP - 1) publish(prefixes + group * WORDS_OF<A>, before + of_tile);
  }
  return before;
}

// `offsets` is zero before: a counter, then for each line the words of its tiles and of its groups.
template <typename T, u32 WIDTH, u32 SPANS>
__device__ __forceinline__ void scan_chain(const Lines& l) {
  typedef typename ScanSum<T>::Type A;
  typedef Group<T, WIDTH> Access;
  constexpr u32 WARPS = CHAIN_THREADS / 32, SPAN = 32 * WIDTH, TILE = WARPS * SPANS * SPAN;
  __shared__ A of_warp[WARPS];
  __shared__ A before;
  __shared__ u32 number;
  u64* const words = (u64*)l.offsets;
  if (threadIdx.x == 0) number = (u32)atomicAdd(words, 1ull);
  __syncthreads();
  const u32 tiles = (u32)((l.length + TILE - 1) / TILE);
  const u32 groups = (tiles + CHAIN_GROUP - 1) / CHAIN_GROUP;
  const u32 row = number / tiles, tile = number - row * tiles;
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Place place = place_of(l.axes, l.axes_count, row);
  const T* from = (const T*)l.input + place.by_stride;
  T* to = (T*)l.output + place.by_other;
  const u64 own = (u64)tile * TILE + warp * SPANS * SPAN + lane * WIDTH;
  Access held[SPANS];
  A sums[SPANS][WIDTH];
#pragma unroll
  for (u32 k = 0; k < SPANS; k++) {
    if (own + k * SPAN < l.length) held[k] = *(const Access*)(from + own + k * SPAN);
  }
  A total = 0;
#pragma unroll
  for (u32 k = 0; k < SPANS; k++)
    total = sums_of_span(held[k], own + k * SPAN < l.length, lane, total, sums[k]);
  if (lane == 0) of_warp[warp] = total;
  __syncthreads();
  A preceding = 0, of_tile = 0;
#pragma unroll
  for (u32 w = 0; w < WARPS; w++) {
    if (w == warp) preceding = of_tile;
    of_tile += of_warp[w];
  }
  if (warp == 0) {
    u64* const of_line = words + 1 + (u64)row * (tiles + groups) * WORDS_OF<A>;
    const A sum = before_tile(of_line, of_line + (u64)tiles * WORDS_OF<A>, tile, of_tile);
    if (lane == 0) before = sum;
  }
  __syncthreads();
  preceding = before + preceding;
#pragma unroll
  for (u32 k = 0; k < SPANS; k++) {
    if (own + k * SPAN < l.length) {
#pragma unroll
      for (u32 i = 0; i < WIDTH; i++) held[k].of[i] = narrow(preceding + sums[k][i], T());
      *(Access*)(to + own + k * SPAN) = held[k];
    }
  }
}
