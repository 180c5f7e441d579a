// Sorts of long lines, digit by digit from the lowest: docs/design/ordering.md.
//
// One kernel counts the digits of all passes. Then each pass reads its elements once and writes
// them once: a tile learns where its elements of each digit go from the tiles before it (Merrill
// and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back"; Adinets and Merrill,
// "Onesweep").

#include "ordering/key.cuh"
#include "ordering/ranking.cuh"

// These are in `kernels/ordering/radix.rs` too: threads and elements of a block that counts.
constexpr u32 COUNT_THREADS = 512;
constexpr u32 COUNTED = 32768;

// Counts the digits of all passes: histogram[line][pass][digit].
template <typename T>
__device__ __forceinline__ void count(u32 length, u64 blocks_of_line, u32 rank, u32* histogram,
                                      const AnyOrder<T> order, const Sides& sides) {
  constexpr u32 PASSES = sizeof(T), WORDS = PASSES * BINS;
  // Neighbouring lanes count apart, so that equal elements meet less often.
  constexpr u32 COPIES = 4;
  constexpr u32 TOGETHER = 4;
  __shared__ u32 bins[WORDS * COPIES];
  for (u32 k = threadIdx.x; k < WORDS * COPIES; k += COUNT_THREADS) bins[k] = 0;
  __syncthreads();

  const u32 line = quotient(blockIdx.x, blocks_of_line);
  const u32 first = (blockIdx.x - line * (u32)blocks_of_line) * COUNTED;
  const u32 n = length - first < COUNTED ? length - first : COUNTED;
  const i64 step = sides.steps[INPUT];
  const char* from = line_start(sides, INPUT, rank, line) + first * step;
  u32* mine = bins + threadIdx.x % COPIES;
  for (u32 k = threadIdx.x; k < n; k += COUNT_THREADS * TOGETHER) {
    T bits[TOGETHER];
#pragma unroll
    for (u32 i = 0; i < TOGETHER; i++) {
      const u32 at = k + i * COUNT_THREADS;
      if (at < n) bits[i] = *(const T*)(from + at * step);
    }
#pragma unroll
    for (u32 i = 0; i < TOGETHER; i++) {
      if (k + i * COUNT_THREADS >= n) break;
      const T key = order.key(bits[i]);
#pragma unroll
      for (u32 pass = 0; pass < PASSES; pass++) {
        atomicAdd(mine + (pass * BINS + digit_of(key, pass)) * COPIES, 1);
      }
    }
  }
  __syncthreads();

  histogram += (u64)line * WORDS;
  for (u32 k = threadIdx.x; k < WORDS; k += COUNT_THREADS) {
    u32 sum = 0;
#pragma unroll
    for (u32 i = 0; i < COPIES; i++) sum += bins[k * COPIES + i];
    if (sum != 0) atomicAdd(histogram + k, sum);
  }
}

// What a tile publishes about a digit, in one word, so that no fence is needed:
// - 0: nothing yet;
// - up to 2^31 - 1: one more than the tile's own elements of the digit;
// - 2^31 and more: above that, where the digit's elements of the next tile begin in the line. A
// line
//   has fewer than 2^31 elements.
constexpr u32 IS_WHOLE = 1u << 31;

// Where the elements of a digit of this tile begin in the line, from what the tiles before it have
// published. `word` is this tile's, and that of the tile before is BINS lower. The line's first
// tile publishes the whole at once, which ends every walk. A tile that is waited for has taken its
// number before, so its block is running and waits for lower tiles only.
__device__ __forceinline__ u32 begin_of(const u32* word) {
  u32 sum = 0;
  while (true) {
    word -= BINS;
    u32 published;
    do {
      published = *(const volatile u32*)word;
    } while (published == 0);
    if (published & IS_WHOLE) return sum + (published & ~IS_WHOLE);
    sum += published - 1;
  }
}

// The operands of a pass beside the line's elements.
struct Pass {
  u64 histogram;  // of all passes; counts of lines
  u64 states;     // what tiles publish in this pass: [tile][digit]
  u64 counter;    // the number of the next tile
  u64 places;     // places of the elements read, [line][length]; 0 in the first pass
};

template <typename Order>
__device__ __forceinline__ void pass(u32 length, u64 tiles_of_line, u32 rank, u32 number, u32 wide,
                                     const Pass& work, const Order order, const Sides& sides) {
  typedef typename Order::Bits T;
  constexpr u32 EACH = ITEMS<T>, TILE = THREADS * EACH, WARPS = THREADS / 32;
  static_assert(BINS <= THREADS, "each bin has a thread");
  // The bins of the warps, then the tile's elements, then their places.
  union Shared {
    u32 bins[WARPS][BINS];
    T elements[TILE];
    u32 places[TILE];
  };
  __shared__ Shared shared;
  __shared__ u32 sums[2][BINS / 32];
  // Added to an element's place in the sorted tile: its place in the line.
  __shared__ u32 shifts[BINS];
  __shared__ u32 taken;

  const u32 thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  if (thread == 0) taken = atomicAdd((u32*)work.counter, 1);
#pragma unroll
  for (u32 bin = lane; bin < BINS; bin += 32) shared.bins[warp][bin] = 0;
  __syncthreads();
  const u32 line = quotient(taken, tiles_of_line);
  const u32 tile = taken - line * (u32)tiles_of_line;
  const u32 first = tile * TILE;
  const u32 n = length - first < TILE ? length - first : TILE;

  T bits[EACH];
  const u32 mine = warp * (32 * EACH) + lane;
  {
    const i64 step = sides.steps[INPUT];
    const char* from = line_start(sides, INPUT, rank, line) + first * step;
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
      const u32 at = mine + 32 * i;
      bits[i] = at < n ? *(const T*)(from + at * step) : (T)0;
    }
  }
  // What pads the line's last tile has the highest digit and comes after all elements. It is
  // counted, which moves no element and is published to no tile of the line.
  auto digit_at = [&](u32 i) {
    return mine + 32 * i < n ? digit_of(order.key(bits[i]), number) : BINS - 1;
  };
  u32 ranks[EACH];
