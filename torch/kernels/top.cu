// The first elements of long lines in their order, without sorting the lines (topk): the last key
// among them is found digit by digit, and what is not behind it is collected in the order of the
// line.

#include "block_sums.cuh"
#include "ordering/key.cuh"

// These are in `operations/ordering/top.rs` too: threads of a block, the elements of a chunk, which
// a block reads, and the bins of a digit.
constexpr u32 THREADS = 256;
constexpr u32 CHUNK = 4096;
constexpr u32 DIGIT_BITS = 11;
constexpr u32 BINS = 1 << DIGIT_BITS;

// Of a line: the digits of the last key so far, and how many elements with these digits belong to
// the first ones.
struct Search {
  u64 digits, left;
};

// The digits of a key from the highest to the lowest, of which the last may be shorter.
template <typename T>
struct Digit {
  u32 shift, width;

  SCONCE_INLINE Digit of(u32 pass) {
    constexpr u32 BITS = 8 * sizeof(T);
    const u32 above = pass * DIGIT_BITS, width = min(DIGIT_BITS, BITS - above);
    return {BITS - above - width, width};
  }
  __device__ __forceinline__ u32 in(T key) const {
    return (u32)(key >> shift) & ((1u << width) - 1);
  }
  __device__ __forceinline__ bool follows(T key, u64 digits) const {
    // A shift by all bits is undefined, and the first digit follows none.
    return shift + width == 8 * sizeof(T) || (u64)(key >> (shift + width)) == digits;
  }
};

// Adds to the line's bins how often each digit follows the digits before it in a chunk.
template <typename T>
SCONCE_INLINE void count_digits(const T* lines, const Search* searches, u32* bins, i64 length,
                                u32 pass, u64 mask, u64 infinity) {
  __shared__ u32 own[BINS];
  for (u32 bin = threadIdx.x; bin < BINS; bin += THREADS) own[bin] = 0;
  __syncthreads();
  const u32 line = blockIdx.y;
  const u64 digits = pass == 0 ? 0 : searches[line].digits;
  const AnyOrder<T> order(mask, infinity);
  const Digit<T> digit = Digit<T>::of(pass);
  const T* const from = lines + line * length;
  const i64 begin = (i64)blockIdx.x * CHUNK, end = min(begin + CHUNK, length);
  for (i64 at = begin + threadIdx.x; at < end; at += THREADS) {
    const T key = order.key(from[at]);
    if (digit.follows(key, digits)) atomicAdd(&own[digit.in(key)], 1);
  }
  __syncthreads();
  for (u32 bin = threadIdx.x; bin < BINS; bin += THREADS) {
    if (own[bin] != 0) atomicAdd(&bins[line * BINS + bin], own[bin]);
  }
}

// Finds the next digit of the last key of each line, and clears its bins.
extern "C" __global__ void __launch_bounds__(THREADS)
    sconce_torch_top_digit(Search* searches, u32* bins, const i64 wanted, const u32 pass,
                           const u32 width) {
  constexpr u32 EACH = BINS / THREADS;
  Search* const search = searches + blockIdx.x;
  u32* const own = bins + (u64)blockIdx.x * BINS + threadIdx.x * EACH;
  const u64 left = pass == 0 ? (u64)wanted : search->left;
  const u64 digits = pass == 0 ? 0 : search->digits;
  u32 count[EACH];
  u64 all = 0;
#pragma unroll
  for (u32 i = 0; i < EACH; ++i) all += count[i] = own[i];
  u64 before = block_sums<THREADS>(all).before;
#pragma unroll
  for (u32 i = 0; i < EACH; ++i) {
    if (before < left && left <= before + count[i]) {
      *search = {digits << width | (threadIdx.x * EACH + i), left - before};
    }
    before += count[i];
    own[i] = 0;
  }
}

