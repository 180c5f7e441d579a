// Sorts of lines that one block holds: docs/design/ordering.md.
//
// Digit by digit from the lowest, as sort_radix.cu does, but elements and places stay in the block
// between passes.

#include "ordering/key.cuh"
#include "ordering/ranking.cuh"

template <typename T>
__device__ __forceinline__ void sort_block(u32 n, u32 rank, const AnyOrder<T> order,
                                           const Sides& sides) {
  constexpr u32 EACH = ITEMS<T>, TILE = THREADS * EACH, WARPS = THREADS / 32;
  static_assert(TILE <= 1 << 16, "places have 16 bits");
  // The bins of the warps, then the keys.
  union Shared {
    u32 bins[WARPS][BINS];
    T keys[TILE];
  };
  __shared__ Shared shared;
  __shared__ u16 shared_places[TILE];
  __shared__ u32 sums[BINS / 32];

  const u32 thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  // Only as many items as the line needs, the same number in all threads.
  const u32 items = (n + THREADS - 1) / THREADS;
  const u32 mine = warp * (32 * items) + lane;
  T keys[EACH];
  u32 places[EACH], ranks[EACH];
  const char* from = line_start(sides, INPUT, rank, blockIdx.x);
#pragma unroll
  for (u32 i = 0; i < EACH; i++) {
    if (i >= items) break;
    const u32 at = mine + 32 * i;
    places[i] = at;
    keys[i] = at < n ? order.key(*(const T*)(from + at * sides.steps[INPUT])) : (T)0;
  }
#pragma unroll 1
  for (u32 pass = 0; pass < sizeof(T); pass++) {
    // What pads the line has the highest digit and comes after all elements, before each pass and
    // after.
    auto digit_at = [&](u32 i) { return mine + 32 * i < n ? digit_of(keys[i], pass) : BINS - 1; };
#pragma unroll
    for (u32 bin = lane; bin < BINS; bin += 32) shared.bins[warp][bin] = 0;
    __syncwarp();
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
      if (i >= items) break;
      ranks[i] = rank_in_warp(shared.bins[warp], digit_at(i), lane);
    }
    __syncthreads();
    u32 counts[WARPS], total = 0;
    if (thread < BINS) {
#pragma unroll
      for (u32 w = 0; w < WARPS; w++) counts[w] = shared.bins[w][thread], total += counts[w];
    }
    // A digit that all elements share moves nothing.
    const u32 padding = thread == BINS - 1 ? THREADS * items - n : 0;
    if (__syncthreads_or(total - padding == n)) continue;
    const u32 start = sum_below(total, sums);
    if (thread < BINS) {
      u32 next = start;
#pragma unroll
      for (u32 w = 0; w < WARPS; w++) shared.bins[w][thread] = next, next += counts[w];
    }
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
      if (i >= items) break;
      ranks[i] += shared.bins[warp][digit_at(i)];
    }
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
      if (i >= items) break;
      shared.keys[ranks[i]] = keys[i];
      shared_places[ranks[i]] = (u16)places[i];
    }
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
      if (i >= items) break;
      keys[i] = shared.keys[mine + 32 * i];
      places[i] = shared_places[mine + 32 * i];
    }
    // All have read before the next pass sets the bins to 0.
    __syncthreads();
  }
  char* values = line_start(sides, VALUES, rank, blockIdx.x);
  char* indices = line_start(sides, INDICES, rank, blockIdx.x);
#pragma unroll
  for (u32 i = 0; i < EACH; i++) {
    if (i >= items) break;
    const u32 at = mine + 32 * i;
    if (at >= n) continue;
    const T bits = order.bits(keys[i], from + places[i] * sides.steps[INPUT]);
    *(T*)(values + at * sides.steps[VALUES]) = bits;
    *(i64*)(indices + at * sides.steps[INDICES]) = places[i];
  }
}

#define KERNEL(bytes, T)                                                                   \
  extern "C" __global__ void __launch_bounds__(THREADS, 2) sconce_sort_block_##bytes(      \
      u32 length, u32 rank, u64 mask, u64 infinity, const __grid_constant__ Sides sides) { \
    sort_block<T>(length, rank, AnyOrder<T>(mask, infinity), sides);                       \
  }

KERNEL(1, u8)
KERNEL(2, u16)
KERNEL(4, u32)
KERNEL(8, u64)