#pragma unroll
  for (u32 i = 0; i < EACH; i++) ranks[i] = rank_in_warp(shared.bins[warp], digit_at(i), lane);
  __syncthreads();

  // From here on a bin is the thread's of its number.
  u32* word = (u32*)work.states + (u64)taken * BINS + thread;
  u32 counts[WARPS], total = 0;
  if (thread < BINS) {
#pragma unroll
    for (u32 w = 0; w < WARPS; w++) counts[w] = shared.bins[w][thread], total += counts[w];
    if (tile != 0) *(volatile u32*)word = total + 1;
  }
  const u32 start = sum_below(total, sums[0]);
  if (thread < BINS) {
    u32 next = start;
#pragma unroll
    for (u32 w = 0; w < WARPS; w++) shared.bins[w][thread] = next, next += counts[w];
  }
  if (tile == 0) {
    u32 of_line = 0;
    if (thread < BINS) {
      constexpr u32 PASSES = sizeof(T);
      of_line = ((const u32*)work.histogram)[((u64)line * PASSES + number) * BINS + thread];
    }
    const u32 begin = sum_below(of_line, sums[1]);
    if (thread < BINS) {
      *(volatile u32*)word = IS_WHOLE | (begin + total);
      shifts[thread] = begin - start;
    }
  }
  __syncthreads();
#pragma unroll
  for (u32 i = 0; i < EACH; i++) ranks[i] += shared.bins[warp][digit_at(i)];
  __syncthreads();
#pragma unroll
  for (u32 i = 0; i < EACH; i++) shared.elements[ranks[i]] = bits[i];

  // The places are under way while this tile waits for the others.
  u32 places[EACH];
#pragma unroll
  for (u32 i = 0; i < EACH; i++) {
    const u32 at = mine + 32 * i;
    places[i] = first + at;
    if (work.places != 0 && at < n) {
      places[i] = ((const u32*)work.places)[(u64)line * length + first + at];
    }
  }
  if (thread < BINS && tile != 0) {
    const u32 begin = begin_of(word);
    *(volatile u32*)word = IS_WHOLE | (begin + total);
    shifts[thread] = begin - start;
  }
  __syncthreads();

  // Four digits a word, to save registers.
  static_assert(EACH % 4 == 0, "words of digits are whole");
  u32 digits[EACH / 4] = {};
  {
    const i64 step = sides.steps[VALUES];
    char* values = line_start(sides, VALUES, rank, line);
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
      const u32 at = thread + THREADS * i;
      const T element = shared.elements[at];
      const u32 digit = digit_of(order.key(element), number);
      digits[i / 4] |= digit << (i % 4 * 8);
      if (at < n) *(T*)(values + (at + shifts[digit]) * step) = element;
    }
  }
  __syncthreads();
#pragma unroll
  for (u32 i = 0; i < EACH; i++) shared.places[ranks[i]] = places[i];
  __syncthreads();
  const i64 step = sides.steps[INDICES];
  char* indices = line_start(sides, INDICES, rank, line);
#pragma unroll
  for (u32 i = 0; i < EACH; i++) {
    const u32 at = thread + THREADS * i;
    if (at >= n) continue;
    const u32 place = shared.places[at];
    const u32 to = at + shifts[digits[i / 4] >> (i % 4 * 8) & (BINS - 1)];
    if (wide) {
      *(i64*)(indices + to * step) = place;
    } else {
      *(u32*)(indices + to * step) = place;
    }
  }
}

#define COUNT(bytes, T)                                                                           \
  extern "C" __global__ void __launch_bounds__(COUNT_THREADS)                                     \
      sconce_sort_count_##bytes(u32 length, u64 blocks_of_line, u32 rank, u64 mask, u64 infinity, \
                                u64 histogram, const __grid_constant__ Sides sides) {             \
    count<T>(length, blocks_of_line, rank, (u32*)histogram, AnyOrder<T>(mask, infinity), sides);  \
  }

COUNT(1, u8)
COUNT(2, u16)
COUNT(4, u32)
COUNT(8, u64)

// Wide elements have a kernel for integers and one for floats, since their keys are calculated
// twice in each of many passes.
#define PASS(name, Order)                                                                    \
  extern "C" __global__ void __launch_bounds__(THREADS, 2) sconce_sort_pass_##name(          \
      u32 length, u64 tiles_of_line, u32 rank, u32 number, u32 wide, u64 mask, u64 infinity, \
      const __grid_constant__ Pass work, const __grid_constant__ Sides sides) {              \
    pass(length, tiles_of_line, rank, number, wide, work, Order(mask, infinity), sides);     \
  }

PASS(1, IntegerOrder<u8>)
PASS(2, AnyOrder<u16>)
PASS(i4, IntegerOrder<u32>)
PASS(i8, IntegerOrder<u64>)
PASS(f4, FloatOrder<u32>)
PASS(f8, FloatOrder<u64>)