// What an element counts: in the lower half one before the last key, in the upper half one that is
// equal to it.
template <typename T>
SCONCE_INLINE u64 counted(T key, u64 last) {
  return key < (T)last ? 1 : key == (T)last ? 1ull << 32 : 0;
}

template <typename T>
SCONCE_INLINE void count_chosen(const T* lines, const Search* searches, u64* counts, i64 length,
                                u64 mask, u64 infinity) {
  const u32 line = blockIdx.y;
  const u64 last = searches[line].digits;
  const AnyOrder<T> order(mask, infinity);
  const T* const from = lines + line * length;
  const i64 begin = (i64)blockIdx.x * CHUNK, end = min(begin + CHUNK, length);
  u64 own = 0;
  for (i64 at = begin + threadIdx.x; at < end; at += THREADS) {
    own += counted(order.key(from[at]), last);
  }
  const u64 all = block_sums<THREADS>(own).all;
  if (threadIdx.x == 0) counts[(u64)line * gridDim.x + blockIdx.x] = all;
}

// Makes of the counts of each line's chunks those of the chunks before.
extern "C" __global__ void __launch_bounds__(THREADS)
    sconce_torch_top_scan(u64* counts, const i64 chunks) {
  u64* const own = counts + blockIdx.x * chunks;
  u64 before = 0;
  for (i64 first = 0; first < chunks; first += THREADS) {
    const i64 at = first + threadIdx.x;
    const Sums<u64> found = block_sums<THREADS>(at < chunks ? own[at] : 0);
    if (at < chunks) own[at] = before + found.before;
    before += found.all;
  }
}

// Writes the first elements of each line and their places, in the order of the line.
template <typename T>
SCONCE_INLINE void collect(const T* lines, const Search* searches, const u64* counts, T* values,
                           i64* places, i64 length, i64 wanted, u64 mask, u64 infinity) {
  const u32 line = blockIdx.y;
  const Search search = searches[line];
  const AnyOrder<T> order(mask, infinity);
  const T* const from = lines + line * length;
  const i64 begin = (i64)blockIdx.x * CHUNK, end = min(begin + CHUNK, length);
  u64 before = counts[(u64)line * gridDim.x + blockIdx.x];
  for (i64 first = begin; first < end; first += THREADS) {
    const i64 at = first + threadIdx.x;
    const T element = at < end ? from[at] : (T)0;
    const u64 own = at < end ? counted(order.key(element), search.digits) : 0;
    if (!__syncthreads_or(own != 0)) continue;
    const Sums<u64> found = block_sums<THREADS>(own);
    const u64 here = before + found.before;
    const u64 equal = here >> 32, smaller = here & 0xffffffff;
    before += found.all;
    // Of those that are equal to the last key only some belong to the first ones.
    if (own == 0 || (own > 1 && equal >= search.left)) continue;
    const u64 to = line * wanted + smaller + min(equal, search.left);
    values[to] = element;
    places[to] = at;
  }
}

#define KERNELS(bytes, T)                                                                     \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_top_count_##bytes(       \
      const T* lines, const Search* searches, u32* bins, const i64 length, const u32 pass,    \
      const u64 mask, const u64 infinity) {                                                   \
    count_digits<T>(lines, searches, bins, length, pass, mask, infinity);                     \
  }                                                                                           \
  extern "C" __global__ void __launch_bounds__(THREADS)                                       \
      sconce_torch_top_chosen_##bytes(const T* lines, const Search* searches, u64* counts,    \
                                      const i64 length, const u64 mask, const u64 infinity) { \
    count_chosen<T>(lines, searches, counts, length, mask, infinity);                         \
  }                                                                                           \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_top_collect_##bytes(     \
      const T* lines, const Search* searches, const u64* counts, T* values, i64* places,      \
      const i64 length, const i64 wanted, const u64 mask, const u64 infinity) {               \
    collect<T>(lines, searches, counts, values, places, length, wanted, mask, infinity);      \
  }

KERNELS(2, u16)
KERNELS(4, u32)
KERNELS(8, u64)
