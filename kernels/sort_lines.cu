// Sorts of many short lines in shared memory: docs/design/ordering.md.
//
// A block holds as many lines as fit, each padded to a power of two. A pair of key and place is
// unique, so the bitonic network, which is not stable, sorts stably.

#include "ordering/key.cuh"

// These are in `kernels/ordering/lines.rs` too: elements and threads of a block, and the shortest
// padded line.
constexpr u32 SHIFT = 11;
constexpr u32 ELEMENTS = 1 << SHIFT;
constexpr u32 THREADS = 256;
constexpr u32 LEAST_SHIFT = 3;
constexpr u32 MOST_LINES = ELEMENTS >> LEAST_SHIFT;

// A warp's comparisons at distances below this stay among elements of its own.
constexpr u32 OF_WARP = ELEMENTS / (THREADS / 32);

// Keys of up to 4 bytes, with the place below them.
template <typename T>
struct Pairs {
  u64 of[ELEMENTS];

  __device__ __forceinline__ void put(u32 at, T key, u32 place) { of[at] = (u64)key << 32 | place; }
  __device__ __forceinline__ T key(u32 at) const { return (T)(of[at] >> 32); }
  __device__ __forceinline__ u32 place(u32 at) const { return (u32)of[at]; }
  __device__ __forceinline__ void order(u32 low, u32 high, bool up) {
    const u64 a = of[low], b = of[high];
    if ((a > b) == up) of[low] = b, of[high] = a;
  }
};

template <>
struct Pairs<u64> {
  u64 keys[ELEMENTS];
  u16 places[ELEMENTS];

  __device__ __forceinline__ void put(u32 at, u64 key, u32 place) {
    keys[at] = key, places[at] = (u16)place;
  }
  __device__ __forceinline__ u64 key(u32 at) const { return keys[at]; }
  __device__ __forceinline__ u32 place(u32 at) const { return places[at]; }
  __device__ __forceinline__ void order(u32 low, u32 high, bool up) {
    const u64 a = keys[low], b = keys[high];
    const u16 c = places[low], d = places[high];
    if ((a > b || (a == b && c > d)) == up) {
      keys[low] = b, keys[high] = a;
      places[low] = d, places[high] = c;
    }
  }
};

// Pairs at a distance are put in order; `size` is the power of two that is being merged.
template <typename T>
__device__ __forceinline__ void step(Pairs<T>& pairs, u32 size, u32 distance, u32 padded) {
  constexpr u32 OF_THREAD = ELEMENTS / 2 / THREADS;
  const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (u32 k = 0; k < OF_THREAD; k++) {
    const u32 pair = (warp * OF_THREAD + k) * 32 + lane;
    const u32 low = 2 * pair - (pair & (distance - 1));
    // The last merge of a line is upwards whichever line it is.
    pairs.order(low, low + distance, (low & size & (padded - 1)) == 0);
  }
}

template <typename T>
__device__ __forceinline__ void sort_lines(u32 length, u32 shift, u32 lines, u32 rank, u32 across,
                                           const AnyOrder<T> order, const Sides& sides) {
  __shared__ Pairs<T> pairs;
  __shared__ char* starts[3][MOST_LINES];
  const u32 padded = 1u << shift, held = ELEMENTS >> shift;
  const u32 first = blockIdx.x * held;
  const u32 here = lines - first < held ? lines - first : held;
  for (u32 k = threadIdx.x; k < here; k += THREADS) {
#pragma unroll
    for (u32 side = 0; side < 3; side++) {
      starts[side][k] = line_start(sides, side, rank, first + k);
    }
  }
  __syncthreads();

  // Neighbouring threads take neighbours of a line, or of different lines if these are nearer.
  auto place_of = [&](u32 k, u32& line, u32& place) {
    line = across ? k & (held - 1) : k >> shift;
    place = across ? k >> (SHIFT - shift) : k & (padded - 1);
  };
#pragma unroll 4
  for (u32 k = threadIdx.x; k < ELEMENTS; k += THREADS) {
    u32 line, place;
    place_of(k, line, place);
    // What pads a line comes after every element, since its place is higher.
    T key = (T) ~(T)0;
    if (line < here && place < length) {
      key = order.key(*(const T*)(starts[INPUT][line] + place * sides.steps[INPUT]));
    }
    pairs.put((line << shift) + place, key, place);
  }
  __syncthreads();

  for (u32 size = 2; size <= padded; size *= 2) {
    for (u32 distance = size / 2; distance > 0; distance /= 2) {
      step(pairs, size, distance, padded);
      // The next distance is half of this one, or the next size's largest, which is `size`.
      const u32 next = distance > 1 ? distance / 2 : size;
      if (2 * distance > OF_WARP || 2 * next > OF_WARP) {
        __syncthreads();
      } else {
        __syncwarp();
      }
    }
  }
  __syncthreads();

#pragma unroll 4
  for (u32 k = threadIdx.x; k < ELEMENTS; k += THREADS) {
    u32 line, place;
    place_of(k, line, place);
    if (line >= here || place >= length) continue;
    const u32 at = (line << shift) + place, from = pairs.place(at);
    const T bits = order.bits(pairs.key(at), starts[INPUT][line] + from * sides.steps[INPUT]);
    *(T*)(starts[VALUES][line] + place * sides.steps[VALUES]) = bits;
    *(i64*)(starts[INDICES][line] + place * sides.steps[INDICES]) = from;
  }
}

#define KERNEL(bytes, T)                                                                          \
  extern "C" __global__ void __launch_bounds__(THREADS)                                           \
      sconce_sort_lines_##bytes(u32 length, u32 shift, u32 lines, u32 rank, u32 across, u64 mask, \
                                u64 infinity, const __grid_constant__ Sides sides) {              \
    sort_lines<T>(length, shift, lines, rank, across, AnyOrder<T>(mask, infinity), sides);        \
  }

KERNEL(1, u8)
KERNEL(2, u16)
KERNEL(4, u32)
KERNEL(8, u64)
